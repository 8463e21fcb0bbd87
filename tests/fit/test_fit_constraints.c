/* Constraints beyond pyhf's: toys draw auxiliary data from each law, Asimov data have their expectation, fits
 * find minima of closed form. */
#include "draws.h"
#include "fit/fit_testing.h"
#include "statistics.h"

/* One bin of next to no rate; each parameter has another law. */
static const char text[] =
    "{\"channels\": [{\"name\": \"a\", \"samples\": [{\"name\": \"s\", \"data\": [1e-6], \"modifiers\": ["
    "{\"name\": \"gamma\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"log\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"wide\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"two\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"count\", \"type\": \"normfactor\", \"data\": null}]}, "
    "{\"name\": \"t\", \"data\": [1e-6], \"modifiers\": ["
    "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [1e-7]}]}]}], "
    "\"observations\": [{\"name\": \"a\", \"data\": [0]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"count\", \"parameters\": ["
    "{\"name\": \"gamma\", \"constraint\": {\"type\": \"poisson\", \"offset\": 1, \"slope\": 0.3}, "
    "\"auxdata\": [10], \"factors\": [11]}, "
    "{\"name\": \"log\", \"constraint\": {\"type\": \"lognormal\", \"offset\": 1, \"slope\": 0.3}, "
    "\"auxdata\": [0.1], \"sigmas\": [0.26]}, "
    "{\"name\": \"wide\", \"constraint\": {\"type\": \"gaussian\"}, \"auxdata\": [0.5], \"sigmas\": [2]}, "
    "{\"name\": \"two\", \"constraint\": {\"type\": \"bifurcated\", \"offset\": 1, \"slope\": 2, \"ratio\": "
    "4}, "
    "\"auxdata\": [2], \"sigmas\": [0.5]}, "
    "{\"name\": \"count\", \"constraint\": {\"type\": \"poisson\"}, \"auxdata\": [4], \"factors\": [5]}, "
    "{\"name\": \"stat\", \"constraint\": {\"type\": \"poisson\"}}]}}], \"version\": \"1.0.0\"}";

enum { GAMMA, LOG, WIDE, TWO, NORM, STAT, LAWS };
static const char *const names[LAWS] = {"gamma", "log", "wide", "two", "count", "stat[0]"};

/* Place among the auxiliary data, which have the parameters' order: here all are constrained. */
static size_t place(const struct fixture *f, int law)
{
    for (size_t p = 0; p < f->n_parameters; p++)
        if (!strcmp(paritas_model_parameter_name(f->model, p), names[law])) return p;
    fail_msg("no parameter %s", names[law]);
    return 0;
}

static void at_point(const struct fixture *f, double *point)
{
    static const double values[LAWS] = {0.7, -0.5, 1.5, 0.1, 1.2, 1.05};
    for (int law = 0; law < LAWS; law++) point[place(f, law)] = values[law];
}

static const double expectations[LAWS] = {11.0 * 1.21, -0.16251892949777494, 1.5, 1.2, 6.0, 105.0};
static const double normal_widths[LAWS] = {0.0, 0.26, 2.0, 0.5, 0.0, 0.0};
static const double ratios[LAWS] = {[LOG] = 1.0, [WIDE] = 1.0, [TWO] = 4.0}; /* of widths below and above */

