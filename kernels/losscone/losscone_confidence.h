/* losscone_confidence.h: the potentials at which the least misfit over r and A is not above a limit, on a grid.
 *
 * Boxes of (U, r) whose bound is above the limit are thrown away; what is left says at which potentials of
 * the grid a profile has to decide. It ends as soon as it has.
 */
#ifndef PARITAS_LOSSCONE_CONFIDENCE_H
#define PARITAS_LOSSCONE_CONFIDENCE_H

#include "losscone/losscone_profile.h"

#define CONFIDENCE(i) (s)[CONFIDENCE_AT + (i)]
#define CONFIDENCE_PENDING CONFIDENCE(0)
#define CONFIDENCE_DEPTH CONFIDENCE(1) /* boxes on the stack */
#define CONFIDENCE_FOUND CONFIDENCE(2) /* intervals */
#define CONFIDENCE_AGAIN CONFIDENCE(3)
/* theirs: of CONFIDENCE_SETS, and one more until it is joined */
#define CONFIDENCE_ENDS (s + CONFIDENCE_AT + 4)
#define CONFIDENCE_BOX(w) (s + CONFIDENCE_AT + 32 + 4 * (size_t)(w))
#define CONFIDENCE_WAITING(i) (CONFIDENCE_BOX(4) + 4 * (size_t)(i))
#define CONFIDENCE_FLAG CONFIDENCE_WAITING(CONFIDENCE_STACK) /* of each potential: */
#define FLAG_OUT R(0.0)
#define FLAG_OPEN R(1.0)
#define FLAG_IN R(2.0)

/* The potentials: `count` of them, `step` apart, the last one at the upper bound. */
typedef struct {
    real lower, upper, step;
    u32 count;
} confidence_grid;

FN real grid_potential(confidence_grid grid, u32 i)
{
    const real u = FMA(REAL_OF(i), grid.step, grid.lower);
    return i + 1 < grid.count && u < grid.upper ? u : grid.upper;
}

/* The first potential that is not below u; count if there is none. */
FN u32 grid_first(confidence_grid grid, real u)
{
    if (!(u > grid.lower)) return 0;
    u32 i = U32_OF(DIVIDE(u - grid.lower, grid.step));
    i = i > 1 ? i - 1 : 0;
    while (i < grid.count && grid_potential(grid, i) < u) i++;
    return i;
}

/* Flags all potentials between two, unless they are flagged higher. By one worker. */
FN void confidence_flag(GLOBAL real *s, confidence_grid grid, real low, real high, real flag)
{
    for (u32 i = grid_first(grid, low); i < grid.count && grid_potential(grid, i) <= high; i++)
        if (CONFIDENCE_FLAG[i] < flag) CONFIDENCE_FLAG[i] = flag;
}

/* Takes up to two boxes from the stack. By one worker. */
FN void confidence_take(GLOBAL real *s)
{
    u32 depth = U32_OF(CONFIDENCE_DEPTH), pending = 0;
    while (pending < 2 && depth > 0) {
        GLOBAL const real *box = CONFIDENCE_WAITING(--depth);
        put_box(CONFIDENCE_BOX(pending++), box[0], box[1], box[2], box[3]);
    }
    CONFIDENCE_DEPTH = REAL_OF(depth);
    CONFIDENCE_PENDING = REAL_OF(pending);
}

/* What becomes of a pending box that is bounded. By one worker. */
FN void confidence_judge(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL real *s, u32 w, confidence_grid grid,
                         real limit)
{
    const u32 families = losscone_families(mi);
    GLOBAL const real *known = PROFILE_FAMILIES(w);
    const search_box box = box_at(CONFIDENCE_BOX(w));
    const real bound = CELLS_BASE + sum8(BOUND_LEAST(known), families),
               lines = sum8(BOUND_LINES(known), families), lean = sum8(BOUND_LEAN(known), families);
    if (bound > limit) return;
    u32 first = grid_first(grid, box.u0);
    while (first < grid.count && CONFIDENCE_FLAG[first] > FLAG_OUT && grid_potential(grid, first) <= box.u1)
        first++;
    /* it holds no potential that is not flagged */
    if (first == grid.count || grid_potential(grid, first) > box.u1) return;
    const u32 few = first + 2 >= grid.count || grid_potential(grid, first + 2) > box.u1;
    if (lines == R(0.0) && !has_beam(mr))
        confidence_flag(s, grid, box.u0, box.u1, FLAG_IN);
    else if (few || U32_OF(CONFIDENCE_DEPTH) + 2 > CONFIDENCE_STACK)
        confidence_flag(s, grid, box.u0, box.u1, FLAG_OPEN);
    else {
        const u32 depth = U32_OF(CONFIDENCE_DEPTH);
        const real middle_u = R(0.5) * (box.u0 + box.u1), middle_r = R(0.5) * (box.r0 + box.r1);
        const u32 by_r = lean > R(0.0) && box.r1 - box.r0 > BOX_LEAST_R;
        put_box(CONFIDENCE_WAITING(depth), box.u0, by_r ? box.u1 : middle_u, box.r0,
                by_r ? middle_r : box.r1);
        put_box(CONFIDENCE_WAITING(depth + 1), by_r ? box.u0 : middle_u, box.u1, by_r ? middle_r : box.r0,
                box.r1);
        CONFIDENCE_DEPTH = REAL_OF(depth + 2);
    }
}

