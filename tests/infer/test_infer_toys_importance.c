/* Small p-values from toys with weights: against sums over all data, against toys without weights, and that a
 * run in parts is the run in one. */
#define _GNU_SOURCE /* mkdtemp */
#include "infer_testing.h"
#include "store_folder.h"
#include "toys_testing.h"

#include <unistd.h>

static const double S = 10.0, B = 50.0;

static paritas_toys_options weighted_toys(uint64_t n, uint64_t seed)
{
    paritas_toys_options options = toys_options(n, seed);
    options.importance = 1;
    return options;
}

static paritas_hypotest_toys_result test_of(struct fixture *f, paritas_test_statistic statistic, double mu,
                                            const paritas_toys_options *options)
{
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    ASSERT_OK(f->context, paritas_hypotest_toys(f->context, f->model, NULL, statistic, mu, options, &r));
    return r;
}

static double poisson(double n, double rate)
{
    return exp(n * log(rate) - rate - lgamma(n + 1.0));
}

/* P(N >= n) and P(N <= n). */
static double upper_tail(double n, double rate)
{
    double sum = 0.0;
    for (double k = n + 400.0; k >= n; k--) sum += poisson(k, rate);
    return sum;
}

static double lower_tail(double n, double rate)
{
    double sum = 0.0;
    for (double k = 0.0; k <= n; k++) sum += poisson(k, rate);
    return sum;
}

static void assert_within(double found, double error, double exact, double most_relative)
{
    if (!(error > 0.0 && error < most_relative * exact))
        fail_msg("%.6g +- %.2g where %.6g is exact: the error is too large", found, error, exact);
    ASSERT_CLOSE(found, exact, 4.0 * error);
}

/* ---- closed forms ----------------------------------------------------------------------------- */

TEST(p0_of_a_counting_experiment_is_a_poisson_tail_from_one_to_eight_sigma)
{
    static const struct {
        double s, b, n;
    } cases[] = {{10, 50, 58}, {10, 50, 74}, {10, 50, 91}, {10, 50, 120},
                 {3, 1, 6},    {3, 1, 11},   {5, 0.1, 5},  {0.5, 1000, 1170}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct fixture f = counting(cases[k].n, cases[k].s, cases[k].b, 0.0, 1000.0);
        const paritas_toys_options options = weighted_toys(2000, 11 + k);
        const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
        assert_within(r.p0, r.p0_error, upper_tail(cases[k].n, cases[k].b), 0.1);
        assert_true(r.p0 == r.clsb && r.p0 == r.cls_obs && r.effective_tested >= 25.0);
        assert_true(r.strengths[0] == 0.0 && r.strengths[1] == 1.0 && r.n_strengths >= 2);
        assert_int_equal(r.tally.fitted, 2000 * r.n_strengths);
        const double clb = upper_tail(cases[k].n, cases[k].s + cases[k].b);
        if (!isnan(r.clb)) ASSERT_CLOSE(r.clb, clb, 4.0 * r.clb_error + 1e-12);
        free_fixture(&f);
    }
}

TEST(the_significance_is_that_of_p0)
{
    struct fixture f = counting(91.0, S, B, 0.0, 100.0);
    const paritas_toys_options options = weighted_toys(2000, 3);
    paritas_significance_toys_result r = PARITAS_INIT(paritas_significance_toys_result);
    ASSERT_OK(f.context, paritas_significance_toys(f.context, f.model, NULL, &options, &r, NULL));
    ASSERT_CLOSE(r.z, 5.15873, 4.0 * r.z_error); /* of 1.24451e-7 */
    assert_true(r.z_error < 0.03);
    /* the median of Poisson 60 is 60 */
    assert_within(r.p0_exp, r.p0_exp_error, upper_tail(60.0, B), 0.3);
    free_fixture(&f);
}

/* A deficit: both p-values are lower tails. */
TEST(cls_of_a_counting_experiment_is_a_quotient_of_poisson_tails)
{
    static const struct {
        double n, mu;
    } cases[] = {{50, 3}, {44, 4}, {35, 5}, {58, 1}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct fixture f = counting(cases[k].n, S, B, -4.0, 100.0);
        const paritas_toys_options options = weighted_toys(2000, 5 + k);
        const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q, cases[k].mu, &options);
        const double clsb = lower_tail(cases[k].n, cases[k].mu * S + B), clb = lower_tail(cases[k].n, B);
        assert_within(r.clsb, r.clsb_error, clsb, 0.1);
        assert_within(r.clb, r.clb_error, clb, 0.1);
        assert_within(r.cls_obs, r.cls_obs_error, clsb / clb, 0.1);
        free_fixture(&f);
    }
}

