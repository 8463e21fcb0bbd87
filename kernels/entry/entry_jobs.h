/* entry_jobs.h: entries of any family: rows (entry/entry_rows.h), fits by each method. `team`: TEAM_INDEX.
 *
 * Comes behind a family's words: newton.h's, MODEL_MEMORY of lbfgsb.h, and
 *
 *   MODEL_DATA, MODEL_MAIN     size of a data row; its place in the slab
 *   MODEL_WEIGHT(i)            pack of 1/width^2 of constraints from slot i on; 0: none
 *   MODEL_DENSE, MODEL_TILES   the matrix's dense slots; lower triangle in tiles (numeric/tiles.h)
 *   MODEL_SCALE(i)             sums of squares behind the factored diagonal
 *   model_prepare(MODEL)       fills places that no kernel writes
 *   model_matrix(MODEL, kap)   Hessian (kap 1) or Fisher matrix (kap 0), not eliminated or factored;
 *                              diagonal in MODEL_DIAGONAL
 *
 * An entry calls its namesake here (JOB_ENTRIES), or builds on others. */
#pragma once

#include "entry/entry_rows.h"
#include "minimise/differential_evolution.h"
#include "minimise/lbfgsb.h"
#include "minimise/newton.h"
#include "minimise/quasi_newton.h"

#if F64
#define JOB_EDM_TOLERANCE R(EDM_TOLERANCE_F64)
#else
#define JOB_EDM_TOLERANCE R(EDM_TOLERANCE_F32)
#endif

