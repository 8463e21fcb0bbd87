/* custom.h: the entries of a model that a user wrote: what stands behind its function in its file (docs/models.md). Rows in and out are those of
 * the HistFactory entries of the same names (entry/histfactory.h), with which the host shares its code.
 */
#ifndef PARITAS_ENTRY_CUSTOM_H
#define PARITAS_ENTRY_CUSTOM_H

#include "custom/likelihood.h"

#define MODEL_PARAMETERS CUSTOM_ARGUMENTS
#define MODEL CUSTOM
#define MODEL_SLOTS CUSTOM_SLOTS
#define MODEL_X (s + mi[CUSTOM_S_X])
#define MODEL_GRADIENT (s + mi[CUSTOM_S_GRADIENT])
#define MODEL_ACTIVE (s + mi[CUSTOM_S_ACTIVE])
#define MODEL_WORK (s + mi[CUSTOM_S_MINIMISER])
#define MODEL_MEMORY (s + mi[CUSTOM_S_MEMORY])
#define MODEL_HUGE CUSTOM_HUGE
#define MODEL_LEAST (mi[CUSTOM_TERMS] ? -CUSTOM_HUGE : R(0.0)) /* else a deviance */
#define MODEL_FLAT (s[mi[CUSTOM_S_SCALARS] + 3])
#define MODEL_DIAGONAL(i) LOADP(s + mi[CUSTOM_S_DIAGONAL], i)

FN real model_value(MODEL_PARAMETERS, u32 derivatives) { return custom_value(CUSTOM, derivatives); }
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt)
{
    custom_curvature(CUSTOM, kap, damping);
    return custom_factor(CUSTOM, doubt, R(1e-7));
}
FN void model_solve(MODEL_PARAMETERS, GLOBAL real *v) { custom_solve(CUSTOM, v); }
FN real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v) { return custom_negative_direction(CUSTOM, v); }

/* The data rows of the lanes of m into the slab. */
FN void custom_exchange_data(CUSTOM_ARGUMENTS, GLOBAL const elem *data, u32 stride, lane_rows rows, mask m)
{
    GLOBAL real *to = s + mi[CUSTOM_S_MAIN];
    TEAM_FOR(i, stride) to[i] = SELECT(m, LOAD_ROWS(data, rows, stride, i), to[i]);
}
#define MODEL_LOAD(data, stride, rows, m) custom_exchange_data(CUSTOM, data, stride, rows, m)

#include "minimise/newton.h"
#include "minimise/quasi_newton.h"
#include "minimise/lbfgsb.h"
#include "minimise/differential_evolution.h"

/* ---- rows ---- */

FN void custom_load(CUSTOM_ARGUMENTS, GLOBAL const elem *data, lane_rows data_rows, GLOBAL const elem *points, lane_rows rows, u32 stride)
{
    TEAM_FOR(k, MINIMISER_SCALARS) FIT_STATUS(k) = R(0.0);
    TEAM_FOR(i, mi[CUSTOM_DATA]) s[mi[CUSTOM_S_MAIN] + i] = LOAD_ROWS(data, data_rows, mi[CUSTOM_DATA], i);
    TEAM_FOR(i, CUSTOM_SLOTS) s[mi[CUSTOM_S_X] + i] = LOAD_ROWS(points, rows, stride, i);
}

/* Points without data: expectations that look at data see zeros. */
FN void custom_load_points(CUSTOM_ARGUMENTS, GLOBAL const elem *points, lane_rows rows)
{
    TEAM_FOR(i, mi[CUSTOM_DATA]) s[mi[CUSTOM_S_MAIN] + i] = R(0.0);
    TEAM_FOR(i, CUSTOM_SLOTS) s[mi[CUSTOM_S_X] + i] = LOAD_ROWS(points, rows, CUSTOM_SLOTS, i);
    TEAM_BARRIER();
}

