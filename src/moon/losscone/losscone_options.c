/* losscone_options.c: options as tables, sweeps as rows, initial results. */
#include "base/host_math.h"
#include "base/sized.h"
#include "moon/losscone/losscone.h"

#include <math.h>
#include <string.h>

#define LEAST_WIDTH 1e-3 /* eV, of a beam */
#define CHANNEL_MOST 1e3 /* of an energy over the row's: f32 squares it */
#define GENERATIONS_MOST 1000000u
#define LILLIS_LEAST_CELLS 5
#define LILLIS_MISFIT_LIMIT 2.0 /* above: no fit */

static paritas_status check_known(paritas_context *context, const char *name, int value, int last)
{
    if (value >= 0 && value <= last) return PARITAS_OK;
    return paritas_refuse(context, "options: %s %d is not known", name, value);
}

static paritas_status check_bounds(paritas_context *context, const char *name, double lower, double upper,
                                   double least, double most)
{
    if (!isfinite(lower) || !isfinite(upper) || !(lower <= upper))
        return paritas_refuse(context, "options: %s_lower %g and %s_upper %g are not bounds", name, lower,
                              name, upper);
    if (!(lower >= least) || !(upper <= most))
        return paritas_refuse(context, "options: bounds of %s are %g to %g; they must lie in %g to %g", name,
                              lower, upper, least, most);
    return PARITAS_OK;
}

paritas_status losscone_options_read(paritas_context *context, const paritas_losscone_options *given,
                                     paritas_losscone_options *options)
{
    *options = (paritas_losscone_options)PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_losscone_options, "options", given, options));
    TRY(check_known(context, "method", (int)options->method, PARITAS_LOSSCONE_METHOD_LILLIS));
    TRY(check_known(context, "response", (int)options->response, PARITAS_LOSSCONE_RESPONSE_FOLDED));
    TRY(check_known(context, "search", (int)options->search, PARITAS_LOSSCONE_SEARCH_DE));
    TRY(check_bounds(context, "potential", options->potential_lower, options->potential_upper, -1e6, 1e6));
    TRY(check_bounds(context, "ratio", options->ratio_lower, options->ratio_upper, 1e-6, 1e3));
    TRY(check_bounds(context, "amplitude", options->amplitude_lower, options->amplitude_upper, 0.0, 1e3));
    if (!(options->background > 0.0) || !(options->background <= 1.0))
        return paritas_refuse(context, "options: background %g; it must be above 0 and at most 1",
                              options->background);
    if (!(options->beam_width >= 0.0) || !isfinite(options->beam_width))
        return paritas_refuse(context, "options: beam_width %g; it must be a number from 0 (no beam) on",
                              options->beam_width);
    if (options->beam_width > 0.0 && options->beam_width < LEAST_WIDTH)
        return paritas_refuse(context, "options: beam_width %g eV; it must be 0 (no beam) or at least %g eV",
                              options->beam_width, LEAST_WIDTH);
    if (!(options->beam_sigma >= 0.0) || !isfinite(options->beam_sigma))
        return paritas_refuse(context, "options: beam_sigma %g; it must be a number from 0 (all angles) on",
                              options->beam_sigma);
    if (!(options->response_width >= 0.0) || !(options->response_width < 1.0))
        return paritas_refuse(context, "options: response_width %g; it must be at least 0 and below 1",
                              options->response_width);
    if (!(options->potential_errors >= 0.0) || !(options->potential_errors <= 10.0))
        return paritas_refuse(context, "options: potential_errors %g; it must be from 0 to 10",
                              options->potential_errors);
    if (options->box_limit < 1)
        return paritas_refuse(context, "options: box_limit 0; at least one box must be bounded");
    if (options->population < 4 || options->population > 1024)
        return paritas_refuse(context, "options: population %u; it must be 4 to 1024", options->population);
    if (options->generations > GENERATIONS_MOST)
        return paritas_refuse(context, "options: generations %u; there must be no more than %u",
                              options->generations, GENERATIONS_MOST);
    return PARITAS_OK;
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
        const bool usable = energy > 0.0 && isfinite(energy) && isfinite(potential) && energy >= potential;
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
    ints[LOSSCONE_METHOD] = (uint32_t)options->method;
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
            options->method == PARITAS_LOSSCONE_METHOD_HALEKAS ? host_log(level + LOSSCONE_FLOOR) : level;
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
        r.ratio_upper = r.noise = r.edge_evidence = r.cone_level = nan;
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
