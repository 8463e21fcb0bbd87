/* Differential evolution: its starts, that it descends, that its answers are those of the formula, and that
 * they depend on seed and number of the sweep alone. */
#include "losscone/cases.h"

#include "moon/losscone/losscone_evolution.h"

TEST(starts_are_a_latin_hypercube)
{
    uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS];
    losscone_starts(starts);
    for (int d = 0; d < 3; d++) {
        int seen[EVOLVE_STARTS] = {0};
        for (int k = 0; k < EVOLVE_STARTS; k++) {
            assert_true(starts[d][k] < EVOLVE_STARTS);
            seen[starts[d][k]]++;
        }
        for (int k = 0; k < EVOLVE_STARTS; k++) assert_int_equal(seen[k], 1);
    }
}

TEST(starts_are_those_of_the_reference)
{
    uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS];
    losscone_starts(starts);
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *five = read_case(context, "case05_lhs_seed42", &document);
    double cell[3 * EVOLVE_STARTS];
    numbers_of(five, "cell", cell, 3 * EVOLVE_STARTS);
    for (int k = 0; k < 3 * EVOLVE_STARTS; k++) assert_int_equal(starts[k % 3][k / 3], (int)cell[k]);
    paritas_workspace_free(document);
    paritas_close(context);
}

/* Sobol's sets are nets: every cell of the given grid of as many cells as there are points holds one. */
TEST(populations_start_from_a_net)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        double points[64][3];
        losscone_sobol(seed, 64, points);
        for (int d = 0; d < 3; d++) {
            int seen[64] = {0};
            for (int k = 0; k < 64; k++) {
                assert_true(points[k][d] > 0.0 && points[k][d] < 1.0);
                seen[(int)(64 * points[k][d])]++;
            }
            for (int k = 0; k < 64; k++) assert_int_equal(seen[k], 1);
        }
        for (int along = 1; along < 64; along *= 2) { /* the first two dimensions, any shape of cells */
            int seen[64] = {0};
            for (int k = 0; k < 64; k++)
                seen[(int)(along * points[k][0]) * (64 / along) + (int)(64 / along * points[k][1])]++;
            for (int k = 0; k < 64; k++) assert_int_equal(seen[k], 1);
        }
    }
    double one[8][3], other[8][3];
    losscone_sobol(1, 8, one);
    losscone_sobol((uint64_t)1 << 32, 8, other);
    assert_memory_not_equal(one, other, sizeof one);
}

/* Method, response and beam of variant v. */
#define VARIANTS 5
static paritas_losscone_options variant(int v)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.search = PARITAS_LOSSCONE_SEARCH_DE;
    options.method = v == 1 ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
    options.response = v == 2 ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
    if (v == 3) options.amplitude_upper = 0.0;
    if (v == 4) options.beam_sigma = 30.0, options.beam_width = 60.0; /* reaches incident cells */
    return options;
}

TEST(answers_lie_within_bounds_and_have_the_misfit_of_the_formula)
{
    uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS];
    losscone_starts(starts);
    enum { sweeps = 40 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct data d = make_data(sweeps);
    uint64_t random = 11;
    for (size_t k = 0; k < sweeps; k++) make_sweep(context, NULL, &d, k, &random);
    for (int v = 0; v < VARIANTS; v++) {
        paritas_losscone_options options = variant(v);
        if (v == 0)
            options.potential_lower = -300.0, options.ratio_lower = 0.5, options.amplitude_lower = 0.1;
        paritas_losscone_result results[sweeps] = {PARITAS_INIT(paritas_losscone_result)};
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results));
        for (size_t k = 0; k < sweeps; k++) {
            const paritas_losscone_result *r = &results[k];
            const paritas_sweeps one = part_of(&d, k, 1);
            double points[EVOLVE_STARTS + 1][3] = {{r->potential, r->ratio, r->amplitude}},
                                          misfits[EVOLVE_STARTS + 1], least = 1e300;
            unsigned cells;
            for (int s = 0; s < EVOLVE_STARTS; s++) {
                const double lower[3] = {fmax(-1000.0, options.potential_lower), options.ratio_lower,
                                         v == 2 ? 0.0 : options.amplitude_lower};
                const double upper[3] = {0.0, options.ratio_upper, v == 2 ? 0.0 : options.amplitude_upper};
                for (int c = 0; c < 3; c++)
                    points[s + 1][c] =
                        lower[c] + (starts[c][s] + 0.5) / EVOLVE_STARTS * (upper[c] - lower[c]);
            }
            ASSERT_OK(context, paritas_losscone_misfit(context, &one, &options, EVOLVE_STARTS + 1, points[0],
                                                       misfits, &cells));
            for (int s = 1; s <= EVOLVE_STARTS; s++) least = fmin(least, misfits[s]);
            ASSERT_CLOSE(r->misfit, misfits[0], 1e-8 * (1.0 + misfits[0]));
            assert_true(r->misfit <= least + 1e-8 * (1.0 + least));
            assert_int_equal(r->cells, cells);
            assert_true(r->status == PARITAS_SWEEP_FITTED && r->solved > 10 && r->solved < 500);
            assert_int_equal(r->boxes, 400 + 50 * (1 + r->solved));
            assert_true(r->potential >= options.potential_lower && r->potential <= options.potential_upper &&
                        r->ratio >= options.ratio_lower && r->ratio <= options.ratio_upper);
            assert_true(r->amplitude >= (v == 2 ? 0.0 : options.amplitude_lower) &&
                        r->amplitude <= options.amplitude_upper);
            assert_true(isnan(r->gap) && r->potential_lower == r->potential &&
                        r->potential_upper == r->potential && r->vertices == 0);
        }
    }
    free_data(&d);
    paritas_close(context);
}

