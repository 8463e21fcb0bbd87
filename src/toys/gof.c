/* gof.c: goodness of fit: against the saturated model, as in cabinetry; by cumulative parts of channels, as
 * in Combine.
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

/* ---- cumulative parts ---- */

struct distances {
    double ks, ad;
};

static double sum_of(size_t n, const double *values)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

static struct distances channel_distances(size_t n, const double *observed, const double *expected)
{
    struct distances d = {0.0, 0.0};
    const double events = sum_of(n, observed), all = sum_of(n, expected);
    double seen = 0.0, sum = 0.0, below = 0.0;
    if (events == 0.0) return (struct distances){-1.0, -1.0};
    for (size_t i = 0; i < n; i++) {
        seen += observed[i];
        sum += expected[i];
        const double part = sum / all, distance = seen / events - part;
        d.ks = fmax(d.ks, fabs(distance));
        if (part > below && part < 1.0)
            d.ad += events * (distance * distance) / (part * (1.0 - part)) * (part - below);
        below = part;
    }
    return d;
}

/* NaN without channels. */
static struct distances distances_of(const paritas_model *model, const double *observed,
                                     const double *expected)
{
    const size_t channels = paritas_model_channel_count(model);
    struct distances sum = {0.0, 0.0};
    if (channels == 0) return (struct distances){(double)NAN, (double)NAN};
    for (size_t c = 0, first = 0; c < channels; c++) {
        const size_t n = paritas_model_channel_bins(model, c);
        if (frozen_is_masked(paritas_model_frozen(model), first)) {
            first += n;
            continue;
        }
        const struct distances one = channel_distances(n, observed + first, expected + first);
        sum.ks += one.ks;
        sum.ad += one.ad;
        first += n;
    }
    return sum;
}

/* ---- the best fit ---- */

static paritas_status describe_distances(struct infer *infer, const double *parameters,
                                         paritas_gof_result *result)
{
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, parameters, expected));
    const struct distances d = distances_of(infer->model, infer->base.data, expected);
    result->ks = d.ks;
    result->ad = d.ad;
    return PARITAS_OK;
}

/* Does a parameter change the rate of a bin in the likelihood? Tried where fits start, as at the best fit a
 * strength of 0 hides what it scales. `reals`: room for a point and two rows of data. */
static paritas_status acts(struct infer *infer, size_t i, double *reals, bool *does)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    double *point = reals, *before = point + infer->n_parameters, *after = before + infer->n_data;
    const double lower = frozen->lower[i], upper = frozen->upper[i];
    for (size_t k = 0; k < infer->n_parameters; k++)
        point[k] = frozen->init[k] != 0.0 ? frozen->init[k] : 0.5 * fmin(1.0, frozen->upper[k]);
    TRY(infer_expected(infer, point, before));
    point[i] = point[i] + 0.5 <= upper ? point[i] + 0.5 : 0.5 * (lower + upper);
    TRY(infer_expected(infer, point, after));
    *does = false;
    for (size_t k = 0; k < frozen->n_main; k++)
        *does = *does || (!frozen_is_masked(frozen, k) && before[k] != after[k]);
    return PARITAS_OK;
}

/* Free parameters without a constraint that take a degree of freedom. */
static paritas_status count_unconstrained(struct infer *infer, size_t *n)
{
    double *reals = infer_reals(infer, infer->n_parameters + 2 * infer->n_data, 1);
    TRY(infer_memory(infer));
    *n = 0;
    for (size_t i = 0; i < infer->n_parameters; i++) {
        bool does = isnan(infer->widths[i]) && !infer->base.fixed[i];
        if (does && paritas_model_frozen(infer->model)->masked) TRY(acts(infer, i, reals, &does));
        *n += does;
    }
    return PARITAS_OK;
}

static paritas_status describe(struct infer *infer, const struct infer_profile *profile,
                               paritas_gof_result *result)
{
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    size_t counted = 0, unconstrained;
    TRY(count_unconstrained(infer, &unconstrained));
    result->saturated = saturated_model(infer);
    for (size_t i = 0; i < frozen->n_main; i++) counted += !frozen_is_masked(frozen, i);
    result->twice_nll = profile->result.twice_nll;
    result->statistic = result->twice_nll - result->saturated;
    result->ndof = counted > unconstrained ? counted - unconstrained : 0;
    result->p = chi2_survival(result->statistic, (double)result->ndof);
    result->status = profile->result.status;
    infer_put_bound(infer, &result->upper_bound, &result->bound_widened);
    return PARITAS_OK;
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
    if (status == PARITAS_OK) status = describe(&infer, &best, result);
    if (status == PARITAS_OK) status = describe_distances(&infer, best.parameters, result);
    infer_close(&infer);
    return status;
}

/* ---- toys ---- */

#define SAME_DISTANCE 1e-6 /* toys' fits end within 1e-11 of the minimum, and distances are linear there */

struct tail {
    struct infer *infer;
    paritas_gof_algorithm algo;
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

static paritas_status measure(void *user, size_t n, const double *data, const double *parameters,
                              double *statistics)
{
    const struct tail *tail = user;
    paritas_context *context = tail->infer->context;
    const paritas_model *model = tail->infer->model;
    const size_t n_data = tail->infer->n_data;
    double *expected = paritas_allocate(context, n * n_data + 1, sizeof *expected);
    paritas_status status = expected ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) status = paritas_expected_data(context, model, n, parameters, expected);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        const struct distances d = distances_of(model, data + i * n_data, expected + i * n_data);
        statistics[i] = tail->algo == PARITAS_GOF_KS ? d.ks : d.ad;
    }
    paritas_release(&context->allocator, expected);
    return status;
}

static paritas_status set_facts(struct store *store, const paritas_gof_result *result)
{
    TOYS_SET_FACT(statistic)
    TOYS_SET_FACT(twice_nll)
    TOYS_SET_FACT(saturated)
    TOYS_SET_FACT(ndof)
    TOYS_SET_FACT(status)
    TOYS_SET_FACT(ks)
    TOYS_SET_FACT(ad)
    return PARITAS_OK;
}

static paritas_status gof_toys(struct infer *infer, struct toy_fits *fits,
                               const paritas_toys_options *options, paritas_gof_toys_result *result,
                               paritas_gof_result *gof)
{
    struct infer_profile best;
    const double *point;
    double *expected;
    const paritas_gof_algorithm algo = options->algo;
    TRY(toy_fits_best(infer, &best, false, &point));
    TRY(toy_fits_expect(infer, options, point, &expected));
    TRY(describe(infer, &best, gof));
    TRY(describe_distances(infer, point, gof));
    struct tail tail = {.infer = infer,
                        .algo = algo,
                        .observed = algo == PARITAS_GOF_KS   ? gof->ks
                                    : algo == PARITAS_GOF_AD ? gof->ad
                                                             : gof->statistic,
                        .same = algo == PARITAS_GOF_SATURATED ? same_minimum(infer->context) : SAME_DISTANCE};
    struct toy_fits_options plan = {
        .toys = options, .what = "gof", .expected = expected, .start = point, .see = see, .see_user = &tail};
    if (algo != PARITAS_GOF_SATURATED) {
        plan.algo = paritas_gof_algorithm_name(algo);
        plan.measure = measure;
    }
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
    TRY(toys_take_gof_options(context, given, &options));
    if (options.algo != PARITAS_GOF_SATURATED && paritas_model_channel_count(model) == 0)
        return paritas_refuse(context, "algo %s: the model has no channels, whose bins have an order",
                              paritas_gof_algorithm_name(options.algo));
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
