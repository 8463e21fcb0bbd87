/* Second derivatives along a direction, against differences of first derivatives; symmetry; refusals. */
#include "gradient_testing.h"
#include "refusing.h"

#include <stdbool.h>

enum { NUMBERS = 128, PARAMETERS = 32, LEVELS = 5 };

static const struct {
    paritas_quantity quantity;
    paritas_test_statistic statistic;
    double mu;
    bool shared;
} cases[] = {{PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0, 0.0, 0},
             {PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q0, 0.0, 0},
             {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 3.5, 0},
             {PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q, 3.5, 0},
             {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 3.5, 1},
             {PARITAS_QUANTITY_NLL, PARITAS_STATISTIC_Q, 0.0, 0},
             {PARITAS_QUANTITY_TWICE_NLL, PARITAS_STATISTIC_Q, 0.0, 0}};

static bool is_likelihood(size_t i)
{
    return cases[i].quantity <= PARITAS_QUANTITY_TWICE_NLL;
}

static paritas_gradient_options case_options(const struct fixture *f, size_t i, bool follow)
{
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    options.quantity = cases[i].quantity;
    options.statistic = cases[i].statistic;
    if (cases[i].shared) options.shared = f->shared;
    options.aux_follow = follow;
    return options;
}

struct numbers {
    double value, row[NUMBERS], at[PARAMETERS];
};

static size_t n_at(const struct fixture *f, size_t i)
{
    return is_likelihood(i) ? paritas_model_parameter_count(f->model) : 1;
}

