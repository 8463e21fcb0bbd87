/* Limits by toys against closed forms, and what a search may and may not depend on. */
#define _GNU_SOURCE /* mkdtemp */
#include "refusing.h"
#include "infer_testing.h"
#include "toys_testing.h"

#include <unistd.h>

static const double S = 5.0, B = 3.0, RTOL = SHARE == 1 ? 0.05 : 0.15;

/* ---- closed forms ----------------------------------------------------------------------------- */

static double poisson_cdf(double n, double rate)
{
    double sum = 0.0;
    for (double k = 0.0; k <= n; k++) sum += exp(k * log(rate) - rate - lgamma(k + 1.0));
    return sum;
}

/* Where P(N <= n | mu s + b) = level P(N <= n | b): for one bin q falls with n below mu s + b, so that these
 * are all toys beyond. */
static double exact_limit(double n, double s, double b, double level)
{
    double low = 0.0, high = 1000.0;
    for (int i = 0; i < 200; i++) {
        const double mu = 0.5 * (low + high);
        if (poisson_cdf(n, mu * s + b) > level * poisson_cdf(n, b))
            low = mu;
        else
            high = mu;
    }
    return low;
}

/* The number of events at a percentile of the background. */
static double percentile(int sigmas, double b)
{
    const double p = 0.5 * erfc(-(double)sigmas / sqrt(2.0));
    double n = 0.0;
    while (poisson_cdf(n, b) < p) n++;
    return n;
}

static paritas_hypotest_toys_result scanned[PARITAS_SCAN_MOST] = {PARITAS_INIT(paritas_hypotest_toys_result)};

/* What is tested on the way stands in `scanned`. */
static paritas_status find_limit(paritas_context *context, const paritas_model *model,
                                 paritas_test_statistic statistic, double level, double rtol,
                                 const paritas_toys_options *options, paritas_limit_toys_result *r)
{
    const paritas_limit_toys_request request = {.size = sizeof request,
                                                .statistic = statistic,
                                                .level = level,
                                                .rtol = rtol,
                                                .scan_room = COUNT(scanned),
                                                .scan = scanned};
    return paritas_limit_toys(context, model, NULL, &request, options, r);
}

static paritas_limit_toys_result limit_of(struct fixture *f, paritas_test_statistic statistic, double level,
                                          double rtol, const paritas_toys_options *options)
{
    paritas_limit_toys_result r = PARITAS_INIT(paritas_limit_toys_result);
    ASSERT_OK(f->context, find_limit(f->context, f->model, statistic, level, rtol, options, &r));
    return r;
}

/* A limit with its error says what it promises, and lies within 4 of its errors. */
static void compare(double limit, double error, int reached, double rtol, double exact)
{
    assert_true(reached);
    assert_true(error > 0.0 && error <= rtol * limit);
    ASSERT_CLOSE(limit, exact, 4.0 * error);
}

TEST(limits_of_a_counting_experiment_are_the_roots_of_poisson_sums)
{
    static const double counts[] = {0.0, 2.0, 4.0, 8.0};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct fixture f = counting(counts[i], S, B, 0.0, 10.0);
        const paritas_toys_options options = toys_options(0, 11 + i);
        const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, RTOL, &options);
        assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
        compare(r.limit_obs, r.limit_obs_error, r.reached_obs, RTOL, exact_limit(counts[i], S, B, 0.05));
        for (int k = 0; k < 5; k++)
            compare(r.limit_exp[k], r.limit_exp_error[k], r.reached_exp[k], RTOL,
                    exact_limit(percentile(k - 2, B), S, B, 0.05));
        ASSERT_CLOSE(r.mu_hat, fmax((counts[i] - B) / S, 0.0), 1e-6);
        free_fixture(&f);
    }
}

TEST(nothing_seen_excludes_what_makes_minus_log_level_events)
{
    static const double levels[] = {0.05, 0.32};
    for (size_t i = 0; i < COUNT(levels); i++) {
        struct fixture f = counting(0.0, 1.0, 2.0, 0.0, 5.0);
        const paritas_toys_options options = toys_options(0, 5);
        const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, levels[i], RTOL, &options);
        /* whatever the background */
        compare(r.limit_obs, r.limit_obs_error, r.reached_obs, RTOL, -log(levels[i]));
        free_fixture(&f);
    }
}

