/* Profiles, confidence sets and the bootstrap. */
#include "losscone/cases.h"

/* Method, response and beam of variant v. */
#define VARIANTS 5
static paritas_losscone_options variant(int v)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.method = v == 1 ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
    options.response = v == 2 ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
    if (v == 3) options.amplitude_upper = 0.0;
    if (v == 4) options.beam_sigma = 30.0, options.beam_width = 60.0; /* reaches incident cells */
    return options;
}

static struct data make_sweeps(size_t n, uint64_t seed)
{
    struct data d = make_data(n);
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (size_t k = 0; k < n; k++) make_sweep(context, NULL, &d, k, &seed);
    paritas_close(context);
    return d;
}

TEST(profiles_lie_below_every_point_and_on_one)
{
    enum { sweeps = 4, potentials = 9, ratios = 200, amplitudes = 6 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct data d = make_sweeps(sweeps, 21);
    static const double u[potentials] = {-2000.0, -600.0, -300.0, -200.0, -120.0, -80.0, -40.0, 0.0, 20.0};
    double *misfit = make_array(sweeps * potentials, sizeof *misfit),
           *ratio = make_array(sweeps * potentials, sizeof *ratio);
    double *amplitude = make_array(sweeps * potentials, sizeof *amplitude);
    double (*points)[3] = make_array(ratios * amplitudes, sizeof *points),
           *found = make_array(ratios * amplitudes, sizeof *found);
    for (int v = 0; v < VARIANTS; v++) {
        const paritas_losscone_options options = variant(v);
        double nearest = 1e300;
        ASSERT_OK(context, paritas_losscone_profile(context, &d.sweeps, &options, potentials, u, misfit,
                                                    ratio, amplitude));
        for (size_t k = 0; k < sweeps; k++) {
            const paritas_sweeps one = part_of(&d, k, 1);
            for (int i = 0; i < potentials; i++) {
                const size_t at = k * potentials + (size_t)i;
                const double answer[3] = {u[i], ratio[at], amplitude[at]};
                double direct;
                ASSERT_OK(context,
                          paritas_losscone_misfit(context, &one, &options, 1, answer, &direct, NULL));
                ASSERT_CLOSE(misfit[at], direct, 1e-9 * (1.0 + direct));
                for (int p = 0; p < ratios * amplitudes; p++) {
                    const int a = p % amplitudes;
                    points[p][0] = u[i];
                    points[p][1] = 0.3 + 0.8 * (p / amplitudes + 0.5) / ratios;
                    points[p][2] = a == 0   ? 0.0
                                   : a == 1 ? answer[2]
                                            : options.amplitude_upper * pow(2.0, 2.0 * (2 - a));
                }
                ASSERT_OK(context, paritas_losscone_misfit(context, &one, &options, ratios * amplitudes,
                                                           points[0], found, NULL));
                for (int p = 0; p < ratios * amplitudes; p++) {
                    if (found[p] < misfit[at] - 1e-7 * (1.0 + misfit[at]))
                        fail_msg("variant %d, sweep %zu, U %g: %.12g, but %.12g at r %g, A %g", v, k, u[i],
                                 misfit[at], found[p], points[p][1], points[p][2]);
                    nearest = fmin(nearest, found[p] - misfit[at]);
                }
            }
        }
        assert_true(nearest < 1e-6);
    }
    free(misfit);
    free(ratio);
    free(amplitude);
    free(points);
    free(found);
    free_data(&d);
    paritas_close(context);
}

TEST(the_profile_at_the_minimum_is_the_minimum)
{
    enum { sweeps = 60 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct data d = make_sweeps(sweeps, 22);
    for (int v = 0; v < VARIANTS; v++) {
        const paritas_losscone_options options = variant(v);
        paritas_losscone_result results[sweeps] = {PARITAS_INIT(paritas_losscone_result)};
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results));
        for (size_t k = 0; k < sweeps; k++) {
            const paritas_sweeps one = part_of(&d, k, 1);
            const double lower = results[k].potential_lower, upper = results[k].potential_upper;
            double at[12], misfit[12];
            at[0] = results[k].potential;
            for (int i = 1; i < 12; i++) at[i] = lower + (upper - lower) * (i - 0.5) / 11.0;
            ASSERT_OK(context, paritas_losscone_profile(context, &one, &options, 12, at, misfit, NULL, NULL));
            if (fabs(misfit[0] - results[k].misfit) > 1e-6 * (1.0 + misfit[0]))
                fail_msg("variant %d, sweep %zu: %.12g at %.9g of %.9g .. %.9g, not %.12g", v, k, misfit[0],
                         at[0], lower, upper, results[k].misfit);
            for (int i = 1; i < 12; i++) {
                assert_true(misfit[i] >= results[k].misfit - 1e-6 * (1.0 + misfit[0]));
                if (v == 2 || v == 3) ASSERT_CLOSE(misfit[i], results[k].misfit, 1e-9 * (1.0 + misfit[0]));
            }
        }
    }
    free_data(&d);
    paritas_close(context);
}

