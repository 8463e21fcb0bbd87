/* newton_line.h: trials along Newton's step. Comes behind newton.h's vectors: POINT, SLOPE, STEP, TEMP. */
#ifndef PARITAS_MINIMISE_NEWTON_LINE_H
#define PARITAS_MINIMISE_NEWTON_LINE_H

#include "minimise/fit_outcome.h"

/* MODEL_X := POINT + part of STEP, within bounds; TEMP: the actual step. */
FN void newton_try(MODEL_PARAMETERS, real part)
{
    const pmask stays = PACK_OF(part) == PK(0.0);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i), from = LOADP(NEWTON_POINT, i),
                   d = LOADP(NEWTON_STEP, i);
        pack x = pflush(PFMA(PACK_OF(part), d, from));
        /* snap to a bound within rounding */
        x = PSELECT(AND(d < PK(0.0), x < lower + NEWTON_SNAP), lower, x);
        x = PSELECT(AND(d > PK(0.0), x > upper - NEWTON_SNAP), upper, x);
        x = PSELECT(OR(LOADP(MODEL_ACTIVE, i) <= PK(0.0), stays), from, x);
        STOREP(MODEL_X, i, x);
        STOREP(NEWTON_TEMP, i, pflush(x - from));
    }
}

typedef struct {
    real length, value;  /* of the last trial; at the point found */
    mask failed, walled; /* no point found; a trial was outside the domain */
} newton_line;

/* MODEL_X := the first good enough point along STEP, from `length` on, of `lanes`; others, and lanes without
 * one within `backtracks`, go to POINT. */
FN newton_line newton_search(MODEL_PARAMETERS, mask lanes, real value, real length, u32 backtracks)
{
    const real zero = R(0.0), one = R(1.0);
    newton_line line;
    line.length = length;
    line.value = value;
    line.failed = line.walled = zero > one;
    mask searching = lanes;
    for (u32 k = 0; k <= backtracks + 1 && ANY(searching); k++) {
        /* last turn: failed lanes go to POINT, others evaluate again in place */
        if (k > backtracks) line.failed = searching;
        newton_try(MODEL, SELECT(lanes, SELECT(line.failed, zero, line.length), zero));
        const real slope = fit_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE), found = model_value(MODEL, 1);
        const mask accept =
            AND(AND(searching, NOT(line.failed)), AND(fit_enough(found, value, slope), found < MODEL_HUGE));
        line.value = SELECT(accept, found, line.value);
        line.walled = OR(line.walled, AND(searching, found >= MODEL_HUGE));
        searching = AND(searching, NOT(accept));
        line.length = SELECT(searching, line.length * fit_shorter(found, value, slope), line.length);
    }
    return line;
}

#endif
