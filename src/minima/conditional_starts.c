/* conditional_starts.c: where conditional fits start. */
#include "minima/conditional_starts.h"

#include <math.h>
#include <string.h>

static paritas_status profile_hessian(struct infer *infer, struct infer_profile *profile)
{
    if (profile->hessian != NULL) return PARITAS_OK;
    size_t n = infer->n_parameters;
    double *hessian = infer_reals(infer, n, n);
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, profile->parameters, profile->data, NULL, NULL, hessian));
    profile->hessian = hessian;
    return PARITAS_OK;
}

/* Change of all parameters for a unit of parameter k: C[.,k] / C[k,k], or on a bound -C H[.,k] / 2 (H:
 * Hessian of twice the NLL). *variance: C[k,k], or its value without the bound. */
static paritas_status profile_response(struct infer *infer, struct infer_profile *profile, size_t k,
                                       double *response, double *variance)
{
    size_t n = infer->n_parameters;
    const double *c = profile->covariance;
    *variance = c[k * n + k];
    if (*variance > 0.0) {
        for (size_t i = 0; i < n; i++) response[i] = c[k * n + i] / *variance;
        response[k] = 1.0;
        return PARITAS_OK;
    }
    TRY(profile_hessian(infer, profile));
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

paritas_status infer_variance(struct infer *infer, struct infer_profile *profile, size_t parameter,
                              double *variance)
{
    double *response = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    return profile_response(infer, profile, parameter, response, variance);
}

/* Outside the domain it may give no start. */
static void put_free_fit(const struct infer *infer, const struct infer_profile *profile, double *start)
{
    for (size_t i = 0; i < infer->n_parameters; i++)
        start[i] = isfinite(profile->parameters[i]) ? profile->parameters[i] : infer->base.start[i];
}

/* Predicts a start within the bounds. Each of three or more values moves the start as if it were alone: it
 * need not be better. */
paritas_status infer_predict_start(struct infer *infer, const struct infer_point *point, double *start,
                                   double *response)
{
    struct infer_profile *profile = point->profile;
    size_t n = infer->n_parameters;
    double variance, step[INFER_FIXED_MAX] = {0.0};
    put_free_fit(infer, profile, start);
    for (size_t j = 0; j < point->k; j++)
        step[j] = point->value[j] - profile->parameters[point->parameter[j]];
    if (point->k == 2) {
        /* both at once: solve the covariance's 2 x 2 block */
        const double *c = profile->covariance;
        size_t a = point->parameter[0], b = point->parameter[1];
        double caa = c[a * n + a], cbb = c[b * n + b], cab = c[a * n + b],
               determinant = caa * cbb - cab * cab;
        if (determinant > 1e-12 * caa * cbb) {
            double u = (cbb * step[0] - cab * step[1]) / determinant,
                   v = (caa * step[1] - cab * step[0]) / determinant;
            step[0] = u * caa;
            step[1] = v * cbb;
        }
    }
    for (size_t j = 0; j < point->k; j++) {
        TRY(profile_response(infer, profile, point->parameter[j], response, &variance));
        for (size_t i = 0; i < n; i++) start[i] += response[i] * step[j];
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(start[i])) start[i] = infer->base.start[i];
        start[i] = infer_bounded(infer, i, start[i]);
        if (infer->base.fixed[i]) start[i] = profile->parameters[i];
    }
    for (size_t j = 0; j < point->k; j++) start[point->parameter[j]] = point->value[j];
    return PARITAS_OK;
}

void infer_weigh(double value, size_t n, const double *places, double *weights)
{
    for (size_t j = 0; j < n; j++) {
        weights[j] = 1.0;
        for (size_t m = 0; m < n; m++)
            if (m != j) weights[j] *= (value - places[m]) / (places[j] - places[m]);
    }
}

void infer_mix_points(const struct infer *infer, size_t n, const double *const *points, const double *weights,
                      double *start)
{
    for (size_t i = 0; i < infer->n_parameters; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) sum += weights[j] * points[j][i];
        start[i] =
            infer->base.fixed[i] ? points[0][i] : fmin(fmax(sum, infer->base.lower[i]), infer->base.upper[i]);
    }
}

void infer_interpolate_start(const struct infer *infer, const struct infer_point *point, double *start)
{
    const double *node[INFER_NEIGHBOURS + 1], t = point->value[0];
    double place[INFER_NEIGHBOURS + 1], weight[INFER_NEIGHBOURS + 1];
    size_t n = 0, k = point->parameter[0];
    for (size_t j = 0; j <= INFER_NEIGHBOURS && n < INFER_NEIGHBOURS; j++) { /* the free fit last */
        const struct infer_point *neighbour = j < INFER_NEIGHBOURS ? point->neighbour[j] : NULL;
        if (j < INFER_NEIGHBOURS && (neighbour == NULL || neighbour->status != PARITAS_FIT_CONVERGED))
            continue;
        node[n] = neighbour != NULL ? neighbour->parameters : point->profile->parameters;
        place[n] = node[n][k];
        bool usable = isfinite(place[n]);
        for (size_t m = 0; m < n; m++) usable = usable && place[m] != place[n];
        if (usable) n++;
    }
    if (point->k != 1 || n < 3) return;
    infer_weigh(t, n, place, weight);
    infer_mix_points(infer, n, node, weight, start);
    start[k] = t;
}

enum { PLAIN, PREDICTED, SUGGESTED, CANDIDATES };

size_t infer_starts_room(const struct infer *infer, size_t n)
{
    return CANDIDATES * n * (infer->n_parameters + 1) + infer->n_parameters;
}

/* The lowest of: free fit or neighbours' prediction, first-order response, job's start. A prediction saves
 * an iteration or more, but may leave the domain. */
paritas_status infer_choose_starts(struct infer *infer, size_t n, const struct infer_point *const *points,
                                   double *room, double *starts)
{
    size_t p = infer->n_parameters;
    double *rows = room, *values = rows + CANDIDATES * n * p, *response = values + CANDIDATES * n;
    for (size_t i = 0; i < n; i++) {
        double *plain = rows + CANDIDATES * i * p, *predicted = plain + PREDICTED * p,
               *suggested = plain + SUGGESTED * p;
        put_free_fit(infer, points[i]->profile, plain);
        memcpy(suggested, infer->base.start, p * sizeof *plain);
        for (size_t j = 0; j < points[i]->k; j++)
            plain[points[i]->parameter[j]] = suggested[points[i]->parameter[j]] = points[i]->value[j];
        TRY(infer_predict_start(infer, points[i], predicted, response));
        infer_interpolate_start(infer, points[i], plain);
    }
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && points[end]->profile == points[first]->profile;) end++;
        TRY(infer_evaluate(infer, CANDIDATES * (end - first), rows + CANDIDATES * first * p,
                           points[first]->profile->data, values + CANDIDATES * first, NULL, NULL));
    }
    for (size_t i = 0; i < n; i++) {
        const double *value = values + CANDIDATES * i;
        size_t best = points[i]->afresh ? SUGGESTED : points[i]->onward ? PLAIN : PREDICTED;
        for (size_t k = 0; k < CANDIDATES && !points[i]->afresh && !points[i]->onward; k++)
            if (value[k] < value[best] || (isnan(value[best]) && !isnan(value[k]))) best = k;
        memcpy(starts + i * p, rows + (CANDIDATES * i + best) * p, p * sizeof *starts);
    }
    return PARITAS_OK;
}
