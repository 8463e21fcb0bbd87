/* entry_histfactory.h: HistFactory's entries: one task for a team's rows (entry_rows.h).
 *
 * Data row (HF_DATA): panel array of main data, auxiliary data by slot, varied numbers. Point: HF_SLOTS.
 * Cell: a (panel, unit) of histfactory/histfactory_arrays.h. */
#pragma once

#include "histfactory/histfactory_words.h"
#include "histfactory/histfactory_tangent.h"
#include "entry/entry_covariance.h"
#include "entry/entry_draw.h"
#include "entry/entry_sample.h"

JOB_ENTRIES(hf)

/* ---- expected data ---- */

/* Points, each with its data row for varied numbers. */
FN void hf_load_points(HF_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, lane_rows rows, u32 stride)
{
    const u32 sets = args[POINT_ARG_SETS];
    job_prepare(HF);
    TEAM_IF(sets) job_load_data(HF, in, rows);
    job_load_point(HF, in + sets * mi[HF_DATA], rows, stride);
    TEAM_BARRIER();
}

/* Common local parameter in bin b; 1 if none. */
FN real hf_common_gamma(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b)
{
    real gamma = R(1.0);
    if (ch->common) gamma = s[mi[HF_S_X] + hf_local_slot(mi, ch, 0, panel) + b];
    return gamma;
}

KERNEL(hf_expected)
{
    const u32 bins = 8 * mi[HF_PANELS], stride = HF_EXPECTED_SIZE(bins, 8 * mi[HF_CELLS]);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    hf_load_points(HF, args, in, rows, mi[HF_SLOTS]);
    model_value(HF, 0);
    TEAM_FOR(i, bins) STORE_ROWS(out, rows, stride, i, s[mi[HF_S_LAMBDA] + i]);
    HF_FOR_CHANNELS(ch) {
        TEAM_FOR(k, 8 * ch->units * ch->panels) {
            const u32 at = 8 * ch->first_cell + k, panel = k / 8 / ch->units;
            real rate = flush(s[mi[HF_S_XE] + at] * hf_common_gamma(HF, ch, panel, k % 8));
            if (mi[HF_SWITCHES] & HF_CLIP_SAMPLES)
                rate = SELECT(rate < LOADM1(mr, mi[HF_R_CLIPS]), LOADM1(mr, mi[HF_R_CLIPS]), rate);
            STORE_ROWS(out, rows, stride, HF_EXPECTED_RATES(bins) + at, rate);
        }
    }
}

/* 0 where a clip holds the bin's rate, else 1. */
FN real hf_not_clipped(HF_PARAMETERS, hf_channel ch, u32 bin)
{
    real inside = R(1.0);
    if (hf_clips_bins(mi, ch))
        inside = SELECT(s[mi[HF_S_LAMBDA] + bin] <= FIRST(hf_bin_clip(mi, mr, ch)), R(0.0), inside);
    return inside;
}

FN void hf_store_panel_jacobian(HF_PARAMETERS, hf_channel ch, u32 panel, GLOBAL elem *out, lane_rows rows)
{
    const u32 n = mi[HF_SLOTS], stride = 8 * mi[HF_PANELS] * n, cell = hf_cell_at(ch, panel, 0),
              first_bin = hf_first_bin(ch, panel), bins = hf_bins(ch, panel);
    GLOBAL real *jacobian = HF_S(JACOBIAN);
    hf_panel_jacobian(HF, ch, panel, HF_S(XE) + cell, HF_S(XS) + cell, HF_S(XG) + cell, jacobian);
    TEAM_BARRIER();
    TEAM_IF(ch->mcstat > 0) hf_mcstat_jacobian(HF, ch, panel, jacobian, jacobian + 64 * ch->blocks);
    TEAM_FOR(b, bins) {
        const real gamma = hf_common_gamma(HF, ch, panel, b), inside = hf_not_clipped(HF, ch, first_bin + b);
        for (u32 i = 0; i < 8 * ch->blocks; i++)
            STORE_ROWS(out, rows, stride, (first_bin + b) * n + hf_dense_slot(mi, ch, i),
                       flush(jacobian[8 * i + b] * gamma) * inside);
    }
    TEAM_BARRIER(); /* worker 0 shared the sets' derivatives */
    for (u32 set = 0; set < ch->sets; set++) {
        const u32 slot = hf_local_slot(mi, ch, set, panel);
        ONE_WORKER
        {
            for (u32 b = 0; b < bins; b += PACK)
                STOREP(jacobian, b, hf_local_derivative(HF, ch, panel, b, set, HF_NO_SET));
            for (u32 b = 0; b < bins; b++)
                STORE_ROWS(out, rows, stride, (first_bin + b) * n + slot + b,
                           jacobian[b] * hf_not_clipped(HF, ch, first_bin + b));
        }
    }
    TEAM_BARRIER();
}

