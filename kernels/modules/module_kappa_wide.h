/* module_kappa_wide.h: kappa fits of spectra with up to 64 energies. */
#include "kappa/spectrum_grid_wide.h"

#include "entry/entry_kappa_fit.h"
