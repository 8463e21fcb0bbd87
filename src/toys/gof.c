/* gof.c: goodness of fit against the saturated model, as in cabinetry.
 *
 * The saturated model expects the observed counts, with every constraint at its best. Degrees of freedom:
 * bins minus free unconstrained parameters (a constrained one has its own datum). */
#include "fit/family.h"
#include "base/sized.h"
#include "minima/fit_notes.h"
#include "minima/conditional_fits.h"
#include "base/math/probability.h"
#include "toys/toy_fits.h"
#include "toys/toys.h"

#include <math.h>

/* In deviance form every term is 0 at its best: only constants are left. */
static double saturated_model(const struct infer *infer)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    return 2.0 * frozen->constant(frozen, infer->base.data);
}

static void describe(const struct infer *infer, const struct infer_profile *profile,
                     paritas_gof_result *result)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    size_t counted = 0, unconstrained = 0;
    const double *widths = infer->widths;
    result->saturated = saturated_model(infer);
    for (size_t i = 0; i < frozen->n_main; i++) counted += !frozen_is_masked(frozen, i);
    for (size_t i = 0; i < infer->n_parameters; i++)
        unconstrained += isnan(widths[i]) && !infer->base.fixed[i];
    result->twice_nll = profile->result.twice_nll;
    result->statistic = result->twice_nll - result->saturated;
    result->ndof = counted > unconstrained ? counted - unconstrained : 0;
    result->p = chi2_survival(result->statistic, (double)result->ndof);
    result->status = profile->result.status;
}

paritas_status paritas_gof(paritas_context *context, const paritas_model *model, const paritas_job *job,
                           paritas_gof_result *result)
{
    REQUIRE(context, model);
    struct infer infer;
    TRY(SIZED_CHECK(context, paritas_gof_result, "result", 1, result));
    paritas_status status = infer_open(&infer, context, model, job, false);
    struct infer_profile best = {.data = infer.base.data};
    /* without expected data there is no saturated model */
    if (status == PARITAS_OK) status = family_check_expectation(context, paritas_model_frozen(model));
    if (status == PARITAS_OK) status = infer_free_fit(&infer, &best);
    if (status == PARITAS_OK) status = fit_notes_profile(&infer, &best);
    if (status == PARITAS_OK) describe(&infer, &best, result);
    infer_close(&infer);
    return status;
}

struct tail {
    double observed, same; /* `same`: tolerance for equal data */
    uint64_t n, above;
};

/* Toys of counts can repeat the observed statistic, up to the fits' precision. */
static void see(void *user, const struct store_fit *fit)
{
    struct tail *tail = user;
    if (fit->status != PARITAS_FIT_CONVERGED) return;
    tail->n++;
    tail->above += fit->statistic >= tail->observed - tail->same;
}

static paritas_status set_facts(struct store *store, const paritas_gof_result *result)
{
    TOYS_SET_FACT(statistic)
    TOYS_SET_FACT(twice_nll)
    TOYS_SET_FACT(saturated)
    TOYS_SET_FACT(ndof)
    TOYS_SET_FACT(status)
    return PARITAS_OK;
}

static paritas_status gof_toys(struct infer *infer, struct toy_fits *fits,
                               const paritas_toys_options *options, paritas_gof_toys_result *result,
                               paritas_gof_result *gof)
{
    struct infer_profile best;
    const double *point;
    double *expected;
    TRY(toy_fits_best(infer, &best, &point));
    TRY(toy_fits_expect(infer, options, point, &expected));
    describe(infer, &best, gof);
    struct tail tail = {.observed = gof->statistic, .same = same_minimum(infer->context)};
    const struct toy_fits_options plan = {
        .toys = options, .what = "gof", .expected = expected, .start = point, .see = see, .see_user = &tail};
    paritas_status status = toy_fits_open(fits, infer, &plan);
    if (status == PARITAS_OK && fits->store) status = set_facts(fits->store, gof);
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
    REQUIRE(context, model);
    paritas_toys_options options;
    paritas_gof_result own = PARITAS_INIT(paritas_gof_result);
    TRY(toys_take_options(context, given, &options));
    TRY(SIZED_CHECK(context, paritas_gof_toys_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_gof_result, "gof", gof != NULL, gof));
    *result = (paritas_gof_toys_result)PARITAS_INIT(paritas_gof_toys_result);
    struct infer infer;
    struct toy_fits fits;
    paritas_status status = infer_open_for_toys(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = gof_toys(&infer, &fits, &options, result, gof ? gof : &own);
    infer_close(&infer);
    return status;
}
