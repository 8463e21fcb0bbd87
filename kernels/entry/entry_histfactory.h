/* entry_histfactory.h: the entries of the HistFactory family. Each binds the model to a task for the rows of one
 * team.
 *
 * Data rows are HF_DATA long: panel array of main data, then auxiliary data by slot, then varied numbers.
 * Points are SLOTS long.
 */
#ifndef PARITAS_ENTRY_HISTFACTORY_H
#define PARITAS_ENTRY_HISTFACTORY_H

#include "numeric/math.h"
#include "numeric/deviance.h"
#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_rates.h"
#include "histfactory/histfactory_curvature.h"
#include "histfactory/histfactory_tangent.h"

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
#define MODEL_DIAGONAL(i) \
    ((i) < mi[HF_DENSE] ? LOADP(s + mi[HF_S_DIAGONAL], i) : LOADP(s + mi[HF_S_LOCAL_D], (i) - mi[HF_DENSE]))
#define MODEL_DATA mi[HF_DATA]
#define MODEL_MAIN (s + mi[HF_S_MAIN])
#define MODEL_WEIGHT(i) hf_weight(HF, i)
#define MODEL_SCALE(i) \
    ((i) < mi[HF_DENSE] ? s[mi[HF_S_SCALE] + (i)] : s[mi[HF_S_LOCAL_D] + (i) - mi[HF_DENSE]])

FN pack hf_weight(HF_PARAMETERS, u32 i)
{
    const pack precision = hf_precision(HF, i), tau = hf_tau(HF, i);
    return PSELECT(precision > PK(0.0), precision, tau);
}

FN void model_prepare(MODEL_PARAMETERS) /* padding bins of lanes */
{
    TEAM_FOR_PACK(i, 8 * mi[HF_PANELS]) STOREP(s + mi[HF_S_DEVIANCE], i, PK(0.0));
}
FN real model_value(MODEL_PARAMETERS, u32 derivatives)
{
    return hf_value(HF, derivatives);
}
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt, real flat)
{
    hf_curvature(HF, kap, damping, 1);
    return hf_factor(HF, doubt, flat);
}
FN void model_matrix(MODEL_PARAMETERS, real kap)
{
    hf_curvature(HF, kap, R(0.0), 0);
}
FN void model_solve(MODEL_PARAMETERS, GLOBAL real *v)
{
    hf_solve(HF, v);
}
FN real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v)
{
    return hf_negative_direction(HF, v);
}

#include "entry/entry_jobs.h"
#include "entry/entry_covariance.h"

KERNEL(hf_evaluate)
{
    job_evaluate(HF, args, in, out, TEAM_INDEX);
}
KERNEL(hf_fit)
{
    job_fit(HF, args, in, out, TEAM_INDEX);
}
KERNEL(hf_fit_lbfgsb)
{
    job_fit_lbfgsb(HF, args, in, out, TEAM_INDEX);
}
KERNEL(hf_fit_de)
{
    job_fit_de(HF, args, in, out, TEAM_INDEX);
}
KERNEL(hf_profile)
{
    job_profile(HF, args, in, out, TEAM_INDEX);
}

/* Points, each with its data row where varied numbers stand in it. args: points, data rows (as many, or 0);
 * in: data rows, points. */
FN void hf_load_points(HF_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows)
{
    job_prepare(HF);
    TEAM_IF(args[1]) job_load_data(HF, in, rows);
    job_load_point(HF, in + args[1] * mi[HF_DATA], rows, mi[HF_SLOTS]);
    TEAM_BARRIER();
}

/* args, in: hf_load_points; out: lambda of every bin (8 * panels), then the rate of every cell (8 *
 * cells). */
