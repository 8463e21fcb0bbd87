/* Tables of geometry, the masks that need them, and day files found by their names. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

#include <sys/stat.h>

/* Sweeps 1 to n of testing.h. */
static paritas_er_day *make_day(unsigned n)
{
    struct page page = {0};
    for (unsigned k = 1; k <= n; k++) page_sweep(&page, k);
    paritas_er_day *day = parse(context, &page, NULL);
    page_free(&page);
    return day;
}

static paritas_er_geometry *read_table(const char *text)
{
    paritas_er_geometry *geometry;
    write_file(path, text);
    const paritas_status status = paritas_er_geometry_read(context, path, &geometry);
    if (status) print_error("%s\n", paritas_error_message(context));
    assert_int_equal(status, PARITAS_OK);
    return geometry;
}

/* ---- tables ---- */

TEST(a_table_gives_its_values_to_the_sweeps_it_names)
{
    paritas_er_geometry *geometry =
        read_table("note,spectrum,polarity , "
                   "spacecraft_potential,projection_in_sun,sun_azimuth,sun_elevation,projection_longitude\r\n"
                   "x,3,-1,12.5,true,350,1.5,133.12\r\n\n"
                   ",1,1,,0,,nan,-10\n"
                   "y,77,0,1,1,1,1,1");
    paritas_er_day *day = make_day(4);
    size_t matched = 9;
    day->spacecraft_potential[0] = 5.0;
    assert_int_equal(paritas_er_geometry_apply(context, geometry, day, &matched), PARITAS_OK);
    assert_int_equal(matched, 2);
    for (unsigned row = 0; row < ROWS; row++) {
        assert_true(day->polarity[row] == 1.0 && day->polarity[2 * ROWS + row] == -1.0);
        assert_true(isnan(day->polarity[ROWS + row]) && isnan(day->polarity[3 * ROWS + row]));
    }
    assert_true(day->spacecraft_potential[0] == 5.0); /* unknown to the table: stays */
    assert_true(day->spacecraft_potential[2] == 12.5 && day->projection_in_sun[2] == 1.0 &&
                day->projection_in_sun[0] == 0.0);
    assert_true(day->sun_azimuth[2] == 350.0 && isnan(day->sun_azimuth[0]) && day->sun_elevation[2] == 1.5 &&
                isnan(day->sun_elevation[0]));
    assert_true(day->projection_longitude[0] == -10.0 && isnan(day->spacecraft_in_sun[2]));
    assert_true(paritas_er_geometry_has(geometry, "polarity") &&
                paritas_er_geometry_has(geometry, "spectrum"));
    assert_false(paritas_er_geometry_has(geometry, "spacecraft_in_sun") ||
                 paritas_er_geometry_has(geometry, "note"));
    paritas_er_day_free(day);
    paritas_er_geometry_free(geometry);
    paritas_er_geometry_free(NULL);
}

TEST(a_table_of_several_days_is_told_apart_by_date_or_utc)
{
    static const char *const tables[] = {
        "date,spectrum,spacecraft_potential\n1998-02-02,2,7\n1998-02-01,2,8\n1998-01-31,2,9\n",
        ("utc,spectrum,spacecraft_potential\n1998-02-02T00:02:40,2,7\n1998-02-01T23:59:59.5,2,8\n"
         "1998-01-31T00:02:40,2,9\n"),
        "utc,spacecraft_potential\n1998-02-01T00:01:20,6\n1998-02-01T00:02:40.9,8\n1998-02-01T00:02:41,9\n",
    };
    for (size_t k = 0; k < COUNT(tables); k++) {
        paritas_er_geometry *geometry = read_table(tables[k]);
        paritas_er_day *day = make_day(3);
        size_t matched;
        assert_int_equal(paritas_er_geometry_apply(context, geometry, day, &matched), PARITAS_OK);
        assert_int_equal(matched, k == 2 ? 2 : 1);
        assert_true(day->spacecraft_potential[1] == 8.0 && isnan(day->spacecraft_potential[2]));
        paritas_er_day_free(day);
        paritas_er_geometry_free(geometry);
    }
}