TEST(an_error_is_that_of_the_limits_of_many_seeds)
{
    /* the errors hold for any correlation between tested values, so they may be too large, but not by much,
     * and not too small */
    enum { SEEDS = 40 / SHARE };
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    const double exact[2] = {exact_limit(4.0, S, B, 0.05), exact_limit(percentile(0, B), S, B, 0.05)};
    double squares[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const paritas_toys_options options = toys_options(0, 1000 + seed);
        const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
        squares[0] += pow((r.limit_obs - exact[0]) / r.limit_obs_error, 2.0) / SEEDS;
        squares[1] += pow((r.limit_exp[2] - exact[1]) / r.limit_exp_error[2], 2.0) / SEEDS;
    }
    for (int k = 0; k < 2; k++) assert_true(squares[k] > 0.1 && squares[k] < 1.7);
    free_fixture(&f);
}

/* The value nearest to the lowest limit tells little of it: there a jump of the percentile is rare. */
TEST(toys_are_drawn_where_they_make_an_error_smaller)
{
    struct fixture f = counting(20.0, S, 10.0, 0.0, 10.0);
    const paritas_toys_options options = toys_options(0, 0);
    const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.05, &options);
    for (int i = 0; i < 5; i++)
        compare(r.limit_exp[i], r.limit_exp_error[i], r.reached_exp[i], 0.05,
                exact_limit(percentile(i - 2, 10.0), S, 10.0, 0.05));
    for (size_t i = 0; i < r.n_scan; i++) assert_true(scanned[i].n_tested < PARITAS_LIMIT_TOYS);
    free_fixture(&f);
}

TEST(where_events_are_many_limits_are_asymptotic)
{
    struct fixture f = counting(1020.0, 10.0, 1000.0, -20.0, 50.0);
    static const paritas_test_statistic statistics[] = {PARITAS_STATISTIC_QTILDE, PARITAS_STATISTIC_Q};
    for (size_t i = 0; i < COUNT(statistics); i++) {
        const paritas_toys_options options = toys_options(0, 3);
        const paritas_limit_toys_result r = limit_of(&f, statistics[i], 0.05, RTOL, &options);
        paritas_limit_result asymptotic = PARITAS_INIT(paritas_limit_result);
        assert_int_equal(
            paritas_limit(f.context, f.model, NULL,
                          SIZED(paritas_limit_request, .statistic = statistics[i], .level = 0.05),
                          &asymptotic),
            PARITAS_OK);
        assert_true(r.asymptotic_obs == asymptotic.limit_obs &&
                    memcmp(r.asymptotic_exp, asymptotic.limit_exp, sizeof r.asymptotic_exp) == 0);
        compare(r.limit_obs, r.limit_obs_error, r.reached_obs, RTOL, asymptotic.limit_obs);
        for (int k = 0; k < 5; k++)
            compare(r.limit_exp[k], r.limit_exp_error[k], r.reached_exp[k], RTOL, asymptotic.limit_exp[k]);
    }
    free_fixture(&f);
}

/* ---- bounds ----------------------------------------------------------------------------------- */