/* 91 counts over 50 for 10 a unit of signal: the best fit is 4.1. */
TEST(strengths_reach_from_the_tested_value_beyond_the_best_fit_within_the_bounds)
{
    static const double upper[] = {100.0, 5.5, 4.2}, last[] = {6.15, 5.5, 4.1};
    for (size_t k = 0; k < COUNT(upper); k++) {
        struct fixture f = counting(91.0, S, B, 0.0, upper[k]);
        const paritas_toys_options options = weighted_toys(1000, 3);
        const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
        assert_true(r.strengths[0] == 0.0 && r.strengths[1] == 1.0 && r.n_strengths == (k < 2 ? 5 : 4));
        ASSERT_CLOSE(r.strengths[r.n_strengths - 1], last[k], 1e-6);
        for (size_t i = 3; i < r.n_strengths; i++) assert_true(r.strengths[i] > r.strengths[i - 1]);
        for (size_t i = r.n_strengths; i < PARITAS_STRENGTHS_MOST; i++) assert_true(isnan(r.strengths[i]));
        assert_within(r.p0, r.p0_error, upper_tail(91.0, B), 0.2);
        free_fixture(&f);
    }
}

/* Above the tested value every toy is as extreme: the control variate leaves no error. */
TEST(a_p_value_of_one_has_no_error)
{
    struct fixture f = counting(90.0, S, B, 0.0, 100.0);
    const paritas_toys_options options = weighted_toys(500, 1);
    const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_QTILDE, 2.0, &options);
    assert_true(r.q == 0.0 && r.clsb == 1.0 && r.clb == 1.0 && r.cls_obs == 1.0);
    ASSERT_CLOSE(r.clsb_error, 0.0, 1e-12);
    ASSERT_CLOSE(r.cls_obs_error, 0.0, 1e-12);
    free_fixture(&f);
}

/* On and off: b is measured by m counts at a rate of TAU b, as auxiliary data of a shapesys (in_aux) or as a
 * second bin. */
static const double TAU = 2.0;

static struct fixture on_off(double n, double m, bool in_aux)
{
    char text[2048], background[512], off[512] = "";
    if (in_aux) {
        /* tau gamma is the auxiliary datum's expectation: (b / sigma)^2 = m */
        snprintf(background, sizeof background,
                 "\"data\":[%.17g],\"modifiers\":[{\"name\":\"b\",\"type\":\"shapesys\",\"data\":[%.17g]}]",
                 m / TAU, m / TAU / sqrt(m));
    } else {
        snprintf(background, sizeof background,
                 "\"data\":[%.17g],\"modifiers\":[{\"name\":\"b\",\"type\":\"normfactor\",\"data\":null}]",
                 m / TAU);
        snprintf(off, sizeof off,
                 ",{\"name\":\"off\",\"samples\":[{\"name\":\"b\",\"data\":[%.17g],\"modifiers\":[{\"name\":"
                 "\"b\",\"type\":\"normfactor\",\"data\":null}]}]}",
                 m);
    }
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"on\",\"samples\":[{\"name\":\"s\",\"data\":[10],\"modifiers\":[{"
             "\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]},{\"name\":\"b\",%s}]}%s],"
             "\"observations\":[{\"name\":\"on\",\"data\":[%.17g]}%s%.0f%s],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
             "\"bounds\":[[0,50]]}]}}],\"version\":\"1.0.0\"}",
             background, off, n, in_aux ? "" : ",{\"name\":\"off\",\"data\":[", in_aux ? 0.0 : m,
             in_aux ? "" : "]}");
    if (in_aux) { /* no second observation */
        char *zero = strstr(text, "]}0],\"measurements\"");
        assert_non_null(zero);
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    }
    return make_fixture(text);
}

/* Li and Ma, Astrophys. J. 272 (1983) 317, eq. 17, with b of at most `most`. */
static double on_off_q0(double n, double m, double most)
{
    const double free = fmin(m / TAU, most), held = fmin((n + m) / (1.0 + TAU), most);
    return n > free ? deviance(n, held) + deviance(m, TAU * held) - deviance(m, TAU * free) : 0.0;
}

