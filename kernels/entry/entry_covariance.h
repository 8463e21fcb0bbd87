/* entry_covariance.h: covariances of any family. Comes behind a family's words (entry_jobs.h).
 *
 * With L the factor of the first `dense` slots, the covariance is X X^T, X L^T = R. R: unit rows of those
 * slots, then rows of the family's eliminated slots. R and X (`rest`): tiles of 8 x 8, dense / 8 a row,
 * column by column. */
#pragma once

#include "entry/entry_jobs.h"

/* Curvature of undetermined directions (times their sums of squares): small enough to show in the errors,
 * large enough that rounding does not spread it. */
#if F64
#define JOB_FLAT_CURVATURE R(1e-10)
#else
#define JOB_FLAT_CURVATURE R(1e-8)
#endif
#define JOB_DOUBT R(1e-5) /* matches fits that may end at an EDM of 1e-10 */

typedef struct {
    real value, edm;
    mask bad, edge;
} job_minimum;

#define JOB_EDGE_ITERATIONS 30
#define JOB_EDGE_STIFFER R(1e5) /* so that errors across an edge vanish */
#define JOB_HELD R(1e-4)        /* part of its own variance that a slot keeps; less: edges hold it */

/* Lanes on the domain's edge look for its multipliers from MODEL_X. Returns by how much that lowers twice
 * the NLL; MODEL_HUGE if there are none. NEWTON_SCALE := sums of squares without the boundary. */
FN real job_settle_edges(MODEL_PARAMETERS, mask edge)
{
    newton_fit f = newton_begin(MODEL, JOB_EDM_TOLERANCE, 1);
    const real before = f.value, none = R(0.0);
    f.status = FIT_CONVERGED;
    newton_go_beyond(MODEL, &f, edge);
    newton_run(MODEL, &f, JOB_EDM_TOLERANCE, JOB_EDGE_ITERATIONS, 0);
    const real reach = MODEL_REACH;
    TEAM_BARRIER();
    ONE_WORKER
    {
        MODEL_REACH = none;
    }
    TEAM_BARRIER();
    const real lowered = R(2.0) * (before - model_value(MODEL, 1));
    model_curvature(MODEL, R(1.0), none, JOB_DOUBT, JOB_FLAT_CURVATURE);
    TEAM_FOR(i, MODEL_SLOTS) (NEWTON_SCALE)[i] = MODEL_SCALE(i);
    ONE_WORKER
    {
        MODEL_REACH = reach;
    }
    model_stiffen(MODEL, JOB_EDGE_STIFFER);
    const mask settled = AND(f.status == FIT_CONVERGED, lowered > -MODEL_HUGE);
    /* less than the values' rounding says nothing */
    return SELECT(edge, SELECT(settled, SELECT(lowered > fit_noise(before), lowered, none), MODEL_HUGE),
                  none);
}

FN job_minimum job_factor_at_point(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in,
                                   lane_rows rows)
{
    job_minimum m;
    job_load_jobs(MODEL, args, in, rows);
    m.value = model_value(MODEL, 1);
    m.edge = AND(REAL_OF(args[FIT_ARG_FLAGS] & FIT_PASSES_EDGES) <= R(0.0),
                 AND(m.value < MODEL_HUGE, model_is_near_edge(MODEL, NEWTON_EDGE)));
    real lowered = R(0.0);
    TEAM_IF(ANY(m.edge)) {
        job_step_caps(MODEL);
        lowered = job_settle_edges(MODEL, m.edge);
        model_value(MODEL, 1);
    }
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
    }
    TEAM_BARRIER();
    newton_active_set(MODEL);
    m.bad = model_curvature(MODEL, R(1.0), R(0.0), JOB_DOUBT, JOB_FLAT_CURVATURE);
    /* data met exactly: second derivatives are rounding; Fisher is the Hessian */
    const mask exact = AND(m.bad, R(2.0) * (m.value - MODEL_LEAST) <= JOB_EDM_TOLERANCE);
    TEAM_IF(ANY(exact))
        m.bad = model_curvature(MODEL, SELECT(exact, R(0.0), R(1.0)), R(0.0), JOB_DOUBT, JOB_FLAT_CURVATURE);
    m.edm = newton_direction(MODEL) + lowered;
    return m;
}

