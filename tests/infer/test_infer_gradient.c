/* Values and gradients of statistics: closed forms of counting experiments, and differences of refitted
 * values. */
#include "gradient_testing.h"

#include "base/math/probability.h"

#include <stdbool.h>

static const double N = 21.0, S = 5.0, B = 9.0;

static paritas_gradient_options options_of(paritas_quantity quantity, paritas_test_statistic statistic)
{
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    options.quantity = quantity;
    options.statistic = statistic;
    return options;
}

/* ---- closed forms ---- */

TEST(q0_of_a_counting_experiment_has_the_slope_of_its_closed_form)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0),
                                   z = options_of(PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q0);
    double value, slope, by_mu;
    differentiate_one(&f, &q, 0.0, &N, &value, &slope, &by_mu);
    ASSERT_CLOSE(value, deviance(N, B), 1e-12);
    ASSERT_CLOSE(slope, 2.0 * log(N / B), 1e-13);
    differentiate_one(&f, &z, 0.0, &N, &value, &slope, NULL);
    ASSERT_CLOSE(value, sqrt(deviance(N, B)), 1e-13);
    ASSERT_CLOSE(slope, log(N / B) / sqrt(deviance(N, B)), 1e-13);
    free_fixture(&f);
}

TEST(q_has_the_slopes_of_its_closed_form_by_data_and_mu)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    const double mu = 4.0, rate = mu * S + B;
    double value, slope, by_mu;
    differentiate_one(&f, &q, mu, &N, &value, &slope, &by_mu);
    ASSERT_CLOSE(value, deviance(N, rate), 1e-12);
    ASSERT_CLOSE(slope, 2.0 * log(N / rate), 1e-13);
    ASSERT_CLOSE(by_mu, 2.0 * S * (1.0 - N / rate), 1e-12);
    free_fixture(&f);
}

TEST(the_expected_significance_is_that_of_the_asimov_data)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const paritas_gradient_options z = options_of(PARITAS_QUANTITY_Z_ASIMOV, PARITAS_STATISTIC_Q0);
    double value, slope;
    differentiate_one(&f, &z, 0.0, &N, &value, &slope, NULL);
    ASSERT_CLOSE(value, sqrt(2.0 * ((S + B) * log(1.0 + S / B) - S)), 1e-12);
    assert_true(slope == 0.0); /* nothing in them was measured */
    free_fixture(&f);
}

/* n observed, b known from tau b = m in a sideband: s + b fits n, b = m / tau; at s = 0 both come from b = (n
 * + m) / (1 + tau). */
TEST(an_on_off_experiment_has_the_slopes_of_its_closed_form)
{
    const double n = 30.0, b = 12.0, unc = 3.0, tau = b / (unc * unc), m = tau * b;
    char text[1024];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"b\",\"data\":[%g],\"modifiers\":[{\"name\":\"off\",\"type\":\"shapesys\",\"data\":["
             "%g]}]},"
             "{\"name\":\"s\",\"data\":[5.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
             "\"data\":null}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],\"version\":"
             "\"1.0.0\"}",
             b, unc, n);
    struct fixture f = make_fixture(text);
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0);
    const double row[2] = {n, m}, b0 = (n + m) / (1.0 + tau);
    double value, slope[2];
    differentiate_one(&f, &q, 0.0, row, &value, slope, NULL);
    ASSERT_CLOSE(value, 2.0 * (n * log(n / b0) + m * log(m / (tau * b0))), 1e-11);
    ASSERT_CLOSE(slope[0], 2.0 * log(n / b0), 1e-12);
    ASSERT_CLOSE(slope[1], 2.0 * log(m / (tau * b0)), 1e-12);
    free_fixture(&f);
}

/* ---- where there is a kink ---- */

