/* sweep_grid_medium.h: a grid for most other instruments, whose sweeps fill a part of it. A sweep has a
 * quarter of the wide grid's memory: pages of 32 x 88 took half the time of their fits. */
#pragma once

#define SWEEP_MODULE losscone_medium
#define LOSSCONE_KERNEL(name) KERNEL(losscone_medium_##name)
#define SWEEP_ROWS 32
#define SWEEP_CELLS 128
#define SWEEP_SLOTS 32
#define SWEEP_FILLED 0
