/* gof.c: goodness of fit against the saturated model, as cabinetry does it.
 *
 * The saturated model expects exactly what was observed in every bin and has every constraint at its best value. Degrees
 * of freedom: bins less the unconstrained parameters that are free (the parameter of interest among them); a
 * constrained parameter brings its own auxiliary datum and counts nothing. */
#include "fit/family.h"
#include "infer/infer.h"
#include "infer/probability.h"

#include <math.h>

/* In deviance form every term is 0 at its best, so that only the constants are left. */
static double saturated_model(const struct infer *infer)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    return 2.0 * frozen->constant(frozen, infer->base.data);
}

static paritas_status gof(struct infer *infer, paritas_gof_result *result)
{
    size_t n_main = paritas_model_main_count(infer->model), unconstrained = 0;
    const double *widths = paritas_model_constraint_widths(infer->model);
    struct infer_profile *profile = arena_array(&infer->arena, 1, sizeof *profile);
    if (profile == NULL) return paritas_fail_memory(infer->context);
    profile->data = infer->base.data;
    paritas_status status = infer_free_fits(infer, 1, &profile);
    if (status != PARITAS_OK) return status;
    result->saturated = saturated_model(infer);
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
