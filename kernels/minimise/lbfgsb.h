/* lbfgsb.h: L-BFGS-B for any model with a gradient.
 *
 * R. H. Byrd, P. Lu, J. Nocedal, C. Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; equation numbers are theirs.
 * Needs newton.h's MODEL_PARAMETERS, MODEL, MODEL_SLOTS, MODEL_X, MODEL_GRADIENT, MODEL_WORK, MODEL_HUGE,
 * model_value, and
 *   MODEL_MEMORY    LBFGSB_MEMORY(MODEL_SLOTS) scalars of slab, not initialised
 *   LBFGSB_UNIT     from the entry: about one error of each slot, > 0: the unit of all here, since errors
 *                   differ by 10,000 and the first step follows the gradient
 *
 * One super-step (lanes are independent):
 *
 *   B = theta I - W M W^T of the last pairs ─► Cauchy point along the projected gradient ─► minimum of the
 *       quadratic model over what is free there ─► line search (strong Wolfe) ─► a pair (s, y)
 *
 * Pairs: newest last; a missing one is zero columns, on which M gives zero. Small matrices that are not
 * positive, or a failed line search, drop a lane's pairs; if the gradient then fails too, the fit ends.
 * Converged: g B^-1 g and the squared projected gradient (in errors) are at most the tolerance. B is only an
 * estimate. */
#pragma once

#include "minimise/line_search.h"
#include "minimise/fit_outcome.h"

#define LBFGSB_TRIALS 20
#define LBFGSB_SUFFICIENT R(1e-3) /* of the predicted decrease */
#define LBFGSB_FLATTER R(0.9)     /* the slope must shrink to this part */
#define LBFGSB_SNAP PK(1e-12)
#define LBFGSB_NARROW R(1e-9) /* relative length that ends the search */
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
#define LBFGSB_CAUCHY (MODEL_WORK + 8 * MODEL_SLOTS) /* relative to POINT, as STEP, DOWN and UP */
#define LBFGSB_DOWN (MODEL_WORK + 9 * MODEL_SLOTS)
#define LBFGSB_UP (MODEL_WORK + 10 * MODEL_SLOTS)
#define LBFGSB_PATH (MODEL_WORK + 11 * MODEL_SLOTS)
#define LBFGSB_BREAK (MODEL_WORK + 12 * MODEL_SLOTS)    /* where a slot meets its bound */
#define LBFGSB_INSIDE (MODEL_WORK + 13 * MODEL_SLOTS)   /* 1: Cauchy point off the bounds */
#define LBFGSB_AT_BOUND (MODEL_WORK + 14 * MODEL_SLOTS) /* 1 - INSIDE */

/* Columns of W without theta: Y, then S. */
#define LBFGSB_W(k) (MODEL_MEMORY + (k) * MODEL_SLOTS)
#define LBFGSB_SMALL (MODEL_MEMORY + 2 * LBFGSB_PAIRS * MODEL_SLOTS)
#define LBFGSB_MATRIX(a) (LBFGSB_SMALL + (a) * LBFGSB_PAIRS * LBFGSB_PAIRS)
#define LBFGSB_AT(matrix, i, j) (matrix)[(i) * LBFGSB_PAIRS + (j)]
#define LBFGSB_SY LBFGSB_MATRIX(0) /* s_i . y_j: below the diagonal L, on it D */
#define LBFGSB_SS LBFGSB_MATRIX(1)
#define LBFGSB_YY LBFGSB_MATRIX(2)
#define LBFGSB_MIDDLE LBFGSB_MATRIX(3) /* Cholesky factor of theta S^T S + L D^-1 L^T */
#define LBFGSB_E LBFGSB_MATRIX(4)
#define LBFGSB_F LBFGSB_MATRIX(5)
#define LBFGSB_C LBFGSB_MATRIX(6)
#define LBFGSB_COLUMN(a) (LBFGSB_SMALL + (LBFGSB_MATRICES * LBFGSB_PAIRS + 2 * (a)) * LBFGSB_PAIRS)
#define LBFGSB_P LBFGSB_COLUMN(0) /* W^T PATH */
#define LBFGSB_Z LBFGSB_COLUMN(1) /* W^T of the point reached */
#define LBFGSB_ROW LBFGSB_COLUMN(2)
#define LBFGSB_MV LBFGSB_COLUMN(3)
#define LBFGSB_RV LBFGSB_COLUMN(4)
#define LBFGSB_RD LBFGSB_COLUMN(5) /* PAIRS: 1 / D; 1 without a pair */
#define LBFGSB_LEAST (LBFGSB_COLUMN(5) + LBFGSB_PAIRS)

