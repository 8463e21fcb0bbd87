/* writer.h: JSON answers, written at once. Numbers read back exactly; NaN becomes null. */
#pragma once

#include "base/json/json.h"

#define WRITER_DEPTH 16

struct writer {
    struct text *text;
    bool one_line; /* JSON Lines: no line breaks */
    int depth;
    bool filled[WRITER_DEPTH]; /* the container has a value */
    bool lines[WRITER_DEPTH];  /* a line a value */
    char closing[WRITER_DEPTH];
};

void writer_open(struct writer *writer, struct text *text, bool one_line);
/* `key` NULL: in an array, or the document. `lines`: a line a value. */
void write_object(struct writer *writer, const char *key, bool lines);
void write_array(struct writer *writer, const char *key, bool lines);
void write_close(struct writer *writer);
void write_number(struct writer *writer, const char *key, double value);
void write_integer(struct writer *writer, const char *key, uint64_t value);
void write_bool(struct writer *writer, const char *key, bool value);
void write_string(struct writer *writer, const char *key, const char *value); /* NULL: null */
void write_numbers(struct writer *writer, const char *key, size_t n, const double *values);
/* Several members: `keys` "name:s value:n count:z". Types: s text, n double, b bool (int), u unsigned, z
 * size_t. */
void write_members(struct writer *writer, const char *keys, ...);
void write_row(struct writer *writer, const char *keys, ...);
/* on one line; NULL: null */
void write_tree(struct writer *writer, const char *key, const struct json *node);
