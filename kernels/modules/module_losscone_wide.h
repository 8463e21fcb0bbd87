/* module_losscone_wide.h: the loss-cone kernels for grids of up to 32 energies and 512 directions. */
#include "losscone/sweep_grid_wide.h"

#include "modules/module_losscone.h"
