/* The same bits: every kernel build, every number of lanes and threads, every order and cut of a job list. */
#include "fit/fit_testing.h"
#include "parity/results.h"
#include "widths.h"

static const char *const builds[] = {"portable", "scalar", "avx2", "avx512", "neon"};
static const unsigned lanes[] = {0, 1, 2, 4, 8, 16};

/* A context of that build; NULL where the processor or the program lacks it. */
static paritas_context *open_build(const char *isa, unsigned width, unsigned threads, unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.lanes = width;
    options.threads = threads;
    options.precision = precision;
    return open_if_built(options);
}

/* All parts that `parts` has a bit for, of one model, by every build, against the portable build with one
 * lane and one thread. */
static void compare_builds(const struct fixture *f, const char *name, unsigned parts, unsigned precision,
                           uint64_t seed, size_t *compared)
{
    for (int part = 0; part < RESULTS_PART_COUNT; part++) {
        if (!(parts >> part & 1)) continue;
        struct results reference = {0};
        paritas_context *context = open_build("portable", 1, 1, precision);
        assert_non_null(context);
        assert_true(results_collect(context, f->model, (enum results_part)part, seed, &reference));
        paritas_close(context);
        for (size_t b = 0; b < COUNT(builds); b++)
            for (size_t w = 0; w < COUNT(lanes); w += SHARE > 2 ? 3 : 1)
                for (unsigned threads = 1; threads <= 2; threads++) {
                    if (threads == 2 && lanes[w] != 0 && lanes[w] != 4) continue;
                    if (b == 0 && threads == 1) continue; /* the reference */
                    if (!width_is_apart(builds[b], lanes[w], precision)) continue;
                    context = open_build(builds[b], lanes[w], threads, precision);
                    if (!context) continue;
                    struct results results = {0};
                    assert_true(results_collect(context, f->model, (enum results_part)part, seed, &results));
                    if (results.length != reference.length ||
                        memcmp(results.bytes, reference.bytes, results.length) != 0) {
                        size_t at = 0;
                        while (at < results.length && at < reference.length &&
                               results.bytes[at] == reference.bytes[at])
                            at++;
                        fail_msg("%s, %s: %s with %u lanes, %u threads differs from portable at byte %zu of "
                                 "%zu (%zu)",
                                 name, results_part_names[part], builds[b], lanes[w], threads, at,
                                 reference.length, results.length);
                    }
                    *compared += results.length;
                    results_free(&results);
                    paritas_close(context);
                }
        results_free(&reference);
    }
}

#define ALL_PARTS ((1u << RESULTS_PART_COUNT) - 1)
#define FAST_PARTS                                                                                \
    (1u << RESULTS_EVALUATE | 1u << RESULTS_EXPECTED | 1u << RESULTS_FIT | 1u << RESULTS_LBFGSB | \
     1u << RESULTS_DE)

/* A generated workspace of these traits. */
static void compare_random(uint64_t seed, unsigned traits, const paritas_model_options *options,
                           const char *what, unsigned parts, unsigned precision, size_t *compared)
{
    char *text = random_workspace(seed, traits), name[48];
    struct fixture f = make_fixture(text, NULL, options);
    snprintf(name, sizeof name, "%s %u", what, (unsigned)seed);
    compare_builds(&f, name, parts, precision, seed, compared);
    free_fixture(&f);
    free(text);
}

TEST(every_build_answers_the_same_bits_for_random_models)
{
    size_t compared = 0;
    for (uint64_t seed = 0; seed < 6; seed += SHARE)
        compare_random(seed, TRAIT_ALL, NULL, "random model", seed % 4 == 0 ? ALL_PARTS : FAST_PARTS, 64,
                       &compared);
    print_message("%zu bytes compared\n", compared);
}

TEST(every_build_answers_the_same_bits_where_hessians_cost_much)
{
    size_t compared = 0;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        char *text = costly_workspace(precision);
        struct fixture f = make_fixture(text, NULL, NULL);
        compare_builds(&f, "costly model", 1u << RESULTS_FIT, precision, 1, &compared);
        free_fixture(&f);
        free(text);
    }
    print_message("%zu bytes compared\n", compared);
}

