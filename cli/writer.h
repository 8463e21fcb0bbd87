/* writer.h: JSON answers, written as they are made. Numbers read back exactly; NaN becomes null. */
#ifndef PARITAS_CLI_WRITER_H
#define PARITAS_CLI_WRITER_H

#include "base/json.h"

#define WRITER_DEPTH 16

struct writer {
    struct text *text;
    bool one_line; /* JSON Lines: no line breaks */
    int depth;
    bool filled[WRITER_DEPTH]; /* a value stands in the container already */
    bool lines[WRITER_DEPTH];  /* each value of it on a line of its own */
    char closing[WRITER_DEPTH];
};

void writer_open(struct writer *writer, struct text *text, bool one_line);
/* `key` is NULL in arrays and for the document itself. `lines`: a value a line. */
void write_object(struct writer *writer, const char *key, bool lines);
void write_array(struct writer *writer, const char *key, bool lines);
void write_close(struct writer *writer);
void write_number(struct writer *writer, const char *key, double value);
void write_integer(struct writer *writer, const char *key, uint64_t value);
void write_bool(struct writer *writer, const char *key, bool value);
void write_string(struct writer *writer, const char *key, const char *value); /* NULL: null */
void write_numbers(struct writer *writer, const char *key, size_t n, const double *values);
/* Several members of an object. `keys` names each with its type: "name:s value:n count:z". The types are s:
 * text, n: double, b: int as truth, u: unsigned, z: size_t. */
void write_members(struct writer *writer, const char *keys, ...);
/* The same as an object on a line, in an array. */
void write_row(struct writer *writer, const char *keys, ...);
/* on one line; NULL: null */
void write_tree(struct writer *writer, const char *key, const struct json *node);

#endif
