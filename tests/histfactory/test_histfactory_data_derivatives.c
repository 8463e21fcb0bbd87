/* Derivatives by data rows against differences, extrapolated to no step (Romberg), of values that the kernels
 * answer with exact derivatives of their own. */
#include "fit/fit_testing.h"
#include "codes_testing.h"
#include "base/math/host_math.h"

/* A workspace with all kinds of modifiers, two channels that share some, one cut by a shapefactor that both
 * have. */
#define WORKSPACE                                                                                            \
    "{\"channels\": [{\"name\": \"SR\", \"samples\": ["                                                      \
    "{\"name\": \"signal\", \"data\": [6.0, 9.5, 4.0], \"modifiers\": ["                                     \
    "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"lumi\", \"type\": "          \
    "\"lumi\", "                                                                                             \
    "\"data\": null}, "                                                                                      \
    "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [6.6, 9.9, 4.4], \"lo_data\": "     \
    "[5.5, "                                                                                                 \
    "9.3, 3.7]}}, "                                                                                          \
    "{\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 1.2, \"lo\": 0.85}}, "                 \
    "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [0.3, 0.5, 0.2]}]}, "                           \
    "{\"name\": \"top\", \"data\": [50.0, 61.0, 33.0], \"modifiers\": ["                                     \
    "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [53.0, 60.0, 35.0], \"lo_data\": "  \
    "[47.0, 61.5, 31.0]}}, "                                                                                 \
    "{\"name\": \"tune\", \"type\": \"histosys\", \"data\": {\"hi_data\": [51.0, 66.0, 33.5], \"lo_data\": " \
    "[48.0, 60.0, 32.0]}}, "                                                                                 \
    "{\"name\": \"jes\", \"type\": \"normsys\", \"data\": {\"hi\": 1.03, \"lo\": 0.96}}, "                   \
    "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [1.5, 1.8, 1.1]}, "                             \
    "{\"name\": \"k\", \"type\": \"normfactor\", \"data\": null}, "                                          \
    "{\"name\": \"fake\", \"type\": \"shapesys\", \"data\": [5.0, 4.0, 3.0]}]}]}, "                          \
    "{\"name\": \"CR\", \"samples\": ["                                                                      \
    "{\"name\": \"top\", \"data\": [100.0, 80.0, 60.0, 55.0, 44.0, 33.0, 22.0, 18.0, 12.0, 9.0], "           \
    "\"modifiers\": ["                                                                                       \
    "{\"name\": \"k\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"theory\", \"type\": "         \
    "\"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.92}}, "                                                  \
    "{\"name\": \"tune\", \"type\": \"histosys\", \"data\": {\"hi_data\": [110.0, 84.0, 61.0, 55.0, 43.0, "  \
    "31.0, 20.0, 17.0, 11.5, 8.5], "                                                                         \
    "\"lo_data\": [94.0, 78.0, 58.0, 54.0, 46.0, 35.0, 23.0, 19.0, 12.5, 10.0]}}, "                          \
    "{\"name\": \"stat_CR\", \"type\": \"staterror\", \"data\": [3.0, 2.5, 2.0, 2.0, 1.8, 1.5, 1.2, 1.0, "   \
    "0.9, 0.8]}]}]}, "                                                                                       \
    "{\"name\": \"QR\", \"samples\": ["                                                                      \
    "{\"name\": \"qcd\", \"data\": [40.0, 30.0], \"modifiers\": [{\"name\": \"free\", \"type\": "            \
    "\"shapefactor\", \"data\": null}, "                                                                     \
    "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [41.0, 33.0], \"lo_data\": [38.0, " \
    "29.0]}}, {\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 1.15, \"lo\": 0.9}}]}, "      \
    "{\"name\": \"signal\", \"data\": [2.0, 1.5], \"modifiers\": [{\"name\": \"mu\", \"type\": "             \
    "\"normfactor\", \"data\": null}]}]}, "                                                                  \
    "{\"name\": \"QS\", \"samples\": ["                                                                      \
    "{\"name\": \"qcd\", \"data\": [20.0, 14.0], \"modifiers\": [{\"name\": \"free\", \"type\": "            \
    "\"shapefactor\", \"data\": null}, "                                                                     \
    "{\"name\": \"width\", \"type\": \"shapesys\", \"data\": [2.0, 1.5]}]}]}, "                              \
    "{\"name\": \"MR\", \"samples\": ["                                                                      \
    "{\"name\": \"signal\", \"data\": [5.0, 4.0], \"modifiers\": [{\"name\": \"mu\", \"type\": "             \
    "\"normfactor\", \"data\": null}, {\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": "     \
    "1.3, "                                                                                                  \
    "\"lo\": 0.8}}, {\"name\": \"prop\", \"type\": \"mcstat\", \"data\": [1.0, 2.0]}]}, "                    \
    "{\"name\": \"top\", \"data\": [30.0, 21.0], \"modifiers\": [{\"name\": \"k\", \"type\": "               \
    "\"normfactor\", \"data\": null}, "                                                                      \
    "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [31.0, 23.0], \"lo_data\": [28.0, " \
    "20.0]}}, {\"name\": \"prop\", \"type\": \"mcstat\", \"data\": [3.0, 1.5]}]}]}], "                       \
    "\"observations\": [{\"name\": \"SR\", \"data\": [62, 70, 0]}, {\"name\": \"CR\", \"data\": [108, 77, "  \
    "61, 49, 45, 30, 25, 15, 11, 9.5]}, "                                                                    \
    "{\"name\": \"QR\", \"data\": [44, 31]}, {\"name\": \"QS\", \"data\": [19, 15]}, "                       \
    "{\"name\": \"MR\", \"data\": [38, 22]}], "                                                              \
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": ["                   \
    "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], \"sigmas\": "      \
    "[0.03]}"
