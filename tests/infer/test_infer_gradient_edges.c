/* Derivatives of statistics whose fits an empty bin holds where its rate is 0: closed forms of one bin, and
 * differences of refitted values where rates are curved. */
#include "gradient_testing.h"

#include <stdbool.h>

/* Nothing observed; the rate is s mu + b + d theta, and theta is constrained to a +- 1. Fits with mu held go
 * to theta = -(s mu + b) / d, since d^2 is larger than the rate. */
static const double S = 1.0, B = 0.5, D = 2.0, A = 0.1;

/* The row: count, a, the signal s, the background b, its variations b + d and b - d. */
enum { COUNT_0, AUX, SIGNAL, NOMINAL, UP, DOWN, NUMBERS };

static struct fixture one_empty_bin(void)
{
    static const char text[] =
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"s\",\"data\":[1.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":"
        "null}]}"
        ",{\"name\":\"b\",\"data\":[0.5],\"modifiers\":[{\"name\":\"theta\",\"type\":\"histosys\","
        "\"data\":{\"hi_data\":[2.5],\"lo_data\":[-1.5]}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],"
        "\"version\":\"1.0.0\"}";
    static const paritas_template templates[] = {{PARITAS_TEMPLATE_NOMINAL, "c", "s", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "c", "b", NULL},
                                                 {PARITAS_TEMPLATE_HISTOSYS_UP, "c", "b", "theta"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_DOWN, "c", "b", "theta"}};
    const paritas_options open = PARITAS_OPTIONS_DEFAULT;
    struct fixture f = make_templates(&open, text, COUNT(templates), templates);
    assert_int_equal(row_length(f.model), NUMBERS);
    return f;
}

static const double row[NUMBERS] = {0.0, A, S, B, B + D, B - D};

static paritas_gradient_options options_of(paritas_quantity quantity, paritas_test_statistic statistic)
{
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    options.quantity = quantity;
    options.statistic = statistic;
    return options;
}

/* q = ((s mu + b) / d + a)^2 - (b / d + a)^2 */
TEST(q_at_an_edge_has_the_slopes_of_its_closed_form)
{
    struct fixture f = one_empty_bin();
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    const double mu = 0.75, end = (S * mu + B) / D + A, best = B / D + A;
    const double by_d = -2.0 * (end * (S * mu + B) - best * B) / (D * D);
    double value, slope[NUMBERS], by_mu;
    differentiate_one(&f, &q, mu, row, &value, slope, &by_mu);
    ASSERT_CLOSE(value, end * end - best * best, 1e-10);
    ASSERT_CLOSE(by_mu, 2.0 * end * S / D, 1e-10);
    ASSERT_CLOSE(slope[AUX], 2.0 * (end - best), 1e-10);
    ASSERT_CLOSE(slope[SIGNAL], 2.0 * end * mu / D, 1e-10);
    /* d is half of up - down, and the rate at theta is otherwise the nominal's */
    ASSERT_CLOSE(slope[UP] - slope[DOWN], by_d, 1e-9);
    ASSERT_CLOSE(slope[NOMINAL] + slope[UP] + slope[DOWN], 2.0 * (end - best) / D, 1e-9);
    free_fixture(&f);
}

/* Asimov data expect no event and theta = -b / d, whatever a was: q_A = (s mu / d)^2. */
TEST(asimov_data_made_at_an_edge_have_the_slopes_of_their_closed_form)
{
    struct fixture f = one_empty_bin();
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q_ASIMOV, PARITAS_STATISTIC_QTILDE);
    const double mu = 0.75, root = S * mu / D;
    double value, slope[NUMBERS], by_mu;
    differentiate_one(&f, &q, mu, row, &value, slope, &by_mu);
    ASSERT_CLOSE(value, root * root, 1e-10);
    ASSERT_CLOSE(by_mu, 2.0 * root * S / D, 1e-10);
    ASSERT_CLOSE(slope[SIGNAL], 2.0 * root * mu / D, 1e-7);
    ASSERT_CLOSE(slope[UP] - slope[DOWN], -2.0 * root * root / D, 1e-7);
    assert_true(fabs(slope[AUX]) < 1e-7);
    assert_true(fabs(slope[NOMINAL] + slope[UP] + slope[DOWN]) < 1e-7);
    free_fixture(&f);
}

