/* losscone_profile.h: the least misfit over r and A at one potential.
 *
 * At fixed U every threshold is one value of r, so the search is one of intervals: bound (bound.h, beam.h) ─►
 *     few thresholds inside: visit the cells between them in order
 *                                                                                              └─► many:
 *                                                                                                  halve, the
 *                                                                                                  least
 *                                                                                                  bound
 *                                                                                                  first
 * Slivers of r narrower than PROFILE_SLIVER are left out: there thresholds of several rows coincide but for
 * rounding.
 */
#ifndef PARITAS_LOSSCONE_PROFILE_H
#define PARITAS_LOSSCONE_PROFILE_H

#include "losscone/losscone_search.h"

#if F64
#define PROFILE_CLOSE R(1e-11) /* of 1 + misfit: bounds within it of the best are not better */
#define PROFILE_SLIVER R(1e-12)
#else
#define PROFILE_CLOSE R(4e-6)
#define PROFILE_SLIVER R(2e-6)
#endif

#define PROFILE(i) (s)[PROFILE_AT + (i)]
#define PROFILE_BEST PROFILE(0)
#define PROFILE_RATIO PROFILE(1)
#define PROFILE_AMPLITUDE PROFILE(2)
#define PROFILE_PENDING PROFILE(3)    /* intervals to be bounded; 0: the end */
#define PROFILE_WAITING PROFILE(4)    /* intervals to be halved */
#define PROFILE_REMEMBERED PROFILE(5) /* cells solved; the last PROFILE_SOLVED_MOST are remembered */
#define PROFILE_BOX(w) (s + PROFILE_AT + 32 + 4 * (size_t)(w))                /* r0, r1 */
#define PROFILE_POOL(i) (PROFILE_BOX(PROFILE_PENDING_MOST) + 4 * (size_t)(i)) /* r0, r1, bound */
#define PROFILE_FAMILIES(w) (PROFILE_POOL(PROFILE_WAITING_MOST) + BOUND_SIZE * (size_t)(w))
#define PROFILE_K PROFILE_FAMILIES(PROFILE_PENDING_MOST)  /* of the families, along a visit, */
#define PROFILE_STEP (PROFILE_K + FAMILIES_MOST)          /* and what they add at least */
#define PROFILE_EVENT (PROFILE_STEP + FAMILIES_MOST)      /* thresholds inside an interval: r, ascending, */
#define PROFILE_WHOSE (PROFILE_EVENT + PROFILE_LINES + 8) /* and their families */
#define PROFILE_PIECE (PROFILE_WHOSE + PROFILE_LINES + 8) /* bounds of what is between them */
#define PROFILE_SOLVED(i) (PROFILE_PIECE + PROFILE_LINES + 8 + SLOTS * (size_t)(i))
#define PROFILE_KEPT PROFILE_SOLVED(PROFILE_SOLVED_MOST) /* k at the best */

/* A misfit must be below it to be of interest. */
FN real profile_ceiling(GLOBAL const real *s, real most)
{
    const real best = PROFILE_BEST - PROFILE_CLOSE * (R(1.0) + PROFILE_BEST);
    return best < most ? best : most;
}

/* Was the cell of PROFILE_K solved before? It is remembered. */
FN u32 profile_knows(GLOBAL real *s)
{
    const u32 n = U32_OF(PROFILE_REMEMBERED);
    for (u32 i = 0; i < n && i < PROFILE_SOLVED_MOST; i++) {
        u32 row = 0;
        while (row < SWEEP_ROWS && PROFILE_SOLVED(i)[row] == PROFILE_K[row]) row++;
        if (row == SWEEP_ROWS) return 1;
    }
    for (u32 row = 0; row < SWEEP_ROWS; row++) PROFILE_SOLVED(n % PROFILE_SOLVED_MOST)[row] = PROFILE_K[row];
    PROFILE_REMEMBERED = REAL_OF(n + 1);
    return 0;
}

/* The cell of PROFILE_K, whose r lie between these. */
FN void profile_try(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u,
                    real r0, real r1)
{
    real value = CELLS_BASE + sum8(PROFILE_STEP, losscone_families(mi)),
         amplitude = LOADM1(mr, LOSSCONE_A_LOWER);
    if (has_beam(mr)) {
        if (profile_knows(s)) return;
        solve_cell(mi, mr, sweep, s, PROFILE_K, u, u);
        value = SOLVE_VALUE;
        amplitude = SOLVE_A;
    }
    if (!(value < PROFILE_BEST)) return;
    PROFILE_BEST = value;
    PROFILE_RATIO = R(0.5) * (r0 + r1);
    PROFILE_AMPLITUDE = amplitude;
    for (u32 f = 0; f < losscone_families(mi); f++) PROFILE_KEPT[f] = PROFILE_K[f];
}

/* What family f adds at its k of PROFILE_K, at least. */
FN real profile_step(GLOBAL const real *s, u32 f, u32 beam)
{
    const u32 row = f % SLOTS, k = U32_OF(PROFILE_K[f]);
    return beam ? beam_step(s, row, k) : CELLS_STEP(f / SLOTS)[k * SLOTS + row];
}

