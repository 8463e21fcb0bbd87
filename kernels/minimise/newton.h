/* newton.h: Newton's method with bounds, for any model with these words.
 *
 *   MODEL_PARAMETERS, MODEL        arguments: declared, passed
 *   MODEL_SLOTS                    length of every vector, a multiple of 8
 *   MODEL_X, MODEL_GRADIENT, MODEL_ACTIVE   slab vectors (GLOBAL real *)
 *   MODEL_WORK                     slab: MINIMISER_VECTORS vectors, MINIMISER_SCALARS scalars
 *   MODEL_HUGE                     value outside the domain
 *   MODEL_LEAST                    lower limit of the value
 *   MODEL_MEMORY                   slab: NEWTON_MEMORY, behind all others
 *   MODEL_PATIENT                  nonzero: a factor costs so much that steps with an older one pay
 *   MODEL_CLIPS                    nonzero: the value is flat beyond some edges; line searches miss them
 *   model_value(MODEL, derivatives)         value at MODEL_X, gradient into MODEL_GRADIENT (value_request.h)
 *   model_curvature(MODEL, kap, damping, doubt, flat)   factors F + kap (H - F) of active slots, H the exact
 *                                  Hessian, F Fisher's matrix; returns bad lanes. doubt, flat: tile_factor
 *   MODEL_DIAGONAL(i), MODEL_FLAT  pack of its diagonal; nonzero: a direction had no curvature
 *   model_solve(MODEL, v)          v := factor^-1 v
 *   model_negative_direction(MODEL, v)      after a bad factor: v := a direction of negative curvature;
 *                                  returns the curvature, 0 if none
 *   MODEL_REACH, MODEL_STIFFNESS   per lane; above 0: the value goes on smoothly beyond the domain's boundary
 *   model_is_near_edge(MODEL, part)         lanes within `part` of a boundary's own scale
 *   model_settle(MODEL, lanes)     new multipliers of the boundary at a minimum; returns how far it is
 *                                  from the domain's own, at most 1: none; MODEL_HUGE: beyond, no minimum
 *   model_stiffen(MODEL, factor)   boundary stiffer by the lane's factor, same multipliers
 *   model_keep_domain(MODEL)       MODEL_REACH := 0, without multipliers
 *
 * One super-step (lanes are independent):
 *
 *   factor ─► judge (EDM: done?) ─► aim (the step) ─► bounds ─► line search ─► chord steps (EDM there)
 *          ─► domain's boundary (beyond it, or back) ─► kinks (which side of 0)
 *
 * Rules measured on published analyses: Fisher's matrix F above EDM 1 while its steps are good, else the
 * exact Hessian H. After a bad pivot, F + (H - F) / (1 + w): w grows until the factor is good, at last to F,
 * and falls again with each step. Violated bounds become equalities through the same factor; then the step
 * is clipped. A failed line search raises the damping. Converged: g H^-1 g (EDM, in units of twice the NLL)
 * at the returned point is at most the tolerance, by an exact, good factor at most one accepted step old
 * (older: 100 times less). A value within the tolerance of MODEL_LEAST needs no good factor.
 *
 * A fit goes on beyond the domain if it starts outside, or if its boundary stops steps: a start then needs no
 * rate above 0, and a minimum with a rate of 0 is one of the augmented Lagrangian. It is converged when the
 * multipliers are settled too, and the value it returns is the domain's own.
 *
 * Where a factor costs as much as ten gradients, a fit makes L-BFGS steps: its matrix is an older factor,
 * corrected by the steps since (pairs.h). Far from the minimum any good factor serves, near it an exact one.
 *
 * A kinked slot has a kink at 0: the slope jumps there. The slot stays on one side of 0, where the value is
 * smooth, and 0 is its bound. At 0 it changes sides if the value falls beyond. So a fit ends at a kink only
 * if no slope was seen to fall. A fit that converges within the tolerance of a kink is moved onto it, stays
 * there while the other slots converge, and then tries the other side. */
#pragma once

#include "minimise/newton_steps.h"

/* ---- bounds ---- */

