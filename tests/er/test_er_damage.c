/* Every defect costs what it must and no more, has its reason and its line, and shifts nothing. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

static const paritas_er_options strict = {sizeof strict, 1e-9, 1e3, 0, 1};

/* Three sweeps, rows 1 to 45; in row `row` (from 0) of sweep 2, line 16 + row, are the changes. */
static struct page changed(unsigned row, const struct change *changes, unsigned n)
{
    struct page page = {0};
    for (unsigned sweep = 1; sweep <= 3; sweep++) {
        for (unsigned k = 0; k < ROWS; k++) {
            page_row(&page, sweep, k, changes, sweep == 2 && k == row ? n : 0);
            page_add(&page, "\n");
        }
    }
    return page;
}

/* Sweeps 1 and 3 are whole. */
static void assert_neighbours(const paritas_er_day *day)
{
    assert_int_equal(day->n, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(day->number[k], k + 1);
        if (k == 1) continue;
        assert_int_equal(day->sweep_reason[k], PARITAS_ER_KEPT);
        for (unsigned row = 0; row < ROWS; row++) {
            assert_int_equal(day->row_reason[k * ROWS + row], PARITAS_ER_KEPT);
            assert_int_equal(day->line[k * ROWS + row], k * ROWS + row + 1);
            for (unsigned j = 0; j < CELLS; j++)
                assert_int_equal(day->cell_reason[(k * ROWS + row) * CELLS + j], PARITAS_ER_KEPT);
        }
    }
}

/* Row 4 of sweep 2 is lost for a reason: 14 remain in their order, the last slot tells why. `known`: its
 * number could be read. */
static void assert_row_lost(const paritas_er_day *day, paritas_er_reason reason, bool known)
{
    assert_neighbours(day);
    for (unsigned slot = 0; slot < ROWS - 1; slot++) {
        assert_int_equal(day->row_reason[ROWS + slot], PARITAS_ER_KEPT);
        assert_int_equal(day->line[ROWS + slot], 16 + slot + (slot >= 4));
    }
    const size_t last = 2 * ROWS - 1;
    assert_int_equal(day->row_reason[last], known ? reason : PARITAS_ER_ROW_MISSING);
    assert_int_equal(day->line[last], known ? 20 : 0);
    assert_true(isnan(day->energy[last]) && isnan(day->time[last]) && isnan(day->field[3 * last]));
    for (unsigned j = 0; j < CELLS; j++) {
        assert_int_equal(day->cell_reason[last * CELLS + j], known ? reason : PARITAS_ER_ROW_MISSING);
        assert_true(isnan(day->flux[last * CELLS + j]) && isnan(day->azimuth[last * CELLS + j]));
    }
}

/* One field of row 4 of sweep 2 loses that row; strictly, the file. */
static void loses_row(unsigned field, const char *text, paritas_er_reason reason, unsigned column, bool known,
                      const char *message)
{
    const struct change change = {field, text};
    struct page page = changed(4, &change, 1);
    paritas_er_day *day = parse(context, &page, NULL);
    assert_row_lost(day, reason, known);
    assert_int_equal(day->rows, 45);
    if (known)
        ASSERT_COUNTS(day, {reason, 1, 20, column});
    else
        ASSERT_COUNTS(day, {reason, 1, 20, column}, {PARITAS_ER_ROW_MISSING, 1, 16, 0});
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict, message);
    page_free(&page);
}

