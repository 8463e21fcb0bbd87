/* quasi_newton_points.c: conditional fits that share their free fit's covariance. */
#include "minima/quasi_newton_points.h"
#include "fit/fit_rows.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "base/math/counter_random.h"
#include "minima/conditional_starts.h"

#include <math.h>
#include <string.h>

#define SYMMETRY_SHIFT 1e-4 /* errors */
/* points of one profile; fewer are quicker by Newton's method */
#define LEAST 4
#define LEAST_OF_SMALL 12 /* up to SMALL slots */
#define SMALL 32
#define MATRIX_MOST 8.0 /* elements of a covariance for each that a Newton fit has; published: up to 1.4 */
#define PIECE 1024      /* points at once: starts of more would keep a cancelled call waiting */

struct infer_metric {
    bool usable;
    struct profile_metric of;
    double *row; /* kernel's, of the profile's data */
    double constant;
};

static struct profile_plan plan_of(const struct infer *infer, const struct infer_profile *profile)
{
    return (struct profile_plan){.model = infer->model,
                                 .start = profile->parameters,
                                 .lower = infer->base.lower,
                                 .upper = infer->base.upper,
                                 .fixed = infer->base.fixed,
                                 .poi = -1,
                                 .metric = &profile->metric->of,
                                 .in_f64 = true};
}

static paritas_status find_metric(struct infer *infer, struct infer_profile *profile)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    if (profile->metric) return PARITAS_OK;
    struct infer_metric *metric = profile->metric = infer_array(infer, 1, sizeof *metric);
    TRY(infer_memory(infer));
    if (profile->result.status != PARITAS_FIT_CONVERGED || model->kinked) return PARITAS_OK;
    metric->row = infer_reals(infer, model->n_places, 1);
    TRY(infer_memory(infer));
    rows_put_data(model, profile->data, metric->row);
    metric->constant = model->constant(model, profile->data);
    const struct profile_plan plan = plan_of(infer, profile);
    return profiles_matrix(infer->context, &plan, metric->row, &infer->arena, &metric->of, &metric->usable);
}

/* Moves a start off the planes of a symmetry, in which descent would end at a saddle. Not noticed where there
 * is none. */
static void break_symmetry(const struct infer *infer, const struct infer_point *point, double *row)
{
    const size_t p = infer->n_parameters;
    const double *moves = row + p;
    for (size_t i = 0; i < p; i++) {
        const double error = point->profile->errors[i],
                     shift = counter_bits(0, i) & 1 ? SYMMETRY_SHIFT : -SYMMETRY_SHIFT;
        if (moves[i] > 0.0 && isfinite(error)) row[i] = infer_bounded(infer, i, row[i] + shift * error);
    }
}

/* A row of `ends`. */
static paritas_status put_start(struct infer *infer, const struct infer_point *point, double *row,
                                double *response)
{
    const size_t p = infer->n_parameters;
    double *moves = row + p;
    TRY(infer_predict_start(infer, point, row, response));
    infer_interpolate_start(infer, point, row);
    for (size_t i = 0; i < p; i++) moves[i] = infer->base.fixed[i] ? 0.0 : 1.0;
    for (size_t j = 0; j < point->k; j++) moves[point->parameter[j]] = 0.0;
    break_symmetry(infer, point, row);
    return PARITAS_OK;
}

/* Points of one profile. Notes those that it fits in `done`. */
static paritas_status fit_group(struct infer *infer, size_t n, const size_t *which,
                                struct infer_point *const *points, bool *done)
{
    struct infer_profile *profile = points[which[0]]->profile;
    const size_t p = infer->n_parameters;
    TRY(find_metric(infer, profile));
    if (!profile->metric->usable) return PARITAS_OK;
    const struct profile_plan plan = plan_of(infer, profile);
    double *ends = infer_reals(infer, n, 2 * p), *response = infer_reals(infer, p, 1);
    struct profile *answers = infer_array(infer, n, sizeof *answers);
    TRY(infer_memory(infer));
    for (size_t k = 0; k < n; k++) TRY(put_start(infer, points[which[k]], ends + 2 * k * p, response));
    const uint32_t closest = profile->wants_parameters ? PROFILE_CLOSEST : 0;
    TRY(profiles_by_quasi_newton(infer->context, &plan, n, profile->metric->row,
                                 PROFILE_HOLDS | PROFILE_STARTS | closest, answers, NULL, ends));
    for (size_t k = 0; k < n; k++) {
        struct infer_point *point = points[which[k]];
        if (answers[k].method != PROFILE_QUASI_NEWTON) continue;
        done[which[k]] = true;
        point->status = PARITAS_FIT_CONVERGED;
        point->iterations = 0;
        point->twice_nll = 2.0 * (answers[k].value_free + profile->metric->constant);
        point->parameters = ends + 2 * k * p;
    }
    return PARITAS_OK;
}

/* Newton's method solves for parameters of single bins one by one, and the covariance is whole: 2000 of them
 * take 0.2 ms an iteration, and 0.6 ms a product. */
static bool is_cheap_by_newton(const struct frozen *model)
{
    return (double)model->n_slots * (double)model->n_slots > MATRIX_MOST * (double)model->slab;
}

static bool is_usual(const struct infer_point *point)
{
    return !point->afresh && !point->onward && point->profile->covariance;
}

paritas_status quasi_newton_points_fit(struct infer *infer, size_t *n, struct infer_point **points)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t all = *n, least = model->n_slots > SMALL ? LEAST : LEAST_OF_SMALL;
    if (all < least || infer->context->precision != 64 || is_cheap_by_newton(model)) return PARITAS_OK;
    if (infer->base.max_iterations) return PARITAS_OK; /* a limit counts Newton's */
    size_t *which = infer_array(infer, all, sizeof *which);
    bool *seen = infer_array(infer, all, sizeof *seen), *done = infer_array(infer, all, sizeof *done);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < all; i++) {
        const bool first = !seen[i] && is_usual(points[i]);
        size_t m = 0;
        for (size_t k = i; k < all && first; k++) {
            if (points[k]->profile != points[i]->profile) continue;
            seen[k] = true;
            if (is_usual(points[k])) which[m++] = k;
        }
        for (size_t k = 0; k < m && m >= least; k += PIECE)
            TRY(fit_group(infer, m - k < PIECE ? m - k : PIECE, which + k, points, done));
    }
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (!done[i]) points[(*n)++] = points[i];
    return PARITAS_OK;
}
