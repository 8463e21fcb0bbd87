/* sweep_grid.h: kernel copy of include/paritas_sweep.h; a host assertion compares them. */
#ifndef PARITAS_SWEEP_GRID_H
#define PARITAS_SWEEP_GRID_H

#define SWEEP_ROWS 15
#define SWEEP_CELLS 88
#define SWEEP_ALL (SWEEP_ROWS * SWEEP_CELLS)
#define SWEEP_SLOTS 16 /* rows of padded arrays */

#endif