/* Along (s, b, a) = (1, 2, 3) and mu by 4. */
TEST(q_at_an_edge_has_the_curvature_of_its_closed_form)
{
    struct fixture f = one_empty_bin();
    const paritas_gradient_options q = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE);
    const double mu = 0.75, at_direction = 4.0, direction[NUMBERS] = {0.0, 3.0, 1.0, 2.0, 2.0, 2.0};
    const double end = (S * mu + B) / D + A, moved = (mu + S * 4.0 + 2.0) / D + 3.0, best = 2.0 / D + 3.0;
    double value, along, slope[NUMBERS], by_mu;
    const paritas_gradient to = {.size = sizeof to, .values = &value},
                           second = {.size = sizeof second, .values = &along, .data = slope, .at = &by_mu};
    const paritas_gradient_rows rows = {sizeof rows, 1, &mu, row, &at_direction, direction};
    assert_int_equal(paritas_differentiate_along(f.context, f.model, &q, NULL, &rows, &to, &second),
                     PARITAS_OK);
    ASSERT_CLOSE(along, 2.0 * (end * moved - (B / D + A) * best), 1e-7);
    ASSERT_CLOSE(by_mu, 2.0 * (moved * S + end * 1.0) / D, 1e-6);
    ASSERT_CLOSE(slope[AUX], 2.0 * (moved - best), 1e-6);
    ASSERT_CLOSE(slope[SIGNAL], 2.0 * (moved * mu + end * 4.0) / D, 1e-6);
    free_fixture(&f);
}

/* Two of three bins are empty, and what moves their rates is curved. */
static struct fixture curved(void)
{
    static const char text[] =
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"s\",\"data\":[0.9,2.1,0.6],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
        "\"data\":"
        "null},{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.93}}]},"
        "{\"name\":\"b\",\"data\":[0.6,6.2,1.4],\"modifiers\":["
        "{\"name\":\"shape\",\"type\":\"histosys\",\"data\":{\"hi_data\":[1.7,7.1,1.6],\"lo_data\":[-0.1,5.0,"
        "1.1]}"
        "},{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.3,\"lo\":0.8}}]},"
        "{\"name\":\"f\",\"data\":[0.2,0.4,0.3],\"modifiers\":[{\"name\":\"tail\",\"type\":\"histosys\","
        "\"data\":{\"hi_data\":[0.1,0.3,0.05],\"lo_data\":[0.35,0.6,0.7]}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[0,6,0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],"
        "\"version\":\"1.0.0\"}";
    static const paritas_template templates[] = {{PARITAS_TEMPLATE_NOMINAL, "c", "s", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "c", "b", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "c", "f", NULL},
                                                 {PARITAS_TEMPLATE_HISTOSYS_UP, "c", "b", "shape"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_DOWN, "c", "b", "shape"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_DOWN, "c", "f", "tail"},
                                                 {PARITAS_TEMPLATE_NORMSYS_DOWN, "c", "b", "scale"}};
    const paritas_options open = PARITAS_OPTIONS_DEFAULT;
    return make_templates(&open, text, COUNT(templates), templates);
}

/* Derivatives by empty counts are infinite. */
static void steps_of(const struct fixture *f, double *steps)
{
    const double *data = paritas_model_data(f->model);
    const size_t n_main = paritas_model_main_count(f->model);
    for (size_t i = 0; i < row_length(f->model); i++)
        steps[i] = i < n_main && data[i] == 0.0 ? 0.0 : 4e-3 * fmax(fabs(data[i]), 0.3);
}

static void check_all(paritas_quantity quantity, size_t k, double tolerance)
{
    struct fixture f = curved();
    double steps[64];
    steps_of(&f, steps);
    for (int shared = 0; shared < 2; shared++) {
        paritas_gradient_options o = options_of(quantity, PARITAS_STATISTIC_QTILDE);
        o.shared = shared ? f.shared : NULL;
        check_gradient(&f, &o, 0.8, paritas_model_data(f.model), steps, k, tolerance);
    }
    free_fixture(&f);
}

TEST(slopes_of_q_at_an_edge_are_those_of_refits)
{
    check_all(PARITAS_QUANTITY_Q, 1, 1e-6);
}

TEST(slopes_of_cls_at_an_edge_are_those_of_refits)
{
    check_all(PARITAS_QUANTITY_CLS, PARITAS_QUANTITY_OUTPUTS, 1e-5);
}

TEST(slopes_of_limits_at_an_edge_are_those_of_refits)
{
    check_all(PARITAS_QUANTITY_LIMIT, PARITAS_QUANTITY_OUTPUTS, 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q_at_an_edge_has_the_slopes_of_its_closed_form),
        cmocka_unit_test(asimov_data_made_at_an_edge_have_the_slopes_of_their_closed_form),
        cmocka_unit_test(q_at_an_edge_has_the_curvature_of_its_closed_form),
        cmocka_unit_test(slopes_of_q_at_an_edge_are_those_of_refits),
        cmocka_unit_test(slopes_of_cls_at_an_edge_are_those_of_refits),
        cmocka_unit_test(slopes_of_limits_at_an_edge_are_those_of_refits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
