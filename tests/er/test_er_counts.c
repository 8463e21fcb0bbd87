/* Counts behind fluxes: exposures, backgrounds, masks. Counts are flux x 0.02 cm^2 sr x energy x exposure. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

static double theta[CELLS], exposure[CELLS];

/* A sweep of energies 100 x 2^row, with these counts/s in every cell of a row. */
static paritas_er_day *make_day(const double rate[ROWS])
{
    paritas_er_day *day;
    assert_int_equal(paritas_er_theta(context, NULL, theta), PARITAS_OK);
    assert_int_equal(paritas_er_day_create(context, 1, &day), PARITAS_OK);
    paritas_er_exposures(theta, exposure);
    day->sweep_reason[0] = PARITAS_ER_KEPT;
    for (unsigned i = 0; i < ROWS; i++) {
        day->row_reason[i] = PARITAS_ER_KEPT;
        day->energy[i] = 100.0 * (double)(1u << i);
        for (unsigned j = 0; j < CELLS; j++) {
            day->cell_reason[CELLS * i + j] = PARITAS_ER_KEPT;
            day->flux[CELLS * i + j] = rate[i] / (0.02 * day->energy[i]);
        }
    }
    return day;
}

TEST(the_cells_of_a_ring_share_the_time_of_a_row)
{
    double sum = 0.0;
    assert_int_equal(paritas_er_theta(context, NULL, theta), PARITAS_OK);
    theta[0] = -90.0;
    theta[1] = 91.0;
    paritas_er_exposures(theta, exposure);
    ASSERT_CLOSE(exposure[0], 2.5 / 4.0, 0.0);
    assert_true(isnan(exposure[1]));
    for (unsigned j = 16; j < CELLS; j++) sum += exposure[j];
    ASSERT_CLOSE(sum, 7.0 * 2.5, 1e-12); /* without the first of eight rings */
}

static double background_of(const double rate[ROWS])
{
    double found = -1.0;
    paritas_er_day *day = make_day(rate);
    assert_int_equal(paritas_er_find_background(context, day, theta, &found), PARITAS_OK);
    paritas_er_day_free(day);
    return found;
}

TEST(a_background_is_found_beneath_electrons_and_subtracted)
{
    for (double power = 2.0; power <= 6.0; power += 0.25)
        for (double least = 0.0; least <= 5.0; least += 1.25) { /* electrons at the highest energy */
            double rate[ROWS];
            for (unsigned i = 0; i < ROWS; i++) rate[i] = 10.0 + least * exp2(power * (ROWS - 1 - i));
            ASSERT_CLOSE(background_of(rate), 10.0, 0.3); /* the counting error of a row is 0.7 */
        }
    double rate[ROWS];
    const double found = 10.0;
    for (unsigned i = 0; i < ROWS; i++) rate[i] = 100.0 * i;
    paritas_er_day *day = make_day(rate);
    assert_int_equal(paritas_er_subtract_background(context, day, &found), PARITAS_OK);
    for (unsigned i = 0; i < ROWS; i++)
        ASSERT_CLOSE(day->flux[CELLS * i + 5] * 0.02 * day->energy[i], rate[i] - found, 1e-10);
    paritas_er_day_free(day);
}

TEST(electrons_without_a_background_show_none)
{
    for (double power = 1.0; power <= 6.0; power += 0.1)
        for (double least = 1e-3; least < 1e5; least *= 3.0) {
            double rate[ROWS];
            for (unsigned i = 0; i < ROWS; i++) rate[i] = least * exp2(power * (ROWS - 1 - i));
            assert_true(background_of(rate) == 0.0);
            /* whole counts, which are few, in 20 s of 88 cells; and 10 % of noise */
            for (unsigned i = 0; i < ROWS; i++) rate[i] = floor(20.0 * rate[i] + 0.5) / 20.0;
            assert_true(background_of(rate) == 0.0);
            for (unsigned i = 0; i < ROWS; i++) rate[i] *= i % 2 ? 1.1 : 0.9;
            assert_true(background_of(rate) == 0.0);
        }
    const double nothing[ROWS] = {0.0};
    assert_true(background_of(nothing) == 0.0);
}