TEST(where_the_fit_finds_no_excess_z0_and_its_gradient_are_zero)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double fewer = 4.0, equal = B, rows[2] = {fewer, equal};
    for (int k = 0; k < 2; k++) {
        const paritas_gradient_options z =
            options_of(k ? PARITAS_QUANTITY_Z : PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0);
        for (int i = 0; i < 2; i++) {
            double value, slope;
            differentiate_one(&f, &z, 0.0, &rows[i], &value, &slope, NULL);
            ASSERT_CLOSE(value, 0.0, 1e-6);
            ASSERT_CLOSE(slope, 0.0, 1e-6);
        }
    }
    free_fixture(&f);
}

TEST(beyond_the_tested_mu_q_is_flat_and_at_its_lower_bound_the_fit_stays)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    double value, slope, by_mu, fewer = 4.0;
    differentiate_one(&f, &q, 1.0, &N, &value, &slope, &by_mu); /* mu_hat = 2.4 */
    assert_true(value == 0.0 && slope == 0.0 && by_mu == 0.0);
    differentiate_one(&f, &q, 1.0, &fewer, &value, &slope, &by_mu); /* mu_hat = 0 */
    ASSERT_CLOSE(value, deviance(fewer, S + B) - deviance(fewer, B), 1e-12);
    ASSERT_CLOSE(slope, -2.0 * log((S + B) / B), 1e-13);
    free_fixture(&f);
}

TEST(an_empty_bin_has_finite_slopes)
{
    struct fixture f = counting(0.0, S, 0.0, 0.0, 10.0);
    const double none = 0.0;
    for (int k = PARITAS_QUANTITY_Q; k <= PARITAS_QUANTITY_CLS; k++) {
        const paritas_gradient_options o = options_of((paritas_quantity)k, PARITAS_STATISTIC_QTILDE);
        double values[6], slopes[6], by_mu[6];
        differentiate_one(&f, &o, 1.0, &none, values, slopes, by_mu);
        for (int i = 0; i < (k == PARITAS_QUANTITY_CLS ? 6 : 1); i++)
            assert_true(isfinite(values[i]) && isfinite(slopes[i]) && isfinite(by_mu[i]));
    }
    free_fixture(&f);
}

/* ---- values ---- */

TEST(values_are_those_of_the_statistics)
{
    static const char *const observed[] = {"75.0,61.0,47.0", "68.0,40.0,19.0", "60.0,33.0,9.0"};
    for (size_t i = 0; i < COUNT(observed); i++) {
        struct fixture f = all_modifiers(observed[i], "0.0,10.0");
        const double *row = paritas_model_data(f.model), mus[] = {0.4, 1.0, 3.5};
        double values[6];
        for (int s = PARITAS_STATISTIC_QTILDE; s <= PARITAS_STATISTIC_Q0; s++) {
            for (size_t m = 0; m < COUNT(mus); m++) {
                paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
                assert_int_equal(
                    paritas_hypotest(f.context, f.model, NULL, (paritas_test_statistic)s, 1, &mus[m], &r),
                    PARITAS_OK);
                paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, (paritas_test_statistic)s);
                differentiate_one(&f, &o, mus[m], row, values, NULL, NULL);
                ASSERT_CLOSE(values[0], r.q, 1e-9);
                o.quantity = PARITAS_QUANTITY_Q_ASIMOV;
                differentiate_one(&f, &o, mus[m], row, values, NULL, NULL);
                ASSERT_CLOSE(values[0], r.q_asimov, 1e-9);
                o.quantity = PARITAS_QUANTITY_CLS;
                differentiate_one(&f, &o, mus[m], row, values, NULL, NULL);
                ASSERT_CLOSE(values[0], r.cls_obs, 1e-9);
                for (int k = 0; k < 5; k++) ASSERT_CLOSE(values[1 + k], r.cls_exp[k], 1e-9);
            }
        }
        paritas_significance_result z = PARITAS_INIT(paritas_significance_result);
        assert_int_equal(paritas_significance(f.context, f.model, NULL, &z), PARITAS_OK);
        const paritas_gradient_options observed_z = options_of(PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q0),
                                       expected_z =
                                           options_of(PARITAS_QUANTITY_Z_ASIMOV, PARITAS_STATISTIC_Q0);
        differentiate_one(&f, &observed_z, 0.0, row, values, NULL, NULL);
        ASSERT_CLOSE(values[0], z.z, z.z > 0.0 ? 1e-9 : 1e-6);
        differentiate_one(&f, &expected_z, 0.0, row, values, NULL, NULL);
        ASSERT_CLOSE(values[0], z.z_exp, 1e-9);
        paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
        assert_int_equal(
            paritas_limit(f.context, f.model, NULL,
                          SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE, .level = 0.05),
                          &limit),
            PARITAS_OK);
        const paritas_gradient_options limits = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE);
        differentiate_one(&f, &limits, 0.0, row, values, NULL, NULL);
        assert_true(values[0] == limit.limit_obs);
        for (int k = 0; k < 5; k++) assert_true(values[1 + k] == limit.limit_exp[k]);
        free_fixture(&f);
    }
}

