/* er_mag.c: records of the magnetometer, and the geometry that follows from them.
 *
 * A row has 16 fields: UTC, day of the year, field in SEL (3) and SSE (3), its RMS, position in SEL (3) and
 * SSE (3), sun pulse (the archive's DATAFMT.TXT). Field and position in both frames give the rotation between
 * them (TRIAD, Black 1964), and so where the Sun is over the Moon. */
#include "moon/er/er_text.h"

#include "base/math/host_math.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define NUMBERS 15       /* of a row, after the UTC */
#define NEAR 5.0         /* s, between a row of a sweep and its record */
#define HALF_MEAN 2.5    /* s */
#define LEAST_ACROSS 0.1 /* sine of the angle between field and position: below, the rotation is not known */

enum { AT_FIELD = 1, AT_FIELD_SSE = 4, AT_RMS = 7, AT_POSITION = 8, AT_POSITION_SSE = 11 };

struct record {
    double time, value[NUMBERS];
};

struct mag {
    paritas_er_mag open;
    paritas_allocator allocator;
    struct record *records;
    size_t room;
};

/* Arrays of the public struct: where in a record, and how many numbers. */
#define ARRAYS(mag)                                 \
    {                                               \
        {&(mag)->field, AT_FIELD, 3},               \
        {&(mag)->field_sse, AT_FIELD_SSE, 3},       \
        {&(mag)->rms, AT_RMS, 1},                   \
        {&(mag)->position, AT_POSITION, 3},         \
        {&(mag)->position_sse, AT_POSITION_SSE, 3}, \
    }
struct array {
    double **values;
    unsigned at, count;
};

void paritas_er_mag_free(paritas_er_mag *open)
{
    if (!open) return;
    struct mag *mag = (struct mag *)(void *)open;
    const paritas_allocator allocator = mag->allocator;
    const struct array arrays[] = ARRAYS(open);
    for (size_t k = 0; k < COUNT_OF(arrays); k++) paritas_release(&allocator, *arrays[k].values);
    paritas_release(&allocator, open->time);
    paritas_release(&allocator, mag->records);
    paritas_release(&allocator, mag);
}

/* The next number, up to a blank or, where numbers fill their columns, to the next sign. */
static bool take_number(struct er_piece *line, double *value)
{
    const char *at = line->at, *const end = at + line->length;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    const char *stop = at;
    while (stop < end && *stop != ' ' && *stop != '\t' && !(stop > at && *stop == '-' && stop[-1] >= '0'))
        stop++;
    const struct er_piece number = {at, (size_t)(stop - at)};
    *line = (struct er_piece){stop, (size_t)(end - stop)};
    return number.length > 0 && er_piece_number(number, value);
}

static double length_of(const double a[3])
{
    return host_sqrt(er_dot(a, a));
}

/* Why a row is no record; NULL: it is one. */
static const char *read_record(struct er_piece line, struct record *record)
{
    const double *value = record->value;
    const char *blank = memchr(line.at, ' ', line.length);
    const size_t length = blank ? (size_t)(blank - line.at) : line.length;
    if (!er_read_utc(line.at, line.at + length, &record->time))
        return "a UTC is expected, YYYY-MM-DDThh:mm:ss";
    line = (struct er_piece){line.at + length, line.length - length};
    for (unsigned k = 0; k < NUMBERS; k++)
        if (!take_number(&line, &record->value[k])) return "16 fields are expected, a UTC and 15 numbers";
    if (line.length > 0) return "16 fields are expected, there are more";
    const double field = length_of(value + AT_FIELD), field_sse = length_of(value + AT_FIELD_SSE),
                 distance = length_of(value + AT_POSITION), distance_sse = length_of(value + AT_POSITION_SSE);
    if (!(distance > 1700.0 && distance < 20000.0 && distance_sse > 1700.0 && distance_sse < 20000.0))
        return "the position is not near the Moon";
    if (!(field > 0.0 && field < 1000.0 && field_sse > 0.0 && field_sse < 1000.0))
        return "the field is 0, or 1000 nT or more";
    const double angle = er_dot(value + AT_FIELD, value + AT_POSITION) / (field * distance),
                 angle_sse =
                     er_dot(value + AT_FIELD_SSE, value + AT_POSITION_SSE) / (field_sse * distance_sse);
    /* numbers have 3 decimals */
    if (fabs(angle - angle_sse) > 0.02 + 0.004 / field) return "the two frames do not agree";
    return NULL;
}

