/* gradient_fits.c: fits of many rows, one job list a stage. As infer_points: free fits restart from lower
 * conditional fits; fits with an open direction are repeated from the job's start. */
#include "fit/edges.h"
#include "fit/minimum.h"
#include "statistics/asymptotic.h"
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

/* Its own start, or the job's if that is not finite, with mu set. */
static void put_start(const struct gradient *g, const struct gradient_fit *fit, double *start)
{
    const struct infer *infer = &g->infer;
    bool finite = true;
    for (size_t i = 0; i < infer->n_parameters; i++) finite = finite && isfinite(fit->start[i]);
    memcpy(start, finite ? fit->start : infer->base.start, infer->n_parameters * sizeof *start);
    if (fit->conditional) start[infer->poi] = fit->mu;
}

static bool is_better(const struct closest_fit *a, const struct closest_fit *b)
{
    const bool converged = a->status == PARITAS_FIT_CONVERGED;
    if (converged != (b->status == PARITAS_FIT_CONVERGED)) return converged;
    return converged && a->deviance < b->deviance;
}

/* Fits that ended on a bound which gives way, with wider ones, from there. `list`: n, scratch. */
static paritas_status go_beyond(struct gradient *g, size_t n, struct gradient_fit **fits,
                                struct gradient_fit **list)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *fixed = fits[i]->conditional ? g->fixed : infer->base.fixed;
        if (!widening_is_met(&infer->widening, fixed, fits[i]->parameters, fits[i]->upper)) continue;
        double *upper = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        memcpy(upper, fits[i]->upper, p * sizeof *upper);
        widening_gives(&infer->widening, fixed, fits[i]->parameters, upper);
        fits[i]->upper = upper;
        fits[i]->start = fits[i]->parameters;
        list[m++] = fits[i];
    }
    return m > 0 ? gradient_run(g, true, false, m, list) : PARITAS_OK;
}

paritas_status gradient_run(struct gradient *g, bool near, bool again, size_t n, struct gradient_fit **fits)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    paritas_job *jobs = infer_array(infer, n, sizeof *jobs);
    double *starts = infer_reals(infer, n, p), *found = infer_reals(infer, n, p);
    struct closest_fit *answers = infer_array(infer, n, sizeof *answers);
    struct gradient_fit **list = infer_array(infer, n, sizeof *list);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        put_start(g, fits[i], starts + i * p);
        jobs[i] = infer->base;
        jobs[i].data = fits[i]->data;
        jobs[i].upper = fits[i]->upper;
        jobs[i].start = starts + i * p;
        if (fits[i]->conditional) jobs[i].fixed = g->fixed;
    }
    TRY(fit_closest(infer->context, infer->model, near, n, jobs, answers, found));
    for (size_t i = 0; i < n; i++) {
        if (again && !is_better(&answers[i], &fits[i]->is)) continue;
        fits[i]->is = answers[i];
        fits[i]->parameters = found + i * p;
    }
    return go_beyond(g, n, fits, list);
}

static size_t list_data(const struct gradient *g, struct gradient_row *row, struct gradient_fit **list,
                        size_t n)
{
    if (g->needs_asimov) list[n++] = &row->origin;
    for (size_t k = 0; k < row->n_points; k++)
        if (row->points[k].wants_data) list[n++] = &row->points[k].data;
    return n;
}

static bool is_open(const struct closest_fit *fit)
{
    return fit->open || fit->status != PARITAS_FIT_CONVERGED;
}

/* Repeats from the job's start if a fit (or its row's free fit) has an open direction, or no answer.
 * of_row NULL: all. */
static paritas_status try_afresh(struct gradient *g, size_t n, struct gradient_fit **fits,
                                 const struct closest_fit *const *of_row, struct gradient_fit **list)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (of_row && !is_open(of_row[i]) && !is_open(&fits[i]->is)) continue;
        fits[i]->start = g->infer.base.start;
        list[m++] = fits[i];
    }
    return gradient_run(g, true, true, m, list);
}

static const struct gradient_fit *below_free(const struct gradient *g, struct gradient_row *row)
{
    struct gradient_fit *list[1 + PARITAS_QUANTITY_OUTPUTS];
    const size_t n = list_data(g, row, list, 0);
    const struct gradient_fit *lowest = NULL;
    double level = row->free.is.deviance - same_minimum(g->infer.context);
    for (size_t i = 0; i < n; i++) {
        if (!(list[i]->is.deviance < level)) continue;
        level = list[i]->is.deviance;
        lowest = list[i];
    }
    return lowest;
}

/* Restarts free fits from lower points, then repeats their conditional fits. */
static paritas_status mend_free(struct gradient *g, size_t n, struct gradient_row **rows,
                                struct gradient_fit **list)
{
    struct infer *infer = &g->infer;
    struct gradient_fit *fresh = infer_array(infer, n, sizeof *fresh);
    const struct gradient_fit **lower = infer_array(infer, n, sizeof *lower);
    TRY(infer_memory(infer));
    size_t m = 0, conditional = 0;
    for (size_t i = 0; i < n; i++) {
        lower[i] = below_free(g, rows[i]);
        if (!lower[i]) continue;
        fresh[i] = rows[i]->free;
        fresh[i].start = lower[i]->parameters;
        list[m++] = &fresh[i];
    }
    if (m == 0) return PARITAS_OK;
    TRY(gradient_run(g, false, false, m, list));
    for (size_t i = 0; i < n; i++) {
        if (!lower[i]) continue;
        if (!(fresh[i].is.deviance <= lower[i]->is.deviance + same_minimum(infer->context))) {
            /* a lower point exists, but no fit found the minimum */
            rows[i]->free.is.status = infer_worse(rows[i]->free.is.status,
                                                  infer_worse(fresh[i].is.status, PARITAS_FIT_NO_PROGRESS));
            continue;
        }
        rows[i]->free = fresh[i];
        const size_t first = conditional;
        conditional = list_data(g, rows[i], list, conditional);
        for (size_t k = first; k < conditional; k++) list[k]->start = rows[i]->free.parameters;
    }
    return gradient_run(g, true, true, conditional, list);
}

