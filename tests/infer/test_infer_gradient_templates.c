/* Gradients by templates, against differences of refitted values; and the bits of rows in batches, lanes and
 * threads. */
#include "gradient_testing.h"
#include "refusing.h"

#include "fit/family.h"

#include <stdbool.h>

static paritas_gradient_options options_of(paritas_quantity quantity, paritas_test_statistic statistic)
{
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    options.quantity = quantity;
    options.statistic = statistic;
    return options;
}

static const struct {
    paritas_quantity quantity;
    paritas_test_statistic statistic;
    size_t outputs;
    double mu;
    bool shared;
} cases[] = {{PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0, 1, 0.0, 0},
             {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 1, 3.5, 0},
             {PARITAS_QUANTITY_Z_ASIMOV, PARITAS_STATISTIC_Q0, 1, 0.0, 0},
             {PARITAS_QUANTITY_Q_ASIMOV, PARITAS_STATISTIC_QTILDE, 1, 1.5, 0},
             {PARITAS_QUANTITY_CLS, PARITAS_STATISTIC_QTILDE, 6, 3.5, 0},
             {PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 1, 3.0, 1},
             {PARITAS_QUANTITY_Z, PARITAS_STATISTIC_Q0, 1, 0.0, 1}};

static paritas_gradient_options case_options(const struct fixture *f, size_t i)
{
    paritas_gradient_options options = options_of(cases[i].quantity, cases[i].statistic);
    if (cases[i].shared) options.shared = f->shared;
    return options;
}

/* A hundredth of every number; auxiliary data, which are 0, 1 or counts, move by as much of a half at least.
 * `follow`: they do not move by themselves. */
static void fill_steps(const struct fixture *f, const double *row, bool follow, double *steps)
{
    const size_t n_main = paritas_model_main_count(f->model),
                 n_data = n_main + paritas_model_aux_count(f->model), r = row_length(f->model);
    for (size_t i = 0; i < r; i++)
        steps[i] = i < n_main || i >= n_data ? 0.01 * row[i]
                   : follow                  ? 0.0
                                             : 0.01 * fmax(0.5, fabs(row[i]) > 2.0 ? row[i] : 0.0);
}

TEST(gradients_by_templates_are_those_of_refitted_values)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const double *row = paritas_model_data(f.model);
    double steps[128];
    assert_true(row_length(f.model) <= COUNT(steps));
    fill_steps(&f, row, false, steps);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const paritas_gradient_options o = case_options(&f, i);
        check_gradient(&f, &o, cases[i].mu, row, steps, cases[i].outputs, 1e-8);
    }
    free_fixture(&f);
}

TEST(where_auxiliary_data_follow_the_templates_so_do_gradients)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const double *row = paritas_model_data(f.model);
    const size_t n_main = paritas_model_main_count(f.model),
                 n_data = n_main + paritas_model_aux_count(f.model);
    double steps[128], values[6], by_row[6 * 128];
    fill_steps(&f, row, true, steps);
    for (size_t i = 0; i < COUNT(cases); i++) {
        paritas_gradient_options o = case_options(&f, i);
        o.aux_follow = 1;
        check_gradient(&f, &o, cases[i].mu, row, steps, cases[i].outputs, 1e-8);
        differentiate_one(&f, &o, cases[i].mu, row, values, by_row, NULL);
        for (size_t k = n_main; k < n_data; k++) assert_true(by_row[k] == 0.0);
    }
    free_fixture(&f);
}

