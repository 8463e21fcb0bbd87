/* paritas_sweep.h: the grid of Lunar Prospector's Electron Reflectometer: a sweep has 15 energies (rows),
 * each with 88 directions (cells). */
#ifndef PARITAS_SWEEP_H
#define PARITAS_SWEEP_H

#define PARITAS_SWEEP_ROWS 15
#define PARITAS_SWEEP_CELLS 88

/* Counts of a cell = flux x geometric factor x energy x the cell's time. The archive does not publish the
 * counts: these two numbers make pseudo-counts. */
#define PARITAS_SWEEP_GEOMETRIC_FACTOR 0.02 /* cm^2 sr */
#define PARITAS_SWEEP_ACCUMULATION 2.5      /* s of a row, which the cells of a ring share */

#endif