/* The lanes' data, starts and bounds; largest steps. */
FN void custom_load_jobs(CUSTOM_ARGUMENTS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 n = CUSTOM_SLOTS;
    GLOBAL const elem *job = in + args[1] * mi[CUSTOM_DATA];
    custom_load(CUSTOM, in, rows_look_up(rows, args + 4), job, rows, 4 * n);
    TEAM_FOR(i, n)
    {
        (FIT_LOWER)[i] = LOAD_ROWS(job, rows, 4 * n, n + i);
        (FIT_UPPER)[i] = LOAD_ROWS(job, rows, 4 * n, 2 * n + i);
        (FIT_FREE)[i] = LOAD_ROWS(job, rows, 4 * n, 3 * n + i);
    }
    TEAM_BARRIER();
}

/* A fit's answer: its point, and by one worker what stands behind it. */
FN void custom_store_fit(CUSTOM_ARGUMENTS, GLOBAL elem *out, lane_rows rows, real pull, real evaluations)
{
    const u32 n = CUSTOM_SLOTS, stride = n + 8;
    GLOBAL const real *x = MODEL_X;
    TEAM_FOR(i, n) STORE_ROWS(out, rows, stride, i, x[i]);
    ONE_WORKER
    {
        for (u32 k = 0; k < 4; k++) STORE_ROWS(out, rows, stride, n + k, FIT_STATUS(k));
        STORE_ROWS(out, rows, stride, n + 4, pull);
        STORE_ROWS(out, rows, stride, n + 5, evaluations);
        for (u32 k = 6; k < 8; k++) STORE_ROWS(out, rows, stride, n + k, R(0.0));
    }
}

/* ---- what a model says ---- */

/* args: 1; out: what these kernels were compiled for: parameters, the version of host and kernels. */
KERNEL(custom_about)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    ONE_WORKER
    {
        STORE_ROWS(out, rows, 2, 0, REAL_OF(PARAMETERS));
        STORE_ROWS(out, rows, 2, 1, REAL_OF(CUSTOM_VERSION));
    }
}

KERNEL(custom_evaluate)
{
    const u32 points = args[0], sets = args[1], derivatives = args[2], n = CUSTOM_SLOTS, stride = 1 + (derivatives ? n : 0);
    const lane_rows rows = rows_of_team(TEAM_INDEX, points * sets);
    custom_load(CUSTOM, in, rows_modulo(rows, sets), in + sets * mi[CUSTOM_DATA], rows_divide(rows, sets), n);
    TEAM_BARRIER();
    const real value = custom_value(CUSTOM, derivatives);
    ONE_WORKER { STORE_ROWS(out, rows, stride, 0, value); }
    if (derivatives) TEAM_FOR(i, n) STORE_ROWS(out, rows, stride, 1 + i, s[mi[CUSTOM_S_GRADIENT] + i]);
}

/* args: points; in: points; out: what is expected of the main data (P). */
KERNEL(custom_expected)
{
    const u32 places = mi[CUSTOM_PLACES];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    custom_load_points(CUSTOM, in, rows);
    custom_value(CUSTOM, 0);
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, s[mi[CUSTOM_S_VALUE] + i]);
}

/* args: points; in: points; out: derivatives of the main data (P rows) by every slot. */
KERNEL(custom_jacobian)
{
    const u32 n = CUSTOM_SLOTS, places = mi[CUSTOM_PLACES];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    custom_load_points(CUSTOM, in, rows);
    custom_value(CUSTOM, 1);
    TEAM_FOR(e, places * n)
    {
        real derivative = R(0.0);
        if (e % n < PARAMETERS) derivative = s[mi[CUSTOM_S_FIRST] + e % n * places + e / n];
        STORE_ROWS(out, rows, places * n, e, derivative);
    }
}

/* An element of the matrix in S_TILES. */
FN real custom_tile(CUSTOM_ARGUMENTS, u32 i, u32 j)
{
    const u32 p = i > j ? i : j, q = i > j ? j : i;
    return s[mi[CUSTOM_S_TILES] + TILE_OFFSET(p / 8, q / 8) + 8 * (q % 8) + p % 8];
}

