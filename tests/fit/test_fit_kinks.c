/* Minima at kinks: interpolation codes 0 and 1, whose slopes jump where the parameter is 0. */
#include "fit/fit_testing.h"

#include <math.h>

/* One bin of rate 100 with one alpha. `up`, `down`: rate at +1, -1. */
#define RATE 100.0
enum shape { HISTOSYS_0, HISTOSYS_1, NORMSYS_0, NORMSYS_1, SHAPES };
static const char *const shape_names[] = {"histosys of code 0", "histosys of code 1", "normsys of code 0",
                                          "normsys of code 1"};

static struct fixture one_alpha(enum shape shape, double up, double down, double count)
{
    char modifier[256], text[1024];
    if (shape < NORMSYS_0)
        snprintf(modifier, sizeof modifier,
                 "{'name':'a','type':'histosys','data':{'hi_data':[%.17g],'lo_data':[%.17g],"
                 "'interpcode':'code%d'}}",
                 up, down, shape == HISTOSYS_1);
    else
        snprintf(modifier, sizeof modifier,
                 "{'name':'a','type':'normsys','data':{'hi':%.17g,'lo':%.17g,'interpcode':'code%d'}}",
                 up / RATE, down / RATE, shape == NORMSYS_1);
    snprintf(text, sizeof text,
             "{'version':'1.0.0','channels':[{'name':'c','samples':[{'name':'s','data':[%.17g],"
             "'modifiers':[%s]}]}],'observations':[{'name':'c','data':[%.17g]}],"
             "'measurements':[{'name':'m','config':{'poi':'','parameters':[]}}]}",
             RATE, modifier, count);
    for (char *at = text; *at; at++) *at = *at == '\'' ? '"' : *at;
    return make_fixture(text, NULL, NULL);
}

/* Slope and curvature of the NLL a step off the kink, on the side that reaches `rate` at 1. */
static void side_of(enum shape shape, double rate, double count, double *slope, double *curvature)
{
    const bool exponential = shape == HISTOSYS_1 || shape == NORMSYS_1;
    const double first = exponential ? RATE * log(rate / RATE) : rate - RATE,
                 second = exponential ? RATE * log(rate / RATE) * log(rate / RATE) : 0.0;
    *slope = first * (1.0 - count / RATE);
    *curvature = 1.0 + count * first * first / (RATE * RATE) + second * (1.0 - count / RATE);
}

/* How far from the kink the NLL has risen by 1/2, to second order. */
static double error_of(enum shape shape, double rate, double count)
{
    double slope, curvature;
    side_of(shape, rate, count, &slope, &curvature);
    return 1.0 / (slope + sqrt(slope * slope + curvature));
}

static paritas_fit_result fit_one(const struct fixture *f, paritas_minimizer minimizer, double start,
                                  double *value, double *error, double *variance)
{
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    options.minimizer = minimizer;
    job.start = &start;
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, &options, 1, &job,
                                      SIZED(paritas_fit_answers, .results = &result, .parameters = value,
                                            .errors = error, .covariance = variance)));
    return result;
}

TEST(a_minimum_at_a_kink_is_met_exactly_by_every_minimiser)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        const double up = 120.0, down = 130.0, count = 95.0;
        struct fixture f = one_alpha((enum shape)shape, up, down, count);
        const double expected =
            0.5 * (error_of((enum shape)shape, up, count) + error_of((enum shape)shape, down, count));
        for (int minimizer = 0; minimizer < PARITAS_MINIMIZER_COUNT; minimizer++)
            for (double start = -2.0; start <= 2.0; start += 1.0) {
                double value, error, variance;
                const paritas_fit_result result =
                    fit_one(&f, (paritas_minimizer)minimizer, start, &value, &error, &variance);
                if (result.status != PARITAS_FIT_CONVERGED || value != 0.0)
                    fail_msg("%s from %g by minimiser %d: %s at %g", shape_names[shape], start, minimizer,
                             paritas_fit_status_name(result.status), value);
                ASSERT_CLOSE(error, expected, 1e-12);
                ASSERT_CLOSE(variance, expected * expected, 1e-12);
            }
        free_fixture(&f);
    }
}

