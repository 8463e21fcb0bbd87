/* counted_form.h: a box's lower bound as a quadratic form in v = ln |U| and r from its centre.
 *
 * Its least in the box bounds the deviance. Where it is above a limit the box can be cut. The deviance is
 * convex in the box if its matrix of second derivatives is positive definite: then a lowest point inside is
 * the only one. */
#pragma once

#include "losscone/counted_bound.h"

FN real limited_by(real x, real size)
{
    return x < -size ? -size : x > size ? size : x;
}

/* Least of g x + curve x^2 / 2 for |x| <= most. */
FN real counted_edge_least(real g, real curve, real most)
{
    const real at = curve > R(0.0) ? limited_by(flush(DIVIDE(-g, curve)), most) : g > R(0.0) ? -most : most;
    return FMA(g, at, R(0.5) * flush(curve * at) * at);
}

/* A box's lower bound in (v, r) from its centre: c + gv v + gr r + (vv v^2 + 2 vr v r + rr r^2) / 2. */
typedef struct {
    real c, gv, gr, vv, vr, rr;
    u32 bowl;  /* the matrix is positive definite */
    u32 alone; /* the box is convex and holds the lowest point: no other is lower */
} counted_form;

/* Takes |v r| at most to be shape v^2 + r^2 / shape, halved: the matrix for all h' of the box. */
FN void counted_open(PRIVATE counted_form *f, real across_least, real across_most, counted_box box)
{
    const real open = R(0.5) * (across_most - across_least);
    const u32 round = f->vv > R(0.0) && f->rr > R(0.0);
    const real shape = round ? SQRT(flush(DIVIDE(f->rr, f->vv))) : DIVIDE(box.half_r, box.half_v);
    f->vv = FMA(-open, shape, f->vv);
    f->vr = R(0.5) * (across_least + across_most);
    f->rr = f->rr - flush(DIVIDE(open, shape));
    f->bowl = f->vv > R(0.0) && f->rr > R(0.0) && flush(f->vv * f->rr) > f->vr * f->vr;
}

/* From a box's sums. (u, r): the lowest point known, where slopes vanish. */
FN counted_form counted_form_of(u32 rows, GLOBAL const real *sums, counted_box box, real u, real r)
{
    real total[COUNTED_SUMS];
    for (u32 n = 0; n < COUNTED_SUMS; n++) total[n] = counted_total(rows, sums, n);
    const u32 flat = box.u0 == box.u1; /* only r is free */
    counted_form form;
    form.c = total[SUM_CENTRE];
    form.gv = flat ? R(0.0) : total[SUM_BY_V];
    form.gr = total[SUM_BY_R];
    form.vv = flat ? R(1.0) : total[SUM_CURVE];
    form.vr = R(0.0);
    form.rr = total[SUM_SQUARE];
    if (flat)
        form.bowl = form.rr > R(0.0);
    else
        counted_open(&form, total[SUM_ACROSS_LEAST], total[SUM_ACROSS_MOST], box);
    const real convex = form.rr + (total[SUM_CONVEX] - total[SUM_SQUARE]);
    form.alone = form.bowl && flush(form.vv * convex) > form.vr * form.vr && convex > R(0.0) &&
                 total[SUM_WITHOUT] == R(0.0) && u >= box.u0 && u <= box.u1 && r >= box.r0 && r <= box.r1;
    return form;
}

/* Its least in the box. */
FN real counted_form_least(counted_form f, counted_box box)
{
    if (f.alone) return UNBOUNDED;
    const real det = FMA(f.vv, f.rr, -f.vr * f.vr), per = f.bowl ? DIVIDE(R(1.0), det) : R(0.0),
               v = flush(FMA(f.vr, f.gr, -f.rr * f.gv) * per), r = flush(FMA(f.vr, f.gv, -f.vv * f.gr) * per);
    if (f.bowl && size_of(v) <= box.half_v && size_of(r) <= box.half_r)
        return f.c + R(0.5) * FMA(f.gv, v, f.gr * r);
    real least = UNBOUNDED;
    for (u32 side = 0; side < 2; side++) {
        const real a = side ? box.half_v : -box.half_v, b = side ? box.half_r : -box.half_r;
        const real on_v = FMA(f.gv, a, R(0.5) * flush(f.vv * a) * a) +
                          counted_edge_least(FMA(f.vr, a, f.gr), f.rr, box.half_r),
                   on_r = FMA(f.gr, b, R(0.5) * flush(f.rr * b) * b) +
                          counted_edge_least(FMA(f.vr, b, f.gv), f.vv, box.half_v);
        least = on_v < least ? on_v : least;
        least = on_r < least ? on_r : least;
    }
    return f.c + least;
}

