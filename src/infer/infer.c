/* infer.c: free fits and conditional fits as job lists. The contract is in infer.h. */
#include "infer/infer.h"

#include <math.h>
#include <string.h>

paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model, const paritas_job *job, bool needs_poi)
{
    static const paritas_job none = {0};
    if (job == NULL) job = &none;
    memset(infer, 0, sizeof *infer);
    infer->context = context;
    infer->model = model;
    arena_open(&infer->arena, &context->allocator);
    infer->n_parameters = paritas_model_parameter_count(model);
    infer->n_data = paritas_model_main_count(model) + paritas_model_aux_count(model);
    infer->base.data = job->data != NULL ? job->data : paritas_model_data(model);
    infer->base.start = job->start != NULL ? job->start : paritas_model_suggested_init(model);
    infer->base.lower = job->lower != NULL ? job->lower : paritas_model_lower_bounds(model);
    infer->base.fixed = job->fixed != NULL ? job->fixed : paritas_model_suggested_fixed(model);
    const double *upper = job->upper != NULL ? job->upper : paritas_model_upper_bounds(model);
    infer->upper = arena_array(&infer->arena, infer->n_parameters + 1, sizeof *infer->upper);
    if (infer->upper == NULL) return paritas_fail_memory(context);
    memcpy(infer->upper, upper, infer->n_parameters * sizeof *upper);
    infer->base.upper = infer->upper;
    if (!needs_poi) return PARITAS_OK;
    ptrdiff_t poi = paritas_model_poi_index(model);
    if (poi < 0) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "the model has no parameter of interest");
    infer->poi = (size_t)poi;
    if (infer->base.fixed[poi])
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "the parameter of interest '%s' is fixed",
                            paritas_model_parameter_name(model, infer->poi));
    return PARITAS_OK;
}

void infer_close(struct infer *infer)
{
    arena_free(&infer->arena);
}

paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b)
{
    return a > b ? a : b;
}

paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value)
{
    double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    if (value >= lower && value <= upper) return PARITAS_OK;
    return paritas_fail(infer->context, PARITAS_INVALID_ARGUMENT, "%s = %.10g lies outside its bounds [%.10g, %.10g]",
                        paritas_model_parameter_name(infer->model, parameter), value, lower, upper);
}

paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data, double *twice_nll, double *gradient,
                              double *hessian)
{
    paritas_context *context = infer->context;
    struct paritas_device *device = context->device;
    context->device = context->host;
    paritas_status status = paritas_evaluate(context, infer->model, n, points, 1, data, twice_nll, gradient, hessian);
    context->device = device;
    return status;
}

paritas_status infer_expected(struct infer *infer, const double *point, double *expected)
{
    paritas_context *context = infer->context;
    struct paritas_device *device = context->device;
    context->device = context->host;
    paritas_status status = paritas_expected_data(context, infer->model, 1, point, expected);
    context->device = device;
    return status;
}

static bool profile_allocate(struct infer *infer, struct infer_profile *profile)
{
    size_t n = infer->n_parameters;
    profile->parameters = arena_array(&infer->arena, n + 1, sizeof(double));
    profile->errors = arena_array(&infer->arena, n + 1, sizeof(double));
    profile->covariance = arena_array(&infer->arena, n * n + 1, sizeof(double));
    profile->states = arena_array(&infer->arena, n + 1, sizeof *profile->states);
    profile->hessian = NULL;
    return profile->parameters != NULL && profile->errors != NULL && profile->covariance != NULL && profile->states != NULL;
}

paritas_status infer_free_fits(struct infer *infer, size_t n, struct infer_profile *const *profiles)
{
    /* One at a time: each wants its own covariance, and there are never more than two. */
    for (size_t i = 0; i < n; i++) {
        struct infer_profile *profile = profiles[i];
        if (!profile_allocate(infer, profile)) return paritas_fail_memory(infer->context);
        paritas_job job = infer->base;
        job.data = profile->data;
        if (profile->start != NULL) job.start = profile->start;
        paritas_status status = paritas_fit(infer->context, infer->model, NULL, 1, &job, &profile->result, profile->parameters,
                                            profile->errors, profile->covariance, profile->states);
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

/* ---- the first-order response of a profile to moved parameters ---- */

static paritas_status profile_hessian(struct infer *infer, struct infer_profile *profile)
{
    if (profile->hessian != NULL) return PARITAS_OK;
    size_t n = infer->n_parameters;
    double *hessian = arena_array(&infer->arena, n * n, sizeof *hessian);
    if (hessian == NULL) return paritas_fail_memory(infer->context);
    paritas_status status = infer_evaluate(infer, 1, profile->parameters, profile->data, NULL, NULL, hessian);
    if (status == PARITAS_OK) profile->hessian = hessian;
    return status;
}

/* Change of all parameters for a unit change of parameter k, the others at their conditional minimum. The covariance C
 * of the free parameters gives it where k is free, C[.,k] / C[k,k]; where k is on its bound it is -C H[.,k] / 2, H
 * being the Hessian of twice the NLL. *variance receives C[k,k], or what it would be without the bound. */
static paritas_status profile_response(struct infer *infer, struct infer_profile *profile, size_t k, double *response, double *variance)
{
    size_t n = infer->n_parameters;
    const double *c = profile->covariance;
    *variance = c[k * n + k];
    if (*variance > 0.0) {
        for (size_t i = 0; i < n; i++) response[i] = c[k * n + i] / *variance;
        response[k] = 1.0;
        return PARITAS_OK;
    }
    paritas_status status = profile_hessian(infer, profile);
    if (status != PARITAS_OK) return status;
    const double *h = profile->hessian;
    double curvature = h[k * n + k];
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) sum += c[i * n + j] * h[j * n + k];
        response[i] = -0.5 * sum;
        curvature += response[i] * h[i * n + k];
    }
    response[k] = 1.0;
    *variance = curvature > 0.0 ? 2.0 / curvature : (double)NAN;
    return PARITAS_OK;
}