/* The rate rises by 1 or 20 per alpha: with more events than that, the minimum is on the steeper side. */
TEST(beside_a_kink_a_fit_ends_where_the_slope_is_0)
{
    for (int shape = 0; shape < SHAPES; shape++)
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            const double count = 110.0;
            struct fixture f =
                one_alpha((enum shape)shape, mirrored ? 99.0 : 120.0, mirrored ? 120.0 : 99.0, count);
            for (double start = -1.0; start <= 1.0; start += 1.0) {
                double value, error, variance, slope;
                const paritas_fit_result result =
                    fit_one(&f, PARITAS_MINIMIZER_NEWTON, start, &value, &error, &variance);
                assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
                ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, &value, 0, NULL,
                                                      SIZED(paritas_evaluate_answers, .gradient = &slope)));
                ASSERT_CLOSE(slope, 0.0, 5e-5); /* an EDM of 1e-10 */
                assert_true(mirrored ? value < -0.3 : value > 0.3);
            }
            free_fixture(&f);
        }
}

/* Data as expected: both sides have slope 0. */
TEST(the_error_of_asimov_data_is_the_mean_of_both_sides)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        struct fixture f = one_alpha((enum shape)shape, 120.0, 70.0, RATE);
        const double expected =
            0.5 * (error_of((enum shape)shape, 120.0, RATE) + error_of((enum shape)shape, 70.0, RATE));
        for (double start = -1.0; start <= 1.0; start += 1.0) {
            double value, error, variance;
            const paritas_fit_result result =
                fit_one(&f, PARITAS_MINIMIZER_NEWTON, start, &value, &error, &variance);
            assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
            assert_true(value == 0.0);
            ASSERT_CLOSE(error, expected, 1e-9);
        }
        free_fixture(&f);
    }
}

/* More events than expected, and more rate on both sides: the kink is a maximum between two minima. */
TEST(from_a_kink_that_is_a_maximum_a_fit_goes_down_the_steeper_side)
{
    struct fixture f = one_alpha(HISTOSYS_0, 110.0, 130.0, 130.0);
    double from_kink, low, high, error, variance;
    assert_int_equal(fit_one(&f, PARITAS_MINIMIZER_NEWTON, 0.0, &from_kink, &error, &variance).status,
                     PARITAS_FIT_CONVERGED);
    const paritas_fit_result below = fit_one(&f, PARITAS_MINIMIZER_NEWTON, -1.0, &low, &error, &variance),
                             above = fit_one(&f, PARITAS_MINIMIZER_NEWTON, 1.0, &high, &error, &variance);
    assert_true(below.status == PARITAS_FIT_CONVERGED && above.status == PARITAS_FIT_CONVERGED);
    assert_true(low < -0.5 && high > 0.5 && below.twice_nll < above.twice_nll);
    ASSERT_CLOSE(from_kink, low, 1e-6);
    free_fixture(&f);
}

/* ---- models of many kinks ---- */

enum { ALPHAS = 6, BINS = 5, MODELS = 60 };

/* mu and ALPHAS alphas, each with a normsys of one sample and a histosys of another; all have kinks. */
static struct fixture many_alphas(uint64_t seed)
{
    struct random random = {seed};
    static const char *const normsys_codes[] = {"code0", "code1"};
    char text[8192];
    size_t at = 0;
#define PUT(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
    double rates[BINS], observed[BINS] = {0};
    PUT("{'version':'1.0.0','channels':[{'name':'c','samples':[");
    for (int sample = 0; sample < 2; sample++) {
        PUT("%s{'name':'s%d','data':[", sample ? "," : "", sample);
        for (int b = 0; b < BINS; b++) {
            rates[b] = random_uniform(&random, 10.0, 60.0);
            observed[b] += rates[b];
            PUT("%s%.6f", b ? "," : "", rates[b]);
        }
        PUT("],'modifiers':[%s", sample ? "" : "{'name':'mu','type':'normfactor','data':null},");
        for (int a = 0; a < ALPHAS; a++) {
            PUT("%s{'name':'a%d','type':", a ? "," : "", a);
            if (sample == a % 2) {
                PUT("'normsys','data':{'hi':%.6f,", random_uniform(&random, 0.85, 1.3));
                PUT("'lo':%.6f,", random_uniform(&random, 0.8, 1.2));
                PUT("'interpcode':'%s'}}", normsys_codes[random_below(&random, 2)]);
                continue;
            }
            for (int side = 0; side < 2; side++) {
                PUT("%s'%s':[", side ? "," : "'histosys','data':{", side ? "lo_data" : "hi_data");
                for (int b = 0; b < BINS; b++)
                    PUT("%s%.6f", b ? "," : "", rates[b] * random_uniform(&random, 0.8, 1.25));
                PUT("]");
            }
            PUT(",'interpcode':'%s'}}", normsys_codes[random_below(&random, 2)]);
        }
        PUT("]}");
    }
    PUT("]}],'observations':[{'name':'c','data':[");
    for (int b = 0; b < BINS; b++)
        PUT("%s%.0f", b ? "," : "", fmax(0.0, observed[b] + sqrt(observed[b]) * random_normal(&random)));
    PUT("]}],'measurements':[{'name':'m','config':{'poi':'mu','parameters':[]}}]}");
#undef PUT
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
    return make_fixture(text, NULL, NULL);
}

