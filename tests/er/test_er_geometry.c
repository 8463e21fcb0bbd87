/* Cells, attitude, axes and footpoints: closed forms, and the numbers of an independent implementation where
 * they are at hand. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

#include "base/json/json.h"

/* The last failure was of the file, for that reason. */
static void assert_reason(const char *reason)
{
    const char *const message = paritas_error_message(context);
    assert_int_equal(strncmp(message, path, strlen(path)), 0);
    assert_string_equal(message + strlen(path), reason);
}

static void close_all(const double *a, const double *b, size_t n, double tolerance)
{
    for (size_t k = 0; k < n; k++) {
        if (isnan(a[k]) && isnan(b[k])) continue;
        ASSERT_CLOSE(a[k], b[k], tolerance);
    }
}

/* ---- cells ---- */

TEST(the_built_in_cells_cover_the_sphere)
{
    double theta[CELLS], solid_angle[CELLS], sum = 0.0;
    unsigned south = 0;
    assert_int_equal(paritas_er_theta(context, NULL, theta), PARITAS_OK);
    paritas_er_solid_angles(theta, solid_angle);
    for (size_t j = 0; j < CELLS; j++) {
        sum += solid_angle[j];
        south += theta[j] < 0.0;
        if (j) assert_true(fabs(theta[j]) >= fabs(theta[j - 1]));
    }
    assert_int_equal(south, CELLS / 2);
    ASSERT_CLOSE(sum, 12.566368, 1e-9); /* 4 pi, to the digits of the table */
    theta[5] = 12.0;
    paritas_er_solid_angles(theta, solid_angle);
    assert_true(isnan(solid_angle[5]) && solid_angle[4] == 0.150279);
}

TEST(inclinations_come_from_a_file_in_its_order)
{
    struct page page = {0};
    double theta[CELLS];
    for (unsigned j = 0; j < CELLS; j++)
        page_add(&page, j % 8 == 7 ? "%.2f\r\n" : j % 3 ? "%.2f, " : "  %.2f\t", 78.75 - 1.5 * j);
    write_file(path, page.text);
    assert_int_equal(paritas_er_theta(context, path, theta), PARITAS_OK);
    for (unsigned j = 0; j < CELLS; j++) assert_true(theta[j] == 78.75 - 1.5 * j);
    page_add(&page, "\n11.25\n");
    write_file(path, page.text);
    assert_int_equal(paritas_er_theta(context, path, theta), PARITAS_INVALID_INPUT);
    assert_reason(": line 13: there are more than 88 inclinations");
    write_file(path, "1 2 3\n4 five\n");
    assert_int_equal(paritas_er_theta(context, path, theta), PARITAS_INVALID_INPUT);
    assert_reason(": line 2: inclination 5 is no number");
    write_file(path, "1 2 3\n4 5");
    assert_int_equal(paritas_er_theta(context, path, theta), PARITAS_INVALID_INPUT);
    assert_reason(": line 2: the file ends after 5 inclinations of 88");
    write_file(path, "91");
    assert_int_equal(paritas_er_theta(context, path, theta), PARITAS_INVALID_INPUT);
    assert_reason(": line 1: inclination 1 is not between -90 and 90 degrees: 91");
    assert_int_equal(paritas_er_theta(context, "/nowhere/theta.tab", theta), PARITAS_UNREADABLE);
    page_free(&page);
}

/* ---- attitude ---- */

TEST(attitude_goes_the_shorter_way_between_its_rows)
{
    paritas_er_attitude *attitude;
    double ra, dec;
    write_file(path, "1998-02-01T00:00:00, 12.0, 350.0, 85.0\r\n\n 1998-02-01T01:00:00 ,12.1, 10.0 "
                     ",86\n1998-02-02T00:00:00,12,190.0,-20");
    assert_int_equal(paritas_er_attitude_read(context, path, &attitude), PARITAS_OK);
    assert_int_equal(attitude->n, 3);
    assert_true(attitude->time[1] == START + 3600.0);
    paritas_er_attitude_at(attitude, START + 1800.0, &ra, &dec);
    ASSERT_CLOSE(ra, 0.0, 1e-12);
    ASSERT_CLOSE(dec, 85.5, 1e-12);
    paritas_er_attitude_at(attitude, START + 900.0, &ra, &dec);
    ASSERT_CLOSE(ra, 355.0, 1e-12);
    /* half a turn is taken backwards */
    paritas_er_attitude_at(attitude, START + 3600.0 + 0.25 * 82800.0, &ra, &dec);
    ASSERT_CLOSE(ra, 325.0, 1e-12);
    paritas_er_attitude_at(attitude, START - 0.001, &ra, &dec);
    assert_true(isnan(ra) && isnan(dec));
    paritas_er_attitude_at(attitude, START + 86400.001, &ra, &dec);
    assert_true(isnan(ra) && isnan(dec));
    paritas_er_attitude_at(attitude, START + 86400.0, &ra, &dec);
    assert_true(ra == 190.0 && dec == -20.0);
    paritas_er_attitude_free(attitude);
    paritas_er_attitude_free(NULL);
}