/* The slot whose bound POINT + STEP violates first; -1: none. */
FN real newton_first_violated(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) /* part of the step; 2: not met */
    {
        const pack x = LOADP(NEWTON_POINT, i), d = LOADP(NEWTON_STEP, i), lower = LOADP(FIT_LOWER, i),
                   upper = LOADP(FIT_UPPER, i);
        const pack room = PSELECT(d < PK(0.0), lower - x, upper - x);
        const pmask met = AND(LOADP(MODEL_ACTIVE, i) > PK(0.0), OR(x + d<lower, x + d> upper));
        STOREP(NEWTON_TEMP, i, PSELECT(met, pflush(PDIVIDE(room, PSELECT(met, d, PK(1.0)))), PK(2.0)));
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real least = R(2.0), which = R(-1.0);
        for (u32 i = 0; i < MODEL_SLOTS; i++) {
            const real part = (NEWTON_TEMP)[i];
            const mask sooner = part < least;
            least = SELECT(sooner, part, least);
            which = SELECT(sooner, REAL_OF(i), which);
        }
        FIT_SCALAR(FIT_SCRATCH) = which;
    }
    TEAM_BARRIER();
    return FIT_SCALAR(FIT_SCRATCH);
}

/* a / b where b is positive, else 0. */
FN real newton_part(real a, real b)
{
    const mask positive = b > R(0.0);
    return SELECT(positive, flush(DIVIDE(a, SELECT(positive, b, R(1.0)))), R(0.0));
}

/* Makes column k orthogonal in the metric: c_k . e_j = 0 for slots j of earlier equalities. */
FN void newton_orthogonal(MODEL_PARAMETERS, u32 k)
{
    GLOBAL real *column = NEWTON_EQUALITY(k);
    for (u32 m = 0; m < k; m++) {
        GLOBAL real *other = NEWTON_EQUALITY(m);
        real coefficient = R(0.0), own = R(0.0);
        for (u32 i = 0; i < MODEL_SLOTS; i++) {
            const mask here = NEWTON_EQUALITY_SLOT(m) == REAL_OF(i);
            coefficient = SELECT(here, column[i], coefficient);
            own = SELECT(here, other[i], own);
        }
        const real ratio = newton_part(coefficient, own);
        for (u32 i = 0; i < MODEL_SLOTS; i++) column[i] = flush(FMA(-ratio, other[i], column[i]));
    }
}

/* Moves STEP along column k until slot `which` is exactly on its bound. */
FN void newton_move_onto(MODEL_PARAMETERS, u32 k, real which)
{
    GLOBAL const real *column = NEWTON_EQUALITY(k);
    real own = R(0.0), want = R(0.0);
    for (u32 i = 0; i < MODEL_SLOTS; i++) {
        const mask here = which == REAL_OF(i);
        const real d = (NEWTON_STEP)[i], bound = SELECT(d < R(0.0), (FIT_LOWER)[i], (FIT_UPPER)[i]);
        own = SELECT(here, column[i], own);
        want = SELECT(here, bound - (NEWTON_POINT)[i] - d, want);
    }
    const mask usable = AND(which >= R(0.0), own > R(0.0));
    const real ratio = newton_part(want, SELECT(usable, own, R(0.0)));
    for (u32 i = 0; i < MODEL_SLOTS; i++) (NEWTON_STEP)[i] = flush(FMA(ratio, column[i], (NEWTON_STEP)[i]));
    for (u32 i = 0; i < MODEL_SLOTS; i++) {
        const mask here = AND(usable, which == REAL_OF(i));
        const real down = (FIT_LOWER)[i] - (NEWTON_POINT)[i], up = (FIT_UPPER)[i] - (NEWTON_POINT)[i];
        const real d = (NEWTON_STEP)[i];
        (NEWTON_STEP)[i] = SELECT(here, SELECT(d < R(0.5) * (down + up), down, up), d);
    }
}

/* Violated bounds become equalities, first met first; STEP moves in the factor's metric. */
FN_LARGE void newton_bounds(MODEL_PARAMETERS)
{
    mask more = R(0.0) < R(1.0);
    for (u32 k = 0; k < NEWTON_EQUALITIES && ANY(more); k++) {
        const real which = newton_first_violated(MODEL);
        more = which >= R(0.0);
        TEAM_IF(ANY(more)) {
            GLOBAL real *column = NEWTON_EQUALITY(k);
            TEAM_FOR(i, MODEL_SLOTS) column[i] = SELECT(which == REAL_OF(i), R(1.0), R(0.0));
            TEAM_BARRIER();
            model_solve(MODEL, column);
            ONE_WORKER
            {
                newton_orthogonal(MODEL, k);
                newton_move_onto(MODEL, k, which);
                NEWTON_EQUALITY_SLOT(k) = which;
            }
            TEAM_BARRIER();
        }
    }
}

