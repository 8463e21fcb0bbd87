/* losscone_search.h: the global minimum of a sweep's misfit by branch and bound.
 *
 *   slabs of U, halves of r ─► bound ─► heap, the least bound first ─► many lines cross the box: halve it
 *                                                                  └─► few do: visit each cell of theirs in
 *                                                                      the box whose misfit can be the least
 *
 * Nothing is lost: a box goes when its bound is above the best misfit found, or when all cells of the lines'
 * arrangement that meet it have been visited, but for slivers (plateau.h). What is visited first follows from
 * the numbers alone, so the answer does not depend on the team. The heap holds a limited number of boxes;
 * while it is full the search goes depth first.
 */
#ifndef PARITAS_LOSSCONE_SEARCH_H
#define PARITAS_LOSSCONE_SEARCH_H

#include "losscone/losscone_solve.h"

#if F64
#define SEARCH_CLOSE R(1e-9) /* of the misfit: bounds within it of the best are not better */
/* the same where there may be a beam, whose amplitude is a limit of steps */
#define SEARCH_CLOSE_BEAM R(1e-7)
#define SEARCH_ROUNDING R(1e-14)
#define BOX_LEAST_R R(1e-11)
#define BOX_LEAST_U R(1e-9)
#else
#define SEARCH_CLOSE R(4e-6)
#define SEARCH_CLOSE_BEAM R(4e-6)
#define SEARCH_ROUNDING R(4e-6)
#define BOX_LEAST_R R(1e-6)
#define BOX_LEAST_U R(1e-3)
#endif

#define SEARCH_AT CELLS_SIZE
#define SEARCH(i) (s)[SEARCH_AT + (i)]
#define SEARCH_ACTION SEARCH(0) /* what comes next: */
#define SEARCH_STOP R(0.0)
#define SEARCH_BOUND R(1.0)      /* the pending boxes are to be bounded */
#define SEARCH_VISIT R(2.0)      /* the cells of the pending box are to be visited */
#define SEARCH_PENDING SEARCH(1) /* how many boxes are */
#define SEARCH_BEST SEARCH(2)    /* least misfit found */
#define SEARCH_BOXES SEARCH(3)
#define SEARCH_SOLVED SEARCH(4)
#define SEARCH_HEAP SEARCH(5) /* boxes in it */
#define SEARCH_STACK SEARCH(6)
#define SEARCH_USED SEARCH(7) /* places of the pool ever used */
#define SEARCH_FREE SEARCH(8) /* places given back */
#define SEARCH_SLAB SEARCH(9) /* next slab of U */
#define SEARCH_SLABS SEARCH(10)
#define SEARCH_SIDE SEARCH(11) /* 1 where the best plateau was found at U > 0 */
#define SEARCH_GAP SEARCH(12)
#define SEARCH_NEAR SEARCH(13)       /* SEARCH_CLOSE of this run */
#define SEARCH_ROUGH SEARCH(14)      /* 1: bound the pending boxes roughly (beam.h) */
#define SEARCH_REMEMBERED SEARCH(15) /* solved cells */
#define SEARCH_EDGE(i) SEARCH(16 + (i))
#define SEARCH_BEST_U SEARCH(28) /* where the best was found, if there may be a beam */
#define SEARCH_BEST_A SEARCH(29)
#define SEARCH_BOX(w) (s + SEARCH_AT + 32 + 8 * (size_t)(w)) /* a pending box: u0, u1, r0, r1 */
#define SEARCH_KEY (s + SEARCH_AT + 48)                      /* the heap: bounds, */
#define SEARCH_PLACE (SEARCH_KEY + HEAP_MOST)                /* and where in the pool their boxes are */
#define SEARCH_GIVEN_BACK (SEARCH_PLACE + HEAP_MOST)
#define SEARCH_POOL(i) (SEARCH_GIVEN_BACK + HEAP_MOST + BOX_ENTRY * (size_t)(i))
#define SEARCH_DEEP(i) (SEARCH_POOL(HEAP_MOST) + BOX_ENTRY * (size_t)(i))
/* bound.h's numbers of a pending box */
#define SEARCH_FAMILIES(w) (SEARCH_DEEP(STACK_MOST) + BOUND_SIZE * (size_t)(w))
/* A visit: the families that lines cross, k of each, the sums so far, the least that the rest adds. */
#define VISIT_FAMILY SEARCH_FAMILIES(2)
#define VISIT_K (VISIT_FAMILY + 16)
#define VISIT_SUM (VISIT_K + 16)
#define VISIT_REST (VISIT_SUM + 16)
#define VISIT_MODES (VISIT_REST + 16) /* of the beam's bounds for the box */
#define VISIT_POLYGON(i) (VISIT_MODES + 32 + VISIT_ROOM * (size_t)(i))
#define SEARCH_TRIED VISIT_POLYGON(VISIT_LINES + 2)  /* k of all families at the visited cell */
#define SEARCH_CHOSEN (SEARCH_TRIED + FAMILIES_MOST) /* at the best */
#define SEARCH_VALUES (SEARCH_CHOSEN + FAMILIES_MOST)
#define SOLVED(i) (s + SOLVED_AT + SLOTS * (size_t)(i))    /* k of the rows of a solved cell */
#define SEARCH_POLYGON (SEARCH_VALUES + FAMILIES_MOST)     /* the plateau, and room to clip it */
#define SEARCH_OUTCOME (SEARCH_POLYGON + 3 * POLYGON_ROOM) /* outcome.h */

