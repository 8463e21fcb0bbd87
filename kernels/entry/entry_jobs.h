/* entry_jobs.h: what the entries of every family have in common: rows in, rows out, fits by each method,
 * covariances. Knows no model.
 *
 * A family defines the words of newton.h and MODEL_MEMORY of lbfgsb.h, and then these, before it includes
 * this file:
 *
 *   MODEL_DATA, MODEL_MAIN     elements of a data row; where it stands in the slab
 *   MODEL_WEIGHT(i)            a pack of 1/width^2 of what constrains the slots from i on; 0 where nothing
 *                              does
 *   MODEL_SCALE(i)             of slot i: the sums of squares behind the diagonal of the factored matrix
 *   model_prepare(MODEL)       fills what is read in places where no kernel writes
 *   model_matrix(MODEL, kap)   the Hessian (kap 1) or Fisher matrix (kap 0), without elimination or factor;
 *                              its diagonal is MODEL_DIAGONAL
 *
 * Its entries call the function here that has their name, or, where models differ, build on the others.
 * `args`, `in` and `out` of an entry are at its function; `team`: its TEAM_INDEX.
 */
#ifndef PARITAS_ENTRY_JOBS_H
#define PARITAS_ENTRY_JOBS_H

#include "minimise/fit_flags.h"
#include "minimise/newton.h"
#include "minimise/lbfgsb.h"
#include "minimise/differential_evolution.h"

#if F64
#define JOB_EDM_TOLERANCE R(EDM_TOLERANCE_F64)
#else
#define JOB_EDM_TOLERANCE R(EDM_TOLERANCE_F32)
#endif

/* ---- rows in ---- */

FN void job_prepare(MODEL_PARAMETERS)
{
    model_prepare(MODEL);
    TEAM_FOR(k, MINIMISER_SCALARS) FIT_STATUS(k) = R(0.0);
}

FN void job_load_data(MODEL_PARAMETERS, GLOBAL const elem *data, lane_rows rows)
{
    TEAM_FOR(i, MODEL_DATA) (MODEL_MAIN)[i] = LOAD_ROWS(data, rows, MODEL_DATA, i);
}

/* The data rows of the lanes of m, the others stay. */
FN void job_exchange_data(MODEL_PARAMETERS, GLOBAL const elem *data, u32 stride, lane_rows rows, mask m)
{
    GLOBAL real *to = MODEL_MAIN;
    TEAM_FOR(i, stride) to[i] = SELECT(m, LOAD_ROWS(data, rows, stride, i), to[i]);
}
#define MODEL_LOAD(data, stride, rows, m) job_exchange_data(MODEL, data, stride, rows, m)
#include "minimise/quasi_newton.h"

FN void job_load_point(MODEL_PARAMETERS, GLOBAL const elem *points, lane_rows rows, u32 stride)
{
    TEAM_FOR(i, MODEL_SLOTS) (MODEL_X)[i] = LOAD_ROWS(points, rows, stride, i);
}

/* A row for each point with each data set. args: points, data sets; in: data sets, points. No barrier behind
 * it. */
FN void job_load_pairs(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 sets = args[1];
    job_prepare(MODEL);
    job_load_data(MODEL, in, rows_modulo(rows, sets));
    job_load_point(MODEL, in + sets * MODEL_DATA, rows_divide(rows, sets), MODEL_SLOTS);
}

/* The lanes' data, starts and bounds, as job_fit has them. */
FN void job_load_jobs(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL const elem *job = in + args[1] * MODEL_DATA;
    job_prepare(MODEL);
    job_load_data(MODEL, in, rows_look_up(rows, args + 4));
    job_load_point(MODEL, job, rows, 4 * n);
    TEAM_FOR(i, n) {
        (FIT_LOWER)[i] = LOAD_ROWS(job, rows, 4 * n, n + i);
        (FIT_UPPER)[i] = LOAD_ROWS(job, rows, 4 * n, 2 * n + i);
        (FIT_FREE)[i] = LOAD_ROWS(job, rows, 4 * n, 3 * n + i);
    }
    TEAM_BARRIER();
}

/* args: points, data sets, gradient?; in as job_load_pairs; out, a row: value, then the gradient if asked. */
FN void job_evaluate(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team)
{
    const u32 derivatives = args[2], n = MODEL_SLOTS, stride = 1 + (derivatives ? n : 0);
    const lane_rows rows = rows_of_team(team, args[0] * args[1]);
    job_load_pairs(MODEL, args, in, rows);
    TEAM_BARRIER();
    const real value = model_value(MODEL, derivatives);
    ONE_WORKER
    {
        STORE_ROWS(out, rows, stride, 0, value);
    }
    if (derivatives)
        TEAM_FOR(i, n) STORE_ROWS(out, rows, stride, 1 + i, (MODEL_GRADIENT)[i]);
}

/* ---- fits ---- */

/* A fit's answer: its point, and by one worker what stands behind it. */
FN void job_store_point(MODEL_PARAMETERS, GLOBAL elem *out, lane_rows rows)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL const real *x = MODEL_X;
    TEAM_FOR(i, n) STORE_ROWS(out, rows, n + 8, i, x[i]);
}
FN void job_store_outcome(MODEL_PARAMETERS, GLOBAL elem *out, lane_rows rows, real pull, real evaluations,
                          real open)
{
    const u32 n = MODEL_SLOTS, stride = n + 8;
    for (u32 k = 0; k < 4; k++) STORE_ROWS(out, rows, stride, n + k, FIT_STATUS(k));
    STORE_ROWS(out, rows, stride, n + 4, pull);
    STORE_ROWS(out, rows, stride, n + 5, evaluations);
    STORE_ROWS(out, rows, stride, n + 6, open);
    STORE_ROWS(out, rows, stride, n + 7, R(0.0));
}

