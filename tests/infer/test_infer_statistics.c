/* Statistics of experiments whose answers have closed forms. */
#include "infer_testing.h"

#include "statistics/asymptotic.h"
#include "base/math/probability.h"

static const double N = 12.0, S = 5.0, B = 9.0;

/* ---- tests at one mu ---- */

static double cls(double t, double root_asimov)
{
    return normal_cdf(-(t + root_asimov)) / normal_cdf(-t);
}

TEST(the_test_of_a_counting_experiment_has_its_closed_form)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double mu[] = {1.0, 2.5, 0.2};
    paritas_hypotest_result r[3] = {PARITAS_INIT(paritas_hypotest_result)};
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 3, mu, r),
                     PARITAS_OK);
    for (int i = 0; i < 3; i++) {
        double mu_hat = (N - B) / S, q = mu_hat > mu[i] ? 0.0 : deviance(N, mu[i] * S + B),
               q_asimov = deviance(B, mu[i] * S + B);
        double t = q <= q_asimov ? sqrt(q) - sqrt(q_asimov) : (q - q_asimov) / (2.0 * sqrt(q_asimov));
        assert_int_equal(r[i].status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(r[i].mu_hat, mu_hat, 1e-6);
        ASSERT_CLOSE(r[i].q, q, 1e-9);
        ASSERT_CLOSE(r[i].q_asimov, q_asimov, 1e-9);
        ASSERT_CLOSE(r[i].cls_obs, cls(t, sqrt(q_asimov)), 1e-9);
        for (int k = 0; k < 5; k++) ASSERT_CLOSE(r[i].cls_exp[k], cls(2.0 - k, sqrt(q_asimov)), 1e-9);
        for (int k = 0; k < 4; k++) assert_true(r[i].cls_exp[k] < r[i].cls_exp[k + 1]);
        ASSERT_CLOSE(r[i].clsb / r[i].clb, r[i].cls_obs, 1e-15);
        assert_true(isnan(r[i].p0));
    }
    free_fixture(&f);
}

TEST(the_best_fit_on_its_bound_makes_qtilde)
{
    struct fixture f = counting(4.0, S, B, 0.0, 10.0); /* fewer than expected: the best fit is at 0 */
    double mu = 1.0;
    paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &mu, &r),
                     PARITAS_OK);
    double q = deviance(4.0, S + B) - deviance(4.0, B), q_asimov = deviance(B, S + B);
    assert_true(q > q_asimov);
    assert_true(r.mu_hat == 0.0);
    ASSERT_CLOSE(r.q, q, 1e-9);
    ASSERT_CLOSE(r.cls_obs, cls((q - q_asimov) / (2.0 * sqrt(q_asimov)), sqrt(q_asimov)), 1e-9);
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_Q, 1, &mu, &r), PARITAS_OK);
    ASSERT_CLOSE(r.cls_obs, cls(sqrt(q) - sqrt(q_asimov), sqrt(q_asimov)), 1e-9);
    free_fixture(&f);
}

TEST(a_test_among_many_has_the_bits_of_a_test_alone)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double mu[] = {0.3, 1.0, 1.7, 2.4, 4.0, 7.5, 9.0};
    paritas_hypotest_result one = PARITAS_INIT(paritas_hypotest_result), many[COUNT(mu)] = {one};
    assert_int_equal(
        paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, COUNT(mu), mu, many),
        PARITAS_OK);
    for (size_t i = 0; i < COUNT(mu); i++) {
        assert_int_equal(
            paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &mu[i], &one),
            PARITAS_OK);
        assert_memory_equal(&many[i].q, &one.q, sizeof one.q);
        assert_memory_equal(&many[i].q_asimov, &one.q_asimov, sizeof one.q_asimov);
        assert_memory_equal(&many[i].cls_obs, &one.cls_obs, sizeof one.cls_obs);
        assert_memory_equal(many[i].cls_exp, one.cls_exp, sizeof one.cls_exp);
    }
    free_fixture(&f);
}

TEST(a_mu_that_no_bound_can_be_widened_to_is_refused_by_name)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
    const double refused[] = {-1.0, 1e9, HUGE_VAL, (double)NAN};
    for (size_t i = 0; i < COUNT(refused); i++) {
        assert_int_equal(
            paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &refused[i], &r),
            PARITAS_INVALID_ARGUMENT);
        assert_non_null(strstr(paritas_error_message(f.context), "mu = "));
    }
    free_fixture(&f);
}

