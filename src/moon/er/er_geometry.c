/* er_geometry.c: geometry tables: a row a sweep, by spectrum number and date, or by UTC. */
#include "moon/er/er_number.h"
#include "moon/er/er_text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Value columns and their limits. */
static const struct column {
    const char *name;
    double lower, upper;
    size_t place;  /* of the array in the day */
    unsigned rows; /* a sweep */
    bool whole;    /* whole numbers, true, false */
} columns[] = {
#define COLUMN(name, lower, upper, rows, whole) \
    {#name, lower, upper, offsetof(paritas_er_day, name), rows, whole}
    COLUMN(polarity, -1.0, 1.0, PARITAS_SWEEP_ROWS, true),
    COLUMN(spacecraft_potential, -1e5, 1e5, 1, false),
    COLUMN(spacecraft_in_sun, 0.0, 1.0, 1, true),
    COLUMN(projection_in_sun, 0.0, 1.0, 1, true),
    COLUMN(spacecraft_latitude, -90.0, 90.0, 1, false),
    COLUMN(spacecraft_longitude, -360.0, 360.0, 1, false),
    COLUMN(projection_latitude, -90.0, 90.0, 1, false),
    COLUMN(projection_longitude, -360.0, 360.0, 1, false),
    COLUMN(sun_azimuth, -360.0, 360.0, 1, false),
    COLUMN(sun_elevation, -90.0, 90.0, 1, false),
#undef COLUMN
};
enum { VALUES = COUNT_OF(columns), SPECTRUM = VALUES, DATE, UTC, KINDS };
static const char *const key_names[] = {"spectrum", "date", "utc"};

/* (spectrum number, day) or (-1, second), since 1970; day unknown: NO_DAY. */
#define NO_DAY INT64_MIN
struct row {
    int64_t number, time;
    uint64_t line;
    double value[VALUES];
};

struct paritas_er_geometry {
    paritas_allocator allocator;
    size_t n, room;
    struct row *rows; /* sorted by key */
    bool has[KINDS];  /* columns present */
};

static int key_order(const void *a, const void *b)
{
    const struct row *const one = a, *const other = b;
    if (one->number != other->number) return one->number < other->number ? -1 : 1;
    return one->time < other->time ? -1 : one->time > other->time;
}

/* Key, then line. */
static int row_order(const void *a, const void *b)
{
    const struct row *const one = a, *const other = b;
    const int order = key_order(a, b);
    return order ? order : one->line < other->line ? -1 : one->line > other->line;
}

void paritas_er_geometry_free(paritas_er_geometry *geometry)
{
    if (!geometry) return;
    const paritas_allocator allocator = geometry->allocator;
    paritas_release(&allocator, geometry->rows);
    paritas_release(&allocator, geometry);
}

#define MOST_COLUMNS 256
#define OTHER KINDS

static const char *column_name(unsigned kind)
{
    return kind < VALUES ? columns[kind].name : key_names[kind - VALUES];
}

/* Kinds of columns, from the header. */
static paritas_status read_header(const struct er_text *text, struct er_piece line,
                                  paritas_er_geometry *geometry, unsigned *kinds, unsigned *count)
{
    struct er_piece field;
    unsigned values = 0;
    *count = 0;
    while (er_piece_field(&line, ",", &field)) {
        unsigned kind = 0;
        if (*count == MOST_COLUMNS)
            return er_text_refuse(text, "there are more than %d columns", MOST_COLUMNS);
        while (kind < KINDS && !er_piece_is(field, column_name(kind))) kind++;
        if (kind < KINDS && geometry->has[kind])
            return er_text_refuse(text, "column %s is there twice", column_name(kind));
        if (kind < KINDS) geometry->has[kind] = true;
        values += kind < VALUES;
        kinds[(*count)++] = kind;
    }
    if (!geometry->has[SPECTRUM] && !geometry->has[UTC])
        return er_text_refuse(text, "a header with a column spectrum or utc is expected");
    if (geometry->has[DATE] && !geometry->has[SPECTRUM])
        return er_text_refuse(text, "a column date goes with a column spectrum, which there is not");
    if (values == 0) return er_text_refuse(text, "there is no column of geometry");
    return PARITAS_OK;
}

/* Reads a value. NaN: unknown. */
static paritas_status read_value(const struct er_text *text, const struct column *column,
                                 struct er_piece field, double *value)
{
    const bool flag = column->lower == 0.0 && column->whole,
               set = flag && (er_piece_is(field, "true") || er_piece_is(field, "True")),
               unset = flag && (er_piece_is(field, "false") || er_piece_is(field, "False"));
    *value = set ? 1.0 : unset ? 0.0 : NAN;
    if (set || unset || field.length == 0 || er_piece_is(field, "nan") || er_piece_is(field, "NaN"))
        return PARITAS_OK;
    if (!er_piece_number(field, value))
        return er_text_refuse(text, "column %s: a number is expected, not '%.*s'", column->name,
                              (int)(field.length < 40 ? field.length : 40), field.at);
    if (!(*value >= column->lower && *value <= column->upper) ||
        (column->whole && *value != (double)(int)*value))
        return er_text_refuse(text, "column %s: %.*s is not %s from %g to %g", column->name,
                              (int)(field.length < 40 ? field.length : 40), field.at,
                              column->whole ? "a whole number" : "a number", column->lower, column->upper);
    return PARITAS_OK;
}

static int64_t floor_of(double time)
{
    const int64_t whole = (int64_t)time;
    return (double)whole > time ? whole - 1 : whole;
}

static int64_t day_of(double time)
{
    return floor_of(time / 86400.0);
}

/* `time`: place for a UTC. */
static paritas_status read_field(const struct er_text *text, unsigned kind, struct er_piece field,
                                 struct row *row, double *time)
{
    double value;
    char date[32];
    switch (kind) {
    case SPECTRUM:
        if (!er_piece_number(field, &value) || !er_is_spectrum(value))
            return er_text_refuse(text, "column spectrum: a spectrum number is expected");
        row->number = (int64_t)value;
        return PARITAS_OK;
    case DATE:
        if (field.length != 10) return er_text_refuse(text, "column date: YYYY-MM-DD is expected");
        memcpy(date, field.at, 10);
        memcpy(date + 10, "T00:00:00", 10);
        if (!er_read_utc(date, date + 19, &value))
            return er_text_refuse(text, "column date: YYYY-MM-DD is expected");
        row->time = day_of(value);
        return PARITAS_OK;
    case UTC:
        if (!er_read_utc(field.at, field.at + field.length, time))
            return er_text_refuse(text, "column utc: YYYY-MM-DDThh:mm:ss is expected");
        return PARITAS_OK;
    case OTHER:
        return PARITAS_OK;
    default:
        return read_value(text, &columns[kind], field, &row->value[kind]);
    }
}

static paritas_status read_row(const struct er_text *text, struct er_piece line,
                               const paritas_er_geometry *geometry, const unsigned *kinds, unsigned count,
                               struct row *row)
{
    struct er_piece field;
    double time = 0.0;
    unsigned n = 0;
    *row = (struct row){.number = -1, .time = NO_DAY, .line = text->line};
    for (unsigned k = 0; k < VALUES; k++) row->value[k] = NAN;
    for (; er_piece_field(&line, ",", &field); n++) {
        if (n == count) return er_text_refuse(text, "more fields than the header's %u", count);
        TRY(read_field(text, kinds[n], field, row, &time));
    }
    if (n < count) return er_text_refuse(text, "%u fields instead of the header's %u", n, count);
    if (!geometry->has[SPECTRUM])
        row->time = floor_of(time);
    else if (!geometry->has[DATE] && geometry->has[UTC])
        row->time = day_of(time);
    return PARITAS_OK;
}

/* Keys must be unique. */
static paritas_status order_rows(struct er_text *text, paritas_er_geometry *geometry)
{
    const struct row *twice = NULL;
    qsort(geometry->rows, geometry->n, sizeof *geometry->rows, row_order);
    for (size_t k = 1; k < geometry->n; k++) { /* reports the earliest in the file */
        const struct row *row = &geometry->rows[k];
        if (key_order(row, row - 1) == 0 && (!twice || row->line < twice->line)) twice = row;
    }
    if (!twice) return PARITAS_OK;
    text->line = twice->line;
    return er_text_refuse(text, "the sweep of line %llu again", (unsigned long long)(twice - 1)->line);
}

static paritas_status read_table(struct er_text *text, paritas_er_geometry *geometry)
{
    unsigned kinds[MOST_COLUMNS], count;
    struct er_piece line;
    if (!er_text_line(text, &line)) return er_text_refuse(text, "the file is empty");
    paritas_status status = read_header(text, line, geometry, kinds, &count);
    while (!status && er_text_line(text, &line)) {
        struct row *rows =
            er_grow(text->context, geometry->rows, geometry->n, &geometry->room, 1024, sizeof *rows);
        if (!rows) return PARITAS_OUT_OF_MEMORY;
        geometry->rows = rows;
        status = read_row(text, line, geometry, kinds, count, &geometry->rows[geometry->n]);
        geometry->n += !status;
    }
    return status || geometry->n == 0 ? status : order_rows(text, geometry);
}

paritas_status paritas_er_geometry_read(paritas_context *context, const char *path, paritas_er_geometry **out)
{
    REQUIRE_AS(context, "path, geometry", path, out);
    struct er_text text;
    *out = NULL;
    TRY(er_text_open(context, path, &text));
    paritas_er_geometry *geometry = paritas_allocate_clear(context, 1, sizeof *geometry);
    if (geometry) geometry->allocator = context->allocator;
    const paritas_status status = geometry ? read_table(&text, geometry) : paritas_fail_memory(context);
    er_text_close(&text);
    if (status)
        paritas_er_geometry_free(geometry);
    else
        *out = geometry;
    return status;
}

int paritas_er_geometry_has(const paritas_er_geometry *geometry, const char *column)
{
    GIVEN(0, geometry, column);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (geometry->has[kind] && strcmp(column, column_name(kind)) == 0) return 1;
    return 0;
}

paritas_status paritas_er_geometry_apply(paritas_context *context, const paritas_er_geometry *geometry,
                                         paritas_er_day *day, size_t *matched)
{
    REQUIRE(context, geometry, day);
    size_t found = 0;
    for (size_t k = 0; k < day->n; k++) {
        double time;
        const char *const utc = day->utc[k];
        struct row key = {.number = geometry->has[SPECTRUM] ? day->number[k] : -1, .time = NO_DAY};
        const bool timed = geometry->has[DATE] || geometry->has[UTC],
                   known = er_read_utc(utc, utc + strlen(utc), &time);
        if (timed && !known) continue; /* no row of the sweep was sound */
        if (timed) key.time = geometry->has[SPECTRUM] ? day_of(time) : floor_of(time);
        const struct row *const row =
            geometry->n ? bsearch(&key, geometry->rows, geometry->n, sizeof key, key_order) : NULL;
        if (!row) continue;
        found++;
        for (unsigned c = 0; c < VALUES; c++) {
            double *array;
            if (isnan(row->value[c])) continue;
            memcpy(&array, (const char *)day + columns[c].place, sizeof array);
            for (unsigned i = 0; i < columns[c].rows; i++) array[k * columns[c].rows + i] = row->value[c];
        }
    }
    if (matched) *matched = found;
    return PARITAS_OK;
}
