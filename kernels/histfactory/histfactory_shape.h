/* histfactory_shape.h: samples with a shape: their bases are clipped, and scaled to a total.
 *
 *   linear        base = max(base, minimum),   F = F * total / Z,   Z = sum over bins of the base + padding
 *   logarithmic   base = max(w * total / Z, minimum),   w = exp(base),   Z = sum over bins of w
 *
 * A tiny minimum has its edge at 0, where a linear base would be negative. Between both the base counts as it
 * is. A bin that is empty at the nominal point then has its kink there, where fits look for one. So has a bin
 * with the minimum at the nominal point, which is lifted by the minimum.
 *
 * So a histosys of such a sample also changes Z: uZ = -Z'/Z.
 *
 *   linear        uZ joins u of the unit's factors; the second derivative of a rate E has E (u u^T + uZ uZ^T)
 *   logarithmic   base' = base v, v = S + A t' + uZ, where the minimum does not hold it;
 *                 base'' = base (v v^T - sum over bins of w/Z v v^T), and what A t'' adds */
#pragma once

#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "histfactory/histfactory_histosys.h"

FN u32 hf_has_shapes(CONSTANT u32 *mi)
{
    return (mi[HF_SWITCHES] & HF_SHAPES) != 0;
}
FN u32 hf_is_scaled(CONSTANT elem *mr, hf_unit un)
{
    return un->shape != HF_NO_SHAPE && mr[un->shape + HF_SHAPE_TOTAL] > 0;
}
/* Histosys entries with a uZ, which is 0 for logarithms without a total. */
FN u32 hf_turn_count(CONSTANT elem *mr, hf_unit un)
{
    return hf_is_scaled(mr, un) || hf_is_logarithmic(mr, un) ? un->histosys_count : 0;
}
/* What rounding adds to a minimum that does not hold the base. */
#if F64
#define HF_SHAPE_ABOVE PK(4.4408920985006262e-16)
#else
#define HF_SHAPE_ABOVE PK(2.384185791015625e-7)
#endif

/* Where the minimum holds the base of bins b.. of a unit with a shape. */
FN pmask hf_is_held(CONSTANT elem *mr, hf_unit un, pack base)
{
    return base <= PACK_OF_ELEM(mr[un->shape + HF_SHAPE_MINIMUM]);
}
/* A derivative by the shifts from x, that by the base: 0 where a minimum holds it; logarithms multiply. */
FN pack hf_by_shifts(CONSTANT elem *mr, hf_unit un, pack base, pack x)
{
    if (un->shape == HF_NO_SHAPE) return x;
    if (hf_is_logarithmic(mr, un)) x = pflush(x * base);
    return PSELECT(hf_is_held(mr, un, base), PK(0.0), x);
}

/* Clips a unit's base. Returns the sum over its bins. */
FN real hf_clip_base(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u)
{
    hf_unit un = hf_unit_of(mi, ch->first_unit + u);
    const pack least = PACK_OF_ELEM(mr[un->shape + HF_SHAPE_MINIMUM]),
               edge = PACK_OF_ELEM(mr[un->shape + HF_SHAPE_EDGE]), above = PFMA(least, HF_SHAPE_ABOVE, least);
    const u32 panels = ch->panels;
    acc8 sum = acc8_zero();
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 bins = hf_bins(ch, panel);
        GLOBAL real *base = HF_S(BASE) + (hf_cell_at(ch, panel, u) - part.cell_shift);
        UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
        {
            const pmask real_bin = LOADM(HF_R(LAMBDA0), hf_first_bin(ch, panel) + b) <= PK(0.0);
            const pack own = LOADP(base, b),
                       raised = own + LOADM(HF_R(SHAPE_LIFT), hf_cell_at(ch, panel, u) + b),
                       free = PSELECT(raised < above, above, raised),
                       clipped = PSELECT(real_bin, PSELECT(own <= edge, least, free), own);
            STOREP(base, b, clipped);
            sum.part[b / PACK] = sum.part[b / PACK] + clipped;
        }
    }
    return acc8_total(sum);
}

