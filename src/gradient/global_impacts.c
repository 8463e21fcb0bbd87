/* global_impacts.c: parts of the error of the parameter of interest, by the data that fluctuate.
 *
 *   free fit ─► row of the covariance C ─► d(mu)/d(datum) = -C/2 d2(twice NLL)/d(parameters)d(datum)
 *
 * One pass along that row gives the derivatives by all data. Fits are in f64. */
#include "base/sized.h"
#include "gradient/gradient.h"
#include "minima/edge_errors.h"
#include "minima/lowest_points.h"

#include <math.h>
#include <stdlib.h>

/* Largest first, then parameter order. */
static int by_size(const void *first, const void *second)
{
    const paritas_global_impact *a = first, *b = second;
    const double x = isnan(a->impact) ? -1.0 : fabs(a->impact), y = isnan(b->impact) ? -1.0 : fabs(b->impact);
    return x != y ? (x < y) - (x > y) : (a->parameter > b->parameter) - (a->parameter < b->parameter);
}

/* The lowest minimum as exactly as derivatives need it, its covariance, and errors that mean something. */
static paritas_status find_minimum(struct infer *infer, struct infer_profile *profile)
{
    double *errors;
    paritas_parameter_state *states;
    const size_t p = infer->n_parameters;
    double *closest = infer_reals(infer, p, 1);
    struct closest_fit fit;
    TRY(infer_memory(infer));
    TRY(infer_lowest_free_fit(infer, profile));
    if (profile->result.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    paritas_job job = infer->base;
    job.start = profile->parameters;
    TRY(fit_closest(infer->context, infer->model, true, 1, &job, &fit, closest));
    if (fit.status == PARITAS_FIT_CONVERGED) profile->parameters = closest;
    TRY(edge_errors_of(infer, profile, &errors, &states));
    profile->errors = errors;
    profile->states = states;
    job.start = profile->parameters;
    return fit_covariances(infer->context, infer->model, 1, &job, profile->covariance);
}

/* d(mu)/d(datum) at the free fit. */
static paritas_status differentiate(struct gradient *g, const struct infer_profile *profile, double *slopes)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters;
    const struct gradient_fit fit = {
        .data = profile->data, .upper = infer->base.upper, .parameters = profile->parameters};
    struct gradient_fit inside;
    double *direction = infer_reals(infer, p, 1), *force = infer_reals(infer, p, 1), *held;
    TRY(infer_memory(infer));
    TRY(gradient_inside(g, &fit, &inside, &held));
    paritas_job job = infer->base;
    job.data = inside.data;
    job.start = inside.parameters;
    double *covariance = held ? infer_reals(infer, p, p) : profile->covariance;
    TRY(infer_memory(infer));
    if (held) TRY(fit_covariances(infer->context, infer->model, 1, &job, covariance));
    force[infer->poi] = 1.0;
    TRY(gradient_respond(g, &inside, held, covariance, force, direction));
    TRY(paritas_data_derivatives(infer->context, infer->model, 1, inside.parameters, inside.data, direction,
                                 NULL, slopes));
    for (size_t i = 0; held && i < g->n_row; i++)
        if (held[i] != 0.0) slopes[i] = 0.0;
    return PARITAS_OK;
}

/* Variance by the counts of main data. An empty bin adds nothing: its count has no curvature either. */
static double main_variance(const struct frozen *model, const double *data, const double *slopes)
{
    double sum = 0.0;
    for (size_t i = 0; i < model->n_main; i++)
        if (data[i] > 0.0 && !frozen_is_masked(model, i)) sum += slopes[i] * slopes[i] * data[i];
    return sum;
}

/* `correlated`: the covariance of correlated auxiliary data, by parameters; 0 of others. */
static paritas_status take_entries(struct infer *infer, const struct infer_profile *profile,
                                   const double *slopes, paritas_global_result *result,
                                   paritas_global_impact *entries, double *correlated)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t p = infer->n_parameters;
    size_t *datum = infer_array(infer, p, sizeof *datum);
    double *sigma = infer_reals(infer, p, 1), *centres = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    TRY(infer_constraint_centres(infer, centres));
    model->family->auxiliary(model, profile->data, profile->parameters, datum, sigma);
    if (model->family->correlated_variances)
        TRY(model->family->correlated_variances(infer->context, model, infer->base.fixed, correlated));
    for (size_t i = 0; i < p; i++)
        if (correlated[i * (p + 1)] > 0.0) sigma[i] = sqrt(correlated[i * (p + 1)]);
    for (size_t i = 0; i < p; i++) {
        if (infer->base.fixed[i] || datum[i] == model->n_data) continue;
        paritas_global_impact *entry = &entries[result->sources++];
        entry->size = sizeof *entry;
        entry->parameter = i;
        entry->pull = (profile->parameters[i] - centres[i]) / infer->widths[i];
        entry->constraint = profile->errors[i] / infer->widths[i];
        entry->sigma = sigma[i];
        entry->impact = sigma[i] > 0.0 ? slopes[datum[i]] * sigma[i] : 0.0; /* an empty auxiliary count */
    }
    return PARITAS_OK;
}

