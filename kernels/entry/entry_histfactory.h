/* entry_histfactory.h: the entries of the HistFactory family. Each binds the model to a task for the rows of
 * one team; rows: entry/entry_rows.h.
 *
 * Data rows are HF_DATA long: panel array of main data, then auxiliary data by slot, then varied numbers.
 * Points are HF_SLOTS long. A cell is a (panel, unit), see histfactory/histfactory_arrays.h.
 */
#ifndef PARITAS_ENTRY_HISTFACTORY_H
#define PARITAS_ENTRY_HISTFACTORY_H

#include "histfactory/histfactory_words.h"
#include "histfactory/histfactory_tangent.h"
#include "entry/entry_covariance.h"
#include "entry/entry_draw.h"
#include "entry/entry_jobs.h"

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
KERNEL(hf_draw)
{
    job_draw(HF, args, in, out, TEAM_INDEX);
}

/* ---- channels ---- */

FN CONSTANT u32 *hf_channel(HF_PARAMETERS, u32 c)
{
    return mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
}

FN u32 hf_bins(CONSTANT u32 *ch, u32 panel)
{
    return panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
}

/* Slot of a channel's local set in the first bin of a panel. */
FN u32 hf_local_slot(HF_PARAMETERS, CONSTANT u32 *ch, u32 set, u32 panel)
{
    return mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel;
}

/* What multiplies all cells of bin b; 1 without a common local set. */
FN real hf_common(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 b)
{
    return ch[HF_CH_COMMON] ? s[mi[HF_S_X] + hf_local_slot(HF, ch, 0, panel) + b] : R(1.0);
}

/* Local sets that couple bins to the dense slots. */
FN u32 hf_coupled(CONSTANT u32 *ch)
{
    return ch[HF_CH_COMMON] ? 0 : ch[HF_CH_SETS];
}

/* Element i of the kept row of bin b: its own (row 0), or that of a local set (row set + 1). */
FN real hf_kept(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 row, u32 b, u32 i)
{
    const u32 coupled = hf_coupled(ch), bins = hf_bins(ch, panel);
    return s[mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64 + i / 8 * ch[HF_CH_ROW_STRIDE] +
             (coupled ? row * bins + b : b) * 8 + i % 8];
}

/* Element (row, column) of the local blocks' unit lower factor (in hf_hessian: of the blocks), bin b. */
FN real hf_local_lower(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 row, u32 column, u32 b)
{
    const u32 sets = ch[HF_CH_SETS];
    return s[ch[HF_CH_LOCAL_L] + panel * 4 * sets * (sets - 1) + 8 * (row * (row - 1) / 2 + column) + b];
}

/* Slot i of those that a channel's blocks hold. */
FN u32 hf_block_slot(HF_PARAMETERS, CONSTANT u32 *ch, u32 i)
{
    return mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8;
}

/* ---- expected data ---- */

/* Points, each with its data row where varied numbers stand in it. */
FN void hf_load_points(HF_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows, u32 stride)
{
    const u32 sets = args[POINT_ARG_SETS];
    job_prepare(HF);
    TEAM_IF(sets) job_load_data(HF, in, rows);
    job_load_point(HF, in + sets * mi[HF_DATA], rows, stride);
    TEAM_BARRIER();
}

KERNEL(hf_expected)
{
    const u32 bins = 8 * mi[HF_PANELS], stride = HF_EXPECTED_SIZE(bins, 8 * mi[HF_CELLS]);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    hf_load_points(HF, args, in, rows, mi[HF_SLOTS]);
    hf_value(HF, 0);
    TEAM_FOR(i, bins) STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = hf_channel(HF, c);
        const u32 units = ch[HF_CH_UNITS];
        TEAM_FOR(k, 8 * units * ch[HF_CH_PANELS]) {
            const u32 cell = 8 * ch[HF_CH_FIRST_CELL] + k;
            real rate = flush(s[mi[HF_S_XE] + cell] * hf_common(HF, ch, k / 8 / units, k % 8));
            if (mi[HF_CLIPS] & 1)
                rate = SELECT(rate < LOADM1(mr, mi[HF_R_CLIPS]), LOADM1(mr, mi[HF_R_CLIPS]), rate);
            STORE_ROWS(out, rows, stride, HF_EXPECTED_RATES(bins) + cell, rate);
        }
    }
}

