/* counted_search.h: the least deviance over U and r, proven by branch and bound.
 *
 *   slices of U ─► bound ─► cut off what is above the lowest ─► least bound first ─► halve the box
 *                                                                               └─► now and then descend
 *                                                                                   from its centre
 *
 * A box goes if its bound reaches the lowest deviance, or if the deviance is convex in it and the lowest
 * point is inside. Slivers below BOX_SLIVER are lost. */
#pragma once

#include "losscone/counted_form.h"
#include "losscone/counted_steps.h"

#define COUNTED_CLOSE LIMIT(1e-7, 2e-5) /* of 1 + deviance */
#define BOX_SLIVER LIMIT(1e-9, 1e-5)    /* of r; of U, in parts of |U| + 1 V */
#define SEARCH_EVERY 16u                /* boxes: an early low point spares many */
#define SMALL_V R(0.04)
#define SMALL_R R(0.012)
#define COUNTED_TRIES 60u
#define COUNTED_ENOUGH LIMIT(1e-10, 1e-7) /* a descent's gain, of 1 + deviance */
#define COUNTED_SPACE R(2.0)              /* change of ln U that counts as much as that of ln r */

#define COUNTED_BOX(i) (s + COUNTED_BOXES + COUNTED_ENTRY * (size_t)(i))

/* Slices of U, cut at 0. */
TABLE(elem, counted_edges, COUNTED_SLICES) = {ELEM(-900.0), ELEM(-450.0), ELEM(-220.0),
                                              ELEM(-110.0), ELEM(-50.0),  ELEM(-15.0),
                                              ELEM(-4.0),   ELEM(0.0),    ELEM(4.0)};

/* Sums of a point's row: deviance, slopes by v and r, Fisher's matrix. */
enum counted_point_sum { POINT_VALUE, POINT_BY_V, POINT_BY_R, POINT_VV, POINT_VR, POINT_RR, POINT_SUMS };

FN void counted_point_row(LOSSCONE_PARAMETERS, u32 i, real u, real r)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const counted_between between = counted_undecided(s, i, u, u, r, r);
    const pack zero = PK(0.0), one = PK(1.0);
    const real sign = u < R(0.0) ? R(-1.0) : R(1.0);
    acc8 sums[POINT_SUMS];
    for (u32 n = 0; n < POINT_SUMS; n++) sums[n] = acc8_zero();
    for (u32 j = between.from; j < between.last; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const u32 at = i * SWEEP_CELLS + j + l, part = l / PACK;
            const counted_cells c = counted_cells_at(s, at);
            const pmask here = AND(c.sine >= PACK_OF(between.in), c.sine < PACK_OF(between.out));
            if (!PANY(here)) continue;
            const pack ratio = PACK_OF(r), room = counted_room(u, ratio, c.sine),
                       crossing = counted_crossing(row, PACK_OF(size_of(u)), ratio, room);
            const counted_normal normal = counted_normal_of(counted_place(row, room, crossing));
            const pack mean = counted_mean_of(c, counted_level(row, u, normal.below));
            const pack h = PDIVIDE(one, PACK_OF(r)) +
                           PDIVIDE(PACK_OF(sign), PSELECT(room > PK(COUNTED_ROOM), room, one));
            const pack turn =
                PSELECT(room > PK(COUNTED_ROOM),
                        pflush(c.scale * PACK_OF(-sign * (R(1.0) - row.inside) * row.narrow) *
                               normal.density * (one - PDIVIDE(PACK_OF(row.spacecraft), crossing))),
                        zero);
            const pack slope = pflush(counted_slope(row.k, c, mean) * turn),
                       weight = pflush(
                           PDIVIDE(PACK_OF(R(2.0) * row.k) * turn, mean * (mean + PACK_OF(row.k))) * turn);
            const pack terms[POINT_SUMS] = {
                counted_cost(row.k, c, mean), slope, slope * h, weight, weight * h, pflush(weight * h) * h};
            for (u32 n = 0; n < POINT_SUMS; n++)
                sums[n].part[part] = sums[n].part[part] + PSELECT(here, terms[n], zero);
        }
    counted_put_sums(sums, POINT_SUMS, i, s + COUNTED_POINT);
    (s + COUNTED_POINT)[8 * i] =
        (s + COUNTED_POINT)[8 * i] + counted_decided(s, i, between); /* POINT_VALUE */
}

