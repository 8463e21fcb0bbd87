/* kappa_fit.h: fits in (y, kappa, t), a spectrum a lane: damped Newton, exact second derivatives, bounds.
 *
 *   grid ─► from its best point ─► from its best other local minimum; without one, after a bad fit at a
 *   bound of kappa, from the best point at the other bound ─► the lower minimum
 *
 * Steps take the exact Hessian if it is positive definite, else the Fisher matrix, damped after a failed
 * step. Bounds in the way become equalities, the first one first. All lanes evaluate together. Converged: EDM
 * g H^-1 g, exact and undamped, within tolerance. */
#pragma once

#include "kappa/kappa_misfit.h"
#include "minimise/fit_tolerances.h"

#define KAPPA_TOLERANCE LIMIT(EDM_TOLERANCE_F64, EDM_TOLERANCE_F32)
#define KAPPA_NOISE LIMIT(1e-14, 1e-6) /* rounding of a value, of 1 + |value| */
#define KAPPA_PIVOT LIMIT(1e-13, 1e-6) /* least pivot, of the diagonal */
#define KAPPA_PERFECT LIMIT(1e-12, 1e-5)
#define KAPPA_HUGE R(1e30)

#define KAPPA_CONVERGED R(0.0) /* the public enum; running: below 0 */
#define KAPPA_AT_LIMIT R(1.0)
#define KAPPA_NO_PROGRESS R(2.0)
#define KAPPA_NON_FINITE R(3.0)
#define KAPPA_NOT_A_MINIMUM R(4.0)
#define KAPPA_BAD R(10.0)   /* misfit per row */
#define KAPPA_STALLS R(6.0) /* most steps within rounding */

typedef struct {
    real v[3];
} vector3;
typedef struct {
    real v[6]; /* 00, 01, 02, 11, 12, 22 */
} matrix3;
typedef struct {
    mask of[3];
} mask3;

FN matrix3 matrix3_select(mask m, matrix3 a, matrix3 b)
{
    for (u32 k = 0; k < 6; k++) a.v[k] = SELECT(m, a.v[k], b.v[k]);
    return a;
}
FN vector3 vector3_select(mask m, vector3 a, vector3 b)
{
    for (u32 k = 0; k < 3; k++) a.v[k] = SELECT(m, a.v[k], b.v[k]);
    return a;
}
FN real vector3_dot(vector3 a, vector3 b)
{
    return FMA(a.v[2], b.v[2], FMA(a.v[1], b.v[1], a.v[0] * b.v[0]));
}
FN vector3 matrix3_times(matrix3 m, vector3 x)
{
    vector3 y;
    y.v[0] = FMA(m.v[2], x.v[2], FMA(m.v[1], x.v[1], m.v[0] * x.v[0]));
    y.v[1] = FMA(m.v[4], x.v[2], FMA(m.v[3], x.v[1], m.v[1] * x.v[0]));
    y.v[2] = FMA(m.v[5], x.v[2], FMA(m.v[4], x.v[1], m.v[2] * x.v[0]));
    return y;
}

/* The matrix within `in`, the unit matrix outside. */
FN matrix3 matrix3_within(matrix3 m, mask3 in)
{
    u32 at = 0;
    for (u32 a = 0; a < 3; a++)
        for (u32 b = a; b < 3; b++, at++)
            m.v[at] = SELECT(AND(in.of[a], in.of[b]), m.v[at], a == b ? R(1.0) : R(0.0));
    return m;
}

/* L D L^T; `good`: positive pivots. */
typedef struct {
    real l10, l20, l21, i0, i1, i2;
    mask good;
} factor3;

