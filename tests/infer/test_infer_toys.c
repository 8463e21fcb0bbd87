/* Tests by toys against closed forms: of every toy, of the p-values, of the band, of the asymptotic limit. */
#include "infer_testing.h"
#include "toys_testing.h"

static const double S = 5.0, B = 9.0;
enum { MANY = 200000 / SHARE, SOME = 20000 / SHARE };

/* ---- the counting experiment, whose data are one number ---- */

/* The statistic and the best fit of `n` observed, rates mu S + B, best fits between `lower` and 20. */
static double counting_q(paritas_test_statistic statistic, double n, double mu, double lower, double *mu_hat)
{
    const double hat = fmax((n - B) / S, lower);
    if (mu_hat) *mu_hat = hat;
    if (statistic == PARITAS_STATISTIC_Q0 ? hat < 0.0 : hat > mu) return 0.0;
    return fmax(deviance(n, mu * S + B) - deviance(n, hat * S + B), 0.0);
}

static double poisson(double n, double rate)
{
    return exp(n * log(rate) - rate - lgamma(n + 1.0));
}

/* Twice the negative logarithm of its probability. */
static double twice_nll(double n, double rate)
{
    return 2.0 * (rate - n * log(rate) + lgamma(n + 1.0));
}

/* The probability of a statistic as large as the observed one where the rate is mu S + B. */
static double counting_tail(paritas_test_statistic statistic, double observed, double tested, double lower,
                            double mu)
{
    double sum = 0.0;
    for (double n = 0.0; n < 200.0; n++)
        if (counting_q(statistic, n, tested, lower, NULL) >= observed - 1e-9) sum += poisson(n, mu * S + B);
    return sum;
}

static void compare_counting_toys(paritas_test_statistic statistic, double tested, double lower)
{
    struct fixture f = counting(12.0, S, B, lower, 20.0);
    const paritas_toys_options options = toys_options(SOME, 17);
    struct taken taken;
    run_toys(f.context, f.model, statistic, tested, &options, &taken);
    const double mu[2] = {statistic == PARITAS_STATISTIC_Q0 ? 0.0 : tested,
                          statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0};
    assert_int_equal(taken.n, 2 * SOME);
    for (int h = 0; h < TOY_HYPOTHESES; h++) {
        double around,
            *data = data_of_toys(f.context, f.model, statistic, tested, &options, h, SOME, &around);
        ASSERT_CLOSE(around, mu[h] * S + B, 1e-9);
        const paritas_toy *rows = taken.rows + (mu[h] > mu[1 - h] ? SOME : 0);
        for (size_t t = 0; t < SOME; t++) {
            double hat;
            const double q = counting_q(statistic, data[t], mu[0], lower, &hat);
            assert_int_equal(rows[t].toy, t);
            assert_true(rows[t].mu == mu[0] && rows[t].hypothesis == mu[h]);
            assert_int_equal(rows[t].status, PARITAS_FIT_CONVERGED);
            assert_true(rows[t].q >= 0.0 && rows[t].iterations > 0);
            ASSERT_CLOSE(rows[t].q, q, 1e-9);
            ASSERT_CLOSE(rows[t].mu_hat, hat, 1e-4);
            ASSERT_CLOSE(rows[t].twice_nll_free, twice_nll(data[t], hat * S + B), 1e-9);
            ASSERT_CLOSE(rows[t].twice_nll_fixed, twice_nll(data[t], mu[0] * S + B), 1e-9);
        }
        free(data);
    }
    free_taken(&taken);
    free_fixture(&f);
}

TEST(every_toy_of_a_counting_experiment_has_the_statistic_of_its_count)
{
    compare_counting_toys(PARITAS_STATISTIC_QTILDE, 1.0, 0.0);
    compare_counting_toys(PARITAS_STATISTIC_QTILDE, 2.6, 0.0);
    compare_counting_toys(PARITAS_STATISTIC_Q, 1.0, -1.7); /* best fits below 0; at the bound a rate of 0.5 */
    compare_counting_toys(PARITAS_STATISTIC_Q, -1.0, -1.7);
    compare_counting_toys(PARITAS_STATISTIC_Q0, 0.0, 0.0);
    compare_counting_toys(PARITAS_STATISTIC_Q0, 0.0, -1.7);
}

