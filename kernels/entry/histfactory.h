/* histfactory.h: the entries of the HistFactory family. Each binds the model to a task for the rows of one team.
 *
 * Data rows are HF_DATA long: panel array of main data, then auxiliary data by slot. Points are SLOTS long.
 */
#ifndef PARITAS_ENTRY_HISTFACTORY_H
#define PARITAS_ENTRY_HISTFACTORY_H

#include "numeric/math.h"
#include "numeric/deviance.h"
#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "histfactory/arrays.h"
#include "histfactory/rates.h"
#include "histfactory/curvature.h"

#define MODEL_PARAMETERS HF_PARAMETERS
#define MODEL HF
#define MODEL_SLOTS mi[HF_SLOTS]
#define MODEL_X (s + mi[HF_S_X])
#define MODEL_GRADIENT (s + mi[HF_S_GRADIENT])
#define MODEL_ACTIVE (s + mi[HF_S_ACTIVE])
#define MODEL_WORK (s + mi[HF_S_MINIMISER])
#define MODEL_MEMORY (s + mi[HF_S_AUGMENTED]) /* what stands behind the slab, other entries use otherwise */
#define MODEL_HUGE HF_HUGE
#define MODEL_LEAST R(0.0) /* a deviance */
#define MODEL_FLAT (s[mi[HF_S_SCALARS_OF_FIT] + 4])
#define MODEL_DIAGONAL(i) ((i) < mi[HF_DENSE] ? LOADP(s + mi[HF_S_DIAGONAL], i) : LOADP(s + mi[HF_S_LOCAL_D], (i) - mi[HF_DENSE]))

FN real model_value(MODEL_PARAMETERS, u32 derivatives) { return hf_value(HF, derivatives); }
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt)
{
    hf_curvature(HF, kap, damping, 1);
    return hf_factor(HF, doubt, R(1e-7));
}
FN void model_solve(MODEL_PARAMETERS, GLOBAL real *v) { hf_solve(HF, v); }
FN real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v) { return hf_negative_direction(HF, v); }

#include "minimise/newton.h"

/* What is read in places where no kernel writes: padding bins of lanes, scratch. */
FN void hf_prepare(HF_PARAMETERS)
{
    TEAM_FOR_PACK(i, 8 * mi[HF_PANELS]) STOREP(s + mi[HF_S_DEVIANCE], i, PK(0.0));
    TEAM_FOR(k, MINIMISER_SCALARS) FIT_STATUS(k) = R(0.0);
}

FN void hf_load_data(HF_PARAMETERS, GLOBAL const elem *data, lane_rows rows)
{
    TEAM_FOR(i, mi[HF_DATA]) s[mi[HF_S_MAIN] + i] = LOAD_ROWS(data, rows, mi[HF_DATA], i);
}

FN void hf_load_point(HF_PARAMETERS, GLOBAL const elem *points, lane_rows rows, u32 stride)
{
    TEAM_FOR(i, mi[HF_SLOTS]) s[mi[HF_S_X] + i] = LOAD_ROWS(points, rows, stride, i);
}

/* args: points, data sets, gradient?; in: data sets, points; out, a row a (point, data set): value, then the gradient if asked. */
KERNEL(hf_evaluate)
{
    const u32 points = args[0], sets = args[1], derivatives = args[2], n = mi[HF_SLOTS];
    const lane_rows rows = rows_of_team(TEAM_INDEX, points * sets);
    const u32 stride = 1 + (derivatives ? n : 0);
    hf_prepare(HF);
    hf_load_data(HF, in, rows_modulo(rows, sets));
    hf_load_point(HF, in + sets * mi[HF_DATA], rows_divide(rows, sets), n);
    TEAM_BARRIER();
    const real value = hf_value(HF, derivatives);
    ONE_WORKER { STORE_ROWS(out, rows, stride, 0, value); }
    if (derivatives) TEAM_FOR(i, n) STORE_ROWS(out, rows, stride, 1 + i, s[mi[HF_S_GRADIENT] + i]);
}

