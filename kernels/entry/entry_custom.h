/* entry_custom.h: entries of a user's model, behind its function (docs/models.md). Rows: as HistFactory's
 * (entry_rows.h). */
#pragma once

#include "custom/custom_likelihood.h"
#include "entry/entry_covariance.h"
#include "entry/entry_draw.h"
#include "entry/entry_sample.h"

JOB_ENTRIES(custom)
JOB_ENTRY(custom, hessian)

KERNEL(custom_about)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    ONE_WORKER
    {
        STORE_ROWS(out, rows, CUSTOM_ABOUT_SIZE, CUSTOM_ABOUT_PARAMETERS, REAL_OF(PARAMETERS));
        STORE_ROWS(out, rows, CUSTOM_ABOUT_SIZE, CUSTOM_ABOUT_VERSION, REAL_OF(CUSTOM_VERSION));
    }
}

/* Points without data: expectations see zeros. */
FN void custom_load_points(MODEL_PARAMETERS, GLOBAL const elem *points, lane_rows rows)
{
    TEAM_FOR(i, MODEL_DATA) (MODEL_MAIN)[i] = R(0.0);
    job_load_point(MODEL, points, rows, MODEL_SLOTS);
    TEAM_BARRIER();
}

/* out: expected main data (P). */
KERNEL(custom_expected)
{
    const u32 places = mi[CUSTOM_PLACES];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    custom_load_points(MODEL, in, rows);
    model_value(MODEL, 0);
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, s[mi[CUSTOM_S_VALUE] + i]);
}

/* out: derivatives of main data (P rows) by slot. */
KERNEL(custom_jacobian)
{
    const u32 n = MODEL_SLOTS, places = mi[CUSTOM_PLACES];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    custom_load_points(MODEL, in, rows);
    model_value(MODEL, 1);
    TEAM_FOR(e, places * n) {
        real derivative = R(0.0);
        if (e % n < PARAMETERS) derivative = s[mi[CUSTOM_S_FIRST] + e % n * places + e / n];
        STORE_ROWS(out, rows, places * n, e, derivative);
    }
}

KERNEL(custom_covariance)
{
    const u32 whole = args[FIT_ARG_WHOLE], n = MODEL_SLOTS, stride = COVARIANCE_SIZE(n, whole);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[FIT_ARG_JOBS]);
    const job_minimum minimum = job_factor_at_point(MODEL, args, in, rows);
    GLOBAL real *rest = MODEL_MEMORY;
    job_unit_rows(MODEL, rest, n, n, whole);
    job_solve_rows(MODEL, rest, n, n, CUSTOM_S(RDIAG));
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
    TEAM_IF(whole) job_store_square(MODEL, rest, n, rest + n * n, out, rows, stride);
    job_store_errors(MODEL, minimum, out, rows, stride);
}