/* Within four standard errors of the number of toys; what is rarer than a toy may not show. */
static void assert_fraction(double fraction, double error, double exact, double n)
{
    /* sums of probabilities end a rounding above 1 */
    const double variance = fabs(exact * (1.0 - exact)) / n;
    ASSERT_CLOSE(fraction, exact, 4.0 * sqrt(variance) + 1.0 / n);
    if (n * exact * (1.0 - exact) > 400.0) ASSERT_CLOSE(error, sqrt(variance), 0.15 * sqrt(variance));
    assert_true(error > 0.0 || n == 0.0);
}

/* Observed counts on all sides, each of which is also the count of many toys: a toy as extreme as the
 * observation counts. */
TEST(the_p_values_of_a_counting_experiment_are_sums_of_poisson_probabilities)
{
    static const double observed[] = {0.0, 3.0, 8.0, 9.0, 11.0, 12.0, 13.0, 14.0, 15.0, 20.0};
    static const paritas_test_statistic statistics[] = {PARITAS_STATISTIC_QTILDE, PARITAS_STATISTIC_Q,
                                                        PARITAS_STATISTIC_Q0};
    for (size_t s = 0; s < COUNT(statistics); s++)
        for (size_t k = 0; k < COUNT(observed); k++) {
            const double lower = statistics[s] == PARITAS_STATISTIC_Q ? -1.7 : 0.0;
            const double tested = statistics[s] == PARITAS_STATISTIC_Q0 ? 0.0 : 1.0, other = 1.0 - tested;
            struct fixture f = counting(observed[k], S, B, lower, 20.0);
            const paritas_toys_options options = toys_options(MANY, 101 + k);
            paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
            double hat, q = counting_q(statistics[s], observed[k], tested, lower, &hat);
            assert_int_equal(
                paritas_hypotest_toys(f.context, f.model, NULL, statistics[s], 1.0, &options, &r),
                PARITAS_OK);
            assert_true(r.mu == tested);
            ASSERT_CLOSE(r.q, q, 1e-9);
            ASSERT_CLOSE(r.mu_hat, hat, 1e-4);
            ASSERT_CLOSE(r.twice_nll_free, twice_nll(observed[k], hat * S + B), 1e-9);
            ASSERT_CLOSE(r.twice_nll_fixed, twice_nll(observed[k], tested * S + B), 1e-9);
            assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
            assert_true(r.n_tested == MANY && r.n_other == MANY && r.tally.fitted == 2 * MANY &&
                        r.tally.counts[PARITAS_FIT_CONVERGED] == 2 * MANY);
            assert_int_equal(r.tally.by_quasi_newton + r.tally.by_newton + r.tally.from_suggested_start +
                                 r.tally.from_the_other_fit + r.tally.from_further_starts,
                             2 * MANY);
            const double clsb = counting_tail(statistics[s], q, tested, lower, tested),
                         clb = counting_tail(statistics[s], q, tested, lower, other);
            assert_fraction(r.clsb, r.clsb_error, clsb, MANY);
            assert_fraction(r.clb, r.clb_error, clb, MANY);
            if (statistics[s] == PARITAS_STATISTIC_Q0) {
                assert_true(r.p0 == r.clsb && r.p0_error == r.clsb_error && r.cls_obs == r.clsb);
            } else {
                assert_true(isnan(r.p0) && isnan(r.p0_error));
                if (clb * MANY > 100.0) ASSERT_CLOSE(r.cls_obs, r.clsb / r.clb, 1e-15);
                /* relative variances add */
                const double of_both =
                    sqrt((1.0 - clsb) / clsb + (1.0 - clb) / clb) * clsb / clb / sqrt(MANY);
                if (clsb < 0.999 && clsb * MANY > 400.0)
                    ASSERT_CLOSE(r.cls_obs_error, of_both, 0.15 * of_both);
                if (clb * MANY > 100.0) ASSERT_CLOSE(r.cls_obs, clsb / clb, 4.0 * r.cls_obs_error + 1e-15);
            }
            free_fixture(&f);
        }
}

/* The count below which a part p of the counts at rate mu S + B lies; -1 where it may be the neighbour of
 * that among so many toys. */