#define END "]}}], \"version\": \"1.0.0\"}"
static const char workspace_text[] = WORKSPACE END;
/* The same with other laws, also of widths that follow rates. */
static const char laws_text[] = WORKSPACE
    ", {\"name\": \"stat\", \"constraint\": {\"type\": \"poisson\"}}, {\"name\": \"fake\", \"constraint\": "
    "{\"type\": \"gaussian\"}}, {\"name\": \"width\", \"constraint\": {\"type\": \"none\"}}, "
    "{\"name\": \"theory\", \"constraint\": {\"type\": \"lognormal\", \"offset\": 1, \"slope\": 0.2}, "
    "\"auxdata\": [0.05], \"sigmas\": [0.18]}, "
    "{\"name\": \"jes\", \"constraint\": {\"type\": \"poisson\", \"offset\": 1, \"slope\": 0.2}, "
    "\"auxdata\": [24], \"factors\": [25]}, "
    "{\"name\": \"tune\", \"constraint\": {\"type\": \"bifurcated\", \"ratio\": 0.6}, \"auxdata\": [0.3], "
    "\"sigmas\": [1.5]}, "
    "{\"name\": \"k\", \"constraint\": {\"type\": \"poisson\"}, \"auxdata\": [90], \"factors\": [88]}" END;

/* The same with correlated measurements. */
static const char correlated_text[] = WORKSPACE
    "], \"correlations\": [{\"name\": \"four\", \"parameters\": [\"tune\", \"lumi\", \"jes\", \"theory\"], "
    "\"correlation\": [[1, 0.3, -0.5, 0.1], [0.3, 1, 0.2, 0], [-0.5, 0.2, 1, 0.6], [0.1, 0, 0.6, 1]]}" END;

static const paritas_template all_templates[] = {
    {PARITAS_TEMPLATE_NOMINAL, "SR", "signal", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "signal", "jes"},
    {PARITAS_TEMPLATE_HISTOSYS_DOWN, "SR", "signal", "jes"},
    {PARITAS_TEMPLATE_NOMINAL, "SR", "top", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "top", "tune"},
    {PARITAS_TEMPLATE_NOMINAL, "CR", "top", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_DOWN, "CR", "top", "tune"},
    {PARITAS_TEMPLATE_NOMINAL, "QR", "qcd", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "QR", "qcd", "jes"},
    {PARITAS_TEMPLATE_NOMINAL, "QR", "signal", NULL},
    {PARITAS_TEMPLATE_NOMINAL, "QS", "qcd", NULL},
    {PARITAS_TEMPLATE_NORMSYS_UP, "SR", "signal", "theory"},
    {PARITAS_TEMPLATE_NORMSYS_UP, "SR", "top", "jes"},
    {PARITAS_TEMPLATE_NORMSYS_DOWN, "SR", "top", "jes"},
    {PARITAS_TEMPLATE_NORMSYS_DOWN, "CR", "top", "theory"},
    {PARITAS_TEMPLATE_NORMSYS_UP, "QR", "qcd", "theory"},
    {PARITAS_TEMPLATE_STATERROR, "SR", "signal", "stat"},
    {PARITAS_TEMPLATE_STATERROR, "SR", "top", "stat"},
    {PARITAS_TEMPLATE_SHAPESYS, "SR", "top", "fake"},
    {PARITAS_TEMPLATE_STATERROR, "CR", "top", "stat_CR"},
    {PARITAS_TEMPLATE_SHAPESYS, "QS", "qcd", "width"},
    {PARITAS_TEMPLATE_NOMINAL, "MR", "signal", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "MR", "top", "jes"},
};