/* One more interval; of more than CONFIDENCE_SETS the two with the narrowest break are joined. By one
 * worker. */
FN void confidence_add(GLOBAL real *s, real low, real high)
{
    u32 n = U32_OF(CONFIDENCE_FOUND);
    GLOBAL real *ends = CONFIDENCE_ENDS;
    ends[2 * n] = low;
    ends[2 * n + 1] = high;
    n++;
    if (n > CONFIDENCE_SETS) {
        u32 narrowest = 1;
        for (u32 i = 2; i < n; i++)
            if (ends[2 * i] - ends[2 * i - 1] < ends[2 * narrowest] - ends[2 * narrowest - 1]) narrowest = i;
        ends[2 * narrowest - 1] = ends[2 * narrowest + 1];
        for (u32 i = narrowest; i + 1 < n; i++) {
            ends[2 * i] = ends[2 * i + 2];
            ends[2 * i + 1] = ends[2 * i + 3];
        }
        n--;
    }
    CONFIDENCE_FOUND = REAL_OF(n);
}

/* The set of the sweep in the slab: CONFIDENCE_FOUND intervals with CONFIDENCE_ENDS. Potentials from `inside`
 * to `inside_end` are in it without being asked. By the whole team. */
FN void confidence_run(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                       confidence_grid grid, real limit, real inside, real inside_end)
{
    TEAM_FOR(i, grid.count) CONFIDENCE_FLAG[i] = FLAG_OUT;
    ONE_WORKER
    {
        search_begin(mr, s, UNBOUNDED);
        const search_box domain = box_of_options(mr);
        const real middle = R(0.5) * (domain.r0 + domain.r1);
        u32 depth = 0;
        for (u32 slab = U32_OF(SEARCH_SLABS); slab > 0; slab--) {
            put_box(CONFIDENCE_WAITING(depth), SEARCH_EDGE(slab - 1), SEARCH_EDGE(slab), domain.r0, middle);
            put_box(CONFIDENCE_WAITING(depth + 1), SEARCH_EDGE(slab - 1), SEARCH_EDGE(slab), middle,
                    domain.r1);
            depth += 2;
        }
        CONFIDENCE_DEPTH = REAL_OF(depth);
        confidence_take(s);
    }
    TEAM_BARRIER();
    while (CONFIDENCE_PENDING > R(0.0)) {
        const u32 pending = U32_OF(CONFIDENCE_PENDING);
        for (u32 w = 0; w < pending; w++)
            bound_families(mi, s, box_at(CONFIDENCE_BOX(w)), PROFILE_FAMILIES(w));
        TEAM_BARRIER();
        TEAM_IF(has_beam(mr)) {
            for (u32 w = 0; w < pending; w++)
                beam_relax(mi, mr, sweep, s, box_at(CONFIDENCE_BOX(w)), 0, PROFILE_FAMILIES(w));
            TEAM_BARRIER();
        }
        ONE_WORKER
        {
            for (u32 w = 0; w < pending; w++) confidence_judge(mi, mr, s, w, grid, limit);
            confidence_take(s);
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        confidence_flag(s, grid, inside, inside_end, FLAG_IN);
        CONFIDENCE_FOUND = R(0.0);
    }
    TEAM_BARRIER();
    u32 known = 0; /* did the last profile find a cell? */
    for (u32 i = 0; i < grid.count; i++) {
        const u32 open = CONFIDENCE_FLAG[i] == FLAG_OPEN;
        TEAM_IF(open && known) {
            ONE_WORKER
            {
                CONFIDENCE_AGAIN =
                    profile_again(mi, mr, sweep, s, grid_potential(grid, i), limit) ? R(1.0) : R(0.0);
            }
            TEAM_BARRIER();
        }
        const u32 again = open && known && CONFIDENCE_AGAIN > R(0.0);
        TEAM_IF(open && !again) {
            profile_run(mi, mr, sweep, s, grid_potential(grid, i), limit, limit);
            known = PROFILE_BEST <= limit;
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            if (open) CONFIDENCE_FLAG[i] = known ? FLAG_IN : FLAG_OUT;
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        u32 i = 0;
        while (i < grid.count) {
            const u32 first = i;
            while (i < grid.count && CONFIDENCE_FLAG[i] == FLAG_IN) i++;
            if (i > first) confidence_add(s, grid_potential(grid, first), grid_potential(grid, i - 1));
            i++;
        }
    }
    TEAM_BARRIER();
}

#endif