static double quantile(double p, double mu)
{
    double below = 0.0;
    for (double n = 0.0;; n++) {
        const double next = below + poisson(n, mu * S + B);
        if (next > p) return fmin(next - p, p - below) > 4.0 * sqrt(p * (1.0 - p) / MANY) ? n : -1.0;
        below = next;
    }
}

TEST(the_expected_band_holds_the_exact_percentiles)
{
    static const double part[5] = {0.0227501319, 0.1586552539, 0.5, 0.8413447461, 0.9772498681};
    struct fixture f = counting(12.0, S, B, 0.0, 20.0);
    const paritas_toys_options options = toys_options(MANY, 5);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    int compared = 0;
    for (int discovery = 0; discovery < 2; discovery++) {
        const paritas_test_statistic statistic = discovery ? PARITAS_STATISTIC_Q0 : PARITAS_STATISTIC_QTILDE;
        const double tested = discovery ? 0.0 : 1.0;
        assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, statistic, 1.0, &options, &r),
                         PARITAS_OK);
        for (int i = 0; i < 5; i++) {
            const double n = quantile(discovery ? 1.0 - part[i] : part[i], 1.0 - tested);
            if (n < 0.0) continue;
            const double q = counting_q(statistic, n, tested, 0.0, NULL);
            const double clsb = counting_tail(statistic, q, tested, 0.0, tested),
                         clb = counting_tail(statistic, q, tested, 0.0, 1.0 - tested);
            const double exact = discovery ? clsb : clsb / clb,
                         error = exact *
                                 sqrt(fabs((1.0 - clsb) / clsb) + (discovery ? 0.0 : fabs(1.0 - clb) / clb)) /
                                 sqrt(MANY);
            ASSERT_CLOSE(r.cls_exp[i], exact, 4.0 * error + 1e-15);
            assert_true(i == 0 || r.cls_exp[i] >= r.cls_exp[i - 1]);
            compared++;
        }
    }
    assert_true(compared >= (SHARE > 1 ? 6 : 8));
    free_fixture(&f);
}

/* ---- a background that a second count measures ---- */

static const double TAU = 4.0; /* few enough that none is a frequent count */

/* One bin: mu s + gamma b with `relative` uncertainty of b, whose auxiliary count is Poisson's. */
static struct fixture on_off(double n, double s, double b, double lower)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[%.17g],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
             "\"data\":null}]},"
             "{\"name\":\"b\",\"data\":[%.17g],\"modifiers\":[{\"name\":\"off\",\"type\":\"shapesys\","
             "\"data\":[%.17g]}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%.17g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
             "\"inits\":[1.0],\"bounds\":[[%.17g,30.0]]}]}}],\"version\":\"1.0.0\"}",
             s, b, b / sqrt(TAU), n, lower);
    return make_fixture(text);
}

/* Twice the log-likelihood ratio to the saturated model, and gamma, at its best for a given mu: a quadratic
 * equation, with gamma >= 1e-10. */
static double on_off_fixed(double n, double m, double mu, double *gamma)
{
    const double p = (B + TAU) * B, half = 0.5 * ((B + TAU) * mu * S - (n + m) * B), c = -m * mu * S;
    *gamma = fmax(mu == 0.0 ? (n + m) / (B + TAU) : (-half + sqrt(half * half - p * c)) / p, 1e-10);
    return deviance(n, mu * S + *gamma * B) + deviance(m, *gamma * TAU);
}

static double on_off_q(paritas_test_statistic statistic, double n, double m, double mu, double lower,
                       double *mu_hat)
{
    double gamma = fmax(m / TAU, 1e-10), hat = (n - B * gamma) / S, free = deviance(m, gamma * TAU);
    if (hat < lower) {
        hat = lower;
        free = on_off_fixed(n, m, lower, &gamma);
    }
    if (mu_hat) *mu_hat = hat;
    if (statistic == PARITAS_STATISTIC_Q0 ? hat < 0.0 : hat > mu) return 0.0;
    return fmax(on_off_fixed(n, m, mu, &gamma) - free, 0.0);
}

