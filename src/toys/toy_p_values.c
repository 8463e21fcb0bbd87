/* toy_p_values.c: p-values and expected bands from toys. */
#include "toys/toy_p_values.h"
#include "toys/toy_runner.h"
#include "toys/toys_tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Number of statistics >= q. Equal data count as equal: few counts repeat often, and the minimiser leaves
 * small differences. */
static size_t count_from(const struct toy_pool *pool, int hypothesis, double q)
{
    const double *sorted = pool->q[hypothesis];
    const size_t n = pool->n[hypothesis];
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < q - pool->same)
            low = middle + 1;
        else
            high = middle;
    }
    return n - low;
}

/* CLs (or p0) if the toy at `place` (by descending q) were observed. `shift`: of CLb. */
static double expected_at(const struct toy_pool *pool, double place, double shift)
{
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    const size_t at = place > 0.0 ? (size_t)place : 0;
    const double q = pool->q[TOY_OTHER][n - 1 - (at < n ? at : n - 1)];
    const double clsb = (double)count_from(pool, TOY_TESTED, q) / (double)n_tested,
                 clb = (double)count_from(pool, TOY_OTHER, q) / (double)n;
    return statistic_answer(pool->statistic, clsb, clb + shift);
}

/* CLs (or p0) of the other hypothesis' toys, ascending. It may rise with q if counts are few. */
static void expected_answers(const struct toy_pool *pool, double *answers)
{
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    const double *other = pool->q[TOY_OTHER], *tested = pool->q[TOY_TESTED];
    bool sorted = true;
    for (size_t i = 0, below = 0, below_tested = 0; i < n; i++) { /* as count_from, but q only rises */
        while (other[below] < other[i] - pool->same) below++;
        while (below_tested < n_tested && tested[below_tested] < other[i] - pool->same) below_tested++;
        const double clsb = (double)(n_tested - below_tested) / (double)n_tested,
                     clb = (double)(n - below) / (double)n;
        answers[n - 1 - i] = statistic_answer(pool->statistic, clsb, clb);
        sorted = sorted && (i == 0 || answers[n - 1 - i] <= answers[n - i]);
    }
    if (!sorted) qsort(answers, n, sizeof *answers, ascending);
}

/* Percentiles at -2 .. 2 sigma, interpolated as NumPy does. Errors come from CLs+b and from the error d of
 * the other distribution, which changes the percentile's toy and CLb. */
static paritas_status expected_band(const struct toy_pool *pool, double band[5], double errors[5])
{
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    for (int i = 0; i < 5; i++) band[i] = errors[i] = (double)NAN;
    if (n == 0 || n_tested == 0) return PARITAS_OK;
    double *answers = paritas_allocate(pool->context, n, sizeof *answers);
    if (!answers) return paritas_fail_memory(pool->context);
    expected_answers(pool, answers);
    for (int i = 0; i < 5; i++) {
        const double percentile = toy_percentile(i), place = percentile * (double)(n - 1);
        const size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
        band[i] = answers[below] + (answers[above] - answers[below]) * (place - (double)below);
        const double d = sqrt(percentile * (1.0 - percentile) / (double)n), step = d * (double)(n - 1);
        const double low = expected_at(pool, place - step, d), high = expected_at(pool, place + step, -d);
        const double q = pool->q[TOY_OTHER][n - 1 - below];
        double tested, other;
        toy_fraction(count_from(pool, TOY_TESTED, q), n_tested, &tested);
        if (!statistic_formula(pool->statistic)->discovery)
            tested /= toy_fraction(count_from(pool, TOY_OTHER, q), n, &other);
        errors[i] = sqrt(tested * tested + 0.25 * (high - low) * (high - low));
    }
    paritas_release(&pool->context->allocator, answers);
    return PARITAS_OK;
}

paritas_status toy_pool_result(struct toy_pool *pool, paritas_hypotest_toys_result *result)
{
    result->n_strengths = pool->weighted ? (size_t)pool->n_places : 0;
    for (size_t k = 0; k < TOY_PLACES_MOST; k++)
        result->strengths[k] = k < result->n_strengths ? pool->place[k] : (double)NAN;
    result->effective_tested = result->effective_other = (double)NAN;
    if (pool->weighted) return toy_tail_result(pool, result);
    for (int h = 0; h < TOY_HYPOTHESES; h++)
        if (pool->n[h]) qsort(pool->q[h], pool->n[h], sizeof *pool->q[h], ascending);
    const bool same = pool->n_places == 1, discovery = statistic_formula(pool->statistic)->discovery;
    const int other = same ? TOY_TESTED : TOY_OTHER;
    const double nan = (double)NAN;
    result->n_tested = pool->n[TOY_TESTED];
    result->n_other = pool->n[other];
    memcpy(result->tally.counts, pool->counts, sizeof result->tally.counts);
    result->clsb =
        toy_fraction(count_from(pool, TOY_TESTED, result->q), pool->n[TOY_TESTED], &result->clsb_error);
    result->clb = toy_fraction(count_from(pool, other, result->q), pool->n[other], &result->clb_error);
    if (isnan(result->q)) /* of observed fits without an answer */
        result->clsb = result->clsb_error = result->clb = result->clb_error = nan;
    result->p0 = discovery ? result->clsb : nan;
    result->p0_error = discovery ? result->clsb_error : nan;
    result->cls_obs = same && !discovery ? 1.0 : statistic_answer(pool->statistic, result->clsb, result->clb);
    /* to first order; a fraction of 0 uses the p of its variance */
    const double a = result->clsb_error, b = result->clb_error * result->cls_obs;
    result->cls_obs_error = discovery ? result->clsb_error : same ? 0.0 : sqrt(a * a + b * b) / result->clb;
    for (int i = 0; i < 5 && same; i++) {
        result->cls_exp[i] = 1.0;
        result->cls_exp_error[i] = 0.0;
    }
    return same ? PARITAS_OK : expected_band(pool, result->cls_exp, result->cls_exp_error);
}