TEST(a_mu_beyond_the_bound_widens_it_and_says_so)
{
    struct fixture narrow = counting(40.0, S, B, 0.0, 2.0), wide = counting(40.0, S, B, 0.0, 8.0);
    const double mu[] = {1.0, 7.0};
    paritas_hypotest_result a[2] = {PARITAS_INIT(paritas_hypotest_result)}, b[2] = {a[0]};
    assert_int_equal(paritas_hypotest(narrow.context, narrow.model, NULL, PARITAS_STATISTIC_QTILDE, 2, mu, a),
                     PARITAS_OK);
    assert_int_equal(paritas_hypotest(wide.context, wide.model, NULL, PARITAS_STATISTIC_QTILDE, 2, mu, b),
                     PARITAS_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(a[i].bound_widened && a[i].upper_bound == 8.0);
        assert_true(!b[i].bound_widened && b[i].upper_bound == 8.0);
        ASSERT_CLOSE(a[i].mu_hat, 31.0 / 5.0, 1e-6); /* beyond the old bound */
        ASSERT_CLOSE(a[i].cls_obs, b[i].cls_obs, 1e-9);
        assert_int_equal(a[i].reason, PARITAS_REASON_FOUND);
    }
    free_fixture(&narrow);
    free_fixture(&wide);
}

TEST(cls_exists_where_its_parts_underflow)
{
    /* far in the tail Phi(-x) is exp(-x^2 / 2) / x sqrt(2 pi) */
    const double t = 4000.0, a = 0.01, q = a * a + 2.0 * a * t;
    assert_true(normal_cdf(-t) == 0.0);
    ASSERT_CLOSE(asymptotic_cls(PARITAS_STATISTIC_QTILDE, ASYMPTOTIC_OBSERVED, q, a * a),
                 exp(-(a * t + 0.5 * a * a)) * t / (t + a), 1e-7);
    assert_true(asymptotic_cls(PARITAS_STATISTIC_QTILDE, ASYMPTOTIC_OBSERVED, 4.6e9, 4.1e9) == 0.0);
    assert_true(isnan(asymptotic_cls(PARITAS_STATISTIC_QTILDE, ASYMPTOTIC_OBSERVED, 5.0, 0.0)));
    assert_true(asymptotic_cls(PARITAS_STATISTIC_QTILDE, ASYMPTOTIC_OBSERVED, 1e-12, 0.0) == 1.0);
}

TEST(a_test_without_cls_is_undefined_and_not_converged)
{
    double mu_hat = 0.5, bound = 10.0;
    struct infer infer = {.upper = &bound};
    struct asymptotic a = {.infer = &infer, .data.parameters = &mu_hat, .asimov.parameters = &mu_hat};
    const struct asymptotic_point point = {
        .mu = 1.0,
        .data = {.profile = &a.data, .k = 1, .value = {1.0}, .twice_nll = 5.0},
        .asimov = {.profile = &a.asimov, .k = 1, .value = {1.0}},
    };
    paritas_hypotest_result r;
    asymptotic_result(&a, &point, &r);
    assert_true(isnan(r.cls_obs) && r.reason == PARITAS_REASON_UNDEFINED);
    assert_int_equal(r.status, PARITAS_FIT_NON_FINITE);
}

/* ---- discovery ---- */

TEST(the_significance_of_an_excess_has_its_closed_form)
{
    struct fixture f = counting(25.0, S, B, 0.0, 10.0);
    paritas_significance_result r = PARITAS_INIT(paritas_significance_result);
    assert_int_equal(paritas_significance(f.context, f.model, NULL, &r), PARITAS_OK);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(r.q0, deviance(25.0, B), 1e-9);
    ASSERT_CLOSE(r.z, sqrt(deviance(25.0, B)), 1e-9);
    ASSERT_CLOSE(r.p0, normal_cdf(-sqrt(deviance(25.0, B))), 1e-12);
    ASSERT_CLOSE(r.z_exp, sqrt(2.0 * ((S + B) * log(1.0 + S / B) - S)), 1e-9); /* eq. 97 */
    free_fixture(&f);
}

