/* losscone_grid_prospector.c: the grid of Lunar Prospector's sweeps. */
#include "paritas_losscone.h"

#define LOSSCONE_GRID losscone_grid_prospector
#include "moon/losscone/losscone_grid_table.h"

_Static_assert(SWEEP_ROWS == PARITAS_SWEEP_ROWS && SWEEP_CELLS == PARITAS_SWEEP_CELLS &&
                   LOSSCONE_ENERGIES == PARITAS_CHANNEL_ENERGIES,
               "kernels have the grid of everybody else");