static void compare_on_off(paritas_test_statistic statistic, double n_observed, double tested, bool fix_aux)
{
    struct fixture f = on_off(n_observed, S, B, 0.0);
    paritas_toys_options options = toys_options(MANY, 29);
    options.fix_aux = fix_aux;
    struct taken taken;
    const paritas_hypotest_toys_result r = run_toys(f.context, f.model, statistic, tested, &options, &taken);
    const double mu[2] = {tested, statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0},
                 observed = on_off_q(statistic, n_observed, TAU, tested, 0.0, NULL);
    ASSERT_CLOSE(r.q, observed, 1e-9);
    assert_int_equal(taken.n, 2 * MANY);
    for (int h = 0; h < TOY_HYPOTHESES; h++) {
        double around[2],
            *data = data_of_toys(f.context, f.model, statistic, tested, &options, h, SOME, around), gamma,
            none = 0.0;
        on_off_fixed(n_observed, TAU, mu[h], &gamma);
        ASSERT_CLOSE(around[0], mu[h] * S + gamma * B, 1e-8);
        ASSERT_CLOSE(around[1], fix_aux ? TAU : gamma * TAU, 1e-8);
        const paritas_toy *rows = taken.rows + (mu[h] > mu[1 - h] ? MANY : 0);
        for (size_t t = 0; t < SOME; t++) {
            const double n = data[2 * t], m = data[2 * t + 1];
            double hat;
            if (fix_aux) assert_true(m == TAU);
            none += m == 0.0;
            assert_true(rows[t].hypothesis == mu[h] && rows[t].toy == t);
            assert_int_equal(rows[t].status, PARITAS_FIT_CONVERGED);
            ASSERT_CLOSE(rows[t].q, on_off_q(statistic, n, m, tested, 0.0, &hat), 2e-9);
            ASSERT_CLOSE(rows[t].mu_hat, hat, 1e-3);
        }
        assert_true(fix_aux ? none == 0.0 : none > 0.0);
        double exact = 0.0;
        for (double n = 0.0; n < 150.0; n++)
            for (double m = fix_aux ? TAU : 0.0; m < (fix_aux ? TAU + 1.0 : 60.0); m++)
                if (on_off_q(statistic, n, m, tested, 0.0, NULL) >= observed - 1e-8)
                    exact += poisson(n, around[0]) * (fix_aux ? 1.0 : poisson(m, around[1]));
        assert_fraction(h == TOY_TESTED ? r.clsb : r.clb, h == TOY_TESTED ? r.clsb_error : r.clb_error, exact,
                        MANY);
        free(data);
    }
    free_taken(&taken);
    free_fixture(&f);
}

TEST(toys_of_a_background_measured_by_a_second_count_have_their_closed_form)
{
    compare_on_off(PARITAS_STATISTIC_QTILDE, 8.0, 1.5, false);
    compare_on_off(PARITAS_STATISTIC_QTILDE, 15.0, 2.0, false);
    compare_on_off(PARITAS_STATISTIC_Q0, 16.0, 0.0, false);
}

TEST(auxiliary_data_that_are_not_drawn_stay_as_observed)
{
    compare_on_off(PARITAS_STATISTIC_QTILDE, 8.0, 1.5, true);
    compare_on_off(PARITAS_STATISTIC_Q0, 16.0, 0.0, true);
}

/* ---- many events ---- */

/* Two bins of 10^5 events with a correlated and an uncorrelated uncertainty of the size of the statistical
 * one. */
static struct fixture many_events(double excess)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[700.0,300.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
             "\"data\":null}]},"
             "{\"name\":\"b\",\"data\":[1e5,8e4],\"modifiers\":["
             "{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.002,\"lo\":0.998}},"
             "{\"name\":\"tilt\",\"type\":\"histosys\",\"data\":{\"hi_data\":[100200.0,79900.0],\"lo_data\":["
             "99800.0,80100.0]}},"
             "{\"name\":\"unc\",\"type\":\"shapesys\",\"data\":[250.0,200.0]}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%.17g,%.17g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
             "\"inits\":[1.0],\"bounds\":[[-10.0,10.0]]}]}}],\"version\":\"1.0.0\"}",
             1e5 + excess, 8e4);
    return make_fixture(text);
}

