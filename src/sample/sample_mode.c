/* sample_mode.c: priors, the mode and the metric. kernels/sample/sample_space.h has the same transformation
 * for lanes. */
#include "sample/sample_mode.h"
#include "base/math/host_math.h"
#include "fit/cholesky.h"

#include <math.h>
#include <string.h>

#define BOTH (SAMPLE_HAS_LOWER + SAMPLE_HAS_UPPER)
#define SPREAD 1.5     /* of starts, in widths of the posterior */
#define ITERATIONS 200 /* of Newton's method */
#define BACKTRACKS 40
#define NEAR 1e-10       /* twice the decrease that is left at the mode */
#define LONGEST 2.0      /* step in t */
#define FIRST_PLACE 1e-3 /* of the width between bounds: starts are this far inside */

/* A parameter's place, from its t: x, dx/dt, d2x/dt2; -ln|dx/dt| and priors with derivatives by t. */
struct place {
    double x, slope, curvature, term, term_slope, term_curvature;
};

/* The search for the mode. Vectors and matrices are by free parameter. */
struct search {
    struct infer *infer;
    struct sample_space *space;
    double *t, *trial, *slope, *gradient, *step, *hessian, *factor; /* slope: dx/dt */
    double *point, *model_gradient, *model_hessian;                 /* user's order */
    double value;                                                   /* at t */
};

static double number(const struct search *s, enum sample_vectors vector, size_t k)
{
    return s->space->shared[vector * paritas_model_frozen(s->infer->model)->n_slots + k];
}

static struct place without_prior(const struct search *s, size_t k, double t)
{
    const double kind = number(s, SAMPLE_KIND, k), lower = number(s, SAMPLE_LOWER, k),
                 upper = number(s, SAMPLE_UPPER, k);
    if (kind == 0.0) return (struct place){.x = t, .slope = 1.0};
    if (kind != BOTH) {
        const double e = host_exp(t), sign = kind == SAMPLE_HAS_LOWER ? 1.0 : -1.0;
        return (struct place){.x = sign > 0.0 ? lower + e : upper - e,
                              .slope = sign * e,
                              .curvature = sign * e,
                              .term = -t,
                              .term_slope = -1.0};
    }
    const double e = host_exp(-fabs(t)), r = 1.0 / (1.0 + e), part = (upper - lower) * e * r,
                 odd = (t >= 0.0 ? 1.0 - e : e - 1.0) * r;
    return (struct place){.x = t >= 0.0 ? upper - part : lower + part,
                          .slope = part * r,
                          .curvature = -part * r * odd,
                          .term = fabs(t) + 2.0 * host_log(1.0 + e),
                          .term_slope = odd,
                          .term_curvature = 2.0 * e * r * r};
}

static struct place place_of(const struct search *s, size_t k, double t)
{
    struct place p = without_prior(s, k, t);
    const double weight = number(s, SAMPLE_WEIGHT, k), log_weight = number(s, SAMPLE_LOG_WEIGHT, k),
                 power = number(s, SAMPLE_POWER, k), rate = number(s, SAMPLE_RATE, k);
    const bool logs = log_weight > 0.0 || power != 0.0;
    const double x = logs ? p.x : 1.0, log_x = logs ? host_log(x) : 0.0,
                 pull = weight * (p.x - number(s, SAMPLE_MEAN, k)),
                 log_pull = log_weight * (log_x - number(s, SAMPLE_LOG_MEAN, k));
    const double slope = pull + rate + (log_pull + power) / x,
                 curvature = weight + (log_weight - log_pull - power) / (x * x);
    p.term += 0.5 * pull * (p.x - number(s, SAMPLE_MEAN, k)) +
              0.5 * log_pull * (log_x - number(s, SAMPLE_LOG_MEAN, k)) + power * log_x + rate * p.x;
    p.term_slope += slope * p.slope;
    p.term_curvature += curvature * p.slope * p.slope + slope * p.curvature;
    return p;
}

