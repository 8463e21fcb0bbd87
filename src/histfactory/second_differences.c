/* second_differences.c: of rates by each parameter: signs of several minima. */
#include "histfactory/second_differences.h"
#include "base/expression.h"
#include "base/math/host_math.h"
#include "fit/fit_rows.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_frozen.h"

#include <math.h>
#include <string.h>

/* Factors that are functions of parameters, in order. */
struct functions {
    const struct hf_function *list;
    const hf_function_record *records;
    uint32_t n;
    size_t slots;
    uint32_t *number; /* by slot: its function + 1; 0: none */
    double *bends;    /* by function, then slot: f(+1) + f(-1) - 2 f(0) */
    double *room;     /* of arguments, of a stack */
};

struct differences {
    const struct frozen *model;
    struct functions functions;
    const double *row;     /* where units' numbers are its own; NULL: nowhere */
    const double *weights; /* by place; NULL: sums of squares, each in units of the bin's variance */
    double *values;        /* of slots */
    double *sums;          /* over bins, by slot */
    /* of all normsys: the factor at its parameter's value; f(+1) + f(-1) - 2, as a part of that */
    double *factors, *bends;
    /* without weights, a panel's bins: rates, and each slot's r(+1) + r(-1) - 2 r(0) */
    double rates[8];
    double (*by_slot)[8];
};

struct unit_numbers {
    const double *nominal, *shifts; /* 8 bins; S and A of 8 bins for each histosys */
    const double *factors;          /* of all normsys */
};

/* A normsys with these numbers, 8 places apart, at 1 (`side` UP) or -1 (DOWN). */
static double edge(const uint32_t *mi, const double *numbers, size_t side)
{
    const double line = mi[HF_NORMSYS_CODE] == HF_OWN_CODES ? numbers[8 * HF_NORMSYS_LINEAR] : HF_LINE_NONE;
    return line == HF_LINE_BOTH || line == (side == HF_NORMSYS_UP ? HF_LINE_UP : HF_LINE_DOWN)
               ? numbers[8 * HF_NORMSYS_OFFSET] + numbers[8 * side]
               : host_exp(numbers[8 * side]);
}

/* A unit's in a panel: the model's, or of the kernel row `row` where they are its own. */
static struct unit_numbers numbers_of(const struct frozen *model, const double *row,
                                      const hf_unit_record *unit, uint32_t panel, uint32_t cell)
{
    const uint32_t *mi = model->tables.ints, n = unit->histosys_count;
    const double *mr = model->tables.reals;
    struct unit_numbers numbers = {.nominal = mr + mi[HF_R_NOMINAL] + cell,
                                   .shifts = mr + unit->histosys_data + (size_t)panel * n * 16,
                                   .factors = mr + mi[HF_R_NORMSYS]};
    if (mi[HF_SWITCHES] & HF_VARIED_FACTORS)
        numbers.factors = row + (mi[HF_S_WIDTHS] - mi[HF_S_MAIN]) + 2 * mi[HF_SLOTS];
    if (unit->varied != HF_NOT_VARIED) {
        numbers.nominal =
            row + (mi[HF_S_VARIED] - mi[HF_S_MAIN]) + unit->varied + (size_t)panel * HF_VARIED_PANEL(n);
        numbers.shifts = numbers.nominal + 8;
    }
    return numbers;
}

static const double *normsys_of(const uint32_t *mi, const struct unit_numbers *numbers,
                                const hf_unit_record *unit, uint32_t e)
{
    return numbers->factors + HF_NORMSYS_AT(mi[HF_NORMSYS_CODE], unit->normsys + e);
}

/* A normsys at its parameter's value, up to the polynomial that some codes have within one width. */
static double factor_at(const uint32_t *mi, const double *numbers, double value)
{
    const size_t side = value < 0.0 ? HF_NORMSYS_DOWN : HF_NORMSYS_UP;
    if (value == 0.0) return 1.0;
    if (mi[HF_NORMSYS_CODE] != HF_OWN_CODES) return host_exp(fabs(value) * numbers[8 * side]);
    const double at_edge = edge(mi, numbers, side);
    return at_edge > 0.0 ? host_exp(fabs(value) * host_log(at_edge)) : 1.0 + fabs(value) * (at_edge - 1.0);
}

/* t(value) of a histosys' even part; t(1) is 8. */
static double even_part(double value)
{
    const double square = value * value;
    return square < 1.0 ? square * (15.0 + square * (3.0 * square - 10.0)) : 8.0 * fabs(value);
}

