/* er_sweeps.c: rows to sweeps by spectrum number; reasons and counts.
 *
 *   slots of a sweep:   0 ... kept - 1      rows with data, in file order
 *                       15 - lost ... 14    damaged rows with a number, the first last
 *                       between             missing
 * Numbers seldom change between rows; if so, a hash table finds the sweep. */
#include "moon/er/er.h"

#include "base/math/host_math.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define MOST_SWEEPS 20000 /* of a file. Each takes 23 kB, also one of a single row */

struct sweep {
    uint8_t kept, lost;
    double first, last; /* times of its rows */
    /* line of the first row: field outside limits, more than 15, too late; 0: none */
    uint64_t outside, surplus, strayed;
};

struct er_sweeps {
    paritas_context *context;
    const char *label;
    const paritas_er_options *options;
    struct er_day *day;
    struct sweep *sweeps; /* as many as the day */
    size_t room;
    uint32_t *table;   /* sweep index + 1 by hash of number; 0: free */
    size_t table_size; /* a power of two, >= 2 sweeps */
    size_t current;    /* of the last row */
};

paritas_status er_sweeps_open(paritas_context *context, const char *label, const paritas_er_options *options,
                              struct er_day *day, struct er_sweeps **sweeps)
{
    *sweeps = paritas_allocate_clear(context, 1, sizeof **sweeps);
    if (!*sweeps) return paritas_fail_memory(context);
    **sweeps = (struct er_sweeps){.context = context, .label = label, .options = options, .day = day};
    return PARITAS_OK;
}

void er_sweeps_free(struct er_sweeps *sweeps)
{
    if (!sweeps) return;
    const paritas_allocator *allocator = &sweeps->context->allocator;
    paritas_release(allocator, sweeps->sweeps);
    paritas_release(allocator, sweeps->table);
    paritas_release(allocator, sweeps);
}

/* Why a reason refuses a file; others: their name. */
static const char *const sentences[PARITAS_ER_REASON_COUNT] = {
    [PARITAS_ER_ROW_MISSING] = "a sweep begins that has fewer rows than 15",
    [PARITAS_ER_FIELD_COUNT] = "",
    [PARITAS_ER_FILE_CUT] = "the file ends within this row",
    [PARITAS_ER_NUMBER] = "a number is expected",
    [PARITAS_ER_BAD_UTC] = "a UTC is expected, YYYY-MM-DDThh:mm:ss",
    [PARITAS_ER_EPOCH] = "the time is that of a clock that was not set",
    [PARITAS_ER_ENERGY] = "an energy above 0 is expected",
    [PARITAS_ER_DUPLICATE] = "the row is there twice",
    [PARITAS_ER_ENERGY_ORDER] = "a sweep begins whose energies neither ascend nor descend",
    [PARITAS_ER_TOO_MANY_ROWS] = "the sweep has more rows than 15",
    [PARITAS_ER_TIME_SPAN] = "the spectrum number was used before, more than 160 s away",
};

static paritas_status refuse(struct er_sweeps *s, paritas_er_reason reason, uint64_t line, unsigned column,
                             size_t fields)
{
    char where[64] = "";
    if (reason == PARITAS_ER_FIELD_COUNT)
        er_fields_text(fields, where);
    else if (column)
        snprintf(where, sizeof where, "field %u: ", column);
    return paritas_fail(s->context, PARITAS_INVALID_INPUT, "%s: line %llu: %s%s", s->label,
                        (unsigned long long)line, where,
                        sentences[reason] ? sentences[reason] : paritas_er_reason_name(reason));
}

