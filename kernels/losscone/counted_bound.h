/* counted_bound.h: a lower bound of the deviance in a box of U and r.
 *
 * The share of a channel in the cone grows with U and with r, so levels lie between those at two corners, and
 * a cell's deviance is at least its least between them. That ignores that cells share U and r. Where the
 * channel's edge moves little, Taylor's formula in v = ln |U| and r does not: with zeta = ln e = v + h(r) a
 * cell's deviance is f(zeta), and
 *
 *   f >= f_c + f'_c (dv + h' dr) - K (|dv| + |h'| |dr|)^2 / 2 - max(0, -f'_c h'') dr^2 / 2
 *
 * where K bounds -f''. The slopes of all cells are added before their sizes are taken.
 *
 * Is the deviance convex in all of a box? Then it lies above its tangent planes, and only the box with the
 * minimum remains. f'' >= a for each cell, and the sum of a (1, h') (1, h')^T must be positive. */
#pragma once

#include "losscone/counted_cells.h"

#define UNBOUNDED_DEVIANCE R(1e30)
#define COUNTED_SMALL 1.0 /* a channel's edge moves by less, in z: Taylor's formula */

/* Sums of a box. */
enum counted_sum { /* as many as COUNTED_NUMBERS */
    SUM_VALUE,   /* each cell's better bound, without slopes */
    SUM_BY_V,    /* slopes of cells with Taylor's formula */
    SUM_BY_R,
    SUM_CENTRE,  /* deviance at the centre, if all cells have small edges */
    SUM_ALL_BY_V,
    SUM_ALL_BY_R,
    SUM_CURVE,   /* of a, a h', a h'^2 */
    SUM_ACROSS_LEAST,
    SUM_ACROSS_MOST,
    SUM_SQUARE,
    SUM_LARGE,   /* cells whose edge moves more */
    COUNTED_SUMS
};

typedef struct {
    real u0, u1, r0, r1;
    real u, r, half_v, half_r; /* the centre in v and r, half the sides */
    u32 curved;                /* U keeps its sign and size: Taylor's formula holds */
} counted_box;

FN counted_box counted_box_of(real u0, real u1, real r0, real r1)
{
    counted_box box;
    box.u0 = u0;
    box.u1 = u1;
    box.r0 = r0;
    box.r1 = r1;
    box.r = R(0.5) * (r0 + r1);
    box.half_r = R(0.5) * (r1 - r0);
    box.curved = (u1 < R(0.0) && u0 > R(8.0) * u1) || (u0 > R(0.0) && u1 < R(8.0) * u0);
    box.u = R(0.5) * (u0 + u1);
    box.half_v = R(0.0);
    if (box.curved) {
        const real middle = SQRT(u0 * u1);
        box.u = u0 < u1 ? (u0 < R(0.0) ? -middle : middle) : u0;
        box.half_v = R(0.5) * FIRST(m_log(PACK_OF(u1 < R(0.0) ? DIVIDE(u0, u1) : DIVIDE(u1, u0))));
    }
    return box;
}

FN pack larger(pack a, pack b)
{
    return PSELECT(a > b, a, b);
}
FN pack smaller(pack a, pack b)
{
    return PSELECT(a < b, a, b);
}
FN pack positive(pack a)
{
    return larger(a, PK(0.0));
}

/* Cells at the corners of a box. low: at U1, r1, where most of the channel is in the cone. */
typedef struct {
    pack room_high, room_low, crossing_high, crossing_low, z_high, z_low;
    pack count, scale, base, mean_high, mean_low, least;
} counted_corners;

