/* minimisers.h: fits of the HistFactory family by other methods than Newton's. Rows in and out are those of hf_fit. */
#ifndef PARITAS_ENTRY_MINIMISERS_H
#define PARITAS_ENTRY_MINIMISERS_H

#include "entry/histfactory.h"
#include "minimise/lbfgsb.h"
#include "minimise/differential_evolution.h"

/* About one error of each slot: from the diagonal of the Fisher matrix at MODEL_X, constraints included. Only the diagonal: neither
 * elimination nor factor, so that what follows checks Newton's method and does not share it. */
FN void hf_error_units(HF_PARAMETERS, GLOBAL real *unit)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(MODEL_ACTIVE, i, LOADP(FIT_FREE, i));
    TEAM_BARRIER();
    hf_value(HF, 1);
    hf_curvature(HF, R(0.0), R(0.0), 0);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
    {
        const pack d = MODEL_DIAGONAL(i);
        const pmask known = AND(LOADP(FIT_FREE, i) > PK(0.0), d > PK(0.0));
        STOREP(unit, i, PSELECT(known, PDIVIDE(PK(1.0), PSQRT(PSELECT(known, d, PK(1.0)))), PK(1.0)));
    }
    TEAM_BARRIER();
}

/* args, in, out as hf_fit's; flag 2: to a smaller EDM. */
KERNEL(hf_fit_lbfgsb)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_load_jobs(HF, args, in, rows);
    hf_error_units(HF, LBFGSB_UNIT);
    lbfgsb_minimise(HF, (args[3] & 2 ? R(1e-6) : R(1e-2)) * HF_EDM_TOLERANCE, args[2]);
    ONE_WORKER { hf_store_outcome(HF, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), FIT_STATUS(5)); }
    hf_store_point(HF, out, rows);
}

/* How far around the start the first members lie, in errors; and around one that is near the minimum. */
#define HF_DE_REACH R(5.0)
#define HF_DE_REACH_NEAR R(0.1)

/* args, in, out as hf_fit's; behind the data set of each job: members of a population, seed (low, high word). */
KERNEL(hf_fit_de)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    CONSTANT u32 *more = args + 4 + args[0];
    hf_load_jobs(HF, args, in, rows);
    hf_error_units(HF, DE_UNIT);
    de_minimise(HF, (args[3] & 2 ? R(1e-4) : R(1e-1)) * HF_EDM_TOLERANCE, args[2], more[0], args[3] & 1 ? HF_DE_REACH_NEAR : HF_DE_REACH, more[1], more[2]);
    ONE_WORKER { hf_store_outcome(HF, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), R(0.0)); }
    hf_store_point(HF, out, rows);
}

#endif
