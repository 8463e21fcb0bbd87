/* counted_bound.h: what cells say of the deviance in a box of U and r, from below.
 *
 * The share of a channel in the cone grows with U and with r, so levels lie between those at two corners, and
 * a cell's deviance is at least its least between them. That ignores that cells share U and r. Where the
 * channel's edge moves little, Taylor's formula in v = ln |U| and r does not: with zeta = ln e = v + h(r) a
 * cell's deviance is f(zeta), and with f'' >= a in the box and h' between its bounds there
 *
 *   f >= f_c + f'_c (dv + h'_c dr) - max(0, -f'_c h'') dr^2 / 2 + a (dv + h' dr)^2 / 2
 *
 * The sum over all cells is a quadratic form (counted_form.h). */
#pragma once

#include "losscone/counted_cells.h"

#define COUNTED_SMALL 0.8 /* a channel's edge moves by less from the centre, in z: Taylor's formula */
#define LITTLE_LOST 0.2   /* of a cell's deviance: nobody asks for its least between corners */

/* Sums of a box. */
enum counted_sum {             /* as many as COUNTED_NUMBERS */
                   SUM_CENTRE, /* deviance at the centre */
                   SUM_BY_V,
                   SUM_BY_R,
                   SUM_CURVE, /* of a, a h', a h'^2 + f' h'' */
                   SUM_ACROSS_LEAST,
                   SUM_ACROSS_MOST,
                   SUM_SQUARE,
                   SUM_CONVEX,  /* as SUM_SQUARE, for second derivatives in all of the box */
                   SUM_WITHOUT, /* cells without Taylor's formula */
                   COUNTED_SUMS
};