/* Returns NaN if the parameter of interest is at a bound or its fit failed. */
static double total_error(const struct infer *infer, const struct infer_profile *profile)
{
    const double error = profile->errors[infer->poi];
    return isnan(error) ? error : sqrt(profile->covariance[infer->poi * (infer->n_parameters + 1)]);
}

/* The variance by the auxiliary data of `members` (NULL: all): squares, and products of correlated ones. */
static double auxiliary_variance(size_t p, const unsigned char *members, size_t n,
                                 const paritas_global_impact *entries, const double *correlated)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        const paritas_global_impact *a = &entries[k];
        if (members && !members[a->parameter]) continue;
        sum += a->impact * a->impact;
        for (size_t l = 0; l < k; l++) {
            const paritas_global_impact *b = &entries[l];
            const double covariance = correlated[a->parameter * p + b->parameter];
            if (covariance != 0.0 && (!members || members[b->parameter]))
                sum += 2.0 * covariance * (a->impact / a->sigma) * (b->impact / b->sigma);
        }
    }
    return sum;
}

static void add_up(const struct infer *infer, size_t n_groups, const unsigned char *members, double *groups,
                   const paritas_global_impact *entries, const double *correlated,
                   paritas_global_result *result, double statistical)
{
    const size_t p = infer->n_parameters, n = result->sources;
    const double none = isnan(result->total) ? result->total : 0.0,
                 systematic = none + auxiliary_variance(p, NULL, n, entries, correlated);
    for (size_t j = 0; j < n_groups; j++)
        groups[j] = sqrt(none + auxiliary_variance(p, &members[j * p], n, entries, correlated));
    result->statistical = sqrt(statistical);
    result->systematic = sqrt(systematic);
    result->sum = sqrt(statistical + systematic);
}

static paritas_status find_impacts(struct gradient *g, size_t n_groups, const unsigned char *members,
                                   paritas_global_result *result, paritas_global_impact *entries,
                                   double *groups)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct infer_profile profile = {.data = infer->base.data};
    double *slopes = infer_reals(infer, model->n_data, 1),
           *correlated = infer_reals(infer, infer->n_parameters, infer->n_parameters);
    TRY(infer_memory(infer));
    TRY(infer_check_members(infer, n_groups, members));
    TRY(find_minimum(infer, &profile));
    *result = (paritas_global_result){.size = sizeof *result,
                                      .best = profile.parameters[infer->poi],
                                      .total = total_error(infer, &profile),
                                      .state = profile.states[infer->poi],
                                      .status = profile.result.status,
                                      .several_minima = infer_has_several(&infer->minima),
                                      .minima = infer->minima};
    const bool none = isnan(result->total);
    if (none)
        for (size_t i = 0; i < model->n_data; i++) slopes[i] = result->total;
    else
        TRY(differentiate(g, &profile, slopes));
    TRY(take_entries(infer, &profile, slopes, result, entries, correlated));
    add_up(infer, n_groups, members, groups, entries, correlated, result,
           none ? result->total : main_variance(model, profile.data, slopes));
    qsort(entries, result->sources, sizeof *entries, by_size);
    return PARITAS_OK;
}

paritas_status paritas_global_impacts(paritas_context *context, const paritas_model *model,
                                      const paritas_job *job, size_t n_groups, const unsigned char *members,
                                      paritas_global_result *result, paritas_global_impact *entries,
                                      double *groups)
{
    REQUIRE(context, model, result, entries);
    if (n_groups > 0) REQUIRE(context, members, groups);
    TRY(SIZED_CHECK(context, paritas_global_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_global_impact, "entries", paritas_model_parameter_count(model),
                    entries));
    if (!paritas_model_frozen(model)->family->data_derivatives)
        return paritas_refuse(context, "model '%s' has no derivatives by data",
                              paritas_model_frozen(model)->family->name);
    const struct gradient_precision usual = gradient_begin(context);
    struct gradient g = {.n_row = paritas_model_frozen(model)->n_data};
    paritas_status status = infer_open(&g.infer, context, model, job, true);
    if (status == PARITAS_OK) status = find_impacts(&g, n_groups, members, result, entries, groups);
    if (status == PARITAS_OK) infer_note_widening(&g.infer);
    infer_close(&g.infer);
    gradient_end(context, usual);
    return status;
}
