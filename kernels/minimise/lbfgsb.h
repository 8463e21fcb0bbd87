/* lbfgsb.h: L-BFGS-B, for any model with a gradient. Knows no model.
 *
 * R. H. Byrd, P. Lu, J. Nocedal, C. Zhu, A limited memory algorithm for bound constrained optimization, SIAM
 * J. Sci. Comput. 16 (1995) 1190; the equations below are theirs. Of newton.h's words it needs
 * MODEL_PARAMETERS, MODEL, MODEL_SLOTS, MODEL_X, MODEL_GRADIENT, MODEL_WORK, MODEL_HUGE and model_value, and
 *   MODEL_MEMORY    slab space of LBFGSB_MEMORY(MODEL_SLOTS) scalars; holds anything on entry
 *   LBFGSB_UNIT     filled by the entry: about one error of each slot, positive. All below is measured in it,
 *                   for errors of one model
 *                   differ by a factor of 10,000 and the first step of the method is along the gradient.
 *
 * One super-step, all lanes together, each lane at its own stage of its own fit:
 *   B = theta I - W M W^T of the last pairs ─► Cauchy point along the projected gradient ─► minimum of the
 *       model over what is
 *   free there ─► line search (strong Wolfe) ─► a pair (s, y)
 * Pairs stand in the order of time, the newest last; what a lane does not have yet is zero columns, to which
 * M answers zero, so that lanes with few pairs and many run side by side. A lane whose small matrices are not
 * positive, or whose line search fails, forgets its pairs and goes on along the gradient; if that fails too
 * it is at its end. Converged: g B^-1 g and the square of the projected gradient, both in units of the
 * errors, at most the tolerance. B is an estimate: who wants to be sure checks with a Hessian.
 */
#ifndef PARITAS_MINIMISE_LBFGSB_H
#define PARITAS_MINIMISE_LBFGSB_H

#include "minimise/line_search.h"
#include "minimise/fit_outcome.h"

#define LBFGSB_TRIALS 20
#define LBFGSB_SUFFICIENT R(1e-3) /* of the decrease that the slope promises */
#define LBFGSB_FLATTER R(0.9)     /* the slope must shrink to this part */
#define LBFGSB_SNAP PK(1e-12)
#define LBFGSB_NARROW R(1e-9) /* an interval of this part of its length holds no more trials */
#if F64
#define LBFGSB_EPSILON R(2.2e-16)
#else
#define LBFGSB_EPSILON R(1.2e-7)
#endif

#define LBFGSB_UNIT (MODEL_WORK + 3 * MODEL_SLOTS)
#define LBFGSB_POINT (MODEL_WORK + 4 * MODEL_SLOTS)
#define LBFGSB_SLOPE (MODEL_WORK + 5 * MODEL_SLOTS) /* gradient at POINT by x / UNIT; 0 where not free */
#define LBFGSB_STEP (MODEL_WORK + 6 * MODEL_SLOTS)
#define LBFGSB_TEMP (MODEL_WORK + 7 * MODEL_SLOTS)
#define LBFGSB_CAUCHY (MODEL_WORK + 8 * MODEL_SLOTS) /* seen from POINT, as STEP, DOWN and UP */
#define LBFGSB_DOWN (MODEL_WORK + 9 * MODEL_SLOTS)   /* the bounds */
#define LBFGSB_UP (MODEL_WORK + 10 * MODEL_SLOTS)
#define LBFGSB_PATH (MODEL_WORK + 11 * MODEL_SLOTS)   /* direction of the projected gradient path */
#define LBFGSB_BREAK (MODEL_WORK + 12 * MODEL_SLOTS)  /* where on it a slot meets its bound */
#define LBFGSB_INSIDE (MODEL_WORK + 13 * MODEL_SLOTS) /* 1 where the Cauchy point is on no bound */
#define LBFGSB_HELD (MODEL_WORK + 14 * MODEL_SLOTS)   /* 1 - INSIDE */

/* Columns of W without theta: Y, then S. */
#define LBFGSB_W(k) (MODEL_MEMORY + (k) * MODEL_SLOTS)
#define LBFGSB_SMALL (MODEL_MEMORY + 2 * LBFGSB_PAIRS * MODEL_SLOTS)
#define LBFGSB_MATRIX(a) (LBFGSB_SMALL + (a) * LBFGSB_PAIRS * LBFGSB_PAIRS)
#define LBFGSB_AT(matrix, i, j) (matrix)[(i) * LBFGSB_PAIRS + (j)]
#define LBFGSB_SY LBFGSB_MATRIX(0) /* s_i . y_j: below the diagonal L, on it D */
#define LBFGSB_SS LBFGSB_MATRIX(1)
#define LBFGSB_YY LBFGSB_MATRIX(2)
#define LBFGSB_MIDDLE LBFGSB_MATRIX(3) /* Cholesky factor of theta S^T S + L D^-1 L^T */
#define LBFGSB_E LBFGSB_MATRIX(4)      /* of the subspace: see lbfgsb_subspace_factor */
#define LBFGSB_F LBFGSB_MATRIX(5)
#define LBFGSB_C LBFGSB_MATRIX(6)
#define LBFGSB_COLUMN(a) (LBFGSB_SMALL + (LBFGSB_MATRICES * LBFGSB_PAIRS + 2 * (a)) * LBFGSB_PAIRS)
#define LBFGSB_P LBFGSB_COLUMN(0) /* W^T PATH */
#define LBFGSB_Z LBFGSB_COLUMN(1) /* W^T of the point reached on the path */
#define LBFGSB_ROW LBFGSB_COLUMN(2)
#define LBFGSB_MV LBFGSB_COLUMN(3)
#define LBFGSB_RV LBFGSB_COLUMN(4)
#define LBFGSB_RD LBFGSB_COLUMN(5)                     /* PAIRS: 1 / D; 1 where there is no pair */
#define LBFGSB_LEAST (LBFGSB_COLUMN(5) + LBFGSB_PAIRS) /* 16 */

