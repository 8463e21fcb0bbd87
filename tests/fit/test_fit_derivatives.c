/* Values, gradients, Hessians and Jacobians against exact differentiation of a plain reference
 * (reference.h). */
#define _POSIX_C_SOURCE 200809L
#include "fit/fit_testing.h"
#include "fit/fit_reference.h"

/* The largest disagreements so far, printed by the tests. */
struct worst {
    double value, gradient, hessian, jacobian;
    size_t points, outside;
};

static void raise(double *worst, double candidate)
{
    if (candidate > *worst || isnan(candidate)) *worst = candidate;
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* Compares everything at one point. `rows`: at most so many rows of the Hessian, evenly spread. */
static void compare_at(const struct fixture *f, const struct reference *reference, const double *point,
                       const double *data, size_t rows, struct worst *worst)
{
    const size_t n = f->n_parameters;
    if (SHARE > 2 && rows > 4) rows = 4;
    double value, *gradient = make_array(n, sizeof *gradient), *hessian = make_array(n * n, sizeof *hessian);
    double *jacobian = make_array(f->n_main * n, sizeof *jacobian);
    struct jet *rates = make_array(f->n_main, sizeof *rates);
    ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, point, 1, data,
                                           SIZED(paritas_evaluate_answers, .twice_nll = &value,
                                                 .gradient = gradient, .hessian = hessian)));
    ASSERT_OK(f->context, paritas_expected_jacobian(f->context, f->model, point, jacobian));
    double alone;
    ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, point, 1, data,
                                           SIZED(paritas_evaluate_answers, .twice_nll = &alone)));
    assert_memory_equal(&alone, &value, sizeof value);
    worst->points++;
    const struct jet at = reference_twice_nll(reference, point, data, 0, 0, rates);
    if (isnan(at.v)) {
        worst->outside++;
        assert_true(isnan(value));
        for (size_t i = 0; i < n; i++) assert_true(isnan(gradient[i]) && isnan(hessian[i * n + i]));
    } else {
        raise(&worst->value, fabs(value - at.v) / largest(1.0, fabs(at.v)));
        /* curvatures first: they scale the rest */
        double *curvature = make_array(n, sizeof *curvature);
        for (size_t i = 0; i < n; i++) {
            const struct jet own = reference_twice_nll(reference, point, data, i, i, rates);
            curvature[i] = fabs(own.ab[0]);
            raise(&worst->gradient,
                  fabs(gradient[i] - own.a) / largest(largest(1.0, fabs(own.a)), sqrt(curvature[i])));
            for (size_t b = 0; b < f->n_main; b++)
                raise(&worst->jacobian, fabs(jacobian[b * n + i] - rates[b].a) /
                                            largest(largest(1.0, fabs(rates[b].v)), fabs(rates[b].a)));
        }
        const size_t step = n > rows ? n / rows : 1;
        for (size_t i = 0; i < n; i += step)
            for (size_t j = 0; j < n; j += REFERENCE_WIDTH) {
                const struct jet both = reference_twice_nll(reference, point, data, i, j, rates);
                for (size_t k = 0; k < REFERENCE_WIDTH && j + k < n; k++) {
                    const double scale =
                        largest(largest(1.0, fabs(both.ab[k])), sqrt(curvature[i] * curvature[j + k]));
                    raise(&worst->hessian, fabs(hessian[i * n + j + k] - both.ab[k]) / scale);
                    assert_memory_equal(&hessian[i * n + j + k], &hessian[(j + k) * n + i], sizeof *hessian);
                }
            }
        free(curvature);
    }
    free(gradient);
    free(hessian);
    free(jacobian);
    free(rates);
}

static struct reference make_reference(const struct fixture *f, const paritas_model_options *options)
{
    const paritas_model_options none = PARITAS_MODEL_OPTIONS_DEFAULT;
    if (!options) options = &none;
    struct hf_spec *spec;
    ASSERT_OK(f->context, hf_spec_read(f->context, f->workspace, options->measurement, options->poi, &spec));
    struct reference reference = {.spec = spec,
                                  .normsys_code = options->normsys_code ? options->normsys_code : 4,
                                  .histosys_code = options->histosys_code ? options->histosys_code
                                                                          : PARITAS_HISTOSYS_CODE_4P,
                                  .clip_sample = options->clip_sample != 0,
                                  .clip_bin = options->clip_bin != 0,
                                  .clip_sample_at = options->clip_sample_at,
                                  .clip_bin_at = options->clip_bin_at};
    if (!reference_open(&reference)) fail_msg("no memory");
    return reference;
}

