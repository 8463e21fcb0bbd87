/* profiles.h: free and conditional fits to many data sets of one HistFactory model. */
#ifndef PARITAS_ENTRY_PROFILES_H
#define PARITAS_ENTRY_PROFILES_H

#include "entry/histfactory.h"

/* The data rows of the lanes of m into the slab. */
FN void hf_exchange_data(HF_PARAMETERS, GLOBAL const elem *data, u32 stride, lane_rows rows, mask m)
{
    GLOBAL real *to = s + mi[HF_S_MAIN];
    TEAM_FOR(i, stride) to[i] = SELECT(m, LOAD_ROWS(data, rows, stride, i), to[i]);
}
#define MODEL_LOAD(data, stride, rows, m) hf_exchange_data(HF, data, stride, rows, m)

#include "minimise/quasi_newton.h"

/* Free and conditional fits to many data sets with a shared matrix: rows in and out as qn_run has them. */
KERNEL(hf_profile)
{
    hf_prepare(HF);
    TEAM_FOR(i, mi[HF_DATA]) s[mi[HF_S_MAIN] + i] = R(1.0); /* lanes without a task have data, too */
    TEAM_BARRIER();
    qn_run(HF, args, in, out, TEAM_INDEX, mi[HF_DATA], R(0.01) * HF_EDM_TOLERANCE);
}

#endif