/* A unit's base from logarithms, and SHAPE_PART. */
FN void hf_exponential_base(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u)
{
    hf_unit un = hf_unit_of(mi, ch->first_unit + u);
    const pack zero = PK(0.0), least = PACK_OF_ELEM(mr[un->shape + HF_SHAPE_MINIMUM]);
    const u32 panels = ch->panels;
    acc8 sum = acc8_zero();
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 bins = hf_bins(ch, panel), cell = hf_cell_at(ch, panel, u) - part.cell_shift;
        UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
        {
            const pmask real_bin = LOADM(HF_R(LAMBDA0), hf_first_bin(ch, panel) + b) <= zero;
            const pack w = PSELECT(real_bin, pflush(m_exp(LOADP(HF_S(BASE), cell + b))), zero);
            STOREP(HF_S(BASE), cell + b, w);
            sum.part[b / PACK] = sum.part[b / PACK] + w;
        }
    }
    const real z = acc8_total(sum), some = SELECT(z > R(0.0), z, R(1.0)),
               inverse = hf_is_scaled(mr, un) ? DIVIDE(R(1.0), some) : R(0.0),
               scale = hf_is_scaled(mr, un) ? LOADM1(mr, un->shape + HF_SHAPE_TOTAL) * inverse : R(1.0);
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 bins = hf_bins(ch, panel), cell = hf_cell_at(ch, panel, u) - part.cell_shift;
        UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
        {
            const pmask real_bin = LOADM(HF_R(LAMBDA0), hf_first_bin(ch, panel) + b) <= zero;
            const pack w = LOADP(HF_S(BASE), cell + b), base = pflush(w * PACK_OF(scale));
            STOREP(HF_S(SHAPE_PART), cell + b, pflush(w * PACK_OF(inverse)));
            STOREP(HF_S(BASE), cell + b, PSELECT(AND(real_bin, base < least), least, base));
        }
    }
}

/* BASE of units with a shape; F and SHAPE_INVERSE (1 / Z) of linear ones. */
FN_LARGE void hf_shapes(HF_PARAMETERS, hf_part_key key)
{
    const hf_part part = hf_part_of(mi, key);
    for (u32 k = 0; k < part.channels; k++) {
        hf_channel ch = hf_channel_of(mi, part.first_channel + k);
        TEAM_FOR(u, ch->units) {
            const u32 unit = ch->first_unit + u;
            hf_unit un = hf_unit_of(mi, unit);
            if (hf_is_logarithmic(mr, un)) {
                hf_exponential_base(HF, part, ch, u);
            } else if (un->shape != HF_NO_SHAPE) {
                const real sum = hf_clip_base(HF, part, ch, u);
                if (hf_is_scaled(mr, un)) {
                    const real inverse = DIVIDE(R(1.0), sum + LOADM1(mr, un->shape + HF_SHAPE_PADDING));
                    const real scale = flush(LOADM1(mr, un->shape + HF_SHAPE_TOTAL) * inverse);
                    s[mi[HF_S_SHAPE_INVERSE] + unit] = inverse;
                    s[mi[HF_S_F] + unit] = flush(s[mi[HF_S_F] + unit] * scale);
                }
            }
        }
    }
    TEAM_BARRIER();
}

/* Puts -1 / Z into CELL_WEIGHT, 0 in bins that are held; of logarithms -w / Z. */
FN void hf_shape_weights(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u)
{
    const u32 unit = ch->first_unit + u, panels = ch->panels;
    hf_unit un = hf_unit_of(mi, unit);
    const u32 logarithmic = hf_is_logarithmic(mr, un);
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 cell = hf_cell_at(ch, panel, u) - part.cell_shift;
        for (u32 b = 0; b < hf_bins(ch, panel); b += PACK) {
            pack weight = PACK_OF(-s[mi[HF_S_SHAPE_INVERSE] + unit]);
            if (logarithmic)
                weight = -LOADP(HF_S(SHAPE_PART), cell + b);
            else
                weight = hf_by_shifts(mr, un, LOADP(HF_S(BASE), cell + b), weight);
            STOREP(HF_S(CELL_WEIGHT), cell + b, weight);
        }
    }
}