FN counted_corners counted_corners_of(counted_row row, GLOBAL const real *s, u32 at, counted_box box)
{
    const pack sine = LOADP(s + COUNTED_SINE, at);
    counted_corners c;
    c.room_high = counted_room(box.u0, box.r0, sine);
    c.room_low = counted_room(box.u1, box.r1, sine);
    c.crossing_high = counted_crossing(row, box.u0, box.r0, c.room_high);
    c.crossing_low = counted_crossing(row, box.u1, box.r1, c.room_low);
    c.z_high = counted_place(row, c.room_high, c.crossing_high);
    c.z_low = counted_place(row, c.room_low, c.crossing_low);
    c.count = LOADP(s + COUNTED_COUNTS, at);
    c.scale = LOADP(s + COUNTED_SCALES, at);
    c.base = LOADP(s + COUNTED_BASES, at);
    c.mean_high = counted_mean(counted_level(row, box.u0, c.z_high), c.scale, c.base);
    c.mean_low = counted_mean(counted_level(row, box.u1, c.z_low), c.scale, c.base);
    const pack nearest = smaller(larger(c.count, c.mean_low), c.mean_high);
    c.least = counted_cost(row.k, c.count, nearest);
    return c;
}

/* f and its derivatives in a box. */
typedef struct {
    pack value, slope, bend;        /* f_c, f'_c; -K */
    pack curve;                     /* a */
    pack h, h_least, h_most, h_two; /* h' at the centre and between; the most of |h''| */
    pack loss;                      /* the least of (f'_c or any f') h'', negative or 0 */
} counted_taylor;

/* Between the corners: -K and a of f'' = C'' l'^2 + C' l''. */
FN void counted_curves(counted_row row, counted_box box, counted_corners c, PRIVATE counted_taylor *t)
{
    const real depth = R(1.0) - row.inside;
    const pack k = PACK_OF(row.k), narrow = PACK_OF(row.narrow), one = PK(1.0), zero = PK(0.0);
    const pack z0 = smaller(c.z_low, c.z_high), z1 = larger(c.z_low, c.z_high);
    const pack nearest = PSELECT(z0 > zero, z0, PSELECT(z1 < zero, -z1, zero));
    const pack most = counted_normal(nearest), least = smaller(counted_normal(z0), counted_normal(z1));
    const pack part0 = one - PDIVIDE(PACK_OF(row.spacecraft), c.crossing_low),
               part1 = one - PDIVIDE(PACK_OF(row.spacecraft), c.crossing_high);
    const pack part = larger(part0, part1), part_least = positive(smaller(part0, part1));
    const pack rest = larger(PK(0.25), part * (part - one));
    const pack level = PACK_OF(depth) * narrow * most * part,
               level_least = PACK_OF(depth) * narrow * least * part_least;
    const pack steep = pflush(part * narrow), up = PACK_OF(depth) * narrow * most *
                                                   PFMA(positive(-z0), pflush(part * steep), rest),
               down = PACK_OF(depth) * narrow * most * PFMA(positive(z1), pflush(part * steep), rest);
    const pack rise = box.u < R(0.0) ? up : down, fall = box.u < R(0.0) ? down : up; /* of l'' */
    const pack slope0 = counted_slope(row.k, c.count, c.mean_low), slope1 = counted_slope(row.k, c.count, c.mean_high);
    const pack wide = c.mean_high + k, bent = PDIVIDE(PDIVIDE(c.count, c.mean_high), c.mean_high) -
                                              PDIVIDE(PDIVIDE(c.count + k, wide), wide);
    const pmask convex = bent > zero;
    const pack under = c.mean_low + k;
    const pack hollow = PSELECT(convex, zero, PK(2.0) * PDIVIDE(PDIVIDE(c.count + k, under), under));
    /* not convex: the slope may be larger between */
    const pack bound1 = PSELECT(convex, slope1,
                                larger(slope1, PDIVIDE(PK(2.0) * k * (c.mean_high - c.count),
                                                       c.mean_low * under)));
    const pack bound0 = PSELECT(convex, slope0, smaller(slope0, slope1));
    const pack square = pflush(c.scale * level), square_least = pflush(c.scale * level_least);
    const pack twist = c.scale * larger(positive(-bound0) * rise, positive(bound1) * fall);
    t->bend = -PFMA(pflush(hollow * square), square, twist);
    t->curve = PSELECT(convex, pflush(PK(2.0) * bent * square_least) * square_least,
                       -pflush(hollow * square) * square) -
               twist;
    /* any f' h'' */
    const pack lowest = box.u < R(0.0) ? positive(-bound0) : larger(positive(-bound0), positive(bound1));
    t->loss = -pflush(lowest * square) * t->h_two;
}