typedef struct {
    real u, r, value, by_v, by_r, vv, vr, rr;
} counted_point;

/* The whole team calls it, up to a barrier. */
FN_LARGE counted_point counted_at(LOSSCONE_PARAMETERS, real u, real r)
{
    const u32 rows = sweep_rows(mi);
    TEAM_BARRIER();
    TEAM_FOR(i, rows) counted_point_row(LOSSCONE, i, u, r);
    TEAM_BARRIER();
    counted_point p;
    p.u = u;
    p.r = r;
    p.value = counted_total(rows, s + COUNTED_POINT, POINT_VALUE);
    p.by_v = counted_total(rows, s + COUNTED_POINT, POINT_BY_V);
    p.by_r = counted_total(rows, s + COUNTED_POINT, POINT_BY_R);
    p.vv = counted_total(rows, s + COUNTED_POINT, POINT_VV);
    p.vr = counted_total(rows, s + COUNTED_POINT, POINT_VR);
    p.rr = counted_total(rows, s + COUNTED_POINT, POINT_RR);
    return p;
}

typedef struct {
    real u, r;
} counted_target;

/* Where a step of Levenberg and Marquardt leads, within bounds; u0 == u1: only in r. */
FN counted_target counted_step(CONSTANT elem *mr, counted_point at, real damping, real u0, real u1)
{
    const real r0 = LOADM1(mr, LOSSCONE_R_LOWER), r1 = LOADM1(mr, LOSSCONE_R_UPPER);
    const u32 outward = (at.by_v < R(0.0)) == (at.u < R(0.0)),
              free_u = u0 < u1 && at.vv > R(0.0) && (outward ? at.u > u0 : at.u < u1),
              free_r = at.rr > R(0.0) && (at.by_r < R(0.0) ? at.r < r1 : at.r > r0);
    const real vv = at.vv * (R(1.0) + damping), rr = at.rr * (R(1.0) + damping),
               det = FMA(vv, rr, -at.vr * at.vr);
    real by_v = R(0.0), by_r = R(0.0);
    if (free_u && free_r && det > R(0.0)) {
        by_v = flush(DIVIDE(FMA(at.vr, at.by_r, -rr * at.by_v), det));
        by_r = flush(DIVIDE(FMA(at.vr, at.by_v, -vv * at.by_r), det));
    } else {
        if (free_u) by_v = flush(DIVIDE(-at.by_v, vv));
        if (free_r) by_r = flush(DIVIDE(-at.by_r, rr));
    }
    by_v = limited_by(by_v, R(1.0));
    counted_target to;
    to.u = free_u ? limited(at.u * FIRST(m_exp(PACK_OF(by_v))), u0, u1) : at.u;
    to.r = limited(at.r + by_r, r0, r1);
    return to;
}

/* Descends by Fisher's matrix (Marquardt, J. SIAM 11 (1963) 431) within u0 .. u1, which have one sign, until
 * a step gains no more than `enough`. The whole team calls it. */
FN_LARGE counted_point counted_descend(LOSSCONE_PARAMETERS, counted_point at, real u0, real u1, real enough)
{
    real damping = R(1e-3);
    u32 going = 1;
    for (u32 step = 0; step < COUNTED_TRIES && going; step++) {
        const counted_target to = counted_step(mr, at, damping, u0, u1);
        going = to.u != at.u || to.r != at.r;
        TEAM_IF(going) {
            const counted_point next = counted_at(LOSSCONE, to.u, to.r);
            if (next.value < at.value) {
                going = at.value - next.value > enough;
                at = next;
                damping = damping > R(1e-6) ? R(0.1) * damping : damping;
            } else {
                damping = R(10.0) * damping;
                going = damping < R(1e6);
            }
        }
    }
    return at;
}

/* ---- the list of boxes; by one worker ---- */

FN counted_box counted_box_at(GLOBAL const real *entry)
{
    return counted_box_of(entry[0], entry[1], entry[2], entry[3]);
}

/* whole: to be bounded again before it is halved. */
FN void counted_put(GLOBAL real *s, u32 i, counted_box box, real bound, u32 whole)
{
    GLOBAL real *entry = COUNTED_BOX(i);
    entry[0] = box.u0;
    entry[1] = box.u1;
    entry[2] = box.r0;
    entry[3] = box.r1;
    entry[4] = bound;
    entry[5] = REAL_OF(whole);
}