FN factor3 matrix3_factor(matrix3 m)
{
    factor3 f;
    const mask good0 = m.v[0] > R(0.0);
    f.i0 = DIVIDE(R(1.0), SELECT(good0, m.v[0], R(1.0)));
    f.l10 = flush(m.v[1] * f.i0);
    f.l20 = flush(m.v[2] * f.i0);
    const real d1 = FMA(-f.l10, m.v[1], m.v[3]), c = FMA(-f.l10, m.v[2], m.v[4]);
    const mask good1 = d1 > KAPPA_PIVOT * m.v[3];
    f.i1 = DIVIDE(R(1.0), SELECT(good1, d1, R(1.0)));
    f.l21 = flush(c * f.i1);
    const real d2 = FMA(-f.l21, c, FMA(-f.l20, m.v[2], m.v[5]));
    const mask good2 = d2 > KAPPA_PIVOT * m.v[5];
    f.i2 = DIVIDE(R(1.0), SELECT(good2, d2, R(1.0)));
    f.good = AND(AND(good0, good1), AND(AND(good2, m.v[3] > R(0.0)), m.v[5] > R(0.0)));
    return f;
}
FN vector3 factor3_solve(factor3 f, vector3 b)
{
    const real y1 = FMA(-f.l10, b.v[0], b.v[1]);
    const real y2 = FMA(-f.l21, y1, FMA(-f.l20, b.v[0], b.v[2]));
    vector3 x;
    x.v[2] = flush(y2 * f.i2);
    x.v[1] = flush(FMA(-f.l21, x.v[2], y1 * f.i1));
    x.v[0] = flush(FMA(-f.l20, x.v[2], FMA(-f.l10, x.v[1], b.v[0] * f.i0)));
    return x;
}

/* Misfits of ln(flux), and each point's best y. */
FN_LARGE void fit_grid(FIT_PARAMETERS)
{
    const u32 kappas = mi[KAPPA_GRID_KAPPAS], thetas = mi[KAPPA_GRID_THETAS], points = kappas * thetas,
              held = mi[KAPPA_DENSITY_HELD], floored = mi[KAPPA_WEIGHTS] != 0, slots = SPECTRUM_SLOTS_OF(mi);
    GLOBAL const real *counts_for = s + KAPPA_S_COUNTS_FOR;
    const real all = sum8(counts_for, slots), given = s[KAPPA_S_DATA + SPECTRUM_START];
    const real inverse_all = DIVIDE(R(1.0), SELECT(all > R(0.0), all, R(1.0)));
    TEAM_FOR(p, points) {
        CONSTANT elem *by_kappa = mr + KAPPA_GRID + 2 * (p % kappas),
                      *by_t = mr + KAPPA_GRID + 2 * (kappas + p / kappas);
        const real kappa = LOADM1(by_kappa, 0), thermal = LOADM1(by_t, 1);
        const pack inverse = PACK_OF(kappa_exp(-(thermal + kappa_log(kappa)))),
                   more = PACK_OF(kappa + R(1.0)), log_thermal = PACK_OF(thermal);
        /* of unit density over E / E_theta (1 + q / kappa)^-(kappa + 1) */
        const pack shift = PACK_OF(R(15.194083111933566) + (LOADM1(by_kappa, 1) - LOADM1(by_t, 0)));
        acc8 first = acc8_zero(), second = acc8_zero();
        for (u32 i = 0; i < slots; i += 8) {
            for (u32 j = 0; j < 8; j += PACK) {
                const pack z = LOADP(s, KAPPA_S_DATA + SPECTRUM_ENERGY + i + j) * inverse;
                const pack model =
                    PFMA(-more, m_log1p(z), shift + (LOADP(s, KAPPA_S_LOG_ENERGY + i + j) - log_thermal));
                pack d = LOADP(s, KAPPA_S_LOG_FLUX + i + j) - model;
                if (held && floored)
                    d = LOADP(s, KAPPA_S_EXPECTED + i + j) -
                        m_log(m_exp(model + PACK_OF(given)) + PK(MISFIT_FLOOR));
                else if (held)
                    d = d - PACK_OF(given);
                const pack w = pflush(LOADP(counts_for, i + j) * d);
                first.part[j / PACK] = first.part[j / PACK] + w;
                second.part[j / PACK] = PFMA(w, d, second.part[j / PACK]);
            }
        }
        const real mean = acc8_total(first) * inverse_all, square = acc8_total(second);
        s[KAPPA_S_GRID + p] = held ? square : FMA(-mean * mean, all, square);
        s[KAPPA_S_GRID + points + p] = held ? given : mean;
    }
    TEAM_BARRIER();
}

#define START_BEST 0
#define START_OTHER 1       /* best local minimum besides *at */
#define START_FIRST_KAPPA 2 /* best at the least kappa */
#define START_LAST_KAPPA 3

