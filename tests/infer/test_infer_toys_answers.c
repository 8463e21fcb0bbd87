/* What is read off toys: significances, and the answer of a test from its store. */
#define _GNU_SOURCE /* mkdtemp */
#include "infer_testing.h"
#include "store_folder.h"
#include "toys_testing.h"

#include "base/math/probability.h"

#include <unistd.h>

static const double S = 5.0, B = 9.0;

/* ---- significance ----------------------------------------------------------------------------- */

/* P(N >= n). */
static double poisson_tail(double n, double rate)
{
    double sum = 0.0;
    for (double k = n; k < n + 200.0; k++) sum += exp(k * log(rate) - rate - lgamma(k + 1.0));
    return sum;
}

/* *test: the test behind it. */
static paritas_significance_toys_result significance_of(struct fixture *f, uint64_t n, uint64_t seed,
                                                        paritas_hypotest_toys_result *test)
{
    const paritas_toys_options options = toys_options(n, seed);
    paritas_significance_toys_result r = PARITAS_INIT(paritas_significance_toys_result);
    *test = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    if (paritas_significance_toys(f->context, f->model, NULL, &options, &r, test) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    return r;
}

TEST(p0_of_a_counting_experiment_is_a_poisson_sum)
{
    enum { TOYS = 400000 / SHARE };
    struct fixture f = counting(17.0, S, B, -1.0, 10.0);
    paritas_hypotest_toys_result test;
    const paritas_significance_toys_result r = significance_of(&f, TOYS, 3, &test);
    /* 14: the median of 14 expected */
    const double p0 = poisson_tail(17.0, B), p0_exp = poisson_tail(14.0, B);
    ASSERT_CLOSE(r.p0_error, sqrt(p0 * (1.0 - p0) / TOYS), 0.05 * r.p0_error);
    ASSERT_CLOSE(r.p0, p0, 4.0 * r.p0_error);
    ASSERT_CLOSE(r.z, -normal_quantile(p0), 4.0 * r.z_error);
    ASSERT_CLOSE(r.z_error, 0.5 * (normal_quantile(r.p0 + r.p0_error) - normal_quantile(r.p0 - r.p0_error)),
                 0.01 * r.z_error);
    ASSERT_CLOSE(r.p0_exp, p0_exp, 4.0 * r.p0_exp_error);
    /* 14 is safe as a median, so that it adds nothing */
    ASSERT_CLOSE(r.p0_exp_error, sqrt(p0_exp * (1.0 - p0_exp) / TOYS), 0.05 * r.p0_exp_error);
    ASSERT_CLOSE(r.z_exp, -normal_quantile(p0_exp), 4.0 * r.z_exp_error);
    assert_true(isnan(r.z_at_least) && isnan(r.z_exp_at_least));
    ASSERT_CLOSE(test.q, deviance(17.0, B), 1e-9);
    assert_true(test.p0 == r.p0 && test.n_tested == TOYS && test.n_other == TOYS);
    free_fixture(&f);
}

TEST(where_no_toy_is_as_extreme_z_is_only_bounded)
{
    struct fixture f = counting(60.0, S, B, -1.0, 20.0);
    paritas_hypotest_toys_result test;
    const paritas_significance_toys_result r = significance_of(&f, 1000, 3, &test);
    assert_true(r.p0 == 0.0 && r.p0_error > 0.0 && isnan(r.z) && isnan(r.z_error));
    /* with a p0 as large as that, 1000 toys would show none in 5 of 100 runs */
    ASSERT_CLOSE(pow(normal_cdf(r.z_at_least), 1000.0), 0.05, 1e-9);
    assert_true(-normal_quantile(poisson_tail(60.0, B)) > r.z_at_least);
    assert_true(r.z_exp > 0.0 && isnan(r.z_exp_at_least));
    free_fixture(&f);
}

TEST(a_deficit_is_as_extreme_as_every_toy)
{
    struct fixture f = counting(4.0, S, B, -1.0, 10.0);
    paritas_hypotest_toys_result test;
    const paritas_significance_toys_result r = significance_of(&f, 500, 3, &test);
    assert_true(test.mu_hat < 0.0 && test.q == 0.0 && r.p0 == 1.0 && isnan(r.z) && isnan(r.z_at_least));
    free_fixture(&f);
}

/* ---- stores ----------------------------------------------------------------------------------- */

static void assert_same_answer(const paritas_hypotest_toys_result *a, const paritas_hypotest_toys_result *b)
{
    const double x[] = {a->mu,
                        a->cls_obs,
                        a->clsb,
                        a->clb,
                        a->p0,
                        a->cls_obs_error,
                        a->clsb_error,
                        a->clb_error,
                        a->p0_error,
                        a->q,
                        a->mu_hat,
                        a->twice_nll_free,
                        a->twice_nll_fixed};
    const double y[] = {b->mu,
                        b->cls_obs,
                        b->clsb,
                        b->clb,
                        b->p0,
                        b->cls_obs_error,
                        b->clsb_error,
                        b->clb_error,
                        b->p0_error,
                        b->q,
                        b->mu_hat,
                        b->twice_nll_free,
                        b->twice_nll_fixed};
    for (size_t i = 0; i < COUNT(x); i++) assert_true(x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
    assert_memory_equal(a->cls_exp, b->cls_exp, sizeof a->cls_exp);
    assert_memory_equal(a->cls_exp_error, b->cls_exp_error, sizeof a->cls_exp_error);
    assert_memory_equal(a->tally.counts, b->tally.counts, sizeof a->tally.counts);
    assert_true(a->status == b->status && a->n_tested == b->n_tested && a->n_other == b->n_other);
}

TEST(pooled_shards_answer_as_the_whole_run)
{
    const struct {
        paritas_test_statistic statistic;
        double mu;
    } cases[] = {{PARITAS_STATISTIC_QTILDE, 1.3},
                 {PARITAS_STATISTIC_Q, 0.7},
                 {PARITAS_STATISTIC_Q0, 5.0},
                 {PARITAS_STATISTIC_Q, 0.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = counting(12.0, S, B, -1.0, 10.0);
        const char *paths[3] = {path_of("1.db"), path_of("2.db"), path_of("3.db")}, *all = path_of("all.db");
        paritas_toys_options options = toys_options(1000, 6);
        paritas_hypotest_toys_result whole = PARITAS_INIT(paritas_hypotest_toys_result);
        paritas_hypotest_toys_result part = whole, pooled = whole;
        assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, cases[i].statistic, cases[i].mu,
                                               &options, &whole),
                         PARITAS_OK);
        options.shards = 3;
        for (unsigned k = 0; k < 3; k++) {
            options.shard = k + 1;
            options.store = paths[k];
            assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, cases[i].statistic, cases[i].mu,
                                                   &options, &part),
                             PARITAS_OK);
            assert_int_equal(paritas_store_hypotest(f.context, paths[k], &pooled), PARITAS_OK);
            assert_same_answer(&pooled, &part);
        }
        assert_int_equal(paritas_store_merge(f.context, 3, paths, all), PARITAS_OK);
        assert_int_equal(paritas_store_hypotest(f.context, all, &pooled), PARITAS_OK);
        assert_same_answer(&pooled, &whole);
        assert_int_equal(pooled.tally.fitted, 0);
        for (int k = 0; k < 3; k++) assert_int_equal(unlink(paths[k]), 0);
        assert_int_equal(unlink(all), 0);
        free_fixture(&f);
    }
}