/* Dot product that every worker knows; place: which scratch scalar carries it. */
FN real lbfgsb_dot(MODEL_PARAMETERS, GLOBAL const real *a, GLOBAL const real *b, u32 place)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(8 + place) = dot8(a, b, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return FIT_STATUS(8 + place);
}

/* to := W^T v. */
FN void lbfgsb_onto(MODEL_PARAMETERS, GLOBAL const real *v, GLOBAL real *to, real theta)
{
    TEAM_BARRIER();
    TEAM_FOR(k, 2 * LBFGSB_PAIRS)
        to[k] = flush(dot8(LBFGSB_W(k), v, MODEL_SLOTS) * (k < LBFGSB_PAIRS ? R(1.0) : theta));
    TEAM_BARRIER();
}

/* The least element of BREAK; where it stands into FIT_STATUS(9). */
FN real lbfgsb_least(MODEL_PARAMETERS)
{
    GLOBAL real *least = LBFGSB_LEAST;
    TEAM_BARRIER();
    TEAM_FOR_PACK(j, 8) {
        pack lowest = PACK_OF(MODEL_HUGE), block = PK(0.0);
        for (u32 i = 0; i < MODEL_SLOTS; i += 8) {
            const pack t = LOADP(LBFGSB_BREAK, i + j);
            const pmask sooner = t < lowest;
            lowest = PSELECT(sooner, t, lowest);
            block = PSELECT(sooner, PACK_OF_ELEM(i), block);
        }
        STOREP(least, j, lowest);
        STOREP(least, 8 + j, block);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real lowest = least[0], place = least[8];
        for (u32 j = 1; j < 8; j++) {
            const mask sooner = least[j] < lowest;
            lowest = SELECT(sooner, least[j], lowest);
            place = SELECT(sooner, least[8 + j] + REAL_OF(j), place);
        }
        FIT_STATUS(8) = lowest;
        FIT_STATUS(9) = place;
    }
    TEAM_BARRIER();
    return FIT_STATUS(8);
}

/* ---- small dense algebra: one worker, each lane its own numbers ---- */

/* Cholesky factor of the lower triangle, in place; the mask of lanes where it is not positive. */
FN_LARGE mask lbfgsb_cholesky(GLOBAL real *a)
{
    mask bad = R(0.0) > R(1.0);
    for (u32 j = 0; j < LBFGSB_PAIRS; j++) {
        const real whole = LBFGSB_AT(a, j, j);
        real pivot = whole;
        for (u32 k = 0; k < j; k++) pivot = FMA(-LBFGSB_AT(a, j, k), LBFGSB_AT(a, j, k), pivot);
        const mask good = AND(whole > R(0.0), pivot > LBFGSB_EPSILON * whole);
        bad = OR(bad, NOT(good));
        const real root = SQRT(SELECT(good, pivot, R(1.0)));
        LBFGSB_AT(a, j, j) = root;
        for (u32 i = j + 1; i < LBFGSB_PAIRS; i++) {
            real v = LBFGSB_AT(a, i, j);
            for (u32 k = 0; k < j; k++) v = FMA(-LBFGSB_AT(a, i, k), LBFGSB_AT(a, j, k), v);
            LBFGSB_AT(a, i, j) = flush(DIVIDE(v, root));
        }
    }
    return bad;
}

/* v := L^-1 v and L^-T v. */
FN void lbfgsb_lower(GLOBAL const real *a, GLOBAL real *v)
{
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        real y = v[i];
        for (u32 k = 0; k < i; k++) y = FMA(-LBFGSB_AT(a, i, k), v[k], y);
        v[i] = flush(DIVIDE(y, LBFGSB_AT(a, i, i)));
    }
}
FN void lbfgsb_upper(GLOBAL const real *a, GLOBAL real *v)
{
    for (u32 i = LBFGSB_PAIRS; i-- > 0;) {
        real y = v[i];
        for (u32 k = i + 1; k < LBFGSB_PAIRS; k++) y = FMA(-LBFGSB_AT(a, k, i), v[k], y);
        v[i] = flush(DIVIDE(y, LBFGSB_AT(a, i, i)));
    }
}

/* Factors M^-1 = [-D, L^T; L, theta S^T S] (3.4) by its lower block; pairs that are not there count 1. */
FN_LARGE mask lbfgsb_middle_factor(MODEL_PARAMETERS, real theta)
{
    GLOBAL real *sy = LBFGSB_SY, *middle = LBFGSB_MIDDLE, *rd = LBFGSB_RD;
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        const real d = LBFGSB_AT(sy, i, i);
        const mask there = d > R(0.0);
        rd[i] = DIVIDE(R(1.0), SELECT(there, d, R(1.0)));
        for (u32 j = 0; j <= i; j++) {
            real v = theta * LBFGSB_AT(LBFGSB_SS, i, j);
            for (u32 k = 0; k < j; k++) v = FMA(flush(LBFGSB_AT(sy, i, k) * rd[k]), LBFGSB_AT(sy, j, k), v);
            LBFGSB_AT(middle, i, j) = flush(v);
        }
        LBFGSB_AT(middle, i, i) = SELECT(there, LBFGSB_AT(middle, i, i), R(1.0));
    }
    return lbfgsb_cholesky(middle);
}

