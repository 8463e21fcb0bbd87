/* What is written reads back: to the bit where the form has digits enough. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* A number of that many decimals. */
static double rounded(double value, int decimals)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    return strtod(text, NULL);
}

/* A day whose numbers have the digits of the archive's form, or all that a double has. Sweep 3 lacks rows
 * from 9 on. */
static paritas_er_day *make_day(size_t n, bool all_digits)
{
    paritas_er_day *day;
    uint64_t seed = 7;
    assert_int_equal(paritas_er_day_create(context, n, &day), PARITAS_OK);
    for (size_t k = 0; k < n; k++) {
        day->number[k] = (int64_t)k + 1;
        for (size_t row = k * ROWS; row < (k + 1) * ROWS; row++) {
            if (k == 3 && row >= k * ROWS + 9) continue;
            day->energy[row] = all_digits ? 7.0 * pow(1.7, (double)(row % ROWS))
                                          : rounded(7.0 * pow(1.7, (double)(row % ROWS)), 3);
            day->time[row] = START + 80.0 * (double)k + (all_digits ? draw(&seed) : 0.125);
            for (size_t i = 0; i < 3; i++)
                day->field[3 * row + i] =
                    all_digits ? 40.0 * draw(&seed) - 20.0 : rounded(40.0 * draw(&seed) - 20.0, 6);
            for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) {
                char text[32];
                const double flux = exp(30.0 * draw(&seed) - 10.0);
                snprintf(text, sizeof text, "%.3E", flux);
                day->flux[j] = all_digits ? flux : strtod(text, NULL);
                day->azimuth[j] = all_digits ? 360.0 * draw(&seed) : rounded(360.0 * draw(&seed), 2);
                if (j % 97 == 0) day->flux[j] = 0.0;
                if (j % 97 >= 1 && j % 97 <= 4) day->flux[j] = (double)NAN;
                if (j % 97 >= 3 && j % 97 <= 4) day->azimuth[j] = (double)NAN;
                if (j % 97 == 2) day->cell_reason[j] = PARITAS_ER_FLUX_ERROR;
                if (j % 97 == 4) day->cell_reason[j] = PARITAS_ER_AZIMUTH_ERROR;
            }
        }
    }
    return day;
}

/* The same number, or none on both sides. */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void comes_back(bool all_digits)
{
    enum { SWEEPS = 30 };
    /* a flux that is missing as well hides an azimuth that is */
    static const paritas_er_reason reasons[] = {PARITAS_ER_NO_COUNTS, PARITAS_ER_FLUX_MISSING,
                                                PARITAS_ER_FLUX_ERROR, PARITAS_ER_FLUX_MISSING,
                                                PARITAS_ER_FLUX_MISSING};
    paritas_er_day *day = make_day(SWEEPS, all_digits), *back;
    assert_int_equal(paritas_er_write(context, path, day, all_digits), PARITAS_OK);
    assert_int_equal(paritas_er_read(context, path, NULL, &back), PARITAS_OK);
    assert_int_equal(back->n, SWEEPS);
    for (size_t row = 0; row < SWEEPS * ROWS; row++) {
        assert_true(same(back->energy[row], day->energy[row]) && same(back->time[row], day->time[row]));
        for (size_t i = 3 * row; i < 3 * row + 3; i++) assert_true(same(back->field[i], day->field[i]));
        if (isnan(day->energy[row])) assert_int_equal(back->row_reason[row], PARITAS_ER_ROW_MISSING);
        for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) {
            assert_true(same(back->azimuth[j], day->azimuth[j]));
            assert_true(same(back->flux[j], day->flux[j]));
            assert_int_equal(back->cell_reason[j], isnan(day->energy[row])   ? PARITAS_ER_ROW_MISSING
                                                   : j % 97 < COUNT(reasons) ? reasons[j % 97]
                                                                             : PARITAS_ER_KEPT);
        }
    }
    assert_string_equal(back->utc[1], "1998-02-01T00:01:20");
    paritas_er_day_free(back);
    paritas_er_day_free(day);
}

TEST(a_day_in_the_archives_form_comes_back_to_the_bit)
{
    comes_back(false);
}
TEST(a_day_of_any_numbers_comes_back_to_the_bit_where_it_is_written_exactly)
{
    comes_back(true);
}

TEST(a_day_that_was_read_is_written_the_same_again)
{
    static char first[300000], second[300000];
    paritas_er_day *day = make_day(10, true), *back;
    size_t lengths[3];
    for (unsigned k = 0; k < 3; k++) {
        assert_int_equal(paritas_er_write(context, path, day, 0), PARITAS_OK);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        lengths[k] = fread(k == 1 ? first : second, 1, sizeof first, file);
        fclose(file);
        assert_int_equal(paritas_er_read(context, path, NULL, &back), PARITAS_OK);
        paritas_er_day_free(day);
        day = back;
    }
    assert_true(lengths[1] < sizeof first && lengths[1] == lengths[2]);
    assert_memory_equal(first, second, lengths[1]);
    paritas_er_day_free(day);
}

