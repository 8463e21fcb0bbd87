/* infer.c: free and conditional fits as job lists (infer.h). */
#include "fit/fit_rows.h"
#include "base/sized.h"
#include "fit/fit.h"
#include "minima/held_points.h"
#include "minima/lowest.h"
#include "minima/neighbours.h"
#include "minima/fit_notes.h"
#include "fit/fit_evaluate.h"
#include "minima/conditional_starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest bound that the parameter of interest is widened to. */
static double widest_of(const struct infer *infer, size_t poi)
{
    return infer_widest(infer->base.lower[poi], infer->upper_given[poi]);
}

static paritas_status find_widths(struct infer *infer, const struct frozen *frozen)
{
    infer->widths = frozen->width;
    if (frozen->n_templates == 0) return PARITAS_OK;
    TRY(rows_check_templates(infer->context, frozen, infer->base.data, "data"));
    double *widths = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(widths, frozen->width, infer->n_parameters * sizeof *widths);
    frozen->family->constraint_widths(frozen, frozen_templates(frozen, infer->base.data), widths);
    infer->widths = widths;
    return PARITAS_OK;
}

static paritas_status find_pois(struct infer *infer)
{
    const bool own = infer->base.pois != NULL && infer->base.n_pois > 0;
    infer->pois = own ? infer->base.pois : paritas_model_pois(infer->model);
    infer->n_pois = own ? infer->base.n_pois : paritas_model_poi_count(infer->model);
    for (size_t k = 0; k < infer->n_pois; k++)
        if (infer->pois[k] >= infer->n_parameters)
            return paritas_refuse(infer->context, "pois[%zu]: the model has no parameter %zu", k,
                                  infer->pois[k]);
    if (infer->n_pois > 0) infer->widest = widest_of(infer, infer->pois[0]);
    return PARITAS_OK;
}

paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model,
                          const paritas_job *job, bool needs_poi)
{
    memset(infer, 0, sizeof *infer);
    infer->context = context;
    infer->model = model;
    arena_open(&infer->arena, &context->allocator);
    infer->base = (paritas_job)PARITAS_JOB_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_job, "job", job, &infer->base));
    infer->starts = infer->base.starts;
    if (infer->starts > PARITAS_STARTS_MOST)
        return paritas_refuse(context, "`starts` is %u: there are at most %d", infer->starts,
                              PARITAS_STARTS_MOST);
    infer->n_parameters = paritas_model_parameter_count(model);
    infer->n_data = paritas_model_main_count(model) + paritas_model_aux_count(model) +
                    paritas_model_template_count(model);
    if (infer->base.data == NULL) infer->base.data = paritas_model_data(model);
    if (infer->base.start == NULL) infer->base.start = paritas_model_suggested_init(model);
    if (infer->base.lower == NULL) infer->base.lower = paritas_model_lower_bounds(model);
    if (infer->base.fixed == NULL) infer->base.fixed = paritas_model_suggested_fixed(model);
    const double *upper = infer->base.upper != NULL ? infer->base.upper : paritas_model_upper_bounds(model);
    infer->upper_given = upper;
    infer->upper = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(infer->upper, upper, infer->n_parameters * sizeof *upper);
    infer->base.upper = infer->upper;
    TRY(find_widths(infer, paritas_model_frozen(model)));
    infer->poi = infer->n_parameters;
    infer->tests = needs_poi;
    TRY(find_pois(infer));
    if (!needs_poi) return PARITAS_OK;
    if (infer->n_pois == 0) return paritas_refuse(context, "the model has no parameter of interest");
    infer->poi = infer->pois[0];
    if (infer->base.fixed[infer->poi])
        return paritas_refuse(context, "the parameter of interest '%s' is fixed",
                              paritas_model_parameter_name(model, infer->poi));
    return PARITAS_OK;
}

paritas_status infer_open_for_toys(struct infer *infer, paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, bool needs_poi)
{
    TRY(infer_open(infer, context, model, job, needs_poi));
    if (paritas_model_template_count(model) == 0) return PARITAS_OK;
    return paritas_refuse(context,
                          "toys of a model with templates are not drawn: make a model from a workspace "
                          "with the numbers in question");
}

void infer_close(struct infer *infer)
{
    arena_free(&infer->arena);
}

paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b)
{
    return a > b ? a : b;
}

