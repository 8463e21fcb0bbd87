/* Currents and potentials of spacecraft: reference numbers of an independent implementation, integrals done
 * again, balance at what is returned, the same bits everywhere. */
#include "kappa_testing.h"

/* ---- currents ---- */

TEST(photoelectrons_potentials_and_yields_are_those_of_the_reference)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *reference = read_case(context, "case09_spacecraft_charging", &document);
    size_t n = 0;
    for (const struct json *row = json_get(reference, "J_of_U")->first; row; row = row->next, n++)
        ASSERT_NEAR(paritas_photoelectron_current(json_at(row, 0)->number), json_at(row, 1)->number, 1e-14);
    for (const struct json *row = json_get(reference, "U_from_J")->first; row; row = row->next, n++)
        ASSERT_CLOSE(paritas_photoelectron_potential(json_at(row, 0)->number), json_at(row, 1)->number, 1e-9);
    for (const struct json *row = json_get(reference, "sternglass")->first; row; row = row->next, n++)
        ASSERT_NEAR(paritas_secondary_yield(json_at(row, 0)->number), json_at(row, 1)->number, 1e-14);
    assert_int_equal(n, 19);
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(photoelectrons_have_a_potential_from_0_to_150_volts)
{
    for (double u = 0.0; u <= 150.0; u += 0.37)
        ASSERT_CLOSE(paritas_photoelectron_potential(paritas_photoelectron_current(u)), u, 1e-10);
    const double beyond[] = {1.0860000001e-6, 1.3133e-9, 0.0, -1.0, INFINITY, (double)NAN};
    for (size_t i = 0; i < COUNT(beyond); i++) assert_true(isnan(paritas_photoelectron_potential(beyond[i])));
}

TEST(electron_currents_are_those_of_the_reference_but_for_its_sums)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *reference = read_case(context, "case09_spacecraft_charging", &document);
    for (const struct json *row = json_get(reference, "Je_analytic")->first; row; row = row->next) {
        const paritas_kappa_plasma plasma = plasma_of(row);
        ASSERT_NEAR(paritas_electron_current(&plasma, 0.0, INFINITY), json_get(row, "value")->number, 1e-12);
    }
    for (const struct json *row = json_get(reference, "Je")->first; row; row = row->next) {
        const paritas_kappa_plasma plasma = plasma_of(row);
        const double lower = json_get(row, "E_min")->number, upper = json_get(row, "E_max")->number;
        const size_t steps = (size_t)json_get(row, "n_steps")->number;
        ASSERT_NEAR(simpson_current(&plasma, lower, upper, steps, 0),
                    json_get(row, "value_scipy_1_10")->number, 1e-9);
        ASSERT_NEAR(simpson_current(&plasma, lower, upper, steps, 1),
                    json_get(row, "value_scipy_1_11_or_later")->number, 1e-9);
        /* with enough points Simpson's rule comes to the closed form; the masses of the electron differ by
         * 2e-8 */
        ASSERT_NEAR(simpson_current(&plasma, lower, upper, 20001, 1),
                    paritas_electron_current(&plasma, lower, upper), 1e-7);
    }
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(electron_currents_of_adjacent_ranges_add_up)
{
    for (size_t k = 0; k < 200; k++) {
        const paritas_kappa_plasma plasma = some_plasma(k);
        const double whole = paritas_electron_current(&plasma, 0.0, INFINITY),
                     cut = 3.0 * paritas_kappa_temperature(plasma.kappa, plasma.theta);
        ASSERT_NEAR(paritas_electron_current(&plasma, 0.0, cut) +
                        paritas_electron_current(&plasma, cut, INFINITY),
                    whole, 1e-14);
        assert_true(paritas_electron_current(&plasma, cut, cut) == 0.0);
    }
    const paritas_kappa_plasma plasma = {1e6, 5.0, 1e7},
                               none[] = {{0.0, 5.0, 1e7}, {1e6, 1.5, 1e7}, {1e6, 5.0, (double)NAN}};
    assert_true(isnan(paritas_electron_current(&plasma, 2.0, 1.0)) &&
                isnan(paritas_electron_current(&plasma, -1.0, 1.0)));
    for (size_t i = 0; i < COUNT(none); i++) assert_true(isnan(paritas_electron_current(&none[i], 0.0, 1.0)));
}

