/* losscone_search.h: branch and bound for the global minimum of a sweep's misfit.
 *
 *   slices of U ─► bound ─► heap, least bound first ─► many lines: halve the box
 *                                                  └─► few: visit its cells
 *
 * Only slivers (losscone_plateau.h) are lost: a box goes if its bound exceeds the best misfit, or once its
 * cells were visited. The order follows from the numbers, not from the team. With a full heap: depth
 * first. */
#pragma once

#include "losscone/losscone_solve.h"

#define SEARCH_CLOSE LIMIT(1e-9, 4e-6) /* relative to the misfit */
/* looser: a beam's amplitude comes from iteration */
#define SEARCH_CLOSE_BEAM LIMIT(1e-7, 4e-6)
#define SEARCH_ROUNDING LIMIT(1e-14, 4e-6)
#define BOX_LEAST_R LIMIT(1e-11, 1e-6)
#define BOX_LEAST_U LIMIT(1e-9, 1e-3)
#define VISIT_LINES_HARD 12.0 /* VISIT_LINES */
#define VISIT_LINES_BEAM 7.0

enum search_action { SEARCH_STOP, SEARCH_BOUND, SEARCH_VISIT };
enum search_kind { SEARCH_BOX, SEARCH_ROUGH_BOX, SEARCH_CELL };

#define PENDING_BOX(w) (s + SEARCH_PENDING_BOX + BOX_SIZE * (size_t)(w))
#define PENDING_BOUND(w) (s + SEARCH_PENDING_BOUND + BOUND_SIZE * (size_t)(w))
#define POOLED_BOX(place) (s + SEARCH_POOLED + BOX_SIZE * (size_t)(place))
#define STACKED_BOX(i) (s + SEARCH_DEEP + BOX_SIZE * (size_t)(i))
#define SOLVED_CELL(i) (s + SEARCH_SOLVED_CELL + SWEEP_SLOTS * (size_t)(i))
#define VISIT_POLYGON(i) (s + VISIT_POLYGONS + VISIT_ROOM * (size_t)(i))

/* Higher bounds are of no interest. */
FN real search_limit(GLOBAL const real *s)
{
    return FMA(-s[SEARCH_NEAR], s[SEARCH_BEST], s[SEARCH_BEST]) - SEARCH_ROUNDING;
}

/* Bounds the pending boxes. The whole team calls it, up to a barrier. */
FN void pending_bound(LOSSCONE_PARAMETERS, u32 roughly)
{
    const u32 pending = U32_OF(s[SEARCH_PENDING]);
    for (u32 w = 0; w < pending; w++) bound_families(LOSSCONE, box_at(PENDING_BOX(w)), PENDING_BOUND(w));
    TEAM_BARRIER();
    TEAM_IF(has_beam(mr)) {
        for (u32 w = 0; w < pending; w++)
            beam_relax(LOSSCONE, box_at(PENDING_BOX(w)), roughly, PENDING_BOUND(w));
        TEAM_BARRIER();
    }
}

/* Sum of box w over its families: BOUND_LEAST, BOUND_LINES or BOUND_LEAN. */
FN real pending_sum(CONSTANT u32 *mi, GLOBAL const real *s, u32 w, u32 which)
{
    return sum8(PENDING_BOUND(w) + which, losscone_families(mi));
}
/* The least misfit in it. */
FN real pending_least(CONSTANT u32 *mi, GLOBAL const real *s, u32 w)
{
    return s[CELLS_BASE] + pending_sum(mi, s, w, BOUND_LEAST);
}

/* Boxes 0 and 1: the halves of a box. */
FN void pending_halves(GLOBAL real *s, search_box box, u32 in_r)
{
    for (u32 w = 0; w < 2; w++) put_box(PENDING_BOX(w), box_half(box, in_r, w));
    s[SEARCH_PENDING] = R(2.0);
}

/* ---- heap, least bound on top ---- */

FN void heap_set(GLOBAL real *s, u32 i, real key, real place)
{
    (s + SEARCH_KEY)[i] = key;
    (s + SEARCH_PLACE)[i] = place;
}

