/* f32: polished answers are those of f64, within the tolerances of the contract; raw ones say of themselves
 * what is true. Generated workspaces, and the published analyses where they are. */
#include "fit/fit_testing.h"
#include "minima/conditional_fits.h"
#include "minimise/fit_tolerances.h"

#include <math.h>

struct answer {
    paritas_fit_result result;
    double *parameters, *errors;
};

static paritas_context *open_precision(unsigned precision, int no_polish)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.precision = precision;
    options.no_polish = no_polish;
    options.threads = 1;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    return context;
}

static struct answer fit_in(const struct fixture *f, unsigned precision, int no_polish,
                            const paritas_job *job)
{
    struct answer a = {.result = PARITAS_INIT(paritas_fit_result),
                       .parameters = make_array(f->n_parameters, sizeof(double)),
                       .errors = make_array(f->n_parameters, sizeof(double))};
    paritas_context *context = open_precision(precision, no_polish);
    const paritas_job none = PARITAS_JOB_DEFAULT;
    ASSERT_OK(context, paritas_fit(context, f->model, NULL, 1, job ? job : &none,
                                   SIZED(paritas_fit_answers, .results = &a.result,
                                         .parameters = a.parameters, .errors = a.errors)));
    paritas_close(context);
    return a;
}

static void free_answer(struct answer *a)
{
    free(a->parameters);
    free(a->errors);
}

/* The minimum near the f64 fit, as closely as numbers allow; freed by the caller. */
static double *exact_minimum(const struct fixture *f, const paritas_job *job)
{
    struct infer infer;
    struct infer_profile best;
    double *minimum = make_array(f->n_parameters, sizeof *minimum);
    assert_int_equal(infer_open(&infer, f->context, f->model, job, false), PARITAS_OK);
    best = (struct infer_profile){.data = infer.base.data};
    ASSERT_OK(f->context, infer_free_fit(&infer, &best));
    struct infer_point point = {.profile = &best, .parameters = best.parameters};
    ASSERT_OK(f->context, infer_polish(&infer, &point));
    memcpy(minimum, point.parameters, f->n_parameters * sizeof *minimum);
    infer_close(&infer);
    return minimum;
}

/* Returns whether there was something to compare: f64 has an answer, in the same valley. */
static bool assert_polished(const struct fixture *f, const char *name, const paritas_job *job, bool alone)
{
    struct answer exact = fit_in(f, 64, 0, job), polished = fit_in(f, 32, 0, job);
    bool compared = false;
    if (exact.result.status == PARITAS_FIT_CONVERGED) {
        const double rise = 0.5 * (polished.result.twice_nll - exact.result.twice_nll);
        if (polished.result.status != PARITAS_FIT_CONVERGED)
            fail_msg("%s: f64 converged, polished f32 is %s", name,
                     paritas_fit_status_name(polished.result.status));
        if (alone || fabs(rise) <= 1e-4) { /* else these are two minima, of which either may be the lower */
            double *minimum = exact_minimum(f, job);
            if (!(fabs(rise) <= POLISHED_NLL))
                fail_msg("%s: the NLL of the polished fit is %g above that of f64", name, rise);
            for (size_t p = 0; p < f->n_parameters; p++) {
                const double shift = fabs(polished.parameters[p] - minimum[p]);
                if (exact.errors[p] > 0.0 && !(shift <= POLISHED_PARAMETER * exact.errors[p]))
                    fail_msg("%s: %s is %g errors from the minimum", name,
                             paritas_model_parameter_name(f->model, p), shift / exact.errors[p]);
                if (exact.errors[p] > 0.0 && alone &&
                    !(fabs(polished.errors[p] / exact.errors[p] - 1.0) <= POLISHED_ERROR))
                    fail_msg("%s: the error of %s is %.17g, in f64 %.17g", name,
                             paritas_model_parameter_name(f->model, p), polished.errors[p], exact.errors[p]);
            }
            free(minimum);
            compared = true;
        }
    }
    free_answer(&exact);
    free_answer(&polished);
    return compared;
}

TEST(a_polished_fit_is_at_the_minimum_of_f64_for_random_models)
{
    size_t compared = 0;
    for (uint64_t seed = 0; seed < 60 / SHARE; seed++) {
        char *text = random_workspace(seed, seed % 2 ? TRAIT_ALL & ~(unsigned)TRAIT_FREE_SHAPE
                                                     : TRAIT_WIDE | TRAIT_LUMI | TRAIT_SETS),
             name[32];
        assert_non_null(text);
        snprintf(name, sizeof name, "workspace %d", (int)seed);
        struct fixture f = make_fixture(text, NULL, NULL);
        compared += assert_polished(&f, name, NULL, false);
        free_fixture(&f);
        free(text);
    }
    assert_true(compared >= 50 / SHARE);
}

TEST(a_polished_fit_is_at_the_minimum_of_f64_for_published_analyses)
{
    size_t compared = 0;
    for (size_t k = 0; k < n_published; k += SHARE) {
        struct fixture f;
        if (!make_published(&published[k], NULL, &f)) continue;
        assert_true(assert_polished(&f, published[k].name, NULL, true));
        compared++;
        free_fixture(&f);
    }
    if (compared == 0) skip_because(PUBLISHED_ABSENT);
}

