/* toys_significance.c: discovery significance from toys of q0. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "base/math/probability.h"
#include "toys/toys.h"

#include <math.h>

double toy_significance(double p, double p_error, uint64_t n, double *error, double *at_least)
{
    *error = *at_least = (double)NAN;
    /* (1 - p)^n = 0.05 */
    if (p == 0.0 && n > 0) *at_least = -normal_quantile(1.0 - host_exp(host_log(0.05) / (double)n));
    if (!(p > 0.0 && p < 1.0)) return (double)NAN;
    const double z = -normal_quantile(p);
    *error = p_error / normal_density(z);
    return z;
}

paritas_status paritas_significance_toys(paritas_context *context, const paritas_model *model,
                                         const paritas_job *job, const paritas_toys_options *options,
                                         paritas_significance_toys_result *result,
                                         paritas_hypotest_toys_result *test)
{
    REQUIRE(context, model);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    TRY(SIZED_CHECK(context, paritas_significance_toys_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_hypotest_toys_result, "test", test != NULL, test));
    const paritas_status status =
        paritas_hypotest_toys(context, model, job, PARITAS_STATISTIC_Q0, 0.0, options, &r);
    /* degenerate weights: all but p-values is known */
    if (status != PARITAS_OK && !(status == PARITAS_NOT_CONVERGED && r.n_strengths > 0)) return status;
    if (test) *test = r;
    result->several_minima = r.several_minima;
    result->minima = r.minima;
    result->p0 = r.p0;
    result->p0_error = r.p0_error;
    result->z = toy_significance(r.p0, r.p0_error, r.n_tested, &result->z_error, &result->z_at_least);
    result->p0_exp = r.cls_exp[2];
    result->p0_exp_error = r.cls_exp_error[2];
    result->z_exp = toy_significance(r.cls_exp[2], r.cls_exp_error[2], r.n_tested, &result->z_exp_error,
                                     &result->z_exp_at_least);
    return status;
}
