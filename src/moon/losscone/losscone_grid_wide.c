/* losscone_grid_wide.c: the largest grid. */
#include "losscone/sweep_grid_wide.h"

#include "paritas_sweep.h"

#define LOSSCONE_GRID losscone_grid_wide
#include "moon/losscone/losscone_grid_table.h"

_Static_assert(SWEEP_ROWS == PARITAS_SWEEP_ROWS_MOST && SWEEP_CELLS == PARITAS_SWEEP_CELLS_MOST,
               "kernels have the grid of everybody else");