FN counted_taylor counted_taylor_of(counted_row row, counted_box box, counted_corners c, pack sine)
{
    counted_taylor t;
    const pack one = PK(1.0), room = counted_room(box.u, box.r, sine), crossing = counted_crossing(row, box.u, box.r, room),
               z = counted_place(row, room, crossing),
               mean = counted_mean(counted_level(row, box.u, z), c.scale, c.base);
    const real sign = box.u < R(0.0) ? R(-1.0) : R(1.0);
    const pack toward = PACK_OF(sign), near = smaller(c.room_high, c.room_low), far = larger(c.room_high, c.room_low);
    const pack safe = PSELECT(near > PK(COUNTED_ROOM), near, one),
               a = PDIVIDE(toward, safe), b = PDIVIDE(toward, PSELECT(far > PK(COUNTED_ROOM), far, one)),
               r0 = PDIVIDE(one, PACK_OF(box.r0)), r1 = PDIVIDE(one, PACK_OF(box.r1));
    t.h = PDIVIDE(one, PACK_OF(box.r)) + PDIVIDE(toward, PSELECT(room > PK(COUNTED_ROOM), room, one));
    t.h_least = r1 + smaller(a, b);
    t.h_most = r0 + larger(a, b);
    t.h_two = PFMA(a, a, box.u < R(0.0) ? PK(0.0) : r0 * r0);
    t.value = counted_cost(row.k, c.count, mean);
    const pack level = PACK_OF(-sign * (R(1.0) - row.inside) * row.narrow) * counted_normal(z) *
                       (one - PDIVIDE(PACK_OF(row.spacecraft), crossing));
    t.slope = pflush(counted_slope(row.k, c.count, mean) * pflush(c.scale * level));
    counted_curves(row, box, c, &t);
    return t;
}

