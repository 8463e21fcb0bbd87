/* toys_tail.c: p-values from toys with weights.
 *
 * n_j toys were drawn at each of J places. With m_j the mean at place j,
 *   T = sum of m_j(w [q >= q']) / J,  S = sum of m_j(w) / J,  p = T - b (S - 1),  b = cov(T, S) / var(S).
 * S estimates 1, so that p has the expectation of T and a smaller error: none at all where every toy counts.
 * Variances and the covariance are sums over places of sample (co)variances / (J^2 n_j).
 *
 * Toys stand in an order that depends on their numbers alone, so sums have the same bits in any run. */
#include "toys/toys_tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_EFFECTIVE 25.0 /* an error of about 20 %; no toy carries more than a fifth */

struct tail_toy {
    struct weighted_toy toy;
    int place;
};

/* Sums over the toys of one place. */
struct sums {
    double first, second; /* of w and w^2 */
};

struct tail {
    const struct toy_pool *pool;
    struct tail_toy *toys; /* by falling q */
    size_t n, end;         /* the first `end` ones are in the tail */
    struct sums all[TOY_HYPOTHESES][TOY_PLACES_MOST], in[TOY_HYPOTHESES][TOY_PLACES_MOST];
};

/* A p-value with its b. */
struct p_value {
    double p, b;
};

static int descending(double x, double y)
{
    return (x < y) - (x > y);
}

static int compare_toys(const void *a, const void *b)
{
    const struct tail_toy *x = a, *y = b;
    int order = descending(x->toy.q, y->toy.q);
    for (int h = 0; h < TOY_HYPOTHESES && order == 0; h++)
        order = descending(x->toy.weight[h], y->toy.weight[h]);
    return order ? order : x->place - y->place;
}

static void add(struct sums *sums, double w)
{
    sums->first += w;
    sums->second += w * w;
}

static paritas_status tail_open(struct tail *tail, const struct toy_pool *pool)
{
    *tail = (struct tail){.pool = pool};
    for (int j = 0; j < pool->n_places; j++) {
        if (pool->n[j] < 2)
            return paritas_fail(pool->context, PARITAS_NOT_CONVERGED,
                                "importance: %zu of the toys drawn at %.10g have an answer, at least 2 are "
                                "needed",
                                pool->n[j], pool->place[j]);
        tail->n += pool->n[j];
    }
    tail->toys = paritas_allocate(pool->context, tail->n, sizeof *tail->toys);
    if (!tail->toys) return paritas_fail_memory(pool->context);
    size_t at = 0;
    for (int j = 0; j < pool->n_places; j++)
        for (size_t i = 0; i < pool->n[j]; i++, at++) {
            tail->toys[at].place = j;
            memcpy(&tail->toys[at].toy, pool->q[j] + 3 * i, sizeof tail->toys[at].toy);
        }
    qsort(tail->toys, tail->n, sizeof *tail->toys, compare_toys);
    for (size_t i = 0; i < tail->n; i++)
        for (int h = 0; h < TOY_HYPOTHESES; h++)
            add(&tail->all[h][tail->toys[i].place], tail->toys[i].toy.weight[h]);
    return PARITAS_OK;
}

/* Toys with a statistic of at least q; as without weights, equal data count as equal. */
static void tail_go_on(struct tail *tail, double q)
{
    for (; tail->end < tail->n && tail->toys[tail->end].toy.q >= q - tail->pool->same; tail->end++) {
        const struct tail_toy *toy = &tail->toys[tail->end];
        for (int h = 0; h < TOY_HYPOTHESES; h++) add(&tail->in[h][toy->place], toy->toy.weight[h]);
    }
}

static void tail_go_to(struct tail *tail, double q)
{
    memset(tail->in, 0, sizeof tail->in);
    tail->end = 0;
    tail_go_on(tail, q);
}

static struct p_value tail_p(const struct tail *tail, int h)
{
    const struct toy_pool *pool = tail->pool;
    const double places = pool->n_places;
    double part = 0.0, whole = 0.0, covariance = 0.0, variance = 0.0;
    for (int j = 0; j < pool->n_places; j++) {
        const struct sums *in = &tail->in[h][j], *all = &tail->all[h][j];
        const double n = (double)pool->n[j], mean = all->first / n, mean_in = in->first / n;
        part += mean_in / places;
        whole += mean / places;
        /* w [q >= q'] times w is its own square */
        covariance += (in->second / n - mean * mean_in) / (n - 1.0);
        variance += (all->second / n - mean * mean) / (n - 1.0);
    }
    const double b = variance > 0.0 ? covariance / variance : 0.0, p = part - b * (whole - 1.0);
    return (struct p_value){p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p, b};
}

