/* day_column_list.h: lists of columns. */
#pragma once

#include "days/day_tables.h"
#include "session/session.h"

/* Names and columns lie in the session's arena; after a failure `allocated` fails. */
struct column_list {
    struct session *session;
    struct column *columns;
    size_t n;
};

/* `values` must live as long as the arena. Copies the name and `suffix`. */
void column_add(struct column_list *list, const char *name, const char *suffix, enum column_kind kind,
                size_t rows, size_t width, const void *values);
/* Sets the unit of the column added last. */
void column_set_unit(struct column_list *list, const char *unit);
/* Returns NULL if there is no such column. */
const void *column_values(const struct column_list *list, const char *name, const char *suffix);

struct named_column {
    const char *name;
    enum column_kind kind;
    const void *values;
    size_t width;
};
/* All of a table of named columns. */
#define COLUMNS_ADD(list, rows, named) columns_add(list, rows, COUNT_OF(named), named)
void columns_add(struct column_list *list, size_t rows, size_t n, const struct named_column *named);