FN u32 has_beam(CONSTANT elem *mr)
{
    return LOADM1(mr, LOSSCONE_A_UPPER) > R(0.0);
}

/* Kinds of entries: boxes; boxes that are bounded roughly (beam.h); cells, by a point of theirs and the
 * potentials at which they meet the box they were found in. */
#define ENTRY_BOX R(0.0)
#define ENTRY_ROUGH R(1.0)
#define ENTRY_CELL R(2.0)

FN real search_limit(GLOBAL const real *s)
{
    return FMA(-SEARCH_NEAR, SEARCH_BEST, SEARCH_BEST) - SEARCH_ROUNDING;
}

FN search_box box_at(GLOBAL const real *entry)
{
    search_box box;
    box.u0 = entry[0];
    box.u1 = entry[1];
    box.r0 = entry[2];
    box.r1 = entry[3];
    return box;
}

/* The domain. */
FN search_box box_of_options(CONSTANT elem *mr)
{
    search_box box;
    box.u0 = LOADM1(mr, LOSSCONE_U_LOWER);
    box.u1 = LOADM1(mr, LOSSCONE_U_UPPER);
    box.r0 = LOADM1(mr, LOSSCONE_R_LOWER);
    box.r1 = LOADM1(mr, LOSSCONE_R_UPPER);
    return box;
}

FN void put_box(GLOBAL real *entry, real u0, real u1, real r0, real r1)
{
    entry[0] = u0;
    entry[1] = u1;
    entry[2] = r0;
    entry[3] = r1;
}

/* ---- heap: the least bound on top ---- */

FN void heap_set(GLOBAL real *s, u32 i, real key, real place)
{
    SEARCH_KEY[i] = key;
    SEARCH_PLACE[i] = place;
}