TEST(every_build_answers_the_same_bits_where_rates_are_clipped)
{
    size_t compared = 0;
    for (uint64_t seed = 100; seed < 103; seed += SHARE) {
        paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
        options.clip_sample = options.clip_bin = 1;
        options.clip_sample_at = 5.0;
        options.clip_bin_at = 20.0;
        options.normsys_code = seed % 2 ? 1 : 4;
        options.histosys_code = seed % 3 == 0   ? PARITAS_HISTOSYS_CODE_0
                                : seed % 3 == 1 ? PARITAS_HISTOSYS_CODE_2
                                                : PARITAS_HISTOSYS_CODE_4P;
        compare_random(seed, TRAIT_ALL, &options, "clipped model", FAST_PARTS, 64, &compared);
    }
    print_message("%zu bytes compared\n", compared);
}

TEST(every_build_answers_the_same_bits_for_mixed_codes_and_every_law)
{
    size_t compared = 0;
    for (uint64_t seed = 300; seed < 302; seed++)
        compare_random(seed, TRAIT_ALL | TRAIT_CODES, NULL, "mixed codes", FAST_PARTS, seed % 2 ? 64 : 32,
                       &compared);
    for (uint64_t seed = 501; seed < 503; seed += SHARE)
        compare_random(seed, (TRAIT_ALL & ~TRAIT_FREE_SHAPE) | TRAIT_CARDS, NULL, "datacards", FAST_PARTS,
                       seed % 2 ? 64 : 32, &compared);
    for (uint64_t seed = 401; seed < 403; seed += SHARE)
        compare_random(seed, TRAIT_ALL | TRAIT_LAWS, NULL, "laws", FAST_PARTS, seed % 2 ? 64 : 32, &compared);
    for (uint64_t seed = 501; seed < 505; seed += 2 * SHARE - 1) /* in both precisions */
        compare_random(seed, TRAIT_ALL | TRAIT_MCSTAT, NULL, "mcstat", FAST_PARTS, seed % 2 ? 64 : 32,
                       &compared);
    print_message("%zu bytes compared\n", compared);
}

TEST(every_build_in_single_precision_answers_the_same_bits)
{
    size_t compared = 0;
    for (uint64_t seed = 200; seed < 202; seed += SHARE)
        compare_random(seed, TRAIT_ALL, NULL, "random model", FAST_PARTS, 32, &compared);
    for (size_t k = 0; k < 3; k++) {
        struct fixture f;
        assert_true(make_published(&published[k], NULL, &f));
        compare_builds(&f, published[k].name, FAST_PARTS, 32, k, &compared);
        free_fixture(&f);
    }
    print_message("%zu bytes compared\n", compared);
}

static void compare_published(bool large)
{
    size_t compared = 0, absent = 0;
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (published[k].large != large || (k > 4 && !large && k % 4) || (SHARE > 1 && k % 4 != 3)) continue;
        if (!make_published(&published[k], NULL, &f)) {
            absent++;
            continue;
        }
        compare_builds(&f, published[k].name, large ? FAST_PARTS | 1u << RESULTS_SCAN : ALL_PARTS, 64, k,
                       &compared);
        free_fixture(&f);
    }
    print_message("%zu bytes compared\n", compared);
    if (absent) print_message("%zu analyses are not here\n", absent);
    if (absent && large) skip_because(PUBLISHED_ABSENT);
}

TEST(every_build_answers_the_same_bits_for_small_published_analyses)
{
    compare_published(false);
}
TEST(every_build_answers_the_same_bits_for_large_published_analyses)
{
    compare_published(true);
}

/* A job's answer does not depend on its neighbours: reversed, shuffled, in chunks, alone. */
static void compare_orders(const struct fixture *f, const char *name, size_t n, unsigned width,
                           unsigned threads, size_t *compared)
{
    struct jobs jobs;
    assert_true(jobs_make(f->model, n, 99, &jobs));
    paritas_context *context = open_build(NULL, width, threads, 64);
    assert_non_null(context);
    struct results reference = {0};
    assert_true(results_fits(context, f->model, NULL, &jobs, NULL, 0, &reference));
    size_t *order = make_array(n, sizeof *order);
    struct random random = {n};
    for (int shuffle = 0; shuffle < 3; shuffle++) {
        for (size_t k = 0; k < n; k++) order[k] = shuffle == 0 ? k : n - 1 - k;
        for (size_t k = n; shuffle == 2 && k > 1; k--) {
            const size_t other = random_below(&random, (unsigned)k), swap = order[k - 1];
            order[k - 1] = order[other];
            order[other] = swap;
        }
        static const size_t chunks[] = {0, 1, 3, 8};
        for (size_t c = 0; c < COUNT(chunks); c++) {
            struct results results = {0};
            assert_true(results_fits(context, f->model, NULL, &jobs, order, chunks[c], &results));
            assert_int_equal(results.length, reference.length);
            if (memcmp(results.bytes, reference.bytes, results.length) != 0)
                fail_msg("%s: order %d in chunks of %zu with %u lanes, %u threads differs", name, shuffle,
                         chunks[c], width, threads);
            *compared += results.length;
            results_free(&results);
        }
    }
    results_free(&reference);
    paritas_close(context);
    free(order);
    jobs_free(&jobs);
}

