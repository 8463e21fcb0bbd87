/* paritas_sweep.h: grids of sweeps: energies (rows), each with directions (cells). Lunar Prospector's
 * Electron Reflectometer has 15 of 88. */
#ifndef PARITAS_SWEEP_H
#define PARITAS_SWEEP_H

#include <stddef.h>

#define PARITAS_SWEEP_ROWS 15
#define PARITAS_SWEEP_CELLS 88

/* Largest grid that loss cones are fitted on. */
#define PARITAS_SWEEP_ROWS_MOST 32
#define PARITAS_SWEEP_CELLS_MOST 512

/* Another instrument's grid. 0: 15 rows, 88 cells. */
typedef struct paritas_sweep_grid {
    size_t rows, cells;
} paritas_sweep_grid;

/* Counts of a cell = flux x geometric factor x energy x the cell's time. The archive does not publish the
 * counts: geometric factor and accumulation time make pseudo-counts of its fluxes. */
#define PARITAS_SWEEP_GEOMETRIC_FACTOR 0.02 /* cm^2 sr */
#define PARITAS_SWEEP_DEAD_TIME 1e-7        /* s after a count; an assumption */
#define PARITAS_SWEEP_ACCUMULATION 2.5      /* s of a row, which the cells of a ring share */

#define PARITAS_SWEEP_SUNLIGHT 14.0 /* degrees from the Sun in which its light makes counts */

#endif