TEST(a_bound_that_is_too_narrow_is_widened_and_said)
{
    struct fixture narrow = counting(4.0, S, B, 0.0, 1.1), wide = counting(4.0, S, B, 0.0, 100.0);
    const paritas_toys_options options = toys_options(0, 2);
    const paritas_limit_toys_result r = limit_of(&narrow, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    const double last = scanned[r.n_scan - 1].mu;
    const paritas_limit_toys_result w = limit_of(&wide, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    assert_true(r.bound_widened && r.upper_bound > r.limit_exp[4] && r.upper_bound >= last);
    assert_true(!w.bound_widened && w.upper_bound == 100.0);
    ASSERT_CLOSE(r.limit_obs, exact_limit(4.0, S, B, 0.05), 4.0 * r.limit_obs_error);
    ASSERT_CLOSE(r.limit_exp[4], w.limit_exp[4], 4.0 * (r.limit_exp_error[4] + w.limit_exp_error[4]));
    free_fixture(&narrow);
    free_fixture(&wide);
}

TEST(a_signal_that_no_data_can_exclude_has_no_limit)
{
    struct fixture f = counting(4.0, 1e-9, B, 0.0, 10.0);
    const paritas_toys_options options = toys_options(0, 2);
    const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    assert_true(isnan(r.limit_obs) && isnan(r.limit_obs_error) && r.reached_obs);
    for (int k = 0; k < 5; k++) assert_true(isnan(r.limit_exp[k]) && r.reached_exp[k]);
    assert_true(r.bound_widened && r.upper_bound > 1e6);
    free_fixture(&f);
}

/* ---- numbers of toys -------------------------------------------------------------------------- */

TEST(what_toys_cannot_reach_is_said_with_the_error_that_they_give)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    const paritas_toys_options options = toys_options(700, 8);
    const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.02, &options);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    assert_true(!r.reached_obs && r.limit_obs_error > 0.02 * r.limit_obs);
    ASSERT_CLOSE(r.limit_obs, exact_limit(4.0, S, B, 0.05), 4.0 * r.limit_obs_error);
    for (size_t i = 0; i < r.n_scan; i++)
        assert_true(scanned[i].n_tested <= 700 && scanned[i].n_other <= 700);
    free_fixture(&f);
}

TEST(a_few_toys_prove_nothing)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    for (uint64_t n = 1; n <= 5; n++) {
        const paritas_toys_options options = toys_options(n, 8);
        const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.3, &options);
        assert_true(!r.reached_obs && !r.reached_exp[0] && !r.reached_exp[2] && !r.reached_exp[4]);
        assert_true(isnan(r.limit_obs) || r.limit_obs_error > 0.3 * r.limit_obs);
    }
    free_fixture(&f);
}

/* P(N = 0 | 20) is 2e-9. No value gives the observed curve an answer, so none is tested for its sake: not one
 * below the asymptotic limits. */
TEST(an_observation_rarer_than_all_toys_takes_no_values_near_0)
{
    struct fixture f = counting(0.0, S, 20.0, 0.0, 10.0);
    for (uint64_t n = 1; n <= 100; n *= 10) {
        const paritas_toys_options options = toys_options(n, 8);
        const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.3, &options);
        assert_true(isnan(r.limit_obs) && !r.reached_obs);
        for (size_t i = 0; i < r.n_scan; i++)
            assert_true(scanned[i].clb == 0.0 &&
                        scanned[i].mu > 0.5 * fmin(r.asymptotic_obs, r.asymptotic_exp[0]));
    }
    free_fixture(&f);
}

TEST(the_scan_is_ascending_and_adds_up)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    const paritas_toys_options options = toys_options(0, 8);
    const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    uint64_t toys = 0;
    for (size_t i = 0; i < r.n_scan; i++) {
        const paritas_hypotest_toys_result *one = &scanned[i];
        assert_true(i == 0 || scanned[i - 1].mu < one->mu);
        assert_true(one->n_tested >= 1000 && one->n_tested == one->n_other);
        assert_true(one->mu_hat == r.mu_hat && one->twice_nll_free == r.twice_nll_free);
        toys += one->n_tested + one->n_other;
        /* the same test alone gives the same bits: a tested value knows nothing of the others */
        paritas_hypotest_toys_result alone = PARITAS_INIT(paritas_hypotest_toys_result);
        const paritas_toys_options n = toys_options(one->n_tested, 8);
        assert_int_equal(
            paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, one->mu, &n, &alone),
            PARITAS_OK);
        assert_true(alone.q == one->q && alone.cls_obs == one->cls_obs &&
                    memcmp(alone.cls_exp, one->cls_exp, sizeof alone.cls_exp) == 0);
        assert_memory_equal(alone.cls_exp_error, one->cls_exp_error, sizeof alone.cls_exp_error);
    }
    assert_int_equal(r.tally.fitted, toys);
    assert_int_equal(r.tally.counts[PARITAS_FIT_CONVERGED], toys);
    free_fixture(&f);
}