static size_t hash(int64_t number, size_t size)
{
    return (size_t)((uint64_t)number * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
}

static void enter(struct er_sweeps *s, size_t sweep)
{
    size_t at = hash(s->day->open.number[sweep], s->table_size);
    while (s->table[at] != 0) at = (at + 1) & (s->table_size - 1);
    s->table[at] = (uint32_t)sweep + 1;
}

static paritas_status reserve(struct er_sweeps *s)
{
    const size_t n = s->day->open.n;
    if (n >= MOST_SWEEPS)
        return paritas_fail(s->context, PARITAS_INVALID_INPUT,
                            "%s: there are more than %d sweeps; a day has some thousand", s->label,
                            MOST_SWEEPS);
    if (n < s->room) return PARITAS_OK;
    struct sweep *sweeps = er_grow(s->context, s->sweeps, n, &s->room, 512, sizeof *sweeps);
    if (!sweeps) return PARITAS_OUT_OF_MEMORY;
    s->sweeps = sweeps;
    paritas_release(&s->context->allocator, s->table);
    s->table_size = 0;
    s->table = paritas_allocate_clear(s->context, 2 * s->room, sizeof *s->table);
    if (!s->table) return paritas_fail_memory(s->context);
    s->table_size = 2 * s->room;
    for (size_t k = 0; k < n; k++) enter(s, k);
    return PARITAS_OK;
}

static paritas_status select_sweep(struct er_sweeps *s, int64_t number)
{
    const paritas_er_day *day = &s->day->open;
    if (day->n && day->number[s->current] == number) return PARITAS_OK;
    for (size_t at = hash(number, s->table_size); s->table_size && s->table[at] != 0;
         at = (at + 1) & (s->table_size - 1)) {
        if (day->number[s->table[at] - 1] != number) continue;
        s->current = s->table[at] - 1;
        return PARITAS_OK;
    }
    TRY(reserve(s));
    TRY(er_day_add(s->context, s->day, number));
    s->current = day->n - 1;
    s->sweeps[s->current] = (struct sweep){.first = INFINITY, .last = -INFINITY};
    enter(s, s->current);
    return PARITAS_OK;
}

/* Copies valid fluxes and azimuths, and reasons for the others. */
static void take_cells(const double *value, double *restrict flux_out, double *restrict azimuth_out,
                       uint8_t *restrict reasons)
{
    const double *flux = value + ER_AT_FLUX, *azimuth = value + ER_AT_AZIMUTH, nan = NAN;
    for (size_t j = 0; j < CELLS; j++) {
        const double f = flux[j], a = azimuth[j];
        unsigned reason = f == 0.0 ? PARITAS_ER_NO_COUNTS : PARITAS_ER_KEPT;
        reason = a < -360.0 || a > 360.0 ? PARITAS_ER_AZIMUTH_RANGE : reason;
        reason = a == ER_ERROR_AZIMUTH ? PARITAS_ER_AZIMUTH_ERROR : reason;
        reason = a == ER_MISSING_AZIMUTH ? PARITAS_ER_AZIMUTH_MISSING : reason;
        reason = f < 0.0 ? PARITAS_ER_FLUX_NEGATIVE : reason;
        reason = f < 0.0 && f > -1e-90 ? PARITAS_ER_FLUX_ERROR : reason;
        reason = f > 0.0 && f < 1e-90 ? PARITAS_ER_FLUX_MISSING : reason;
        reasons[j] = (uint8_t)reason;
        flux_out[j] = reason <= PARITAS_ER_NO_COUNTS ? f + 0.0 : nan; /* + 0.0: no -0 */
        azimuth_out[j] = a >= -360.0 && a <= 360.0 ? a : nan;
    }
}

/* Is slot `row` equal to `from`, except for the UTC? */
static bool same_row(const paritas_er_day *day, size_t row, const struct er_row *from)
{
    double flux[CELLS], azimuth[CELLS];
    uint8_t reasons[CELLS];
    if (day->energy[row] != from->value[ER_AT_ENERGY] || day->time[row] != from->value[ER_AT_TIME])
        return false;
    take_cells(from->value, flux, azimuth, reasons);
    return memcmp(day->field + 3 * row, from->value + ER_AT_FIELD, 3 * sizeof *day->field) == 0 &&
           memcmp(day->cell_reason + row * CELLS, reasons, sizeof reasons) == 0 &&
           memcmp(day->flux + row * CELLS, flux, sizeof flux) == 0 &&
           memcmp(day->azimuth + row * CELLS, azimuth, sizeof azimuth) == 0;
}

static void put_row(paritas_er_day *day, size_t row, const struct er_row *from)
{
    day->row_reason[row] = PARITAS_ER_KEPT;
    day->line[row] = from->line;
    day->energy[row] = from->value[ER_AT_ENERGY];
    day->time[row] = from->value[ER_AT_TIME];
    memcpy(day->field + 3 * row, from->value + ER_AT_FIELD, 3 * sizeof *day->field);
    take_cells(from->value, day->flux + row * CELLS, day->azimuth + row * CELLS,
               day->cell_reason + row * CELLS);
}

paritas_status er_sweeps_add(struct er_sweeps *s, const struct er_row *row)
{
    const int64_t number = (int64_t)row->value[ER_AT_NUMBER];
    const double *field = row->value + ER_AT_FIELD, time = row->value[ER_AT_TIME];
    paritas_er_day *day = &s->day->open;
    if (!(time > 0.0) || strncmp(row->utc, "1970-01-01", 10) == 0)
        return er_sweeps_lose(s, PARITAS_ER_EPOCH, number, row->line, ER_AT_TIME + 1, 0);
    if (!(row->value[ER_AT_ENERGY] > 0.0))
        return er_sweeps_lose(s, PARITAS_ER_ENERGY, number, row->line, ER_AT_ENERGY + 1, 0);
    TRY(select_sweep(s, number));
    struct sweep *sweep = &s->sweeps[s->current];
    const size_t first = s->current * ROWS;
    for (size_t k = 0; k < sweep->kept; k++) {
        if (day->energy[first + k] == row->value[ER_AT_ENERGY] && same_row(day, first + k, row)) {
            er_count(day, PARITAS_ER_DUPLICATE, 1, row->line, 0);
            return s->options->strict ? refuse(s, PARITAS_ER_DUPLICATE, row->line, 0, 0) : PARITAS_OK;
        }
    }
    if (time < sweep->first) sweep->first = time;
    if (time > sweep->last) sweep->last = time;
    if (sweep->strayed == 0 && sweep->last - sweep->first > ER_SPAN) sweep->strayed = row->line;
    const double strength = host_sqrt(field[0] * field[0] + field[1] * field[1] + field[2] * field[2]);
    if (sweep->outside == 0 && !(strength > s->options->field_lower && strength < s->options->field_upper))
        sweep->outside = row->line;
    if (sweep->kept == ROWS) {
        if (sweep->surplus == 0) sweep->surplus = row->line;
        return PARITAS_OK;
    }
    if (sweep->kept + sweep->lost == ROWS) sweep->lost--; /* the slot is needed */
    if (sweep->kept == 0) memcpy(day->utc[s->current], row->utc, sizeof row->utc);
    put_row(day, first + sweep->kept, row);
    sweep->kept++;
    return PARITAS_OK;
}

paritas_status er_sweeps_lose(struct er_sweeps *s, paritas_er_reason reason, int64_t number, uint64_t line,
                              unsigned column, size_t fields)
{
    if (s->options->strict) return refuse(s, reason, line, column, fields);
    paritas_er_day *day = &s->day->open;
    er_count(day, reason, 1, line, column);
    if (number < 0) return PARITAS_OK;
    TRY(select_sweep(s, number));
    struct sweep *sweep = &s->sweeps[s->current];
    if (sweep->kept + sweep->lost == ROWS) return PARITAS_OK;
    const size_t row = s->current * ROWS + (size_t)(ROWS - 1 - sweep->lost);
    sweep->lost++;
    er_mask_rows(day, row, 1, reason);
    day->line[row] = line;
    return PARITAS_OK;
}

/* Do n energies all ascend or all descend? *row: the first that does not. */
static bool in_order(const double *energy, unsigned n, unsigned *row)
{
    for (*row = 1; *row < n; ++*row) {
        const bool ascends = energy[*row] > energy[*row - 1];
        if (energy[*row] == energy[*row - 1] || ascends != (energy[1] > energy[0])) return false;
    }
    return true;
}

/* Why the whole sweep is masked, if it is, and the line. */
static paritas_er_reason judge(const struct sweep *sweep, const paritas_er_day *day, size_t k, uint64_t *line)
{
    unsigned row;
    if ((*line = sweep->strayed) != 0) return PARITAS_ER_TIME_SPAN;
    if ((*line = sweep->surplus) != 0) return PARITAS_ER_TOO_MANY_ROWS;
    if ((*line = sweep->outside) != 0) return PARITAS_ER_FIELD;
    if (in_order(day->energy + k * ROWS, sweep->kept, &row)) return PARITAS_ER_KEPT;
    *line = day->line[k * ROWS + row];
    return PARITAS_ER_ENERGY_ORDER;
}

static void count_cells(paritas_er_day *day, size_t first, unsigned kept)
{
    for (size_t row = first; row < first + kept; row++) {
        for (size_t j = 0; j < CELLS; j++) {
            const uint8_t reason = day->cell_reason[row * CELLS + j];
            if (reason == PARITAS_ER_KEPT) continue;
            const unsigned before = reason >= PARITAS_ER_AZIMUTH_MISSING && reason <= PARITAS_ER_AZIMUTH_RANGE
                                        ? ER_AT_AZIMUTH
                                        : ER_AT_FLUX;
            er_count(day, (paritas_er_reason)reason, 1, day->line[row], before + (unsigned)j + 1);
        }
    }
}

paritas_status er_sweeps_close(struct er_sweeps *s)
{
    paritas_er_day *day = &s->day->open;
    for (size_t k = 0; k < day->n; k++) {
        const struct sweep *sweep = &s->sweeps[k];
        const size_t first = k * ROWS;
        uint64_t line;
        const paritas_er_reason reason = judge(sweep, day, k, &line);
        const unsigned missing = ROWS - sweep->kept - sweep->lost;
        if (reason != PARITAS_ER_KEPT) {
            er_count(day, reason, 1, line, 0);
            day->sweep_reason[k] = (uint8_t)reason;
            er_mask_rows(day, first, sweep->kept, reason);
        } else {
            if (missing)
                er_count(day, PARITAS_ER_ROW_MISSING, missing,
                         day->line[sweep->kept ? first : first + ROWS - 1], 0);
            count_cells(day, first, sweep->kept);
        }
    }
    if (!s->options->strict) return PARITAS_OK;
    paritas_er_reason found = PARITAS_ER_KEPT;
    for (int r = 1; r < PARITAS_ER_REASON_COUNT; r++) {
        const paritas_er_count *counted = &day->counts[r];
        if (er_is_damage((paritas_er_reason)r) && counted->count &&
            (!found || counted->line < day->counts[found].line))
            found = (paritas_er_reason)r;
    }
    return found ? refuse(s, found, day->counts[found].line, 0, 0) : PARITAS_OK;
}