/* Sums of a row, to[sum * SWEEP_SLOTS]. */
FN void counted_bound_row(COUNTED_PARAMETERS, counted_box box, u32 i, GLOBAL real *to)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const counted_between between = counted_undecided(s, i, box.u0, box.u1, box.r0, box.r1);
    const pack zero = PK(0.0), half_v = PACK_OF(box.half_v), half_r = PACK_OF(box.half_r);
    acc8 sums[COUNTED_SUMS];
    for (u32 n = 0; n < COUNTED_SUMS; n++) sums[n] = acc8_zero();
    for (u32 j = between.first & ~7u; j < between.last; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const u32 at = i * SWEEP_CELLS + j + l, part = l / PACK;
            const pack sine = LOADP(s + COUNTED_SINE, at);
            const pmask here = AND(sine >= PACK_OF(between.in), sine < PACK_OF(between.out));
            if (!PANY(here)) continue;
            const counted_corners c = counted_corners_of(row, s, at, box);
            const pack moves = c.z_high - c.z_low, change = PSELECT(moves < zero, -moves, moves);
            const pmask tame = AND(AND(here, change < PK(COUNTED_SMALL)),
                                   AND(c.room_high > PK(COUNTED_ROOM), c.room_low > PK(COUNTED_ROOM)));
            pack value = c.least;
            if (box.curved && PANY(tame)) {
                const counted_taylor t = counted_taylor_of(row, box, c, sine);
                const pack size = larger(t.h_most, -t.h_least), moved = PFMA(size, half_r, half_v),
                           lost = PFMA(PK(-0.5) * t.bend * moved, moved,
                                       PK(0.5) * positive(-t.slope * (box.u < R(0.0) ? t.h_two : -t.h_two)) *
                                           half_r * half_r);
                const pack down = box.u < R(0.0) ? lost : PFMA(PK(0.5) * larger(t.slope, -t.slope) * t.h_two, half_r * half_r, PK(-0.5) * t.bend * moved * moved);
                const pmask better = AND(tame, t.value - down > c.least);
                value = PSELECT(better, t.value - down, c.least);
                const pack cross0 = t.curve * t.h_least, cross1 = t.curve * t.h_most;
                const pack squares0 = t.h_least * t.h_least, squares1 = t.h_most * t.h_most,
                           inner = PSELECT(AND(t.h_least < zero, t.h_most > zero), zero, smaller(squares0, squares1));
                const pack terms[COUNTED_SUMS] = {
                    zero, PSELECT(better, t.slope, zero), PSELECT(better, t.slope * t.h, zero),
                    t.value, t.slope, t.slope * t.h, t.curve, smaller(cross0, cross1), larger(cross0, cross1),
                    PFMA(t.curve, PSELECT(t.curve > zero, inner, larger(squares0, squares1)), t.loss), zero};
                for (u32 n = SUM_BY_V; n < SUM_LARGE; n++)
                    sums[n].part[part] = sums[n].part[part] + PSELECT(tame, terms[n], zero);
            }
            sums[SUM_VALUE].part[part] = sums[SUM_VALUE].part[part] + PSELECT(here, value, zero);
            sums[SUM_LARGE].part[part] = sums[SUM_LARGE].part[part] +
                                         PSELECT(AND(here, PNOT(tame)), PK(1.0), zero);
        }
    const real decided = counted_decided(s, i, between);
    for (u32 n = 0; n < COUNTED_SUMS; n++)
        to[n * SWEEP_SLOTS + i] =
            acc8_total(sums[n]) + (n == SUM_VALUE || n == SUM_CENTRE ? decided : R(0.0));
}

FN real size_of(real x)
{
    return x < R(0.0) ? -x : x;
}

/* The bound from a box's sums. In a convex box with the point (u, r), where slopes vanish, no other point is
 * lower: UNBOUNDED_DEVIANCE. */
FN real counted_bound(u32 rows, GLOBAL const real *sums, counted_box box, real u, real r)
{
    real total[COUNTED_SUMS];
    for (u32 n = 0; n < COUNTED_SUMS; n++) {
        total[n] = R(0.0);
        for (u32 i = 0; i < rows; i++) total[n] = total[n] + sums[n * SWEEP_SLOTS + i];
    }
    const real bound = total[SUM_VALUE] - size_of(total[SUM_BY_V]) * box.half_v -
                       size_of(total[SUM_BY_R]) * box.half_r;
    if (!box.curved || total[SUM_LARGE] > R(0.0)) return bound;
    const real across = size_of(total[SUM_ACROSS_LEAST]) > size_of(total[SUM_ACROSS_MOST])
                            ? total[SUM_ACROSS_LEAST]
                            : total[SUM_ACROSS_MOST];
    const u32 flat = box.u0 == box.u1; /* only r is free */
    const u32 convex = total[SUM_SQUARE] > R(0.0) &&
                       (flat || (total[SUM_CURVE] > R(0.0) &&
                                 flush(total[SUM_CURVE] * total[SUM_SQUARE]) > across * across));
    if (!convex) return bound;
    if (u >= box.u0 && u <= box.u1 && r >= box.r0 && r <= box.r1) return UNBOUNDED_DEVIANCE;
    const real tangent = total[SUM_CENTRE] - size_of(total[SUM_ALL_BY_V]) * box.half_v -
                         size_of(total[SUM_ALL_BY_R]) * box.half_r;
    return tangent > bound ? tangent : bound;
}