/* What multiplies the parameter in the even part of a histosys entry. */
static double shift_scale(const struct frozen *model, uint32_t entry)
{
    const uint32_t *mi = model->tables.ints;
    const hf_shift_codes_record *codes = (const void *)(mi + mi[HF_HISTOSYS_CODE]);
    if (mi[HF_HISTOSYS_CODE] <= HF_SHIFT_POLYNOMIAL) return 1.0;
    return model->tables.reals[codes->scales + mi[codes->place + entry] / mi[HF_DENSE]];
}

/* All normsys at the point. They are the same in all panels. */
static void find_factors(struct differences *d)
{
    const uint32_t *mi = d->model->tables.ints;
    const hf_channel_record *channels = (const void *)(mi + mi[HF_I_CHANNELS]);
    const hf_unit_record *units = (const void *)(mi + mi[HF_I_UNITS]);
    for (uint32_t c = 0; c < mi[HF_CHANNELS]; c++)
        for (uint32_t u = 0; u < channels[c].units; u++) {
            const hf_unit_record *unit = &units[channels[c].first_unit + u];
            const struct unit_numbers numbers = numbers_of(d->model, d->row, unit, 0, 0);
            const uint32_t *slot = mi + mi[HF_I_NORMSYS_SLOT] + unit->normsys;
            for (uint32_t e = 0; e < unit->normsys_count; e++) {
                const double *own = normsys_of(mi, &numbers, unit, e),
                             at = factor_at(mi, own, d->values[slot[e]]);
                d->factors[unit->normsys + e] = at;
                d->bends[unit->normsys + e] =
                    (edge(mi, own, HF_NORMSYS_UP) + edge(mi, own, HF_NORMSYS_DOWN) - 2.0) / at;
            }
        }
}

/* ---- functions ---- */

static bool find_functions(struct differences *d, struct arena *arena, size_t slots)
{
    const struct hf_spec *spec = ((const struct hf_model *)d->model)->spec;
    const uint32_t *mi = d->model->tables.ints;
    struct functions *f = &d->functions;
    f->list = spec->functions;
    f->n = spec->n_functions;
    f->slots = slots;
    f->number = arena_array(arena, slots + 1, sizeof *f->number);
    if (f->n == 0) return f->number;
    f->records = (const void *)(mi + ((const hf_functions_record *)(mi + HF_HEADER))->functions);
    size_t room = 1;
    for (uint32_t k = 0; k < f->n; k++) {
        const size_t own = (size_t)f->list[k].expression->n_names + f->list[k].expression->depth;
        if (own > room) room = own;
    }
    f->bends = arena_array(arena, f->n * slots, sizeof *f->bends);
    f->room = arena_array(arena, room, sizeof *f->room);
    for (uint32_t k = 0; f->number && k < f->n; k++) f->number[f->records[k].slot] = k + 1;
    return f->number && f->bends && f->room;
}

/* Values of all functions at the values of the others; NaN outside their domain. */
static void put_functions(struct differences *d)
{
    const struct functions *f = &d->functions;
    for (uint32_t k = 0; k < f->n; k++) {
        const struct expression *e = f->list[k].expression;
        const uint32_t *arguments = d->model->tables.ints + f->records[k].arguments;
        for (uint32_t i = 0; i < e->n_names; i++) f->room[i] = d->values[arguments[i]];
        d->values[f->records[k].slot] = expression_value(e, f->room, f->room + e->n_names);
    }
}

static double finite_or_0(double value)
{
    return isfinite(value) ? value : 0.0;
}

/* Functions, and how they bend along each parameter; 0 outside their domain. */
static void bend_functions(struct differences *d)
{
    const struct functions *f = &d->functions;
    static const double steps[] = {1.0, -1.0, 0.0}, weights[] = {1.0, 1.0, -2.0};
    for (size_t p = 0; f->n > 0 && p < d->model->n_parameters; p++) {
        const uint32_t slot = d->model->slot_of[p];
        const double value = d->values[slot];
        for (int i = 0; i < 3; i++) {
            d->values[slot] = value + steps[i];
            put_functions(d);
            for (uint32_t k = 0; k < f->n; k++)
                f->bends[k * f->slots + slot] += weights[i] * d->values[f->records[k].slot];
        }
    }
    for (size_t i = 0; i < f->n * f->slots; i++) f->bends[i] = finite_or_0(f->bends[i]);
    for (uint32_t k = 0; k < f->n; k++)
        d->values[f->records[k].slot] = finite_or_0(d->values[f->records[k].slot]);
}

/* Adds `part` of a unit's bins to the sum of a slot, or to the panel's. */
static void add_part(struct differences *d, uint32_t slot, const double *weights, double part,
                     const double *bins)
{
    double sum = 0.0;
    for (uint32_t b = 0; b < 8; b++) {
        if (weights)
            sum += weights[b] * bins[b];
        else
            d->by_slot[slot][b] += part * bins[b];
    }
    d->sums[slot] += part * sum;
}

