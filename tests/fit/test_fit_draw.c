/* Drawn data: what is drawn around expected data has their means and variances, and is a function of seed,
 * purpose and toy alone. */
#include "draws.h"
#include "fit/fit_testing.h"
#include "statistics.h"

/* Channel A: 3 bins, rates on both sides of 10, Poisson constraints; channel B: 10 bins, a panel and a part
 * of one, Gaussian constraints; a luminosity and a correlated scale. */
static const char text[] =
    "{\"channels\": ["
    "{\"name\": \"A\", \"samples\": ["
    "{\"name\": \"signal\", \"data\": [3.5, 2.0, 0.25], \"modifiers\": ["
    "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"lumi\", \"type\": \"lumi\", "
    "\"data\": null}]}, "
    "{\"name\": \"background\", \"data\": [97.5, 5.5, 0.5], \"modifiers\": ["
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}, "
    "{\"name\": \"unc\", \"type\": \"shapesys\", \"data\": [9.0, 2.5, 0.0]}]}]}, "
    "{\"name\": \"B\", \"samples\": ["
    "{\"name\": \"background\", \"data\": [1e6, 2000.0, 300.0, 80.0, 40.0, 20.0, 10.0, 5.0, 1.0, 1e-4], "
    "\"modifiers\": ["
    "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [1e4, 40.0, 9.0, 4.0, 3.0, 2.0, 1.0, 0.8, 0.3, "
    "1e-5]}]}]}], "
    "\"observations\": [{\"name\": \"A\", \"data\": [100, 8, 1]}, "
    "{\"name\": \"B\", \"data\": [1000000, 2010, 290, 85, 44, 18, 11, 4, 2, 0]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": ["
    "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], \"sigmas\": "
    "[0.017]}]}}], "
    "\"version\": \"1.0.0\"}";

static struct fixture open_with(const char *isa, unsigned lanes, unsigned threads, unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.lanes = lanes;
    options.threads = threads;
    options.precision = precision;
    return make_fixture(text, &options, NULL);
}

/* Does this build have that instruction set, and the processor? */
static int runs(const char *isa, unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.precision = precision;
    paritas_context *context = open_if_built(options);
    paritas_close(context);
    return context != NULL;
}

/* Expected data away from the nominal ones: constrained parameters off their centres, so that auxiliary
 * expectations differ. */
static double *expected_of(const struct fixture *f)
{
    double *point = make_array(f->n_parameters, sizeof *point),
           *expected = make_array(f->n_data, sizeof *expected);
    for (size_t p = 0; p < f->n_parameters; p++)
        point[p] = paritas_model_suggested_init(f->model)[p] + 0.01 * (double)(p % 5);
    ASSERT_OK(f->context, paritas_expected_data(f->context, f->model, 1, point, expected));
    free(point);
    return expected;
}

static double *draw(const struct fixture *f, const struct draws *draws, size_t n)
{
    double *expected = expected_of(f), *data = make_array(n * f->n_data, sizeof *data);
    ASSERT_OK(f->context, draw_toys(f->context, f->model, draws, expected, f->n_data, n, data));
    free(expected);
    return data;
}

/* The variance of datum i: that of a count, or the width of its parameter's constraint squared. */
static double variance_of(const struct fixture *f, size_t i, double expected)
{
    const struct frozen *frozen = paritas_model_frozen(f->model);
    if (i < f->n_main) return expected;
    for (size_t p = 0; p < f->n_parameters; p++) {
        if (frozen->slot_of[p] + (frozen->n_places - frozen->n_slots) != frozen->place_of[i]) continue;
        const double width = paritas_model_constraint_widths(f->model)[p];
        return strncmp(paritas_model_parameter_name(f->model, p), "unc", 3) == 0 ? expected : width * width;
    }
    fail_msg("datum %zu has no parameter", i);
    return 0.0;
}

TEST(drawn_data_have_the_means_and_variances_of_their_distributions)
{
    enum { TOYS = 30000 / SHARE };
    struct fixture f = open_with(NULL, 0, 1, 64);
    double *data = draw(&f, &(struct draws){.seed = 11, .purpose = 1}, TOYS), *expected = expected_of(&f);
    size_t poisson = 0;
    for (size_t i = 0; i < f.n_data; i++) {
        const double variance = variance_of(&f, i, expected[i]);
        const int count = variance == expected[i];
        double mean = 0.0, square = 0.0, whole = 0.0;
        for (size_t r = 0; r < TOYS; r++) {
            const double x = data[r * f.n_data + i];
            mean += (x - expected[i]) / TOYS;
            square += (x - expected[i]) * (x - expected[i]) / TOYS;
            whole += x == floor(x) && x >= 0.0;
        }
        ASSERT_CLOSE(mean, 0.0, 5.0 * sqrt(variance / TOYS));
        /* fourth moment: 3 sigma^4, of counts and the mean more */
        ASSERT_CLOSE(square, variance,
                     5.0 * sqrt((2.0 * variance * variance + (count ? variance : 0.0)) / TOYS));
        assert_true(count ? whole == TOYS : whole < TOYS / 10);
        poisson += i >= f.n_main && count;
    }
    assert_int_equal(poisson, 3);
    assert_int_equal(f.n_data - f.n_main, 2 + 10 + 3);
    free(data);
    free(expected);
    free_fixture(&f);
}

/* All pairs of data of a toy, of neighbouring toys, and of the same toy under another purpose or seed. */
TEST(drawn_data_are_independent)
{
    enum { TOYS = 20000 / SHARE };
    struct fixture f = open_with(NULL, 0, 1, 64);
    const size_t n = f.n_data;
    double *expected = expected_of(&f), *x = draw(&f, &(struct draws){.seed = 5}, TOYS), *others[3];
    others[0] = x;
    others[1] = draw(&f, &(struct draws){.seed = 5, .purpose = 1}, TOYS);
    others[2] = draw(&f, &(struct draws){.seed = 6}, TOYS);
    for (size_t k = 0; k < 3; k++) {
        const double *y = others[k];
        double chi2 = 0.0, pairs = 0.0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                for (size_t shift = 0; shift < 2; shift++) {
                    if ((k == 0 && shift == 0 && j <= i) || fmin(expected[i], expected[j]) < 0.01) continue;
                    double sum = 0.0;
                    for (size_t r = 0; r + shift < TOYS; r++)
                        sum += (x[r * n + i] - expected[i]) * (y[(r + shift) * n + j] - expected[j]);
                    const double z =
                        sum / sqrt(TOYS * variance_of(&f, i, expected[i]) * variance_of(&f, j, expected[j]));
                    assert_true(fabs(z) < 6.0);
                    chi2 += z * z;
                    pairs++;
                }
        const double p = chi_square_tail(chi2, pairs);
        print_message("%g pairs: p = %.3f\n", pairs, p);
        assert_true(p > 1e-6);
    }
    for (size_t k = 0; k < 3; k++) free(others[k]);
    free(expected);
    free_fixture(&f);
}

TEST(a_toy_is_the_same_in_every_build_width_thread_and_batch)
{
    enum { TOYS = 205 };
    static const char *const builds[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const unsigned lanes[] = {0, 1, 2, 4, 8};
    const struct draws all = {.first_toy = 0xffffffff - 100, .seed = 0x123456789abcdef, .purpose = 3};
    struct fixture f = open_with("portable", 1, 1, 64);
    double *reference = draw(&f, &all, TOYS), *expected = expected_of(&f);
    free_fixture(&f);
    size_t compared = 0;
    for (size_t b = 0; b < COUNT(builds); b++)
        for (size_t w = 0; w < COUNT(lanes) && runs(builds[b], 64); w++) {
            f = open_with(builds[b], lanes[w], 1 + w % 2, 64);
            double *data = make_array(TOYS * f.n_data, sizeof *data);
            for (size_t batch = 1; batch <= 300; batch = batch * 7 + 2) {
                memset(data, 0, TOYS * f.n_data * sizeof *data);
                for (size_t r = 0; r < TOYS; r += batch) {
                    struct draws part = all;
                    part.first_toy += r;
                    const size_t n = TOYS - r < batch ? TOYS - r : batch;
                    ASSERT_OK(f.context, draw_toys(f.context, f.model, &part, expected, f.n_data, n,
                                                   data + r * f.n_data));
                }
                assert_memory_equal(data, reference, TOYS * f.n_data * sizeof *data);
                compared++;
            }
            free(data);
            free_fixture(&f);
        }
    print_message("%zu batches of %d toys compared\n", compared, TOYS);
    free(reference);
    free(expected);
}

TEST(what_is_not_drawn_stays_as_it_was_given)
{
    struct fixture f = open_with(NULL, 0, 1, 64);
    const size_t toys = 50, n = f.n_data;
    const struct draws free_aux = {.seed = 3}, fixed_aux = {.seed = 3, .fixed_aux = 1};
    double *expected = expected_of(&f), *loose = draw(&f, &free_aux, toys),
           *fixed = draw(&f, &fixed_aux, toys);
    double *some = make_array(toys * n, sizeof *some);
    ASSERT_OK(f.context, draw_toys(f.context, f.model, &free_aux, expected, 5, toys, some));
    for (size_t r = 0; r < toys; r++) {
        assert_memory_equal(fixed + r * n, loose + r * n, f.n_main * sizeof *fixed);
        assert_memory_equal(fixed + r * n + f.n_main, expected + f.n_main, (n - f.n_main) * sizeof *fixed);
        assert_memory_equal(some + r * n, loose + r * n, 5 * sizeof *some);
        assert_memory_equal(some + r * n + 5, expected + 5, (n - 5) * sizeof *some);
        assert_true(memcmp(loose + r * n + f.n_main, expected + f.n_main, (n - f.n_main) * sizeof *loose) !=
                    0);
    }
    free(expected);
    free(loose);
    free(fixed);
    free(some);
    free_fixture(&f);
}

TEST(single_precision_answers_the_expected_data)
{
    if (!runs(NULL, 32)) skip_absent();
    struct fixture f = open_with(NULL, 0, 1, 32);
    double *expected = expected_of(&f), *data = draw(&f, &(struct draws){.seed = 3}, 20);
    for (size_t i = 0; i < 20 * f.n_data; i++) assert_true(data[i] == (double)(float)expected[i % f.n_data]);
    free(expected);
    free(data);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_data_have_the_means_and_variances_of_their_distributions),
        cmocka_unit_test(drawn_data_are_independent),
        cmocka_unit_test(a_toy_is_the_same_in_every_build_width_thread_and_batch),
        cmocka_unit_test(what_is_not_drawn_stays_as_it_was_given),
        cmocka_unit_test(single_precision_answers_the_expected_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
