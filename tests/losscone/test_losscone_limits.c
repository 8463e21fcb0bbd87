/* test_losscone_limits.c: limits of loss cones' numbers: edges at right angles, fluxes and options at their
 * bounds, searches that were cut short, results that are none. */
#include "losscone/cases.h"
#include "losscone/synthetic.h"

/* Sweeps of random directions, every eighth cell at right angles to the field but for rounding: no formula
 * may put these into a cone, and at x = 1 it holds all others above 90 degrees. */
static struct synthetic right_angles(size_t n, uint64_t seed, const paritas_losscone_options *o)
{
    struct synthetic data = synthetic_sweeps(n, seed, -100.0, o);
    for (size_t k = 0; k < n * ROWS * CELLS; k++) {
        const double c = between(&seed, -1.0, 1.0);
        data.cosine[k] = k % 16 == 0 ? -6e-17 : k % 16 == 8 ? 6e-17 : c;
        data.flux[k] = exp(0.3 * draw_normal(&seed));
    }
    return data;
}

TEST(cells_at_right_angles_are_in_no_cone_and_an_edge_at_1_holds_all_others)
{
    for (int kind = 0; kind < 4; kind++) {
        const int folded = kind % 2, single = kind / 2;
        paritas_context *context = open_context(NULL, single ? 32 : 64, 1, 0);
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        o.response = folded ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
        o.amplitude_upper = 0.0;
        struct synthetic data = right_angles(3, 5, &o);
        const paritas_sweeps sweeps = sweeps_of(&data);
        static double model[3 * ROWS * CELLS];
        const double points[3][3] = {{0.0, 1.0, 0.0}, {0.0, 1.1, 0.0}, {15.0, 1.0, 0.0}};
        ASSERT_OK(context, paritas_losscone_model(context, &sweeps, &o, points[0], model, NULL));
        for (size_t k = 0; k < COUNT(model); k++)
            if (!(fabs(model[k] - (data.cosine[k] < -1e-9 ? o.background : 1.0)) < 1e-6) &&
                !(single && fabs(data.cosine[k]) < 2.1e-4))
                fail_msg("cell %zu: %g", k, model[k]);
        for (int p = 0; p < 3; p++) { /* by tables at one point, by the formula at the same */
            paritas_losscone_result results[2][3] = {{PARITAS_INIT(paritas_losscone_result)},
                                                     {PARITAS_INIT(paritas_losscone_result)}};
            double misfit[3];
            o.potential_lower = o.potential_upper = points[p][0];
            o.ratio_lower = o.ratio_upper = points[p][1];
            ASSERT_OK(context, paritas_losscone_misfit(context, &sweeps, &o, 1, points[p], misfit, NULL));
            for (int search = 0; search < 2; search++) {
                o.search = search ? PARITAS_LOSSCONE_SEARCH_DE : PARITAS_LOSSCONE_SEARCH_EXACT;
                ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, results[search]));
                for (int k = 0; k < 3; k++)
                    ASSERT_CLOSE(results[search][k].misfit, misfit[k], (single ? 1e-5 : 1e-9) * misfit[k]);
            }
        }
        synthetic_free(&data);
        paritas_close(context);
    }
}

/* In narrow domains cells are found before any is solved for, and wait in the heap when the limit is
 * reached. */