/* ---- free fits at mu', once for all tested values ---- */

static struct fixture uncertain(const paritas_options *open)
{
    static const char text[] =
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"s\",\"data\":[6.0,9.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":"
        "null},"
        "{\"name\":\"a\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.92}}]},"
        "{\"name\":\"b\",\"data\":[50.0,40.0],\"modifiers\":[{\"name\":\"stat\",\"type\":\"staterror\","
        "\"data\":"
        "[3.0,4.0]},{\"name\":\"r\",\"type\":\"normsys\",\"data\":{\"hi\":1.06,\"lo\":0.93}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[56.0,41.0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],\"version\":\"1.0."
        "0\"}";
    struct fixture f = {0};
    if (paritas_open(open, &f.context) != PARITAS_OK ||
        paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace) != PARITAS_OK ||
        paritas_model_create(f.context, f.workspace, NULL, &f.model) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f.context));
    return f;
}

TEST(a_known_free_fit_changes_no_bit_of_a_toy)
{
    enum { TOYS = 300, KNOWN = 200 };
    static struct profile plain[TOYS], again[TOYS];
    struct fixture f = uncertain(NULL);
    struct known_fits known = {0};
    const paritas_toys_options options = toys_options(TOYS, 5);
    struct infer infer;
    ASSERT_OK(f.context, infer_open_for_toys(&infer, f.context, f.model, NULL, true));
    for (int k = 0; k < 3; k++) {
        struct toy_test test = {.store = NULL};
        ASSERT_OK(f.context,
                  toy_test_open(&test, &infer, &options, PARITAS_STATISTIC_QTILDE, 0.5 + 0.7 * k, NULL));
        struct ensemble *e = &test.ensemble[TOY_OTHER];
        assert_true(e->quasi_newton);
        ASSERT_OK(f.context, ensemble_run(f.context, e, 0, TOYS, plain, NULL, NULL, NULL));
        e->known = &known;
        /* the first test knows nothing, the second 200 toys, the third all */
        ASSERT_OK(f.context, ensemble_run(f.context, e, 0, k == 0 ? KNOWN : TOYS, again, NULL, NULL, NULL));
        for (size_t t = 0; t < (k == 0 ? KNOWN : TOYS); t++) {
            assert_true(known.evaluations[t] > 1);
            assert_true(plain[t].value_free == again[t].value_free && plain[t].edm == again[t].edm &&
                        plain[t].value_fixed == again[t].value_fixed && plain[t].mu_hat == again[t].mu_hat);
            assert_true(plain[t].iterations == again[t].iterations && plain[t].method == again[t].method);
        }
        toy_test_close(&test);
    }
    /* other bounds are another setting */
    struct toy_test test = {.store = NULL};
    ASSERT_OK(f.context, toy_test_open(&test, &infer, &options, PARITAS_STATISTIC_QTILDE, 1.0, NULL));
    infer_widen(&infer, 2.0 * infer.upper[infer.poi]);
    test.ensemble[TOY_OTHER].known = &known;
    ASSERT_OK(f.context, ensemble_run(f.context, &test.ensemble[TOY_OTHER], 0, 10, again, NULL, NULL, NULL));
    assert_true(known.evaluations[9] > 1 && known.evaluations[10] == 0);
    toy_test_close(&test);
    known_fits_free(f.context, &known);
    infer_close(&infer);
    free_fixture(&f);
}