enum lbfgsb_scalar {
    LBFGSB_TIME = FIT_SCRATCH,
    LBFGSB_PLACE,
    LBFGSB_BAD,   /* 1: not positive */
    LBFGSB_ROW_Z, /* products with M ROW */
    LBFGSB_ROW_P,
    LBFGSB_ROW_ROW
};

/* to := W^T v. */
FN void lbfgsb_onto(MODEL_PARAMETERS, GLOBAL const real *v, GLOBAL real *to, real theta)
{
    TEAM_BARRIER();
    TEAM_FOR(k, 2 * LBFGSB_PAIRS)
        to[k] = flush(dot8(LBFGSB_W(k), v, MODEL_SLOTS) * (k < LBFGSB_PAIRS ? R(1.0) : theta));
    TEAM_BARRIER();
}

/* Least element of BREAK; PLACE gets its slot. */
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
        FIT_SCALAR(LBFGSB_TIME) = lowest;
        FIT_SCALAR(LBFGSB_PLACE) = place;
    }
    TEAM_BARRIER();
    return FIT_SCALAR(LBFGSB_TIME);
}

/* ---- small dense algebra: one worker ---- */

/* Factors in place. Returns lanes where the matrix is not positive. */
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

/* Factors M^-1 = [-D, L^T; L, theta S^T S] (3.4) by its lower block; missing pairs count 1. */
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

/* Factors K = M^-1 - 1/theta W^T Z Z^T W (5.11): [-E, F^T; F, theta S^T A A^T S], E = D + Y^T Z Z^T Y /
 * theta, F = L - S^T Z Z^T Y; Z: slots inside, A: at bounds. On entry E, F, C are the products; on exit
 * C = theta S^T A A^T S + F E^-1 F^T, F is F E^-T/2. */
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

FN_LARGE void lbfgsb_forget(MODEL_PARAMETERS, mask which)
{
    const pmask gone = fit_packs(which);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, 2 * LBFGSB_PAIRS * MODEL_SLOTS)
        STOREP(MODEL_MEMORY, i, PSELECT(gone, PK(0.0), LOADP(MODEL_MEMORY, i)));
    TEAM_FOR(i, 3 * LBFGSB_PAIRS * LBFGSB_PAIRS) (LBFGSB_SMALL)[i] = SELECT(which, R(0.0), (LBFGSB_SMALL)[i]);
    TEAM_BARRIER();
}

