/* day_columns.c: columns that all tables share; counts and medians for the provenance. */
#include "days/day_columns.h"
#include "commands/workspaces/sorting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

void write_counts(struct day_work *work, const char *key, size_t n, const char **words)
{
    sort_texts(n, words);
    write_object(work->writer, key, false);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(words[i], words[end]) == 0; end++) {
        }
        write_integer(work->writer, words[i], end - i);
    }
    write_close(work->writer);
}

void write_median(struct day_work *work, const char *key, const double *values, const unsigned char *chosen)
{
    const size_t n = work->sweeps->n;
    double *sorted = arena_numbers(work->session, n);
    size_t left = 0;
    for (size_t i = 0; i < n && sorted; i++)
        if (!isnan(values[i]) && (!chosen || chosen[i])) sorted[left++] = values[i];
    sort_numbers(left, sorted);
    write_number(work->writer, key, sorted_median(left, sorted));
}

void write_reasons(struct writer *writer, const paritas_er_day *day)
{
    write_object(writer, "reasons", true);
    for (unsigned i = 1; i < PARITAS_ER_REASON_COUNT; i++) {
        const paritas_er_reason reason = (paritas_er_reason)i;
        if (day->counts[i].count == 0) continue;
        write_object(writer, paritas_er_reason_name(reason), false);
        write_members(writer, "count:z unit:s line:z", (size_t)day->counts[i].count,
                      paritas_er_unit_name(paritas_er_reason_unit(reason)), (size_t)day->counts[i].line);
        write_close(writer);
    }
    write_close(writer);
    write_array(writer, "reason_codes", false);
    for (unsigned i = 0; i < PARITAS_ER_REASON_COUNT; i++)
        write_string(writer, NULL, paritas_er_reason_name((paritas_er_reason)i));
    write_close(writer);
}

void column_add_both(struct day_work *work, const char *name, const char *suffix, enum column_kind kind,
                     const void *values)
{
    char prefixed[96];
    snprintf(prefixed, sizeof prefixed, "spec_%s", name);
    column_add(&work->rows, name, suffix, kind, work->sweeps->n, 0, values);
    column_add(&work->arrays, prefixed, suffix, kind, work->sweeps->n, 0, values);
}

/* A field of each record. The status word is kept for missing records. */
static void add_field(struct day_work *work, const char *suffix, const struct day_records *records,
                      size_t size, const paritas_field *field)
{
    static const enum column_kind kinds[] = {[PARITAS_FIELD_REAL] = COLUMN_F64,
                                             [PARITAS_FIELD_UNSIGNED] = COLUMN_U32,
                                             [PARITAS_FIELD_TRUTH] = COLUMN_BOOL,
                                             [PARITAS_FIELD_WORD] = COLUMN_TEXT};
    const enum column_kind kind = kinds[field->type];
    const bool always = strcmp(field->name, "status") == 0;
    const size_t n = work->sweeps->n;
    char name[80];
    void *values = arena_elements(work->session, n, column_size(kind));
    for (size_t k = 0; k < n && values; k++) {
        const void *at = (const char *)records->records + k * size + field->offset;
        const bool exists = records->exists[k];
        if (kind == COLUMN_F64)
            ((double *)values)[k] = exists ? *(const double *)at : NAN;
        else if (kind == COLUMN_U32)
            ((uint32_t *)values)[k] = *(const uint32_t *)at;
        else if (kind == COLUMN_BOOL)
            ((unsigned char *)values)[k] = *(const int *)at != 0;
        else
            ((const char **)values)[k] =
                always || exists ? paritas_enumeration_word(field->enumeration, *(const int *)at) : "";
    }
    snprintf(name, sizeof name, "%s%s", records->prefix ? records->prefix : "", field->word);
    column_add_both(work, name, suffix, kind, values);
    column_set_unit(&work->rows, field->unit);
}