TEST(a_damaged_row_costs_that_row)
{
    loses_row(3, NULL, PARITAS_ER_FIELD_COUNT, 0, false, "page: line 20: 182 fields instead of 183");
    loses_row(183, NULL, PARITAS_ER_FIELD_COUNT, 0, false, "page: line 20: 182 fields instead of 183");
    loses_row(50, "1.0 2.0", PARITAS_ER_FIELD_COUNT, 0, false, "page: line 20: 184 fields instead of 183");
    loses_row(183, "1.0 2.0", PARITAS_ER_FIELD_COUNT, 0, false, "page: line 20: 184 fields instead of 183");
    loses_row(50, "1.0\r", PARITAS_ER_FIELD_COUNT, 0, false, "page: line 20: 184 fields instead of 183");
    loses_row(50, "*********", PARITAS_ER_NUMBER, 50, true, "page: line 20: field 50: a number is expected");
    loses_row(120, "1.2.3", PARITAS_ER_NUMBER, 120, true, "page: line 20: field 120: a number is expected");
    loses_row(183, "nan", PARITAS_ER_NUMBER, 183, true, "page: line 20: field 183: a number is expected");
    loses_row(8, "1e999", PARITAS_ER_NUMBER, 8, true, "page: line 20: field 8: a number is expected");
    loses_row(4, "2.5", PARITAS_ER_NUMBER, 4, false, "page: line 20: field 4: a number is expected");
    loses_row(4, "-2", PARITAS_ER_NUMBER, 4, false, "page: line 20: field 4: a number is expected");
    loses_row(4, "1e300", PARITAS_ER_NUMBER, 4, false, "page: line 20: field 4: a number is expected");
    loses_row(4, "two", PARITAS_ER_NUMBER, 4, false, "page: line 20: field 4: a number is expected");
    loses_row(1, "1998-02-30T00:00:00", PARITAS_ER_BAD_UTC, 1, true,
              "page: line 20: field 1: a UTC is expected, YYYY-MM-DDThh:mm:ss");
    loses_row(1, "19980201T000000", PARITAS_ER_BAD_UTC, 1, true,
              "page: line 20: field 1: a UTC is expected, YYYY-MM-DDThh:mm:ss");
    loses_row(1, "1970-01-01T00:00:00", PARITAS_ER_EPOCH, 2, true,
              "page: line 20: field 2: the time is that of a clock that was not set");
    loses_row(2, "0.0", PARITAS_ER_EPOCH, 2, true,
              "page: line 20: field 2: the time is that of a clock that was not set");
    loses_row(2, "-5", PARITAS_ER_EPOCH, 2, true,
              "page: line 20: field 2: the time is that of a clock that was not set");
    loses_row(3, "0", PARITAS_ER_ENERGY, 3, true, "page: line 20: field 3: an energy above 0 is expected");
    loses_row(3, "-38.6", PARITAS_ER_ENERGY, 3, true,
              "page: line 20: field 3: an energy above 0 is expected");
}

TEST(rows_that_are_not_there_are_missing)
{
    struct page page = {0};
    page_sweep(&page, 1);
    for (unsigned row = 0; row < ROWS; row++) {
        if (row % 5 == 2) continue;
        page_row(&page, 2, row, NULL, 0);
        page_add(&page, "\n");
    }
    page_sweep(&page, 3);
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 3);
    ASSERT_COUNTS(day, {PARITAS_ER_ROW_MISSING, 3, 16, 0});
    assert_int_equal(day->sweep_reason[1], PARITAS_ER_KEPT);
    for (unsigned slot = 0; slot < ROWS; slot++)
        assert_int_equal(day->row_reason[ROWS + slot], slot < 12 ? PARITAS_ER_KEPT : PARITAS_ER_ROW_MISSING);
    assert_int_equal(day->line[2 * ROWS], 28);
    assert_int_equal(day->number[2], 3);
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict, "page: line 16: a sweep begins that has fewer rows than 15");
    page_free(&page);
}