/* What a unit's functions do to its rates. `shifted`: without factors, `normsys`: the unit's. */
static void add_functions(struct differences *d, const hf_unit_record *unit, const double *weights,
                          const double *normsys, const double *shifted)
{
    const uint32_t *mi = d->model->tables.ints, *scalar_slot = mi + mi[HF_I_SCALAR_SLOT] + unit->scalars,
                   dense = mi[HF_DENSE];
    for (uint32_t k = 0; k < unit->scalar_count; k++) {
        const uint32_t number = d->functions.number[scalar_slot[k]];
        double others = 1.0;
        if (number == 0) continue;
        for (uint32_t e = 0; e < unit->normsys_count; e++) others *= normsys[e];
        for (uint32_t j = 0; j < unit->scalar_count; j++)
            if (j != k) others *= d->values[scalar_slot[j]];
        const double *bends = d->functions.bends + (size_t)(number - 1) * d->functions.slots;
        for (uint32_t slot = 0; slot < dense; slot++)
            if (bends[slot] != 0.0) add_part(d, slot, weights, others * bends[slot], shifted);
    }
}

static bool is_logarithmic(const struct frozen *model, const hf_unit_record *unit)
{
    return unit->shape != HF_NO_SHAPE && model->tables.reals[unit->shape + HF_SHAPE_LOGARITHMIC] > 0.0;
}

/* Bases of a unit without factors, from its nominal numbers. */
static void put_bases(const struct differences *d, const hf_unit_record *unit,
                      const struct unit_numbers *numbers, double *rates)
{
    const uint32_t *mi = d->model->tables.ints, *histosys_slot = mi + mi[HF_I_HISTOSYS_SLOT] + unit->histosys;
    memcpy(rates, numbers->nominal, 8 * sizeof *rates);
    for (uint32_t e = 0; e < unit->histosys_count; e++) {
        const double *shifts = numbers->shifts + 16 * e, value = d->values[histosys_slot[e]];
        const double even = even_part(shift_scale(d->model, unit->histosys + e) * value);
        for (uint32_t b = 0; b < 8 && value != 0.0; b++) rates[b] += value * shifts[b] + even * shifts[8 + b];
    }
    for (uint32_t b = 0; b < 8 && is_logarithmic(d->model, unit); b++) rates[b] = host_exp(rates[b]);
}

/* Adds r(+1) + r(-1) - 2 r(0) of histosys entries, from a unit's rates. A t(1), twice; of logarithms by both
 * exponentials. */
static void add_shifts(struct differences *d, const hf_unit_record *unit, const struct unit_numbers *numbers,
                       const double *weights, double factor, const double *rates)
{
    const uint32_t *mi = d->model->tables.ints, *histosys_slot = mi + mi[HF_I_HISTOSYS_SLOT] + unit->histosys;
    for (uint32_t e = 0; e < unit->histosys_count; e++) {
        const double even = even_part(shift_scale(d->model, unit->histosys + e)),
                     *shifts = numbers->shifts + 16 * e;
        double bins[8];
        if (!is_logarithmic(d->model, unit)) {
            add_part(d, histosys_slot[e], weights, factor * 2.0 * even, shifts + 8);
            continue;
        }
        for (uint32_t b = 0; b < 8; b++)
            bins[b] = rates[b] * (host_exp(even * shifts[8 + b] + shifts[b]) +
                                  host_exp(even * shifts[8 + b] - shifts[b]) - 2.0);
        add_part(d, histosys_slot[e], weights, 1.0, bins);
    }
}

/* `weights`: of the panel's bins, or NULL. */
static void add_unit(struct differences *d, const hf_unit_record *unit, const struct unit_numbers *numbers,
                     const double *weights)
{
    const uint32_t *mi = d->model->tables.ints, *normsys_slot = mi + mi[HF_I_NORMSYS_SLOT] + unit->normsys,
                   *scalar_slot = mi + mi[HF_I_SCALAR_SLOT] + unit->scalars;
    const double *factors = d->factors + unit->normsys, *bends = d->bends + unit->normsys;
    double factor = 1.0, rates[8];
    put_bases(d, unit, numbers, rates);
    for (uint32_t k = 0; k < unit->scalar_count; k++) factor *= d->values[scalar_slot[k]];
    for (uint32_t e = 0; e < unit->normsys_count; e++) factor *= factors[e];
    if (d->functions.n > 0) add_functions(d, unit, weights, factors, rates);
    for (uint32_t b = 0; b < 8; b++) {
        rates[b] *= factor;
        d->rates[b] += rates[b];
    }
    for (uint32_t e = 0; e < unit->normsys_count; e++) add_part(d, normsys_slot[e], weights, bends[e], rates);
    add_shifts(d, unit, numbers, weights, factor, rates);
}

