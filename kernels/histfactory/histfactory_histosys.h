/* histfactory_histosys.h: shifts of rates by histosys, and derivatives; S, A: histfactory_arrays.h. */
#ifndef PARITAS_HISTFACTORY_HISTOSYS_H
#define PARITAS_HISTFACTORY_HISTOSYS_H

#include "numeric/sum.h"
#include "histfactory/histfactory_records.h"

/* Shift: S s(a) + A t(a); s' = 1. The k-th code of the model. */
FN void hf_interpolate_by(HF_PARAMETERS, u32 code, u32 k)
{
    GLOBAL real *x = HF_S(X);
    TEAM_FOR_PACK(slot, mi[HF_DENSE]) {
        const u32 i = k * mi[HF_DENSE] + slot;
        const pack a = LOADP(x, slot);
        const pack zero = PK(0.0), one = PK(1.0);
        const pmask negative = a<zero, above = a> one, below = a < -one;
        const pmask outside = OR(above, below);
        const pack size = PSELECT(negative, -a, a);
        pack value = a, bend, slope, curve;
        if (code == HF_SHIFT_POLYNOMIAL) { /* polynomial, linear outside, twice differentiable */
            const pack a2 = pflush(a * a);
            const pack inner = a2 * PFMA(a2, PFMA(PK(3.0), a2, PK(-10.0)), PK(15.0));
            const pack inner1 = a * PFMA(a2, PFMA(PK(18.0), a2, PK(-40.0)), PK(30.0));
            const pack inner2 = PFMA(a2, PFMA(PK(90.0), a2, PK(-120.0)), PK(30.0));
            bend = PSELECT(outside, PK(8.0) * size, inner);
            slope = PSELECT(outside, PSELECT(negative, PK(-8.0), PK(8.0)), inner1);
            curve = PSELECT(outside, zero, inner2);
        } else if (code == HF_SHIFT_PARABOLIC) { /* linear outside with the parabola's slope at the edge */
            bend = PSELECT(outside, PFMA(PK(16.0), size, PK(-8.0)), PK(8.0) * a * a);
            slope = PSELECT(outside, PSELECT(negative, PK(-16.0), PK(16.0)), PK(16.0) * a);
            curve = PSELECT(outside, zero, PK(16.0));
        } else if (code == HF_SHIFT_JUMPING) {
            /* parabola, linear outside as in pyhf 0.7: S a + 16 A (a - 1) - S above 1, (S - 16 A) a below
             * -1 */
            const pack shifted = PSELECT(negative, a, a - one);
            value = PSELECT(outside, shifted, a);
            bend = PSELECT(outside, PSELECT(negative, PK(-16.0), PK(16.0)) * shifted, PK(8.0) * a * a);
            slope = PSELECT(outside, PSELECT(negative, PK(-16.0), PK(16.0)), PK(16.0) * a);
            curve = PSELECT(outside, zero, PK(16.0));
        } else { /* piecewise linear; at 0 the downward slope */
            const pmask up = a > zero;
            bend = PK(8.0) * size;
            slope = PSELECT(up, PK(8.0), PK(-8.0));
            curve = zero;
        }
        STOREP(HF_S(HS), i, value);
        STOREP(HF_S(HT), i, pflush(bend));
        STOREP(HF_S(HT1), i, pflush(slope));
        STOREP(HF_S(HT2), i, pflush(curve));
    }
}

FN void hf_interpolate(HF_PARAMETERS)
{
    const u32 several = hf_has_shift_codes(mi), count = several ? hf_shift_codes_of(mi)->count : 1;
    CONSTANT u32 *codes =
        several ? (CONSTANT u32 *)(hf_shift_codes_of(mi) + 1) : (CONSTANT u32 *)(mi + HF_HISTOSYS_CODE);
    for (u32 k = 0; k < count; k++) hf_interpolate_by(HF, codes[k], k);
}