/* out: derivatives of lambda (8 * panels rows) by slot. */
KERNEL(hf_jacobian)
{
    const u32 stride = 8 * mi[HF_PANELS] * mi[HF_SLOTS];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    hf_load_points(HF, args, in, rows, mi[HF_SLOTS]);
    TEAM_FOR(i, stride) STORE_ROWS(out, rows, stride, i, R(0.0));
    TEAM_BARRIER();
    model_value(HF, 1);
    HF_FOR_CHANNELS(ch) {
        const u32 panels = ch->panels;
        for (u32 panel = 0; panel < panels; panel++) hf_store_panel_jacobian(HF, ch, panel, out, rows);
    }
}

/* n slab elements to the answer at `at`. Returns the end. */
FN u32 hf_store_vector(GLOBAL const real *from, u32 n, GLOBAL elem *out, lane_rows rows, u32 stride, u32 at)
{
    TEAM_FOR(i, n) STORE_ROWS(out, rows, stride, at + i, from[i]);
    return at + n;
}

/* in: data rows, then points with directions. out: see histfactory_tangent.h. */
KERNEL(hf_tangent_rows)
{
    const u32 n = mi[HF_SLOTS], shifts = hf_shift_count(mi), bins = 8 * mi[HF_PANELS],
              cells = 8 * mi[HF_CELLS], stride = HF_TANGENT_SIZE(bins, cells, shifts);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS]);
    GLOBAL const elem *points = in + args[POINT_ARG_SETS] * mi[HF_DATA];
    GLOBAL real *direction = MODEL_WORK;
    TEAM_FOR(i, n) direction[i] = LOAD_ROWS(points, rows, POINT_TANGENT_SIZE(n), n + i);
    hf_load_points(HF, args, in, rows, POINT_TANGENT_SIZE(n));
    hf_tangent(HF, direction);
    u32 at = hf_store_vector(HF_S(LAMBDA), bins, out, rows, stride, 0);
    at = hf_store_vector(HF_S(COMMON), bins, out, rows, stride, at);
    at = hf_store_vector(HF_S(XE), cells, out, rows, stride, at);
    at = hf_store_vector(HF_S(XS), cells, out, rows, stride, at);
    at = hf_store_vector(HF_S(HS), shifts, out, rows, stride, at);
    at = hf_store_vector(HF_S(HT), shifts, out, rows, stride, at);
    hf_store_vector(HF_S(HT1), shifts, out, rows, stride, at);
}

/* ---- the Hessian ---- */

FN void hf_store_element(GLOBAL elem *out, lane_rows rows, u32 n, u32 i, u32 j, real h)
{
    const u32 stride = VALUE_SIZE_HESSIAN(n), matrix = VALUE_HESSIAN(n);
    STORE_ROWS(out, rows, stride, matrix + i * n + j, h);
    if (i != j) STORE_ROWS(out, rows, stride, matrix + j * n + i, h);
}

/* Row of local set `set` in bin b: couplings to dense slots and earlier sets, own element. */
FN void hf_store_local_row(HF_PARAMETERS, hf_channel ch, u32 set, u32 panel, u32 b, GLOBAL elem *out,
                           lane_rows rows)
{
    const u32 n = mi[HF_SLOTS], slot = hf_local_slot(mi, ch, set, panel) + b;
    GLOBAL const real *factors = hf_local_factors(ch, s, panel),
                      *kept = HF_S(ROWS) + hf_panel_rows(ch, panel) +
                              hf_coupling_rows(ch, hf_bins(ch, panel), set) + 8 * b;
    const real coupling = hf_local_couplings(HF)[slot];
    for (u32 i = 0; i < 8 * ch->blocks; i++)
        hf_store_element(out, rows, n, slot, hf_dense_slot(mi, ch, i),
                         flush(kept[i / 8 * ch->row_stride + i % 8] * coupling));
    hf_store_element(out, rows, n, slot, slot, hf_local_pivots(HF)[slot]);
    for (u32 m = 0; m < set; m++)
        hf_store_element(out, rows, n, slot, hf_local_slot(mi, ch, m, panel) + b,
                         factors[hf_below(set, m) + b]);
}

