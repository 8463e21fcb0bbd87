/* entry_custom.h: the entries of a model that a user wrote: what stands behind its function in its file
 * (docs/models.md). Rows in and out are those of the HistFactory entries of the same names, with which the
 * host shares its code: entry/entry_jobs.h, entry/entry_covariance.h, entry/entry_histfactory.h.
 */
#ifndef PARITAS_ENTRY_CUSTOM_H
#define PARITAS_ENTRY_CUSTOM_H

#include "custom/custom_likelihood.h"

#define MODEL_PARAMETERS CUSTOM_ARGUMENTS
#define MODEL CUSTOM
#define MODEL_SLOTS CUSTOM_SLOTS
#define MODEL_X (CUSTOM_S(X))
#define MODEL_GRADIENT (CUSTOM_S(GRADIENT))
#define MODEL_ACTIVE (CUSTOM_S(ACTIVE))
#define MODEL_WORK (CUSTOM_S(MINIMISER))
#define MODEL_MEMORY (CUSTOM_S(MEMORY))
#define MODEL_HUGE CUSTOM_HUGE
#define MODEL_LEAST (mi[CUSTOM_TERMS] ? -CUSTOM_HUGE : R(0.0)) /* else a deviance */
#define MODEL_FLAT (s[mi[CUSTOM_S_SCALARS] + 3])
#define MODEL_DIAGONAL(i) LOADP(CUSTOM_S(DIAGONAL), i)
#define MODEL_DATA mi[CUSTOM_DATA]
#define MODEL_MAIN (CUSTOM_S(MAIN))
#define MODEL_WEIGHT(i) LOADM(mr + mi[CUSTOM_R_PRECISION], i)
#define MODEL_SCALE(i) s[mi[CUSTOM_S_SCALE] + (i)]

FN void model_prepare(MODEL_PARAMETERS) {} /* the data's padding is written with them */
FN real model_value(MODEL_PARAMETERS, u32 derivatives)
{
    return custom_value(CUSTOM, derivatives);
}
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt, real flat)
{
    custom_curvature(CUSTOM, kap, damping);
    return custom_factor(CUSTOM, doubt, flat);
}
FN void model_matrix(MODEL_PARAMETERS, real kap)
{
    custom_curvature(CUSTOM, kap, R(0.0));
}
FN void model_solve(MODEL_PARAMETERS, GLOBAL real *v)
{
    custom_solve(CUSTOM, v);
}
FN real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v)
{
    return custom_negative_direction(CUSTOM, v);
}

#include "entry/entry_jobs.h"
#include "entry/entry_covariance.h"

KERNEL(custom_evaluate)
{
    job_evaluate(CUSTOM, args, in, out, TEAM_INDEX);
}
KERNEL(custom_fit)
{
    job_fit(CUSTOM, args, in, out, TEAM_INDEX);
}
KERNEL(custom_fit_lbfgsb)
{
    job_fit_lbfgsb(CUSTOM, args, in, out, TEAM_INDEX);
}
KERNEL(custom_fit_de)
{
    job_fit_de(CUSTOM, args, in, out, TEAM_INDEX);
}
KERNEL(custom_profile)
{
    job_profile(CUSTOM, args, in, out, TEAM_INDEX);
}

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

/* Points without data: expectations that look at data see zeros. */
FN void custom_load_points(CUSTOM_ARGUMENTS, GLOBAL const elem *points, lane_rows rows)
{
    TEAM_FOR(i, mi[CUSTOM_DATA]) s[mi[CUSTOM_S_MAIN] + i] = R(0.0);
    job_load_point(CUSTOM, points, rows, CUSTOM_SLOTS);
    TEAM_BARRIER();
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
    TEAM_FOR(e, places * n) {
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
    const u32 n = CUSTOM_SLOTS, stride = 1 + n + n * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0] * args[1]);
    job_load_pairs(CUSTOM, args, in, rows);
    TEAM_FOR(i, n) s[mi[CUSTOM_S_ACTIVE] + i] = R(1.0);
    TEAM_BARRIER();
    const real value = custom_value(CUSTOM, 1);
    model_matrix(CUSTOM, R(1.0));
    ONE_WORKER
    {
        STORE_ROWS(out, rows, stride, 0, value);
    }
    TEAM_FOR(i, n) {
        STORE_ROWS(out, rows, stride, 1 + i, s[mi[CUSTOM_S_GRADIENT] + i]);
        for (u32 j = 0; j < n; j++)
            STORE_ROWS(out, rows, stride, 1 + n + i * n + j, custom_tile(CUSTOM, i, j));
    }
}

KERNEL(custom_covariance)
{
    const u32 whole = args[2], n = CUSTOM_SLOTS, stride = 3 * n + 8 + (whole ? n * n : 0);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    const job_minimum minimum = job_factor_at_point(CUSTOM, args, in, rows);
    GLOBAL real *rest = MODEL_MEMORY;
    job_unit_rows(CUSTOM, rest, n);
    job_solve_rows(CUSTOM, rest, n, CUSTOM_S(TILES), CUSTOM_S(RDIAG));
    TEAM_FOR(I, CUSTOM_BLOCKS)
        for (u32 i = 0; i < 8; i += PACK) {
            pack sum = PK(0.0);
            for (u32 k = 8 * I; k < n; k++) {
                const pack v = LOADP(rest, 64 * I * CUSTOM_BLOCKS + 8 * k + i);
                sum = PFMA(v, v, sum);
            }
            STOREP(NEWTON_TEMP, 8 * I + i, pflush(sum));
        }
    TEAM_BARRIER();
    TEAM_IF(whole) job_store_square(CUSTOM, rest, n, rest + n * n, out, rows, stride);
    job_store_errors(CUSTOM, minimum, out, rows, stride);
}

/* ---- toys ---- */

FN void model_draws(CUSTOM_ARGUMENTS, u32 i, u32 fixed, pmask drawn, PRIVATE pmask *counted,
                    PRIVATE pmask *measured, PRIVATE pack *precision)
{
    const u32 first_aux = mi[CUSTOM_PLACES];
    const pack zero = PK(0.0);
    if (i >= first_aux && fixed) drawn = zero > zero;
    *precision = i < first_aux ? LOADM(mr, i) : LOADM(mr + mi[CUSTOM_R_PRECISION], i - first_aux);
    *measured = AND(drawn, *precision > zero);
    /* the kind of a datum: custom/custom_arrays.h */
    *counted = AND(drawn, AND(*precision <= zero, *precision > CUSTOM_IS_TERM));
}

#include "entry/entry_draw.h"

KERNEL(custom_draw)
{
    job_draw(CUSTOM, args, in, out, TEAM_INDEX);
}

#endif
