/* losscone_options.c: options as tables, sweeps as rows, initial results. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/losscone/losscone.h"

#include <math.h>
#include <string.h>

#define CHANNEL_MOST 1e3 /* of an energy over the row's: f32 squares it */
#define LILLIS_LEAST_CELLS 5
#define LILLIS_MISFIT_LIMIT 2.0 /* above: no fit */

paritas_status losscone_options_read(paritas_context *context, const paritas_losscone_options *given,
                                     paritas_losscone_options *options)
{
    *options = (paritas_losscone_options)PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    return OPTIONS_READ(context, paritas_losscone_options, "options", given, options);
}

paritas_status losscone_sweeps_read(paritas_context *context, const paritas_sweeps *given, bool needs_flux,
                                    paritas_sweeps *sweeps, const struct losscone_grid **grid)
{
    *sweeps = (paritas_sweeps)PARITAS_SWEEPS_DEFAULT;
    TRY(SIZED_CHECK(context, paritas_sweeps, "sweeps", 1, given));
    TRY(SIZED_TAKE(context, paritas_sweeps, "sweeps", given, sweeps));
    TRY(losscone_grid_find(context, "sweeps", &sweeps->rows, &sweeps->cells, grid));
    if (sweeps->n &&
        (!sweeps->energy || !sweeps->potential || !sweeps->cosine || (needs_flux && !sweeps->flux)))
        return paritas_refuse(context, "sweeps: the array of %s is not there",
                              !sweeps->energy      ? "energy"
                              : !sweeps->potential ? "potential"
                              : !sweeps->cosine    ? "cosine"
                                                   : "flux");
    return PARITAS_OK;
}

static size_t padded_cells(size_t cells)
{
    return (cells + 7) & ~(size_t)7;
}

void losscone_grid_ints(size_t rows, size_t cells, uint32_t ints[LOSSCONE_INTS])
{
    ints[LOSSCONE_ROWS] = (uint32_t)rows;
    ints[LOSSCONE_CELLS] = (uint32_t)padded_cells(cells);
}

double losscone_cosine(double x)
{
    return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;
}

paritas_sweeps losscone_part(const paritas_sweeps *sweeps, size_t first, size_t n)
{
    const size_t rows = sweeps->rows, cells = losscone_cells(sweeps);
    paritas_sweeps part = *sweeps;
    part.n = n;
    part.energy += first * rows;
    part.potential += first * rows;
    part.cosine += first * cells;
    part.flux += first * cells;
    if (part.channel) part.channel += first * rows * LOSSCONE_ENERGIES;
    return part;
}

bool losscone_row_is_usable(const paritas_sweeps *sweeps, size_t row)
{
    const double energy = sweeps->energy[row], potential = sweeps->potential[row];
    return energy > 0.0 && isfinite(energy) && isfinite(potential) && energy >= potential;
}

void losscone_channel_row(const struct losscone_call *call, size_t k, double *row)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    for (size_t i = 0; i < sweeps->rows; i++) {
        const double *given =
            sweeps->channel ? sweeps->channel + (k * sweeps->rows + i) * LOSSCONE_ENERGIES : NULL;
        bool falls = given && given[0] < CHANNEL_MOST && given[LOSSCONE_ENERGIES - 1] > 0.0;
        for (size_t n = 1; n < LOSSCONE_ENERGIES; n++) falls = falls && given[n] <= given[n - 1];
        for (size_t n = 0; n < LOSSCONE_ENERGIES; n++)
            row[call->grid->channel + n * call->grid->rows + i] =
                falls ? given[n] : 1.0 + call->options.response_width * (1.0 - 0.5 * (double)n);
    }
}

void losscone_sweep_row(const struct losscone_call *call, size_t k, double *row)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    const struct losscone_grid *grid = call->grid;
    const size_t cells = sweeps->cells, padded = padded_cells(cells);
    memset(row, 0, grid->cosine * sizeof *row);
    losscone_channel_row(call, k, row);
    for (size_t i = 0; i < sweeps->rows; i++) {
        const double energy = sweeps->energy[k * sweeps->rows + i],
                     potential = sweeps->potential[k * sweeps->rows + i];
        const bool usable = losscone_row_is_usable(sweeps, k * sweeps->rows + i);
        row[grid->energy + i] = usable ? energy : 1.0;
        row[grid->potential + i] = usable ? potential : 0.0;
        const size_t at = (k * sweeps->rows + i) * cells;
        const double *from_cosine = sweeps->cosine + at, *from_flux = sweeps->flux + at;
        double *cosine = row + grid->cosine + i * grid->cells, *flux = row + grid->flux + i * grid->cells;
        for (size_t j = 0; j < cells; j++) {
            const double c = losscone_cosine(from_cosine[j]), f = from_flux[j];
            const bool there = usable & (c == c) & (f > 0.0) & (f <= LOSSCONE_FLUX_MOST);
            cosine[j] = there ? c : 0.0;
            flux[j] = there ? f : 0.0;
        }
        for (size_t j = cells; j < padded; j++) cosine[j] = flux[j] = 0.0;
    }
}