paritas_status infer_check_tested(const struct infer *infer, size_t parameter, double value)
{
    const double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    if (value != 0.0 || (lower <= 0.0 && upper >= 0.0)) return infer_check_value(infer, parameter, value);
    const char *name = paritas_model_parameter_name(infer->model, parameter);
    return paritas_refuse(infer->context,
                          "a test compares with the background alone, where the parameter of interest is 0; "
                          "%s is bounded to [%.10g, %.10g], so it is no signal strength",
                          name, lower, upper);
}

paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value)
{
    double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    if (value >= lower && value <= upper) return PARITAS_OK;
    return paritas_refuse(infer->context, "%s = %.10g lies outside its bounds [%.10g, %.10g]",
                          paritas_model_parameter_name(infer->model, parameter), value, lower, upper);
}

static void widen(struct infer *infer, size_t poi, double mu)
{
    const double lower = infer->base.lower[poi], widest = widest_of(infer, poi);
    double *upper = &infer->upper[poi];
    while (*upper < mu) *upper = lower + 2.0 * (*upper - lower);
    if (*upper > widest) *upper = widest;
}

void infer_widen(struct infer *infer, double mu)
{
    widen(infer, infer->pois[0], mu);
}

paritas_status infer_check_profiled(const struct infer *infer, size_t k, const size_t *parameters)
{
    paritas_context *context = infer->context;
    if (k < 1 || k > INFER_FIXED_MAX)
        return paritas_refuse(context, "a scan takes 1 to %d parameters, not %zu", INFER_FIXED_MAX, k);
    for (size_t j = 0; j < k; j++) {
        if (parameters[j] >= infer->n_parameters)
            return paritas_refuse(context, "the model has no parameter %zu", parameters[j]);
        if (infer->base.fixed[parameters[j]])
            return paritas_refuse(context, "'%s' is fixed and cannot be scanned",
                                  paritas_model_parameter_name(infer->model, parameters[j]));
        for (size_t i = 0; i < j; i++)
            if (parameters[i] == parameters[j])
                return paritas_refuse(context, "a scan takes different parameters, not '%s' twice",
                                      paritas_model_parameter_name(infer->model, parameters[j]));
    }
    return PARITAS_OK;
}

static bool is_poi(const struct infer *infer, size_t parameter)
{
    for (size_t k = 0; k < infer->n_pois; k++)
        if (infer->pois[k] == parameter) return true;
    return false;
}

paritas_status infer_make_room(struct infer *infer, size_t parameter, double value)
{
    if (!is_poi(infer, parameter) || !(value > infer->upper[parameter])) return PARITAS_OK;
    const double widest = widest_of(infer, parameter);
    if (value > widest)
        return paritas_refuse(infer->context,
                              "%s = %.10g lies outside its bounds [%.10g, %.10g], which are widened up to "
                              "%.10g at most",
                              paritas_model_parameter_name(infer->model, parameter), value,
                              infer->base.lower[parameter], infer->upper_given[parameter], widest);
    widen(infer, parameter, value);
    return PARITAS_OK;
}

void infer_note_widening(const struct infer *infer)
{
    for (size_t k = 0; k < infer->n_pois; k++) {
        const size_t poi = infer->pois[k];
        if (infer->upper[poi] > infer->upper_given[poi])
            paritas_note(infer->context, "the upper bound of %s was widened to %.6g",
                         paritas_model_parameter_name(infer->model, poi), infer->upper[poi]);
    }
}

void *infer_array(struct infer *infer, size_t n, size_t size)
{
    void *array = arena_array(&infer->arena, n, size);
    if (!array) infer->out_of_memory = true;
    return array;
}

double *infer_reals(struct infer *infer, size_t n, size_t p)
{
    return infer_array(infer, n, p * sizeof(double));
}

paritas_status infer_memory(const struct infer *infer)
{
    return infer->out_of_memory ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

double infer_bounded(const struct infer *infer, size_t parameter, double value)
{
    const double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    const double from_lower = value < lower ? lower : value;
    return from_lower > upper ? upper : from_lower;
}

paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data,
                              double *twice_nll, double *gradient, double *hessian)
{
    return fit_evaluate(
        infer->context, infer->context->host, infer->model, n, points, 1, data,
        &(paritas_evaluate_answers){.twice_nll = twice_nll, .gradient = gradient, .hessian = hessian});
}

paritas_status infer_expected(struct infer *infer, const double *point, double *expected)
{
    return family_expected_data(infer->context, infer->context->host, infer->model, 1, point,
                                infer->base.data, expected);
}