/* *at: the start's number, or `points` for none. */
FN vector3 fit_start(FIT_PARAMETERS, u32 which, PRIVATE real *at)
{
    const u32 kappas = mi[KAPPA_GRID_KAPPAS], points = kappas * mi[KAPPA_GRID_THETAS];
    GLOBAL const real *grid = s + KAPPA_S_GRID;
    const real none = REAL_OF((elem)points), best = which == START_OTHER ? *at : none;
    real least = KAPPA_HUGE;
    vector3 x;
    x.v[0] = R(0.0);
    x.v[1] = LOADM1(mr, KAPPA_LOWER);
    x.v[2] = LOADM1(mr, KAPPA_LOWER + 1);
    *at = none;
    for (u32 p = 0; p < points; p++) {
        const real c = grid[p], number = REAL_OF((elem)p);
        mask m = AND(c < least, OR(number<best, number> best));
        if (which == START_FIRST_KAPPA && p % kappas != 0) continue;
        if (which == START_LAST_KAPPA && p % kappas != kappas - 1) continue;
        if (which == START_OTHER) {
            if (p % kappas != 0) m = AND(m, c <= grid[p - 1]);
            if (p % kappas != kappas - 1) m = AND(m, c <= grid[p + 1]);
            if (p >= kappas) m = AND(m, c <= grid[p - kappas]);
            if (p + kappas < points) m = AND(m, c <= grid[p + kappas]);
        }
        least = SELECT(m, c, least);
        *at = SELECT(m, number, *at);
        x.v[0] = SELECT(m, grid[points + p], x.v[0]);
        x.v[1] = SELECT(m, LOADM1(mr, KAPPA_GRID + 2 * (p % kappas)), x.v[1]);
        x.v[2] = SELECT(m, LOADM1(mr, KAPPA_GRID + 2 * (kappas + p / kappas)), x.v[2]);
    }
    return x;
}

typedef struct {
    real value;
    vector3 x, gradient;
    matrix3 hessian, fisher;
} fit_point;

FN fit_point fit_evaluate(FIT_PARAMETERS, vector3 x)
{
    GLOBAL const real *sums = s + KAPPA_S_SUMS;
    fit_point p;
    misfit_evaluate(FIT_ARGUMENTS, x.v[0], x.v[1], x.v[2]);
    p.value = sums[SUM_VALUE];
    p.x = x;
    for (u32 k = 0; k < 3; k++) p.gradient.v[k] = sums[SUM_GRADIENT + k];
    for (u32 k = 0; k < 6; k++) p.hessian.v[k] = sums[SUM_HESSIAN + k];
    for (u32 k = 0; k < 6; k++) p.fisher.v[k] = sums[SUM_FISHER + k];
    TEAM_BARRIER();
    return p;
}
FN fit_point fit_point_select(mask m, fit_point a, fit_point b)
{
    a.value = SELECT(m, a.value, b.value);
    a.x = vector3_select(m, a.x, b.x);
    a.gradient = vector3_select(m, a.gradient, b.gradient);
    a.hessian = matrix3_select(m, a.hessian, b.hessian);
    a.fisher = matrix3_select(m, a.fisher, b.fisher);
    return a;
}

typedef struct {
    vector3 lower, upper;
    mask3 free;
} fit_bounds;

FN fit_bounds fit_bounds_of(FIT_PARAMETERS)
{
    fit_bounds b;
    const real reach = R(60.0); /* for unbounded y: f32 overflows beyond */
    b.lower.v[0] = -reach;
    b.upper.v[0] = reach;
    b.free.of[0] = mi[KAPPA_DENSITY_HELD] ? reach < R(0.0) : reach > R(0.0);
    for (u32 k = 1; k < 3; k++) {
        b.lower.v[k] = LOADM1(mr, KAPPA_LOWER + k - 1);
        b.upper.v[k] = LOADM1(mr, KAPPA_UPPER + k - 1);
        b.free.of[k] = b.lower.v[k] < b.upper.v[k];
    }
    return b;
}

FN vector3 fit_limited(fit_bounds b, vector3 x)
{
    for (u32 k = 0; k < 3; k++)
        x.v[k] =
            SELECT(x.v[k] < b.lower.v[k], b.lower.v[k], SELECT(x.v[k] > b.upper.v[k], b.upper.v[k], x.v[k]));
    return x;
}

