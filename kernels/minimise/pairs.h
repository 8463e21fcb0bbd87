/* pairs.h: the last steps of a fit and their changes of slope. They correct a factor that belongs to an
 * earlier point (L-BFGS: Nocedal, Math. Comp. 35 (1980), with that factor in place of a multiple of the unit
 * matrix). Comes behind a model's words (newton.h). A fit keeps PAIRS of them. */
#pragma once

#include "minimise/fit_outcome.h"

#define PAIRS NEWTON_PAIRS
#define PAIR_S(k) (MODEL_MEMORY + (k) * MODEL_SLOTS)
#define PAIR_Y(k) (MODEL_MEMORY + (PAIRS + (k)) * MODEL_SLOTS)
#define PAIRS_SCALARS (FIT_SCRATCH + 1 + NEWTON_EQUALITIES)
#define PAIR_RHO(k) FIT_SCALAR(PAIRS_SCALARS + (k)) /* 1 / s.y; 0: no pair */
#define PAIR_ALPHA(k) FIT_SCALAR(PAIRS_SCALARS + PAIRS + (k))
#define PAIRS_LEAST R(0.01) /* of s.y, as a part of the slope along s: less may be rounding */

FN void pairs_forget(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    TEAM_FOR(k, PAIRS) PAIR_RHO(k) = R(0.0);
    TEAM_BARRIER();
}

/* Pair k of `lanes`: from POINT, SLOPE to MODEL_X, MODEL_GRADIENT. Other lanes lose what they had there. */
FN void pairs_keep(MODEL_PARAMETERS, u32 k, GLOBAL const real *point, GLOBAL const real *slope, mask lanes)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(PAIR_S(k), i, pflush(LOADP(MODEL_X, i) - LOADP(point, i)));
        STOREP(PAIR_Y(k), i, pflush(LOADP(MODEL_GRADIENT, i) - LOADP(slope, i)) * LOADP(MODEL_ACTIVE, i));
    }
    const real along = fit_dot(MODEL, PAIR_S(k), PAIR_Y(k)), before = fit_dot(MODEL, PAIR_S(k), slope);
    TEAM_BARRIER(); /* all have read the sums */
    ONE_WORKER
    {
        const mask good = AND(lanes, along > PAIRS_LEAST * fit_size(before));
        PAIR_RHO(k) = SELECT(good, DIVIDE(R(1.0), SELECT(good, along, R(1.0))), R(0.0));
    }
    TEAM_BARRIER();
}

/* v := v + t other, in lanes with a pair. */
FN void pairs_add(MODEL_PARAMETERS, GLOBAL real *v, real t, GLOBAL const real *other, mask there)
{
    const pmask own = fit_packs(there);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(v, i, PSELECT(own, pflush(PFMA(PACK_OF(t), LOADP(other, i), LOADP(v, i))), LOADP(v, i)));
}

/* The recursion's first half, newest pair first: v before the factor. */
FN void pairs_before(MODEL_PARAMETERS, u32 newest, GLOBAL real *v)
{
    for (u32 k = 0; k < PAIRS; k++) {
        const u32 j = (newest + PAIRS - k) % PAIRS;
        const mask there = PAIR_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real alpha = flush(PAIR_RHO(j) * fit_dot(MODEL, PAIR_S(j), v));
            pairs_add(MODEL, v, -alpha, PAIR_Y(j), there);
            ONE_WORKER
            {
                PAIR_ALPHA(j) = alpha;
            }
        }
    }
    TEAM_BARRIER();
}

/* Its second half, oldest pair first: v behind the factor. */
FN void pairs_after(MODEL_PARAMETERS, u32 newest, GLOBAL real *v)
{
    for (u32 k = PAIRS; k-- > 0;) {
        const u32 j = (newest + PAIRS - k) % PAIRS;
        const mask there = PAIR_RHO(j) > R(0.0);
        TEAM_IF(ANY(there)) {
            const real beta = flush(PAIR_RHO(j) * fit_dot(MODEL, PAIR_Y(j), v));
            pairs_add(MODEL, v, flush(PAIR_ALPHA(j) - beta), PAIR_S(j), there);
        }
    }
    TEAM_BARRIER();
}
