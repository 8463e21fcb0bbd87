/* test_losscone_devices.c: loss cones, kappa distributions and potentials have the same bits however they are
 * asked for: on every instruction set, in lanes and packs of every width, by any number of threads, in
 * batches of any size. */
#include "losscone/devices.h"
#include "share.h"

static void every_way_is_the_same(unsigned precision)
{
    static const char *const sets[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const struct {
        unsigned lanes, threads;
        size_t chunk;
    } ways[] = {{0, 3, 5}, {4, 2, 7}, {1, 1, 0}};
    struct sample *sample = make_sample();
    const struct answers_wish all = {0};
    struct answers wanted = reference(sample, precision, ANSWERS_ALL, &all);
    size_t found = 0;
    for (size_t i = 0; i < COUNT(sets); i++)
        for (size_t w = 0; w < COUNT(ways); w += SHARE) {
            paritas_context *context = open_as("cpu", sets[i], precision, ways[w].lanes, ways[w].threads, 0);
            if (!context) break;
            char name[96];
            snprintf(name, sizeof name, "f%u, %s, %u lanes, %u threads, batches of %zu", precision, sets[i],
                     ways[w].lanes, ways[w].threads, ways[w].chunk);
            const struct answers_wish wish = {.chunk = ways[w].chunk};
            compare_answers(context, sample, ANSWERS_ALL, &wish, &wanted, name);
            paritas_close(context);
            found += w == 0;
        }
    print_message("f%u: %zu numbers, %zu instruction sets\n", precision, wanted.n, found);
    assert_true(found > 0 && wanted.n > 100000);
    answers_free(&wanted);
    free(sample);
}

TEST(every_way_has_the_same_bits_in_f64)
{
    every_way_is_the_same(64);
}
TEST(every_way_has_the_same_bits_in_f32)
{
    every_way_is_the_same(32);
}

/* f32 finished in f64 on the host: the f64 minimum, the same in every batch. */
TEST(polished_answers_do_not_depend_on_batches)
{
    struct sample *sample = make_sample();
    struct answers of[3];
    static const size_t chunks[] = {0, 1, 6};
    for (size_t k = 0; k < COUNT(of); k++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        const struct answers_wish wish = {.chunk = chunks[k]};
        options.precision = 32;
        options.threads = 1 + (unsigned)k;
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        of[k] = collect_parts(context, sample, ANSWERS_ALL, &wish);
        const char *difference = answers_difference(&of[k], &of[0]);
        if (difference) fail_msg("batches of %zu: %s", chunks[k], difference);
        paritas_close(context);
    }
    for (size_t k = 0; k < COUNT(of); k++) answers_free(&of[k]);
    free(sample);
}

/* Where the limit of boxes ends a search before it has found anything, what another sweep left in the slab
 * must not show. */
TEST(a_search_cut_short_does_not_depend_on_batches)
{
    static const unsigned limits[] = {1, 20, 60};
    struct sample *sample = make_sample();
    for (size_t k = 0; k < COUNT(limits); k++) {
        const struct answers_wish whole = {.box_limit = limits[k]},
                                  cut = {.box_limit = limits[k], .chunk = 1};
        struct answers wanted = reference(sample, 64, 1u << ANSWERS_SEARCH, &whole);
        paritas_context *context = open_as("cpu", NULL, 64, 0, 1, 0);
        compare_answers(context, sample, 1u << ANSWERS_SEARCH, &cut, &wanted, "one by one");
        paritas_close(context);
        answers_free(&wanted);
    }
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_has_the_same_bits_in_f64),
        cmocka_unit_test(every_way_has_the_same_bits_in_f32),
        cmocka_unit_test(polished_answers_do_not_depend_on_batches),
        cmocka_unit_test(a_search_cut_short_does_not_depend_on_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