static void add_squares(struct differences *d, uint32_t n_slots)
{
    for (uint32_t i = 0; i < n_slots; i++)
        for (uint32_t b = 0; b < 8; b++) {
            const double difference = d->by_slot[i][b];
            d->sums[i] += difference * difference / fmax(fabs(d->rates[b]), 1.0);
        }
}

static void add_channels(struct differences *d)
{
    const uint32_t *mi = d->model->tables.ints, dense = mi[HF_DENSE];
    const hf_channel_record *channels = (const void *)(mi + mi[HF_I_CHANNELS]);
    const hf_unit_record *units = (const void *)(mi + mi[HF_I_UNITS]);
    for (uint32_t c = 0; c < mi[HF_CHANNELS]; c++)
        for (uint32_t panel = 0; panel < channels[c].panels; panel++) {
            const size_t place = 8 * (size_t)(channels[c].first_panel + panel);
            memset(d->rates, 0, sizeof d->rates);
            if (!d->weights) memset(d->by_slot, 0, dense * sizeof *d->by_slot);
            for (uint32_t u = 0; u < channels[c].units; u++) {
                const hf_unit_record *unit = &units[channels[c].first_unit + u];
                const struct unit_numbers numbers =
                    numbers_of(d->model, d->row, unit, panel,
                               8 * (channels[c].first_cell + panel * channels[c].units + u));
                add_unit(d, unit, &numbers, d->weights ? d->weights + place : NULL);
            }
            if (!d->weights) add_squares(d, dense);
        }
}

static size_t count_normsys(const struct frozen *model)
{
    const uint32_t *mi = model->tables.ints;
    const hf_channel_record *channels = (const void *)(mi + mi[HF_I_CHANNELS]);
    const hf_unit_record *units = (const void *)(mi + mi[HF_I_UNITS]);
    size_t most = 0;
    for (uint32_t c = 0; c < mi[HF_CHANNELS]; c++)
        for (uint32_t u = 0; u < channels[c].units; u++) {
            const hf_unit_record *unit = &units[channels[c].first_unit + u];
            const size_t end = (size_t)unit->normsys + unit->normsys_count;
            if (end > most) most = end;
        }
    return most;
}

paritas_status hf_second_differences(paritas_context *context, const struct frozen *model, const double *data,
                                     const double *point, const double *weights, double *differences)
{
    const uint32_t *mi = model->tables.ints, dense = mi[HF_DENSE];
    const size_t n_normsys = count_normsys(model);
    uint32_t slots = dense;
    for (size_t p = 0; p < model->n_parameters; p++)
        if (model->slot_of[p] >= slots) slots = model->slot_of[p] + 1;
    struct arena arena;
    arena_open(&arena, &context->allocator);
    struct differences d = {.model = model,
                            .values = arena_array(&arena, slots + 1, sizeof *d.values),
                            .sums = arena_array(&arena, slots + 1, sizeof *d.sums),
                            .factors = arena_array(&arena, n_normsys + 1, sizeof *d.factors),
                            .bends = arena_array(&arena, n_normsys + 1, sizeof *d.bends),
                            .by_slot = arena_array(&arena, dense + 1, sizeof *d.by_slot)};
    double *row = arena_array(&arena, model->n_places + 1, sizeof *row),
           *by_place = arena_array(&arena, model->n_places + 1, sizeof *by_place);
    const bool whole = d.values && d.sums && d.factors && d.bends && d.by_slot && row && by_place &&
                       find_functions(&d, &arena, slots);
    if (whole) {
        for (size_t p = 0; p < model->n_parameters; p++) d.values[model->slot_of[p]] = point[p];
        bend_functions(&d);
        if (data) rows_put_data(model, data, row);
        for (size_t i = 0; i < model->n_main && weights; i++) by_place[model->place_of[i]] = weights[i];
        d.row = data ? row : NULL;
        d.weights = weights ? by_place : NULL;
        find_factors(&d);
        add_channels(&d);
        for (size_t p = 0; p < model->n_parameters; p++) {
            const double sum = model->slot_of[p] < dense ? d.sums[model->slot_of[p]] : 0.0;
            differences[p] = weights ? sum : sqrt(sum);
        }
    }
    arena_free(&arena);
    return whole ? PARITAS_OK : paritas_fail_memory(context);
}