/* STEP and TEMP replace the oldest pair of `which`. */
FN_LARGE void lbfgsb_remember(MODEL_PARAMETERS, mask which)
{
    const pmask take = fit_packs(which);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
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
    /* with the newest pair; unchanged lanes recompute theirs */
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

/* Finds DOWN, UP, PATH and BREAK from POINT. CAUCHY := 0. */
FN void lbfgsb_path(MODEL_PARAMETERS)
{
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
}

/* Position, distance to this piece's minimum, f' and f''. */
typedef struct {
    real behind, ahead, first, second, least;
    mask walking;
} lbfgsb_walk;

/* -f' / f'', 0 where the path rises. */
FN real lbfgsb_ahead(real first, real second)
{
    const mask falls = first < R(0.0);
    return SELECT(falls, flush(DIVIDE(-first, second)), R(0.0));
}

/* After a breakpoint: slot `place` stops at its bound and leaves f' (z_b = - time g) and f''. */
FN void lbfgsb_pass(MODEL_PARAMETERS, PRIVATE lbfgsb_walk *w, real time, real place, real theta)
{
    TEAM_FOR(i, MODEL_SLOTS) (LBFGSB_TEMP)[i] = SELECT(AND(w->walking, place == REAL_OF(i)), R(1.0), R(0.0));
    lbfgsb_onto(MODEL, LBFGSB_TEMP, LBFGSB_ROW, theta);
    const real g = fit_dot(MODEL, LBFGSB_TEMP, LBFGSB_SLOPE),
               part = SELECT(w->walking, time - w->behind, R(0.0));
    ONE_WORKER
    {
        GLOBAL real *p = LBFGSB_P, *z = LBFGSB_Z, *row = LBFGSB_ROW;
        for (u32 j = 0; j < 2 * LBFGSB_PAIRS; j++) z[j] = flush(FMA(part, p[j], z[j]));
        lbfgsb_middle(MODEL, row, LBFGSB_MV);
        FIT_SCALAR(LBFGSB_ROW_Z) = lbfgsb_small_dot(LBFGSB_MV, z);
        FIT_SCALAR(LBFGSB_ROW_P) = lbfgsb_small_dot(LBFGSB_MV, p);
        FIT_SCALAR(LBFGSB_ROW_ROW) = lbfgsb_small_dot(LBFGSB_MV, row);
        for (u32 j = 0; j < 2 * LBFGSB_PAIRS; j++) p[j] = flush(FMA(g, row[j], p[j]));
    }
    TEAM_BARRIER();
    const real first = w->first + part * w->second + g * (g - theta * time * g - FIT_SCALAR(LBFGSB_ROW_Z)),
               second = w->second -
                        g * (theta * g + R(2.0) * FIT_SCALAR(LBFGSB_ROW_P) + g * FIT_SCALAR(LBFGSB_ROW_ROW));
    w->first = SELECT(w->walking, flush(first), w->first);
    w->second = SELECT(w->walking, flush(second), w->second);
    w->second = SELECT(w->second > w->least, w->second, w->least);
    w->behind = SELECT(w->walking, time, w->behind);
    const mask curved = w->second > R(0.0);
    w->ahead = SELECT(w->walking, lbfgsb_ahead(w->first, SELECT(curved, w->second, R(1.0))), w->ahead);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pmask here = LOADP(LBFGSB_TEMP, i) > PK(0.0);
        const pack d = LOADP(LBFGSB_PATH, i),
                   bound = PSELECT(d < PK(0.0), LOADP(LBFGSB_DOWN, i), LOADP(LBFGSB_UP, i));
        STOREP(LBFGSB_CAUCHY, i, PSELECT(here, bound, LOADP(LBFGSB_CAUCHY, i)));
        STOREP(LBFGSB_PATH, i, PSELECT(here, PK(0.0), d));
        STOREP(LBFGSB_BREAK, i, PSELECT(here, PACK_OF(MODEL_HUGE), LOADP(LBFGSB_BREAK, i)));
    }
    w->walking = AND(w->walking, w->first < R(0.0));
    TEAM_BARRIER();
}

/* CAUCHY := generalised Cauchy point (algorithm CP), Z := W^T of it. Sets INSIDE, HELD. TEMP: free slots
 * inside. */
FN_LARGE void lbfgsb_cauchy(MODEL_PARAMETERS, real theta)
{
    const real zero = R(0.0);
    lbfgsb_walk w;
    lbfgsb_path(MODEL);
    TEAM_FOR(k, 2 * LBFGSB_PAIRS) (LBFGSB_Z)[k] = zero;
    lbfgsb_onto(MODEL, LBFGSB_PATH, LBFGSB_P, theta);
    w.first = -fit_dot(MODEL, LBFGSB_PATH, LBFGSB_PATH);
    ONE_WORKER
    {
        lbfgsb_middle(MODEL, LBFGSB_P, LBFGSB_MV);
        FIT_SCALAR(LBFGSB_ROW_P) = lbfgsb_small_dot(LBFGSB_P, LBFGSB_MV);
    }
    TEAM_BARRIER();
    w.least = flush(-LBFGSB_EPSILON * theta * w.first); /* rounding must not flip the model */
    w.second = flush(-theta * w.first - FIT_SCALAR(LBFGSB_ROW_P));
    w.second = SELECT(w.second > w.least, w.second, w.least);
    w.behind = zero;
    w.walking = w.first < zero;
    w.ahead = lbfgsb_ahead(w.first, SELECT(w.walking, w.second, R(1.0)));
    for (u32 k = 0; k < MODEL_SLOTS && ANY(w.walking); k++) {
        const real time = lbfgsb_least(MODEL), place = FIT_SCALAR(LBFGSB_PLACE);
        w.walking = AND(w.walking, AND(time < MODEL_HUGE, w.ahead >= time - w.behind));
        TEAM_IF(ANY(w.walking)) lbfgsb_pass(MODEL, &w, time, place, theta);
    }
    const real last = w.behind + w.ahead;
    TEAM_FOR(k, 2 * LBFGSB_PAIRS) (LBFGSB_Z)[k] = flush(FMA(w.ahead, (LBFGSB_P)[k], (LBFGSB_Z)[k]));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack d = LOADP(LBFGSB_PATH, i), down = LOADP(LBFGSB_DOWN, i), up = LOADP(LBFGSB_UP, i),
                   is_free = LOADP(FIT_FREE, i);
        pack at = PSELECT(OR(d<PK(0.0), d> PK(0.0)), pflush(PACK_OF(last) * d), LOADP(LBFGSB_CAUCHY, i));
        at = fit_within(at, down, up);
        const pmask inside = AND(is_free > PK(0.0), AND(at > down, at < up));
        STOREP(LBFGSB_CAUCHY, i, at);
        STOREP(LBFGSB_INSIDE, i, PSELECT(inside, PK(1.0), PK(0.0)));
        STOREP(LBFGSB_AT_BOUND, i, PSELECT(inside, PK(0.0), PK(1.0)));
        STOREP(LBFGSB_TEMP, i, PSELECT(inside, PK(0.0), is_free));
    }
    TEAM_BARRIER();
}

