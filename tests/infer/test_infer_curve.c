/* Interpolation of profiles, and the root finder. */
#include "infer_testing.h"

#include "statistics/cls_curve.h"

static double cubic(double x)
{
    return 2.0 + x * (-1.0 + x * (0.5 + 0.25 * x));
}
static double cubic_slope(double x)
{
    return -1.0 + x * (1.0 + 0.75 * x);
}

TEST(a_cubic_is_reproduced_between_nodes)
{
    static struct curve curve;
    /* given in falling order */
    for (double x = 3.0; x > -3.5; x -= 1.5) curve_add(&curve, x, cubic(x), cubic_slope(x));
    for (double x = -3.0; x <= 3.0; x += 0.1) ASSERT_CLOSE(curve_value(&curve, x), cubic(x), 1e-13);
}

TEST(a_parabola_goes_on_beyond_the_nodes)
{
    static struct curve curve;
    curve.curvature = 6.0;
    curve_add(&curve, 1.0, 5.0, 0.0);
    ASSERT_CLOSE(curve_value(&curve, 4.0), 5.0 + 3.0 * 9.0, 1e-13);
    curve_add(&curve, 2.0, 8.0, 6.0);
    ASSERT_CLOSE(curve_value(&curve, 4.0), 5.0 + 3.0 * 9.0, 1e-13);
    ASSERT_CLOSE(curve_value(&curve, -1.0), 5.0 + 3.0 * 4.0, 1e-13);
}

TEST(nodes_that_are_not_finite_are_left_out)
{
    static struct curve curve;
    curve_add(&curve, 1.0, (double)NAN, 0.0);
    curve_add(&curve, 1.0, 1.0, HUGE_VAL);
    assert_int_equal(curve.n, 0);
    curve_add(&curve, 1.0, 1.0, 0.0);
    curve_add(&curve, 1.0, 2.0, 0.0); /* replaces */
    assert_int_equal(curve.n, 1);
    assert_true(curve_value(&curve, 1.0) == 2.0);
}

TEST(slopes_that_contradict_the_values_are_mended)
{
    static struct curve curve, right;
    for (double x = -3.0; x <= 3.0; x += 0.5) {
        curve_add(&curve, x, cubic(x), cubic_slope(x) + (x == 0.5 || x == 3.0 ? 40.0 : 0.0));
        curve_add(&right, x, cubic(x), cubic_slope(x));
    }
    curve_mend_slopes(&curve, 1e-8);
    for (size_t i = 0; i < curve.n; i++) {
        const double x = curve.node[i].x;
        if (x == 0.5 || x == 3.0)
            assert_true(fabs(curve_slope(&curve, x) - cubic_slope(x)) < 0.5);
        else
            assert_true(curve_slope(&curve, x) == cubic_slope(x));
    }
    assert_true(isnan(curve_slope(&curve, 0.25)));
    curve_mend_slopes(&right, 1e-8);
    for (size_t i = 0; i < right.n; i++) assert_true(right.node[i].slope == cubic_slope(right.node[i].x));
}

static double exponential(const void *user, double x)
{
    int *calls = *(int *const *)user;
    ++*calls;
    return exp(x) - 3.0;
}
static double wall(const void *user, double x)
{
    return x < *(const double *)user ? HUGE_VAL : (double)NAN;
}

TEST(roots_are_found_to_the_last_bits)
{
    int calls = 0, *user = &calls;
    double root = find_root(exponential, &user, -20.0, 20.0);
    ASSERT_CLOSE(root, log(3.0), 5e-16);
    assert_true(calls < 60);
    ASSERT_CLOSE(find_root(exponential, &user, 20.0, -20.0), log(3.0), 5e-16);
}

TEST(a_root_between_infinity_and_not_a_number_is_where_they_meet)
{
    double edge = 0.7;
    ASSERT_CLOSE(find_root(wall, &edge, 0.0, 1.0), edge, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubic_is_reproduced_between_nodes),
        cmocka_unit_test(a_parabola_goes_on_beyond_the_nodes),
        cmocka_unit_test(nodes_that_are_not_finite_are_left_out),
        cmocka_unit_test(slopes_that_contradict_the_values_are_mended),
        cmocka_unit_test(roots_are_found_to_the_last_bits),
        cmocka_unit_test(a_root_between_infinity_and_not_a_number_is_where_they_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