TEST(currents_in_shade_are_those_of_the_reference_where_they_are_summed_its_way)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *reference = read_case(context, "case09_spacecraft_charging", &document);
    double most = 0.0;
    for (const struct json *row = json_get(reference, "shade")->first; row; row = row->next) {
        const paritas_kappa_plasma plasma = plasma_of(row);
        paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
        for (const struct json *at = json_get(row, "currents")->first; at; at = at->next) {
            const double potential = json_at(at, 0)->number;
            double sums[3], converged[3];
            options.currents = PARITAS_CURRENTS_SUMS;
            ASSERT_OK(context, paritas_shade_currents(context, 1, &plasma, &options, 1, &potential, sums));
            ASSERT_OK(context, paritas_shade_currents(context, 1, &plasma, NULL, 1, &potential, converged));
            for (size_t i = 0; i < 3; i++) {
                if (json_at(at, 3)->number >= 1e12) { /* what stands there for a plasma without temperature */
                    assert_true(isnan(sums[i]) && isnan(converged[i]));
                    continue;
                }
                ASSERT_NEAR(sums[i], json_at(at, i + 1)->number, 1e-9);
                if (fabs(converged[i] / sums[i] - 1.0) > most) most = fabs(converged[i] / sums[i] - 1.0);
            }
        }
    }
    assert_true(most > 0.01 && most < 0.02); /* the sums begin up to one energy late */
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(currents_in_shade_are_the_integrals)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (size_t k = 0; k < 60; k++) {
        const paritas_kappa_plasma plasma = some_plasma(k);
        const double edge = (plasma.kappa - 1.5) * paritas_kappa_temperature(plasma.kappa, plasma.theta),
                     potentials[] = {0.0, -0.02 * edge, -0.5 * edge, -0.97 * edge, 0.7};
        double currents[COUNT(potentials)][3];
        ASSERT_OK(context, paritas_shade_currents(context, 1, &plasma, NULL, COUNT(potentials), potentials,
                                                  currents[0]));
        for (size_t i = 0; i < COUNT(potentials); i++) {
            const struct currents_here wanted = integrate_currents(&plasma, potentials[i]);
            const double total = paritas_electron_current(&plasma, 0.0, INFINITY);
            ASSERT_CLOSE(currents[i][0], wanted.electrons, 1e-9 * wanted.electrons + 1e-15 * total);
            ASSERT_CLOSE(currents[i][1], wanted.secondaries, 1e-9 * wanted.secondaries + 1e-15 * total);
            ASSERT_NEAR(currents[i][2], wanted.ions, 1e-12);
        }
    }
    paritas_close(context);
}

/* ---- potentials ---- */

TEST(potentials_in_shade_are_those_of_the_reference_where_currents_are_summed_its_way)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *reference = read_case(context, "case09_spacecraft_charging", &document);
    paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    const unsigned char shade = 0;
    size_t roots = 0;
    for (const struct json *row = json_get(reference, "shade")->first; row; row = row->next) {
        const paritas_kappa_plasma plasma = plasma_of(row);
        const struct json *root = json_get(row, "U_sc");
        paritas_potential sums = PARITAS_INIT(paritas_potential), converged = PARITAS_INIT(paritas_potential);
        options.currents = PARITAS_CURRENTS_SUMS;
        ASSERT_OK(context, paritas_spacecraft_potential(context, 1, &plasma, NULL, &shade, &options, &sums));
        ASSERT_OK(context, paritas_spacecraft_potential(context, 1, &plasma, NULL, &shade, NULL, &converged));
        assert_int_equal(converged.status, PARITAS_POTENTIAL_FOUND);
        if (root->type == JSON_NULL) {
            assert_int_equal(sums.status, PARITAS_POTENTIAL_NO_BALANCE);
            assert_true(isnan(sums.potential) && converged.potential > 0.0);
            continue;
        }
        roots++;
        assert_int_equal(sums.status, PARITAS_POTENTIAL_FOUND);
        ASSERT_CLOSE(sums.potential, root->number, 2e-3);
        ASSERT_CLOSE(sums.temperature, json_get(row, "T_c_at_root")->number, 2e-3);
        assert_true(fabs(converged.potential / sums.potential - 1.0) < 0.02);
    }
    assert_int_equal(roots, 2);
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(hot_electrons_that_free_more_than_they_are_charge_the_spacecraft_up)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_kappa_plasma plasma[] = {{1e6, 5.0, 1e7}, {2e5, 4.0, 5e6}};
    const unsigned char shade[] = {0, 0};
    paritas_potential results[2] = {PARITAS_INIT(paritas_potential)};
    ASSERT_OK(context, paritas_spacecraft_potential(context, 2, plasma, NULL, shade, NULL, results));
    /* roots of the same balance found by SciPy's brentq with a quadrature of its own */
    ASSERT_CLOSE(results[0].potential, 0.6680263180275625, 1e-9);
    ASSERT_CLOSE(results[1].potential, 0.3437853310519742, 1e-9);
    /* the second may also stay negative */
    assert_true(isnan(results[0].second));
    ASSERT_CLOSE(results[1].second, -148.00559450258365, 1e-8);
    paritas_close(context);
}

