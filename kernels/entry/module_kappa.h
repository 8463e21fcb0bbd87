/* module_kappa.h: plasma around the spacecraft: kappa distributions fitted to electron spectra, and the
 * spacecraft potential that their currents make. */
#include "entry/kappa_fit.h"
#include "entry/kappa_flux.h"
#include "entry/kappa_potential.h"