FN void heap_push(GLOBAL real *s, real key, real place)
{
    u32 i = U32_OF(SEARCH_HEAP);
    SEARCH_HEAP = REAL_OF(i + 1);
    while (i > 0 && SEARCH_KEY[(i - 1) / 2] > key) {
        heap_set(s, i, SEARCH_KEY[(i - 1) / 2], SEARCH_PLACE[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    heap_set(s, i, key, place);
}

/* Takes the top away; it is the caller's to have read it. */
FN void heap_pop(GLOBAL real *s)
{
    const u32 n = U32_OF(SEARCH_HEAP) - 1;
    SEARCH_HEAP = REAL_OF(n);
    const real key = SEARCH_KEY[n], place = SEARCH_PLACE[n];
    u32 i = 0, child = 1;
    while (child < n) {
        if (child + 1 < n && SEARCH_KEY[child + 1] < SEARCH_KEY[child]) child++;
        if (SEARCH_KEY[child] >= key)
            child = n;
        else {
            heap_set(s, i, SEARCH_KEY[child], SEARCH_PLACE[child]);
            i = child;
            child = 2 * i + 1;
        }
    }
    heap_set(s, i, key, place);
}

FN u32 search_full(GLOBAL const real *s)
{
    return SEARCH_FREE == R(0.0) && SEARCH_USED == REAL_OF(HEAP_MOST);
}

/* A place for an entry with this bound: in the heap or, while that is full, on the stack. */
FN GLOBAL real *search_place(GLOBAL real *s, real bound)
{
    const u32 deep = U32_OF(SEARCH_STACK), given_back = U32_OF(SEARCH_FREE), used = U32_OF(SEARCH_USED);
    if (search_full(s)) {
        SEARCH_STACK = REAL_OF(deep + 1);
        return SEARCH_DEEP(deep);
    }
    const real place = given_back ? SEARCH_GIVEN_BACK[given_back - 1] : REAL_OF(used);
    if (given_back)
        SEARCH_FREE = REAL_OF(given_back - 1);
    else
        SEARCH_USED = REAL_OF(used + 1);
    heap_push(s, bound, place);
    return SEARCH_POOL(U32_OF(place));
}

/* Keeps pending box w, unless its bound says that nothing is to be found there. By one worker. */
FN void search_keep(CONSTANT u32 *mi, GLOBAL real *s, u32 w)
{
    const u32 families = losscone_families(mi);
    GLOBAL const real *known = SEARCH_FAMILIES(w), *box = SEARCH_BOX(w);
    const real bound = CELLS_BASE + sum8(BOUND_LEAST(known), families);
    SEARCH_BOXES = SEARCH_BOXES + R(1.0);
    if (bound >= search_limit(s)) return;
    GLOBAL real *entry = search_place(s, bound);
    put_box(entry, box[0], box[1], box[2], box[3]);
    entry[4] = sum8(BOUND_LINES(known), families);
    entry[5] = sum8(BOUND_LEAN(known), families);
    entry[6] = bound;
    entry[7] = SEARCH_ROUGH > R(0.0) ? ENTRY_ROUGH : ENTRY_BOX;
}

/* ---- cells ---- */

FN void search_improve(CONSTANT u32 *mi, GLOBAL real *s, real misfit, u32 reversed)
{
    SEARCH_BEST = misfit;
    SEARCH_SIDE = REAL_OF(reversed);
    for (u32 f = 0; f < losscone_families(mi); f++) SEARCH_CHOSEN[f] = SEARCH_TRIED[f];
}

/* The cell of SEARCH_TRIED, without beam. */
FN void search_try(CONSTANT u32 *mi, GLOBAL real *s, u32 reversed)
{
    const u32 families = losscone_families(mi);
    for (u32 f = 0; f < families; f++)
        SEARCH_VALUES[f] = CELLS_STEP(f / SLOTS)[U32_OF(SEARCH_TRIED[f]) * SLOTS + f % SLOTS];
    const real misfit = CELLS_BASE + sum8(SEARCH_VALUES, families);
    SEARCH_SOLVED = SEARCH_SOLVED + R(1.0);
    if (misfit < SEARCH_BEST) search_improve(mi, s, misfit, reversed);
}

/* The cells that hold a point. */
FN void search_locate(CONSTANT u32 *mi, GLOBAL real *s, real u, real r)
{
    const u32 families = losscone_families(mi), reversed = families > SLOTS && u > R(0.0);
    for (u32 f = 0; f < families; f++) {
        const u32 row = f % SLOTS, energy = f / SLOTS;
        SEARCH_TRIED[f] = REAL_OF(thresholds_below(
            s, row,
            cone_edge(u, r, CELLS_INVERSE[(reversed ? SUB_ENERGIES - 1 - energy : energy) * SLOTS + row])));
    }
}

/* The cell of SEARCH_TRIED with the best beam, unless it was solved before. */
FN_LARGE void search_solve(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s)
{
    const u32 remembered = U32_OF(SEARCH_REMEMBERED);
    for (u32 i = 0; i < remembered; i++) {
        u32 row = 0;
        while (row < SWEEP_ROWS && SOLVED(i)[row] == SEARCH_TRIED[row]) row++;
        if (row == SWEEP_ROWS) return;
    }
    if (remembered < SOLVED_MOST) {
        for (u32 row = 0; row < SWEEP_ROWS; row++) SOLVED(remembered)[row] = SEARCH_TRIED[row];
        SEARCH_REMEMBERED = REAL_OF(remembered + 1);
    }
    const search_box domain = box_of_options(mr);
    const u32 n = plateau_clip(mi, s, SEARCH_TRIED, domain, 0, SEARCH_POLYGON);
    const search_box extent = polygon_extent(SEARCH_POLYGON, n, domain);
    if (n == 0) return;
    solve_cell(mi, mr, sweep, s, SEARCH_TRIED, extent.u0, extent.u1);
    SEARCH_SOLVED = SEARCH_SOLVED + R(1.0);
    if (SOLVE_VALUE < SEARCH_BEST) {
        search_improve(mi, s, SOLVE_VALUE, 0);
        SEARCH_BEST_U = SOLVE_U;
        SEARCH_BEST_A = SOLVE_A;
    }
}

/* Keeps the cell of SEARCH_TRIED, whose part in the box is this polygon, for when its turn comes, unless its
 * bound is too large: beams are solved for in as few cells as can be. */
FN_LARGE void search_keep_cell(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                               search_box box, GLOBAL const real *polygon, u32 n)
{
    const search_box extent = polygon_extent(polygon, n, box);
    real bound = CELLS_BASE, a = R(0.0), b = R(0.0);
    for (u32 i = 0; i < SLOTS; i++) {
        VISIT_MODES[i] = BEAM_MODE[i];
        VISIT_MODES[SLOTS + i] = BEAM_FACTOR[i];
    }
    for (u32 row = 0; row < SWEEP_ROWS; row++) {
        if (BEAM_MODE[row] > MODE_NONE) beam_choose(mi, mr, sweep, s, row, extent.u0, extent.u1, 0);
        bound = bound + beam_step(s, row, U32_OF(SEARCH_TRIED[row]));
    }
    for (u32 i = 0; i < SLOTS; i++) {
        BEAM_MODE[i] = VISIT_MODES[i];
        BEAM_FACTOR[i] = VISIT_MODES[SLOTS + i];
    }
    if (bound >= search_limit(s)) return;
    if (search_full(s)) {
        search_solve(mi, mr, sweep, s);
        return;
    }
    for (u32 i = 0; i < n; i++) {
        a = a + polygon[2 * i];
        b = b + polygon[2 * i + 1];
    }
    GLOBAL real *entry = search_place(s, bound);
    put_box(entry, extent.u0, extent.u1, flush(DIVIDE(b, a)), DIVIDE(a, REAL_OF(n)));
    entry[6] = bound;
    entry[7] = ENTRY_CELL;
}

FN void search_leaf(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                    u32 reversed, search_box box, GLOBAL const real *polygon, u32 n)
{
    if (has_beam(mr))
        search_keep_cell(mi, mr, sweep, s, box, polygon, n);
    else
        search_try(mi, s, reversed);
}

/* The cell that holds a point, with all that may be in it. */
FN void search_point(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u,
                     real r)
{
    search_locate(mi, s, u, r);
    if (has_beam(mr)) search_solve(mi, mr, sweep, s);
    if (has_beam(mr) && SEARCH_BEST < UNBOUNDED) return;
    search_try(mi, s, u > R(0.0)); /* or a sliver, which has no best beam */
    SEARCH_BEST_U = u;
    SEARCH_BEST_A = LOADM1(mr, LOSSCONE_A_LOWER);
}

/* ---- what comes next ---- */

/* The halves of a box become pending, or the box itself: for better bounds, or for a visit if few lines cross
 * it. 0: it is too small for either. */
FN u32 search_divide(CONSTANT elem *mr, GLOBAL real *s, GLOBAL const real *entry)
{
    const search_box box = box_at(entry);
    const real lines = entry[4], middle_u = R(0.5) * (box.u0 + box.u1), middle_r = R(0.5) * (box.r0 + box.r1);
    put_box(SEARCH_BOX(0), box.u0, box.u1, box.r0, box.r1);
    SEARCH_PENDING = R(1.0);
    SEARCH_ROUGH = R(0.0);
    SEARCH_ACTION = entry[7] == ENTRY_ROUGH ? SEARCH_BOUND : SEARCH_VISIT;
    if (entry[7] == ENTRY_ROUGH || lines <= (has_beam(mr) ? R(VISIT_LINES_BEAM) : R(VISIT_LINES_HARD)))
        return 1;
    if (box.u1 - box.u0 < BOX_LEAST_U && box.r1 - box.r0 < BOX_LEAST_R) return 0;
    const u32 no_u = middle_u <= box.u0 || middle_u >= box.u1,
              no_r = middle_r <= box.r0 || middle_r >= box.r1;
    if (no_u && no_r) return 0;
    SEARCH_PENDING = R(2.0);
    SEARCH_ACTION = SEARCH_BOUND;
    if (no_u || (!no_r && entry[5] > R(0.0))) {
        put_box(SEARCH_BOX(0), box.u0, box.u1, box.r0, middle_r);
        put_box(SEARCH_BOX(1), box.u0, box.u1, middle_r, box.r1);
    } else {
        put_box(SEARCH_BOX(0), box.u0, middle_u, box.r0, box.r1);
        put_box(SEARCH_BOX(1), middle_u, box.u1, box.r0, box.r1);
    }
    return 1;
}

/* Least bound of what is left. */
FN real search_rest(GLOBAL const real *s)
{
    real least = U32_OF(SEARCH_HEAP) ? SEARCH_KEY[0] : UNBOUNDED;
    for (u32 i = 0; i < U32_OF(SEARCH_STACK); i++)
        least = SEARCH_DEEP(i)[6] < least ? SEARCH_DEEP(i)[6] : least;
    return least;
}

/* By one worker. */
FN_LARGE void search_next(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s)
{
    const u32 slab = U32_OF(SEARCH_SLAB);
    if (slab < U32_OF(SEARCH_SLABS)) {
        const real r0 = LOADM1(mr, LOSSCONE_R_LOWER), r1 = LOADM1(mr, LOSSCONE_R_UPPER),
                   middle = R(0.5) * (r0 + r1);
        SEARCH_SLAB = REAL_OF(slab + 1);
        SEARCH_ACTION = SEARCH_BOUND;
        SEARCH_ROUGH = has_beam(mr) ? R(1.0) : R(0.0);
        SEARCH_PENDING = r0 < r1 ? R(2.0) : R(1.0);
        put_box(SEARCH_BOX(0), SEARCH_EDGE(slab), SEARCH_EDGE(slab + 1), r0, middle);
        put_box(SEARCH_BOX(1), SEARCH_EDGE(slab), SEARCH_EDGE(slab + 1), middle, r1);
        return;
    }
    if (SEARCH_BOXES >= REAL_OF(mi[LOSSCONE_BOX_LIMIT])) {
        if (SEARCH_BEST == UNBOUNDED && SEARCH_HEAP > R(0.0)) { /* some answer */
            GLOBAL const real *entry = SEARCH_POOL(U32_OF(SEARCH_PLACE[0]));
            if (entry[7] == ENTRY_CELL)
                search_point(mi, mr, sweep, s, entry[2], entry[3]);
            else
                search_point(mi, mr, sweep, s, R(0.5) * (entry[0] + entry[1]),
                             R(0.5) * (entry[2] + entry[3]));
        }
        const real gap = SEARCH_BEST - search_rest(s);
        SEARCH_GAP = gap > R(0.0) ? gap : R(0.0);
        SEARCH_ACTION = SEARCH_STOP;
        return;
    }
    u32 found = 0;
    SEARCH_ACTION = SEARCH_STOP;
    while (!found && SEARCH_STACK > R(0.0)) {
        GLOBAL const real *entry = SEARCH_DEEP(U32_OF(SEARCH_STACK) - 1);
        SEARCH_STACK = SEARCH_STACK - R(1.0);
        if (entry[6] < search_limit(s)) found = search_divide(mr, s, entry);
    }
    while (!found && SEARCH_HEAP > R(0.0)) {
        if (SEARCH_KEY[0] >= search_limit(s))
            SEARCH_HEAP = R(0.0);
        else {
            const real place = SEARCH_PLACE[0];
            GLOBAL const real *entry = SEARCH_POOL(U32_OF(place));
            const u32 given_back = U32_OF(SEARCH_FREE);
            SEARCH_GIVEN_BACK[given_back] = place;
            SEARCH_FREE = REAL_OF(given_back + 1);
            heap_pop(s);
            if (entry[7] == ENTRY_CELL)
                search_point(mi, mr, sweep, s, entry[2], entry[3]);
            else
                found = search_divide(mr, s, entry);
        }
    }
    if (!found) {
        SEARCH_ACTION = SEARCH_STOP;
        if (SEARCH_BEST == UNBOUNDED) { /* the domain is a sliver */
            const search_box domain = box_of_options(mr);
            search_point(mi, mr, sweep, s, R(0.5) * (domain.u0 + domain.u1),
                         R(0.5) * (domain.r0 + domain.r1));
        }
    }
}

/* ---- visits ---- */

/* Visits the cells that meet pending box 0, whose families are in SEARCH_FAMILIES(0): one family after the
 * other takes each of its k, the box is clipped accordingly; a branch ends where nothing of the box is left
 * or its sum is too large. By one worker. */
FN_LARGE void search_visit(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s)
{
    const u32 families = losscone_families(mi);
    GLOBAL const real *known = SEARCH_FAMILIES(0);
    const search_box box = box_at(SEARCH_BOX(0));
    const u32 reversed = families > SLOTS && box.u1 > R(0.0);
    const u32 beam = has_beam(mr);
    u32 crossed = 0, n[VISIT_LINES + 2];
    for (u32 f = 0; f < families; f++) {
        SEARCH_TRIED[f] = BOUND_FIRST(known)[f];
        if (BOUND_LINES(known)[f] > R(0.0) && crossed < VISIT_LINES) VISIT_FAMILY[crossed++] = REAL_OF(f);
    }
    real rest = R(0.0);
    for (u32 i = crossed; i > 0; i--) {
        VISIT_REST[i - 1] = rest;
        rest = rest + BOUND_LEAST(known)[U32_OF(VISIT_FAMILY[i - 1])];
    }
    n[0] = polygon_of_box(box, VISIT_POLYGON(0));
    if (crossed == 0) {
        search_leaf(mi, mr, sweep, s, reversed, box, VISIT_POLYGON(0), n[0]);
        return;
    }
    VISIT_SUM[0] = CELLS_BASE + sum8(BOUND_LEAST(known), families) - rest;
    VISIT_K[0] = R(0.0);
    u32 depth = 1; /* families that have a k, the last one perhaps not yet a good one */
    while (depth > 0) {
        const u32 i = depth - 1, f = U32_OF(VISIT_FAMILY[i]), row = f % SLOTS, energy = f / SLOTS;
        if (VISIT_K[i] > BOUND_LINES(known)[f]) {
            depth--;
            if (depth > 0) VISIT_K[depth - 1] = VISIT_K[depth - 1] + R(1.0);
            continue;
        }
        const u32 k = U32_OF(BOUND_FIRST(known)[f] + VISIT_K[i]);
        const real sum = VISIT_SUM[i] + (beam ? beam_step(s, row, k) : CELLS_STEP(energy)[k * SLOTS + row]);
        const real c = CELLS_INVERSE[(reversed ? SUB_ENERGIES - 1 - energy : energy) * SLOTS + row];
        n[i + 1] = sum + VISIT_REST[i] < search_limit(s)
                       ? polygon_between(s, row, k, c, VISIT_POLYGON(i), n[i], VISIT_POLYGON(i + 1),
                                         VISIT_POLYGON(VISIT_LINES + 1))
                       : 0;
        if (n[i + 1]) {
            SEARCH_TRIED[f] = REAL_OF(k);
            if (depth < crossed) {
                VISIT_SUM[depth] = sum;
                VISIT_K[depth] = R(0.0);
                depth++;
                continue;
            }
            search_leaf(mi, mr, sweep, s, reversed, box, VISIT_POLYGON(depth), n[depth]);
        }
        VISIT_K[i] = VISIT_K[i] + R(1.0);
    }
}

/* ---- the search ---- */

/* The least slabs: x changes most with U at small U. 0 is an edge (bound.h). */
TABLE(elem, slab_edges, 7) = {ELEM(-900.0), ELEM(-450.0), ELEM(-220.0), ELEM(-110.0),
                              ELEM(-50.0),  ELEM(-15.0),  ELEM(0.0)};

/* By one worker. */
FN void search_begin(CONSTANT elem *mr, GLOBAL real *s, real best)
{
    const real lower = LOADM1(mr, LOSSCONE_U_LOWER), upper = LOADM1(mr, LOSSCONE_U_UPPER);
    for (u32 i = 0; i < 16; i++) SEARCH(i) = R(0.0);
    for (u32 f = 0; f < FAMILIES_MOST; f++) SEARCH_CHOSEN[f] = R(0.0);
    SEARCH_BEST = best;
    SEARCH_NEAR = has_beam(mr) ? SEARCH_CLOSE_BEAM : SEARCH_CLOSE;
    u32 n = 0;
    SEARCH_EDGE(0) = lower;
    for (u32 i = 0; i < 7; i++) {
        const real edge = REAL_OF(slab_edges[i]);
        if (edge > lower && edge < upper) SEARCH_EDGE(++n) = edge;
    }
    SEARCH_EDGE(++n) = upper;
    SEARCH_SLABS = REAL_OF(n);
}

/* Finds the least misfit of the sweep in the slab, if it is below `best`: SEARCH_BEST. Behind beam_forget. By
 * the whole team. */
FN void search_run(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real best)
{
    ONE_WORKER
    {
        search_begin(mr, s, best);
        search_next(mi, mr, sweep, s);
    }
    TEAM_BARRIER();
    while (SEARCH_ACTION > SEARCH_STOP) {
        const u32 pending = U32_OF(SEARCH_PENDING), visit = SEARCH_ACTION == SEARCH_VISIT,
                  rough = SEARCH_ROUGH > R(0.0);
        for (u32 w = 0; w < pending; w++) bound_families(mi, s, box_at(SEARCH_BOX(w)), SEARCH_FAMILIES(w));
        TEAM_BARRIER();
        TEAM_IF(has_beam(mr)) {
            for (u32 w = 0; w < pending; w++)
                beam_relax(mi, mr, sweep, s, box_at(SEARCH_BOX(w)), rough, SEARCH_FAMILIES(w));
            TEAM_BARRIER();
        }
        ONE_WORKER
        {
            if (visit)
                search_visit(mi, mr, sweep, s);
            else
                for (u32 w = 0; w < pending; w++) search_keep(mi, s, w);
            search_next(mi, mr, sweep, s);
        }
        TEAM_BARRIER();
    }
}

#endif