/* Least t >= 0 where q + g t + curve t^2 / 2 <= 0; UNBOUNDED: none. */
FN real counted_first(real q, real g, real curve)
{
    const real square = FMA(g, g, -R(2.0) * flush(curve * q)),
               per = SQRT(square > R(0.0) ? square : R(0.0)) - g;
    if (!(q > R(0.0))) return R(0.0);
    return square >= R(0.0) && per > R(0.0) ? flush(DIVIDE(R(2.0) * q, per)) : UNBOUNDED;
}

/* How far v falls from its most till the form is 0 or less for some |r| <= half_r. UNBOUNDED: it never is. */
FN real counted_fall(counted_form f, real half_v, real half_r)
{
    const real c = FMA(FMA(R(0.5) * f.vv, half_v, f.gv), half_v, f.c), g = FMA(f.vv, half_v, f.gv),
               gy = FMA(f.vr, half_v, f.gr);
    real least = UNBOUNDED;
    for (u32 side = 0; side < 2; side++) {
        const real y = side ? half_r : -half_r,
                   t = counted_first(FMA(FMA(R(0.5) * f.rr, y, gy), y, c), -FMA(f.vr, y, g), f.vv);
        least = t < least ? t : least;
    }
    if (!(f.rr > R(0.0))) return least;
    const real per = DIVIDE(R(1.0), f.rr), lean = flush(f.vr * per),
               t = counted_first(FMA(-R(0.5) * flush(gy * per), gy, c), FMA(lean, gy, -g),
                                 FMA(-lean, f.vr, f.vv)),
               y = FMA(-f.vr, t, gy) * per;
    return t < least && (!f.bowl || size_of(y) <= half_r) ? t : least;
}

/* The form of r and v in turn, or of -v. */
FN counted_form counted_seen(counted_form f, u32 swapped, real sense)
{
    counted_form g = f;
    g.gv = sense * (swapped ? f.gr : f.gv);
    g.gr = swapped ? f.gv : f.gr;
    g.vv = swapped ? f.rr : f.vv;
    g.rr = swapped ? f.vv : f.rr;
    g.vr = sense * f.vr;
    return g;
}

#define COUNTED_MARGIN R(1e-3) /* of half a side: for rounding */

/* The part of a box where the form is below `limit`, a little wider. */
FN counted_box counted_shrunk(counted_form f, counted_box box, real limit)
{
    if (f.alone) return box;
    f.c = f.c - limit;
    const real hv = box.half_v, hr = box.half_r, wide = COUNTED_MARGIN * hv, tall = COUNTED_MARGIN * hr;
    const real v1 = hv - counted_fall(counted_seen(f, 0, R(1.0)), hv, hr) + wide,
               v0 = hv - counted_fall(counted_seen(f, 0, R(-1.0)), hv, hr) + wide,
               r1 = hr - counted_fall(counted_seen(f, 1, R(1.0)), hr, hv) + tall,
               r0 = hr - counted_fall(counted_seen(f, 1, R(-1.0)), hr, hv) + tall;
    const u32 free = box.u0 < box.u1, negative = box.u < R(0.0), cut1 = free && v1 < hv,
              cut0 = free && v0 < hv;
    if ((free && !(v0 + v1 > R(0.0))) || !(r0 + r1 > R(0.0))) return box;
    const real far = box.u * FIRST(m_exp(PACK_OF(v1))), near = box.u * FIRST(m_exp(PACK_OF(-v0)));
    counted_box to = box;
    if (negative ? cut1 : cut0) to.u0 = negative ? far : near;
    if (negative ? cut0 : cut1) to.u1 = negative ? near : far;
    to.r0 = r0 < hr ? box.r - r0 : box.r0;
    to.r1 = r1 < hr ? box.r + r1 : box.r1;
    return to;
}

/* Is `part` less than half of `box`? */
FN u32 counted_is_less(counted_box part, counted_box box)
{
    const real wide = box.u0 < box.u1 ? DIVIDE(part.u1 - part.u0, box.u1 - box.u0) : R(1.0);
    return flush(wide * (part.r1 - part.r0)) < R(0.5) * (box.r1 - box.r0);
}
