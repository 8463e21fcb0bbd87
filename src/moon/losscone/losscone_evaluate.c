/* losscone_evaluate.c: misfits, models, cosines of pitch angles (entry/entry_losscone_evaluate.h). */
#include "fit/launch.h"
#include "moon/losscone/losscone.h"

#include <math.h>
#include <string.h>

/* Most points of a launch: a job is a sweep with all of them. */
#define POINTS_MOST 4096
/* Largest number of a point: f32 kernels square it. */
#define POINT_LARGEST 1e9

static paritas_status check_points(paritas_context *context, size_t n, const double *points)
{
    if (n > 0 && !points) return paritas_refuse(context, "points: none given");
    for (size_t i = 0; i < LOSSCONE_POINT * n; i++)
        if (!(points[i] >= -POINT_LARGEST && points[i] <= POINT_LARGEST))
            return paritas_refuse(context, "points[%zu][%zu]: must lie between %g and %g", i / LOSSCONE_POINT,
                                  i % LOSSCONE_POINT, -POINT_LARGEST, POINT_LARGEST);
    return PARITAS_OK;
}

struct misfits {
    const struct losscone_call *call;
    size_t n_points, first, count; /* of all, and of this launch */
    unsigned least;
    double *misfit;
    unsigned *cells;
};

static void take_misfits(const void *user, size_t sweep, const double *answer)
{
    const struct misfits *m = user;
    const unsigned cells = (unsigned)answer[m->count];
    for (size_t p = 0; p < m->count; p++)
        m->misfit[sweep * m->n_points + m->first + p] = cells < m->least ? NAN : answer[p];
    if (m->cells) m->cells[sweep] = cells;
}

paritas_status paritas_losscone_misfit(paritas_context *context, const paritas_sweeps *given_sweeps,
                                       const paritas_losscone_options *given_options, size_t n_points,
                                       const double *points, double *misfit, unsigned *cells)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(losscone_open(context, given_sweeps, given_options, true, &call));
    TRY(check_points(context, n_points, points));
    if (call.sweeps.n == 0) return PARITAS_OK;
    if (n_points > 0 && !misfit) return paritas_refuse(context, "misfit: no place given for it");
    if (call.options.method == PARITAS_LOSSCONE_METHOD_COUNTS)
        return paritas_refuse(context,
                              "options: misfits of points are of no counts: choose the method halekas");
    struct misfits m = {.call = &call,
                        .n_points = n_points,
                        .least = losscone_least_cells(&call.options),
                        .misfit = misfit,
                        .cells = cells};
    paritas_status status;
    do { /* cells are counted even without points */
        m.count = n_points - m.first < POINTS_MOST ? n_points - m.first : POINTS_MOST;
        status = losscone_run(context, &call,
                              (struct batch){.entry = ENTRY_losscone_misfit,
                                             .n_out = MISFITS_OUT(m.count),
                                             .n_shared = LOSSCONE_POINT * m.count,
                                             .shared = points + (n_points ? LOSSCONE_POINT * m.first : 0),
                                             .slab = call.grid->misfit_slab,
                                             .args = {[LOSSCONE_ARG_COUNT] = (uint32_t)m.count},
                                             .pass = m.first / POINTS_MOST,
                                             .passes = (n_points + POINTS_MOST - 1) / POINTS_MOST,
                                             .take = take_misfits,
                                             .user = &m});
        m.first += m.count;
    } while (status == PARITAS_OK && m.first < n_points);
    return status;
}

struct models {
    const struct losscone_call *call;
    const double *points;
    double *model, *edge;
};

/* A model needs energy and potential of a row; electrons may lack the energy. */
static bool is_known(const paritas_sweeps *sweeps, size_t row)
{
    return sweeps->energy[row] > 0.0 && isfinite(sweeps->energy[row]) && isfinite(sweeps->potential[row]);
}

static void fill_models(const void *user, size_t sweep, double *row)
{
    const struct models *m = user;
    const paritas_sweeps *sweeps = &m->call->sweeps;
    const struct losscone_grid *grid = m->call->grid;
    const size_t cells = sweeps->cells;
    memset(row, 0, grid->cosine * sizeof *row);
    losscone_channel_row(m->call, sweep, row);
    for (size_t i = 0; i < sweeps->rows; i++) {
        const size_t from = sweep * sweeps->rows + i;
        const bool known = is_known(sweeps, from);
        row[grid->energy + i] = known ? sweeps->energy[from] : 1.0;
        row[grid->potential + i] = known ? sweeps->potential[from] : 0.0;
        const double *given = sweeps->cosine + from * cells;
        double *cosine = row + grid->cosine + i * grid->cells;
        for (size_t j = 0; j < cells; j++) {
            const double c = losscone_cosine(given[j]);
            cosine[j] = isnan(c) ? 0.0 : c;
        }
        for (size_t j = cells; j % 8 != 0; j++) cosine[j] = 0.0;
    }
    memset(row + grid->flux, 0, (grid->model_in - grid->flux) * sizeof *row);
    memcpy(row + grid->flux, m->points + sweep * LOSSCONE_POINT, LOSSCONE_POINT * sizeof *row);
}