#define JOB_PARAMETERS MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team
#define JOB_ENTRY(family, job)                       \
    KERNEL(family##_##job)                           \
    {                                                \
        job_##job(MODEL, args, in, out, TEAM_INDEX); \
    }
/* The entries that are the same for every family. */
#define JOB_ENTRIES(family)       \
    JOB_ENTRY(family, evaluate)   \
    JOB_ENTRY(family, profile)    \
    JOB_ENTRY(family, draw)       \
    JOB_ENTRY(family, fit)        \
    JOB_ENTRY(family, fit_lbfgsb) \
    JOB_ENTRY(family, fit_de)     \
    JOB_ENTRY(family, sample)

/* ---- rows in ---- */

FN void job_prepare(MODEL_PARAMETERS)
{
    model_prepare(MODEL);
    TEAM_FOR(k, MINIMISER_SCALARS) FIT_SCALAR(k) = R(0.0);
}

FN void job_load_data(MODEL_PARAMETERS, GLOBAL const elem *data, lane_rows rows)
{
    TEAM_FOR(i, MODEL_DATA) (MODEL_MAIN)[i] = LOAD_ROWS(data, rows, MODEL_DATA, i);
}

FN void job_load_point(MODEL_PARAMETERS, GLOBAL const elem *points, lane_rows rows, u32 stride)
{
    TEAM_FOR(i, MODEL_SLOTS) (MODEL_X)[i] = LOAD_ROWS(points, rows, stride, i);
}

/* Each point with each data set. */
FN void job_load_pairs(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 sets = args[POINT_ARG_SETS];
    job_prepare(MODEL);
    job_load_data(MODEL, in, rows_modulo(rows, sets));
    job_load_point(MODEL, in + sets * MODEL_DATA, rows_divide(rows, sets), MODEL_SLOTS);
    TEAM_BARRIER();
}

FN void job_load_jobs(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 n = MODEL_SLOTS, stride = FIT_JOB_SIZE(n);
    GLOBAL const elem *job = in + args[FIT_ARG_SETS] * MODEL_DATA;
    job_prepare(MODEL);
    job_load_data(MODEL, in, rows_look_up(rows, args + FIT_ARGS));
    job_load_point(MODEL, job, rows, stride);
    TEAM_FOR(i, n) {
        (FIT_LOWER)[i] = LOAD_ROWS(job, rows, stride, FIT_JOB_LOWER * n + i);
        (FIT_UPPER)[i] = LOAD_ROWS(job, rows, stride, FIT_JOB_UPPER * n + i);
        const real slot = LOAD_ROWS(job, rows, stride, FIT_JOB_FREE * n + i);
        (FIT_FREE)[i] = SELECT(slot > REAL_OF(FIT_SLOT_FIXED), R(1.0), R(0.0));
    }
    TEAM_BARRIER();
}

FN void job_store_value(MODEL_PARAMETERS, real value, u32 gradient, GLOBAL elem *out, lane_rows rows,
                        u32 stride)
{
    ONE_WORKER
    {
        STORE_ROWS(out, rows, stride, VALUE_VALUE, value);
    }
    if (gradient)
        TEAM_FOR(i, MODEL_SLOTS) STORE_ROWS(out, rows, stride, VALUE_GRADIENT + i, (MODEL_GRADIENT)[i]);
}

FN void job_evaluate(JOB_PARAMETERS)
{
    const u32 gradient = args[POINT_ARG_GRADIENT], n = MODEL_SLOTS;
    const lane_rows rows = rows_of_team(team, args[POINT_ARG_POINTS] * args[POINT_ARG_SETS]);
    job_load_pairs(MODEL, args, in, rows);
    job_store_value(MODEL, model_value(MODEL, gradient ? MODEL_SLOPE : 0), gradient, out, rows,
                    VALUE_SIZE(n, gradient));
}

FN real job_dense_element(MODEL_PARAMETERS, u32 i, u32 j)
{
    const u32 p = i > j ? i : j, q = i > j ? j : i;
    return p < MODEL_DENSE ? (MODEL_TILES)[TILE_OFFSET(p / 8, q / 8) + 8 * (q % 8) + p % 8] : R(0.0);
}

/* Value, gradient, dense Hessian; 0 elsewhere. */
FN void job_hessian(JOB_PARAMETERS)
{
    const u32 n = MODEL_SLOTS, stride = VALUE_SIZE_HESSIAN(n);
    const lane_rows rows = rows_of_team(team, args[POINT_ARG_POINTS] * args[POINT_ARG_SETS]);
    job_load_pairs(MODEL, args, in, rows);
    TEAM_FOR(i, n) (MODEL_ACTIVE)[i] = R(1.0);
    TEAM_BARRIER();
    const real value = model_value(MODEL, 1);
    model_matrix(MODEL, R(1.0));
    job_store_value(MODEL, value, 1, out, rows, stride);
    TEAM_FOR(i, n)
        for (u32 j = 0; j < n; j++)
            STORE_ROWS(out, rows, stride, VALUE_HESSIAN(n) + i * n + j, job_dense_element(MODEL, i, j));
}

/* ---- fits ---- */

FN void job_store_fit(MODEL_PARAMETERS, GLOBAL elem *out, lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL const real *x = MODEL_X;
    TEAM_FOR(i, n) STORE_ROWS(out, rows, FIT_ANSWER_SIZE(n), i, x[i]);
    ONE_WORKER
    {
        for (u32 k = 0; k < FIT_SCALARS; k++) STORE_ROWS(out, rows, FIT_ANSWER_SIZE(n), n + k, FIT_SCALAR(k));
    }
}

/* STEP_WIDTHS constraint widths; 0 (no limit) without a constraint. */
FN void job_step_caps(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack weight = MODEL_WEIGHT(i), none = PK(0.0);
        const pmask constrained = weight > none;
        STOREP(NEWTON_CAP, i,
               PSELECT(constrained, PDIVIDE(PK(STEP_WIDTHS), PSQRT(PSELECT(constrained, weight, PK(1.0)))),
                       none));
    }
    TEAM_BARRIER();
}

FN void job_load_kinks(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL const elem *job = in + args[FIT_ARG_SETS] * MODEL_DATA;
    TEAM_FOR(i, n) {
        const real slot = LOAD_ROWS(job, rows, FIT_JOB_SIZE(n), FIT_JOB_FREE * n + i);
        (NEWTON_KINKED)[i] = SELECT(slot > REAL_OF(FIT_SLOT_FREE), R(1.0), R(0.0));
    }
    TEAM_BARRIER();
}

