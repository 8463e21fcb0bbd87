/* gradient_shared.c: fits of rows similar to the job's data, which share its inverse Hessian.
 *
 *   job's data ─► free fit ─► fit at mu ─► matrix at the free fit ─► quasi-Newton for rows of that mu
 *
 * A row of tHu costs some twenty gradients, many rows at once, in place of four Hessians. The shared
 * plan depends on model, job and mu alone. */
#include "fit/profiles.h"
#include "fit/fit_rows.h"
#include "infer/gradient.h"

#include <math.h>
#include <string.h>

struct shared {
    struct gradient_fit free, fixed; /* to the job's data */
    struct profile_plan plan;
    struct profile_metric metric;
    bool usable;
};

static paritas_status prepare(struct gradient *g, double mu, struct shared *shared)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct gradient_fit *free = &shared->free, *fixed = &shared->fixed;
    *free = (struct gradient_fit){
        .data = infer->base.data, .upper = infer->base.upper, .start = infer->base.start};
    TRY(gradient_run(g, false, false, 1, &free));
    if (free->is.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    *fixed = *free;
    fixed->conditional = true;
    fixed->mu = mu;
    fixed->start = free->parameters;
    TRY(gradient_run(g, true, false, 1, &fixed));
    if (fixed->is.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    double *expected = infer_reals(infer, g->n_row, 1), *row = infer_reals(infer, model->n_places, 1);
    TRY(infer_memory(infer));
    TRY(paritas_expected_data_of(infer->context, infer->model, 1, free->parameters, infer->base.data,
                                 expected));
    for (size_t i = 0; i < g->n_row; i++)
        if (!isfinite(expected[i])) return PARITAS_OK;
    rows_put_data(model, expected, row);
    shared->plan = (struct profile_plan){.model = infer->model,
                                         .start = free->parameters,
                                         .lower = infer->base.lower,
                                         .upper = infer->base.upper,
                                         .fixed = infer->base.fixed,
                                         .poi = (ptrdiff_t)infer->poi,
                                         .conditional = true,
                                         .mu = mu,
                                         .conditional_start = fixed->parameters,
                                         .in_f64 = true};
    TRY(profiles_metric(infer->context, &shared->plan, row, &infer->arena, &shared->metric, &shared->usable));
    shared->plan.metric = &shared->metric;
    return PARITAS_OK;
}

static void take(const struct gradient *g, struct gradient_row *row, const struct profile *profile,
                 double *ends)
{
    const double values[2] = {profile->value_free, profile->value_fixed};
    struct gradient_fit *fits[2] = {&row->free, &row->points[0].data};
    for (int k = 0; k < 2; k++) {
        fits[k]->parameters = ends + (size_t)k * g->infer.n_parameters;
        fits[k]->is = (struct closest_fit){.status = PARITAS_FIT_CONVERGED, .deviance = 2.0 * values[k]};
    }
}

static paritas_status fit_group(struct gradient *g, size_t n, const size_t *which, struct gradient_row **rows,
                                bool *done)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct shared shared = {.usable = false};
    paritas_status status = prepare(g, rows[which[0]]->points[0].mu, &shared);
    if (status != PARITAS_OK || !shared.usable) return status;
    double *data = arena_array(&infer->arena, n, model->n_places * sizeof *data),
           *ends = arena_array(&infer->arena, n, 2 * infer->n_parameters * sizeof *ends);
    struct profile *profiles = arena_array(&infer->arena, n, sizeof *profiles);
    if (!data || !ends || !profiles) return paritas_fail_memory(infer->context);
    for (size_t k = 0; k < n; k++) rows_put_data(model, rows[which[k]]->data, data + k * model->n_places);
    status = profiles_closest(infer->context, &shared.plan, n, data, profiles, ends);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        done[which[k]] = profiles[k].rung == PROFILE_QUASI_NEWTON;
        if (done[which[k]]) take(g, rows[which[k]], &profiles[k], ends + k * 2 * infer->n_parameters);
    }
    return status;
}

paritas_status gradient_shared(struct gradient *g, size_t n, struct gradient_row **rows, bool *done)
{
    size_t *which = infer_array(&g->infer, n, sizeof *which);
    bool *seen = infer_array(&g->infer, n, sizeof *seen);
    TRY(infer_memory(&g->infer));
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        for (size_t k = i; k < n && !seen[i]; k++)
            if (!seen[k] && rows[k]->points[0].mu == rows[i]->points[0].mu) which[m++] = k;
        for (size_t k = 0; k < m; k++) seen[which[k]] = true;
        if (m > 0) TRY(fit_group(g, m, which, rows, done));
    }
    return PARITAS_OK;
}