FN mask3 fit_active(fit_bounds b, fit_point p)
{
    mask3 a;
    for (u32 k = 0; k < 3; k++) {
        const real x = p.x.v[k], g = p.gradient.v[k];
        a.of[k] = AND(b.free.of[k],
                      NOT(OR(AND(x <= b.lower.v[k], g > R(0.0)), AND(x >= b.upper.v[k], g < R(0.0)))));
    }
    return a;
}
FN vector3 vector3_within(vector3 x, mask3 in)
{
    for (u32 k = 0; k < 3; k++) x.v[k] = SELECT(in.of[k], x.v[k], R(0.0));
    return x;
}

/* Holds violated bounds one by one. */
FN vector3 fit_step(fit_bounds b, fit_point p, matrix3 m, mask3 active)
{
    vector3 fixed, d;
    for (u32 k = 0; k < 3; k++) fixed.v[k] = R(0.0);
    d = fixed;
    mask3 in = active;
    for (u32 round = 0; round < 3; round++) {
        const vector3 shifted = matrix3_times(m, fixed);
        vector3 rest;
        for (u32 k = 0; k < 3; k++) rest.v[k] = SELECT(in.of[k], -(p.gradient.v[k] + shifted.v[k]), R(0.0));
        const vector3 solved = factor3_solve(matrix3_factor(matrix3_within(m, in)), rest);
        real share[3];
        for (u32 k = 0; k < 3; k++) {
            const real room = SELECT(solved.v[k] < R(0.0), b.lower.v[k] - p.x.v[k], b.upper.v[k] - p.x.v[k]);
            const mask beyond =
                AND(in.of[k], SELECT(solved.v[k] < R(0.0), room - solved.v[k], solved.v[k] - room) > R(0.0));
            share[k] = SELECT(beyond, flush(DIVIDE(room, SELECT(beyond, solved.v[k], R(1.0)))), R(2.0));
            d.v[k] = SELECT(in.of[k], SELECT(beyond, room, solved.v[k]), fixed.v[k]);
        }
        /* only kappa and t are held */
        const mask holds1 = AND(share[1] < R(2.0), share[1] <= share[2]),
                   holds2 = AND(share[2] < R(2.0), share[2] < share[1]);
        fixed.v[1] = SELECT(holds1, d.v[1], fixed.v[1]);
        fixed.v[2] = SELECT(holds2, d.v[2], fixed.v[2]);
        in.of[1] = AND(in.of[1], NOT(holds1));
        in.of[2] = AND(in.of[2], NOT(holds2));
    }
    real scale = R(1.0);
    for (u32 k = 0; k < 3; k++) {
        const real most = k == 0 ? R(4.0) : R(1.0), size = SELECT(d.v[k] < R(0.0), -d.v[k], d.v[k]);
        scale = SELECT(size * scale > most, DIVIDE(most, SELECT(size > R(0.0), size, R(1.0))), scale);
    }
    for (u32 k = 0; k < 3; k++) d.v[k] = flush(d.v[k] * scale);
    return d;
}

/* The Hessian if it is `good`, else the Fisher matrix with a floor; damped. */
FN matrix3 fit_damped(fit_point p, mask good, real damping)
{
    matrix3 m = matrix3_select(good, p.hessian, p.fisher);
    const real floor = R(1e-3) * KAPPA_NOISE * (R(1.0) + p.fisher.v[0] + p.fisher.v[3] + p.fisher.v[5]),
               more = SELECT(good, R(0.0), SELECT(damping > R(1e-3), R(0.0), R(1e-3))) + damping;
    for (u32 k = 0; k < 3; k++) {
        const u32 at = k == 0 ? 0 : 2 * k + 1; /* of the diagonal */
        m.v[at] = FMA(more, p.fisher.v[at], m.v[at] + SELECT(good, R(0.0), floor));
    }
    return m;
}

/* Unweighted misfits have their own size as unit. */
FN real fit_unit(CONSTANT u32 *mi, real value, real rows)
{
    const real mean = DIVIDE(value, rows);
    return mi[KAPPA_WEIGHTS] == 2 ? SELECT(mean > KAPPA_PERFECT, mean, KAPPA_PERFECT) : R(1.0);
}

