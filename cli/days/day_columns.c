/* day_columns.c: columns that all tables share; counts and medians for the provenance. */
#include "days/day_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void write_counts(struct writer *writer, const char *key, size_t n, const char **words)
{
    qsort(words, n, sizeof *words, by_text);
    write_object(writer, key, false);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(words[i], words[end]) == 0; end++) {
        }
        write_integer(writer, words[i], end - i);
    }
    write_close(writer);
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void write_median(struct writer *writer, const char *key, size_t n, const double *values, struct arena *arena)
{
    double *sorted = arena_array(arena, n + 1, sizeof *sorted);
    size_t left = 0;
    for (size_t i = 0; i < n && sorted && values; i++)
        if (!isnan(values[i])) sorted[left++] = values[i];
    if (sorted) qsort(sorted, left, sizeof *sorted, by_number);
    write_number(writer, key,
                 left == 0       ? NAN
                 : left % 2 == 1 ? sorted[left / 2]
                                 : 0.5 * (sorted[left / 2 - 1] + sorted[left / 2]));
}

void write_reasons(struct writer *writer, const paritas_er_day *day)
{
    write_object(writer, "reasons", true);
    for (unsigned i = 1; i < PARITAS_ER_REASON_COUNT; i++) {
        if (day->counts[i].count == 0) continue;
        write_object(writer, paritas_er_reason_name((paritas_er_reason)i), false);
        write_integer(writer, "count", day->counts[i].count);
        write_string(writer, "unit", paritas_er_unit_name(paritas_er_reason_unit((paritas_er_reason)i)));
        write_integer(writer, "line", day->counts[i].line);
        write_close(writer);
    }
    write_close(writer);
    write_array(writer, "reason_codes", false);
    for (unsigned i = 0; i < PARITAS_ER_REASON_COUNT; i++)
        write_string(writer, NULL, paritas_er_reason_name((paritas_er_reason)i));
    write_close(writer);
}

void column_add_both(struct day_tables *tables, const char *name, const char *suffix, enum column_kind kind,
                     size_t n, const void *values)
{
    char prefixed[96];
    snprintf(prefixed, sizeof prefixed, "spec_%s", name);
    column_add(&tables->rows, name, suffix, kind, n, 0, values);
    column_add(&tables->arrays, prefixed, suffix, kind, n, 0, values);
}

/* Words of a field. The status word is kept for missing records. */
static const char **record_words(struct column_list *list, const struct day_records *records, size_t size,
                                 const paritas_field *field)
{
    const char **words = column_room(list, COLUMN_TEXT, records->n);
    const bool always = strcmp(field->name, "status") == 0;
    for (size_t k = 0; k < records->n && words; k++) {
        int value;
        memcpy(&value, (const char *)records->records + k * size + field->offset, sizeof value);
        words[k] = always || records->exists[k] ? paritas_enumeration_word(field->enumeration, value) : "";
    }
    return words;
}

static const unsigned char *record_flags(struct column_list *list, const struct day_records *records,
                                         size_t size, const paritas_field *field)
{
    unsigned char *flags = column_room(list, COLUMN_BOOL, records->n);
    for (size_t k = 0; k < records->n && flags; k++) {
        int value;
        memcpy(&value, (const char *)records->records + k * size + field->offset, sizeof value);
        flags[k] = value != 0;
    }
    return flags;
}

static void add_field(struct day_tables *tables, const char *suffix, const struct day_records *records,
                      size_t size, const paritas_field *field)
{
    struct column_list *list = &tables->rows;
    const size_t n = records->n;
    char name[80];
    snprintf(name, sizeof name, "%s%s", records->prefix ? records->prefix : "", field->word);
    if (field->type == PARITAS_FIELD_REAL)
        column_add_both(tables, name, suffix, COLUMN_F64, n,
                        gather_f64(list, n, records->records, size, field->offset, records->exists));
    else if (field->type == PARITAS_FIELD_UNSIGNED)
        column_add_both(tables, name, suffix, COLUMN_U32, n,
                        gather_u32(list, n, records->records, size, field->offset));
    else if (field->type == PARITAS_FIELD_TRUTH)
        column_add_both(tables, name, suffix, COLUMN_BOOL, n, record_flags(list, records, size, field));
    else
        column_add_both(tables, name, suffix, COLUMN_TEXT, n, record_words(list, records, size, field));
}

