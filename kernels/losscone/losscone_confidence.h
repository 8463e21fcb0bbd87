/* losscone_confidence.h: grid potentials whose least misfit over r and A is within a limit.
 *
 *   boxes of (U, r) ─► bound above the limit: gone
 *                  └─► halved down to few potentials: open
 *   open potentials ─► profile, down to the limit ─► in or out */
#pragma once

#include "losscone/losscone_profile.h"

enum confidence_flag { FLAG_OUT, FLAG_OPEN, FLAG_IN };

/* `count` potentials, `step` apart; the last is `upper`. In units of 1 / `scale` a step of 0.2 V is whole, so
 * potentials are the numbers nearest to decimals: -242.8. */
typedef struct {
    real lower, upper, step;
    real whole_lower, whole_step, scale;
    u32 count;
} confidence_grid;

FN real grid_potential(confidence_grid grid, u32 i)
{
    const real u = DIVIDE(FMA(REAL_OF(i), grid.whole_step, grid.whole_lower), grid.scale);
    return i + 1 < grid.count && u < grid.upper ? u : grid.upper;
}

/* The first not below u; count: none. */
FN u32 grid_first(confidence_grid grid, real u)
{
    if (!(u > grid.lower)) return 0;
    u32 i = U32_OF(DIVIDE(u - grid.lower, grid.step));
    i = i > 1 ? i - 1 : 0;
    while (i < grid.count && grid_potential(grid, i) < u) i++;
    return i;
}

/* ---- boxes, by one worker ---- */

/* Marks points with a flag, and never lowers one. */
FN void confidence_mark(GLOBAL real *s, confidence_grid grid, real low, real high, u32 flag)
{
    GLOBAL real *flags = s + CONFIDENCE_FLAG;
    for (u32 i = grid_first(grid, low); i < grid.count && grid_potential(grid, i) <= high; i++)
        if (flags[i] < REAL_OF(flag)) flags[i] = REAL_OF(flag);
}

FN void confidence_push_halves(GLOBAL real *s, search_box box, u32 in_r)
{
    const u32 depth = U32_OF(s[SEARCH_STACKED]);
    for (u32 w = 0; w < 2; w++) put_box(STACKED_BOX(depth + w), box_half(box, in_r, w));
    s[SEARCH_STACKED] = REAL_OF(depth + 2);
}

FN void confidence_take(GLOBAL real *s)
{
    u32 depth = U32_OF(s[SEARCH_STACKED]), pending = 0;
    for (; pending < 2 && depth > 0; pending++) put_box(PENDING_BOX(pending), box_at(STACKED_BOX(--depth)));
    s[SEARCH_STACKED] = REAL_OF(depth);
    s[SEARCH_PENDING] = REAL_OF(pending);
}

/* The slices of the search, in halves of r. */
FN void confidence_begin(CONSTANT elem *mr, GLOBAL real *s)
{
    search_begin(mr, s, UNBOUNDED);
    for (u32 slice = U32_OF(s[SEARCH_SLICES]); slice > 0; slice--)
        confidence_push_halves(s, search_slice_box(mr, s, slice - 1), 1);
    confidence_take(s);
}

FN void confidence_judge(LOSSCONE_PARAMETERS, u32 w, confidence_grid grid, real limit)
{
    const search_box box = box_at(PENDING_BOX(w));
    if (pending_least(mi, s, w) > limit) return;
    u32 first = grid_first(grid, box.u0);
    while (first < grid.count && (s + CONFIDENCE_FLAG)[first] > REAL_OF(FLAG_OUT) &&
           grid_potential(grid, first) <= box.u1)
        first++;
    /* no unflagged potential */
    if (first == grid.count || grid_potential(grid, first) > box.u1) return;
    const u32 few = first + 2 >= grid.count || grid_potential(grid, first + 2) > box.u1;
    if (pending_sum(mi, s, w, BOUND_LINES) == R(0.0) && !has_beam(mr))
        confidence_mark(s, grid, box.u0, box.u1, FLAG_IN);
    else if (few || U32_OF(s[SEARCH_STACKED]) + 2 > SEARCH_STACK_MOST)
        confidence_mark(s, grid, box.u0, box.u1, FLAG_OPEN);
    else
        confidence_push_halves(s, box,
                               pending_sum(mi, s, w, BOUND_LEAN) > R(0.0) && box.r1 - box.r0 > BOX_LEAST_R);
}

