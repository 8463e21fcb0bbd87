/* er_counts.c: counts behind fluxes. */
#include "moon/er/er.h"

#include "base/math/host_math.h"
#include <math.h>

#define ROWS ((size_t)PARITAS_SWEEP_ROWS)
#define CELLS ((size_t)PARITAS_SWEEP_CELLS)
#define FLOOR_DEVIATIONS 2.0
#define FLOOR_ROWS 2

void paritas_er_exposures(const double theta[PARITAS_SWEEP_CELLS], double exposure[PARITAS_SWEEP_CELLS])
{
    for (size_t j = 0; j < CELLS; j++) {
        const double size = fabs(theta[j]);
        const double cells = size < 45.0 ? 16.0 : size < 67.5 ? 8.0 : size <= 90.0 ? 4.0 : NAN;
        exposure[j] = PARITAS_SWEEP_ACCUMULATION / cells;
    }
}

struct row_counts {
    double counts, time; /* of the cells with a flux, in all */
    unsigned cells, errors;
};

static struct row_counts count_row(const paritas_er_day *day, const double *exposure, size_t row)
{
    struct row_counts sum = {.cells = 0};
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

/* Adds to the floor the kept row of the highest energy below `*energy`, if it belongs to it. */
static bool grow_floor(const paritas_er_day *day, const double *exposure, size_t k, double *energy,
                       struct row_counts *floor)
{
    size_t next = SIZE_MAX;
    for (size_t row = ROWS * k; row < ROWS * (k + 1); row++)
        if (day->row_reason[row] == PARITAS_ER_KEPT && day->energy[row] < *energy &&
            (next == SIZE_MAX || day->energy[row] > day->energy[next]))
            next = row;
    if (next == SIZE_MAX) return false;
    const struct row_counts row = count_row(day, exposure, next);
    const double time = floor->time + row.time, rate = (floor->counts + row.counts) / time,
                 apart = row.counts / row.time - floor->counts / floor->time,
                 deviation = host_sqrt(rate * time / (floor->time * row.time));
    if (floor->time > 0.0 && !(row.time > 0.0 && fabs(apart) <= FLOOR_DEVIATIONS * deviation)) return false;
    *energy = day->energy[next];
    floor->counts += row.counts;
    floor->time = time;
    floor->cells++; /* rows, here */
    return true;
}

paritas_status paritas_er_subtract_background(paritas_context *context, paritas_er_day *day,
                                              const double theta[PARITAS_SWEEP_CELLS], double *rate)
{
    REQUIRE(context, day, theta);
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    for (size_t k = 0; k < day->n; k++) {
        double energy = INFINITY;
        struct row_counts floor = {.cells = 0};
        while (grow_floor(day, exposure, k, &energy, &floor)) {
        }
        const double found = floor.cells >= FLOOR_ROWS ? floor.counts / floor.time : 0.0;
        if (rate) rate[k] = found;
        for (size_t cell = ROWS * k * CELLS; cell < ROWS * (k + 1) * CELLS && found > 0.0; cell++)
            day->flux[cell] -= found / (PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[cell / CELLS]);
    }
    return PARITAS_OK;
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
        const struct row_counts sum = count_row(day, exposure, row);
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