static void free_reference(struct reference *reference)
{
    reference_close(reference);
    hf_spec_free((struct hf_spec *)reference->spec);
}

static void check_worst(const char *what, const struct worst *worst)
{
    print_message("%s: %zu points (%zu outside the domain), largest disagreement: value %.1e, gradient %.1e, "
                  "Hessian %.1e, Jacobian %.1e\n",
                  what, worst->points, worst->outside, worst->value, worst->gradient, worst->hessian,
                  worst->jacobian);
    assert_true(worst->value <= 1e-12);
    assert_true(worst->gradient <= 1e-10);
    assert_true(worst->hessian <= 1e-10);
    assert_true(worst->jacobian <= 1e-10);
    assert_true(worst->points > worst->outside);
}

/* A few points of a model: near, far, and with the POI at exactly 0; observed data and others. */
static void compare_model(const struct fixture *f, const paritas_model_options *options, uint64_t seed,
                          unsigned points, size_t rows, struct worst *worst)
{
    struct reference reference = make_reference(f, options);
    struct random random = {seed};
    double *point = make_array(f->n_parameters, sizeof *point), *data = make_array(f->n_data, sizeof *data);
    for (unsigned k = 0; k < points; k++) {
        /* with alphas beyond 1 on both sides; not at 0, where codes 0 and 1 have a kink */
        random_point(f, &random, k % 2 ? 1.4 : 0.6, point);
        const ptrdiff_t poi = paritas_model_poi_index(f->model);
        if (poi >= 0 && k % 3 == 0) point[poi] = 0.0;
        memcpy(data, paritas_model_data(f->model), f->n_data * sizeof *data);
        if (k % 2)
            for (size_t i = 0; i < f->n_main; i++)
                data[i] = floor(data[i] * random_uniform(&random, 0.5, 1.5));
        compare_at(f, &reference, point, data, rows, worst);
    }
    free(point);
    free(data);
    free_reference(&reference);
}

TEST(derivatives_are_exact_for_every_modifier_and_code)
{
    static const int normsys[] = {4, 1}, histosys[] = {PARITAS_HISTOSYS_CODE_4P, PARITAS_HISTOSYS_CODE_0,
                                                       PARITAS_HISTOSYS_CODE_2};
    for (size_t n = 0; n < COUNT(normsys); n++)
        for (size_t h = 0; h < COUNT(histosys); h++) {
            paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
            options.normsys_code = normsys[n];
            options.histosys_code = histosys[h];
            struct worst worst = {0};
            for (uint64_t seed = 0; seed < 4; seed += SHARE) {
                char *text = random_workspace(1000 * n + 100 * h + seed, TRAIT_ALL);
                struct fixture f = make_fixture(text, NULL, &options);
                compare_model(&f, &options, seed, 3, SIZE_MAX, &worst);
                free_fixture(&f);
                free(text);
            }
            char what[64];
            snprintf(what, sizeof what, "normsys code %d, histosys code %d", options.normsys_code,
                     options.histosys_code - 100);
            check_worst(what, &worst);
        }
}

static void compare_random_models(const char *what, uint64_t first, unsigned traits)
{
    struct worst worst = {0};
    for (uint64_t seed = 0; seed < 9; seed += SHARE) {
        char *text = random_workspace(first + seed, traits);
        struct fixture f = make_fixture(text, NULL, NULL);
        compare_model(&f, NULL, seed, 3, SIZE_MAX, &worst);
        free_fixture(&f);
        free(text);
    }
    check_worst(what, &worst);
}

TEST(derivatives_are_exact_where_each_modifier_has_its_code)
{
    compare_random_models("mixed codes", 7000, TRAIT_ALL | TRAIT_CODES);
}

TEST(derivatives_are_exact_for_what_datacards_have)
{
    compare_random_models("datacards", 11000, (TRAIT_ALL & ~TRAIT_FREE_SHAPE) | TRAIT_CARDS);
    compare_random_models("datacards, mcstat", 11300,
                          (TRAIT_ALL & ~TRAIT_FREE_SHAPE) | TRAIT_CARDS | TRAIT_MCSTAT);
}

TEST(derivatives_are_exact_for_every_law_of_constraints)
{
    compare_random_models("laws", 9000, TRAIT_ALL | TRAIT_LAWS);
}

TEST(derivatives_are_exact_where_errors_add_to_rates)
{
    compare_random_models("mcstat", 11000, TRAIT_ALL | TRAIT_MCSTAT);
    compare_random_models("mcstat, mixed codes", 11100, TRAIT_ALL | TRAIT_MCSTAT | TRAIT_CODES);
    compare_random_models("mcstat, laws", 11200, TRAIT_ALL | TRAIT_MCSTAT | TRAIT_LAWS);
}

