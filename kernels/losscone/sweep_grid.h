/* sweep_grid.h: the grid of a sweep in kernels: include/paritas_sweep.h has it for everybody else, and a
 * static assertion of the host holds the two together. */
#ifndef PARITAS_SWEEP_GRID_H
#define PARITAS_SWEEP_GRID_H

#define SWEEP_ROWS 15
#define SWEEP_CELLS 88
#define SWEEP_ALL (SWEEP_ROWS * SWEEP_CELLS)
#define SWEEP_SLOTS 16 /* rows of padded arrays */

#endif