/* args: points; in: points; out: lambda of every bin (8 * panels), then the rate of every cell (8 * cells). */
KERNEL(hf_expected)
{
    const u32 stride = 8 * (mi[HF_PANELS] + mi[HF_CELLS]);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_prepare(HF);
    hf_load_point(HF, in, rows, mi[HF_SLOTS]);
    TEAM_BARRIER();
    hf_value(HF, 0);
    TEAM_FOR(i, 8 * mi[HF_PANELS]) STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 units = ch[HF_CH_UNITS];
        TEAM_FOR(k, 8 * units * ch[HF_CH_PANELS])
        {
            const u32 cell = ch[HF_CH_FIRST_CELL] + k / 8, panel = k / 8 / units;
            real gamma = R(1.0);
            if (ch[HF_CH_COMMON]) gamma = s[mi[HF_S_X] + mi[mi[HF_I_SETS] + ch[HF_CH_FIRST_SET] * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + k % 8];
            real rate = flush(s[mi[HF_S_XE] + 8 * cell + k % 8] * gamma);
            if (mi[HF_CLIPS] & 1) rate = SELECT(rate < LOADM1(mr, mi[HF_R_CLIPS]), LOADM1(mr, mi[HF_R_CLIPS]), rate);
            STORE_ROWS(out, rows, stride, 8 * mi[HF_PANELS] + 8 * cell + k % 8, rate);
        }
    }
}

/* args: points, data sets; in: data sets, points; out, a row: value, gradient, Hessian (slots x slots, row-major, both halves). */
KERNEL(hf_hessian)
{
    const u32 points = args[0], sets = args[1], n = mi[HF_SLOTS], dense = mi[HF_DENSE], stride = 1 + n + n * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, points * sets);
    hf_prepare(HF);
    hf_load_data(HF, in, rows_modulo(rows, sets));
    hf_load_point(HF, in + sets * mi[HF_DATA], rows_divide(rows, sets), n);
    TEAM_FOR(i, n) s[mi[HF_S_ACTIVE] + i] = R(1.0);
    TEAM_BARRIER();
    const real value = hf_value(HF, 1);
    hf_curvature(HF, R(1.0), R(0.0), 0);
    ONE_WORKER { STORE_ROWS(out, rows, stride, 0, value); }
    TEAM_FOR(i, n)
    {
        STORE_ROWS(out, rows, stride, 1 + i, s[mi[HF_S_GRADIENT] + i]);
        for (u32 j = 0; j < n; j++) {
            const u32 p = i > j ? i : j, q = i > j ? j : i;
            real h = R(0.0);
            if (p < dense) h = s[mi[HF_S_TILES] + TILE_OFFSET(p / 8, q / 8) + 8 * (q % 8) + p % 8];
            STORE_ROWS(out, rows, stride, 1 + n + i * n + j, h);
        }
    }
    TEAM_BARRIER();
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 n_local = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS], coupled = ch[HF_CH_COMMON] ? 0 : n_local;
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS] * n_local)
        {
            const u32 set = k / (8 * ch[HF_CH_PANELS]), panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            if (b >= bins) continue;
            const u32 slot = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
            GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
            for (u32 i = 0; i < 8 * nblocks; i++) {
                const u32 to = mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8;
                const real h = flush(kept[i / 8 * ch[HF_CH_ROW_STRIDE] + (coupled ? (set + 1) * bins + b : b) * 8 + i % 8] * s[mi[HF_S_LOCAL_C] + slot - dense]);
                STORE_ROWS(out, rows, stride, 1 + n + slot * n + to, h);
                STORE_ROWS(out, rows, stride, 1 + n + to * n + slot, h);
            }
            STORE_ROWS(out, rows, stride, 1 + n + slot * n + slot, s[mi[HF_S_LOCAL_D] + slot - dense]);
            for (u32 m = 0; m < set; m++) {
                const u32 slot2 = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                const real h = s[ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1) + 8 * (set * (set - 1) / 2 + m) + b];
                STORE_ROWS(out, rows, stride, 1 + n + slot * n + slot2, h);
                STORE_ROWS(out, rows, stride, 1 + n + slot2 * n + slot, h);
            }
        }
    }
}