paritas_status infer_variance(struct infer *infer, struct infer_profile *profile, size_t parameter, double *variance)
{
    double *response = arena_array(&infer->arena, infer->n_parameters, sizeof *response);
    if (response == NULL) return paritas_fail_memory(infer->context);
    return profile_response(infer, profile, parameter, response, variance);
}

/* Moves `start`, which holds the free fit, along the response to the fixed values, within the bounds. */
static paritas_status predict_start(struct infer *infer, const struct infer_point *point, double *start, double *response)
{
    struct infer_profile *profile = point->profile;
    size_t n = infer->n_parameters;
    double variance, step[INFER_FIXED_MAX] = {0.0, 0.0};
    for (size_t j = 0; j < point->k; j++) step[j] = point->value[j] - profile->parameters[point->parameter[j]];
    if (point->k == 2) {
        /* both at once: solve the 2 x 2 block of the covariance for the steps that together reach both values */
        const double *c = profile->covariance;
        size_t a = point->parameter[0], b = point->parameter[1];
        double caa = c[a * n + a], cbb = c[b * n + b], cab = c[a * n + b], determinant = caa * cbb - cab * cab;
        if (determinant > 1e-12 * caa * cbb) {
            double u = (cbb * step[0] - cab * step[1]) / determinant, v = (caa * step[1] - cab * step[0]) / determinant;
            step[0] = u * caa;
            step[1] = v * cbb;
        }
    }
    for (size_t j = 0; j < point->k; j++) {
        paritas_status status = profile_response(infer, profile, point->parameter[j], response, &variance);
        if (status != PARITAS_OK) return status;
        for (size_t i = 0; i < n; i++) start[i] += response[i] * step[j];
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(start[i])) start[i] = infer->base.start[i];
        if (start[i] < infer->base.lower[i]) start[i] = infer->base.lower[i];
        if (start[i] > infer->base.upper[i]) start[i] = infer->base.upper[i];
        if (infer->base.fixed[i]) start[i] = profile->parameters[i];
    }
    for (size_t j = 0; j < point->k; j++) start[point->parameter[j]] = point->value[j];
    return PARITAS_OK;
}

enum { PLAIN, PREDICTED, SUGGESTED, CANDIDATES };

/* Start rows of n points, the lowest of: the free fit with the values set, the predicted point, the job's own start with the values set.
 * The prediction saves an iteration or more close to the free fit; far from it, any of the three can leave the domain. */
static paritas_status choose_starts(struct infer *infer, size_t n, const struct infer_point *points, double *starts)
{
    size_t p = infer->n_parameters;
    double *rows = arena_array(&infer->arena, CANDIDATES * n, p * sizeof *rows);
    double *values = arena_array(&infer->arena, CANDIDATES * n, sizeof *values);
    double *response = arena_array(&infer->arena, p, sizeof *response);
    if (rows == NULL || values == NULL || response == NULL) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < n; i++) {
        double *plain = rows + CANDIDATES * i * p, *predicted = plain + PREDICTED * p, *suggested = plain + SUGGESTED * p;
        memcpy(plain, points[i].profile->parameters, p * sizeof *plain);
        for (size_t j = 0; j < p; j++) /* a free fit that left the domain may have no point to start from */
            if (!isfinite(plain[j])) plain[j] = infer->base.start[j];
        memcpy(predicted, plain, p * sizeof *plain);
        memcpy(suggested, infer->base.start, p * sizeof *plain);
        for (size_t j = 0; j < points[i].k; j++) plain[points[i].parameter[j]] = suggested[points[i].parameter[j]] = points[i].value[j];
        paritas_status status = predict_start(infer, &points[i], predicted, response);
        if (status != PARITAS_OK) return status;
    }
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && points[end].profile == points[first].profile;) end++;
        paritas_status status = infer_evaluate(infer, CANDIDATES * (end - first), rows + CANDIDATES * first * p,
                                               points[first].profile->data, values + CANDIDATES * first, NULL, NULL);
        if (status != PARITAS_OK) return status;
    }
    for (size_t i = 0; i < n; i++) {
        const double *value = values + CANDIDATES * i;
        size_t best = PREDICTED;
        for (size_t k = 0; k < CANDIDATES; k++)
            if (value[k] < value[best] || (isnan(value[best]) && !isnan(value[k]))) best = k;
        memcpy(starts + i * p, rows + (CANDIDATES * i + best) * p, p * sizeof *starts);
    }
    return PARITAS_OK;
}

