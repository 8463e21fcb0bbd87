/* table.c: collects cells and writes them when widths are known. */
#include "print/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Columns of UTF-8 text, without continuation bytes. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void add_cell(struct table *table, const char *text)
{
    const size_t column = table->n_cells++ % table->columns, at = table->cells.length;
    text_visible(&table->cells, text, strlen(text));
    text_append(&table->cells, "", 1);
    if (table->cells.failed) return;
    const size_t width = text_width(table->cells.bytes + at);
    if (width > table->width[column]) table->width[column] = width;
}

void table_open(struct table *table, struct text *out, const char *headers, const char *formats)
{
    memset(table, 0, sizeof *table);
    text_open(&table->cells, out->allocator);
    table->out = out;
    for (; *formats != '\0'; formats++) {
        if (*formats == '.')
            table->decimal[table->columns] = true;
        else if (*formats != ' ')
            table->format[table->columns++] = *formats;
    }
    for (size_t i = 0; i < table->columns; i++) {
        char header[64];
        size_t span = strcspn(headers, "|");
        snprintf(header, sizeof header, "%.*s", (int)span, headers);
        add_cell(table, header);
        headers += span + (headers[span] == '|');
    }
}

void table_row(struct table *table, ...)
{
    va_list values;
    va_start(values, table);
    for (size_t column = table->n_cells % table->columns; column < table->columns; column++) {
        const char format = table->format[column];
        if (format == 'l' || format == 'r')
            add_cell(table, va_arg(values, const char *));
        else if (format == 'z')
            table_format(table, "%zu", va_arg(values, size_t));
        else if (format == 'p')
            table_probability(table, va_arg(values, double));
        else if (table->decimal[column])
            table_decimal(table, va_arg(values, double), format - '0');
        else
            table_number(table, va_arg(values, double), format - '0');
    }
    va_end(values);
}

void table_text(struct table *table, const char *text)
{
    add_cell(table, text);
}

void table_format(struct table *table, const char *format, ...)
{
    char cell[512];
    va_list list;
    va_start(list, format);
    vsnprintf(cell, sizeof cell, format, list);
    va_end(list);
    add_cell(table, cell);
}

/* Values from here to 0 are rounding of fits at a lower bound of 0. */
#define ROUNDING 1e-15

struct shown shown(double value, int digits)
{
    struct shown number = {"-"};
    const int most = digits > 17 ? 17 : digits < 1 ? 1 : digits; /* more say nothing, and need room */
    if (!isnan(value))                                           /* no -0 */
        snprintf(number.text, sizeof number.text, "%.*g", most,
                 value < 0.0 && value > -ROUNDING ? 0.0 : value + 0.0);
    return number;
}

struct shown shown_decimal(double value, int places)
{
    struct shown number;
    if (!(fabs(value) < 1e9)) return shown(value, places + 2);
    snprintf(number.text, sizeof number.text, "%.*f", places,
             fabs(value) < 0.5 * pow(10.0, -places) ? 0.0 : value);
    return number;
}

void table_number(struct table *table, double value, int digits)
{
    add_cell(table, shown(value, digits).text);
}

void table_probability(struct table *table, double value)
{
    if (value > 0.0 && value < 1e-3)
        table_number(table, value, 3);
    else
        table_decimal(table, value, 5);
}

void table_decimal(struct table *table, double value, int places)
{
    add_cell(table, shown_decimal(value, places).text);
}

void table_close(struct table *table)
{
    struct text *out = table->out;
    if (table->cells.failed) {
        out->failed = true;
        text_free(&table->cells);
        return;
    }
    const char *cell = table->cells.bytes;
    bool any_header = false;
    for (size_t i = 0; i < table->columns; i++, cell += strlen(cell) + 1)
        any_header = any_header || cell[0] != '\0';
    cell = table->cells.bytes;
    for (size_t i = 0; i < table->n_cells; i++) {
        size_t column = i % table->columns, pad = table->width[column] - text_width(cell);
        bool last = column == table->columns - 1, right = table->format[column] != 'l';
        if (i >= table->columns || any_header) {
            if (right) text_format(out, "%*s", (int)pad, "");
            text_append(out, cell, strlen(cell));
            if (!right && !last) text_format(out, "%*s", (int)pad, "");
            while (last && out->length > 0 && out->bytes[out->length - 1] == ' ') out->length--;
            text_append(out, last ? "\n" : "  ", last ? 1 : 2);
        }
        cell += strlen(cell) + 1;
    }
    text_free(&table->cells);
}