/* What a cell of row 4 becomes, without harm to others. */
static void masks_cell(unsigned field, const char *text, paritas_er_reason reason)
{
    const struct change change = {field, text};
    struct page page = changed(4, &change, 1);
    paritas_er_day *day = parse(context, &page, &strict); /* no damage */
    assert_neighbours(day);
    const size_t cell = (ROWS + 4) * CELLS + (field >= 96 ? field - 96 : field - 8);
    for (size_t j = ROWS * CELLS; j < 2 * ROWS * CELLS; j++) {
        assert_int_equal(day->cell_reason[j], j == cell ? reason : PARITAS_ER_KEPT);
        if (j == cell && reason == PARITAS_ER_NO_COUNTS)
            assert_true(day->flux[j] == 0.0 && !signbit(day->flux[j]));
        else if (j == cell)
            assert_true(isnan(day->flux[j]));
        else
            assert_true(day->flux[j] > 0.0);
        assert_true(j == cell && field >= 96 ? isnan(day->azimuth[j]) : isfinite(day->azimuth[j]));
    }
    ASSERT_COUNTS(day, {reason, 1, 20, field});
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(sentinels_and_impossible_values_mask_their_cell)
{
    masks_cell(8, "9.999E-99", PARITAS_ER_FLUX_MISSING);
    masks_cell(95, "9.99900E-99", PARITAS_ER_FLUX_MISSING);
    masks_cell(40, "1e-95", PARITAS_ER_FLUX_MISSING);
    masks_cell(41, "-9.99E-99", PARITAS_ER_FLUX_ERROR);
    masks_cell(42, "-1.5E-03", PARITAS_ER_FLUX_NEGATIVE);
    masks_cell(43, "-1e-80", PARITAS_ER_FLUX_NEGATIVE);
    masks_cell(96, "999.99", PARITAS_ER_AZIMUTH_MISSING);
    masks_cell(183, "998.99", PARITAS_ER_AZIMUTH_ERROR);
    masks_cell(120, "360.01", PARITAS_ER_AZIMUTH_RANGE);
    masks_cell(121, "-400", PARITAS_ER_AZIMUTH_RANGE);
}

TEST(no_counts_are_a_measurement)
{
    masks_cell(30, "0.000E+00", PARITAS_ER_NO_COUNTS);
    masks_cell(31, "-0.0", PARITAS_ER_NO_COUNTS);
}

TEST(an_azimuth_that_is_none_masks_a_flux_that_is_sound)
{
    const struct change changes[] = {{10, "0.0"}, {98, "999.99"}, {11, "-9.99E-99"}, {99, "998.99"}};
    struct page page = changed(4, changes, 4);
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->cell_reason[(ROWS + 4) * CELLS + 2], PARITAS_ER_AZIMUTH_MISSING);
    assert_int_equal(day->cell_reason[(ROWS + 4) * CELLS + 3], PARITAS_ER_FLUX_ERROR);
    assert_true(isnan(day->flux[(ROWS + 4) * CELLS + 2]));
    ASSERT_COUNTS(day, {PARITAS_ER_AZIMUTH_MISSING, 1, 20, 98}, {PARITAS_ER_FLUX_ERROR, 1, 20, 11});
    paritas_er_day_free(day);
    page_free(&page);
}

/* The whole of sweep 2 is masked for a reason; what was measured stays, but for the fluxes. */
static void assert_sweep_masked(const paritas_er_day *day, paritas_er_reason reason)
{
    assert_neighbours(day);
    assert_int_equal(day->sweep_reason[1], reason);
    for (unsigned row = ROWS; row < 2 * ROWS; row++) {
        assert_int_equal(day->row_reason[row], reason);
        assert_true(isfinite(day->energy[row]));
        for (unsigned j = 0; j < CELLS; j++) {
            assert_int_equal(day->cell_reason[row * CELLS + j], reason);
            assert_true(isnan(day->flux[row * CELLS + j]));
        }
    }
}