TEST(a_table_that_is_wrong_is_refused_with_line_and_column)
{
    static const struct {
        const char *text, *reason;
    } tables[] = {
        {"", ": line 0: the file is empty"},
        {"\n\n", ": line 2: the file is empty"},
        {"polarity\n1\n", ": line 1: a header with a column spectrum or utc is expected"},
        {"spectrum,what\n1,2\n", ": line 1: there is no column of geometry"},
        {"utc,date,polarity\n", ": line 1: a column date goes with a column spectrum, which there is not"},
        {"spectrum,polarity,polarity\n1,1,1\n", ": line 1: column polarity is there twice"},
        {"spectrum,polarity\n1\n", ": line 2: 1 fields instead of the header's 2"},
        {"spectrum,polarity\n1,1,1\n", ": line 2: more fields than the header's 2"},
        {"spectrum,polarity\n1,1\n2,up\n", ": line 3: column polarity: a number is expected, not 'up'"},
        {"spectrum,polarity\n1,0.5\n", ": line 2: column polarity: 0.5 is not a whole number from -1 to 1"},
        {"spectrum,polarity\n1,true\n", ": line 2: column polarity: a number is expected, not 'true'"},
        {"spectrum,spacecraft_latitude\n1,91\n",
         ": line 2: column spacecraft_latitude: 91 is not a number from -90 to 90"},
        {"spectrum,spacecraft_in_sun\n1,2\n",
         ": line 2: column spacecraft_in_sun: 2 is not a whole number from 0 to 1"},
        {"spectrum,spacecraft_potential\n1,inf\n",
         ": line 2: column spacecraft_potential: a number is expected, not 'inf'"},
        {"spectrum,polarity\n,1\n", ": line 2: column spectrum: a spectrum number is expected"},
        {"spectrum,polarity\n1.5,1\n", ": line 2: column spectrum: a spectrum number is expected"},
        {"utc,polarity\n1998-02-01,1\n", ": line 2: column utc: YYYY-MM-DDThh:mm:ss is expected"},
        {"spectrum,date,polarity\n1,19980201,1\n", ": line 2: column date: YYYY-MM-DD is expected"},
        {"spectrum,date,polarity\n1,1998-13-01,1\n", ": line 2: column date: YYYY-MM-DD is expected"},
        {"spectrum,polarity\n1,1\n2,1\n3,1\n2,1\n1,1\n", ": line 5: the sweep of line 3 again"},
        {"utc,polarity\n1998-02-01T00:00:00.1,1\n1998-02-01T00:00:00.2,1\n",
         ": line 3: the sweep of line 2 again"},
    };
    paritas_er_geometry *geometry;
    for (size_t k = 0; k < COUNT(tables); k++) {
        write_file(path, tables[k].text);
        assert_int_equal(paritas_er_geometry_read(context, path, &geometry), PARITAS_INVALID_INPUT);
        const char *const message = paritas_error_message(context);
        assert_int_equal(strncmp(message, path, strlen(path)), 0);
        assert_string_equal(message + strlen(path), tables[k].reason);
        assert_null(geometry);
    }
    assert_int_equal(paritas_er_geometry_read(context, "/nowhere/table.csv", &geometry), PARITAS_UNREADABLE);
}

/* ---- masks ---- */