TEST(searches_cut_short_answer_a_point_and_how_far_it_may_be_undercut)
{
    enum { N = 60 };
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_losscone_options standard = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(N, 7, -300.0, &standard);
    uint64_t seed = 77;
    for (size_t k = 0; k < N * ROWS * CELLS; k++) {
        const size_t row = k / CELLS, sweep = row / ROWS;
        data.cosine[k] = between(&seed, -1.0, 1.0);
        data.flux[k] = model_of(data.energy[row], data.potential[row], data.cosine[k], data.truth[sweep][0],
                                data.truth[sweep][1], 0.0, 0, &standard) *
                       exp(0.2 * draw_normal(&seed));
    }
    for (size_t k = 0; k < N; k++) {
        const paritas_sweeps one = {.size = sizeof(paritas_sweeps),
                                    .n = 1,
                                    .energy = data.energy + k * ROWS,
                                    .potential = data.potential + k * ROWS,
                                    .cosine = data.cosine + k * ROWS * CELLS,
                                    .flux = data.flux + k * ROWS * CELLS};
        paritas_losscone_options o = standard;
        paritas_losscone_result full = PARITAS_INIT(paritas_losscone_result),
                                r = PARITAS_INIT(paritas_losscone_result);
        if (k % 6)
            o.potential_lower = -300.0 * draw(&seed), o.potential_upper = o.potential_lower + 0.02,
            o.ratio_lower = 0.9, o.ratio_upper = 0.905;
        ASSERT_OK(context, paritas_losscone_fit(context, &one, &o, &full));
        assert_int_equal(full.status, PARITAS_SWEEP_FITTED);
        for (o.box_limit = 1; o.box_limit <= 90; o.box_limit++) {
            ASSERT_OK(context, paritas_losscone_fit(context, &one, &o, &r));
            assert_true(r.ratio_lower < r.ratio_upper); /* of a plateau, though it be another one */
            assert_true(r.potential >= o.potential_lower && r.potential <= o.potential_upper &&
                        r.ratio >= o.ratio_lower && r.ratio <= o.ratio_upper);
            if (r.misfit - r.gap > full.misfit + 1e-6 * (1.0 + full.misfit))
                fail_msg("limit %u, sweep %zu: %.12g less %g, but %.12g is there", o.box_limit, k, r.misfit,
                         r.gap, full.misfit);
        }
    }
    synthetic_free(&data);
    paritas_close(context);
}

TEST(beams_that_are_too_narrow_to_be_searched_for_are_refused)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(1, 9, -300.0, &o);
    const paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
    o.beam_width = 9e-4;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, &o, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "beam_width"));
    o.beam_width = 0.0;
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, &r));
    o.beam_width = 1e-3;
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, &r));
    synthetic_free(&data);
    paritas_close(context);
}

TEST(fluxes_that_would_drown_all_others_are_masked)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (int lillis = 0; lillis < 2; lillis++) {
        paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        o.method = lillis ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
        struct synthetic data = synthetic_sweeps(1, 11, -300.0, &o);
        const paritas_sweeps sweeps = sweeps_of(&data);
        paritas_losscone_result without = PARITAS_INIT(paritas_losscone_result),
                                with = PARITAS_INIT(paritas_losscone_result);
        for (size_t k = 0; k < ROWS * CELLS; k += 50) data.flux[k] = (double)NAN;
        ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, &without));
        for (size_t k = 0; k < ROWS * CELLS; k += 50) data.flux[k] = k % 100 ? 1.01e12 : 1e300;
        ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, &with));
        assert_memory_equal(&with, &without, sizeof with);
        /* the most: its misfit is no infinity */
        for (size_t k = 0; k < ROWS * CELLS; k++) data.flux[k] = 1e12;
        ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, &with));
        assert_int_equal(with.cells, ROWS * CELLS);
        assert_true(with.misfit > 0.0 && with.misfit < 1e30 && with.gap == 0.0);
        synthetic_free(&data);
    }
    paritas_close(context);
}

TEST(a_box_limit_makes_no_threshold_of_the_bootstrap_lower)
{
    enum { N = 6 };
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(N, 13, -300.0, &o);
    const paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result results[N] = {PARITAS_INIT(paritas_losscone_result)};
    double full[N], cut[N];
    int higher = 0;
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, results));
    ASSERT_OK(context, paritas_losscone_bootstrap(context, &sweeps, &o, results, 12, 0.7, full));
    o.box_limit = 17;
    ASSERT_OK(context, paritas_losscone_bootstrap(context, &sweeps, &o, results, 12, 0.7, cut));
    for (int k = 0; k < N; k++) {
        if (!(cut[k] >= full[k] - 1e-9 * (1.0 + results[k].misfit)))
            fail_msg("sweep %d: %g, but %g where nothing is left", k, cut[k], full[k]);
        higher += cut[k] > full[k];
    }
    assert_true(higher > 0);
    synthetic_free(&data);
    paritas_close(context);
}

