/* asymptotic.c: test statistics and p-values in the asymptotic approximation; semantics as pyhf's
 * AsymptoticCalculator with base distribution "normal". */
#include "infer/asymptotic.h"
#include "infer/probability.h"

#include <math.h>
#include <string.h>

double asymptotic_q(paritas_test_statistic statistic, double mu, double mu_hat, double fixed, double free)
{
    bool other_side = statistic == PARITAS_STATISTIC_Q0 ? mu_hat < 0.0 : mu_hat > mu;
    double q = fixed - free;
    return other_side || q < 0.0 ? 0.0 : q; /* NaN stays NaN */
}

/* The observed statistic in units in which it is normal with mean 0 under the background (eq. 59 and 67). */
static double shifted(paritas_test_statistic statistic, double q, double q_asimov)
{
    double root = sqrt(q), root_asimov = sqrt(q_asimov);
    if (statistic == PARITAS_STATISTIC_QTILDE && root > root_asimov)
        return (q - q_asimov) / (2.0 * root_asimov);
    return root - root_asimov;
}

double asymptotic_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    double t = curve == ASYMPTOTIC_OBSERVED ? shifted(statistic, q, q_asimov) : 2.0 - curve;
    double clsb = normal_cdf(-(t + sqrt(q_asimov)));
    return statistic == PARITAS_STATISTIC_Q0 ? clsb : clsb / normal_cdf(-t);
}

double asymptotic_log_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    double t = curve == ASYMPTOTIC_OBSERVED ? shifted(statistic, q, q_asimov) : 2.0 - curve;
    double log_clsb = normal_log_cdf(-(t + sqrt(q_asimov)));
    return statistic == PARITAS_STATISTIC_Q0 ? log_clsb : log_clsb - normal_log_cdf(-t);
}

/* Expected data of the conditional fit at mu', auxiliary data included. */
static paritas_status make_asimov_data(struct asymptotic *a, const double *parameters)
{
    double *expected = arena_array(&a->infer->arena, a->infer->n_data, sizeof *expected);
    if (expected == NULL) return paritas_fail_memory(a->infer->context);
    paritas_status status = infer_expected(a->infer, parameters, expected);
    for (size_t i = 0; i < a->infer->n_data; i++) a->no_asimov = a->no_asimov || !isfinite(expected[i]);
    a->asimov.data = a->no_asimov ? a->data.data : expected;
    a->asimov.start = a->no_asimov ? NULL : parameters;
    return status;
}

paritas_status asymptotic_open(struct asymptotic *a, struct infer *infer, paritas_test_statistic statistic)
{
    memset(a, 0, sizeof *a);
    a->infer = infer;
    a->statistic = statistic;
    double asimov_mu = statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0;
    paritas_status status = infer_check_value(infer, infer->poi, asimov_mu);
    if (status != PARITAS_OK) return status;
    a->data.data = infer->base.data;
    struct infer_profile *const data = &a->data, *const asimov = &a->asimov;
    status = infer_free_fits(infer, 1, &data);
    if (status != PARITAS_OK) return status;
    struct infer_point *point = arena_array(&infer->arena, 1, sizeof *point);
    if (point == NULL) return paritas_fail_memory(infer->context);
    *point =
        (struct infer_point){.profile = &a->data, .k = 1, .parameter = {infer->poi}, .value = {asimov_mu}};
    status = infer_points(infer, 1, point);
    if (status == PARITAS_OK) status = infer_polish(infer, point);
    if (status != PARITAS_OK) return status;
    a->status = point->status;
    status = make_asimov_data(a, point->parameters);
    if (status != PARITAS_OK) return status;
    return infer_free_fits(infer, 1, &asimov);
}

paritas_status asymptotic_test(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes)
{
    struct infer *infer = a->infer;
    struct infer_point *fits = arena_array(&infer->arena, 2 * n, sizeof *fits);
    if (fits == NULL) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < n; i++) {
        fits[i] = (struct infer_point){
            .profile = &a->data, .k = 1, .parameter = {infer->poi}, .value = {points[i].mu}};
        fits[n + i] = fits[i];
        fits[n + i].profile = &a->asimov;
    }
    paritas_status status = infer_points(infer, 2 * n, fits);
    if (status == PARITAS_OK && slopes) status = infer_slopes(infer, 2 * n, fits);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < n; i++) {
        points[i].data = fits[i];
        points[i].asimov = fits[n + i];
    }
    return PARITAS_OK;
}

void asymptotic_result(const struct asymptotic *a, const struct asymptotic_point *point,
                       paritas_hypotest_result *result)
{
    size_t poi = a->infer->poi;
    double mu_hat = a->data.parameters[poi];
    double q = asymptotic_q(a->statistic, point->mu, mu_hat, point->data.twice_nll, a->data.result.twice_nll);
    double q_asimov = asymptotic_q(a->statistic, point->mu, a->asimov.parameters[poi],
                                   point->asimov.twice_nll, a->asimov.result.twice_nll);
    if (a->no_asimov) q_asimov = (double)NAN;
    double t = shifted(a->statistic, q, q_asimov);
    *result = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    result->mu = point->mu;
    result->q = q;
    result->q_asimov = q_asimov;
    result->mu_hat = mu_hat;
    result->clsb = normal_cdf(-(t + sqrt(q_asimov)));
    result->clb = normal_cdf(-t);
    result->p0 = a->statistic == PARITAS_STATISTIC_Q0 ? result->clsb : (double)NAN;
    result->cls_obs = asymptotic_cls(a->statistic, ASYMPTOTIC_OBSERVED, q, q_asimov);
    for (int i = 0; i < 5; i++) result->cls_exp[i] = asymptotic_cls(a->statistic, i, q, q_asimov);
    result->twice_nll_free = a->data.result.twice_nll;
    result->twice_nll_fixed = point->data.twice_nll;
    result->status = infer_worse(infer_worse(a->data.result.status, a->asimov.result.status), a->status);
    result->status = infer_worse(result->status, infer_worse(point->data.status, point->asimov.status));
}
