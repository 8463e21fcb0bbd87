/* gof.c: goodness of fit against the saturated model, as cabinetry does it.
 *
 * The saturated model expects exactly what was observed in every bin and has every constraint at its best
 * value. Degrees of freedom: bins less the unconstrained parameters that are free (the parameter of interest
 * among them); a constrained parameter brings its own auxiliary datum and counts nothing.
 *
 * By toys, the degrees of freedom do not matter: toys drawn at the best fit say how the statistic is
 * distributed. */
#include "fit/family.h"
#include "base/sized.h"
#include "infer/infer.h"
#include "infer/probability.h"
#include "infer/toy_fits.h"
#include "infer/toys.h"

#include <math.h>
#include <string.h>

/* In deviance form every term is 0 at its best, so that only the constants are left. */
static double saturated_model(const struct infer *infer)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    return 2.0 * frozen->constant(frozen, infer->base.data);
}

static void describe(const struct infer *infer, const struct infer_profile *profile,
                     paritas_gof_result *result)
{
    size_t n_main = paritas_model_main_count(infer->model), unconstrained = 0;
    const double *widths = infer->widths;
    result->saturated = saturated_model(infer);
    for (size_t i = 0; i < infer->n_parameters; i++)
        unconstrained += isnan(widths[i]) && !infer->base.fixed[i];
    result->twice_nll = profile->result.twice_nll;
    result->statistic = result->twice_nll - result->saturated;
    result->ndof = n_main > unconstrained ? n_main - unconstrained : 0;
    result->p = chi2_survival(result->statistic, (double)result->ndof);
    result->status = profile->result.status;
}

paritas_status paritas_gof(paritas_context *context, const paritas_model *model, const paritas_job *job,
                           paritas_gof_result *result)
{
    struct infer infer;
    paritas_status status = SIZED_CHECK(context, paritas_gof_result, "result", 1, result);
    if (status != PARITAS_OK) return status;
    status = infer_open(&infer, context, model, job, false);
    struct infer_profile best = {.data = infer.base.data}, *const profile = &best;
    /* nor has it a saturated model */
    if (status == PARITAS_OK) status = family_check_expectation(context, paritas_model_frozen(model));
    if (status == PARITAS_OK) status = infer_free_fits(&infer, 1, &profile);
    if (status == PARITAS_OK) describe(&infer, &best, result);
    infer_close(&infer);
    return status;
}

/* ---- by toys ---- */

struct tail {
    double observed, same; /* how far apart equal data may have theirs */
    uint64_t n, above;
};

/* Where data are counts, toys repeat the observed statistic, up to what the fits leave open. */
static void see(void *user, const struct store_fit *fit)
{
    struct tail *tail = user;
    if (fit->status != PARITAS_FIT_CONVERGED) return;
    tail->n++;
    tail->above += fit->statistic >= tail->observed - tail->same;
}

static paritas_status gof_toys(struct infer *infer, struct toy_fits *fits,
                               const paritas_toys_options *options, paritas_gof_toys_result *result,
                               paritas_gof_result *gof)
{
    struct infer_profile best;
    const double *point;
    double *expected;
    paritas_status status = toy_fits_best(infer, &best, &point);
    if (status == PARITAS_OK) status = toy_fits_expect(infer, options, point, &expected);
    if (status != PARITAS_OK) return status;
    describe(infer, &best, gof);
    struct tail tail = {.observed = gof->statistic, .same = same_minimum(infer->context)};
    const struct toy_fits_options plan = {
        .toys = options, .what = "gof", .expected = expected, .start = point, .see = see, .see_user = &tail};
    status = toy_fits_open(fits, infer, &plan);
    if (status == PARITAS_OK && fits->store) {
        status = store_set_fact(fits->store, "statistic", gof->statistic);
        if (status == PARITAS_OK) status = store_set_fact(fits->store, "twice_nll", gof->twice_nll);
        if (status == PARITAS_OK) status = store_set_fact(fits->store, "saturated", gof->saturated);
        if (status == PARITAS_OK) status = store_set_fact(fits->store, "ndof", (double)gof->ndof);
        if (status == PARITAS_OK) status = store_set_fact(fits->store, "status", (double)gof->status);
    }
    if (status == PARITAS_OK) status = toy_fits_run(fits);
    result->n = tail.n;
    result->p = toy_fraction(tail.above, tail.n, &result->p_error);
    result->tally = fits->tally;
    toy_fits_close(fits);
    return status;
}

paritas_status paritas_gof_toys(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                const paritas_toys_options *given, paritas_gof_toys_result *result,
                                paritas_gof_result *gof)
{
    paritas_toys_options options;
    paritas_gof_result own = PARITAS_INIT(paritas_gof_result);
    paritas_status status = toys_take_options(context, given, &options);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_gof_toys_result, "result", 1, result);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_gof_result, "gof", gof != NULL, gof);
    if (status != PARITAS_OK) return status;
    *result = (paritas_gof_toys_result)PARITAS_INIT(paritas_gof_toys_result);
    struct infer infer;
    status = infer_open_for_toys(&infer, context, model, job, false);
    struct toy_fits *fits = arena_array(&infer.arena, 1, sizeof *fits);
    if (status == PARITAS_OK && fits == NULL) status = paritas_fail_memory(context);
    if (status == PARITAS_OK) status = gof_toys(&infer, fits, &options, result, gof != NULL ? gof : &own);
    infer_close(&infer);
    return status;
}