TEST(with_many_events_toys_agree_with_the_asymptotic_formula)
{
    static const double excesses[] = {-300.0, 0.0, 500.0, 900.0};
    enum { TOYS = 50000 / SHARE };
    for (size_t k = 0; k < COUNT(excesses); k++)
        for (int discovery = 0; discovery < 2; discovery++) {
            struct fixture f = many_events(excesses[k]);
            const paritas_test_statistic statistic = discovery ? PARITAS_STATISTIC_Q0 : PARITAS_STATISTIC_Q;
            const paritas_toys_options options = toys_options(TOYS, 40 + k);
            const double mu = discovery ? 0.0 : 1.5;
            paritas_hypotest_result a = PARITAS_INIT(paritas_hypotest_result);
            paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
            assert_int_equal(paritas_hypotest(f.context, f.model, NULL, statistic, 1, &mu, &a), PARITAS_OK);
            assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, statistic, mu, &options, &r),
                             PARITAS_OK);
            ASSERT_CLOSE(r.q, a.q, 1e-8);
            const double more = 0.002; /* what is not asymptotic yet: skewness of counts of 10^5 */
            if (discovery && a.q == 0.0) {
                assert_true(r.p0 == 1.0); /* the formula has 1/2 there: it shares the atom out */
            } else {
                ASSERT_CLOSE(r.clsb, a.clsb, 4.0 * r.clsb_error + more);
                if (!discovery) ASSERT_CLOSE(r.clb, a.clb, 4.0 * r.clb_error + more);
                if (!discovery) ASSERT_CLOSE(r.cls_obs, a.cls_obs, 4.0 * r.cls_obs_error + more);
            }
            /* an order statistic's error: that of its rank times the slope of CLs with the rank; 0.02 bounds
             * both here */
            for (int i = 0; i < 5 && !discovery; i++) ASSERT_CLOSE(r.cls_exp[i], a.cls_exp[i], 0.02);
            free_fixture(&f);
        }
}

/* Best fits scatter around the truth as their errors say: for linear responses and many events that is the
 * covariance. */
TEST(pulls_of_the_best_fit_are_normal)
{
    enum { TOYS = 20000 / SHARE };
    struct fixture f = many_events(700.0);
    const size_t n = paritas_model_parameter_count(f.model);
    const paritas_toys_options options = toys_options(TOYS, 3);
    struct infer infer;
    struct toy_test test;
    assert_int_equal(infer_open(&infer, f.context, f.model, NULL, true), PARITAS_OK);
    assert_int_equal(toy_test_open(&test, &infer, &options, PARITAS_STATISTIC_Q, 1.0, NULL), PARITAS_OK);
    for (int h = 0; h < TOY_HYPOTHESES; h++) {
        const struct ensemble *e = &test.ensemble[h];
        struct profile *profiles = malloc(TOYS * sizeof *profiles);
        double *points = malloc(TOYS * n * sizeof *points), *errors = malloc(n * sizeof *errors);
        assert_true(profiles && points && errors);
        const paritas_job job = {.size = sizeof(paritas_job), .data = e->options.expected};
        paritas_fit_result fitted = PARITAS_INIT(paritas_fit_result);
        assert_int_equal(paritas_fit(f.context, f.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &fitted, .errors = errors)),
                         PARITAS_OK);
        assert_int_equal(ensemble_run(f.context, e, 0, TOYS, profiles, NULL, points, NULL), PARITAS_OK);
        for (size_t p = 0; p < n; p++) {
            double mean = 0.0, square = 0.0;
            for (size_t t = 0; t < TOYS; t++) {
                const double pull = (points[t * n + p] - test.point[h].parameters[p]) / errors[p];
                mean += pull / TOYS;
                square += pull * pull / TOYS;
            }
            ASSERT_CLOSE(mean, 0.0, 4.5 / sqrt(TOYS));
            ASSERT_CLOSE(square, 1.0, 4.5 * sqrt(2.0 / TOYS) + 0.005);
        }
        for (size_t t = 0; t < TOYS; t++)
            assert_memory_equal(&points[t * n + infer.poi], &profiles[t].mu_hat, sizeof(double));
        free(profiles);
        free(points);
        free(errors);
    }
    toy_test_close(&test);
    infer_close(&infer);
    free_fixture(&f);
}

/* ---- special cases and refusals ---- */