TEST(a_deficit_has_no_significance)
{
    struct fixture f = counting(4.0, S, B, -1.0, 10.0);
    paritas_significance_result r = PARITAS_INIT(paritas_significance_result);
    assert_int_equal(paritas_significance(f.context, f.model, NULL, &r), PARITAS_OK);
    assert_true(r.mu_hat < 0.0 && r.q0 == 0.0 && r.z == 0.0 && r.p0 == 0.5);
    free_fixture(&f);
}

/* ---- limits ---- */

static paritas_hypotest_result scanned[PARITAS_SCAN_MOST] = {PARITAS_INIT(paritas_hypotest_result)};

/* What is tested on the way stands in `scanned`. */
static paritas_status limits_of(const struct fixture *f, paritas_test_statistic statistic, double level,
                                paritas_limit_result *limits)
{
    const paritas_limit_request request = {.size = sizeof request,
                                           .statistic = statistic,
                                           .level = level,
                                           .scan_room = COUNT(scanned),
                                           .scan = scanned};
    return paritas_limit(f->context, f->model, NULL, &request, limits);
}

/* Expected CLs of curve k at mu, less the level. */
static double expected_excess(double mu, int k, double level)
{
    return cls(2.0 - k, sqrt(deviance(B, mu * S + B))) - level;
}

TEST(expected_limits_are_the_roots_of_the_closed_form)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, &r), PARITAS_OK);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    for (int k = 0; k < 5; k++) {
        double low = 0.01, high = 20.0;
        for (int i = 0; i < 100; i++) {
            double middle = 0.5 * (low + high);
            if (expected_excess(middle, k, 0.05) > 0.0)
                low = middle;
            else
                high = middle;
        }
        ASSERT_CLOSE(r.limit_exp[k] / low, 1.0, 1e-7);
    }
    free_fixture(&f);
}

TEST(at_the_observed_limit_the_test_gives_the_level)
{
    static const double observed[] = {0.0, 3.0, 9.0, 12.0, 30.0}, levels[] = {0.05, 0.1, 0.32};
    for (size_t i = 0; i < COUNT(observed); i++)
        for (size_t j = 0; j < COUNT(levels); j++) {
            struct fixture f = counting(observed[i], S, B, 0.0, 20.0);
            paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
            paritas_hypotest_result at = PARITAS_INIT(paritas_hypotest_result);
            for (int statistic = PARITAS_STATISTIC_QTILDE; statistic <= PARITAS_STATISTIC_Q; statistic++) {
                assert_int_equal(limits_of(&f, (paritas_test_statistic)statistic, levels[j], &r), PARITAS_OK);
                assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
                assert_int_equal(paritas_hypotest(f.context, f.model, NULL, (paritas_test_statistic)statistic,
                                                  1, &r.limit_obs, &at),
                                 PARITAS_OK);
                ASSERT_CLOSE(at.cls_obs, levels[j], 1e-8);
                for (int k = 0; k < 5; k++) {
                    assert_int_equal(paritas_hypotest(f.context, f.model, NULL,
                                                      (paritas_test_statistic)statistic, 1, &r.limit_exp[k],
                                                      &at),
                                     PARITAS_OK);
                    ASSERT_CLOSE(at.cls_exp[k], levels[j], 1e-8);
                }
                for (size_t k = 1; k < r.n_scan; k++) assert_true(scanned[k].mu > scanned[k - 1].mu);
                assert_true(r.n_scan <= 30);
            }
            free_fixture(&f);
        }
}

TEST(a_scan_with_little_room_is_the_beginning_of_the_whole_scan)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_limit_result whole = PARITAS_INIT(paritas_limit_result), part = whole;
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, &whole), PARITAS_OK);
    assert_true(whole.n_scan > 3);
    for (size_t room = 0; room <= 3; room++) {
        paritas_hypotest_result few[4] = {PARITAS_INIT(paritas_hypotest_result)};
        few[room].mu = -1.0;
        const paritas_limit_request request = {
            .size = sizeof request, .level = 0.05, .scan_room = room, .scan = room ? few : NULL};
        assert_int_equal(paritas_limit(f.context, f.model, NULL, &request, &part), PARITAS_OK);
        assert_int_equal(part.n_scan, whole.n_scan);
        assert_true(part.limit_obs == whole.limit_obs && part.mu_hat == whole.mu_hat);
        for (size_t i = 0; i < room; i++)
            assert_true(few[i].mu == scanned[i].mu && few[i].cls_obs == scanned[i].cls_obs);
        assert_true(few[room].mu == -1.0);
    }
    free_fixture(&f);
}