/* ---- gradients ---- */

/* Steps of a row: a few per cent of a count; of Gaussian auxiliary data, which are 0 or 1, a few per cent of
 * one. */
static void fill_steps(const struct fixture *f, const double *row, double part, double *steps)
{
    const size_t n_main = paritas_model_main_count(f->model), r = row_length(f->model);
    for (size_t i = 0; i < r; i++) steps[i] = part * (i < n_main || fabs(row[i]) > 2.0 ? row[i] : 0.5);
}

TEST(gradients_are_those_of_refitted_values)
{
    static const struct {
        paritas_quantity quantity;
        paritas_test_statistic statistic;
        size_t outputs;
        double mu, tolerance;
    } cases[] = {{PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0, 1, 0.0, 1e-8},
                 {PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q0, 1, 0.0, 1e-8},
                 {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 1, 3.5, 1e-8},
                 {PARITAS_QUANTITY_Z_ASIMOV, PARITAS_STATISTIC_Q0, 1, 0.0, 1e-8},
                 {PARITAS_QUANTITY_Q_ASIMOV, PARITAS_STATISTIC_Q, 1, 1.5, 1e-8},
                 {PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE, 6, 3.5, 1e-8},
                 {PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_Q, 6, 2.8, 1e-8},
                 {PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_Q0, 6, 0.0, 1e-8}};
    struct fixture f = all_modifiers("75.0,61.0,39.0", "0.0,10.0");
    const double *row = paritas_model_data(f.model);
    double steps[64];
    assert_true(row_length(f.model) <= COUNT(steps));
    fill_steps(&f, row, 0.02, steps);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const paritas_gradient_options o = options_of(cases[i].quantity, cases[i].statistic);
        check_gradient(&f, &o, cases[i].mu, row, steps, cases[i].outputs, cases[i].tolerance);
    }
    free_fixture(&f);
}

TEST(gradients_at_bounds_are_those_of_refitted_values)
{
    struct fixture f = all_modifiers("60.0,33.0,9.0", "0.0,10.0"); /* mu_hat = 0; in qtilde's other branch */
    const double *row = paritas_model_data(f.model);
    double steps[64], value[6];
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE),
                                   cls = options_of(PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE);
    fill_steps(&f, row, 0.01, steps);
    check_gradient(&f, &q, 1.2, row, steps, 1, 1e-8);
    check_gradient(&f, &cls, 1.2, row, steps, 6, 1e-8);
    differentiate_one(&f, &cls, 1.2, row, value, NULL, NULL);
    free_fixture(&f);
}

/* d(limit)/dt by differences of limits is as noisy as a search's end; where CLs(mu, t) has exact slopes, that
 * of its root is a quotient of them. */
