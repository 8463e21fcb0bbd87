/* day_columns.h: a table of named columns, and the two files that keep it: text for people and spreadsheets
 * (CSV), arrays for programs (NPZ).
 *
 * Both begin with the provenance, a JSON document that says what the table was made from and how: in CSV as
 * lines that begin with `# `, in NPZ as the array `provenance`. Both are written beside their target and take
 * its name when they are whole. Equal tables have equal bytes: neither file holds a time.
 */
#ifndef PARITAS_DAY_COLUMNS_H
#define PARITAS_DAY_COLUMNS_H

#include "base/json.h"
#include "output.h"

#include <stdio.h>

enum column_kind { COLUMN_F64, COLUMN_I64, COLUMN_U32, COLUMN_I8, COLUMN_U8, COLUMN_BOOL, COLUMN_TEXT };

struct column {
    const char *name;
    enum column_kind kind;
    bool scalar; /* NPZ: an array of no dimension; rows is 1 */
    size_t rows;
    /* numbers a row; 0: the array has one dimension. TEXT: the least number of characters a text has room
     * for */
    size_t width;
    /* double, int64_t, uint32_t, int8_t, unsigned char (U8, BOOL), const char * in UTF-8 (TEXT; NULL:
     * empty) */
    const void *values;
};

/* `columns` to an archive of NumPy arrays that numpy.load reads: ZIP without compression, NPY 1.0. The
 * provenance comes first, as the array of that name. */
paritas_status npz_write(paritas_context *context, const char *path, const char *provenance, size_t n,
                         const struct column *columns);
/* The same to text: a line a row, names in the first line behind the provenance; numbers read back exactly,
 * NaN is empty. All columns have as many rows; a column with a width becomes that many, NAME_0, ... */
paritas_status csv_write(paritas_context *context, const char *path, const char *provenance, size_t n,
                         const struct column *columns);

/* Ends a file of tables: `ok` as far as it was written, else errno says why not. */
paritas_status columns_close(paritas_context *context, struct output_file *file, const char *path, bool ok);

/* The provenance of a file that one of these wrote. *document is NULL where there is no such file;
 * INVALID_INPUT where it is another file. */
paritas_status npz_provenance(paritas_context *context, const char *path,
                              struct paritas_workspace **document);
paritas_status csv_provenance(paritas_context *context, const char *path,
                              struct paritas_workspace **document);
/* The same by a function that appends the document's text, and answers false where the file is another's. */
paritas_status provenance_read(paritas_context *context, const char *path,
                               bool (*read)(FILE *file, struct text *out),
                               struct paritas_workspace **document);
/* Is every byte of the archive one that npz_write wrote? Then `text` has the 64 characters of its array
 * `name`; "" where there is no such array. */
paritas_status npz_whole(paritas_context *context, const char *path, const char *name, bool *whole,
                         char text[65]);

#endif