/* ---- the stages of a super-step ---- */

/* The value, anew, of `lanes` whose boundary terms have changed. */
FN void newton_value_again(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask lanes)
{
    const real found = model_value(MODEL, 1);
    const pmask own = fit_packs(lanes);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(NEWTON_SLOPE, i, PSELECT(own, LOADP(MODEL_GRADIENT, i), LOADP(NEWTON_SLOPE, i)));
    TEAM_BARRIER();
    newton_active_set(MODEL);
    f->value = SELECT(lanes, found, f->value);
    f->edm = SELECT(lanes, MODEL_HUGE, f->edm);
    f->kap = SELECT(lanes, R(0.0), f->kap);
    f->damping = SELECT(lanes, R(0.0), f->damping);
    f->changed = OR(f->changed, lanes);
    f->status = SELECT(lanes, SELECT(found < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE), f->status);
}

FN void newton_go_beyond(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask lanes)
{
    ONE_WORKER
    {
        MODEL_REACH = SELECT(lanes, NEWTON_REACH, MODEL_REACH);
        MODEL_STIFFNESS = SELECT(lanes, NEWTON_STIFFNESS, MODEL_STIFFNESS);
    }
    TEAM_BARRIER();
    newton_value_again(MODEL, f, lanes);
}

FN newton_fit newton_begin(MODEL_PARAMETERS, real edm_tolerance, u32 start_is_near)
{
    newton_fit f;
    f.value = model_value(MODEL, 1);
    f.status = SELECT(f.value < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE);
    f.kap = start_is_near ? R(1.0) : R(0.0);
    f.damping = f.iterations = f.escapes = f.boundary_cuts = f.settlings = f.turns = f.weak = f.used =
        f.idle = R(0.0);
    f.edm = f.unsettled = f.lowest = MODEL_HUGE;
    f.changed = f.value < -MODEL_HUGE;
    f.tolerance = edm_tolerance;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
        STOREP(MODEL_ACTIVE, i, LOADP(FIT_FREE, i));
        STOREP(NEWTON_SCALE, i, PK(0.0));
    }
    TEAM_BARRIER();
    newton_active_set(MODEL);
    return f;
}

/* Factors at POINT, diagonal into SCALE. A Hessian that is not positive is weakened. */
FN void newton_factor(MODEL_PARAMETERS, PRIVATE newton_fit *f)
{
    const real zero = R(0.0), one = R(1.0);
    /* in a curved valley a leftover slope of sqrt(EDM) looks like a curvature of that size, either sign */
    const real doubt =
        SELECT(f->edm <= R(1e-6), FMA(R(10.0), SQRT(SELECT(f->edm > zero, f->edm, zero)), R(1e-8)), zero);
    mask redo = f->running, fisher = f->kap <= zero;
    f->downward = zero;
    f->refused = zero > one;
    for (u32 attempt = 0; attempt <= NEWTON_WEAK_TRIES + 1 && ANY(redo); attempt++) {
        if (attempt == 1) {
            f->refused = redo;
            f->downward = SELECT(redo, model_negative_direction(MODEL, NEWTON_EQUALITY(0)), zero);
        }
        if (attempt > 0) {
            const real weaker = SELECT(f->weak > zero, NEWTON_WEAKER * f->weak, NEWTON_WEAK_FIRST);
            fisher = OR(fisher, AND(redo, weaker > NEWTON_WEAK_MOST));
            if (attempt > NEWTON_WEAK_TRIES) fisher = OR(fisher, redo);
            f->weak = SELECT(redo, SELECT(fisher, NEWTON_WEAK_FIRST, weaker), f->weak);
        }
        f->used = SELECT(redo, SELECT(fisher, zero, DIVIDE(one, one + f->weak)), f->used);
        f->bad = model_curvature(MODEL, f->used, f->damping, doubt, NEWTON_FLAT);
        redo = AND(redo, AND(f->bad, f->used > zero));
    }
    const pmask own = fit_packs(f->running);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(NEWTON_SCALE, i, PSELECT(own, MODEL_DIAGONAL(i), LOADP(NEWTON_SCALE, i)));
}