static paritas_status fit_profile(struct infer *infer, struct infer_profile *profile,
                                  const unsigned char *fixed)
{
    const size_t n = infer->n_parameters;
    profile->parameters = infer_reals(infer, n, 1);
    profile->errors = infer_reals(infer, n, 1);
    profile->covariance = infer_reals(infer, n, n);
    profile->states = infer_array(infer, n, sizeof *profile->states);
    profile->hessian = NULL;
    profile->metric = NULL;
    TRY(infer_memory(infer));
    paritas_job job = infer->base;
    job.data = profile->data;
    job.fixed = fixed;
    if (profile->start) job.start = profile->start;
    return fit_run(infer->context, infer->model, NULL, 1, &job,
                   &(paritas_fit_answers){.results = &profile->result,
                                          .parameters = profile->parameters,
                                          .errors = profile->errors,
                                          .covariance = profile->covariance,
                                          .states = profile->states});
}

paritas_status infer_free_fit(struct infer *infer, struct infer_profile *profile)
{
    return fit_profile(infer, profile, infer->base.fixed);
}

unsigned char *infer_fixed_flags(struct infer *infer, const struct infer_point *point)
{
    unsigned char *fixed = infer_array(infer, infer->n_parameters, 1);
    if (!fixed) return NULL;
    memcpy(fixed, infer->base.fixed, infer->n_parameters);
    for (size_t j = 0; point && j < point->k; j++) fixed[point->parameter[j]] = 1;
    return fixed;
}

struct infer_point infer_point_at(const struct infer *infer, struct infer_profile *profile, double mu)
{
    return (struct infer_point){.profile = profile, .k = 1, .parameter = {infer->poi}, .value = {mu}};
}

static bool same_parameters(const struct infer_point *a, const struct infer_point *b)
{
    return a->k == b->k && memcmp(a->parameter, b->parameter, a->k * sizeof a->parameter[0]) == 0;
}

static paritas_status fit_wave(struct infer *infer, size_t n, struct infer_point *const *points)
{
    size_t p = infer->n_parameters;
    paritas_job *jobs = infer_array(infer, n, sizeof *jobs);
    paritas_fit_result *results = infer_array(infer, n, sizeof *results);
    double *starts = infer_reals(infer, n, p), *fitted = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    TRY(infer_choose_starts(infer, n, (const struct infer_point *const *)points, starts));
    for (size_t i = 0; i < n; i++) {
        jobs[i] = infer->base;
        jobs[i].data = points[i]->profile->data;
        jobs[i].start = starts + i * p;
        if (i > 0 && same_parameters(points[i], points[i - 1])) {
            jobs[i].fixed = jobs[i - 1].fixed;
            continue;
        }
        jobs[i].fixed = infer_fixed_flags(infer, points[i]);
        TRY(infer_memory(infer));
    }
    paritas_fit_options near = PARITAS_FIT_OPTIONS_DEFAULT;
    near.start_is_near = 1;
    TRY(fit_run(infer->context, infer->model, &near, n, jobs,
                &(paritas_fit_answers){.results = results, .parameters = fitted}));
    for (size_t i = 0; i < n; i++) {
        points[i]->status = results[i].status;
        points[i]->iterations = results[i].iterations;
        points[i]->twice_nll = results[i].twice_nll;
        points[i]->parameters = fitted + i * p;
    }
    return PARITAS_OK;
}

paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points)
{
    struct infer_point **wave = infer_array(infer, n, sizeof *wave);
    TRY(infer_memory(infer));
    size_t fitted = 0;
    for (unsigned number = 0; fitted < n; number++) {
        size_t members = 0;
        for (size_t i = 0; i < n; i++)
            if (points[i].wave == number) wave[members++] = &points[i];
        fitted += members;
        TRY(held_points_fit(infer, &members, wave));
        if (members > 0) TRY(fit_wave(infer, members, wave));
    }
    return PARITAS_OK;
}

static const struct infer_point *below_free_fit(const struct infer *infer,
                                                const struct infer_profile *profile, size_t n,
                                                const struct infer_point *points)
{
    const struct infer_point *lowest = NULL;
    double level = profile->result.twice_nll - same_minimum(infer->context);
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile || !(points[i].twice_nll < level)) continue;
        level = points[i].twice_nll;
        lowest = &points[i];
    }
    return lowest;
}

