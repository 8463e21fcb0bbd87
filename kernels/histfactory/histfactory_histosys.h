/* histfactory_histosys.h: shifts of rates by histosys, and derivatives; S, A: histfactory_arrays.h. */
#pragma once

#include "numeric/sum.h"
#include "histfactory/histfactory_normsys.h"

/* Shift: S s(a) + A t(a); s' = 1. The k-th code of the model; t'' where it is `kept`. All parts are linear
 * outside -1 .. 1, so t is its value at the nearer edge, and a slope times what lies beyond. */
FN void hf_interpolate_by(HF_PARAMETERS, u32 code, u32 k, pack scale, u32 kept)
{
    GLOBAL real *x = HF_S(X);
    TEAM_FOR_PACK(slot, mi[HF_DENSE]) {
        const u32 i = k * mi[HF_DENSE] + slot;
        const pack a = pflush(scale * LOADP(x, slot)), zero = PK(0.0), one = PK(1.0);
        const hf_normsys_point at = hf_normsys_split(a, one);
        const pack inner = at.inner, inner2 = pflush(inner * inner), size = at.above + at.below;
        const pmask outside = size > zero;
        pack value = a, bend, slope, curve;
        if (code == HF_SHIFT_POLYNOMIAL) { /* twice differentiable: at the edge t'' is 0 */
            bend = PFMA(inner2, PFMA(inner2, PFMA(PK(3.0), inner2, PK(-10.0)), PK(15.0)), PK(8.0) * size);
            slope = inner * PFMA(inner2, PFMA(PK(18.0), inner2, PK(-40.0)), PK(30.0));
            curve = PFMA(inner2, PFMA(PK(90.0), inner2, PK(-120.0)), PK(30.0));
            value = LOADP(x, slot);
            slope = scale * slope;
            curve = scale * pflush(scale * curve);
        } else if (code == HF_SHIFT_LINEAR) { /* at 0 the downward slope */
            bend = PK(8.0) * PSELECT(a > zero, a, -a);
            slope = PSELECT(a > zero, PK(8.0), PK(-8.0));
            curve = zero;
        } else { /* a parabola */
            bend = PFMA(PK(16.0), size, PK(8.0) * inner2);
            slope = PK(16.0) * inner;
            curve = PSELECT(outside, zero, PK(16.0));
            if (code == HF_SHIFT_JUMPING) {
                /* as in pyhf 0.7: S a + 16 A (a - 1) - S above 1, (S - 16 A) a below -1 */
                const pack shifted = PSELECT(a < zero, a, a - one);
                value = PSELECT(outside, shifted, a);
                bend = PSELECT(outside, slope * shifted, bend);
            }
        }
        STOREP(HF_S(HS), i, value);
        STOREP(HF_S(HT), i, pflush(bend));
        STOREP(HF_S(HT1), i, pflush(slope));
        if (kept) STOREP(HF_S(HT2), i, pflush(curve));
    }
}

FN void hf_interpolate(HF_PARAMETERS, u32 kept)
{
    const u32 several = hf_has_shift_codes(mi), count = several ? hf_shift_codes_of(mi)->count : 1;
    CONSTANT u32 *codes =
        several ? (CONSTANT u32 *)(hf_shift_codes_of(mi) + 1) : (CONSTANT u32 *)(mi + HF_HISTOSYS_CODE);
    for (u32 k = 0; k < count; k++) {
        const pack scale = several ? PACK_OF_ELEM(mr[hf_shift_codes_of(mi)->scales + k]) : PK(1.0);
        hf_interpolate_by(HF, codes[k], k, scale, kept);
    }
}

