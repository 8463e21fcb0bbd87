/* spectrum_grid_prospector.c: spectra of Lunar Prospector. */
#include "moon/kappa/kappa.h"

#define SPECTRUM_GRID spectrum_grid_prospector
#define SPECTRUM_FIT ENTRY_kappa_fit
#define SPECTRUM_MISFIT ENTRY_kappa_misfit
#include "moon/kappa/spectrum_grid_table.h"

_Static_assert(SPECTRUM_ROWS == PARITAS_SWEEP_ROWS, "kernels have the energies of everybody else");
