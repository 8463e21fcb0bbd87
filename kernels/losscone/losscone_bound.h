/* losscone_bound.h: the least misfit that a box of potentials and ratios may hold.
 *
 * In the box U0 <= U <= U1, r0 <= r <= r1 the edge x of each family lies between r0 (1 + c U0) and r1 (1 + c
 * U1), so its k between two numbers, and the misfit is at least BASE + the sum over the families of the least
 * STEP between them. Where at most one line crosses the box that is its least misfit. Where families depend
 * on the sign of U (folded) a box must not have 0 inside; neither must it where a row's E' is next to
 * nothing.
 */
#ifndef PARITAS_LOSSCONE_BOUND_H
#define PARITAS_LOSSCONE_BOUND_H

#include "losscone/losscone_cells.h"

typedef struct {
    real u0, u1, r0, r1;
} search_box;

/* What is known of a box's families: FAMILIES_MOST numbers each. */
#define BOUND_LEAST(to) (to)                       /* least STEP */
#define BOUND_FIRST(to) ((to) + FAMILIES_MOST)     /* least k, */
#define BOUND_LINES(to) ((to) + 2 * FAMILIES_MOST) /* how much the largest is above it */
/* by how much more the side in r moves an edge that is uncertain than the side in U */
#define BOUND_LEAN(to) ((to) + 3 * FAMILIES_MOST)

#define UNBOUNDED R(1e30)
/* above it (E' next to nothing) an edge has passed all thresholds as soon as U has left 0 */
#define WILD_INVERSE PK(1e9)

/* Fills `to` by the whole team; the caller puts a barrier behind. */
FN void bound_families(CONSTANT u32 *mi, GLOBAL const real *s, search_box box, GLOBAL real *to)
{
    const u32 families = losscone_families(mi), reversed = families > SLOTS && box.u1 > R(0.0);
    const pack zero = PK(0.0), one = PK(1.0), u0 = PACK_OF(box.u0), u1 = PACK_OF(box.u1),
               r0 = PACK_OF(box.r0), r1 = PACK_OF(box.r1);
    const pack middle_u = PACK_OF(R(0.5) * (box.u0 + box.u1)), middle_r = PACK_OF(R(0.5) * (box.r0 + box.r1)),
               side_u = u1 - u0, side_r = r1 - r0;
    TEAM_FOR_PACK(f, families) {
        const u32 n = f / SLOTS, row = f % SLOTS;
        const pack c = LOADP(CELLS_INVERSE, (reversed ? SUB_ENERGIES - 1 - n : n) * SLOTS + row);
        const pmask wild = c > WILD_INVERSE;
        const pack lo = pflush(r0 * PFMA(PSELECT(wild, middle_u, u0), c, one)),
                   top = pflush(r1 * PFMA(PSELECT(wild, middle_u, u1), c, one));
        const pack hi = PSELECT(top > lo, top, lo); /* both negative: no matter */
        GLOBAL const real *thresholds = CELLS_THRESHOLD + row, *steps = CELLS_STEP(n) + row;
        u32 k = 0;
        pack threshold = LOADP(thresholds, 0);
        while (!PANY(threshold >= lo)) {
            k++;
            threshold = LOADP(thresholds, k * SLOTS);
        }
        pack least = PACK_OF(UNBOUNDED), first = PACK_OF_ELEM(k), last = first;
        pmask reached = lo <= hi;
        do {
            const pmask below = threshold < lo;
            const pack step = LOADP(steps, k * SLOTS),
                       candidate = PSELECT(AND(reached, PNOT(below)), step, PACK_OF(UNBOUNDED));
            least = PSELECT(candidate < least, candidate, least);
            reached = threshold < hi;
            first = first + PSELECT(below, one, zero);
            last = last + PSELECT(reached, one, zero);
            k++;
            threshold = LOADP(thresholds, k * SLOTS);
        } while (PANY(reached));
        const pack lines = last - first, opening = PFMA(middle_u, c, one);
        const pack lean = side_r * PSELECT(opening > zero, opening, zero) - pflush(side_u * c) * middle_r;
        STOREP(BOUND_LEAST(to), f, least);
        STOREP(BOUND_FIRST(to), f, first);
        STOREP(BOUND_LINES(to), f, lines);
        STOREP(BOUND_LEAN(to), f, PSELECT(lines > zero, pflush(lean), zero));
    }
}

#endif
