/* er_masks.c: masks near Sun and Moon. */
#include "moon/er/er.h"

#include "base/math/host_math.h"
#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)

void er_sun_widths(const double *theta, double elevation, double cosine, double *width)
{
    const double sun_sine = host_sin_degrees(elevation), sun_cosine = host_cos_degrees(elevation);
    for (size_t j = 0; j < CELLS; j++) {
        if (j > 0 && theta[j] == theta[j - 1]) {
            width[j] = width[j - 1];
            continue;
        }
        /* cos(distance) = cos theta cos elevation cos(azimuth's difference) + sin theta sin elevation */
        const double across = host_cos_degrees(theta[j]) * sun_cosine,
                     needed = cosine - host_sin_degrees(theta[j]) * sun_sine;
        width[j] = needed <= -across ? 360.0 : needed > across ? -1.0 : host_acos_degrees(needed / across);
    }
}

bool er_sun_is_near(double azimuth, double sun_azimuth, double width)
{
    double apart = azimuth - sun_azimuth; /* both in [-360, 360] */
    if (apart < 0.0) apart = -apart;
    while (apart > 360.0) apart -= 360.0;
    if (apart > 180.0) apart = 360.0 - apart;
    return width >= 0.0 && apart <= width;
}

/* Returns how many cells it masked, and the first. */
static size_t mask_row(paritas_er_day *day, size_t row, double azimuth, const double *width, size_t *first)
{
    size_t masked = 0;
    for (size_t j = 0; j < CELLS; j++) {
        const size_t cell = row * CELLS + j;
        if (day->cell_reason[cell] > PARITAS_ER_NO_COUNTS) continue;
        if (!er_sun_is_near(day->azimuth[cell], azimuth, width[j])) continue;
        if (masked++ == 0) *first = j;
        day->cell_reason[cell] = PARITAS_ER_SUNLIGHT;
        day->flux[cell] = NAN;
    }
    return masked;
}

paritas_status paritas_er_mask_sunlight(paritas_context *context, paritas_er_day *day,
                                        const double theta[PARITAS_SWEEP_CELLS], double angle)
{
    REQUIRE(context, day, theta);
    if (!(angle >= 0.0 && angle <= 180.0))
        return paritas_refuse(context, "angle: %g is not between 0 and 180 degrees", angle);
    for (size_t j = 0; j < CELLS; j++)
        if (!(theta[j] >= -90.0 && theta[j] <= 90.0))
            return paritas_refuse(context, "theta[%zu]: %g is not between -90 and 90 degrees", j, theta[j]);
    double width[PARITAS_SWEEP_CELLS];
    const double cosine = host_cos_degrees(angle);
    for (size_t k = 0; k < day->n; k++) {
        const double azimuth = day->sun_azimuth[k], elevation = day->sun_elevation[k];
        if (!(azimuth >= -360.0 && azimuth <= 360.0) || !(elevation >= -90.0 && elevation <= 90.0) ||
            day->sweep_reason[k] != PARITAS_ER_KEPT)
            continue;
        er_sun_widths(theta, elevation, cosine, width);
        for (size_t row = k * ROWS; row < (k + 1) * ROWS; row++) {
            size_t first = 0;
            if (day->row_reason[row] != PARITAS_ER_KEPT) continue;
            const size_t masked = mask_row(day, row, azimuth, width, &first);
            if (masked)
                er_count(day, PARITAS_ER_SUNLIGHT, masked, day->line[row],
                         (unsigned)(ER_AT_FLUX + first + 1));
        }
    }
    return PARITAS_OK;
}

paritas_status paritas_er_mask_polarity(paritas_context *context, paritas_er_day *day)
{
    REQUIRE(context, day);
    for (size_t row = 0; row < day->n * ROWS; row++) {
        if (day->row_reason[row] != PARITAS_ER_KEPT || day->polarity[row] == 1.0 ||
            day->polarity[row] == -1.0)
            continue;
        er_mask_rows(day, row, 1, PARITAS_ER_POLARITY);
        er_count(day, PARITAS_ER_POLARITY, 1, day->line[row], 0);
    }
    return PARITAS_OK;
}