/* 0 where the rate of a bin is clipped, else 1. */
FN real hf_unclipped(HF_PARAMETERS, u32 bin)
{
    if (!(mi[HF_CLIPS] & 2)) return R(1.0);
    return SELECT(s[mi[HF_S_LAMBDA] + bin] <= LOADM1(mr, mi[HF_R_CLIPS] + 1), R(0.0), R(1.0));
}

/* Derivatives of a panel's bins by the dense slots of its channel. */
FN void hf_jacobian_dense(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, GLOBAL elem *out, lane_rows rows,
                          u32 stride)
{
    const u32 cell = (ch[HF_CH_FIRST_CELL] + panel * ch[HF_CH_UNITS]) * 8,
              first_bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8;
    GLOBAL real *jacobian = s + mi[HF_S_JACOBIAN];
    hf_panel_jacobian(HF, ch, panel, s + mi[HF_S_XE] + cell, s + mi[HF_S_XS] + cell, s + mi[HF_S_XG] + cell,
                      jacobian);
    TEAM_BARRIER();
    TEAM_FOR(b, hf_bins(ch, panel)) {
        const real gamma = hf_common(HF, ch, panel, b), inside = hf_unclipped(HF, first_bin + b);
        for (u32 i = 0; i < 8 * ch[HF_CH_BLOCKS]; i++)
            STORE_ROWS(out, rows, stride, (first_bin + b) * mi[HF_SLOTS] + hf_block_slot(HF, ch, i),
                       flush(jacobian[8 * i + b] * gamma) * inside);
    }
    TEAM_BARRIER();
}

/* The same by its local slots: one worker's. */
FN void hf_jacobian_local(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, GLOBAL elem *out, lane_rows rows,
                          u32 stride)
{
    const u32 bins = hf_bins(ch, panel), first_bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8;
    GLOBAL real *derivatives = s + mi[HF_S_JACOBIAN];
    for (u32 set = 0; set < ch[HF_CH_SETS]; set++) {
        for (u32 b = 0; b < bins; b += PACK)
            STOREP(derivatives, b, hf_local_derivative(HF, ch, panel, b, set, HF_NO_SET));
        for (u32 b = 0; b < bins; b++)
            STORE_ROWS(out, rows, stride,
                       (first_bin + b) * mi[HF_SLOTS] + hf_local_slot(HF, ch, set, panel) + b,
                       derivatives[b] * hf_unclipped(HF, first_bin + b));
    }
}

/* out: derivative of lambda of every bin (8 * panels rows) by every slot. */
KERNEL(hf_jacobian)
{
    const u32 stride = 8 * mi[HF_PANELS] * mi[HF_SLOTS];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    hf_load_points(HF, args, in, rows, mi[HF_SLOTS]);
    TEAM_FOR(i, stride) STORE_ROWS(out, rows, stride, i, R(0.0));
    TEAM_BARRIER();
    hf_value(HF, 1);
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = hf_channel(HF, c);
        for (u32 panel = 0; panel < ch[HF_CH_PANELS]; panel++) {
            hf_jacobian_dense(HF, ch, panel, out, rows, stride);
            ONE_WORKER
            {
                hf_jacobian_local(HF, ch, panel, out, rows, stride);
            }
            TEAM_BARRIER();
        }
    }
}

/* in: data rows, then a row a point: point, direction (slots each). What it answers:
 * histfactory_tangent.h. */
