/* newton_steps.h: steps of newton.h: the line search, and further steps with the same factor. */
#pragma once

#include "minimise/newton_state.h"
#include "minimise/pairs.h"

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
    real length, value;        /* of the last trial; at the point found */
    mask failed, met_boundary; /* no point found; a trial was outside the domain */
} newton_line;

/* MODEL_X := the first good enough point along STEP, from `length` on, of `lanes`; others, and lanes without
 * one within `backtracks`, go to POINT. */
FN newton_line newton_search(MODEL_PARAMETERS, PRIVATE const newton_fit *f, mask lanes, real length,
                             u32 backtracks)
{
    const real zero = R(0.0), one = R(1.0);
    newton_line line;
    line.length = length;
    line.value = f->value;
    line.failed = line.met_boundary = zero > one;
    mask searching = lanes;
    for (u32 k = 0; k <= backtracks + 1 && ANY(searching); k++) {
        /* last turn: failed lanes go to POINT, others evaluate again in place */
        if (k > backtracks) line.failed = searching;
        newton_try(MODEL, SELECT(lanes, SELECT(line.failed, zero, line.length), zero));
        const real slope = fit_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE), found = model_value(MODEL, 1);
        const mask accept = AND(AND(searching, NOT(line.failed)),
                                AND(fit_enough(found, f->value, slope), found < MODEL_HUGE));
        line.value = SELECT(accept, found, line.value);
        line.met_boundary = OR(line.met_boundary, AND(searching, found >= MODEL_HUGE));
        searching = AND(searching, NOT(accept));
        line.length = SELECT(searching, line.length * fit_shorter(found, f->value, slope), line.length);
    }
    return line;
}

/* Sets MODEL_X, the value, the next damping. Returns lanes that moved. */
FN mask newton_search_line(MODEL_PARAMETERS, PRIVATE newton_fit *f)
{
    const real zero = R(0.0), one = R(1.0);
    const newton_line line = newton_search(MODEL, f, f->running, one, NEWTON_BACKTRACKS);
    f->status = SELECT(AND(line.failed, f->damping >= R(1e6)), FIT_NO_PROGRESS, f->status);
    const mask moved = AND(f->running, NOT(line.failed));
    /* Fisher's matrix too small: steps with it would be cut again */
    const mask fisher = AND(f->used <= zero, NOT(f->refused)),
               cut = AND(moved, AND(fisher, AND(line.length < NEWTON_CUT, NOT(line.met_boundary))));
    f->kap = SELECT(line.failed, zero, SELECT(cut, one, f->kap));
    const real weak = NEWTON_STRONGER * f->weak;
    f->weak = SELECT(AND(f->running, f->used > zero), SELECT(weak > NEWTON_WEAK_LEAST, weak, zero), f->weak);
    /* failed, or cut to a hundredth: more damping; a good step: less */
    const mask poor = OR(line.failed, AND(moved, line.length < R(0.01)));
    const real more = SELECT(f->damping > zero, f->damping * R(10.0), R(1e-3)),
               less = SELECT(f->damping > R(1e-3), f->damping * R(0.1), zero);
    f->damping = SELECT(poor, more, SELECT(moved, less, f->damping));
    f->value = SELECT(moved, line.value, f->value);
    f->boundary_cuts = SELECT(line.met_boundary, f->boundary_cuts + one, f->boundary_cuts);
    f->changed = AND(f->changed, NOT(moved));
    return moved;
}

/* ---- further steps ---- */

/* A step TEMP with the same factor. Returns lanes that did not go up. */
FN mask newton_step_again(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask going)
{
    real found = f->value;
    mask better = going, open = going;
    /* the second turn returns lanes to POINT if their value went up */
    for (u32 turn = 0; turn < 2 && ANY(open); turn++) {
        const pmask goes = fit_packs(better);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack from = LOADP(NEWTON_POINT, i),
                       x = fit_within(pflush(from + LOADP(NEWTON_TEMP, i)), LOADP(FIT_LOWER, i),
                                      LOADP(FIT_UPPER, i));
            STOREP(MODEL_X, i, PSELECT(AND(LOADP(MODEL_ACTIVE, i) > PK(0.0), goes), x, from));
        }
        TEAM_BARRIER();
        const real now = model_value(MODEL, 1);
        found = turn == 0 ? now : found;
        better = AND(going, found <= f->value + fit_noise(f->value));
        open = AND(going, NOT(better));
    }
    f->value = SELECT(better, found, f->value);
    f->iterations = SELECT(better, f->iterations + R(1.0), f->iterations);
    return better;
}

/* POINT, SLOPE, and the EDM by the old factor if exact and of the same active set. Further steps with it cost
 * a gradient, not a Hessian; each must gain a factor 100 and the EDM be 100 times smaller (tHu: 2 Hessians a
 * fit, not 3). */
