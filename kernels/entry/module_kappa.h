/* module_kappa.h: plasma around the spacecraft: kappa distributions fitted to electron spectra, and the
 * spacecraft potential that their currents make. */
#include "entry/entry_kappa_fit.h"
#include "entry/entry_kappa_flux.h"
#include "entry/entry_kappa_potential.h"