KERNEL(hf_tangent_rows)
{
    const u32 n = mi[HF_SLOTS], dense = mi[HF_DENSE], bins = 8 * mi[HF_PANELS], cells = 8 * mi[HF_CELLS],
              stride = HF_TANGENT_SIZE(bins, cells, dense);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    GLOBAL const elem *points = in + args[POINT_ARG_SETS] * mi[HF_DATA];
    GLOBAL real *direction = MODEL_WORK;
    TEAM_FOR(i, n) direction[i] = LOAD_ROWS(points, rows, HF_TANGENT_POINT_SIZE(n), n + i);
    hf_load_points(HF, args, in, rows, HF_TANGENT_POINT_SIZE(n));
    hf_tangent(HF, direction);
    TEAM_FOR(i, bins) {
        STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
        STORE_ROWS(out, rows, stride, HF_TANGENT_LAMBDA1(bins) + i, s[mi[HF_S_COMMON] + i]);
    }
    TEAM_FOR(i, cells) {
        STORE_ROWS(out, rows, stride, HF_TANGENT_G(bins) + i, s[mi[HF_S_XE] + i]);
        STORE_ROWS(out, rows, stride, HF_TANGENT_G1(bins, cells) + i, s[mi[HF_S_XS] + i]);
    }
    TEAM_FOR(i, dense) {
        const u32 to = HF_TANGENT_S(bins, cells) + i;
        STORE_ROWS(out, rows, stride, to, s[mi[HF_S_HS] + i]);
        STORE_ROWS(out, rows, stride, to + dense, s[mi[HF_S_HT] + i]);
        STORE_ROWS(out, rows, stride, to + 2 * dense, s[mi[HF_S_HT1] + i]);
    }
}

/* ---- the Hessian ---- */

KERNEL(hf_hessian)
{
    const u32 n = mi[HF_SLOTS], dense = mi[HF_DENSE], stride = VALUE_SIZE_HESSIAN(n),
              matrix = VALUE_HESSIAN(n);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS] * args[POINT_ARG_SETS]);
    job_hessian(HF, args, in, out, TEAM_INDEX);
    TEAM_BARRIER();
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = hf_channel(HF, c);
        const u32 places = 8 * ch[HF_CH_PANELS];
        TEAM_FOR(k, places * ch[HF_CH_SETS]) {
            const u32 set = k / places, panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            if (b >= hf_bins(ch, panel)) continue;
            const u32 slot = hf_local_slot(HF, ch, set, panel) + b;
            for (u32 i = 0; i < 8 * ch[HF_CH_BLOCKS]; i++) {
                const u32 to = hf_block_slot(HF, ch, i);
                const real h =
                    flush(hf_kept(HF, ch, panel, set + 1, b, i) * s[mi[HF_S_LOCAL_C] + slot - dense]);
                STORE_ROWS(out, rows, stride, matrix + slot * n + to, h);
                STORE_ROWS(out, rows, stride, matrix + to * n + slot, h);
            }
            STORE_ROWS(out, rows, stride, matrix + slot * n + slot, s[mi[HF_S_LOCAL_D] + slot - dense]);
            for (u32 m = 0; m < set; m++) {
                const u32 other = hf_local_slot(HF, ch, m, panel) + b;
                const real h = hf_local_lower(HF, ch, panel, set, m, b);
                STORE_ROWS(out, rows, stride, matrix + slot * n + other, h);
                STORE_ROWS(out, rows, stride, matrix + other * n + slot, h);
            }
        }
    }
}

/* ---- the covariance ---- */

/* The rows below the dense ones: minus D^-1 L^-1 H_la, then L^-T, a local slot. */
FN void hf_local_rows(HF_PARAMETERS, GLOBAL real *rest)
{
    const u32 dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS];
    GLOBAL const real *active = MODEL_ACTIVE, *locald = s + mi[HF_S_LOCAL_D] - dense,
                      *localc = s + mi[HF_S_LOCAL_C] - dense;
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = hf_channel(HF, c);
        const u32 sets = ch[HF_CH_SETS];
        TEAM_FOR(k, 8 * ch[HF_CH_PANELS]) {
            const u32 panel = k / 8, b = k % 8;
            if (b >= hf_bins(ch, panel)) continue;
            for (u32 l = sets; l-- > 0;) {
                const u32 slot = hf_local_slot(HF, ch, l, panel) + b;
                const real factor = flush(DIVIDE(-localc[slot], locald[slot]));
                for (u32 i = 0; i < 8 * ch[HF_CH_BLOCKS]; i++) {
                    const u32 column = hf_block_slot(HF, ch, i), at = 64 * (column / 8) + 8 * (i % 8);
                    real v = factor * hf_kept(HF, ch, panel, l + 1, b, i) * active[column];
                    for (u32 m = l + 1; m < sets; m++) {
                        const u32 other = hf_local_slot(HF, ch, m, panel) + b;
                        v = FMA(-hf_local_lower(HF, ch, panel, m, l, b),
                                rest[64 * (other / 8 * blocks) + at + other % 8], v);
                    }
                    rest[64 * (slot / 8 * blocks) + at + slot % 8] = flush(v);
                }
            }
        }
    }
}