KERNEL(hf_hessian)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[POINT_ARG_POINTS] * args[POINT_ARG_SETS]);
    job_hessian(HF, args, in, out, TEAM_INDEX);
    TEAM_BARRIER();
    HF_FOR_CHANNELS(ch) {
        TEAM_FOR(k, 8 * ch->panels * ch->sets) {
            const u32 set = k / (8 * ch->panels), panel = k / 8 % ch->panels, b = k % 8;
            if (b < hf_bins(ch, panel)) hf_store_local_row(HF, ch, set, panel, b, out, rows);
        }
    }
}

/* ---- the covariance ---- */

/* Rows of R (entry_covariance.h) behind those of dense slots: one a slot if the `whole` covariance is asked
 * for, else without the panels' padding, from `first` on in each channel. */
FN u32 hf_rest_row(HF_PARAMETERS, hf_channel ch, u32 set, u32 panel, u32 b, u32 first, u32 whole)
{
    return whole ? hf_local_slot(mi, ch, set, panel) + b : first + set * hf_channel_bins(ch) + 8 * panel + b;
}

FN u32 hf_rest_rows(HF_PARAMETERS, u32 whole)
{
    u32 n = mi[HF_DENSE];
    HF_FOR_CHANNELS(ch) n += ch->sets * hf_channel_bins(ch);
    return whole ? mi[HF_SLOTS] : (n + 7) / 8 * 8;
}

/* R's rows of a bin's local slots: -D^-1 L^-1 H_la, then L^-T. The local blocks' own inverse comes later. */
FN void hf_local_rest(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, u32 first, u32 whole, GLOBAL real *rest)
{
    const u32 sets = ch->sets, blocks = mi[HF_BLOCKS], own = ch->blocks, stride = ch->row_stride;
    CONSTANT u32 *list = mi + ch->block_list;
    GLOBAL const real *active = HF_S(ACTIVE), *pivots = hf_local_pivots(HF),
                      *couplings = hf_local_couplings(HF), *factors = hf_local_factors(ch, s, panel);
    for (u32 l = sets; l-- > 0;) {
        const u32 slot = hf_local_slot(mi, ch, l, panel) + b,
                  row = hf_rest_row(HF, ch, l, panel, b, first, whole);
        const real factor = flush(DIVIDE(-couplings[slot], pivots[slot]));
        GLOBAL const real *kept =
            HF_S(ROWS) + hf_panel_rows(ch, panel) + hf_coupling_rows(ch, hf_bins(ch, panel), l) + 8 * b;
        for (u32 place = 0; place < own; place++) {
            const u32 block = list[place];
            GLOBAL real *to = rest + 64 * (row / 8 * blocks + block) + row % 8;
            GLOBAL const real *from = kept + place * stride, *on = active + 8 * block;
            UNROLL for (u32 i = 0; i < 8; i++) to[8 * i] = factor * from[i] * on[i];
            for (u32 m = l + 1; m < sets; m++) {
                const u32 other = hf_rest_row(HF, ch, m, panel, b, first, whole);
                GLOBAL const real *done = rest + 64 * (other / 8 * blocks + block) + other % 8;
                const real below = -factors[hf_below(m, l) + b];
                UNROLL for (u32 i = 0; i < 8; i++) to[8 * i] = FMA(below, done[8 * i], to[8 * i]);
            }
            UNROLL for (u32 i = 0; i < 8; i++) to[8 * i] = flush(to[8 * i]);
        }
    }
}

/* squares := row sums of squares of `rest`. */
FN void hf_square_rest(HF_PARAMETERS, GLOBAL const real *rest, u32 n_rows, GLOBAL real *squares)
{
    const u32 dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS];
    TEAM_FOR(I, n_rows / 8)
        for (u32 i = 0; i < 8; i += PACK) {
            pack sum[4];
            UNROLL for (u32 c = 0; c < 4; c++) sum[c] = PK(0.0);
            for (u32 k = I < blocks ? 8 * I : 0; k < dense; k += 4) UNROLL for (u32 c = 0; c < 4; c++)
                {
                    const pack v = LOADP(rest, 64 * I * blocks + 8 * (k + c) + i);
                    sum[c] = PFMA(v, v, sum[c]);
                }
            STOREP(squares, 8 * I + i, pflush((sum[0] + sum[2]) + (sum[1] + sum[3])));
        }
    TEAM_BARRIER();
}

