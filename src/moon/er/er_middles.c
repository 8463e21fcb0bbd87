/* er_middles.c: fluxes that say only the lower ends of counts become those of the middles. */
#include "moon/er/er.h"
#include "moon/er/er_codes.h"

#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)
#define TESTED_LEAST 256.0 /* counts: of 16 numbers one is a lower end by chance */
#define TESTED_MANY 100
#define SHARE_LEAST 0.8
#define NEAR 0.05 /* of an interval's width: fluxes are rounded */

/* Measured counts of a cell, before dead time was corrected. */
static double counts_of(double corrected, double time)
{
    return corrected / (1.0 + corrected * PARITAS_SWEEP_DEAD_TIME / time);
}

static double corrected_of(double counts, double time)
{
    return counts / (1.0 - counts * PARITAS_SWEEP_DEAD_TIME / time);
}

/* The interval that begins at these counts, or the one that holds them. A flux that was rounded to four
 * digits may be a little less than that of its interval's end. */
static struct er_interval interval_of(double counts)
{
    const struct er_interval held = er_stored((uint64_t)(counts + 0.5));
    const uint64_t next = held.lower + held.width;
    return (double)next - counts <= NEAR * (double)held.width ? er_stored(next) : held;
}

static bool is_stored(const paritas_er_day *day, const double *exposure)
{
    size_t tested = 0, ends = 0;
    for (size_t cell = 0; cell < day->n * ROWS * CELLS; cell++) {
        const double time = exposure[cell % CELLS],
                     factor = PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[cell / CELLS],
                     counts = counts_of(day->flux[cell] * factor * time, time);
        if (!(counts >= TESTED_LEAST && counts < (double)ER_CODED_COUNTS)) continue;
        const struct er_interval stored = interval_of(counts);
        tested++;
        ends += fabs(counts - (double)stored.lower) <= NEAR * (double)stored.width;
    }
    return tested >= TESTED_MANY && (double)ends >= SHARE_LEAST * (double)tested;
}

bool er_take_middles(const double theta[PARITAS_SWEEP_CELLS], paritas_er_day *day)
{
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    if (!is_stored(day, exposure)) return false;
    for (size_t cell = 0; cell < day->n * ROWS * CELLS; cell++) {
        const double time = exposure[cell % CELLS],
                     factor = PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[cell / CELLS],
                     corrected = day->flux[cell] * factor * time, counts = counts_of(corrected, time);
        if (!(counts > 0.0 && counts < 0x1p53)) continue;
        const struct er_interval stored = interval_of(counts);
        const double middle = (double)stored.lower + 0.5 * (double)(stored.width - 1);
        /* nobody stored more than dead time allows */
        if (stored.width == 1 || !(middle * PARITAS_SWEEP_DEAD_TIME < time)) continue;
        day->flux[cell] *= corrected_of(middle, time) / corrected;
    }
    return true;
}