/* to := M from. */
FN_LARGE void lbfgsb_middle(MODEL_PARAMETERS, GLOBAL const real *from, GLOBAL real *to)
{
    GLOBAL real *sy = LBFGSB_SY, *rd = LBFGSB_RD;
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        real v = from[LBFGSB_PAIRS + i];
        for (u32 j = 0; j < i; j++) v = FMA(flush(LBFGSB_AT(sy, i, j) * rd[j]), from[j], v);
        to[LBFGSB_PAIRS + i] = flush(v);
    }
    lbfgsb_lower(LBFGSB_MIDDLE, to + LBFGSB_PAIRS);
    lbfgsb_upper(LBFGSB_MIDDLE, to + LBFGSB_PAIRS);
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        real v = -from[i];
        for (u32 j = i + 1; j < LBFGSB_PAIRS; j++) v = FMA(LBFGSB_AT(sy, j, i), to[LBFGSB_PAIRS + j], v);
        to[i] = flush(flush(v) * rd[i]);
    }
}

FN real lbfgsb_small_dot(GLOBAL const real *a, GLOBAL const real *b)
{
    real v = R(0.0);
    for (u32 k = 0; k < 2 * LBFGSB_PAIRS; k++) v = FMA(a[k], b[k], v);
    return flush(v);
}

/* Factors K = M^-1 - 1/theta W^T Z Z^T W of (5.11): [-E, F^T; F, theta S^T A A^T S] with E = D + Y^T Z Z^T Y
 * / theta, F = L - S^T Z Z^T Y, where Z picks the slots inside and A those held. On entry E, F, C hold the
 * three products; then K's lower block is C = theta S^T A A^T S + F E^-1 F^T, and F stands for F E^-T/2. */
FN_LARGE mask lbfgsb_subspace_factor(MODEL_PARAMETERS, real theta)
{
    GLOBAL real *sy = LBFGSB_SY, *e = LBFGSB_E, *f = LBFGSB_F, *c = LBFGSB_C;
    const real inverse = DIVIDE(R(1.0), theta);
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        for (u32 j = 0; j <= i; j++) LBFGSB_AT(e, i, j) = flush(LBFGSB_AT(e, i, j) * inverse);
        const real d = LBFGSB_AT(sy, i, i);
        LBFGSB_AT(e, i, i) = LBFGSB_AT(e, i, i) + SELECT(d > R(0.0), d, R(1.0));
        for (u32 j = 0; j < LBFGSB_PAIRS; j++)
            LBFGSB_AT(f, i, j) = flush((i > j ? LBFGSB_AT(sy, i, j) : R(0.0)) - LBFGSB_AT(f, i, j));
    }
    mask bad = lbfgsb_cholesky(e);
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) lbfgsb_lower(e, f + i * LBFGSB_PAIRS);
    for (u32 i = 0; i < LBFGSB_PAIRS; i++) {
        for (u32 j = 0; j <= i; j++) {
            real v = theta * LBFGSB_AT(c, i, j);
            for (u32 k = 0; k < LBFGSB_PAIRS; k++) v = FMA(LBFGSB_AT(f, i, k), LBFGSB_AT(f, j, k), v);
            LBFGSB_AT(c, i, j) = flush(v);
        }
        LBFGSB_AT(c, i, i) = SELECT(LBFGSB_AT(sy, i, i) > R(0.0), LBFGSB_AT(c, i, i), R(1.0));
    }
    return OR(bad, lbfgsb_cholesky(c));
}

/* v := K^-1 v. */
FN_LARGE void lbfgsb_subspace_solve(MODEL_PARAMETERS, GLOBAL real *v)
{
    GLOBAL const real *f = LBFGSB_F;
    GLOBAL real *w = v + LBFGSB_PAIRS;
    lbfgsb_lower(LBFGSB_E, v);
    for (u32 i = 0; i < LBFGSB_PAIRS; i++)
        for (u32 k = 0; k < LBFGSB_PAIRS; k++) w[i] = FMA(LBFGSB_AT(f, i, k), v[k], w[i]);
    lbfgsb_lower(LBFGSB_C, w);
    lbfgsb_upper(LBFGSB_C, w);
    for (u32 k = 0; k < LBFGSB_PAIRS; k++) {
        real y = -v[k];
        for (u32 i = 0; i < LBFGSB_PAIRS; i++) y = FMA(LBFGSB_AT(f, i, k), w[i], y);
        v[k] = flush(y);
    }
    lbfgsb_upper(LBFGSB_E, v);
}

/* ---- the pairs ---- */

