/* test_model_custom.c: values, derivatives and fits of models that a user wrote, against closed forms and
 * formulas in more digits. */
#include "model/models.h"

static const double peak_points[][PEAK_PARAMETERS] = {
    {60.0, 4.8, 0.6, 22.0, 0.25}, {35.5, 5.6, 1.3, 17.25, 0.4}, {0.0, 4.0, 0.3, 30.0, -0.05}};

/* Compares the likelihood with its formula in long double. */
static void compare_with_formula(const paritas_options *options, double relative)
{
    struct custom c = make_custom(options, peak_description());
    for (size_t k = 0; k < COUNT(peak_points); k++) {
        long double x[PEAK_PARAMETERS];
        double found;
        for (int p = 0; p < PEAK_PARAMETERS; p++) x[p] = peak_points[k][p];
        ASSERT_OK(c.context, paritas_evaluate(c.context, c.model, 1, peak_points[k], 0, NULL,
                                              SIZED(paritas_evaluate_answers, .twice_nll = &found)));
        const double wanted = (double)peak_twice_nll(x, peak_data);
        ASSERT_CLOSE(found, wanted, relative * fabs(wanted));
    }
    free_custom(&c);
}

TEST(the_likelihood_is_that_of_its_formula_in_more_digits)
{
    compare_with_formula(NULL, 4e-15);
}

TEST(in_f32_the_likelihood_keeps_the_digits_of_f32)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = 32;
    compare_with_formula(&options, 2e-6);
}

/* Derivative number p (and q, unless negative) at x, by differences of fourth order in long double. */
static long double difference(const long double *x, int p, int q)
{
    static const long double weight[] = {1.0L / 12, -2.0L / 3, 2.0L / 3, -1.0L / 12}, at[] = {-2, -1, 1, 2};
    const long double step = 1e-3L * (p == 0 || p == 3 ? 30.0L : 1.0L);
    long double sum = 0.0L, moved[PEAK_PARAMETERS];
    memcpy(moved, x, sizeof moved);
    for (int k = 0; k < 4; k++) {
        moved[p] = x[p] + at[k] * step;
        sum += weight[k] * (q < 0 ? peak_twice_nll(moved, peak_data) : difference(moved, q, -1));
    }
    return sum / step;
}

TEST(gradient_and_hessian_are_the_derivatives_of_the_formula)
{
    struct custom c = make_custom(NULL, peak_description());
    for (size_t k = 0; k < 2; k++) {
        long double x[PEAK_PARAMETERS];
        double gradient[PEAK_PARAMETERS], hessian[PEAK_PARAMETERS * PEAK_PARAMETERS];
        for (int p = 0; p < PEAK_PARAMETERS; p++) x[p] = peak_points[k][p];
        ASSERT_OK(c.context, paritas_evaluate(
                                 c.context, c.model, 1, peak_points[k], 0, NULL,
                                 SIZED(paritas_evaluate_answers, .gradient = gradient, .hessian = hessian)));
        for (int p = 0; p < PEAK_PARAMETERS; p++) {
            const double size = sqrt(fabs(hessian[p * PEAK_PARAMETERS + p]));
            ASSERT_CLOSE(gradient[p], (double)difference(x, p, -1), 1e-9 * size);
            for (int q = 0; q < PEAK_PARAMETERS; q++) {
                ASSERT_CLOSE(hessian[p * PEAK_PARAMETERS + q], (double)difference(x, p, q),
                             1e-8 * size * sqrt(fabs(hessian[q * PEAK_PARAMETERS + q])));
                assert_true(hessian[p * PEAK_PARAMETERS + q] == hessian[q * PEAK_PARAMETERS + p]);
            }
        }
    }
    free_custom(&c);
}

TEST(expected_data_and_their_derivatives_are_the_formula)
{
    struct custom c = make_custom(NULL, peak_description());
    double expected[3 * PEAK_BINS], jacobian[PEAK_BINS * PEAK_PARAMETERS];
    ASSERT_OK(c.context, paritas_expected_data(c.context, c.model, 3, peak_points[0], expected));
    ASSERT_OK(c.context, paritas_expected_jacobian(c.context, c.model, peak_points[1], jacobian));
    for (int i = 0; i < PEAK_BINS; i++) {
        long double x[PEAK_PARAMETERS];
        for (int k = 0; k < 3; k++) {
            for (int p = 0; p < PEAK_PARAMETERS; p++) x[p] = peak_points[k][p];
            ASSERT_CLOSE(expected[k * PEAK_BINS + i], (double)peak_expected(x, i), 2e-14);
        }
        for (int p = 0; p < PEAK_PARAMETERS; p++) {
            for (int q = 0; q < PEAK_PARAMETERS; q++) x[q] = peak_points[1][q];
            const long double step = 1e-5L;
            x[p] += step;
            const long double above = peak_expected(x, i);
            x[p] -= 2.0L * step;
            ASSERT_CLOSE(jacobian[i * PEAK_PARAMETERS + p],
                         (double)((above - peak_expected(x, i)) / (2.0L * step)), 1e-8);
        }
    }
    free_custom(&c);
    struct custom o = make_custom(NULL, onoff_description());
    const double point[] = {10.0, 20.0, 0.7};
    double row[3];
    ASSERT_OK(o.context, paritas_expected_data(o.context, o.model, 1, point, row));
    ASSERT_CLOSE(row[0], 27.0, 1e-14);
    assert_true(row[1] == 80.0 && row[2] == 0.7); /* of the constraint, its parameter */
    free_custom(&o);
}

