/* toys.h: tests of one mu by toys.
 *
 *   toy_test_open: observed fits ─► fits at tested mu and other hypothesis ─► an ensemble each
 *       importance sampling: fits at further strengths, too ─► an ensemble each, weights
 *   toy_test_run: toys of all, chunk by chunk ─► store, caller, pool
 *   toy_test_result: pool ─► p-values
 *
 * As pyhf's ToyCalculator: nuisance parameters from the conditional fit to data; main and auxiliary data
 * drawn. p-value: fraction of toys with at least the observed statistic. */
#pragma once

#include "fit/profiles/ensemble.h"
#include "minima/infer.h"
#include "statistics/test_statistic.h"
#include "toys/toy_pool.h"
#include "toys/toys_weights.h"
#include "store/store.h"

struct toy_test {
    struct infer *infer;
    const paritas_toys_options *options;
    struct infer_profile data;
    struct infer_point point[TOY_PLACES_MOST];
    const double *expected[TOY_PLACES_MOST]; /* centres of the ensembles' draws */
    struct ensemble ensemble[TOY_PLACES_MOST];
    struct toy_weights weights; /* importance sampling */
    struct toy_pool pool;
    paritas_hypotest_toys_result result; /* known before toys; methods are counted during the run */
    struct store *store;                 /* NULL allowed */
};

/* Close it even after a failure. `store` is borrowed. Toys are those of a test of mu alone, whatever other
 * values were tested before. */
paritas_status toy_test_open(struct toy_test *test, struct infer *infer, const paritas_toys_options *options,
                             paritas_test_statistic statistic, double mu, struct store *store);
void toy_test_close(struct toy_test *test);
/* Toys first .. end - 1 of all hypotheses; stored ones are only read. */
paritas_status toy_test_run(struct toy_test *test, uint64_t first, uint64_t end);
paritas_status toy_test_result(struct toy_test *test, paritas_hypotest_toys_result *result);

/* Completes options of any version. Importance sampling and another statistic of goodness of fit are refused;
 * toys_take_test_options allows the one, toys_take_gof_options the other. */
paritas_status toys_take_test_options(paritas_context *context, const paritas_toys_options *given,
                                      paritas_toys_options *options);
paritas_status toys_take_options(paritas_context *context, const paritas_toys_options *given,
                                 paritas_toys_options *options);
paritas_status toys_take_gof_options(paritas_context *context, const paritas_toys_options *given,
                                     paritas_toys_options *options);
/* INVALID_ARGUMENT if the run is one of several shards. what: "a limit". */
paritas_status toys_refuse_shards(paritas_context *context, const paritas_toys_options *options,
                                  const char *what);
/* This run's part of toys 0 .. n - 1. INVALID_ARGUMENT: no such shard. */
paritas_status toys_share(paritas_context *context, const paritas_toys_options *options, uint64_t *first,
                          uint64_t *end);

/* in the key: fits without polish */
#define TOYS_RAW " raw"
/* A store's key beyond the options. */
struct toys_key {
    const char *what; /* "hypotest-toys", ... */
    enum store_kind kind;
    const char *statistic; /* NULL: none */
    double mu;             /* NaN: several values */
    size_t n_entries;
    const paritas_key_entry *entries;
};
/* *store stays NULL if no store is named. */
paritas_status toys_open_store(struct infer *infer, const paritas_toys_options *options,
                               const struct toys_key *key, struct store **store);

/* A store keeps members of a result as facts. */
#define TOYS_SET_FACT(name) TRY(store_set_fact(store, #name, (double)result->name));
#define TOYS_TEST_FACTS(FACT) FACT(q) FACT(mu_hat) FACT(twice_nll_free) FACT(twice_nll_fixed) FACT(status)
/* Of the fit to the observed data: all values of a run share it. */
paritas_status toys_set_best_fit(struct store *store, const paritas_hypotest_toys_result *result);
/* Facts of importance sampling: where toys are drawn. */
paritas_status toys_set_places(struct store *store, const struct toy_pool *pool);
/* Adds what a job says to a key: model and data, and what it sets in place of the model's own. The texts are
 * in the arena of `infer`. */
#define TOYS_JOB_ENTRIES 5
paritas_status toys_add_job(struct infer *infer, paritas_key_entry **next);
/* The entry of the key, in the arena: the strengths as given, or "auto". */
paritas_status toys_describe_importance(struct infer *infer, const paritas_toys_options *options,
                                        const char **entry);
/* Several minima: facts only where there are some. */
paritas_status toys_set_minima(struct store *store, const paritas_hypotest_toys_result *result);

/* Z of a fraction p of n toys, with its first-order error; a lower limit if no toy is as extreme. */
double toy_significance(double p, double p_error, uint64_t n, double *error, double *at_least);

/* All are counts. */
void toys_add_tally(paritas_toys_tally *sum, const paritas_toys_tally *one);

/* Notes that toys of this place have minima below those that their usual fits end in. */
void toys_add_minima(const struct ensemble *ensemble, paritas_minima *minima);

/* Sets auxiliary data as observed if options->fix_aux asks for it. */
void toys_fix_aux(const struct infer *infer, const paritas_toys_options *options, double *expected);
/* Finds the point where data are expected, in the arena. *point stays if the fit does not converge. */
paritas_status toys_fit_expected(struct infer *infer, const paritas_job *job, const double **point);
struct ensemble_options toys_ensemble(const struct infer *infer, const paritas_toys_options *options,
                                      const double *start, const double *expected, uint32_t purpose);
