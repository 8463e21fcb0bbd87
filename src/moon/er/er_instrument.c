/* er_instrument.c: directions of cells and spin axis; footpoints of field lines. */
#include "moon/er/er_text.h"

#include "base/math/host_math.h"
#include <math.h>
#include <string.h>

/* Cells by |inclination|: number a side, solid angle of one in sr. */
static const struct belt {
    double inclination;
    unsigned cells;
    double solid_angle;
} belts[] = {{11.25, 16, 0.150279}, {33.75, 16, 0.127401}, {56.25, 8, 0.170253}, {78.75, 4, 0.119570}};
#define BELTS (COUNT_OF(belts))

paritas_status paritas_er_theta(paritas_context *context, const char *path, double theta[PARITAS_SWEEP_CELLS])
{
    REQUIRE(context, theta);
    size_t n = 0;
    if (!path) {
        for (size_t k = 0; k < 2 * BELTS; k++)
            for (unsigned j = 0; j < belts[k / 2].cells; j++)
                theta[n++] = k % 2 ? -belts[k / 2].inclination : belts[k / 2].inclination;
        return PARITAS_OK;
    }
    struct er_text text;
    struct er_piece line, field;
    paritas_status status = PARITAS_OK;
    TRY(er_text_open(context, path, &text));
    while (!status && er_text_line(&text, &line)) {
        while (!status && er_piece_field(&line, " \t\r,", &field)) {
            double value;
            if (field.length == 0) continue;
            if (n == PARITAS_SWEEP_CELLS)
                status = er_text_refuse(&text, "there are more than 88 inclinations");
            else if (!er_piece_number(field, &value))
                status = er_text_refuse(&text, "inclination %zu is no number", n + 1);
            else if (!(value >= -90.0 && value <= 90.0))
                status = er_text_refuse(&text, "inclination %zu is not between -90 and 90 degrees: %g", n + 1,
                                        value);
            else
                theta[n++] = value;
        }
    }
    if (!status && n < PARITAS_SWEEP_CELLS)
        status = er_text_refuse(&text, "the file ends after %zu inclinations of 88", n);
    er_text_close(&text);
    return status;
}

void paritas_er_solid_angles(const double theta[PARITAS_SWEEP_CELLS], double solid_angle[PARITAS_SWEEP_CELLS])
{
    GIVEN(, theta, solid_angle);
    for (size_t j = 0; j < PARITAS_SWEEP_CELLS; j++) {
        solid_angle[j] = NAN;
        for (size_t k = 0; k < BELTS; k++)
            if (fabs(theta[j]) == belts[k].inclination) solid_angle[j] = belts[k].solid_angle;
    }
}

struct attitude {
    paritas_er_attitude open;
    paritas_allocator allocator;
    size_t room[3]; /* of each array */
};

void paritas_er_attitude_free(paritas_er_attitude *attitude)
{
    if (!attitude) return;
    const paritas_allocator allocator = ((struct attitude *)(void *)attitude)->allocator;
    paritas_release(&allocator, attitude->time);
    paritas_release(&allocator, attitude->right_ascension);
    paritas_release(&allocator, attitude->declination);
    paritas_release(&allocator, attitude);
}

static paritas_status attitude_add(paritas_context *context, struct attitude *attitude, const double row[3])
{
    double **const arrays[3] = {&attitude->open.time, &attitude->open.right_ascension,
                                &attitude->open.declination};
    for (size_t k = 0; k < 3; k++) {
        double *grown =
            er_grow(context, *arrays[k], attitude->open.n, &attitude->room[k], 256, sizeof *grown);
        if (!grown) return PARITAS_OUT_OF_MEMORY;
        *arrays[k] = grown;
        grown[attitude->open.n] = row[k];
    }
    attitude->open.n++;
    return PARITAS_OK;
}

/* UTC, revolutions a minute, right ascension, declination. */
static paritas_status attitude_line(const struct er_text *text, struct er_piece line, double row[3])
{
    struct er_piece field[4], more;
    double spin;
    size_t n = 0;
    while (n < 4 && er_piece_field(&line, ",", &field[n])) n++;
    if (n < 4 || er_piece_field(&line, ",", &more))
        return er_text_refuse(text, "4 fields are expected: UTC, RPM, RA, DEC");
    char utc[32] = "";
    if (field[0].length < sizeof utc - 3) memcpy(utc, field[0].at, field[0].length);
    if (field[0].length == 16) memcpy(utc + 16, ":00", 4); /* the archive has no seconds */
    if (!er_read_utc(utc, utc + strlen(utc), &row[0]))
        return er_text_refuse(text, "column UTC: YYYY-MM-DDThh:mm or YYYY-MM-DDThh:mm:ss is expected");
    if (!er_piece_number(field[1], &spin)) return er_text_refuse(text, "column RPM: a number is expected");
    if (!er_piece_number(field[2], &row[1]) || !(row[1] >= -360.0 && row[1] <= 360.0))
        return er_text_refuse(text, "column RA: degrees from -360 to 360 are expected");
    if (!er_piece_number(field[3], &row[2]) || !(row[2] >= -90.0 && row[2] <= 90.0))
        return er_text_refuse(text, "column DEC: degrees from -90 to 90 are expected");
    return PARITAS_OK;
}