/* args: points; in: points; out: derivative of lambda of every bin (8 * panels rows) by every slot. */
KERNEL(hf_jacobian)
{
    const u32 n = mi[HF_SLOTS], stride = 8 * mi[HF_PANELS] * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_prepare(HF);
    hf_load_point(HF, in, rows, n);
    TEAM_FOR(i, stride) STORE_ROWS(out, rows, stride, i, R(0.0));
    TEAM_BARRIER();
    hf_value(HF, 1);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 units = ch[HF_CH_UNITS];
        for (u32 panel = 0; panel < ch[HF_CH_PANELS]; panel++) {
            const u32 cell = (ch[HF_CH_FIRST_CELL] + panel * units) * 8, first_bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8;
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            GLOBAL real *jacobian = s + mi[HF_S_JACOBIAN];
            hf_panel_jacobian(HF, ch, panel, s + mi[HF_S_XE] + cell, s + mi[HF_S_XS] + cell, s + mi[HF_S_XG] + cell, jacobian);
            TEAM_BARRIER();
            TEAM_FOR(b, bins)
            {
                real gamma = R(1.0), inside = R(1.0);
                if (ch[HF_CH_COMMON]) gamma = s[mi[HF_S_X] + mi[mi[HF_I_SETS] + ch[HF_CH_FIRST_SET] * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b];
                if (mi[HF_CLIPS] & 2) inside = SELECT(s[mi[HF_S_LAMBDA] + first_bin + b] <= LOADM1(mr, mi[HF_R_CLIPS] + 1), R(0.0), inside);
                for (u32 i = 0; i < 8 * ch[HF_CH_BLOCKS]; i++)
                    STORE_ROWS(out, rows, stride, (first_bin + b) * n + mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8, flush(jacobian[8 * i + b] * gamma) * inside);
            }
            TEAM_BARRIER(); /* the first worker puts the sets' derivatives where the others read */
            for (u32 set = 0; set < ch[HF_CH_SETS]; set++) {
                const u32 slot = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel;
                ONE_WORKER
                {
                    for (u32 b = 0; b < bins; b += PACK) STOREP(jacobian, b, hf_local_derivative(HF, ch, panel, b, set, HF_NO_SET));
                    for (u32 b = 0; b < bins; b++) {
                        real inside = R(1.0);
                        if (mi[HF_CLIPS] & 2) inside = SELECT(s[mi[HF_S_LAMBDA] + first_bin + b] <= LOADM1(mr, mi[HF_R_CLIPS] + 1), R(0.0), inside);
                        STORE_ROWS(out, rows, stride, (first_bin + b) * n + slot + b, jacobian[b] * inside);
                    }
                }
            }
            TEAM_BARRIER();
        }
    }
}

#if F64
#define HF_EDM_TOLERANCE R(EDM_TOLERANCE_F64)
#else
#define HF_EDM_TOLERANCE R(EDM_TOLERANCE_F32)
#endif

/* Largest step of a slot in a fit: STEP_WIDTHS times the width of its constraint; 0 (no limit) where it has none. */
FN void hf_step_caps(HF_PARAMETERS)
{
    TEAM_FOR_PACK(i, mi[HF_SLOTS])
    {
        const pack precision = LOADM(mr + mi[HF_R_PRECISION], i), tau = LOADM(mr + mi[HF_R_TAU], i), none = PK(0.0);
        const pack weight = PSELECT(precision > none, precision, tau);
        const pmask constrained = weight > none;
        STOREP(NEWTON_CAP, i, PSELECT(constrained, PDIVIDE(PK(STEP_WIDTHS), PSQRT(PSELECT(constrained, weight, PK(1.0)))), none));
    }
}

/* The lanes' data, starts and bounds. */
FN void hf_load_jobs(HF_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    const u32 n = mi[HF_SLOTS];
    GLOBAL const elem *job = in + args[1] * mi[HF_DATA];
    hf_prepare(HF);
    hf_load_data(HF, in, rows_look_up(rows, args + 4));
    hf_load_point(HF, job, rows, 4 * n);
    TEAM_FOR(i, n)
    {
        (FIT_LOWER)[i] = LOAD_ROWS(job, rows, 4 * n, n + i);
        (FIT_UPPER)[i] = LOAD_ROWS(job, rows, 4 * n, 2 * n + i);
        (FIT_FREE)[i] = LOAD_ROWS(job, rows, 4 * n, 3 * n + i);
    }
    TEAM_BARRIER();
}

