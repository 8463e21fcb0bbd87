/* Sound day files: what is in them comes out, whatever their shape. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

/* Sweep k of the day is sweep `number` of testing.h, row by row; `descending`: written from the highest
 * energy down. */
static void assert_sweep(const paritas_er_day *day, size_t k, unsigned number, bool descending)
{
    assert_int_equal(day->number[k], number);
    assert_int_equal(day->sweep_reason[k], PARITAS_ER_KEPT);
    for (unsigned slot = 0; slot < ROWS; slot++) {
        const unsigned row = descending ? ROWS - 1 - slot : slot;
        const size_t at = k * ROWS + slot;
        char text[64];
        assert_int_equal(day->row_reason[at], PARITAS_ER_KEPT);
        snprintf(text, sizeof text, "%.3f", energy_of(row));
        assert_true(day->energy[at] == strtod(text, NULL));
        assert_true(day->time[at] == START + number * 80 + 2.5 * row);
        for (unsigned i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%.6f", (i == 0 ? 3.0 : i == 1 ? -4.0 : 12.0) + 0.001 * row);
            assert_true(day->field[3 * at + i] == strtod(text, NULL));
        }
        for (unsigned j = 0; j < CELLS; j++) {
            snprintf(text, sizeof text, "%.3E", flux_of(number, row, j));
            assert_true(day->flux[at * CELLS + j] == strtod(text, NULL));
            snprintf(text, sizeof text, "%.2f", azimuth_of(row, j));
            assert_true(day->azimuth[at * CELLS + j] == strtod(text, NULL));
            assert_int_equal(day->cell_reason[at * CELLS + j], PARITAS_ER_KEPT);
        }
    }
}

TEST(a_day_comes_out_as_it_was_written)
{
    struct page page = {0};
    for (unsigned sweep = 1; sweep <= 40; sweep++) page_sweep(&page, sweep);
    assert_true(page.length > 3 * 256 * 1024); /* lines fall across the ends of the reader's buffer */
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 40);
    assert_int_equal(day->rows, 40 * ROWS);
    assert_int_equal(day->bytes, page.length);
    assert_string_equal(day->digest, "");
    for (unsigned k = 0; k < 40; k++) assert_sweep(day, k, k + 1, false);
    assert_string_equal(day->utc[0], "1998-02-01T00:01:20");
    assert_string_equal(day->utc[39], "1998-02-01T00:53:20");
    for (unsigned row = 0; row < 40 * ROWS; row++) assert_int_equal(day->line[row], row + 1);
    assert_true(isnan(day->polarity[7]) && isnan(day->spacecraft_potential[3]) &&
                isnan(day->sun_azimuth[39]));
    ASSERT_SOUND(day);
    paritas_er_day_free(day);
    page_free(&page);
}

/* The same rows in other dress: `blank` between fields, `front` in front, `end` behind. */
static void dressed(const char *blank, const char *front, const char *end, bool last_end)
{
    struct page plain = {0}, page = {0};
    for (unsigned sweep = 1; sweep <= 3; sweep++) page_sweep(&plain, sweep);
    page_add(&plain, "%c", '\0');
    char *save = NULL;
    for (char *line = strtok_r(plain.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *inner = NULL;
        if (page.length) page_add(&page, "%s", end);
        page_add(&page, "%s", front);
        for (char *field = strtok_r(line, " ", &inner), *first = field; field;
             field = strtok_r(NULL, " ", &inner))
            page_add(&page, "%s%s", field == first ? "" : blank, field);
    }
    if (last_end) page_add(&page, "%s", end);
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 3);
    for (unsigned k = 0; k < 3; k++) assert_sweep(day, k, k + 1, false);
    ASSERT_SOUND(day);
    paritas_er_day_free(day);
    page_free(&plain);
    page_free(&page);
}

TEST(blanks_tabs_ends_of_lines_and_empty_lines_do_not_matter)
{
    dressed(" ", "", "\n", true);
    dressed("   ", "  ", "\n", false);
    dressed("\t", "\t ", "\r\n", true);
    dressed("  ", "", " \r\n", false);
    dressed("          ", "         ", "   \t \n", true);
    dressed(" ", "", "\n\n  \n\r\n", true);
}