TEST(the_profile_without_beam_is_nowhere_above_that_of_the_reference)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *seven = read_case(context, "case07_noisy_chunks", &document);
    struct data d = make_data(1);
    for (const struct json *chunk = json_get(seven, "chunks")->first; chunk; chunk = chunk->next) {
        double potentials[CHUNK_POTENTIALS], least[CHUNK_POTENTIALS], misfit[CHUNK_POTENTIALS],
            ratio[CHUNK_POTENTIALS];
        read_chunk(context, seven, chunk, &d);
        read_chunk_profile(chunk, potentials, least);
        const paritas_losscone_options options = variant(3);
        ASSERT_OK(context, paritas_losscone_profile(context, &d.sweeps, &options, CHUNK_POTENTIALS,
                                                    potentials, misfit, ratio, NULL));
        for (int u = 0; u < CHUNK_POTENTIALS; u++) {
            const double at[3] = {potentials[u], ratio[u], 0.0};
            double direct;
            assert_true(misfit[u] <= least[u] * (1.0 + 1e-9));
            ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, &options, 1, at, &direct, NULL));
            ASSERT_CLOSE(misfit[u], direct, 1e-9 * direct);
        }
    }
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

static int is_in(const paritas_confidence *set, double u)
{
    for (unsigned i = 0; i < set->intervals; i++)
        if (u >= set->lower[i] && u <= set->upper[i]) return 1;
    return 0;
}

TEST(confidence_sets_hold_the_potentials_whose_profile_is_low_enough)
{
    enum { sweeps = 6, grid = 405 };
    const double step = 5.0;
    paritas_context *context = open_context(NULL, 64, 2, 0);
    struct data d = make_sweeps(sweeps, 23);
    double u[grid], *misfit = make_array(sweeps * grid, sizeof *misfit), thresholds[sweeps];
    for (int i = 0; i < grid; i++) u[i] = -2000.0 + step * i;
    for (int v = 0; v < VARIANTS; v++)
        for (int wide = 0; wide < 3; wide++) {
            const paritas_losscone_options options = variant(v);
            paritas_losscone_result results[sweeps] = {PARITAS_INIT(paritas_losscone_result)};
            paritas_confidence sets[sweeps] = {PARITAS_INIT(paritas_confidence)};
            ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results));
            if (wide == 0)
                ASSERT_OK(context, paritas_losscone_profile(context, &d.sweeps, &options, grid, u, misfit,
                                                            NULL, NULL));
            for (size_t k = 0; k < sweeps; k++)
                thresholds[k] = wide == 1 ? 0.3 * results[k].misfit : 3.0 * results[k].misfit;
            ASSERT_OK(context, paritas_losscone_confidence(context, &d.sweeps, &options, results,
                                                           wide ? thresholds : NULL, step, sets));
            for (size_t k = 0; k < sweeps; k++) {
                const paritas_losscone_result *r = &results[k];
                const paritas_confidence *set = &sets[k];
                const double usual = 4.0 * r->misfit / (r->cells - 3.0);
                ASSERT_CLOSE(set->threshold, wide ? thresholds[k] : usual, 1e-12 * (1.0 + set->threshold));
                assert_true(set->intervals >= 1 && set->intervals <= PARITAS_CONFIDENCE_INTERVALS);
                for (unsigned i = 0; i < set->intervals; i++)
                    assert_true(set->lower[i] <= set->upper[i] &&
                                (i == 0 || set->lower[i] > set->upper[i - 1]));
                assert_true(is_in(set, r->potential_lower) && is_in(set, r->potential_upper) &&
                            is_in(set, r->potential));
                assert_int_equal(set->at_lower_bound, set->lower[0] == -2000.0);
                assert_int_equal(set->at_upper_bound, set->upper[set->intervals - 1] == 20.0);
                for (int i = 0; i < grid; i++) {
                    const double above = misfit[k * grid + (size_t)i] - r->misfit - set->threshold;
                    /* joined to the plateau, maybe */
                    const int beside = u[i] > r->potential_lower - step && u[i] < r->potential_upper + step;
                    if (fabs(above) < 1e-7 * (1.0 + r->misfit) || beside) continue;
                    if (above < 0.0 ? !is_in(set, u[i])
                                    : is_in(set, u[i]) && set->intervals < PARITAS_CONFIDENCE_INTERVALS)
                        fail_msg("variant %d, sweep %zu: U %g is %sin the set, the profile is %g above", v, k,
                                 u[i], is_in(set, u[i]) ? "" : "not ", above);
                }
            }
        }
    free(misfit);
    free_data(&d);
    paritas_close(context);
}

