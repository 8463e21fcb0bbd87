/* losscone_profile.h: the least misfit over r and A at one potential.
 *
 * At fixed U each threshold is one r:
 *   bound (losscone_bound.h, losscone_beam.h) ─► few thresholds: visit the cells between
 *                                            └─► many: halve, least bound first
 * Intervals below PROFILE_SLIVER are left out: their thresholds differ by rounding. */
#pragma once

#include "losscone/losscone_search.h"

#define PROFILE_CLOSE LIMIT(1e-11, 4e-6) /* relative to 1 + misfit */
#define PROFILE_SLIVER LIMIT(1e-12, 2e-6)
/* The least bound is halved first; from PROFILE_WIDE on, the newest. So only one chain of halvings adds
 * more. */
#define PROFILE_WIDE 64
#define PROFILE_WAITING_MOST 128
#define PROFILE_REMEMBERED_MOST 8

FN real profile_ceiling(GLOBAL const real *s, real most)
{
    const real best = s[PROFILE_BEST] - PROFILE_CLOSE * (R(1.0) + s[PROFILE_BEST]);
    return best < most ? best : most;
}

/* Was PROFILE_K solved lately? Remembers it. */
FN u32 profile_knows(GLOBAL real *s)
{
    const u32 n = U32_OF(s[SEARCH_REMEMBERED]);
    if (search_remembers(s, s + PROFILE_K, n < PROFILE_REMEMBERED_MOST ? n : PROFILE_REMEMBERED_MOST))
        return 1;
    search_remember(s, s + PROFILE_K, n % PROFILE_REMEMBERED_MOST);
    return 0;
}

FN void profile_try(LOSSCONE_PARAMETERS, real u, real r0, real r1)
{
    real value = s[CELLS_BASE] + sum8(s + PROFILE_STEP, losscone_families(mi)),
         amplitude = LOADM1(mr, LOSSCONE_A_LOWER);
    if (has_beam(mr)) {
        if (profile_knows(s)) return;
        solve_cell(LOSSCONE, s + PROFILE_K, u, u);
        value = s[SOLVE_VALUE];
        amplitude = s[SOLVE_A];
    }
    if (!(value < s[PROFILE_BEST])) return;
    s[PROFILE_BEST] = value;
    s[PROFILE_R] = R(0.5) * (r0 + r1);
    s[PROFILE_A] = amplitude;
    for (u32 f = 0; f < losscone_families(mi); f++) (s + PROFILE_KEPT)[f] = (s + PROFILE_K)[f];
}

FN void profile_put(CONSTANT elem *mr, GLOBAL real *s, u32 f, real k)
{
    (s + PROFILE_K)[f] = k;
    (s + PROFILE_STEP)[f] = family_step_least(s, f, U32_OF(k), has_beam(mr));
}

/* The family of event i passes its threshold (by 1), or comes back (by -1). Returns the change of the sum. */
FN real profile_pass(CONSTANT elem *mr, GLOBAL real *s, u32 i, real by)
{
    const u32 f = U32_OF((s + PROFILE_WHOSE)[i]);
    const real before = (s + PROFILE_STEP)[f];
    profile_put(mr, s, f, (s + PROFILE_K)[f] + by);
    return (s + PROFILE_STEP)[f] - before;
}

/* Starts at the lower end of interval w. Returns the number of thresholds inside, sorted by r. */
FN u32 profile_events(LOSSCONE_PARAMETERS, u32 w, real u)
{
    GLOBAL const real *known = PENDING_BOUND(w);
    GLOBAL real *event = s + PROFILE_EVENT, *whose = s + PROFILE_WHOSE;
    const u32 reversed = families_reversed(mi, u);
    u32 n = 0;
    for (u32 f = 0; f < losscone_families(mi); f++) {
        const u32 first = U32_OF((known + BOUND_FIRST)[f]), lines = U32_OF((known + BOUND_LINES)[f]);
        profile_put(mr, s, f, REAL_OF(first));
        if (lines == 0) continue;
        const real opening = FMA(u, family_inverse(s, f, reversed), R(1.0));
        for (u32 k = first; k < first + lines; k++) {
            const real r = DIVIDE(row_threshold(s, f % SWEEP_SLOTS, k), opening);
            u32 at = n++;
            for (; at > 0 && event[at - 1] > r; at--) {
                event[at] = event[at - 1];
                whose[at] = whose[at - 1];
            }
            event[at] = r;
            whose[at] = REAL_OF(f);
        }
    }
    return n;
}