TEST(currents_balance_and_balance_stably_in_shade)
{
    enum { N = 1500 };
    static paritas_kappa_plasma plasma[N];
    static unsigned char shade[N];
    static paritas_potential results[N] = {PARITAS_INIT(paritas_potential)};
    paritas_context *context = open_context(NULL, 64, 0, 0);
    for (size_t k = 0; k < N; k++) plasma[k] = some_plasma(k);
    ASSERT_OK(context, paritas_spacecraft_potential(context, N, plasma, NULL, shade, NULL, results));
    size_t up = 0, twice = 0;
    for (size_t k = 0; k < N; k++) {
        const paritas_potential *r = &results[k];
        assert_int_equal(r->status, PARITAS_POTENTIAL_FOUND);
        const double d = 1e-6 * fmax(fabs(r->potential), 1.0),
                     second = isnan(r->second) ? r->potential : r->second;
        const double potentials[] = {r->potential - d,
                                     r->potential,
                                     r->potential + d,
                                     second - 1e-6 * fabs(second),
                                     second + 1e-6 * fabs(second),
                                     0.0};
        double c[COUNT(potentials)][3], net[COUNT(potentials)];
        ASSERT_OK(context,
                  paritas_shade_currents(context, 1, &plasma[k], NULL, COUNT(potentials), potentials, c[0]));
        for (size_t i = 0; i < COUNT(potentials); i++) net[i] = c[i][1] + c[i][2] - c[i][0];
        assert_true(net[0] > 0.0 && net[2] < 0.0);
        assert_true(fabs(net[1]) <= 1e-8 * c[1][0]);
        assert_true(r->electrons == c[1][0] && r->emitted == c[1][1] && r->ions == c[1][2]);
        assert_true((r->potential < 0.0) == (net[5] < 0.0));
        ASSERT_NEAR(r->temperature,
                    paritas_kappa_temperature(plasma[k].kappa, plasma[k].theta) +
                        r->potential / (plasma[k].kappa - 1.5),
                    1e-12);
        up += r->potential > 0.0;
        if (isnan(r->second)) continue;
        twice++;
        assert_true(r->potential > 0.0 && r->second < 0.0 && net[3] > 0.0 && net[4] < 0.0);
    }
    assert_true(up > N / 20 && up < N / 2 && twice > 10);
    paritas_close(context);
}

TEST(no_stable_potential_lies_between_the_one_found_and_0_volts)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    enum { POINTS = 2000 };
    static double potentials[POINTS], currents[POINTS][3];
    for (size_t k = 0; k < 100; k++) {
        const paritas_kappa_plasma plasma = some_plasma(k);
        const unsigned char shade = 0;
        paritas_potential r = PARITAS_INIT(paritas_potential);
        ASSERT_OK(context, paritas_spacecraft_potential(context, 1, &plasma, NULL, &shade, NULL, &r));
        if (r.potential > 0.0) continue;
        for (size_t i = 0; i < POINTS; i++) potentials[i] = r.potential * (double)i / POINTS;
        ASSERT_OK(context,
                  paritas_shade_currents(context, 1, &plasma, NULL, POINTS, potentials, currents[0]));
        for (size_t i = 0; i < POINTS; i++) assert_true(currents[i][1] + currents[i][2] < currents[i][0]);
    }
    paritas_close(context);
}