typedef struct {
    real u0, u1, r0, r1;
    real u, r, half_v, half_r; /* the centre in v and r, half the sides */
    real per_r, per_r0, per_r1;
    u32 curved; /* U keeps its sign and size: Taylor's formula holds */
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
    box.per_r = DIVIDE(R(1.0), box.r);
    box.per_r0 = DIVIDE(R(1.0), r0);
    box.per_r1 = DIVIDE(R(1.0), r1);
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
FN pack size_of_pack(pack a)
{
    return larger(a, -a);
}

/* A cell in a box by Taylor's formula. */
typedef struct {
    pmask tame;                  /* the edge moves little */
    pmask above;                 /* more is expected than counted; no centre: that is possible */
    pack value, slope, h;        /* f_c, f'_c, h' */
    pack lost;                   /* what curvature takes at most */
    pack curve, h_least, h_most; /* a, and bounds of h' */
    pack turning, turned;        /* least of f'_c h'' and of f' h'' */
} counted_taylor;

/* The channel's edge in a box: z and what bounds it. */
typedef struct {
    pack z, below, spread; /* at the centre, and half the range */
    pack normal, normal_most, normal_least;
    pack part, part_most, part_least; /* dz / d zeta in widths */
    pack rest;                        /* most of |d^2 z / d zeta^2| */
} counted_edge;

FN counted_edge counted_edge_of(counted_row row, pack e, pack moved)
{
    const pack one = PK(1.0), spacecraft = PACK_OF(row.spacecraft), shrunk = one - smaller(moved, PK(0.75)),
               sum = e + spacecraft,
               crossing = PSELECT(sum > PK(LOSSCONE_LEAST_ENERGY), sum, PK(LOSSCONE_LEAST_ENERGY)),
               nearest = e * shrunk + spacecraft,
               under = PSELECT(nearest > PK(LOSSCONE_LEAST_ENERGY), nearest, PK(LOSSCONE_LEAST_ENERGY)),
               per_both = pflush(PDIVIDE(e, crossing * under)), low = pflush(shrunk * crossing) * per_both;
    counted_edge edge;
    edge.part = pflush(under * per_both);
    edge.part_most = row.spacecraft > R(0.0) ? one : low;
    edge.part_least = row.spacecraft > R(0.0) ? low : one;
    edge.rest = row.spacecraft > R(0.0) ? smaller(PK(0.25), one - low) : low * (low - one);
    edge.z = counted_limited((m_log(crossing) - PACK_OF(row.centre)) * PACK_OF(row.narrow));
    edge.spread = pflush(PACK_OF(row.narrow) * edge.part_most * moved);
    const counted_normal normal = counted_normal_of(edge.z);
    edge.normal = normal.density;
    edge.below = normal.below;
    const pack x = size_of_pack(edge.z) * edge.spread;
    /* exp(x) <= 1 + x + 0.7 x^2 up to 0.9 */
    const pack grown = edge.normal * PFMA(x, PFMA(PK(0.7), x, one), one);
    edge.normal_most = PSELECT(x < PK(0.9), smaller(PK(0.39895), grown), PK(0.39895));
    edge.normal_least = edge.normal * positive(one - x - PK(0.5) * edge.spread * edge.spread);
    return edge;
}

typedef struct {
    pack least, most;
} counted_range;

/* l'' in the box: depth narrow n(z) (-z narrow part^2 + part (1 - part)), for U > 0 its opposite. */
FN counted_range counted_bend(counted_row row, counted_box box, counted_edge edge)
{
    const pack zero = PK(0.0), narrow = PACK_OF(row.narrow), low = edge.z - edge.spread,
               high = edge.z + edge.spread, part_most = pflush(edge.part_most * edge.part_most) * narrow,
               part_least = pflush(edge.part_least * edge.part_least) * narrow;
    const pack rest = row.spacecraft > R(0.0) ? edge.rest : zero,
               less = row.spacecraft > R(0.0) ? zero : -edge.rest;
    const pack up = PFMA(-low, PSELECT(low < zero, part_most, part_least), rest),
               down = PFMA(-high, PSELECT(high > zero, part_most, part_least), less);
    const pack size = PACK_OF((R(1.0) - row.inside) * row.narrow),
               most = pflush(size * up * PSELECT(up > zero, edge.normal_most, edge.normal_least)),
               least = pflush(size * down * PSELECT(down < zero, edge.normal_most, edge.normal_least));
    counted_range range;
    range.least = box.u < R(0.0) ? least : -most;
    range.most = box.u < R(0.0) ? most : -least;
    return range;
}

/* f'' = C'' l'^2 + C' l'' in the box, from the ranges of mean, l' and l''. */
FN void counted_curves(counted_row row, counted_box box, counted_edge edge, pack level, counted_cells c,
                       pack moved, PRIVATE counted_taylor *t)
{
    const pack depth = PACK_OF(R(1.0) - row.inside), k = PACK_OF(row.k), narrow = PACK_OF(row.narrow),
               one = PK(1.0), zero = PK(0.0), two = PK(2.0), count = c.count, scale = c.scale;
    const pack reach = pflush(depth * edge.normal_most), around = reach * edge.spread,
               low = counted_mean_of(c, larger(level - around, PACK_OF(row.inside))),
               high = counted_mean_of(c, smaller(level + around, one));
    const pack per_low = pflush(PDIVIDE(one, low * (low + k))),
               per_high = pflush(PDIVIDE(one, high * (high + k)));
    /* C'' = 2 k (2 count mean + count k - mean^2) / (mean (mean + k))^2 */
    const pack bent = PFMA(high, two * count - high, count * k);
    const pmask convex = bent > zero;
    const pack per = PSELECT(convex, per_high, per_low),
               level_least =
                   pflush(scale * pflush(depth * edge.normal_least) * pflush(narrow * edge.part_least)),
               level_most = pflush(scale * reach * pflush(edge.part_most * narrow)),
               turn = pflush(per * PSELECT(convex, level_least, level_most));
    const pack slope_low = two * k * (low - count) * per_low,
               slope_high = two * k * (high - count) * per_high,
               most = PSELECT(convex, slope_high,
                              larger(slope_high, two * k * positive(high - count) * per_low)),
               least = smaller(slope_low, slope_high);
    const counted_range bend = counted_bend(row, box, edge);
    const pack twist = pflush(scale * smaller(smaller(least * bend.least, least * bend.most),
                                              smaller(most * bend.least, most * bend.most)));
    t->curve = PFMA(pflush(two * k * bent * turn), turn, twist);
    t->lost = PK(0.5) * pflush(positive(-t->curve) * moved) * moved;
    t->turned =
        -pflush((box.u < R(0.0) ? positive(-least) : larger(positive(-least), positive(most))) * level_most);
}

FN counted_taylor counted_taylor_of(counted_row row, counted_box box, counted_cells c)
{
    counted_taylor t;
    const real sign = box.u < R(0.0) ? R(-1.0) : R(1.0);
    const pack one = PK(1.0), half_r = PACK_OF(box.half_r),
               room = counted_room(box.u, PACK_OF(box.r), c.sine), near = room - half_r;
    const pmask apart = near > PK(COUNTED_ROOM);
    const pack there = PSELECT(apart, room, one), beside = PSELECT(apart, near, one),
               beyond = PSELECT(apart, room + half_r, one),
               all = pflush(PDIVIDE(PACK_OF(sign), pflush(there * beside) * beyond)),
               inverse = pflush(beside * beyond) * all, a = pflush(there * beyond) * all,
               b = pflush(there * beside) * all;
    t.h = PACK_OF(box.per_r) + inverse;
    t.h_least = PACK_OF(box.per_r1) + smaller(a, b);
    t.h_most = PACK_OF(box.per_r0) + larger(a, b);
    const pack two = PFMA(a, a, box.u < R(0.0) ? PK(0.0) : PACK_OF(flush(box.per_r0 * box.per_r0))),
               moved = PFMA(larger(t.h_most, -t.h_least), half_r, PACK_OF(box.half_v));
    const counted_edge edge = counted_edge_of(row, PACK_OF(box.u * box.r) * inverse, moved);
    const pack level = counted_level(row, box.u, edge.below), mean = counted_mean_of(c, level);
    t.above = box.u < R(0.0) ? OR(PNOT(apart), mean > c.count) : AND(apart, mean > c.count);
    t.tame = AND(apart, AND(edge.spread < PK(COUNTED_SMALL), moved < PK(0.75)));
    t.value = counted_cost(row.k, c, mean);
    t.slope = pflush(counted_slope(row.k, c, mean) *
                     pflush(c.scale * PACK_OF(-sign * (R(1.0) - row.inside) * row.narrow) *
                            pflush(edge.normal * edge.part)));
    counted_curves(row, box, edge, level, c, moved, &t);
    t.turned = t.turned * two;
    const pack turning = box.u < R(0.0) ? positive(-t.slope) : size_of_pack(t.slope);
    t.turning = -pflush(turning * two);
    t.lost = PFMA(PK(-0.5) * t.turning, half_r * half_r, t.lost);
    return t;
}

/* A cell's least deviance between the corners of a box. Only one corner matters. */
FN pack counted_least(counted_row row, counted_box box, counted_cells c, pmask above)
{
    const pack size = PSELECT(above, PACK_OF(size_of(box.u1)), PACK_OF(size_of(box.u0))),
               r = PSELECT(above, PACK_OF(box.r1), PACK_OF(box.r0)),
               corner = counted_mean_of(c, counted_level_in(row, box.u, size, r, c.sine)),
               most = counted_mean_of(c, PK(1.0)), least = counted_mean_of(c, PACK_OF(row.inside));
    return counted_cost(
        row.k, c,
        PSELECT(above, smaller(larger(c.count, corner), most), larger(smaller(c.count, corner), least)));
}

/* Adds a pack of cells to sums. least: their least deviances, where Taylor's formula may be worse. */
FN void counted_add(counted_taylor t, pmask here, pack least, u32 part, PRIVATE acc8 *sums)
{
    const pack zero = PK(0.0);
    const pmask taken = AND(AND(here, t.tame), t.value - t.lost > least);
    const pack across = t.slope * t.h, cross0 = t.curve * t.h_least, cross1 = t.curve * t.h_most,
               square0 = t.h_least * t.h_least, square1 = t.h_most * t.h_most,
               inner = PSELECT(AND(t.h_least<zero, t.h_most> zero), zero, smaller(square0, square1)),
               square = t.curve * PSELECT(t.curve > zero, inner, larger(square0, square1));
    const pack terms[COUNTED_SUMS] = {PSELECT(taken, t.value, least),
                                      PSELECT(taken, t.slope, zero),
                                      PSELECT(taken, across, zero),
                                      PSELECT(taken, t.curve, zero),
                                      PSELECT(taken, smaller(cross0, cross1), zero),
                                      PSELECT(taken, larger(cross0, cross1), zero),
                                      PSELECT(taken, square + t.turning, zero),
                                      PSELECT(taken, square + t.turned, zero),
                                      PSELECT(AND(here, PNOT(taken)), PK(1.0), zero)};
    for (u32 n = 0; n < COUNTED_SUMS; n++)
        sums[n].part[part] = sums[n].part[part] + PSELECT(here, terms[n], zero);
}

/* Puts a row's sums (counted_put_sums). */
FN_LARGE void counted_bound_row(LOSSCONE_PARAMETERS, counted_box box, u32 i, GLOBAL real *to)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const counted_between between = counted_undecided(s, i, box.u0, box.u1, box.r0, box.r1);
    acc8 sums[COUNTED_SUMS];
    for (u32 n = 0; n < COUNTED_SUMS; n++) sums[n] = acc8_zero();
    for (u32 j = between.from; j < between.last; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const u32 at = i * SWEEP_CELLS + j + l, part = l / PACK;
            const counted_cells c = counted_cells_at(s, at);
            const pmask here = AND(c.sine >= PACK_OF(between.in), c.sine < PACK_OF(between.out));
            if (!PANY(here)) continue;
            const counted_taylor t = counted_taylor_of(row, box, c);
            const pmask asked = AND(here, PNOT(AND(t.tame, t.lost < PK(LITTLE_LOST))));
            pack least = PK(-1.0); /* below any */
            if (PANY(asked))       /* by cell: its neighbours in the pack must not matter */
                least = PSELECT(asked, counted_least(row, box, c, t.above), least);
            counted_add(t, here, least, part, sums);
        }
    counted_put_sums(sums, COUNTED_SUMS, i, to);
    const real decided = counted_decided(s, i, between);
    to[8 * (SUM_CENTRE * SWEEP_SLOTS + i)] = to[8 * (SUM_CENTRE * SWEEP_SLOTS + i)] + decided;
}