static paritas_status fit_data(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct infer *infer = &g->infer;
    const size_t most = n * (1 + PARITAS_QUANTITY_OUTPUTS);
    struct gradient_fit **fits = infer_array(infer, most, sizeof *fits),
                        **list = infer_array(infer, most, sizeof *list);
    const struct closest_fit **of_row = infer_array(infer, most, sizeof *of_row);
    bool *done = infer_array(infer, n, sizeof *done);
    TRY(infer_memory(infer));
    if (g->shares) TRY(gradient_shared(g, n, rows, done));
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (done[i]) continue;
        if (!rows[i]->free.start) rows[i]->free.start = infer->base.start;
        fits[m++] = &rows[i]->free;
    }
    TRY(gradient_run(g, false, false, m, fits));
    m = 0;
    for (size_t i = 0; i < n; i++) {
        if (done[i]) continue;
        const size_t first = m;
        m = list_data(g, rows[i], fits, m);
        for (size_t k = first; k < m; k++) {
            if (!fits[k]->start) fits[k]->start = rows[i]->free.parameters;
            of_row[k] = &rows[i]->free.is;
        }
    }
    TRY(gradient_run(g, true, false, m, fits));
    TRY(try_afresh(g, m, fits, of_row, list));
    /* two rounds: the first may find a lower point */
    for (int round = 0; round < 2; round++) TRY(mend_free(g, n, rows, list));
    return PARITAS_OK;
}

paritas_status gradient_make_asimov(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    double *points = infer_reals(infer, n, p), *data = infer_reals(infer, n, r),
           *expected = infer_reals(infer, n, r);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        memcpy(points + i * p, rows[i]->origin.parameters, p * sizeof *points);
        memcpy(data + i * r, rows[i]->data, r * sizeof *data);
    }
    TRY(paritas_expected_data_of(infer->context, infer->model, n, points, data, expected));
    for (size_t i = 0; i < n; i++) {
        size_t cleared;
        rows[i]->asimov = expected + i * r;
        TRY(edges_clear(infer->context, infer->model, rows[i]->origin.parameters, rows[i]->data,
                        rows[i]->asimov, &cleared));
        for (size_t k = 0; k < r; k++)
            rows[i]->no_asimov = rows[i]->no_asimov || !isfinite(rows[i]->asimov[k]);
    }
    return PARITAS_OK;
}

/* The origin is their free fit. mu may be far from it, so the job's start is tried too. */
static paritas_status fit_asimov(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct infer *infer = &g->infer;
    const size_t most = n * PARITAS_QUANTITY_OUTPUTS;
    struct gradient_fit **fits = infer_array(infer, most, sizeof *fits),
                        **list = infer_array(infer, most, sizeof *list);
    TRY(infer_memory(infer));
    TRY(gradient_make_asimov(g, n, rows));
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i]->n_points && !rows[i]->no_asimov; k++) {
            struct gradient_point *point = &rows[i]->points[k];
            if (!point->wants_asimov) continue;
            point->asimov.data = rows[i]->asimov;
            if (!point->asimov.start) point->asimov.start = rows[i]->origin.parameters;
            fits[m++] = &point->asimov;
        }
    }
    TRY(gradient_run(g, true, false, m, fits));
    return try_afresh(g, m, fits, NULL, list);
}

void gradient_finish(const struct gradient *g, struct gradient_row *row)
{
    const paritas_test_statistic statistic = g->options.statistic;
    const double mu_hat = row->free.parameters[g->infer.poi];
    row->status = infer_worse(row->status, row->free.is.status);
    if (g->needs_asimov)
        row->status = infer_worse(row->status, infer_place_status(&g->infer, (ptrdiff_t)g->infer.poi,
                                                                  !row->no_asimov, row->origin.is.status));
    for (size_t k = 0; k < row->n_points; k++) {
        struct gradient_point *point = &row->points[k];
        point->q = point->q_asimov = (double)NAN;
        if (point->wants_data) {
            point->q =
                statistic_q(statistic, point->mu, mu_hat, point->data.is.deviance, row->free.is.deviance);
            row->status = infer_worse(row->status, point->data.is.status);
        }
        if (!point->wants_asimov) continue;
        if (row->no_asimov) {
            row->status = infer_worse(row->status, PARITAS_FIT_NON_FINITE);
            continue;
        }
        point->q_asimov =
            statistic_q(statistic, point->mu, statistic_other(statistic), point->asimov.is.deviance, 0.0);
        row->status = infer_worse(row->status, point->asimov.is.status);
    }
}

paritas_status gradient_fits(struct gradient *g, size_t n, struct gradient_row **rows)
{
    if (n == 0) return PARITAS_OK;
    TRY(fit_data(g, n, rows));
    if (g->needs_asimov) TRY(fit_asimov(g, n, rows));
    for (size_t i = 0; i < n; i++) gradient_finish(g, rows[i]);
    return PARITAS_OK;
}