/* Moves the box of the least bound to COUNTED_TURN; the last takes its place. */
FN void counted_take(GLOBAL real *s, u32 count)
{
    GLOBAL real *turn = s + COUNTED_TURN;
    u32 least = 0;
    for (u32 i = 1; i < count; i++) least = COUNTED_BOX(i)[4] < COUNTED_BOX(least)[4] ? i : least;
    for (u32 n = 0; n < COUNTED_ENTRY; n++) {
        turn[n] = COUNTED_BOX(least)[n];
        COUNTED_BOX(least)[n] = COUNTED_BOX(count - 1)[n];
    }
    s[COUNTED_WAITING] = REAL_OF(count - 1);
}

/* Puts its halves in U or in r, or all of it, at the end of the list. */
FN void counted_halve(GLOBAL real *s, counted_box box, u32 whole)
{
    const real wide = box.curved ? R(2.0) * box.half_v
                                 : flush(DIVIDE(box.u1 - box.u0, R(10.0) + size_of(box.u0 + box.u1))),
               tall = flush(DIVIDE(COUNTED_SPACE * (box.r1 - box.r0), box.r));
    const u32 in_r = tall > wide || box.u1 - box.u0 < BOX_SLIVER * (R(1.0) + size_of(box.u));
    const u32 n = U32_OF(s[COUNTED_WAITING]);
    counted_box one = box, two = box;
    if (in_r && !whole) one.r1 = two.r0 = box.r;
    if (!in_r && !whole) one.u1 = two.u0 = box.u;
    counted_put(s, n, one, R(0.0), 0);
    if (!whole) counted_put(s, n + 1, two, R(0.0), 0);
    s[COUNTED_FOUND] = REAL_OF(whole ? n + 1 : n + 2);
}

FN u32 counted_is_small(counted_box box)
{
    return box.curved && box.half_v < SMALL_V && box.half_r < SMALL_R;
}

/* Bounds boxes `first` .. `last` - 1; those that stay move up. The whole team calls it. */
FN void counted_judge(LOSSCONE_PARAMETERS, u32 first, u32 last, real least, real limit, real u, real r)
{
    const u32 rows = sweep_rows(mi);
    for (u32 k = first; k < last; k++) {
        const counted_box box = counted_box_at(COUNTED_BOX(k));
        const real rough = steps_bound(LOSSCONE, box.u0, box.u1, box.r0, box.r1);
        /* Steps bound larger boxes nearly as well, unless they say no more than of the box before. */
        const u32 fine = rough < limit && box.curved && (counted_is_small(box) || rough <= least);
        TEAM_IF(fine) {
            TEAM_FOR(i, rows) counted_bound_row(LOSSCONE, box, i, s + COUNTED_TOTALS);
            TEAM_BARRIER();
        }
        ONE_WORKER
        {
            counted_box left = box;
            real bound = rough > least ? rough : least;
            if (fine) {
                const counted_form form = counted_form_of(rows, s + COUNTED_TOTALS, box, u, r);
                const real own = counted_form_least(form, box);
                bound = own > bound ? own : bound;
                left = counted_shrunk(form, box, limit);
            }
            const u32 n = U32_OF(s[COUNTED_WAITING]);
            if (bound < limit) {
                counted_put(s, n, left, bound, counted_is_less(left, box));
                s[COUNTED_WAITING] = REAL_OF(n + 1);
            }
            s[COUNTED_BOUNDED] = s[COUNTED_BOUNDED] + R(1.0);
        }
        TEAM_BARRIER();
    }
}

FN void counted_begin(LOSSCONE_PARAMETERS, real u0, real u1)
{
    const real r0 = LOADM1(mr, LOSSCONE_R_LOWER), r1 = LOADM1(mr, LOSSCONE_R_UPPER),
               middle = R(0.5) * (r0 + r1);
    real low = u0;
    u32 n = 0;
    for (u32 k = 0; k <= COUNTED_SLICES; k++) {
        const real edge = k < COUNTED_SLICES ? REAL_OF(counted_edges[k]) : u1, high = edge < u1 ? edge : u1;
        if (!(high > low) && !(k == COUNTED_SLICES && n == 0)) continue;
        counted_put(s, n++, counted_box_of(low, high, r0, middle), R(0.0), 0);
        counted_put(s, n++, counted_box_of(low, high, middle, r1), R(0.0), 0);
        low = high;
    }
    s[COUNTED_WAITING] = R(0.0);
    s[COUNTED_BOUNDED] = R(0.0);
    s[COUNTED_FOUND] = REAL_OF(n);
}