/* Bounds between n thresholds; leaves all families at the upper end. */
FN void profile_pieces(LOSSCONE_PARAMETERS, u32 n, real low, real high)
{
    GLOBAL const real *event = s + PROFILE_EVENT;
    real sum = s[CELLS_BASE] + sum8(s + PROFILE_STEP, losscone_families(mi)), from = low;
    for (u32 i = 0; i <= n; i++) {
        const real to = i < n && event[i] < high ? event[i] : high;
        (s + PROFILE_PIECE)[i] =
            to - from > PROFILE_SLIVER || n == 0 || high - low <= PROFILE_SLIVER ? sum : UNBOUNDED;
        if (i < n) sum = sum + profile_pass(mr, s, i, R(1.0));
        from = to > from ? to : from;
    }
}

/* Tries the cells of bounded interval w, least bound first. */
FN_LARGE void profile_visit(LOSSCONE_PARAMETERS, u32 w, real u, real most)
{
    const real low = PENDING_BOX(w)[BOX_R0], high = PENDING_BOX(w)[BOX_R1];
    const u32 n = profile_events(LOSSCONE, w, u);
    GLOBAL const real *event = s + PROFILE_EVENT;
    GLOBAL real *piece = s + PROFILE_PIECE;
    profile_pieces(LOSSCONE, n, low, high);
    u32 at = n; /* the piece of PROFILE_K */
    for (;;) {
        u32 least = 0;
        for (u32 i = 1; i <= n; i++) least = piece[i] < piece[least] ? i : least;
        if (!(piece[least] < profile_ceiling(s, most))) return;
        piece[least] = UNBOUNDED;
        for (; at < least; at++) profile_pass(mr, s, at, R(1.0));
        for (; at > least; at--) profile_pass(mr, s, at - 1, R(-1.0));
        profile_try(LOSSCONE, u, least > 0 && event[least - 1] > low ? event[least - 1] : low,
                    least < n && event[least] < high ? event[least] : high);
    }
}

/* ---- what comes next, by one worker ---- */

FN void profile_judge(LOSSCONE_PARAMETERS, u32 w, real u, real most)
{
    const u32 waiting = U32_OF(s[PROFILE_WAITING]);
    const real r0 = PENDING_BOX(w)[BOX_R0], r1 = PENDING_BOX(w)[BOX_R1], bound = pending_least(mi, s, w);
    if (!(bound < profile_ceiling(s, most))) return;
    if (pending_sum(mi, s, w, BOUND_LINES) <= REAL_OF(PROFILE_LINES)) {
        profile_visit(LOSSCONE, w, u, most);
        return;
    }
    if (!(r1 - r0 > PROFILE_SLIVER && waiting < PROFILE_WAITING_MOST)) return;
    put_box(POOLED_BOX(waiting), box_at(PENDING_BOX(w)));
    POOLED_BOX(waiting)[BOX_BOUND] = bound;
    s[PROFILE_WAITING] = REAL_OF(waiting + 1);
}

FN void profile_halve(GLOBAL real *s, real most)
{
    const u32 waiting = U32_OF(s[PROFILE_WAITING]), orderly = waiting + 2 < PROFILE_WIDE;
    u32 next = waiting - 1;
    for (u32 i = 0; i < waiting && orderly; i++)
        next = POOLED_BOX(i)[BOX_BOUND] < POOLED_BOX(next)[BOX_BOUND] ? i : next;
    const search_box box = box_at(POOLED_BOX(next));
    const u32 over = !(POOLED_BOX(next)[BOX_BOUND] < profile_ceiling(s, most));
    for (u32 i = 0; i < BOX_SIZE; i++) POOLED_BOX(next)[i] = POOLED_BOX(waiting - 1)[i];
    s[PROFILE_WAITING] = REAL_OF(waiting - 1);
    if (over && orderly) return; /* the least bound is too large */
    pending_halves(s, box, 1);
}