static double on_off_p0(double n, double m, double most)
{
    const double q = on_off_q0(n, m, most), b = fmin((n + m) / (1.0 + TAU), most);
    double sum = 0.0;
    for (double i = 0.0; i < 400.0; i++)
        for (double j = 0.0; j < 400.0; j++)
            if (on_off_q0(i, j, most) >= q - 1e-9) sum += poisson(i, b) * poisson(j, TAU * b);
    return sum;
}

TEST(p0_of_an_on_off_experiment_is_a_sum_over_both_counts)
{
    static const struct {
        double n, m;
    } cases[] = {{40, 40}, {60, 40}, {75, 40}, {15, 3}};
    for (size_t k = 0; k < COUNT(cases); k++)
        for (int in_aux = 0; in_aux < 2; in_aux++) {
            const double n = cases[k].n, m = cases[k].m, most = 10.0 * m / TAU, q = on_off_q0(n, m, most);
            struct fixture f = on_off(n, m, in_aux);
            const paritas_toys_options options = weighted_toys(2000, 21 + k);
            const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
            ASSERT_CLOSE(r.q, q, 1e-6 * q);
            assert_within(r.p0, r.p0_error, on_off_p0(n, m, most), 0.15);
            free_fixture(&f);
        }
}

/* Without signal b is at its bound, with signal it is far below. Data of a high b and a high count in the
 * signal region are extreme, too: a third of p0. */
TEST(p0_has_all_data_that_are_extreme_where_a_nuisance_parameter_is_at_its_bound)
{
    enum { SEEDS = 20 };
    struct fixture f = on_off(30.0, 2.0, true);
    const double exact = on_off_p0(30.0, 2.0, 10.0);
    double sum = 0.0;
    ASSERT_CLOSE(exact, 9.463e-13, 1e-16);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const paritas_toys_options options = weighted_toys(2000, seed);
        const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
        assert_within(r.p0, r.p0_error, exact, 0.2);
        sum += (r.p0 - exact) / r.p0_error;
    }
    ASSERT_CLOSE(sum / SEEDS, 0.0, 1.0);
    free_fixture(&f);
}

/* ---- identities ------------------------------------------------------------------------------- */

/* Three bins with common and own uncertainties, normal and Poisson auxiliary data. `laws`: of parameters. */
static struct fixture spectrum_of(double first, const char *laws)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[8,10,6],\"modifiers\":["
             "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
             "{\"name\":\"e\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.92}}]},"
             "{\"name\":\"b\",\"data\":[40,30,50],\"modifiers\":["
             "{\"name\":\"e\",\"type\":\"normsys\",\"data\":{\"hi\":1.08,\"lo\":0.94}},"
             "{\"name\":\"h\",\"type\":\"histosys\",\"data\":"
             "{\"hi_data\":[44,30,47],\"lo_data\":[36,30,54]}},"
             "{\"name\":\"g\",\"type\":\"shapesys\",\"data\":[4,5,4]}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%.17g,45,61]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
             "{\"name\":\"mu\",\"bounds\":[[0,20]]}%s]}}],\"version\":\"1.0.0\"}",
             first, laws);
    return make_fixture(text);
}

static struct fixture spectrum(double first)
{
    return spectrum_of(first, "");
}

TEST(p_values_agree_with_those_of_many_toys_without_weights)
{
    enum { MANY = 400000 / SHARE };
    static const char two_widths[] = ",{\"name\":\"e\",\"constraint\":{\"type\":\"bifurcated\",\"ratio\":4},"
                                     "\"auxdata\":[0],\"sigmas\":[0.6]}";
    for (int k = 0; k < 5; k++) {
        struct fixture f = spectrum_of(k % 2 ? 62.0 : 55.0, k == 4 ? two_widths : "");
        const paritas_test_statistic statistic = k < 2 ? PARITAS_STATISTIC_Q0 : PARITAS_STATISTIC_QTILDE;
        const double mu = k < 2 ? 0.0 : k < 4 ? 3.5 : 2.0;
        paritas_toys_options plain = toys_options(MANY, 7), options = weighted_toys(4000, 8);
        plain.fix_aux = options.fix_aux = k == 1;
        const paritas_hypotest_toys_result many = test_of(&f, statistic, mu, &plain),
                                           r = test_of(&f, statistic, mu, &options);
        assert_true(many.clsb * MANY > 50.0 && many.q == r.q);
        ASSERT_CLOSE(r.clsb, many.clsb, 4.0 * hypot(r.clsb_error, many.clsb_error));
        ASSERT_CLOSE(r.clb, many.clb, 4.0 * hypot(r.clb_error, many.clb_error));
        ASSERT_CLOSE(r.cls_obs, many.cls_obs, 4.0 * hypot(r.cls_obs_error, many.cls_obs_error));
        for (int i = k < 4 ? 1 : 2; i < 4; i++) /* the last has few toys at -1 sigma */
            ASSERT_CLOSE(r.cls_exp[i], many.cls_exp[i],
                         4.0 * hypot(r.cls_exp_error[i], many.cls_exp_error[i]));
        assert_true(r.clsb_error < 3.0 * many.clsb_error * sqrt(MANY / 4000.0)); /* never much worse */
        free_fixture(&f);
    }
}

