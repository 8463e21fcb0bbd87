/* table.h: aligned columns for people. */
#ifndef PARITAS_CLI_TABLE_H
#define PARITAS_CLI_TABLE_H

#include "base/json.h"

#define TABLE_COLUMNS 16

struct table {
    struct text cells; /* ended by zero bytes, row after row */
    size_t columns, n_cells;
    size_t width[TABLE_COLUMNS];
    char format[TABLE_COLUMNS];  /* l, r, p, z, or the number of digits */
    bool decimal[TABLE_COLUMNS]; /* the digits are places after the point */
    struct text *out;
};

/* Headers between bars, and what the columns hold: "parameter|value|error", "l .5 .5".
 *   l, r   text, on the left or right
 *   .5, 6  a double to five places, or to six significant digits
 *   p      a double: a probability
 *   z      a size_t */
void table_open(struct table *table, struct text *out, const char *headers, const char *formats);
/* The cells from the next one to the end of its row, by the formats of their columns. */
void table_row(struct table *table, ...);
/* The next cell. */
void table_text(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number to `digits` significant digits, or to `places` after the point; "-" for NaN. */
void table_number(struct table *table, double value, int digits);
void table_decimal(struct table *table, double value, int places);
/* Five places, or three digits where those would show nothing. */
void table_probability(struct table *table, double value);
/* Appends the table to the text and frees it. Headers that are all empty are left out. */
void table_close(struct table *table);

#endif