TEST(in_sunlight_photoelectrons_leave_as_electrons_come_or_it_is_said_why_not)
{
    enum { N = 1000 };
    static paritas_kappa_plasma plasma[N];
    static unsigned char sunlit[N];
    static paritas_potential results[N] = {PARITAS_INIT(paritas_potential)};
    paritas_context *context = open_context(NULL, 64, 0, 0);
    for (size_t k = 0; k < N; k++) plasma[k] = some_plasma(k);
    memset(sunlit, 1, sizeof sunlit);
    paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    options.sun_lower = 0.5;
    options.sun_upper = 1e5;
    ASSERT_OK(context, paritas_spacecraft_potential(context, N, plasma, NULL, sunlit, &options, results));
    size_t of[5] = {0};
    for (size_t k = 0; k < N; k++) {
        const double current = paritas_electron_current(&plasma[k], 0.5, 1e5);
        of[results[k].status]++;
        assert_int_equal(results[k].sunlit, 1);
        if (results[k].status == PARITAS_POTENTIAL_BELOW_ZERO)
            assert_true(current > paritas_photoelectron_current(0.0));
        else if (results[k].status == PARITAS_POTENTIAL_ABOVE_RANGE)
            assert_true(current < paritas_photoelectron_current(150.0));
        else {
            assert_int_equal(results[k].status, PARITAS_POTENTIAL_FOUND);
            ASSERT_NEAR(results[k].electrons, current, 1e-14);
            ASSERT_NEAR(results[k].emitted, current, 1e-10);
            assert_true(results[k].emitted == paritas_photoelectron_current(results[k].potential) &&
                        results[k].ions == 0.0);
            continue;
        }
        assert_true(isnan(results[k].potential) && isnan(results[k].error) && isnan(results[k].electrons));
    }
    assert_true(of[PARITAS_POTENTIAL_FOUND] > N / 4 && of[PARITAS_POTENTIAL_BELOW_ZERO] > 20 &&
                of[PARITAS_POTENTIAL_ABOVE_RANGE] > 20);
    paritas_close(context);
}

TEST(what_is_no_distribution_has_no_potential)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_kappa_plasma plasma[] = {{0.0, 5.0, 1e7}, {-1.0, 5.0, 1e7},    {(double)NAN, 5.0, 1e7},
                                           {1e6, 1.5, 1e7}, {1e6, 1001.0, 1e7},  {1e6, (double)NAN, 1e7},
                                           {1e6, 5.0, 9e3}, {1e6, 5.0, INFINITY}};
    const unsigned char sunlit[COUNT(plasma)] = {0, 1, 0, 1, 0, 1, 0, 1};
    paritas_potential results[COUNT(plasma)] = {PARITAS_INIT(paritas_potential)};
    ASSERT_OK(context,
              paritas_spacecraft_potential(context, COUNT(plasma), plasma, NULL, sunlit, NULL, results));
    for (size_t k = 0; k < COUNT(plasma); k++) {
        assert_int_equal(results[k].status, PARITAS_POTENTIAL_NO_DISTRIBUTION);
        assert_true(isnan(results[k].potential) && isnan(results[k].second) && isnan(results[k].temperature));
    }
    paritas_close(context);
}

TEST(errors_follow_from_the_covariance_of_the_distribution)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (size_t k = 0; k < 60; k++) {
        const paritas_kappa_plasma plasma = some_plasma(k);
        const unsigned char sunlit = (unsigned char)(k % 2);
        double covariance[9], slope[3] = {0.0, 0.0, 0.0}, variance = 0.0;
        const double root[3][3] = {{0.02, 0.0, 0.0}, {-0.05, 0.1, 0.0}, {0.01, -0.02, 0.015}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                covariance[3 * i + j] =
                    root[i][0] * root[j][0] + root[i][1] * root[j][1] + root[i][2] * root[j][2];
        paritas_potential r = PARITAS_INIT(paritas_potential);
        ASSERT_OK(context, paritas_spacecraft_potential(context, 1, &plasma, covariance, &sunlit, NULL, &r));
        if (r.status != PARITAS_POTENTIAL_FOUND) continue;
        for (int p = 0; p < 3; p++) {
            const double h = 1e-4;
            double u[2];
            for (int side = 0; side < 2; side++) {
                const double move = side ? -h : h;
                paritas_kappa_plasma moved = plasma;
                if (p == 0) moved.density *= exp(move);
                if (p == 1) moved.kappa += move;
                if (p == 2) moved.theta *= exp(move);
                paritas_potential there = PARITAS_INIT(paritas_potential);
                ASSERT_OK(context,
                          paritas_spacecraft_potential(context, 1, &moved, NULL, &sunlit, NULL, &there));
                u[side] = there.potential;
            }
            slope[p] = (u[0] - u[1]) / (2.0 * h);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) variance += slope[i] * covariance[3 * i + j] * slope[j];
        ASSERT_NEAR(r.error, sqrt(variance), 1e-4);
    }
    paritas_close(context);
}

