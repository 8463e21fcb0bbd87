/* opencl_races.c: a likelihood with its gradient, Hessian and Jacobian, expected data, a fit, and one whose
 * steps meet many bounds, with covariances, and toys, drawn and fitted, of a small model on the first OpenCL
 * device, for a simulator that watches what the workers of a team read and write (tests/opencl/races). Its
 * argument is the size of the work-groups. */
#include "base/context.h"
#include "device/device.h"
#include "draws.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "opencl/workspace.h"
#include "paritas.h"
#include "sized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const paritas_context *context)
{
    printf("%s\n", paritas_error_message(context));
    return 1;
}

enum { TOYS = 3 };

/* A few toys around the suggested start, with conditional fits, some of whose parameters meet bounds; how
 * many quasi-Newton fitted. */
static int fit_toys(paritas_context *context, const paritas_model *model, const double *expected,
                    const double *lower, const double *upper, int *fitted)
{
    const struct frozen *frozen = paritas_model_frozen(model);
    const double *init = paritas_model_suggested_init(model);
    const struct draws draws = {.seed = 3};
    struct profile profiles[TOYS];
    struct profile_metric metric;
    struct arena arena;
    bool usable = false;
    double *drawn = malloc(TOYS * frozen->n_data * sizeof *drawn),
           *rows = malloc((TOYS + 1) * frozen->n_places * sizeof *rows);
    double *points = malloc(TOYS * frozen->n_parameters * sizeof *points);
    if (!drawn || !rows || !points) return 1;
    arena_open(&arena, &context->allocator);
    const ptrdiff_t poi = paritas_model_poi_index(model);
    struct profile_plan plan = {.model = model,
                                .start = init,
                                .lower = lower,
                                .upper = upper,
                                .fixed = paritas_model_suggested_fixed(model),
                                .poi = poi};
    plan.conditional = true;
    plan.mu = 0.5 * (lower[poi] + upper[poi]);
    plan.conditional_start = init;
    paritas_status status = draw_toys(context, model, &draws, expected, frozen->n_data, TOYS, drawn);
    for (size_t t = 0; t < TOYS; t++)
        rows_put_data(frozen, drawn + t * frozen->n_data, rows + t * frozen->n_places);
    rows_put_data(frozen, expected, rows + TOYS * frozen->n_places);
    if (status == PARITAS_OK)
        status = profiles_metric(context, &plan, rows + TOYS * frozen->n_places, &arena, &metric, &usable);
    plan.metric = &metric;
    if (status == PARITAS_OK && usable) status = profiles_fit(context, &plan, TOYS, rows, profiles, points);
    for (int t = 0; t < TOYS && status == PARITAS_OK && usable; t++)
        *fitted += profiles[t].method == PROFILE_QUASI_NEWTON;
    free(drawn);
    free(rows);
    arena_free(&arena);
    free(points);
    return status != PARITAS_OK || !usable;
}

int main(int count, char **arguments)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    options.device = "opencl:0";
    options.workers = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 8;
    if (paritas_open(&options, &context) != PARITAS_OK) return fail(context);
    if (paritas_workspace_parse(context, small_workspace, strlen(small_workspace), "small.json",
                                &workspace) != PARITAS_OK)
        return fail(context);
    if (paritas_model_create(context, workspace, NULL, &model) != PARITAS_OK) return fail(context);
    const size_t n = paritas_model_parameter_count(model), bins = paritas_model_main_count(model);
    double nll, *gradient = malloc(n * sizeof *gradient), *hessian = malloc(n * n * sizeof *hessian);
    double *jacobian = malloc(bins * n * sizeof *jacobian), *parameters = malloc(2 * n * sizeof *parameters);
    double *expected = malloc((bins + paritas_model_aux_count(model)) * sizeof *expected);
    double *lower = malloc(n * sizeof *lower), *upper = malloc(n * sizeof *upper);
    if (!gradient || !hessian || !jacobian || !parameters || !expected || !lower || !upper) return 1;
    double *covariance = malloc(2 * n * n * sizeof *covariance);
    if (!covariance) return 1;
    const double *init = paritas_model_suggested_init(model);
    if (paritas_evaluate(context, model, 1, init, 0, NULL,
                         SIZED(paritas_evaluate_answers, .twice_nll = &nll, .gradient = gradient)) !=
        PARITAS_OK)
        return fail(context);
    if (paritas_evaluate(context, model, 1, init, 0, NULL,
                         SIZED(paritas_evaluate_answers, .twice_nll = &nll, .gradient = gradient,
                               .hessian = hessian)) != PARITAS_OK)
        return fail(context);
    if (paritas_expected_jacobian(context, model, init, jacobian) != PARITAS_OK) return fail(context);
    if (paritas_expected_data(context, model, 1, init, expected) != PARITAS_OK) return fail(context);
    for (size_t p = 0; p < n; p++) {
        lower[p] = init[p] - 0.02;
        upper[p] = init[p] + 0.02;
    }
    device_close(context->host); /* covariances there too, which otherwise run on the CPU */
    context->host = context->device;
    const paritas_job jobs[2] = {PARITAS_JOB_DEFAULT,
                                 {.size = sizeof(paritas_job), .lower = lower, .upper = upper}};
    paritas_fit_result results[2] = {PARITAS_INIT(paritas_fit_result)};
    if (paritas_fit(context, model, NULL, 2, jobs,
                    SIZED(paritas_fit_answers, .results = results, .parameters = parameters,
                          .covariance = covariance)) != PARITAS_OK)
        return fail(context);
    paritas_fit_options other = PARITAS_FIT_OPTIONS_DEFAULT;
    other.minimizer = PARITAS_MINIMIZER_LBFGSB;
    other.max_iterations = 4;
    paritas_fit_result shortened[2] = {PARITAS_INIT(paritas_fit_result)};
    if (paritas_fit(context, model, &other, 2, jobs,
                    SIZED(paritas_fit_answers, .results = shortened, .parameters = parameters)) != PARITAS_OK)
        return fail(context);
    int fitted = 0, near_bounds = 0;
    double *tight = lower; /* of a few parameters, so that they are held now and then */
    for (size_t p = 0; p < n; p++)
        if (p % 5 != 2) tight[p] = paritas_model_lower_bounds(model)[p];
    const double *bounds = paritas_model_upper_bounds(model);
    if (fit_toys(context, model, expected, paritas_model_lower_bounds(model), bounds, &fitted))
        return fail(context);
    if (fit_toys(context, model, expected, tight, bounds, &near_bounds)) return fail(context);
    printf("%d and %d of %d toys by quasi-Newton\n", fitted, near_bounds, TOYS);
    for (int k = 0; k < 2; k++)
        printf("%.17g, %s at %.17g\n", nll, paritas_fit_status_name(results[k].status), results[k].twice_nll);
    free(gradient);
    free(hessian);
    free(jacobian);
    free(parameters);
    free(covariance);
    free(expected);
    free(lower);
    free(upper);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return results[0].status != PARITAS_FIT_CONVERGED || results[1].status != PARITAS_FIT_CONVERGED ||
           fitted == 0 || near_bounds == 0;
}