TEST(the_likelihood_has_gradients_by_templates_and_parameters)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const paritas_gradient_options o = options_of(PARITAS_QUANTITY_TWICE_NLL, PARITAS_STATISTIC_QTILDE);
    const size_t r = row_length(f.model), p = paritas_model_parameter_count(f.model);
    const double *row = paritas_model_data(f.model);
    double points[8 * 64], rows[8 * 128], values[8], one, by_row[128], by_point[64];
    memcpy(points, paritas_model_suggested_init(f.model), p * sizeof *points);
    points[0] = 0.4;
    const paritas_gradient to = {.size = sizeof(paritas_gradient),
                                 .values = &one,
                                 .data = by_row,
                                 .at = by_point},
                           only = {.size = sizeof(paritas_gradient), .values = values};
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 1, points, row, &to), PARITAS_OK);
    for (size_t number = 0; number < r; number++) {
        const double h = 0.02 * (fabs(row[number]) > 2.0 ? row[number] : 0.5);
        for (size_t i = 0; i < 8; i++) {
            if (i > 0) memcpy(points + i * p, points, p * sizeof *points);
            memcpy(rows + i * r, row, r * sizeof *row);
            rows[i * r + number] += (i % 2 ? -h : h) / (double)(1u << (i / 2));
        }
        assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 8, points, rows, &only),
                         PARITAS_OK);
        double slope[4], factor = 4.0;
        for (size_t i = 0; i < 4; i++)
            slope[i] = (values[2 * i] - values[2 * i + 1]) / (2.0 * h / (double)(1u << i));
        for (size_t order = 1; order < 4; order++, factor *= 4.0)
            for (size_t i = 0; i + order < 4; i++)
                slope[i] = (factor * slope[i + 1] - slope[i]) / (factor - 1.0);
        ASSERT_CLOSE(by_row[number], slope[0], 1e-8 * (1.0 + fabs(slope[0])));
    }
    double twice, gradient[64];
    assert_int_equal(
        paritas_evaluate(f.context, f.model, 1, points, 1, row,
                         SIZED(paritas_evaluate_answers, .twice_nll = &twice, .gradient = gradient)),
        PARITAS_OK);
    assert_true(twice == one);
    assert_memory_equal(gradient, by_point, p * sizeof *gradient);
    free_fixture(&f);
}

/* ---- bits ---- */

enum { ROWS = 11 };

struct answers {
    double values[COUNT(cases)][ROWS * 6], by_row[COUNT(cases)][ROWS * 6 * 128],
        by_mu[COUNT(cases)][ROWS * 6];
    paritas_fit_status statuses[COUNT(cases)][ROWS];
};

/* All cases for rows of different templates, `each` rows a call. */
static void answer(const paritas_options *open, size_t each, struct answers *answers)
{
    struct fixture f = all_templates(open, "75.0,61.0,39.0");
    const size_t r = row_length(f.model), n_data = r - paritas_model_template_count(f.model);
    double rows[ROWS * 128], mu[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(rows + i * r, paritas_model_data(f.model), r * sizeof *rows);
        for (size_t k = n_data; k < r; k++)
            rows[i * r + k] *= 1.0 + 0.02 * (double)((3 * i + 5 * k + i * k) % 7) - 0.06;
    }
    memset(answers, 0, sizeof *answers);
    for (size_t c = 0; c < COUNT(cases); c++) {
        const paritas_gradient_options o = case_options(&f, c);
        for (size_t i = 0; i < ROWS; i++) mu[i] = cases[c].mu;
        for (size_t i = 0; i < ROWS; i += each) {
            const size_t n = i + each < ROWS ? each : ROWS - i, at = i * cases[c].outputs;
            const paritas_gradient to = {.size = sizeof to,
                                         .values = answers->values[c] + at,
                                         .statuses = answers->statuses[c] + i,
                                         .data = answers->by_row[c] + at * r,
                                         .at = answers->by_mu[c] + at};
            if (paritas_differentiate(f.context, f.model, &o, NULL, n, mu + i, rows + i * r, &to) !=
                PARITAS_OK)
                fail_msg("%s", paritas_error_message(f.context));
        }
    }
    free_fixture(&f);
}

TEST(a_row_has_the_same_bits_alone_and_in_any_batch_lanes_and_threads)
{
    static const struct {
        const char *isa;
        unsigned lanes, threads;
        size_t each;
    } ways[] = {{NULL, 1, 1, ROWS}, {NULL, 4, 1, ROWS},       {NULL, 8, 2, ROWS},
                {NULL, 0, 3, 4},    {"portable", 0, 1, ROWS}, {NULL, 4, 1, 1}};
    struct answers *first = malloc(sizeof *first), *other = malloc(sizeof *other);
    assert_true(first && other);
    answer(NULL, 1, first);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (size_t i = 0; i < ROWS; i++) assert_int_equal(first->statuses[c][i], PARITAS_FIT_CONVERGED);
    for (size_t w = 0; w < COUNT(ways); w++) {
        paritas_options open = PARITAS_OPTIONS_DEFAULT;
        open.isa = ways[w].isa;
        open.lanes = ways[w].lanes;
        open.threads = ways[w].threads;
        answer(&open, ways[w].each, other);
        assert_memory_equal(first, other, sizeof *first);
    }
    free(other);
    free(first);
}

