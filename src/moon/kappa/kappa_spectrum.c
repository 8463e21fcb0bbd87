/* kappa_spectrum.c: omnidirectional spectra from sweeps. Memory limits the speed: no device is faster. */
#include "base/context.h"
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/kappa/kappa.h"

#include <math.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

/* The archive marks missing and flagged fluxes by +-1e-98. */
#define MARKS 1e-90

/* Half to even, for 0 <= x < 2^52. */
#define WHOLE 4503599627370496.0
static double whole(double x)
{
    return (x + WHOLE) - WHOLE;
}

/* Rings: limit of |inclination|, cells on that side, solid angle of one: (2 pi / cells) (sin upper - sin
 * lower edge), edges 22.5 degrees apart. */
static const struct ring {
    double below, cells, solid_angle;
} rings[] = {
    {22.5, 16.0, 0.15027943247108658},
    {45.0, 16.0, 0.12740075116381128},
    {67.5, 8.0, 0.170252920765062},
    {90.0, 4.0, 0.11956975072518114},
};

struct sensor {
    double solid_angle[CELLS], share[CELLS]; /* sr; s */
    double spread[CELLS];                    /* solid angle^2 / share */
    double half;
    double geometric_factor; /* cm^2 sr */
};

static paritas_status open_sensor(paritas_context *context, const paritas_cells *given, struct sensor *sensor)
{
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    TRY(SIZED_CHECK(context, paritas_cells, "cells", 1, given));
    TRY(SIZED_TAKE(context, paritas_cells, "cells", given, &cells));
    if (!cells.theta) return paritas_refuse(context, "cells: theta is NULL");
    if (!(cells.geometric_factor > 0.0 && cells.geometric_factor < INFINITY))
        return paritas_refuse(context, "geometric_factor %g: must be above 0", cells.geometric_factor);
    if (!(cells.accumulation > 0.0 && cells.accumulation < INFINITY))
        return paritas_refuse(context, "accumulation %g: must be above 0", cells.accumulation);
    double all = 0.0;
    for (unsigned c = 0; c < CELLS; c++) {
        const double theta = fabs(cells.theta[c]);
        const struct ring *ring = rings;
        while (ring < rings + 3 && !(theta < ring->below)) ring++;
        if (!(theta <= 90.0))
            return paritas_refuse(context, "theta[%u]: %g degrees; must be from -90 to 90", c,
                                  cells.theta[c]);
        sensor->solid_angle[c] = cells.solid_angle ? cells.solid_angle[c] : ring->solid_angle;
        sensor->share[c] = cells.accumulation / ring->cells;
        if (!(sensor->solid_angle[c] > 0.0 && sensor->solid_angle[c] < 13.0))
            return paritas_refuse(context, "solid_angle[%u]: %g sr; must be above 0, at most 4 pi", c,
                                  sensor->solid_angle[c]);
        sensor->spread[c] = sensor->solid_angle[c] * sensor->solid_angle[c] / sensor->share[c];
        all += sensor->solid_angle[c];
    }
    sensor->half = 0.5 * all;
    sensor->geometric_factor = cells.geometric_factor;
    return PARITAS_OK;
}

struct row {
    double omni, coverage, sensitivity, counts;
};

/* Eight sums of every eighth cell. */
#define SIDE 8

static double sum_side(const double part[SIDE])
{
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static struct row sum_row(const struct sensor *sensor, double energy, const double *flux,
                          const double *cosine)
{
    double sums[SIDE] = {0.0}, covers[SIDE] = {0.0}, spreads[SIDE] = {0.0}, counted[SIDE] = {0.0};
    for (unsigned c = 0; c < CELLS; c += SIDE)
        for (unsigned j = 0; j < SIDE; j++) {
            const double given = flux[c + j], size = given < 0.0 ? -given : given,
                         solid_angle = sensor->solid_angle[c + j], cos = cosine[c + j];
            /* branches would be random; NaN compares false */
            double known = size < INFINITY ? 1.0 : 0.0;
            known = size >= MARKS ? known : size == 0.0 ? 1.0 : 0.0;
            known = cos == cos ? known : 0.0;
            const double f = known > 0.0 ? given : 0.0, incident = cos > 0.0 ? known : 0.0;
            counted[j] +=
                whole((f > 0.0 ? f : 0.0) * sensor->geometric_factor * energy * sensor->share[c + j]);
            sums[j] += incident * (f * solid_angle);
            covers[j] += incident * solid_angle;
            spreads[j] += incident * sensor->spread[c + j];
        }
    const double none = NAN, covered = sum_side(covers), counts = sum_side(counted);
    if (!(covered > 0.0)) return (struct row){none, 0.0, none, counts};
    /* for a flux F / 4 pi in every cell the variance is F / 4 pi sum of solid angle^2 / exposure */
    return (struct row){2.0 * sum_side(sums) * (sensor->half / covered), covered / sensor->half,
                        covered * covered * (sensor->geometric_factor * energy) /
                            (12.566370614359172 * sum_side(spreads)),
                        counts};
}

paritas_status paritas_kappa_spectrum(paritas_context *context, const paritas_spectrum_request *given)
{
    struct sensor sensor = {0};
    paritas_spectrum_request r = PARITAS_SPECTRUM_REQUEST_DEFAULT;
    TRY(SIZED_CHECK(context, paritas_spectrum_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_spectrum_request, "request", given, &r));
    TRY(open_sensor(context, r.cells, &sensor));
    if (r.n == 0) return PARITAS_OK;
    if (!r.energy || !r.flux || !r.cosine || !r.omni)
        return paritas_refuse(context, "%s: NULL",
                              !r.energy   ? "energy"
                              : !r.flux   ? "flux"
                              : !r.cosine ? "cosine"
                                          : "omni");
    for (size_t k = 0; k < r.n * ROWS; k++) {
        const double none = NAN, energy = r.energy[k];
        const bool known = energy > 0.0 && energy < INFINITY;
        const struct row row = known ? sum_row(&sensor, energy, r.flux + k * CELLS, r.cosine + k * CELLS)
                                     : (struct row){none, none, none, 0.0};
        /* omnidirectional, of a flux that is the same in all cells */
        const double background = r.rate && r.rate[k / ROWS] > 0.0 ? 2.0 * sensor.half * r.rate[k / ROWS] /
                                                                         (sensor.geometric_factor * energy)
                                                                   : 0.0;
        r.omni[k] = row.omni - background;
        if (r.background) r.background[k] = background;
        if (r.coverage) r.coverage[k] = row.coverage;
        if (r.sensitivity) r.sensitivity[k] = row.sensitivity;
        if (r.counts) r.counts[k] = row.counts;
        if (r.error) r.error[k] = host_sqrt(row.counts);
    }
    return PARITAS_OK;
}