void column_add_records(struct day_tables *tables, const char *suffix, const struct day_records *records,
                        const char *first, const char *last)
{
    const paritas_record *described = paritas_record_find(records->type);
    bool within = false;
    for (size_t i = 0; i < described->n_fields; i++) {
        const paritas_field *field = &described->fields[i];
        within = within || strcmp(field->word, first) == 0;
        if (within && field->word[0] != '\0') add_field(tables, suffix, records, described->size, field);
        if (strcmp(field->word, last) == 0) return;
    }
}

/* UTC of rows as text or seconds; NULL: no row. */
static const char **row_times(struct column_list *list, const paritas_er_day *day, bool utc)
{
    const char **texts = column_room(list, COLUMN_TEXT, ROWS * day->n);
    for (size_t i = 0; i < ROWS * day->n && texts; i++) {
        char text[PARITAS_ER_UTC_SIZE > 32 ? PARITAS_ER_UTC_SIZE : 32];
        if (isnan(day->time[i])) continue;
        if (utc)
            paritas_er_utc(day->time[i], text);
        else
            text[number_write(day->time[i], text)] = '\0';
        texts[i] = arena_text(list->arena, text, strlen(text));
        list->failed = list->failed || !texts[i];
    }
    return texts;
}

/* 1: the flag is known and set. */
static const unsigned char *flags(struct column_list *list, size_t n, const double *values)
{
    unsigned char *set = column_room(list, COLUMN_BOOL, n);
    for (size_t i = 0; i < n && set; i++) set[i] = values[i] == 1.0;
    return set;
}

static const unsigned char *both_known(struct column_list *list, size_t n, const double *a, const double *b)
{
    unsigned char *known = column_room(list, COLUMN_BOOL, n);
    for (size_t i = 0; i < n && known; i++) known[i] = !isnan(a[i]) && !isnan(b[i]);
    return known;
}

/* A column with a value a sweep or a row. */
struct day_column {
    const char *name;
    enum column_kind kind;
    const void *values;
};

static void add_columns(struct column_list *list, size_t rows, size_t n, const struct day_column *columns)
{
    for (size_t i = 0; i < n; i++)
        column_add(list, columns[i].name, "", columns[i].kind, rows, 0, columns[i].values);
}
#define ADD_COLUMNS(list, rows, columns) add_columns(list, rows, sizeof(columns) / sizeof *(columns), columns)

#define TIME_WIDTH 64 /* width of times in arrays */

