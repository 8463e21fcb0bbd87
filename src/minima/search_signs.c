/* search_signs.c: the sign of a second minimum by one pass over the templates, and the fits that follow it.
 *
 * h_i = sum over bins of (1 - n / rate) (rate(+1) + rate(-1) - 2 rate(0)), parameter i in its widths: what
 * bends add to half the second derivative of twice the NLL, beside the constraint's 1. */
#include "minima/search_signs.h"
#include "fit/family.h"

#include <math.h>
#include <string.h>

#define NONLINEAR_LEAST 0.4 /* in errors of the counts; tHu's largest is 0.13, ttZ's 0.29 */
#define SIGN_LEAST 0.3      /* of -h; below -1 twice the NLL has a maximum between two minima */
#define FLIPS_MOST 16       /* parameters of a point */
#define FLIPS_ROUND 4
#define ROUNDING 1e-9 /* of a sign: the order of equal ones must not depend on it */
#define FLIP_ROUNDS 8

static bool may_move(const struct infer *infer, size_t i)
{
    return !infer->base.fixed[i] && infer->widths[i] > 0.0;
}

/* How nonlinear rates with the templates of `data` are in each parameter that may move, if that is much. */
static paritas_status measure_nonlinearity(struct infer *infer, const double *data, double at,
                                           double *nonlinearity)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t n = infer->n_parameters;
    double *point = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    memcpy(point, infer->base.start, n * sizeof *point);
    if (infer->poi < n) point[infer->poi] = at;
    if (model->family->second_differences)
        TRY(model->family->second_differences(infer->context, model, model->n_templates ? data : NULL, point,
                                              NULL, nonlinearity));
    for (size_t i = 0; i < n; i++)
        if (!may_move(infer, i) || !(nonlinearity[i] >= NONLINEAR_LEAST)) nonlinearity[i] = 0.0;
    return PARITAS_OK;
}

/* The largest elements that are above 0, at most `most`, the largest first. They become 0. */
static size_t take_largest(size_t n, double *elements, size_t most, size_t *which)
{
    size_t taken = 0;
    for (; taken < most; taken++) {
        size_t largest = n;
        for (size_t i = 0; i < n; i++)
            if (elements[i] > 0.0 && (largest == n || elements[i] > (1.0 + ROUNDING) * elements[largest]))
                largest = i;
        if (largest == n) break;
        which[taken] = largest;
        elements[largest] = 0.0;
    }
    return taken;
}

paritas_status signs_find_nonlinear(struct infer *infer, double at, struct nonlinear *nonlinear)
{
    if (nonlinear->known && at <= 2.0 * nonlinear->at) return PARITAS_OK;
    double *nonlinearity = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    TRY(measure_nonlinearity(infer, infer->base.data, at, nonlinearity));
    nonlinear->known = true;
    nonlinear->at = at;
    nonlinear->n = take_largest(infer->n_parameters, nonlinearity, NONLINEAR_MOST, nonlinear->parameters);
    return PARITAS_OK;
}

paritas_status signs_is_nonlinear(struct infer *infer, const double *data, double at, bool *is)
{
    double *nonlinearity = infer_reals(infer, infer->n_parameters, 1);
    *is = false;
    TRY(infer_memory(infer));
    TRY(measure_nonlinearity(infer, data, at, nonlinearity));
    for (size_t i = 0; i < infer->n_parameters; i++) *is = *is || nonlinearity[i] > 0.0;
    return PARITAS_OK;
}

paritas_status signs_move(struct infer *infer, const double *parameters, size_t n, const size_t *which,
                          double widths, const double **start)
{
    double *point = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(point, parameters, infer->n_parameters * sizeof *point);
    for (size_t k = 0; k < n; k++) {
        const size_t i = which[k];
        const double centre = infer->base.start[i], away = parameters[i] - centre,
                     far = fmax(fabs(away), fabs(widths) * infer->widths[i]);
        point[i] = centre + copysign(far, widths < 0.0 ? -away : away);
    }
    for (size_t i = 0; i < infer->n_parameters; i++) /* a factor of 0 hides what others do */
        if (isnan(infer->widths[i]) &&
            (parameters[i] <= infer->base.lower[i] || parameters[i] >= infer->base.upper[i]))
            point[i] = infer->base.start[i];
    *start = point;
    return PARITAS_OK;
}

