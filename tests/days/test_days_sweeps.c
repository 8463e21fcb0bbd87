/* Days from files to sweeps: which files are a day, what a batch may not change, words, causes, refusals. */
#define _POSIX_C_SOURCE 200809L
#include "days/days_testing.h"

#include <sys/stat.h>

static double truth[DAYS_TRUTHS][DAYS_MOST], other_truth[DAYS_TRUTHS][DAYS_MOST];
static char folder[] = "/tmp/paritas-days-XXXXXX";

static const char *within(int i, const char *name)
{
    static char paths[4][128];
    snprintf(paths[i], sizeof paths[i], "%s/%s", folder, name);
    return paths[i];
}

static int open_folder(void **state)
{
    return !mkdtemp(folder) || open_shared(state);
}

static int close_folder(void **state)
{
    static const char *const files[] = {"3D980201.TAB", "3D980202.TAB", "copy.TAB", "longer.TAB"};
    for (size_t i = 0; i < COUNT(files); i++) unlink(within(0, files[i]));
    rmdir(folder);
    return close_shared(state);
}

static void write_sweeps(const char *name, double time, size_t n, int64_t number)
{
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_er_day *day;
    options.time = time;
    assert_int_equal(draw_day(context, &options, n, truth, &day), PARITAS_OK);
    for (size_t k = 0; k < n; k++) day->number[k] += number;
    assert_int_equal(paritas_er_write(context, within(0, name), day, 1), PARITAS_OK);
    paritas_er_day_free(day);
}

TEST(files_of_one_date_are_one_day_and_copies_are_left_out)
{
    paritas_days *days;
    const char *paths[3];
    write_sweeps("3D980201.TAB", START, 3, 0);
    write_sweeps("copy.TAB", START, 3, 0);
    write_sweeps("longer.TAB", START, 5, 100);
    write_sweeps("3D980202.TAB", START + 86400.0, 2, 0);
    paths[0] = folder;
    paths[1] = within(1, "copy.TAB");
    paths[2] = within(2, "longer.TAB");
    assert_int_equal(paritas_days_find(context, 3, paths, 0, 0, 0, &days), PARITAS_OK);
    assert_int_equal(days->n, 2);
    assert_string_equal(days->days[0].date, "1998-02-01");
    assert_int_equal(days->days[0].n, 2);
    assert_int_equal(days->days[0].first, UINT64_C(19980201) << 24);
    assert_string_equal(days->days[1].date, "1998-02-02");
    paritas_days_free(days);
    assert_int_equal(paritas_days_find(context, 3, paths, 1998, 2, 2, &days), PARITAS_OK);
    assert_int_equal(days->n, 1);
    paritas_days_free(days);
    assert_int_equal(paritas_days_find(context, 3, paths, 1999, 0, 3, &days), PARITAS_NOT_FOUND);
    assert_non_null(strstr(paritas_error_message(context), "(3DYYMMDD.TAB) of year 1999, day 3"));
}

TEST(a_sweep_of_several_files_counts_once_whichever_file_is_first)
{
    paritas_er_day *parts[2], *day[2];
    paritas_day_share shares[2] = {PARITAS_INIT(paritas_day_share), {0}};
    assert_int_equal(paritas_er_read(context, within(0, "3D980201.TAB"), NULL, &parts[0]), PARITAS_OK);
    assert_int_equal(paritas_er_read(context, within(0, "longer.TAB"), NULL, &parts[1]), PARITAS_OK);
    for (int i = 0; i < 2; i++) {
        const paritas_er_day *const order[2] = {parts[i], parts[1 - i]};
        assert_int_equal(paritas_day_join(context, 2, order, shares, &day[i]), PARITAS_OK);
        assert_int_equal(day[i]->n, 5);
        assert_int_equal(shares[0].repeated, 0);
        assert_int_equal(shares[1].repeated, 3);
        assert_int_equal(shares[1].other, 0);
        assert_int_equal(parts[i]->n, i == 0 ? 3 : 5); /* the parts stay */
    }
    assert_memory_equal(day[0]->flux, day[1]->flux, 5 * ROWS * CELLS * sizeof(double));
    assert_int_equal(day[0]->number[4], 105);
    for (int i = 0; i < 2; i++) {
        paritas_er_day_free(parts[i]);
        paritas_er_day_free(day[i]);
    }
}

TEST(a_synthetic_sweep_is_the_same_in_any_batch)
{
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_er_day *whole, *part;
    options.plasma = options.counts = 1;
    options.missing_cells = 0.05;
    for (int stored = 0; stored < 2; stored++) {
        if (stored) paritas_synthetic_as_stored(&options);
        options.first = 0;
        assert_int_equal(draw_day(context, &options, 6, truth, &whole), PARITAS_OK);
        options.first = 4;
        assert_int_equal(draw_day(context, &options, 2, other_truth, &part), PARITAS_OK);
        assert_memory_equal(whole->flux + 4 * ROWS * CELLS, part->flux, 2 * ROWS * CELLS * sizeof(double));
        assert_memory_equal(whole->sun_elevation + 4, part->sun_elevation, 2 * sizeof(double));
        assert_true(isnan(part->sun_azimuth[0]) == !stored);
        for (size_t i = 0; i < DAYS_TRUTHS; i++)
            assert_memory_equal(&truth[i][4], &other_truth[i][0], 2 * sizeof(double));
        paritas_er_day_free(whole);
        paritas_er_day_free(part);
    }
}

