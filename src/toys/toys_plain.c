/* toys_plain.c: toys with their best fits, without a test. */
#include "toys/toy_fits.h"
#include "base/sized.h"
#include "toys/toys.h"

#include <math.h>

/* Mean and squared distances from it (Welford, Technometrics 4 (1962) 419). */
struct spread {
    uint64_t n;
    double mean, squares;
};

static void spread_add(struct spread *s, double x)
{
    const double distance = x - s->mean;
    s->n++;
    s->mean += distance / (double)s->n;
    s->squares += distance * (x - s->mean);
}

static double spread_mean(const struct spread *s)
{
    return s->n > 0 ? s->mean : (double)NAN;
}

static double spread_rms(const struct spread *s)
{
    return s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : (double)NAN;
}

struct moments {
    size_t n;
    const double *generated; /* NULL: unknown */
    struct spread *values, *pulls;
};

static void see(void *user, const struct store_fit *fit)
{
    struct moments *m = user;
    if (fit->status != PARITAS_FIT_CONVERGED || !fit->parameters) return;
    for (size_t i = 0; i < m->n; i++) {
        spread_add(&m->values[i], fit->parameters[i]);
        if (fit->errors && m->generated && !isnan(fit->errors[i]))
            spread_add(&m->pulls[i], (fit->parameters[i] - m->generated[i]) / fit->errors[i]);
    }
}

/* The job's start, or the toys' point within the bounds. */
static paritas_status choose_start(struct infer *infer, bool own, const double *point, const double **start)
{
    *start = infer->base.start;
    if (own || !point) return PARITAS_OK;
    double *inside = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < infer->n_parameters; i++) {
        const double lower = infer->base.lower[i], upper = infer->base.upper[i];
        inside[i] = infer->base.fixed[i] || !(lower <= upper) ? point[i] : infer_bounded(infer, i, point[i]);
    }
    infer->base.start = *start = inside;
    return PARITAS_OK;
}

/* Also sets moments->generated to the point. */
static paritas_status choose_centre(struct infer *infer, struct toy_fits_options *options, bool own_start,
                                    const paritas_toys_request *request, struct moments *moments,
                                    paritas_toys_result *result)
{
    const double *point = request->point;
    double *expected;
    if (!point && !request->expected) {
        struct infer_profile best;
        TRY(toy_fits_best(infer, &best, true, &point));
        result->status = best.result.status;
        infer_note_widening(infer);
    } else {
        TRY(choose_start(infer, own_start, point, &options->start));
    }
    if (!options->start) options->start = point;
    options->expected = request->expected;
    moments->generated = point;
    if (request->expected) return PARITAS_OK;
    TRY(toy_fits_expect(infer, options->toys, point, &expected));
    options->expected = expected;
    return PARITAS_OK;
}

paritas_status toy_request_check(paritas_context *context, const paritas_model *model,
                                 const paritas_toys_request *request, unsigned allowed)
{
    if (request->point && request->expected)
        return paritas_refuse(context, "toys are drawn at a point or around expected data, not both");
    if (request->flags & ~allowed)
        return paritas_refuse(context, "flags of toys: %u has unknown ones", request->flags);
    for (size_t i = 0; request->point && i < paritas_model_parameter_count(model); i++)
        if (!isfinite(request->point[i]))
            return paritas_refuse(context, "the point of toys: %s must be a finite number",
                                  paritas_model_parameter_name(model, i));
    return PARITAS_OK;
}

static void write_parameters(const struct moments *moments, paritas_toys_parameter *parameters)
{
    for (size_t i = 0; i < moments->n; i++)
        parameters[i] =
            (paritas_toys_parameter){.size = sizeof *parameters,
                                     .generated = moments->generated ? moments->generated[i] : (double)NAN,
                                     .n = moments->values[i].n,
                                     .n_pulls = moments->pulls[i].n,
                                     .mean = spread_mean(&moments->values[i]),
                                     .rms = spread_rms(&moments->values[i]),
                                     .pull_mean = spread_mean(&moments->pulls[i]),
                                     .pull_rms = spread_rms(&moments->pulls[i])};
}

paritas_status paritas_toys(paritas_context *context, const paritas_model *model, const paritas_job *job,
                            const paritas_toys_request *given, const paritas_toys_options *given_options,
                            paritas_toys_result *result)
{
    REQUIRE(context, model);
    const size_t n = paritas_model_parameter_count(model);
    paritas_toys_options toys;
    paritas_toys_request request = PARITAS_TOYS_REQUEST_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_toys_request, "request", given, &request));
    TRY(toys_take_options(context, given_options, &toys));
    TRY(SIZED_CHECK(context, paritas_toys_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_toys_parameter, "parameters", request.parameters ? n : 0,
                    request.parameters));
    TRY(toy_request_check(context, model, &request, PARITAS_TOYS_KEEP_PARAMETERS | PARITAS_TOYS_ERRORS));
    *result = (paritas_toys_result)PARITAS_INIT(paritas_toys_result);
    result->status = PARITAS_FIT_CONVERGED;
    struct infer infer;
    struct toy_fits fits = {.store = NULL};
    paritas_status status = infer_open_for_toys(&infer, context, model, job, false);
    struct spread *spreads = infer_array(&infer, 2 * n, sizeof *spreads);
    struct moments moments = {.n = n, .values = spreads, .pulls = spreads ? spreads + n : NULL};
    struct toy_fits_options options = {.toys = &toys,
                                       .what = "toys",
                                       .flags = request.flags,
                                       .see = see,
                                       .see_user = &moments,
                                       .take = request.take,
                                       .take_user = request.user};
    if (status == PARITAS_OK) status = infer_memory(&infer);
    if (status == PARITAS_OK)
        status = choose_centre(&infer, &options, job && job->start, &request, &moments, result);
    if (status == PARITAS_OK) status = toy_fits_open(&fits, &infer, &options);
    if (status == PARITAS_OK) status = toy_fits_run(&fits);
    result->tally = fits.tally;
    if (request.parameters && status == PARITAS_OK) write_parameters(&moments, request.parameters);
    toy_fits_close(&fits);
    infer_close(&infer);
    return status;
}