/* Lanes of `which` have no pairs any more. */
FN_LARGE void lbfgsb_forget(MODEL_PARAMETERS, mask which)
{
    const real flag = SELECT(which, R(1.0), R(0.0));
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, 2 * LBFGSB_PAIRS * MODEL_SLOTS)
        STOREP(MODEL_MEMORY, i, PSELECT(PACK_OF(flag) > PK(0.0), PK(0.0), LOADP(MODEL_MEMORY, i)));
    TEAM_FOR(i, 3 * LBFGSB_PAIRS * LBFGSB_PAIRS) (LBFGSB_SMALL)[i] = SELECT(which, R(0.0), (LBFGSB_SMALL)[i]);
    TEAM_BARRIER();
}

/* STEP and TEMP become the newest pair (s, y) of the lanes of `which`; their oldest one goes. */
FN_LARGE void lbfgsb_remember(MODEL_PARAMETERS, mask which)
{
    const real flag = SELECT(which, R(1.0), R(0.0));
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pmask take = PACK_OF(flag) > PK(0.0);
        for (u32 of = 0; of < 2; of++) {
            GLOBAL real *first = LBFGSB_W(of * LBFGSB_PAIRS);
            for (u32 k = 0; k + 1 < LBFGSB_PAIRS; k++)
                STOREP(first + k * MODEL_SLOTS, i,
                       PSELECT(take, LOADP(first + (k + 1) * MODEL_SLOTS, i),
                               LOADP(first + k * MODEL_SLOTS, i)));
            GLOBAL real *last = first + (LBFGSB_PAIRS - 1) * MODEL_SLOTS;
            STOREP(last, i, PSELECT(take, LOADP(of ? LBFGSB_STEP : LBFGSB_TEMP, i), LOADP(last, i)));
        }
    }
    TEAM_FOR(a, 3) {
        GLOBAL real *matrix = LBFGSB_MATRIX(a);
        for (u32 i = 0; i + 1 < LBFGSB_PAIRS; i++)
            for (u32 j = 0; j + 1 < LBFGSB_PAIRS; j++)
                LBFGSB_AT(matrix, i, j) =
                    SELECT(which, LBFGSB_AT(matrix, i + 1, j + 1), LBFGSB_AT(matrix, i, j));
    }
    TEAM_BARRIER();
    /* products with the newest; lanes that took none find what stands there */
    TEAM_FOR(k, 4 * LBFGSB_PAIRS) {
        const u32 i = k % LBFGSB_PAIRS, last = LBFGSB_PAIRS - 1;
        GLOBAL const real *y = LBFGSB_W(i), *s_i = LBFGSB_W(LBFGSB_PAIRS + i), *newest_y = LBFGSB_W(last),
                          *newest_s = LBFGSB_W(LBFGSB_PAIRS + last);
        if (k < LBFGSB_PAIRS)
            LBFGSB_AT(LBFGSB_SY, last, i) = dot8(newest_s, y, MODEL_SLOTS);
        else if (k < 2 * LBFGSB_PAIRS)
            LBFGSB_AT(LBFGSB_SS, last, i) = dot8(newest_s, s_i, MODEL_SLOTS);
        else if (k < 3 * LBFGSB_PAIRS)
            LBFGSB_AT(LBFGSB_YY, last, i) = dot8(newest_y, y, MODEL_SLOTS);
        else if (i < last)
            LBFGSB_AT(LBFGSB_SY, i, last) = dot8(s_i, newest_y, MODEL_SLOTS);
    }
    TEAM_BARRIER();
}

/* ---- the step ---- */

/* Generalised Cauchy point into CAUCHY, W^T of it into Z: the first minimum of the quadratic model along the
 * projected gradient path, walked from one breakpoint to the next (algorithm CP). DOWN and UP are filled
 * here. */