/* -log density at `t`; NaN outside the domain. With derivatives: also `gradient` and `hessian`. */
static paritas_status evaluate(struct search *s, const double *t, bool derivatives, double *value)
{
    const size_t n = s->space->n_free, p = s->infer->n_parameters, *free = s->space->free;
    double twice_nll, terms = 0.0;
    for (size_t k = 0; k < n; k++) {
        const struct place place = place_of(s, k, t[k]);
        s->point[free[k]] = place.x;
        s->slope[k] = place.slope;
        terms += place.term;
    }
    TRY(infer_evaluate(s->infer, 1, s->point, s->infer->base.data, &twice_nll,
                       derivatives ? s->model_gradient : NULL, derivatives ? s->model_hessian : NULL));
    *value = 0.5 * twice_nll + terms;
    for (size_t k = 0; k < n && derivatives; k++) {
        const struct place a = place_of(s, k, t[k]);
        const double slope = 0.5 * s->model_gradient[free[k]];
        s->gradient[k] = slope * a.slope + a.term_slope;
        for (size_t m = 0; m < n; m++)
            s->hessian[k * n + m] = 0.5 * s->model_hessian[free[k] * p + free[m]] * a.slope * s->slope[m];
        s->hessian[k * n + k] += slope * a.curvature + a.term_curvature;
    }
    return PARITAS_OK;
}

/* factor := U of the Hessian, whose diagonal grows until it is positive definite. Returns by how much. */
static double factor_hessian(struct search *s)
{
    const size_t n = s->space->n_free;
    for (double load = 0.0;; load = load > 0.0 ? 4.0 * load : 1e-3) {
        memcpy(s->factor, s->hessian, n * n * sizeof *s->factor);
        for (size_t k = 0; k < n; k++) {
            const double own = fabs(s->hessian[k * n + k]);
            s->factor[k * n + k] += load * (own > 1e-3 ? own : 1e-3);
        }
        if (cholesky(n, s->factor) || load > 1e12) return load;
    }
}

/* step := -(U^T U)^-1 gradient. Returns twice the decrease that it promises. */
static double newton_step(struct search *s)
{
    const size_t n = s->space->n_free;
    double promised = 0.0;
    for (size_t i = 0; i < n; i++) {
        double v = -s->gradient[i];
        for (size_t k = 0; k < i; k++) v -= s->factor[k * n + i] * s->step[k];
        s->step[i] = v / s->factor[i * n + i];
        promised += s->step[i] * s->step[i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) s->step[i] -= s->factor[i * n + k] * s->step[k];
        s->step[i] /= s->factor[i * n + i];
    }
    return promised;
}

/* Moves t down along the step. False: no shorter step lowers the value. */
static paritas_status line_search(struct search *s, bool *moved)
{
    const size_t n = s->space->n_free;
    double longest = 0.0;
    for (size_t k = 0; k < n; k++) longest = fmax(longest, fabs(s->step[k]));
    double part = longest > LONGEST ? LONGEST / longest : 1.0;
    *moved = false;
    for (int try = 0; try < BACKTRACKS && !*moved; try++, part *= 0.5) {
        double value;
        for (size_t k = 0; k < n; k++) s->trial[k] = s->t[k] + part * s->step[k];
        TRY(evaluate(s, s->trial, false, &value));
        if (!(value < s->value)) continue;
        *moved = true;
        s->value = value;
        memcpy(s->t, s->trial, n * sizeof *s->t);
    }
    return PARITAS_OK;
}

/* t := the mode, or the lowest point that is found; factor := U there. */
static paritas_status find_mode(struct search *s)
{
    bool moved = true;
    TRY(evaluate(s, s->t, true, &s->value));
    if (!(s->value - s->value == 0.0))
        return paritas_fail(s->infer->context, PARITAS_NOT_CONVERGED,
                            "the likelihood is not finite at the start of the search for the posterior's "
                            "mode: give another start");
    for (int iteration = 0; moved && iteration < ITERATIONS; iteration++) {
        const double load = factor_hessian(s);
        if (newton_step(s) < NEAR && load == 0.0) return PARITAS_OK;
        TRY(line_search(s, &moved));
        if (moved) TRY(evaluate(s, s->t, true, &s->value));
    }
    factor_hessian(s);
    return PARITAS_OK;
}