/* The fields of the one row that a day of these numbers gives. */
static void writes(double energy, double field, double flux, double azimuth, const char *const wanted[4])
{
    static const unsigned places[4] = {2, 4, 7, 95};
    paritas_er_day *day;
    assert_int_equal(paritas_er_day_create(context, 1, &day), PARITAS_OK);
    day->energy[0] = energy;
    day->time[0] = START;
    for (size_t i = 0; i < 3; i++) day->field[i] = field;
    for (size_t j = 0; j < CELLS; j++) {
        day->flux[j] = flux;
        day->azimuth[j] = azimuth;
    }
    assert_int_equal(paritas_er_write(context, path, day, 0), PARITAS_OK);
    static char line[400000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    unsigned at = 0, next = 0;
    for (char *text = strtok(line, " \n"); text; text = strtok(NULL, " \n"), at++)
        if (next < 4 && at == places[next]) assert_string_equal(text, wanted[next++]);
    assert_int_equal(at, PARITAS_ER_FIELDS);
    paritas_er_day_free(day);
}

TEST(columns_are_rounded_half_to_even)
{
    writes(38.641, 9.724349, 123450.0, 360.0,
           (const char *const[]){"38.641", "9.724349", "1.234E+05", "360.00"});
    writes(16680.334, -1.277785, 123550.0, 0.125,
           (const char *const[]){"16680.334", "-1.277785", "1.236E+05", "0.12"});
    writes(0.9996, -1e-7, 9.9995, 0.375, (const char *const[]){"1.000", "0.000000", "1.000E+01", "0.38"});
    writes(999.9999, 5e-7, 9.99949e-10, -0.005,
           (const char *const[]){"1000.000", "0.000000", "9.999E-10", "0.00"});
    writes(0.0004, 5.1e-7, 1.0, -0.0051, (const char *const[]){"0.000", "0.000001", "1.000E+00", "-0.01"});
    writes(1e22, 123456789.0, 1e-100, 99.995000000000001,
           (const char *const[]){"10000000000000000000000.000", "123456789.000000", "1.000E-100", "100.00"});
    writes(0.5, 0.25, 0.0, 1e-9, (const char *const[]){"0.500", "0.250000", "0.000E+00", "0.00"});
}

TEST(columns_are_those_of_printf_where_nothing_is_a_tie)
{
    paritas_er_day *day;
    uint64_t seed = 99;
    assert_int_equal(paritas_er_day_create(context, 20, &day), PARITAS_OK);
    for (size_t row = 0; row < 20 * ROWS; row++) {
        day->energy[row] = exp(10.0 * draw(&seed));
        day->time[row] = START + 1e5 * draw(&seed);
        for (size_t i = 3 * row; i < 3 * row + 3; i++) day->field[i] = 100.0 * draw(&seed) - 50.0;
        for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) {
            day->flux[j] = exp(160.0 * draw(&seed) - 80.0);
            day->azimuth[j] = 360.0 * draw(&seed);
        }
    }
    assert_int_equal(paritas_er_write(context, path, day, 0), PARITAS_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char line[4000];
    for (size_t row = 0; row < 20 * ROWS; row++) {
        struct page page = {0};
        char utc[PARITAS_ER_UTC_SIZE];
        paritas_er_utc(day->time[row], utc);
        page_add(&page, "%s %14.3f %10.3f %5d", utc, day->time[row], day->energy[row], (int)(row / ROWS) + 1);
        for (size_t i = 3 * row; i < 3 * row + 3; i++) page_add(&page, " %11.6f", day->field[i]);
        for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) page_add(&page, " %9.3E", day->flux[j]);
        for (size_t j = row * CELLS; j < (row + 1) * CELLS; j++) page_add(&page, " %7.2f", day->azimuth[j]);
        page_add(&page, "\n");
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, page.text);
        page_free(&page);
    }
    fclose(file);
    paritas_er_day_free(day);
}

TEST(what_is_no_file_is_written_in_place)
{
    paritas_er_day *day = make_day(1, false);
    struct stat about;
    char pipe[64];
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_int_equal(paritas_er_write(context, pipe, day, 0), PARITAS_OK);
    assert_int_equal(stat(pipe, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    static char bytes[1 << 16];
    assert_true(read(reader, bytes, sizeof bytes) > 1000);
    close(reader);
    unlink(pipe);
    paritas_er_day_free(day);
}

TEST(a_file_that_cannot_be_written_says_so_and_a_row_without_a_field_is_refused)
{
    paritas_er_day *day = make_day(2, false);
    assert_int_equal(paritas_er_write(context, "/nowhere/day.tab", day, 0), PARITAS_UNWRITABLE);
    assert_string_equal(paritas_error_message(context), "/nowhere/day.tab.part: No such file or directory");
    day->field[3 * 17 + 1] = (double)NAN;
    assert_int_equal(paritas_er_write(context, path, day, 0), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context),
                        "day: row 2 of sweep 1 has an energy, but its time or field is not a number");
    char temporary[64];
    snprintf(temporary, sizeof temporary, "%s.part", path);
    assert_int_not_equal(access(temporary, F_OK), 0);
    paritas_er_day_free(day);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_in_the_archives_form_comes_back_to_the_bit),
        cmocka_unit_test(a_day_of_any_numbers_comes_back_to_the_bit_where_it_is_written_exactly),
        cmocka_unit_test(a_day_that_was_read_is_written_the_same_again),
        cmocka_unit_test(columns_are_rounded_half_to_even),
        cmocka_unit_test(columns_are_those_of_printf_where_nothing_is_a_tie),
        cmocka_unit_test(what_is_no_file_is_written_in_place),
        cmocka_unit_test(a_file_that_cannot_be_written_says_so_and_a_row_without_a_field_is_refused),
    };
    return cmocka_run_group_tests_name("day files: writing", tests, open_shared, close_shared);
}
