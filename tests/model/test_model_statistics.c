/* test_model_statistics.c: scans, errors, significances, limits, rankings and toys of models that a user
 * wrote. */
#include "model/models.h"
#include "sample/sample_testing.h"

/* Twice the log-likelihood ratio of signal s, for n on and m off with tau times the background: the
 * background follows from a quadratic. */
static double on_off_q(double n, double m, double tau, double s)
{
    const double p = n + m - (1.0 + tau) * s,
                 b = (p + sqrt(p * p + 4.0 * (1.0 + tau) * s * m)) / (2.0 * (1.0 + tau));
    return 2.0 * (s + b - n + n * log(n / (s + b)) + tau * b - m + m * log(m / (tau * b)));
}

/* The model with an efficiency of 1. */
static struct custom make_on_off(const double *data)
{
    static const double init[] = {1.0, 10.0, 1.0};
    static const unsigned char fixed[] = {0, 0, 1};
    paritas_model_description d = onoff_description();
    d.init = init;
    d.fixed = fixed;
    d.constraint_widths = NULL;
    d.data = data;
    return make_custom(NULL, d);
}

TEST(a_significance_is_that_of_li_and_ma)
{
    static const double data[][2] = {{25.0, 60.0}, {40.0, 100.0}, {9.0, 4.0}};
    for (size_t k = 0; k < COUNT(data); k++) {
        struct custom c = make_on_off(data[k]);
        paritas_significance_result result = PARITAS_INIT(paritas_significance_result);
        ASSERT_OK(c.context, paritas_significance(c.context, c.model, NULL, &result));
        /* T.-P. Li, Y.-Q. Ma, Astrophys. J. 272 (1983) 317, equation 17 */
        const double on = data[k][0], off = data[k][1], alpha = 0.25;
        const double z = sqrt(2.0 * (on * log((1.0 + alpha) / alpha * on / (on + off)) +
                                     off * log((1.0 + alpha) * off / (on + off))));
        ASSERT_CLOSE(result.z, z, 1e-8);
        ASSERT_CLOSE(result.mu_hat, on - alpha * off, 1e-4);
        free_custom(&c);
    }
}

TEST(a_scan_and_errors_by_minos_are_those_of_the_profile)
{
    static const double data[] = {25.0, 60.0};
    struct custom c = make_on_off(data);
    enum { N = 9 };
    const size_t signal = 0;
    double values[N], x[3], errors[3], offsets[2];
    paritas_scan_point points[N] = {PARITAS_INIT(paritas_scan_point)};
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    for (int i = 0; i < N; i++) values[i] = 3.0 * i;
    ASSERT_OK(c.context, paritas_scan(c.context, c.model, NULL,
                                      SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &signal,
                                            .n_points = N, .values = values, .best = &best,
                                            .best_parameters = x, .points = points)));
    for (int i = 0; i < N; i++) ASSERT_CLOSE(points[i].q, on_off_q(25.0, 60.0, 4.0, values[i]), 1e-9);
    ASSERT_OK(c.context,
              paritas_fit(c.context, c.model, NULL, 1, &job,
                          SIZED(paritas_fit_answers, .results = &best, .parameters = x, .errors = errors)));
    ASSERT_OK(c.context, paritas_minos(c.context, c.model, NULL,
                                       SIZED(paritas_minos_request, .best = x,
                                             .best_twice_nll = best.twice_nll, .error = errors[0]),
                                       offsets));
    ASSERT_CLOSE(on_off_q(25.0, 60.0, 4.0, x[0] + offsets[0]), 1.0, 1e-7);
    ASSERT_CLOSE(on_off_q(25.0, 60.0, 4.0, x[0] + offsets[1]), 1.0, 1e-7);
    free_custom(&c);
}

TEST(the_impact_of_the_efficiency_is_its_share_of_the_error)
{
    struct custom c = make_custom(NULL, onoff_description());
    paritas_ranking_entry entries[3] = {PARITAS_INIT(paritas_ranking_entry)};
    size_t n, at = 0;
    ASSERT_OK(c.context, paritas_ranking(c.context, c.model, NULL, entries, &n));
    assert_int_equal(n, 2);
    while (entries[at].parameter != 2) at++;
    /* all of the excess, 10, over the efficiency; nothing else constrains that */
    ASSERT_CLOSE(entries[at].impact_up, 10.0 / 0.85 - 12.5, 1e-4);
    ASSERT_CLOSE(entries[at].impact_down, 10.0 / 0.75 - 12.5, 1e-4);
    ASSERT_CLOSE(entries[at].prefit_up, entries[at].impact_up, 1e-4);
    ASSERT_CLOSE(entries[at].pull, 0.0, 1e-6);
    ASSERT_CLOSE(entries[at].constraint, 1.0, 1e-5);
    free_custom(&c);
}

