/* gof.c: goodness of fit against the saturated model, as cabinetry does it.
 *
 * The saturated model expects exactly what was observed in every bin and has every constraint at its best value. Degrees
 * of freedom: bins less the unconstrained parameters that are free (the parameter of interest among them); a
 * constrained parameter brings its own auxiliary datum and counts nothing. */
#include "infer/infer.h"
#include "infer/probability.h"

#include <math.h>
#include <string.h>

/* Twice the negative logarithm of Poisson(n | n). */
static double poisson_at_best(double n)
{
    return n > 0.0 ? 2.0 * (n - n * natural_log(n) + log_gamma(n + 1.0)) : 0.0;
}

/* Where every constraint is at its best, data equal to the expectation leave twice the NLL with nothing but its
 * constants; those of the main data are then exchanged for the observed ones. */
static paritas_status saturated_model(struct infer *infer, double *twice_nll)
{
    size_t n = infer->n_parameters, n_main = paritas_model_main_count(infer->model);
    double *point = arena_array(&infer->arena, n + 1, sizeof *point), *data = arena_array(&infer->arena, infer->n_data, sizeof *data);
    if (point == NULL || data == NULL) return paritas_fail_memory(infer->context);
    paritas_status status = infer_constraint_centres(infer, point);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < n; i++)
        if (isnan(point[i])) point[i] = infer->base.start[i];
    status = paritas_expected_data(infer->context, infer->model, 1, point, data);
    if (status != PARITAS_OK) return status;
    memcpy(data + n_main, infer->base.data + n_main, (infer->n_data - n_main) * sizeof *data);
    status = paritas_evaluate(infer->context, infer->model, 1, point, 1, data, twice_nll, NULL, NULL);
    for (size_t b = 0; b < n_main; b++) *twice_nll += poisson_at_best(infer->base.data[b]) - poisson_at_best(data[b]);
    return status;
}

static paritas_status gof(struct infer *infer, paritas_gof_result *result)
{
    size_t n_main = paritas_model_main_count(infer->model), unconstrained = 0;
    const double *widths = paritas_model_constraint_widths(infer->model);
    struct infer_profile *profile = arena_array(&infer->arena, 1, sizeof *profile);
    if (profile == NULL) return paritas_fail_memory(infer->context);
    profile->data = infer->base.data;
    paritas_status status = infer_free_fits(infer, 1, &profile);
    if (status == PARITAS_OK) status = saturated_model(infer, &result->saturated);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < infer->n_parameters; i++) unconstrained += isnan(widths[i]) && !infer->base.fixed[i];
    result->twice_nll = profile->result.twice_nll;
    result->statistic = result->twice_nll - result->saturated;
    result->ndof = n_main > unconstrained ? n_main - unconstrained : 0;
    result->p = chi2_survival(result->statistic, (double)result->ndof);
    result->status = profile->result.status;
    return PARITAS_OK;
}

paritas_status paritas_gof(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_gof_result *result)
{
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = gof(&infer, result);
    infer_close(&infer);
    return status;
}