/* A function of one number. */
struct line {
    double (*at)(const struct line *line, double shift);
    const struct fixture *f;
    const double *point, *row, *weights;
    size_t place;
    double *scratch;
};

/* Derivative at 0 by central differences from steps h, h/2, ..., each round taking one more even power of h
 * out. `scatter` receives how far the last rounds agree. */
static double derivative(const struct line *line, double h, double *scatter)
{
    enum { STEPS = 7 };
    double table[STEPS], best = 0.0;
    *scatter = INFINITY;
    for (int k = 0; k < STEPS; k++, h *= 0.5) {
        table[k] = (line->at(line, h) - line->at(line, -h)) / (2.0 * h);
        double power = 4.0;
        for (int j = k - 1; j >= 0; j--, power *= 4.0) {
            const double better = table[j + 1] + (table[j + 1] - table[j]) / (power - 1.0),
                         moved = fabs(better - table[j + 1]);
            table[j] = better;
            if (moved < *scatter) {
                *scatter = moved;
                best = better;
            }
        }
    }
    return best;
}

static const double *moved_row(const struct line *line, double shift)
{
    const size_t n = line->f->n_data + paritas_model_template_count(line->f->model);
    memcpy(line->scratch, line->row, n * sizeof *line->scratch);
    line->scratch[line->place] += shift;
    return line->scratch;
}

