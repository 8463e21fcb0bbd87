/* toys.h: tests of one value of mu by toys.
 *
 *   toy_test_open: observed fits ─► conditional fits at the tested mu and at the other hypothesis ─► an
 *       ensemble each
 *   toy_test_run: toys of both, a chunk at a time ─► store, caller, pool       toy_test_result: pool ─►
 *       p-values
 *
 * The other hypothesis is mu = 0, for q0 (which tests 0) mu = 1. Semantics as pyhf's ToyCalculator: nuisance
 * parameters at the conditional fit to the observed data, main and auxiliary data drawn, p-value = fraction
 * of toys whose statistic is at least the observed one. */
#ifndef PARITAS_INFER_TOYS_H
#define PARITAS_INFER_TOYS_H

#include "fit/ensemble.h"
#include "infer/infer.h"
#include "store/store.h"

enum { TOY_TESTED, TOY_OTHER, TOY_HYPOTHESES };

/* The statistics of toys that have an answer, and what became of all. Needs no fits: a store fills it as
 * well. */
struct toy_pool {
    paritas_context *context;
    double same; /* equal data may have statistics that are this far apart */
    double *q[TOY_HYPOTHESES];
    size_t n[TOY_HYPOTHESES], room[TOY_HYPOTHESES];
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
};
/* `raw`: of fits in f32 that were not polished. */
void toy_pool_open(struct toy_pool *pool, paritas_context *context, bool raw);
void toy_pool_close(struct toy_pool *pool);
paritas_status toy_pool_add(struct toy_pool *pool, int hypothesis, double q, paritas_fit_status status);
/* Fills what follows from toys into `result`, whose mu and q are set; `same`: both hypotheses are one, CLs is
 * 1. */
paritas_status toy_pool_result(struct toy_pool *pool, paritas_test_statistic statistic, bool same,
                               paritas_hypotest_toys_result *result);

struct toy_test {
    struct infer *infer;
    const paritas_toys_options *options;
    paritas_test_statistic statistic;
    double mu, hypothesis[TOY_HYPOTHESES];
    int n_hypotheses; /* 1 where the tested value is the other one, too */
    struct infer_profile data;
    struct infer_point point[TOY_HYPOTHESES];
    struct ensemble ensemble[TOY_HYPOTHESES];
    struct toy_pool pool;
    paritas_hypotest_toys_result result; /* what is known before the toys; counts of methods as they come */
    struct store *store;                 /* NULL: none */
};

/* Close it also after a failure. `store` is borrowed. */
paritas_status toy_test_open(struct toy_test *test, struct infer *infer, const paritas_toys_options *options,
                             paritas_test_statistic statistic, double mu, struct store *store);
void toy_test_close(struct toy_test *test);
/* Draws and fits the toys first .. end - 1 of `n_hypotheses` hypotheses (from the tested one on); toys that
 * the store has are read from there. */
paritas_status toy_test_run(struct toy_test *test, uint64_t first, uint64_t end, int n_hypotheses);
paritas_status toy_test_result(struct toy_test *test, paritas_hypotest_toys_result *result);

/* A caller's options, of whatever version, completed. */
paritas_status toys_take_options(paritas_context *context, const paritas_toys_options *given,
                                 paritas_toys_options *options);
/* What a run's key has behind the precision where fits are not polished. */
#define TOYS_RAW " raw"
/* The part of toys 0 .. n - 1 that is this run's. INVALID_ARGUMENT: no such shard. */
paritas_status toys_share(paritas_context *context, const paritas_toys_options *options, uint64_t *first,
                          uint64_t *end);
/* Opens the store that `options` name, with the key of a run: *store stays NULL where they name none. `what`:
 * "hypotest-toys", ...; mu: NaN where the run tests several values. */
paritas_status toys_open_store(struct infer *infer, const paritas_toys_options *options, const char *what,
                               const char *statistic, double mu, enum store_kind kind, struct store **store);

#endif
