/* module_losscone_medium.h: the loss-cone kernels for grids of up to 32 energies and 128 directions. */
#include "losscone/sweep_grid_medium.h"

#include "modules/module_losscone.h"