/* R, `n_rows` rows: unit rows of dense slots, zeros below. Left of a unit only if `whole`, which reads them
 * there. No barrier follows. */
FN void job_unit_rows(MODEL_PARAMETERS, GLOBAL real *rest, u32 dense, u32 n_rows, u32 whole)
{
    GLOBAL const real *active = MODEL_ACTIVE;
    const u32 blocks = dense / 8;
    TEAM_FOR(I, n_rows / 8) {
        const u32 from = whole || I >= blocks ? 0 : I / TILE_GROUP * TILE_GROUP;
        GLOBAL real *row = rest + 64 * I * blocks;
        for (u32 i = 64 * from; i < 64 * blocks; i += PACK) STOREP(row, i, PK(0.0));
    }
    TEAM_BARRIER();
    TEAM_FOR(i, dense) rest[64 * (i / 8 * blocks + i / 8) + 9 * (i % 8)] = active[i];
}

FN void job_solve_rows(MODEL_PARAMETERS, GLOBAL real *rest, u32 dense, u32 n_rows, GLOBAL const real *rdiag)
{
    GLOBAL const real *tiles = MODEL_TILES;
    const u32 blocks = dense / 8, others = n_rows / 8 - blocks;
    TEAM_BARRIER();
    for (u32 J = 0; J < blocks; J++) {
        TEAM_FOR(step, TILE_GROUPS(blocks) + TILE_GROUPS(others)) {
            const u32 of_dense = step < TILE_GROUPS(blocks),
                      I = of_dense ? TILE_GROUP * step : blocks + TILE_GROUP * (step - TILE_GROUPS(blocks));
            /* zero left of a unit */
            const u32 from = of_dense ? I : 0, end = of_dense ? J + 1 : blocks + others;
            if (I >= end) continue;
            tile_group g;
            g.count = end - I < TILE_GROUP ? end - I : TILE_GROUP;
            UNROLL for (u32 t = 0; t < TILE_GROUP; t++)
            {
                g.tile[t] = 64 * ((I + t) * blocks + J);
                g.left[t] = 64 * ((I + t) * blocks + from);
            }
            tiles_subtract(rest, g, rest, tiles + TILE_OFFSET(J, from), 8 * (J - from));
            tiles_solve_right(rest, g, tiles + TILE_OFFSET(J, J), rdiag + 8 * J);
        }
        TEAM_BARRIER();
    }
}

/* A tile's rows, or its columns, one below the other from `corner` of the answer's matrix on. Eight numbers
 * at constant offsets from one place: compilers store packs. */
FN void job_store_tile(GLOBAL const real *tile, u32 n, u32 by_column, GLOBAL elem *corner, lane_rows rows,
                       u32 stride)
{
    for (u32 j = 0; j < 8; j++) {
        GLOBAL elem *row = corner + j * n;
        real v[8];
        UNROLL for (u32 i = 0; i < 8; i++) v[i] = tile[by_column ? 8 * j + i : 8 * i + j];
        UNROLL for (u32 i = 0; i < 8; i++) STORE_ROWS(row, rows, stride, i, v[i]);
    }
}