TEST(the_stated_error_covers_as_a_standard_deviation)
{
    enum { SEEDS = 300 };
    struct fixture f = counting(91.0, S, B, 0.0, 100.0);
    const double exact = upper_tail(91.0, B);
    int within = 0;
    double sum = 0.0, squares = 0.0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const paritas_toys_options options = weighted_toys(500, seed);
        const paritas_hypotest_toys_result r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
        const double pull = (r.p0 - exact) / r.p0_error;
        within += fabs(pull) < 1.0;
        sum += pull;
        squares += pull * pull;
    }
    /* 0.683 +- 0.027, mean 0 +- 0.058, variance 1 +- 0.08; an estimate and its error fluctuate together */
    ASSERT_CLOSE(within / (double)SEEDS, 0.683, 0.08);
    ASSERT_CLOSE(sum / SEEDS, 0.0, 0.25);
    ASSERT_CLOSE(squares / SEEDS, 1.0, 0.3);
    free_fixture(&f);
}

/* A weight is a quotient of probabilities: its mean over the strengths' toys is 1. */
TEST(weights_have_the_mean_one_and_are_the_quotients_of_poisson_probabilities)
{
    enum { N = 3000 };
    const double strengths[] = {2.0, 4.0, 2.0, 1.0}; /* twice, and a hypothesis: once each */
    struct fixture f = counting(91.0, S, B, 0.0, 100.0);
    paritas_toys_options options = weighted_toys(N, 4);
    options.n_strengths = COUNT(strengths);
    options.strengths = strengths;
    struct taken taken;
    const paritas_hypotest_toys_result r =
        run_toys(f.context, f.model, PARITAS_STATISTIC_Q0, 0.0, &options, &taken);
    const double at[] = {0.0, 1.0, 2.0, 4.0};
    assert_int_equal(r.n_strengths, COUNT(at));
    assert_memory_equal(r.strengths, at, sizeof at);
    assert_int_equal(taken.n, N * COUNT(at));
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < taken.n; i++) {
        const paritas_toy *toy = &taken.rows[i];
        assert_true(toy->hypothesis == at[i / N] && toy->toy == i % N);
        mean += toy->weight / (double)taken.n;
        squares += toy->weight * toy->weight / (double)taken.n;
        if (toy->mu_hat <= 0.0 || toy->mu_hat >= 100.0) continue; /* else it tells the count */
        const double count = round(toy->mu_hat * S + B);
        double all = 0.0;
        for (size_t j = 0; j < COUNT(at); j++) all += poisson(count, at[j] * S + B) / COUNT(at);
        ASSERT_CLOSE(toy->weight * all / poisson(count, B), 1.0, 1e-6);
        ASSERT_CLOSE(toy->weight_other * all / poisson(count, S + B), 1.0, 1e-6);
    }
    ASSERT_CLOSE(mean, 1.0, 4.0 * sqrt(squares / (double)taken.n));
    free_taken(&taken);
    free_fixture(&f);
}

TEST(toys_at_the_hypotheses_are_those_without_weights)
{
    enum { N = 500 };
    struct fixture f = spectrum(62.0);
    const paritas_toys_options plain = toys_options(N, 9), options = weighted_toys(N, 9);
    struct taken taken, reference;
    run_toys(f.context, f.model, PARITAS_STATISTIC_Q0, 0.0, &options, &taken);
    run_toys(f.context, f.model, PARITAS_STATISTIC_Q0, 0.0, &plain, &reference);
    size_t found = 0;
    for (size_t i = 0; i < taken.n; i++) {
        if (taken.rows[i].hypothesis != 0.0 && taken.rows[i].hypothesis != 1.0) continue;
        assert_memory_equal(&taken.rows[i], &reference.rows[found++], offsetof(paritas_toy, weight));
        assert_true(taken.rows[i].weight >= 0.0 && isnan(reference.rows[found - 1].weight));
    }
    assert_int_equal(found, 2 * N);
    free_taken(&taken);
    free_taken(&reference);
    free_fixture(&f);
}