TEST(a_set_of_everything_reaches_both_bounds_and_no_fit_has_none)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_sweeps(2, 24);
    for (int c = 0; c < ALL; c++) d.flux[ALL + c] = 0.0;
    paritas_losscone_result results[2] = {PARITAS_INIT(paritas_losscone_result)};
    paritas_confidence sets[2] = {PARITAS_INIT(paritas_confidence)};
    double thresholds[2] = {1e9, 1e9}, found[2];
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, NULL, results));
    ASSERT_OK(context, paritas_losscone_confidence(context, &d.sweeps, NULL, results, thresholds, 0.0, sets));
    assert_int_equal(sets[0].intervals, 1);
    assert_true(sets[0].lower[0] == -2000.0 && sets[0].upper[0] == 20.0 && sets[0].at_lower_bound &&
                sets[0].at_upper_bound);
    assert_int_equal(sets[1].intervals, 0);
    assert_true(isnan(sets[1].threshold));
    ASSERT_OK(context, paritas_losscone_bootstrap(context, &d.sweeps, NULL, results, 5, 0.5, found));
    assert_true(found[0] >= 0.0 && isnan(found[1]));
    thresholds[0] = (double)NAN;
    ASSERT_OK(context, paritas_losscone_confidence(context, &d.sweeps, NULL, results, thresholds, 0.0, sets));
    assert_int_equal(sets[0].intervals, 0);
    paritas_losscone_options wide = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    wide.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    wide.potential_lower = -1e5;
    ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &wide, results));
    /* on a grid that has room */
    ASSERT_OK(context, paritas_losscone_confidence(context, &d.sweeps, &wide, results, NULL, 0.0, sets));
    assert_int_equal(paritas_losscone_confidence(context, &d.sweeps, &wide, results, NULL, 1.0, sets),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_confidence(context, &d.sweeps, NULL, results, NULL, -1.0, sets),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_confidence(context, &d.sweeps, NULL, results, NULL, 1e-3, sets),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_confidence(context, &d.sweeps, NULL, NULL, NULL, 1.0, sets),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_bootstrap(context, &d.sweeps, NULL, results, 0, 0.5, found),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_bootstrap(context, &d.sweeps, NULL, results, 10, 1.0, found),
                     PARITAS_INVALID_ARGUMENT);
    const double outside = 21.0;
    assert_int_equal(paritas_losscone_profile(context, &d.sweeps, NULL, 1, &outside, found, NULL, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "potentials[0]"));
    results[0].potential_centre = 30.0;
    assert_int_equal(paritas_losscone_bootstrap(context, &d.sweeps, NULL, results, 10, 0.5, found),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "results[0]"));
    free_data(&d);
    paritas_close(context);
}