KERNEL(hf_expected)
{
    const u32 stride = 8 * (mi[HF_PANELS] + mi[HF_CELLS]);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_load_points(HF, args, in, rows);
    hf_value(HF, 0);
    TEAM_FOR(i, 8 * mi[HF_PANELS]) STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 units = ch[HF_CH_UNITS];
        TEAM_FOR(k, 8 * units * ch[HF_CH_PANELS]) {
            const u32 cell = ch[HF_CH_FIRST_CELL] + k / 8, panel = k / 8 / units;
            real gamma = R(1.0);
            if (ch[HF_CH_COMMON])
                gamma = s[mi[HF_S_X] + mi[mi[HF_I_SETS] + ch[HF_CH_FIRST_SET] * HF_SE_SIZE + HF_SE_SLOT] +
                          8 * panel + k % 8];
            real rate = flush(s[mi[HF_S_XE] + 8 * cell + k % 8] * gamma);
            if (mi[HF_CLIPS] & 1)
                rate = SELECT(rate < LOADM1(mr, mi[HF_R_CLIPS]), LOADM1(mr, mi[HF_R_CLIPS]), rate);
            STORE_ROWS(out, rows, stride, 8 * mi[HF_PANELS] + 8 * cell + k % 8, rate);
        }
    }
}

/* args: points, data sets; in: data sets, points; out, a row: value, gradient, Hessian (slots x slots,
 * row-major, both halves). */
KERNEL(hf_hessian)
{
    const u32 n = mi[HF_SLOTS], dense = mi[HF_DENSE], stride = 1 + n + n * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0] * args[1]);
    job_load_pairs(HF, args, in, rows);
    TEAM_FOR(i, n) s[mi[HF_S_ACTIVE] + i] = R(1.0);
    TEAM_BARRIER();
    const real value = hf_value(HF, 1);
    model_matrix(HF, R(1.0));
    ONE_WORKER
    {
        STORE_ROWS(out, rows, stride, 0, value);
    }
    TEAM_FOR(i, n) {
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
        const u32 n_local = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS],
                  coupled = ch[HF_CH_COMMON] ? 0 : n_local;
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS] * n_local) {
            const u32 set = k / (8 * ch[HF_CH_PANELS]), panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            if (b >= bins) continue;
            const u32 slot =
                mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
            GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
            for (u32 i = 0; i < 8 * nblocks; i++) {
                const u32 to = mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8;
                const real h = flush(
                    kept[i / 8 * ch[HF_CH_ROW_STRIDE] + (coupled ? (set + 1) * bins + b : b) * 8 + i % 8] *
                    s[mi[HF_S_LOCAL_C] + slot - dense]);
                STORE_ROWS(out, rows, stride, 1 + n + slot * n + to, h);
                STORE_ROWS(out, rows, stride, 1 + n + to * n + slot, h);
            }
            STORE_ROWS(out, rows, stride, 1 + n + slot * n + slot, s[mi[HF_S_LOCAL_D] + slot - dense]);
            for (u32 m = 0; m < set; m++) {
                const u32 slot2 =
                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                const real h = s[ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1) +
                                 8 * (set * (set - 1) / 2 + m) + b];
                STORE_ROWS(out, rows, stride, 1 + n + slot * n + slot2, h);
                STORE_ROWS(out, rows, stride, 1 + n + slot2 * n + slot, h);
            }
        }
    }
}

