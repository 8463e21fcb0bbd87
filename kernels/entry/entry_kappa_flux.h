/* entry_kappa_flux.h: flux of kappa distributions. */
#pragma once

#include "kappa/kappa_arrays.h"
#include "kappa/kappa_distribution.h"

/* in: density, kappa, thermal speed, energies. out: omnidirectional fluxes. */
KERNEL(kappa_flux)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[KAPPA_ARG_JOBS]);
    const u32 n = args[KAPPA_ARG_COUNT], stride = 3 + n;
    const kappa_shape shape = kappa_shape_of(LOAD_ROWS(in, rows, stride, 0), LOAD_ROWS(in, rows, stride, 1),
                                             LOAD_ROWS(in, rows, stride, 2));
    TEAM_FOR(i, n)
        STORE_ROWS(out, rows, n, i, FIRST(kappa_flux_of(shape, PACK_OF(LOAD_ROWS(in, rows, stride, 3 + i)))));
}