/* S + A t'; `even`: A. */
FN pack hf_shift_slope(hf_numbers shifts, u32 e, u32 b, pack slope, u32 even)
{
    const pack a = hf_number(shifts, 16 * e + 8 + b);
    return even ? a : PFMA(a, slope, hf_number(shifts, 16 * e + b));
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
#define HF_BASE_PACKS (PACK == 8 ? 1 : PACK == 4 ? 2 : 4)
FN void hf_base_of_bins(HF_PARAMETERS, hf_numbers nominal, hf_numbers shifts, CONSTANT u32 *slot, u32 n,
                        u32 b, u32 bins, GLOBAL real *base)
{
    GLOBAL const real *hs = HF_S(HS), *ht = HF_S(HT);
    pack linear[HF_BASE_PACKS], even[HF_BASE_PACKS];
    UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
    {
        linear[k] = hf_number(nominal, b + k * PACK);
        even[k] = PK(0.0);
    }
    for (u32 e = 0; e < n; e++) {
        const pack a = PACK_OF(hs[slot[e]]), t = PACK_OF(ht[slot[e]]);
        UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
        {
            linear[k] = PFMA(hf_number(shifts, e * 16 + b + k * PACK), a, linear[k]);
            even[k] = PFMA(hf_number(shifts, e * 16 + 8 + b + k * PACK), t, even[k]);
        }
    }
    UNROLL for (u32 k = 0; k < HF_BASE_PACKS; k++) if (k * PACK < bins)
        STOREP(base, b + k * PACK, pflush(linear[k] + even[k]));
}

/* The same with lanes, by blocks. */
FN void hf_base_of_blocks(HF_PARAMETERS, CONSTANT elem *nominal, CONSTANT elem *block, CONSTANT u32 *slot,
                          u32 n, u32 bins, GLOBAL real *base)
{
    GLOBAL const real *hs = HF_S(HS), *ht = HF_S(HT);
    real linear[8], even[8];
    UNROLL for (u32 b = 0; b < 8; b++) if (b < bins)
    {
        linear[b] = LOADM1(nominal, b);
        even[b] = R(0.0);
    }
    for (u32 first = 0; first < n; first += 8) {
        const u32 left = n - first, end = left < 8 ? left : 8;
        for (u32 j = 0; j < end; j += 2) /* an odd block's padding adds 0 */
            UNROLL for (u32 k = 0; k < 2; k++)
            {
                CONSTANT elem *shifts = block + j + k;
                const real a = hs[slot[j + k]], t = ht[slot[j + k]];
                UNROLL for (u32 b = 0; b < 8; b++) if (b < bins)
                {
                    linear[b] = FMA(LOADM1(shifts, 16 * b), a, linear[b]);
                    even[b] = FMA(LOADM1(shifts, 16 * b + 8), t, even[b]);
                }
            }
        slot += 8;
        block += 16 * bins;
    }
    UNROLL for (u32 b = 0; b < 8; b++) if (b < bins) base[b] = flush(linear[b] + even[b]);
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
#define HF_BASE_OF(constant) \
    hf_base_of_blocks(HF, nominal.table, mr + ce->histosys_blocks, slot, n, constant, base)
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

/* A block's S (`kind` 0) or A (8) of entries j .. in bin b. */
FN pack hf_block_shift(hf_numbers block, u32 kind, u32 b, u32 j)
{
    if (!block.varied) return LOADM(block.table, 16 * b + kind + j);
    pack shift = PK(0.0);
    UNROLL for (u32 k = 0; k < PACK; k++) ELEMENT(shift, k) = block.row[16 * (j + k) + kind + b];
    return shift;
}

/* Sum over bins of weight times (S + A t'), or A if `even`, of entries j .. of a block. */
FN pack hf_block_sum(PRIVATE const pack *weight, u32 bins, hf_numbers block, u32 j, pack slope, u32 even)
{
    pack linear = PK(0.0), curved = weight[0] * hf_block_shift(block, 8, 0, j);
    if (!even) linear = weight[0] * hf_block_shift(block, 0, 0, j);
    UNROLL for (u32 b = 1; b < 8; b++) if (b < bins)
    {
        curved = PFMA(weight[b], hf_block_shift(block, 8, b, j), curved);
        if (!even) linear = PFMA(weight[b], hf_block_shift(block, 0, b, j), linear);
    }
    return pflush(even ? curved : PFMA(slope, pflush(curved), linear));
}

/* Where sums go: into the gradient, times `phi`; else to an array by entry. */
typedef struct {
    GLOBAL real *to;
    CONSTANT u32 *slot; /* of the gradient */
    real phi;
    u32 is_gradient;
    u32 add; /* to the array's sums of panels before */
} hf_sums_target;

/* Sums over a panel of `bins` bins, from its first block on. `place`: places of n entries in HT1. */
FN void hf_sums_of_bins(HF_PARAMETERS, u32 bins, hf_numbers block, CONSTANT u32 *place, u32 n,
                        GLOBAL const real *weight, hf_sums_target target, u32 even)
{
    GLOBAL const real *slope = HF_S(HT1);
    pack w[8];
    UNROLL for (u32 b = 0; b < 8; b++) w[b] = PACK_OF(b < bins ? weight[b] : R(0.0));
    for (u32 first = 0; first < n; first += 8) {
        const u32 left = n - first, end = left < 8 ? left : 8;
        for (u32 j = 0; j < end; j += PACK) {
            const pack sum = hf_block_sum(w, bins, block, j, GATHERP(slope, place, j), even);
            if (target.is_gradient) {
                const u32 slot = target.slot[j];
                target.to[slot] = FMA(target.phi, FIRST(sum), target.to[slot]);
            } else {
                STOREP(target.to, first + j, target.add ? pflush(LOADP(target.to, first + j) + sum) : sum);
            }
        }
        place += 8;
        target.slot += 8;
        block.table += 16 * bins;
        block.row += 128;
    }
}

/* The numbers of a unit's blocks in a panel. */
FN hf_numbers hf_shift_blocks(HF_PARAMETERS, hf_unit un, u32 panel, u32 varied)
{
    return hf_numbers_of(mr + un->histosys_blocks + HF_SHIFT_PANEL(un->histosys_count, panel),
                         hf_shifts(HF, un, panel, varied).row, varied);
}

/* Sums over all panels. `u` counts within the channel. */
FN void hf_sums_of_unit(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u, hf_sums_target target, u32 even,
                        u32 varied)
{
    hf_unit un = hf_unit_of(mi, ch->first_unit + u);
    const u32 n = un->histosys_count, panels = n > 0 ? ch->panels : 0, units = ch->units;
    CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
    GLOBAL const real *first = HF_S(CELL_WEIGHT) + (hf_cell_at(ch, 0, u) - part.cell_shift);
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 bins = hf_bins(ch, panel);
        const hf_numbers block = hf_shift_blocks(HF, un, panel, varied);
        GLOBAL const real *weight = first + 8 * units * panel;
        target.add = panel > 0;
#define HF_SUMS_OF(constant) hf_sums_of_bins(HF, constant, block, place, n, weight, target, even)
        HF_BY_BINS(bins, HF_SUMS_OF);
#undef HF_SUMS_OF
    }
}

/* `sums`: HSUM or EVEN. */
FN void hf_histosys_sums(HF_PARAMETERS, hf_part part, hf_channel ch, GLOBAL real *sums, u32 even)
{
    TEAM_FOR(u, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        hf_sums_target target;
        target.to = sums + (un->sums - part.sums_shift);
        target.slot = mi;
        target.phi = R(0.0);
        target.is_gradient = 0;
        if (un->varied == HF_NOT_VARIED)
            hf_sums_of_unit(HF, part, ch, u, target, even, 0);
        else
            hf_sums_of_unit(HF, part, ch, u, target, even, 1);
    }
}

/* One worker who needs the sums for the gradient alone adds them there at once. */
FN u32 hf_has_no_sums(hf_part part, hf_channel ch)
{
    if (PACK > 1) return 0;
    return TEAM_IS_ONE && !part.kept && ch->panels == 1;
}

FN void hf_histosys_gradient(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u, GLOBAL real *gradient)
{
    const u32 unit = ch->first_unit + u;
    hf_unit un = hf_unit_of(mi, unit);
    const real phi = s[mi[HF_S_PHI] + unit];
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys;
    if (hf_has_no_sums(part, ch)) {
        hf_sums_target target;
        target.to = gradient;
        target.slot = slot;
        target.phi = phi;
        target.is_gradient = 1;
        if (un->varied == HF_NOT_VARIED)
            hf_sums_of_unit(HF, part, ch, u, target, 0, 0);
        else
            hf_sums_of_unit(HF, part, ch, u, target, 0, 1);
    } else {
        const u32 n = un->histosys_count;
        GLOBAL const real *h = HF_S(HSUM) + (un->sums - part.sums_shift);
        TEAM_FOR(e, n) gradient[slot[e]] = FMA(phi, h[e], gradient[slot[e]]);
    }
}