FN_LARGE void lbfgsb_cauchy(MODEL_PARAMETERS, real theta)
{
    const real zero = R(0.0), one = R(1.0);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack x = LOADP(LBFGSB_POINT, i), unit = LOADP(LBFGSB_UNIT, i), none = PK(0.0),
                   huge = PACK_OF(MODEL_HUGE);
        const pmask is_free = LOADP(FIT_FREE, i) > none;
        pack down = PSELECT(is_free, pflush(PDIVIDE(LOADP(FIT_LOWER, i) - x, unit)), none),
             up = PSELECT(is_free, pflush(PDIVIDE(LOADP(FIT_UPPER, i) - x, unit)), none);
        down = PSELECT(down > -huge, down, -huge);
        up = PSELECT(up < huge, up, huge);
        pack d = -LOADP(LBFGSB_SLOPE, i);
        d = PSELECT(OR(AND(d < none, down >= none), AND(d > none, up <= none)), none, d);
        const pmask moves = OR(d<none, d> none);
        const pack met = pflush(PDIVIDE(PSELECT(d < none, down, up), PSELECT(moves, d, PK(1.0))));
        STOREP(LBFGSB_DOWN, i, down);
        STOREP(LBFGSB_UP, i, up);
        STOREP(LBFGSB_PATH, i, d);
        STOREP(LBFGSB_BREAK, i, PSELECT(AND(moves, met < huge), met, huge));
        STOREP(LBFGSB_CAUCHY, i, none);
    }
    TEAM_FOR(k, 2 * LBFGSB_PAIRS) (LBFGSB_Z)[k] = zero;
    lbfgsb_onto(MODEL, LBFGSB_PATH, LBFGSB_P, theta);
    real first = -lbfgsb_dot(MODEL, LBFGSB_PATH, LBFGSB_PATH, 0); /* f' and f'' along the path */
    ONE_WORKER
    {
        lbfgsb_middle(MODEL, LBFGSB_P, LBFGSB_MV);
        FIT_STATUS(10) = lbfgsb_small_dot(LBFGSB_P, LBFGSB_MV);
    }
    TEAM_BARRIER();
    const real least = flush(-LBFGSB_EPSILON * theta * first); /* rounding must not turn the model over */
    real second = flush(-theta * first - FIT_STATUS(10)), behind = zero;
    mask walking = first < zero;
    second = SELECT(second > least, second, least);
    real ahead = SELECT(walking, flush(DIVIDE(-first, SELECT(walking, second, one))), zero);
    for (u32 k = 0; k < MODEL_SLOTS && ANY(walking); k++) {
        const real time = lbfgsb_least(MODEL), place = FIT_STATUS(9);
        walking = AND(walking, AND(time < MODEL_HUGE, ahead >= time - behind));
        TEAM_IF(ANY(walking)) {
            TEAM_FOR(i, MODEL_SLOTS) (LBFGSB_TEMP)[i] = SELECT(AND(walking, place == REAL_OF(i)), one, zero);
            lbfgsb_onto(MODEL, LBFGSB_TEMP, LBFGSB_ROW, theta);
            const real g = lbfgsb_dot(MODEL, LBFGSB_TEMP, LBFGSB_SLOPE, 0);
            const real part = SELECT(walking, time - behind, zero);
            ONE_WORKER
            {
                GLOBAL real *p = LBFGSB_P, *z = LBFGSB_Z, *row = LBFGSB_ROW;
                for (u32 j = 0; j < 2 * LBFGSB_PAIRS; j++) z[j] = flush(FMA(part, p[j], z[j]));
                lbfgsb_middle(MODEL, row, LBFGSB_MV);
                FIT_STATUS(10) = lbfgsb_small_dot(LBFGSB_MV, z);
                FIT_STATUS(11) = lbfgsb_small_dot(LBFGSB_MV, p);
                FIT_STATUS(12) = lbfgsb_small_dot(LBFGSB_MV, row);
                for (u32 j = 0; j < 2 * LBFGSB_PAIRS; j++) p[j] = flush(FMA(g, row[j], p[j]));
            }
            TEAM_BARRIER();
            /* the slot's own share of f' (with z_b = - time g) and f'' goes */
            first = SELECT(walking,
                           flush(first + part * second + g * (g - theta * time * g - FIT_STATUS(10))), first);
            second = SELECT(walking,
                            flush(second - g * (theta * g + R(2.0) * FIT_STATUS(11) + g * FIT_STATUS(12))),
                            second);
            second = SELECT(second > least, second, least);
            behind = SELECT(walking, time, behind);
            const mask downhill = first < zero;
            ahead = SELECT(walking,
                           SELECT(downhill, flush(DIVIDE(-first, SELECT(second > zero, second, one))), zero),
                           ahead);
            TEAM_FOR_PACK(i, MODEL_SLOTS) {
                const pmask here = LOADP(LBFGSB_TEMP, i) > PK(0.0);
                const pack d = LOADP(LBFGSB_PATH, i);
                STOREP(LBFGSB_CAUCHY, i,
                       PSELECT(here, PSELECT(d < PK(0.0), LOADP(LBFGSB_DOWN, i), LOADP(LBFGSB_UP, i)),
                               LOADP(LBFGSB_CAUCHY, i)));
                STOREP(LBFGSB_PATH, i, PSELECT(here, PK(0.0), d));
                STOREP(LBFGSB_BREAK, i, PSELECT(here, PACK_OF(MODEL_HUGE), LOADP(LBFGSB_BREAK, i)));
            }
            walking = AND(walking, downhill);
            TEAM_BARRIER();
        }
    }
    const real last = behind + ahead;
    TEAM_FOR(k, 2 * LBFGSB_PAIRS) (LBFGSB_Z)[k] = flush(FMA(ahead, (LBFGSB_P)[k], (LBFGSB_Z)[k]));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack d = LOADP(LBFGSB_PATH, i), down = LOADP(LBFGSB_DOWN, i), up = LOADP(LBFGSB_UP, i);
        pack at = PSELECT(OR(d<PK(0.0), d> PK(0.0)), pflush(PACK_OF(last) * d), LOADP(LBFGSB_CAUCHY, i));
        at = PSELECT(at < down, down, at);
        at = PSELECT(at > up, up, at);
        STOREP(LBFGSB_CAUCHY, i, at);
        const pmask inside = AND(LOADP(FIT_FREE, i) > PK(0.0), AND(at > down, at < up));
        STOREP(LBFGSB_INSIDE, i, PSELECT(inside, PK(1.0), PK(0.0)));
        STOREP(LBFGSB_HELD, i, PSELECT(inside, PK(0.0), PK(1.0)));
        STOREP(LBFGSB_TEMP, i, PSELECT(inside, PK(0.0), LOADP(FIT_FREE, i)));
    }
    TEAM_BARRIER();
}

/* The sum of a[i] b[i] w[i]; with w = 1 the bits of dot8. */
FN real lbfgsb_dot_where(GLOBAL const real *a, GLOBAL const real *b, GLOBAL const real *w, u32 n)
{
    acc8 sum = acc8_zero();
    for (u32 i = 0; i < n; i += 8)
        for (u32 j = 0; j < 8; j += PACK)
            sum.part[j / PACK] = PFMA(LOADP(a, i + j) * LOADP(w, i + j), LOADP(b, i + j), sum.part[j / PACK]);
    return acc8_total(sum);
}