static void add_arrays(struct column_list *list, const struct sweeps *sweeps, const char **utc,
                       const char **start, const char **end, const char *const *reasons,
                       const int64_t *row_counts, const unsigned char *known)
{
    const paritas_er_day *day = sweeps->day;
    const size_t n = sweeps->n, rows = ROWS * n;
    const struct day_column repeated[] = {
        {"rows_spacecraft_latitude", COLUMN_F64, day->spacecraft_latitude},
        {"rows_spacecraft_longitude", COLUMN_F64, day->spacecraft_longitude},
        {"rows_projection_latitude", COLUMN_F64, day->projection_latitude},
        {"rows_projection_longitude", COLUMN_F64, day->projection_longitude},
        {"rows_spacecraft_potential", COLUMN_F64, day->spacecraft_potential},
        {"rows_spacecraft_in_sun", COLUMN_BOOL, flags(list, n, day->spacecraft_in_sun)},
        {"rows_projection_in_sun", COLUMN_BOOL, flags(list, n, day->projection_in_sun)},
        {"rows_illumination_known", COLUMN_BOOL, known},
    };
    int8_t *polarity = column_room(list, COLUMN_I8, rows);
    for (size_t i = 0; i < rows && polarity; i++)
        polarity[i] = (int8_t)((day->polarity[i] > 0.0) - (day->polarity[i] < 0.0));
    column_add(list, "rows_spec_no", "", COLUMN_I64, rows, 0, repeat(list, COLUMN_I64, n, ROWS, day->number));
    column_add(list, "rows_utc", "", COLUMN_TEXT, rows, TIME_WIDTH, utc);
    column_add(list, "rows_time", "", COLUMN_TEXT, rows, TIME_WIDTH, row_times(list, day, false));
    for (size_t i = 0; i < COUNT_OF(repeated); i++)
        column_add(list, repeated[i].name, "", repeated[i].kind, rows, 0,
                   repeat(list, repeated[i].kind, n, ROWS, repeated[i].values));
    const struct day_column of_rows[] = {{"rows_projection_polarity", COLUMN_I8, polarity},
                                         {"rows_energy", COLUMN_F64, day->energy},
                                         {"rows_row_reason", COLUMN_U8, day->row_reason}};
    ADD_COLUMNS(list, rows, of_rows);
    column_add(list, "rows_reason", "", COLUMN_U8, rows, CELLS, day->cell_reason);
    column_add(list, "spec_spec_no", "", COLUMN_I64, n, 0, day->number);
    column_add(list, "spec_time_start", "", COLUMN_TEXT, n, TIME_WIDTH, start);
    column_add(list, "spec_time_end", "", COLUMN_TEXT, n, TIME_WIDTH, end);
    const struct day_column of_sweeps[] = {
        {"spec_row_count", COLUMN_I64, row_counts},
        {"spec_reason", COLUMN_TEXT, reasons},
        {"spec_spacecraft_potential", COLUMN_F64, day->spacecraft_potential}};
    ADD_COLUMNS(list, n, of_sweeps);
}

void add_sweep_columns(struct day_tables *tables, const struct sweeps *sweeps)
{
    struct column_list *list = &tables->rows;
    const paritas_er_day *day = sweeps->day;
    const size_t n = sweeps->n;
    const char **utc = row_times(list, day, true), **start = column_room(list, COLUMN_TEXT, n),
               **end = column_room(list, COLUMN_TEXT, n), **reasons = column_room(list, COLUMN_TEXT, n);
    double *time = column_room(list, COLUMN_F64, n), *polarity = column_room(list, COLUMN_F64, n);
    int64_t *row_counts = column_room(list, COLUMN_I64, n);
    const unsigned char *known = both_known(list, n, day->spacecraft_in_sun, day->projection_in_sun);
    if (!utc || !start || !end || !reasons || !time || !polarity || !row_counts) return;
    for (size_t k = 0; k < n; k++) {
        time[k] = polarity[k] = NAN;
        reasons[k] = day->sweep_reason[k] != PARITAS_ER_KEPT
                         ? paritas_er_reason_name((paritas_er_reason)day->sweep_reason[k])
                         : "";
        for (size_t i = ROWS * k; i < ROWS * (k + 1); i++) {
            row_counts[k] += day->line[i] != 0;
            if (isnan(polarity[k])) polarity[k] = day->polarity[i];
            if (isnan(day->time[i])) continue;
            if (isnan(time[k])) {
                time[k] = day->time[i];
                start[k] = utc[i];
            }
            end[k] = utc[i];
        }
    }
    const struct day_column columns[] = {
        {"spectrum", COLUMN_I64, day->number},
        {"utc", COLUMN_TEXT, start},
        {"time", COLUMN_F64, time},
        {"rows", COLUMN_I64, row_counts},
        {"reason", COLUMN_TEXT, reasons},
        {"polarity", COLUMN_F64, polarity},
        {"spacecraft_potential", COLUMN_F64, day->spacecraft_potential},
        {"spacecraft_latitude", COLUMN_F64, day->spacecraft_latitude},
        {"spacecraft_longitude", COLUMN_F64, day->spacecraft_longitude},
        {"projection_latitude", COLUMN_F64, day->projection_latitude},
        {"projection_longitude", COLUMN_F64, day->projection_longitude},
        {"spacecraft_in_sun", COLUMN_F64, day->spacecraft_in_sun},
        {"projection_in_sun", COLUMN_F64, day->projection_in_sun},
    };
    ADD_COLUMNS(list, n, columns);
    add_arrays(&tables->arrays, sweeps, utc, start, end, reasons, row_counts, known);
}