/* TEMP := the step, with its EDM. Is the fit done? Which curvature is next? */
FN void newton_judge(MODEL_PARAMETERS, PRIVATE newton_fit *f, real edm_tolerance)
{
    const real zero = R(0.0), one = R(1.0);
    /* the EDM misses directions without curvature */
    f->tolerance =
        SELECT(f->running, SELECT(MODEL_FLAT > zero, R(0.01) * edm_tolerance, edm_tolerance), f->tolerance);
    f->edm = SELECT(f->running, newton_direction(MODEL), f->edm);
    /* only an exact factor may end a fit */
    const mask small = AND(AND(f->running, NOT(f->changed)), f->edm <= f->tolerance);
    const mask lowest = AND(R(2.0) * (f->value - MODEL_LEAST) <= f->tolerance, MODEL_REACH <= zero);
    f->exact = AND(f->used >= one, NOT(f->bad));
    f->undamped = f->damping <= zero;
    f->status = SELECT(AND(small, OR(lowest, AND(f->exact, f->undamped))), FIT_CONVERGED, f->status);
    /* no minimum: follow the negative direction while the value falls */
    f->saddle = AND(f->status == FIT_RUNNING,
                    AND(f->downward < zero, AND(f->edm <= NEWTON_EDM_SADDLE, f->escapes < NEWTON_ESCAPES)));
    f->status =
        SELECT(AND(AND(small, NOT(lowest)), AND(f->refused, NOT(f->saddle))), FIT_NOT_A_MINIMUM, f->status);
    f->escapes = SELECT(f->saddle, f->escapes + one, f->escapes);
    const mask ask = AND(small, AND(f->status == FIT_RUNNING, NOT(f->saddle)));
    f->kap = SELECT(AND(f->running, f->edm < NEWTON_EDM_FIRST_EXACT), one,
                    SELECT(AND(f->refused, f->used <= zero), zero, f->kap));
    f->damping = SELECT(ask, zero, f->damping);
    f->weak = SELECT(ask, zero, f->weak);
    f->running = AND(f->status == FIT_RUNNING, NOT(ask));
}

/* Multiple of the negative direction predicted to lower the value by 1, on the side with more room to bounds;
 * if both suffice, downhill. */
FN real newton_away(MODEL_PARAMETERS, PRIVATE const newton_fit *f)
{
    const real zero = R(0.0), length = SQRT(DIVIDE(R(2.0), SELECT(f->saddle, -f->downward, R(1.0))));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack x = LOADP(NEWTON_POINT, i), lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i);
        const pack d = pflush(PACK_OF(length) * LOADP(NEWTON_EQUALITY(0), i));
        const pack up = PSELECT(d < PK(0.0), lower - x, upper - x),
                   down = PSELECT(d < PK(0.0), x - upper, x - lower);
        const pmask counts = AND(LOADP(MODEL_ACTIVE, i) > PK(0.0), OR(d<PK(0.0), d> PK(0.0)));
        const pack size = PSELECT(counts, d, PK(1.0));
        STOREP(NEWTON_EQUALITY(1), i, PSELECT(AND(counts, PDIVIDE(up, size) < PK(0.01)), PK(1.0), PK(0.0)));
        STOREP(NEWTON_EQUALITY(2), i, PSELECT(AND(counts, PDIVIDE(down, size) < PK(0.01)), PK(1.0), PK(0.0)));
    }
    const real blocked = fit_dot(MODEL, NEWTON_EQUALITY(1), NEWTON_EQUALITY(1)),
               blocked_back = fit_dot(MODEL, NEWTON_EQUALITY(2), NEWTON_EQUALITY(2)),
               descent = fit_dot(MODEL, NEWTON_EQUALITY(0), NEWTON_SLOPE);
    const mask back = AND(OR(descent > zero, blocked > zero), blocked_back <= zero);
    return SELECT(back, -length, length);
}