static void make_tables(struct losscone_call *call)
{
    const paritas_losscone_options *options = &call->options;
    uint32_t *ints = call->ints;
    double *reals = call->reals;
    const bool folded = options->response == PARITAS_LOSSCONE_RESPONSE_FOLDED,
               beam = !folded && options->beam_width > 0.0;
    ints[LOSSCONE_METHOD] = options->method == PARITAS_LOSSCONE_METHOD_LILLIS;
    ints[LOSSCONE_FOLDED] = folded;
    ints[LOSSCONE_BOX_LIMIT] = options->box_limit;
    ints[LOSSCONE_POPULATION] = options->population;
    ints[LOSSCONE_GENERATIONS] = options->generations;
    ints[LOSSCONE_SEED_LOW] = (uint32_t)options->seed;
    ints[LOSSCONE_SEED_HIGH] = (uint32_t)(options->seed >> 32);
    losscone_grid_ints(call->sweeps.rows, call->sweeps.cells, ints);
    reals[LOSSCONE_U_LOWER] = options->potential_lower;
    reals[LOSSCONE_U_UPPER] = options->potential_upper;
    reals[LOSSCONE_R_LOWER] = options->ratio_lower;
    reals[LOSSCONE_R_UPPER] = options->ratio_upper;
    reals[LOSSCONE_A_LOWER] = beam ? options->amplitude_lower : 0.0;
    reals[LOSSCONE_A_UPPER] = beam ? options->amplitude_upper : 0.0;
    reals[LOSSCONE_BEAM_WIDTH] = options->beam_width;
    reals[LOSSCONE_BEAM_SIGMA] = options->beam_sigma;
    reals[LOSSCONE_BACKGROUND] = options->background;
    for (int n = 0; n <= LOSSCONE_ENERGIES; n++) reals[LOSSCONE_LEVEL + n] = 0.0;
    const int energies = folded ? LOSSCONE_ENERGIES : 1;
    for (int n = 0; n <= energies; n++) {
        const double level = ((double)(energies - n) + (double)n * options->background) / (double)energies;
        reals[LOSSCONE_LEVEL + n] =
            options->method == PARITAS_LOSSCONE_METHOD_LILLIS ? level : host_log(level + LOSSCONE_FLOOR);
    }
}

paritas_status losscone_open(paritas_context *context, const paritas_sweeps *given_sweeps,
                             const paritas_losscone_options *given_options, bool needs_flux,
                             struct losscone_call *call)
{
    TRY(losscone_options_read(context, given_options, &call->options));
    TRY(losscone_sweeps_read(context, given_sweeps, needs_flux, &call->sweeps, &call->grid));
    make_tables(call);
    return PARITAS_OK;
}

static void fill_sweep(const void *user, size_t sweep, double *row)
{
    const struct losscone_call *const *call = user;
    losscone_sweep_row(*call, sweep, row);
}

paritas_status losscone_run(paritas_context *context, const struct losscone_call *call, struct batch batch)
{
    batch.module = call->grid->module;
    batch.tables = (struct device_tables){
        .ints = call->ints, .reals = call->reals, .n_ints = LOSSCONE_INTS, .n_reals = LOSSCONE_REALS};
    batch.first = call->options.first;
    if (!batch.fill) {
        batch.fill = fill_sweep;
        batch.n_in = call->grid->sweep;
    }
    return batch_run(context, context->device, &batch, call->sweeps.n);
}

unsigned losscone_least_cells(const paritas_losscone_options *options)
{
    return options->method == PARITAS_LOSSCONE_METHOD_LILLIS ? LILLIS_LEAST_CELLS : 1;
}

paritas_losscone_result losscone_result(const paritas_losscone_options *options, unsigned cells)
{
    const double nan = NAN;
    paritas_losscone_result r = {.size = sizeof r,
                                 .cells = cells,
                                 .misfit = nan,
                                 .potential = nan,
                                 .ratio = nan,
                                 .amplitude = nan,
                                 .gap = nan};
    r.potential_centre = r.ratio_centre = r.potential_lower = r.potential_upper = r.ratio_lower =
        r.ratio_upper = r.noise = r.edge_evidence = r.cone_level = r.deviance = r.excess = nan;
    r.flags = PARITAS_QUALITY_NO_FIT;
    r.status = cells == 0                              ? PARITAS_SWEEP_NO_CELLS
               : cells < losscone_least_cells(options) ? PARITAS_SWEEP_TOO_FEW_CELLS
                                                       : PARITAS_SWEEP_FITTED;
    return r;
}

paritas_sweep_status losscone_status(const paritas_losscone_options *options, double misfit, bool settled)
{
    if (options->method == PARITAS_LOSSCONE_METHOD_LILLIS && misfit > LILLIS_MISFIT_LIMIT)
        return PARITAS_SWEEP_MISFIT;
    return settled ? PARITAS_SWEEP_FITTED : PARITAS_SWEEP_AT_LIMIT;
}