void column_add_records(struct day_work *work, const char *suffix, const struct day_records *records,
                        const char *first, const char *last)
{
    const paritas_record *described = paritas_record_find(records->type);
    bool within = false;
    for (size_t i = 0; i < described->n_fields; i++) {
        const paritas_field *field = &described->fields[i];
        within = within || strcmp(field->word, first) == 0;
        if (within && field->word[0] != '\0') add_field(work, suffix, records, described->size, field);
        if (strcmp(field->word, last) == 0) return;
    }
}

const void *values_of_rows(const struct day_work *work, enum column_kind kind, const void *values)
{
    const size_t size = column_size(kind);
    char *all = arena_elements(work->session, work->sweeps->n * ROWS, size);
    for (size_t i = 0; i < work->sweeps->n * ROWS && all && values; i++)
        memcpy(all + i * size, (const char *)values + i / ROWS * size, size);
    return all;
}

/* UTC of rows as text or seconds; NULL: no row. */
static const char **row_times(const struct day_work *work, bool utc)
{
    const paritas_er_day *day = work->sweeps->day;
    const char **texts = arena_elements(work->session, ROWS * day->n, sizeof *texts);
    for (size_t i = 0; i < ROWS * day->n && texts; i++) {
        char text[PARITAS_ER_UTC_SIZE > 32 ? PARITAS_ER_UTC_SIZE : 32];
        if (isnan(day->time[i])) continue;
        if (utc)
            paritas_er_utc(day->time[i], text);
        else
            text[number_write(day->time[i], text)] = '\0';
        texts[i] = arena_copied(work->session, text, strlen(text));
    }
    return texts;
}

/* What a sweep's rows have in common. */
struct sweep_facts {
    const char **utc; /* of rows */
    const char **start, **end, **reason;
    double *time, *polarity;
    int64_t *rows;
};

static void find_facts(const struct sweeps *sweeps, const struct sweep_facts *facts)
{
    const paritas_er_day *day = sweeps->day;
    for (size_t k = 0; k < sweeps->n; k++) {
        facts->time[k] = facts->polarity[k] = NAN;
        facts->reason[k] = day->sweep_reason[k] != PARITAS_ER_KEPT
                               ? paritas_er_reason_name((paritas_er_reason)day->sweep_reason[k])
                               : "";
        for (size_t i = ROWS * k; i < ROWS * (k + 1); i++) {
            facts->rows[k] += day->line[i] != 0;
            if (isnan(facts->polarity[k])) facts->polarity[k] = day->polarity[i];
            if (isnan(day->time[i])) continue;
            if (isnan(facts->time[k])) {
                facts->time[k] = day->time[i];
                facts->start[k] = facts->utc[i];
            }
            facts->end[k] = facts->utc[i];
        }
    }
}

#define TIME_WIDTH 64 /* width of times in arrays */