TEST(a_limit_beyond_the_bound_widens_it_and_says_so)
{
    struct fixture narrow = counting(N, S, B, 0.0, 1.0), wide = counting(N, S, B, 0.0, 10.0);
    paritas_limit_result a = PARITAS_INIT(paritas_limit_result), b = a;
    assert_int_equal(limits_of(&narrow, PARITAS_STATISTIC_QTILDE, 0.05, &a), PARITAS_OK);
    assert_int_equal(limits_of(&wide, PARITAS_STATISTIC_QTILDE, 0.05, &b), PARITAS_OK);
    assert_true(a.bound_widened && !b.bound_widened);
    assert_true(a.upper_bound >= a.limit_obs && a.upper_bound > 1.0);
    ASSERT_CLOSE(a.limit_obs, b.limit_obs, 1e-6);
    for (int k = 0; k < 5; k++) ASSERT_CLOSE(a.limit_exp[k], b.limit_exp[k], 1e-6);
    free_fixture(&narrow);
    free_fixture(&wide);
}

TEST(a_best_fit_held_by_the_old_bound_is_found_again)
{
    struct fixture narrow = counting(40.0, S, B, 0.0, 2.0), wide = counting(40.0, S, B, 0.0, 50.0);
    paritas_limit_result a = PARITAS_INIT(paritas_limit_result), b = a;
    assert_int_equal(limits_of(&narrow, PARITAS_STATISTIC_QTILDE, 0.05, &a), PARITAS_OK);
    ASSERT_CLOSE(scanned[0].mu_hat, 31.0 / 5.0, 1e-5);
    assert_int_equal(limits_of(&wide, PARITAS_STATISTIC_QTILDE, 0.05, &b), PARITAS_OK);
    ASSERT_CLOSE(a.limit_obs, b.limit_obs, 1e-6);
    ASSERT_CLOSE(a.mu_hat, 31.0 / 5.0, 1e-5);
    free_fixture(&narrow);
    free_fixture(&wide);
}

TEST(a_signal_without_effect_has_no_limit)
{
    struct fixture f = counting(N, 0.0, B, 0.0, 10.0);
    paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
    paritas_status status = limits_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, &r);
    assert_int_equal(status, PARITAS_OK);
    assert_true(isnan(r.limit_obs) && r.reason_obs == PARITAS_REASON_NONE_BELOW_BOUND);
    for (int k = 0; k < 5; k++)
        assert_true(isnan(r.limit_exp[k]) && r.reason_exp[k] == PARITAS_REASON_NONE_BELOW_BOUND);
    free_fixture(&f);
}

TEST(a_curve_below_the_level_everywhere_has_no_limit)
{
    struct fixture f = counting(0.0, S, B, -1.5, 10.0); /* CLs tends to exp(-q / 2) at 0 */
    paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, &r), PARITAS_OK);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    assert_true(isnan(r.limit_obs) && r.reason_obs == PARITAS_REASON_ALL_EXCLUDED);
    for (size_t i = 0; i < r.n_scan; i++) assert_true(scanned[i].cls_obs < 0.05);
    assert_true(scanned[0].mu < 1e-2);
    for (int k = 0; k < 5; k++) assert_int_equal(r.reason_exp[k], PARITAS_REASON_FOUND);
    free_fixture(&f);
}

/* CLs expected at +2 sigma falls below 0.05 at 1.28, is above it from 1.59 on, and falls again at 2.79: the
 * templates of the signal change their signs within 2 sigma. */
