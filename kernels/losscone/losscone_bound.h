/* losscone_bound.h: a lower bound of the misfit in a box.
 *
 * For U0 <= U <= U1, r0 <= r <= r1 a family's x lies between r0 (1 + c U0) and r1 (1 + c U1), which bounds k.
 * Misfit >= BASE + sum over families of the least STEP; equal if at most one line crosses the box. U = 0 must
 * not be inside for folded rows, nor where E' is tiny. */
#pragma once

#include "losscone/losscone_cells.h"

typedef struct {
    real u0, u1, r0, r1;
} search_box;

#define UNBOUNDED R(1e30)
/* above it (tiny E') an edge passes all thresholds as soon as U leaves 0 */
#define WILD_INVERSE PK(1e9)
#define BOUND_STRIDE 8 /* of thresholds; halving them is slower below 500: its branches are not predicted */

FN search_box box_at(GLOBAL const real *entry)
{
    const search_box box = {entry[BOX_U0], entry[BOX_U1], entry[BOX_R0], entry[BOX_R1]};
    return box;
}

FN void put_box(GLOBAL real *entry, search_box box)
{
    entry[BOX_U0] = box.u0;
    entry[BOX_U1] = box.u1;
    entry[BOX_R0] = box.r0;
    entry[BOX_R1] = box.r1;
}

FN search_box box_of_options(CONSTANT elem *mr)
{
    const search_box box = {LOADM1(mr, LOSSCONE_U_LOWER), LOADM1(mr, LOSSCONE_U_UPPER),
                            LOADM1(mr, LOSSCONE_R_LOWER), LOADM1(mr, LOSSCONE_R_UPPER)};
    return box;
}

FN real box_middle_u(search_box box)
{
    return R(0.5) * (box.u0 + box.u1);
}
FN real box_middle_r(search_box box)
{
    return R(0.5) * (box.r0 + box.r1);
}

/* The lower (0) or upper (1) half of a box cut in r, or in U. */
FN search_box box_half(search_box box, u32 in_r, u32 upper)
{
    const real u = box_middle_u(box), r = box_middle_r(box);
    if (upper) {
        box.u0 = in_r ? box.u0 : u;
        box.r0 = in_r ? r : box.r0;
    } else {
        box.u1 = in_r ? box.u1 : u;
        box.r1 = in_r ? r : box.r1;
    }
    return box;
}

/* Fills BOUND_SIZE numbers by the whole team; the barrier is the caller's. */
FN void bound_families(LOSSCONE_PARAMETERS, search_box box, GLOBAL real *to)
{
    const u32 families = losscone_families(mi), reversed = families_reversed(mi, box.u1),
              levels = U32_OF(s[CELLS_LEVELS]);
    const pack zero = PK(0.0), one = PK(1.0), u0 = PACK_OF(box.u0), u1 = PACK_OF(box.u1),
               r0 = PACK_OF(box.r0), r1 = PACK_OF(box.r1);
    const pack middle_u = PACK_OF(box_middle_u(box)), middle_r = PACK_OF(box_middle_r(box)), side_u = u1 - u0,
               side_r = r1 - r0;
    TEAM_FOR_PACK(f, families) {
        const u32 n = f / SWEEP_SLOTS, row = f % SWEEP_SLOTS;
        const pack c =
            LOADP(s + CELLS_INVERSE, (reversed ? LOSSCONE_ENERGIES - 1 - n : n) * SWEEP_SLOTS + row);
        const pmask wild = c > WILD_INVERSE;
        const pack lo = pflush(r0 * PFMA(PSELECT(wild, middle_u, u0), c, one)),
                   top = pflush(r1 * PFMA(PSELECT(wild, middle_u, u1), c, one));
        const pack hi = PSELECT(top > lo, top, lo); /* both negative */
        GLOBAL const real *thresholds = s + CELLS_THRESHOLD + row, *steps = CELLS_STEP(n) + row;
        u32 k = 0; /* to the first that reaches lo in any row; the end does */
        while (k + BOUND_STRIDE <= levels &&
               !PANY(LOADP(thresholds, (k + BOUND_STRIDE - 1) * SWEEP_SLOTS) >= lo))
            k += BOUND_STRIDE;
        pack threshold = LOADP(thresholds, k * SWEEP_SLOTS);
        while (!PANY(threshold >= lo)) {
            k++;
            threshold = LOADP(thresholds, k * SWEEP_SLOTS);
        }
        pack least = PACK_OF(UNBOUNDED), first = PACK_OF_ELEM(k), last = first;
        pmask reached = lo <= hi;
        do {
            const pmask below = threshold < lo;
            const pack step = LOADP(steps, k * SWEEP_SLOTS),
                       candidate = PSELECT(AND(reached, PNOT(below)), step, PACK_OF(UNBOUNDED));
            least = PSELECT(candidate < least, candidate, least);
            reached = threshold < hi;
            first = first + PSELECT(below, one, zero);
            last = last + PSELECT(reached, one, zero);
            k++;
            threshold = LOADP(thresholds, k * SWEEP_SLOTS);
        } while (PANY(reached));
        const pack lines = last - first, opening = PFMA(middle_u, c, one);
        const pack lean = side_r * PSELECT(opening > zero, opening, zero) - pflush(side_u * c) * middle_r;
        STOREP(to + BOUND_LEAST, f, least);
        STOREP(to + BOUND_FIRST, f, first);
        STOREP(to + BOUND_LINES, f, lines);
        STOREP(to + BOUND_LEAN, f, PSELECT(lines > zero, pflush(lean), zero));
    }
}
