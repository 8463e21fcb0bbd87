/* er_counts.c: counts behind fluxes. */
#include "moon/er/er.h"

#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)

void paritas_er_exposures(const double theta[PARITAS_SWEEP_CELLS], double exposure[PARITAS_SWEEP_CELLS])
{
    GIVEN(, theta, exposure);
    for (size_t j = 0; j < CELLS; j++) {
        const double size = fabs(theta[j]);
        const double cells = size < 45.0 ? 16.0 : size < 67.5 ? 8.0 : size <= 90.0 ? 4.0 : NAN;
        exposure[j] = PARITAS_SWEEP_ACCUMULATION / cells;
    }
}

struct er_row_counts er_count_row(const paritas_er_day *day, const double *exposure, size_t row)
{
    struct er_row_counts sum = {.cells = 0};
    for (size_t j = 0; j < CELLS; j++) {
        const double flux = day->flux[CELLS * row + j];
        sum.errors += day->cell_reason[CELLS * row + j] == PARITAS_ER_FLUX_ERROR;
        if (isnan(flux)) continue;
        sum.counts += flux * exposure[j];
        sum.time += exposure[j];
        sum.cells++;
    }
    sum.counts *= PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[row];
    return sum;
}

paritas_status paritas_er_mask_counts(paritas_context *context, paritas_er_day *day,
                                      const double theta[PARITAS_SWEEP_CELLS], double least)
{
    REQUIRE(context, day, theta);
    if (!(least >= 0.0)) return paritas_refuse(context, "least: %g counts; must not be negative", least);
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    for (size_t row = 0; row < day->n * ROWS; row++) {
        if (day->row_reason[row] != PARITAS_ER_KEPT) continue;
        const struct er_row_counts sum = er_count_row(day, exposure, row);
        const bool saturated = sum.errors > CELLS / 20;
        if (saturated || sum.cells == 0 || sum.counts < least * sum.cells) {
            const paritas_er_reason reason = saturated ? PARITAS_ER_SATURATED : PARITAS_ER_FEW_COUNTS;
            er_mask_rows(day, row, 1, reason);
            er_count(day, reason, 1, day->line[row], 0);
            continue;
        }
        for (size_t j = 0; j < CELLS; j++) {
            const double half = 0.5 / (PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[row] * exposure[j]);
            double *flux = &day->flux[CELLS * row + j];
            if (*flux < half) *flux = half;
        }
    }
    return PARITAS_OK;
}
