/* newton.h: Newton's method with bounds, for any model that offers the words below. Knows no model.
 *
 *   MODEL_PARAMETERS, MODEL             the model's arguments, as declared and as passed on
 *   MODEL_SLOTS                         length of every vector, a multiple of 8
 *   MODEL_X, MODEL_GRADIENT, MODEL_ACTIVE   slab vectors (GLOBAL real *)
 *   MODEL_WORK                          slab space for MINIMISER_VECTORS vectors and MINIMISER_SCALARS
 *                                       scalars
 *   MODEL_HUGE                          the value that says "outside the domain"
 *   MODEL_LEAST                         no value is below this one
 *   model_value(MODEL, derivatives)     value at MODEL_X, gradient into MODEL_GRADIENT
 *   MODEL_DIAGONAL(i), MODEL_FLAT       of that factor: a pack of the matrix's diagonal; nonzero where a
 *                                       direction had no curvature
 *   model_curvature(MODEL, kap, damping, doubt, flat) factors the Hessian (kap 1) or Fisher matrix (kap 0) on
 *   the active slots; mask of bad
 *                                       lanes; doubt, flat: what counts as no curvature and then stands for
 *                                       it (tile_factor)
 *   model_solve(MODEL, v)               v := factor^-1 v
 *   model_negative_direction(MODEL, v)  after a bad factor: v := a direction of negative curvature; its
 *                                       curvature, 0 if there is none
 *
 * One super-step, all lanes together, each lane at its own stage of its own fit:
 *   active set ─► curvature ─► direction ─► bounds ─► line search ─► EDM at the new point with the same
 *       factor
 * Rules (measured on published analyses): Fisher while the EDM is above 1, exact from there; a bad pivot of
 * the exact Hessian is answered at once by the Fisher matrix; bounds that the step violates become equalities
 * through the same factor, then the step is clipped; a step of a slot is at most NEWTON_CAP; a failed line
 * search raises the damping. Converged: EDM (in units of twice the NLL: g H^-1 g) at most the tolerance at
 * the returned point, with its own gradient and an exact factor of good pivots that is at most one accepted
 * step old; 100 times less if it is older. Where the value itself is within the tolerance of the least that
 * there can be, no factor need be good.
 */
#ifndef PARITAS_MINIMISE_NEWTON_H
#define PARITAS_MINIMISE_NEWTON_H

#include "minimise/fit_outcome.h"

#define NEWTON_BACKTRACKS 10
#define NEWTON_COASTING_STEPS 4
#define NEWTON_EDM_COASTING R(1e-3)
#define NEWTON_EDM_SADDLE R(1e-2) /* below, a bad exact Hessian means a saddle */
#define NEWTON_ESCAPES R(20.0)
#define NEWTON_FLAT R(1e-7)
#define NEWTON_SNAP PK(1e-12)

#define NEWTON_EDM_FIRST_EXACT R(1.0)

#define NEWTON_CAP (MODEL_WORK + 3 * MODEL_SLOTS) /* largest step of a slot; 0: none */
#define NEWTON_POINT (MODEL_WORK + 4 * MODEL_SLOTS)
#define NEWTON_SLOPE (MODEL_WORK + 5 * MODEL_SLOTS)
#define NEWTON_STEP (MODEL_WORK + 6 * MODEL_SLOTS)
#define NEWTON_TEMP (MODEL_WORK + 7 * MODEL_SLOTS)
#define NEWTON_SCALE (MODEL_WORK + 8 * MODEL_SLOTS) /* diagonal of the lane's own last Hessian */
#define NEWTON_EQUALITY(k) (MODEL_WORK + (9 + (k)) * MODEL_SLOTS)

/* Dot product that every worker knows; place: which scratch scalar carries it. */
FN real newton_dot(MODEL_PARAMETERS, GLOBAL const real *a, GLOBAL const real *b, u32 place)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(8 + place) = dot8(a, b, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return FIT_STATUS(8 + place);
}