/* ---- intervals, by one worker ---- */

/* Beyond CONFIDENCE_SETS joins the two with the narrowest gap. */
FN void confidence_add(GLOBAL real *s, real low, real high)
{
    const u32 n = U32_OF(s[CONFIDENCE_FOUND]) + 1;
    GLOBAL real *ends = s + CONFIDENCE_ENDS;
    ends[2 * n - 2] = low;
    ends[2 * n - 1] = high;
    s[CONFIDENCE_FOUND] = REAL_OF(n);
    if (n <= CONFIDENCE_SETS) return;
    u32 narrowest = 1;
    for (u32 i = 2; i < n; i++)
        if (ends[2 * i] - ends[2 * i - 1] < ends[2 * narrowest] - ends[2 * narrowest - 1]) narrowest = i;
    for (u32 i = 2 * narrowest - 1; i + 2 < 2 * n; i++) ends[i] = ends[i + 2];
    s[CONFIDENCE_FOUND] = REAL_OF(n - 1);
}

FN void confidence_intervals(GLOBAL real *s, confidence_grid grid)
{
    s[CONFIDENCE_FOUND] = R(0.0);
    for (u32 i = 0; i < grid.count; i++) {
        const u32 first = i;
        while (i < grid.count && (s + CONFIDENCE_FLAG)[i] == REAL_OF(FLAG_IN)) i++;
        if (i > first) confidence_add(s, grid_potential(grid, first), grid_potential(grid, i - 1));
    }
}

/* ---- the set, by the whole team ---- */

FN void confidence_narrow(LOSSCONE_PARAMETERS, confidence_grid grid, real limit)
{
    TEAM_FOR(i, grid.count) (s + CONFIDENCE_FLAG)[i] = REAL_OF(FLAG_OUT);
    ONE_WORKER
    {
        confidence_begin(mr, s);
    }
    TEAM_BARRIER();
    while (s[SEARCH_PENDING] > R(0.0)) {
        pending_bound(LOSSCONE, 0);
        ONE_WORKER
        {
            const u32 pending = U32_OF(s[SEARCH_PENDING]);
            for (u32 w = 0; w < pending; w++) confidence_judge(LOSSCONE, w, grid, limit);
            confidence_take(s);
        }
        TEAM_BARRIER();
    }
}

/* `known`: the last profile found a cell. Returns it for the next potential. */
FN u32 confidence_decide(LOSSCONE_PARAMETERS, confidence_grid grid, real limit, u32 i, u32 known)
{
    const u32 open = (s + CONFIDENCE_FLAG)[i] == REAL_OF(FLAG_OPEN);
    TEAM_IF(open && known) {
        ONE_WORKER
        {
            s[CONFIDENCE_AGAIN] = REAL_OF(profile_again(LOSSCONE, grid_potential(grid, i), limit));
        }
        TEAM_BARRIER();
    }
    const u32 again = open && known && s[CONFIDENCE_AGAIN] > R(0.0);
    TEAM_IF(open && !again) {
        profile_run(LOSSCONE, grid_potential(grid, i), limit, limit);
        known = s[PROFILE_BEST] <= limit;
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        if (open) (s + CONFIDENCE_FLAG)[i] = REAL_OF(known ? FLAG_IN : FLAG_OUT);
    }
    TEAM_BARRIER();
    return known;
}

/* Answers in CONFIDENCE_FOUND, CONFIDENCE_ENDS. Potentials inside .. inside_end belong to it untested. */
FN void confidence_run(LOSSCONE_PARAMETERS, confidence_grid grid, real limit, real inside, real inside_end)
{
    confidence_narrow(LOSSCONE, grid, limit);
    ONE_WORKER
    {
        confidence_mark(s, grid, inside, inside_end, FLAG_IN);
    }
    TEAM_BARRIER();
    u32 known = 0;
    for (u32 i = 0; i < grid.count; i++) known = confidence_decide(LOSSCONE, grid, limit, i, known);
    ONE_WORKER
    {
        confidence_intervals(s, grid);
    }
    TEAM_BARRIER();
}