TEST(expected_auxiliary_data_follow_the_laws)
{
    struct fixture f = make_fixture(text, NULL, NULL);
    double *point = make_array(f.n_parameters, sizeof *point),
           *expected = make_array(f.n_data, sizeof *point);
    assert_int_equal(f.n_parameters, LAWS);
    assert_int_equal(f.n_data - f.n_main, LAWS);
    at_point(&f, point);
    ASSERT_OK(f.context, paritas_expected_data(f.context, f.model, 1, point, expected));
    for (int law = 0; law < LAWS; law++)
        ASSERT_CLOSE(expected[f.n_main + place(&f, law)], expectations[law], 1e-13 * fabs(expectations[law]));
    free(point);
    free(expected);
    free_fixture(&f);
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The part of normal data that lies below `datum`. Below the expectation their width is `ratio` times that
 * above. */
static double part_below(double datum, double expected, double width, double ratio)
{
    const double below = 2.0 * ratio / (1.0 + ratio);
    if (datum <= expected) return below * 0.5 * erfc((expected - datum) / (ratio * width * sqrt(2.0)));
    return 1.0 - (2.0 - below) * 0.5 * erfc((datum - expected) / (width * sqrt(2.0)));
}

/* Kolmogorov's distance of normal data, or chi^2 of counts. */
static double p_value(double *data, size_t n, double expected, double width, double ratio)
{
    enum { CELLS = 400 };
    if (width > 0.0) {
        double distance = 0.0;
        qsort(data, n, sizeof *data, ascending);
        for (size_t i = 0; i < n; i++) {
            const double cdf = part_below(data[i], expected, width, ratio);
            distance = fmax(distance, fmax(fabs(cdf - (double)i / n), fabs(cdf - (i + 1.0) / n)));
        }
        const double x = distance * sqrt((double)n);
        double tail = 0.0;
        for (int k = 1; k < 100; k++) tail += 2.0 * (k % 2 ? 1.0 : -1.0) * exp(-2.0 * k * k * x * x);
        return x < 0.2 ? 1.0 : tail;
    }
    double counts[CELLS] = {0.0}, probabilities[CELLS], seen = 0.0, left = 1.0;
    size_t cells = 0;
    for (unsigned k = 0; k + 1 < CELLS; k++) {
        const double p = exp(k * log(expected) - expected - lgamma(k + 1.0));
        if (p * n < 20.0 && k < expected) continue;
        if (p * n < 20.0) break;
        for (size_t i = 0; i < n; i++) counts[cells] += data[i] == k;
        seen += counts[cells];
        left -= probabilities[cells++] = p;
    }
    counts[cells] = n - seen;
    probabilities[cells++] = left;
    return cells_p_value(counts, probabilities, cells);
}

TEST(toys_draw_auxiliary_data_from_each_law)
{
    enum { TOYS = 20000 / SHARE };
    struct fixture f = make_fixture(text, NULL, NULL);
    double *point = make_array(f.n_parameters, sizeof *point),
           *expected = make_array(f.n_data, sizeof *point), *data = make_array(TOYS * f.n_data, sizeof *data),
           *own = make_array(TOYS, sizeof *own);
    at_point(&f, point);
    ASSERT_OK(f.context, paritas_expected_data(f.context, f.model, 1, point, expected));
    ASSERT_OK(f.context,
              draw_toys(f.context, f.model, &(struct draws){.seed = 7}, expected, f.n_data, TOYS, data));
    for (int law = 0; law < LAWS; law++) {
        for (size_t r = 0; r < TOYS; r++) own[r] = data[r * f.n_data + f.n_main + place(&f, law)];
        const double p = p_value(own, TOYS, expectations[law], normal_widths[law], ratios[law]);
        print_message("%s: p = %.3f\n", names[law], p);
        assert_true(p > 1e-4);
    }
    free(point);
    free(expected);
    free(data);
    free(own);
    free_fixture(&f);
}

/* With rates of next to nothing, each parameter sits where its datum is expected, with its law's width. A
 * law of two has that below, since rates rise with the parameter. */
TEST(a_fit_without_data_inverts_the_laws)
{
    static const double centres[LAWS] = {(10.0 / 11.0 - 1.0) / 0.3, 0.35056972691882565, 0.5, 0.5, 0.8, 1.0},
                        widths[LAWS] = {0.9582660, 0.9578148, 2.0, 0.5, 0.4, 0.1},
                        lower[LAWS] = {[TWO] = 0.25};
    struct fixture f = make_fixture(text, NULL, NULL);
    double best[LAWS], errors[LAWS], zeros[LAWS];
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f.context, paritas_constraint_centres(f.context, f.model, NULL, zeros));
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                           .errors = errors)));
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    for (int law = 0; law < LAWS; law++) {
        const size_t p = place(&f, law);
        ASSERT_CLOSE(zeros[p], centres[law], 1e-14);
        ASSERT_CLOSE(best[p], centres[law], 2e-6);
        ASSERT_CLOSE(errors[p], lower[law] > 0.0 ? lower[law] : widths[law], 2e-6);
        ASSERT_CLOSE(paritas_model_constraint_widths(f.model)[p], widths[law], 1e-6);
    }
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_auxiliary_data_follow_the_laws),
        cmocka_unit_test(toys_draw_auxiliary_data_from_each_law),
        cmocka_unit_test(a_fit_without_data_inverts_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
