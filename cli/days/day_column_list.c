/* day_column_list.c: builds lists of columns. */
#include "days/day_column_list.h"

#include <stdio.h>
#include <string.h>

/* Units of columns that no record describes. */
static const char *const units[][2] = {{"time", "s"},
                                       {"spacecraft_potential", "V"},
                                       {"spacecraft_latitude", "degrees"},
                                       {"spacecraft_longitude", "degrees"},
                                       {"projection_latitude", "degrees"},
                                       {"projection_longitude", "degrees"},
                                       {"mag_x", "nT"},
                                       {"mag_y", "nT"},
                                       {"mag_z", "nT"},
                                       {"confidence_lower", "V"},
                                       {"confidence_upper", "V"},
                                       {"confidence_set", "V"}};

static const char *unit_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (strcmp(units[i][0], name) == 0) return units[i][1];
    return "";
}

void column_add(struct column_list *list, const char *name, const char *suffix, enum column_kind kind,
                size_t rows, size_t width, const void *values)
{
    char whole[96];
    const int length = snprintf(whole, sizeof whole, "%s%s", name, suffix);
    const char *copy = arena_copied(list->session, whole, (size_t)length);
    list->columns = arena_grown(list->session, list->columns, list->n, sizeof *list->columns);
    if (!copy || !list->columns) return;
    list->columns[list->n++] = (struct column){
        .name = copy, .unit = unit_of(name), .kind = kind, .rows = rows, .width = width, .values = values};
}

void column_set_unit(struct column_list *list, const char *unit)
{
    if (list->n > 0) list->columns[list->n - 1].unit = unit;
}

void columns_add(struct column_list *list, size_t rows, size_t n, const struct named_column *named)
{
    for (size_t i = 0; i < n; i++)
        column_add(list, named[i].name, "", named[i].kind, rows, named[i].width, named[i].values);
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
