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

TEST(a_floor_of_counts_is_found_and_subtracted)
{
    double rate[ROWS], found = -1.0;
    for (unsigned i = 0; i < ROWS; i++) rate[i] = i < 10 ? 10.0 + 1e5 / (double)(1u << 2 * i) : 10.0;
    paritas_er_day *day = make_day(rate);
    assert_int_equal(paritas_er_subtract_background(context, day, theta, &found), PARITAS_OK);
    ASSERT_CLOSE(found, 10.0, 0.7); /* the standard deviation of a row: root of 200 counts in 20 s */
    for (unsigned i = 0; i < ROWS; i++)
        ASSERT_CLOSE(day->flux[CELLS * i + 5] * 0.02 * day->energy[i], rate[i] - found, 1e-9 * rate[i]);
    paritas_er_day_free(day);
}

TEST(a_spectrum_without_a_floor_keeps_its_bits)
{
    double rate[ROWS], found = -1.0;
    for (unsigned i = 0; i < ROWS; i++) rate[i] = 1e6 / (double)(1u << i);
    paritas_er_day *day = make_day(rate), *kept = make_day(rate);
    assert_int_equal(paritas_er_subtract_background(context, day, theta, &found), PARITAS_OK);
    assert_true(found == 0.0);
    assert_memory_equal(day->flux, kept->flux, sizeof(double) * ROWS * CELLS);
    paritas_er_day_free(day);
    paritas_er_day_free(kept);
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
        cmocka_unit_test(a_floor_of_counts_is_found_and_subtracted),
        cmocka_unit_test(a_spectrum_without_a_floor_keeps_its_bits),
        cmocka_unit_test(rows_of_few_counts_and_saturated_ones_are_masked_and_zeros_become_half_a_count),
    };
    return cmocka_run_group_tests_name("day files: counts", tests, open_shared, close_shared);
}
