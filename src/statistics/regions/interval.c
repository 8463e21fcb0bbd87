/* interval.c: likelihood intervals of one parameter, with all parts, and the range that scans take. */
#include "statistics/regions/interval.h"
#include "base/math/probability.h"
#include "base/sized.h"
#include "minima/lowest_points.h"
#include "minima/search_targets.h"

#include <math.h>
#include <string.h>

#define SCAN_ERRORS 3.0 /* beyond the outermost minima */
#define SCAN_PART 0.25  /* of the width of the bounds, for a minimum without an error */

paritas_status confidences_check(const struct infer *infer, size_t n, const double *confidences)
{
    for (size_t i = 0; i < n; i++)
        if (!(confidences[i] > 0.0 && confidences[i] < 1.0))
            return paritas_refuse(infer->context, "levels[%zu]: %g is not between 0 and 1", i,
                                  confidences[i]);
    return PARITAS_OK;
}

paritas_status confidences_quantiles(struct infer *infer, size_t n, const double *confidences,
                                     const double **quantiles)
{
    double *q = infer_reals(infer, n + 1, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        const double sigmas = -normal_quantile(0.5 * (1.0 - confidences[i])); /* holds far in the tail */
        q[i] = sigmas * sigmas;
    }
    *quantiles = q;
    return PARITAS_OK;
}

/* A fit that widened the bounds on its way starts again from where other fits do: it then ends as they do. */
static paritas_status fit_within(struct infer *infer, struct infer_profile *profile)
{
    struct infer_profile again;
    TRY(infer_free_fit_from(infer, profile, NULL, &again));
    if (again.result.status == PARITAS_FIT_CONVERGED &&
        again.result.twice_nll <= profile->result.twice_nll + same_minimum(infer->context))
        *profile = again;
    return PARITAS_OK;
}

/* The lowest free fit of a parameter that is free. */
static paritas_status fit_best(struct infer *infer, size_t parameter, struct infer_profile *profile)
{
    TRY(infer_check_profiled(infer, 1, &parameter));
    infer->poi = parameter; /* searches look far along it */
    profile->data = infer->base.data;
    TRY(infer_lowest_free_fit(infer, profile));
    return infer_is_widened(infer, parameter) ? fit_within(infer, profile) : PARITAS_OK;
}

/* ---- parts ---- */

static paritas_interval_part describe(const struct profile_curve *curve, double confidence,
                                      const struct curve_part *part)
{
    const bool known =
        part->ends[0].end != PARITAS_MINOS_END_UNKNOWN && part->ends[1].end != PARITAS_MINOS_END_UNKNOWN;
    return (paritas_interval_part){.size = sizeof(paritas_interval_part),
                                   .confidence = confidence,
                                   .lower = part->ends[0].value,
                                   .upper = part->ends[1].value,
                                   .lower_end = part->ends[0].end,
                                   .upper_end = part->ends[1].end,
                                   .minimum = part->at,
                                   .q = part->q,
                                   .status = known ? PARITAS_FIT_CONVERGED : PARITAS_FIT_NO_PROGRESS,
                                   .several_minima = infer_has_several(&curve->infer->minima),
                                   .minima = curve->infer->minima};
}

static paritas_status put_parts(const struct profile_curve *curve, const paritas_interval_request *request)
{
    struct curve_part *parts = infer_array(curve->infer, request->room + 1, sizeof *parts);
    TRY(infer_memory(curve->infer));
    for (size_t k = 0; k < request->n_levels; k++) {
        const size_t n = profile_curve_parts(curve, curve->levels[k], request->room, parts);
        for (size_t i = 0; i < n; i++, ++*request->n_parts)
            if (*request->n_parts < request->room)
                request->parts[*request->n_parts] = describe(curve, request->levels[k], &parts[i]);
    }
    return PARITAS_OK;
}

static paritas_status interval(struct infer *infer, const paritas_interval_request *request)
{
    struct infer_profile profile = {.data = NULL};
    struct profile_curve curve;
    const double *levels;
    REQUIRE_AS(infer->context, "levels, best, n_parts", request->levels, request->best, request->n_parts);
    *request->n_parts = 0;
    TRY(confidences_check(infer, request->n_levels, request->levels));
    TRY(fit_best(infer, request->parameter, &profile));
    TRY(confidences_quantiles(infer, request->n_levels, request->levels, &levels));
    profile_curve_open(&curve, infer, &profile, request->n_levels, levels);
    curve.widens = true;
    if (isfinite(profile.result.twice_nll) && curve.n_levels > 0) {
        TRY(profile_curve_follow(&curve, 0, NULL));
        TRY(put_parts(&curve, request));
    }
    infer_note_widening(infer);
    infer_put_best(infer, &profile, request->best, request->best_parameters);
    return PARITAS_OK;
}

paritas_status paritas_interval(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                const paritas_interval_request *given)
{
    paritas_interval_request request = PARITAS_INTERVAL_REQUEST_DEFAULT;
    REQUIRE(context, model);
    TRY(SIZED_CHECK(context, paritas_interval_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_interval_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_fit_result, "best", 1, request.best));
    TRY(SIZED_CHECK(context, paritas_interval_part, "parts", request.room, request.parts));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = interval(&infer, &request);
    infer_close(&infer);
    return status;
}

/* ---- ranges of scans ---- */

/* Reaches some errors around a minimum. */
static void reach(const struct profile_curve *curve, double value, double error, double range[2])
{
    const struct infer *infer = curve->infer;
    const double lower = infer->base.lower[infer->poi], upper = infer->upper[infer->poi],
                 away = error > 0.0 ? SCAN_ERRORS * error : SCAN_PART * (upper - lower);
    range[0] = fmin(range[0], fmax(value - away, lower));
    const double above =
        error > 0.0 && infer_upper_gives_way(infer, infer->poi) ? value + away : fmin(value + away, upper);
    range[1] = fmax(range[1], above);
}

static paritas_status find_range(struct infer *infer, size_t parameter, double range[2])
{
    struct infer_profile profile = {.data = NULL};
    struct profile_curve curve;
    TRY(fit_best(infer, parameter, &profile));
    profile_curve_open(&curve, infer, &profile, 0, NULL);
    curve.top = MINIMA_WITHIN;
    const bool ended = profile.result.status == PARITAS_FIT_CONVERGED;
    if (ended)
        TRY(search_model_is_small(infer) ? profile_curve_follow(&curve, 0, NULL)
                                         : profile_curve_take_known(&curve));
    range[0] = HUGE_VAL;
    range[1] = -HUGE_VAL;
    reach(&curve, profile.parameters[parameter], ended ? profile.errors[parameter] : (double)NAN, range);
    for (size_t k = 0; k < curve.n_minima; k++)
        if (curve.minima[k].twice_nll <= profile.result.twice_nll + MINIMA_WITHIN)
            reach(&curve, curve.minima[k].value, curve.minima[k].error, range);
    return PARITAS_OK;
}

paritas_status paritas_scan_range(paritas_context *context, const paritas_model *model,
                                  const paritas_job *job, size_t parameter, double range[2])
{
    REQUIRE(context, model, range);
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = find_range(&infer, parameter, range);
    infer_close(&infer);
    return status;
}