/* `square`: scratch of as many tiles. */
FN void job_store_square(MODEL_PARAMETERS, GLOBAL const real *rest, u32 dense, GLOBAL real *square,
                         GLOBAL elem *out, lane_rows rows, u32 stride)
{
    const u32 n = MODEL_SLOTS, blocks = dense / 8;
    GLOBAL const real *active = MODEL_ACTIVE;
    TEAM_FOR(k, n / 8 * TILE_GROUPS(n / 8)) {
        const u32 J = k / TILE_GROUPS(n / 8), I = J + TILE_GROUP * (k % TILE_GROUPS(n / 8));
        if (I >= n / 8) continue;
        /* dense rows are zero left of their block */
        tile_group g = tile_group_of(I, J, n / 8);
        const u32 from = I + g.count <= blocks ? I : J < blocks ? J : 0;
        UNROLL for (u32 t = 0; t < TILE_GROUP; t++) g.left[t] = 64 * ((I + t) * blocks + from);
        for (u32 t = 0; t < g.count; t++)
            for (u32 i = 0; i < 64; i += PACK) STOREP(square + g.tile[t], i, PK(0.0));
        tiles_add(square, g, rest, rest + 64 * (J * blocks + from), dense - 8 * from);
        for (u32 t = 0; t < g.count; t++) {
            const u32 i0 = 8 * (I + t), j0 = 8 * J;
            GLOBAL real *tile = square + g.tile[t];
            GLOBAL elem *matrix = out + COVARIANCE_MATRIX(n);
            for (u32 j = 0; j < 8; j++)
                for (u32 i = 0; i < 8; i += PACK)
                    STOREP(tile, 8 * j + i,
                           pflush(LOADP(tile, 8 * j + i)) * LOADP(active, i0 + i) * PACK_OF(active[j0 + j]));
            job_store_tile(tile, n, 0, matrix + i0 * n + j0, rows, stride);
            if (i0 != j0) job_store_tile(tile, n, 1, matrix + j0 * n + i0, rows, stride);
        }
    }
    TEAM_BARRIER();
}

/* All but the full covariance; its diagonal is in NEWTON_TEMP. */
FN void job_store_errors(MODEL_PARAMETERS, job_minimum m, GLOBAL elem *out, lane_rows rows, u32 stride)
{
    const u32 n = MODEL_SLOTS;
    GLOBAL const real *active = MODEL_ACTIVE;
    TEAM_FOR(i, n) {
        const real curvature = SELECT(m.edge, (NEWTON_SCALE)[i], MODEL_SCALE(i));
        const real part = (NEWTON_TEMP)[i] * curvature;
        const mask known = AND(AND(curvature > R(0.0), part > JOB_HELD), part * JOB_FLAT_CURVATURE < R(1e-4));
        const real variance = SELECT(known, (NEWTON_TEMP)[i] * active[i], R(0.0));
        (NEWTON_TEMP)[i] = variance;
        STORE_ROWS(out, rows, stride, COVARIANCE_ACTIVE * n + i, active[i]);
        STORE_ROWS(out, rows, stride, COVARIANCE_ERRORS * n + i,
                   SQRT(SELECT(variance > R(0.0), variance, R(0.0))));
        STORE_ROWS(out, rows, stride, COVARIANCE_SLOPE * n + i, (NEWTON_SLOPE)[i]);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real scalars[COVARIANCE_SCALARS], worst = R(0.0);
        for (u32 i = 0; i < n; i++) {
            const real slope = R(2.0) * (NEWTON_SLOPE)[i],
                       pull = flush(flush((NEWTON_TEMP)[i] * slope) * slope);
            worst = SELECT(pull > worst, pull, worst);
        }
        for (u32 k = 0; k < COVARIANCE_SCALARS; k++) scalars[k] = R(0.0);
        scalars[COVARIANCE_VALUE] = m.value;
        scalars[COVARIANCE_EDM] = m.edm;
        scalars[COVARIANCE_BAD] = SELECT(m.bad, R(1.0), R(0.0));
        scalars[COVARIANCE_PULL] = SQRT(worst);
        for (u32 k = 0; k < COVARIANCE_SCALARS; k++)
            STORE_ROWS(out, rows, stride, COVARIANCE_SCALAR(n, k), scalars[k]);
    }
}