/* Sum of a[i] b[i] w[i]; w = 1 gives the bits of dot8. */
FN real lbfgsb_dot_where(GLOBAL const real *a, GLOBAL const real *b, GLOBAL const real *w, u32 n)
{
    acc8 sum = acc8_zero();
    for (u32 i = 0; i < n; i += 8)
        for (u32 j = 0; j < 8; j += PACK)
            sum.part[j / PACK] = PFMA(LOADP(a, i + j) * LOADP(w, i + j), LOADP(b, i + j), sum.part[j / PACK]);
    return acc8_total(sum);
}

/* TEMP := model gradient at the Cauchy point (5.4), inside only; RV := W^T TEMP, MV := M Z. */
FN void lbfgsb_inner_gradient(MODEL_PARAMETERS, real theta)
{
    GLOBAL const real *mv = LBFGSB_MV;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack r = PFMA(PACK_OF(theta), LOADP(LBFGSB_CAUCHY, i), LOADP(LBFGSB_SLOPE, i));
        for (u32 k = 0; k < 2 * LBFGSB_PAIRS; k++)
            r = PFMA(PACK_OF(k < LBFGSB_PAIRS ? -mv[k] : flush(-theta * mv[k])), LOADP(LBFGSB_W(k), i), r);
        STOREP(LBFGSB_TEMP, i, pflush(r) * LOADP(LBFGSB_INSIDE, i));
    }
    lbfgsb_onto(MODEL, LBFGSB_TEMP, LBFGSB_RV, theta);
}

/* Products for lbfgsb_subspace_factor; known if no slot is at a bound. */
FN void lbfgsb_inner_products(MODEL_PARAMETERS, u32 any_at_bound)
{
    const u32 square = LBFGSB_PAIRS * LBFGSB_PAIRS;
    TEAM_FOR(k, 3 * square) {
        const u32 a = k / square, i = k % square / LBFGSB_PAIRS, j = k % LBFGSB_PAIRS;
        if (a != 1 && j > i) continue;
        GLOBAL const real *left = a == 0 ? LBFGSB_W(i) : LBFGSB_W(LBFGSB_PAIRS + i),
                          *right = a == 2 ? LBFGSB_W(LBFGSB_PAIRS + j) : LBFGSB_W(j);
        real v = a == 0 ? LBFGSB_AT(LBFGSB_YY, i, j) : a == 1 ? LBFGSB_AT(LBFGSB_SY, i, j) : R(0.0);
        if (any_at_bound)
            v = lbfgsb_dot_where(left, right, a == 2 ? LBFGSB_AT_BOUND : LBFGSB_INSIDE, MODEL_SLOTS);
        LBFGSB_AT(LBFGSB_MATRIX(4 + a), i, j) = v;
    }
    TEAM_BARRIER();
}

/* STEP := minimum by RV, projected into bounds. PATH: from the Cauchy point to it; BREAK: part within
 * bounds. */