TEST(limits_have_the_gradients_of_the_roots_that_they_are)
{
    struct fixture f = all_modifiers("70.0,45.0,24.0", "0.0,10.0");
    const double *row = paritas_model_data(f.model);
    const size_t r = row_length(f.model);
    double limits[6], by_row[6 * 64], values[6], cls_by_row[6 * 64], by_mu[6], steps[64];
    const paritas_gradient_options o = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE),
                                   cls = options_of(PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE);
    differentiate_one(&f, &o, 0.0, row, limits, by_row, NULL);
    for (size_t k = 0; k < 6; k++) {
        differentiate_one(&f, &cls, limits[k], row, values, cls_by_row, by_mu);
        ASSERT_CLOSE(values[k], 0.05, 1e-8);
        /* from fits of their own, that start elsewhere */
        for (size_t i = 0; i < r; i++)
            ASSERT_CLOSE(by_row[k * r + i], -cls_by_row[k * r + i] / by_mu[k], 1e-11);
    }
    fill_steps(&f, row, 0.04, steps);
    /* each value is a search of its own */
    for (size_t i = 1; i < r; i++) steps[i] = i % 4 == 2 ? steps[i] : 0.0;
    /* limits are to 1e-7 relative, and the least step is 1/200 */
    check_gradient(&f, &o, 0.0, row, steps, 6, 2e-5);
    free_fixture(&f);
}

TEST(mu_has_the_slope_of_refitted_values)
{
    struct fixture f = all_modifiers("75.0,61.0,39.0", "0.0,10.0");
    const paritas_gradient_options o = options_of(PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE);
    const double *row = paritas_model_data(f.model), h = 0.02;
    double by_mu[6], values[6], slope[3][6];
    differentiate_one(&f, &o, 3.5, row, values, NULL, by_mu);
    for (int d = 0; d < 3; d++) {
        double up[6], down[6], step = h / (1 << d);
        differentiate_one(&f, &o, 3.5 + step, row, up, NULL, NULL);
        differentiate_one(&f, &o, 3.5 - step, row, down, NULL, NULL);
        for (int k = 0; k < 6; k++) slope[d][k] = (up[k] - down[k]) / (2.0 * step);
    }
    for (int k = 0; k < 6; k++) {
        const double a = (4.0 * slope[1][k] - slope[0][k]) / 3.0, b = (4.0 * slope[2][k] - slope[1][k]) / 3.0;
        ASSERT_CLOSE(by_mu[k], (16.0 * b - a) / 15.0, 1e-9);
    }
    free_fixture(&f);
}

TEST(the_likelihood_has_the_gradients_of_its_formula)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double mu = 1.7, rate = mu * S + B;
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_NLL, PARITAS_STATISTIC_QTILDE);
    double value, by_n, by_mu;
    differentiate_one(&f, &o, mu, &N, &value, &by_n, &by_mu);
    ASSERT_CLOSE(value, rate - N * log(rate) + lgamma(N + 1.0), 1e-12);
    ASSERT_CLOSE(by_mu, S * (1.0 - N / rate), 1e-13);
    double harmonic = -0.57721566490153286061;
    for (int k = 1; k <= (int)N; k++) harmonic += 1.0 / k; /* digamma of N + 1 */
    ASSERT_CLOSE(by_n, harmonic - log(rate), 1e-13);
    double twice;
    o.quantity = PARITAS_QUANTITY_TWICE_NLL;
    differentiate_one(&f, &o, mu, &N, &twice, NULL, NULL);
    assert_true(twice == 2.0 * value);
    free_fixture(&f);
}

/* ---- calls ---- */

TEST(a_row_without_an_answer_is_nan_and_says_why_and_the_others_are_as_alone)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double rows[4] = {N, (double)NAN, -1.0, 17.0};
    const double mu[4] = {4.0, 4.0, 4.0, 4.0};
    double values[24], slopes[24], by_mu[24], alone[6], slope[6], mu_slope[6];
    paritas_fit_status statuses[4];
    const paritas_gradient_options o = options_of(PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE);
    const paritas_gradient to = {.size = sizeof(paritas_gradient),
                                 .values = values,
                                 .statuses = statuses,
                                 .data = slopes,
                                 .at = by_mu};
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 4, mu, rows, &to), PARITAS_OK);
    for (int i = 0; i < 4; i++) {
        const bool sound = i == 0 || i == 3;
        assert_int_equal(statuses[i], sound ? PARITAS_FIT_CONVERGED : PARITAS_FIT_NON_FINITE);
        if (sound) differentiate_one(&f, &o, 4.0, &rows[i], alone, slope, mu_slope);
        for (int k = 0; k < 6; k++) {
            if (sound) {
                assert_memory_equal(&values[6 * i + k], &alone[k], sizeof *alone);
                assert_memory_equal(&slopes[6 * i + k], &slope[k], sizeof *slope);
                assert_memory_equal(&by_mu[6 * i + k], &mu_slope[k], sizeof *mu_slope);
            } else {
                assert_true(isnan(values[6 * i + k]) && isnan(slopes[6 * i + k]) && isnan(by_mu[6 * i + k]));
            }
        }
    }
    free_fixture(&f);
}