/* Minimum of the model over the slots that are inside at the Cauchy point (direct primal method, 5.11), into
 * STEP; then into the bounds: projected where that points downhill, else cut short (J. L. Morales, J.
 * Nocedal, ACM TOMS 38 (2011) 7). The mask of lanes whose small matrices are not positive. */
FN_LARGE mask lbfgsb_subspace(MODEL_PARAMETERS, real theta)
{
    const u32 square = LBFGSB_PAIRS * LBFGSB_PAIRS;
    const real inverse = DIVIDE(R(1.0), theta);
    const real held = lbfgsb_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP, 0);
    ONE_WORKER
    {
        lbfgsb_middle(MODEL, LBFGSB_Z, LBFGSB_MV);
    }
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) /* the model's gradient there (5.4) */
    {
        pack r = PFMA(PACK_OF(theta), LOADP(LBFGSB_CAUCHY, i), LOADP(LBFGSB_SLOPE, i));
        for (u32 k = 0; k < 2 * LBFGSB_PAIRS; k++)
            r = PFMA(PACK_OF(k < LBFGSB_PAIRS ? -(LBFGSB_MV)[k] : flush(-theta * (LBFGSB_MV)[k])),
                     LOADP(LBFGSB_W(k), i), r);
        STOREP(LBFGSB_TEMP, i, pflush(r) * LOADP(LBFGSB_INSIDE, i));
    }
    lbfgsb_onto(MODEL, LBFGSB_TEMP, LBFGSB_RV, theta);
    /* products over the slots inside; where all are, they are known */
    const u32 any = ANY(held > R(0.0));
    TEAM_FOR(k, 3 * square) {
        const u32 a = k / square, i = k % square / LBFGSB_PAIRS, j = k % LBFGSB_PAIRS;
        if (a != 1 && j > i) continue;
        GLOBAL const real *left = a == 0 ? LBFGSB_W(i) : LBFGSB_W(LBFGSB_PAIRS + i),
                          *right = a == 2 ? LBFGSB_W(LBFGSB_PAIRS + j) : LBFGSB_W(j);
        real v = a == 0 ? LBFGSB_AT(LBFGSB_YY, i, j) : a == 1 ? LBFGSB_AT(LBFGSB_SY, i, j) : R(0.0);
        if (any) v = lbfgsb_dot_where(left, right, a == 2 ? LBFGSB_HELD : LBFGSB_INSIDE, MODEL_SLOTS);
        LBFGSB_AT(LBFGSB_MATRIX(4 + a), i, j) = v;
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        const mask bad = lbfgsb_subspace_factor(MODEL, theta);
        FIT_STATUS(10) = SELECT(bad, R(1.0), R(0.0));
        lbfgsb_subspace_solve(MODEL, LBFGSB_RV);
    }
    TEAM_BARRIER();
    const mask bad = FIT_STATUS(10) > R(0.0);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack d = LOADP(LBFGSB_TEMP, i) * PACK_OF(-inverse);
        for (u32 k = 0; k < 2 * LBFGSB_PAIRS; k++)
            d = PFMA(PACK_OF(k < LBFGSB_PAIRS ? flush(-inverse * inverse * (LBFGSB_RV)[k])
                                              : flush(-inverse * (LBFGSB_RV)[k])),
                     LOADP(LBFGSB_W(k), i), d);
        d = pflush(d) * LOADP(LBFGSB_INSIDE, i);
        const pack from = LOADP(LBFGSB_CAUCHY, i), to = pflush(from + d), down = LOADP(LBFGSB_DOWN, i),
                   up = LOADP(LBFGSB_UP, i);
        const pack into = PSELECT(to < down, down, PSELECT(to > up, up, to));
        const pmask out = OR(to<down, to> up);
        STOREP(LBFGSB_BREAK, i,
               PSELECT(out, pflush(PDIVIDE(into - from, PSELECT(out, d, PK(1.0)))), PK(1.0)));
        STOREP(LBFGSB_PATH, i, d);
        STOREP(LBFGSB_STEP, i, into);
    }
    const real slope = lbfgsb_dot(MODEL, LBFGSB_STEP, LBFGSB_SLOPE, 0);
    const real cut = SELECT(slope > R(0.0), R(1.0), R(0.0));
    TEAM_IF(ANY(cut > R(0.0))) {
        const real part = lbfgsb_least(MODEL);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack down = LOADP(LBFGSB_DOWN, i), up = LOADP(LBFGSB_UP, i),
                       to = pflush(PFMA(PACK_OF(part), LOADP(LBFGSB_PATH, i), LOADP(LBFGSB_CAUCHY, i)));
            const pack into = PSELECT(to < down, down, PSELECT(to > up, up, to));
            STOREP(LBFGSB_STEP, i, PSELECT(PACK_OF(cut) > PK(0.0), into, LOADP(LBFGSB_STEP, i)));
        }
        TEAM_BARRIER();
    }
    return bad;
}

/* ---- the line search ---- */