/* Fits each point alone once more; the lower answer stays. */
static paritas_status fit_again(struct infer *infer, const struct infer_profile *profile, bool afresh,
                                size_t n, struct infer_point *points)
{
    struct infer_point *repeated = infer_array(infer, n, sizeof *repeated);
    size_t *origin = infer_array(infer, n, sizeof *origin), m = 0;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile) continue;
        origin[m] = i;
        repeated[m] = points[i];
        repeated[m].wave = 0; /* the neighbours may be in another minimum */
        repeated[m].afresh = afresh;
        memset(repeated[m++].neighbour, 0, sizeof points->neighbour);
    }
    TRY(infer_points_once(infer, m, repeated));
    for (size_t j = 0; j < m; j++) {
        struct infer_point *point = &points[origin[j]];
        bool better = repeated[j].status == PARITAS_FIT_CONVERGED &&
                      (point->status != PARITAS_FIT_CONVERGED || repeated[j].twice_nll < point->twice_nll);
        if (better) *point = repeated[j];
    }
    return PARITAS_OK;
}

/* Repeats the free fit from a lower point, then the conditional fits. */
static paritas_status repeat_from(struct infer *infer, const struct infer_point *lower, size_t n,
                                  struct infer_point *points)
{
    struct infer_profile *profile = lower->profile;
    struct infer_profile again = {.data = profile->data, .start = lower->parameters};
    TRY(infer_free_fit(infer, &again));
    if (!(again.result.twice_nll <= lower->twice_nll + same_minimum(infer->context))) {
        /* a lower point exists, but no fit found the minimum */
        profile->result.status =
            infer_worse(profile->result.status, infer_worse(again.result.status, PARITAS_FIT_NO_PROGRESS));
        return PARITAS_OK;
    }
    again.start = profile->start;
    *profile = again;
    return fit_again(infer, profile, false, n, points);
}

/* Is the parameter neither fixed nor at a bound? */
static bool is_free(const struct infer_profile *profile, size_t parameter)
{
    const paritas_parameter_state state = profile->states[parameter];
    return state == PARITAS_PARAMETER_FREE || state == PARITAS_PARAMETER_AT_KINK;
}

/* Do the data leave a direction open here? */
static bool is_open(const struct infer *infer, const struct infer_profile *profile)
{
    if (profile->result.status != PARITAS_FIT_CONVERGED) return true;
    for (size_t i = 0; i < infer->n_parameters; i++)
        if (is_free(profile, i) && isnan(profile->errors[i])) return true;
    return false;
}

/* Further starts for the points of each profile. */
static paritas_status look_lower(struct infer *infer, size_t n, struct infer_point *points)
{
    struct infer_point **own = infer_array(infer, n, sizeof *own);
    TRY(infer_memory(infer));
    for (size_t i = 0, m; i < n; i += m) {
        for (m = 0; i + m < n && points[i + m].profile == points[i].profile; m++) own[m] = &points[i + m];
        TRY(lowest_search(infer, points[i].profile, m, own));
    }
    return PARITAS_OK;
}

static int by_value(const void *a, const void *b)
{
    const struct infer_point *x = *(struct infer_point *const *)a, *y = *(struct infer_point *const *)b;
    return (x->value[0] > y->value[0]) - (x->value[0] < y->value[0]);
}

/* Points of each profile that hold the same parameter alone. */
static paritas_status compare_neighbours(struct infer *infer, size_t n, struct infer_point *points)
{
    struct infer_point **alike = infer_array(infer, n, sizeof *alike);
    bool *fresh = infer_array(infer, n, sizeof *fresh), lowered;
    TRY(infer_memory(infer));
    for (size_t i = 0, m; i < n; i += m) {
        for (m = 0; i + m < n && points[i + m].profile == points[i].profile && points[i + m].k == 1 &&
                    same_parameters(&points[i + m], &points[i]);
             m++) {
            alike[m] = &points[i + m];
            fresh[m] = true;
        }
        qsort(alike, m, sizeof *alike, by_value);
        if (m > 1) TRY(neighbours_compare(infer, m, alike, fresh, &lowered));
        if (m == 0) m = 1;
    }
    return PARITAS_OK;
}

void infer_note_minima(paritas_minima *minima, size_t met, double apart)
{
    minima->met = met > minima->met ? met : minima->met;
    minima->apart = fmax(minima->apart, apart);
}

paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points)
{
    TRY(infer_points_once(infer, n, points));
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || points[i].profile != points[i - 1].profile) && is_open(infer, points[i].profile))
            TRY(fit_again(infer, points[i].profile, true, n, points));
    TRY(look_lower(infer, n, points));
    if (infer->suspicious && infer->starts != 1) TRY(compare_neighbours(infer, n, points));
    /* two rounds: the first may find a lower point */
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            if (i > 0 && points[i].profile == points[i - 1].profile) continue;
            const struct infer_point *lower = below_free_fit(infer, points[i].profile, n, points);
            if (lower) TRY(repeat_from(infer, lower, n, points));
        }
    return fit_notes_points(infer, n, points);
}