/* TEMP, or away from a saddle; capped. */
FN void newton_aim(MODEL_PARAMETERS, PRIVATE const newton_fit *f)
{
    real away = R(0.0);
    TEAM_IF(ANY(f->saddle)) away = newton_away(MODEL, f);
    const pmask escapes = fit_packs(f->saddle);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack d =
            PSELECT(escapes, pflush(PACK_OF(away) * LOADP(NEWTON_EQUALITY(0), i)), LOADP(NEWTON_TEMP, i));
        STOREP(NEWTON_STEP, i, fit_capped(d, LOADP(NEWTON_CAP, i)));
    }
    TEAM_BARRIER();
}

/* ---- the domain's boundary ---- */

/* Fits that ended beyond: are the boundary's conditions met? */
FN void newton_settle(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask ended)
{
    const real zero = R(0.0), one = R(1.0), left = model_settle(MODEL, ended);
    const mask more = AND(ended, left > NEWTON_SETTLED), below = AND(more, left >= MODEL_HUGE);
    const mask slow =
        AND(AND(more, NOT(below)), AND(left > R(0.1) * f->unsettled, MODEL_STIFFNESS < NEWTON_STIFFEST));
    TEAM_BARRIER();
    ONE_WORKER
    {
        MODEL_REACH = SELECT(below, R(0.1) * MODEL_REACH, MODEL_REACH);
    }
    TEAM_IF(ANY(slow)) model_stiffen(MODEL, SELECT(slow, R(10.0), one));
    TEAM_BARRIER();
    f->unsettled = SELECT(more, left, f->unsettled);
    f->settlings = SELECT(more, f->settlings + one, f->settlings);
    TEAM_IF(ANY(more)) newton_value_again(MODEL, f, more);
    const mask lost = AND(more, OR(f->settlings > NEWTON_SETTLINGS, MODEL_REACH < NEWTON_REACH_LEAST));
    f->status = SELECT(lost, FIT_NO_PROGRESS, f->status);
    f->kap = SELECT(AND(more, NOT(below)), one, f->kap);
    f->boundary_cuts = SELECT(more, zero, f->boundary_cuts);
}

/* Fits that ran: an end is settled once, however long other lanes run. */
FN void newton_domain_boundary(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask ran)
{
    const mask inside = MODEL_REACH <= R(0.0),
               stuck = OR(f->status == FIT_NO_PROGRESS, f->status == FIT_NOT_A_MINIMUM),
               slow = f->iterations >= (MODEL_CLIPS ? NEWTON_CLIPS : MODEL_HUGE),
               cut = OR(f->boundary_cuts >= NEWTON_BOUNDARY_CUTS, slow),
               halted = OR(stuck, AND(f->status == FIT_RUNNING, cut)),
               stopped = AND(ran, AND(inside, halted)),
               ended = AND(ran, AND(NOT(inside), f->status == FIT_CONVERGED));
    TEAM_IF(ANY(ended)) newton_settle(MODEL, f, ended);
    TEAM_IF(ANY(stopped)) {
        const mask goes = AND(stopped, model_is_near_edge(MODEL, NEWTON_NEAR_EDGE));
        TEAM_IF(ANY(goes)) newton_go_beyond(MODEL, f, goes);
    }
}

/* ---- kinks ---- */

/* Slots at their kink. */
FN pmask newton_at_kink(MODEL_PARAMETERS, u32 i)
{
    const pack x = LOADP(MODEL_X, i);
    return AND(LOADP(NEWTON_KINKED, i) > PK(0.0), AND(x <= NEWTON_SIDE, x >= -NEWTON_SIDE));
}

/* How steeply the value falls beyond 0 from slots on the `up` side, by the gradient there. */
FN pack newton_fall(MODEL_PARAMETERS, pmask up, u32 i)
{
    const pack slope = LOADP(MODEL_GRADIENT, i);
    return PSELECT(up, slope, -slope);
}