/* The table t = mode + U^-1 z, and its transpose. `inverse`: scratch. */
static void put_tables(const struct search *s, size_t slots, double *inverse)
{
    const size_t n = s->space->n_free;
    double *table = s->space->shared + SAMPLE_TABLE(slots),
           *transposed = s->space->shared + SAMPLE_TRANSPOSED(slots, n);
    for (size_t j = 0; j < n; j++) {
        inverse[j * n + j] = 1.0 / s->factor[j * n + j];
        for (size_t i = j; i-- > 0;) {
            double v = 0.0;
            for (size_t m = i + 1; m <= j; m++) v -= s->factor[i * n + m] * inverse[m * n + j];
            inverse[i * n + j] = v / s->factor[i * n + i];
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++)
            table[PROFILE_TABLE_AT(n, j, i)] = transposed[PROFILE_TABLE_AT(n, i, j)] = inverse[i * n + j];
}

/* ---- bounds and priors ---- */

static paritas_status check_prior(const struct infer *infer, const paritas_prior *prior, size_t i)
{
    const double a = prior->numbers[0], b = prior->numbers[1];
    if (prior->parameter >= infer->n_parameters)
        return paritas_refuse(infer->context, "priors[%zu]: the model has no parameter %zu", i,
                              prior->parameter);
    const char *name = paritas_model_parameter_name(infer->model, prior->parameter),
               *word = paritas_enumeration_word(paritas_enumeration_find("paritas_prior_kind"), prior->kind);
    if (!word) return paritas_refuse(infer->context, "prior of '%s': its kind is %d", name, prior->kind);
    if (infer->base.fixed[prior->parameter])
        return paritas_refuse(infer->context, "prior of '%s': this parameter is fixed", name);
    const bool is_uniform = prior->kind == PARITAS_PRIOR_UNIFORM,
               ordered = is_uniform ? a < b : b > 0.0 && (prior->kind != PARITAS_PRIOR_GAMMA || a > 0.0);
    if (a - a == 0.0 && b - b == 0.0 && ordered) return PARITAS_OK;
    return paritas_refuse(infer->context, "prior of '%s': %s takes %s, and not %.10g, %.10g", name, word,
                          is_uniform                           ? "two ascending numbers"
                          : prior->kind == PARITAS_PRIOR_GAMMA ? "two positive numbers, shape and rate"
                                                               : "a mean and a positive deviation",
                          a, b);
}

/* Bounds of parameter p, as priors cut them. */
static void cut_bounds(const struct infer *infer, const paritas_prior *prior, size_t p, double bounds[2])
{
    bounds[0] = infer->base.lower[p];
    bounds[1] = infer->base.upper[p];
    if (!prior || prior->kind == PARITAS_PRIOR_NORMAL) return;
    const bool is_uniform = prior->kind == PARITAS_PRIOR_UNIFORM;
    bounds[0] = fmax(bounds[0], is_uniform ? prior->numbers[0] : 0.0);
    if (is_uniform) bounds[1] = fmin(bounds[1], prior->numbers[1]);
}

static void put_prior(const paritas_prior *prior, size_t slots, double *at)
{
    const double a = prior->numbers[0], b = prior->numbers[1];
    if (prior->kind == PARITAS_PRIOR_NORMAL) {
        at[SAMPLE_WEIGHT * slots] = 1.0 / (b * b);
        at[SAMPLE_MEAN * slots] = a;
    } else if (prior->kind == PARITAS_PRIOR_LOGNORMAL) {
        at[SAMPLE_LOG_WEIGHT * slots] = 1.0 / (b * b);
        at[SAMPLE_LOG_MEAN * slots] = a;
        at[SAMPLE_POWER * slots] = 1.0;
    } else if (prior->kind == PARITAS_PRIOR_GAMMA) {
        at[SAMPLE_POWER * slots] = 1.0 - a;
        at[SAMPLE_RATE * slots] = b;
    }
}

/* t of the job's start, moved off the bounds. */
static double first_t(double x, double lower, double upper, double kind)
{
    if (kind == 0.0) return x;
    const double unit = kind == BOTH ? upper - lower : 1.0;
    const double below = fmax(kind == SAMPLE_HAS_UPPER ? 1.0 : x - lower, FIRST_PLACE * unit),
                 above = fmax(kind == SAMPLE_HAS_LOWER ? 1.0 : upper - x, FIRST_PLACE * unit);
    if (kind == BOTH) return host_log(below / above);
    return host_log(kind == SAMPLE_HAS_LOWER ? below : above);
}

static const paritas_prior *prior_of(const paritas_sample_options *options, size_t p)
{
    for (size_t i = 0; i < options->n_priors; i++)
        if (options->priors[i].parameter == p) return &options->priors[i];
    return NULL;
}

/* Free parameter k: its bounds, kind, prior and first t. */
static paritas_status put_parameter(struct search *s, const paritas_sample_options *options, size_t k)
{
    const struct infer *infer = s->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t p = s->space->free[k], slots = model->n_slots;
    const paritas_prior *prior = prior_of(options, p);
    double *at = s->space->shared + k, bounds[2];
    cut_bounds(infer, prior, p, bounds);
    if (!(bounds[0] < bounds[1]))
        return paritas_refuse(infer->context, "%s: there is no place between its bounds %.10g and %.10g",
                              paritas_model_parameter_name(infer->model, p), bounds[0], bounds[1]);
    const double kind =
        (isfinite(bounds[0]) ? SAMPLE_HAS_LOWER : 0.0) + (isfinite(bounds[1]) ? SAMPLE_HAS_UPPER : 0.0);
    at[SAMPLE_LOWER * slots] = isfinite(bounds[0]) ? bounds[0] : 0.0;
    at[SAMPLE_UPPER * slots] = isfinite(bounds[1]) ? bounds[1] : 0.0;
    at[SAMPLE_KIND * slots] = kind;
    if (prior) put_prior(prior, slots, at);
    s->space->slots[k] = model->slot_of[p];
    s->t[k] = first_t(infer->base.start[p], bounds[0], bounds[1], kind);
    return PARITAS_OK;
}

static paritas_status open_search(struct infer *infer, struct sample_space *space, struct search *s)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t p = infer->n_parameters, slots = model->n_slots;
    *space = (struct sample_space){.free = infer_array(infer, p, sizeof *space->free)};
    for (size_t i = 0; i < p && space->free; i++)
        if (!infer->base.fixed[i]) space->free[space->n_free++] = i;
    const size_t n = space->n_free;
    space->slots = infer_array(infer, SAMPLE_ROW(n) + 1, sizeof *space->slots);
    space->shared = infer_reals(infer, SAMPLE_SHARED(slots, n), 1);
    *s = (struct search){.infer = infer,
                         .space = space,
                         .t = infer_reals(infer, n + 1, 1),
                         .trial = infer_reals(infer, n + 1, 1),
                         .slope = infer_reals(infer, n + 1, 1),
                         .gradient = infer_reals(infer, n + 1, 1),
                         .step = infer_reals(infer, n + 1, 1),
                         .hessian = infer_reals(infer, n * n + 1, 1),
                         .factor = infer_reals(infer, n * n + 1, 1),
                         .point = infer_reals(infer, p, 1),
                         .model_gradient = infer_reals(infer, p, 1),
                         .model_hessian = infer_reals(infer, p, p)};
    TRY(infer_memory(infer));
    memcpy(s->point, infer->base.start, p * sizeof *s->point);
    rows_put_point(model, s->point, model->slot_template, space->shared + SAMPLE_START * slots);
    return PARITAS_OK;
}