/* Largest multiple of STEP within the bounds. */
FN real lbfgsb_longest(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack d = LOADP(LBFGSB_STEP, i), none = PK(0.0);
        const pmask moves = OR(d<none, d> none);
        STOREP(LBFGSB_BREAK, i,
               PSELECT(moves,
                       pflush(PDIVIDE(PSELECT(d < none, LOADP(LBFGSB_DOWN, i), LOADP(LBFGSB_UP, i)),
                                      PSELECT(moves, d, PK(1.0)))),
                       PACK_OF(MODEL_HUGE)));
    }
    const real least = lbfgsb_least(MODEL);
    return SELECT(least > R(1.0), SELECT(least < R(1e10), least, R(1e10)), R(1.0));
}

/* Along STEP from POINT in the lanes of `stepping`; on return MODEL_X and MODEL_GRADIENT are those of the new
 * point in the lanes of the answer, which found one. *value: the value there. */
FN_LARGE real lbfgsb_line_search(MODEL_PARAMETERS, mask stepping, real value, real slope)
{
    const real zero = R(0.0), one = R(1.0);
    const real noise = FIT_NOISE * (one + line_search_abs(value)), least_slope = LBFGSB_SUFFICIENT * slope;
    line_search q;
    q.best = q.other = zero;
    q.best_value = q.other_value = value;
    q.best_slope = q.other_slope = slope;
    q.at = one;
    q.low = zero;
    q.high = R(5.0);
    q.most = lbfgsb_longest(MODEL);
    q.width = q.most;
    q.wider = R(2.0) * q.most;
    q.bracketed = zero > one;
    q.early = zero < one;
    mask searching = stepping;
    real answer = MODEL_HUGE, evaluations = zero;
    for (u32 k = 0; k < LBFGSB_TRIALS && ANY(searching); k++) {
        const real go = SELECT(searching, one, zero);
        TEAM_BARRIER();
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i),
                       from = LOADP(LBFGSB_POINT, i), unit = LOADP(LBFGSB_UNIT, i),
                       d = pflush(LOADP(LBFGSB_STEP, i) * unit);
            pack x = pflush(PFMA(PACK_OF(q.at), d, from));
            /* what arrives within rounding of a bound is on it, so that the bound can hold it */
            x = PSELECT(AND(d < PK(0.0), x < PFMA(LBFGSB_SNAP, unit, lower)), lower, x);
            x = PSELECT(AND(d > PK(0.0), x > PFMA(-LBFGSB_SNAP, unit, upper)), upper, x);
            STOREP(MODEL_X, i, PSELECT(PACK_OF(go) > PK(0.0), x, LOADP(MODEL_X, i)));
        }
        TEAM_BARRIER();
        const real found = model_value(MODEL, 1);
        TEAM_BARRIER();
        TEAM_FOR_PACK(i, MODEL_SLOTS)
            STOREP(LBFGSB_TEMP, i,
                   pflush(LOADP(MODEL_GRADIENT, i) * LOADP(LBFGSB_UNIT, i)) * LOADP(FIT_FREE, i));
        const real g = lbfgsb_dot(MODEL, LBFGSB_TEMP, LBFGSB_STEP, 0);
        evaluations = SELECT(searching, evaluations + one, evaluations);
        const mask defined = found < MODEL_HUGE;
        /* a difference of values that is rounding: the slopes tell it */
        const mask blurred = line_search_abs(found - q.best_value) <= noise;
        const real f = SELECT(blurred, FMA(R(0.5) * (q.best_slope + g), q.at - q.best, q.best_value), found);
        const real promised = FMA(least_slope, q.at, value);
        const mask enough = AND(defined, f <= promised), at_end = AND(q.at >= q.most, g <= least_slope);
        const mask last =
            k + 1 < LBFGSB_TRIALS ? AND(q.bracketed, q.high - q.low <= LBFGSB_NARROW * q.high) : one > zero;
        const mask accept =
            AND(searching, AND(enough, OR(line_search_abs(g) <= -LBFGSB_FLATTER * slope, OR(at_end, last))));
        answer = SELECT(accept, found, answer);
        searching = AND(searching, NOT(OR(accept, last)));
        q.early = AND(q.early, NOT(AND(enough, g >= zero)));
        /* as long as no trial had both, the search is for a minimum of the value less the promise */
        const real tilt = SELECT(AND(q.early, AND(f <= q.best_value, f > promised)), least_slope, zero);
        line_search p = q;
        p.best_value = FMA(-tilt, q.best, q.best_value);
        p.other_value = FMA(-tilt, q.other, q.other_value);
        p.best_slope = q.best_slope - tilt;
        p.other_slope = q.other_slope - tilt;
        p = line_search_next(p, FMA(-tilt, q.at, f), g - tilt);
        p.best_value = FMA(tilt, p.best, p.best_value);
        p.other_value = FMA(tilt, p.other, p.other_value);
        p.best_slope = p.best_slope + tilt;
        p.other_slope = p.other_slope + tilt;
        /* outside the domain: nothing is learnt but that the way ends before */
        const real shorter = FMA(R(0.25), q.at - q.best, q.best), end = FMA(R(0.9), q.at - q.best, q.best);
        q.most = SELECT(defined, q.most, end);
        q.high = SELECT(defined, p.high, end);
        q.at = SELECT(defined, p.at, shorter);
        q.low = SELECT(defined, p.low, q.low);
        q.best = SELECT(defined, p.best, q.best);
        q.best_value = SELECT(defined, p.best_value, q.best_value);
        q.best_slope = SELECT(defined, p.best_slope, q.best_slope);
        q.other = SELECT(defined, p.other, q.other);
        q.other_value = SELECT(defined, p.other_value, q.other_value);
        q.other_slope = SELECT(defined, p.other_slope, q.other_slope);
        q.width = SELECT(defined, p.width, q.width);
        q.wider = SELECT(defined, p.wider, q.wider);
        q.bracketed = AND(defined, p.bracketed);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(5) = FIT_STATUS(5) + evaluations;
    }
    return answer;
}

