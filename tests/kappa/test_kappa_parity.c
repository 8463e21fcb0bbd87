/* The same bits from every instruction set, lane width, thread count and batch. */
#include "plasmas.h"

/* Odd numbers of spectra, rows that are masked, and some that cannot be fitted. */
static struct set make_mixed(size_t rows)
{
    struct set set = make_set_of(rows, 307, 21, 0.1);
    for (size_t k = 0; k < set.n; k++) {
        if (k % 7 == 0) set.flux[k * rows + k % rows] = (double)NAN;
        if (k % 11 == 0) set.flux[k * rows + rows - 1] = set.counts[k * rows + rows - 1] = 0;
        if (k % 97 == 0) memset(set.flux + k * rows, 0, rows * sizeof *set.flux);
    }
    return set;
}

static void compare_bits(size_t rows)
{
    static const struct {
        const char *isa;
        unsigned lanes, threads;
        size_t batch;
    } ways[] = {{"portable", 1, 1, 307}, {"scalar", 1, 1, 307}, {"avx2", 4, 1, 307},   {"avx2", 0, 2, 100},
                {"avx2", 1, 3, 307},     {"avx512", 0, 1, 7},   {"avx512", 8, 2, 307}, {"avx512", 1, 1, 307},
                {"neon", 0, 2, 307},     {"neon", 1, 1, 50},    {NULL, 0, 0, 307},     {NULL, 2, 1, 150}};
    struct set set = make_mixed(rows);
    const size_t bytes = set.n * sizeof(paritas_kappa_result);
    paritas_kappa_result *reference = malloc(bytes), *results = malloc(bytes);
    assert_true(reference && results);
    for (unsigned precision = 64; precision >= 32; precision -= 32)
        for (int weights = 0; weights < 3; weights++) {
            paritas_kappa_options options = default_options();
            options.weights = (paritas_kappa_weights)weights;
            options.density = weights == PARITAS_KAPPA_WEIGHTS_ORIGINAL ? PARITAS_KAPPA_DENSITY_ESTIMATE
                                                                        : PARITAS_KAPPA_DENSITY_FITTED;
            options.response = weights == PARITAS_KAPPA_WEIGHTS_NONE ? 0 : 0.5;
            for (size_t w = 0; w < COUNT(ways); w++) {
                if (ways[w].isa && !runs(ways[w].isa, precision)) continue;
                paritas_context *context;
                paritas_options how = PARITAS_OPTIONS_DEFAULT;
                how.isa = ways[w].isa;
                how.lanes = ways[w].lanes;
                how.threads = ways[w].threads;
                how.precision = precision;
                how.no_polish = 1; /* what the kernels themselves say */
                ASSERT_OK(context, paritas_open(&how, &context));
                memset(results, 0xa5, bytes);
                for (size_t at = 0; at < set.n; at += ways[w].batch) {
                    paritas_spectra part = set.spectra;
                    part.n = at + ways[w].batch < set.n ? ways[w].batch : set.n - at;
                    part.energy += at * rows;
                    part.flux += at * rows;
                    part.sensitivity += at * rows;
                    part.counts += at * rows;
                    results[at].size = sizeof *results;
                    ASSERT_OK(context, paritas_kappa_fit(context, &part, &options, results + at));
                }
                if (w == 0) memcpy(reference, results, bytes);
                for (size_t k = 0; k < set.n; k++)
                    if (memcmp(&results[k], &reference[k], sizeof *results) != 0)
                        fail_msg("f%u, weights %d, %s with %u lanes, %u threads, batches of %zu: spectrum "
                                 "%zu differs",
                                 precision, weights, ways[w].isa ? ways[w].isa : "any", ways[w].lanes,
                                 ways[w].threads, ways[w].batch, k);
                paritas_close(context);
            }
        }
    free(reference);
    free(results);
    free_set(&set);
}

TEST(fits_have_the_same_bits_everywhere)
{
    compare_bits(ROWS);
}
TEST(fits_of_other_numbers_of_energies_have_the_same_bits_everywhere)
{
    compare_bits(9);
    compare_bits(32);
}

TEST(fluxes_and_misfits_have_the_same_bits_everywhere)
{
    static const struct {
        const char *isa;
        unsigned lanes;
    } ways[] = {{"portable", 1}, {"scalar", 1}, {"avx2", 4}, {"avx2", 1},
                {"avx512", 8},   {"avx512", 1}, {"neon", 2}, {NULL, 0}};
    enum { POINTS = 5 };
    struct set set = make_mixed(ROWS);
    double *reference = malloc(set.n * (POINTS + ROWS) * sizeof *reference),
           *numbers_here = malloc(set.n * (POINTS + ROWS) * sizeof *numbers_here);
    assert_true(reference && numbers_here);
    for (unsigned precision = 64; precision >= 32; precision -= 32)
        for (size_t w = 0; w < COUNT(ways); w++) {
            if (ways[w].isa && !runs(ways[w].isa, precision)) continue;
            paritas_context *context = open_with(ways[w].isa, ways[w].lanes, 2, precision);
            ASSERT_OK(context,
                      paritas_kappa_misfit(context, &set.spectra, NULL, POINTS, set.truth, numbers_here));
            ASSERT_OK(context, paritas_kappa_flux(context, set.n, set.truth, ROWS, set.energy,
                                                  numbers_here + set.n * POINTS));
            if (w == 0) memcpy(reference, numbers_here, set.n * (POINTS + ROWS) * sizeof *reference);
            assert_memory_equal(reference, numbers_here, set.n * (POINTS + ROWS) * sizeof *reference);
            paritas_close(context);
        }
    free(reference);
    free(numbers_here);
    free_set(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_have_the_same_bits_everywhere),
        cmocka_unit_test(fits_of_other_numbers_of_energies_have_the_same_bits_everywhere),
        cmocka_unit_test(fluxes_and_misfits_have_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