static void assert_same_result(const paritas_hypotest_toys_result *a, const paritas_hypotest_toys_result *b)
{
    assert_memory_equal(a, b, offsetof(paritas_hypotest_toys_result, status));
    assert_int_equal(a->n_tested, b->n_tested);
    assert_int_equal(a->n_strengths, b->n_strengths);
    assert_memory_equal(a->strengths, b->strengths, sizeof a->strengths);
    assert_true(a->effective_tested == b->effective_tested && a->effective_other == b->effective_other);
}

TEST(threads_and_lanes_make_no_difference)
{
    struct fixture f = spectrum(62.0);
    const paritas_toys_options given = weighted_toys(700, 2);
    struct taken reference, taken;
    const paritas_hypotest_toys_result wanted =
        run_toys(f.context, f.model, PARITAS_STATISTIC_Q0, 0.0, &given, &reference);
    for (unsigned k = 0; k < 3; k++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.threads = k + 1;
        options.isa = k == 1 ? "scalar" : NULL;
        paritas_context *context;
        const paritas_status status = paritas_open(&options, &context);
        if (status != PARITAS_OK) { /* a build without these kernels */
            paritas_close(context);
            continue;
        }
        const paritas_hypotest_toys_result r =
            run_toys(context, f.model, PARITAS_STATISTIC_Q0, 0.0, &given, &taken);
        assert_same_result(&r, &wanted);
        assert_int_equal(taken.n, reference.n);
        assert_memory_equal(taken.rows, reference.rows, taken.n * sizeof *taken.rows);
        free_taken(&taken);
        paritas_close(context);
    }
    free_taken(&reference);
    free_fixture(&f);
}

/* ---- stores ----------------------------------------------------------------------------------- */

TEST(a_run_that_was_cut_short_goes_on_to_the_same_answer)
{
    struct fixture f = spectrum(62.0);
    paritas_toys_options options = weighted_toys(40000 / SHARE, 6);
    const paritas_hypotest_toys_result whole = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    struct taken taken = {.stop_after = 3};
    options.store = path_of("1.db");
    options.take = keep_toys;
    options.user = &taken;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_CANCELLED);
    assert_true(taken.n > 0 && taken.n < whole.tally.fitted);
    const size_t before = taken.n;
    taken.calls = taken.stop_after = 0;
    options.resume = 1;
    r = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
    assert_int_equal(taken.n, whole.tally.fitted);
    assert_int_equal(r.tally.fitted, whole.tally.fitted - before);
    assert_same_result(&r, &whole);
    ASSERT_OK(f.context, paritas_store_hypotest(f.context, path_of("1.db"), &r));
    assert_same_result(&r, &whole);
    free_taken(&taken);
    free_fixture(&f);
}

static void run_shard(struct fixture *f, paritas_toys_options options, unsigned shard, const char *name)
{
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    options.shard = shard;
    options.shards = 3;
    options.store = path_of(name);
    ASSERT_OK(f->context,
              paritas_hypotest_toys(f->context, f->model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r));
    /* a shard alone may have weights that degenerate */
    if (options.importance) assert_true(isnan(r.p0) == (r.effective_tested < 25.0));
}

TEST(pooled_shards_answer_as_the_whole_run)
{
    struct fixture f = spectrum(62.0);
    const paritas_toys_options options = weighted_toys(120, 6); /* a shard has too few */
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    const paritas_hypotest_toys_result whole = test_of(&f, PARITAS_STATISTIC_Q0, 0.0, &options);
    run_shard(&f, options, 1, "1.db");
    run_shard(&f, options, 2, "2.db");
    run_shard(&f, options, 3, "3.db");
    const char *const paths[] = {path_of("3.db"), path_of("1.db"), path_of("2.db")};
    ASSERT_OK(f.context, paritas_store_merge(f.context, 3, paths, path_of("all.db")));
    ASSERT_OK(f.context, paritas_store_hypotest(f.context, path_of("all.db"), &r));
    assert_same_result(&r, &whole);
    free_fixture(&f);
}