TEST(a_test_of_no_signal_has_one_hypothesis_and_cls_1)
{
    struct fixture f = counting(12.0, S, B, 0.0, 20.0);
    const paritas_toys_options options = toys_options(500, 1);
    struct taken taken;
    const paritas_hypotest_toys_result r =
        run_toys(f.context, f.model, PARITAS_STATISTIC_QTILDE, 0.0, &options, &taken);
    assert_int_equal(taken.n, 500);
    assert_int_equal(r.n_tested, 500);
    assert_int_equal(r.n_other, 500);
    assert_int_equal(r.tally.counts[PARITAS_FIT_CONVERGED], 500);
    assert_true(r.cls_obs == 1.0 && r.cls_obs_error == 0.0 && r.clsb == r.clb);
    for (int i = 0; i < 5; i++) assert_true(r.cls_exp[i] == 1.0);
    for (size_t t = 0; t < taken.n; t++)
        assert_true(taken.rows[t].mu == 0.0 && taken.rows[t].hypothesis == 0.0 && taken.rows[t].toy == t);
    free_taken(&taken);
    free_fixture(&f);
}

static void assert_refused(struct fixture *f, paritas_test_statistic statistic, double mu,
                           const paritas_toys_options *options, const char *word)
{
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    assert_int_equal(paritas_hypotest_toys(f->context, f->model, NULL, statistic, mu, options, &r),
                     PARITAS_INVALID_ARGUMENT);
    if (!strstr(paritas_error_message(f->context), word))
        fail_msg("'%s' does not say '%s'", paritas_error_message(f->context), word);
}

TEST(options_that_make_no_sense_are_refused_by_name)
{
    struct fixture f = counting(12.0, S, B, 0.0, 20.0), bounded = counting(12.0, S, B, 0.5, 20.0);
    paritas_toys_options options = toys_options(100, 1);
    assert_refused(&f, PARITAS_STATISTIC_QTILDE, 1e8, &options, "mu = 100000000");
    assert_refused(&f, PARITAS_STATISTIC_QTILDE, -1.0, &options, "mu = -1");
    assert_refused(&f, PARITAS_STATISTIC_QTILDE, (double)NAN, &options, "mu");
    assert_refused(&f, (paritas_test_statistic)3, 1.0, &options, "3");
    /* the other hypothesis is out of bounds */
    assert_refused(&bounded, PARITAS_STATISTIC_QTILDE, 1.0, &options, "mu is bounded to [0.5, 20]");
    static const struct {
        uint64_t n;
        unsigned shard, shards;
        const char *word;
    } cuts[] = {{100, 3, 2, "3/2"},
                {100, 0, 2, "0/2"},
                {100, 3, 0, "3/0"},
                {6, 1, 7, "7 shards"},
                {(uint64_t)1 << 48, 0, 0, "`n` is"},
                {UINT64_MAX, 1, 3, "`n` is"}};
    for (size_t k = 0; k < COUNT(cuts); k++) {
        options.n = cuts[k].n;
        options.shard = cuts[k].shard;
        options.shards = cuts[k].shards;
        assert_refused(&f, PARITAS_STATISTIC_QTILDE, 1.0, &options, cuts[k].word);
    }
    free_fixture(&f);
    free_fixture(&bounded);
}

TEST(expectations_that_nothing_can_be_drawn_from_are_refused_by_name)
{
    static const struct {
        double main, aux;
        const char *words[2];
    } cases[] = {{-0.5, 4.0, {"main datum 0", "-0.5"}},
                 {(double)NAN, 4.0, {"main datum 0", "nan"}},
                 {(double)INFINITY, 4.0, {"main datum 0", "inf"}},
                 {1e13, 4.0, {"main datum 0", "10000000000000"}},
                 {12.0, (double)NAN, {"auxiliary datum 0", "nan"}},
                 {12.0, -1.0, {"auxiliary", "-1"}}};
    struct fixture f = on_off(12.0, S, B, 0.0);
    const ptrdiff_t poi = paritas_model_poi_index(f.model);
    for (size_t k = 0; k < COUNT(cases); k++)
        for (int newton_only = 0; newton_only < 2; newton_only++) {
            const double expected[2] = {cases[k].main, cases[k].aux};
            const struct ensemble_options options = {
                .plan = {.model = f.model,
                         .start = paritas_model_suggested_init(f.model),
                         .lower = paritas_model_lower_bounds(f.model),
                         .upper = paritas_model_upper_bounds(f.model),
                         .fixed = paritas_model_suggested_fixed(f.model),
                         .poi = poi,
                         .conditional = true,
                         .mu = 1.0,
                         .conditional_start = paritas_model_suggested_init(f.model)},
                .expected = expected,
                .newton_only = newton_only};
            struct ensemble e;
            struct profile profile;
            paritas_status status = ensemble_open(f.context, &options, &e);
            if (status == PARITAS_OK) status = ensemble_run(f.context, &e, 0, 1, &profile, NULL, NULL, NULL);
            assert_int_equal(status, PARITAS_INVALID_ARGUMENT);
            for (int w = 0; w < 2; w++)
                if (!strstr(paritas_error_message(f.context), cases[k].words[w]))
                    fail_msg("'%s' does not say '%s'", paritas_error_message(f.context), cases[k].words[w]);
            ensemble_close(&e);
        }
    free_fixture(&f);
}