static double twice_nll_by_datum(const struct line *line, double shift)
{
    double value;
    ASSERT_OK(line->f->context,
              paritas_evaluate(line->f->context, line->f->model, 1, line->point, 1, moved_row(line, shift),
                               SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    return value;
}

/* The gradient by the parameters, times the direction. */
static double slope_by_datum(const struct line *line, double shift)
{
    const size_t n = line->f->n_parameters;
    double *gradient = make_array(n, sizeof *gradient), sum = 0.0;
    ASSERT_OK(line->f->context,
              paritas_evaluate(line->f->context, line->f->model, 1, line->point, 1, moved_row(line, shift),
                               SIZED(paritas_evaluate_answers, .gradient = gradient)));
    for (size_t p = 0; p < n; p++) sum += line->weights[p] * gradient[p];
    free(gradient);
    return sum;
}

/* The weighted sum of the expected row, by a datum of the row; places behind the row are parameters. */
static double expected_by_place(const struct line *line, double shift)
{
    const size_t row = line->f->n_data + paritas_model_template_count(line->f->model),
                 n = line->f->n_parameters;
    double *point = make_array(n, sizeof *point), *expected = make_array(row, sizeof *expected), sum = 0.0;
    memcpy(point, line->point, n * sizeof *point);
    if (line->place >= row) point[line->place - row] += shift;
    ASSERT_OK(line->f->context,
              paritas_expected_data_of(line->f->context, line->f->model, 1, point,
                                       line->place >= row ? line->row : moved_row(line, shift), expected));
    for (size_t i = 0; i < row; i++) sum += line->weights[i] * expected[i];
    free(point);
    free(expected);
    return sum;
}

/* Fractional disagreement, as counted against a scale. */
static void agree(const char *what, const struct line *line, double answer, double h, double scale,
                  double *worst)
{
    double scatter;
    const double truth = derivative(line, h, &scatter),
                 off = fabs(answer - truth) / (fabs(truth) > scale ? fabs(truth) : scale);
    if (off > *worst) *worst = off;
    if (!(off <= 1e-8))
        fail_msg("%s of %zu: %.17g, by differences %.17g (+- %g)", what, line->place, answer, truth, scatter);
}

static void check(const char *text, const paritas_model_options *given, uint64_t seed, double spread,
                  double worst[3])
{
    paritas_model_options options = *given;
    options.n_templates = COUNT(all_templates);
    options.templates = all_templates;
    struct fixture f = make_fixture(text, NULL, &options);
    const size_t templates = paritas_model_template_count(f.model), row = f.n_data + templates,
                 n = f.n_parameters;
    enum { N = 3 };
    struct random random = {seed};
    double *points = make_array(N * n, sizeof *points), *directions = make_array(N * n, sizeof *directions),
           *rows = make_array(N * row, sizeof *rows);
    double *gradient = make_array(N * row, sizeof *gradient), *along = make_array(N * row, sizeof *along),
           *weights = make_array(N * row, sizeof *weights);
    double *by_points = make_array(N * n, sizeof *by_points),
           *by_templates = make_array(N * templates, sizeof *by_templates),
           *scratch = make_array(row, sizeof *scratch);
    const double *init = paritas_model_suggested_init(f.model),
                 *width = paritas_model_constraint_widths(f.model);
    for (size_t k = 0; k < N; k++) {
        for (size_t p = 0; p < n; p++) {
            points[k * n + p] = init[p] + spread * (width[p] == width[p] ? width[p] : 0.2) *
                                              random_uniform(&random, -1.0, 1.0);
            directions[k * n + p] =
                random_uniform(&random, -1.0, 1.0) * (width[p] == width[p] ? width[p] : 0.5);
        }
        memcpy(rows + k * row, paritas_model_data(f.model), row * sizeof *rows);
        for (size_t i = 0; i < row; i++) {
            weights[k * row + i] = random_uniform(&random, -1.0, 1.0);
            if (k) rows[k * row + i] *= random_uniform(&random, 0.9, 1.1);
        }
    }
    ASSERT_OK(f.context,
              paritas_data_derivatives(f.context, f.model, N, points, rows, directions, gradient, along));
    ASSERT_OK(f.context, paritas_expected_pullback(f.context, f.model, N, points, rows, weights, by_points,
                                                   by_templates));
    for (size_t k = 0; k < N; k++) {
        struct line line = {.f = &f, .point = points + k * n, .row = rows + k * row, .scratch = scratch};
        for (size_t i = 0; i < row; i++) {
            line.place = i;
            double h = 0.05 * fabs(line.row[i]);
            if (i < f.n_main && line.row[i] == 0.0) continue; /* no negative count */
            if (h == 0.0) h = 0.2;
            line.at = twice_nll_by_datum;
            agree("gradient", &line, gradient[k * row + i], h, 1.0, &worst[0]);
            line.at = slope_by_datum;
            line.weights = directions + k * n;
            agree("along", &line, along[k * row + i], h, 1.0, &worst[1]);
            line.at = expected_by_place;
            line.weights = weights + k * row;
            if (i >= f.n_data)
                agree("templates of the expectation", &line, by_templates[k * templates + i - f.n_data], h,
                      1.0, &worst[2]);
        }
        for (size_t p = 0; p < n; p++) {
            line.place = row + p;
            line.at = expected_by_place;
            line.weights = weights + k * row;
            agree("parameters of the expectation", &line, by_points[k * n + p], 0.02, 1.0, &worst[2]);
        }
    }
    free(points);
    free(directions);
    free(rows);
    free(gradient);
    free(along);
    free(weights);
    free(by_points);
    free(by_templates);
    free(scratch);
    free_fixture(&f);
}

TEST(derivatives_are_those_of_the_answers)
{
    double worst[3] = {0.0};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    check(workspace_text, &options, 1, 0.6, worst);
    check(workspace_text, &options, 2, 2.5, worst);
    check(laws_text, &options, 5, 0.8, worst);
    check(correlated_text, &options, 8, 1.5, worst);
    static const char *const factors[] = {"0", "2c", "6", "1", NULL}, *const shifts[] = {"2c", "0", "4p",
                                                                                         NULL};
    char coded[2 * sizeof laws_text];
    put_codes(laws_text, factors, shifts, coded, sizeof coded);
    check(coded, &options, 6, 0.8, worst);
    put_codes(workspace_text, factors + 1, shifts + 1, coded, sizeof coded);
    check(coded, &options, 7, 2.5, worst);
    options.histosys_code = PARITAS_HISTOSYS_CODE_2;
    options.normsys_code = 1;
    check(workspace_text, &options, 3, 0.7, worst);
    options = (paritas_model_options)PARITAS_MODEL_OPTIONS_DEFAULT;
    options.clip_sample = options.clip_bin = 1;
    options.clip_sample_at = 1.7;
    options.clip_bin_at = 40.0;
    check(workspace_text, &options, 4, 0.4, worst);
    printf("largest disagreement: gradient %.2g, along %.2g, expectation %.2g\n", worst[0], worst[1],
           worst[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_the_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