TEST(options_that_make_no_sense_are_refused_by_name)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    const paritas_kappa_plasma plasma = {1e6, 5.0, 1e7};
    const unsigned char sunlit = 1;
    paritas_potential result = PARITAS_INIT(paritas_potential);
    const struct {
        paritas_potential_options options;
        const char *says;
    } wrong[] = {
        {{sizeof(paritas_potential_options), (paritas_currents)2, 10, 2e4, 1, 2e4, 3, 1, 1},
         "`currents` is 2"},
        {{sizeof(paritas_potential_options), PARITAS_CURRENTS_SUMS, -1, 2e4, 1, 2e4, 3, 1, 1}, "`sun_lower`"},
        {{sizeof(paritas_potential_options), PARITAS_CURRENTS_SUMS, 10, 2e4, 5, 5, 3, 1, 1}, "`shade_upper`"},
        {{sizeof(paritas_potential_options), PARITAS_CURRENTS_SUMS, 10, INFINITY, 1, 2e4, 3, 1, 1},
         "`sun_upper`"},
        {{sizeof(paritas_potential_options), PARITAS_CURRENTS_SUMS, 10, 2e4, 1, 2e4, (double)NAN, 1, 1},
         "`secondary_energy`"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(
            paritas_spacecraft_potential(context, 1, &plasma, NULL, &sunlit, &wrong[i].options, &result),
            PARITAS_INVALID_ARGUMENT);
        assert_non_null(strstr(paritas_error_message(context), wrong[i].says));
    }
    assert_int_equal(paritas_spacecraft_potential(context, 1, &plasma, NULL, NULL, NULL, &result),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "sunlit"));
    const double potentials[] = {0.0, (double)NAN};
    double currents[6];
    assert_int_equal(paritas_shade_currents(context, 1, &plasma, NULL, 2, potentials, currents),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "potentials[1]"));
    paritas_close(context);
}

/* ---- the same bits ---- */

enum { ALIKE = 300, ALIKE_SUMS = 24, ALIKE_POTENTIALS = 7 };
struct answers {
    paritas_potential converged[ALIKE], sums[ALIKE_SUMS];
    double currents[ALIKE][ALIKE_POTENTIALS][3];
};

/* In launches of `step` jobs. */
static void answer(paritas_context *context, size_t step, struct answers *a)
{
    static const double potentials[ALIKE_POTENTIALS] = {0.0, -1.0, -7.5, -40.0, -300.0, 0.4, 12.0};
    paritas_potential_options sums = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    sums.currents = PARITAS_CURRENTS_SUMS;
    memset(a, 0, sizeof *a);
    for (size_t k = 0; k < ALIKE; k++) a->converged[k].size = sizeof a->converged[k];
    for (size_t k = 0; k < ALIKE_SUMS; k++) a->sums[k].size = sizeof a->sums[k];
    for (size_t at = 0; at < ALIKE; at += step) {
        const size_t n = ALIKE - at < step ? ALIKE - at : step;
        paritas_kappa_plasma plasma[ALIKE];
        double covariance[ALIKE][9] = {{0}};
        unsigned char sunlit[ALIKE];
        for (size_t k = 0; k < n; k++) {
            plasma[k] = some_plasma(at + k);
            if ((at + k) % 29 == 7) plasma[k].kappa = (double)NAN;
            covariance[k][0] = covariance[k][4] = covariance[k][8] = 1e-3;
            sunlit[k] = (at + k) % 3 == 1;
        }
        ASSERT_OK(context, paritas_spacecraft_potential(context, n, plasma, covariance[0], sunlit, NULL,
                                                        a->converged + at));
        if (at < ALIKE_SUMS)
            ASSERT_OK(context,
                      paritas_spacecraft_potential(context, ALIKE_SUMS - at < n ? ALIKE_SUMS - at : n, plasma,
                                                   covariance[0], sunlit, &sums, a->sums + at));
        ASSERT_OK(context, paritas_shade_currents(context, n, plasma, NULL, ALIKE_POTENTIALS, potentials,
                                                  a->currents[at][0]));
    }
}