/* args, in: hf_load_points; out: derivative of lambda of every bin (8 * panels rows) by every slot. */
KERNEL(hf_jacobian)
{
    const u32 n = mi[HF_SLOTS], stride = 8 * mi[HF_PANELS] * n;
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    hf_load_points(HF, args, in, rows);
    TEAM_FOR(i, stride) STORE_ROWS(out, rows, stride, i, R(0.0));
    TEAM_BARRIER();
    hf_value(HF, 1);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 units = ch[HF_CH_UNITS];
        for (u32 panel = 0; panel < ch[HF_CH_PANELS]; panel++) {
            const u32 cell = (ch[HF_CH_FIRST_CELL] + panel * units) * 8,
                      first_bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8;
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            GLOBAL real *jacobian = s + mi[HF_S_JACOBIAN];
            hf_panel_jacobian(HF, ch, panel, s + mi[HF_S_XE] + cell, s + mi[HF_S_XS] + cell,
                              s + mi[HF_S_XG] + cell, jacobian);
            TEAM_BARRIER();
            TEAM_FOR(b, bins) {
                real gamma = R(1.0), inside = R(1.0);
                if (ch[HF_CH_COMMON])
                    gamma = s[mi[HF_S_X] + mi[mi[HF_I_SETS] + ch[HF_CH_FIRST_SET] * HF_SE_SIZE + HF_SE_SLOT] +
                              8 * panel + b];
                if (mi[HF_CLIPS] & 2)
                    inside = SELECT(s[mi[HF_S_LAMBDA] + first_bin + b] <= LOADM1(mr, mi[HF_R_CLIPS] + 1),
                                    R(0.0), inside);
                for (u32 i = 0; i < 8 * ch[HF_CH_BLOCKS]; i++)
                    STORE_ROWS(out, rows, stride,
                               (first_bin + b) * n + mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8,
                               flush(jacobian[8 * i + b] * gamma) * inside);
            }
            TEAM_BARRIER(); /* the first worker puts the sets' derivatives where the others read */
            for (u32 set = 0; set < ch[HF_CH_SETS]; set++) {
                const u32 slot =
                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel;
                ONE_WORKER
                {
                    for (u32 b = 0; b < bins; b += PACK)
                        STOREP(jacobian, b, hf_local_derivative(HF, ch, panel, b, set, HF_NO_SET));
                    for (u32 b = 0; b < bins; b++) {
                        real inside = R(1.0);
                        if (mi[HF_CLIPS] & 2)
                            inside =
                                SELECT(s[mi[HF_S_LAMBDA] + first_bin + b] <= LOADM1(mr, mi[HF_R_CLIPS] + 1),
                                       R(0.0), inside);
                        STORE_ROWS(out, rows, stride, (first_bin + b) * n + slot + b, jacobian[b] * inside);
                    }
                }
            }
            TEAM_BARRIER();
        }
    }
}

/* args: points, data rows (as many, or 0); in: data rows, then a row a point: point, direction (slots each).
 * out: lambda, lambda' (8 * panels each), G, G' (8 * cells each), s(a), t(a), t'(a) (dense each); see
 * histfactory/histfactory_tangent.h. */
KERNEL(hf_tangent_rows)
{
    const u32 n = mi[HF_SLOTS], dense = mi[HF_DENSE], bins = 8 * mi[HF_PANELS], cells = 8 * mi[HF_CELLS],
              stride = 2 * (bins + cells) + 3 * dense;
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    GLOBAL const elem *points = in + args[1] * mi[HF_DATA];
    GLOBAL real *direction = MODEL_WORK;
    job_prepare(HF);
    TEAM_IF(args[1]) job_load_data(HF, in, rows);
    job_load_point(HF, points, rows, 2 * n);
    TEAM_FOR(i, n) direction[i] = LOAD_ROWS(points, rows, 2 * n, n + i);
    TEAM_BARRIER();
    hf_tangent(HF, direction);
    TEAM_FOR(i, bins) {
        STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
        STORE_ROWS(out, rows, stride, bins + i, s[mi[HF_S_COMMON] + i]);
    }
    TEAM_FOR(i, cells) {
        STORE_ROWS(out, rows, stride, 2 * bins + i, s[mi[HF_S_XE] + i]);
        STORE_ROWS(out, rows, stride, 2 * bins + cells + i, s[mi[HF_S_XS] + i]);
    }
    TEAM_FOR(i, dense) {
        STORE_ROWS(out, rows, stride, 2 * (bins + cells) + i, s[mi[HF_S_HS] + i]);
        STORE_ROWS(out, rows, stride, 2 * (bins + cells) + dense + i, s[mi[HF_S_HT] + i]);
        STORE_ROWS(out, rows, stride, 2 * (bins + cells) + 2 * dense + i, s[mi[HF_S_HT1] + i]);
    }
}