TEST(rows_that_share_curvature_answer_as_alone_within_rounding)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const size_t r = row_length(f.model), n_data = r - paritas_model_template_count(f.model);
    double row[128], shared[128], own[128], values[2];
    memcpy(row, paritas_model_data(f.model), r * sizeof *row);
    for (size_t k = n_data; k < r; k++) row[k] *= 1.0 + 0.02 * (double)(5 * k % 7) - 0.06;
    for (int s = PARITAS_STATISTIC_QTILDE; s <= PARITAS_STATISTIC_Q0; s++) {
        paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, (paritas_test_statistic)s);
        differentiate_one(&f, &o, 3.0, row, values, own, NULL);
        o.shared = f.shared;
        differentiate_one(&f, &o, 3.0, row, values + 1, shared, NULL);
        ASSERT_CLOSE(values[0], values[1], 1e-11);
        for (size_t k = 0; k < r; k++) ASSERT_CLOSE(shared[k], own[k], 1e-9 * (1.0 + fabs(own[k])));
        assert_true(memcmp(shared, own, r * sizeof *own) != 0); /* it did go the other way */
    }
    free_fixture(&f);
}

static void all_are_nan(size_t n, const double *numbers)
{
    for (size_t i = 0; i < n; i++) assert_true(isnan(numbers[i]));
}

enum { LIMITS = 70 }; /* more than are searched for at the same time */

/* Rates that hardly bend: their limits are searched for together. */
static struct fixture straight_templates(void)
{
    static const char text[] =
        "{\"channels\":[{\"name\":\"SR\",\"samples\":["
        "{\"name\":\"sig\",\"data\":[5.0,8.0,6.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
        "\"data\":null},{\"name\":\"acceptance\",\"type\":\"normsys\",\"data\":{\"hi\":1.03,\"lo\":0.97}}]},"
        "{\"name\":\"bkg\",\"data\":[50.0,60.0,40.0],\"modifiers\":[{\"name\":\"stat\",\"type\":"
        "\"staterror\","
        "\"data\":[2.0,3.0,2.5]},{\"name\":\"rate\",\"type\":\"normsys\",\"data\":{\"hi\":1.05,\"lo\":0.95}}]"
        "}]}],"
        "\"observations\":[{\"name\":\"SR\",\"data\":[53.0,61.0,44.0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
        "]}}],\"version\":\"1.0.0\"}";
    static const paritas_template templates[] = {{PARITAS_TEMPLATE_NOMINAL, "SR", "sig", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "SR", "bkg", NULL}};
    return make_templates(NULL, text, COUNT(templates), templates);
}

/* Row 5 has no signal and so no limit, row 9 is no data. */
static void fill_limits(const struct fixture *f, double *rows)
{
    const size_t r = row_length(f->model), n_data = r - paritas_model_template_count(f->model);
    for (size_t i = 0; i < LIMITS; i++) {
        double *row = rows + i * r;
        memcpy(row, paritas_model_data(f->model), r * sizeof *row);
        for (size_t k = 0; k < 3; k++) row[k] += (double)((2 * i + 3 * k) % 9) - 4.0;
        for (size_t k = n_data; k < r; k++) row[k] *= 1.0 + 0.01 * (double)((2 * i + 3 * k) % 5);
        for (size_t k = n_data; k < n_data + 3 && i == 5; k++) row[k] = 0.0;
        if (i == 9) row[1] = -1.0;
    }
}

