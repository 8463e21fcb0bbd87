/* day_column_list.h: lists of columns, from arrays of structs or rows of sweeps. */
#ifndef PARITAS_DAY_COLUMN_LIST_H
#define PARITAS_DAY_COLUMN_LIST_H

#include "days/day_columns.h"

struct column_list {
    struct arena *arena; /* holds numbers and names */
    struct column *columns;
    size_t n, room;
    bool failed; /* out of memory; check once at the end */
};

void column_list_open(struct column_list *list, struct arena *arena);
/* `values` must live as long as the arena. Copies the name and `suffix`. */
void column_add(struct column_list *list, const char *name, const char *suffix, enum column_kind kind,
                size_t rows, size_t width, const void *values);
/* NULL: no such column. */
const void *column_values(const struct column_list *list, const char *name, const char *suffix);
/* Room for n values; NULL: out of memory. */
void *column_room(struct column_list *list, enum column_kind kind, size_t n);
/* The member at `offset` of n structs of `size` bytes; NaN where `exists` is 0 (NULL: all exist). */
const double *gather_f64(struct column_list *list, size_t n, const void *structures, size_t size,
                         size_t offset, const unsigned char *exists);
const uint32_t *gather_u32(struct column_list *list, size_t n, const void *structures, size_t size,
                           size_t offset);
/* Each of n values `times` times. */
const void *repeat(struct column_list *list, enum column_kind kind, size_t n, size_t times,
                   const void *values);

#endif