/* TEMP := the squares of the rows. */
FN void hf_row_squares(HF_PARAMETERS, GLOBAL const real *rest)
{
    const u32 dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS];
    TEAM_FOR(I, mi[HF_SLOTS] / 8)
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
}

/* y := a column of L^-T D^-1 L^-1, the inverse of the local block of bin b. */
FN void hf_local_column(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 b, u32 column, GLOBAL real *y)
{
    const u32 sets = ch[HF_CH_SETS];
    GLOBAL const real *locald = s + mi[HF_S_LOCAL_D] - mi[HF_DENSE];
    for (u32 l = 0; l < sets; l++) {
        real v = l == column ? R(1.0) : R(0.0);
        for (u32 m = 0; m < l; m++) v = FMA(-hf_local_lower(HF, ch, panel, l, m, b), y[m], v);
        y[l] = flush(v);
    }
    for (u32 l = sets; l-- > 0;) {
        real v = flush(DIVIDE(y[l], locald[hf_local_slot(HF, ch, l, panel) + b]));
        for (u32 m = l + 1; m < sets; m++) v = FMA(-hf_local_lower(HF, ch, panel, m, l, b), y[m], v);
        y[l] = flush(v);
    }
}

/* Adds the local blocks' own inverse, one bin at a time, to TEMP and, where it is asked, to the matrix. */
FN void hf_add_local_inverse(HF_PARAMETERS, GLOBAL real *columns, u32 whole, GLOBAL elem *out, lane_rows rows,
                             u32 stride)
{
    const u32 n = mi[HF_SLOTS];
    GLOBAL const real *active = MODEL_ACTIVE;
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = hf_channel(HF, c);
        const u32 sets = ch[HF_CH_SETS], places = 8 * ch[HF_CH_PANELS];
        TEAM_FOR(k, places * sets) {
            const u32 column = k / places, panel = k / 8 % ch[HF_CH_PANELS], b = k % 8;
            if (b >= hf_bins(ch, panel)) continue;
            const u32 first = hf_local_slot(HF, ch, column, panel) + b;
            GLOBAL real *y = columns + k * sets;
            hf_local_column(HF, ch, panel, b, column, y);
            for (u32 l = 0; whole && l < sets; l++) {
                const u32 slot = hf_local_slot(HF, ch, l, panel) + b,
                          at = COVARIANCE_MATRIX(n) + slot * n + first;
                STORE_ROWS(out, rows, stride, at,
                           (LOAD_ROWS(out, rows, stride, at) + y[l]) * active[slot] * active[first]);
            }
            (NEWTON_TEMP)[first] = (NEWTON_TEMP)[first] + y[column];
        }
        TEAM_BARRIER();
    }
}

KERNEL(hf_covariance)
{
    const u32 whole = args[FIT_ARG_WHOLE], n = mi[HF_SLOTS], dense = mi[HF_DENSE],
              stride = COVARIANCE_SIZE(n, whole);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[FIT_ARG_JOBS]);
    const job_minimum minimum = job_factor_at_point(HF, args, in, rows);
    GLOBAL real *rest = MODEL_MEMORY, *columns = rest + n * dense,
                *square = columns + 8 * mi[HF_LOCAL_COLUMNS];
    job_unit_rows(HF, rest, dense);
    hf_local_rows(HF, rest);
    job_solve_rows(HF, rest, dense, s + mi[HF_S_RDIAG]);
    hf_row_squares(HF, rest);
    TEAM_IF(whole) job_store_square(HF, rest, dense, square, out, rows, stride);
    hf_add_local_inverse(HF, columns, whole, out, rows, stride);
    job_store_errors(HF, minimum, out, rows, stride);
}

#endif