static void compare_with_tests_alone(const paritas_options *open)
{
    struct fixture f = uncertain(open);
    const paritas_toys_options options = toys_options(0, 8);
    const paritas_limit_toys_result r = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.2, &options);
    assert_true(r.n_scan > 2);
    for (size_t i = 0; i < r.n_scan; i++) {
        const paritas_hypotest_toys_result *one = &scanned[i];
        paritas_hypotest_toys_result alone = PARITAS_INIT(paritas_hypotest_toys_result);
        const paritas_toys_options n = toys_options(one->n_tested, 8);
        ASSERT_OK(f.context, paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE,
                                                   one->mu, &n, &alone));
        assert_true(alone.q == one->q && alone.cls_obs == one->cls_obs);
        assert_memory_equal(alone.cls_exp, one->cls_exp, sizeof alone.cls_exp);
        assert_memory_equal(alone.cls_exp_error, one->cls_exp_error, sizeof alone.cls_exp_error);
        assert_memory_equal(&alone.tally, &one->tally, sizeof alone.tally);
    }
    free_fixture(&f);
}

TEST(tests_of_a_limit_are_those_alone_though_they_share_free_fits)
{
    paritas_options open = PARITAS_OPTIONS_DEFAULT;
    compare_with_tests_alone(&open);
    open.threads = 3;
    compare_with_tests_alone(&open);
    open.lanes = 1;
    compare_with_tests_alone(&open);
}

TEST(a_scan_with_little_room_is_the_beginning_of_the_whole_scan)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    const paritas_toys_options options = toys_options(0, 8);
    const paritas_limit_toys_result whole = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.2, &options);
    assert_true(whole.n_scan > 2);
    for (size_t room = 0; room <= 2; room++) {
        paritas_hypotest_toys_result few[3] = {PARITAS_INIT(paritas_hypotest_toys_result)};
        paritas_limit_toys_result part = PARITAS_INIT(paritas_limit_toys_result);
        few[room].mu = -1.0;
        const paritas_limit_toys_request request = {
            .size = sizeof request, .level = 0.05, .rtol = 0.2, .scan_room = room, .scan = room ? few : NULL};
        ASSERT_OK(f.context, paritas_limit_toys(f.context, f.model, NULL, &request, &options, &part));
        assert_int_equal(part.n_scan, whole.n_scan);
        assert_true(part.limit_obs == whole.limit_obs);
        for (size_t i = 0; i < room; i++)
            assert_true(few[i].mu == scanned[i].mu && few[i].cls_obs == scanned[i].cls_obs);
        assert_true(few[room].mu == -1.0);
    }
    free_fixture(&f);
}

TEST(limits_depend_on_the_seed_and_not_on_threads)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    paritas_options one = PARITAS_OPTIONS_DEFAULT;
    one.threads = 1;
    paritas_context *alone;
    assert_int_equal(paritas_open(&one, &alone), PARITAS_OK);
    const paritas_toys_options options = toys_options(0, 8), other = toys_options(0, 9);
    const paritas_limit_toys_result a = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options),
                                    c = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &other);
    paritas_limit_toys_result b = PARITAS_INIT(paritas_limit_toys_result);
    assert_int_equal(find_limit(alone, f.model, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options, &b),
                     PARITAS_OK);
    assert_true(a.limit_obs == b.limit_obs && a.limit_obs_error == b.limit_obs_error && a.n_scan == b.n_scan);
    assert_memory_equal(a.limit_exp, b.limit_exp, sizeof a.limit_exp);
    assert_true(a.limit_obs != c.limit_obs);
    paritas_close(alone);
    free_fixture(&f);
}

/* ---- stores ----------------------------------------------------------------------------------- */

static char folder[64];

static int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/paritas_limit_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int close_folder(void **state)
{
    static const char *const names[] = {"whole.db", "part.db"}, *const endings[] = {"", "-wal", "-shm",
                                                                                    "-lock"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(endings); k++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", names[i], endings[k]);
            unlink(path_of(name));
        }
    return rmdir(folder);
}

static int add_row(void *user, const paritas_toy *row)
{
    return keep_toys(user, 1, row);
}

static struct taken rows_of(paritas_context *context, const char *path)
{
    struct taken taken = {0};
    struct store *store = NULL;
    if (store_open_read(context, path, &store) != PARITAS_OK ||
        store_read(store, add_row, &taken) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(context));
    store_close(store);
    return taken;
}