TEST(what_is_stored_is_less_than_what_was_counted_by_a_sixteenth_at_most)
{
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_er_day *drawn, *stored;
    size_t less = 0;
    options.counts = 1;
    options.dead_time = 0.0;
    assert_int_equal(draw_day(context, &options, 4, truth, &drawn), PARITAS_OK);
    options.compression = PARITAS_COMPRESSION_ARCHIVE;
    assert_int_equal(draw_day(context, &options, 4, other_truth, &stored), PARITAS_OK);
    for (size_t cell = 0; cell < 4 * ROWS * CELLS; cell++) {
        assert_true(stored->flux[cell] <= drawn->flux[cell]);
        assert_true(stored->flux[cell] >= drawn->flux[cell] * (16.0 / 17.0));
        less += stored->flux[cell] < drawn->flux[cell];
    }
    assert_true(less > ROWS * CELLS); /* a quarter of the cells, at least */
    paritas_er_day_free(drawn);
    paritas_er_day_free(stored);
}

TEST(a_wrong_polarity_is_the_cause_of_a_day_without_good_sweeps)
{
    enum { N = 12 };
    paritas_synthetic_options draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_losscone_result results[N];
    paritas_day_cause cause = PARITAS_INIT(paritas_day_cause);
    unsigned char good[N];
    draw.true_potential_lower = -200.0;
    draw.true_potential_upper = -50.0;
    draw.beams = 0.0;
    for (int wrong = 0; wrong < 2; wrong++) {
        paritas_day_options options = known_options();
        paritas_er_day *day;
        paritas_day_sweeps *sweeps;
        options.polarity = wrong ? 1.0 : -1.0;
        assert_int_equal(draw_day(context, &draw, N, truth, &day), PARITAS_OK);
        assert_int_equal(fit_day(context, &options, day, &sweeps, results), PARITAS_OK);
        for (size_t k = 0; k < N; k++) good[k] = paritas_losscone_flags(&results[k], NULL) == 0;
        assert_int_equal(paritas_day_find_cause(context, &options, 1u << PARITAS_LOSSCONE_RESPONSE_HARD, 0,
                                                day, sweeps, good, &cause),
                         PARITAS_OK);
        assert_int_equal(cause.cause, wrong ? PARITAS_DAY_SETTING_POLARITY : PARITAS_DAY_SETTING_NONE);
        assert_true(wrong ? cause.tried > 0 && 2 * cause.good > cause.tried : cause.tried == 0);
        assert_string_equal(paritas_day_status(day, 0, &results[0]),
                            paritas_sweep_status_name(results[0].status));
        paritas_day_sweeps_free(sweeps);
        paritas_er_day_free(day);
    }
}

TEST(what_a_sweep_lacks_has_a_word)
{
    paritas_er_day *day;
    const paritas_losscone_result none = {.size = sizeof none, .status = PARITAS_SWEEP_NO_CELLS};
    assert_int_equal(paritas_er_day_create(context, 3, &day), PARITAS_OK);
    day->sweep_reason[0] = PARITAS_ER_FIELD;
    day->sweep_reason[1] = day->sweep_reason[2] = PARITAS_ER_KEPT;
    day->polarity[2 * ROWS + 4] = -1.0;
    assert_string_equal(paritas_day_status(day, 0, &none), "field");
    assert_string_equal(paritas_day_status(day, 1, &none), "polarity");
    assert_string_equal(paritas_day_status(day, 2, &none), "no_spacecraft_potential");
    day->spacecraft_potential[2] = 5.0;
    assert_string_equal(paritas_day_status(day, 2, &none), "no_cells");
    paritas_er_day_free(day);
    assert_int_equal(paritas_environment_of(0.0, NAN), PARITAS_ENVIRONMENT_WAKE);
    assert_int_equal(paritas_environment_of(NAN, 20.0), PARITAS_ENVIRONMENT_UNKNOWN);
    assert_int_equal(paritas_environment_of(1.0, 20.0), PARITAS_ENVIRONMENT_SOLAR_WIND);
    assert_int_equal(paritas_environment_of(1.0, 150.0), PARITAS_ENVIRONMENT_PLASMA_SHEET);
}