TEST(an_attitude_file_that_is_wrong_is_refused_with_its_line)
{
    static const struct {
        const char *text, *reason;
    } files[] = {
        {"1998-02-01T00:00:00,12,350,85\n1998-02-01T00:00:00,12,350,85\n", ": line 2: times must ascend"},
        {"1998-02-01T00:00:00,12,350,85\n\n1998-01-31T00:00:00,12,350,85\n", ": line 3: times must ascend"},
        {"1998-02-01T00:00:00,12,350\n", ": line 1: 4 fields are expected: UTC, RPM, RA, DEC"},
        {"1998-02-01T00:00:00,12,350,85,1\n", ": line 1: 4 fields are expected: UTC, RPM, RA, DEC"},
        {"UTC,RPM,RA,DEC\n", ": line 1: column UTC: YYYY-MM-DDThh:mm or YYYY-MM-DDThh:mm:ss is expected"},
        {"1998-02-01T00:00:00,,350,85\n", ": line 1: column RPM: a number is expected"},
        {"1998-02-01T00:00:00,12,361,85\n", ": line 1: column RA: degrees from -360 to 360 are expected"},
        {"1998-02-01T00:00:00,12,350,nan\n", ": line 1: column DEC: degrees from -90 to 90 are expected"},
        {"\n\n", ": line 2: there is no attitude"},
    };
    paritas_er_attitude *attitude;
    for (size_t k = 0; k < COUNT(files); k++) {
        write_file(path, files[k].text);
        assert_int_equal(paritas_er_attitude_read(context, path, &attitude), PARITAS_INVALID_INPUT);
        assert_reason(files[k].reason);
        assert_null(attitude);
    }
}

/* ---- vectors ---- */

TEST(despun_axes_are_a_frame_with_the_sun_in_its_meridian)
{
    for (unsigned k = 0; k < 200; k++) {
        const double ra = 3.7 * k, dec = 80.0 - 0.8 * k,
                     sun[3] = {cos(0.31 * k), sin(0.31 * k), 0.02 * (k % 7)};
        double m[9];
        paritas_er_despun_axes(ra, dec, sun, m);
        for (unsigned i = 0; i < 3; i++)
            for (unsigned j = 0; j < 3; j++)
                ASSERT_CLOSE(m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j], i == j, 1e-13);
        ASSERT_CLOSE(m[8], sin(dec * acos(-1.0) / 180.0), 1e-14);
        ASSERT_CLOSE(m[1] * sun[0] + m[4] * sun[1] + m[7] * sun[2], 0.0, 1e-13);
        assert_true(m[0] * sun[0] + m[3] * sun[1] + m[6] * sun[2] > 0.0);
        ASSERT_CLOSE(m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                         m[2] * (m[3] * m[7] - m[4] * m[6]),
                     1.0, 1e-13);
    }
    double m[9];
    paritas_er_despun_axes(0.0, 90.0, (const double[3]){0.0, 0.0, 5.0}, m); /* the Sun stands in the axis */
    for (unsigned i = 0; i < 9; i++) assert_true(isnan(m[i]));
    paritas_er_despun_axes(0.0, 90.0, (const double[3]){0.0, 0.0, 0.0}, m);
    assert_true(isnan(m[0]));
}

TEST(footpoints_lie_on_the_sphere_and_on_the_line)
{
    const double degree = acos(-1.0) / 180.0;
    for (unsigned k = 0; k < 400; k++) {
        /* a point of the sphere at known coordinates, a direction that comes down on it, a step back along
         * it */
        const double latitude = 89.0 - 0.445 * k, longitude = fmod(17.3 * k, 360.0) - 180.0,
                     height = 20.0 + 3.0 * k, slant = 0.3 * sin((double)k);
        const double up[3] = {cos(latitude * degree) * cos(longitude * degree),
                              cos(latitude * degree) * sin(longitude * degree), sin(latitude * degree)};
        const double east[3] = {-sin(longitude * degree), cos(longitude * degree), 0.0};
        double foot[3], position[3], field[3], point[3], where[2];
        int polarity;
        for (unsigned i = 0; i < 3; i++) {
            foot[i] = PARITAS_MOON_RADIUS * up[i];
            field[i] = (k % 2 ? 7.0 : -7.0) * (slant * east[i] - up[i]);
            position[i] = foot[i] - height * (slant * east[i] - up[i]);
        }
        paritas_er_footpoint(position, field, point, &polarity, &where[0], &where[1]);
        assert_int_equal(polarity, k % 2 ? 1 : -1);
        close_all(point, foot, 3, 1e-8);
        ASSERT_CLOSE(where[0], latitude, 1e-10);
        ASSERT_CLOSE(remainder(where[1] - longitude, 360.0), 0.0, 1e-9);
        assert_true(where[1] >= -180.0 && where[1] <= 180.0);
    }
}