/* args, in, out: entry/entry_covariance.h */
KERNEL(hf_covariance)
{
    const u32 whole = args[2], n = mi[HF_SLOTS], dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS];
    const u32 stride = 3 * n + 8 + (whole ? n * n : 0);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    const job_minimum minimum = job_factor_at_point(HF, args, in, rows);
    GLOBAL const real *active = MODEL_ACTIVE, *locald = s + mi[HF_S_LOCAL_D] - dense,
                      *localc = s + mi[HF_S_LOCAL_C] - dense;
    GLOBAL real *rest = MODEL_MEMORY, *columns = rest + n * dense,
                *square = columns + 8 * mi[HF_LOCAL_COLUMNS];
    /* The rows below: minus D^-1 L^-1 H_la, then L^-T, a local slot; what they give lacks the local blocks'
     * own inverse. */
    job_unit_rows(HF, rest, dense);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 n_local = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS],
                  coupled = ch[HF_CH_COMMON] ? 0 : n_local;
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS]) {
            const u32 panel = k / 8, b = k % 8, bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            if (b >= bins) continue;
            GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
            GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1);
            for (u32 l = n_local; l-- > 0;) {
                const u32 slot =
                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                const real factor = flush(DIVIDE(-localc[slot], locald[slot]));
                for (u32 i = 0; i < 8 * nblocks; i++) {
                    const u32 block = mi[ch[HF_CH_BLOCK_LIST] + i / 8];
                    GLOBAL real *to = rest + 64 * (slot / 8 * blocks + block) + 8 * (i % 8);
                    real v =
                        factor *
                        kept[i / 8 * ch[HF_CH_ROW_STRIDE] + (coupled ? (l + 1) * bins + b : b) * 8 + i % 8] *
                        active[8 * block + i % 8];
                    for (u32 m = l + 1; m < n_local; m++) {
                        const u32 slot2 =
                            mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] +
                            8 * panel + b;
                        v = FMA(-lower[8 * (m * (m - 1) / 2 + l) + b],
                                rest[64 * (slot2 / 8 * blocks + block) + 8 * (i % 8) + slot2 % 8], v);
                    }
                    to[slot % 8] = flush(v);
                }
            }
        }
    }
    job_solve_rows(HF, rest, dense, s + mi[HF_S_TILES], s + mi[HF_S_RDIAG]);
    /* own inverse of the local blocks: columns of L^-T D^-1 L^-1, one bin at a time; errors are its diagonal
     * plus the row norms */
    TEAM_FOR(I, n / 8)
        for (u32 i = 0; i < 8; i += PACK) {
            pack sum[4];
            UNROLL for (u32 c = 0; c < 4; c++) sum[c] = PK(0.0);
            for (u32 k = I < blocks ? 8 * I : 0; k < dense; k += 4) UNROLL for (u32 c = 0; c < 4; c++)
                {
                    const pack v = LOADP(rest, 64 * I * blocks + 8 * (k + c) + i);
                    sum[c] = PFMA(v, v, sum[c]);
                }
            STOREP(NEWTON_TEMP, 8 * I + i, pflush((sum[0] + sum[2]) + (sum[1] + sum[3])));
        }
    TEAM_BARRIER();
    TEAM_IF(whole) job_store_square(HF, rest, dense, square, out, rows, stride);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 n_local = ch[HF_CH_SETS];
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS] * n_local) {
            const u32 column = k / (8 * ch[HF_CH_PANELS]), panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            if (b >= (panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS])) continue;
            GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * n_local * (n_local - 1);
            const u32 first =
                mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + column) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
            /* e_column through L^-1, D^-1, L^-T; element m of it in scratch m */
            GLOBAL real *y = columns + k * n_local;
            for (u32 l = 0; l < n_local; l++) {
                real v = l == column ? R(1.0) : R(0.0);
                for (u32 m = 0; m < l; m++) v = FMA(-lower[8 * (l * (l - 1) / 2 + m) + b], y[m], v);
                y[l] = flush(v);
            }
            for (u32 l = n_local; l-- > 0;) {
                const u32 slot =
                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel + b;
                real v = flush(DIVIDE(y[l], locald[slot]));
                for (u32 m = l + 1; m < n_local; m++) v = FMA(-lower[8 * (m * (m - 1) / 2 + l) + b], y[m], v);
                v = flush(v);
                y[l] = v;
                if (whole) {
                    const u32 at = 3 * n + 8 + slot * n + first;
                    STORE_ROWS(out, rows, stride, at,
                               (LOAD_ROWS(out, rows, stride, at) + v) * active[slot] * active[first]);
                }
            }
            (NEWTON_TEMP)[first] = (NEWTON_TEMP)[first] + y[column];
        }
        TEAM_BARRIER();
    }
    job_store_errors(HF, minimum, out, rows, stride);
}

#endif
