/* Geometry from SPICE, with kernels made here: a Moon that turns evenly about the ecliptic's pole, a probe
 * and a Sun on straight lines. Skipped where there is no libcspice; the Python package spiceypy brings
 * one. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"

#include <dlfcn.h>
#include <glob.h>

static char folder[] = "/tmp/paritas-er-spice-XXXXXX";
static char library[512];

#define TURN 38.0       /* of the Moon's meridian at J2000, degrees */
#define TURN_RATE 13.17 /* a day */
#define J2000 946728000.0

/* Position and velocity in ECLIPJ2000 from the Moon's centre, km, s from the start: from over the north pole
 * through the Moon. */
static const double probe[6] = {300.0, 200.0, 1900.0, -0.02, 0.01, -0.06},
                    sun[6] = {1.2e8, -9.0e7, 1.0e6, 10.0, 20.0, -1.0};

static void find_function(void *opened, const char *name, void *function)
{
    void *const address = dlsym(opened, name);
    assert_non_null(address);
    memcpy(function, &address, sizeof address);
}

static const char *within(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Ephemeris time: TAI, 32.184 s and the Earth's eccentric path (the leap seconds' kernel says how). */
static double ephemeris_time(double unix_time)
{
    const double dynamical = unix_time - J2000 + 31.0 + 32.184,
                 anomaly = 6.239996 + 1.99096871e-7 * dynamical;
    return dynamical + 1.657e-3 * sin(anomaly + 1.671e-2 * sin(anomaly));
}

/* Straight lines from START for a day. */
static void write_orbits(void *opened)
{
    void (*spkopn)(const char *, const char *, int, int *);
    void (*spkw09)(int, int, int, const char *, double, double, const char *, int, int, double (*)[6],
                   double *);
    void (*spkcls)(int);
    find_function(opened, "spkopn_c", &spkopn);
    find_function(opened, "spkw09_c", &spkw09);
    find_function(opened, "spkcls_c", &spkcls);
    int handle;
    double epochs[2] = {ephemeris_time(START), ephemeris_time(START + 86400.0)};
    spkopn(within("orbit.bsp"), "made for a test", 0, &handle);
    for (unsigned body = 0; body < 2; body++) {
        const double *from = body ? sun : probe;
        double states[2][6];
        for (unsigned k = 0; k < 2; k++) {
            for (unsigned i = 0; i < 3; i++) {
                states[k][i] = from[i] + from[3 + i] * 86400.0 * k;
                states[k][3 + i] = from[3 + i];
            }
        }
        spkw09(handle, body ? 10 : -25, 301, "ECLIPJ2000", epochs[0], epochs[1], body ? "sun" : "probe", 1, 2,
               states, epochs);
    }
    spkcls(handle);
}

static int open_once(void **state)
{
    (void)state;
    static const char *const patterns[] = {PARITAS_SOURCE_DIR
                                           "/.venv/lib/python3*/site-packages/spiceypy/utils/libcspice.so",
                                           "/usr/lib/python3*/site-packages/spiceypy/utils/libcspice.so"};
    context = open_context(NULL);
    snprintf(library, sizeof library, "%s",
             getenv("PARITAS_CSPICE") ? getenv("PARITAS_CSPICE") : "libcspice.so");
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (size_t k = 0; !opened && k < COUNT(patterns); k++) {
        glob_t found;
        if (glob(patterns[k], 0, NULL, &found) == 0) {
            snprintf(library, sizeof library, "%s", found.gl_pathv[0]);
            opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        }
        globfree(&found);
    }
    if (!mkdtemp(folder)) return 1;
    if (!opened) {
        library[0] = '\0';
        return 0;
    }
    write_file(within("time.tls"),
               "KPL/LSK\n\\begindata\nDELTET/DELTA_T_A = 32.184\nDELTET/K = 1.657D-3\nDELTET/EB = "
               "1.671D-2\nDELTET/M = ( 6.239996D0 1.99096871D-7 )\n"
               "DELTET/DELTA_AT = ( 10, @1972-JAN-1 31, @1997-JUL-1 32, @1999-JAN-1 )\n\\begintext\n");
    /* the ecliptic's pole as J2000 sees it: the obliquity is 84381.448 seconds of arc */
    write_file(within("moon.tpc"), "KPL/PCK\n\\begindata\nBODY301_POLE_RA = ( 270. 0. 0. )\nBODY301_POLE_DEC "
                                   "= ( 66.56070888888888889 0. 0. )\nBODY301_PM = ( 38.0 13.17 0. )\n"
                                   "BODY301_RADII = ( 1737.4 1737.4 1737.4 )\n\\begintext\n");
    write_orbits(opened);
    return 0;
}