paritas_status paritas_er_attitude_read(paritas_context *context, const char *path, paritas_er_attitude **out)
{
    REQUIRE_AS(context, "path, attitude", path, out);
    struct er_text text;
    struct er_piece line;
    *out = NULL;
    TRY(er_text_open(context, path, &text));
    struct attitude *attitude = paritas_allocate_clear(context, 1, sizeof *attitude);
    paritas_status status = attitude ? PARITAS_OK : paritas_fail_memory(context);
    if (attitude) attitude->allocator = context->allocator;
    while (!status && er_text_line(&text, &line)) {
        const paritas_er_attitude *open = &attitude->open;
        double row[3];
        status = attitude_line(&text, line, row);
        if (!status && open->n && !(row[0] > open->time[open->n - 1]))
            status = er_text_refuse(&text, "times must ascend");
        if (!status) status = attitude_add(context, attitude, row);
    }
    if (!status && attitude->open.n == 0) status = er_text_refuse(&text, "there is no attitude");
    er_text_close(&text);
    if (!status)
        *out = &attitude->open;
    else if (attitude)
        paritas_er_attitude_free(&attitude->open);
    return status;
}

/* Wraps an angle to [lower, lower + 360). */
static double wrap(double angle, double lower)
{
    double turned = angle - lower;
    turned -= 360.0 * (double)(int64_t)(turned / 360.0);
    if (turned < 0.0) turned += 360.0;
    if (turned >= 360.0) turned = 0.0; /* tiny negative angles round up */
    return turned + lower;
}

void paritas_er_attitude_at(const paritas_er_attitude *attitude, double time, double *right_ascension,
                            double *declination)
{
    GIVEN(, attitude, right_ascension, declination);
    const size_t n = attitude->n;
    *right_ascension = *declination = NAN;
    if (n == 0 || !(time >= attitude->time[0] && time <= attitude->time[n - 1])) return;
    size_t low = 0, high = n - 1; /* time is in [time[low], time[high]] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (attitude->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    const double length = attitude->time[high] - attitude->time[low],
                 part = length > 0.0 ? (time - attitude->time[low]) / length : 0.0;
    const double from = attitude->right_ascension[low],
                 turn = wrap(attitude->right_ascension[high] - from, -180.0);
    *right_ascension = wrap(from + part * turn, 0.0);
    *declination =
        attitude->declination[low] + part * (attitude->declination[high] - attitude->declination[low]);
}

double er_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void paritas_er_despun_axes(double right_ascension, double declination, const double sun[3], double matrix[9])
{
    GIVEN(, sun, matrix);
    const double across = host_cos_degrees(declination);
    const double z[3] = {host_cos_degrees(right_ascension) * across,
                         host_sin_degrees(right_ascension) * across, host_sin_degrees(declination)};
    const double length = host_sqrt(er_dot(sun, sun));
    double x[3], direction[3], y[3];
    for (int i = 0; i < 9; i++) matrix[i] = NAN;
    if (!(length > 1e-8)) return;
    for (int i = 0; i < 3; i++) direction[i] = sun[i] / length;
    const double along = er_dot(direction, z);
    for (int i = 0; i < 3; i++) x[i] = direction[i] - along * z[i];
    const double size = host_sqrt(er_dot(x, x));
    if (!(size > 1e-8)) return;
    for (int i = 0; i < 3; i++) x[i] /= size;
    y[0] = z[1] * x[2] - z[2] * x[1];
    y[1] = z[2] * x[0] - z[0] * x[2];
    y[2] = z[0] * x[1] - z[1] * x[0];
    for (int i = 0; i < 3; i++) {
        matrix[3 * i] = x[i];
        matrix[3 * i + 1] = y[i];
        matrix[3 * i + 2] = z[i];
    }
}

bool er_meets_moon(const double position[3], const double direction[3], double point[3])
{
    const double a = er_dot(direction, direction), b = er_dot(position, direction),
                 c = er_dot(position, position) - PARITAS_MOON_RADIUS * PARITAS_MOON_RADIUS;
    const double discriminant = b * b - a * c;
    if (!(a > 0.0) || !(discriminant >= 0.0)) return false;
    /* roots of a t^2 + 2 b t + c: the one without cancellation, and c over it */
    const double root = host_sqrt(discriminant), q = b > 0.0 ? -b - root : -b + root;
    const double first = q / a, second = q != 0.0 ? c / q : first;
    const double lesser = first < second ? first : second, greater = first < second ? second : first;
    const double t = lesser > 0.0 ? lesser : greater;
    if (!(t > 0.0)) return false;
    for (int i = 0; i < 3; i++) point[i] = position[i] + t * direction[i];
    return true;
}

void er_coordinates(const double point[3], double *latitude, double *longitude)
{
    const double across = host_sqrt(point[0] * point[0] + point[1] * point[1]),
                 length = host_sqrt(er_dot(point, point));
    const double x = fabs(point[0]), y = fabs(point[1]);
    *latitude = 90.0 - host_acos_degrees(point[2] / length);
    /* the arc cosine is steep near 0 and 180 degrees: use the nearer axis's normal */
    double angle = 0.0;
    if (across > 0.0) angle = x >= y ? 90.0 - host_acos_degrees(y / across) : host_acos_degrees(x / across);
    if (point[0] < 0.0) angle = 180.0 - angle;
    *longitude = point[1] < 0.0 ? -angle : angle;
}

void paritas_er_footpoint(const double position[3], const double field[3], double point[3], int *polarity,
                          double *latitude, double *longitude)
{
    GIVEN(, position, field, point, polarity);
    const double against[3] = {-field[0], -field[1], -field[2]};
    double behind[3], where[2] = {NAN, NAN};
    const bool ahead = er_meets_moon(position, field, point), back = er_meets_moon(position, against, behind);
    *polarity = (ahead ? 1 : 0) - (back ? 1 : 0);
    for (int i = 0; i < 3; i++) point[i] = *polarity > 0 ? point[i] : *polarity < 0 ? behind[i] : NAN;
    if (*polarity) er_coordinates(point, &where[0], &where[1]);
    if (latitude) *latitude = where[0];
    if (longitude) *longitude = where[1];
}