TEST(outside_its_domain_a_model_has_no_likelihood)
{
    struct custom c = make_custom(NULL, onoff_description()), d = make_custom(NULL, decay_description());
    const double points[2][3] = {{-50.0, 10.0, 0.8}, {5.0, 10.0, 0.8}}, lifetime = -1.0;
    double values[2], gradient[6], value;
    ASSERT_OK(c.context,
              paritas_evaluate(c.context, c.model, 2, points[0], 0, NULL,
                               SIZED(paritas_evaluate_answers, .twice_nll = values, .gradient = gradient)));
    assert_true(isnan(values[0]) && isnan(gradient[0]) && !isnan(values[1]) && !isnan(gradient[3]));
    ASSERT_OK(d.context, paritas_evaluate(d.context, d.model, 1, &lifetime, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_true(isnan(value));
    free_custom(&c);
    free_custom(&d);
}

/* Counts on and off, and what was measured of the efficiency. */
static const double counts[][3] = {{25, 60, 0.8}, {25, 60, 0.9},  {100, 40, 0.75}, {7, 20, 0.8},
                                   {10, 80, 0.8}, {1000, 1, 1.0}, {3, 16, 0.8},    {16, 0, 0.8}};

TEST(on_and_off_counts_have_the_closed_form_whatever_the_minimiser)
{
    struct custom c = make_custom(NULL, onoff_description());
    paritas_job jobs[COUNT(counts)] = {PARITAS_INIT(paritas_job)};
    paritas_fit_result results[COUNT(counts)] = {PARITAS_INIT(paritas_fit_result)};
    double x[COUNT(counts)][3], errors[COUNT(counts)][3], covariance[COUNT(counts)][9];
    paritas_parameter_state states[COUNT(counts)][3];
    for (size_t k = 0; k < COUNT(counts); k++) jobs[k].data = counts[k];
    for (int m = 0; m < 3; m++) {
        paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
        options.minimizer = (paritas_minimizer)m;
        ASSERT_OK(c.context,
                  paritas_fit(c.context, c.model, &options, COUNT(counts), jobs,
                              SIZED(paritas_fit_answers, .results = results, .parameters = x[0],
                                    .errors = errors[0], .covariance = covariance[0], .states = states[0])));
        for (size_t k = 0; k < COUNT(counts); k++) {
            const double on = counts[k][0], off = counts[k][1], seen = counts[k][2], excess = on - off / 4.0;
            const bool signal = excess > 0.0;
            const double b = signal ? off / 4.0 : (on + off) / 5.0, s = signal ? excess / seen : 0.0;
            assert_int_equal(results[k].status, PARITAS_FIT_CONVERGED);
            assert_int_equal(states[k][0],
                             signal ? PARITAS_PARAMETER_FREE : PARITAS_PARAMETER_AT_LOWER_BOUND);
            const double variance_b = signal ? off / 16.0 : (on + off) / 25.0,
                         variance_s = ((on + off / 16.0) + s * s * 0.0025) / (seen * seen);
            const double near = 1e-5; /* of an error: what a converged fit may be away */
            if (off == 0.0) {         /* the background is on its bound, and the signal has all */
                assert_int_equal(states[k][1], PARITAS_PARAMETER_AT_LOWER_BOUND);
                ASSERT_CLOSE(x[k][0], on / seen, near * errors[k][0]);
                continue;
            }
            ASSERT_CLOSE(x[k][1], b, near * errors[k][1]);
            ASSERT_CLOSE(x[k][2], seen, near * errors[k][2]);
            ASSERT_CLOSE(errors[k][1], sqrt(variance_b), 2e-5 * sqrt(variance_b));
            ASSERT_CLOSE(errors[k][2], 0.05, 1e-6);
            ASSERT_CLOSE(x[k][0], s, signal ? near * errors[k][0] : 0.0);
            if (!signal) {
                assert_true(isnan(errors[k][0]));
                continue;
            }
            ASSERT_CLOSE(errors[k][0], sqrt(variance_s), 2e-5 * sqrt(variance_s));
            ASSERT_CLOSE(covariance[k][1], -off / 16.0 / seen, 2e-5 * sqrt(variance_s * variance_b));
            ASSERT_CLOSE(covariance[k][2], -s * 0.0025 / seen, 2e-5 * sqrt(variance_s) * 0.05);
            /* the model meets the counts exactly: their probabilities and the constraint's norm are left */
            const double nll = on - on * log(on) + lgamma(on + 1.0) + off - off * log(off) +
                               lgamma(off + 1.0) + log(0.05 * sqrt(2.0 * acos(-1.0)));
            ASSERT_CLOSE(results[k].twice_nll, 2.0 * nll, 1e-9);
        }
    }
    free_custom(&c);
}

TEST(measurements_make_a_straight_line_by_least_squares)
{
    enum { N = 11 };
    double columns[2 * N], data[N], sigmas[N], s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0, syy = 0, logs = 0;
    const unsigned char fixed[] = {0, 0, 1};
    const double init[] = {0.0, 0.0, 1.0}, lower[] = {-100.0, -100.0, 0.5}, upper[] = {100.0, 100.0, 2.0};
    for (int i = 0; i < N; i++) {
        columns[i] = 0.7 * i - 2.0;
        columns[N + i] = 1.0;
        data[i] = -3.0 + 1.7 * columns[i] + 0.3 * (double)(i * 5 % 7 - 3);
        sigmas[i] = 0.2 + 0.05 * (double)(i % 4);
        const double w = 1.0 / (sigmas[i] * sigmas[i]);
        s += w;
        sx += w * columns[i];
        sxx += w * columns[i] * columns[i];
        sy += w * data[i];
        sxy += w * columns[i] * data[i];
        syy += w * data[i] * data[i];
        logs += 2.0 * log(sigmas[i] * sqrt(2.0 * acos(-1.0)));
    }
    paritas_model_description d = onoff_description();
    d.init = init;
    d.lower = lower;
    d.upper = upper;
    d.fixed = fixed;
    d.constraint_widths = NULL;
    d.n_main = N;
    d.sigmas = sigmas;
    d.data = data;
    d.n_reals = 2 * N;
    d.reals = columns;
    struct custom c = make_custom(NULL, d);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    double x[3], errors[3];
    ASSERT_OK(c.context,
              paritas_fit(c.context, c.model, NULL, 1, &job,
                          SIZED(paritas_fit_answers, .results = &result, .parameters = x, .errors = errors)));
    const double det = s * sxx - sx * sx, slope = (s * sxy - sx * sy) / det,
                 offset = (sxx * sy - sx * sxy) / det, chi2 = syy - slope * sxy - offset * sy;
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(x[0], slope, 1e-12);
    ASSERT_CLOSE(x[1], offset, 1e-12);
    ASSERT_CLOSE(errors[0], sqrt(s / det), 1e-12);
    ASSERT_CLOSE(errors[1], sqrt(sxx / det), 1e-12);
    ASSERT_CLOSE(result.twice_nll, chi2 + logs, 1e-10);
    ASSERT_OK(c.context, paritas_gof(c.context, c.model, NULL, &gof));
    ASSERT_CLOSE(gof.statistic, chi2, 1e-10);
    assert_int_equal(gof.ndof, N - 2);
    free_custom(&c);
}

TEST(times_of_decays_one_by_one_have_their_mean_for_lifetime)
{
    struct custom c = make_custom(NULL, decay_description());
    double mean = 0.0, x, error;
    for (int i = 0; i < DECAYS; i++) mean += decay_times[i] / DECAYS;
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    for (int m = 0; m < 3; m++) {
        paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
        options.minimizer = (paritas_minimizer)m;
        ASSERT_OK(c.context, paritas_fit(c.context, c.model, &options, 1, &job,
                                         SIZED(paritas_fit_answers, .results = &result, .parameters = &x,
                                               .errors = &error)));
        assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(x, mean, 1e-5 * error);
        ASSERT_CLOSE(error, mean / sqrt(DECAYS), 1e-5 * error);
        ASSERT_CLOSE(result.twice_nll, 2.0 * DECAYS * (1.0 + log(mean)), 1e-9);
    }
    free_custom(&c);
}

enum { SPECTRA = 40 };

TEST(three_minimisers_find_one_minimum)
{
    struct custom c = make_custom(NULL, peak_description());
    static double spectra[SPECTRA * PEAK_BINS], x[3][SPECTRA][PEAK_PARAMETERS],
        errors[3][SPECTRA][PEAK_PARAMETERS];
    static paritas_fit_result results[3][SPECTRA];
    paritas_job jobs[SPECTRA] = {PARITAS_INIT(paritas_job)};
    peak_spectra(peak_init, SPECTRA, spectra);
    for (size_t k = 0; k < SPECTRA; k++) jobs[k].data = spectra + k * PEAK_BINS;
    for (int m = 0; m < 3; m++) {
        paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
        options.minimizer = (paritas_minimizer)m;
        results[m][0].size = sizeof results[m][0];
        ASSERT_OK(c.context,
                  paritas_fit(c.context, c.model, &options, m == PARITAS_MINIMIZER_DE ? 2 : SPECTRA, jobs,
                              SIZED(paritas_fit_answers, .results = results[m], .parameters = x[m][0],
                                    .errors = errors[m][0])));
        for (size_t k = 0; k < (m == PARITAS_MINIMIZER_DE ? 2 : SPECTRA); k++) {
            assert_int_equal(results[m][k].status, PARITAS_FIT_CONVERGED);
            ASSERT_CLOSE(results[m][k].twice_nll, results[0][k].twice_nll, 1e-9);
            for (int p = 0; p < PEAK_PARAMETERS; p++)
                ASSERT_CLOSE(x[m][k][p], x[0][k][p], 2e-5 * errors[0][k][p]);
        }
    }
    /* no step away from it leads lower */
    for (size_t k = 0; k < SPECTRA; k++)
        for (int p = 0; p < 2 * PEAK_PARAMETERS; p++) {
            long double moved[PEAK_PARAMETERS], least[PEAK_PARAMETERS];
            for (int q = 0; q < PEAK_PARAMETERS; q++) moved[q] = least[q] = x[0][k][q];
            moved[p / 2] += (p % 2 ? 0.01L : -0.01L) * errors[0][k][p / 2];
            assert_true(peak_twice_nll(moved, spectra + k * PEAK_BINS) >
                        peak_twice_nll(least, spectra + k * PEAK_BINS));
        }
    free_custom(&c);
}

TEST(polished_fits_in_f32_are_the_fits_in_f64)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = 32;
    struct custom narrow = make_custom(&options, peak_description()),
                  wide = make_custom(NULL, peak_description());
    static double spectra[SPECTRA * PEAK_BINS], x[2][SPECTRA][PEAK_PARAMETERS],
        errors[2][SPECTRA][PEAK_PARAMETERS];
    paritas_fit_result results[2][SPECTRA];
    for (int k = 0; k < 2; k++) results[k][0].size = sizeof results[k][0];
    paritas_job jobs[SPECTRA] = {PARITAS_INIT(paritas_job)};
    peak_spectra(peak_init, SPECTRA, spectra);
    for (size_t k = 0; k < SPECTRA; k++) jobs[k].data = spectra + k * PEAK_BINS;
    ASSERT_OK(narrow.context, paritas_fit(narrow.context, narrow.model, NULL, SPECTRA, jobs,
                                          SIZED(paritas_fit_answers, .results = results[0],
                                                .parameters = x[0][0], .errors = errors[0][0])));
    ASSERT_OK(wide.context, paritas_fit(wide.context, wide.model, NULL, SPECTRA, jobs,
                                        SIZED(paritas_fit_answers, .results = results[1],
                                              .parameters = x[1][0], .errors = errors[1][0])));
    for (size_t k = 0; k < SPECTRA; k++) {
        assert_int_equal(results[0][k].status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(results[0][k].twice_nll, results[1][k].twice_nll, 2e-9);
        for (int p = 0; p < PEAK_PARAMETERS; p++)
            ASSERT_CLOSE(x[0][k][p], x[1][k][p], 1e-5 * errors[1][k][p]);
    }
    free_custom(&narrow);
    free_custom(&wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_likelihood_is_that_of_its_formula_in_more_digits),
        cmocka_unit_test(in_f32_the_likelihood_keeps_the_digits_of_f32),
        cmocka_unit_test(gradient_and_hessian_are_the_derivatives_of_the_formula),
        cmocka_unit_test(expected_data_and_their_derivatives_are_the_formula),
        cmocka_unit_test(outside_its_domain_a_model_has_no_likelihood),
        cmocka_unit_test(on_and_off_counts_have_the_closed_form_whatever_the_minimiser),
        cmocka_unit_test(measurements_make_a_straight_line_by_least_squares),
        cmocka_unit_test(times_of_decays_one_by_one_have_their_mean_for_lifetime),
        cmocka_unit_test(three_minimisers_find_one_minimum),
        cmocka_unit_test(polished_fits_in_f32_are_the_fits_in_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