static int close_once(void **state)
{
    (void)state;
    static const char *const files[] = {"time.tls", "moon.tpc", "orbit.bsp"};
    for (size_t k = 0; k < COUNT(files); k++) unlink(within(files[k]));
    rmdir(folder);
    paritas_close(context);
    return 0;
}

static paritas_er_spice *open_spice(void)
{
    paritas_er_spice *spice;
    if (!library[0]) skip_because("there is no CSPICE");
    const paritas_status status = paritas_er_spice_open(context, library, folder, &spice);
    if (status) print_error("%s\n", paritas_error_message(context));
    assert_int_equal(status, PARITAS_OK);
    return spice;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A vector of ECLIPJ2000 in IAU_MOON. */
static void to_moon(double time, const double from[3], double to[3])
{
    const double turn = (TURN + TURN_RATE * ephemeris_time(time) / 86400.0) * acos(-1.0) / 180.0;
    to[0] = cos(turn) * from[0] + sin(turn) * from[1];
    to[1] = cos(turn) * from[1] - sin(turn) * from[0];
    to[2] = from[2];
}

static double latitude(const double *p)
{
    return asin(p[2] / sqrt(dot(p, p))) * 180.0 / acos(-1.0);
}
static double longitude(const double *p)
{
    return atan2(p[1], p[0]) * 180.0 / acos(-1.0);
}

TEST(geometry_is_that_of_the_kernels)
{
    paritas_er_spice *spice = open_spice();
    double times[2] = {START - 10.0, START + 100000.0}, ra[2] = {300.0, 310.0}, dec[2] = {84.0, 86.0};
    const paritas_er_attitude attitude = {2, times, ra, dec};
    struct page page = {0};
    for (unsigned k = 1; k <= 900; k += 60) page_sweep(&page, k);
    paritas_er_day *day = parse(context, &page, NULL);
    size_t uncovered = 99;
    unsigned signs[3] = {0, 0, 0}, sunlit = 0;
    assert_int_equal(paritas_er_spice_apply(context, spice, &attitude, day, &uncovered), PARITAS_OK);
    assert_int_equal(uncovered, 0);
    for (size_t row = 0; row < day->n * ROWS; row++) {
        const double time = day->time[row], past = time - START;
        double at[3], away[3], axes[9], field[3], position[3], turned[3], point[3], where[2], right, up;
        int polarity;
        for (unsigned i = 0; i < 3; i++) {
            at[i] = probe[i] + probe[3 + i] * past;
            away[i] = sun[i] + sun[3 + i] * past - at[i];
        }
        paritas_er_attitude_at(&attitude, time, &right, &up);
        paritas_er_despun_axes(right, up, away, axes);
        for (unsigned i = 0; i < 3; i++) field[i] = dot(axes + 3 * i, day->field + 3 * row);
        to_moon(time, at, position);
        to_moon(time, field, turned);
        paritas_er_footpoint(position, turned, point, &polarity, &where[0], &where[1]);
        assert_true(day->polarity[row] == polarity);
        signs[polarity + 1]++;
        if (row % ROWS) continue;
        const size_t k = row / ROWS;
        double to_sun[3], sun_at_moon[3], far[3];
        ASSERT_CLOSE(day->spacecraft_latitude[k], latitude(position), 1e-6);
        ASSERT_CLOSE(day->spacecraft_longitude[k], longitude(position), 1e-6);
        if (polarity) {
            ASSERT_CLOSE(day->projection_latitude[k], where[0], 1e-5);
            ASSERT_CLOSE(day->projection_longitude[k], where[1], 1e-5);
            for (unsigned i = 0; i < 3; i++) far[i] = sun[i] + sun[3 + i] * past;
            to_moon(time, far, sun_at_moon);
            assert_true(day->projection_in_sun[k] == (dot(point, sun_at_moon) > 0.0));
        } else {
            assert_true(isnan(day->projection_latitude[k]) && isnan(day->projection_in_sun[k]));
        }
        /* in shadow: within the Moon, or behind it and nearer to the axis of the shadow than the Moon is
         * wide */
        to_moon(time, away, to_sun);
        const double along = dot(position, to_sun) / sqrt(dot(to_sun, to_sun)),
                     across = sqrt(dot(position, position) - along * along);
        assert_true(day->spacecraft_in_sun[k] == !(sqrt(dot(position, position)) < PARITAS_MOON_RADIUS ||
                                                   (along < 0.0 && across < PARITAS_MOON_RADIUS)));
        sunlit += day->spacecraft_in_sun[k] == 1.0;
        ASSERT_CLOSE(day->sun_azimuth[k], 0.0, 1e-9);
        const double spin[3] = {axes[2], axes[5], axes[8]};
        ASSERT_CLOSE(day->sun_elevation[k],
                     asin(dot(spin, away) / sqrt(dot(away, away))) * 180.0 / acos(-1.0), 1e-6);
    }
    /* the day shows all kinds */
    assert_true(signs[0] > 0 && signs[1] > 0 && signs[2] > 0 && sunlit > 0 && sunlit < day->n);
    paritas_er_day_free(day);
    paritas_er_spice_close(spice);
    page_free(&page);
}

TEST(what_kernels_and_attitude_do_not_cover_is_unknown)
{
    paritas_er_spice *spice = open_spice();
    double times[2] = {START + 200.0, START + 90000.0}, ra[2] = {300.0, 310.0}, dec[2] = {84.0, 86.0};
    const paritas_er_attitude attitude = {2, times, ra, dec};
    struct page page = {0};
    page_sweep(&page, 1); /* before the attitude */
    page_sweep(&page, 5);
    page_sweep(&page, 1079);                    /* the last of the orbit */
    for (unsigned row = 0; row < ROWS; row++) { /* the day after */
        const struct change changes[] = {{1, "1998-02-02T00:10:00"}, {2, "886378200.0"}};
        page_row(&page, 1088, row, changes, 2);
        page_add(&page, "\n");
    }
    paritas_er_day *day = parse(context, &page, NULL);
    size_t uncovered;
    assert_int_equal(paritas_er_spice_apply(context, spice, &attitude, day, &uncovered), PARITAS_OK);
    assert_int_equal(uncovered, 2);
    for (unsigned k = 0; k < 4; k++) assert_int_equal(isnan(day->spacecraft_latitude[k]), k == 0 || k == 3);
    for (unsigned k = 0; k < 4; k++) assert_int_equal(isnan(day->polarity[k * ROWS]), k == 0 || k == 3);
    paritas_er_day_free(day);
    paritas_er_spice_close(spice);
    page_free(&page);
}

TEST(a_kernel_that_is_none_is_refused_by_name)
{
    if (!library[0]) skip_because("there is no CSPICE");
    paritas_er_spice *spice;
    char wanted[256];
    write_file(within("bad.bsp"), "DAF/SPK this is no kernel\n");
    assert_int_equal(paritas_er_spice_open(context, library, folder, &spice), PARITAS_INVALID_INPUT);
    snprintf(wanted, sizeof wanted, "%s/bad.bsp: SPICE(", folder);
    assert_int_equal(strncmp(paritas_error_message(context), wanted, strlen(wanted)), 0);
    assert_null(spice);
    unlink(within("bad.bsp"));
    assert_int_equal(paritas_er_spice_open(context, library, "/nowhere", &spice), PARITAS_UNREADABLE);
    assert_int_equal(paritas_er_spice_open(context, library, "/proc/sys", &spice), PARITAS_INVALID_INPUT);
    assert_string_equal(paritas_error_message(context),
                        "/proc/sys: there are no SPICE kernels (bsp, tpc, tls)");
}

TEST(without_spice_the_status_says_so)
{
    paritas_er_spice *spice;
    assert_int_equal(paritas_er_spice_open(context, "/nowhere/libcspice.so", folder, &spice),
                     PARITAS_NO_DEVICE);
    assert_string_equal(paritas_error_message(context),
                        "SPICE is not installed: /nowhere/libcspice.so cannot be opened");
    assert_null(spice);
    assert_int_equal(paritas_er_spice_open(context, "libc.so.6", folder, &spice), PARITAS_NO_DEVICE);
    assert_string_equal(paritas_error_message(context), "libc.so.6 has no function furnsh_c");
    paritas_er_spice_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_is_that_of_the_kernels),
        cmocka_unit_test(what_kernels_and_attitude_do_not_cover_is_unknown),
        cmocka_unit_test(a_kernel_that_is_none_is_refused_by_name),
        cmocka_unit_test(without_spice_the_status_says_so),
    };
    return cmocka_run_group_tests_name("day files: SPICE", tests, open_once, close_once);
}