/* At mu = 0, where signals alone have errors: from above. */
TEST(derivatives_are_exact_where_no_error_is_left)
{
    static const char text[] =
        "{\"channels\": [{\"name\": \"A\", \"samples\": ["
        "{\"name\": \"signal\", \"data\": [4.0, 3.0], \"modifiers\": ["
        "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"k\", \"type\": "
        "\"normfactor\", \"data\": null}, "
        "{\"name\": \"a\", \"type\": \"normsys\", \"data\": {\"hi\": 1.3, \"lo\": 0.8}}, "
        "{\"name\": \"prop\", \"type\": \"mcstat\", \"data\": [2.0, 1.5]}]}, "
        "{\"name\": \"other\", \"data\": [2.0, 5.0], \"modifiers\": ["
        "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, "
        "{\"name\": \"b\", \"type\": \"normsys\", \"data\": {\"hi\": 1.2, \"lo\": 0.7}}, "
        "{\"name\": \"prop\", \"type\": \"mcstat\", \"data\": [1.0, 0.5]}]}, "
        "{\"name\": \"top\", \"data\": [30.0, 20.0], \"modifiers\": ["
        "{\"name\": \"a\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}]}]}], "
        "\"observations\": [{\"name\": \"A\", \"data\": [33, 29]}], "
        "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": []}}], "
        "\"version\": \"1.0.0\"}";
    struct worst worst = {0};
    struct fixture f = make_fixture(text, NULL, NULL);
    compare_model(&f, NULL, 5, 9, SIZE_MAX, &worst);
    free_fixture(&f);
    check_worst("no error is left", &worst);
}

TEST(derivatives_are_exact_where_rates_are_clipped)
{
    struct worst worst = {0};
    for (uint64_t seed = 0; seed < 18; seed += SHARE) {
        paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
        options.clip_sample = seed % 3 != 0;
        options.clip_bin = seed % 3 != 1;
        /* high enough to be met often */
        options.clip_sample_at = seed % 2 ? 1.0 : 12.0;
        options.clip_bin_at = seed % 2 ? 3.0 : 50.0;
        char *text = random_workspace(seed, TRAIT_ALL | (seed % 2 ? TRAIT_MCSTAT : 0));
        struct fixture f = make_fixture(text, NULL, &options);
        compare_model(&f, &options, seed, 2, SIZE_MAX, &worst);
        free_fixture(&f);
        free(text);
    }
    check_worst("clipped", &worst);
}

/* Whatever lanes and packs a call uses, it is the same text; this test holds the extremes to the reference
 * all the same. */
TEST(derivatives_are_exact_in_every_width)
{
    static const struct {
        const char *isa;
        unsigned lanes;
    } builds[] = {{"portable", 1}, {"scalar", 1}, {"avx2", 1}, {"avx2", 4},
                  {"avx512", 1},   {"avx512", 8}, {"neon", 1}, {"neon", 2}};
    struct worst worst = {0};
    for (size_t k = 0; k < COUNT(builds); k++) {
        paritas_options context = PARITAS_OPTIONS_DEFAULT;
        context.isa = builds[k].isa;
        context.lanes = builds[k].lanes;
        paritas_context *probe = open_if_built(context);
        paritas_close(probe);
        for (uint64_t seed = 0; probe && seed < 3; seed += SHARE) {
            char *text = random_workspace(seed, TRAIT_ALL);
            struct fixture f = make_fixture(text, &context, NULL);
            compare_model(&f, NULL, seed, 2, SIZE_MAX, &worst);
            free_fixture(&f);
            free(text);
        }
    }
    check_worst("all builds", &worst);
}