static const char comes_back[] =
    "{\"version\":\"1.0.0\",\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"s\",\"data\":[3.26248,3.37438,2.38013,10.0991],\"modifiers\":["
    "{\"name\":\"alpha\",\"type\":\"histosys\",\"data\":{\"hi_data\":[0.784611,5.63179,0.598069,18.9191],"
    "\"lo_data\":[8.51589,-0.752632,5.12983,-9.41976]}},"
    "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]},"
    "{\"name\":\"b\",\"data\":[3.89108,9.38115,3.49842,11.683],\"modifiers\":["
    "{\"name\":\"alpha\",\"type\":\"normsys\",\"data\":{\"hi\":1.03794,\"lo\":0.961886}},"
    "{\"name\":\"alpha\",\"type\":\"histosys\",\"data\":{\"hi_data\":[6.55992,14.0713,5.87533,14.8243],"
    "\"lo_data\":[2.2927,7.87168,2.66337,9.59937]}}]}]}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[9,24,7,41]}],"
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
    "\"bounds\":[[0,1.5]],\"inits\":[1]}]}}]}";

TEST(a_curve_that_comes_back_has_its_limit_at_the_last_crossing)
{
    struct fixture f = make_fixture(comes_back);
    paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, 0.05, &r), PARITAS_OK);
    assert_int_equal(r.status, PARITAS_FIT_CONVERGED);
    assert_int_equal(r.reason_exp[4], PARITAS_REASON_FOUND);
    const double crossings[] = {r.crossings_exp[4][0], r.crossings_exp[4][1], r.limit_exp[4]};
    const double about[] = {1.284, 1.593, 2.789};
    paritas_hypotest_result at[3] = {PARITAS_INIT(paritas_hypotest_result)};
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 3, crossings, at),
                     PARITAS_OK);
    for (int i = 0; i < 3; i++) {
        ASSERT_CLOSE(crossings[i], about[i], 1e-3);
        ASSERT_CLOSE(at[i].cls_exp[4], 0.05, 1e-6);
    }
    assert_true(isnan(r.crossings_exp[4][2]) && isnan(r.crossings_exp[3][0]) && isnan(r.crossings_obs[0]));
    free_fixture(&f);
}

TEST(a_limit_needs_a_statistic_for_limits_and_a_level)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_limit_result r = PARITAS_INIT(paritas_limit_result);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_Q0, 0.05, &r), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, 1.0, &r), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(limits_of(&f, PARITAS_STATISTIC_QTILDE, (double)NAN, &r), PARITAS_INVALID_ARGUMENT);
    free_fixture(&f);
}

/* ---- scans and MINOS ---- */

TEST(a_scan_is_the_deviance_and_agrees_with_the_test)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double mu[] = {0.0, 0.6, 1.0, 3.0};
    const size_t poi = 0;
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    paritas_scan_point points[4] = {PARITAS_INIT(paritas_scan_point)};
    paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
    double at, where[4] = {0};
    assert_int_equal(paritas_scan(f.context, f.model, NULL,
                                  SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &poi,
                                        .n_points = 4, .values = mu, .best = &best, .best_parameters = &at,
                                        .points = points, .point_parameters = where)),
                     PARITAS_OK);
    ASSERT_CLOSE(at, 0.6, 1e-6);
    assert_memory_equal(where, mu, sizeof mu);
    for (int i = 0; i < 4; i++) {
        ASSERT_CLOSE(points[i].q, deviance(N, mu[i] * S + B), 1e-9);
        assert_true(points[i].q >= 0.0);
    }
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1, &mu[3], &r),
                     PARITAS_OK);
    ASSERT_CLOSE(points[3].q, r.q, 1e-9);
    free_fixture(&f);
}

TEST(a_scan_outside_the_bounds_or_of_no_parameter_is_refused)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double mu = -1.0;
    const size_t twice[2] = {0, 0}, nobody = 7;
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    paritas_scan_point point = PARITAS_INIT(paritas_scan_point);
    paritas_scan_request request = {.size = sizeof request,
                                    .n_parameters = 1,
                                    .parameters = twice,
                                    .n_points = 1,
                                    .values = &mu,
                                    .best = &best,
                                    .points = &point};
    assert_int_equal(paritas_scan(f.context, f.model, NULL, &request), PARITAS_INVALID_ARGUMENT);
    request.n_parameters = 2;
    assert_int_equal(paritas_scan(f.context, f.model, NULL, &request), PARITAS_INVALID_ARGUMENT);
    request.n_parameters = 1;
    request.parameters = &nobody;
    assert_int_equal(paritas_scan(f.context, f.model, NULL, &request), PARITAS_INVALID_ARGUMENT);
    free_fixture(&f);
}

