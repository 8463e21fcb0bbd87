/* day_column_list.c: builds lists of columns. */
#include "days/day_column_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void column_list_open(struct column_list *list, struct arena *arena)
{
    memset(list, 0, sizeof *list);
    list->arena = arena;
}

static size_t size_of(enum column_kind kind)
{
    static const size_t sizes[] = {[COLUMN_F64] = sizeof(double),
                                   [COLUMN_I64] = sizeof(int64_t),
                                   [COLUMN_U32] = sizeof(uint32_t),
                                   [COLUMN_I8] = 1,
                                   [COLUMN_U8] = 1,
                                   [COLUMN_BOOL] = 1,
                                   [COLUMN_TEXT] = sizeof(const char *)};
    return sizes[kind];
}

void *column_room(struct column_list *list, enum column_kind kind, size_t n)
{
    void *room = arena_array(list->arena, n + 1, size_of(kind));
    if (!room) list->failed = true;
    return room;
}

void column_add(struct column_list *list, const char *name, const char *suffix, enum column_kind kind,
                size_t rows, size_t width, const void *values)
{
    char whole[96];
    const int length = snprintf(whole, sizeof whole, "%s%s", name, suffix);
    if (list->n == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 64;
        struct column *columns = arena_array(list->arena, room, sizeof *columns);
        if (!columns) {
            list->failed = true;
            return;
        }
        if (list->n > 0) memcpy(columns, list->columns, list->n * sizeof *columns);
        list->columns = columns;
        list->room = room;
    }
    const char *copy = arena_text(list->arena, whole, (size_t)length);
    if (!copy || !values) {
        list->failed = true;
        return;
    }
    list->columns[list->n++] =
        (struct column){.name = copy, .kind = kind, .rows = rows, .width = width, .values = values};
}

const void *column_values(const struct column_list *list, const char *name, const char *suffix)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < list->n; i++)
        if (strncmp(list->columns[i].name, name, length) == 0 &&
            strcmp(list->columns[i].name + length, suffix) == 0)
            return list->columns[i].values;
    return NULL;
}

const double *gather_f64(struct column_list *list, size_t n, const void *structures, size_t size,
                         size_t offset, const unsigned char *exists)
{
    double *values = column_room(list, COLUMN_F64, n);
    for (size_t i = 0; i < n && values; i++) {
        memcpy(&values[i], (const char *)structures + i * size + offset, sizeof *values);
        if (exists && !exists[i]) values[i] = NAN;
    }
    return values;
}

const uint32_t *gather_u32(struct column_list *list, size_t n, const void *structures, size_t size,
                           size_t offset)
{
    uint32_t *values = column_room(list, COLUMN_U32, n);
    for (size_t i = 0; i < n && values; i++)
        memcpy(&values[i], (const char *)structures + i * size + offset, sizeof *values);
    return values;
}

const void *repeat(struct column_list *list, enum column_kind kind, size_t n, size_t times,
                   const void *values)
{
    const size_t size = size_of(kind);
    char *all = column_room(list, kind, n * times);
    for (size_t i = 0; i < n && all && values; i++)
        for (size_t k = 0; k < times; k++)
            memcpy(all + (i * times + k) * size, (const char *)values + i * size, size);
    return all;
}
