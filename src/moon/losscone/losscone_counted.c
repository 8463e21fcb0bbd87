/* losscone_counted.c: fits of counts by the channels' response, on the host. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/losscone/losscone_counted.h"

#include <math.h>
#include <string.h>

#define SCATTER_LEAST 0.015 /* of a cell, beside counting: no sensor is calibrated better */
#define SCATTER_MOST 3.0    /* more is no noise */
#define THRESHOLD 3.841     /* 95 % of a chi-square of one degree of freedom */
/* Birge's factor takes deviations to be independent. Cells at one edge share those of a wrong response.
 * Measured with truths of 5 to 31 single energies a channel. */
#define SHARED_MOST 3.0
#define PARAMETERS 2.0  /* U, r */
#define PROVEN_F64 1e-6 /* of 1 + deviance */
#define PROVEN_F32 1e-4
#define CHI_LEAST 1.0
/* The edge of one row is a line in the plane of U and r. Only the channel's width would tell them apart. */
#define ROWS_LEAST 2
#define COUNTS_MOST 1e12 /* of a cell: deviances of more are rounding */

bool losscone_is_counted(const struct losscone_call *call)
{
    const paritas_losscone_options *o = &call->options;
    return o->method == PARITAS_LOSSCONE_METHOD_COUNTS ||
           (o->method == PARITAS_LOSSCONE_METHOD_AUTO && o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED &&
            o->search == PARITAS_LOSSCONE_SEARCH_EXACT && call->sweeps.measured && call->sweeps.counts);
}

paritas_status losscone_counted_check(paritas_context *context, const struct losscone_call *call)
{
    const paritas_losscone_options *o = &call->options;
    if (o->method != PARITAS_LOSSCONE_METHOD_COUNTS) return PARITAS_OK;
    if (o->response != PARITAS_LOSSCONE_RESPONSE_FOLDED)
        return paritas_refuse(
            context,
            "options: the method counts knows no hard edge: choose the folded response or the method auto");
    if (o->search != PARITAS_LOSSCONE_SEARCH_EXACT)
        return paritas_refuse(
            context,
            "options: the method counts knows no search de: choose the exact search or the method halekas");
    if (!call->sweeps.measured || !call->sweeps.counts)
        return paritas_refuse(context, "sweeps: the method counts has none: give the arrays measured and "
                                       "counts, or choose the method halekas");
    return PARITAS_OK;
}

/* One cell: measured counts, and those of a flux of 1; false: masked. */
struct cell {
    double measured, scale, base;
};

static bool cell_of(const struct losscone_call *call, size_t k, size_t i, size_t j, struct cell *cell)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    const size_t row = k * sweeps->rows + i, at = row * sweeps->cells + j;
    const double base = sweeps->background ? sweeps->background[row] : 0.0, flux = sweeps->flux[at];
    *cell = (struct cell){sweeps->measured[at], sweeps->counts[at], base > 0.0 ? base : 0.0};
    return losscone_row_is_usable(sweeps, row) && flux > 0.0 && flux <= LOSSCONE_FLUX_MOST &&
           cell->measured >= 0.0 && cell->measured <= COUNTS_MOST && cell->scale > 0.0 &&
           cell->scale <= COUNTS_MOST && isfinite(sweeps->cosine[at]);
}

/* Are U and r to be told from each other? */
static bool both_free(const struct losscone_call *call)
{
    const paritas_losscone_options *o = &call->options;
    return o->potential_lower < o->potential_upper && o->ratio_lower < o->ratio_upper;
}

/* Rows with a reflected cell, up to ROWS_LEAST. */
static unsigned rows_of(const struct losscone_call *call, size_t k)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    unsigned rows = 0;
    for (size_t i = 0; i < sweeps->rows && rows < ROWS_LEAST; i++)
        for (size_t j = 0; j < sweeps->cells; j++) {
            struct cell cell;
            if (!cell_of(call, k, i, j, &cell) ||
                !(sweeps->cosine[(k * sweeps->rows + i) * sweeps->cells + j] < 0.0))
                continue;
            rows++;
            break;
        }
    return rows;
}