/* How the sides of the last MINOS error end, and where. */
static paritas_minos_end ends[2];
static double reach[2];

/* MINOS errors at the best fit, which is returned. */
static double minos_at_best_fit(const struct fixture *f, double offsets[2])
{
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    double best, error;
    assert_int_equal(
        paritas_fit(f->context, f->model, NULL, 1, &job,
                    SIZED(paritas_fit_answers, .results = &result, .parameters = &best, .errors = &error)),
        PARITAS_OK);
    assert_int_equal(
        paritas_minos(f->context, f->model, NULL,
                      SIZED(paritas_minos_request, .best = &best, .best_twice_nll = result.twice_nll,
                            .error = error, .ends = ends, .reach = reach),
                      offsets),
        PARITAS_OK);
    return best;
}

TEST(minos_errors_are_where_the_deviance_is_one)
{
    struct fixture f = counting(N, S, B, -1.0, 10.0);
    double offsets[2];
    const double best = minos_at_best_fit(&f, offsets);
    assert_true(offsets[0] < 0.0 && offsets[1] > 0.0);
    ASSERT_CLOSE(deviance(N, (best + offsets[0]) * S + B), 1.0, 1e-7);
    ASSERT_CLOSE(deviance(N, (best + offsets[1]) * S + B), 1.0, 1e-7);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(ends[k], PARITAS_MINOS_END_CROSSING);
        assert_true(reach[k] == offsets[k]);
    }
    free_fixture(&f);
}

TEST(minos_has_no_error_where_the_bound_comes_first)
{
    struct fixture f = counting(10.0, S, B, 0.0, 10.0);
    double offsets[2];
    const double best = minos_at_best_fit(&f, offsets);
    assert_true(isnan(offsets[0]));
    assert_int_equal(ends[0], PARITAS_MINOS_END_BOUND);
    ASSERT_CLOSE(best + reach[0], 0.0, 1e-12);
    ASSERT_CLOSE(deviance(10.0, (best + offsets[1]) * S + B), 1.0, 1e-7);
    free_fixture(&f);
}

/* No events: twice the NLL is twice the rate, which is 0 at the best fit. */
TEST(minos_of_a_rate_of_zero_ends_at_the_edge_and_where_the_rate_is_a_half)
{
    struct fixture f = counting(0.0, S, B, -100.0, 100.0);
    paritas_outside_bin bin;
    double offsets[2];
    size_t n;
    const double best = minos_at_best_fit(&f, offsets);
    ASSERT_CLOSE(best * S + B, 0.0, 1e-9);
    ASSERT_OK(f.context, paritas_find_edge(f.context, f.model, &best, NULL, 1, &bin, &n));
    assert_int_equal(n, 1);
    assert_int_equal(bin.bin, 0);
    assert_true(isnan(offsets[0]));
    assert_int_equal(ends[0], PARITAS_MINOS_END_EDGE);
    ASSERT_CLOSE(reach[0], 0.0, 1e-9);
    assert_int_equal(ends[1], PARITAS_MINOS_END_CROSSING);
    ASSERT_CLOSE(offsets[1] * S, 0.5, 1e-9);
    const double inside = best + 1.0 / S;
    ASSERT_OK(f.context, paritas_find_edge(f.context, f.model, &inside, NULL, 1, &bin, &n));
    assert_int_equal(n, 0);
    free_fixture(&f);
}

/* ---- ranking and goodness of fit, with one linear nuisance parameter ---- */

static const char with_lumi[] =
    "{\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"s\",\"data\":[10.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]}"
    ","
    "{\"name\":\"b\",\"data\":[50.0],\"modifiers\":[{\"name\":\"lumi\",\"type\":\"lumi\",\"data\":null}]}]},"
    "{\"name\":\"d\",\"samples\":[{\"name\":\"b\",\"data\":[80.0],\"modifiers\":[]}]}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[65.0]},{\"name\":\"d\",\"data\":[70.0]}],"
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
    "{\"name\":\"lumi\",\"inits\":[1.0],\"auxdata\":[1.0],\"sigmas\":[0.04],\"bounds\":[[0.5,1.5]]}]}}],"
    "\"version\":\"1.0.0\"}";

