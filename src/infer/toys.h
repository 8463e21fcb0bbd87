/* toys.h: tests of one value of mu by toys.
 *
 *   toy_test_open: observed fits ─► conditional fits at the tested mu and at the other hypothesis ─► an
 *       ensemble each
 *   toy_test_run: toys of both, a chunk at a time ─► store, caller, pool
 *   toy_test_result: pool ─► p-values
 *
 * As pyhf's ToyCalculator: nuisance parameters at the conditional fit to the observed data, main and
 * auxiliary data drawn. A p-value is the fraction of toys whose statistic is at least the observed one. */
#ifndef PARITAS_INFER_TOYS_H
#define PARITAS_INFER_TOYS_H

#include "fit/ensemble.h"
#include "infer/infer.h"
#include "infer/test_statistic.h"
#include "store/store.h"

enum { TOY_TESTED, TOY_OTHER, TOY_HYPOTHESES };

/* ---- statistics of toys ---- */

/* The statistics of toys that have an answer, and what became of all. Needs no fits: a store fills it too. */
struct toy_pool {
    paritas_context *context;
    double same; /* statistics of equal data differ by less */
    paritas_test_statistic statistic;
    double mu, hypothesis[TOY_HYPOTHESES]; /* mu: as it is tested */
    int n_hypotheses;                      /* 1 where the tested value is the other one too; then CLs is 1 */
    double *q[TOY_HYPOTHESES];
    size_t n[TOY_HYPOTHESES], room[TOY_HYPOTHESES];
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
};
/* `raw`: of fits in f32 that were not polished. */
void toy_pool_open(struct toy_pool *pool, paritas_context *context, bool raw,
                   paritas_test_statistic statistic, double mu);
void toy_pool_close(struct toy_pool *pool);
paritas_status toy_pool_add(struct toy_pool *pool, int hypothesis, double q, paritas_fit_status status);
/* Fills what follows from toys into `result`, whose mu and q are set. */
paritas_status toy_pool_result(struct toy_pool *pool, paritas_hypotest_toys_result *result);

/* ---- a test ---- */

struct toy_test {
    struct infer *infer;
    const paritas_toys_options *options;
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
/* Draws and fits the toys first .. end - 1 of all hypotheses; toys that the store has are read from there. */
paritas_status toy_test_run(struct toy_test *test, uint64_t first, uint64_t end);
paritas_status toy_test_result(struct toy_test *test, paritas_hypotest_toys_result *result);

/* ---- how runs begin (toys_setup.c) ---- */

/* A caller's options, of whatever version, completed. */
paritas_status toys_take_options(paritas_context *context, const paritas_toys_options *given,
                                 paritas_toys_options *options);
/* The part of toys 0 .. n - 1 that is this run's. INVALID_ARGUMENT: no such shard. */
paritas_status toys_share(paritas_context *context, const paritas_toys_options *options, uint64_t *first,
                          uint64_t *end);

/* In a run's key, behind the precision: fits are not polished. */
#define TOYS_RAW " raw"
/* What a store's key says beyond the options. */
struct toys_key {
    const char *what; /* "hypotest-toys", ... */
    enum store_kind kind;
    const char *statistic; /* NULL: none */
    double mu;             /* NaN where the run tests several values */
    size_t n_entries;      /* further ones */
    const paritas_key_entry *entries;
};
/* Opens the store that `options` name; *store stays NULL where they name none. */
paritas_status toys_open_store(struct infer *infer, const paritas_toys_options *options,
                               const struct toys_key *key, struct store **store);

/* A store keeps members of a result as facts, by their names. */
#define TOYS_SET_FACT(name) TRY(store_set_fact(store, #name, (double)result->name));
#define TOYS_TEST_FACTS(FACT) FACT(q) FACT(mu_hat) FACT(twice_nll_free) FACT(twice_nll_fixed) FACT(status)

/* Where options->fix_aux, puts the observed auxiliary data into expected ones. */
void toys_fix_aux(const struct infer *infer, const paritas_toys_options *options, double *expected);
/* *point receives the parameters of a job's fit, in the arena; it stays where the fit does not converge. */
paritas_status toys_fit_expected(struct infer *infer, const paritas_job *job, const double **point);
/* An ensemble of free fits. */
struct ensemble_options toys_ensemble(const struct infer *infer, const paritas_toys_options *options,
                                      const double *start, const double *expected, uint32_t purpose);

#endif
