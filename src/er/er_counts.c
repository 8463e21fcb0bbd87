/* er_counts.c: counts behind fluxes. */
#include "er/er.h"

#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)

void paritas_er_exposures(const double theta[PARITAS_SWEEP_CELLS], double exposure[PARITAS_SWEEP_CELLS])
{
    for (size_t j = 0; j < CELLS; j++) {
        const double size = fabs(theta[j]);
        const double cells = size < 45.0 ? 16.0 : size < 67.5 ? 8.0 : size <= 90.0 ? 4.0 : NAN;
        exposure[j] = PARITAS_SWEEP_ACCUMULATION / cells;
    }
}

/* Of the cells with a flux; 0 without any. */
static double mean_counts(const paritas_er_day *day, const double *exposure, size_t row)
{
    double sum = 0.0;
    unsigned n = 0;
    for (size_t j = 0; j < CELLS; j++) {
        const double flux = day->flux[CELLS * row + j];
        if (isnan(flux)) continue;
        sum += flux * exposure[j];
        n++;
    }
    return n > 0 ? sum * PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[row] / n : 0.0;
}

paritas_status paritas_er_mask_counts(paritas_context *context, paritas_er_day *day,
                                      const double theta[PARITAS_SWEEP_CELLS], double least)
{
    REQUIRE(context, day, theta);
    if (!(least >= 0.0)) return paritas_refuse(context, "least: %g counts; must not be negative", least);
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    for (size_t row = 0; row < day->n * ROWS; row++) {
        if (day->row_reason[row] != PARITAS_ER_KEPT || !(mean_counts(day, exposure, row) < least)) continue;
        er_mask_rows(day, row, 1, PARITAS_ER_FEW_COUNTS);
        er_count(day, PARITAS_ER_FEW_COUNTS, 1, day->line[row], 0);
    }
    return PARITAS_OK;
}