TEST(significance_and_a_test_of_q0_share_their_stores)
{
    struct fixture f = counting(17.0, S, B, -1.0, 10.0);
    paritas_toys_options options = toys_options(500, 6);
    paritas_significance_toys_result z = PARITAS_INIT(paritas_significance_toys_result);
    paritas_hypotest_toys_result test = PARITAS_INIT(paritas_hypotest_toys_result), of_z = test,
                                 stored = test;
    options.store = path_of("1.db");
    assert_int_equal(paritas_significance_toys(f.context, f.model, NULL, &options, &z, &of_z), PARITAS_OK);
    options.resume = 1;
    assert_int_equal(
        paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &test),
        PARITAS_OK);
    assert_int_equal(test.tally.fitted, 0);
    assert_same_answer(&test, &of_z);
    assert_int_equal(paritas_store_hypotest(f.context, options.store, &stored), PARITAS_OK);
    assert_same_answer(&stored, &of_z);
    free_fixture(&f);
}

/* An empty store of a run that never came as far as a toy. */
static void make_store(paritas_context *context, const char *path, size_t n, const paritas_key_entry *entries)
{
    const struct store_run run = {.kind = STORE_TESTS, .n_entries = n, .entries = entries};
    struct store *store;
    assert_int_equal(store_open(context, path, &run, false, &store), PARITAS_OK);
    store_close(store);
}

TEST(stores_without_an_answer_are_refused_by_name)
{
    static const paritas_key_entry none[] = {{"test_statistic", "q"}, {"mu", "1"}},
                                   wrong[] = {{"test_statistic", "t"}, {"mu", "1"}},
                                   word[] = {{"test_statistic", "q"}, {"mu", "one"}};
    struct fixture f = counting(12.0, S, B, -1.0, 10.0);
    paritas_toys_options options = toys_options(100, 6);
    paritas_limit_toys_result limit = PARITAS_INIT(paritas_limit_toys_result);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    options.store = path_of("1.db");
    assert_int_equal(paritas_limit_toys(f.context, f.model, NULL,
                                        SIZED(paritas_limit_toys_request, .statistic = PARITAS_STATISTIC_Q,
                                              .level = 0.05, .rtol = 0.5),
                                        &options, &limit),
                     PARITAS_OK);
    assert_int_equal(paritas_store_hypotest(f.context, options.store, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "no test of one value"));
    make_store(f.context, path_of("2.db"), COUNT(none), none);
    assert_int_equal(paritas_store_hypotest(f.context, path_of("2.db"), &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "as far as a toy"));
    make_store(f.context, path_of("3.db"), COUNT(wrong), wrong);
    assert_int_equal(paritas_store_hypotest(f.context, path_of("3.db"), &r), PARITAS_INVALID_INPUT);
    assert_non_null(strstr(paritas_error_message(f.context), "statistic t"));
    make_store(f.context, path_of("all.db"), COUNT(word), word);
    assert_int_equal(paritas_store_hypotest(f.context, path_of("all.db"), &r), PARITAS_INVALID_INPUT);
    assert_non_null(strstr(paritas_error_message(f.context), "value one"));
    assert_int_equal(paritas_store_hypotest(f.context, path_of("no.db"), &r), PARITAS_UNREADABLE);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p0_of_a_counting_experiment_is_a_poisson_sum),
        cmocka_unit_test(where_no_toy_is_as_extreme_z_is_only_bounded),
        cmocka_unit_test(a_deficit_is_as_extreme_as_every_toy),
        cmocka_unit_test_setup_teardown(pooled_shards_answer_as_the_whole_run, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(significance_and_a_test_of_q0_share_their_stores, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(stores_without_an_answer_are_refused_by_name, open_folder,
                                        close_folder),
    };
    return cmocka_run_group_tests_name("toys_answers", tests, NULL, NULL);
}