TEST(a_line_that_misses_the_moon_or_begins_in_it_has_no_polarity)
{
    double point[3], latitude, longitude;
    int polarity;
    paritas_er_footpoint((const double[3]){0.0, 1800.0, 0.0}, (const double[3]){1.0, 0.0, 0.0}, point,
                         &polarity, &latitude, &longitude);
    assert_true(polarity == 0 && isnan(point[0]) && isnan(latitude) && isnan(longitude));
    paritas_er_footpoint((const double[3]){0.0, 100.0, 0.0}, (const double[3]){1.0, 2.0, 3.0}, point,
                         &polarity, NULL, NULL);
    assert_true(polarity == 0 && isnan(point[2]));
    paritas_er_footpoint((const double[3]){0.0, 1800.0, 0.0}, (const double[3]){0.0, 0.0, 0.0}, point,
                         &polarity, NULL, NULL);
    assert_int_equal(polarity, 0);
    paritas_er_footpoint((const double[3]){0.0, 0.0, -1800.0}, (const double[3]){0.0, 0.0, 1.0}, point,
                         &polarity, &latitude, &longitude);
    assert_true(polarity == 1 && latitude == -90.0 && longitude == 0.0);
}

/* ---- the numbers of an independent implementation ---- */

static size_t numbers(const struct json *node, double *to, size_t most)
{
    assert_non_null(node);
    size_t n = 0;
    for (const struct json *child = node->first; child; child = child->next) {
        if (child->type == JSON_ARRAY) {
            n += numbers(child, to + n, most - n);
        } else {
            assert_true(n < most);
            to[n++] = child->type == JSON_NUMBER ? child->number : (double)NAN;
        }
    }
    return n;
}

TEST(reference_geometry_is_met_to_1e_12)
{
    struct paritas_workspace *document;
    if (json_read_file(context, PARITAS_SOURCE_DIR "/../shared/losscone/cases.json", &document))
        skip_because(CASES_ABSENT);
    const struct json *const all = json_get(document->root, "case10_geometry"),
                             *part = json_get(all, "attitude");
    double time[8], ra[8], dec[8], query[8], ra_out[8], dec_out[8];
    const size_t n = numbers(json_get(part, "t"), time, 8),
                 queries = numbers(json_get(part, "query"), query, 8);
    assert_int_equal(numbers(json_get(part, "ra"), ra, 8), n);
    assert_int_equal(numbers(json_get(part, "dec"), dec, 8), n);
    assert_int_equal(numbers(json_get(part, "ra_out"), ra_out, 8), queries);
    assert_int_equal(numbers(json_get(part, "dec_out"), dec_out, 8), queries);
    const paritas_er_attitude attitude = {n, time, ra, dec};
    assert_true(queries > 0);
    for (size_t k = 0; k < queries; k++) {
        double found[2];
        paritas_er_attitude_at(&attitude, query[k], &found[0], &found[1]);
        assert_int_equal(isnan(found[0]), isnan(ra_out[k]));
        close_all(&found[0], &ra_out[k], 1, 1e-12);
        close_all(&found[1], &dec_out[k], 1, 1e-12);
    }
    double spin[4], sun[6], matrix[18], found[9];
    part = json_get(all, "scd");
    assert_int_equal(numbers(json_get(part, "spin_radec"), spin, 4), 4);
    assert_int_equal(numbers(json_get(part, "sun"), sun, 6), 6);
    assert_int_equal(numbers(json_get(part, "matrix_rows_XYZ_columns"), matrix, 18), 18);
    for (size_t k = 0; k < 2; k++) {
        paritas_er_despun_axes(spin[2 * k], spin[2 * k + 1], sun + 3 * k, found);
        close_all(found, matrix + 9 * k, 9, 1e-12);
    }
    double position[18], direction[18], points[18], polarity[6];
    part = json_get(all, "ray");
    assert_int_equal(numbers(json_get(part, "pos"), position, 18), 18);
    assert_int_equal(numbers(json_get(part, "dir"), direction, 18), 18);
    assert_int_equal(numbers(json_get(part, "points"), points, 18), 18);
    assert_int_equal(numbers(json_get(part, "polarity"), polarity, 6), 6);
    for (size_t k = 0; k < 6; k++) {
        double point[3];
        int sign;
        paritas_er_footpoint(position + 3 * k, direction + 3 * k, point, &sign, NULL, NULL);
        assert_int_equal(sign, (int)polarity[k]);
        assert_int_equal(isnan(point[0]), isnan(points[3 * k]));
        close_all(point, points + 3 * k, 3, 1737.4 * 1e-12);
    }
    paritas_workspace_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_cells_cover_the_sphere),
        cmocka_unit_test(inclinations_come_from_a_file_in_its_order),
        cmocka_unit_test(attitude_goes_the_shorter_way_between_its_rows),
        cmocka_unit_test(an_attitude_file_that_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(despun_axes_are_a_frame_with_the_sun_in_its_meridian),
        cmocka_unit_test(footpoints_lie_on_the_sphere_and_on_the_line),
        cmocka_unit_test(a_line_that_misses_the_moon_or_begins_in_it_has_no_polarity),
        cmocka_unit_test(reference_geometry_is_met_to_1e_12),
    };
    return cmocka_run_group_tests_name("day files: geometry", tests, open_shared, close_shared);
}
