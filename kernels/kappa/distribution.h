/* distribution.h: the isotropic kappa distribution of electrons (Vasyliunas, J. Geophys. Res. 73 (1968) 2839) as an omnidirectional flux. */
#ifndef PARITAS_KAPPA_DISTRIBUTION_H
#define PARITAS_KAPPA_DISTRIBUTION_H

#include "numeric/math.h"

/* Flux in 1/(cm^2 s eV) at an energy in eV, of n electrons a m^3, kappa and the thermal speed theta in m/s. */
FN real kappa_flux_of(real n, real kappa, real theta, real energy) { return n * kappa * theta * energy; }

#endif