/* SHAPE_U, and if second derivatives follow the same of the even parts, SHAPE_EVEN. Uses CELL_WEIGHT. */
FN_LARGE void hf_shape_sums(HF_PARAMETERS, hf_part_key key, hf_channel ch)
{
    const hf_part part = hf_part_of(mi, key);
    TEAM_FOR(u, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        if (hf_turn_count(mr, un) > 0) {
            hf_sums_target target;
            target.to = HF_S(SHAPE_U) + un->sums;
            target.slot = mi;
            target.phi = R(0.0);
            target.is_gradient = 0;
            hf_shape_weights(HF, part, ch, u);
            hf_sums_of_unit(HF, part, ch, u, target, 0, 0);
            target.to = HF_S(SHAPE_EVEN) + un->sums;
            if (part.kept) hf_sums_of_unit(HF, part, ch, u, target, 1, 0);
        }
    }
    TEAM_BARRIER();
}

/* SHAPE_T of logarithmic units, from CELL_WEIGHT. */
FN void hf_shape_totals(HF_PARAMETERS, hf_part part, hf_channel ch)
{
    TEAM_FOR(u, ch->units) {
        if (hf_is_logarithmic(mr, hf_unit_of(mi, ch->first_unit + u))) {
            acc8 sum = acc8_zero();
            for (u32 panel = 0; panel < ch->panels; panel++) {
                const u32 bins = hf_bins(ch, panel);
                GLOBAL const real *weight = HF_S(CELL_WEIGHT) + (hf_cell_at(ch, panel, u) - part.cell_shift);
                UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins) sum.part[b / PACK] =
                    sum.part[b / PACK] + LOADP(weight, b);
            }
            s[mi[HF_S_SHAPE_T] + ch->first_unit + u] = acc8_total(sum);
        }
    }
    TEAM_BARRIER();
}

/* ---- derivatives, with SHAPE_U and SHAPE_EVEN as they are at HF_S_X ---- */

/* The sum of uZ times a direction of the slots. */
FN real hf_shape_turn(HF_PARAMETERS, hf_unit un, GLOBAL const real *direction)
{
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys;
    const u32 n = hf_turn_count(mr, un);
    real u = R(0.0);
    for (u32 e = 0; e < n; e++) u = FMA(s[mi[HF_S_SHAPE_U] + un->sums + e], direction[slot[e]], u);
    return u;
}

FN void hf_shape_gradient(HF_PARAMETERS, u32 unit, GLOBAL real *gradient)
{
    hf_unit un = hf_unit_of(mi, unit);
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys;
    const u32 n = hf_turn_count(mr, un);
    const real t = s[mi[hf_is_logarithmic(mr, un) ? HF_S_SHAPE_T : HF_S_T] + unit],
               rate = flush(s[mi[HF_S_PHI] + unit] * t);
    TEAM_FOR(e, n) gradient[slot[e]] = FMA(rate, s[mi[HF_S_SHAPE_U] + un->sums + e], gradient[slot[e]]);
    TEAM_BARRIER();
}

/* Adds uZ to the unit's row of u, of logarithms to that of g; `place`: places there. */
FN void hf_shape_row(HF_PARAMETERS, u32 unit, CONSTANT u32 *place, GLOBAL real *u, GLOBAL real *g)
{
    hf_unit un = hf_unit_of(mi, unit);
    GLOBAL const real *turn = HF_S(SHAPE_U) + un->sums;
    const u32 n = hf_turn_count(mr, un), logarithmic = hf_is_logarithmic(mr, un);
    for (u32 e = 0; e < n; e++) {
        const u32 at = place[e];
        if (logarithmic)
            g[at] = FMA(s[mi[HF_S_SHAPE_T] + unit], turn[e], g[at]);
        else
            u[at] = u[at] + turn[e];
    }
}

/* Below this u the product of two is less than the rounding of a Hessian. */
#define HF_SHAPE_LEAST R(1e-9)

FN mask hf_shape_matters(real u)
{
    return OR(u > HF_SHAPE_LEAST, u < -HF_SHAPE_LEAST);
}