FN void lbfgsb_inner_step(MODEL_PARAMETERS, real theta)
{
    const real inverse = DIVIDE(R(1.0), theta);
    GLOBAL const real *rv = LBFGSB_RV;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack d = LOADP(LBFGSB_TEMP, i) * PACK_OF(-inverse);
        for (u32 k = 0; k < 2 * LBFGSB_PAIRS; k++)
            d = PFMA(PACK_OF(flush(k < LBFGSB_PAIRS ? -inverse * inverse * rv[k] : -inverse * rv[k])),
                     LOADP(LBFGSB_W(k), i), d);
        d = pflush(d) * LOADP(LBFGSB_INSIDE, i);
        const pack from = LOADP(LBFGSB_CAUCHY, i), to = pflush(from + d), down = LOADP(LBFGSB_DOWN, i),
                   up = LOADP(LBFGSB_UP, i), into = fit_within(to, down, up);
        const pmask out = OR(to<down, to> up);
        STOREP(LBFGSB_BREAK, i,
               PSELECT(out, pflush(PDIVIDE(into - from, PSELECT(out, d, PK(1.0)))), PK(1.0)));
        STOREP(LBFGSB_PATH, i, d);
        STOREP(LBFGSB_STEP, i, into);
    }
}

/* STEP := model minimum over slots inside (direct primal method, 5.11), projected into the bounds if
 * downhill, else shortened (J. L. Morales, J. Nocedal, ACM TOMS 38 (2011) 7). Returns lanes whose small
 * matrices are not positive. */
FN_LARGE mask lbfgsb_subspace(MODEL_PARAMETERS, real theta)
{
    const real at_bounds = fit_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP);
    ONE_WORKER
    {
        lbfgsb_middle(MODEL, LBFGSB_Z, LBFGSB_MV);
    }
    TEAM_BARRIER();
    lbfgsb_inner_gradient(MODEL, theta);
    lbfgsb_inner_products(MODEL, ANY(at_bounds > R(0.0)));
    ONE_WORKER
    {
        FIT_SCALAR(LBFGSB_BAD) = SELECT(lbfgsb_subspace_factor(MODEL, theta), R(1.0), R(0.0));
        lbfgsb_subspace_solve(MODEL, LBFGSB_RV);
    }
    TEAM_BARRIER();
    const mask bad = FIT_SCALAR(LBFGSB_BAD) > R(0.0);
    lbfgsb_inner_step(MODEL, theta);
    const mask cut = fit_dot(MODEL, LBFGSB_STEP, LBFGSB_SLOPE) > R(0.0);
    TEAM_IF(ANY(cut)) {
        const real part = lbfgsb_least(MODEL);
        const pmask own = fit_packs(cut);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack to = pflush(PFMA(PACK_OF(part), LOADP(LBFGSB_PATH, i), LOADP(LBFGSB_CAUCHY, i))),
                       into = fit_within(to, LOADP(LBFGSB_DOWN, i), LOADP(LBFGSB_UP, i));
            STOREP(LBFGSB_STEP, i, PSELECT(own, into, LOADP(LBFGSB_STEP, i)));
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

FN void lbfgsb_try(MODEL_PARAMETERS, real part, mask m)
{
    const pmask goes = fit_packs(m);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack lower = LOADP(FIT_LOWER, i), upper = LOADP(FIT_UPPER, i), unit = LOADP(LBFGSB_UNIT, i),
                   d = pflush(LOADP(LBFGSB_STEP, i) * unit);
        pack x = pflush(PFMA(PACK_OF(part), d, LOADP(LBFGSB_POINT, i)));
        /* snap to a bound within rounding */
        x = PSELECT(AND(d < PK(0.0), x < PFMA(LBFGSB_SNAP, unit, lower)), lower, x);
        x = PSELECT(AND(d > PK(0.0), x > PFMA(-LBFGSB_SNAP, unit, upper)), upper, x);
        STOREP(MODEL_X, i, PSELECT(goes, x, LOADP(MODEL_X, i)));
    }
    TEAM_BARRIER();
}

FN real lbfgsb_along(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(LBFGSB_TEMP, i, pflush(LOADP(MODEL_GRADIENT, i) * LOADP(LBFGSB_UNIT, i)) * LOADP(FIT_FREE, i));
    return fit_dot(MODEL, LBFGSB_TEMP, LBFGSB_STEP);
}