/* A fit's answer: its point, and by one worker what stands behind it. */
FN void hf_store_point(HF_PARAMETERS, GLOBAL elem *out, lane_rows rows)
{
    const u32 n = mi[HF_SLOTS];
    GLOBAL const real *x = MODEL_X;
    TEAM_FOR(i, n) STORE_ROWS(out, rows, n + 8, i, x[i]);
}
FN void hf_store_outcome(HF_PARAMETERS, GLOBAL elem *out, lane_rows rows, real pull, real evaluations)
{
    const u32 n = mi[HF_SLOTS], stride = n + 8;
    for (u32 k = 0; k < 4; k++) STORE_ROWS(out, rows, stride, n + k, FIT_STATUS(k));
    STORE_ROWS(out, rows, stride, n + 4, pull);
    STORE_ROWS(out, rows, stride, n + 5, evaluations);
    for (u32 k = 6; k < 8; k++) STORE_ROWS(out, rows, stride, n + k, R(0.0));
}

/* args: jobs, data sets, iteration limit, flags (1: the starts are near the minima, 2: to a smaller EDM), data set of each job; in: data sets, then a row a job: start, lower, upper, free
 * (slots each); out, a row a job: point (slots), status, value, edm, iterations, projected gradient, evaluations where the method counts them, 2 unused. */
KERNEL(hf_fit)
{
    const u32 n = mi[HF_SLOTS];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_load_jobs(HF, args, in, rows);
    hf_step_caps(HF);
    TEAM_BARRIER();
    newton_minimise(HF, args[3] & 2 ? R(EDM_CLOSER) * HF_EDM_TOLERANCE : HF_EDM_TOLERANCE, args[2], args[3] & 1);
    GLOBAL const real *g = NEWTON_SLOPE, *active = MODEL_ACTIVE;
    hf_store_point(HF, out, rows);
    ONE_WORKER
    {
        real worst = R(0.0);
        for (u32 i = 0; i < n; i++) {
            const real d = (NEWTON_SCALE)[i];
            const mask counts = AND(active[i] > R(0.0), d > R(0.0));
            const real size = SELECT(g[i] < R(0.0), -g[i], g[i]);
            const real pull = SELECT(counts, flush(DIVIDE(R(2.0) * size, SQRT(SELECT(counts, d, R(1.0))))), R(0.0));
            worst = SELECT(pull > worst, pull, worst);
        }
        hf_store_outcome(HF, out, rows, worst, R(0.0));
    }
}

/* In a covariance a direction on which nothing depends has this curvature (times its own sums of squares): small enough for the
 * errors of all parameters that it moves to show it, large enough for rounding not to spread it to others. */
#if F64
#define HF_FLAT_CURVATURE R(1e-10)
#else
#define HF_FLAT_CURVATURE R(1e-8)
#endif

/* args: jobs, data sets, whole covariance?, 0, data set of each job; in as hf_fit, start = the point in question; out, a row a job: active
 * (slots), errors (slots; 0 where not active or not determined), gradient (slots), value, edm with this very Hessian, bad pivots?, projected gradient, 4 unused, then, if asked, the
 * covariance of active slots (slots x slots). */
