/* counted_quality.h: what tells a loss cone from none, of counts: sums of a row at a point. */
#pragma once

#include "losscone/counted_search.h"

#define JUDGED_OF(number) (s + COUNTED_TOTALS + (number) * SWEEP_SLOTS)
#define JUDGED_NEAR R(0.02) /* of the depth of the cone: outside, within this */
#define JUDGED_DEEP R(1.4)  /* of the level in the cone: wholly in it */
#define BOUND_TRIES 20u
#define BOUND_NEAR R(1.0) /* no judge asks for a lower deviance, above the minimum */
#define BOUND_GAIN R(0.01)

/* Sums of cells at a point. */
enum judged_cells_sum {
    CELLS_COUNTED, /* less background */
    CELLS_SCALE,
    CELLS_WITHIN, /* the same of cells wholly in the cone */
    CELLS_WITHIN_SCALE,
    CELLS_ROOM,
    CELLS_EDGE,
    CELLS_EDGES,
    CELLS_EDGE_ROOM,
    CELLS_SUMS
};

/* Adds a pack of cells. */
FN void counted_judge_cells(counted_row row, counted_point best, counted_cells c, u32 part,
                            PRIVATE acc8 *sums)
{
    const pack zero = PK(0.0), level = counted_level_at(row, best.u, best.r, c.sine),
               mean = counted_mean_of(c, level), signal = pflush(c.scale * level), scale = c.scale,
               excess = c.count - c.base, spread = PFMA(mean, PDIVIDE(mean, PACK_OF(row.k)), mean);
    const pmask here = c.sine < PACK_OF(NO_THRESHOLD),
                deep = AND(here, level < PACK_OF(JUDGED_DEEP * row.inside)),
                between = AND(
                    here, AND(PNOT(deep), level < PACK_OF(FMA(-JUDGED_NEAR, R(1.0) - row.inside, R(1.0)))));
    const pack terms[CELLS_SUMS] = {PSELECT(here, excess, zero),
                                    PSELECT(here, scale, zero),
                                    PSELECT(deep, excess, zero),
                                    PSELECT(deep, scale, zero),
                                    PSELECT(here, pflush(PDIVIDE(signal * signal, spread)), zero),
                                    PSELECT(between, counted_cost(row.k, c, mean), zero),
                                    PSELECT(between, PK(1.0), zero),
                                    PSELECT(between, pflush(PDIVIDE(scale * scale, spread)), zero)};
    for (u32 n = 0; n < CELLS_SUMS; n++) sums[n].part[part] = sums[n].part[part] + terms[n];
}

FN void counted_judge_row(LOSSCONE_PARAMETERS, counted_point best, u32 i)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const u32 n = U32_OF((s + COUNTED_CELLS)[i]), at = i * SWEEP_CELLS;
    acc8 sums[CELLS_SUMS], flat = acc8_zero();
    for (u32 k = 0; k < CELLS_SUMS; k++) sums[k] = acc8_zero();
    for (u32 j = 0; j < n; j += 8)
        for (u32 l = 0; l < 8; l += PACK)
            counted_judge_cells(row, best, counted_cells_at(s, at + j + l), l / PACK, sums);
    const real sum = acc8_total(sums[CELLS_SCALE]),
               share = sum > R(0.0) ? flush(DIVIDE(acc8_total(sums[CELLS_COUNTED]), sum)) : R(1.0),
               level = share > R(0.0) ? share : R(0.0);
    for (u32 j = 0; j < n; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const counted_cells c = counted_cells_at(s, at + j + l);
            flat.part[l / PACK] =
                flat.part[l / PACK] + PSELECT(c.sine < PACK_OF(NO_THRESHOLD),
                                              counted_cost(row.k, c, counted_mean_of(c, PACK_OF(level))),
                                              PK(0.0));
        }
    JUDGED_OF(JUDGED_CELLS)[i] = REAL_OF(n);
    JUDGED_OF(JUDGED_FLAT)[i] = acc8_total(flat);
    JUDGED_OF(JUDGED_INSIDE)[i] = acc8_total(sums[CELLS_WITHIN]);
    JUDGED_OF(JUDGED_SCALE)[i] = acc8_total(sums[CELLS_WITHIN_SCALE]);
    JUDGED_OF(JUDGED_ROOM)[i] = acc8_total(sums[CELLS_ROOM]);
    JUDGED_OF(JUDGED_EDGE)[i] = acc8_total(sums[CELLS_EDGE]);
    JUDGED_OF(JUDGED_EDGES)[i] = acc8_total(sums[CELLS_EDGES]);
    JUDGED_OF(JUDGED_EDGE_ROOM)[i] = acc8_total(sums[CELLS_EDGE_ROOM]);
}

/* The least deviance with r at its lower bound, by steps in U along the valley from the minimum. Ends early
 * where it is near. The whole team calls it, up to a barrier. */
FN_LARGE real counted_at_bound(LOSSCONE_PARAMETERS, counted_point best, real u0, real u1)
{
    const real r = LOADM1(mr, LOSSCONE_R_LOWER), low = counted_least_u(u0, best.u),
               high = counted_most_u(u1, best.u), enough = best.value + BOUND_NEAR;
    real damping = R(1e-3),
         v = best.vv > R(0.0) ? limited_by(flush(DIVIDE(-best.vr * (r - best.r), best.vv)), R(1.0)) : R(0.0);
    counted_point at = counted_at(LOSSCONE, limited(best.u * FIRST(m_exp(PACK_OF(v))), low, high), r);
    u32 going = at.value > enough;
    for (u32 step = 0; step < BOUND_TRIES && going; step++) {
        const real curve = at.vv * (R(1.0) + damping);
        v = curve > R(0.0) ? limited_by(flush(DIVIDE(-at.by_v, curve)), R(1.0)) : R(0.0);
        const real u = limited(at.u * FIRST(m_exp(PACK_OF(v))), low, high);
        going = u != at.u;
        TEAM_IF(going) {
            const counted_point next = counted_at(LOSSCONE, u, r);
            const u32 lower = next.value < at.value;
            going = lower ? next.value > enough && at.value - next.value > BOUND_GAIN : damping < R(1e3);
            damping = lower ? R(0.1) * damping : R(10.0) * damping;
            if (lower) at = next;
        }
    }
    return at.value;
}
