/* kappa_spectrum.c: omnidirectional spectra from sweeps. Memory limits the speed: no device is faster. */
#include "base/context.h"
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/kappa/kappa.h"

#include <math.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS
#define MOST_CELLS 65536 /* of a sweep */

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

/* Arrays of each row, `step` numbers apart; step 0: of all rows. */
struct sensor {
    double own[3][CELLS];              /* Lunar Prospector's arrays */
    const double *solid_angle, *share; /* sr; s, or with a geometric factor of 1 cm^2 sr s */
    const double *spread;              /* solid angle^2 / share */
    size_t rows, cells, step;
    double half;             /* sr of a hemisphere */
    double geometric_factor; /* cm^2 sr */
    double *made;            /* arrays to release, or NULL */
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
    double all = 0.0, *solid_angle = sensor->own[0], *share = sensor->own[1], *spread = sensor->own[2];
    for (unsigned c = 0; c < CELLS; c++) {
        const double theta = fabs(cells.theta[c]);
        const struct ring *ring = rings;
        while (ring < rings + 3 && !(theta < ring->below)) ring++;
        if (!(theta <= 90.0))
            return paritas_refuse(context, "theta[%u]: %g degrees; must be from -90 to 90", c,
                                  cells.theta[c]);
        solid_angle[c] = cells.solid_angle ? cells.solid_angle[c] : ring->solid_angle;
        share[c] = cells.accumulation / ring->cells;
        if (!(solid_angle[c] > 0.0 && solid_angle[c] < 13.0))
            return paritas_refuse(context, "solid_angle[%u]: %g sr; must be above 0, at most 4 pi", c,
                                  solid_angle[c]);
        spread[c] = solid_angle[c] * solid_angle[c] / share[c];
        all += solid_angle[c];
    }
    sensor->solid_angle = solid_angle;
    sensor->share = share;
    sensor->spread = spread;
    sensor->rows = ROWS;
    sensor->cells = CELLS;
    sensor->half = 0.5 * all;
    sensor->geometric_factor = cells.geometric_factor;
    return PARITAS_OK;
}