/* By a shared matrix, all at once, and each alone; and without it. */
TEST(limits_of_a_batch_are_those_of_its_rows_alone)
{
    struct fixture f = straight_templates();
    const size_t r = row_length(f.model);
    double *rows = calloc(LIMITS * r, sizeof *rows), *by_row = calloc(2 * LIMITS * 6 * r, sizeof *by_row),
           values[2][LIMITS * 6], alone[6], *by_row_alone = calloc(6 * r, sizeof *by_row_alone);
    paritas_fit_status statuses[2][LIMITS];
    assert_true(rows && by_row && by_row_alone);
    fill_limits(&f, rows);
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE);
    for (int shared = 0; shared < 2; shared++) {
        o.shared = shared ? f.shared : NULL;
        const paritas_gradient to = {.size = sizeof to,
                                     .values = values[shared],
                                     .statuses = statuses[shared],
                                     .data = by_row + (size_t)shared * LIMITS * 6 * r};
        assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, LIMITS, NULL, rows, &to),
                         PARITAS_OK);
    }
    assert_memory_equal(statuses[0], statuses[1], sizeof statuses[0]);
    assert_true(memcmp(values[0], values[1], sizeof values[0]) != 0); /* it did go the other way */
    for (size_t i = 0; i < LIMITS; i++) {
        if (i == 5 || i == 9) {
            assert_int_equal(statuses[1][i], i == 5 ? PARITAS_FIT_CONVERGED : PARITAS_FIT_NON_FINITE);
            all_are_nan(6, values[1] + 6 * i);
            continue;
        }
        assert_int_equal(statuses[1][i], PARITAS_FIT_CONVERGED);
        differentiate_one(&f, &o, 0.0, rows + i * r, alone, by_row_alone, NULL);
        assert_memory_equal(alone, values[1] + 6 * i, sizeof alone);
        assert_memory_equal(by_row_alone, by_row + (LIMITS + i) * 6 * r, 6 * r * sizeof *by_row);
        for (size_t k = 0; k < 6; k++) ASSERT_CLOSE(alone[k], values[0][6 * i + k], 1e-8 * alone[k]);
        for (size_t k = 0; k < 6 * r; k++)
            ASSERT_CLOSE(by_row_alone[k], by_row[i * 6 * r + k], 1e-6 * (1.0 + fabs(by_row_alone[k])));
    }
    free(by_row_alone);
    free(by_row);
    free(rows);
    free_fixture(&f);
}

/* ---- rates that bend ---- */

/* Root of the sum over bins of (r(+1) + r(-1) - 2 r(0))^2 / max(r(0), 1), or the weighted sum of
 * r(+1) + r(-1) - 2 r(0), other parameters as in `point`. */