/* Fits from MODEL_X, which lies where the bounds allow. On return MODEL_X is the answer, FIT_STATUS(0..4) its
 * status, value, EDM, iterations and the square of its projected gradient in units of the errors. */
FN void lbfgsb_minimise(MODEL_PARAMETERS, real edm_tolerance, u32 max_iterations)
{
    const real zero = R(0.0), one = R(1.0);
    real value = model_value(MODEL, 1);
    real status = SELECT(value < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE);
    real theta = one, edm = MODEL_HUGE, iterations = zero, pairs = zero, pull = zero;
    ONE_WORKER
    {
        FIT_STATUS(5) = one;
    }
    lbfgsb_forget(MODEL, one > zero);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(LBFGSB_POINT, i, LOADP(MODEL_X, i));
        STOREP(LBFGSB_SLOPE, i,
               PSELECT(LOADP(FIT_FREE, i) > PK(0.0), pflush(LOADP(MODEL_GRADIENT, i) * LOADP(LBFGSB_UNIT, i)),
                       PK(0.0)));
    }
    for (u32 step = 0; step < max_iterations && ANY(status == FIT_RUNNING); step++) {
        const mask running = status == FIT_RUNNING;
        TEAM_BARRIER();
        ONE_WORKER
        {
            FIT_STATUS(10) = SELECT(lbfgsb_middle_factor(MODEL, theta), one, zero);
        }
        TEAM_BARRIER();
        mask bad = FIT_STATUS(10) > zero;
        lbfgsb_cauchy(MODEL, theta);
        bad = OR(bad, lbfgsb_subspace(MODEL, theta));
        TEAM_FOR_PACK(i, MODEL_SLOTS) /* the projected gradient */
        {
            const pack d = -LOADP(LBFGSB_SLOPE, i), down = LOADP(LBFGSB_DOWN, i), up = LOADP(LBFGSB_UP, i);
            STOREP(LBFGSB_TEMP, i, PSELECT(d < down, down, PSELECT(d > up, up, d)));
        }
        pull = SELECT(running, lbfgsb_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP, 0), pull);
        const real slope = lbfgsb_dot(MODEL, LBFGSB_STEP, LBFGSB_SLOPE, 0);
        edm = SELECT(AND(running, NOT(bad)), -slope, edm);
        const mask small =
            AND(AND(running, NOT(bad)), AND(pull <= edm_tolerance, AND(edm <= edm_tolerance, slope <= zero)));
        status = SELECT(small, FIT_CONVERGED, status);
        const mask stepping = AND(status == FIT_RUNNING, AND(NOT(bad), slope < zero));
        real found = MODEL_HUGE;
        TEAM_IF(ANY(stepping)) found = lbfgsb_line_search(MODEL, stepping, value, slope);
        const mask moved = AND(stepping, found < MODEL_HUGE), failed = AND(status == FIT_RUNNING, NOT(moved));
        iterations = SELECT(moved, iterations + one, iterations);
        value = SELECT(moved, found, value);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pmask go = PACK_OF(SELECT(moved, one, zero)) > PK(0.0);
            const pack from = LOADP(LBFGSB_POINT, i), to = LOADP(MODEL_X, i), unit = LOADP(LBFGSB_UNIT, i),
                       before = LOADP(LBFGSB_SLOPE, i);
            const pack now =
                PSELECT(LOADP(FIT_FREE, i) > PK(0.0), pflush(LOADP(MODEL_GRADIENT, i) * unit), PK(0.0));
            STOREP(LBFGSB_STEP, i, PSELECT(go, pflush(PDIVIDE(to - from, unit)), PK(0.0)));
            STOREP(LBFGSB_TEMP, i, PSELECT(go, pflush(now - before), PK(0.0)));
            STOREP(LBFGSB_SLOPE, i, PSELECT(go, now, before));
            STOREP(LBFGSB_POINT, i, PSELECT(go, to, from));
            STOREP(MODEL_X, i, PSELECT(go, to, from));
        }
        const real sy = lbfgsb_dot(MODEL, LBFGSB_STEP, LBFGSB_TEMP, 0),
                   yy = lbfgsb_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP, 1);
        const mask curved = AND(moved, sy > LBFGSB_EPSILON * yy);
        lbfgsb_remember(MODEL, curved);
        theta = SELECT(curved, DIVIDE(yy, SELECT(curved, sy, one)), theta);
        /* nothing to forget: not even the gradient leads on */
        status = SELECT(AND(failed, pairs <= zero), FIT_NO_PROGRESS, status);
        pairs = SELECT(failed, zero, SELECT(curved, pairs + one, pairs));
        theta = SELECT(failed, one, theta);
        TEAM_IF(ANY(failed)) lbfgsb_forget(MODEL, failed);
    }
    fit_end(MODEL, SELECT(status == FIT_RUNNING, FIT_AT_LIMIT, status), value, edm, iterations, pull);
}

#endif