paritas_status sample_space_open(struct infer *infer, const paritas_sample_options *options,
                                 struct sample_space *space)
{
    const size_t slots = paritas_model_frozen(infer->model)->n_slots;
    struct search s;
    for (size_t i = 0; i < options->n_priors; i++) TRY(check_prior(infer, &options->priors[i], i));
    TRY(open_search(infer, space, &s));
    if (space->n_free == 0)
        return paritas_refuse(infer->context, "all parameters are fixed: nothing to draw");
    for (size_t k = 0; k < space->n_free; k++) TRY(put_parameter(&s, options, k));
    for (size_t i = 0; i < options->n_priors; i++)
        space->has_priors = space->has_priors || options->priors[i].kind != PARITAS_PRIOR_UNIFORM;
    TRY(find_mode(&s));
    memcpy(space->shared + SAMPLE_MODE * slots, s.t, space->n_free * sizeof *s.t);
    put_tables(&s, slots, s.hessian);
    double *numbers = space->shared + SAMPLE_NUMBER(slots, 0);
    numbers[SAMPLE_FIRST_STEP] = 1.0 / host_sqrt(host_sqrt((double)space->n_free));
    numbers[SAMPLE_TARGET] = options->target;
    numbers[SAMPLE_SPREAD] = SPREAD;
    return PARITAS_OK;
}
