/* entry_toys.h: the entry that draws data of the HistFactory family. Comes behind entry/entry_histfactory.h. */
#ifndef PARITAS_ENTRY_TOYS_H
#define PARITAS_ENTRY_TOYS_H

FN void model_draws(HF_PARAMETERS, u32 i, u32 fixed, pmask drawn, PRIVATE pmask *counted,
                    PRIVATE pmask *measured, PRIVATE pack *precision)
{
    const u32 first_aux = 8 * mi[HF_PANELS];
    const pack zero = PK(0.0);
    *counted = drawn;
    *measured = zero > zero;
    if (i < first_aux) return;
    if (i >= first_aux + mi[HF_SLOTS]) { /* varied numbers are no data */
        *counted = zero > zero;
        return;
    }
    *precision = LOADM(mr + mi[HF_R_PRECISION], i - first_aux);
    *counted = AND(drawn, LOADM(mr + mi[HF_R_TAU], i - first_aux) > zero);
    *measured = AND(AND(drawn, PNOT(*counted)), *precision > zero);
    if (fixed) *counted = *measured = zero > zero;
}

#include "entry/entry_draw.h"

KERNEL(hf_draw)
{
    job_draw(HF, args, in, out, TEAM_INDEX);
}

#endif