/* Relative variance of cells beside that of counting: by moments of the incident cells, whose flux is 1. */
static double scatter_of(const struct losscone_call *call, size_t k)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    double more = 0.0, squares = 0.0;
    for (size_t i = 0; i < sweeps->rows; i++) {
        double n = 0.0, excess = 0.0, square = 0.0;
        for (size_t j = 0; j < sweeps->cells; j++) {
            struct cell cell;
            if (!cell_of(call, k, i, j, &cell) ||
                !(sweeps->cosine[(k * sweeps->rows + i) * sweeps->cells + j] > 0.0))
                continue;
            const double mean = cell.scale * (1.0 + cell.base), rest = cell.measured - mean;
            n += 1.0;
            excess += rest * rest - mean;
            square += mean * mean;
        }
        if (n < 2.0) continue;
        more += excess;
        squares += square;
    }
    const double given = sweeps->scatter && sweeps->scatter[k] > 0.0 ? sweeps->scatter[k] : SCATTER_LEAST,
                 least = given * given, most = SCATTER_MOST * SCATTER_MOST,
                 found = squares > 0.0 ? more / squares : least;
    return found < least ? least : found > most ? most : found;
}

/* Five energies (losscone_channels.c) say where a Gaussian lies. */
static struct losscone_channel channel_of(const struct losscone_call *call, const double *row, size_t i)
{
    const double *parts = row + call->grid->channel;
    const size_t rows = call->grid->rows;
    const double first = parts[i], last = parts[(LOSSCONE_ENERGIES - 1) * rows + i];
    if (!call->sweeps.channel || !(first > last))
        return (struct losscone_channel){0.0, losscone_response_sigma(call->options.response_width)};
    return losscone_channel_shape(first, last);
}

struct counted {
    const struct losscone_call *call;
    double proven;
    paritas_losscone_result *results;
    const double *limits; /* of sets */
    double (*ends)[2];
    double *row;      /* a sweep's row, for its channels */
    double *scatter;  /* of each sweep, as its row has it */
    double potential; /* of profiles; NaN: free */
};

static void fill(const void *user, size_t k, double *to)
{
    const struct counted *c = user;
    const struct losscone_call *call = c->call;
    const struct losscone_grid *grid = call->grid;
    const paritas_sweeps *sweeps = &call->sweeps;
    const bool free = isnan(c->potential), masked = free && both_free(call) && rows_of(call, k) < ROWS_LEAST;
    memset(to, 0, grid->counted_in * sizeof *to);
    losscone_channel_row(call, k, c->row);
    for (size_t i = 0; i < sweeps->rows; i++) {
        const size_t row = k * sweeps->rows + i;
        const bool usable = losscone_row_is_usable(sweeps, row);
        const struct losscone_channel channel = channel_of(call, c->row, i);
        to[grid->counted_potential + i] = usable ? sweeps->potential[row] : 0.0;
        to[grid->counted_centre + i] = channel.centre + (usable ? host_log(sweeps->energy[row]) : 0.0);
        to[grid->counted_narrow + i] = 1.0 / channel.width;
        for (size_t j = 0; j < sweeps->cells; j++) {
            struct cell cell;
            const size_t at = i * grid->cells + j;
            if (masked || !cell_of(call, k, i, j, &cell)) continue;
            to[grid->counted_base + i] = cell.base;
            to[grid->counted_cosine + at] = losscone_cosine(sweeps->cosine[row * sweeps->cells + j]);
            to[grid->counted_count + at] = cell.measured;
            to[grid->counted_scale + at] = cell.scale;
        }
    }
    double *tail = to + grid->counted_tail;
    c->scatter[k] = scatter_of(call, k);
    tail[COUNTED_TAIL_K] = 1.0 / c->scatter[k];
    tail[COUNTED_TAIL_FROM] = free ? call->options.potential_lower : c->potential;
    tail[COUNTED_TAIL_TO] = free ? call->options.potential_upper : c->potential;
    if (!c->limits) return;
    tail[COUNTED_TAIL_U] = c->results[k].potential_centre;
    tail[COUNTED_TAIL_R] = c->results[k].ratio_centre;
    tail[COUNTED_TAIL_LIMIT] = c->limits[k] > 0.0 ? c->limits[k] : 0.0;
}

