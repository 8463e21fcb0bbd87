/* Probabilities: identities and closed forms. */
#include "infer_testing.h"

#include "base/math/probability.h"

TEST(the_tails_of_the_normal_distribution_mirror_each_other)
{
    for (double x = -6.0; x <= 6.0; x += 0.37) ASSERT_CLOSE(normal_cdf(x) + normal_cdf(-x), 1.0, 3e-16);
    assert_true(normal_cdf(0.0) == 0.5);
    assert_true(normal_cdf(-HUGE_VAL) == 0.0);
    assert_true(normal_cdf(HUGE_VAL) == 1.0);
    assert_true(isnan(normal_cdf((double)NAN)));
}

TEST(the_normal_distribution_has_its_published_values)
{
    ASSERT_CLOSE(normal_cdf(1.0), 0.84134474606854293, 2e-16);
    ASSERT_CLOSE(normal_cdf(-5.0) / 2.8665157187919391e-07, 1.0, 1e-14);
    ASSERT_CLOSE(normal_cdf(-37.0) / 5.7255712225245768e-300, 1.0, 1e-13);
}

TEST(the_quantile_inverts_the_distribution)
{
    for (double p = 1e-300; p < 0.5; p *= 7.3) ASSERT_CLOSE(normal_cdf(normal_quantile(p)) / p, 1.0, 3e-13);
    for (double p = 0.0137; p < 1.0; p += 0.0137) ASSERT_CLOSE(normal_cdf(normal_quantile(p)), p, 3e-16);
    assert_true(normal_quantile(0.5) == 0.0);
    assert_true(isinf(normal_quantile(0.0)) && isinf(normal_quantile(1.0)));
    assert_true(isnan(normal_quantile(-0.1)) && isnan(normal_quantile(1.1)));
}

TEST(the_logarithm_of_the_distribution_goes_on_where_the_distribution_is_zero)
{
    for (double x = -30.0; x <= 5.0; x += 1.7)
        ASSERT_CLOSE(normal_log_cdf(x) / log(normal_cdf(x)), 1.0, 1e-12);
    ASSERT_CLOSE(normal_log_cdf(-100.0), -5005.5242086942050886, 1e-9);
}

TEST(chi_squared_with_two_degrees_of_freedom_is_exponential)
{
    for (double x = 0.01; x < 200.0; x *= 1.7)
        ASSERT_CLOSE(chi2_survival(x, 2.0) / exp(-0.5 * x), 1.0, 1e-13);
}

TEST(chi_squared_with_one_degree_of_freedom_is_a_squared_normal_number)
{
    for (double x = 0.01; x < 200.0; x *= 1.7)
        ASSERT_CLOSE(chi2_survival(x, 1.0) / (2.0 * normal_cdf(-sqrt(x))), 1.0, 1e-13);
}

TEST(chi_squared_obeys_its_recurrence)
{
    /* Q(a + 1, h) = Q(a, h) + h^a e^-h / Gamma(a + 1) */
    for (double ndof = 1.0; ndof < 400.0; ndof += 13.0)
        for (double x = 0.3 * ndof; x < 2.0 * ndof; x += 0.21 * ndof) {
            double a = 0.5 * ndof, h = 0.5 * x;
            ASSERT_CLOSE(chi2_survival(x, ndof + 2.0) - chi2_survival(x, ndof),
                         exp(a * log(h) - h - lgamma(a + 1.0)), 2e-13);
        }
}

TEST(chi_squared_has_edges)
{
    assert_true(chi2_survival(0.0, 3.0) == 1.0);
    assert_true(chi2_survival(-1.0, 3.0) == 1.0);
    assert_true(chi2_survival(HUGE_VAL, 3.0) == 0.0);
    assert_true(isnan(chi2_survival(1.0, 0.0)));
    assert_true(isnan(chi2_survival((double)NAN, 3.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tails_of_the_normal_distribution_mirror_each_other),
        cmocka_unit_test(the_normal_distribution_has_its_published_values),
        cmocka_unit_test(the_quantile_inverts_the_distribution),
        cmocka_unit_test(the_logarithm_of_the_distribution_goes_on_where_the_distribution_is_zero),
        cmocka_unit_test(chi_squared_with_two_degrees_of_freedom_is_exponential),
        cmocka_unit_test(chi_squared_with_one_degree_of_freedom_is_a_squared_normal_number),
        cmocka_unit_test(chi_squared_obeys_its_recurrence),
        cmocka_unit_test(chi_squared_has_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
