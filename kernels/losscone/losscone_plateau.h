/* losscone_plateau.h: the polygon on which the misfit is constant.
 *
 * With a = r, b = r U the domain and thresholds are straight. Between neighbouring thresholds of all families
 * lies a convex polygon, clipped exactly (I. Sutherland, G. Hodgman, Comm. ACM 17 (1974) 32). U = b / a and r
 * = a are extreme at vertices. A polygon thinner than SLIVER in some family's x counts as empty: it may be
 * rounding. */
#pragma once

#include "losscone/losscone_bound.h"

#define SLIVER LIMIT(1e-11, 1e-6)

#define VERTEX_A(polygon, i) (polygon)[2 * (i)]
#define VERTEX_B(polygon, i) (polygon)[2 * (i) + 1]
#define VERTEX_U(polygon, i) flush(DIVIDE(VERTEX_B(polygon, i), VERTEX_A(polygon, i)))

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

/* Keeps sign (a + c b - s) <= 0, sign = 1 or -1. Returns the vertices left; 0: none, or a sliver. */
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

/* Keeps what lies between thresholds k - 1 and k. `spare`: room like `to`. */
FN u32 polygon_between(GLOBAL const real *s, u32 row, u32 k, real c, GLOBAL const real *from, u32 n,
                       GLOBAL real *to, GLOBAL real *spare)
{
    const real above = row_threshold(s, row, k);
    if (k == 0) return polygon_clip(from, n, to, c, above, R(1.0));
    n = polygon_clip(from, n, spare, c, row_threshold(s, row, k - 1), R(-1.0));
    return n ? polygon_clip(spare, n, to, c, above, R(1.0)) : 0;
}

/* `k`: of all families; `room`: three polygons, the first is the answer. 0: none. */
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

/* Limited to the domain against rounding. */
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