TEST(a_limit_is_where_cls_is_its_level)
{
    struct custom c = make_custom(NULL, onoff_description());
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    ASSERT_OK(c.context, paritas_limit(c.context, c.model, NULL,
                                       SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE,
                                             .level = 0.05),
                                       &limit));
    paritas_hypotest_result test = PARITAS_INIT(paritas_hypotest_result);
    ASSERT_OK(c.context, paritas_hypotest(c.context, c.model, NULL, PARITAS_STATISTIC_QTILDE, 1,
                                          &limit.limit_obs, &test));
    ASSERT_CLOSE(test.cls_obs, 0.05, 1e-6);
    ASSERT_OK(c.context, paritas_hypotest(c.context, c.model, NULL, PARITAS_STATISTIC_QTILDE, 1,
                                          &limit.limit_exp[2], &test));
    ASSERT_CLOSE(test.cls_exp[2], 0.05, 1e-6);
    free_custom(&c);
}

TEST(toys_scatter_around_the_point_that_they_are_drawn_at)
{
    enum { N = 2000 };
    struct custom c = make_custom(NULL, onoff_description());
    const double point[] = {120.0, 80.0, 0.8};
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_toys_parameter parameters[3] = {PARITAS_INIT(paritas_toys_parameter)};
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    options.n = N;
    options.seed = 7;
    ASSERT_OK(c.context, paritas_toys(c.context, c.model, NULL,
                                      SIZED(paritas_toys_request, .point = point,
                                            .flags = PARITAS_TOYS_ERRORS, .parameters = parameters),
                                      &options, &result));
    assert_int_equal(result.tally.counts[PARITAS_FIT_CONVERGED], N);
    /* variances of the estimates from those of the counts: of the signal (176 + 320 / 16 + (120 * 0.05)^2) /
     * 0.64 and so on, which is their first order */
    const double errors[] = {sqrt((176.0 + 20.0) / 0.64 + 120.0 * 120.0 * 0.0025 / 0.64), sqrt(20.0), 0.05};
    for (int p = 0; p < 3; p++) {
        ASSERT_CLOSE(parameters[p].mean, point[p], 5.0 * errors[p] / sqrt(N) + 0.005 * point[p]);
        ASSERT_CLOSE(parameters[p].rms, errors[p], 0.1 * errors[p]);
        ASSERT_CLOSE(parameters[p].pull_mean, 0.0, 0.15);
        ASSERT_CLOSE(parameters[p].pull_rms, 1.0, 0.1);
    }
    free_custom(&c);
}

TEST(the_goodness_of_a_fit_is_its_distance_from_the_saturated_model)
{
    struct custom c = make_custom(NULL, peak_description());
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    double x[PEAK_PARAMETERS], statistic = 0.0;
    long double at[PEAK_PARAMETERS];
    ASSERT_OK(c.context, paritas_gof(c.context, c.model, NULL, &gof));
    ASSERT_OK(c.context, paritas_fit(c.context, c.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &best, .parameters = x)));
    for (int p = 0; p < PEAK_PARAMETERS; p++) at[p] = x[p];
    for (int i = 0; i < PEAK_BINS; i++) {
        const double n = peak_data[i], rate = (double)peak_expected(at, i);
        statistic += 2.0 * (rate - n + (n > 0.0 ? n * log(n / rate) : 0.0));
    }
    ASSERT_CLOSE(gof.statistic, statistic, 1e-9);
    assert_int_equal(gof.ndof, PEAK_BINS - PEAK_PARAMETERS);
    free_custom(&c);
}

/* Mean and standard deviation of a parameter's draws, within six standard errors. */
static void assert_moments(const paritas_posterior *p, double mean, double sd)
{
    ASSERT_CLOSE(p->mean, mean, 6.0 * p->mcse_mean);
    ASSERT_CLOSE(p->sd, sd, 8.0 * p->sd / sqrt(p->ess_tail));
}