typedef struct {
    fit_point point;
    real status, edm, iterations;
} fit_outcome;

FN_LARGE fit_outcome fit_newton(FIT_PARAMETERS, vector3 x, mask runs, real rows)
{
    const fit_bounds bounds = fit_bounds_of(FIT_ARGUMENTS);
    fit_outcome o;
    o.point = fit_evaluate(FIT_ARGUMENTS, fit_limited(bounds, x));
    o.status = SELECT(o.point.value < KAPPA_HUGE, R(-1.0), KAPPA_NON_FINITE);
    o.edm = KAPPA_HUGE;
    o.iterations = R(0.0);
    real damping = R(0.0), stalled = R(0.0);
    mask on = AND(runs, o.status < R(0.0));
    const u32 limit = mi[KAPPA_MAX_ITERATIONS];
    for (u32 step = 0; step <= limit && ANY(on); step++) {
        const mask last = REAL_OF((elem)step) >= REAL_OF((elem)limit);
        const mask3 active = fit_active(bounds, o.point);
        const matrix3 exact = matrix3_within(o.point.hessian, active);
        const factor3 factor = matrix3_factor(exact);
        const vector3 slope = vector3_within(o.point.gradient, active);
        const real edm = flush(vector3_dot(slope, factor3_solve(factor, slope)));
        o.edm = SELECT(AND(on, factor.good), edm, o.edm);
        const mask done =
            AND(AND(on, factor.good), edm <= KAPPA_TOLERANCE * fit_unit(mi, o.point.value, rows));
        o.status = SELECT(done, KAPPA_CONVERGED, o.status);
        on = AND(on, NOT(done));
        o.status = SELECT(AND(on, last), KAPPA_AT_LIMIT, o.status);
        on = AND(on, NOT(last));
        const matrix3 m = fit_damped(o.point, factor.good, damping);
        const vector3 d = fit_step(bounds, o.point, m, active);
        vector3 to = o.point.x;
        for (u32 k = 0; k < 3; k++) to.v[k] = to.v[k] + d.v[k];
        to = vector3_select(on, fit_limited(bounds, to), o.point.x);
        const real gain = -FMA(R(0.5), vector3_dot(d, matrix3_times(m, d)), vector3_dot(o.point.gradient, d));
        const fit_point there = fit_evaluate(FIT_ARGUMENTS, to);
        const real noise = KAPPA_NOISE * (R(1.0) + o.point.value), fell = o.point.value - there.value;
        const mask within = AND(gain <= noise, fell >= -noise),
                   lower = AND(fell > R(0.0), fell >= R(1e-3) * gain);
        const mask taken = AND(on, AND(OR(within, lower), there.value < KAPPA_HUGE));
        stalled = SELECT(AND(on, within), stalled + R(1.0), stalled);
        o.iterations = SELECT(on, o.iterations + R(1.0), o.iterations);
        const mask well = fell >= R(0.5) * gain;
        damping = SELECT(taken, SELECT(well, SELECT(damping > R(1e-5), R(0.1) * damping, R(0.0)), damping),
                         SELECT(damping > R(1e-3), R(8.0) * damping, R(1e-2)));
        o.point = fit_point_select(taken, there, o.point);
        const mask stuck = AND(on, OR(stalled > KAPPA_STALLS, damping > R(1e8)));
        o.status = SELECT(stuck, SELECT(factor.good, KAPPA_NO_PROGRESS, KAPPA_NOT_A_MINIMUM), o.status);
        on = AND(on, NOT(stuck));
    }
    return o;
}

/* Covariance from half the Hessian, where active. */
FN matrix3 fit_covariance(matrix3 hessian, mask3 active)
{
    const factor3 f = matrix3_factor(matrix3_within(hessian, active));
    matrix3 c;
    u32 at = 0;
    for (u32 a = 0; a < 3; a++) {
        vector3 unit;
        for (u32 k = 0; k < 3; k++) unit.v[k] = k == a ? R(2.0) : R(0.0);
        const vector3 column = factor3_solve(f, unit);
        for (u32 b = a; b < 3; b++) c.v[at++] = SELECT(AND(active.of[a], active.of[b]), column.v[b], R(0.0));
    }
    return c;
}

