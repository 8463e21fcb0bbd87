/* histfactory_shape.h: samples with a shape: their bases are clipped, and scaled to a total.
 *
 *   base = max(base, minimum),   F = F * total / Z,   Z = sum over bins of the base + padding
 *
 * A tiny minimum has its edge at 0, where the base would be negative. Between both the base counts as it is.
 * A bin that is empty at the nominal point then has its kink there, where fits look for one. So has a bin
 * with the minimum at the nominal point, which is lifted by the minimum.
 *
 * So a histosys of such a sample also acts as a factor: u = -Z'/Z. With the u of all its factors, the second
 * derivative of a rate E is E (u u^T + uZ uZ^T + ..), uZ: those of Z. */
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
/* x, or 0 where a minimum holds the base. */
FN pack hf_unless_held(CONSTANT elem *mr, hf_unit un, pack base, pack x)
{
    return un->shape == HF_NO_SHAPE ? x : PSELECT(hf_is_held(mr, un, base), PK(0.0), x);
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

/* BASE, F and SHAPE_INVERSE (1 / Z) of units with a shape. */
FN_LARGE void hf_shapes(HF_PARAMETERS, hf_part_key key)
{
    const hf_part part = hf_part_of(mi, key);
    for (u32 k = 0; k < part.channels; k++) {
        hf_channel ch = hf_channel_of(mi, part.first_channel + k);
        TEAM_FOR(u, ch->units) {
            const u32 unit = ch->first_unit + u;
            hf_unit un = hf_unit_of(mi, unit);
            if (un->shape != HF_NO_SHAPE) {
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

/* Puts -1 / Z into CELL_WEIGHT, 0 in bins that are held. */
FN void hf_shape_weights(HF_PARAMETERS, hf_part part, hf_channel ch, u32 u)
{
    const u32 unit = ch->first_unit + u, panels = ch->panels;
    hf_unit un = hf_unit_of(mi, unit);
    const pack weight = PACK_OF(-s[mi[HF_S_SHAPE_INVERSE] + unit]);
    for (u32 panel = 0; panel < panels; panel++) {
        const u32 cell = hf_cell_at(ch, panel, u) - part.cell_shift;
        for (u32 b = 0; b < 8; b += PACK)
            STOREP(HF_S(CELL_WEIGHT), cell + b, hf_unless_held(mr, un, LOADP(HF_S(BASE), cell + b), weight));
    }
}

/* SHAPE_U, and if second derivatives follow the same of the even parts, SHAPE_EVEN. Uses CELL_WEIGHT. */
FN_LARGE void hf_shape_sums(HF_PARAMETERS, hf_part_key key, hf_channel ch)
{
    const hf_part part = hf_part_of(mi, key);
    TEAM_FOR(u, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        if (hf_is_scaled(mr, un)) {
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

/* ---- derivatives, with SHAPE_U and SHAPE_EVEN as they are at HF_S_X ---- */

/* The sum of u times a direction of the slots. */
FN real hf_shape_turn(HF_PARAMETERS, hf_unit un, GLOBAL const real *direction)
{
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys;
    const u32 n = hf_is_scaled(mr, un) ? un->histosys_count : 0;
    real u = R(0.0);
    for (u32 e = 0; e < n; e++) u = FMA(s[mi[HF_S_SHAPE_U] + un->sums + e], direction[slot[e]], u);
    return u;
}

/* `rate`: the unit's weighted rate. */
FN void hf_shape_gradient(HF_PARAMETERS, hf_unit un, real rate, GLOBAL real *gradient)
{
    CONSTANT u32 *slot = HF_I(HISTOSYS_SLOT) + un->histosys;
    const u32 n = hf_is_scaled(mr, un) ? un->histosys_count : 0;
    TEAM_FOR(e, n) gradient[slot[e]] = FMA(rate, s[mi[HF_S_SHAPE_U] + un->sums + e], gradient[slot[e]]);
    TEAM_BARRIER();
}

/* Adds to the unit's row of u, whose places are `place`. */
FN void hf_shape_row(HF_PARAMETERS, hf_unit un, CONSTANT u32 *place, GLOBAL real *u)
{
    const u32 n = hf_is_scaled(mr, un) ? un->histosys_count : 0;
    for (u32 e = 0; e < n; e++) u[place[e]] = u[place[e]] + s[mi[HF_S_SHAPE_U] + un->sums + e];
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
    const u32 n = hf_is_scaled(mr, un) ? un->histosys_count : 0;
    for (u32 e = 0; e < n; e++) {
        const real own = flush(rate * u[e]), curve = s[mi[HF_S_HT2] + place[e]];
        diagonal[slot[e]] = FMA(own, u[e], FMA(flush(rate * even[e]), curve, diagonal[slot[e]]));
        if (!ANY(hf_shape_matters(u[e]))) continue;
        for (u32 f = 0; f < e; f++) tiles_add_element(tiles, slot[e], slot[f], flush(own * u[f]));
    }
}

/* Adds the pairs of all units. `kap`: histfactory_curvature.h. */
FN_LARGE void hf_shape_curvature(HF_PARAMETERS, real kap)
{
    ONE_WORKER
    {
        for (u32 unit = 0; unit < mi[HF_UNITS]; unit++)
            hf_shape_pairs(HF, hf_unit_of(mi, unit),
                           flush(kap * flush(s[mi[HF_S_PHI] + unit] * s[mi[HF_S_T] + unit])));
    }
    TEAM_BARRIER();
}
