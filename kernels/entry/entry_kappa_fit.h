/* entry_kappa_fit.h: kappa fits of spectra; their misfit. */
#pragma once

#include "kappa/kappa_fit.h"

/* in: spectrum_row each. out: kappa_answer. */
KAPPA_KERNEL(fit)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[KAPPA_ARG_JOBS]);
    misfit_load(FIT_ARGUMENTS, in, rows);
    fit_spectra(FIT_ARGUMENTS, out, rows);
}

/* in: spectra's rows, then shared points. out: misfit at each. */
KAPPA_KERNEL(misfit)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[KAPPA_ARG_JOBS]);
    const u32 n = args[KAPPA_ARG_COUNT];
    GLOBAL const elem *points = in + args[KAPPA_ARG_JOBS] * SPECTRUM_SIZE;
    misfit_load(FIT_ARGUMENTS, in, rows);
    const real held = s[KAPPA_S_DATA + SPECTRUM_START];
    for (u32 k = 0; k < n; k++) {
        misfit_evaluate(FIT_ARGUMENTS, mi[KAPPA_DENSITY_HELD] ? held : REAL_OF(points[3 * k]),
                        REAL_OF(points[3 * k + 1]), REAL_OF(points[3 * k + 2]));
        ONE_WORKER
        {
            STORE_ROWS(out, rows, n, k, s[KAPPA_S_SUMS + SUM_VALUE]);
        }
        TEAM_BARRIER();
    }
}