TEST(stores_of_other_strengths_are_refused)
{
    struct fixture f = spectrum(62.0);
    const double strengths[] = {1.5, 2.5};
    paritas_toys_options options = weighted_toys(600, 6), plain = toys_options(600, 6);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    run_shard(&f, options, 1, "1.db");
    options.strengths = strengths;
    options.n_strengths = 2;
    run_shard(&f, options, 2, "2.db");
    run_shard(&f, plain, 3, "3.db");
    for (int k = 0; k < 2; k++) {
        const char *const paths[] = {path_of("1.db"), path_of(k ? "3.db" : "2.db")};
        assert_int_equal(paritas_store_merge(f.context, 2, paths, path_of("all.db")), PARITAS_INVALID_INPUT);
        assert_non_null(strstr(paritas_error_message(f.context), "importance"));
    }
    options.shard = 1;
    options.shards = 3;
    options.store = path_of("1.db");
    options.resume = 1;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "importance = auto"));
    assert_non_null(strstr(paritas_error_message(f.context), "importance = 1.5,2.5"));
    free_fixture(&f);
}

/* ---- refusals --------------------------------------------------------------------------------- */

TEST(weights_that_degenerate_are_refused)
{
    struct fixture f = counting(120.0, S, B, 0.0, 100.0);
    const double none = 0.0;
    paritas_toys_options options = weighted_toys(2000, 1);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    options.strengths = &none; /* at the hypotheses alone: at 0 and 1, where 7 sigma are */
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_NOT_CONVERGED);
    assert_non_null(strstr(paritas_error_message(f.context), "weights degenerate"));
    assert_non_null(strstr(paritas_error_message(f.context), "needs 25"));
    free_fixture(&f);
}

TEST(what_has_no_weights_refuses_them)
{
    struct fixture f = counting(60.0, S, B, 0.0, 100.0);
    const double wrong[] = {1.0, (double)NAN}, beyond[] = {200.0};
    paritas_toys_options options = weighted_toys(100, 1);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    paritas_limit_toys_result limit = PARITAS_INIT(paritas_limit_toys_result);
    paritas_interval_toys_result interval = PARITAS_INIT(paritas_interval_toys_result);
    paritas_toys_result toys = PARITAS_INIT(paritas_toys_result);
    paritas_gof_toys_result gof = PARITAS_INIT(paritas_gof_toys_result);
#define REFUSED(call) assert_int_equal(call, PARITAS_INVALID_ARGUMENT)
    REFUSED(paritas_limit_toys(f.context, f.model, NULL, NULL, &options, &limit));
    REFUSED(paritas_interval_toys(f.context, f.model, NULL, NULL, &options, &interval));
    REFUSED(paritas_toys(f.context, f.model, NULL, NULL, &options, &toys));
    REFUSED(paritas_gof_toys(f.context, f.model, NULL, &options, &gof, NULL));
    /* both hypotheses are 0 */
    REFUSED(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 0.0, &options, &r));
#undef REFUSED
    options.strengths = wrong;
    options.n_strengths = 2;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "strengths[1]"));
    options.strengths = beyond;
    options.n_strengths = 1;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    options.n_strengths = 15;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    options = toys_options(100, 1);
    options.strengths = beyond;
    options.n_strengths = 1;
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "importance"));
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p0_of_a_counting_experiment_is_a_poisson_tail_from_one_to_eight_sigma),
        cmocka_unit_test(the_significance_is_that_of_p0),
        cmocka_unit_test(cls_of_a_counting_experiment_is_a_quotient_of_poisson_tails),
        cmocka_unit_test(strengths_reach_from_the_tested_value_beyond_the_best_fit_within_the_bounds),
        cmocka_unit_test(a_p_value_of_one_has_no_error),
        cmocka_unit_test(p0_of_an_on_off_experiment_is_a_sum_over_both_counts),
        cmocka_unit_test(p0_has_all_data_that_are_extreme_where_a_nuisance_parameter_is_at_its_bound),
        cmocka_unit_test(p_values_agree_with_those_of_many_toys_without_weights),
        cmocka_unit_test(the_stated_error_covers_as_a_standard_deviation),
        cmocka_unit_test(weights_have_the_mean_one_and_are_the_quotients_of_poisson_probabilities),
        cmocka_unit_test(toys_at_the_hypotheses_are_those_without_weights),
        cmocka_unit_test(threads_and_lanes_make_no_difference),
        cmocka_unit_test_setup_teardown(a_run_that_was_cut_short_goes_on_to_the_same_answer, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(pooled_shards_answer_as_the_whole_run, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(stores_of_other_strengths_are_refused, open_folder, close_folder),
        cmocka_unit_test(weights_that_degenerate_are_refused),
        cmocka_unit_test(what_has_no_weights_refuses_them),
    };
    return cmocka_run_group_tests_name("toys_importance", tests, NULL, NULL);
}