/* The box's side of U = 0, for descents. */
FN real counted_least_u(real u0, real u)
{
    return u > R(0.0) && u0 < R(0.0) ? R(1e-6) : u0;
}
FN real counted_most_u(real u1, real u)
{
    return u < R(0.0) && u1 > R(0.0) ? R(-1e-6) : u1;
}

FN u32 counted_is_sliver(counted_box box)
{
    return box.r1 - box.r0 < BOX_SLIVER && box.u1 - box.u0 < BOX_SLIVER * (R(1.0) + size_of(box.u));
}

/* Looks for a lower point from the box's centre. The whole team calls it. */
FN_LARGE counted_point counted_look(LOSSCONE_PARAMETERS, counted_box box, counted_point best, real lowest,
                                    real u0, real u1)
{
    const counted_point centre = counted_at(LOSSCONE, box.u, box.r);
    TEAM_IF(centre.value < lowest) {
        const counted_point found =
            counted_descend(LOSSCONE, centre, counted_least_u(u0, centre.u), counted_most_u(u1, centre.u),
                            COUNTED_ENOUGH * (R(1.0) + centre.value));
        best = found.value < best.value ? found : best;
    }
    return best;
}

/* Bounds below which boxes are of interest. */
FN real counted_interest(counted_point best, real limit)
{
    const real lowest = best.value < limit ? best.value : limit;
    return lowest - COUNTED_CLOSE * (R(1.0) + lowest);
}

/* The lowest point in u0 .. u1, if it is below `limit`: value UNBOUNDED says that there is none.
 * COUNTED_PROVEN: no point has less. The whole team calls it, up to a barrier. */
FN_LARGE counted_point counted_search(LOSSCONE_PARAMETERS, real u0, real u1, real limit)
{
    counted_point best;
    real proven = UNBOUNDED;
    best.value = UNBOUNDED;
    best.u = best.r = R(-1e30);
    best.by_v = best.by_r = best.vv = best.vr = best.rr = R(0.0);
    TEAM_BARRIER();
    ONE_WORKER counted_begin(LOSSCONE, u0, u1);
    TEAM_BARRIER();
    counted_judge(LOSSCONE, 0, U32_OF(s[COUNTED_FOUND]), R(0.0), limit, best.u, best.r);
    u32 waiting = U32_OF(s[COUNTED_WAITING]);
    for (u32 turn = 0; waiting > 0; turn++) {
        TEAM_BARRIER();
        ONE_WORKER counted_take(s, waiting);
        TEAM_BARRIER();
        const counted_box box = counted_box_at(s + COUNTED_TURN);
        const real least = (s + COUNTED_TURN)[4];
        const u32 whole = (s + COUNTED_TURN)[5] > R(0.0);
        const u32 full = waiting + 1 >= COUNTED_BOXES_MOST ||
                         s[COUNTED_BOUNDED] >= REAL_OF(mi[LOSSCONE_BOX_LIMIT]),
                  ends = (full && turn > 0) || least >= counted_interest(best, limit),
                  sliver = counted_is_sliver(box), first = best.value == UNBOUNDED && counted_is_small(box);
        waiting = ends ? 0 : waiting - 1;
        proven = ends ? least : proven;
        TEAM_IF(!ends && (turn % SEARCH_EVERY == 0 || first || sliver)) {
            best = counted_look(LOSSCONE, box, best, best.value < limit ? best.value : limit, u0, u1);
        }
        TEAM_IF(!ends && !sliver) {
            ONE_WORKER counted_halve(s, box, whole);
            TEAM_BARRIER();
            counted_judge(LOSSCONE, waiting, U32_OF(s[COUNTED_FOUND]), least, counted_interest(best, limit),
                          best.u, best.r);
            waiting = U32_OF(s[COUNTED_WAITING]);
        }
    }
    TEAM_BARRIER();
    ONE_WORKER s[COUNTED_PROVEN] = proven < best.value ? proven : best.value;
    TEAM_BARRIER();
    return best;
}