/* Another instrument's. A cell without a solid angle or an exposure counts nowhere. */
static paritas_status open_other(paritas_context *context, const paritas_spectrum_request *r,
                                 struct sensor *sensor)
{
    const size_t rows = r->grid.rows ? r->grid.rows : ROWS, cells = r->grid.cells ? r->grid.cells : CELLS;
    if (!r->solid_angle || !r->exposure)
        return paritas_refuse(context, "%s: NULL; the cells of another grid need it",
                              r->solid_angle ? "exposure" : "solid_angle");
    if (r->rate)
        return paritas_refuse(context,
                              "rate: not NULL; exposures of another grid do not tell the time in which "
                              "a cell counts: subtract the background from `flux`");
    if (rows > PARITAS_SPECTRUM_ROWS_MOST)
        return paritas_refuse(context, "grid.rows: %zu energies; at most %d", rows,
                              PARITAS_SPECTRUM_ROWS_MOST);
    if (cells > MOST_CELLS)
        return paritas_refuse(context, "grid.cells: %zu directions; at most %d", cells, MOST_CELLS);
    const size_t n = rows * cells;
    double *made = paritas_allocate(context, n, 3 * sizeof *made);
    if (!made) return paritas_fail_memory(context);
    for (size_t c = 0; c < n; c++) {
        const double angle = r->solid_angle[c], exposure = r->exposure[c];
        const bool there = angle > 0.0 && angle < 13.0 && exposure > 0.0 && exposure < INFINITY;
        made[c] = there ? angle : 0.0;
        made[n + c] = there ? exposure : 0.0;
        made[2 * n + c] = there ? angle * angle / exposure : 0.0;
    }
    sensor->solid_angle = made;
    sensor->share = made + n;
    sensor->spread = made + 2 * n;
    sensor->rows = rows;
    sensor->cells = sensor->step = cells;
    sensor->half = 6.283185307179586;
    sensor->geometric_factor = 1.0;
    sensor->made = made;
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

struct sums {
    double flux[SIDE], covers[SIDE], spreads[SIDE], counted[SIDE];
};

static inline void add_cell(struct sums *sums, unsigned j, const struct sensor *sensor, size_t at,
                            double energy, double given, double cosine)
{
    const double size = given < 0.0 ? -given : given, solid_angle = sensor->solid_angle[at];
    /* branches would be random; NaN compares false */
    double known = size < INFINITY ? 1.0 : 0.0;
    known = size >= MARKS ? known : size == 0.0 ? 1.0 : 0.0;
    known = cosine == cosine ? known : 0.0;
    const double f = known > 0.0 ? given : 0.0, incident = cosine > 0.0 ? known : 0.0;
    sums->counted[j] += whole((f > 0.0 ? f : 0.0) * sensor->geometric_factor * energy * sensor->share[at]);
    sums->flux[j] += incident * (f * solid_angle);
    sums->covers[j] += incident * solid_angle;
    sums->spreads[j] += incident * sensor->spread[at];
}

static struct row sum_row(const struct sensor *sensor, size_t first, double energy, const double *flux,
                          const double *cosine)
{
    struct sums sums = {{0.0}, {0.0}, {0.0}, {0.0}};
    const size_t cells = sensor->cells, blocks = cells - cells % SIDE;
    for (size_t c = 0; c < blocks; c += SIDE)
        for (unsigned j = 0; j < SIDE; j++)
            add_cell(&sums, j, sensor, first + c + j, energy, flux[c + j], cosine[c + j]);
    for (size_t c = blocks; c < cells; c++)
        add_cell(&sums, (unsigned)(c - blocks), sensor, first + c, energy, flux[c], cosine[c]);
    const double none = NAN, covered = sum_side(sums.covers), counts = sum_side(sums.counted);
    if (!(covered > 0.0)) return (struct row){none, 0.0, none, counts};
    /* for a flux F / 4 pi in every cell the variance is F / 4 pi sum of solid angle^2 / exposure */
    return (struct row){2.0 * sum_side(sums.flux) * (sensor->half / covered), covered / sensor->half,
                        covered * covered * (sensor->geometric_factor * energy) /
                            (12.566370614359172 * sum_side(sums.spreads)),
                        counts};
}

/* Omnidirectional, of a flux that is the same in all cells. */
static double background_of(const paritas_spectrum_request *r, const struct sensor *sensor, size_t row)
{
    const double rate = r->rate ? r->rate[row / sensor->rows] : 0.0;
    return rate > 0.0 ? 2.0 * sensor->half * rate / (sensor->geometric_factor * r->energy[row]) : 0.0;
}

static void put_rows(const paritas_spectrum_request *r, const struct sensor *sensor)
{
    const size_t cells = sensor->cells;
    for (size_t k = 0; k < r->n * sensor->rows; k++) {
        const double none = NAN, energy = r->energy[k];
        const bool known = energy > 0.0 && energy < INFINITY;
        const struct row row = known ? sum_row(sensor, k % sensor->rows * sensor->step, energy,
                                               r->flux + k * cells, r->cosine + k * cells)
                                     : (struct row){none, none, none, 0.0};
        const double background = background_of(r, sensor, k);
        r->omni[k] = row.omni - background;
        if (r->background) r->background[k] = background;
        if (r->coverage) r->coverage[k] = row.coverage;
        if (r->sensitivity) r->sensitivity[k] = row.sensitivity;
        if (r->counts) r->counts[k] = row.counts;
        if (r->error) r->error[k] = host_sqrt(row.counts);
    }
}

paritas_status paritas_kappa_spectrum(paritas_context *context, const paritas_spectrum_request *given)
{
    struct sensor sensor = {0};
    paritas_spectrum_request r = PARITAS_SPECTRUM_REQUEST_DEFAULT;
    REQUIRE_AS(context, "request", given);
    TRY(SIZED_CHECK(context, paritas_spectrum_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_spectrum_request, "request", given, &r));
    const bool other = r.grid.rows || r.grid.cells || r.solid_angle || r.exposure;
    TRY(other ? open_other(context, &r, &sensor) : open_sensor(context, r.cells, &sensor));
    paritas_status status = PARITAS_OK;
    if (r.n > 0 && (!r.energy || !r.flux || !r.cosine || !r.omni))
        status = paritas_refuse(context, "%s: NULL",
                                !r.energy   ? "energy"
                                : !r.flux   ? "flux"
                                : !r.cosine ? "cosine"
                                            : "omni");
    else
        put_rows(&r, &sensor);
    paritas_release(&context->allocator, sensor.made);
    return status;
}
