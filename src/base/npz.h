/* npz.h: ZIP archives (PKWARE APPNOTE 6.3) of NPY 1.0 arrays (NumPy enhancement proposal 1). They are written
 * stored, and read stored or deflated.
 *
 *   local header, name, array │ ... │ directory: header, name │ ... │ end of the directory */
#pragma once

#include "base/file_bytes.h"
#include "base/json/json.h"

enum column_kind {
    COLUMN_F64,
    COLUMN_I64,
    COLUMN_U64,
    COLUMN_U32,
    COLUMN_I8,
    COLUMN_U8,
    COLUMN_BOOL,
    COLUMN_TEXT
};

/* bytes of a value */
size_t column_size(enum column_kind kind);

struct column {
    const char *name, *unit; /* unit "": none; not in the archive */
    enum column_kind kind;
    bool scalar, matrix; /* no dimension, rows is 1; two, also where width is 0 */
    size_t rows;
    /* numbers a row; 0: one dimension. TEXT: least characters */
    size_t width;
    /* double, int64_t, uint64_t, uint32_t, int8_t, unsigned char (U8, BOOL), UTF-8 const char * (TEXT; NULL:
     * empty) */
    const void *values;
};

/* ---- writing ---- */

struct npz {
    struct text header, array; /* of the last member; they follow each other in the file */
    struct text directory;     /* after all members */
    uint64_t offset;           /* where the next member begins */
    size_t members;
};

void npz_open(struct npz *npz, const paritas_allocator *allocator);
void npz_close(struct npz *npz);
/* Makes `header` and `array` of the next member. errno EFBIG: needs ZIP64 (4 GiB or more); ENOMEM. */
bool npz_add(struct npz *npz, const struct column *column);
/* Puts the header of an array of these bytes into `header`, and appends its line to `directory`. */
void npz_append_headers(struct npz *npz, const char *name, const char *array, size_t size);
/* Ends `directory`. */
bool npz_end(struct npz *npz);

/* ---- reading ---- */

/* Numbers of a header, least byte first. */
static inline uint32_t npz_little(const char *bytes, unsigned n)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < n; i++) value |= (uint32_t)(unsigned char)bytes[i] << 8 * i;
    return value;
}

/* An array of a file. Elements count row by row. */
struct npz_array {
    char kind;         /* NumPy's: 'f', 'i', 'u', 'b', 'U' */
    size_t size;       /* bytes of an element */
    size_t dimensions; /* at most 2 */
    size_t shape[2];   /* 1 where there is no such dimension */
    bool by_columns;   /* in the file */
    const char *bytes;
    char *plain; /* what was inflated, for paritas_release; NULL: `bytes` are the archive's */
};

/* Do the bytes begin an archive? */
bool npz_is(const char *bytes, size_t length);
/* Array `name` of an archive; *found: is there one? INVALID_INPUT: "LABEL: NAME: reason", for what is
 * damaged, of another type or of another byte order. */
paritas_status npz_find(paritas_context *context, const char *label, const struct file_bytes *archive,
                        const char *name, struct npz_array *array, bool *found);
/* Element i as a number; texts are NaN. */
double npz_number(const struct npz_array *array, size_t i);
/* Appends element i, a text, as UTF-8. */
void npz_text(const struct npz_array *array, size_t i, struct text *out);
/* Appends a code point as UTF-8; false: it is none. */
bool npz_append_character(struct text *out, uint32_t point);