TEST(a_spectrum_that_becomes_flatter_is_no_background)
{
    double rate[ROWS]; /* a core and a halo */
    for (unsigned i = 0; i < ROWS; i++) {
        const double steps = ROWS - 1 - i;
        rate[i] = 2.0 * exp2(1.5 * steps) + 1e-4 * exp2(5.0 * steps);
    }
    assert_true(background_of(rate) == 0.0);
}

TEST(rows_that_are_masked_show_no_background)
{
    double rate[ROWS], found = -1.0;
    for (unsigned i = 0; i < ROWS; i++) rate[i] = 10.0;
    paritas_er_day *day = make_day(rate);
    for (unsigned i = 0; i < ROWS - 2; i++) day->row_reason[i] = PARITAS_ER_FIELD_COUNT;
    assert_int_equal(paritas_er_find_background(context, day, theta, &found), PARITAS_OK);
    assert_true(found == 0.0);
    paritas_er_day_free(day);
}

TEST(rows_of_few_counts_and_saturated_ones_are_masked_and_zeros_become_half_a_count)
{
    double rate[ROWS];
    /* 88 cells measure 20 s in all: 100/s are 22.7 counts a cell, 200/s 45.5 */
    for (unsigned i = 0; i < ROWS; i++) rate[i] = i < 3 ? 100.0 : 200.0;
    paritas_er_day *day = make_day(rate);
    day->flux[CELLS * 4 + 7] = 0.0;
    day->flux[CELLS * 5 + 7] = -1.0;
    for (unsigned j = 0; j < 5; j++) {
        day->flux[CELLS * 6 + j] = (double)NAN;
        day->cell_reason[CELLS * 6 + j] = PARITAS_ER_FLUX_ERROR;
        if (j == 4) continue;
        day->flux[CELLS * 8 + j] = (double)NAN;
        day->cell_reason[CELLS * 8 + j] = PARITAS_ER_FLUX_ERROR;
    }
    assert_int_equal(paritas_er_mask_counts(context, day, theta, 30.0), PARITAS_OK);
    for (unsigned i = 0; i < ROWS; i++)
        assert_int_equal(day->row_reason[i], i < 3    ? PARITAS_ER_FEW_COUNTS
                                             : i == 6 ? PARITAS_ER_SATURATED
                                                      : PARITAS_ER_KEPT);
    for (unsigned i = 4; i < 6; i++)
        ASSERT_CLOSE(day->flux[CELLS * i + 7] * 0.02 * day->energy[i] * exposure[7], 0.5, 1e-12);
    assert_true(isnan(day->flux[CELLS * 2]) && isnan(day->flux[CELLS * 8]));
    ASSERT_COUNTS(day, {PARITAS_ER_FEW_COUNTS, 3, 0, 0}, {PARITAS_ER_SATURATED, 1, 0, 0});
    assert_int_equal(paritas_er_mask_counts(context, day, theta, -1.0), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "least: -1 counts; must not be negative");
    paritas_er_day_free(day);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cells_of_a_ring_share_the_time_of_a_row),
        cmocka_unit_test(a_background_is_found_beneath_electrons_and_subtracted),
        cmocka_unit_test(electrons_without_a_background_show_none),
        cmocka_unit_test(a_spectrum_that_becomes_flatter_is_no_background),
        cmocka_unit_test(rows_that_are_masked_show_no_background),
        cmocka_unit_test(rows_of_few_counts_and_saturated_ones_are_masked_and_zeros_become_half_a_count),
    };
    return cmocka_run_group_tests_name("day files: counts", tests, open_shared, close_shared);
}