KERNEL(custom_hessian)
{
    const u32 points = args[0], sets = args[1], n = CUSTOM_SLOTS, stride = 1 + n + n * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, points * sets);
    custom_load(CUSTOM, in, rows_modulo(rows, sets), in + sets * mi[CUSTOM_DATA], rows_divide(rows, sets), n);
    TEAM_FOR(i, n) s[mi[CUSTOM_S_ACTIVE] + i] = R(1.0);
    TEAM_BARRIER();
    const real value = custom_value(CUSTOM, 1);
    custom_curvature(CUSTOM, R(1.0), R(0.0));
    ONE_WORKER { STORE_ROWS(out, rows, stride, 0, value); }
    TEAM_FOR(i, n)
    {
        STORE_ROWS(out, rows, stride, 1 + i, s[mi[CUSTOM_S_GRADIENT] + i]);
        for (u32 j = 0; j < n; j++) STORE_ROWS(out, rows, stride, 1 + n + i * n + j, custom_tile(CUSTOM, i, j));
    }
}

/* ---- fits ---- */

#if F64
#define CUSTOM_EDM_TOLERANCE R(EDM_TOLERANCE_F64)
#define CUSTOM_FLAT_CURVATURE R(1e-10) /* as HF_FLAT_CURVATURE */
#else
#define CUSTOM_EDM_TOLERANCE R(EDM_TOLERANCE_F32)
#define CUSTOM_FLAT_CURVATURE R(1e-8)
#endif

KERNEL(custom_fit)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    custom_load_jobs(CUSTOM, args, in, rows);
    TEAM_FOR_PACK(i, CUSTOM_SLOTS)
    {
        const pack precision = LOADM(mr + mi[CUSTOM_R_PRECISION], i);
        const pmask constrained = precision > PK(0.0);
        STOREP(NEWTON_CAP, i, PSELECT(constrained, PDIVIDE(PK(STEP_WIDTHS), PSQRT(PSELECT(constrained, precision, PK(1.0)))), PK(0.0)));
    }
    TEAM_BARRIER();
    newton_minimise(CUSTOM, args[3] & 2 ? R(EDM_CLOSER) * CUSTOM_EDM_TOLERANCE : CUSTOM_EDM_TOLERANCE, args[2], args[3] & 1);
    GLOBAL const real *g = NEWTON_SLOPE, *active = MODEL_ACTIVE;
    real worst = R(0.0);
    for (u32 i = 0; i < CUSTOM_SLOTS; i++) {
        const real d = (NEWTON_SCALE)[i];
        const mask counts = AND(active[i] > R(0.0), d > R(0.0));
        const real size = SELECT(g[i] < R(0.0), -g[i], g[i]);
        const real pull = SELECT(counts, flush(DIVIDE(R(2.0) * size, SQRT(SELECT(counts, d, R(1.0))))), R(0.0));
        worst = SELECT(pull > worst, pull, worst);
    }
    custom_store_fit(CUSTOM, out, rows, worst, R(0.0));
}

/* About one error of each slot, from the diagonal of the Fisher matrix at MODEL_X. */
FN void custom_error_units(CUSTOM_ARGUMENTS, GLOBAL real *unit)
{
    TEAM_FOR_PACK(i, CUSTOM_SLOTS) STOREP(MODEL_ACTIVE, i, LOADP(FIT_FREE, i));
    TEAM_BARRIER();
    custom_value(CUSTOM, 1);
    custom_curvature(CUSTOM, R(0.0), R(0.0));
    TEAM_FOR_PACK(i, CUSTOM_SLOTS)
    {
        const pack d = MODEL_DIAGONAL(i);
        const pmask known = AND(LOADP(FIT_FREE, i) > PK(0.0), d > PK(0.0));
        STOREP(unit, i, PSELECT(known, PDIVIDE(PK(1.0), PSQRT(PSELECT(known, d, PK(1.0)))), PK(1.0)));
    }
    TEAM_BARRIER();
}

KERNEL(custom_fit_lbfgsb)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    custom_load_jobs(CUSTOM, args, in, rows);
    custom_error_units(CUSTOM, LBFGSB_UNIT);
    lbfgsb_minimise(CUSTOM, (args[3] & 2 ? R(1e-6) : R(1e-2)) * CUSTOM_EDM_TOLERANCE, args[2]);
    custom_store_fit(CUSTOM, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), FIT_STATUS(5));
}

