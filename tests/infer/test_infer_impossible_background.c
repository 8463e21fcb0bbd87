/* A bin with events, where the background alone expects none: the background's fit has no likelihood, but its
 * place is known, since no parameter moves in it. */
#include "gradient_testing.h"
#include "toys_testing.h"

static const char workspace[] = "{\"channels\":[{\"name\":\"c\",\"samples\":["
                                "{\"name\":\"s\",\"data\":[0,1,2],\"modifiers\":[{\"name\":\"mu\",\"type\":"
                                "\"normfactor\",\"data\":null}]},"
                                "{\"name\":\"b\",\"data\":[9,0,4],\"modifiers\":[]}]}],"
                                "\"observations\":[{\"name\":\"c\",\"data\":[9,1,5]}],"
                                "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":"
                                "[]}}],\"version\":\"1.0.0\"}";
static const double MU = 1.0;
enum { COUNTS = 60 };

/* Of n events where mu is expected, and m where 4 + 2 mu is: the slope of the NLL by mu is 0. */
static double best_mu(double n, double m)
{
    /* 6 mu^2 + (12 - 2 n - 2 m) mu - 4 n = 0, from n / mu + 2 m / (4 + 2 mu) = 3 */
    const double half = (12.0 - 2.0 * n - 2.0 * m) / 12.0;
    const double root = sqrt(half * half + 4.0 * n / 6.0) - half;
    return root > 0.0 ? root : 0.0;
}

static double q_of(double n, double m)
{
    const double best = best_mu(n, m);
    if (best > MU) return 0.0;
    return deviance(n, MU) + deviance(m, 4.0 + 2.0 * MU) - (best > 0.0 || n > 0.0 ? deviance(n, best) : 0.0) -
           deviance(m, 4.0 + 2.0 * best);
}

/* P(q >= observed) at mu. */
static double tail_at(double mu, double observed)
{
    double sum = 0.0;
    for (int n = 0; n < (mu > 0.0 ? COUNTS : 1); n++)
        for (int m = 0; m < COUNTS; m++)
            if (q_of(n, m) >= observed - 1e-9)
                sum += (mu > 0.0 ? exp(n * log(mu) - mu - lgamma(n + 1.0)) : 1.0) *
                       exp(m * log(4.0 + 2.0 * mu) - 4.0 - 2.0 * mu - lgamma(m + 1.0));
    return sum;
}

TEST(toys_have_the_q_and_the_cls_of_closed_forms)
{
    struct fixture f = make_fixture(workspace);
    const paritas_toys_options options = toys_options(40000 / SHARE, 5);
    struct taken taken;
    const paritas_hypotest_toys_result r =
        run_toys(f.context, f.model, PARITAS_STATISTIC_QTILDE, MU, &options, &taken);
    const double q = q_of(1.0, 5.0), clsb = tail_at(MU, q), clb = tail_at(0.0, q);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(r.mu_hat, best_mu(1.0, 5.0), 1e-6);
    ASSERT_CLOSE(r.q, q, 1e-9);
    ASSERT_CLOSE(r.clsb, clsb, 4.0 * r.clsb_error);
    ASSERT_CLOSE(r.clb, clb, 4.0 * r.clb_error);
    ASSERT_CLOSE(r.cls_obs, clsb / clb, 4.0 * r.cls_obs_error);
    assert_int_equal(r.tally.counts[PARITAS_FIT_CONVERGED], taken.n);
    free_taken(&taken);
    free_fixture(&f);
}

/* Each answer that reads no likelihood of the background's fit. */
TEST(what_is_drawn_or_expected_there_is_an_answer)
{
    struct fixture f = make_fixture(workspace);
    paritas_hypotest_result test = PARITAS_INIT(paritas_hypotest_result);
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    paritas_limit_toys_result by_toys = PARITAS_INIT(paritas_limit_toys_result);
    paritas_fit_result fit = PARITAS_INIT(paritas_fit_result);
    paritas_toys_options options = toys_options(3, 0);
    paritas_job at_zero = PARITAS_JOB_DEFAULT;
    const unsigned char fixed[] = {1};
    const double zero[] = {0.0};
    double data[3];
    paritas_toy_data *drawn;
    paritas_toys_result plain = PARITAS_INIT(paritas_toys_result);
    at_zero.fixed = fixed;
    at_zero.start = zero;
    ASSERT_OK(f.context, paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &MU, &test));
    assert_int_equal(test.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(test.q, q_of(1.0, 5.0), 1e-9);
    ASSERT_CLOSE(test.q_asimov, q_of(0.0, 4.0), 1e-9);
    ASSERT_OK(f.context, paritas_limit(f.context, f.model, NULL, NULL, &limit));
    assert_int_equal(limit.status, PARITAS_FIT_CONVERGED);
    ASSERT_OK(f.context, paritas_asimov_data(f.context, f.model, NULL, 0.0, &fit, data));
    assert_int_equal(fit.status, PARITAS_FIT_CONVERGED);
    assert_true(data[0] == 9.0 && data[1] == 0.0 && data[2] == 4.0);
    ASSERT_OK(f.context, paritas_generate(f.context, f.model, &at_zero, NULL, &options, &drawn));
    assert_true(drawn->n == 3 && drawn->status == PARITAS_FIT_CONVERGED && drawn->rows[1] == 0.0);
    paritas_toy_data_free(drawn);
    ASSERT_OK(f.context, paritas_toys(f.context, f.model, &at_zero, NULL, &options, &plain));
    assert_int_equal(plain.status, PARITAS_FIT_CONVERGED);
    options.n = 2000;
    ASSERT_OK(f.context, paritas_limit_toys(f.context, f.model, NULL, NULL, &options, &by_toys));
    assert_int_equal(by_toys.status, PARITAS_FIT_CONVERGED);
    assert_true(by_toys.limit_obs > 1.0 && by_toys.limit_obs < 5.0);
    free_fixture(&f);
}

