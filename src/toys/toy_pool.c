/* toy_pool.c: statistics of toys, gathered for p-values. */
#include "toys/toy_pool.h"
#include "fit/minimum.h"

#include <math.h>
#include <stdio.h>

void toy_pool_open(struct toy_pool *pool, paritas_context *context, bool raw,
                   paritas_test_statistic statistic, double mu)
{
    *pool = (struct toy_pool){.context = context,
                              .same = raw ? RAW_SAME_MINIMUM : PARITAS_SAME_MINIMUM,
                              .statistic = statistic,
                              .mu = statistic_tested(statistic, mu)};
    pool->place[TOY_TESTED] = pool->mu;
    pool->place[TOY_OTHER] = statistic_formula(statistic)->alone ? pool->mu : statistic_other(statistic);
    pool->n_places = pool->mu == pool->place[TOY_OTHER] ? 1 : 2;
}

void toy_pool_weigh(struct toy_pool *pool, size_t n, const double *strengths)
{
    pool->weighted = true;
    for (size_t k = 0; k < n; k++) pool->place[pool->n_places++] = strengths[k];
}

void toy_pool_close(struct toy_pool *pool)
{
    for (int h = 0; h < TOY_PLACES_MOST && pool->context; h++)
        paritas_release(&pool->context->allocator, pool->q[h]);
}

#define ROUNDINGS 1e-14 /* of a difference, relative to its terms */

bool toy_has_its_q(paritas_test_statistic statistic, const paritas_toy *toy)
{
    const double free = toy->twice_nll_free, fixed = toy->twice_nll_fixed,
                 q = statistic_q(statistic, toy->mu, toy->mu_hat, fixed, free);
    return fabs(toy->q - q) <= ROUNDINGS * (fabs(free) + fabs(fixed) + fabs(toy->q));
}

/* Numbers of a store may be anything. */
static paritas_status check_q(struct toy_pool *pool, const paritas_toy *toy)
{
    if (toy_has_its_q(pool->statistic, toy)) return PARITAS_OK;
    snprintf(pool->wrong, sizeof pool->wrong,
             "toy %llu at mu = %.10g, hypothesis = %.10g: q = %.10g is not that of its fits",
             (unsigned long long)toy->toy, toy->mu, toy->hypothesis, toy->q);
    return paritas_fail(pool->context, PARITAS_INVALID_INPUT, "%s", pool->wrong);
}

static paritas_status check_weights(struct toy_pool *pool, const paritas_toy *toy)
{
    const double most = pool->n_places * (1.0 + 1e-9);
    if (toy->weight >= 0.0 && toy->weight <= most && toy->weight_other >= 0.0 && toy->weight_other <= most)
        return PARITAS_OK;
    snprintf(pool->wrong, sizeof pool->wrong,
             "toy %llu at mu = %.10g, hypothesis = %.10g has the weights %.10g and %.10g: weights are from 0 "
             "to %d",
             (unsigned long long)toy->toy, toy->mu, toy->hypothesis, toy->weight, toy->weight_other,
             pool->n_places);
    return paritas_fail(pool->context, PARITAS_INVALID_INPUT, "%s", pool->wrong);
}

paritas_status toy_pool_refuse(const struct toy_pool *pool, const char *path)
{
    return pool->wrong[0] ? paritas_fail(pool->context, PARITAS_INVALID_INPUT, "%s: %s", path, pool->wrong)
                          : paritas_fail_memory(pool->context);
}

paritas_status toy_pool_add(struct toy_pool *pool, int place, const paritas_toy *toy)
{
    const size_t width = pool->weighted ? sizeof(struct weighted_toy) / sizeof(double) : 1;
    pool->counts[toy->status]++;
    if (toy->status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    TRY(check_q(pool, toy));
    if (pool->weighted) TRY(check_weights(pool, toy));
    if (pool->n[place] == pool->room[place]) {
        const size_t room = pool->room[place] ? 2 * pool->room[place] : 1024;
        double *more = paritas_reallocate(pool->context, pool->q[place], room, width * sizeof *more);
        if (!more) return paritas_fail_memory(pool->context);
        pool->q[place] = more;
        pool->room[place] = room;
    }
    double *at = pool->q[place] + width * pool->n[place]++;
    at[0] = toy->q;
    if (pool->weighted) {
        at[1 + TOY_TESTED] = toy->weight;
        at[1 + TOY_OTHER] = toy->weight_other;
    }
    return PARITAS_OK;
}

double toy_percentile(int i)
{
    static const double percentiles[5] = {0.02275013194817921, 0.15865525393145707, 0.5, 0.84134474606854293,
                                          0.97724986805182079};
    return percentiles[i];
}