FN void profile_next(LOSSCONE_PARAMETERS, real u, real most, real enough)
{
    const u32 pending = U32_OF(s[SEARCH_PENDING]),
              second_first =
                  pending == 2 && pending_sum(mi, s, 1, BOUND_LEAST) < pending_sum(mi, s, 0, BOUND_LEAST);
    for (u32 i = 0; i < pending; i++) profile_judge(LOSSCONE, second_first ? 1 - i : i, u, most);
    s[SEARCH_PENDING] = R(0.0);
    if (s[PROFILE_WAITING] > R(0.0) && s[PROFILE_BEST] > enough) profile_halve(s, most);
}

FN void profile_begin(CONSTANT elem *mr, GLOBAL real *s, real u)
{
    const search_box domain = box_of_options(mr);
    const real quarter = R(0.25) * (domain.r1 - domain.r0);
    s[PROFILE_BEST] = UNBOUNDED;
    s[PROFILE_R] = domain.r0;
    s[PROFILE_A] = LOADM1(mr, LOSSCONE_A_LOWER);
    s[PROFILE_WAITING] = s[SEARCH_REMEMBERED] = R(0.0);
    s[SEARCH_PENDING] = domain.r0 < domain.r1 ? REAL_OF(SEARCH_PENDING_MOST) : R(1.0);
    for (u32 w = 0; w < SEARCH_PENDING_MOST; w++) {
        const search_box box = {u, u, FMA(quarter, REAL_OF(w), domain.r0),
                                w + 1 < SEARCH_PENDING_MOST ? FMA(quarter, REAL_OF(w + 1), domain.r0)
                                                            : domain.r1};
        put_box(PENDING_BOX(w), box);
    }
}

/* Answers in PROFILE_BEST, _R, _A; UNBOUNDED if not below `most`. Stops once not above `enough`. After
 * beam_forget. By the whole team, up to a barrier. */
FN_LARGE void profile_run(LOSSCONE_PARAMETERS, real u, real most, real enough)
{
    ONE_WORKER
    {
        profile_begin(mr, s, u);
    }
    TEAM_BARRIER();
    while (s[SEARCH_PENDING] > R(0.0)) {
        pending_bound(LOSSCONE, 0);
        ONE_WORKER
        {
            profile_next(LOSSCONE, u, most, enough);
        }
        TEAM_BARRIER();
    }
    TEAM_BARRIER(); /* all have seen that nothing is pending; now it may change */
}

/* Does the last profile's cell exist at u, with a misfit within the limit? By one worker. */
FN_LARGE u32 profile_again(LOSSCONE_PARAMETERS, real u, real limit)
{
    const u32 reversed = families_reversed(mi, u);
    GLOBAL const real *kept = s + PROFILE_KEPT;
    real low = LOADM1(mr, LOSSCONE_R_LOWER), high = LOADM1(mr, LOSSCONE_R_UPPER), sum = s[CELLS_BASE];
    for (u32 f = 0; f < losscone_families(mi); f++) {
        const u32 row = f % SWEEP_SLOTS, k = U32_OF(kept[f]);
        const real opening = FMA(u, family_inverse(s, f, reversed), R(1.0));
        sum = sum + family_step(s, f, k);
        if (opening > R(0.0)) {
            const real to = DIVIDE(row_threshold(s, row, k), opening),
                       from = k > 0 ? DIVIDE(row_threshold(s, row, k - 1), opening) : low;
            low = from > low ? from : low;
            high = to < high ? to : high;
        } else if (k > 0)
            return 0;
    }
    if (!(high - low > PROFILE_SLIVER)) return 0;
    if (!has_beam(mr)) return sum <= limit;
    solve_cell(LOSSCONE, kept, u, u);
    return s[SOLVE_VALUE] <= limit;
}
