/* kappa_flux.h: the entry that evaluates the flux of kappa distributions. */
#ifndef PARITAS_ENTRY_KAPPA_FLUX_H
#define PARITAS_ENTRY_KAPPA_FLUX_H

#include "kappa/distribution.h"

/* args: distributions, energies each. in, a distribution: density (m^-3), kappa, theta (m/s), then the energies (eV). out: omnidirectional fluxes. */
KERNEL(kappa_flux)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    const u32 n = args[1];
    TEAM_FOR(i, n) STORE_ROWS(out, rows, n, i, kappa_flux_of(LOAD_ROWS(in, rows, 3 + n, 0), LOAD_ROWS(in, rows, 3 + n, 1), LOAD_ROWS(in, rows, 3 + n, 2), LOAD_ROWS(in, rows, 3 + n, 3 + i)));
}

#endif