/* Family f passes its next threshold, or comes back; the change. */
FN real profile_move(GLOBAL real *s, u32 f, u32 beam, real by)
{
    const real before = PROFILE_STEP[f];
    PROFILE_K[f] = PROFILE_K[f] + by;
    PROFILE_STEP[f] = profile_step(s, f, beam);
    return PROFILE_STEP[f] - before;
}
FN real profile_pass(GLOBAL real *s, u32 f, u32 beam)
{
    return profile_move(s, f, beam, R(1.0));
}
FN void profile_return(GLOBAL real *s, u32 f, u32 beam)
{
    profile_move(s, f, beam, R(-1.0));
}

/* The cells of pending interval w, whose families are known. By one worker. */
FN_LARGE void profile_visit(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                            u32 w, real u, real most)
{
    const u32 families = losscone_families(mi), reversed = families > SLOTS && u > R(0.0),
              beam = has_beam(mr);
    GLOBAL const real *known = PROFILE_FAMILIES(w);
    const real low = PROFILE_BOX(w)[0], high = PROFILE_BOX(w)[1];
    u32 n = 0;
    for (u32 f = 0; f < families; f++) {
        const u32 row = f % SLOTS, energy = f / SLOTS, first = U32_OF(BOUND_FIRST(known)[f]),
                  lines = U32_OF(BOUND_LINES(known)[f]);
        PROFILE_K[f] = REAL_OF(first);
        PROFILE_STEP[f] = profile_step(s, f, beam);
        if (lines == 0) continue;
        const real opening =
            FMA(u, CELLS_INVERSE[(reversed ? SUB_ENERGIES - 1 - energy : energy) * SLOTS + row], R(1.0));
        for (u32 k = first; k < first + lines; k++) {
            const real r = DIVIDE(CELLS_THRESHOLD[k * SLOTS + row], opening);
            u32 at = n++;
            for (; at > 0 && PROFILE_EVENT[at - 1] > r; at--) {
                PROFILE_EVENT[at] = PROFILE_EVENT[at - 1];
                PROFILE_WHOSE[at] = PROFILE_WHOSE[at - 1];
            }
            PROFILE_EVENT[at] = r;
            PROFILE_WHOSE[at] = REAL_OF(f);
        }
    }
    /* what is between two thresholds, by its bound */
    real sum = CELLS_BASE + sum8(PROFILE_STEP, families), from = low;
    for (u32 i = 0; i <= n; i++) {
        const real to = i < n && PROFILE_EVENT[i] < high ? PROFILE_EVENT[i] : high;
        PROFILE_PIECE[i] =
            to - from > PROFILE_SLIVER || n == 0 || high - low <= PROFILE_SLIVER ? sum : UNBOUNDED;
        if (i == n) break;
        sum = sum + profile_pass(s, U32_OF(PROFILE_WHOSE[i]), beam);
        from = to > from ? to : from;
    }
    u32 at = n; /* the piece that PROFILE_K tells of */
    for (;;) {
        u32 least = 0;
        for (u32 i = 1; i <= n; i++) least = PROFILE_PIECE[i] < PROFILE_PIECE[least] ? i : least;
        if (!(PROFILE_PIECE[least] < profile_ceiling(s, most))) return;
        PROFILE_PIECE[least] = UNBOUNDED;
        for (; at < least; at++) profile_pass(s, U32_OF(PROFILE_WHOSE[at]), beam);
        for (; at > least; at--) profile_return(s, U32_OF(PROFILE_WHOSE[at - 1]), beam);
        const real begin = least > 0 && PROFILE_EVENT[least - 1] > low ? PROFILE_EVENT[least - 1] : low;
        profile_try(mi, mr, sweep, s, u, begin,
                    least < n && PROFILE_EVENT[least] < high ? PROFILE_EVENT[least] : high);
    }
}