/* How far around the start the first members lie, in errors; and around one that is near the minimum. */
#define CUSTOM_DE_REACH R(5.0)
#define CUSTOM_DE_REACH_NEAR R(0.1)

KERNEL(custom_fit_de)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    CONSTANT u32 *more = args + 4 + args[0];
    custom_load_jobs(CUSTOM, args, in, rows);
    custom_error_units(CUSTOM, DE_UNIT);
    de_minimise(CUSTOM, (args[3] & 2 ? R(1e-4) : R(1e-1)) * CUSTOM_EDM_TOLERANCE, args[2], more[0], args[3] & 1 ? CUSTOM_DE_REACH_NEAR : CUSTOM_DE_REACH,
                more[1], more[2]);
    custom_store_fit(CUSTOM, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), R(0.0));
}

/* Free and conditional fits to many data sets with a shared matrix: rows in and out as qn_run has them. */
KERNEL(custom_profile)
{
    TEAM_FOR(k, MINIMISER_SCALARS) FIT_STATUS(k) = R(0.0);
    TEAM_FOR(i, mi[CUSTOM_DATA]) s[mi[CUSTOM_S_MAIN] + i] = R(1.0); /* lanes without a task have data, too */
    TEAM_BARRIER();
    qn_run(CUSTOM, args, in, out, TEAM_INDEX, mi[CUSTOM_DATA], R(0.01) * CUSTOM_EDM_TOLERANCE);
}

/* The Hessian at the point in question and its factor; the EDM with it. *bad: lanes whose factor is none. */
FN real custom_factor_at_point(CUSTOM_ARGUMENTS, real value, PRIVATE mask *bad)
{
    TEAM_FOR_PACK(i, CUSTOM_SLOTS)
    {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
    }
    TEAM_BARRIER();
    newton_active_set(CUSTOM);
    custom_curvature(CUSTOM, R(1.0), R(0.0));
    *bad = custom_factor(CUSTOM, R(1e-5), CUSTOM_FLAT_CURVATURE); /* as doubtful as a fit that may end at an EDM of 1e-10 */
    /* where the data are met exactly, second derivatives count for nothing but their rounding: the Fisher matrix is the Hessian */
    const mask exact = AND(*bad, R(2.0) * (value - MODEL_LEAST) <= CUSTOM_EDM_TOLERANCE);
    TEAM_IF(ANY(exact))
    {
        custom_curvature(CUSTOM, SELECT(exact, R(0.0), R(1.0)), R(0.0));
        *bad = custom_factor(CUSTOM, R(1e-5), CUSTOM_FLAT_CURVATURE);
    }
    return newton_direction(CUSTOM);
}

