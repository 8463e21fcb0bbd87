/* gradient_shared.c: fits of rows similar to the job's data, which share its inverse Hessian.
 *
 *   job's data ─► free fit ─► matrix there: paritas_shared_fits
 *   rows of one mu ─► quasi-Newton by that matrix, both fits
 *
 * A row of tHu costs some twenty gradients, many rows at once, in place of a dozen Hessians. What is shared
 * depends on model and job alone. */
#include "fit/fit_rows.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

struct paritas_shared_fits {
    struct arena arena;
    const struct frozen *model;
    struct profile_plan plan; /* at the free fit; `metric` NULL: rows are fitted on their own */
    struct profile_metric metric;
};

static const void *copied(struct arena *arena, const void *from, size_t size)
{
    void *copy = arena_array(arena, size, 1);
    if (copy) memcpy(copy, from, size);
    return copy;
}

static paritas_status find_metric(struct infer *infer, struct paritas_shared_fits *shared)
{
    const struct frozen *model = shared->model;
    struct profile_plan *plan = &shared->plan;
    double *row = infer_reals(infer, model->n_places, 1), *expected = infer_reals(infer, model->n_data, 1);
    bool usable = false;
    if (model->no_expectation) return PARITAS_OK;
    if (!row || !expected) return paritas_fail_memory(infer->context);
    TRY(paritas_expected_data_of(infer->context, infer->model, 1, plan->start, infer->base.data, expected));
    for (size_t i = 0; i < model->n_data; i++)
        if (!isfinite(expected[i])) return PARITAS_OK;
    rows_put_data(model, expected, row);
    TRY(profiles_metric(infer->context, plan, row, &shared->arena, &shared->metric, &usable));
    if (usable) plan->metric = &shared->metric;
    return PARITAS_OK;
}

static paritas_status find_fit(struct infer *infer, struct paritas_shared_fits *shared)
{
    const size_t p = infer->n_parameters;
    struct arena *arena = &shared->arena;
    double *start = arena_array(arena, p, sizeof *start);
    const paritas_job *job = &infer->base;
    shared->plan = (struct profile_plan){.model = infer->model,
                                         .start = start,
                                         .lower = copied(arena, job->lower, p * sizeof *job->lower),
                                         .upper = copied(arena, job->upper, p * sizeof *job->upper),
                                         .fixed = copied(arena, job->fixed, p),
                                         .poi = (ptrdiff_t)infer->poi,
                                         .conditional = true,
                                         .in_f64 = true};
    if (!start || !shared->plan.lower || !shared->plan.upper || !shared->plan.fixed)
        return paritas_fail_memory(infer->context);
    struct closest_fit fit;
    TRY(fit_closest(infer->context, infer->model, false, 1, job, &fit, start));
    return fit.status == PARITAS_FIT_CONVERGED ? find_metric(infer, shared) : PARITAS_OK;
}

paritas_status paritas_shared_fits_create(paritas_context *context, const paritas_model *model,
                                          const paritas_job *job, paritas_shared_fits **shared)
{
    REQUIRE(context, model, shared);
    *shared = NULL;
    const struct gradient_precision usual = gradient_begin(context);
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, true);
    struct paritas_shared_fits *made = NULL;
    if (status == PARITAS_OK && !(made = paritas_allocate_clear(context, 1, sizeof *made)))
        status = paritas_fail_memory(context);
    if (made) {
        arena_open(&made->arena, &context->allocator);
        made->model = paritas_model_frozen(model);
        status = find_fit(&infer, made);
    }
    infer_close(&infer);
    if (status == PARITAS_OK)
        *shared = made;
    else
        paritas_shared_fits_free(made);
    gradient_end(context, usual);
    return status;
}

void paritas_shared_fits_free(paritas_shared_fits *shared)
{
    if (!shared) return;
    const paritas_allocator allocator = shared->arena.allocator;
    arena_free(&shared->arena);
    paritas_release(&allocator, shared);
}

paritas_status gradient_shared_check(const struct gradient *g)
{
    const struct paritas_shared_fits *shared = g->options.shared;
    const struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, size = p * sizeof(double);
    if (!shared) return PARITAS_OK;
    if (shared->model != paritas_model_frozen(infer->model))
        return paritas_refuse(infer->context, "shared: made of another model");
    if (memcmp(shared->plan.lower, infer->base.lower, size) ||
        memcmp(shared->plan.upper, infer->upper_given, size) ||
        memcmp(shared->plan.fixed, infer->base.fixed, p))
        return paritas_refuse(infer->context, "shared: made of a job with other bounds or fixed parameters");
    return PARITAS_OK;
}

bool gradient_shares(const struct gradient *g)
{
    return g->options.shared && g->options.shared->plan.metric;
}

static struct gradient_fit *conditional_of(const struct gradient *g, struct gradient_row *row)
{
    return g->options.quantity == PARITAS_QUANTITY_LIMIT ? &row->origin : &row->points[0].data;
}

/* The slope of the shared matrix's fit, or of one that moves along an edge. */
static paritas_status take_slope(struct gradient *g, struct gradient_fit *fit, double slope)
{
    double *weights;
    fit->slope = slope;
    TRY(gradient_follow_edges(g, fit, NULL, &weights));
    return weights ? gradient_by_mu(g, fit, &fit->slope) : PARITAS_OK;
}