static void take_models(const void *user, size_t sweep, const double *answer)
{
    const struct models *m = user;
    const paritas_sweeps *sweeps = &m->call->sweeps;
    const struct losscone_grid *grid = m->call->grid;
    const bool hard = m->call->options.response == PARITAS_LOSSCONE_RESPONSE_HARD;
    const size_t cells = sweeps->cells;
    for (size_t i = 0; i < sweeps->rows; i++) {
        const size_t row = sweep * sweeps->rows + i;
        const bool known = is_known(sweeps, row);
        const double *cosine = sweeps->cosine + row * cells,
                     *found = answer + grid->model_cell + i * grid->cells;
        double *model = m->model + row * cells;
        for (size_t j = 0; j < cells; j++) model[j] = known && !isnan(cosine[j]) ? found[j] : NAN;
        if (m->edge) m->edge[row] = known && hard ? answer[grid->model_edge + i] : NAN;
    }
}

paritas_status paritas_losscone_model(paritas_context *context, const paritas_sweeps *given_sweeps,
                                      const paritas_losscone_options *given_options, const double *points,
                                      double *model, double *edge)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(losscone_open(context, given_sweeps, given_options, false, &call));
    TRY(check_points(context, call.sweeps.n, points));
    if (call.sweeps.n > 0 && !model) return paritas_refuse(context, "model: no place given for it");
    struct models m = {&call, points, model, edge};
    return losscone_run(context, &call,
                        (struct batch){.entry = ENTRY_losscone_model,
                                       .n_in = call.grid->model_in,
                                       .n_out = call.grid->model_out,
                                       .slab = 8,
                                       .fill = fill_models,
                                       .take = take_models,
                                       .user = &m});
}

struct cosines {
    const struct losscone_grid *grid;
    size_t rows, cells;
    const double *field, *polarity, *azimuth;
    double *cosine;
};

/* Sign of a row; 0: the directions are unknown. */
static double sign_of(const struct cosines *c, size_t row)
{
    const double *b = c->field + 3 * row, polarity = c->polarity ? c->polarity[row] : -1.0;
    if (!isfinite(b[0]) || !isfinite(b[1]) || !isfinite(b[2]) || (b[0] == 0.0 && b[1] == 0.0 && b[2] == 0.0))
        return 0.0;
    return polarity == 1.0 || polarity == -1.0 ? polarity : 0.0;
}

static void fill_cosines(const void *user, size_t sweep, double *to)
{
    const struct cosines *c = user;
    const struct losscone_grid *grid = c->grid;
    memset(to, 0, grid->azimuth * sizeof *to);
    for (size_t i = 0; i < c->rows; i++) {
        const size_t row = sweep * c->rows + i;
        const double sign = sign_of(c, row), *given = c->azimuth + row * c->cells;
        double *azimuth = to + grid->azimuth + i * grid->cells;
        to[grid->sign + i] = sign;
        if (sign != 0.0) memcpy(to + grid->field + 3 * i, c->field + 3 * row, 3 * sizeof *to);
        for (size_t j = 0; j < c->cells; j++) azimuth[j] = sign != 0.0 && isfinite(given[j]) ? given[j] : 0.0;
        for (size_t j = c->cells; j % 8 != 0; j++) azimuth[j] = 0.0;
    }
}

static void take_cosines(const void *user, size_t sweep, const double *answer)
{
    const struct cosines *c = user;
    for (size_t i = 0; i < c->rows; i++) {
        const size_t row = sweep * c->rows + i;
        const bool known = sign_of(c, row) != 0.0;
        for (size_t j = 0; j < c->cells; j++) {
            const size_t cell = row * c->cells + j;
            c->cosine[cell] = known && isfinite(c->azimuth[cell]) ? answer[i * c->grid->cells + j] : NAN;
        }
    }
}

paritas_status paritas_losscone_cosines(paritas_context *context, size_t n, const paritas_sweep_grid *grid,
                                        const double *theta, const double *field, const double *polarity,
                                        const double *azimuth, double *cosine)
{
    struct cosines c = {.field = field, .polarity = polarity, .azimuth = azimuth, .cosine = cosine};
    uint32_t ints[LOSSCONE_INTS] = {0};
    double inclination[PARITAS_SWEEP_CELLS_MOST] = {0.0};
    TRY(losscone_grid_given(context, grid, &c.rows, &c.cells, &c.grid));
    if (n > 0) REQUIRE(context, theta, field, azimuth, cosine);
    if (n == 0) return PARITAS_OK;
    for (size_t j = 0; j < c.cells; j++) {
        if (!(theta[j] >= -90.0 && theta[j] <= 90.0))
            return paritas_refuse(context, "theta[%zu]: %g degrees is no inclination", j, theta[j]);
        inclination[j] = theta[j];
    }
    losscone_grid_ints(c.rows, c.cells, ints);
    const struct batch batch = {.module = c.grid->module,
                                .tables = {.ints = ints, .n_ints = LOSSCONE_INTS},
                                .entry = ENTRY_losscone_cosines,
                                .n_in = c.grid->cosines_in,
                                .n_out = c.grid->rows * c.grid->cells,
                                .n_shared = c.grid->cells,
                                .shared = inclination,
                                .slab = c.grid->cosines_slab,
                                .fill = fill_cosines,
                                .take = take_cosines,
                                .user = &c};
    return batch_run(context, launch_device_f64(context), &batch, n);
}