/* S + A t'; `bent`: A. */
FN pack hf_shift_slope(hf_numbers shifts, u32 e, u32 b, pack slope, u32 bent)
{
    const pack a = hf_number(shifts, 16 * e + 8 + b);
    return bent ? a : PFMA(a, slope, hf_number(shifts, 16 * e + b));
}

/* Packs at once: independent chains cover the latency of fma. */
#define CELL_PACKS (PACK == 8 ? 1 : PACK == 4 ? 2 : 4)

/* nominal + S s + A t in two chains: one would wait for each fma. */
FN void hf_cell_base(HF_PARAMETERS, u32 cell, hf_cell ce, u32 varied)
{
    GLOBAL const real *hs = HF_S(HS), *ht = HF_S(HT), *row = s + (varied ? mi[HF_S_VARIED] + ce->varied : 0);
    const hf_numbers nominal = hf_numbers_of(HF_R(NOMINAL) + cell * 8, row, varied),
                     shifts = hf_numbers_of(mr + ce->histosys_data, row + 8, varied);
    GLOBAL real *base = HF_S(BASE);
    hf_unit un = hf_unit_of(mi, ce->unit);
    CONSTANT u32 *slot = hf_shift_places(mi) + un->histosys;
    const u32 n = un->histosys_count, bins = ce->bins;
    for (u32 b = 0; b < bins; b += CELL_PACKS * PACK) {
        pack linear[CELL_PACKS], bent[CELL_PACKS];
        UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
        {
            linear[k] = hf_number(nominal, b + k * PACK);
            bent[k] = PK(0.0);
        }
        for (u32 e = 0; e < n; e++) {
            const pack a = PACK_OF(hs[slot[e]]), t = PACK_OF(ht[slot[e]]);
            UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
            {
                linear[k] = PFMA(hf_number(shifts, e * 16 + b + k * PACK), a, linear[k]);
                bent[k] = PFMA(hf_number(shifts, e * 16 + 8 + b + k * PACK), t, bent[k]);
            }
        }
        UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
            STOREP(base, cell * 8 + b + k * PACK, pflush(linear[k] + bent[k]));
    }
}

FN_LARGE void hf_cells(HF_PARAMETERS)
{
    TEAM_FOR(cell, mi[HF_CELLS]) {
        hf_cell ce = (hf_cell)(HF_I(CELLS)) + cell;
        if (ce->varied == HF_NOT_VARIED)
            hf_cell_base(HF, cell, ce, 0);
        else
            hf_cell_base(HF, cell, ce, 1);
    }
}

/* `xg`: the unit's cell; `place`, `spot`: its entries. */
FN void hf_histosys_jacobian(HF_PARAMETERS, hf_unit un, u32 panel, u32 bins, GLOBAL const real *xg,
                             CONSTANT u32 *place, CONSTANT u32 *spot, GLOBAL real *jacobian, u32 varied)
{
    const u32 n = un->histosys_count;
    const hf_numbers shifts = hf_shifts(HF, un, panel, varied);
    GLOBAL const real *slope = HF_S(HT1);
    for (u32 b = 0; b < bins; b += PACK) {
        const pack rate = LOADP(xg, b);
        TEAM_FOR(e, n) {
            GLOBAL real *j = jacobian + 8 * spot[e];
            STOREP(j, b, PFMA(hf_shift_slope(shifts, e, b, PACK_OF(slope[place[e]]), 0), rate, LOADP(j, b)));
        }
    }
}

/* base' along a direction of the slots. */
FN pack hf_tangent_base(HF_PARAMETERS, hf_unit un, u32 panel, u32 b, GLOBAL const real *direction, u32 varied)
{
    const u32 n = un->histosys_count;
    const hf_numbers shifts = hf_shifts(HF, un, panel, varied);
    GLOBAL const real *slope = HF_S(HT1);
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys, *place = hf_shift_places(mi) + un->histosys;
    pack sum = PK(0.0);
    for (u32 e = 0; e < n; e++)
        sum =
            PFMA(hf_shift_slope(shifts, e, b, PACK_OF(slope[place[e]]), 0), PACK_OF(direction[slot[e]]), sum);
    return pflush(sum);
}

