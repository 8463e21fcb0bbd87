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

/* One call for each number of bins of a panel, a constant in the callee: with lanes, loops over bins are
 * registers. */
#define HF_BY_BINS(bins, call_of) \
    do {                          \
        if ((bins) == 1)          \
            call_of(1);           \
        else if ((bins) == 2)     \
            call_of(2);           \
        else if ((bins) == 3)     \
            call_of(3);           \
        else if ((bins) == 4)     \
            call_of(4);           \
        else if ((bins) == 5)     \
            call_of(5);           \
        else if ((bins) == 6)     \
            call_of(6);           \
        else if ((bins) == 7)     \
            call_of(7);           \
        else                      \
            call_of(8);           \
    } while (0)

/* nominal + S s + A t of `bins` bins from b on, in two chains: one would wait for each fma. */
#define HF_BASE_PACKS (LANES > 1 ? 8 : PACK == 8 ? 1 : PACK == 4 ? 2 : 4)
FN void hf_base_of_bins(HF_PARAMETERS, hf_numbers nominal, hf_numbers shifts, CONSTANT u32 *slot, u32 n,
                        u32 b, u32 bins, GLOBAL real *base)
{
    GLOBAL const real *hs = HF_S(HS), *ht = HF_S(HT);
    pack linear[HF_BASE_PACKS], bent[HF_BASE_PACKS];
    UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
    {
        linear[k] = hf_number(nominal, b + k * PACK);
        bent[k] = PK(0.0);
    }
    for (u32 e = 0; e < n; e++) {
        const pack a = PACK_OF(hs[slot[e]]), t = PACK_OF(ht[slot[e]]);
        UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
        {
            linear[k] = PFMA(hf_number(shifts, e * 16 + b + k * PACK), a, linear[k]);
            bent[k] = PFMA(hf_number(shifts, e * 16 + 8 + b + k * PACK), t, bent[k]);
        }
    }
    UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
        STOREP(base, b + k * PACK, pflush(linear[k] + bent[k]));
}

/* `base`: the cell's place. */
FN void hf_cell_base(HF_PARAMETERS, u32 cell, hf_cell ce, GLOBAL real *base, u32 varied)
{
    GLOBAL const real *row = s + (varied ? mi[HF_S_VARIED] + ce->varied : 0);
    const hf_numbers nominal = hf_numbers_of(HF_R(NOMINAL) + cell * 8, row, varied),
                     shifts = hf_numbers_of(mr + ce->histosys_data, row + 8, varied);
    hf_unit un = hf_unit_of(mi, ce->unit);
    CONSTANT u32 *slot = hf_shift_places(mi) + un->histosys;
    const u32 n = un->histosys_count, bins = ce->bins;
#define HF_BASE_OF(constant) hf_base_of_bins(HF, nominal, shifts, slot, n, 0, constant, base)
    if (LANES > 1 && !varied)
        HF_BY_BINS(bins, HF_BASE_OF);
    else
        for (u32 b = 0; b < (HF_BASE_PACKS * PACK < 8 ? bins : 1); b += HF_BASE_PACKS * PACK)
            hf_base_of_bins(HF, nominal, shifts, slot, n, b, HF_BASE_PACKS * PACK, base);
#undef HF_BASE_OF
}

FN_LARGE void hf_cells(HF_PARAMETERS, hf_part_key key)
{
    const hf_part part = hf_part_of(mi, key);
    TEAM_FOR(k, part.cells) {
        const u32 cell = part.first_cell + k;
        hf_cell ce = (hf_cell)(HF_I(CELLS)) + cell;
        GLOBAL real *base = HF_S(BASE) + (cell * 8 - part.cell_shift);
        if (ce->varied == HF_NOT_VARIED)
            hf_cell_base(HF, cell, ce, base, 0);
        else
            hf_cell_base(HF, cell, ce, base, 1);
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
/* One panel of `bins` bins, without zero partial sums. */
FN void hf_sums_of_bins(HF_PARAMETERS, u32 bins, hf_unit un, hf_numbers shifts, GLOBAL const real *weight,
                        pack factor, GLOBAL real *sums, u32 bent)
{
    CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
    GLOBAL const real *slope = HF_S(HT1);
    const u32 n = un->histosys_count;
    pack w[8];
    UNROLL for (u32 b = 0; b < 8; b++) w[b] = b < bins ? weight[b] : PK(0.0);
    for (u32 e = 0; e < n; e++) {
        const pack at = slope[place[e]];
        pack v[8];
        UNROLL for (u32 b = 0; b < 8; b++) v[b] =
            b < bins ? w[b] * hf_shift_slope(shifts, e, b, at, bent) : PK(0.0);
        UNROLL for (u32 b = 0; b < 4; b++) if (b + 4 < bins) v[b] = v[b] + v[b + 4];
        if (bins > 2) v[0] = v[0] + v[2];
        if (bins > 3) v[1] = v[1] + v[3];
        if (bins > 1) v[0] = v[0] + v[1];
        STOREP(sums, e, pflush(factor * pflush(v[0])));
    }
}
#endif

/* Per entry: F times sum over bins of weight times (S + A t'), or A if `bent`. PACK entries at once. */
FN void hf_sums_of_unit(HF_PARAMETERS, hf_channel ch, u32 u, hf_unit un, GLOBAL const real *weight,
                        GLOBAL real *sums, u32 bent, u32 varied)
{
    const u32 units = ch->units, panels = ch->panels, n = un->histosys_count;
    const u32 stride = varied ? HF_VARIED_PANEL(n) : 16 * n; /* between panels */
    CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
    GLOBAL const real *slope = HF_S(HT1);
    const hf_numbers shifts = hf_shifts(HF, un, 0, varied);
    const pack factor = PACK_OF(s[mi[HF_S_F] + ch->first_unit + u]);
#if PACK == 1
#define HF_SUMS_OF(constant) hf_sums_of_bins(HF, constant, un, shifts, weight, factor, sums, bent)
#if LANES > 1
    if (panels == 1 && !varied) {
        HF_BY_BINS(ch->last_bins, HF_SUMS_OF);
        return;
    }
#endif
    if (panels == 1 && ch->last_bins <= 4) { /* padding bins have no weight */
        HF_SUMS_OF(ch->last_bins);
        return;
    }
#undef HF_SUMS_OF
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
FN void hf_histosys_sums(HF_PARAMETERS, hf_part part, hf_channel ch, GLOBAL real *sums, u32 bent)
{
    TEAM_FOR(u, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        if (un->histosys_count == 0) continue;
        GLOBAL const real *weight = HF_S(CELL_WEIGHT) + (hf_cell_at(ch, 0, u) - part.cell_shift);
        GLOBAL real *to = sums + (un->sums - part.sums_shift);
        if (un->varied == HF_NOT_VARIED)
            hf_sums_of_unit(HF, ch, u, un, weight, to, bent, 0);
        else
            hf_sums_of_unit(HF, ch, u, un, weight, to, bent, 1);
    }
}

#endif
