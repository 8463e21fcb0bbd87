/* sweep_grid.h: the grid of a module. By default that of include/paritas_sweep.h, and all sweeps fill it. A
 * module with another grid includes its header before (sweep_grid_medium.h, sweep_grid_wide.h). */
#pragma once

#if !defined(SWEEP_ROWS)
#define SWEEP_MODULE losscone
#define LOSSCONE_KERNEL(name) KERNEL(losscone_##name)
#define SWEEP_ROWS 15
#define SWEEP_CELLS 88 /* a multiple of 8 */
#define SWEEP_SLOTS 16 /* rows of padded arrays */
#define SWEEP_FILLED 1
#endif
#define SWEEP_ALL (SWEEP_ROWS * SWEEP_CELLS)