static const char counting[] =
    "{\"channels\": [{\"name\": \"c\", \"samples\": [{\"name\": \"s\", \"data\": [5.0, 3.0], \"modifiers\": "
    "[{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": "
    "null}]}, {\"name\": \"b\", \"data\": [50.0, 30.0], \"modifiers\": [{\"name\": \"k\", \"type\": "
    "\"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}]}]}], "
    "\"observations\": [{\"name\": \"c\", \"data\": [53.0, 35.0]}], \"measurements\": [{\"name\": \"m\", "
    "\"config\": {\"poi\": \"mu\", \"parameters\": []}}], "
    "\"version\": \"1.0.0\"}";

/* 0.1 is no float, nor is 1e-10; a result that has them has them exactly. */
TEST(fixed_values_and_bounds_are_the_jobs_own_in_f32)
{
    struct fixture f = make_fixture(counting, NULL, NULL);
    size_t mu, k;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "k", &k));
    for (int no_polish = 0; no_polish < 2; no_polish++) {
        double start[2] = {0.0}, lower[2], upper[2];
        unsigned char fixed[2] = {0};
        memcpy(lower, paritas_model_lower_bounds(f.model), sizeof lower);
        memcpy(upper, paritas_model_upper_bounds(f.model), sizeof upper);
        start[mu] = 0.1;
        fixed[mu] = 1;
        const paritas_job held = {.size = sizeof(paritas_job), .start = start, .fixed = fixed};
        struct answer a = fit_in(&f, 32, no_polish, &held);
        assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
        assert_true(a.parameters[mu] == 0.1);
        free_answer(&a);
        upper[k] = -0.3; /* below the best value, so the fit ends there */
        start[k] = -0.7;
        fixed[mu] = 0;
        const paritas_job bounded = {
            .size = sizeof(paritas_job), .start = start, .fixed = fixed, .lower = lower, .upper = upper};
        a = fit_in(&f, 32, no_polish, &bounded);
        assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
        assert_true(a.parameters[k] == -0.3);
        assert_true(isnan(a.errors[k]));
        free_answer(&a);
    }
    free_fixture(&f);
}

/* What a raw fit says of itself: its EDM is that of f64's derivatives at its point, and bounds how far the
 * minimum is. */
TEST(a_raw_fit_says_converged_only_within_what_f32_asks)
{
    size_t converged = 0;
    for (uint64_t seed = 100; seed < 130; seed++) {
        char *text = random_workspace(seed, TRAIT_WIDE | TRAIT_LUMI);
        assert_non_null(text);
        struct fixture f = make_fixture(text, NULL, NULL);
        struct answer exact = fit_in(&f, 64, 0, NULL), raw = fit_in(&f, 32, 1, NULL);
        if (raw.result.status == PARITAS_FIT_CONVERGED && exact.result.status == PARITAS_FIT_CONVERGED) {
            assert_true(raw.result.edm <= EDM_TOLERANCE_F32);
            converged++;
            for (size_t p = 0; p < f.n_parameters; p++)
                if (exact.errors[p] > 0.0)
                    assert_true(fabs(raw.parameters[p] - exact.parameters[p]) <=
                                2.0 * sqrt(EDM_TOLERANCE_F32) * exact.errors[p]);
        }
        free_answer(&exact);
        free_answer(&raw);
        free_fixture(&f);
        free(text);
    }
    assert_true(converged >= 25);
}

/* A rate of 1e-42 counts as zero in f32: the start is outside the domain there, and all is f64's. */
TEST(what_f32_cannot_begin_f64_does)
{
    char text[sizeof counting + 64];
    snprintf(text, sizeof text, "%s", counting);
    memcpy(strstr(text, "50.0, 30.0"), "1e-42,30.0", 10);
    memcpy(strstr(text, "5.0, 3.0"), "0.0, 3.0", 8);
    struct fixture f = make_fixture(text, NULL, NULL);
    struct answer exact = fit_in(&f, 64, 0, NULL), raw = fit_in(&f, 32, 1, NULL),
                  polished = fit_in(&f, 32, 0, NULL);
    assert_int_equal(raw.result.status, PARITAS_FIT_NON_FINITE);
    assert_int_equal(polished.result.status, exact.result.status);
    assert_true(memcmp(polished.parameters, exact.parameters, f.n_parameters * sizeof *exact.parameters) ==
                0);
    free_answer(&exact);
    free_answer(&raw);
    free_answer(&polished);
    free_fixture(&f);
}

TEST(precision_auto_is_f64_on_the_cpu)
{
    paritas_context *context = open_precision(PARITAS_PRECISION_AUTO, 0);
    assert_string_equal(paritas_precision_name(context), "f64");
    assert_string_equal(paritas_polish_name(context), "none");
    paritas_close(context);
    context = open_precision(32, 0);
    assert_string_equal(paritas_precision_name(context), "f32");
    assert_string_equal(paritas_polish_name(context), "f64");
    paritas_close(context);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = 16;
    assert_int_equal(paritas_open(&options, &context), PARITAS_INVALID_ARGUMENT);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_polished_fit_is_at_the_minimum_of_f64_for_random_models),
        cmocka_unit_test(a_polished_fit_is_at_the_minimum_of_f64_for_published_analyses),
        cmocka_unit_test(fixed_values_and_bounds_are_the_jobs_own_in_f32),
        cmocka_unit_test(a_raw_fit_says_converged_only_within_what_f32_asks),
        cmocka_unit_test(what_f32_cannot_begin_f64_does),
        cmocka_unit_test(precision_auto_is_f64_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