static double bend_of(const struct fixture *f, const double *row, const double *point, const double *weights,
                      size_t parameter)
{
    const size_t p = paritas_model_parameter_count(f->model), n_main = paritas_model_main_count(f->model),
                 r = row_length(f->model);
    double points[3 * 64], rows[3 * 128], expected[3 * 128], sum = 0.0;
    for (size_t k = 0; k < 3; k++) {
        memcpy(rows + k * r, row, r * sizeof *row);
        memcpy(points + k * p, point, p * sizeof *point);
        points[k * p + parameter] = paritas_model_suggested_init(f->model)[parameter] + (double)k - 1.0;
    }
    if (paritas_expected_data_of(f->context, f->model, 3, points, rows, expected) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    for (size_t b = 0; b < n_main; b++) {
        const double rate = expected[r + b], bend = expected[b] + expected[2 * r + b] - 2.0 * rate;
        sum += weights ? weights[b] * bend : bend * bend / fmax(fabs(rate), 1.0);
    }
    return weights ? sum : sqrt(sum);
}

TEST(rates_bend_by_the_templates_of_the_row)
{
    for (int changed = 0; changed < 2; changed++) {
        struct fixture f = templates_of(NULL, "75.0,61.0,39.0", changed);
        const struct frozen *model = paritas_model_frozen(f.model);
        const size_t r = row_length(f.model), p = paritas_model_parameter_count(f.model);
        double row[128], point[64], bends[64], weights[64];
        memcpy(row, paritas_model_data(f.model), r * sizeof *row);
        memcpy(point, paritas_model_suggested_init(f.model), p * sizeof *point);
        point[paritas_model_poi_index(f.model)] = 2.5;
        for (int moved = 0; moved < 2; moved++) {
            size_t bent = 0;
            for (size_t k = r - model->n_templates; k < r && moved; k++)
                row[k] *= 1.0 + 0.1 * (double)(5 * k % 7);
            assert_int_equal(model->family->second_differences(f.context, model, row, point, NULL, bends),
                             PARITAS_OK);
            for (size_t i = 0; i < p; i++) {
                ASSERT_CLOSE(bends[i], bend_of(&f, row, point, NULL, i), 1e-10 * (1.0 + bends[i]));
                bent += bends[i] > 0.1;
            }
            for (size_t b = 0; b < 64; b++) weights[b] = 0.5 - 0.75 * (double)(b % 3);
            assert_int_equal(model->family->second_differences(f.context, model, row, point, weights, bends),
                             PARITAS_OK);
            for (size_t i = 0; i < p; i++)
                ASSERT_CLOSE(bends[i], bend_of(&f, row, point, weights, i), 1e-10 * (1.0 + fabs(bends[i])));
            assert_true(bent >= 2);
        }
        free_fixture(&f);
    }
}

/* The variations are straight about `signal` 4, 8, 6. */
static void put_bending(char *text, size_t size, const double *signal)
{
    snprintf(text, size,
             "{\"channels\":[{\"name\":\"SR\",\"samples\":["
             "{\"name\":\"sig\",\"data\":[%.17g,%.17g,%.17g],\"modifiers\":["
             "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
             "{\"name\":\"shape\",\"type\":\"histosys\",\"data\":{\"hi_data\":[4.84,11.04,6.42],"
             "\"lo_data\":[3.16,4.96,5.58]}}]},"
             "{\"name\":\"bkg\",\"data\":[5.0,10.0,5.0],\"modifiers\":["
             "{\"name\":\"rate\",\"type\":\"normsys\",\"data\":{\"hi\":1.05,\"lo\":0.95}}]}]}],"
             "\"observations\":[{\"name\":\"SR\",\"data\":[5.0,15.0,1.0]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
             "{\"name\":\"mu\",\"inits\":[1.0],\"bounds\":[[0.0,20.0]]}]}}],\"version\":\"1.0.0\"}",
             signal[0], signal[1], signal[2]);
}

/* With twice the signal the fits that share curvature end in a higher minimum: 0.573 in place of 3.172. */
TEST(rows_whose_own_templates_bend_have_the_limits_of_their_own_models)
{
    static const paritas_template templates[] = {{PARITAS_TEMPLATE_NOMINAL, "SR", "sig", NULL}};
    static const double signals[3][3] = {{4.0, 8.0, 6.0}, {8.0, 16.0, 12.0}, {4.04, 8.0, 5.94}};
    char text[4096];
    put_bending(text, sizeof text, signals[0]);
    struct fixture f = make_templates(NULL, text, COUNT(templates), templates);
    const size_t r = row_length(f.model);
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE);
    o.shared = f.shared;
    double rows[3 * 16], values[3 * 6], by_row[3 * 6 * 16], alone[6], by_row_alone[6 * 16];
    paritas_fit_status statuses[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(paritas_model_fill_row(f.context, f.model, NULL, signals[i], rows + i * r),
                         PARITAS_OK);
    const paritas_gradient to = {.size = sizeof to, .values = values, .statuses = statuses, .data = by_row};
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, NULL, 3, NULL, rows, &to), PARITAS_OK);
    for (size_t i = 0; i < 3; i++) {
        put_bending(text, sizeof text, signals[i]);
        struct fixture own = make_fixture(text);
        const paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
        paritas_limit_result limit = {.size = sizeof limit};
        assert_int_equal(paritas_limit(own.context, own.model, NULL, &request, &limit), PARITAS_OK);
        assert_int_equal(limit.status, PARITAS_FIT_CONVERGED);
        assert_int_equal(statuses[i], PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(values[6 * i], limit.limit_obs, 1e-8 * limit.limit_obs);
        for (size_t k = 1; k < 6; k++)
            ASSERT_CLOSE(values[6 * i + k], limit.limit_exp[k - 1], 1e-8 * limit.limit_exp[k - 1]);
        assert_int_equal(values[6 * i] == limit.limit_obs, i == 1); /* the others did go the other way */
        differentiate_one(&f, &o, 0.0, rows + i * r, alone, by_row_alone, NULL);
        assert_memory_equal(alone, values + 6 * i, sizeof alone);
        assert_memory_equal(by_row_alone, by_row + i * 6 * r, 6 * r * sizeof *by_row);
        free_fixture(&own);
    }
    assert_true(values[6] > 3.0);
    free_fixture(&f);
}

TEST(contexts_in_f32_answer_as_those_in_f64)
{
    struct answers *first = malloc(sizeof *first), *other = malloc(sizeof *other);
    paritas_context *context = NULL;
    assert_true(first && other);
    paritas_options open = PARITAS_OPTIONS_DEFAULT;
    open.precision = 32;
    const paritas_status there = paritas_open(&open, &context);
    paritas_close(context);
    if (there == PARITAS_NO_DEVICE) { /* a build of some kernels only */
        free(other);
        free(first);
        skip_because("this build has no kernels of f32");
    }
    answer(NULL, ROWS, first);
    answer(&open, ROWS, other);
    assert_memory_equal(first, other, sizeof *first);
    free(other);
    free(first);
}