static void same(const paritas_losscone_result *a, const paritas_losscone_result *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->solved, b->solved);
    assert_int_equal(a->cells, b->cells);
    assert_memory_equal(&a->misfit, &b->misfit, sizeof a->misfit);
    assert_memory_equal(&a->potential, &b->potential, sizeof a->potential);
    assert_memory_equal(&a->ratio, &b->ratio, sizeof a->ratio);
    assert_memory_equal(&a->amplitude, &b->amplitude, sizeof a->amplitude);
}

TEST(answers_have_the_same_bits_however_the_work_is_cut)
{
    enum { sweeps = 21 };
    struct data d = make_data(sweeps);
    paritas_context *wide = open_context(NULL, 64, 1, 0);
    uint64_t random = 12;
    for (size_t k = 0; k < sweeps; k++) make_sweep(wide, NULL, &d, k, &random);
    paritas_close(wide);
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_losscone_result expected[VARIANTS][sweeps];
        int first = 1;
        size_t way = 0;
        for (paritas_context *context; (context = next_context(precision, &way)) != NULL;) {
            for (int v = 0; v < VARIANTS; v++) {
                paritas_losscone_options options = variant(v);
                paritas_losscone_result results[sweeps] = {PARITAS_INIT(paritas_losscone_result)};
                options.seed = 0x123456789abcdef0;
                options.first = 0xfffffff8; /* the low word of a sweep's number overflows on the way */
                ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results));
                if (first) memcpy(expected[v], results, sizeof results);
                for (size_t k = 0; k < sweeps; k++) same(&results[k], &expected[v][k]);
                for (size_t k = 1; k + 2 < sweeps; k += 6) { /* in other batches, under the same number */
                    const paritas_sweeps part = part_of(&d, k, 3);
                    paritas_losscone_result alone[3] = {PARITAS_INIT(paritas_losscone_result)};
                    options.first = 0xfffffff8 + k;
                    ASSERT_OK(context, paritas_losscone_fit(context, &part, &options, alone));
                    for (size_t l = 0; l < 3; l++) same(&alone[l], &expected[v][k + l]);
                }
            }
            first = 0;
            paritas_close(context);
        }
    }
    free_data(&d);
}

TEST(seed_number_population_and_generations_are_heeded)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(1);
    uint64_t random = 13;
    make_sweep(context, NULL, &d, 0, &random);
    paritas_losscone_options options = variant(0);
    paritas_losscone_result usual = PARITAS_INIT(paritas_losscone_result),
                            other = PARITAS_INIT(paritas_losscone_result);
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &usual));
    for (int change = 0; change < 3; change++) {
        options = variant(0);
        if (change == 0) options.seed++;
        if (change == 1) options.first++;
        if (change == 2) options.population = 51;
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &other));
        assert_true(other.potential != usual.potential);
        ASSERT_CLOSE(other.misfit, usual.misfit, 0.2 * usual.misfit);
    }
    options = variant(0);
    options.generations = 3;
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &other));
    assert_int_equal(other.status, PARITAS_SWEEP_AT_LIMIT);
    assert_int_equal(other.solved, 3);
    for (int c = 0; c < ALL; c++) d.flux[c] = c < 4 ? 0.5 : (double)NAN;
    options.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &other));
    assert_int_equal(other.status, PARITAS_SWEEP_TOO_FEW_CELLS);
    assert_int_equal(other.cells, 4);
    assert_true(isnan(other.misfit) && isnan(other.potential_lower));
    for (int c = 0; c < 4; c++) d.flux[c] = 0.0;
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &other));
    assert_int_equal(other.status, PARITAS_SWEEP_NO_CELLS);
    for (int c = 0; c < 9; c++) d.flux[c] = 30.0;
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &other));
    assert_int_equal(other.status, PARITAS_SWEEP_MISFIT);
    assert_true(other.misfit > 2.0);
    free_data(&d);
    paritas_close(context);
}

TEST(no_answer_is_better_than_that_of_the_exact_search)
{
    enum { sweeps = 60 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct data d = make_data(sweeps);
    uint64_t random = 14;
    for (size_t k = 0; k < sweeps; k++) make_sweep(context, NULL, &d, k, &random);
    for (int v = 2; v < 4; v++) { /* without beam */
        paritas_losscone_options options = variant(v);
        paritas_losscone_result evolved[sweeps] = {PARITAS_INIT(paritas_losscone_result)},
                                exact[sweeps] = {PARITAS_INIT(paritas_losscone_result)};
        unsigned found = 0;
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, evolved));
        options.search = PARITAS_LOSSCONE_SEARCH_EXACT;
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, exact));
        for (size_t k = 0; k < sweeps; k++) {
            assert_true(evolved[k].misfit >= exact[k].misfit - 1e-6 * (1.0 + exact[k].misfit));
            found += evolved[k].misfit <= exact[k].misfit + 1e-6 * (1.0 + exact[k].misfit);
        }
        print_message("%u of %d minima found\n", found, sweeps);
        assert_true(found > sweeps / 2);
    }
    free_data(&d);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_a_latin_hypercube),
        cmocka_unit_test(starts_are_those_of_the_reference),
        cmocka_unit_test(populations_start_from_a_net),
        cmocka_unit_test(answers_lie_within_bounds_and_have_the_misfit_of_the_formula),
        cmocka_unit_test(answers_have_the_same_bits_however_the_work_is_cut),
        cmocka_unit_test(seed_number_population_and_generations_are_heeded),
        cmocka_unit_test(no_answer_is_better_than_that_of_the_exact_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