/* Without a signal the counts give the background a gamma distribution, and nothing but its constraint says
 * how large the efficiency is. A bound at its mean leaves half of that. */
TEST(posteriors_of_the_background_and_of_the_efficiency_are_gamma_and_normal)
{
    static const double init[] = {0.0, 10.0, 0.9}, half[] = {0.0, 0.0, 0.8};
    static const unsigned char fixed[] = {1, 0, 0};
    struct custom c = make_custom(NULL, onoff_description());
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.start = init;
    job.fixed = fixed;
    options.seed = 3;
    options.target = 0.9; /* steps that fit the half at its bound */
    struct drawn d = sampled_of(c.context, c.model, &job, &options);
    assert_true(d.posteriors[0].sd == 0.0);
    assert_moments(&d.posteriors[1], 86.0 / 5.0, sqrt(86.0) / 5.0);
    assert_moments(&d.posteriors[2], 0.8, 0.05);
    free_drawn(&d);
    job.lower = half;
    d = sampled_of(c.context, c.model, &job, &options);
    const double pi = acos(-1.0);
    for (size_t i = 0; i < d.chains * d.n; i++) assert_true(d.parameters[3 * i + 2] >= 0.8);
    assert_moments(&d.posteriors[1], 86.0 / 5.0, sqrt(86.0) / 5.0);
    assert_moments(&d.posteriors[2], 0.8 + 0.05 * sqrt(2.0 / pi), 0.05 * sqrt(1.0 - 2.0 / pi));
    free_drawn(&d);
    free_custom(&c);
}

/* Part of a gamma distribution with this whole shape and rate 1 below x. */
static double gamma_below(unsigned shape, double x)
{
    double term = exp(-x), sum = 0.0;
    for (unsigned k = 0; k < shape; k++, term *= x / k) sum += term;
    return 1.0 - sum;
}

/* 1 / lifetime has a gamma density times its square: moments of lifetimes between two bounds. */
static void lifetime_moments(double low, double high, double *mean, double *sd)
{
    double total = 0.0, moments[3], shift = 1.0;
    for (int i = 0; i < DECAYS; i++) total += decay_times[i];
    for (int k = 0; k < 3; k++) {
        const unsigned shape = DECAYS - 1 - (unsigned)k;
        moments[k] = shift * (gamma_below(shape, total / low) - gamma_below(shape, total / high));
        shift *= total / (shape - 1);
    }
    *mean = moments[1] / moments[0];
    *sd = sqrt(moments[2] / moments[0] - *mean * *mean);
}

TEST(the_posterior_of_a_lifetime_is_inverse_gamma_also_between_bounds)
{
    static const double narrow[] = {1.5, 2.5};
    struct custom c = make_custom(NULL, decay_description());
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    paritas_job job = PARITAS_JOB_DEFAULT;
    double mean, sd;
    options.seed = 4;
    options.target = 0.9; /* steps that fit the long tail */
    struct drawn d = sampled_of(c.context, c.model, NULL, &options);
    lifetime_moments(decay_lower[0], decay_upper[0], &mean, &sd);
    assert_moments(&d.posteriors[0], mean, sd);
    free_drawn(&d);
    job.lower = &narrow[0];
    job.upper = &narrow[1];
    d = sampled_of(c.context, c.model, &job, &options);
    lifetime_moments(narrow[0], narrow[1], &mean, &sd);
    assert_moments(&d.posteriors[0], mean, sd);
    free_drawn(&d);
    free_custom(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_significance_is_that_of_li_and_ma),
        cmocka_unit_test(a_scan_and_errors_by_minos_are_those_of_the_profile),
        cmocka_unit_test(the_impact_of_the_efficiency_is_its_share_of_the_error),
        cmocka_unit_test(a_limit_is_where_cls_is_its_level),
        cmocka_unit_test(toys_scatter_around_the_point_that_they_are_drawn_at),
        cmocka_unit_test(the_goodness_of_a_fit_is_its_distance_from_the_saturated_model),
        cmocka_unit_test(posteriors_of_the_background_and_of_the_efficiency_are_gamma_and_normal),
        cmocka_unit_test(the_posterior_of_a_lifetime_is_inverse_gamma_also_between_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