static void check_bits(unsigned precision)
{
    static struct answers wanted, found;
    paritas_context *context = open_context("portable", precision, 1, 1);
    if (!context) skip_absent(); /* a build of few variants */
    answer(context, ALIKE, &wanted);
    paritas_close(context);
    static const struct {
        const char *isa;
        unsigned threads, lanes;
        size_t step;
    } shapes[] = {{NULL, 1, 0, ALIKE},   {NULL, 3, 0, ALIKE},     {NULL, 2, 1, ALIKE},
                  {NULL, 2, 0, 37},      {NULL, 1, 0, 1},         {"avx2", 1, 4, ALIKE},
                  {"avx2", 1, 8, ALIKE}, {"avx512", 2, 8, ALIKE}, {"scalar", 1, 0, ALIKE}};
    size_t seen = 0;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        context = open_context(shapes[i].isa, precision, shapes[i].threads, shapes[i].lanes);
        if (!context) continue;
        answer(context, shapes[i].step, &found);
        paritas_close(context);
        for (size_t k = 0; k < ALIKE; k++)
            if (memcmp(&found.converged[k], &wanted.converged[k], sizeof wanted.converged[k]) != 0)
                fail_msg("f%u, shape %zu, plasma %zu: %.17g, not %.17g V", precision, i, k,
                         found.converged[k].potential, wanted.converged[k].potential);
        assert_memory_equal(found.sums, wanted.sums, sizeof wanted.sums);
        assert_memory_equal(found.currents, wanted.currents, sizeof wanted.currents);
        seen++;
    }
    assert_true(seen >= 5);
}

TEST(f64_has_the_same_bits_in_all_shapes)
{
    check_bits(64);
}
TEST(f32_has_the_same_bits_in_all_shapes)
{
    check_bits(32);
}

TEST(f32_is_near_f64)
{
    static struct answers wide, narrow;
    paritas_context *context = open_context(NULL, 64, 0, 0);
    answer(context, ALIKE, &wide);
    paritas_close(context);
    context = open_context(NULL, 32, 0, 0);
    if (!context) skip_absent();
    answer(context, ALIKE, &narrow);
    paritas_close(context);
    size_t found = 0;
    for (size_t k = 0; k < ALIKE; k++) {
        const paritas_potential *a = &wide.converged[k], *b = &narrow.converged[k];
        assert_int_equal(a->status, b->status);
        if (a->status != PARITAS_POTENTIAL_FOUND) continue;
        found++;
        const bool thermal = some_plasma(k).kappa > 10.0; /* exponents of hundreds cost digits */
        ASSERT_CLOSE(b->potential, a->potential, (thermal ? 1e-2 : 5e-5) * (1.0 + fabs(a->potential)));
        if (!thermal) ASSERT_NEAR(b->error, a->error, 0.01);
    }
    assert_true(found > ALIKE / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photoelectrons_potentials_and_yields_are_those_of_the_reference),
        cmocka_unit_test(photoelectrons_have_a_potential_from_0_to_150_volts),
        cmocka_unit_test(electron_currents_are_those_of_the_reference_but_for_its_sums),
        cmocka_unit_test(electron_currents_of_adjacent_ranges_add_up),
        cmocka_unit_test(currents_in_shade_are_those_of_the_reference_where_they_are_summed_its_way),
        cmocka_unit_test(currents_in_shade_are_the_integrals),
        cmocka_unit_test(potentials_in_shade_are_those_of_the_reference_where_currents_are_summed_its_way),
        cmocka_unit_test(hot_electrons_that_free_more_than_they_are_charge_the_spacecraft_up),
        cmocka_unit_test(currents_balance_and_balance_stably_in_shade),
        cmocka_unit_test(no_stable_potential_lies_between_the_one_found_and_0_volts),
        cmocka_unit_test(in_sunlight_photoelectrons_leave_as_electrons_come_or_it_is_said_why_not),
        cmocka_unit_test(what_is_no_distribution_has_no_potential),
        cmocka_unit_test(errors_follow_from_the_covariance_of_the_distribution),
        cmocka_unit_test(options_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(f64_has_the_same_bits_in_all_shapes),
        cmocka_unit_test(f32_has_the_same_bits_in_all_shapes),
        cmocka_unit_test(f32_is_near_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