/* More rows than are added to the tiles at once, with and without rows of local parameters. */
TEST(derivatives_are_exact_in_channels_of_many_bins)
{
    enum { BINS = 150, SYSTEMATICS = 9 };
    for (int gammas = 0; gammas < 3; gammas++) { /* none; one set for all samples; one for some */
        struct random random = {77 + (uint64_t)gammas};
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        fprintf(out, "{\"channels\": [{\"name\": \"wide\", \"samples\": [");
        for (int s = 0; s < 3; s++) {
            fprintf(out, "%s{\"name\": \"s%d\", \"data\": [", s ? ", " : "", s);
            for (int b = 0; b < BINS; b++) fprintf(out, "%s%d", b ? ", " : "", 20 + (7 * b + 3 * s) % 31);
            fprintf(out, "], \"modifiers\": [");
            if (s == 0) fprintf(out, "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, ");
            for (int a = s; a < SYSTEMATICS; a += 2) {
                if (a % 3) {
                    fprintf(out, "{\"name\": \"a%d\", \"type\": \"histosys\", \"data\": {", a);
                    for (int side = 0; side < 2; side++) {
                        fprintf(out, "\"%s\": [", side ? "lo_data" : "hi_data");
                        for (int b = 0; b < BINS; b++)
                            fprintf(out, "%s%.5f", b ? ", " : "",
                                    (20 + (7 * b + 3 * s) % 31) * random_uniform(&random, 0.9, 1.1));
                        fprintf(out, "]%s", side ? "" : ", ");
                    }
                    fprintf(out, "}}, ");
                } else
                    fprintf(
                        out,
                        "{\"name\": \"a%d\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.93}}, ",
                        a);
            }
            if (gammas == 1 || (gammas == 2 && s < 2)) {
                fprintf(out, "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": [");
                for (int b = 0; b < BINS; b++) fprintf(out, "%s%d", b ? ", " : "", 1 + b % 3);
                fprintf(out, "]}, ");
            }
            fprintf(out, "{\"name\": \"k%d\", \"type\": \"normfactor\", \"data\": null}]}", s);
        }
        fprintf(out, "]}], \"observations\": [{\"name\": \"wide\", \"data\": [");
        for (int b = 0; b < BINS; b++) fprintf(out, "%s%d", b ? ", " : "", 90 + b % 40);
        fprintf(out, "]}], \"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", "
                     "\"parameters\": []}}], \"version\": \"1.0.0\"}");
        fclose(out);
        struct fixture f = make_fixture(text, NULL, NULL);
        struct worst worst = {0};
        compare_model(&f, NULL, 5, SHARE > 1 ? 1 : 2, 30, &worst);
        check_worst("150 bins", &worst);
        free_fixture(&f);
        free(text);
    }
}

TEST(a_point_outside_the_domain_answers_nan)
{
    struct worst worst = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        char *text = random_workspace(seed, TRAIT_WIDE);
        struct fixture f = make_fixture(text, NULL, NULL);
        struct reference reference = make_reference(&f, NULL);
        double *point = make_array(f.n_parameters, sizeof *point);
        memcpy(point, paritas_model_suggested_init(f.model), f.n_parameters * sizeof *point);
        const ptrdiff_t poi = paritas_model_poi_index(f.model);
        assert_true(poi >= 0);
        point[poi] = -1000.0;
        compare_at(&f, &reference, point, paritas_model_data(f.model), 1, &worst);
        free(point);
        free_reference(&reference);
        free_fixture(&f);
        free(text);
    }
    assert_int_equal(worst.points, worst.outside);
}

static void compare_published(bool large)
{
    size_t absent = 0;
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (published[k].large != large || (SHARE > 2 && k % 4 != 3)) continue;
        if (!make_published(&published[k], NULL, &f)) {
            absent++;
            continue;
        }
        struct worst worst = {0};
        compare_model(&f, NULL, k + 1, SHARE > 1 ? 1 : large ? 2 : 3, large ? 40 : SIZE_MAX, &worst);
        check_worst(published[k].name, &worst);
        free_fixture(&f);
    }
    if (absent) print_message("%zu analyses are not here\n", absent);
    if (absent && large) skip_because(PUBLISHED_ABSENT);
}

TEST(derivatives_of_small_published_analyses_are_exact)
{
    compare_published(false);
}
TEST(derivatives_of_large_published_analyses_are_exact)
{
    compare_published(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_exact_for_every_modifier_and_code),
        cmocka_unit_test(derivatives_are_exact_where_each_modifier_has_its_code),
        cmocka_unit_test(derivatives_are_exact_for_what_datacards_have),
        cmocka_unit_test(derivatives_are_exact_for_every_law_of_constraints),
        cmocka_unit_test(derivatives_are_exact_where_errors_add_to_rates),
        cmocka_unit_test(derivatives_are_exact_where_no_error_is_left),
        cmocka_unit_test(derivatives_are_exact_where_rates_are_clipped),
        cmocka_unit_test(derivatives_are_exact_in_every_width),
        cmocka_unit_test(derivatives_are_exact_in_channels_of_many_bins),
        cmocka_unit_test(a_point_outside_the_domain_answers_nan),
        cmocka_unit_test(derivatives_of_small_published_analyses_are_exact),
        cmocka_unit_test(derivatives_of_large_published_analyses_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
