/* histfactory_bends.c: how much bins bend with a parameter: a sign of several minima. */
#include "histfactory/histfactory_bends.h"
#include "base/host_math.h"
#include "histfactory/histfactory_arrays.h"

#include <math.h>
#include <string.h>

/* A panel's bins: rates, and each slot's r(+1) + r(-1) - 2 r(0). */
struct panel_bends {
    double *values; /* of slots */
    double rates[8];
    double (*by_slot)[8];
};

/* A normsys with these numbers, 8 places apart, at 1 (`side` UP) or -1 (DOWN). */
static double edge(const uint32_t *mi, const double *numbers, size_t side)
{
    return mi[HF_NORMSYS_CODE] == HF_OWN_CODES && numbers[8 * HF_NORMSYS_LINEAR] > 0.0
               ? numbers[8 * HF_NORMSYS_OFFSET] + numbers[8 * side]
               : host_exp(numbers[8 * side]);
}

static void add_unit(const struct frozen *model, const hf_unit_record *unit, uint32_t panel, uint32_t cell,
                     struct panel_bends *to)
{
    const uint32_t *mi = model->tables.ints, *normsys_slot = mi + mi[HF_I_NORMSYS_SLOT] + unit->normsys,
                   *histosys_slot = mi + mi[HF_I_HISTOSYS_SLOT] + unit->histosys;
    const double *mr = model->tables.reals, *nominal = mr + mi[HF_R_NOMINAL] + cell,
                 *factors = mr + mi[HF_R_NORMSYS],
                 *shifts = mr + unit->histosys_data + (size_t)panel * unit->histosys_count * 16;
    const uint32_t *scalar_slot = mi + mi[HF_I_SCALAR_SLOT] + unit->scalars;
    double factor = 1.0;
    for (uint32_t k = 0; k < unit->scalar_count; k++) factor *= to->values[scalar_slot[k]];
    for (uint32_t b = 0; b < 8; b++) to->rates[b] += factor * nominal[b];
    for (uint32_t e = 0; e < unit->normsys_count; e++) {
        const double *numbers = factors + HF_NORMSYS_AT(mi[HF_NORMSYS_CODE], unit->normsys + e);
        const double bend =
            factor * (edge(mi, numbers, HF_NORMSYS_UP) + edge(mi, numbers, HF_NORMSYS_DOWN) - 2.0);
        for (uint32_t b = 0; b < 8; b++) to->by_slot[normsys_slot[e]][b] += bend * nominal[b];
    }
    for (uint32_t e = 0; e < unit->histosys_count; e++) /* A t(1), twice; t(1) is 8 */
        for (uint32_t b = 0; b < 8; b++)
            to->by_slot[histosys_slot[e]][b] += factor * 16.0 * shifts[16 * e + 8 + b];
}

static void add_panel(const struct panel_bends *from, uint32_t n_slots, double *squares)
{
    for (uint32_t i = 0; i < n_slots; i++)
        for (uint32_t b = 0; b < 8; b++)
            squares[i] += from->by_slot[i][b] * from->by_slot[i][b] / fmax(fabs(from->rates[b]), 1.0);
}

paritas_status hf_bends(paritas_context *context, const struct frozen *model, const double *point,
                        double *bends)
{
    const uint32_t *mi = model->tables.ints, dense = mi[HF_DENSE];
    const hf_channel_record *channels = (const void *)(mi + mi[HF_I_CHANNELS]);
    const hf_unit_record *units = (const void *)(mi + mi[HF_I_UNITS]);
    uint32_t slots = dense;
    for (size_t p = 0; p < model->n_parameters; p++)
        if (model->slot_of[p] >= slots) slots = model->slot_of[p] + 1;
    struct panel_bends panel_bends = {
        .values = paritas_allocate_clear(context, slots + 1, sizeof *panel_bends.values),
        .by_slot = paritas_allocate(context, dense + 1, sizeof *panel_bends.by_slot)};
    double *squares = paritas_allocate_clear(context, dense + 1, sizeof *squares);
    const bool whole = panel_bends.values && panel_bends.by_slot && squares;
    for (size_t p = 0; p < model->n_parameters && whole; p++)
        panel_bends.values[model->slot_of[p]] = point[p];
    for (uint32_t c = 0; c < mi[HF_CHANNELS] && whole; c++)
        for (uint32_t panel = 0; panel < channels[c].panels; panel++) {
            memset(panel_bends.rates, 0, sizeof panel_bends.rates);
            memset(panel_bends.by_slot, 0, dense * sizeof *panel_bends.by_slot);
            for (uint32_t u = 0; u < channels[c].units; u++)
                add_unit(model, &units[channels[c].first_unit + u], panel,
                         8 * (channels[c].first_cell + panel * channels[c].units + u), &panel_bends);
            add_panel(&panel_bends, dense, squares);
        }
    for (size_t p = 0; p < model->n_parameters && whole; p++)
        bends[p] = model->slot_of[p] < dense ? sqrt(squares[model->slot_of[p]]) : 0.0;
    paritas_release(&context->allocator, panel_bends.values);
    paritas_release(&context->allocator, panel_bends.by_slot);
    paritas_release(&context->allocator, squares);
    return whole ? PARITAS_OK : paritas_fail_memory(context);
}