/* The same experiment through the public functions: fluxes drawn here, fitted, profiled at the truth. */
TEST(thresholds_of_the_bootstrap_are_those_of_a_simulation)
{
    enum { draws = 300 };
    paritas_context *context = open_context(NULL, 64, 2, 0);
    uint64_t random = 25;
    for (int v = 0; v < VARIANTS; v++) {
        struct data d = make_sweeps(1, 26 + (uint64_t)v), toys = make_data(draws);
        paritas_losscone_options options = variant(v);
        paritas_losscone_result result = PARITAS_INIT(paritas_losscone_result),
                                fits[draws] = {PARITAS_INIT(paritas_losscone_result)};
        double model[ALL], threshold[3], above[draws];
        static const double levels[3] = {0.5, 0.8, 0.95};
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, &result));
        for (int l = 0; l < 3; l++)
            ASSERT_OK(context, paritas_losscone_bootstrap(context, &d.sweeps, &options, &result, draws,
                                                          levels[l], &threshold[l]));
        assert_true(threshold[0] <= threshold[1] && threshold[1] <= threshold[2]);
        double at[3] = {result.potential_centre, result.ratio_centre, 0.0}, least;
        /* the best amplitude there */
        ASSERT_OK(context,
                  paritas_losscone_profile(context, &d.sweeps, &options, 1, at, &least, NULL, at + 2));
        const double size = sqrt(v == 1 ? result.misfit : result.misfit / (result.cells - 3.0));
        ASSERT_OK(context, paritas_losscone_model(context, &d.sweeps, &options, at, model, NULL));
        for (size_t k = 0; k < draws; k++) {
            memcpy(toys.energy + k * ROWS, d.energy, ROWS * sizeof(double));
            memcpy(toys.potential + k * ROWS, d.potential, ROWS * sizeof(double));
            memcpy(toys.cosine + k * ALL, d.cosine, ALL * sizeof(double));
            for (int c = 0; c < ALL; c++) {
                const double z = normal(&random);
                const double drawn =
                    v == 1 ? model[c] + size * z : exp(log(model[c] + 1e-6) + size * z) - 1e-6;
                toys.flux[k * ALL + (size_t)c] = d.flux[c] > 0.0 ? fmax(drawn, 1e-9) : (double)NAN;
            }
        }
        ASSERT_OK(context, paritas_losscone_fit(context, &toys.sweeps, &options, fits));
        ASSERT_OK(context,
                  paritas_losscone_profile(context, &toys.sweeps, &options, 1, at, above, NULL, NULL));
        for (int l = 0; l < 3; l++) {
            int below = 0, zero = 0;
            for (size_t k = 0; k < draws; k++) {
                below += above[k] - fits[k].misfit <= threshold[l] + 1e-9 * (1.0 + above[k]);
                zero += above[k] - fits[k].misfit <= 1e-6 * (1.0 + above[k]);
            }
            const double part = (double)below / draws,
                         error = sqrt(2.0 * levels[l] * (1.0 - levels[l]) / draws);
            print_message("variant %d, level %g: threshold %.4g, %.3f of simulated ones below (%.3f at 0)\n",
                          v, levels[l], threshold[l], part, (double)zero / draws);
            /* where most are 0 the part below is larger than the level */
            assert_true(part > levels[l] - 4.0 * error &&
                        (part < levels[l] + 4.0 * error || (double)zero / draws > levels[l] - 4.0 * error));
        }
        free_data(&d);
        free_data(&toys);
    }
    paritas_close(context);
}