FN void newton_chord_steps(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask moved)
{
    mask going = moved;
    for (u32 k = 0; k <= NEWTON_CHORD_STEPS && ANY(going); k++) {
        mask better = going;
        TEAM_IF(k > 0) better = newton_step_again(MODEL, f, going);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
            STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
        }
        TEAM_BARRIER();
        const mask counts = AND(better, AND(newton_active_set(MODEL) <= R(0.0), f->undamped));
        real now = f->edm;
        TEAM_IF(ANY(counts)) now = newton_direction(MODEL);
        /* near enough: exact Hessian next */
        f->kap = SELECT(AND(counts, now < NEWTON_EDM_FIRST_EXACT), R(1.0), f->kap);
        const mask test = AND(counts, f->exact);
        going = AND(test, now <= (k == 0 ? NEWTON_EDM_CHORD : R(0.01) * f->edm));
        f->edm = SELECT(test, now, f->edm);
        f->status = SELECT(AND(test, now <= (k == 0 ? f->tolerance : R(0.01) * f->tolerance)), FIT_CONVERGED,
                           f->status);
        going = AND(going, f->status == FIT_RUNNING);
    }
}

/* ---- further steps of models whose factors cost much ---- */

/* TEMP := -factor^-1 . active slope, corrected by the pairs up to `newest`. Returns the EDM. */
FN real newton_lbfgs_direction(MODEL_PARAMETERS, u32 newest)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, -LOADP(NEWTON_SLOPE, i) * LOADP(MODEL_ACTIVE, i));
    TEAM_BARRIER();
    pairs_before(MODEL, newest, NEWTON_TEMP);
    model_solve(MODEL, NEWTON_TEMP);
    pairs_after(MODEL, newest, NEWTON_TEMP);
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(NEWTON_TEMP, i, LOADP(NEWTON_TEMP, i) * LOADP(MODEL_ACTIVE, i));
    return -fit_dot(MODEL, NEWTON_TEMP, NEWTON_SLOPE);
}

/* A step TEMP of `length` or less; then the length from which to try the next. Returns lanes that found a
 * lower point. */
FN mask newton_lbfgs_step(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask going, PRIVATE real *length)
{
    const real tried = *length, longer = R(2.0) * tried;
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(NEWTON_STEP, i, fit_capped(LOADP(NEWTON_TEMP, i), LOADP(NEWTON_CAP, i)));
    TEAM_BARRIER();
    const newton_line line = newton_search(MODEL, f, going, tried, NEWTON_LBFGS_BACKTRACKS);
    const mask better = AND(going, NOT(line.failed));
    f->value = SELECT(better, line.value, f->value);
    f->iterations = SELECT(better, f->iterations + R(1.0), f->iterations);
    *length = SELECT(line.length < tried, line.length, SELECT(longer < R(1.0), longer, R(1.0)));
    return better;
}

/* As newton_chord_steps, but corrected by pairs: steps with an old factor go on while each halves the EDM.
 * Far from the minimum any good factor serves. Only an exact one ends a fit, as there. */
FN_LARGE void newton_lbfgs_steps(MODEL_PARAMETERS, PRIVATE newton_fit *f, mask moved)
{
    real length = R(1.0);
    mask going = moved;
    for (u32 k = 0; k <= NEWTON_LBFGS_STEPS && ANY(going); k++) {
        mask better = going;
        TEAM_IF(k > 0) better = newton_lbfgs_step(MODEL, f, going, &length);
        pairs_keep(MODEL, k % PAIRS, NEWTON_POINT, NEWTON_SLOPE, better);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
            STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
        }
        TEAM_BARRIER();
        const mask same = newton_active_set(MODEL) <= R(0.0),
                   counts = AND(better, AND(same, AND(f->undamped, NOT(f->bad))));
        real now = f->edm;
        TEAM_IF(ANY(counts)) now = newton_lbfgs_direction(MODEL, k % PAIRS);
        f->kap = SELECT(AND(counts, now < NEWTON_EDM_FIRST_EXACT), R(1.0), f->kap);
        const mask test = AND(counts, f->exact),
                   pays = AND(test, now <= (k == 0 ? NEWTON_EDM_FIRST_EXACT : R(0.5) * f->edm)),
                   far = AND(AND(counts, NOT(f->exact)), now > NEWTON_EDM_CHORD);
        f->edm = SELECT(test, now, f->edm);
        f->status = SELECT(AND(test, now <= (k == 0 ? f->tolerance : R(0.01) * f->tolerance)), FIT_CONVERGED,
                           f->status);
        going = AND(OR(pays, far), f->status == FIT_RUNNING);
    }
    pairs_forget(MODEL);
}