FN void fit_store(FIT_PARAMETERS, GLOBAL elem *out, lane_rows rows, fit_outcome o)
{
    const fit_bounds b = fit_bounds_of(FIT_ARGUMENTS);
    const mask3 active = fit_active(b, o.point);
    const matrix3 c = fit_covariance(o.point.hessian, active);
    ONE_WORKER
    {
        STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_STATUS,
                   SELECT(o.status < KAPPA_CONVERGED, KAPPA_NOT_A_MINIMUM, o.status));
        STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_ITERATIONS, o.iterations);
        STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_MISFIT, o.point.value);
        STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_EDM, o.edm);
        for (u32 k = 0; k < 3; k++) STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_POINT + k, o.point.x.v[k]);
        for (u32 k = 1; k < 3; k++) {
            const real held = SELECT(o.point.x.v[k] <= b.lower.v[k], R(2.0), R(3.0));
            STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_STATES + k - 1,
                       SELECT(b.free.of[k], SELECT(active.of[k], R(0.0), held), R(1.0)));
        }
        for (u32 k = 0; k < 6; k++) STORE_ROWS(out, rows, KAPPA_ANSWER, KAPPA_COVARIANCE + k, c.v[k]);
    }
}

/* Fits spectra after misfit_load. */
FN void fit_spectra(FIT_PARAMETERS, GLOBAL elem *out, lane_rows rows)
{
    GLOBAL const real *data = s + KAPPA_S_DATA;
    const u32 points = mi[KAPPA_GRID_KAPPAS] * mi[KAPPA_GRID_THETAS];
    const real none = REAL_OF((elem)points);
    const mask known = data[SPECTRUM_START + 1] > R(0.0);
    real used = R(0.0);
    for (u32 i = 0; i < SPECTRUM_ROWS_OF(mi); i++)
        used = used + SELECT(data[SPECTRUM_GAIN + i] > R(0.0), R(1.0), R(0.0));
    const mask any = used > R(0.0);
    used = SELECT(any, used, R(1.0));
    TEAM_IF(ANY(NOT(known))) {
        fit_grid(FIT_ARGUMENTS);
    }
    vector3 given;
    for (u32 k = 0; k < 3; k++) given.v[k] = data[SPECTRUM_START + k];
    real at = none;
    fit_outcome best = fit_newton(
        FIT_ARGUMENTS, vector3_select(known, given, fit_start(FIT_ARGUMENTS, START_BEST, &at)), any, used);
    vector3 second = fit_start(FIT_ARGUMENTS, START_OTHER, &at);
    mask runs = AND(any, AND(NOT(known), at < none));
    const mask lower = best.point.x.v[1] <= LOADM1(mr, KAPPA_LOWER),
               upper = best.point.x.v[1] >= LOADM1(mr, KAPPA_UPPER);
    const mask bad = AND(AND(any, NOT(OR(known, runs))), AND(OR(lower, upper), NOT(AND(lower, upper))));
    const mask turns = mi[KAPPA_WEIGHTS] == 2 ? bad : AND(bad, best.point.value > KAPPA_BAD * used);
    if (ANY(turns)) {
        const vector3 first = fit_start(FIT_ARGUMENTS, START_FIRST_KAPPA, &at),
                      last = fit_start(FIT_ARGUMENTS, START_LAST_KAPPA, &at);
        second = vector3_select(turns, vector3_select(lower, last, first), second);
        runs = OR(runs, turns);
    }
    TEAM_IF(ANY(runs)) {
        const fit_outcome o = fit_newton(FIT_ARGUMENTS, second, runs, used);
        const mask ended = best.status > KAPPA_CONVERGED,
                   less = o.point.value < best.point.value - KAPPA_NOISE * (R(1.0) + best.point.value);
        const mask better = AND(AND(runs, o.status <= KAPPA_CONVERGED), OR(ended, less));
        best.point = fit_point_select(better, o.point, best.point);
        best.status = SELECT(better, o.status, best.status);
        best.edm = SELECT(better, o.edm, best.edm);
        best.iterations = SELECT(better, o.iterations, best.iterations);
    }
    fit_store(FIT_ARGUMENTS, out, rows, best);
}