/* ---- rows that no job may have ---- */

/* Which rows of `fill_unfit` are sound. */
static const bool is_sound[] = {true, false, true, false, false, true};

/* Rows of which some have no sum of rates that a staterror or tau could be relative to, or one that takes the
 * width out of range. */
static void fill_unfit(const struct fixture *f, double *rows)
{
    const size_t r = row_length(f->model), n_data = r - paritas_model_template_count(f->model);
    for (size_t i = 0; i < COUNT(is_sound); i++) {
        double *row = rows + i * r, *signal = row + n_data, *background = signal + 3, *other = background + 3;
        memcpy(row, paritas_model_data(f->model), r * sizeof *row);
        for (size_t k = n_data; k < r; k++) row[k] *= 1.0 + 0.01 * (double)((2 * i + 3 * k) % 5);
        if (i == 1) signal[0] = background[0] = 0.0;
        if (i == 3) other[1] = 0.0;
        if (i == 4) {
            signal[2] = 0.0;
            background[2] = 1e-170;
        }
    }
}

/* A quantity of k outputs, n_at derivatives by `at` a row: of all rows, and of the sound ones alone. */
static void check_unfit(const struct fixture *f, const paritas_gradient_options *o, size_t k, size_t n_at,
                        const double *at, const double *rows)
{
    enum { N = COUNT(is_sound) };
    const size_t r = row_length(f->model), wide = n_at / k;
    double values[N * 6], by_row[N * 6 * 128], by_at[N * 64], sound_values[6], sound_by_row[6 * 128],
        sound_by_at[64];
    paritas_fit_status statuses[N], sound_status;
    const paritas_gradient all = {.size = sizeof all,
                                  .values = values,
                                  .statuses = statuses,
                                  .data = by_row,
                                  .at = by_at},
                           one = {.size = sizeof one,
                                  .values = sound_values,
                                  .statuses = &sound_status,
                                  .data = sound_by_row,
                                  .at = sound_by_at};
    if (paritas_differentiate(f->context, f->model, o, NULL, N, at, rows, &all) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    for (size_t i = 0; i < N; i++) {
        if (!is_sound[i]) {
            assert_int_equal(statuses[i], PARITAS_FIT_NON_FINITE);
            all_are_nan(k, values + i * k);
            all_are_nan(k * r, by_row + i * k * r);
            all_are_nan(n_at, by_at + i * n_at);
            continue;
        }
        if (paritas_differentiate(f->context, f->model, o, NULL, 1, at + i * wide, rows + i * r, &one) !=
            PARITAS_OK)
            fail_msg("%s", paritas_error_message(f->context));
        assert_int_equal(statuses[i], PARITAS_FIT_CONVERGED);
        assert_int_equal(sound_status, PARITAS_FIT_CONVERGED);
        assert_memory_equal(values + i * k, sound_values, k * sizeof *values);
        assert_memory_equal(by_row + i * k * r, sound_by_row, k * r * sizeof *by_row);
        assert_memory_equal(by_at + i * n_at, sound_by_at, n_at * sizeof *by_at);
    }
}

TEST(rows_whose_rates_no_constraint_can_follow_are_nan_alone)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const size_t p = paritas_model_parameter_count(f.model);
    double rows[COUNT(is_sound) * 128], mu[COUNT(is_sound)], points[COUNT(is_sound) * 64];
    fill_unfit(&f, rows);
    for (int follow = 0; follow < 2; follow++) {
        for (size_t c = 0; c < COUNT(cases); c++) {
            paritas_gradient_options o = case_options(&f, c);
            o.aux_follow = follow;
            for (size_t i = 0; i < COUNT(is_sound); i++) mu[i] = cases[c].mu;
            check_unfit(&f, &o, cases[c].outputs, cases[c].outputs, mu, rows);
        }
        paritas_gradient_options o = options_of(PARITAS_QUANTITY_LIMIT, PARITAS_STATISTIC_QTILDE);
        o.aux_follow = follow;
        o.outputs = 1u;
        check_unfit(&f, &o, 1, 1, mu, rows);
        o.shared = f.shared;
        check_unfit(&f, &o, 1, 1, mu, rows);
        o.quantity = PARITAS_QUANTITY_NLL;
        for (size_t i = 0; i < COUNT(is_sound); i++)
            memcpy(points + i * p, paritas_model_suggested_init(f.model), p * sizeof *points);
        check_unfit(&f, &o, 1, p, points, rows);
    }
    assert_non_null(strstr(paritas_error_message(f.context),
                           "channel 'signal', bin 2: the width of stat[2] is out of range"));
    free_fixture(&f);
}