TEST(cells_that_look_at_the_sun_are_masked_and_no_others)
{
    const double degree = acos(-1.0) / 180.0,
                 suns[][2] = {{0.0, 0.0}, {90.0, 30.0}, {-170.0, -56.25}, {359.0, 88.0}, {10.0, -90.0}};
    double theta[CELLS];
    assert_int_equal(paritas_er_theta(context, NULL, theta), PARITAS_OK);
    for (size_t s = 0; s < COUNT(suns); s++) {
        paritas_er_day *day = make_day(2);
        uint64_t masked = 0;
        day->sun_azimuth[1] = suns[s][0];
        day->sun_elevation[1] = suns[s][1];
        day->flux[ROWS * CELLS] = (double)NAN;
        day->cell_reason[ROWS * CELLS] = PARITAS_ER_FLUX_MISSING;
        assert_int_equal(paritas_er_mask_sunlight(context, day, theta, 14.0), PARITAS_OK);
        for (size_t j = 0; j < 2 * ROWS * CELLS; j++) {
            const double t = theta[j % CELLS] * degree, p = day->azimuth[j] * degree, e = suns[s][1] * degree,
                         a = suns[s][0] * degree;
            const double cosine = cos(t) * cos(e) * cos(p - a) + sin(t) * sin(e);
            const bool seen = j >= ROWS * CELLS && cosine >= cos(14.0 * degree);
            if (fabs(cosine - cos(14.0 * degree)) < 1e-12) continue; /* on the edge */
            const paritas_er_reason wanted = j == ROWS * CELLS ? PARITAS_ER_FLUX_MISSING
                                             : seen            ? PARITAS_ER_SUNLIGHT
                                                               : PARITAS_ER_KEPT;
            assert_int_equal(day->cell_reason[j], wanted);
            assert_int_equal(isnan(day->flux[j]), wanted != PARITAS_ER_KEPT);
            masked += wanted == PARITAS_ER_SUNLIGHT;
        }
        assert_true(masked > 0);
        assert_int_equal(day->counts[PARITAS_ER_SUNLIGHT].count, masked);
        assert_true(day->counts[PARITAS_ER_SUNLIGHT].line >= 16);
        /* again: nothing is left to mask */
        assert_int_equal(paritas_er_mask_sunlight(context, day, theta, 14.0), PARITAS_OK);
        assert_int_equal(day->counts[PARITAS_ER_SUNLIGHT].count, masked);
        assert_int_equal(paritas_er_mask_sunlight(context, day, theta, 180.0), PARITAS_OK);
        assert_int_equal(day->counts[PARITAS_ER_SUNLIGHT].count, ROWS * CELLS - 1);
        paritas_er_day_free(day);
    }
    paritas_er_day *day = make_day(1);
    assert_int_equal(paritas_er_mask_sunlight(context, day, theta, -1.0), PARITAS_INVALID_ARGUMENT);
    theta[3] = (double)NAN;
    assert_int_equal(paritas_er_mask_sunlight(context, day, theta, 14.0), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "theta[3]: nan is not between -90 and 90 degrees");
    paritas_er_day_free(day);
}

TEST(rows_without_polarity_are_masked)
{
    paritas_er_day *day = make_day(2);
    for (unsigned row = 0; row < 2 * ROWS; row++)
        day->polarity[row] = row % 3 == 0 ? 1.0 : row % 3 == 1 ? -1.0 : row < ROWS ? 0.0 : (double)NAN;
    assert_int_equal(paritas_er_mask_polarity(context, day), PARITAS_OK);
    for (unsigned row = 0; row < 2 * ROWS; row++) {
        assert_int_equal(day->row_reason[row], row % 3 == 2 ? PARITAS_ER_POLARITY : PARITAS_ER_KEPT);
        assert_int_equal(day->cell_reason[row * CELLS + 87],
                         row % 3 == 2 ? PARITAS_ER_POLARITY : PARITAS_ER_KEPT);
        assert_int_equal(isnan(day->flux[row * CELLS]), row % 3 == 2);
    }
    ASSERT_COUNTS(day, {PARITAS_ER_POLARITY, 10, 3, 0});
    paritas_er_day_free(day);
}

/* ---- files ---- */

TEST(the_date_is_in_a_day_files_name)
{
    static const struct {
        const char *path;
        int date;
    } names[] = {{"/data/1999/091_120APR/3D990429.TAB", 19990429},
                 {"3d980116.tab", 19980116},
                 {"LP_ER_3D19980101_V01.TAB", 19980101},
                 {"3D490101.TAB", 20490101},
                 {"3D980230.TAB", 0},
                 {"3D98011.TAB", 0},
                 {"3D980116.TXT", 0},
                 {"3D9801160.TAB", 0},
                 {"theta.tab", 0},
                 {"attitude.tab", 0},
                 {"3D980116/other.tab", 0},
                 {"3D3D980116.TAB", 19980116},
                 {"", 0},
                 {"3D980116.TAB.part", 0},
                 {"3D980116.TAB.gz", 19980116},
                 {"3d980116.tab.GZ", 19980116},
                 {"3D980116.gz", 0},
                 {"MA980116.TAB", 0}};
    for (size_t k = 0; k < COUNT(names); k++)
        assert_int_equal(paritas_er_file_date(names[k].path), names[k].date);
}

