/* losscone_evaluate.c: misfits, models, cosines of pitch angles (entry/entry_losscone_evaluate.h). */
#include "fit/launch.h"
#include "losscone/losscone.h"

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
                                             .slab = MISFIT_SLAB,
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
    const paritas_sweeps *sweeps;
    const paritas_losscone_options *options;
    const double *points;
    double *model, *edge;
    int hard;
};

/* A model needs energy and potential of a row; electrons may lack the energy. */
static bool is_known(const paritas_sweeps *sweeps, size_t row)
{
    return sweeps->energy[row] > 0.0 && isfinite(sweeps->energy[row]) && isfinite(sweeps->potential[row]);
}

static void fill_models(const void *user, size_t sweep, double *row)
{
    const struct models *m = user;
    memset(row, 0, MODEL_IN * sizeof *row);
    losscone_channel_row(m->sweeps, m->options, sweep, row);
    for (size_t i = 0; i < SWEEP_ROWS; i++) {
        const size_t from = sweep * SWEEP_ROWS + i;
        const bool known = is_known(m->sweeps, from);
        row[SWEEP_ENERGY + i] = known ? m->sweeps->energy[from] : 1.0;
        row[SWEEP_POTENTIAL + i] = known ? m->sweeps->potential[from] : 0.0;
        for (size_t j = 0; j < SWEEP_CELLS; j++) {
            const double cosine = losscone_cosine(m->sweeps->cosine[from * SWEEP_CELLS + j]);
            row[SWEEP_COSINE + i * SWEEP_CELLS + j] = isnan(cosine) ? 0.0 : cosine;
        }
    }
    memcpy(row + MODEL_POINT, m->points + sweep * LOSSCONE_POINT, LOSSCONE_POINT * sizeof *row);
}

static void take_models(const void *user, size_t sweep, const double *answer)
{
    const struct models *m = user;
    for (size_t i = 0; i < SWEEP_ROWS; i++) {
        const size_t row = sweep * SWEEP_ROWS + i;
        const bool known = is_known(m->sweeps, row);
        for (size_t j = 0; j < SWEEP_CELLS; j++)
            m->model[row * SWEEP_CELLS + j] = known && !isnan(m->sweeps->cosine[row * SWEEP_CELLS + j])
                                                  ? answer[MODEL_CELL + i * SWEEP_CELLS + j]
                                                  : NAN;
        if (m->edge) m->edge[row] = known && m->hard ? answer[MODEL_EDGE + i] : NAN;
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
    struct models m = {&call.sweeps, &call.options, points,
                       model,        edge,          call.options.response == PARITAS_LOSSCONE_RESPONSE_HARD};
    return losscone_run(context, &call,
                        (struct batch){.entry = ENTRY_losscone_model,
                                       .n_in = MODEL_IN,
                                       .n_out = MODEL_OUT,
                                       .slab = 8,
                                       .fill = fill_models,
                                       .take = take_models,
                                       .user = &m});
}

struct cosines {
    const double *field, *polarity, *azimuth;
    double *cosine;
};

/* 0: the directions are unknown. */
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
    memset(to, 0, COSINES_IN * sizeof *to);
    for (size_t i = 0; i < SWEEP_ROWS; i++) {
        const size_t row = sweep * SWEEP_ROWS + i;
        to[COSINES_SIGN + i] = sign_of(c, row);
        if (to[COSINES_SIGN + i] == 0.0) continue;
        memcpy(to + COSINES_FIELD + 3 * i, c->field + 3 * row, 3 * sizeof *to);
        for (size_t j = 0; j < SWEEP_CELLS; j++) {
            const double azimuth = c->azimuth[row * SWEEP_CELLS + j];
            to[COSINES_AZIMUTH + i * SWEEP_CELLS + j] = isfinite(azimuth) ? azimuth : 0.0;
        }
    }
}

static void take_cosines(const void *user, size_t sweep, const double *answer)
{
    const struct cosines *c = user;
    for (size_t cell = sweep * SWEEP_ALL; cell < (sweep + 1) * SWEEP_ALL; cell++, answer++) {
        const bool known = sign_of(c, cell / SWEEP_CELLS) != 0.0 && isfinite(c->azimuth[cell]);
        c->cosine[cell] = known ? *answer : NAN;
    }
}

paritas_status paritas_losscone_cosines(paritas_context *context, size_t n, const double *theta,
                                        const double *field, const double *polarity, const double *azimuth,
                                        double *cosine)
{
    if (n > 0) REQUIRE(context, theta, field, azimuth, cosine);
    if (n == 0) return PARITAS_OK;
    for (size_t j = 0; j < SWEEP_CELLS; j++)
        if (!(theta[j] >= -90.0 && theta[j] <= 90.0))
            return paritas_refuse(context, "theta[%zu]: %g degrees is no inclination", j, theta[j]);
    struct cosines c = {field, polarity, azimuth, cosine};
    const struct batch batch = {.module = &paritas_module_losscone,
                                .entry = ENTRY_losscone_cosines,
                                .n_in = COSINES_IN,
                                .n_out = SWEEP_ALL,
                                .n_shared = SWEEP_CELLS,
                                .shared = theta,
                                .slab = 2 * SWEEP_CELLS,
                                .fill = fill_cosines,
                                .take = take_cosines,
                                .user = &c};
    return batch_run(context, launch_device_f64(context), &batch, n);
}