TEST(results_that_are_no_fits_within_the_bounds_are_refused_by_name)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    struct synthetic data = synthetic_sweeps(2, 15, -300.0, &o);
    const paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result results[2] = {PARITAS_INIT(paritas_losscone_result)},
                            wrong[2] = {PARITAS_INIT(paritas_losscone_result)};
    paritas_confidence sets[2] = {PARITAS_INIT(paritas_confidence)};
    double thresholds[2];
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &o, results));
    double *const fields[] = {
        &wrong[1].misfit, &wrong[1].potential_centre, &wrong[1].potential_lower, &wrong[1].potential_upper,
        &wrong[1].ratio,  &wrong[1].ratio_centre,     &wrong[1].amplitude};
    const char *const names[] = {"misfit", "potential_centre", "potential_lower", "potential_upper",
                                 "ratio",  "ratio_centre",     "amplitude"};
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -2100.0, 5100.0};
    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t v = 0; v < COUNT(values); v++) {
            if (i == 0 && v == 4) continue; /* a misfit may be that large */
            memcpy(wrong, results, sizeof results);
            *fields[i] = values[v];
            assert_int_equal(paritas_losscone_confidence(context, &sweeps, &o, wrong, NULL, 0.0, sets),
                             PARITAS_INVALID_ARGUMENT);
            assert_non_null(strstr(paritas_error_message(context), "results[1]"));
            assert_non_null(strstr(paritas_error_message(context), names[i]));
            assert_int_equal(paritas_losscone_bootstrap(context, &sweeps, &o, wrong, 2, 0.5, thresholds),
                             PARITAS_INVALID_ARGUMENT);
        }
    results[1].potential_upper = 20.0 + 1e-9; /* rounded */
    ASSERT_OK(context, paritas_losscone_confidence(context, &sweeps, &o, results, NULL, 50.0, sets));
    synthetic_free(&data);
    paritas_close(context);
}

/* Where the model fits nothing, all intervals of r are as good as others, and many wait. */
TEST(profiles_over_wide_bounds_are_nowhere_above_those_within)
{
    enum { N = 3, POTENTIALS = 4 };
    static const double u[POTENTIALS] = {-60.0, -20.0, -0.3, 5.0};
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT, wide;
    o.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    struct synthetic data = synthetic_sweeps(N, 17, -300.0, &o);
    const paritas_sweeps sweeps = sweeps_of(&data);
    uint64_t seed = 18;
    double within[N * POTENTIALS], all[N * POTENTIALS], ratio[N * POTENTIALS];
    for (size_t k = 0; k < N * ROWS * CELLS; k++) {
        data.cosine[k] = -draw(&seed);
        data.flux[k] = 0.22 * exp(draw_normal(&seed));
    }
    wide = o;
    wide.ratio_lower = 1e-6, wide.ratio_upper = 1e3;
    ASSERT_OK(context, paritas_losscone_profile(context, &sweeps, &o, POTENTIALS, u, within, NULL, NULL));
    ASSERT_OK(context, paritas_losscone_profile(context, &sweeps, &wide, POTENTIALS, u, all, ratio, NULL));
    for (int i = 0; i < N * POTENTIALS; i++) {
        const double point[3] = {u[i % POTENTIALS], ratio[i], 0.0};
        double misfit[N];
        assert_true(all[i] <= within[i] + 1e-8 * within[i]);
        ASSERT_OK(context, paritas_losscone_misfit(context, &sweeps, &wide, 1, point, misfit, NULL));
        ASSERT_CLOSE(all[i], misfit[i / POTENTIALS], 1e-9 * all[i]);
    }
    synthetic_free(&data);
    paritas_close(context);
}

TEST(generations_have_a_limit)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const paritas_sweeps none = {.size = sizeof(paritas_sweeps), .n = 0};
    paritas_losscone_result r = PARITAS_INIT(paritas_losscone_result);
    o.search = PARITAS_LOSSCONE_SEARCH_DE;
    o.generations = 1000001;
    assert_int_equal(paritas_losscone_fit(context, &none, &o, &r), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "generations"));
    o.generations = 1000000;
    ASSERT_OK(context, paritas_losscone_fit(context, &none, &o, &r));
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_at_right_angles_are_in_no_cone_and_an_edge_at_1_holds_all_others),
        cmocka_unit_test(searches_cut_short_answer_a_point_and_how_far_it_may_be_undercut),
        cmocka_unit_test(beams_that_are_too_narrow_to_be_searched_for_are_refused),
        cmocka_unit_test(fluxes_that_would_drown_all_others_are_masked),
        cmocka_unit_test(a_box_limit_makes_no_threshold_of_the_bootstrap_lower),
        cmocka_unit_test(results_that_are_no_fits_within_the_bounds_are_refused_by_name),
        cmocka_unit_test(profiles_over_wide_bounds_are_nowhere_above_those_within),
        cmocka_unit_test(generations_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
