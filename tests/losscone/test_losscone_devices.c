/* test_losscone_devices.c: polished answers, and searches that are cut short, have the same bits in batches
 * of any size. Whole answers on every device and instruction set are claims of tests/matrix. */
#include "losscone/devices.h"

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
        cmocka_unit_test(polished_answers_do_not_depend_on_batches),
        cmocka_unit_test(a_search_cut_short_does_not_depend_on_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