/* uZ uZ^T times `rate` into TILES (the diagonal into DIAGONAL), and Z''. */
FN void hf_shape_pairs(HF_PARAMETERS, hf_unit un, real rate)
{
    GLOBAL real *tiles = HF_S(TILES), *diagonal = HF_S(DIAGONAL);
    GLOBAL const real *u = HF_S(SHAPE_U) + un->sums, *even = HF_S(SHAPE_EVEN) + un->sums;
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys, *place = hf_shift_places(mi) + un->histosys;
    const u32 n = hf_is_logarithmic(mr, un) ? 0 : hf_turn_count(mr, un);
    for (u32 e = 0; e < n; e++) {
        const real own = flush(rate * u[e]), curve = s[mi[HF_S_HT2] + place[e]];
        diagonal[slot[e]] = FMA(own, u[e], FMA(flush(rate * even[e]), curve, diagonal[slot[e]]));
        if (!ANY(hf_shape_matters(u[e]))) continue;
        for (u32 f = 0; f < e; f++) tiles_add_element(tiles, slot[e], slot[f], flush(own * u[f]));
    }
}

/* v of entry e of a logarithmic unit. */
FN pack hf_log_slope(HF_PARAMETERS, hf_unit un, u32 panel, u32 e, u32 b)
{
    const real slope = s[mi[HF_S_HT1] + hf_shift_places(mi)[un->histosys + e]];
    return hf_shift_slope(hf_shifts(HF, un, panel, 0), e, b, PACK_OF(slope), 0) +
           PACK_OF(s[mi[HF_S_SHAPE_U] + un->sums + e]);
}

/* The sum over bins of (CELL_WEIGHT - SHAPE_T w/Z) v v^T for a pair of entries. `u` counts in the channel. */
FN real hf_log_pair(HF_PARAMETERS, hf_channel ch, u32 u, u32 e, u32 f)
{
    const u32 unit = ch->first_unit + u;
    hf_unit un = hf_unit_of(mi, unit);
    const pack t = PACK_OF(s[mi[HF_S_SHAPE_T] + unit]);
    acc8 sum = acc8_zero();
    for (u32 panel = 0; panel < ch->panels; panel++) {
        const u32 cell = hf_cell_at(ch, panel, u), bins = hf_bins(ch, panel);
        UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
        {
            const pack weight =
                pflush(PFMA(-t, LOADP(HF_S(SHAPE_PART), cell + b), LOADP(HF_S(CELL_WEIGHT), cell + b)));
            sum.part[b / PACK] = PFMA(pflush(weight * hf_log_slope(HF, un, panel, e, b)),
                                      hf_log_slope(HF, un, panel, f, b), sum.part[b / PACK]);
        }
    }
    return flush(acc8_total(sum));
}

/* Adds second derivatives by pairs of shifts of a logarithmic unit, and Z'' of its diagonal. */
FN void hf_log_pairs(HF_PARAMETERS, hf_channel ch, u32 u, real kap)
{
    const u32 unit = ch->first_unit + u;
    hf_unit un = hf_unit_of(mi, unit);
    GLOBAL real *tiles = HF_S(TILES), *diagonal = HF_S(DIAGONAL);
    GLOBAL const real *even = HF_S(SHAPE_EVEN) + un->sums;
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys, *place = hf_shift_places(mi) + un->histosys;
    const real phi = flush(kap * s[mi[HF_S_PHI] + unit]);
    TEAM_FOR(e, un->histosys_count) {
        const real curve = flush(s[mi[HF_S_SHAPE_T] + unit] * even[e]) * s[mi[HF_S_HT2] + place[e]];
        for (u32 f = 0; f < e; f++)
            tiles_add_element(tiles, slot[e], slot[f], flush(phi * hf_log_pair(HF, ch, u, e, f)));
        diagonal[slot[e]] = FMA(phi, flush(hf_log_pair(HF, ch, u, e, e) + curve), diagonal[slot[e]]);
    }
    TEAM_BARRIER();
}

/* Adds the pairs of all units. `kap`: histfactory_curvature.h. */
FN_LARGE void hf_shape_curvature(HF_PARAMETERS, real kap)
{
    HF_FOR_CHANNELS(ch) {
        for (u32 u = 0; u < ch->units; u++) {
            TEAM_IF(hf_is_logarithmic(mr, hf_unit_of(mi, ch->first_unit + u))) hf_log_pairs(HF, ch, u, kap);
        }
    }
    ONE_WORKER
    {
        for (u32 unit = 0; unit < mi[HF_UNITS]; unit++)
            hf_shape_pairs(HF, hf_unit_of(mi, unit),
                           flush(kap * flush(s[mi[HF_S_PHI] + unit] * s[mi[HF_S_T] + unit])));
    }
    TEAM_BARRIER();
}
