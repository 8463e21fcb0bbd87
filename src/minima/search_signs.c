/* search_signs.c: the fits that follow signs of a second minimum. */
#include "minima/search_signs.h"
#include "fit/signs.h"

#include <math.h>
#include <string.h>

#define NONLINEAR_LEAST 0.4 /* in errors of the counts; tHu's largest is 0.13, ttZ's 0.29 */
#define FLIPS_MOST 16       /* parameters of a point */
#define FLIPS_ROUND 4
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

paritas_status signs_find_nonlinear(struct infer *infer, double at, struct nonlinear *nonlinear)
{
    if (nonlinear->known && at <= 2.0 * nonlinear->at) return PARITAS_OK;
    double *nonlinearity = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    TRY(measure_nonlinearity(infer, infer->base.data, at, nonlinearity));
    nonlinear->known = true;
    nonlinear->at = at;
    nonlinear->n =
        signs_take_largest(infer->n_parameters, nonlinearity, NONLINEAR_MOST, nonlinear->parameters);
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
        point[i] = signs_moved(parameters[i], infer->base.start[i], infer->widths[i], widths);
    }
    for (size_t i = 0; i < infer->n_parameters; i++) /* a factor of 0 hides what others do */
        if (isnan(infer->widths[i]) &&
            (parameters[i] <= infer->base.lower[i] || parameters[i] >= infer->base.upper[i]))
            point[i] = infer->base.start[i];
    *start = point;
    return PARITAS_OK;
}

/* ---- flips ---- */

/* The signs of all parameters that may move in the target. */
static paritas_status measure_signs(const struct search *search, const struct target *s, double *signs)
{
    struct infer *infer = search->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, s->parameters, expected));
    TRY(signs_measure(infer->context, model, model->n_templates ? infer->base.data : NULL, s->parameters,
                      search->profile->data, expected, signs));
    for (size_t i = 0; i < infer->n_parameters; i++)
        if (!may_move(infer, i) || s->fixed[i]) signs[i] = 0.0;
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
        flips->n = signs_take_largest(infer->n_parameters, signs, FLIPS_MOST, flips->parameters);
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

paritas_status signs_flip(struct search *search)
{
    struct infer *infer = search->infer;
    if (!signs_are_known(paritas_model_frozen(infer->model))) return PARITAS_OK;
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
