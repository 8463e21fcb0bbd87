/* day_tables.h: a table of named columns, as CSV (text) and NPZ (arrays).
 *
 * Both begin with the provenance, a JSON document on how the table was made: `# ` lines in CSV, the array
 * `provenance` in NPZ. It names the text's columns and their units. It holds no time: equal tables have equal
 * bytes. Both files get their names when both are whole. */
#pragma once

#include "base/npz.h"
#include "print/output.h"

#include <stdio.h>

/* Puts arrays for numpy.load into an open file: uncompressed ZIP, NPY 1.0. The array `provenance` comes
 * first. `path` is for messages. */
paritas_status npz_put(paritas_context *context, struct output_file *file, const char *path,
                       const char *provenance, size_t n, const struct column *columns);
/* Puts text: provenance, names, then a line a row. Numbers read back exactly; NaN is empty. Columns have
 * equally many rows; a column with a width becomes NAME_0, NAME_1, ... */
paritas_status csv_put(paritas_context *context, struct output_file *file, const char *path,
                       const char *provenance, size_t n, const struct column *columns);
/* A text by itself. */
paritas_status csv_write(paritas_context *context, const char *path, const char *provenance, size_t n,
                         const struct column *columns);

/* One cell of a text, quoted if it must be. NULL: empty. */
void csv_text(struct text *out, const char *field);
/* A comma, and a number that reads back exactly; NaN: empty. */
void csv_number(struct text *out, double value);

/* errno: why a table cannot be written */
paritas_status columns_unwritable(paritas_context *context, const char *path);

/* *document NULL: no file. INVALID_INPUT: another kind of file. */
paritas_status npz_provenance(paritas_context *context, const char *path,
                              struct paritas_workspace **document);
paritas_status csv_provenance(paritas_context *context, const char *path,
                              struct paritas_workspace **document);
/* The same with a given reader of the text; it returns false for another kind of file. */
paritas_status provenance_read(paritas_context *context, const char *path,
                               bool (*read)(FILE *file, struct text *out),
                               struct paritas_workspace **document);
/* Are all bytes as npz_put wrote them? `text`: the 64 characters of array `name`; "" without one. */
paritas_status npz_whole(paritas_context *context, const char *path, const char *name, bool *whole,
                         char text[65]);