static paritas_status take(struct gradient *g, struct gradient_row *row, const struct profile *profile,
                           double slope, double *ends)
{
    const double values[2] = {profile->value_free, profile->value_fixed};
    struct gradient_fit *fits[2] = {&row->free, conditional_of(g, row)};
    for (int k = 0; k < 2; k++) {
        fits[k]->parameters = ends + (size_t)k * g->infer.n_parameters;
        fits[k]->is = (struct closest_fit){.status = PARITAS_FIT_CONVERGED, .deviance = 2.0 * values[k]};
    }
    return take_slope(g, fits[1], slope);
}

double gradient_shared_variance(const struct gradient *g)
{
    const struct frozen *model = paritas_model_frozen(g->infer.model);
    const size_t slot = model->slot_of[g->infer.poi];
    return g->options.shared->metric.matrix[slot * model->n_slots + slot];
}

void gradient_shared_respond(const struct gradient *g, const double *from, double mu, double *to)
{
    const struct frozen *model = paritas_model_frozen(g->infer.model);
    const size_t poi = g->infer.poi, slots = model->n_slots;
    const double *column = g->options.shared->metric.matrix + model->slot_of[poi] * slots,
                 step = (mu - from[poi]) / column[model->slot_of[poi]];
    for (size_t p = 0; p < model->n_parameters; p++)
        to[p] = p == poi ? mu : from[p] + step * column[model->slot_of[p]];
}

static paritas_status fit_group(struct gradient *g, size_t n, const size_t *which, struct gradient_row **rows,
                                bool *done)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct profile_plan plan = g->options.shared->plan;
    double *data = infer_reals(infer, n, model->n_places),
           *ends = infer_reals(infer, n, 2 * infer->n_parameters),
           *response = infer_reals(infer, infer->n_parameters, 1), *slopes = infer_reals(infer, n, 1);
    struct profile *profiles = infer_array(infer, n, sizeof *profiles);
    TRY(infer_memory(infer));
    plan.upper = infer->base.upper;
    plan.mu = conditional_of(g, rows[which[0]])->mu;
    gradient_shared_respond(g, plan.start, plan.mu, response);
    plan.conditional_start = response;
    for (size_t k = 0; k < n; k++) rows_put_data(model, rows[which[k]]->data, data + k * model->n_places);
    TRY(profiles_by_quasi_newton(infer->context, &plan, n, data, PROFILE_CLOSEST | profile_poi_flag(&plan),
                                 profiles, slopes, ends));
    for (size_t k = 0; k < n; k++) {
        done[which[k]] = profiles[k].method == PROFILE_QUASI_NEWTON &&
                         !widening_is_met(&infer->widening, infer->base.fixed,
                                          ends + k * 2 * infer->n_parameters, plan.upper);
        if (done[which[k]])
            TRY(take(g, rows[which[k]], &profiles[k], slopes[k], ends + k * 2 * infer->n_parameters));
    }
    return PARITAS_OK;
}

paritas_status gradient_shared(struct gradient *g, size_t n, struct gradient_row **rows, bool *done)
{
    size_t *which = infer_array(&g->infer, n, sizeof *which);
    bool *seen = infer_array(&g->infer, n, sizeof *seen);
    TRY(infer_memory(&g->infer));
    for (size_t i = 0; i < n; i++) {
        const double mu = conditional_of(g, rows[i])->mu;
        size_t m = 0;
        for (size_t k = i; k < n && !seen[i]; k++)
            if (!seen[k] && conditional_of(g, rows[k])->mu == mu) which[m++] = k;
        for (size_t k = 0; k < m; k++) seen[which[k]] = true;
        if (m > 0) TRY(fit_group(g, m, which, rows, done));
    }
    return PARITAS_OK;
}

/* Newton's method for fits that the shared matrix did not finish. */
static paritas_status finish_conditional(struct gradient *g, size_t n, struct gradient_fit **fits)
{
    TRY(gradient_run(g, true, false, n, fits));
    for (size_t i = 0; i < n; i++)
        if (fits[i]->is.status == PARITAS_FIT_CONVERGED) TRY(gradient_by_mu(g, fits[i], &fits[i]->slope));
    return PARITAS_OK;
}

paritas_status gradient_shared_conditional(struct gradient *g, size_t n, struct gradient_fit *const *fits)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t p = infer->n_parameters;
    double *data = infer_reals(infer, n, model->n_places), *ends = infer_reals(infer, n, 2 * p),
           *slopes = infer_reals(infer, n, 1);
    struct profile *profiles = infer_array(infer, n, sizeof *profiles);
    struct gradient_fit **left = infer_array(infer, n, sizeof *left);
    struct profile_plan plan = g->options.shared->plan;
    TRY(infer_memory(infer));
    if (n == 0) return PARITAS_OK;
    plan.upper = infer->base.upper;
    plan.conditional = false; /* the parameter of interest stays where each start has it */
    for (size_t i = 0; i < n; i++) {
        rows_put_data(model, fits[i]->data, data + i * model->n_places);
        memcpy(ends + i * 2 * p, fits[i]->start, p * sizeof *ends);
    }
    TRY(profiles_by_quasi_newton(infer->context, &plan, n, data, PROFILE_CLOSEST | PROFILE_STARTS, profiles,
                                 slopes, ends));
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (profiles[i].method != PROFILE_QUASI_NEWTON) {
            left[m++] = fits[i];
            continue;
        }
        fits[i]->is =
            (struct closest_fit){.status = PARITAS_FIT_CONVERGED, .deviance = 2.0 * profiles[i].value_free};
        fits[i]->parameters = ends + i * 2 * p;
        TRY(take_slope(g, fits[i], slopes[i]));
    }
    return finish_conditional(g, m, left);
}