/* Searches along STEP from POINT. Returns the value (point and gradient in MODEL_X, MODEL_GRADIENT), or
 * MODEL_HUGE. */
FN_LARGE real lbfgsb_line_search(MODEL_PARAMETERS, mask stepping, real value, real slope)
{
    const real zero = R(0.0), one = R(1.0), noise = fit_noise(value), least_slope = LBFGSB_SUFFICIENT * slope;
    line_search q = line_search_begin(value, slope, lbfgsb_longest(MODEL));
    mask searching = stepping;
    real answer = MODEL_HUGE, evaluations = zero;
    for (u32 k = 0; k < LBFGSB_TRIALS && ANY(searching); k++) {
        lbfgsb_try(MODEL, q.at, searching);
        const real found = model_value(MODEL, 1), g = lbfgsb_along(MODEL);
        evaluations = SELECT(searching, evaluations + one, evaluations);
        const mask defined = found < MODEL_HUGE;
        /* rounding: use the slopes */
        const mask blurred = fit_size(found - q.best_value) <= noise;
        const real f = SELECT(blurred, FMA(R(0.5) * (q.best_slope + g), q.at - q.best, q.best_value), found);
        const real promised = FMA(least_slope, q.at, value);
        const mask enough = AND(defined, f <= promised), at_end = AND(q.at >= q.most, g <= least_slope);
        const mask last =
            k + 1 < LBFGSB_TRIALS ? AND(q.bracketed, q.high - q.low <= LBFGSB_NARROW * q.high) : one > zero;
        const mask accept =
            AND(searching, AND(enough, OR(fit_size(g) <= -LBFGSB_FLATTER * slope, OR(at_end, last))));
        answer = SELECT(accept, found, answer);
        searching = AND(searching, NOT(OR(accept, last)));
        q.early = AND(q.early, NOT(AND(enough, g >= zero)));
        /* until a trial meets both conditions, minimise the value less the promise */
        const real tilt = SELECT(AND(q.early, AND(f <= q.best_value, f > promised)), least_slope, zero);
        q = line_search_defined(defined, q, line_search_next_tilted(q, f, g, tilt));
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(FIT_EVALUATIONS) = FIT_SCALAR(FIT_EVALUATIONS) + evaluations;
    }
    return answer;
}

/* ---- the stages of a super-step ---- */

typedef struct {
    real status, value, edm, iterations, pull; /* `pull`: squared */
    real theta, pairs;
    mask bad;
} lbfgsb_fit;

FN pack lbfgsb_slope(MODEL_PARAMETERS, u32 i)
{
    const pmask is_free = LOADP(FIT_FREE, i) > PK(0.0);
    return PSELECT(is_free, pflush(LOADP(MODEL_GRADIENT, i) * LOADP(LBFGSB_UNIT, i)), PK(0.0));
}

FN lbfgsb_fit lbfgsb_begin(MODEL_PARAMETERS)
{
    lbfgsb_fit f;
    f.value = model_value(MODEL, 1);
    f.status = SELECT(f.value < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE);
    f.theta = R(1.0);
    f.edm = MODEL_HUGE;
    f.iterations = f.pairs = f.pull = R(0.0);
    ONE_WORKER
    {
        FIT_SCALAR(FIT_EVALUATIONS) = R(1.0);
    }
    lbfgsb_forget(MODEL, R(1.0) > R(0.0));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(LBFGSB_POINT, i, LOADP(MODEL_X, i));
        STOREP(LBFGSB_SLOPE, i, lbfgsb_slope(MODEL, i));
    }
    return f;
}

FN void lbfgsb_aim(MODEL_PARAMETERS, PRIVATE lbfgsb_fit *f)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(LBFGSB_BAD) = SELECT(lbfgsb_middle_factor(MODEL, f->theta), R(1.0), R(0.0));
    }
    TEAM_BARRIER();
    f->bad = FIT_SCALAR(LBFGSB_BAD) > R(0.0);
    lbfgsb_cauchy(MODEL, f->theta);
    f->bad = OR(f->bad, lbfgsb_subspace(MODEL, f->theta));
}