TEST(an_impact_is_the_shift_that_keeps_the_expectation)
{
    /* mu alone fits the first bin, so the luminosity stays at 1 +- 0.04, and mu 10 + l 50 = 65 */
    struct fixture f = make_fixture(with_lumi);
    paritas_ranking_entry entries[2] = {PARITAS_INIT(paritas_ranking_entry)};
    size_t n, lumi;
    assert_int_equal(paritas_ranking(f.context, f.model, NULL, entries, &n), PARITAS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(paritas_model_parameter_index(f.context, f.model, "lumi", &lumi), PARITAS_OK);
    assert_int_equal(entries[0].parameter, lumi);
    ASSERT_CLOSE(entries[0].pull, 0.0, 1e-6);
    ASSERT_CLOSE(entries[0].constraint, 1.0, 1e-6);
    ASSERT_CLOSE(entries[0].impact_up, -0.2, 1e-6);
    ASSERT_CLOSE(entries[0].impact_down, 0.2, 1e-6);
    ASSERT_CLOSE(entries[0].prefit_up, -0.2, 1e-6);
    ASSERT_CLOSE(entries[0].prefit_down, 0.2, 1e-6);
    assert_int_equal(entries[0].status, PARITAS_FIT_CONVERGED);
    free_fixture(&f);
}

TEST(goodness_of_fit_is_the_deviance_of_the_bins_that_cannot_be_fitted)
{
    struct fixture f = make_fixture(with_lumi);
    paritas_gof_result r = PARITAS_INIT(paritas_gof_result);
    assert_int_equal(paritas_gof(f.context, f.model, NULL, &r), PARITAS_OK);
    ASSERT_CLOSE(r.statistic, deviance(70.0, 80.0), 1e-9);
    assert_int_equal(r.ndof, 1); /* two bins, one free parameter; the luminosity has its own datum */
    ASSERT_CLOSE(r.p, 2.0 * normal_cdf(-sqrt(deviance(70.0, 80.0))), 1e-9);
    ASSERT_CLOSE(r.saturated,
                 -2.0 * (65.0 * log(65.0) - 65.0 - lgamma(66.0) + 70.0 * log(70.0) - 70.0 - lgamma(71.0) -
                         log(0.04 * sqrt(6.283185307179586))),
                 1e-11);
    free_fixture(&f);
}

TEST(a_model_with_a_parameter_a_bin_has_no_p_value)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_gof_result r = PARITAS_INIT(paritas_gof_result);
    assert_int_equal(paritas_gof(f.context, f.model, NULL, &r), PARITAS_OK);
    ASSERT_CLOSE(r.statistic, 0.0, 1e-9);
    assert_int_equal(r.ndof, 0);
    assert_true(isnan(r.p));
    free_fixture(&f);
}

TEST(parameters_of_interest_of_a_job_must_exist)
{
    struct fixture f = counting(12.0, 5.0, 8.0, 0.0, 10.0);
    paritas_significance_result result = PARITAS_INIT(paritas_significance_result), own = result;
    paritas_job job = PARITAS_JOB_DEFAULT;
    const size_t pois[] = {0, 7};
    job.pois = pois;
    job.n_pois = 1;
    ASSERT_OK(f.context, paritas_significance(f.context, f.model, &job, &result));
    ASSERT_OK(f.context, paritas_significance(f.context, f.model, NULL, &own));
    assert_memory_equal(&result, &own, sizeof own);
    job.n_pois = 2;
    assert_int_equal(paritas_significance(f.context, f.model, &job, &result), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "pois[1]: the model has no parameter 7"));
    assert_int_equal(paritas_model_poi_count(f.model), 1);
    assert_int_equal(paritas_model_pois(f.model)[0], 0);
    assert_int_equal(paritas_model_poi_count(NULL), 0);
    assert_null(paritas_model_pois(NULL));
    free_fixture(&f);
}

TEST(a_fixed_parameter_of_interest_is_refused)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const unsigned char fixed = 1;
    const paritas_job job = {.size = sizeof(paritas_job), .fixed = &fixed};
    paritas_significance_result r = PARITAS_INIT(paritas_significance_result);
    assert_int_equal(paritas_significance(f.context, f.model, &job, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "mu"));
    free_fixture(&f);
}

/* ---- yields and Asimov data ---- */