KERNEL(hf_covariance)
{
    const u32 whole = args[2], n = mi[HF_SLOTS], dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS], locals = n / 8 - blocks;
    const u32 stride = 3 * n + 8 + (whole ? n * n : 0);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_load_jobs(HF, args, in, rows);
    const real value = hf_value(HF, 1);
    TEAM_FOR_PACK(i, n)
    {
        STOREP(NEWTON_POINT, i, LOADP(MODEL_X, i));
        STOREP(NEWTON_SLOPE, i, LOADP(MODEL_GRADIENT, i));
    }
    TEAM_BARRIER();
    newton_active_set(HF);
    hf_curvature(HF, R(1.0), R(0.0), 1);
    mask bad = hf_factor(HF, R(1e-5), HF_FLAT_CURVATURE); /* as doubtful as a fit that may end at an EDM of 1e-10 */
    /* where the data are met exactly, second derivatives count for nothing but their rounding: the Fisher matrix is the Hessian */
    const mask exact = AND(bad, R(2.0) * value <= HF_EDM_TOLERANCE);
    TEAM_IF(ANY(exact))
    {
        hf_curvature(HF, SELECT(exact, R(0.0), R(1.0)), R(0.0), 1);
        bad = hf_factor(HF, R(1e-5), HF_FLAT_CURVATURE);
    }
    const real edm = newton_direction(HF);
    GLOBAL const real *active = MODEL_ACTIVE, *tiles = s + mi[HF_S_TILES], *locald = s + mi[HF_S_LOCAL_D] - dense, *localc = s + mi[HF_S_LOCAL_C] - dense;
    GLOBAL real *rest = s + mi[HF_S_AUGMENTED], *columns = rest + n * dense, *square = columns + 8 * mi[HF_LOCAL_COLUMNS];
    /* Rows below the factor: a unit row a dense slot, and minus D^-1 L^-1 H_la, then L^-T, a local slot. Carried through the same
     * triangular solve they become X with covariance = X X^T (+ the local blocks' own inverse). */
    TEAM_FOR_PACK(i, n * dense) STOREP(rest, i, PK(0.0));
    TEAM_BARRIER();
    TEAM_FOR(i, dense) rest[64 * (i / 8 * blocks + i / 8) + 9 * (i % 8)] = active[i];
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 n_local = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS], coupled = ch[HF_CH_COMMON] ? 0 : n_local;
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS])
        {
            const u32 panel = k / 8, b = k % 8, bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            if (b >= bins) continue;
            GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
            GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1);
            for (u32 l = n_local; l-- > 0;) {
                const u32 slot = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                const real factor = flush(DIVIDE(-localc[slot], locald[slot]));
                for (u32 i = 0; i < 8 * nblocks; i++) {
                    const u32 block = mi[ch[HF_CH_BLOCK_LIST] + i / 8];
                    GLOBAL real *to = rest + 64 * (slot / 8 * blocks + block) + 8 * (i % 8);
                    real v = factor * kept[i / 8 * ch[HF_CH_ROW_STRIDE] + (coupled ? (l + 1) * bins + b : b) * 8 + i % 8] * active[8 * block + i % 8];
                    for (u32 m = l + 1; m < n_local; m++) {
                        const u32 slot2 = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                        v = FMA(-lower[8 * (m * (m - 1) / 2 + l) + b], rest[64 * (slot2 / 8 * blocks + block) + 8 * (i % 8) + slot2 % 8], v);
                    }
                    to[slot % 8] = flush(v);
                }
            }
        }
    }
    TEAM_BARRIER();
    for (u32 J = 0; J < blocks; J++) {
        TEAM_FOR(step, TILE_GROUPS(blocks) + TILE_GROUPS(locals))
        {
            const u32 of_dense = step < TILE_GROUPS(blocks), I = of_dense ? TILE_GROUP * step : blocks + TILE_GROUP * (step - TILE_GROUPS(blocks));
            const u32 from = of_dense ? I : 0, end = of_dense ? J + 1 : blocks + locals; /* columns left of a unit are zero */
            if (I >= end) continue;
            tile_group g;
            g.count = end - I < TILE_GROUP ? end - I : TILE_GROUP;
            UNROLL for (u32 t = 0; t < TILE_GROUP; t++) {
                g.tile[t] = 64 * ((I + t) * blocks + J);
                g.left[t] = 64 * ((I + t) * blocks + from);
            }
            tiles_subtract(rest, g, rest, tiles + TILE_OFFSET(J, from), 8 * (J - from));
            tiles_solve_right(rest, g, tiles + TILE_OFFSET(J, J), s + mi[HF_S_RDIAG] + 8 * J);
        }
        TEAM_BARRIER();
    }
    /* own inverse of the local blocks: columns of L^-T D^-1 L^-1, one bin at a time; errors are its diagonal plus the row norms */
    TEAM_FOR(I, n / 8)
    for (u32 i = 0; i < 8; i += PACK) {
        pack sum[4];
        UNROLL for (u32 c = 0; c < 4; c++) sum[c] = PK(0.0);
        for (u32 k = I < blocks ? 8 * I : 0; k < dense; k += 4)
            UNROLL for (u32 c = 0; c < 4; c++) {
                const pack v = LOADP(rest, 64 * I * blocks + 8 * (k + c) + i);
                sum[c] = PFMA(v, v, sum[c]);
            }
        STOREP(NEWTON_TEMP, 8 * I + i, pflush((sum[0] + sum[2]) + (sum[1] + sum[3])));
    }
    TEAM_BARRIER();
    TEAM_IF(whole)
    {
        TEAM_FOR(k, n / 8 * TILE_GROUPS(n / 8))
        {
            const u32 J = k / TILE_GROUPS(n / 8), I = J + TILE_GROUP * (k % TILE_GROUPS(n / 8));
            if (I >= n / 8) continue;
            /* rows of dense slots are zero left of their own block */
            tile_group g = tile_group_of(I, J, n / 8);
            const u32 from = I + g.count <= blocks ? I : J < blocks ? J : 0;
            UNROLL for (u32 t = 0; t < TILE_GROUP; t++) g.left[t] = 64 * ((I + t) * blocks + from);
            for (u32 t = 0; t < g.count; t++)
                for (u32 i = 0; i < 64; i += PACK) STOREP(square + g.tile[t], i, PK(0.0));
            tiles_add(square, g, rest, rest + 64 * (J * blocks + from), dense - 8 * from);
            for (u32 t = 0; t < g.count; t++)
                for (u32 e = 0; e < 64; e++) {
                    const u32 i = 8 * (I + t) + e % 8, j = 8 * J + e / 8;
                    const real v = flush(square[g.tile[t] + e]) * active[i] * active[j];
                    STORE_ROWS(out, rows, stride, 3 * n + 8 + i * n + j, v);
                        if (I + t != J) STORE_ROWS(out, rows, stride, 3 * n + 8 + j * n + i, v);
                }
        }
        TEAM_BARRIER();
    }
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 n_local = ch[HF_CH_SETS];
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS] * n_local)
        {
            const u32 column = k / (8 * ch[HF_CH_PANELS]), panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            if (b >= (panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS])) continue;
            GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1);
            const u32 first = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + column) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
            /* e_column through L^-1, D^-1, L^-T; element m of it in scratch m */
            GLOBAL real *y = columns + k * n_local;
            for (u32 l = 0; l < n_local; l++) {
                real v = l == column ? R(1.0) : R(0.0);
                for (u32 m = 0; m < l; m++) v = FMA(-lower[8 * (l * (l - 1) / 2 + m) + b], y[m], v);
                y[l] = flush(v);
            }
            for (u32 l = n_local; l-- > 0;) {
                const u32 slot = mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                real v = flush(DIVIDE(y[l], locald[slot]));
                for (u32 m = l + 1; m < n_local; m++) v = FMA(-lower[8 * (m * (m - 1) / 2 + l) + b], y[m], v);
                v = flush(v);
                y[l] = v;
                if (whole) {
                    const u32 at = 3 * n + 8 + slot * n + first;
                    STORE_ROWS(out, rows, stride, at, (LOAD_ROWS(out, rows, stride, at) + v) * active[slot] * active[first]);
                }
            }
            (NEWTON_TEMP)[first] = (NEWTON_TEMP)[first] + y[column];
        }
        TEAM_BARRIER();
    }
    TEAM_FOR(i, n)
    {
        const real curvature = i < dense ? s[mi[HF_S_SCALE] + i] : locald[i];
        const mask known = AND(curvature > R(0.0), (NEWTON_TEMP)[i] * curvature * HF_FLAT_CURVATURE < R(1e-4));
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

#endif