TEST(a_search_that_was_stopped_goes_on_to_the_same_rows_and_limits)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    paritas_toys_options options = toys_options(0, 21);
    options.store = path_of("whole.db");
    const paritas_limit_toys_result whole = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    struct taken rows = rows_of(f.context, options.store);
    assert_int_equal(rows.n, whole.tally.fitted);
    options.store = path_of("part.db");
    options.resume = 1;
    paritas_limit_toys_result part = PARITAS_INIT(paritas_limit_toys_result);
    uint64_t calls = 0;
    for (size_t stop = 1;; stop += 3) { /* each time a little further, from what is there */
        struct taken taken = {.stop_after = stop};
        options.take = keep_toys;
        options.user = &taken;
        const paritas_status status =
            find_limit(f.context, f.model, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options, &part);
        free_taken(&taken);
        calls++;
        if (status == PARITAS_OK) break;
        assert_int_equal(status, PARITAS_CANCELLED);
    }
    assert_true(calls > 2 && part.tally.fitted < whole.tally.fitted);
    assert_memory_equal(part.tally.counts, whole.tally.counts, sizeof whole.tally.counts);
    assert_true(part.limit_obs == whole.limit_obs && part.limit_obs_error == whole.limit_obs_error &&
                part.n_scan == whole.n_scan);
    assert_memory_equal(part.limit_exp, whole.limit_exp, sizeof whole.limit_exp);
    struct taken again = rows_of(f.context, options.store);
    assert_int_equal(again.n, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const paritas_toy *x = &rows.rows[i], *y = &again.rows[i];
        assert_true(x->mu == y->mu && x->hypothesis == y->hypothesis && x->toy == y->toy && x->q == y->q &&
                    x->mu_hat == y->mu_hat && x->status == y->status && x->iterations == y->iterations);
    }
    free_taken(&rows);
    free_taken(&again);
    free_fixture(&f);
}

TEST(a_store_serves_more_toys_and_smaller_errors_but_no_other_level)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    paritas_toys_options options = toys_options(1200, 4);
    options.store = path_of("whole.db");
    options.resume = 1;
    const paritas_limit_toys_result few = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    options.n = 0;
    const paritas_limit_toys_result more = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    options.store = NULL;
    options.resume = 0;
    const paritas_limit_toys_result fresh = limit_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &options);
    assert_true(!few.reached_exp[0] && more.reached_exp[0] && more.tally.fitted < fresh.tally.fitted);
    assert_true(more.limit_exp[0] == fresh.limit_exp[0] && more.limit_obs == fresh.limit_obs);
    options.store = path_of("whole.db");
    options.resume = 1;
    paritas_limit_toys_result r = PARITAS_INIT(paritas_limit_toys_result);
    assert_int_equal(find_limit(f.context, f.model, PARITAS_STATISTIC_QTILDE, 0.1, 0.1, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "level = 0.05"));
    assert_int_equal(find_limit(f.context, f.model, PARITAS_STATISTIC_Q, 0.05, 0.1, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "test_statistic"));
    free_fixture(&f);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static paritas_status limit_within(struct ledger *ledger, const paritas_model *model,
                                   const paritas_toys_options *options, long allowed, long *requests)
{
    const paritas_allocator allocator = ledger_allocator(ledger);
    paritas_options own = PARITAS_OPTIONS_DEFAULT;
    own.allocator = &allocator;
    own.threads = 1;
    paritas_context *context;
    paritas_limit_toys_result r = PARITAS_INIT(paritas_limit_toys_result);
    ledger->fail_at = 0;
    assert_int_equal(paritas_open(&own, &context), PARITAS_OK);
    const long before = ledger->requests;
    if (allowed >= 0) ledger->fail_at = before + allowed + 1;
    const paritas_status status =
        find_limit(context, model, PARITAS_STATISTIC_QTILDE, 0.05, 0.2, options, &r);
    *requests = ledger->requests - before;
    ledger->fail_at = 0;
    paritas_close(context);
    assert_int_equal(ledger->live, 0);
    return status;
}

