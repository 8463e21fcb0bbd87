/* sweep_grid_wide.h: the largest grid, for all other sweeps. They fill a part of it. */
#pragma once

#define SWEEP_MODULE losscone_wide
#define LOSSCONE_KERNEL(name) KERNEL(losscone_wide_##name)
#define SWEEP_ROWS 32
#define SWEEP_CELLS 512
#define SWEEP_SLOTS 32
#define SWEEP_FILLED 0