static void add_arrays(struct day_work *work, const struct sweep_facts *facts)
{
    const paritas_er_day *day = work->sweeps->day;
    const size_t n = work->sweeps->n, rows = ROWS * n;
    unsigned char *lit = arena_elements(work->session, n, 1),
                  *below_lit = arena_elements(work->session, n, 1),
                  *known = arena_elements(work->session, n, 1);
    int8_t *polarity = arena_elements(work->session, rows, sizeof *polarity);
    if (!lit || !below_lit || !known || !polarity) return;
    for (size_t k = 0; k < n; k++) {
        lit[k] = day->spacecraft_in_sun[k] == 1.0;
        below_lit[k] = day->projection_in_sun[k] == 1.0;
        known[k] = !isnan(day->spacecraft_in_sun[k]) && !isnan(day->projection_in_sun[k]);
    }
    for (size_t i = 0; i < rows; i++)
        polarity[i] = (int8_t)((day->polarity[i] > 0.0) - (day->polarity[i] < 0.0));
#define OF_ROWS(kind, values) kind, values_of_rows(work, kind, values)
    const struct named_column of_rows[] = {
        {"rows_spec_no", OF_ROWS(COLUMN_I64, day->number)},
        {"rows_utc", COLUMN_TEXT, facts->utc, TIME_WIDTH},
        {"rows_time", COLUMN_TEXT, row_times(work, false), TIME_WIDTH},
        {"rows_spacecraft_latitude", OF_ROWS(COLUMN_F64, day->spacecraft_latitude)},
        {"rows_spacecraft_longitude", OF_ROWS(COLUMN_F64, day->spacecraft_longitude)},
        {"rows_projection_latitude", OF_ROWS(COLUMN_F64, day->projection_latitude)},
        {"rows_projection_longitude", OF_ROWS(COLUMN_F64, day->projection_longitude)},
        {"rows_spacecraft_potential", OF_ROWS(COLUMN_F64, day->spacecraft_potential)},
        {"rows_spacecraft_in_sun", OF_ROWS(COLUMN_BOOL, lit)},
        {"rows_projection_in_sun", OF_ROWS(COLUMN_BOOL, below_lit)},
        {"rows_illumination_known", OF_ROWS(COLUMN_BOOL, known)},
        {"rows_projection_polarity", COLUMN_I8, polarity},
        {"rows_energy", COLUMN_F64, day->energy},
        {"rows_row_reason", COLUMN_U8, day->row_reason},
        {"rows_reason", COLUMN_U8, day->cell_reason, CELLS},
    };
#undef OF_ROWS
    const struct named_column of_sweeps[] = {
        {"spec_spec_no", COLUMN_I64, day->number},
        {"spec_time_start", COLUMN_TEXT, facts->start, TIME_WIDTH},
        {"spec_time_end", COLUMN_TEXT, facts->end, TIME_WIDTH},
        {"spec_row_count", COLUMN_I64, facts->rows},
        {"spec_reason", COLUMN_TEXT, facts->reason},
        {"spec_spacecraft_potential", COLUMN_F64, day->spacecraft_potential},
    };
    COLUMNS_ADD(&work->arrays, rows, of_rows);
    COLUMNS_ADD(&work->arrays, n, of_sweeps);
}

/* The field of the magnetometer. */
static void add_mag(struct day_work *work)
{
    static const char *const names[3] = {"mag_x", "mag_y", "mag_z"};
    for (size_t i = 0; i < 3; i++) {
        double *values = arena_numbers(work->session, work->sweeps->n);
        for (size_t k = 0; k < work->sweeps->n && values; k++) values[k] = work->sweeps->made->mag[3 * k + i];
        column_add(&work->rows, names[i], "", COLUMN_F64, work->sweeps->n, 0, values);
    }
}

void add_sweep_columns(struct day_work *work)
{
    struct session *session = work->session;
    const paritas_er_day *day = work->sweeps->day;
    const size_t n = work->sweeps->n;
    const struct sweep_facts facts = {.utc = row_times(work, true),
                                      .start = arena_elements(session, n, sizeof *facts.start),
                                      .end = arena_elements(session, n, sizeof *facts.end),
                                      .reason = arena_elements(session, n, sizeof *facts.reason),
                                      .time = arena_numbers(session, n),
                                      .polarity = arena_numbers(session, n),
                                      .rows = arena_elements(session, n, sizeof *facts.rows)};
    if (allocated(session) != PARITAS_OK) return;
    find_facts(work->sweeps, &facts);
    const struct named_column columns[] = {
        {"spectrum", COLUMN_I64, day->number},
        {"utc", COLUMN_TEXT, facts.start},
        {"time", COLUMN_F64, facts.time},
        {"rows", COLUMN_I64, facts.rows},
        {"reason", COLUMN_TEXT, facts.reason},
        {"polarity", COLUMN_F64, facts.polarity},
        {"spacecraft_potential", COLUMN_F64, day->spacecraft_potential},
        {"spacecraft_latitude", COLUMN_F64, day->spacecraft_latitude},
        {"spacecraft_longitude", COLUMN_F64, day->spacecraft_longitude},
        {"projection_latitude", COLUMN_F64, day->projection_latitude},
        {"projection_longitude", COLUMN_F64, day->projection_longitude},
        {"spacecraft_in_sun", COLUMN_F64, day->spacecraft_in_sun},
        {"projection_in_sun", COLUMN_F64, day->projection_in_sun},
    };
    COLUMNS_ADD(&work->rows, n, columns);
    if (work->sweeps->made->mag) add_mag(work);
    add_arrays(work, &facts);
}