TEST(memory_that_runs_out_is_said_and_leaves_nothing_behind)
{
    enum { STEPS = 100 / SHARE };
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    struct ledger ledger = {.for_good = true};
    for (int stored = 0; stored < 2; stored++) { /* all toys drawn, then all of them read */
        paritas_toys_options options = toys_options(3000, 4);
        options.store = stored ? path_of("whole.db") : NULL;
        options.resume = stored;
        long requests, ignored;
        for (int i = 0; i < 2; i++)
            assert_int_equal(limit_within(&ledger, f.model, &options, -1, &requests), PARITAS_OK);
        for (long step = 0; step < STEPS; step++)
            assert_int_equal(limit_within(&ledger, f.model, &options, step * requests / STEPS, &ignored),
                             PARITAS_OUT_OF_MEMORY);
        assert_int_equal(limit_within(&ledger, f.model, &options, requests, &ignored), PARITAS_OK);
    }
    free_fixture(&f);
}

/* ---- refusals --------------------------------------------------------------------------------- */

TEST(what_makes_no_sense_is_refused_by_name)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0);
    paritas_limit_toys_result r = PARITAS_INIT(paritas_limit_toys_result);
    paritas_toys_options shard = toys_options(0, 1);
    shard.shard = 1;
    shard.shards = 2;
    const struct {
        paritas_test_statistic statistic;
        double level, rtol;
        const paritas_toys_options *options;
        const char *word;
    } cases[] = {{PARITAS_STATISTIC_QTILDE, 0.05, 0.1, &shard, "shard 1/2"},
                 {PARITAS_STATISTIC_Q0, 0.05, 0.1, NULL, "qtilde|q"},
                 {PARITAS_STATISTIC_QTILDE, 0.0, 0.1, NULL, "`level` is 0"},
                 {PARITAS_STATISTIC_QTILDE, 0.05, 0.0, NULL, "`rtol` is 0"},
                 {PARITAS_STATISTIC_QTILDE, 0.05, 1.0, NULL, "`rtol` is 1"},
                 {PARITAS_STATISTIC_QTILDE, 0.05, (double)NAN, NULL, "`rtol` is nan"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(find_limit(f.context, f.model, cases[i].statistic, cases[i].level, cases[i].rtol,
                                    cases[i].options, &r),
                         PARITAS_INVALID_ARGUMENT);
        assert_non_null(strstr(paritas_error_message(f.context), cases[i].word));
    }
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_a_counting_experiment_are_the_roots_of_poisson_sums),
        cmocka_unit_test(nothing_seen_excludes_what_makes_minus_log_level_events),
        cmocka_unit_test(an_error_is_that_of_the_limits_of_many_seeds),
        cmocka_unit_test(toys_are_drawn_where_they_make_an_error_smaller),
        cmocka_unit_test(where_events_are_many_limits_are_asymptotic),
        cmocka_unit_test(a_bound_that_is_too_narrow_is_widened_and_said),
        cmocka_unit_test(a_signal_that_no_data_can_exclude_has_no_limit),
        cmocka_unit_test(what_toys_cannot_reach_is_said_with_the_error_that_they_give),
        cmocka_unit_test(a_few_toys_prove_nothing),
        cmocka_unit_test(an_observation_rarer_than_all_toys_takes_no_values_near_0),
        cmocka_unit_test(the_scan_is_ascending_and_adds_up),
        cmocka_unit_test(a_known_free_fit_changes_no_bit_of_a_toy),
        cmocka_unit_test(tests_of_a_limit_are_those_alone_though_they_share_free_fits),
        cmocka_unit_test(a_scan_with_little_room_is_the_beginning_of_the_whole_scan),
        cmocka_unit_test(limits_depend_on_the_seed_and_not_on_threads),
        cmocka_unit_test_setup_teardown(a_search_that_was_stopped_goes_on_to_the_same_rows_and_limits,
                                        open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_store_serves_more_toys_and_smaller_errors_but_no_other_level,
                                        open_folder, close_folder),
        cmocka_unit_test_setup_teardown(memory_that_runs_out_is_said_and_leaves_nothing_behind, open_folder,
                                        close_folder),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("toys_limit", tests, NULL, NULL);
}