FN void heap_move(GLOBAL real *s, u32 to, u32 from)
{
    heap_set(s, to, (s + SEARCH_KEY)[from], (s + SEARCH_PLACE)[from]);
}

FN void heap_push(GLOBAL real *s, real key, real place)
{
    u32 i = U32_OF(s[SEARCH_HEAPED]);
    s[SEARCH_HEAPED] = REAL_OF(i + 1);
    while (i > 0 && (s + SEARCH_KEY)[(i - 1) / 2] > key) {
        heap_move(s, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
    heap_set(s, i, key, place);
}

FN void heap_pop(GLOBAL real *s)
{
    const u32 n = U32_OF(s[SEARCH_HEAPED]) - 1;
    GLOBAL const real *keys = s + SEARCH_KEY;
    const real key = keys[n], place = (s + SEARCH_PLACE)[n];
    s[SEARCH_HEAPED] = REAL_OF(n);
    u32 i = 0, child = 1;
    while (child < n) {
        if (child + 1 < n && keys[child + 1] < keys[child]) child++;
        if (keys[child] >= key)
            child = n;
        else {
            heap_move(s, i, child);
            i = child;
            child = 2 * i + 1;
        }
    }
    heap_set(s, i, key, place);
}

FN u32 search_full(GLOBAL const real *s)
{
    return s[SEARCH_FREE] == R(0.0) && s[SEARCH_USED] == REAL_OF(SEARCH_HEAP_MOST);
}

/* Place of a box in the heap, or on the stack while the heap is full. */
FN GLOBAL real *search_place(GLOBAL real *s, real bound, u32 kind)
{
    const u32 deep = U32_OF(s[SEARCH_STACKED]), given_back = U32_OF(s[SEARCH_FREE]),
              used = U32_OF(s[SEARCH_USED]), full = search_full(s);
    const real place = given_back ? (s + SEARCH_GIVEN_BACK)[given_back - 1] : REAL_OF(used);
    GLOBAL real *entry = full ? STACKED_BOX(deep) : POOLED_BOX(U32_OF(place));
    if (full)
        s[SEARCH_STACKED] = REAL_OF(deep + 1);
    else if (given_back)
        s[SEARCH_FREE] = REAL_OF(given_back - 1);
    else
        s[SEARCH_USED] = REAL_OF(used + 1);
    if (!full) heap_push(s, bound, place);
    entry[BOX_BOUND] = bound;
    entry[BOX_KIND] = REAL_OF(kind);
    return entry;
}

/* Drops box w if its bound is too large. */
FN void search_keep(CONSTANT u32 *mi, GLOBAL real *s, u32 w)
{
    const real bound = pending_least(mi, s, w);
    s[SEARCH_BOXES] = s[SEARCH_BOXES] + R(1.0);
    if (bound >= search_limit(s)) return;
    GLOBAL real *entry = search_place(s, bound, s[SEARCH_ROUGH] > R(0.0) ? SEARCH_ROUGH_BOX : SEARCH_BOX);
    put_box(entry, box_at(PENDING_BOX(w)));
    entry[BOX_LINES] = pending_sum(mi, s, w, BOUND_LINES);
    entry[BOX_LEAN] = pending_sum(mi, s, w, BOUND_LEAN);
}

FN void search_improve(CONSTANT u32 *mi, GLOBAL real *s, real misfit, u32 reversed)
{
    s[SEARCH_BEST] = misfit;
    s[SEARCH_SIDE] = REAL_OF(reversed);
    for (u32 f = 0; f < losscone_families(mi); f++) (s + SEARCH_CHOSEN)[f] = (s + SEARCH_TRIED)[f];
}

/* The cell of SEARCH_TRIED, without beam. */
FN void search_try(CONSTANT u32 *mi, GLOBAL real *s, u32 reversed)
{
    const u32 families = losscone_families(mi);
    for (u32 f = 0; f < families; f++)
        (s + SEARCH_VALUES)[f] = family_step(s, f, U32_OF((s + SEARCH_TRIED)[f]));
    const real misfit = s[CELLS_BASE] + sum8(s + SEARCH_VALUES, families);
    s[SEARCH_SOLVED] = s[SEARCH_SOLVED] + R(1.0);
    if (misfit < s[SEARCH_BEST]) search_improve(mi, s, misfit, reversed);
}

/* Sets SEARCH_TRIED to a point's cell. */
FN void search_locate(CONSTANT u32 *mi, GLOBAL real *s, real u, real r)
{
    const u32 reversed = families_reversed(mi, u);
    for (u32 f = 0; f < losscone_families(mi); f++)
        (s + SEARCH_TRIED)[f] =
            REAL_OF(thresholds_below(s, f % SWEEP_SLOTS, cone_edge(u, r, family_inverse(s, f, reversed))));
}

FN u32 search_remembers(GLOBAL const real *s, GLOBAL const real *k, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        u32 row = 0;
        while (row < SWEEP_ROWS && SOLVED_CELL(i)[row] == k[row]) row++;
        if (row == SWEEP_ROWS) return 1;
    }
    return 0;
}
FN void search_remember(GLOBAL real *s, GLOBAL const real *k, u32 place)
{
    for (u32 row = 0; row < SWEEP_ROWS; row++) SOLVED_CELL(place)[row] = k[row];
    s[SEARCH_REMEMBERED] = s[SEARCH_REMEMBERED] + R(1.0);
}

/* The cell of SEARCH_TRIED with its best beam, once. */
FN_LARGE void search_solve(LOSSCONE_PARAMETERS)
{
    GLOBAL const real *tried = s + SEARCH_TRIED;
    const u32 remembered = U32_OF(s[SEARCH_REMEMBERED]);
    if (search_remembers(s, tried, remembered)) return;
    if (remembered < SEARCH_REMEMBERED_MOST) search_remember(s, tried, remembered);
    const search_box domain = box_of_options(mr);
    const u32 n = plateau_clip(mi, s, tried, domain, 0, s + SEARCH_POLYGON);
    if (n == 0) return;
    const search_box extent = polygon_extent(s + SEARCH_POLYGON, n, domain);
    solve_cell(LOSSCONE, tried, extent.u0, extent.u1);
    s[SEARCH_SOLVED] = s[SEARCH_SOLVED] + R(1.0);
    if (s[SOLVE_VALUE] < s[SEARCH_BEST]) {
        search_improve(mi, s, s[SOLVE_VALUE], 0);
        s[SEARCH_BEST_U] = s[SOLVE_U];
        s[SEARCH_BEST_A] = s[SOLVE_A];
    }
}

/* Bounds the cell of SEARCH_TRIED with any beam at potentials u0 .. u1. Restores the visit's beam bounds. */
FN real search_cell_bound(LOSSCONE_PARAMETERS, real u0, real u1)
{
    real bound = s[CELLS_BASE];
    for (u32 row = 0; row < SWEEP_SLOTS; row++) {
        (s + VISIT_MODE)[row] = (s + BEAM_MODE)[row];
        (s + VISIT_FACTOR)[row] = (s + BEAM_FACTOR)[row];
    }
    for (u32 row = 0; row < sweep_rows(mi); row++) {
        if ((s + BEAM_MODE)[row] > REAL_OF(BEAM_NONE)) beam_choose(LOSSCONE, row, u0, u1, 0);
        bound = bound + beam_step(s, row, U32_OF((s + SEARCH_TRIED)[row]));
    }
    for (u32 row = 0; row < SWEEP_SLOTS; row++) {
        (s + BEAM_MODE)[row] = (s + VISIT_MODE)[row];
        (s + BEAM_FACTOR)[row] = (s + VISIT_FACTOR)[row];
    }
    return bound;
}

/* Queues the cell of SEARCH_TRIED by its bound: solving it is costly. `polygon`: its part of the box. */
FN_LARGE void search_keep_cell(LOSSCONE_PARAMETERS, search_box box, GLOBAL const real *polygon, u32 n)
{
    const search_box extent = polygon_extent(polygon, n, box);
    const real bound = search_cell_bound(LOSSCONE, extent.u0, extent.u1);
    if (bound >= search_limit(s)) return;
    if (search_full(s)) {
        search_solve(LOSSCONE);
        return;
    }
    real a = R(0.0), b = R(0.0);
    for (u32 i = 0; i < n; i++) {
        a = a + VERTEX_A(polygon, i);
        b = b + VERTEX_B(polygon, i);
    }
    GLOBAL real *entry = search_place(s, bound, SEARCH_CELL);
    entry[CELL_U] = flush(DIVIDE(b, a));
    entry[CELL_R] = DIVIDE(a, REAL_OF(n));
}

FN void search_leaf(LOSSCONE_PARAMETERS, u32 reversed, search_box box, GLOBAL const real *polygon, u32 n)
{
    if (has_beam(mr))
        search_keep_cell(LOSSCONE, box, polygon, n);
    else
        search_try(mi, s, reversed);
}

FN void search_point(LOSSCONE_PARAMETERS, real u, real r)
{
    search_locate(mi, s, u, r);
    if (has_beam(mr)) search_solve(LOSSCONE);
    if (has_beam(mr) && s[SEARCH_BEST] < UNBOUNDED) return;
    search_try(mi, s, u > R(0.0)); /* no beam, or a sliver */
    s[SEARCH_BEST_U] = u;
    s[SEARCH_BEST_A] = LOADM1(mr, LOSSCONE_A_LOWER);
}

FN void search_middle(LOSSCONE_PARAMETERS, search_box box)
{
    search_point(LOSSCONE, box_middle_u(box), box_middle_r(box));
}

/* ---- what comes next, by one worker ---- */

/* Makes pending: the box for better bounds or (few lines) a visit, else its halves. 0: too small. */
FN u32 search_divide(CONSTANT elem *mr, GLOBAL real *s, GLOBAL const real *entry)
{
    const search_box box = box_at(entry);
    const real lines = entry[BOX_LINES], middle_u = box_middle_u(box), middle_r = box_middle_r(box);
    const u32 rough = entry[BOX_KIND] == REAL_OF(SEARCH_ROUGH_BOX);
    put_box(PENDING_BOX(0), box);
    s[SEARCH_PENDING] = R(1.0);
    s[SEARCH_ROUGH] = R(0.0);
    s[SEARCH_ACTION] = REAL_OF(rough ? SEARCH_BOUND : SEARCH_VISIT);
    if (rough || lines <= (has_beam(mr) ? R(VISIT_LINES_BEAM) : R(VISIT_LINES_HARD))) return 1;
    if (box.u1 - box.u0 < BOX_LEAST_U && box.r1 - box.r0 < BOX_LEAST_R) return 0;
    const u32 no_u = middle_u <= box.u0 || middle_u >= box.u1,
              no_r = middle_r <= box.r0 || middle_r >= box.r1;
    if (no_u && no_r) return 0;
    s[SEARCH_ACTION] = REAL_OF(SEARCH_BOUND);
    pending_halves(s, box, no_u || (!no_r && entry[BOX_LEAN] > R(0.0)));
    return 1;
}

FN search_box search_slice_box(CONSTANT elem *mr, GLOBAL const real *s, u32 slice)
{
    search_box box = box_of_options(mr);
    box.u0 = (s + SEARCH_EDGE)[slice];
    box.u1 = (s + SEARCH_EDGE)[slice + 1];
    return box;
}

FN void search_slice(CONSTANT elem *mr, GLOBAL real *s)
{
    const u32 slice = U32_OF(s[SEARCH_SLICE]);
    const search_box box = search_slice_box(mr, s, slice);
    s[SEARCH_SLICE] = REAL_OF(slice + 1);
    s[SEARCH_ACTION] = REAL_OF(SEARCH_BOUND);
    s[SEARCH_ROUGH] = has_beam(mr) ? R(1.0) : R(0.0);
    pending_halves(s, box, 1);
    if (!(box.r0 < box.r1)) s[SEARCH_PENDING] = R(1.0);
}

/* Answers at the limit of boxes: any answer, and what the remaining bounds could gain. */
FN void search_give_up(LOSSCONE_PARAMETERS)
{
    if (s[SEARCH_BEST] == UNBOUNDED && s[SEARCH_HEAPED] > R(0.0)) {
        GLOBAL const real *entry = POOLED_BOX(U32_OF((s + SEARCH_PLACE)[0]));
        if (entry[BOX_KIND] == REAL_OF(SEARCH_CELL))
            search_point(LOSSCONE, entry[CELL_U], entry[CELL_R]);
        else
            search_middle(LOSSCONE, box_at(entry));
    }
    real least = s[SEARCH_HEAPED] > R(0.0) ? (s + SEARCH_KEY)[0] : UNBOUNDED;
    for (u32 i = 0; i < U32_OF(s[SEARCH_STACKED]); i++)
        least = STACKED_BOX(i)[BOX_BOUND] < least ? STACKED_BOX(i)[BOX_BOUND] : least;
    const real gap = s[SEARCH_BEST] - least;
    s[SEARCH_GAP] = gap > R(0.0) ? gap : R(0.0);
}

/* Returns 1 if boxes became pending. */
FN u32 search_pop(LOSSCONE_PARAMETERS)
{
    const real place = (s + SEARCH_PLACE)[0];
    const u32 given_back = U32_OF(s[SEARCH_FREE]);
    GLOBAL const real *entry = POOLED_BOX(U32_OF(place));
    (s + SEARCH_GIVEN_BACK)[given_back] = place;
    s[SEARCH_FREE] = REAL_OF(given_back + 1);
    heap_pop(s);
    if (entry[BOX_KIND] != REAL_OF(SEARCH_CELL)) return search_divide(mr, s, entry);
    search_point(LOSSCONE, entry[CELL_U], entry[CELL_R]);
    return 0;
}

FN_LARGE void search_next(LOSSCONE_PARAMETERS)
{
    if (s[SEARCH_SLICE] < s[SEARCH_SLICES]) {
        search_slice(mr, s);
        return;
    }
    u32 found = 0;
    if (s[SEARCH_BOXES] >= REAL_OF(mi[LOSSCONE_BOX_LIMIT])) {
        search_give_up(LOSSCONE);
        s[SEARCH_ACTION] = REAL_OF(SEARCH_STOP);
        return;
    }
    while (!found && s[SEARCH_STACKED] > R(0.0)) {
        GLOBAL const real *entry = STACKED_BOX(U32_OF(s[SEARCH_STACKED]) - 1);
        s[SEARCH_STACKED] = s[SEARCH_STACKED] - R(1.0);
        if (entry[BOX_BOUND] < search_limit(s)) found = search_divide(mr, s, entry);
    }
    while (!found && s[SEARCH_HEAPED] > R(0.0)) {
        if ((s + SEARCH_KEY)[0] >= search_limit(s))
            s[SEARCH_HEAPED] = R(0.0);
        else
            found = search_pop(LOSSCONE);
    }
    if (found) return;
    s[SEARCH_ACTION] = REAL_OF(SEARCH_STOP);
    if (s[SEARCH_BEST] == UNBOUNDED) search_middle(LOSSCONE, box_of_options(mr)); /* a sliver */
}

/* Returns the number of families with lines. Sums the others, and the least still to come after each. */
FN u32 visit_begin(LOSSCONE_PARAMETERS)
{
    const u32 families = losscone_families(mi);
    GLOBAL const real *known = PENDING_BOUND(0), *least = known + BOUND_LEAST;
    u32 crossed = 0;
    for (u32 f = 0; f < families; f++) {
        (s + SEARCH_TRIED)[f] = (known + BOUND_FIRST)[f];
        if ((known + BOUND_LINES)[f] > R(0.0) && crossed < VISIT_LINES)
            (s + VISIT_FAMILY)[crossed++] = REAL_OF(f);
    }
    real rest = R(0.0);
    for (u32 i = crossed; i > 0; i--) {
        (s + VISIT_REST)[i - 1] = rest;
        rest = rest + least[U32_OF((s + VISIT_FAMILY)[i - 1])];
    }
    (s + VISIT_SUM)[0] = s[CELLS_BASE] + sum8(least, families) - rest;
    (s + VISIT_K)[0] = R(0.0);
    return crossed;
}

/* Family by family takes each k and clips pending box 0, which is bounded. A branch ends when nothing is left
 * or its sum is too large. By one worker. */
FN_LARGE void search_visit(LOSSCONE_PARAMETERS)
{
    GLOBAL const real *known = PENDING_BOUND(0);
    GLOBAL real *visited = s + VISIT_K;
    const search_box box = box_at(PENDING_BOX(0));
    const u32 reversed = families_reversed(mi, box.u1), beam = has_beam(mr), crossed = visit_begin(LOSSCONE);
    u32 n[VISIT_LINES + 2];
    n[0] = polygon_of_box(box, VISIT_POLYGON(0));
    if (crossed == 0) {
        search_leaf(LOSSCONE, reversed, box, VISIT_POLYGON(0), n[0]);
        return;
    }
    u32 depth = 1; /* families with a k; the last k may be bad */
    while (depth > 0) {
        const u32 i = depth - 1, f = U32_OF((s + VISIT_FAMILY)[i]);
        if (visited[i] > (known + BOUND_LINES)[f]) {
            depth--;
            if (depth > 0) visited[depth - 1] = visited[depth - 1] + R(1.0);
            continue;
        }
        const u32 k = U32_OF((known + BOUND_FIRST)[f] + visited[i]);
        const real sum = (s + VISIT_SUM)[i] + family_step_least(s, f, k, beam);
        n[i + 1] =
            sum + (s + VISIT_REST)[i] < search_limit(s)
                ? polygon_between(s, f % SWEEP_SLOTS, k, family_inverse(s, f, reversed), VISIT_POLYGON(i),
                                  n[i], VISIT_POLYGON(i + 1), VISIT_POLYGON(VISIT_LINES + 1))
                : 0;
        if (n[i + 1]) {
            (s + SEARCH_TRIED)[f] = REAL_OF(k);
            if (depth < crossed) {
                (s + VISIT_SUM)[depth] = sum;
                visited[depth] = R(0.0);
                depth++;
                continue;
            }
            search_leaf(LOSSCONE, reversed, box, VISIT_POLYGON(depth), n[depth]);
        }
        visited[i] = visited[i] + R(1.0);
    }
}

/* Narrow at small U, where x changes most. 0 is an edge (losscone_bound.h). */
TABLE(elem, slice_edges, SEARCH_EDGES) = {ELEM(-900.0), ELEM(-450.0), ELEM(-220.0), ELEM(-110.0),
                                          ELEM(-50.0),  ELEM(-15.0),  ELEM(0.0)};

FN void search_begin(CONSTANT elem *mr, GLOBAL real *s, real best)
{
    const search_box domain = box_of_options(mr);
    for (u32 i = SEARCH_ACTION; i < SEARCH_BEST_U; i++) s[i] = R(0.0);
    for (u32 f = 0; f < SWEEP_FAMILIES; f++) (s + SEARCH_CHOSEN)[f] = R(0.0);
    s[SEARCH_BEST] = best;
    s[SEARCH_NEAR] = has_beam(mr) ? SEARCH_CLOSE_BEAM : SEARCH_CLOSE;
    u32 n = 0;
    (s + SEARCH_EDGE)[0] = domain.u0;
    for (u32 i = 0; i < SEARCH_EDGES; i++) {
        const real edge = REAL_OF(slice_edges[i]);
        if (edge > domain.u0 && edge < domain.u1) (s + SEARCH_EDGE)[++n] = edge;
    }
    (s + SEARCH_EDGE)[++n] = domain.u1;
    s[SEARCH_SLICES] = REAL_OF(n);
}

/* Finds SEARCH_BEST, the least misfit below `best`, after beam_forget. The whole team calls it. */
FN void search_run(LOSSCONE_PARAMETERS, real best)
{
    ONE_WORKER
    {
        search_begin(mr, s, best);
        search_next(LOSSCONE);
    }
    TEAM_BARRIER();
    while (s[SEARCH_ACTION] > REAL_OF(SEARCH_STOP)) {
        pending_bound(LOSSCONE, s[SEARCH_ROUGH] > R(0.0));
        ONE_WORKER
        {
            const u32 pending = U32_OF(s[SEARCH_PENDING]);
            if (s[SEARCH_ACTION] == REAL_OF(SEARCH_VISIT))
                search_visit(LOSSCONE);
            else
                for (u32 w = 0; w < pending; w++) search_keep(mi, s, w);
            search_next(LOSSCONE);
        }
        TEAM_BARRIER();
    }
}