KERNEL(custom_covariance)
{
    const u32 whole = args[2], n = CUSTOM_SLOTS, blocks = CUSTOM_BLOCKS, stride = 3 * n + 8 + (whole ? n * n : 0);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    custom_load_jobs(CUSTOM, args, in, rows);
    const real value = custom_value(CUSTOM, 1);
    mask bad;
    const real edm = custom_factor_at_point(CUSTOM, value, &bad);
    GLOBAL const real *active = MODEL_ACTIVE, *tiles = s + mi[CUSTOM_S_TILES];
    GLOBAL real *rest = MODEL_MEMORY, *square = rest + n * n;
    /* unit rows, carried through the triangular solve, become X with covariance = X X^T */
    TEAM_FOR_PACK(i, n * n) STOREP(rest, i, PK(0.0));
    TEAM_BARRIER();
    TEAM_FOR(i, n) rest[64 * (i / 8 * blocks + i / 8) + 9 * (i % 8)] = active[i];
    TEAM_BARRIER();
    for (u32 J = 0; J < blocks; J++) {
        TEAM_FOR(step, TILE_GROUPS(blocks))
        {
            const u32 I = TILE_GROUP * step;
            if (I > J) continue; /* columns left of a unit are zero */
            tile_group g;
            g.count = J + 1 - I < TILE_GROUP ? J + 1 - I : TILE_GROUP;
            UNROLL for (u32 t = 0; t < TILE_GROUP; t++) {
                g.tile[t] = 64 * ((I + t) * blocks + J);
                g.left[t] = 64 * ((I + t) * blocks + I);
            }
            tiles_subtract(rest, g, rest, tiles + TILE_OFFSET(J, I), 8 * (J - I));
            tiles_solve_right(rest, g, tiles + TILE_OFFSET(J, J), s + mi[CUSTOM_S_RDIAG] + 8 * J);
        }
        TEAM_BARRIER();
    }
    TEAM_FOR(I, blocks)
    for (u32 i = 0; i < 8; i += PACK) {
        pack sum = PK(0.0);
        for (u32 k = 8 * I; k < n; k++) {
            const pack v = LOADP(rest, 64 * I * blocks + 8 * k + i);
            sum = PFMA(v, v, sum);
        }
        STOREP(NEWTON_TEMP, 8 * I + i, pflush(sum));
    }
    TEAM_BARRIER();
    TEAM_IF(whole)
    {
        TEAM_FOR(k, blocks * TILE_GROUPS(blocks))
        {
            const u32 J = k / TILE_GROUPS(blocks), I = J + TILE_GROUP * (k % TILE_GROUPS(blocks));
            if (I >= blocks) continue;
            tile_group g = tile_group_of(I, J, blocks);
            UNROLL for (u32 t = 0; t < TILE_GROUP; t++) g.left[t] = 64 * ((I + t) * blocks + I); /* further left the rows are zero */
            for (u32 t = 0; t < g.count; t++)
                for (u32 i = 0; i < 64; i += PACK) STOREP(square + g.tile[t], i, PK(0.0));
            tiles_add(square, g, rest, rest + 64 * (J * blocks + I), n - 8 * I);
            for (u32 t = 0; t < g.count; t++)
                for (u32 e = 0; e < 64; e++) {
                    const u32 i = 8 * (I + t) + e % 8, j = 8 * J + e / 8;
                    const real v = flush(square[g.tile[t] + e]) * active[i] * active[j];
                    STORE_ROWS(out, rows, stride, 3 * n + 8 + i * n + j, v);
                    if (I + t != J) STORE_ROWS(out, rows, stride, 3 * n + 8 + j * n + i, v);
                }
        }
    }
    TEAM_FOR(i, n)
    {
        const real curvature = s[mi[CUSTOM_S_SCALE] + i];
        const mask known = AND(curvature > R(0.0), flush(flush((NEWTON_TEMP)[i] * curvature) * CUSTOM_FLAT_CURVATURE) < R(1e-4));
        const real variance = SELECT(known, (NEWTON_TEMP)[i] * active[i], R(0.0));
        (NEWTON_TEMP)[i] = variance;
        STORE_ROWS(out, rows, stride, i, active[i]);
        STORE_ROWS(out, rows, stride, n + i, SQRT(SELECT(variance > R(0.0), variance, R(0.0))));
        STORE_ROWS(out, rows, stride, 2 * n + i, (NEWTON_SLOPE)[i]);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real worst = R(0.0);
        for (u32 i = 0; i < n; i++) {
            const real pull = flush(flush((NEWTON_TEMP)[i] * (R(2.0) * (NEWTON_SLOPE)[i])) * (R(2.0) * (NEWTON_SLOPE)[i]));
            worst = SELECT(pull > worst, pull, worst);
        }
        STORE_ROWS(out, rows, stride, 3 * n, value);
        STORE_ROWS(out, rows, stride, 3 * n + 1, edm);
        STORE_ROWS(out, rows, stride, 3 * n + 2, SELECT(bad, R(1.0), R(0.0)));
        STORE_ROWS(out, rows, stride, 3 * n + 3, SQRT(worst));
        for (u32 k = 4; k < 8; k++) STORE_ROWS(out, rows, stride, 3 * n + k, R(0.0));
    }
}

#include "entry/custom_draw.h"

#endif