static paritas_status read_records(struct er_text *text, struct mag *mag)
{
    paritas_er_mag *open = &mag->open;
    const char *first = "there are no rows";
    struct er_piece line;
    while (er_text_line(text, &line)) {
        struct record *records =
            er_grow(text->context, mag->records, open->n, &mag->room, 17280, sizeof *records);
        if (!records) return PARITAS_OUT_OF_MEMORY;
        mag->records = records;
        const char *reason = read_record(line, &records[open->n]);
        open->n += !reason;
        if (!reason || open->skipped++ > 0) continue;
        first = reason;
        open->line = text->line;
    }
    text->line = open->line ? open->line : 1;
    return open->n > 0 ? PARITAS_OK : er_text_refuse(text, "%s: this is no file of the magnetometer", first);
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static paritas_status publish(paritas_context *context, struct mag *mag)
{
    paritas_er_mag *open = &mag->open;
    const struct array arrays[] = ARRAYS(open);
    qsort(mag->records, open->n, sizeof *mag->records, by_time);
    open->time = paritas_allocate(context, open->n, sizeof *open->time);
    if (!open->time) return paritas_fail_memory(context);
    for (size_t k = 0; k < open->n; k++) open->time[k] = mag->records[k].time;
    for (size_t i = 0; i < COUNT_OF(arrays); i++) {
        const unsigned count = arrays[i].count;
        double *values = *arrays[i].values = paritas_allocate(context, open->n * count, sizeof *values);
        if (!values) return paritas_fail_memory(context);
        for (size_t k = 0; k < open->n; k++)
            memcpy(values + k * count, mag->records[k].value + arrays[i].at, count * sizeof *values);
    }
    paritas_release(&context->allocator, mag->records);
    mag->records = NULL;
    return PARITAS_OK;
}

paritas_status paritas_er_mag_read(paritas_context *context, const char *path, paritas_er_mag **out)
{
    REQUIRE_AS(context, "path, mag", path, out);
    struct er_text text;
    *out = NULL;
    TRY(er_text_open(context, path, &text));
    struct mag *mag = paritas_allocate_clear(context, 1, sizeof *mag);
    if (mag) mag->allocator = context->allocator;
    paritas_status status = mag ? read_records(&text, mag) : paritas_fail_memory(context);
    er_text_close(&text);
    if (!status) status = publish(context, mag);
    if (!status)
        *out = &mag->open;
    else if (mag)
        paritas_er_mag_free(&mag->open);
    return status;
}

/* The first record not before a time. */
static size_t first_from(const paritas_er_mag *mag, double time)
{
    size_t low = 0, high = mag->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (mag->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The record nearest to a time; mag->n: none is near. */
static size_t nearest(const paritas_er_mag *mag, double time)
{
    size_t at = first_from(mag, time);
    if (at > 0 && (at == mag->n || time - mag->time[at - 1] <= mag->time[at] - time)) at--;
    return at < mag->n && fabs(mag->time[at] - time) <= NEAR ? at : mag->n;
}

/* Axes of position and what of the field lies across it; false: too little does. */
static bool find_axes(const double position[3], const double field[3], double axes[3][3])
{
    const double distance = length_of(position), strength = length_of(field);
    for (int i = 0; i < 3; i++) axes[0][i] = position[i] / distance;
    const double along = er_dot(axes[0], field);
    for (int i = 0; i < 3; i++) axes[1][i] = field[i] - along * axes[0][i];
    const double across = length_of(axes[1]);
    if (!(across > LEAST_ACROSS * strength)) return false;
    for (int i = 0; i < 3; i++) axes[1][i] /= across;
    for (int i = 0; i < 3; i++)
        axes[2][i] =
            axes[0][(i + 1) % 3] * axes[1][(i + 2) % 3] - axes[0][(i + 2) % 3] * axes[1][(i + 1) % 3];
    return true;
}

/* The Sun's direction in SEL: x of SSE, turned. */
static bool find_sun(const paritas_er_mag *mag, size_t at, double sun[3])
{
    double fixed[3][3], solar[3][3];
    if (!find_axes(mag->position + 3 * at, mag->field + 3 * at, fixed) ||
        !find_axes(mag->position_sse + 3 * at, mag->field_sse + 3 * at, solar))
        return false;
    for (int i = 0; i < 3; i++)
        sun[i] = fixed[0][i] * solar[0][0] + fixed[1][i] * solar[1][0] + fixed[2][i] * solar[2][0];
    return true;
}

/* Values of the whole sweep, at its first record. */
static void fill_sweep(const paritas_er_mag *mag, size_t at, paritas_er_day *day, size_t k)
{
    static const double sunward[3] = {1.0, 0.0, 0.0};
    const double *position = mag->position + 3 * at;
    double point[3], sun[3];
    int polarity;
    er_coordinates(position, &day->spacecraft_latitude[k], &day->spacecraft_longitude[k]);
    day->spacecraft_in_sun[k] = er_meets_moon(mag->position_sse + 3 * at, sunward, point) ? 0.0 : 1.0;
    paritas_er_footpoint(position, mag->field + 3 * at, point, &polarity, &day->projection_latitude[k],
                         &day->projection_longitude[k]);
    if (polarity != 0 && find_sun(mag, at, sun))
        day->projection_in_sun[k] = er_dot(point, sun) > 0.0 ? 1.0 : 0.0;
}

/* Returns false if no row has a record. */
static bool apply_sweep(const paritas_er_mag *mag, paritas_er_day *day, size_t k, double mean[3])
{
    double first = INFINITY, last = -INFINITY, point[3];
    bool known = false;
    size_t n = 0;
    for (size_t row = k * ROWS; row < (k + 1) * ROWS; row++) {
        const double time = day->time[row];
        if (isnan(time)) continue;
        first = time < first ? time : first;
        last = time > last ? time : last;
        const size_t at = nearest(mag, time);
        if (at == mag->n) continue;
        int polarity;
        paritas_er_footpoint(mag->position + 3 * at, mag->field + 3 * at, point, &polarity, NULL, NULL);
        day->polarity[row] = polarity;
        if (!known) fill_sweep(mag, at, day, k);
        known = true;
    }
    if (!known) return false;
    double sum[3] = {0.0, 0.0, 0.0};
    for (size_t at = first_from(mag, first - HALF_MEAN); at < mag->n && mag->time[at] <= last + HALF_MEAN;
         at++, n++)
        for (int i = 0; i < 3; i++) sum[i] += mag->field[3 * at + i];
    for (int i = 0; i < 3; i++) mean[i] = n > 0 ? sum[i] / (double)n : NAN;
    return true;
}

paritas_status paritas_er_mag_apply(paritas_context *context, const paritas_er_mag *mag, paritas_er_day *day,
                                    double *fields, size_t *matched)
{
    REQUIRE(context, mag, day);
    size_t found = 0;
    for (size_t k = 0; k < day->n; k++) {
        double mean[3];
        if (!apply_sweep(mag, day, k, mean)) continue;
        if (fields) memcpy(fields + 3 * k, mean, sizeof mean);
        found++;
    }
    if (matched) *matched = found;
    return PARITAS_OK;
}