/* Largest step of a slot in a fit: STEP_WIDTHS times the width of its constraint; 0 (no limit) where it has
 * none. */
FN void job_step_caps(MODEL_PARAMETERS)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack weight = MODEL_WEIGHT(i), none = PK(0.0);
        const pmask constrained = weight > none;
        STOREP(NEWTON_CAP, i,
               PSELECT(constrained, PDIVIDE(PK(STEP_WIDTHS), PSQRT(PSELECT(constrained, weight, PK(1.0)))),
                       none));
    }
}

/* By Newton's method. args: jobs, data sets, iteration limit, flags (minimise/fit_flags.h), data set of each job;
 * in: data sets, then a row a job: start, lower, upper, free (slots each); out, a row a job: point (slots),
 * status, value, edm, iterations, projected gradient, evaluations where the method counts them, 1 where a
 * direction had no curvature, 1 unused. */
FN void job_fit(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team)
{
    const lane_rows rows = rows_of_team(team, args[0]);
    job_load_jobs(MODEL, args, in, rows);
    job_step_caps(MODEL);
    TEAM_BARRIER();
    const real part = args[3] & FIT_TO_CLOSEST  ? R(EDM_CLOSEST)
                      : args[3] & FIT_TO_CLOSER ? R(EDM_CLOSER)
                                                : R(1.0);
    newton_minimise(MODEL, part * JOB_EDM_TOLERANCE, args[2], args[3] & FIT_FROM_NEAR);
    GLOBAL const real *g = NEWTON_SLOPE, *active = MODEL_ACTIVE;
    job_store_point(MODEL, out, rows);
    ONE_WORKER
    {
        real worst = R(0.0);
        for (u32 i = 0; i < MODEL_SLOTS; i++) {
            const real d = (NEWTON_SCALE)[i];
            const mask counts = AND(active[i] > R(0.0), d > R(0.0));
            const real size = SELECT(g[i] < R(0.0), -g[i], g[i]);
            const real pull =
                SELECT(counts, flush(DIVIDE(R(2.0) * size, SQRT(SELECT(counts, d, R(1.0))))), R(0.0));
            worst = SELECT(pull > worst, pull, worst);
        }
        job_store_outcome(MODEL, out, rows, worst, R(0.0), FIT_STATUS(4));
    }
}

/* About one error of each slot: from the diagonal of the Fisher matrix at MODEL_X, constraints included. Only
 * the diagonal: neither elimination nor factor, so that what follows checks Newton's method and does not
 * share it. */
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

/* By L-BFGS-B: args, in, out as job_fit's. */
FN void job_fit_lbfgsb(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out,
                       u32 team)
{
    const lane_rows rows = rows_of_team(team, args[0]);
    job_load_jobs(MODEL, args, in, rows);
    job_error_units(MODEL, LBFGSB_UNIT);
    lbfgsb_minimise(MODEL, (args[3] & FIT_TO_CLOSER ? R(1e-6) : R(1e-2)) * JOB_EDM_TOLERANCE, args[2]);
    ONE_WORKER
    {
        job_store_outcome(MODEL, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), FIT_STATUS(5), R(0.0));
    }
    job_store_point(MODEL, out, rows);
}

/* How far around the start the first members lie, in errors; and around one that is near the minimum. */
#define JOB_REACH R(5.0)
#define JOB_REACH_NEAR R(0.1)

/* By differential evolution: args, in, out as job_fit's; behind the data set of each job: members of a
 * population, seed (low, high word). */
FN void job_fit_de(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team)
{
    const lane_rows rows = rows_of_team(team, args[0]);
    CONSTANT u32 *more = args + 4 + args[0];
    job_load_jobs(MODEL, args, in, rows);
    job_error_units(MODEL, DE_UNIT);
    de_minimise(MODEL, (args[3] & FIT_TO_CLOSER ? R(1e-4) : R(1e-1)) * JOB_EDM_TOLERANCE, args[2], more[0],
                args[3] & FIT_FROM_NEAR ? JOB_REACH_NEAR : JOB_REACH, more[1], more[2]);
    ONE_WORKER
    {
        job_store_outcome(MODEL, out, rows, R(2.0) * SQRT(FIT_STATUS(4)), R(0.0), R(0.0));
    }
    job_store_point(MODEL, out, rows);
}

/* Free and conditional fits to many data sets with a shared matrix: rows in and out as qn_run has them; a
 * further flag, 16: down to EDM_CLOSEST. */
FN void job_profile(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team)
{
    job_prepare(MODEL);
    TEAM_FOR(i, MODEL_DATA) (MODEL_MAIN)[i] = R(1.0); /* lanes without a task have data, too */
    TEAM_BARRIER();
    qn_run(MODEL, args, in, out, team, MODEL_DATA,
           (args[3] & 16 ? R(EDM_CLOSEST) : R(0.01)) * JOB_EDM_TOLERANCE);
}

#endif
