/* losscone_grid_medium.c: the grid of most other instruments' sweeps. */
#include "losscone/sweep_grid_medium.h"

#define LOSSCONE_GRID losscone_grid_medium
#include "moon/losscone/losscone_grid_table.h"