FN void job_fit(JOB_PARAMETERS)
{
    const lane_rows rows = rows_of_team(team, args[FIT_ARG_JOBS]);
    const u32 flags = args[FIT_ARG_FLAGS];
    const real part = flags & FIT_TO_CLOSEST  ? R(EDM_CLOSEST)
                      : flags & FIT_TO_CLOSER ? R(EDM_CLOSER)
                                              : R(1.0);
    job_load_jobs(MODEL, args, in, rows);
    job_step_caps(MODEL);
    TEAM_IF(flags & FIT_HAS_KINKS) job_load_kinks(MODEL, args, in, rows);
    newton_minimise(MODEL, part * JOB_EDM_TOLERANCE, args[FIT_ARG_ITERATIONS], flags & FIT_FROM_NEAR,
                    flags & FIT_HAS_KINKS);
    job_store_fit(MODEL, out, rows);
}

/* About one error per slot, from the Fisher diagonal at MODEL_X with constraints. No factor: these methods
 * check Newton's. */
FN void job_error_units(MODEL_PARAMETERS, GLOBAL real *unit)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(MODEL_ACTIVE, i, LOADP(FIT_FREE, i));
    TEAM_BARRIER();
    model_value(MODEL, 1);
    model_matrix(MODEL, R(0.0));
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack d = MODEL_DIAGONAL(i);
        const pmask known = AND(LOADP(FIT_FREE, i) > PK(0.0), d > PK(0.0));
        STOREP(unit, i, PSELECT(known, PDIVIDE(PK(1.0), PSQRT(PSELECT(known, d, PK(1.0)))), PK(1.0)));
    }
    TEAM_BARRIER();
}

FN void job_fit_lbfgsb(JOB_PARAMETERS)
{
    const lane_rows rows = rows_of_team(team, args[FIT_ARG_JOBS]);
    const real part = args[FIT_ARG_FLAGS] & FIT_TO_CLOSER ? R(1e-6) : R(1e-2);
    job_load_jobs(MODEL, args, in, rows);
    job_error_units(MODEL, LBFGSB_UNIT);
    lbfgsb_minimise(MODEL, part * JOB_EDM_TOLERANCE, args[FIT_ARG_ITERATIONS]);
    job_store_fit(MODEL, out, rows);
}

/* Spread of first members in errors; the same near a minimum. */
#define JOB_REACH R(5.0)
#define JOB_REACH_NEAR R(0.1)

FN void job_fit_de(JOB_PARAMETERS)
{
    const lane_rows rows = rows_of_team(team, args[FIT_ARG_JOBS]);
    const real part = args[FIT_ARG_FLAGS] & FIT_TO_CLOSER ? R(1e-4) : R(1e-1),
               reach = args[FIT_ARG_FLAGS] & FIT_FROM_NEAR ? JOB_REACH_NEAR : JOB_REACH;
    if (args[FIT_ARG_BEFORE] == 0) {
        job_load_jobs(MODEL, args, in, rows);
        job_error_units(MODEL, DE_UNIT);
    }
    de_minimise(MODEL, part * JOB_EDM_TOLERANCE, args + FIT_ARG_ITERATIONS, args[FIT_ARG_BEFORE],
                args[FIT_ARG_MEMBERS], reach, args[FIT_ARG_SEED_LOW], args[FIT_ARG_SEED_HIGH]);
    job_store_fit(MODEL, out, rows);
}

FN void job_profile(JOB_PARAMETERS)
{
    /* The fit's own metric is within a factor of two where it converges. But minima of fits that hold slots
     * of their own may be far wider than the free fit's metric says. */
    const u32 flags = args[PROFILE_ARG_FLAGS];
    const real closest = flags & PROFILE_HOLDS ? LIMIT(1e-3, EDM_CLOSER) : LIMIT(EDM_CLOSEST, EDM_CLOSER),
               part = flags & PROFILE_CLOSEST ? closest : R(0.1);
    /* where data tell ten times more than a constraint, its EDM is a hundred times the fit's own */
    const real doubt = R(1e2) * JOB_EDM_TOLERANCE;
    job_prepare(MODEL);
    qn_run(MODEL, args, in, out, team, part * JOB_EDM_TOLERANCE, LIMIT(0.0, 0.1) * JOB_EDM_TOLERANCE, doubt);
}
