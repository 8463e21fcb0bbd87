/* day_column_list.h: columns put together one by one, their numbers gathered from arrays of structures and
 * spread over the rows of sweeps. */
#ifndef PARITAS_DAY_COLUMN_LIST_H
#define PARITAS_DAY_COLUMN_LIST_H

#include "days/day_columns.h"

struct column_list {
    struct arena *arena; /* numbers and names live there */
    struct column *columns;
    size_t n, room;
    bool failed; /* memory ran out; checked once at the end */
};

void column_list_open(struct column_list *list, struct arena *arena);
/* Adds a column of values that live as long as the arena. The name is copied, `suffix` behind it. */
void column_add(struct column_list *list, const char *name, const char *suffix, enum column_kind kind,
                size_t rows, size_t width, const void *values);
/* The values of the column of this name; NULL: there is none. */
const void *column_values(const struct column_list *list, const char *name, const char *suffix);
/* Room for n values of a kind. NULL when memory ran out. */
void *column_room(struct column_list *list, enum column_kind kind, size_t n);
/* The double, unsigned or int at `offset` of each of n structures of `size` bytes; NaN of those that `exists`
 * (NULL: all) denies. */
const double *gather_f64(struct column_list *list, size_t n, const void *structures, size_t size,
                         size_t offset, const unsigned char *exists);
const uint32_t *gather_u32(struct column_list *list, size_t n, const void *structures, size_t size,
                           size_t offset);
/* Each of n values `times` times. */
const void *repeat(struct column_list *list, enum column_kind kind, size_t n, size_t times,
                   const void *values);

#endif