static struct numbers first(const struct fixture *f, size_t i, bool follow, const double *at,
                            const double *row)
{
    const paritas_gradient_options o = case_options(f, i, follow);
    struct numbers found;
    const paritas_gradient to = {
        .size = sizeof to, .values = &found.value, .data = found.row, .at = found.at};
    if (paritas_differentiate(f->context, f->model, &o, NULL, 1, at, row, &to) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    return found;
}

static struct numbers second(const struct fixture *f, size_t i, bool follow, const double *at,
                             const double *row, const double *at_direction, const double *direction)
{
    const paritas_gradient_options o = case_options(f, i, follow);
    struct numbers found;
    double value;
    const paritas_gradient to = {.size = sizeof to, .values = &value}, along = {.size = sizeof along,
                                                                                .values = &found.value,
                                                                                .data = found.row,
                                                                                .at = found.at};
    const paritas_gradient_rows rows = {sizeof rows, 1, at, row, at_direction, direction};
    if (paritas_differentiate_along(f->context, f->model, &o, NULL, &rows, &to, &along) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    return found;
}

/* A point, a direction of the point and of the row: all numbers move by a few hundredths. */
static void fill(const struct fixture *f, size_t i, unsigned seed, const double *row, double *at,
                 double *at_direction, double *direction)
{
    const size_t n_main = paritas_model_main_count(f->model),
                 n_data = n_main + paritas_model_aux_count(f->model), r = row_length(f->model);
    for (size_t k = 0; k < n_at(f, i); k++) {
        at[k] = is_likelihood(i) ? paritas_model_suggested_init(f->model)[k] + 0.02 * (double)((k + seed) % 5)
                                 : cases[i].mu;
        at_direction[k] = 0.1 * (double)((3 * k + seed) % 7) - 0.25;
    }
    for (size_t k = 0; k < r; k++) {
        const double sign = 0.5 * (double)((5 * k + 3 * seed + k * k) % 9) - 1.9;
        direction[k] = k < n_main || k >= n_data ? 0.02 * sign * row[k]
                                                 : 0.01 * sign * fmax(0.5, fabs(row[k]) > 2.0 ? row[k] : 0.0);
    }
}

static double extrapolated(double *table)
{
    double factor = 4.0;
    for (size_t order = 1; order < LEVELS; order++, factor *= 4.0)
        for (size_t d = 0; d + order < LEVELS; d++)
            table[d] = (factor * table[d + 1] - table[d]) / (factor - 1.0);
    return table[0];
}

/* `step`: the first of the differences. */
static void check(const struct fixture *f, size_t i, bool follow, const double *row, double step,
                  double tolerance)
{
    const size_t r = row_length(f->model), p = n_at(f, i);
    double at[PARAMETERS], at_direction[PARAMETERS], direction[NUMBERS],
        table[1 + NUMBERS + PARAMETERS][LEVELS];
    fill(f, i, 1, row, at, at_direction, direction);
    const struct numbers found = second(f, i, follow, at, row, at_direction, direction);
    for (size_t level = 0; level < LEVELS; level++) {
        const double h = step / (double)(1u << level);
        struct numbers ends[2];
        for (int end = 0; end < 2; end++) {
            double moved[NUMBERS], moved_at[PARAMETERS];
            for (size_t k = 0; k < r; k++) moved[k] = row[k] + (end ? -h : h) * direction[k];
            for (size_t k = 0; k < p; k++) moved_at[k] = at[k] + (end ? -h : h) * at_direction[k];
            ends[end] = first(f, i, follow, moved_at, moved);
        }
        table[0][level] = (ends[0].value - ends[1].value) / (2.0 * h);
        for (size_t k = 0; k < r; k++) table[1 + k][level] = (ends[0].row[k] - ends[1].row[k]) / (2.0 * h);
        for (size_t k = 0; k < p; k++) table[1 + r + k][level] = (ends[0].at[k] - ends[1].at[k]) / (2.0 * h);
    }
    double worst = 0.0;
    for (size_t k = 0; k < 1 + r + p; k++) {
        const double answer = k == 0   ? found.value
                              : k <= r ? found.row[k - 1]
                                       : found.at[k - 1 - r],
                     truth = extrapolated(table[k]), off = fabs(answer - truth) / (1.0 + fabs(truth));
        if (off > worst) worst = off;
        if (!(off <= (cases[i].shared ? 1e-6 : tolerance)))
            fail_msg("case %zu, follow %d, number %zu of %zu: %.12g, by differences %.12g", i, (int)follow, k,
                     r, answer, truth);
    }
    printf("case %zu, follow %d: largest disagreement %.2g\n", i, (int)follow, worst);
}

TEST(second_derivatives_are_those_of_the_first)
{
    /* other codes and constraints bend sooner: shorter steps, with more rounding */
    static const double steps[2] = {0.125, 0.03}, tolerances[2] = {1e-10, 1e-9};
    for (int changed = 0; changed < 2; changed++) {
        struct fixture f = templates_of(NULL, changed ? "66.0,52.0,32.0" : "75.0,61.0,39.0", changed);
        const double *row = paritas_model_data(f.model);
        assert_true(row_length(f.model) <= NUMBERS && paritas_model_parameter_count(f.model) <= PARAMETERS);
        for (size_t i = 0; i < COUNT(cases); i++)
            for (int follow = 0; follow < 2; follow++)
                check(&f, i, follow, row, steps[changed], tolerances[changed]);
        free_fixture(&f);
    }
}

static double product(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

TEST(the_hessian_is_symmetric)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const double *row = paritas_model_data(f.model);
    const size_t r = row_length(f.model);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const bool discovery = !is_likelihood(i) && cases[i].statistic == PARITAS_STATISTIC_Q0;
        double at[PARAMETERS], u_at[PARAMETERS], v_at[PARAMETERS], u[NUMBERS], v[NUMBERS];
        fill(&f, i, 1, row, at, u_at, u);
        fill(&f, i, 4, row, at, v_at, v);
        const size_t p = discovery ? 0 : n_at(&f, i);
        const struct numbers hu = second(&f, i, false, at, row, u_at, u),
                             hv = second(&f, i, false, at, row, v_at, v);
        const double uhv = product(r, u, hv.row) + product(p, u_at, hv.at),
                     vhu = product(r, v, hu.row) + product(p, v_at, hu.at);
        ASSERT_CLOSE(uhv, vhu, 1e-11 * (1.0 + fabs(uhv)));
    }
    free_fixture(&f);
}

/* One bin without nuisance parameters: q0 = 2 (n ln(n / b) - n + b). */
TEST(one_bin_has_its_closed_form)
{
    static const char text[] = "{\"channels\":[{\"name\":\"c\",\"samples\":["
                               "{\"name\":\"s\",\"data\":[4.0],\"modifiers\":[{\"name\":\"mu\",\"type\":"
                               "\"normfactor\",\"data\":null}]},"
                               "{\"name\":\"b\",\"data\":[9.0],\"modifiers\":[]}]}],"
                               "\"observations\":[{\"name\":\"c\",\"data\":[17.0]}],"
                               "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
                               "]}}],\"version\":\"1.0.0\"}";
    static const paritas_template background = {PARITAS_TEMPLATE_NOMINAL, "c", "b", NULL};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = 1;
    options.templates = &background;
    struct fixture f = {0};
    if (paritas_open(NULL, &f.context) != PARITAS_OK ||
        paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace) != PARITAS_OK ||
        paritas_model_create(f.context, f.workspace, &options, &f.model) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f.context));
    const double *row = paritas_model_data(f.model), at = 0.0, v[2] = {0.3, -0.7};
    const struct numbers found = second(&f, 0, false, &at, row, NULL, v);
    ASSERT_CLOSE(found.value, 2.0 * log(17.0 / 9.0) * v[0] + 2.0 * (1.0 - 17.0 / 9.0) * v[1], 1e-10);
    ASSERT_CLOSE(found.row[0], 2.0 / 17.0 * v[0] - 2.0 / 9.0 * v[1], 1e-10);
    ASSERT_CLOSE(found.row[1], -2.0 / 9.0 * v[0] + 2.0 * 17.0 / 81.0 * v[1], 1e-10);
    free_fixture(&f);
}

TEST(quantities_of_asimov_data_and_rows_that_no_job_may_have)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    paritas_gradient_options o = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    double value, row[NUMBERS], by_row[NUMBERS];
    const paritas_gradient to = {.size = sizeof to, .values = &value, .data = by_row};
    o.quantity = PARITAS_QUANTITY_Z_ASIMOV;
    paritas_gradient_rows rows = {.size = sizeof rows, .n = 1};
    assert_int_equal(paritas_differentiate_along(f.context, f.model, &o, NULL, &rows, &to, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "z_asimov has first derivatives only"));
    o.quantity = PARITAS_QUANTITY_Q;
    o.statistic = PARITAS_STATISTIC_Q0;
    memcpy(row, paritas_model_data(f.model), row_length(f.model) * sizeof *row);
    row[0] = -1.0;
    double first_value;
    const paritas_gradient first_of = {.size = sizeof first_of, .values = &first_value};
    rows.data = row;
    assert_int_equal(paritas_differentiate_along(f.context, f.model, &o, NULL, &rows, &first_of, &to),
                     PARITAS_OK);
    assert_true(isnan(first_value) && isnan(value) && isnan(by_row[0]));
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_derivatives_are_those_of_the_first),
        cmocka_unit_test(the_hessian_is_symmetric),
        cmocka_unit_test(one_bin_has_its_closed_form),
        cmocka_unit_test(quantities_of_asimov_data_and_rows_that_no_job_may_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
