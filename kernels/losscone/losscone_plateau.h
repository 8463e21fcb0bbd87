/* losscone_plateau.h: the polygon on which the misfit does not change.
 *
 * In the plane of a = r and b = r U the domain and every threshold are straight. So what is left of the
 * domain between two neighbouring thresholds of each family is a convex polygon, clipped exactly (I.
 * Sutherland, G. Hodgman, Comm. ACM 17 (1974) 32). U = b / a and r = a are extreme at its vertices. A polygon
 * that is thinner than SLIVER in the x of one of its families is taken for empty: rounding decides whether it
 * is there.
 */
#ifndef PARITAS_LOSSCONE_PLATEAU_H
#define PARITAS_LOSSCONE_PLATEAU_H

#include "losscone/losscone_bound.h"

#if F64
#define SLIVER R(1e-11)
#else
#define SLIVER R(1e-6)
#endif

/* Vertex i of a polygon. */
#define VERTEX_A(polygon, i) (polygon)[2 * (i)]
#define VERTEX_B(polygon, i) (polygon)[2 * (i) + 1]
#define VERTEX_U(polygon, i) flush(DIVIDE(VERTEX_B(polygon, i), VERTEX_A(polygon, i)))

FN real limited(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
}

/* The corners of a box, around it. */
FN u32 polygon_of_box(search_box box, GLOBAL real *to)
{
    VERTEX_A(to, 0) = VERTEX_A(to, 3) = box.r0;
    VERTEX_A(to, 1) = VERTEX_A(to, 2) = box.r1;
    VERTEX_B(to, 0) = flush(box.r0 * box.u0);
    VERTEX_B(to, 1) = flush(box.r1 * box.u0);
    VERTEX_B(to, 2) = flush(box.r1 * box.u1);
    VERTEX_B(to, 3) = flush(box.r0 * box.u1);
    return 4;
}

/* What of a polygon of n vertices has sign (a + c b - s) <= 0; sign is 1 or -1. The number of vertices at
 * `to`, 0 if none is left or a sliver. */
FN u32 polygon_clip(GLOBAL const real *from, u32 n, GLOBAL real *to, real c, real s, real sign)
{
    u32 left = 0;
    real deepest = R(0.0), before = flush(sign * (FMA(c, VERTEX_B(from, n - 1), VERTEX_A(from, n - 1)) - s));
    for (u32 i = 0; i < n; i++) {
        const u32 last = i ? i - 1 : n - 1;
        const real a = VERTEX_A(from, i), b = VERTEX_B(from, i), here = flush(sign * (FMA(c, b, a) - s));
        if ((before < R(0.0) && here > R(0.0)) || (before > R(0.0) && here < R(0.0))) {
            const real part = flush(DIVIDE(before, before - here)), a0 = VERTEX_A(from, last),
                       b0 = VERTEX_B(from, last);
            VERTEX_A(to, left) = flush(FMA(part, a - a0, a0));
            VERTEX_B(to, left) = flush(FMA(part, b - b0, b0));
            left++;
        }
        if (here <= R(0.0)) {
            VERTEX_A(to, left) = a;
            VERTEX_B(to, left) = b;
            left++;
            deepest = here < deepest ? here : deepest;
        }
        before = here;
    }
    return -deepest > SLIVER * (R(1.0) + c) ? left : 0;
}

/* The polygon between thresholds k - 1 and k of a row, for a family with this c. `spare`: room like `to`. */
FN u32 polygon_between(GLOBAL const real *s, u32 row, u32 k, real c, GLOBAL const real *from, u32 n,
                       GLOBAL real *to, GLOBAL real *spare)
{
    const real above = row_threshold(s, row, k);
    if (k == 0) return polygon_clip(from, n, to, c, above, R(1.0));
    n = polygon_clip(from, n, spare, c, row_threshold(s, row, k - 1), R(-1.0));
    return n ? polygon_clip(spare, n, to, c, above, R(1.0)) : 0;
}

/* The plateau of the numbers k of all families within a box; `room`: three polygons, the answer is in the
 * first. 0: there is none. */
FN u32 plateau_clip(CONSTANT u32 *mi, GLOBAL const real *s, GLOBAL const real *k, search_box box,
                    u32 reversed, GLOBAL real *room)
{
    const u32 families = losscone_families(mi);
    u32 n = polygon_of_box(box, room);
    for (u32 f = 0; f < families && n; f++) {
        const u32 row = f % SWEEP_SLOTS;
        if ((s + CELLS_MOST)[row] == R(0.0)) continue;
        n = polygon_between(s, row, U32_OF(k[f]), family_inverse(s, f, reversed), room, n,
                            room + POLYGON_ROOM, room + 2 * POLYGON_ROOM);
        for (u32 i = 0; i < 2 * n; i++) room[i] = room[POLYGON_ROOM + i];
    }
    return n;
}

/* Extent in U and r, within the domain also where rounding says otherwise. */
FN search_box polygon_extent(GLOBAL const real *polygon, u32 n, search_box domain)
{
    search_box box;
    box.r0 = box.r1 = VERTEX_A(polygon, 0);
    box.u0 = box.u1 = VERTEX_U(polygon, 0);
    for (u32 i = 1; i < n; i++) {
        const real r = VERTEX_A(polygon, i), u = VERTEX_U(polygon, i);
        box.r0 = r < box.r0 ? r : box.r0;
        box.r1 = r > box.r1 ? r : box.r1;
        box.u0 = u < box.u0 ? u : box.u0;
        box.u1 = u > box.u1 ? u : box.u1;
    }
    box.u0 = limited(box.u0, domain.u0, domain.u1);
    box.u1 = limited(box.u1, domain.u0, domain.u1);
    box.r0 = limited(box.r0, domain.r0, domain.r1);
    box.r1 = limited(box.r1, domain.r0, domain.r1);
    return box;
}

#endif