static bool same_parameters(const struct infer_point *a, const struct infer_point *b)
{
    return a->k == b->k && memcmp(a->parameter, b->parameter, a->k * sizeof a->parameter[0]) == 0;
}

paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points)
{
    size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    paritas_job *jobs = arena_array(&infer->arena, n, sizeof *jobs);
    paritas_result *results = arena_array(&infer->arena, n, sizeof *results);
    double *starts = arena_array(&infer->arena, n, p * sizeof *starts);
    double *fitted = arena_array(&infer->arena, n, p * sizeof *fitted);
    if (jobs == NULL || results == NULL || starts == NULL || fitted == NULL) return paritas_fail_memory(infer->context);
    paritas_status status = choose_starts(infer, n, points, starts);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < n; i++) {
        jobs[i] = infer->base;
        jobs[i].data = points[i].profile->data;
        jobs[i].start = starts + i * p;
        if (i > 0 && same_parameters(&points[i], &points[i - 1])) {
            jobs[i].fixed = jobs[i - 1].fixed;
            continue;
        }
        unsigned char *fixed = arena_array(&infer->arena, p, 1);
        if (fixed == NULL) return paritas_fail_memory(infer->context);
        memcpy(fixed, infer->base.fixed, p);
        for (size_t j = 0; j < points[i].k; j++) fixed[points[i].parameter[j]] = 1;
        jobs[i].fixed = fixed;
    }
    paritas_fit_options near = PARITAS_FIT_OPTIONS_DEFAULT;
    near.start_is_near = 1;
    status = paritas_fit(infer->context, infer->model, &near, n, jobs, results, fitted, NULL, NULL, NULL);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < n; i++) {
        points[i].status = results[i].status;
        points[i].twice_nll = results[i].twice_nll;
        points[i].parameters = fitted + i * p;
    }
    return PARITAS_OK;
}

/* The lowest point of `profile` that lies below its free fit; NULL: none. */
static const struct infer_point *below_free_fit(const struct infer_profile *profile, size_t n, const struct infer_point *points)
{
    const struct infer_point *lowest = NULL;
    double level = profile->result.twice_nll - INFER_SAME_MINIMUM;
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile || !(points[i].twice_nll < level)) continue;
        level = points[i].twice_nll;
        lowest = &points[i];
    }
    return lowest;
}

/* Repeats the free fit from a lower point and the profile's conditional fits from the result; of the two answers at a
 * point the lower stays. */
static paritas_status repeat_from(struct infer *infer, const struct infer_point *lower, size_t n, struct infer_point *points)
{
    struct infer_profile *profile = lower->profile;
    struct infer_profile again = {.data = profile->data, .start = lower->parameters};
    struct infer_profile *const list[1] = {&again};
    paritas_status status = infer_free_fits(infer, 1, list);
    if (status != PARITAS_OK) return status;
    if (!(again.result.twice_nll <= lower->twice_nll + INFER_SAME_MINIMUM)) {
        /* a lower point is known, and no fit from it says where the minimum is */
        profile->result.status = infer_worse(profile->result.status, infer_worse(again.result.status, PARITAS_FIT_NO_PROGRESS));
        return PARITAS_OK;
    }
    again.start = profile->start;
    *profile = again;
    struct infer_point *repeated = arena_array(&infer->arena, n, sizeof *repeated);
    size_t *origin = arena_array(&infer->arena, n, sizeof *origin), m = 0;
    if (repeated == NULL || origin == NULL) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile) continue;
        origin[m] = i;
        repeated[m++] = points[i];
    }
    status = infer_points_once(infer, m, repeated);
    if (status != PARITAS_OK) return status;
    for (size_t j = 0; j < m; j++) {
        struct infer_point *point = &points[origin[j]];
        bool better = repeated[j].status == PARITAS_FIT_CONVERGED &&
                      (point->status != PARITAS_FIT_CONVERGED || repeated[j].twice_nll < point->twice_nll);
        if (better) *point = repeated[j];
    }
    return PARITAS_OK;
}

paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points)
{
    paritas_status status = infer_points_once(infer, n, points);
    /* two rounds: the first replaces the free fit, the second is for a point that the new start took lower still */
    for (int round = 0; round < 2 && status == PARITAS_OK; round++)
        for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
            if (i > 0 && points[i].profile == points[i - 1].profile) continue;
            const struct infer_point *lower = below_free_fit(points[i].profile, n, points);
            if (lower != NULL) status = repeat_from(infer, lower, n, points);
        }
    return status;
}

/* g . C . g / 2 over the free parameters, the EDM in units of twice the NLL; `step` receives the Newton step -C g / 2. */
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
    struct infer_profile *held = arena_array(&infer->arena, 1, sizeof *held);
    unsigned char *fixed = arena_array(&infer->arena, n, 1);
    double *gradient = arena_array(&infer->arena, n, sizeof *gradient), *step = arena_array(&infer->arena, n, sizeof *step);
    if (held == NULL || fixed == NULL || gradient == NULL || step == NULL) return paritas_fail_memory(infer->context);
    memcpy(fixed, infer->base.fixed, n);
    for (size_t j = 0; j < point->k; j++) fixed[point->parameter[j]] = 1;
    const unsigned char *given = infer->base.fixed;
    held->data = point->profile->data;
    held->start = point->parameters;
    infer->base.fixed = fixed;
    paritas_status status = infer_free_fits(infer, 1, &held);
    infer->base.fixed = given;
    if (status == PARITAS_OK) status = infer_evaluate(infer, 1, held->parameters, held->data, NULL, gradient, NULL);
    if (status != PARITAS_OK || held->result.status != PARITAS_FIT_CONVERGED) return status;
    double edm = newton_step(n, held->covariance, gradient, step);
    for (int round = 0; round < 3 && edm > 1e-24; round++) {
        double *moved = arena_array(&infer->arena, n, sizeof *moved);
        if (moved == NULL) return paritas_fail_memory(infer->context);
        for (size_t i = 0; i < n; i++) {
            moved[i] = held->parameters[i] + step[i]; /* the covariance is 0 where a parameter is not free */
            if (moved[i] < infer->base.lower[i] || moved[i] > infer->base.upper[i]) moved[i] = held->parameters[i];
        }
        status = infer_evaluate(infer, 1, moved, held->data, NULL, gradient, NULL);
        if (status != PARITAS_OK) return status;
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
    double *rows = arena_array(&infer->arena, n, p * sizeof *rows);
    double *gradients = arena_array(&infer->arena, n, p * sizeof *gradients);
    if (rows == NULL || gradients == NULL) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < n; i++) memcpy(rows + i * p, points[i].parameters, p * sizeof *rows);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && points[end].profile == points[first].profile;) end++;
        paritas_status status =
            infer_evaluate(infer, end - first, rows + first * p, points[first].profile->data, NULL, gradients + first * p, NULL);
        if (status != PARITAS_OK) return status;
    }
    for (size_t i = 0; i < n; i++) points[i].slope = gradients[i * p + points[i].parameter[0]];
    return PARITAS_OK;
}

paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter, double *slope)
{
    *slope = 0.0;
    if (profile->states[parameter] == PARITAS_FREE) return PARITAS_OK;
    double *gradient = arena_array(&infer->arena, infer->n_parameters, sizeof *gradient);
    if (gradient == NULL) return paritas_fail_memory(infer->context);
    paritas_status status = infer_evaluate(infer, 1, profile->parameters, profile->data, NULL, gradient, NULL);
    if (status == PARITAS_OK) *slope = gradient[parameter];
    return status;
}

paritas_status infer_constraint_centres(struct infer *infer, double *centres)
{
    size_t n = infer->n_parameters, main_count = paritas_model_main_count(infer->model);
    const double *widths = paritas_model_constraint_widths(infer->model), *at = paritas_model_suggested_init(infer->model);
    double *expected = arena_array(&infer->arena, infer->n_data, sizeof *expected);
    if (expected == NULL) return paritas_fail_memory(infer->context);
    paritas_status status = infer_expected(infer, at, expected);
    if (status != PARITAS_OK) return status;
    /* auxiliary data stand in parameter order; a datum is expected at the parameter itself or at tau times it */
    size_t aux = main_count;
    for (size_t i = 0; i < n; i++) {
        centres[i] = (double)NAN;
        if (isnan(widths[i]) || aux == infer->n_data) continue;
        double datum = infer->base.data[aux];
        centres[i] = expected[aux] == at[i] ? datum : datum * (at[i] / expected[aux]);
        aux++;
    }
    return PARITAS_OK;
}
