/* counted_set.h: the potentials around the minimum whose deviance, least over r, is within a limit.
 *
 * An end lies between a potential inside and one outside. The deviance's square root is nearly linear in U,
 * which tells where to look next. A potential is inside if a descent in r finds a deviance within the limit,
 * outside if it does not and, at the end, a search over all r finds none. */
#pragma once

#include "losscone/counted_search.h"

#define SET_TURNS 20u
#define SET_CUTS 12u
#define SET_NEAR R(0.01)   /* of an end's distance from the minimum: precise enough */
#define SET_ENOUGH R(3e-3) /* a descent's gain, of the limit's rise: the search at the end is sure */
#define SET_OUTWARD R(1.5)

/* The deviance at u, least over r near `r`, nearly. rise: of the set's limit above the minimum. */
FN counted_point set_near(LOSSCONE_PARAMETERS, real u, real r, real rise)
{
    return counted_descend(LOSSCONE, counted_at(LOSSCONE, u, r), u, u, SET_ENOUGH * rise);
}

/* The next potential, between `in` and `out`. */
FN real set_between(counted_point in, counted_point out, real least, real limit)
{
    const real a = SQRT(in.value > least ? in.value - least : R(0.0)), b = SQRT(out.value - least),
               c = SQRT(limit - least), part = b > a ? flush(DIVIDE(c - a, b - a)) : R(0.5);
    return FMA(limited(part, R(0.1), R(0.9)), out.u - in.u, in.u);
}

/* A potential outside, from one inside on. Inside at the bound: that is returned. */
FN_LARGE counted_point set_outside(LOSSCONE_PARAMETERS, PRIVATE counted_point *in, real least, real limit,
                                   real bound, real step)
{
    const real origin = in->u;
    real away = step;
    counted_point next = *in;
    while (next.value <= limit && next.u != bound) {
        *in = next;
        const real u = bound < origin ? (origin - away > bound ? origin - away : bound)
                                      : (origin + away < bound ? origin + away : bound);
        next = set_near(LOSSCONE, u, in->r, limit - least);
        away = SET_OUTWARD * away;
    }
    return next;
}

/* Brings `in` and `out` together. The whole team calls it. */
FN_LARGE counted_point set_cut(LOSSCONE_PARAMETERS, PRIVATE counted_point *in, counted_point out,
                               counted_point best, real limit)
{
    for (u32 cut = 0; cut < SET_CUTS && size_of(out.u - in->u) > SET_NEAR * size_of(out.u - best.u); cut++) {
        const counted_point next =
            set_near(LOSSCONE, set_between(*in, out, best.value, limit), in->r, limit - best.value);
        if (next.value > limit)
            out = next;
        else
            *in = next;
    }
    return out;
}

/* The end on one side of the minimum: the nearest potential known to be outside, or the bound. */
FN_LARGE real set_end(LOSSCONE_PARAMETERS, counted_point best, real limit, real bound, real step)
{
    counted_point in = best;
    real end = best.u;
    u32 open = 1;
    for (u32 turn = 0; turn < SET_TURNS && open; turn++) {
        counted_point out = set_outside(LOSSCONE, &in, best.value, limit, bound, step);
        end = out.u;
        open = out.value > limit;
        TEAM_IF(open) {
            out = set_cut(LOSSCONE, &in, out, best, limit);
            end = out.u;
            in = counted_search(LOSSCONE, out.u, out.u, limit);
            open = in.value <= limit;
        }
    }
    return end;
}

/* Half the width that the curvature at the minimum promises. */
FN real set_step(counted_point best, real limit)
{
    const real rest = best.rr > R(0.0) ? flush(DIVIDE(flush(best.vr * best.vr), best.rr)) : R(0.0),
               curve = best.vv - rest, size = size_of(best.u),
               v = curve > R(0.0) ? SQRT(flush(DIVIDE(R(2.0) * (limit - best.value), curve))) : R(1.0);
    const real step = size * (v < R(1.0) ? v : R(1.0));
    return step > R(0.01) ? step : R(0.01);
}