TEST(data_of_the_job_that_no_job_may_have_are_refused)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0");
    const paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0);
    double rows[COUNT(is_sound) * 128], value;
    fill_unfit(&f, rows);
    const paritas_job job = {.size = sizeof(paritas_job), .data = rows + row_length(f.model)};
    const paritas_gradient to = {.size = sizeof(paritas_gradient), .values = &value};
    assert_int_equal(paritas_differentiate(f.context, f.model, &o, &job, 1, NULL, NULL, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(
        strstr(paritas_error_message(f.context),
               "data: channel 'signal', bin 0: these numbers would switch the constraint of stat[0] off"));
    free_fixture(&f);
}

/* Half as much again of the interference would leave the statistical error no positive rate. */
TEST(which_auxiliary_data_follow_is_found_where_rates_are_negative)
{
    static const char text[] = "{\"channels\":[{\"name\":\"SR\",\"samples\":["
                               "{\"name\":\"sig\",\"data\":[5.0],\"modifiers\":[{\"name\":\"mu\",\"type\":"
                               "\"normfactor\",\"data\":null}]},"
                               "{\"name\":\"interference\",\"data\":[-30.0],\"modifiers\":[{\"name\":"
                               "\"stat\",\"type\":\"staterror\",\"data\":[0.3]}]},"
                               "{\"name\":\"bkg\",\"data\":[40.0],\"modifiers\":[{\"name\":\"stat\",\"type\":"
                               "\"staterror\",\"data\":[0.5]}]}]}],"
                               "\"observations\":[{\"name\":\"SR\",\"data\":[16.0]}],"
                               "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
                               "]}}],\"version\":\"1.0.0\"}";
    const paritas_template interference = {PARITAS_TEMPLATE_NOMINAL, "SR", "interference", NULL};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = 1;
    options.templates = &interference;
    struct fixture f = {0};
    if (paritas_open(NULL, &f.context) != PARITAS_OK ||
        paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace) != PARITAS_OK ||
        paritas_model_create(f.context, f.workspace, &options, &f.model) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f.context));
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0);
    double stands[3], follows[3], values[2];
    differentiate_one(&f, &o, 0.0, paritas_model_data(f.model), values, stands, NULL);
    o.aux_follow = 1;
    differentiate_one(&f, &o, 0.0, paritas_model_data(f.model), values + 1, follows, NULL);
    assert_true(values[0] == values[1] && stands[2] != 0.0 && stands[2] == follows[2]);
    free_fixture(&f);
}

/* ---- memory ---- */

static void expect_refusal(const struct fixture *f, const paritas_gradient_options *options,
                           const paritas_job *job, const char *message)
{
    double value;
    const paritas_gradient to = {.size = sizeof to, .values = &value};
    assert_int_equal(paritas_differentiate(f->context, f->model, options, job, 1, NULL, NULL, &to),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f->context), message));
}

TEST(shared_fits_belong_to_their_model_and_bounds)
{
    struct fixture f = all_templates(NULL, "75.0,61.0,39.0"), other = all_templates(NULL, "75.0,61.0,39.0");
    const size_t p = paritas_model_parameter_count(f.model);
    double upper[64];
    unsigned char fixed[64];
    paritas_gradient_options o = options_of(PARITAS_QUANTITY_Q, PARITAS_STATISTIC_Q0);
    paritas_job job = {.size = sizeof job};
    assert_true(p <= COUNT(upper));
    o.shared = other.shared;
    expect_refusal(&f, &o, NULL, "another model");
    o.shared = f.shared;
    memcpy(upper, paritas_model_upper_bounds(f.model), p * sizeof *upper);
    memcpy(fixed, paritas_model_suggested_fixed(f.model), p);
    upper[0] += 1.0;
    job.upper = upper;
    expect_refusal(&f, &o, &job, "other bounds or fixed parameters");
    job.upper = NULL;
    fixed[p - 1] = !fixed[p - 1];
    job.fixed = fixed;
    expect_refusal(&f, &o, &job, "other bounds or fixed parameters");
    free_fixture(&other);
    free_fixture(&f);
}