/* A column of a local block's inverse, L^-T D^-1 L^-1: to the answer if `whole`, its diagonal and `square` to
 * NEWTON_TEMP. y: scratch, one element per set. */
FN void hf_add_local_inverse(HF_PARAMETERS, hf_channel ch, u32 column, u32 panel, u32 b, real square,
                             GLOBAL real *y, u32 whole, GLOBAL elem *out, lane_rows rows, u32 stride)
{
    const u32 sets = ch->sets, n = mi[HF_SLOTS], first = hf_local_slot(mi, ch, column, panel) + b;
    GLOBAL const real *active = HF_S(ACTIVE), *factors = hf_local_factors(ch, s, panel);
    for (u32 l = 0; l < sets; l++) {
        real v = l == column ? R(1.0) : R(0.0);
        for (u32 m = 0; m < l; m++) v = FMA(-factors[hf_below(l, m) + b], y[m], v);
        y[l] = flush(v);
    }
    for (u32 l = sets; l-- > 0;) {
        const u32 slot = hf_local_slot(mi, ch, l, panel) + b;
        real v = flush(DIVIDE(y[l], hf_local_pivots(HF)[slot]));
        for (u32 m = l + 1; m < sets; m++) v = FMA(-factors[hf_below(m, l) + b], y[m], v);
        v = flush(v);
        y[l] = v;
        if (whole) {
            const u32 at = COVARIANCE_MATRIX(n) + slot * n + first;
            STORE_ROWS(out, rows, stride, at,
                       (LOAD_ROWS(out, rows, stride, at) + v) * active[slot] * active[first]);
        }
    }
    (NEWTON_TEMP)[first] = square + y[column];
}

/* Squared errors: diagonal of the local blocks' inverse plus row norms of X. */
KERNEL(hf_covariance)
{
    const u32 whole = args[FIT_ARG_WHOLE], n = mi[HF_SLOTS], dense = mi[HF_DENSE],
              stride = COVARIANCE_SIZE(n, whole);
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[FIT_ARG_JOBS]);
    const job_minimum minimum = job_factor_at_point(HF, args, in, rows);
    const u32 n_rows = hf_rest_rows(HF, whole);
    GLOBAL real *rest = MODEL_MEMORY, *columns = rest + n * dense,
                *square = columns + 8 * mi[HF_LOCAL_COLUMNS], *squares = NEWTON_STEP;
    job_unit_rows(HF, rest, dense, n_rows, whole);
    u32 first = dense;
    HF_FOR_CHANNELS(ch) {
        TEAM_FOR(k, 8 * ch->panels) {
            if (k % 8 < hf_bins(ch, k / 8)) hf_local_rest(HF, ch, k / 8, k % 8, first, whole, rest);
        }
        first += ch->sets * hf_channel_bins(ch);
    }
    job_solve_rows(HF, rest, dense, n_rows, HF_S(RDIAG));
    hf_square_rest(HF, rest, n_rows, squares);
    TEAM_FOR(i, n) (NEWTON_TEMP)[i] = i < dense ? squares[i] : R(0.0);
    TEAM_IF(whole) job_store_square(HF, rest, dense, square, out, rows, stride);
    TEAM_BARRIER();
    first = dense;
    HF_FOR_CHANNELS(ch) {
        const u32 sets = ch->sets;
        TEAM_FOR(k, 8 * ch->panels * sets) {
            const u32 column = k / (8 * ch->panels), panel = k / 8 % ch->panels, b = k % 8;
            if (b < hf_bins(ch, panel))
                hf_add_local_inverse(HF, ch, column, panel, b,
                                     squares[hf_rest_row(HF, ch, column, panel, b, first, whole)],
                                     columns + k * sets, whole, out, rows, stride);
        }
        TEAM_BARRIER();
        first += sets * hf_channel_bins(ch);
    }
    job_store_errors(HF, minimum, out, rows, stride);
}