/* Gives kinked slots their sides, where the value falls or falls more steeply, and their bounds there. */
FN_LARGE void newton_open_kinks(MODEL_PARAMETERS)
{
    const pack zero = PK(0.0);
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(MODEL_X, i, PSELECT(newton_at_kink(MODEL, i), NEWTON_SIDE, LOADP(MODEL_X, i)));
    TEAM_BARRIER();
    model_value(MODEL, 1);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(NEWTON_SLOPE, i, newton_fall(MODEL, zero > zero, i));
        STOREP(MODEL_X, i, PSELECT(newton_at_kink(MODEL, i), -NEWTON_SIDE, LOADP(MODEL_X, i)));
    }
    TEAM_BARRIER();
    model_value(MODEL, 1);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i), x = LOADP(MODEL_X, i);
        const pack down = newton_fall(MODEL, zero <= zero, i), up = LOADP(NEWTON_SLOPE, i);
        const pmask kinked = LOADP(NEWTON_KINKED, i) > zero,
                    better = AND(lower < zero, OR(upper <= zero, AND(down > zero, down > up))),
                    at = newton_at_kink(MODEL, i), is_up = AND(kinked, OR(AND(at, PNOT(better)), x > zero)),
                    is_down = AND(kinked, PNOT(is_up));
        STOREP(NEWTON_BEYOND, i, PSELECT(is_up, lower, upper));
        STOREP(FIT_LOWER, i, PSELECT(is_up, NEWTON_SIDE, lower));
        STOREP(FIT_UPPER, i, PSELECT(is_down, -NEWTON_SIDE, upper));
        STOREP(MODEL_X, i, PSELECT(AND(is_up, at), NEWTON_SIDE, x));
    }
    TEAM_BARRIER();
}

/* EDM below which slots are at their kink, as a slope^2 or (inverse) a distance^2, by the last Hessian. */
#define NEWTON_NEAR (NEWTON_NEAR_KINK * NEWTON_USUAL_EDM)

/* Converged fits: moves slots near their kinks onto them and fixes them there. Their fits go on. */
FN_LARGE void newton_move_onto_kinks(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask ended)
{
    const pack zero = PK(0.0);
    const pmask own = fit_packs(ended);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack x = LOADP(MODEL_X, i), d = LOADP(NEWTON_SCALE, i), kinked = LOADP(NEWTON_KINKED, i),
                   is_free = LOADP(FIT_FREE, i);
        const pmask near = AND(AND(own, AND(is_free > zero, PNOT(newton_at_kink(MODEL, i)))),
                               AND(AND(kinked > zero, d > zero), x * x * d <= PACK_OF(NEWTON_NEAR)));
        STOREP(NEWTON_TEMP, i, PSELECT(near, PK(1.0), zero));
        STOREP(NEWTON_KINKED, i, PSELECT(near, kinked + PK(1.0), kinked));
        STOREP(FIT_FREE, i, PSELECT(near, zero, is_free));
        STOREP(MODEL_X, i, PSELECT(near, PSELECT(x > zero, NEWTON_SIDE, -NEWTON_SIDE), x));
    }
    const mask goes_on = newton_sum(MODEL) > R(0.0);
    TEAM_IF(ANY(goes_on)) {
        const real found = model_value(MODEL, 1);
        const pmask moved = fit_packs(goes_on);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            STOREP(NEWTON_POINT, i, PSELECT(moved, LOADP(MODEL_X, i), LOADP(NEWTON_POINT, i)));
            STOREP(NEWTON_SLOPE, i, PSELECT(moved, LOADP(MODEL_GRADIENT, i), LOADP(NEWTON_SLOPE, i)));
        }
        TEAM_BARRIER();
        newton_active_set(MODEL);
        f->value = SELECT(goes_on, found, f->value);
        f->edm = SELECT(goes_on, MODEL_HUGE, f->edm);
        f->kap = SELECT(goes_on, R(1.0), f->kap);
        f->status = SELECT(goes_on, FIT_RUNNING, f->status);
    }
}

/* Slots at kinks try the other side, and stay where the value falls. Needs its slopes. Slots moved onto a
 * kink need more than a fall within the tolerance; moved there twice, they stay. Returns lanes in which slots
 * changed sides; there no slot is fixed any more. */