/* Standard error of the sum of factor[h] times p-value h. */
static double tail_error(const struct tail *tail, const struct p_value p[TOY_HYPOTHESES],
                         const double factor[TOY_HYPOTHESES])
{
    const struct toy_pool *pool = tail->pool;
    struct sums sums[TOY_PLACES_MOST] = {{0.0, 0.0}};
    double variance = 0.0;
    for (size_t i = 0; i < tail->n; i++) {
        const struct tail_toy *toy = &tail->toys[i];
        double value = 0.0;
        for (int h = 0; h < TOY_HYPOTHESES; h++)
            value += factor[h] * (toy->toy.weight[h] * ((i < tail->end ? 1.0 : 0.0) - p[h].b));
        add(&sums[toy->place], value);
    }
    for (int j = 0; j < pool->n_places; j++) {
        const double n = (double)pool->n[j], mean = sums[j].first / n,
                     spread = (sums[j].second / n - mean * mean) / (n - 1.0);
        variance += spread > 0.0 ? spread : 0.0;
    }
    return sqrt(variance) / pool->n_places;
}

/* (sum of w)^2 / sum of w^2, each toy with its part in the p-value. */
static double tail_effective(const struct tail *tail, int h)
{
    const struct toy_pool *pool = tail->pool;
    double sum = 0.0, squares = 0.0;
    for (int j = 0; j < pool->n_places; j++) {
        const double n = (double)pool->n[j];
        sum += tail->in[h][j].first / n;
        squares += tail->in[h][j].second / (n * n);
    }
    return squares > 0.0 ? sum * sum / squares : 0.0;
}

/* Both p-values at the present end, and the answer with its error: CLs, or p0. */
struct answers {
    struct p_value p[TOY_HYPOTHESES];
    double error[TOY_HYPOTHESES], effective[TOY_HYPOTHESES], answer, answer_error;
};

static bool degenerate(const struct answers *answers, int h)
{
    return !(answers->effective[h] >= LEAST_EFFECTIVE);
}

static void find_answers(const struct tail *tail, struct answers *a)
{
    const bool discovery = statistic_formula(tail->pool->statistic)->discovery;
    for (int h = 0; h < TOY_HYPOTHESES; h++) {
        a->p[h] = tail_p(tail, h);
        a->effective[h] = tail_effective(tail, h);
    }
    for (int h = 0; h < TOY_HYPOTHESES; h++)
        a->error[h] = tail_error(tail, a->p, (const double[]){h == TOY_TESTED, h == TOY_OTHER});
    const double clsb = a->p[TOY_TESTED].p, clb = a->p[TOY_OTHER].p;
    a->answer = statistic_answer(tail->pool->statistic, clsb, clb);
    a->answer_error = discovery ? a->error[TOY_TESTED]
                                : tail_error(tail, a->p, (const double[]){1.0 / clb, -clsb / (clb * clb)});
}

static int ascending(const void *a, const void *b)
{
    return descending(*(const double *)b, *(const double *)a);
}

/* The answer if a toy of the other hypothesis were observed, of every such toy; `statistics`: theirs, by
 * falling q. */
static void expected_answers(struct tail *tail, double *answers, double *statistics)
{
    size_t n = 0;
    double answer = 0.0;
    tail_go_to(tail, HUGE_VAL);
    for (size_t i = 0; i < tail->n; i++) {
        const size_t before = tail->end;
        if (tail->toys[i].place != TOY_OTHER) continue;
        statistics[n] = tail->toys[i].toy.q;
        tail_go_on(tail, statistics[n]);
        if (tail->end > before)
            answer = statistic_answer(tail->pool->statistic, tail_p(tail, TOY_TESTED).p,
                                      tail_p(tail, TOY_OTHER).p);
        answers[n++] = answer;
    }
    qsort(answers, n, sizeof *answers, ascending);
}

/* The answer, with CLb shifted, if the toy at `place` by falling q were observed. */
static double expected_at(struct tail *tail, const double *statistics, double place, double shift)
{
    const size_t n = tail->pool->n[TOY_OTHER], at = place > 0.0 ? (size_t)place : 0;
    tail_go_to(tail, statistics[at < n ? at : n - 1]);
    return statistic_answer(tail->pool->statistic, tail_p(tail, TOY_TESTED).p,
                            tail_p(tail, TOY_OTHER).p + shift);
}