/* EDM in units of twice the NLL: g . C . g / 2. `step` becomes the Newton step -C g / 2. */
static double newton_step(size_t n, const double *covariance, const double *gradient, double *step)
{
    double edm = 0.0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) sum += covariance[i * n + j] * gradient[j];
        step[i] = -0.5 * sum;
        edm -= gradient[i] * step[i];
    }
    return edm;
}

paritas_status infer_polish(struct infer *infer, struct infer_point *point)
{
    size_t n = infer->n_parameters;
    struct infer_profile *held = infer_array(infer, 1, sizeof *held);
    const unsigned char *fixed = infer_fixed_flags(infer, point);
    double *gradient = infer_reals(infer, n, 1), *step = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    held->data = point->profile->data;
    held->start = point->parameters;
    TRY(fit_profile(infer, held, fixed));
    TRY(infer_evaluate(infer, 1, held->parameters, held->data, NULL, gradient, NULL));
    if (held->result.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    double edm = newton_step(n, held->covariance, gradient, step);
    for (int round = 0; round < 3 && edm > 1e-24; round++) {
        double *moved = infer_reals(infer, n, 1);
        TRY(infer_memory(infer));
        for (size_t i = 0; i < n; i++) {
            moved[i] = held->parameters[i] + step[i]; /* the covariance of fixed parameters is 0 */
            if (moved[i] < infer->base.lower[i] || moved[i] > infer->base.upper[i])
                moved[i] = held->parameters[i];
        }
        TRY(infer_evaluate(infer, 1, moved, held->data, NULL, gradient, NULL));
        double now = newton_step(n, held->covariance, gradient, step);
        if (!(now < edm)) break;
        edm = now;
        held->parameters = moved;
    }
    point->parameters = held->parameters;
    return PARITAS_OK;
}

paritas_status infer_slopes(struct infer *infer, size_t n, struct infer_point *points)
{
    size_t p = infer->n_parameters;
    double *rows = infer_reals(infer, n, p), *gradients = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) memcpy(rows + i * p, points[i].parameters, p * sizeof *rows);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && points[end].profile == points[first].profile;) end++;
        TRY(infer_evaluate(infer, end - first, rows + first * p, points[first].profile->data, NULL,
                           gradients + first * p, NULL));
    }
    for (size_t i = 0; i < n; i++) points[i].slope = gradients[i * p + points[i].parameter[0]];
    return PARITAS_OK;
}

paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter,
                                double *slope)
{
    *slope = 0.0;
    if (is_free(profile, parameter)) return PARITAS_OK;
    double *gradient = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, profile->parameters, profile->data, NULL, gradient, NULL));
    *slope = gradient[parameter];
    return PARITAS_OK;
}

paritas_status infer_constraint_centres(struct infer *infer, double *centres)
{
    size_t n = infer->n_parameters, main_count = paritas_model_main_count(infer->model);
    const double *widths = infer->widths, *at = paritas_model_suggested_init(infer->model);
    for (size_t i = 0; i < n; i++) centres[i] = (double)NAN;
    if (main_count == infer->n_data) return PARITAS_OK;
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    if (!paritas_model_frozen(infer->model)->no_expectation)
        TRY(infer_expected(infer, at, expected));
    else /* auxiliary data measure the parameters */
        for (size_t i = 0, k = main_count; i < n; i++)
            if (!isnan(widths[i])) expected[k++] = at[i];
    /* auxiliary data are in parameter order; a datum expects the parameter or tau times it */
    size_t aux = main_count;
    for (size_t i = 0; i < n; i++) {
        if (isnan(widths[i]) || aux == infer->n_data) continue;
        double datum = infer->base.data[aux];
        centres[i] = expected[aux] == at[i] ? datum : datum * (at[i] / expected[aux]);
        aux++;
    }
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    if (frozen->family->constraint_centres)
        frozen->family->constraint_centres(frozen, infer->base.data, centres);
    return PARITAS_OK;
}

paritas_status paritas_constraint_centres(paritas_context *context, const paritas_model *model,
                                          const double *data, double *centres)
{
    REQUIRE(context, model, centres);
    struct infer infer;
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.data = data;
    paritas_status status = infer_open(&infer, context, model, &job, false);
    if (status == PARITAS_OK) status = infer_constraint_centres(&infer, centres);
    infer_close(&infer);
    return status;
}