static double per_freedom(double deviance, double cells)
{
    return cells > PARAMETERS ? deviance / (cells - PARAMETERS) : 0.0;
}

/* Deviance per degree of freedom, at least 1. Cells at the edge tell U, and have what a wrong response
 * adds. */
static double excess_of(double deviance, const double *judged)
{
    const double all = per_freedom(deviance, judged[JUDGED_CELLS]),
                 edge = per_freedom(judged[JUDGED_EDGE], judged[JUDGED_EDGES]),
                 most = all > edge ? all : edge;
    return most > CHI_LEAST ? most : CHI_LEAST;
}

static void take(const void *user, size_t k, const double *answer)
{
    const struct counted *c = user;
    const paritas_losscone_options *options = &c->call->options;
    const double *judged = answer + FOUND_JUDGED;
    paritas_losscone_result *r = &c->results[k];
    *r = losscone_result(options, (unsigned)judged[JUDGED_CELLS]);
    if (r->status == PARITAS_SWEEP_NO_CELLS && rows_of(c->call, k) > 0)
        r->status = PARITAS_SWEEP_TOO_FEW_ROWS;
    if (r->status != PARITAS_SWEEP_FITTED) return;
    const double deviance = answer[FOUND_DEVIANCE];
    r->misfit = r->deviance = deviance > 0.0 ? deviance : 0.0; /* rounding may go below */
    r->gap = r->misfit - answer[FOUND_PROVEN];
    r->potential = r->potential_centre = r->potential_lower = r->potential_upper = answer[FOUND_U];
    r->ratio = r->ratio_centre = r->ratio_lower = r->ratio_upper = answer[FOUND_R];
    r->amplitude = 0.0;
    r->vertices = 1; /* the plateau is a point */
    r->vertex[0][0] = answer[FOUND_U];
    r->vertex[0][1] = answer[FOUND_R];
    r->boxes = (unsigned)answer[FOUND_BOXES];
    r->excess = excess_of(r->misfit, judged);
    const bool at_limit = r->gap > c->proven * (1.0 + r->misfit) || deviance < -c->proven * (1.0 + r->cells);
    if (!at_limit) r->gap = 0.0;
    r->status = losscone_status(options, 0.0, !at_limit);
    r->noise = host_sqrt(c->scatter[k]);
    losscone_counted_judge(options, answer, r);
}

static paritas_status run(paritas_context *context, struct counted *c, unsigned entry, size_t n_out,
                          void (*taken)(const void *, size_t, const double *))
{
    const struct losscone_call *call = c->call;
    c->row = paritas_allocate(context, call->grid->sweep, sizeof *c->row);
    c->scatter = paritas_allocate(context, call->sweeps.n, sizeof *c->scatter);
    paritas_status status = c->row && c->scatter ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK)
        status = losscone_run(context, call,
                              (struct batch){.entry = entry,
                                             .n_in = call->grid->counted_in,
                                             .n_out = n_out,
                                             .slab = call->grid->counted_slab,
                                             .fill = fill,
                                             .take = taken,
                                             .user = c});
    paritas_release(&context->allocator, c->row);
    paritas_release(&context->allocator, c->scatter);
    return status;
}

paritas_status losscone_counted_fit(paritas_context *context, const struct losscone_call *call,
                                    paritas_losscone_result *results)
{
    struct counted c = {.call = call,
                        .proven = context->device->precision == 32 ? PROVEN_F32 : PROVEN_F64,
                        .results = results,
                        .potential = NAN};
    return run(context, &c, ENTRY_losscone_counted, COUNTED_OUT, take);
}

static void take_profile(const void *user, size_t k, const double *answer)
{
    const struct counted *c = user;
    const bool found = answer[FOUND_JUDGED + JUDGED_CELLS] > 0.0;
    c->ends[k][0] = found ? answer[FOUND_DEVIANCE] : NAN;
    c->ends[k][1] = found ? answer[FOUND_R] : NAN;
}

