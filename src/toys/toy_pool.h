/* toy_pool.h: statistics of toys, gathered for p-values. */
#pragma once

#include "base/context.h"
#include "statistics/test_statistic.h"

#include "paritas_toys.h"

/* The first places where toys are drawn; importance sampling has further ones. */
enum { TOY_TESTED, TOY_OTHER, TOY_HYPOTHESES };
#define TOY_PLACES_MOST PARITAS_STRENGTHS_MOST

/* A toy of importance sampling in a pool. */
struct weighted_toy {
    double q, weight[TOY_HYPOTHESES];
};

/* Statistics of toys with an answer, and counts of all. From fits or from a store. */
struct toy_pool {
    paritas_context *context;
    double same; /* tolerance for equal data */
    paritas_test_statistic statistic;
    double mu, place[TOY_PLACES_MOST]; /* mu: as tested; place: where toys are drawn */
    int n_places;                      /* 1 if both hypotheses are the same; then CLs is 1 */
    bool weighted;                     /* importance sampling */
    bool part;                         /* of a run in shards: degenerate weights are no failure */
    double *q[TOY_PLACES_MOST];        /* weighted: struct weighted_toy */
    size_t n[TOY_PLACES_MOST], room[TOY_PLACES_MOST];
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
    char wrong[200]; /* why a toy was refused */
};
/* `raw`: fits in f32 without polish. */
void toy_pool_open(struct toy_pool *pool, paritas_context *context, bool raw,
                   paritas_test_statistic statistic, double mu);
void toy_pool_close(struct toy_pool *pool);
/* Before the first toy: they are drawn at n further values, too, and have weights. */
void toy_pool_weigh(struct toy_pool *pool, size_t n, const double *strengths);
/* Is q the statistic of its two fits? */
bool toy_has_its_q(paritas_test_statistic statistic, const paritas_toy *toy);
/* Refuses a toy whose q is none of its fits', or whose weights cannot be. */
paritas_status toy_pool_add(struct toy_pool *pool, int place, const paritas_toy *toy);
/* Says again why a toy of the store at `path` could not be added: reading it ends with another message. */
paritas_status toy_pool_refuse(const struct toy_pool *pool, const char *path);

/* Percentile of the normal distribution at i - 2 standard deviations. */
double toy_percentile(int i);
