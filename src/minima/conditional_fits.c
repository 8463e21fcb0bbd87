/* conditional_fits.c: free and conditional fits as job lists. */
#include "minima/conditional_fits.h"
#include "fit/cholesky.h"
#include "fit/edges.h"
#include "fit/fit.h"
#include "minima/conditional_starts.h"
#include "minima/quasi_newton_points.h"

#include <math.h>
#include <string.h>

#define PIECE 1024 /* points of a wave at once */

static paritas_status fit_profile(struct infer *infer, struct infer_profile *profile,
                                  const unsigned char *fixed)
{
    const size_t n = infer->n_parameters;
    profile->parameters = infer_reals(infer, n, 1);
    profile->errors = infer_reals(infer, n, 1);
    profile->covariance = infer_reals(infer, n, n);
    profile->states = infer_array(infer, n, sizeof *profile->states);
    profile->hessian = NULL;
    profile->metric = NULL;
    TRY(infer_memory(infer));
    paritas_job job = infer->base;
    job.data = profile->data;
    job.fixed = fixed;
    if (profile->start) job.start = profile->start;
    return fit_run(infer->context, infer->model, NULL, 1, &job,
                   &(paritas_fit_answers){.results = &profile->result,
                                          .parameters = profile->parameters,
                                          .errors = profile->errors,
                                          .covariance = profile->covariance,
                                          .states = profile->states});
}

paritas_status infer_free_fit(struct infer *infer, struct infer_profile *profile)
{
    TRY(fit_profile(infer, profile, infer->base.fixed));
    while (infer_gives_way(infer, infer->base.fixed, profile->parameters)) {
        struct infer_profile wider = *profile;
        wider.start = profile->parameters;
        TRY(fit_profile(infer, &wider, infer->base.fixed));
        if (!(wider.result.twice_nll <= profile->result.twice_nll)) return PARITAS_OK;
        wider.start = profile->start;
        *profile = wider;
    }
    return PARITAS_OK;
}

paritas_status infer_free_fit_from(struct infer *infer, const struct infer_profile *profile,
                                   const double *start, struct infer_profile *again)
{
    *again = *profile;
    again->start = again->from = start;
    TRY(infer_free_fit(infer, again));
    again->start = profile->start;
    return PARITAS_OK;
}

/* Points of a wave that are fitted together. */
struct piece {
    paritas_job *jobs;
    paritas_fit_result *results;
    double *starts;
};

static struct piece piece_make(struct infer *infer, size_t most)
{
    return (struct piece){.jobs = infer_array(infer, most, sizeof(paritas_job)),
                          .results = infer_array(infer, most, sizeof(paritas_fit_result)),
                          .starts = infer_reals(infer, most, infer->n_parameters)};
}

/* Fits points from the piece's starts. */
static paritas_status fit_from_starts(struct infer *infer, const struct piece *piece, size_t n,
                                      struct infer_point *const *points, double *fitted)
{
    const size_t p = infer->n_parameters;
    paritas_job *jobs = piece->jobs;
    for (size_t i = 0; i < n; i++) {
        jobs[i] = infer->base;
        jobs[i].data = points[i]->profile->data;
        jobs[i].start = piece->starts + i * p;
        if (i > 0 && infer_same_parameters(points[i], points[i - 1])) {
            jobs[i].fixed = jobs[i - 1].fixed;
            continue;
        }
        jobs[i].fixed = infer_fixed_flags(infer, points[i]);
        TRY(infer_memory(infer));
    }
    paritas_fit_options near = PARITAS_FIT_OPTIONS_DEFAULT;
    near.start_is_near = 1;
    TRY(fit_run(infer->context, infer->model, &near, n, jobs,
                &(paritas_fit_answers){.results = piece->results, .parameters = fitted}));
    for (size_t i = 0; i < n; i++) {
        points[i]->status = piece->results[i].status;
        points[i]->iterations = piece->results[i].iterations;
        points[i]->twice_nll = piece->results[i].twice_nll;
        points[i]->parameters = fitted + i * p;
        if (points[i]->place)
            TRY(infer_judge_place(infer, (ptrdiff_t)points[i]->parameter[0], points[i]->parameters,
                                  &points[i]->status));
    }
    return PARITAS_OK;
}

/* In pieces: a ranking of thousands of parameters has no room for all starts beside all ends. */
static paritas_status fit_wave(struct infer *infer, size_t n, struct infer_point *const *points)
{
    const size_t p = infer->n_parameters, most = n < PIECE ? n : PIECE;
    const struct piece piece = piece_make(infer, most);
    double *room = infer_reals(infer, infer_starts_room(infer, most), 1), *fitted = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    for (size_t first = 0; first < n; first += PIECE) {
        const size_t m = n - first < PIECE ? n - first : PIECE;
        struct infer_point *const *some = points + first;
        TRY(infer_choose_starts(infer, m, (const struct infer_point *const *)some, room, piece.starts));
        TRY(fit_from_starts(infer, &piece, m, some, fitted + first * p));
    }
    return PARITAS_OK;
}

/* Does the point end on a bound that gives way? */
static paritas_status find_cut(struct infer *infer, const struct infer_point *point, bool *cut)
{
    const struct widening *w = &infer->widening;
    *cut = widening_is_met(w, infer->base.fixed, point->parameters, infer->upper);
    if (!*cut) return PARITAS_OK;
    const unsigned char *fixed = infer_fixed_flags(infer, point);
    TRY(infer_memory(infer));
    *cut = widening_is_met(w, fixed, point->parameters, infer->upper);
    return PARITAS_OK;
}

