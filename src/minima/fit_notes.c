/* fit_notes.c: what fits behind a statistic leave to be said. */
#include "minima/fit_notes.h"
#include "minima/domain.h"

#include <math.h>
#include <stdio.h>

#define NAMED_MOST 3

/* Where a fit ended. */
struct end {
    paritas_fit_status status;
    const struct infer_profile *profile;
    const struct infer_point *point; /* NULL: the profile's free fit */
    const double *parameters;
};

static bool is_poi(const struct infer *infer, size_t i)
{
    bool is = false;
    for (size_t k = 0; k < infer->n_pois; k++) is = is || infer->pois[k] == i;
    return is;
}

static bool is_fixed(const struct infer *infer, const struct end *end, size_t i)
{
    bool fixed = infer->base.fixed[i] != 0;
    for (size_t j = 0; end->point && j < end->point->k; j++) fixed = fixed || end->point->parameter[j] == i;
    return fixed;
}

/* The parameter by which twice the NLL falls most, by its own derivatives; n_parameters: none. A direction of
 * negative curvature counts as a fall by half of it. */
static paritas_status find_steepest(struct infer *infer, const struct end *end, size_t *steepest)
{
    const size_t n = infer->n_parameters;
    double *gradient = infer_reals(infer, n, 1), *hessian = infer_reals(infer, n, n), value;
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, end->parameters, end->profile->data, &value, gradient, hessian));
    *steepest = n;
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double x = end->parameters[i], g = gradient[i], curvature = hessian[i * n + i];
        const bool at_bound = (x <= infer->base.lower[i] && g > 0.0) || (x >= infer->upper[i] && g < 0.0);
        if (is_fixed(infer, end, i) || at_bound) continue;
        const double fall = curvature > 0.0 ? 0.5 * g * g / curvature : 0.5 * fabs(curvature);
        if (!(fall > largest)) continue;
        largest = fall;
        *steepest = i;
    }
    return PARITAS_OK;
}

static paritas_status describe(struct infer *infer, const struct end *end, size_t room, char *text)
{
    static const char *const ends[PARITAS_FIT_STATUS_COUNT] = {
        [PARITAS_FIT_AT_ITERATION_LIMIT] = "reached its limit of iterations",
        [PARITAS_FIT_NO_PROGRESS] = "stopped before a minimum",
        [PARITAS_FIT_NON_FINITE] = "ended outside the domain",
        [PARITAS_FIT_NOT_A_MINIMUM] = "ended where there is no minimum"};
    char bins[768];
    size_t steepest;
    if (end->status == PARITAS_FIT_NON_FINITE) {
        TRY(domain_say(infer->context, infer->model, end->parameters, end->profile->data, sizeof bins, bins));
        snprintf(text, bins[0] ? room : 1, "%s: %s", ends[end->status], bins);
        return PARITAS_OK;
    }
    TRY(find_steepest(infer, end, &steepest));
    snprintf(text, room, "%s", ends[end->status]);
    if (steepest < infer->n_parameters)
        snprintf(text, room, "%s: 2 NLL falls most with %s", ends[end->status],
                 paritas_model_parameter_name(infer->model, steepest));
    return PARITAS_OK;
}

/* ---- which fit ---- */

static void say_fit(const struct infer *infer, const struct end *end, size_t room, char *text)
{
    const char *asimov = end->profile->data == infer->base.data ? "" : " to Asimov data";
    if (end->point)
        snprintf(text, room, "the fit with %s = %.6g%s",
                 paritas_model_parameter_name(infer->model, end->point->parameter[0]), end->point->value[0],
                 asimov);
    else
        snprintf(text, room, "the free fit%s", asimov);
}

static paritas_status note_unfinished(struct infer *infer, const struct end *end)
{
    char text[1024], fit[256];
    if (end->status == PARITAS_FIT_CONVERGED || infer->told_unfinished) return PARITAS_OK;
    TRY(describe(infer, end, sizeof text, text));
    infer->told_unfinished = text[0] != '\0';
    if (!text[0]) return PARITAS_OK;
    say_fit(infer, end, sizeof fit, fit);
    paritas_note(infer->context, "%s %s", fit, text);
    return PARITAS_OK;
}

/* Factors and gammas at bounds: there a sample is off, or an error is at its end. */
static void note_bounds(struct infer *infer, const struct end *end)
{
    char text[1024], fit[256];
    size_t n = 0, length = 0;
    if (end->status != PARITAS_FIT_CONVERGED || infer->told_bounds) return;
    for (size_t i = 0; i < infer->n_parameters; i++) {
        const double x = end->parameters[i], lower = infer->base.lower[i], upper = infer->base.upper[i];
        if (i == infer->poi || is_poi(infer, i) || is_fixed(infer, end, i) || (x > lower && x < upper))
            continue;
        if (n++ >= NAMED_MOST || length >= sizeof text) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s at its %s bound %.6g",
                                   n > 1 ? ", " : "", paritas_model_parameter_name(infer->model, i),
                                   x > lower ? "upper" : "lower", x);
    }
    if (n == 0) return;
    say_fit(infer, end, sizeof fit, fit);
    infer->told_bounds = true;
    if (n > NAMED_MOST)
        paritas_note(infer->context, "%s ended with %s, and %zu more", fit, text, n - NAMED_MOST);
    else
        paritas_note(infer->context, "%s ended with %s", fit, text);
}

static paritas_status note(struct infer *infer, const struct end *end)
{
    TRY(note_unfinished(infer, end));
    note_bounds(infer, end);
    return PARITAS_OK;
}

paritas_status fit_notes_profile(struct infer *infer, const struct infer_profile *profile)
{
    return note(infer, &(struct end){profile->result.status, profile, NULL, profile->parameters});
}

paritas_status fit_notes_points(struct infer *infer, size_t n, const struct infer_point *points)
{
    for (size_t i = 0; i < n; i++) {
        TRY(fit_notes_profile(infer, points[i].profile));
        TRY(note(infer,
                 &(struct end){points[i].status, points[i].profile, &points[i], points[i].parameters}));
    }
    return PARITAS_OK;
}
