/* table.h: aligned columns for people. */
#ifndef PARITAS_CLI_TABLE_H
#define PARITAS_CLI_TABLE_H

#include "base/json.h"

#define TABLE_COLUMNS 16

struct table {
    struct text cells; /* ended by zero bytes, row after row */
    size_t columns, n_cells;
    size_t width[TABLE_COLUMNS];
    const char *alignment; /* a letter a column: l or r */
};

/* Headers between bars: "parameter|value|error". */
void table_open(struct table *table, const paritas_allocator *allocator, const char *headers,
                const char *alignment);
/* The next cell. */
void table_text(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number to `digits` significant digits, or to `places` after the point; "-" for NaN. */
void table_number(struct table *table, double value, int digits);
void table_decimal(struct table *table, double value, int places);
/* Five places, or three digits where those would show nothing. */
void table_probability(struct table *table, double value);
/* Appends the table to `out` and frees it. Headers that are all empty are left out. */
void table_close(struct table *table, struct text *out);

#endif
