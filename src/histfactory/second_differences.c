/* second_differences.c: of rates by each parameter: signs of several minima. */
#include "histfactory/second_differences.h"
#include "base/math/host_math.h"
#include "fit/fit_rows.h"
#include "histfactory/histfactory_arrays.h"

#include <math.h>
#include <string.h>

/* A panel's bins: rates, and each slot's r(+1) + r(-1) - 2 r(0). */
struct panel_differences {
    double *values; /* of slots */
    double rates[8];
    double (*by_slot)[8];
};

/* Sums over bins, by slot. */
struct difference_sums {
    const double *weights; /* by place; NULL: sums of squares, each in units of the bin's variance */
    double *by_slot;
};

struct unit_numbers {
    const double *nominal, *shifts; /* 8 bins; S and A of 8 bins for each histosys */
    const double *factors;          /* of all normsys */
};

/* A normsys with these numbers, 8 places apart, at 1 (`side` UP) or -1 (DOWN). */
static double edge(const uint32_t *mi, const double *numbers, size_t side)
{
    return mi[HF_NORMSYS_CODE] == HF_OWN_CODES && numbers[8 * HF_NORMSYS_LINEAR] > 0.0
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
    if (value == 0.0) return 1.0;
    const double at_edge = edge(mi, numbers, value < 0.0 ? HF_NORMSYS_DOWN : HF_NORMSYS_UP);
    return at_edge > 0.0 ? host_exp(fabs(value) * host_log(at_edge)) : 1.0 + fabs(value) * (at_edge - 1.0);
}

/* t(value) of a histosys' even part; t(1) is 8. */
static double even_part(double value)
{
    const double square = value * value;
    return square < 1.0 ? square * (15.0 + square * (3.0 * square - 10.0)) : 8.0 * fabs(value);
}

static void add_unit(const struct frozen *model, const struct unit_numbers *numbers,
                     const hf_unit_record *unit, struct panel_differences *to)
{
    const uint32_t *mi = model->tables.ints, *normsys_slot = mi + mi[HF_I_NORMSYS_SLOT] + unit->normsys,
                   *histosys_slot = mi + mi[HF_I_HISTOSYS_SLOT] + unit->histosys,
                   *scalar_slot = mi + mi[HF_I_SCALAR_SLOT] + unit->scalars;
    double factor = 1.0, nominal[8];
    memcpy(nominal, numbers->nominal, sizeof nominal);
    for (uint32_t e = 0; e < unit->histosys_count; e++) {
        const double *shifts = numbers->shifts + 16 * e, value = to->values[histosys_slot[e]];
        for (uint32_t b = 0; b < 8 && value != 0.0; b++)
            nominal[b] += value * shifts[b] + even_part(value) * shifts[8 + b];
    }
    for (uint32_t k = 0; k < unit->scalar_count; k++) factor *= to->values[scalar_slot[k]];
    for (uint32_t e = 0; e < unit->normsys_count; e++)
        factor *= factor_at(mi, normsys_of(mi, numbers, unit, e), to->values[normsys_slot[e]]);
    for (uint32_t b = 0; b < 8; b++) to->rates[b] += factor * nominal[b];
    for (uint32_t e = 0; e < unit->normsys_count; e++) {
        const double *own = normsys_of(mi, numbers, unit, e),
                     difference = factor / factor_at(mi, own, to->values[normsys_slot[e]]) *
                                  (edge(mi, own, HF_NORMSYS_UP) + edge(mi, own, HF_NORMSYS_DOWN) - 2.0);
        for (uint32_t b = 0; b < 8; b++) to->by_slot[normsys_slot[e]][b] += difference * nominal[b];
    }
    for (uint32_t e = 0; e < unit->histosys_count; e++) /* A t(1), twice */
        for (uint32_t b = 0; b < 8; b++)
            to->by_slot[histosys_slot[e]][b] += factor * 16.0 * numbers->shifts[16 * e + 8 + b];
}

static void add_panel(const struct panel_differences *from, uint32_t n_slots, uint32_t first_place,
                      const struct difference_sums *sums)
{
    for (uint32_t i = 0; i < n_slots; i++)
        for (uint32_t b = 0; b < 8; b++) {
            const double difference = from->by_slot[i][b];
            sums->by_slot[i] += sums->weights ? sums->weights[first_place + b] * difference
                                              : difference * difference / fmax(fabs(from->rates[b]), 1.0);
        }
}

static void add_channels(const struct frozen *model, const double *row,
                         struct panel_differences *panel_differences, const struct difference_sums *sums)
{
    const uint32_t *mi = model->tables.ints, dense = mi[HF_DENSE];
    const hf_channel_record *channels = (const void *)(mi + mi[HF_I_CHANNELS]);
    const hf_unit_record *units = (const void *)(mi + mi[HF_I_UNITS]);
    for (uint32_t c = 0; c < mi[HF_CHANNELS]; c++)
        for (uint32_t panel = 0; panel < channels[c].panels; panel++) {
            memset(panel_differences->rates, 0, sizeof panel_differences->rates);
            memset(panel_differences->by_slot, 0, dense * sizeof *panel_differences->by_slot);
            for (uint32_t u = 0; u < channels[c].units; u++) {
                const hf_unit_record *unit = &units[channels[c].first_unit + u];
                const struct unit_numbers numbers = numbers_of(
                    model, row, unit, panel, 8 * (channels[c].first_cell + panel * channels[c].units + u));
                add_unit(model, &numbers, unit, panel_differences);
            }
            add_panel(panel_differences, dense, 8 * (channels[c].first_panel + panel), sums);
        }
}

paritas_status hf_second_differences(paritas_context *context, const struct frozen *model, const double *data,
                                     const double *point, const double *weights, double *differences)
{
    const uint32_t *mi = model->tables.ints, dense = mi[HF_DENSE];
    uint32_t slots = dense;
    for (size_t p = 0; p < model->n_parameters; p++)
        if (model->slot_of[p] >= slots) slots = model->slot_of[p] + 1;
    struct panel_differences panel_differences = {
        .values = paritas_allocate_clear(context, slots + 1, sizeof *panel_differences.values),
        .by_slot = paritas_allocate(context, dense + 1, sizeof *panel_differences.by_slot)};
    double *sums = paritas_allocate_clear(context, dense + 1, sizeof *sums),
           *by_place = weights ? paritas_allocate_clear(context, model->n_places, sizeof *by_place) : NULL;
    double *row = data ? paritas_allocate(context, model->n_places, sizeof *row) : NULL;
    const bool whole = panel_differences.values && panel_differences.by_slot && sums && (row || !data) &&
                       (by_place || !weights);
    if (whole) {
        for (size_t p = 0; p < model->n_parameters; p++)
            panel_differences.values[model->slot_of[p]] = point[p];
        if (data) rows_put_data(model, data, row);
        for (size_t i = 0; i < model->n_main && weights; i++) by_place[model->place_of[i]] = weights[i];
        add_channels(model, row, &panel_differences, &(struct difference_sums){by_place, sums});
        for (size_t p = 0; p < model->n_parameters; p++) {
            const double sum = model->slot_of[p] < dense ? sums[model->slot_of[p]] : 0.0;
            differences[p] = weights ? sum : sqrt(sum);
        }
    }
    paritas_release(&context->allocator, panel_differences.values);
    paritas_release(&context->allocator, panel_differences.by_slot);
    paritas_release(&context->allocator, sums);
    paritas_release(&context->allocator, row);
    paritas_release(&context->allocator, by_place);
    return whole ? PARITAS_OK : paritas_fail_memory(context);
}