/* Active: free, and not held at a bound by its slope. Counts changes: nonzero in a lane whose set changed. */
FN real newton_active_set(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack x = LOADP(NEWTON_POINT, i), g = LOADP(NEWTON_SLOPE, i), zero = PK(0.0);
        const pmask held =
            OR(AND(x <= LOADP(FIT_LOWER, i), g > zero), AND(x >= LOADP(FIT_UPPER, i), g < zero));
        const pack now = PSELECT(held, zero, LOADP(FIT_FREE, i));
        const pack change = now - LOADP(MODEL_ACTIVE, i);
        STOREP(NEWTON_TEMP, i, change * change);
        STOREP(MODEL_ACTIVE, i, now);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(8) = sum8(NEWTON_TEMP, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return FIT_STATUS(8);
}

/* TEMP := factor^-1 of minus the active slope; returns slope . factor^-1 slope. */
FN real newton_direction(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, -LOADP(NEWTON_SLOPE, i) * LOADP(MODEL_ACTIVE, i));
    TEAM_BARRIER();
    model_solve(MODEL, NEWTON_TEMP);
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, LOADP(NEWTON_TEMP, i) * LOADP(MODEL_ACTIVE, i));
    return -newton_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE, 0);
}

/* Turns bounds that POINT + STEP violates into equalities, the one that is met first first: STEP moves within
 * the metric of the factor to lie on them. */
FN_LARGE void newton_bounds(MODEL_PARAMETERS)
{
    mask more = R(0.0) < R(1.0);
    for (u32 k = 0; k < NEWTON_EQUALITIES && ANY(more); k++) {
        TEAM_FOR_PACK(i, MODEL_SLOTS) /* part of the step at which the bound is met; 2: not met */
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
            FIT_STATUS(8) = which;
        }
        TEAM_BARRIER();
        const real which = FIT_STATUS(8);
        more = which >= R(0.0);
        TEAM_IF(ANY(more)) {
            GLOBAL real *column = NEWTON_EQUALITY(k);
            TEAM_FOR(i, MODEL_SLOTS) column[i] = SELECT(which == REAL_OF(i), R(1.0), R(0.0));
            TEAM_BARRIER();
            model_solve(MODEL, column);
            /* orthogonal, in the metric, to the equalities so far: c_k . e_j = 0 for their slots j */
            ONE_WORKER
            {
                for (u32 m = 0; m < k; m++) {
                    GLOBAL real *other = NEWTON_EQUALITY(m);
                    real coefficient = R(0.0), own = R(0.0);
                    for (u32 i = 0; i < MODEL_SLOTS; i++) {
                        const mask here = FIT_STATUS(16 + m) == REAL_OF(i);
                        coefficient = SELECT(here, column[i], coefficient);
                        own = SELECT(here, other[i], own);
                    }
                    const real ratio = SELECT(
                        own > R(0.0), flush(DIVIDE(coefficient, SELECT(own > R(0.0), own, R(1.0)))), R(0.0));
                    for (u32 i = 0; i < MODEL_SLOTS; i++) column[i] = flush(FMA(-ratio, other[i], column[i]));
                }
                real own = R(0.0), want = R(0.0);
                for (u32 i = 0; i < MODEL_SLOTS; i++) {
                    const mask here = which == REAL_OF(i);
                    const real d = (NEWTON_STEP)[i],
                               room = SELECT(d < R(0.0), (FIT_LOWER)[i] - (NEWTON_POINT)[i],
                                             (FIT_UPPER)[i] - (NEWTON_POINT)[i]);
                    own = SELECT(here, column[i], own);
                    want = SELECT(here, room - d, want);
                }
                const mask usable = AND(which >= R(0.0), own > R(0.0));
                const real ratio = SELECT(usable, flush(DIVIDE(want, SELECT(usable, own, R(1.0)))), R(0.0));
                for (u32 i = 0; i < MODEL_SLOTS; i++)
                    (NEWTON_STEP)[i] = flush(FMA(ratio, column[i], (NEWTON_STEP)[i]));
                for (u32 i = 0; i < MODEL_SLOTS; i++) { /* exactly on the bound, whatever the rounding */
                    const mask here = AND(usable, which == REAL_OF(i));
                    const real down = (FIT_LOWER)[i] - (NEWTON_POINT)[i],
                               up = (FIT_UPPER)[i] - (NEWTON_POINT)[i];
                    const real d = (NEWTON_STEP)[i];
                    (NEWTON_STEP)[i] = SELECT(here, SELECT(d < R(0.5) * (down + up), down, up), d);
                }
                FIT_STATUS(16 + k) = which;
            }
            TEAM_BARRIER();
        }
    }
}