/* ---- flips ---- */

/* -h of all parameters that may move in the target, where it is large enough; else 0. */
static paritas_status measure_signs(const struct search *search, const struct target *s, double *signs)
{
    struct infer *infer = search->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const double *data = search->profile->data;
    double *weights = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, s->parameters, weights));
    for (size_t b = 0; b < model->n_main; b++)
        weights[b] = weights[b] > 0.0 ? 1.0 - data[b] / weights[b] : data[b] > 0.0 ? -1.0 : 1.0;
    TRY(model->family->second_differences(infer->context, model, model->n_templates ? infer->base.data : NULL,
                                          s->parameters, weights, signs));
    for (size_t i = 0; i < infer->n_parameters; i++)
        signs[i] = may_move(infer, i) && !s->fixed[i] && signs[i] < -SIGN_LEAST ? -signs[i] : 0.0;
    return PARITAS_OK;
}

/* Flips of one target, of which a round tries the strongest that are left. */
struct flips {
    const double *from;                            /* the point; NULL: not yet measured */
    size_t n, tried, parameters[FLIPS_MOST], ends; /* ends: before the round */
};

/* Does the next round go on here? A minimum beside the answer says that weaker signs may hold others. */
static bool goes_on(const struct target *s, const struct flips *flips)
{
    if (s->status != PARITAS_FIT_CONVERGED || s->is_lowest) return false;
    return flips->from != s->parameters ? s->flipped != s->parameters
                                        : s->n_ends > flips->ends && flips->tried < flips->n;
}

static paritas_status put_flips(const struct search *search, struct target *s, struct flips *flips,
                                struct attempt *attempts, size_t *n)
{
    struct infer *infer = search->infer;
    double *signs = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    if (!goes_on(s, flips)) return PARITAS_OK;
    if (flips->from != s->parameters) {
        TRY(measure_signs(search, s, signs));
        *flips = (struct flips){.from = s->parameters};
        s->flipped = s->parameters;
        flips->n = take_largest(infer->n_parameters, signs, FLIPS_MOST, flips->parameters);
    }
    flips->ends = s->n_ends;
    for (size_t k = 0; k < FLIPS_ROUND && flips->tried < flips->n; k++, flips->tried++)
        for (double widths = -1.0; widths >= (search->is_small ? -3.0 : -1.0); widths -= 2.0) {
            attempts[*n].target = s;
            TRY(signs_move(infer, s->parameters, 1, &flips->parameters[flips->tried], widths,
                           &attempts[*n].start));
            ++*n;
        }
    return PARITAS_OK;
}

static bool can_bend(const struct search *search)
{
    const struct frozen *model = paritas_model_frozen(search->infer->model);
    return model->family->second_differences && !model->no_expectation;
}

paritas_status signs_flip(struct search *search)
{
    struct infer *infer = search->infer;
    if (!can_bend(search)) return PARITAS_OK;
    struct flips *flips = infer_array(infer, search->n, sizeof *flips);
    struct attempt *attempts = infer_array(infer, 2 * FLIPS_ROUND * search->n, sizeof *attempts);
    TRY(infer_memory(infer));
    for (int round = 0; round < FLIP_ROUNDS; round++) {
        size_t n = 0;
        for (size_t i = 0; i < search->n_asked; i++)
            TRY(put_flips(search, &search->targets[i], &flips[i], attempts, &n));
        if (n == 0) break;
        TRY(search_run_attempts(search, n, attempts));
    }
    return PARITAS_OK;
}