static void masks_field(const char *x, const char *y, const char *z)
{
    const struct change changes[] = {{5, x}, {6, y}, {7, z}};
    struct page page = changed(4, changes, 3);
    paritas_er_day *day = parse(context, &page, &strict);
    assert_sweep_masked(day, PARITAS_ER_FIELD);
    ASSERT_COUNTS(day, {PARITAS_ER_FIELD, 1, 20, 0});
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(a_field_outside_the_limits_masks_its_sweep)
{
    masks_field("0", "0", "0");
    masks_field("1e-9", "0", "0");
    masks_field("600", "0", "-800");
    masks_field("0", "1e200", "0");
    const struct change within[] = {{5, "599"}, {6, "0"}, {7, "-800"}},
                        little[] = {{5, "2e-9"}, {6, "0"}, {7, "0"}};
    for (unsigned k = 0; k < 2; k++) {
        struct page page = changed(4, k ? within : little, 3);
        paritas_er_day *day = parse(context, &page, NULL);
        ASSERT_SOUND(day);
        paritas_er_day_free(day);
        page_free(&page);
    }
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    options.field_upper = 12.5;
    struct page page = changed(0, NULL, 0);
    paritas_er_day *day = parse(context, &page, &options);
    ASSERT_COUNTS(day, {PARITAS_ER_FIELD, 3, 1, 0});
    paritas_er_day_free(day);
    options.field_upper = (double)NAN;
    assert_int_equal(paritas_er_parse(context, page.text, page.length, "page", &options, &day),
                     PARITAS_INVALID_ARGUMENT);
    page_free(&page);
}

TEST(energies_that_turn_back_mask_their_sweep)
{
    /* above all that follow; that of row 0; that of row 1 */
    static const char *const energies[] = {"100000.0", "38.641", "57.962"};
    for (size_t k = 0; k < COUNT(energies); k++) {
        const struct change change = {3, energies[k]};
        struct page page = changed(4, &change, 1);
        paritas_er_day *day = parse(context, &page, NULL);
        assert_sweep_masked(day, PARITAS_ER_ENERGY_ORDER);
        ASSERT_COUNTS(day, {PARITAS_ER_ENERGY_ORDER, 1, k == 0 ? 21 : 20, 0});
        paritas_er_day_free(day);
        page_free(&page);
    }
}

TEST(a_row_that_is_there_twice_counts_once)
{
    struct page page = {0};
    page_sweep(&page, 1);
    page_sweep(&page, 2);
    page_row(&page, 2, 14, NULL, 0);
    page_add(&page, "\n");
    page_sweep(&page, 3);
    page_row(&page, 2, 7, NULL, 0);
    page_add(&page, "\n");
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 3);
    ASSERT_COUNTS(day, {PARITAS_ER_DUPLICATE, 2, 31, 0});
    for (unsigned k = 0; k < 3 * ROWS; k++) assert_int_equal(day->row_reason[k], PARITAS_ER_KEPT);
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict, "page: line 31: the row is there twice");
    page_free(&page);
}

TEST(a_sixteenth_row_masks_its_sweep)
{
    struct page page = {0};
    page_sweep(&page, 1);
    page_sweep(&page, 2);
    const struct change change = {3, "50000.0"};
    page_row(&page, 2, 14, &change, 1);
    page_add(&page, "\n");
    paritas_er_day *day = parse(context, &page, NULL);
    ASSERT_COUNTS(day, {PARITAS_ER_TOO_MANY_ROWS, 1, 31, 0});
    assert_int_equal(day->sweep_reason[1], PARITAS_ER_TOO_MANY_ROWS);
    assert_int_equal(day->sweep_reason[0], PARITAS_ER_KEPT);
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict, "page: line 31: the sweep has more rows than 15");
    page_free(&page);
}

TEST(a_number_that_is_used_again_later_masks_its_sweep)
{
    struct page page = {0};
    page_sweep(&page, 1);
    page_sweep(&page, 2);
    page_sweep(&page, 3);
    for (unsigned row = 0; row < 3; row++) {
        const struct change again = {4, "2"};
        page_row(&page, 40, row, &again, 1);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    assert_sweep_masked(day, PARITAS_ER_TIME_SPAN);
    ASSERT_COUNTS(day, {PARITAS_ER_TIME_SPAN, 1, 46, 0});
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict,
                   "page: line 46: the spectrum number was used before, more than 160 s away");
    page_free(&page);
}

