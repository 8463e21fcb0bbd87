/* counted_quality.h: what tells a loss cone from none, of counts: sums of a row at a point. */
#pragma once

#include "losscone/counted_search.h"

#define JUDGED_OF(number) (s + COUNTED_TOTALS + (number) * SWEEP_SLOTS)
#define JUDGED_NEAR R(0.02) /* of the depth of the cone: outside, within this */
#define JUDGED_DEEP R(1.4)  /* of the level in the cone: wholly in it */

FN void counted_judge_row(LOSSCONE_PARAMETERS, counted_point best, u32 i)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const u32 n = U32_OF((s + COUNTED_CELLS)[i]), at = i * SWEEP_CELLS;
    const pack zero = PK(0.0), none = PACK_OF(NO_THRESHOLD);
    acc8 counted = acc8_zero(), scales = acc8_zero(), within = acc8_zero(), in_scales = acc8_zero(),
         room = acc8_zero(), flat = acc8_zero(), edge = acc8_zero(), edges = acc8_zero();
    for (u32 j = 0; j < n; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const u32 cell = at + j + l, part = l / PACK;
            const counted_cells c = counted_cells_at(s, cell);
            const pmask here = c.sine < none;
            const pack level = counted_level_at(row, best.u, best.r, c.sine),
                       mean = counted_mean_of(c, level), signal = pflush(c.scale * level), scale = c.scale,
                       excess = c.count - c.base;
            const pmask deep = AND(here, level < PACK_OF(JUDGED_DEEP * row.inside));
            const pmask between =
                AND(here, AND(PNOT(deep), level < PACK_OF(FMA(-JUDGED_NEAR, R(1.0) - row.inside, R(1.0)))));
            edge.part[part] = edge.part[part] + PSELECT(between, counted_cost(row.k, c, mean), zero);
            edges.part[part] = edges.part[part] + PSELECT(between, PK(1.0), zero);
            counted.part[part] = counted.part[part] + PSELECT(here, excess, zero);
            scales.part[part] = scales.part[part] + PSELECT(here, scale, zero);
            within.part[part] = within.part[part] + PSELECT(deep, excess, zero);
            in_scales.part[part] = in_scales.part[part] + PSELECT(deep, scale, zero);
            room.part[part] =
                room.part[part] +
                PSELECT(here,
                        pflush(PDIVIDE(signal * signal, PFMA(mean, PDIVIDE(mean, PACK_OF(row.k)), mean))),
                        zero);
        }
    const real sum = acc8_total(scales),
               share = sum > R(0.0) ? flush(DIVIDE(acc8_total(counted), sum)) : R(1.0),
               level = share > R(0.0) ? share : R(0.0);
    for (u32 j = 0; j < n; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const counted_cells c = counted_cells_at(s, at + j + l);
            flat.part[l / PACK] =
                flat.part[l / PACK] +
                PSELECT(c.sine < none, counted_cost(row.k, c, counted_mean_of(c, PACK_OF(level))), zero);
        }
    JUDGED_OF(JUDGED_CELLS)[i] = REAL_OF(n);
    JUDGED_OF(JUDGED_FLAT)[i] = acc8_total(flat);
    JUDGED_OF(JUDGED_INSIDE)[i] = acc8_total(within);
    JUDGED_OF(JUDGED_SCALE)[i] = acc8_total(in_scales);
    JUDGED_OF(JUDGED_ROOM)[i] = acc8_total(room);
    JUDGED_OF(JUDGED_EDGE)[i] = acc8_total(edge);
    JUDGED_OF(JUDGED_EDGES)[i] = acc8_total(edges);
}