TEST(derivatives_by_mu_are_those_of_the_test)
{
    struct fixture f = make_fixture(workspace);
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    const double row[] = {9.0, 1.0, 5.0}, step = 1e-4;
    paritas_hypotest_result tests[3] = {PARITAS_INIT(paritas_hypotest_result),
                                        PARITAS_INIT(paritas_hypotest_result),
                                        PARITAS_INIT(paritas_hypotest_result)};
    const double tested[] = {MU - step, MU, MU + step};
    double values[PARITAS_QUANTITY_OUTPUTS], by_mu[PARITAS_QUANTITY_OUTPUTS];
    options.quantity = PARITAS_QUANTITY_CLS;
    differentiate_one(&f, &options, MU, row, values, NULL, by_mu);
    ASSERT_OK(f.context,
              paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 3, tested, tests));
    ASSERT_CLOSE(values[0], tests[1].cls_obs, 1e-9);
    ASSERT_CLOSE(by_mu[0], (tests[2].cls_obs - tests[0].cls_obs) / (2.0 * step), 1e-6);
    free_fixture(&f);
}

/* A discovery reads it, and so does a test of 0. */
TEST(an_answer_that_reads_that_likelihood_says_that_there_is_none)
{
    struct fixture f = make_fixture(workspace);
    paritas_significance_result z = PARITAS_INIT(paritas_significance_result);
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    const paritas_toys_options options = toys_options(10, 0);
    ASSERT_OK(f.context, paritas_significance(f.context, f.model, NULL, &z));
    assert_true(z.status == PARITAS_FIT_NON_FINITE && isnan(z.z));
    assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_Q0, 0.0, &options, &r),
                     PARITAS_NOT_CONVERGED);
    free_fixture(&f);
}

/* With free parameters beside it, no likelihood says where the background is: the fit's stop depends on its
 * start, and so do data expected there. */
TEST(a_free_parameter_beside_it_leaves_no_expectation)
{
    static const char moving[] =
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"s\",\"data\":[0,1,2],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
        "\"data\":null}]},"
        "{\"name\":\"b\",\"data\":[9,0,4],\"modifiers\":[{\"name\":\"k\",\"type\":\"normsys\","
        "\"data\":{\"hi\":1.2,\"lo\":0.9}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[9,1,5]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":"
        "[]}}],\"version\":\"1.0.0\"}";
    struct fixture f = make_fixture(moving);
    paritas_hypotest_result test = PARITAS_INIT(paritas_hypotest_result);
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    paritas_fit_result fit = PARITAS_INIT(paritas_fit_result);
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    double row[4], data[4], values[PARITAS_QUANTITY_OUTPUTS];
    paritas_fit_status answer;
    const paritas_gradient to = {.size = sizeof to, .values = values, .statuses = &answer};
    assert_int_equal(row_length(f.model), 4);
    memcpy(row, paritas_model_data(f.model), sizeof row);
    ASSERT_OK(f.context, paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &MU, &test));
    assert_int_equal(test.status, PARITAS_FIT_NON_FINITE);
    assert_int_equal(test.reason, PARITAS_REASON_UNDEFINED);
    assert_true(isnan(test.cls_obs) && isnan(test.q_asimov) && isfinite(test.q));
    ASSERT_OK(f.context, paritas_limit(f.context, f.model, NULL, NULL, &limit));
    assert_int_equal(limit.status, PARITAS_FIT_NON_FINITE);
    assert_int_equal(limit.reason_obs, PARITAS_REASON_UNDEFINED);
    assert_true(isnan(limit.limit_obs));
    for (int i = 0; i < 5; i++) {
        assert_true(isnan(test.cls_exp[i]) && isnan(limit.limit_exp[i]));
        assert_int_equal(limit.reason_exp[i], PARITAS_REASON_UNDEFINED);
    }
    assert_int_equal(paritas_asimov_data(f.context, f.model, NULL, 0.0, &fit, data), PARITAS_NOT_CONVERGED);
    options.quantity = PARITAS_QUANTITY_CLS;
    ASSERT_OK(f.context, paritas_differentiate(f.context, f.model, &options, NULL, 1, &MU, row, &to));
    assert_true(answer == PARITAS_FIT_NON_FINITE && isnan(values[0]));
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toys_have_the_q_and_the_cls_of_closed_forms),
        cmocka_unit_test(what_is_drawn_or_expected_there_is_an_answer),
        cmocka_unit_test(derivatives_by_mu_are_those_of_the_test),
        cmocka_unit_test(an_answer_that_reads_that_likelihood_says_that_there_is_none),
        cmocka_unit_test(a_free_parameter_beside_it_leaves_no_expectation),
    };
    return cmocka_run_group_tests_name("impossible_background", tests, NULL, NULL);
}
