/* table.h: aligned columns. */
#pragma once

#include "base/json/json.h"

#define TABLE_COLUMNS 16

struct table {
    struct text cells; /* zero-ended, by row */
    size_t columns, n_cells;
    size_t width[TABLE_COLUMNS];
    char format[TABLE_COLUMNS];  /* l, r, p, z, or digits */
    bool decimal[TABLE_COLUMNS]; /* digits: after the point */
    struct text *out;
};

/* Headers between bars, formats: "parameter|value|error", "l .5 .5".
 *   l, r   text, left or right
 *   .5, 6  double: five decimals, six significant digits
 *   p      probability
 *   z      size_t */
void table_open(struct table *table, struct text *out, const char *headers, const char *formats);
/* Cells to the end of the row, by format. */
void table_row(struct table *table, ...);
void table_text(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number as text, in tables and in sentences: `digits` significant, or `places` decimals below 1e9. NaN is
 * "-". */
struct shown {
    char text[32];
};
struct shown shown(double value, int digits);
struct shown shown_decimal(double value, int places);
/* A cell that is such a number. */
void table_number(struct table *table, double value, int digits);
void table_decimal(struct table *table, double value, int places);
/* Five decimals, or three digits if those are all 0. */
void table_probability(struct table *table, double value);
/* Appends the table to the text and frees it. All-empty headers are left out. */
void table_close(struct table *table);