TEST(the_yields_of_a_counting_experiment_have_the_errors_of_its_count)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    const double best = (N - B) / S, variance = N / (S * S);
    double bins[2], errors[2], totals[2], total_errors[2], samples[2][2];
    const paritas_yields before = {bins, errors, samples[0], totals, total_errors},
                         after = {bins + 1, errors + 1, samples[1], totals + 1, total_errors + 1};
    ASSERT_OK(f.context,
              paritas_predict(f.context, f.model, NULL,
                              SIZED(paritas_predict_request, .best = &best, .covariance = &variance),
                              SIZED(paritas_predict_answers, .before = before, .after = after)));
    const double start = paritas_model_suggested_init(f.model)[0];
    ASSERT_CLOSE(bins[0], start * S + B, 1e-15);
    assert_true(errors[0] == 0.0 && total_errors[0] == 0.0); /* a free parameter has no width */
    ASSERT_CLOSE(bins[1], N, 1e-15);
    ASSERT_CLOSE(errors[1], sqrt(N), 1e-15);
    assert_true(totals[1] == bins[1] && total_errors[1] == errors[1]);
    ASSERT_CLOSE(samples[1][0] + samples[1][1], N, 1e-15);
    free_fixture(&f);
}

TEST(asimov_data_are_expected_at_the_value_given)
{
    struct fixture f = counting(N, S, B, 0.0, 10.0);
    paritas_fit_result fit = PARITAS_INIT(paritas_fit_result);
    double data;
    ASSERT_OK(f.context, paritas_asimov_data(f.context, f.model, NULL, 2.5, &fit, &data));
    assert_int_equal(fit.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(data, 2.5 * S + B, 1e-15);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_test_of_a_counting_experiment_has_its_closed_form),
        cmocka_unit_test(the_best_fit_on_its_bound_makes_qtilde),
        cmocka_unit_test(a_test_among_many_has_the_bits_of_a_test_alone),
        cmocka_unit_test(a_mu_that_no_bound_can_be_widened_to_is_refused_by_name),
        cmocka_unit_test(a_mu_beyond_the_bound_widens_it_and_says_so),
        cmocka_unit_test(cls_exists_where_its_parts_underflow),
        cmocka_unit_test(a_test_without_cls_is_undefined_and_not_converged),
        cmocka_unit_test(the_significance_of_an_excess_has_its_closed_form),
        cmocka_unit_test(a_deficit_has_no_significance),
        cmocka_unit_test(expected_limits_are_the_roots_of_the_closed_form),
        cmocka_unit_test(at_the_observed_limit_the_test_gives_the_level),
        cmocka_unit_test(a_scan_with_little_room_is_the_beginning_of_the_whole_scan),
        cmocka_unit_test(a_limit_beyond_the_bound_widens_it_and_says_so),
        cmocka_unit_test(a_best_fit_held_by_the_old_bound_is_found_again),
        cmocka_unit_test(a_signal_without_effect_has_no_limit),
        cmocka_unit_test(a_curve_below_the_level_everywhere_has_no_limit),
        cmocka_unit_test(a_curve_that_comes_back_has_its_limit_at_the_last_crossing),
        cmocka_unit_test(a_limit_needs_a_statistic_for_limits_and_a_level),
        cmocka_unit_test(a_scan_is_the_deviance_and_agrees_with_the_test),
        cmocka_unit_test(a_scan_outside_the_bounds_or_of_no_parameter_is_refused),
        cmocka_unit_test(minos_errors_are_where_the_deviance_is_one),
        cmocka_unit_test(minos_has_no_error_where_the_bound_comes_first),
        cmocka_unit_test(minos_of_a_rate_of_zero_ends_at_the_edge_and_where_the_rate_is_a_half),
        cmocka_unit_test(an_impact_is_the_shift_that_keeps_the_expectation),
        cmocka_unit_test(the_yields_of_a_counting_experiment_have_the_errors_of_its_count),
        cmocka_unit_test(asimov_data_are_expected_at_the_value_given),
        cmocka_unit_test(goodness_of_fit_is_the_deviance_of_the_bins_that_cannot_be_fitted),
        cmocka_unit_test(a_model_with_a_parameter_a_bin_has_no_p_value),
        cmocka_unit_test(parameters_of_interest_of_a_job_must_exist),
        cmocka_unit_test(a_fixed_parameter_of_interest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