/* Returns the slope of STEP. */
FN real lbfgsb_judge(MODEL_PARAMETERS, PRIVATE lbfgsb_fit *f, real tolerance)
{
    const mask running = f->status == FIT_RUNNING, usable = AND(running, NOT(f->bad));
    TEAM_FOR_PACK(i, MODEL_SLOTS)
        STOREP(LBFGSB_TEMP, i,
               fit_within(-LOADP(LBFGSB_SLOPE, i), LOADP(LBFGSB_DOWN, i), LOADP(LBFGSB_UP, i)));
    f->pull = SELECT(running, fit_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP), f->pull);
    const real slope = fit_dot(MODEL, LBFGSB_STEP, LBFGSB_SLOPE);
    f->edm = SELECT(usable, -slope, f->edm);
    const mask small = AND(usable, AND(f->pull <= tolerance, AND(f->edm <= tolerance, slope <= R(0.0))));
    f->status = SELECT(small, FIT_CONVERGED, f->status);
    return slope;
}

/* STEP, TEMP := the step, the change of slope. */
FN void lbfgsb_move(MODEL_PARAMETERS, mask moved)
{
    const pmask go = fit_packs(moved);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack from = LOADP(LBFGSB_POINT, i), to = LOADP(MODEL_X, i), before = LOADP(LBFGSB_SLOPE, i),
                   now = lbfgsb_slope(MODEL, i);
        STOREP(LBFGSB_STEP, i, PSELECT(go, pflush(PDIVIDE(to - from, LOADP(LBFGSB_UNIT, i))), PK(0.0)));
        STOREP(LBFGSB_TEMP, i, PSELECT(go, pflush(now - before), PK(0.0)));
        STOREP(LBFGSB_SLOPE, i, PSELECT(go, now, before));
        STOREP(LBFGSB_POINT, i, PSELECT(go, to, from));
        STOREP(MODEL_X, i, PSELECT(go, to, from));
    }
}

/* Lanes that moved keep the pair; others drop theirs, then end. */
FN void lbfgsb_learn(MODEL_PARAMETERS, PRIVATE lbfgsb_fit *f, mask moved)
{
    const real zero = R(0.0), one = R(1.0);
    const mask failed = AND(f->status == FIT_RUNNING, NOT(moved));
    const real sy = fit_dot(MODEL, LBFGSB_STEP, LBFGSB_TEMP), yy = fit_dot(MODEL, LBFGSB_TEMP, LBFGSB_TEMP);
    const mask curved = AND(moved, sy > LBFGSB_EPSILON * yy);
    lbfgsb_remember(MODEL, curved);
    f->theta = SELECT(failed, one, SELECT(curved, DIVIDE(yy, SELECT(curved, sy, one)), f->theta));
    f->status = SELECT(AND(failed, f->pairs <= zero), FIT_NO_PROGRESS, f->status);
    f->pairs = SELECT(failed, zero, SELECT(curved, f->pairs + one, f->pairs));
    TEAM_IF(ANY(failed)) lbfgsb_forget(MODEL, failed);
}

/* Fits from MODEL_X, within bounds. Leaves the answer in MODEL_X and fit_answer.h's scalars. */
FN void lbfgsb_minimise(MODEL_PARAMETERS, real edm_tolerance, u32 max_iterations)
{
    lbfgsb_fit f = lbfgsb_begin(MODEL);
    for (u32 step = 0; step < max_iterations && ANY(f.status == FIT_RUNNING); step++) {
        lbfgsb_aim(MODEL, &f);
        const real slope = lbfgsb_judge(MODEL, &f, edm_tolerance);
        const mask stepping = AND(f.status == FIT_RUNNING, AND(NOT(f.bad), slope < R(0.0)));
        real found = MODEL_HUGE;
        TEAM_IF(ANY(stepping)) found = lbfgsb_line_search(MODEL, stepping, f.value, slope);
        const mask moved = AND(stepping, found < MODEL_HUGE);
        f.iterations = SELECT(moved, f.iterations + R(1.0), f.iterations);
        f.value = SELECT(moved, found, f.value);
        lbfgsb_move(MODEL, moved);
        lbfgsb_learn(MODEL, &f, moved);
    }
    fit_end(MODEL, f.status, f.value, f.edm, f.iterations, R(2.0) * SQRT(f.pull));
}
