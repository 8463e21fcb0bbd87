/* module_kappa.h: kappa fits of electron spectra, and the spacecraft potential from their currents. */
#include "entry/entry_kappa_fit.h"
#include "entry/entry_kappa_flux.h"
#include "entry/entry_kappa_potential.h"