/* ---- the band of few toys, whose CLs, a fraction of counts, may rise with q ---- */

static int ascending_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(the_expected_band_holds_the_percentiles_of_all_answers_however_few_toys_there_are)
{
    static const double percentile[5] = {0.02275013194817921, 0.15865525393145707, 0.5, 0.84134474606854293,
                                         0.97724986805182079};
    enum { FEW = 40 };
    struct fixture f = counting(12.0, S, B, 0.0, 20.0);
    uint64_t random = 1;
    int unordered = 0;
    for (size_t n = 3; n <= FEW; n++) {
        struct toy_pool pool;
        double q[TOY_HYPOTHESES][FEW], answers[FEW];
        paritas_hypotest_toys_result result = {.mu = 1.0, .q = 1.0};
        toy_pool_open(&pool, f.context, false, PARITAS_STATISTIC_QTILDE, 1.0);
        for (int h = 0; h < TOY_HYPOTHESES; h++)
            for (size_t i = 0; i < n; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                q[h][i] = (double)(random >> 40) * 0x1p-22 * (h == TOY_OTHER ? 1.5 : 1.0);
                assert_int_equal(
                    toy_pool_add(&pool, h,
                                 &(paritas_toy){.q = q[h][i], .mu = 1.0, .twice_nll_fixed = q[h][i]}),
                    PARITAS_OK);
            }
        assert_int_equal(toy_pool_result(&pool, &result), PARITAS_OK);
        qsort(q[TOY_OTHER], n, sizeof(double), ascending_numbers);
        for (size_t i = 0; i < n; i++) {
            double clsb = 0.0, clb = 0.0;
            for (size_t j = 0; j < n; j++) {
                clsb += q[TOY_TESTED][j] >= q[TOY_OTHER][i];
                clb += q[TOY_OTHER][j] >= q[TOY_OTHER][i];
            }
            answers[i] = clsb / (double)n / (clb / (double)n);
            unordered += i > 0 && answers[i] > answers[i - 1];
        }
        qsort(answers, n, sizeof *answers, ascending_numbers);
        for (int k = 0; k < 5; k++) {
            const double place = percentile[k] * (double)(n - 1);
            const size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
            ASSERT_CLOSE(result.cls_exp[k],
                         answers[below] + (answers[above] - answers[below]) * (place - (double)below), 1e-14);
            assert_true(k == 0 || result.cls_exp[k] >= result.cls_exp[k - 1]);
        }
        toy_pool_close(&pool);
    }
    assert_true(unordered > 100);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_toy_of_a_counting_experiment_has_the_statistic_of_its_count),
        cmocka_unit_test(the_p_values_of_a_counting_experiment_are_sums_of_poisson_probabilities),
        cmocka_unit_test(the_expected_band_holds_the_exact_percentiles),
        cmocka_unit_test(toys_of_a_background_measured_by_a_second_count_have_their_closed_form),
        cmocka_unit_test(auxiliary_data_that_are_not_drawn_stay_as_observed),
        cmocka_unit_test(with_many_events_toys_agree_with_the_asymptotic_formula),
        cmocka_unit_test(pulls_of_the_best_fit_are_normal),
        cmocka_unit_test(a_test_of_no_signal_has_one_hypothesis_and_cls_1),
        cmocka_unit_test(the_expected_band_holds_the_percentiles_of_all_answers_however_few_toys_there_are),
        cmocka_unit_test(options_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(expectations_that_nothing_can_be_drawn_from_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