TEST(the_order_and_the_cut_of_a_job_list_do_not_count)
{
    size_t compared = 0;
    for (size_t w = 0; w < COUNT(lanes); w += SHARE > 2 ? 3 : 1)
        for (unsigned threads = 1; threads <= 2; threads++) {
            for (uint64_t seed = 30; seed < 32; seed += SHARE) {
                char *text = random_workspace(seed, TRAIT_ALL);
                struct fixture f = make_fixture(text, NULL, NULL);
                compare_orders(&f, "random model", 21, lanes[w], threads, &compared);
                free_fixture(&f);
                free(text);
            }
            struct fixture f;
            assert_true(make_published(&published[2], NULL, &f));
            compare_orders(&f, published[2].name, 13, lanes[w], threads, &compared);
            free_fixture(&f);
        }
    print_message("%zu bytes compared\n", compared);
}

/* Points and data sets in one call or one by one; values with and without derivatives. */
TEST(the_cut_of_a_list_of_points_does_not_count)
{
    enum { POINTS = 37, SETS = 3 };
    for (uint64_t seed = 40; seed < 44; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL);
        struct fixture f = make_fixture(text, NULL, NULL);
        const size_t n = f.n_parameters;
        double *points = make_array(POINTS * n, sizeof *points),
               *data = make_array(SETS * f.n_data, sizeof *data), values[POINTS * SETS];
        double *gradients = make_array(POINTS * SETS * n, sizeof *gradients),
               *gradient = make_array(n, sizeof *gradient), value;
        struct random random = {seed};
        for (size_t k = 0; k < POINTS; k++) random_point(&f, &random, 0.6, points + k * n);
        for (size_t i = 0; i < SETS * f.n_data; i++)
            data[i] = paritas_model_data(f.model)[i % f.n_data] * (1.0 + (double)(i / f.n_data));
        ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, POINTS, points, SETS, data,
                                              SIZED(paritas_evaluate_answers, .twice_nll = values,
                                                    .gradient = gradients)));
        for (size_t k = 0; k < POINTS; k++)
            for (size_t d = 0; d < SETS; d++) {
                ASSERT_OK(f.context,
                          paritas_evaluate(
                              f.context, f.model, 1, points + k * n, 1, data + d * f.n_data,
                              SIZED(paritas_evaluate_answers, .twice_nll = &value, .gradient = gradient)));
                assert_memory_equal(&value, &values[k * SETS + d], sizeof value);
                assert_memory_equal(gradient, &gradients[(k * SETS + d) * n], n * sizeof value);
                ASSERT_OK(f.context,
                          paritas_evaluate(f.context, f.model, 1, points + k * n, 1, data + d * f.n_data,
                                           SIZED(paritas_evaluate_answers, .twice_nll = &value)));
                assert_memory_equal(&value, &values[k * SETS + d], sizeof value);
            }
        free(points);
        free(data);
        free(gradients);
        free(gradient);
        free_fixture(&f);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_build_answers_the_same_bits_for_random_models),
        cmocka_unit_test(every_build_answers_the_same_bits_where_hessians_cost_much),
        cmocka_unit_test(every_build_answers_the_same_bits_where_rates_are_clipped),
        cmocka_unit_test(every_build_answers_the_same_bits_for_mixed_codes_and_every_law),
        cmocka_unit_test(every_build_in_single_precision_answers_the_same_bits),
        cmocka_unit_test(every_build_answers_the_same_bits_for_small_published_analyses),
        cmocka_unit_test(every_build_answers_the_same_bits_for_large_published_analyses),
        cmocka_unit_test(the_order_and_the_cut_of_a_job_list_do_not_count),
        cmocka_unit_test(the_cut_of_a_list_of_points_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