/* Finds the band as without weights: percentiles of the answers of toys drawn at the other hypothesis. Errors
 * come from the answer there and from the place of the percentile. NaN where weights degenerate. */
static paritas_status expected_band(struct tail *tail, double band[5], double errors[5])
{
    const struct toy_pool *pool = tail->pool;
    const size_t n = pool->n[TOY_OTHER];
    double *answers = paritas_allocate(pool->context, 2 * n, sizeof *answers), *statistics = answers + n;
    if (!answers) return paritas_fail_memory(pool->context);
    expected_answers(tail, answers, statistics);
    for (int i = 0; i < 5; i++) {
        const double percentile = toy_percentile(i), place = percentile * (double)(n - 1);
        const size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
        const double d = sqrt(percentile * (1.0 - percentile) / (double)n), step = d * (double)(n - 1);
        const double low = expected_at(tail, statistics, place - step, d),
                     high = expected_at(tail, statistics, place + step, -d);
        struct answers at;
        tail_go_to(tail, statistics[below]);
        find_answers(tail, &at);
        band[i] = answers[below] + (answers[above] - answers[below]) * (place - (double)below);
        errors[i] = sqrt(at.answer_error * at.answer_error + 0.25 * (high - low) * (high - low));
        if (degenerate(&at, TOY_TESTED)) band[i] = errors[i] = (double)NAN;
    }
    paritas_release(&pool->context->allocator, answers);
    return PARITAS_OK;
}

/* No toy is drawn beyond a bound: a best fit there is more extreme than all of them. */
static bool is_beyond(const struct toy_pool *pool, double mu_hat)
{
    double largest = pool->place[0];
    for (int k = 1; k < pool->n_places; k++) largest = fmax(largest, pool->place[k]);
    return mu_hat >= largest;
}

static paritas_status refuse_weights(const struct toy_pool *pool, const struct answers *answers, int h,
                                     const paritas_hypotest_toys_result *result)
{
    return paritas_fail(
        pool->context, PARITAS_NOT_CONVERGED,
        "importance: weights degenerate: the p-value of %.10g rests on an effective number of %.3g toys with "
        "a statistic of at least %.6g, and needs %g. Draw more toys, or at other strengths%s",
        pool->place[h], answers->effective[h], result->q, LEAST_EFFECTIVE,
        is_beyond(pool, result->mu_hat)
            ? "; the best fit is at or above all of them: where that is its upper "
              "bound, widen the bound"
            : "");
}

static paritas_status put_result(struct tail *tail, paritas_hypotest_toys_result *result)
{
    const struct toy_pool *pool = tail->pool;
    const bool discovery = statistic_formula(pool->statistic)->discovery;
    struct answers found;
    tail_go_to(tail, result->q);
    find_answers(tail, &found);
    result->effective_tested = found.effective[TOY_TESTED];
    result->effective_other = found.effective[TOY_OTHER];
    if (degenerate(&found, TOY_TESTED)) return refuse_weights(pool, &found, TOY_TESTED, result);
    if (!discovery && degenerate(&found, TOY_OTHER)) return refuse_weights(pool, &found, TOY_OTHER, result);
    result->clsb = found.p[TOY_TESTED].p;
    result->clsb_error = found.error[TOY_TESTED];
    if (!degenerate(&found, TOY_OTHER)) {
        result->clb = found.p[TOY_OTHER].p;
        result->clb_error = found.error[TOY_OTHER];
    }
    if (discovery) {
        result->p0 = result->clsb;
        result->p0_error = result->clsb_error;
    }
    result->cls_obs = found.answer;
    result->cls_obs_error = found.answer_error;
    return expected_band(tail, result->cls_exp, result->cls_exp_error);
}

paritas_status toy_tail_result(struct toy_pool *pool, paritas_hypotest_toys_result *result)
{
    struct tail tail;
    result->n_tested = pool->n[TOY_TESTED];
    result->n_other = pool->n[TOY_OTHER];
    memcpy(result->tally.counts, pool->counts, sizeof result->tally.counts);
    result->clsb = result->clsb_error = result->clb = result->clb_error = (double)NAN;
    result->p0 = result->p0_error = result->cls_obs = result->cls_obs_error = (double)NAN;
    for (int i = 0; i < 5; i++) result->cls_exp[i] = result->cls_exp_error[i] = (double)NAN;
    paritas_status status = tail_open(&tail, pool);
    if (status == PARITAS_OK) status = put_result(&tail, result);
    paritas_release(&pool->context->allocator, tail.toys);
    return pool->part && status == PARITAS_NOT_CONVERGED ? PARITAS_OK : status;
}