#if PACK == 1
/* For up to four bins, without zero partial sums. */
FN void hf_sums_of_few_bins(HF_PARAMETERS, u32 bins, hf_unit un, hf_numbers shifts, GLOBAL const real *weight,
                            pack factor, GLOBAL real *sums, u32 bent)
{
    CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
    GLOBAL const real *slope = HF_S(HT1);
    const u32 n = un->histosys_count;
    const pack w0 = weight[0], w1 = bins > 1 ? weight[1] : PK(0.0), w2 = bins > 2 ? weight[2] : PK(0.0),
               w3 = bins > 3 ? weight[3] : PK(0.0);
    for (u32 e = 0; e < n; e++) { /* panels are padded with zeros */
        const pack at = slope[place[e]];
        pack v[4];
        UNROLL for (u32 b = 0; b < 4; b++) v[b] = hf_shift_slope(shifts, e, b, at, bent);
        STOREP(sums, e, pflush(factor * pflush((w0 * v[0] + w2 * v[2]) + (w1 * v[1] + w3 * v[3]))));
    }
}
#endif

/* Per entry: F times sum over bins of weight times (S + A t'), or A if `bent`. PACK entries at once. */
FN void hf_sums_of_unit(HF_PARAMETERS, hf_channel ch, u32 u, hf_unit un, GLOBAL real *sums, u32 bent,
                        u32 varied)
{
    const u32 units = ch->units, panels = ch->panels, n = un->histosys_count;
    const u32 stride = varied ? HF_VARIED_PANEL(n) : 16 * n; /* between panels */
    CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
    GLOBAL const real *slope = HF_S(HT1), *weight = HF_S(CELL_WEIGHT) + hf_cell_at(ch, 0, u);
    const hf_numbers shifts = hf_shifts(HF, un, 0, varied);
    const pack factor = PACK_OF(s[mi[HF_S_F] + ch->first_unit + u]);
#if PACK == 1
    if (panels == 1 && ch->last_bins <= 4) {
        hf_sums_of_few_bins(HF, ch->last_bins, un, shifts, weight, factor, sums, bent);
        return;
    }
#endif
    for (u32 e = 0; e < n; e += PACK) {
        u32 first[PACK];
        pack bend[PACK], acc[PACK][8 / PACK];
        UNROLL for (u32 k = 0; k < PACK; k++)
        { /* at the end: the last entry again */
            const u32 entry = e + k < n ? e + k : n - 1;
            first[k] = 16 * entry;
            bend[k] = PACK_OF(slope[place[entry]]);
            UNROLL for (u32 j = 0; j < 8 / PACK; j++) acc[k][j] = PK(0.0);
        }
        for (u32 panel = 0; panel < panels; panel++) {
            const u32 bins = hf_bins(ch, panel), at = stride * panel;
            UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
            {
                const pack w = LOADP(weight, 8 * units * panel + b);
                UNROLL for (u32 k = 0; k < PACK; k++) acc[k][b / PACK] =
                    PFMA(w, hf_shift_slope(shifts, 0, first[k] + at + b, bend[k], bent), acc[k][b / PACK]);
            }
        }
        STOREP(sums, e, pflush(factor * acc8_totals(acc)));
    }
}

/* `sums`: HSUM or BENT. */
FN void hf_histosys_sums(HF_PARAMETERS, hf_channel ch, GLOBAL real *sums, u32 bent)
{
    TEAM_FOR(u, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        if (un->varied == HF_NOT_VARIED)
            hf_sums_of_unit(HF, ch, u, un, sums + un->sums, bent, 0);
        else
            hf_sums_of_unit(HF, ch, u, un, sums + un->sums, bent, 1);
    }
}

#endif