TEST(profiles_sets_and_thresholds_have_the_same_bits_however_the_work_is_cut)
{
    enum { sweeps = 9, potentials = 11, draws = 6 };
    static const double u[potentials] = {-1500.0, -700.0, -350.0, -220.0, -130.0, -90.0,
                                         -45.0,   -10.0,  0.0,    5.0,    20.0};
    struct data d = make_sweeps(sweeps, 27);
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        static paritas_losscone_result results[VARIANTS][sweeps]; /* of the first context, for all */
        for (int v = 0; v < VARIANTS; v++) results[v][0].size = sizeof results[v][0];
        static double misfit[VARIANTS][sweeps * potentials], thresholds[VARIANTS][sweeps];
        static paritas_confidence sets[VARIANTS][sweeps];
        int first = 1;
        size_t way = 0;
        for (paritas_context *context; (context = next_context(precision, &way)) != NULL;) {
            for (int v = 0; v < VARIANTS; v++) {
                paritas_losscone_options options = variant(v);
                options.first = 0xfffffffc;
                double found[sweeps * potentials], limits[sweeps];
                paritas_confidence here[sweeps] = {PARITAS_INIT(paritas_confidence)};
                if (first) ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results[v]));
                ASSERT_OK(context, paritas_losscone_profile(context, &d.sweeps, &options, potentials, u,
                                                            found, NULL, NULL));
                ASSERT_OK(context, paritas_losscone_bootstrap(context, &d.sweeps, &options, results[v], draws,
                                                              0.9, limits));
                ASSERT_OK(context, paritas_losscone_confidence(context, &d.sweeps, &options, results[v], NULL,
                                                               2.0, here));
                if (first) {
                    memcpy(misfit[v], found, sizeof found);
                    memcpy(thresholds[v], limits, sizeof limits);
                    memcpy(sets[v], here, sizeof here);
                }
                assert_memory_equal(found, misfit[v], sizeof found);
                assert_memory_equal(limits, thresholds[v], sizeof limits);
                for (size_t k = 0; k < sweeps; k++) {
                    assert_int_equal(here[k].intervals, sets[v][k].intervals);
                    assert_memory_equal(here[k].lower, sets[v][k].lower, sizeof here[k].lower);
                    assert_memory_equal(here[k].upper, sets[v][k].upper, sizeof here[k].upper);
                }
                const paritas_sweeps part = part_of(&d, 5, 2);
                options.first += 5;
                ASSERT_OK(context, paritas_losscone_bootstrap(context, &part, &options, results[v] + 5, draws,
                                                              0.9, limits));
                assert_memory_equal(limits, thresholds[v] + 5, 2 * sizeof *limits);
                ASSERT_OK(context,
                          paritas_losscone_profile(context, &part, &options, 3, u + 4, found, NULL, NULL));
                assert_memory_equal(found + 3, misfit[v] + 6 * potentials + 4, 3 * sizeof *found);
            }
            first = 0;
            paritas_close(context);
        }
    }
    free_data(&d);
}

/* What a callback for progress was told. */
struct watch {
    uint64_t done, total;
    size_t calls;
};
static int watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    assert_true(done >= watch->done && done <= total && (watch->calls == 0 || total == watch->total));
    *watch = (struct watch){done, total, watch->calls + 1};
    return 0;
}

/* Misfits go out in launches of 4096 points, profiles of 1024 potentials. */
TEST(progress_rises_to_its_end_over_all_launches)
{
    enum { sweeps = 3, many = 9000 };
    struct data d = make_sweeps(sweeps, 31);
    struct watch watch = {0};
    paritas_options opened = PARITAS_OPTIONS_DEFAULT;
    opened.threads = 1;
    opened.progress = watch_progress;
    opened.progress_user = &watch;
    paritas_context *context;
    ASSERT_OK(context, paritas_open(&opened, &context));
    double (*points)[3] = make_array(many, sizeof *points),
           *misfit = make_array(sweeps * many, sizeof *misfit),
           *potentials = make_array(many, sizeof *potentials);
    for (int p = 0; p < many; p++) {
        points[p][0] = potentials[p] = -0.1 * p;
        points[p][1] = 0.7;
    }
    ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, many, points[0], misfit, NULL));
    assert_true(watch.calls >= 3 && watch.done == watch.total && watch.total == 3 * sweeps);
    watch = (struct watch){0};
    ASSERT_OK(context,
              paritas_losscone_profile(context, &d.sweeps, NULL, 2049, potentials, misfit, NULL, NULL));
    assert_true(watch.calls >= 3 && watch.done == watch.total && watch.total == 3 * sweeps);
    watch = (struct watch){0};
    ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, 4096, points[0], misfit, NULL));
    assert_true(watch.done == sweeps && watch.total == sweeps);
    free(points);
    free(misfit);
    free(potentials);
    free_data(&d);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_lie_below_every_point_and_on_one),
        cmocka_unit_test(the_profile_at_the_minimum_is_the_minimum),
        cmocka_unit_test(the_profile_without_beam_is_nowhere_above_that_of_the_reference),
        cmocka_unit_test(confidence_sets_hold_the_potentials_whose_profile_is_low_enough),
        cmocka_unit_test(progress_rises_to_its_end_over_all_launches),
        cmocka_unit_test(a_set_of_everything_reaches_both_bounds_and_no_fit_has_none),
        cmocka_unit_test(thresholds_of_the_bootstrap_are_those_of_a_simulation),
        cmocka_unit_test(profiles_sets_and_thresholds_have_the_same_bits_however_the_work_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