paritas_status losscone_counted_profile(paritas_context *context, const struct losscone_call *call,
                                        double potential, double (*found)[2])
{
    struct counted c = {.call = call, .ends = found, .potential = potential};
    return run(context, &c, ENTRY_losscone_counted, COUNTED_OUT, take_profile);
}

/* A cell's deviance, as kernels have it (counted_model.h). */
static double cost(double k, double count, double mean)
{
    const double wide = count + k, far = wide * host_log((mean + k) / wide),
                 near = count > 0.0 ? count * host_log(mean / count) : 0.0;
    return 2.0 * (far - near);
}

/* Deviance of a model, and its room: what it is if each cell is off by the incident flux. */
struct fit_of_counts {
    double deviance, room;
};

static struct fit_of_counts fit_of(const struct losscone_call *call, size_t k, const double *model)
{
    const paritas_sweeps *sweeps = &call->sweeps;
    const double scatter = scatter_of(call, k);
    struct fit_of_counts fit = {0.0, 0.0};
    for (size_t i = 0; i < sweeps->rows; i++)
        for (size_t j = 0; j < sweeps->cells; j++) {
            struct cell cell;
            const size_t at = i * sweeps->cells + j;
            if (!cell_of(call, k, i, j, &cell) || !(sweeps->cosine[k * losscone_cells(sweeps) + at] < 0.0))
                continue;
            const double mean = cell.scale * (model[at] + cell.base);
            fit.deviance += cost(1.0 / scatter, cell.measured, mean);
            fit.room += cell.scale * cell.scale / (mean + scatter * mean * mean);
        }
    return fit;
}

paritas_status losscone_counted_deviances(paritas_context *context, const struct losscone_call *call,
                                          paritas_losscone_result *results)
{
    const size_t cells = losscone_cells(&call->sweeps), all = call->sweeps.n, most = LOSSCONE_MODELS_AT_ONCE;
    double *models = paritas_allocate(context, cells * most, sizeof *models),
           points[LOSSCONE_MODELS_AT_ONCE][LOSSCONE_POINT];
    paritas_status status = models ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t first = 0; first < all && status == PARITAS_OK; first += most) {
        const paritas_sweeps part =
            losscone_part(&call->sweeps, first, all - first < most ? all - first : most);
        for (size_t k = 0; k < part.n; k++) {
            const paritas_losscone_result *r = &results[first + k];
            const bool fitted = losscone_has_fit(r);
            points[k][LOSSCONE_U] = fitted ? r->potential : 0.0;
            points[k][LOSSCONE_R] = fitted ? r->ratio : 1.0;
            points[k][LOSSCONE_A] = fitted ? r->amplitude : 0.0;
        }
        status = paritas_losscone_model(context, &part, &call->options, points[0], models, NULL);
        for (size_t k = 0; k < part.n && status == PARITAS_OK; k++) {
            paritas_losscone_result *r = &results[first + k];
            if (!losscone_has_fit(r)) continue;
            const struct fit_of_counts fit = fit_of(call, first + k, models + k * cells);
            r->deviance = fit.deviance;
            if (call->options.response == PARITAS_LOSSCONE_RESPONSE_HARD)
                losscone_counted_judge_hard(fit.room, r);
        }
    }
    paritas_release(&context->allocator, models);
    return status;
}

double losscone_counted_threshold(const paritas_losscone_result *r)
{
    const double excess = r->excess >= CHI_LEAST ? r->excess : CHI_LEAST;
    return THRESHOLD * excess * (excess < SHARED_MOST ? excess : SHARED_MOST);
}

static void take_ends(const void *user, size_t k, const double *answer)
{
    const struct counted *c = user;
    memcpy(c->ends[k], answer, sizeof c->ends[k]);
}

paritas_status losscone_counted_sets(paritas_context *context, const struct losscone_call *call,
                                     const paritas_losscone_result *results, const double *limits,
                                     double (*ends)[2])
{
    struct counted c = {.call = call,
                        .results = (paritas_losscone_result *)(uintptr_t)results,
                        .limits = limits,
                        .ends = ends,
                        .potential = NAN};
    return run(context, &c, ENTRY_losscone_counted_set, 2, take_ends);
}