/* Visits the pending intervals or lets them wait, and says which are next. By one worker. */
FN void profile_next(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u,
                     real most, real enough)
{
    const u32 families = losscone_families(mi), pending = U32_OF(PROFILE_PENDING);
    u32 waiting = U32_OF(PROFILE_WAITING);
    const u32 second_first = pending == 2 && sum8(BOUND_LEAST(PROFILE_FAMILIES(1)), families) <
                                                 sum8(BOUND_LEAST(PROFILE_FAMILIES(0)), families);
    for (u32 i = 0; i < pending; i++) {
        const u32 w = second_first ? 1 - i : i;
        GLOBAL const real *known = PROFILE_FAMILIES(w), *box = PROFILE_BOX(w);
        const real bound = CELLS_BASE + sum8(BOUND_LEAST(known), families),
                   lines = sum8(BOUND_LINES(known), families);
        if (!(bound < profile_ceiling(s, most))) continue;
        if (lines <= REAL_OF(PROFILE_LINES))
            profile_visit(mi, mr, sweep, s, w, u, most);
        else if (box[1] - box[0] > PROFILE_SLIVER && waiting < PROFILE_WAITING_MOST) {
            GLOBAL real *entry = PROFILE_POOL(waiting++);
            entry[0] = box[0];
            entry[1] = box[1];
            entry[2] = bound;
        }
    }
    PROFILE_PENDING = R(0.0);
    PROFILE_WAITING = REAL_OF(waiting);
    if (waiting == 0 || PROFILE_BEST <= enough) return;
    u32 next = waiting - 1; /* the newest, where many wait */
    for (u32 i = 0; i < waiting && waiting + 2 < PROFILE_WAITING_WIDE; i++)
        next = PROFILE_POOL(i)[2] < PROFILE_POOL(next)[2] ? i : next;
    const real low = PROFILE_POOL(next)[0], high = PROFILE_POOL(next)[1], middle = R(0.5) * (low + high);
    const u32 over = PROFILE_POOL(next)[2] < profile_ceiling(s, most) ? 0 : 1;
    for (u32 i = 0; i < 3; i++) PROFILE_POOL(next)[i] = PROFILE_POOL(waiting - 1)[i];
    PROFILE_WAITING = REAL_OF(waiting - 1);
    if (over && waiting + 2 < PROFILE_WAITING_WIDE) return; /* the least bound is too large */
    PROFILE_PENDING = R(2.0);
    PROFILE_BOX(0)[0] = low;
    PROFILE_BOX(0)[1] = PROFILE_BOX(1)[0] = middle;
    PROFILE_BOX(1)[1] = high;
}

/* The least misfit at potential u: PROFILE_BEST, _RATIO, _AMPLITUDE; UNBOUNDED where it is not below `most`.
 * It ends at the first that is not above `enough`. Behind beam_forget. By the whole team. */
FN_LARGE void profile_run(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                          real u, real most, real enough)
{
    const real low = LOADM1(mr, LOSSCONE_R_LOWER), high = LOADM1(mr, LOSSCONE_R_UPPER),
               quarter = R(0.25) * (high - low);
    ONE_WORKER
    {
        PROFILE_BEST = UNBOUNDED;
        PROFILE_RATIO = low;
        PROFILE_AMPLITUDE = LOADM1(mr, LOSSCONE_A_LOWER);
        PROFILE_WAITING = PROFILE_REMEMBERED = R(0.0);
        PROFILE_PENDING = low < high ? REAL_OF(PROFILE_PENDING_MOST) : R(1.0);
        for (u32 w = 0; w < PROFILE_PENDING_MOST; w++) {
            PROFILE_BOX(w)[0] = FMA(quarter, REAL_OF(w), low);
            PROFILE_BOX(w)[1] = w + 1 < PROFILE_PENDING_MOST ? FMA(quarter, REAL_OF(w + 1), low) : high;
        }
    }
    TEAM_BARRIER();
    while (PROFILE_PENDING > R(0.0)) {
        const u32 pending = U32_OF(PROFILE_PENDING);
        search_box box;
        box.u0 = box.u1 = u;
        for (u32 w = 0; w < pending; w++) {
            box.r0 = PROFILE_BOX(w)[0];
            box.r1 = PROFILE_BOX(w)[1];
            bound_families(mi, s, box, PROFILE_FAMILIES(w));
        }
        TEAM_BARRIER();
        TEAM_IF(has_beam(mr)) {
            for (u32 w = 0; w < pending; w++) beam_relax(mi, mr, sweep, s, box, 0, PROFILE_FAMILIES(w));
            TEAM_BARRIER();
        }
        ONE_WORKER
        {
            profile_next(mi, mr, sweep, s, u, most, enough);
        }
        TEAM_BARRIER();
    }
}

/* Is the cell that the last profile found also there at potential u, with a misfit that is not above the
 * limit? By one worker. */
FN_LARGE u32 profile_again(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                           real u, real limit)
{
    const u32 families = losscone_families(mi), reversed = families > SLOTS && u > R(0.0);
    real low = LOADM1(mr, LOSSCONE_R_LOWER), high = LOADM1(mr, LOSSCONE_R_UPPER), sum = CELLS_BASE;
    for (u32 f = 0; f < families; f++) {
        const u32 row = f % SLOTS, energy = f / SLOTS, k = U32_OF(PROFILE_KEPT[f]);
        const real opening =
            FMA(u, CELLS_INVERSE[(reversed ? SUB_ENERGIES - 1 - energy : energy) * SLOTS + row], R(1.0));
        sum = sum + CELLS_STEP(energy)[k * SLOTS + row];
        if (opening > R(0.0)) {
            const real to = DIVIDE(CELLS_THRESHOLD[k * SLOTS + row], opening),
                       from = k > 0 ? DIVIDE(CELLS_THRESHOLD[(k - 1) * SLOTS + row], opening) : low;
            low = from > low ? from : low;
            high = to < high ? to : high;
        } else if (k > 0)
            return 0;
    }
    if (!(high - low > PROFILE_SLIVER)) return 0;
    if (!has_beam(mr)) return sum <= limit;
    solve_cell(mi, mr, sweep, s, PROFILE_KEPT, u, u);
    return SOLVE_VALUE <= limit;
}

#endif
