/* toys_testing.h: what the tests of toys share: the rows that a run hands out, in order, and the data behind
 * them. */
#ifndef PARITAS_TESTS_INFER_TOYS_TESTING_H
#define PARITAS_TESTS_INFER_TOYS_TESTING_H

#include "common.h"
#include "toys/toy_p_values.h"
#include "toys/toys.h"
#include "share.h"

/* What `take` was given, and after how many calls it says stop (0: never). */
struct taken {
    paritas_toy *rows;
    size_t n, room, calls, stop_after;
};

static inline int keep_toys(void *user, size_t n, const paritas_toy *toys)
{
    struct taken *taken = user;
    for (size_t i = 1; i < n; i++) assert_true(toys[i].toy > toys[i - 1].toy);
    if (taken->n + n > taken->room) {
        taken->room = 2 * taken->room + n;
        taken->rows = realloc(taken->rows, taken->room * sizeof *taken->rows);
        assert_non_null(taken->rows);
    }
    memcpy(taken->rows + taken->n, toys, n * sizeof *toys);
    taken->n += n;
    return ++taken->calls == taken->stop_after;
}

static inline int compare_toys(const void *a, const void *b)
{
    const paritas_toy *x = a, *y = b;
    return x->hypothesis != y->hypothesis ? (x->hypothesis > y->hypothesis) - (x->hypothesis < y->hypothesis)
                                          : (x->toy > y->toy) - (x->toy < y->toy);
}

static inline void sort_taken(struct taken *taken)
{
    if (taken->n) qsort(taken->rows, taken->n, sizeof *taken->rows, compare_toys);
}

static inline void free_taken(struct taken *taken)
{
    free(taken->rows);
    *taken = (struct taken){0};
}

static inline paritas_toys_options toys_options(uint64_t n, uint64_t seed)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    options.n = n;
    options.seed = seed;
    return options;
}

/* A whole run with its rows, sorted by hypothesis and toy. `job` may be NULL. */
static inline paritas_hypotest_toys_result run_job_toys(paritas_context *context, const paritas_model *model,
                                                        const paritas_job *job,
                                                        paritas_test_statistic statistic, double mu,
                                                        const paritas_toys_options *given,
                                                        struct taken *taken)
{
    paritas_toys_options options = *given;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    *taken = (struct taken){0};
    options.take = keep_toys;
    options.user = taken;
    if (paritas_hypotest_toys(context, model, job, statistic, mu, &options, &result) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(context));
    sort_taken(taken);
    return result;
}

static inline paritas_hypotest_toys_result run_toys(paritas_context *context, const paritas_model *model,
                                                    paritas_test_statistic statistic, double mu,
                                                    const paritas_toys_options *options, struct taken *taken)
{
    return run_job_toys(context, model, NULL, statistic, mu, options, taken);
}

/* The data of the first n toys of hypothesis h (TOY_TESTED, TOY_OTHER), n rows in the user's order, and what
 * they were drawn around (may be NULL). Freed by the caller. */
static inline double *data_of_toys(paritas_context *context, const paritas_model *model,
                                   paritas_test_statistic statistic, double mu,
                                   const paritas_toys_options *options, int h, size_t n, double *expected)
{
    const size_t n_data = paritas_model_main_count(model) + paritas_model_aux_count(model);
    struct infer infer;
    struct toy_test test;
    double *data = malloc((n * n_data + 1) * sizeof *data);
    struct profile *profiles = malloc((n + 1) * sizeof *profiles);
    assert_true(data && profiles);
    paritas_status status = infer_open(&infer, context, model, NULL, true);
    if (status == PARITAS_OK) status = toy_test_open(&test, &infer, options, statistic, mu, NULL);
    if (status == PARITAS_OK && expected)
        memcpy(expected, test.ensemble[h].options.expected, n_data * sizeof *expected);
    for (size_t i = 0; i < n && status == PARITAS_OK; i += 10000) {
        const size_t some = n - i < 10000 ? n - i : 10000;
        status = ensemble_run(context, &test.ensemble[h], i, some, profiles, data + i * n_data, NULL, NULL);
    }
    if (status != PARITAS_OK) fail_msg("%s", paritas_error_message(context));
    toy_test_close(&test);
    infer_close(&infer);
    free(profiles);
    return data;
}

#endif
