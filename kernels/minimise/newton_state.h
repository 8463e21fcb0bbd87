/* newton_state.h: what the parts of newton.h share: its constants, vectors and scalars, the active set, the
 * direction. */
#pragma once

#include "minimise/fit_outcome.h"

#define NEWTON_BACKTRACKS 10
#define NEWTON_CHORD_STEPS 4
#define NEWTON_EDM_CHORD R(1e-3)
#define NEWTON_LBFGS_STEPS 12 /* steps with one factor; 8 to 32 cost much the same */
#define NEWTON_LBFGS_BACKTRACKS 1
#define NEWTON_EDM_FIRST_EXACT R(1.0)
#define NEWTON_EDM_SADDLE R(1e-4) /* below, a bad exact Hessian is a saddle */
#define NEWTON_ESCAPES R(20.0)    /* per fit */
#define NEWTON_FLAT R(1e-7)
/* w (above): first value, factors after a bad pivot and a step, limits, tries a step */
#define NEWTON_WEAK_FIRST R(0.5)
#define NEWTON_WEAKER R(5.0)
#define NEWTON_STRONGER R(0.05)
#define NEWTON_WEAK_LEAST R(1e-3) /* less is 0 */
#define NEWTON_WEAK_MOST R(20.0)  /* more is Fisher */
#define NEWTON_WEAK_TRIES 2
#define NEWTON_CUT R(0.5) /* of a Fisher step; cut to less, not by the boundary: the exact Hessian is next */
#define NEWTON_SNAP PK(1e-12)
#define NEWTON_REACH R(0.1)
#define NEWTON_REACH_LEAST R(1e-7)
#define NEWTON_STIFFNESS R(1e3)
#define NEWTON_STIFFEST R(1e8)
#define NEWTON_SETTLED R(0.5)       /* model_settle: the boundary's conditions hold */
#define NEWTON_SETTLINGS R(30.0)    /* per fit */
#define NEWTON_BOUNDARY_CUTS R(2.0) /* line searches that the boundary cut, before a fit goes beyond */
#define NEWTON_CLIPS R(10.0) /* iterations, before a fit whose value is flat beyond an edge goes there */
#define NEWTON_NEAR_EDGE R(0.1)
#define NEWTON_IDLE R(200.0)  /* steps that lower no value: as many as a fit has by default */
#define NEWTON_TURNS R(100.0) /* changes of sides at kinks, per fit */
/* of the usual EDM, as a slot's own curvature has it: at the kink. The limit on slopes needs less than 1/4 */
#define NEWTON_NEAR_KINK R(0.1)
#define NEWTON_TURN R(1e-4) /* of the tolerance: slope^2 for a turn, as constraints of width 1 have it */
/* of a bin's scale: a rate on the domain's edge */
#if F64
#define NEWTON_EDGE R(1e-12)
#define NEWTON_SIDE PK(KINK_SIDE_F64)
#define NEWTON_USUAL_EDM R(EDM_TOLERANCE_F64)
#else
#define NEWTON_EDGE R(2e-5)
#define NEWTON_SIDE PK(KINK_SIDE_F32)
#define NEWTON_USUAL_EDM R(EDM_TOLERANCE_F32)
#endif

#define NEWTON_CAP (MODEL_WORK + 3 * MODEL_SLOTS) /* largest step of a slot; 0: none */
#define NEWTON_POINT (MODEL_WORK + 4 * MODEL_SLOTS)
#define NEWTON_SLOPE (MODEL_WORK + 5 * MODEL_SLOTS)
#define NEWTON_STEP (MODEL_WORK + 6 * MODEL_SLOTS)
#define NEWTON_TEMP (MODEL_WORK + 7 * MODEL_SLOTS)
#define NEWTON_SCALE (MODEL_WORK + 8 * MODEL_SLOTS) /* diagonal of the last Hessian */
#define NEWTON_EQUALITY(k) (MODEL_WORK + (9 + (k)) * MODEL_SLOTS)
#define NEWTON_KINKED \
    (MODEL_WORK + (9 + NEWTON_EQUALITIES) * MODEL_SLOTS) /* 0: none; 1 + how often moved onto it */
/* the fit's bound beyond 0, in whose place is the kink */
#define NEWTON_BEYOND (MODEL_WORK + (10 + NEWTON_EQUALITIES) * MODEL_SLOTS)
#define NEWTON_EQUALITY_SLOT(k) FIT_SCALAR(FIT_SCRATCH + 1 + (k)) /* whose bound it is; -1: none */

typedef struct {
    real status, value, edm, iterations, tolerance, damping;
    real kap; /* next curvature: 1 Hessian, weakened by 1 / (1 + weak); 0 Fisher */
    real weak;
    real escapes;               /* from saddles so far */
    real used;                  /* kap of the current factor */
    real downward;              /* curvature of the negative direction in EQUALITY(0); 0: none */
    real boundary_cuts;         /* line searches that met the end of the domain */
    real unsettled, settlings;  /* of the last settling; how many */
    real turns;                 /* at kinks */
    real lowest, idle;          /* value so far with the present boundary; steps since it fell */
    mask running, bad, refused; /* bad pivots; of the Hessian, as weak as it was */
    mask exact, undamped, saddle;
    mask changed; /* the boundary's terms have: no end without a step */
} newton_fit;

/* Sum of TEMP. */
FN real newton_sum(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(FIT_SCRATCH) = sum8(NEWTON_TEMP, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return FIT_SCALAR(FIT_SCRATCH);
}

/* Free, and not kept at a bound by its slope. Returns nonzero if the set changed. */
FN real newton_active_set(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pmask at_bound = fit_is_at_bound(LOADP(NEWTON_POINT, i), LOADP(NEWTON_SLOPE, i),
                                               LOADP(FIT_LOWER, i), LOADP(FIT_UPPER, i));
        const pack now = PSELECT(at_bound, PK(0.0), LOADP(FIT_FREE, i)),
                   change = now - LOADP(MODEL_ACTIVE, i);
        STOREP(NEWTON_TEMP, i, change * change);
        STOREP(MODEL_ACTIVE, i, now);
    }
    return newton_sum(MODEL);
}

/* TEMP := -factor^-1 . active slope. Returns the EDM. */
FN real newton_direction(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, -LOADP(NEWTON_SLOPE, i) * LOADP(MODEL_ACTIVE, i));
    TEAM_BARRIER();
    model_solve(MODEL, NEWTON_TEMP);
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, LOADP(NEWTON_TEMP, i) * LOADP(MODEL_ACTIVE, i));
    return -fit_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE);
}