FN_LARGE mask newton_turn(MODEL_PARAMETERS, PRIVATE const newton_fit *f, mask lanes)
{
    const pack zero = PK(0.0);
    const real noise = fit_noise(f->value), part = NEWTON_TURN * f->tolerance;
    const pack least = PACK_OF(SELECT(noise > part, noise, part));
    const pmask own = fit_packs(lanes);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i), beyond = LOADP(NEWTON_BEYOND, i),
                   at = LOADP(NEWTON_POINT, i), to = LOADP(MODEL_X, i), kinked = LOADP(NEWTON_KINKED, i);
        const pmask up = at > zero, moved_there = kinked > PK(1.0);
        const pack fall = newton_fall(MODEL, up, i),
                   more = PSELECT(moved_there, PACK_OF(NEWTON_NEAR) * LOADP(NEWTON_SCALE, i), least);
        const pmask turns = AND(AND(AND(own, at * to < zero), kinked <= PK(2.0)),
                                AND(fall > zero, AND(fall * fall > least, fall * fall > more)));
        STOREP(NEWTON_TEMP, i, PSELECT(turns, PK(1.0), zero));
        STOREP(NEWTON_BEYOND, i, PSELECT(turns, PSELECT(up, upper, lower), beyond));
        STOREP(FIT_LOWER, i, PSELECT(turns, PSELECT(up, beyond, NEWTON_SIDE), lower));
        STOREP(FIT_UPPER, i, PSELECT(turns, PSELECT(up, -NEWTON_SIDE, beyond), upper));
        STOREP(MODEL_X, i, PSELECT(turns, to, at));
    }
    const mask turned = newton_sum(MODEL) > R(0.0);
    model_value(MODEL, 1);
    const pmask moved = fit_packs(turned);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, PSELECT(moved, LOADP(MODEL_GRADIENT, i), LOADP(NEWTON_SLOPE, i)));
        STOREP(FIT_FREE, i, PSELECT(AND(moved, LOADP(NEWTON_KINKED, i) > zero), PK(1.0), LOADP(FIT_FREE, i)));
    }
    TEAM_BARRIER();
    newton_active_set(MODEL);
    return turned;
}

/* Fits that ran: is the value lower beyond a kink? Then they go on. */
FN void newton_kinks(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask ran)
{
    const real zero = R(0.0);
    const mask ended = AND(ran, f->status == FIT_CONVERGED);
    TEAM_IF(ANY(ended)) newton_move_onto_kinks(MODEL, f, ended);
    const pmask own = fit_packs(AND(ran, f->value < MODEL_HUGE));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack x = LOADP(MODEL_X, i), beyond = LOADP(NEWTON_BEYOND, i);
        const pmask open = OR(AND(x > PK(0.0), beyond < PK(0.0)), AND(x<PK(0.0), beyond> PK(0.0))),
                    looks = AND(AND(own, open), newton_at_kink(MODEL, i));
        STOREP(NEWTON_TEMP, i, PSELECT(looks, PK(1.0), PK(0.0)));
        STOREP(MODEL_X, i, PSELECT(looks, -x, x));
    }
    const mask look = newton_sum(MODEL) > zero;
    TEAM_IF(ANY(look)) {
        model_value(MODEL, 1);
        const mask turned = newton_turn(MODEL, f, look), lost = AND(turned, f->turns >= NEWTON_TURNS),
                   revived = AND(turned, OR(f->status == FIT_NO_PROGRESS, f->status == FIT_NOT_A_MINIMUM));
        f->turns = SELECT(turned, f->turns + R(1.0), f->turns);
        f->damping = SELECT(revived, zero, f->damping);
        f->edm = SELECT(turned, MODEL_HUGE, f->edm);
        f->status = SELECT(lost, FIT_NO_PROGRESS, SELECT(turned, FIT_RUNNING, f->status));
    }
}

/* Slots at kinks go to 0. */
FN void newton_close_kinks(MODEL_PARAMETERS, PRIVATE newton_fit *f)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(MODEL_X, i, PSELECT(newton_at_kink(MODEL, i), PK(0.0), LOADP(MODEL_X, i)));
    TEAM_BARRIER();
    const real found = model_value(MODEL, 0);
    f->value = SELECT(f->value < MODEL_HUGE, found, f->value);
    f->status = SELECT(found < MODEL_HUGE, f->status, FIT_NON_FINITE);
}

/* ---- the whole fit ---- */