TEST(wherever_memory_runs_out_shared_fits_are_not_made_and_nothing_is_lost)
{
    struct ledger ledger = {0};
    const paritas_allocator allocator = ledger_allocator(&ledger);
    paritas_options open = PARITAS_OPTIONS_DEFAULT;
    open.allocator = &allocator;
    open.threads = 1;
    struct fixture f = all_templates(&open, "75.0,61.0,39.0");
    paritas_shared_fits *shared = NULL;
    const long live = ledger.live;
    long refusals = 0;
    paritas_status status = PARITAS_OUT_OF_MEMORY;
    for (; status == PARITAS_OUT_OF_MEMORY; refusals++) {
        ledger.requests = 0;
        ledger.fail_at = refusals + 1;
        status = paritas_shared_fits_create(f.context, f.model, NULL, &shared);
        if (status == PARITAS_OUT_OF_MEMORY) assert_true(!shared && ledger.live == live);
    }
    assert_int_equal(status, PARITAS_OK);
    assert_true(refusals > 5);
    ledger.fail_at = 0;
    paritas_shared_fits_free(shared);
    assert_int_equal(ledger.live, live);
    free_fixture(&f);
    assert_int_equal(ledger.live, 0);
}

TEST(wherever_memory_runs_out_the_call_says_so_and_nothing_is_lost)
{
    static const paritas_quantity quantities[] = {PARITAS_QUANTITY_TWICE_NLL, PARITAS_QUANTITY_Z,
                                                  PARITAS_QUANTITY_CLS, PARITAS_QUANTITY_LIMIT};
    for (size_t k = 0; k < COUNT(quantities); k++) {
        struct ledger ledger = {0};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options open = PARITAS_OPTIONS_DEFAULT;
        open.allocator = &allocator;
        open.threads = 1;
        struct fixture f = all_templates(&open, "75.0,61.0,39.0");
        paritas_gradient_options o = options_of(quantities[k], PARITAS_STATISTIC_QTILDE);
        o.aux_follow = 1;
        o.shared = f.shared;
        double at[64], values[6], by_row[6 * 128];
        memcpy(at, paritas_model_suggested_init(f.model),
               paritas_model_parameter_count(f.model) * sizeof *at);
        if (quantities[k] == PARITAS_QUANTITY_Z) at[0] = 3.0;
        const paritas_gradient to = {.size = sizeof(paritas_gradient), .values = values, .data = by_row};
        long refusals = 0;
        paritas_status status = PARITAS_OUT_OF_MEMORY;
        for (; status == PARITAS_OUT_OF_MEMORY; refusals++) {
            const long live = ledger.live;
            ledger.requests = 0;
            ledger.fail_at = refusals + 1;
            status = paritas_differentiate(f.context, f.model, &o, NULL, 1, at, NULL, &to);
            /* a slab that has grown is the device's */
            if (status == PARITAS_OUT_OF_MEMORY) assert_true(ledger.live <= live + 1);
        }
        assert_int_equal(status, PARITAS_OK);
        assert_true(refusals > 10);
        ledger.fail_at = 0;
        free_fixture(&f);
        assert_int_equal(ledger.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_by_templates_are_those_of_refitted_values),
        cmocka_unit_test(where_auxiliary_data_follow_the_templates_so_do_gradients),
        cmocka_unit_test(the_likelihood_has_gradients_by_templates_and_parameters),
        cmocka_unit_test(a_row_has_the_same_bits_alone_and_in_any_batch_lanes_and_threads),
        cmocka_unit_test(rows_that_share_curvature_answer_as_alone_within_rounding),
        cmocka_unit_test(contexts_in_f32_answer_as_those_in_f64),
        cmocka_unit_test(rows_whose_rates_no_constraint_can_follow_are_nan_alone),
        cmocka_unit_test(data_of_the_job_that_no_job_may_have_are_refused),
        cmocka_unit_test(which_auxiliary_data_follow_is_found_where_rates_are_negative),
        cmocka_unit_test(limits_of_a_batch_are_those_of_its_rows_alone),
        cmocka_unit_test(rates_bend_by_the_templates_of_the_row),
        cmocka_unit_test(rows_whose_own_templates_bend_have_the_limits_of_their_own_models),
        cmocka_unit_test(shared_fits_belong_to_their_model_and_bounds),
        cmocka_unit_test(wherever_memory_runs_out_shared_fits_are_not_made_and_nothing_is_lost),
        cmocka_unit_test(wherever_memory_runs_out_the_call_says_so_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