TEST(of_two_fits_the_lesser_misfit_is_preferred)
{
    paritas_losscone_result hard = {.size = sizeof hard, .misfit = 2.0, .cells = 100, .deviance = NAN};
    paritas_losscone_result folded = {.size = sizeof folded, .misfit = 1.0, .cells = 100, .deviance = NAN};
    assert_int_equal(paritas_losscone_preferred(&hard, &folded), PARITAS_LOSSCONE_RESPONSE_FOLDED);
    hard.misfit = 1.0;
    assert_int_equal(paritas_losscone_preferred(&hard, &folded), PARITAS_LOSSCONE_RESPONSE_HARD);
    hard.deviance = 90.0; /* of counts, whatever the misfits */
    folded.deviance = 80.0;
    assert_int_equal(paritas_losscone_preferred(&hard, &folded), PARITAS_LOSSCONE_RESPONSE_FOLDED);
    assert_int_equal(paritas_losscone_preferred(&hard, NULL), -1);
    folded.status = PARITAS_SWEEP_NO_CELLS;
    assert_int_equal(paritas_losscone_preferred(&hard, &folded), -1);
    assert_int_equal(paritas_losscone_flags(NULL, NULL), PARITAS_QUALITY_NO_FIT);
}

/* 10 counts/s of background cost the spacecraft's potential once. */
TEST(plasmas_and_potentials_are_found_above_a_background)
{
    enum { N = DAYS_MOST };
    static const paritas_region regions[] = {PARITAS_REGION_SOLAR_WIND, PARITAS_REGION_LOBE};
    static const size_t most_lost[] = {2, 4}; /* more than without a background */
    static const double moved[] = {0.1, 1.0};
    for (size_t r = 0; r < COUNT(regions); r++) {
        size_t found[2] = {0};
        double bias[2] = {0.0};
        for (int covered = 0; covered < 2; covered++) {
            paritas_synthetic_options draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
            paritas_day_options options = PARITAS_DAY_OPTIONS_DEFAULT;
            paritas_day_sweeps *sweeps;
            paritas_er_day *day;
            paritas_synthetic_region(regions[r], &draw);
            draw.noise_lower = draw.noise_upper = 0.0;
            draw.counts = 1;
            draw.background_rate = covered ? 10.0 : 0.0;
            assert_int_equal(draw_day(context, &draw, N, truth, &day), PARITAS_OK);
            assert_int_equal(paritas_day_prepare(context, &options, NULL, day, &sweeps), PARITAS_OK);
            assert_int_equal(paritas_day_plasma(context, &options, day, sweeps), PARITAS_OK);
            for (size_t k = 0; k < N; k++) {
                if (!covered) assert_true(sweeps->rate[k] == 0.0);
                if (sweeps->potentials[k].status != PARITAS_POTENTIAL_FOUND) continue;
                found[covered]++;
                bias[covered] += sweeps->potentials[k].potential - truth[4][k];
            }
            paritas_day_sweeps_free(sweeps);
            paritas_er_day_free(day);
        }
        assert_true(found[1] + most_lost[r] >= found[0]);
        ASSERT_CLOSE(bias[1] / (double)found[1], bias[0] / (double)found[0], moved[r]);
    }
}

TEST(wrong_options_are_refused)
{
    paritas_er_day *day;
    paritas_day_sweeps *sweeps;
    paritas_days *days;
    const char *const paths[1] = {within(3, "none.TAB")};
    assert_int_equal(paritas_er_day_create(context, 1, &day), PARITAS_OK);
#define REFUSES(change, message)                                                     \
    do {                                                                             \
        paritas_day_options options = PARITAS_DAY_OPTIONS_DEFAULT;                   \
        options.change;                                                              \
        assert_int_equal(paritas_day_prepare(context, &options, NULL, day, &sweeps), \
                         PARITAS_INVALID_ARGUMENT);                                  \
        assert_null(sweeps);                                                         \
        assert_non_null(strstr(paritas_error_message(context), message));            \
    } while (0)
    REFUSES(size = 3, "its size is 3");
    REFUSES(polarity = 0.5, "`polarity` is 0.5");
    REFUSES(sunlight = 181.0, "`sunlight` is 181");
    REFUSES(least_counts = -1.0, "`least_counts` is -1");
    REFUSES(potential_source = (paritas_potential_source)7, "`potential_source` is 7");
    assert_int_equal(paritas_days_find(context, 0, paths, 0, 0, 0, &days), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_days_find(context, 1, paths, 0, 13, 0, &days), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_days_find(context, 1, paths, 0, 0, 0, &days), PARITAS_UNREADABLE);
    paritas_day_sweeps_free(NULL);
    paritas_days_free(NULL);
    paritas_er_day_free(day);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_one_date_are_one_day_and_copies_are_left_out),
        cmocka_unit_test(a_sweep_of_several_files_counts_once_whichever_file_is_first),
        cmocka_unit_test(a_synthetic_sweep_is_the_same_in_any_batch),
        cmocka_unit_test(what_is_stored_is_less_than_what_was_counted_by_a_sixteenth_at_most),
        cmocka_unit_test(a_wrong_polarity_is_the_cause_of_a_day_without_good_sweeps),
        cmocka_unit_test(what_a_sweep_lacks_has_a_word),
        cmocka_unit_test(of_two_fits_the_lesser_misfit_is_preferred),
        cmocka_unit_test(plasmas_and_potentials_are_found_above_a_background),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests_name("days", tests, open_folder, close_folder);
}