/* The domain's own value; no minimum if that is outside. Returns lanes on the domain's edge. */
FN mask newton_come_back(MODEL_PARAMETERS, PRIVATE newton_fit *f)
{
    const mask beyond = MODEL_REACH > R(0.0);
    mask edge = R(0.0) > R(1.0);
    TEAM_BARRIER();
    TEAM_IF(ANY(beyond)) {
        model_keep_domain(MODEL);
        const real own = model_value(MODEL, 0);
        f->value = SELECT(beyond, own, f->value);
        f->status = SELECT(AND(beyond, NOT(own < MODEL_HUGE)), FIT_NON_FINITE, f->status);
        edge = AND(beyond, model_is_near_edge(MODEL, NEWTON_EDGE));
    }
    return edge;
}

/* Largest slope x error, by the last Hessian's diagonal. One worker calls it. */
FN real newton_pull(MODEL_PARAMETERS)
{
    GLOBAL const real *g = NEWTON_SLOPE, *active = MODEL_ACTIVE;
    real worst = R(0.0);
    for (u32 i = 0; i < MODEL_SLOTS; i++) {
        const real d = (NEWTON_SCALE)[i];
        const mask counts = AND(active[i] > R(0.0), d > R(0.0));
        const real pull =
            SELECT(counts, flush(DIVIDE(R(2.0) * fit_size(g[i]), SQRT(SELECT(counts, d, R(1.0))))), R(0.0));
        worst = SELECT(pull > worst, pull, worst);
    }
    return worst;
}

/* A fit that goes round ends, however many iterations it may take. */
FN void newton_rest(PRIVATE newton_fit *f)
{
    const mask fell = OR(f->changed, f->value < f->lowest - fit_noise(f->value));
    f->lowest = SELECT(fell, f->value, f->lowest);
    f->idle = SELECT(fell, R(0.0), f->idle + R(1.0));
    f->status = SELECT(AND(f->status == FIT_RUNNING, f->idle >= NEWTON_IDLE), FIT_NO_PROGRESS, f->status);
}

FN void newton_run(MODEL_PARAMETERS, PRIVATE newton_fit *f, real edm_tolerance, u32 max_iterations,
                   u32 has_kinks)
{
    for (u32 step = 0; step < max_iterations && ANY(f->status == FIT_RUNNING); step++) {
        const mask ran = f->status == FIT_RUNNING;
        f->running = ran;
        f->iterations = SELECT(f->running, f->iterations + R(1.0), f->iterations);
        newton_factor(MODEL, f);
        newton_judge(MODEL, f, edm_tolerance);
        newton_aim(MODEL, f);
        TEAM_IF(ANY(f->running)) {
            newton_bounds(MODEL);
            const mask moved = newton_search_line(MODEL, f);
            TEAM_IF(MODEL_PATIENT) newton_lbfgs_steps(MODEL, f, moved);
            TEAM_IF(!(MODEL_PATIENT)) newton_chord_steps(MODEL, f, moved);
        }
        newton_domain_boundary(MODEL, f, ran);
        TEAM_IF(has_kinks) newton_kinks(MODEL, f, ran);
        newton_rest(f);
    }
}

/* Fits from MODEL_X, which must obey LOWER, UPPER and FREE. Leaves the answer in MODEL_X and fit_answer.h's
 * scalars. `start_is_near`: exact Hessian at once. `has_kinks`: NEWTON_KINKED says where. */
FN void newton_minimise(MODEL_PARAMETERS, real edm_tolerance, u32 max_iterations, u32 start_is_near,
                        u32 has_kinks)
{
    TEAM_IF(has_kinks) newton_open_kinks(MODEL);
    newton_fit f = newton_begin(MODEL, edm_tolerance, start_is_near);
    const mask outside = f.status == FIT_NON_FINITE;
    TEAM_IF(ANY(outside)) newton_go_beyond(MODEL, &f, outside);
    newton_run(MODEL, &f, edm_tolerance, max_iterations, has_kinks);
    TEAM_IF(has_kinks) newton_close_kinks(MODEL, &f);
    const mask edge = newton_come_back(MODEL, &f);
    fit_end(MODEL, f.status, f.value, f.edm, f.iterations, R(0.0));
    ONE_WORKER
    {
        FIT_SCALAR(FIT_PULL) = newton_pull(MODEL);
        FIT_SCALAR(FIT_FLAT) = SELECT(f.tolerance < edm_tolerance, R(1.0), R(0.0));
        FIT_SCALAR(FIT_EDGE) = SELECT(edge, R(1.0), R(0.0));
    }
}
