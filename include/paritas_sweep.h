/* paritas_sweep.h: the grid of Lunar Prospector's Electron Reflectometer: a sweep has 15 energies (rows),
 * each with 88 directions (cells). */
#ifndef PARITAS_SWEEP_H
#define PARITAS_SWEEP_H

#define PARITAS_SWEEP_ROWS 15
#define PARITAS_SWEEP_CELLS 88

#endif