/* Repeats fits of a wave that ended on a bound which gives way, from there. `wave`: scratch. */
static paritas_status fit_beyond(struct infer *infer, size_t n, struct infer_point *points, unsigned number,
                                 struct infer_point **wave)
{
    const size_t p = infer->n_parameters;
    for (;;) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            bool cut = false;
            if (points[i].wave == number) TRY(find_cut(infer, &points[i], &cut));
            if (cut) wave[m++] = &points[i];
        }
        if (m == 0) return PARITAS_OK;
        const struct piece piece = piece_make(infer, m);
        double *fitted = infer_reals(infer, m, p);
        TRY(infer_memory(infer));
        for (size_t k = 0; k < m; k++) {
            const unsigned char *fixed = infer_fixed_flags(infer, wave[k]);
            TRY(infer_memory(infer));
            infer_gives_way(infer, fixed, wave[k]->parameters);
            memcpy(piece.starts + k * p, wave[k]->parameters, p * sizeof *piece.starts);
        }
        TRY(fit_from_starts(infer, &piece, m, wave, fitted));
    }
}

paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points)
{
    struct infer_point **wave = infer_array(infer, n, sizeof *wave);
    TRY(infer_memory(infer));
    size_t fitted = 0;
    for (unsigned number = 0; fitted < n; number++) {
        size_t members = 0;
        for (size_t i = 0; i < n; i++)
            if (points[i].wave == number) wave[members++] = &points[i];
        fitted += members;
        TRY(quasi_newton_points_fit(infer, &members, wave));
        if (members > 0) TRY(fit_wave(infer, members, wave));
        TRY(fit_beyond(infer, n, points, number, wave));
    }
    return PARITAS_OK;
}

/* EDM in units of twice the NLL: g . C . g / 2. `step` becomes the Newton step -C g / 2. */
static double newton_step(size_t n, const double *covariance, const double *gradient, double *step)
{
    double edm = 0.0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) sum += covariance[i * n + j] * gradient[j];
        step[i] = -0.5 * sum;
        edm -= gradient[i] * step[i];
    }
    return edm;
}

paritas_status infer_polish(struct infer *infer, struct infer_point *point)
{
    size_t n = infer->n_parameters;
    struct infer_profile *fit = infer_array(infer, 1, sizeof *fit);
    const unsigned char *fixed = infer_fixed_flags(infer, point);
    double *gradient = infer_reals(infer, n, 1), *step = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    fit->data = point->profile->data;
    fit->start = point->parameters;
    TRY(fit_profile(infer, fit, fixed));
    TRY(infer_evaluate(infer, 1, fit->parameters, fit->data, NULL, gradient, NULL));
    if (fit->result.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    double edm = newton_step(n, fit->covariance, gradient, step);
    for (int round = 0; round < 3 && edm > 1e-24; round++) {
        double *moved = infer_reals(infer, n, 1);
        TRY(infer_memory(infer));
        for (size_t i = 0; i < n; i++) {
            moved[i] = fit->parameters[i] + step[i]; /* the covariance of fixed parameters is 0 */
            if (moved[i] < infer->base.lower[i] || moved[i] > infer->base.upper[i])
                moved[i] = fit->parameters[i];
        }
        TRY(infer_evaluate(infer, 1, moved, fit->data, NULL, gradient, NULL));
        double now = newton_step(n, fit->covariance, gradient, step);
        if (!(now < edm)) break;
        edm = now;
        fit->parameters = moved;
    }
    point->parameters = fit->parameters;
    return PARITAS_OK;
}

static paritas_status follow_point(struct infer *infer, const struct infer_point *point, struct arena *arena,
                                   double *gradient)
{
    const size_t n = infer->n_parameters;
    struct edges edges;
    if (!isfinite(point->twice_nll)) return PARITAS_OK;
    TRY(edges_find(infer->context, infer->model, point->parameters, point->profile->data, arena, &edges));
    if (edges.n == 0) return PARITAS_OK;
    unsigned char *held = infer_fixed_flags(infer, point);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++)
        if (point->parameters[i] <= infer->base.lower[i] || point->parameters[i] >= infer->base.upper[i])
            held[i] = 1;
    return edges_follow(infer->context, n, &edges, held, arena, gradient, NULL);
}

paritas_status infer_slopes(struct infer *infer, size_t n, struct infer_point *points)
{
    size_t p = infer->n_parameters;
    double *rows = infer_reals(infer, n, p), *gradients = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) memcpy(rows + i * p, points[i].parameters, p * sizeof *rows);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && points[end].profile == points[first].profile;) end++;
        TRY(infer_evaluate(infer, end - first, rows + first * p, points[first].profile->data, NULL,
                           gradients + first * p, NULL));
    }
    for (size_t i = 0; i < n; i++) {
        struct arena arena;
        arena_open(&arena, &infer->context->allocator);
        const paritas_status status = follow_point(infer, &points[i], &arena, gradients + i * p);
        arena_free(&arena);
        TRY(status);
        points[i].slope = gradients[i * p + points[i].parameter[0]];
    }
    return PARITAS_OK;
}

paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter,
                                double *slope)
{
    *slope = 0.0;
    if (infer_is_free(profile, parameter)) return PARITAS_OK;
    double *gradient = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, profile->parameters, profile->data, NULL, gradient, NULL));
    *slope = gradient[parameter];
    return PARITAS_OK;
}