TEST(lost_rows_give_way_to_sound_ones)
{
    struct page page = {0};
    for (unsigned row = 0; row < ROWS; row++) { /* each row is damaged first, then sound */
        const struct change change = {50, "?"};
        page_row(&page, 1, row, &change, 1);
        page_add(&page, "\n");
        page_row(&page, 1, row, NULL, 0);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 1);
    for (unsigned row = 0; row < ROWS; row++) {
        assert_int_equal(day->row_reason[row], PARITAS_ER_KEPT);
        assert_int_equal(day->line[row], 2 * row + 2);
        for (unsigned j = 0; j < CELLS; j++)
            assert_int_equal(day->cell_reason[row * CELLS + j], PARITAS_ER_KEPT);
    }
    ASSERT_COUNTS(day, {PARITAS_ER_NUMBER, 15, 1, 50});
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(a_file_may_end_anywhere_and_costs_one_row_at_most)
{
    struct page page = changed(0, NULL, 0);
    size_t last = page.length - 1;
    while (page.text[last - 1] != '\n') last--; /* where line 45 begins */
    for (size_t end = last; end <= page.length; end++) {
        struct page cut = {page.text, end, page.room};
        paritas_er_day *day = parse(context, &cut, NULL);
        const bool whole = end >= page.length - 1;
        assert_int_equal(day->rows, end == last ? 44 : 45);
        if (whole)
            ASSERT_SOUND(day);
        else if (end == last)
            ASSERT_COUNTS(day, {PARITAS_ER_ROW_MISSING, 1, 31, 0});
        else
            ASSERT_COUNTS(day, {PARITAS_ER_FILE_CUT, 1, 45, 0}, {PARITAS_ER_ROW_MISSING, 1, 31, 0});
        assert_int_equal(day->n, 3);
        assert_int_equal(day->row_reason[44], whole ? PARITAS_ER_KEPT : PARITAS_ER_ROW_MISSING);
        paritas_er_day_free(day);
    }
    page.length -= 5;
    assert_refused(context, &page, &strict, "page: line 45: the file ends within this row");
    page_free(&page);
}

TEST(what_is_no_day_file_is_refused)
{
    struct page page = {0};
    page_add(&page, "\n");
    assert_refused(context, &page, NULL, "page: there are no rows: this is no day file");
    page_add(&page, "  \r\nutc,flux\n1 2 3\n");
    assert_refused(context, &page, NULL, "page: line 3: 1 fields instead of 183: this is no day file");
    page.length = 0;
    assert_refused(context, &page, NULL, "page: there are no rows: this is no day file");
    for (unsigned k = 0; k < 100000; k++) page_add(&page, "%s", "1998 ");
    assert_refused(context, &page, NULL,
                   "page: line 1: a line of more than 262144 bytes: this is no day file");
    page_free(&page);
}

TEST(an_endless_line_costs_itself)
{
    struct page page = {0};
    page_sweep(&page, 1);
    for (unsigned k = 0; k < 200000; k++) page_add(&page, "%s", "1998 ");
    page_add(&page, "\n");
    page_sweep(&page, 2);
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 2);
    assert_int_equal(day->line[ROWS], 17);
    ASSERT_COUNTS(day, {PARITAS_ER_FIELD_COUNT, 1, 16, 0});
    paritas_er_day_free(day);
    assert_refused(context, &page, &strict, "page: line 16: a line of more than 262144 bytes");
    page_free(&page);
}

TEST(reasons_have_names_and_units)
{
    assert_string_equal(paritas_er_reason_name(PARITAS_ER_FLUX_MISSING), "flux_missing");
    assert_string_equal(paritas_er_reason_name((paritas_er_reason)99), "unknown");
    assert_string_equal(paritas_er_unit_name(paritas_er_reason_unit(PARITAS_ER_SUNLIGHT)), "cell");
    assert_string_equal(paritas_er_unit_name(paritas_er_reason_unit(PARITAS_ER_EPOCH)), "row");
    assert_string_equal(paritas_er_unit_name(paritas_er_reason_unit(PARITAS_ER_FIELD)), "sweep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_row_costs_that_row),
        cmocka_unit_test(rows_that_are_not_there_are_missing),
        cmocka_unit_test(sentinels_and_impossible_values_mask_their_cell),
        cmocka_unit_test(no_counts_are_a_measurement),
        cmocka_unit_test(an_azimuth_that_is_none_masks_a_flux_that_is_sound),
        cmocka_unit_test(a_field_outside_the_limits_masks_its_sweep),
        cmocka_unit_test(energies_that_turn_back_mask_their_sweep),
        cmocka_unit_test(a_row_that_is_there_twice_counts_once),
        cmocka_unit_test(a_sixteenth_row_masks_its_sweep),
        cmocka_unit_test(a_number_that_is_used_again_later_masks_its_sweep),
        cmocka_unit_test(lost_rows_give_way_to_sound_ones),
        cmocka_unit_test(a_file_may_end_anywhere_and_costs_one_row_at_most),
        cmocka_unit_test(what_is_no_day_file_is_refused),
        cmocka_unit_test(an_endless_line_costs_itself),
        cmocka_unit_test(reasons_have_names_and_units),
    };
    return cmocka_run_group_tests_name("day files: damage", tests, open_shared, close_shared);
}