TEST(energies_may_descend)
{
    struct page page = {0};
    for (unsigned row = ROWS; row-- > 0;) {
        page_row(&page, 5, row, NULL, 0);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 1);
    assert_sweep(day, 0, 5, true);
    ASSERT_SOUND(day);
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(rows_belong_to_the_sweep_of_their_number_wherever_they_stand)
{
    struct page page = {0};
    for (unsigned row = 0; row < ROWS; row++) { /* two sweeps, row by row in turn, with numbers in no order */
        page_row(&page, 9, row, NULL, 0);
        page_add(&page, "\n");
        page_row(&page, 8, row, NULL, 0);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 2);
    assert_sweep(day, 0, 9, false);
    assert_sweep(day, 1, 8, false);
    ASSERT_SOUND(day);
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(many_sweeps_with_far_numbers_are_told_apart)
{
    struct page page = {0};
    for (unsigned k = 0; k < 1500; k++) {
        char number[24];
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)(k % 3 == 2 ? 4503599627370496u + k : (uint64_t)k * 1048576));
        const struct change change = {4, number};
        page_row(&page, k % 1000 + 1, 0, &change, 1);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    assert_int_equal(day->n, 1500);
    for (unsigned k = 0; k < 1500; k++) {
        assert_int_equal(day->number[k], k % 3 == 2 ? 4503599627370496 + k : (int64_t)k * 1048576);
        assert_true(day->time[k * ROWS] == START + (k % 1000 + 1) * 80);
    }
    ASSERT_COUNTS(day, {PARITAS_ER_ROW_MISSING, 1500 * 14, 1, 0});
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(a_file_reads_as_its_text_does_and_has_the_digest_of_its_bytes)
{
    struct page page = {0};
    page_sweep(&page, 1);
    write_file(path, page.text);
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    options.digest = 1;
    paritas_er_day *day;
    assert_int_equal(paritas_er_read(context, path, &options, &day), PARITAS_OK);
    assert_int_equal(day->n, 1);
    assert_sweep(day, 0, 1, false);
    char command[128], sum[80] = "";
    snprintf(command, sizeof command, "sha256sum %s", path);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    assert_int_equal(fscanf(answer, "%70s", sum), 1);
    pclose(answer);
    assert_int_equal(strncmp(day->digest, "sha256:", 7), 0);
    assert_string_equal(day->digest + 7, sum);
    paritas_er_day_free(day);
    page_free(&page);
}

TEST(a_file_that_is_not_there_is_unreadable)
{
    paritas_er_day *day;
    assert_int_equal(paritas_er_read(context, "/nowhere/3D980201.TAB", NULL, &day), PARITAS_UNREADABLE);
    assert_string_equal(paritas_error_message(context), "/nowhere/3D980201.TAB: No such file or directory");
    assert_int_equal(paritas_er_read(context, "/tmp", NULL, &day), PARITAS_UNREADABLE);
    assert_null(day);
}

TEST(utc_and_unix_time_agree_through_leap_years)
{
    static const struct {
        double time;
        const char *utc;
    } pairs[] = {{0.0, "1970-01-01T00:00:00"},
                 {START, "1998-02-01T00:00:00"},
                 {951782400.0, "2000-02-29T00:00:00"},
                 {951868799.9, "2000-02-29T23:59:59"},
                 {925397048.0, "1999-04-29T14:44:08"},
                 {-1.0, "1969-12-31T23:59:59"},
                 {-0.5, "1969-12-31T23:59:59"},
                 {4107542400.0, "2100-03-01T00:00:00"},
                 {253402300799.0, "9999-12-31T23:59:59"},
                 {-62135596800.0, "0001-01-01T00:00:00"}};
    char utc[PARITAS_ER_UTC_SIZE];
    for (size_t k = 0; k < COUNT(pairs); k++) {
        paritas_er_utc(pairs[k].time, utc);
        assert_string_equal(utc, pairs[k].utc);
    }
    paritas_er_utc((double)NAN, utc);
    assert_string_equal(utc, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_comes_out_as_it_was_written),
        cmocka_unit_test(blanks_tabs_ends_of_lines_and_empty_lines_do_not_matter),
        cmocka_unit_test(energies_may_descend),
        cmocka_unit_test(rows_belong_to_the_sweep_of_their_number_wherever_they_stand),
        cmocka_unit_test(many_sweeps_with_far_numbers_are_told_apart),
        cmocka_unit_test(a_file_reads_as_its_text_does_and_has_the_digest_of_its_bytes),
        cmocka_unit_test(a_file_that_is_not_there_is_unreadable),
        cmocka_unit_test(utc_and_unix_time_agree_through_leap_years),
    };
    return cmocka_run_group_tests_name("day files: reading", tests, open_shared, close_shared);
}
