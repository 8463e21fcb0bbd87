/* day_tables.h: a table of named columns, as CSV (text) and NPZ (arrays).
 *
 * Both begin with the provenance, a JSON document on how the table was made: `# ` lines in CSV, the array
 * `provenance` in NPZ. It names the text's columns and their units. It holds no time: equal tables have equal
 * bytes. Both files get their names when both are whole. */
#pragma once

#include "base/json/json.h"
#include "print/output.h"

#include <stdio.h>

enum column_kind { COLUMN_F64, COLUMN_I64, COLUMN_U32, COLUMN_I8, COLUMN_U8, COLUMN_BOOL, COLUMN_TEXT };

/* bytes of a value */
size_t column_size(enum column_kind kind);

struct column {
    const char *name, *unit; /* unit "": none */
    enum column_kind kind;
    bool scalar; /* NPZ: no dimension; rows is 1 */
    size_t rows;
    /* numbers a row; 0: one dimension. TEXT: least characters */
    size_t width;
    /* double, int64_t, uint32_t, int8_t, unsigned char (U8, BOOL), UTF-8 const char * (TEXT; NULL: empty) */
    const void *values;
};

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
