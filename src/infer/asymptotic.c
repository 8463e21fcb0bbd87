/* asymptotic.c: tests by formulas, as pyhf's AsymptoticCalculator (base distribution "normal"). */
#include "infer/asymptotic.h"
#include "base/host_math.h"
#include "fit/fit_rows.h"
#include "infer/probability.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct statistic_shift asymptotic_shift(paritas_test_statistic statistic, int curve, double q,
                                        double q_asimov)
{
    if (curve != ASYMPTOTIC_OBSERVED) return (struct statistic_shift){.t = 2.0 - curve};
    /* without any effect q is the fits' noise */
    return statistic_formula(statistic)->shift(q_asimov == 0.0 && q < SAME_MINIMUM ? 0.0 : q, q_asimov);
}

double asymptotic_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const double t = asymptotic_shift(statistic, curve, q, q_asimov).t, clb = normal_cdf(-t);
    if (clb < DBL_MIN && !statistic_formula(statistic)->discovery) /* a quotient of numbers that underflow */
        return host_exp(asymptotic_log_cls(statistic, curve, q, q_asimov));
    return statistic_answer(statistic, normal_cdf(-(t + sqrt(q_asimov))), clb);
}

double asymptotic_log_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const double t = asymptotic_shift(statistic, curve, q, q_asimov).t,
                 log_clsb = normal_log_cdf(-(t + sqrt(q_asimov)));
    return statistic_formula(statistic)->discovery ? log_clsb : log_clsb - normal_log_cdf(-t);
}

static paritas_status make_asimov_data(struct asymptotic *a, const double *parameters)
{
    double *expected = infer_reals(a->infer, a->infer->n_data, 1);
    TRY(infer_memory(a->infer));
    TRY(infer_expected(a->infer, parameters, expected));
    for (size_t i = 0; i < a->infer->n_data; i++)
        a->no_asimov = a->no_asimov || !rows_is_datum(paritas_model_frozen(a->infer->model), i, expected[i]);
    a->asimov.data = a->no_asimov ? a->data.data : expected;
    a->asimov.start = a->no_asimov ? NULL : parameters;
    return PARITAS_OK;
}

/* The fit that defines the Asimov data, and all that follows from it. Data that were made before stay unless it
 * is lower now. */
static paritas_status fit_background(struct asymptotic *a, bool *made)
{
    struct infer *infer = a->infer;
    struct infer_point point = infer_point_at(infer, &a->data, statistic_other(a->statistic));
    TRY(infer_points(infer, 1, &point));
    *made = !a->asimov.data || (point.status == PARITAS_FIT_CONVERGED &&
                                point.twice_nll < a->twice_nll - same_minimum(infer->context));
    if (!*made) return PARITAS_OK;
    a->twice_nll = point.twice_nll;
    TRY(infer_polish(infer, &point));
    a->status = point.status;
    a->no_asimov = false;
    a->asimov = (struct infer_profile){0};
    TRY(make_asimov_data(a, point.parameters));
    TRY(infer_free_fit(infer, &a->asimov));
    a->asimov.probed = !a->no_asimov; /* no point is lower than where its data were made */
    return PARITAS_OK;
}

paritas_status asymptotic_open(struct asymptotic *a, struct infer *infer, paritas_test_statistic statistic)
{
    bool made;
    memset(a, 0, sizeof *a);
    a->infer = infer;
    a->statistic = statistic;
    TRY(infer_check_tested(infer, infer->poi, statistic_other(statistic)));
    a->data.data = infer->base.data;
    TRY(infer_free_fit(infer, &a->data));
    TRY(fit_background(a, &made));
    a->reconsidered = a->data.suspicious;
    return PARITAS_OK;
}

static paritas_status fit_tests(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes)
{
    struct infer *infer = a->infer;
    struct infer_point *fits = infer_array(infer, 2 * n, sizeof *fits);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        fits[i] = infer_point_at(infer, &a->data, points[i].mu);
        fits[n + i] = infer_point_at(infer, &a->asimov, points[i].mu);
    }
    TRY(infer_points(infer, 2 * n, fits));
    if (slopes) TRY(infer_slopes(infer, 2 * n, fits));
    for (size_t i = 0; i < n; i++) {
        points[i].data = fits[i];
        points[i].asimov = fits[n + i];
    }
    return PARITAS_OK;
}

paritas_status asymptotic_test(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes)
{
    TRY(fit_tests(a, n, points, slopes));
    if (a->reconsidered || (!a->data.suspicious && a->infer->n_pool == 0)) return PARITAS_OK;
    bool made;
    a->reconsidered = a->data.suspicious = true;
    TRY(fit_background(a, &made));
    a->remade = a->remade || made;
    return made ? fit_tests(a, n, points, slopes) : PARITAS_OK;
}

void asymptotic_result(const struct asymptotic *a, const struct asymptotic_point *point,
                       paritas_hypotest_result *result)
{
    size_t poi = a->infer->poi;
    double mu_hat = a->data.parameters[poi];
    double q = statistic_q(a->statistic, point->mu, mu_hat, point->data.twice_nll, a->data.result.twice_nll);
    double q_asimov = statistic_q(a->statistic, point->mu, a->asimov.parameters[poi], point->asimov.twice_nll,
                                  a->asimov.result.twice_nll);
    if (a->no_asimov) q_asimov = (double)NAN;
    const double t = asymptotic_shift(a->statistic, ASYMPTOTIC_OBSERVED, q, q_asimov).t;
    *result = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    result->mu = point->mu;
    result->q = q;
    result->q_asimov = q_asimov;
    result->mu_hat = mu_hat;
    result->clsb = normal_cdf(-(t + sqrt(q_asimov)));
    result->clb = normal_cdf(-t);
    result->p0 = statistic_formula(a->statistic)->discovery ? result->clsb : (double)NAN;
    result->cls_obs = asymptotic_cls(a->statistic, ASYMPTOTIC_OBSERVED, q, q_asimov);
    for (int i = 0; i < 5; i++) result->cls_exp[i] = asymptotic_cls(a->statistic, i, q, q_asimov);
    result->several_minima = a->infer->minima.several;
    result->minima = (paritas_minima){a->infer->minima.met, a->infer->minima.apart};
    result->twice_nll_free = a->data.result.twice_nll;
    result->twice_nll_fixed = point->data.twice_nll;
    result->status = infer_worse(infer_worse(a->data.result.status, a->asimov.result.status), a->status);
    result->status = infer_worse(result->status, infer_worse(point->data.status, point->asimov.status));
    result->upper_bound = a->infer->upper[poi];
    if (!isnan(result->cls_obs)) return;
    result->reason = PARITAS_REASON_UNDEFINED;
    result->status = infer_worse(result->status, PARITAS_FIT_NON_FINITE);
}
