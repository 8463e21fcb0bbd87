/* hypotest.c: asymptotic tests and the significance of a discovery. */
#include "base/sized.h"
#include "statistics/asymptotic.h"
#include "base/math/probability.h"

#include <math.h>

static paritas_status hypotest(struct infer *infer, paritas_test_statistic statistic, size_t n,
                               const double *mu, paritas_hypotest_result *results)
{
    struct asymptotic a;
    /* a discovery always tests mu = 0 */
    size_t n_points = statistic_formula(statistic)->discovery && n > 0 ? 1 : n;
    struct asymptotic_point *points = infer_array(infer, n_points, sizeof *points);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n_points; i++) {
        points[i].mu = statistic_tested(statistic, mu[i]);
        TRY(infer_make_room(infer, infer->poi, points[i].mu));
        TRY(infer_check_tested(infer, infer->poi, points[i].mu));
    }
    TRY(asymptotic_open(&a, infer, statistic));
    TRY(asymptotic_test(&a, n_points, points, false));
    for (size_t i = 0; i < n; i++) {
        asymptotic_result(&a, &points[i < n_points ? i : 0], &results[i]);
        infer_put_bound(infer, &results[i].upper_bound, &results[i].bound_widened);
    }
    asymptotic_note_domain(&a);
    return PARITAS_OK;
}

paritas_status paritas_hypotest(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                paritas_test_statistic statistic, size_t n, const double *mu,
                                paritas_hypotest_result *results)
{
    REQUIRE(context, model);
    if (n > 0) REQUIRE(context, mu);
    TRY(SIZED_CHECK(context, paritas_hypotest_result, "results", n, results));
    TRY(statistic_check(context, statistic));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = hypotest(&infer, statistic, n, mu, results);
    infer_close(&infer);
    return status;
}

paritas_status paritas_significance(paritas_context *context, const paritas_model *model,
                                    const paritas_job *job, paritas_significance_result *result)
{
    REQUIRE(context, model);
    const double zero = 0.0;
    paritas_hypotest_result test = PARITAS_INIT(paritas_hypotest_result);
    TRY(SIZED_CHECK(context, paritas_significance_result, "result", 1, result));
    TRY(paritas_hypotest(context, model, job, PARITAS_STATISTIC_Q0, 1, &zero, &test));
    result->z = sqrt(asymptotic_q(test.q, test.q_asimov));
    result->z_exp = sqrt(test.q_asimov);
    result->p0 = normal_cdf(-result->z);
    result->p0_exp = normal_cdf(-result->z_exp);
    result->q0 = test.q;
    result->mu_hat = test.mu_hat;
    result->status = test.status;
    result->several_minima = test.several_minima;
    result->minima = test.minima;
    result->upper_bound = test.upper_bound;
    result->bound_widened = test.bound_widened;
    return PARITAS_OK;
}