/* Fits from MODEL_X, which lies where LOWER, UPPER and FREE allow. On return MODEL_X is the answer,
 * FIT_STATUS(0..3) its status, value, EDM and iterations, FIT_STATUS(4) nonzero where a direction had no
 * curvature. `start_is_near`: the exact Hessian from the first step on. */
FN void newton_minimise(MODEL_PARAMETERS, real edm_tolerance, u32 max_iterations, u32 start_is_near)
{
    const real zero = R(0.0), one = R(1.0);
    real value = model_value(MODEL, 1);
    real status = SELECT(value < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE);
    real kap = start_is_near ? one : zero, damping = zero, edm = MODEL_HUGE, iterations = zero,
         escapes = zero, tolerance = edm_tolerance;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
        STOREP(MODEL_ACTIVE, i, LOADP(FIT_FREE, i));
        STOREP(NEWTON_SCALE, i, PK(0.0));
    }
    TEAM_BARRIER();
    newton_active_set(MODEL);
    for (u32 step = 0; step < max_iterations && ANY(status == FIT_RUNNING); step++) {
        mask running = status == FIT_RUNNING;
        iterations = SELECT(running, iterations + one, iterations);
        /* the factor at POINT; an exact Hessian that is not positive gives way to the Fisher matrix */
        /* curvature of the negative direction, which waits in EQUALITY(0) */
        real used = kap, downward = zero;
        mask bad = zero > one, redo = running;
        /* along a curved valley a slope of size sqrt(EDM) that is left over looks like a curvature of that
         * size, of either sign */
        const real doubt =
            SELECT(edm <= R(1e-6), FMA(R(10.0), SQRT(SELECT(edm > zero, edm, zero)), R(1e-8)), zero);
        for (u32 attempt = 0; attempt < 2 && ANY(redo); attempt++) {
            TEAM_IF(attempt > 0) {
                downward = SELECT(redo, model_negative_direction(MODEL, NEWTON_EQUALITY(0)), zero);
                used = SELECT(redo, zero, used);
            }
            bad = model_curvature(MODEL, used, damping, doubt, NEWTON_FLAT);
            if (attempt == 0) redo = AND(running, AND(bad, used > zero));
        }
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pmask own = PACK_OF(SELECT(running, one, zero)) > PK(0.0);
            STOREP(NEWTON_SCALE, i, PSELECT(own, MODEL_DIAGONAL(i), LOADP(NEWTON_SCALE, i)));
        }
        /* where a direction has no curvature the EDM says little of it: then more is asked */
        tolerance =
            SELECT(running, SELECT(MODEL_FLAT > zero, R(0.01) * edm_tolerance, edm_tolerance), tolerance);
        edm = SELECT(running, newton_direction(MODEL), edm);
        /* done without a step: only an exact factor may say so; a Fisher one asks for it */
        const mask small = AND(running, edm <= tolerance);
        const mask exact = AND(used > zero, NOT(bad));
        const mask undamped = damping <= zero;
        const mask lowest = R(2.0) * (value - MODEL_LEAST) <= tolerance;
        status = SELECT(AND(small, OR(lowest, AND(exact, undamped))), FIT_CONVERGED, status);
        /* near a stationary point whose exact Hessian is not positive: on along the negative direction, as
         * long as that lowers the value */
        const mask saddle =
            AND(status == FIT_RUNNING,
                AND(downward < zero, AND(edm <= NEWTON_EDM_SADDLE, escapes < NEWTON_ESCAPES)));
        status = SELECT(AND(AND(small, NOT(lowest)), AND(redo, NOT(saddle))), FIT_NOT_A_MINIMUM, status);
        escapes = SELECT(saddle, escapes + one, escapes);
        const mask ask = AND(small, AND(status == FIT_RUNNING, NOT(saddle)));
        kap = SELECT(AND(running, edm < NEWTON_EDM_FIRST_EXACT), one, SELECT(redo, zero, kap));
        damping = SELECT(ask, zero, damping);
        running = AND(status == FIT_RUNNING, NOT(ask));
        /* the negative direction points down the slope; its length promises to lower the value by 1 */
        const real away = SELECT(saddle, one, zero);
        real along = zero;
        TEAM_IF(ANY(saddle)) {
            /* of the two ways the one with more room to the bounds; if both have enough, down the slope */
            TEAM_FOR_PACK(i, MODEL_SLOTS) {
                const pack x = LOADP(NEWTON_POINT, i), lower = LOADP(FIT_LOWER, i),
                           upper = LOADP(FIT_UPPER, i);
                const pack d = pflush(PACK_OF(SQRT(DIVIDE(R(2.0), SELECT(saddle, -downward, one)))) *
                                      LOADP(NEWTON_EQUALITY(0), i));
                const pack up = PSELECT(d < PK(0.0), lower - x, upper - x),
                           down = PSELECT(d < PK(0.0), x - upper, x - lower);
                const pmask counts = AND(LOADP(MODEL_ACTIVE, i) > PK(0.0), OR(d<PK(0.0), d> PK(0.0)));
                const pack size = PSELECT(counts, d, PK(1.0));
                STOREP(NEWTON_EQUALITY(1), i,
                       PSELECT(AND(counts, PDIVIDE(up, size) < PK(0.01)), PK(1.0), PK(0.0)));
                STOREP(NEWTON_EQUALITY(2), i,
                       PSELECT(AND(counts, PDIVIDE(down, size) < PK(0.01)), PK(1.0), PK(0.0)));
            }
            const real blocked = newton_dot(MODEL, NEWTON_EQUALITY(1), NEWTON_EQUALITY(1), 3),
                       blocked_back = newton_dot(MODEL, NEWTON_EQUALITY(2), NEWTON_EQUALITY(2), 4);
            const real descent = newton_dot(MODEL, NEWTON_EQUALITY(0), NEWTON_SLOPE, 2);
            along = SQRT(DIVIDE(R(2.0), SELECT(saddle, -downward, one)));
            along = SELECT(
                OR(AND(descent > zero, blocked_back <= zero), AND(blocked > zero, blocked_back <= zero)),
                -along, along);
        }
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack cap = LOADP(NEWTON_CAP, i);
            pack d = PSELECT(PACK_OF(away) > PK(0.0), pflush(PACK_OF(along) * LOADP(NEWTON_EQUALITY(0), i)),
                             LOADP(NEWTON_TEMP, i));
            d = PSELECT(AND(cap > PK(0.0), d > cap), cap, d);
            d = PSELECT(AND(cap > PK(0.0), d < -cap), -cap, d);
            STOREP(NEWTON_STEP, i, d);
        }
        TEAM_BARRIER();
        TEAM_IF(ANY(running)) {
            newton_bounds(MODEL);
            /* line search along the clipped step: Armijo's rule, quadratic interpolation */
            real length = one, trial = value;
            mask searching = running, failed = zero > one;
            for (u32 k = 0; k <= NEWTON_BACKTRACKS + 1 && ANY(searching); k++) {
                /* a last turn takes lanes that found nothing back to POINT; the others evaluate once more
                 * where they are */
                if (k > NEWTON_BACKTRACKS) failed = searching;
                const real scale = SELECT(running, SELECT(failed, zero, length), zero);
                TEAM_FOR_PACK(i, MODEL_SLOTS) {
                    const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i),
                               from = LOADP(NEWTON_POINT, i);
                    const pmask stays = PACK_OF(scale) == PK(0.0);
                    const pack d = LOADP(NEWTON_STEP, i);
                    pack x = pflush(PFMA(PACK_OF(scale), d, from));
                    /* what arrives within rounding of a bound is on it, so that the bound can hold it */
                    x = PSELECT(AND(d < PK(0.0), x < lower + NEWTON_SNAP), lower, x);
                    x = PSELECT(AND(d > PK(0.0), x > upper - NEWTON_SNAP), upper, x);
                    x = PSELECT(OR(LOADP(MODEL_ACTIVE, i) <= PK(0.0), stays), from, x);
                    STOREP(MODEL_X, i, x);
                    STOREP(NEWTON_TEMP, i, pflush(x - from));
                }
                const real slope = newton_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE, 1);
                const real found = model_value(MODEL, 1);
                const real magnitude = SELECT(value < zero, -value, value);
                const real noise = FIT_NOISE * (one + magnitude);
                const mask enough = OR(found <= FMA(R(1e-4), slope, value),
                                       AND(found <= value + noise, -slope <= R(1e3) * noise));
                const mask accept = AND(AND(searching, NOT(failed)), AND(enough, found < MODEL_HUGE));
                trial = SELECT(accept, found, trial);
                searching = AND(searching, NOT(accept));
                const real rise = found - value - slope;
                real factor = SELECT(AND(found<MODEL_HUGE, rise> zero),
                                     DIVIDE(R(-0.5) * slope, SELECT(rise > zero, rise, one)), R(0.25));
                factor = SELECT(factor > R(0.1), factor, R(0.1));
                factor = SELECT(factor < R(0.5), factor, R(0.5));
                length = SELECT(searching, length * factor, length);
            }
            status = SELECT(AND(failed, damping >= R(1e6)), FIT_NO_PROGRESS, status);
            damping = SELECT(failed, SELECT(damping > zero, damping * R(10.0), R(1e-3)), damping);
            kap = SELECT(failed, zero, kap);
            const mask moved = AND(running, NOT(failed));
            /* a step that had to be cut to a hundredth asks for more damping, a good one for less */
            const mask poor = length < R(0.01);
            damping = SELECT(moved,
                             SELECT(poor, SELECT(damping > zero, damping * R(10.0), R(1e-3)),
                                    SELECT(damping > R(1e-3), damping * R(0.1), zero)),
                             damping);
            value = SELECT(moved, trial, value);
            /* The new point against the old factor, if that was exact and belongs to the same active set.
             * Near the minimum the old factor is still good: further steps with it cost a gradient each
             * instead of a Hessian, and each must gain a factor 100. The factor is then more than one step
             * old, so the EDM must be 100 times smaller (for tHu: 2 Hessians a fit instead of 3). */
            mask coasting = moved;
            for (u32 k = 0; k <= NEWTON_COASTING_STEPS && ANY(coasting); k++) {
                mask better = coasting;
                TEAM_IF(k > 0) {
                    real found = value;
                    mask open = coasting;
                    /* a second turn takes lanes that went up back to POINT */
                    for (u32 turn = 0; turn < 2 && ANY(open); turn++) {
                        const real go = SELECT(better, one, zero);
                        TEAM_FOR_PACK(i, MODEL_SLOTS) {
                            const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i),
                                       from = LOADP(NEWTON_POINT, i);
                            pack x = pflush(from + LOADP(NEWTON_TEMP, i));
                            x = PSELECT(x < lower, lower, x);
                            x = PSELECT(x > upper, upper, x);
                            STOREP(MODEL_X, i,
                                   PSELECT(OR(LOADP(MODEL_ACTIVE, i) <= PK(0.0), PACK_OF(go) <= PK(0.0)),
                                           from, x));
                        }
                        TEAM_BARRIER();
                        const real now = model_value(MODEL, 1);
                        const real magnitude = SELECT(value < zero, -value, value);
                        found = turn == 0 ? now : found;
                        better = AND(coasting, found <= value + FIT_NOISE * (one + magnitude));
                        open = AND(coasting, NOT(better));
                    }
                    value = SELECT(better, found, value);
                    iterations = SELECT(better, iterations + one, iterations);
                }
                TEAM_FOR_PACK(i, MODEL_SLOTS) {
                    STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
                    STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
                }
                TEAM_BARRIER();
                const mask counts = AND(better, AND(newton_active_set(MODEL) <= zero, undamped));
                real now = edm;
                TEAM_IF(ANY(counts)) now = newton_direction(MODEL);
                /* a Fisher step that came near enough is followed by the exact Hessian at once */
                kap = SELECT(AND(counts, now < NEWTON_EDM_FIRST_EXACT), one, kap);
                const mask test = AND(counts, exact);
                coasting = AND(test, now <= (k == 0 ? NEWTON_EDM_COASTING : R(0.01) * edm));
                edm = SELECT(test, now, edm);
                status = SELECT(AND(test, now <= (k == 0 ? tolerance : R(0.01) * tolerance)), FIT_CONVERGED,
                                status);
                coasting = AND(coasting, status == FIT_RUNNING);
            }
        }
    }
    fit_end(MODEL, SELECT(status == FIT_RUNNING, FIT_AT_LIMIT, status), value, edm, iterations,
            SELECT(tolerance < edm_tolerance, one, zero));
}

#endif