TEST(day_files_are_found_in_folders_in_the_order_of_their_dates)
{
    char folder[] = "/tmp/paritas-er-days-XXXXXX", name[128];
    static const char *const inside[] = {"/1999/3D990429.TAB",        "/1998/b/3D980201.TAB",
                                         "/1998/3D980116.TAB",        "/1998/theta.tab",
                                         "/LP_ER_3D19980202_V01.TAB", "/1998/a/3D980201.TAB"};
    static const char *const folders[] = {"/1999", "/1998", "/1998/a", "/1998/b", "/1998/3D980117.TAB"};
    assert_non_null(mkdtemp(folder));
    for (size_t k = 0; k < COUNT(folders); k++) {
        snprintf(name, sizeof name, "%s%s", folder, folders[k]);
        assert_int_equal(mkdir(name, 0700), 0);
    }
    for (size_t k = 0; k < COUNT(inside); k++) {
        snprintf(name, sizeof name, "%s%s", folder, inside[k]);
        write_file(name, "");
    }
    static const struct {
        int year, month, day;
        size_t n;
        const char *order; /* indices of `inside` */
    } searches[] = {{0, 0, 0, 5, "25140"}, {1998, 0, 0, 4, "2514"}, {1998, 2, 0, 3, "514"},
                    {0, 0, 1, 2, "51"},    {1999, 4, 29, 1, "0"},   {1997, 0, 0, 0, ""}};
    paritas_er_files *files;
    for (size_t k = 0; k < COUNT(searches); k++) {
        assert_int_equal(
            paritas_er_find(context, folder, searches[k].year, searches[k].month, searches[k].day, &files),
            PARITAS_OK);
        assert_int_equal(files->n, searches[k].n);
        for (size_t i = 0; i < files->n; i++) {
            assert_string_equal(files->path[i] + strlen(folder), inside[searches[k].order[i] - '0']);
            assert_int_equal(files->date[i], paritas_er_file_date(files->path[i]));
        }
        paritas_er_files_free(files);
    }
    snprintf(name, sizeof name, "%s/1998/3D980116.TAB", folder);
    assert_int_equal(paritas_er_find(context, name, 1998, 1, 0, &files), PARITAS_OK);
    assert_int_equal(files->n, 1);
    paritas_er_files_free(files);
    assert_int_equal(paritas_er_find(context, name, 1999, 0, 0, &files), PARITAS_OK);
    assert_int_equal(files->n, 0);
    paritas_er_files_free(files);
    snprintf(name, sizeof name, "%s/1998/theta.tab", folder);
    assert_int_equal(paritas_er_find(context, name, 1998, 1, 0, &files), PARITAS_OK);
    assert_int_equal(files->n, 1);
    assert_int_equal(files->date[0], 0);
    paritas_er_files_free(files);
    assert_int_equal(paritas_er_find(context, "/nowhere", 0, 0, 0, &files), PARITAS_UNREADABLE);
    assert_int_equal(paritas_er_find(context, folder, 1998, 13, 0, &files), PARITAS_INVALID_ARGUMENT);
    for (size_t k = 0; k < COUNT(inside); k++) {
        snprintf(name, sizeof name, "%s%s", folder, inside[k]);
        unlink(name);
    }
    for (size_t k = COUNT(folders); k-- > 0;) {
        snprintf(name, sizeof name, "%s%s", folder, folders[k]);
        rmdir(name);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_gives_its_values_to_the_sweeps_it_names),
        cmocka_unit_test(a_table_of_several_days_is_told_apart_by_date_or_utc),
        cmocka_unit_test(a_table_that_is_wrong_is_refused_with_line_and_column),
        cmocka_unit_test(cells_that_look_at_the_sun_are_masked_and_no_others),
        cmocka_unit_test(rows_without_polarity_are_masked),
        cmocka_unit_test(the_date_is_in_a_day_files_name),
        cmocka_unit_test(day_files_are_found_in_folders_in_the_order_of_their_dates),
    };
    return cmocka_run_group_tests_name("day files: tables, masks, names", tests, open_shared, close_shared);
}