TEST(outputs_alone_are_those_among_all)
{
    struct fixture f = all_modifiers("75.0,61.0,39.0", "0.0,10.0");
    const double *row = paritas_model_data(f.model);
    const size_t r = row_length(f.model);
    double all[6], some[2], all_rows[6 * 64], some_rows[2 * 64];
    for (int k = 0; k < 2; k++) {
        paritas_gradient_options o =
            options_of(k ? PARITAS_QUANTITY_LIMIT : PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE);
        differentiate_one(&f, &o, 2.0, row, all, all_rows, NULL);
        o.outputs = 1u << 1 | 1u << 3;
        differentiate_one(&f, &o, 2.0, row, some, some_rows, NULL);
        for (int i = 0; i < 2; i++) {
            assert_true(some[i] == all[1 + 2 * i]);
            assert_memory_equal(some_rows + (size_t)i * r, all_rows + (size_t)(1 + 2 * i) * r,
                                r * sizeof *all_rows);
        }
    }
    free_fixture(&f);
}

TEST(wrong_arguments_are_refused_by_name)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    double value, mu = -1.0; /* above the bounds a test widens them */
    const paritas_gradient to = {.size = sizeof(paritas_gradient), .values = &value};
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, &mu, &N, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "mu = -1"));
    o.quantity = (paritas_quantity)77;
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, NULL, &N, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "`quantity` is 77"));
    o = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    o.outputs = 2;
    /* of cls and limits alone */
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, NULL, &N, &to), PARITAS_OK);
    o.quantity = PARITAS_QUANTITY_CLS;
    o.outputs = 64;
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, NULL, &N, &to),
                     PARITAS_INVALID_ARGUMENT);
    o = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_Q0);
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, NULL, &N, &to),
                     PARITAS_INVALID_ARGUMENT);
    o = options_of(PARITAS_QUANTITY_NLL, PARITAS_STATISTIC_QTILDE);
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, NULL, &N, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "takes parameters"));
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q0_of_a_counting_experiment_has_the_slope_of_its_closed_form),
        cmocka_unit_test(q_has_the_slopes_of_its_closed_form_by_data_and_mu),
        cmocka_unit_test(the_expected_significance_is_that_of_the_asimov_data),
        cmocka_unit_test(an_on_off_experiment_has_the_slopes_of_its_closed_form),
        cmocka_unit_test(where_the_fit_finds_no_excess_z0_and_its_gradient_are_zero),
        cmocka_unit_test(beyond_the_tested_mu_q_is_flat_and_at_its_lower_bound_the_fit_stays),
        cmocka_unit_test(an_empty_bin_has_finite_slopes),
        cmocka_unit_test(values_are_those_of_the_statistics),
        cmocka_unit_test(gradients_are_those_of_refitted_values),
        cmocka_unit_test(gradients_at_bounds_are_those_of_refitted_values),
        cmocka_unit_test(limits_have_the_gradients_of_the_roots_that_they_are),
        cmocka_unit_test(mu_has_the_slope_of_refitted_values),
        cmocka_unit_test(the_likelihood_has_the_gradients_of_its_formula),
        cmocka_unit_test(a_row_without_an_answer_is_nan_and_says_why_and_the_others_are_as_alone),
        cmocka_unit_test(outputs_alone_are_those_among_all),
        cmocka_unit_test(wrong_arguments_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