static double value_at(const struct fixture *f, const double *point)
{
    double value;
    ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, point, 0, NULL,
                                           SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    return value;
}

/* Every parameter a little up and down, those at kinks too, and all along random directions. */
static void assert_minimum(const struct fixture *f, const double *best, uint64_t seed)
{
    const double lowest = value_at(f, best);
    struct random random = {seed};
    double point[ALPHAS + 1];
    for (int k = 0; k < 40; k++) {
        for (size_t p = 0; p < f->n_parameters; p++) point[p] = best[p] + 1e-4 * random_normal(&random);
        if (value_at(f, point) < lowest - 1e-10)
            fail_msg("model %u: lower by %g beside the answer", (unsigned)seed, lowest - value_at(f, point));
    }
}

TEST(fits_of_models_with_many_kinks_end_at_minima_with_errors)
{
    size_t at_kinks = 0;
    for (uint64_t seed = 0; seed < MODELS; seed++) {
        struct fixture f = many_alphas(seed);
        const paritas_job job = PARITAS_JOB_DEFAULT;
        double best[ALPHAS + 1], errors[ALPHAS + 1], matrix[(ALPHAS + 1) * (ALPHAS + 1)];
        paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
        assert_int_equal(f.n_parameters, ALPHAS + 1);
        ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &job,
                                         SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                               .errors = errors, .covariance = matrix)));
        if (result.status != PARITAS_FIT_CONVERGED || result.iterations > 40)
            fail_msg("model %u: %s after %u iterations", (unsigned)seed,
                     paritas_fit_status_name(result.status), result.iterations);
        assert_minimum(&f, best, seed);
        for (size_t p = 0; p < f.n_parameters; p++) {
            assert_true(errors[p] > 0.0 && errors[p] < 2.0);
            ASSERT_CLOSE(matrix[p * (ALPHAS + 2)], errors[p] * errors[p], 1e-9);
            at_kinks += best[p] == 0.0;
            for (size_t q = 0; q < p; q++)
                assert_true(fabs(matrix[p * (ALPHAS + 1) + q]) < errors[p] * errors[q]);
        }
        free_fixture(&f);
    }
    print_message("%zu parameters at kinks\n", at_kinks);
    assert_true(at_kinks > MODELS / 2);
}

TEST(a_fit_at_kinks_has_the_same_bits_alone_and_among_others)
{
    enum { JOBS = 37 };
    struct fixture f = many_alphas(3);
    double *data = make_array(JOBS * f.n_data, sizeof *data);
    double ends[JOBS][ALPHAS + 1], alone[ALPHAS + 1];
    paritas_job jobs[JOBS];
    paritas_fit_result results[JOBS], one = PARITAS_INIT(paritas_fit_result);
    struct random random = {11};
    for (size_t k = 0; k < JOBS; k++) {
        for (size_t i = 0; i < f.n_data; i++) {
            const double n = paritas_model_data(f.model)[i];
            data[k * f.n_data + i] =
                i < f.n_main ? floor(n + sqrt(n) * random_uniform(&random, -1.0, 1.0)) : n;
        }
        jobs[k] = (paritas_job)PARITAS_JOB_DEFAULT;
        jobs[k].data = data + k * f.n_data;
        results[k] = one;
    }
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, JOBS, jobs,
                                     SIZED(paritas_fit_answers, .results = results, .parameters = ends[0])));
    for (size_t k = 0; k < JOBS; k++) {
        ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &jobs[k],
                                         SIZED(paritas_fit_answers, .results = &one, .parameters = alone)));
        assert_int_equal(one.status, PARITAS_FIT_CONVERGED);
        assert_memory_equal(&one, &results[k], sizeof one);
        assert_memory_equal(alone, ends[k], sizeof alone);
    }
    free(data);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minimum_at_a_kink_is_met_exactly_by_every_minimiser),
        cmocka_unit_test(beside_a_kink_a_fit_ends_where_the_slope_is_0),
        cmocka_unit_test(the_error_of_asimov_data_is_the_mean_of_both_sides),
        cmocka_unit_test(from_a_kink_that_is_a_maximum_a_fit_goes_down_the_steeper_side),
        cmocka_unit_test(fits_of_models_with_many_kinks_end_at_minima_with_errors),
        cmocka_unit_test(a_fit_at_kinks_has_the_same_bits_alone_and_among_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
