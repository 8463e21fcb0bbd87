/* kappa_potential.h: the potential U at which a spacecraft's currents balance.
 *
 * Sunlight: photoelectrons against electrons. ln(photoelectrons) is convex in U: Newton climbs from 0 V
 * without passing the root.
 *
 * Shade: secondaries and ions against electrons. Stable: the net current falls as U grows. If electrons
 * prevail at 0 V, U falls to the first stable value. Else U rises to about a volt; a lower stable value may
 * exist, which a negative spacecraft keeps (Lai, J. Geophys. Res. 96 (1991) 1629). At -(kappa - 3/2) T only
 * ions remain. Points up to there, denser near 0, bracket the root for Brent's method (Algorithms for
 * Minimization without Derivatives, 1973, chapter 4). */
#pragma once

#include "kappa/kappa_currents.h"

#define POTENTIAL_HIGHEST 150.0 /* V */
/* sums: first lower end, V below 0; up to ten times 1.5 times as low */
#define POTENTIAL_LOWEST 1500.0
#define POTENTIAL_BRACKETS 24
#define POTENTIAL_STEPS 100
#define POTENTIAL_TOLERANCE LIMIT(1e-9, 1e-5) /* V */
#define POTENTIAL_RELATIVE LIMIT(8.881784197001252e-16, 4.76837158e-7)
#define POTENTIAL_DIFFERENCE LIMIT(1e-5, 1e-2) /* steps of derivatives */
/* V; sums jump: where a method stops matters */
#define POTENTIAL_SUMS_TOLERANCE R(1e-3)

typedef struct {
    real low, high, net_low, net_high;
    mask found;
} potential_bracket;

FN real potential_size(real x)
{
    return SELECT(x < R(0.0), -x, x);
}

/* 0 if the root is outside. */
FN real potential_in_sun(real current, PRIVATE real *status)
{
    const mask under = current > current_photoelectrons(R(0.0)),
               over = current < current_photoelectrons(R(POTENTIAL_HIGHEST));
    const mask inside = AND(current > R(0.0), NOT(OR(under, over)));
    const real wanted = kappa_log(SELECT(inside, current, R(1.0)));
    real u = R(0.0);
    mask moving = inside;
    for (u32 k = 0; k < POTENTIAL_STEPS && ANY(moving); k++) {
        real both;
        const real slope = -current_photo_slope(u, &both);
        const real step = (kappa_log(both) - wanted) * DIVIDE(both, slope);
        u = SELECT(moving, u + step, u);
        /* quadratic: the error is below step^2 */
        moving = AND(moving, step > FMA(POTENTIAL_RELATIVE, u, R(0.001) * POTENTIAL_TOLERANCE));
    }
    u = SELECT(u < R(POTENTIAL_HIGHEST), SELECT(u > R(0.0), u, R(0.0)), R(POTENTIAL_HIGHEST));
    *status =
        SELECT(inside, R(CHARGING_FOUND), SELECT(under, R(CHARGING_BELOW_ZERO), R(CHARGING_ABOVE_RANGE)));
    return SELECT(inside, u, R(0.0));
}

/* The highest interval below 0 V where electrons cease to prevail. net: at 0 V. */
FN potential_bracket potential_below(CONSTANT elem *mr, GLOBAL real *s, kappa_plasma plasma, real net)
{
    const real edge = (plasma.kappa - R(1.5)) * kappa_temperature(plasma.kappa, plasma.theta);
    potential_bracket b = {R(0.0), R(0.0), net, net, net != net};
    real before = R(0.0);
    for (u32 k = 1; k <= POTENTIAL_BRACKETS; k++) {
        const real part = DIVIDE(REAL_OF((elem)k), REAL_OF((elem)POTENTIAL_BRACKETS));
        const real u = edge * (part * part) * R(-0.99993896484375); /* short of the edge */
        const currents c = currents_at(mr, s, CHARGING_CONVERGED, plasma, u);
        const mask here = AND(NOT(b.found), AND(net < R(0.0), c.net >= R(0.0)));
        b.low = SELECT(here, u, b.low);
        b.net_low = SELECT(here, c.net, b.net_low);
        b.high = SELECT(here, before, b.high);
        b.net_high = SELECT(here, net, b.net_high);
        b.found = OR(b.found, here);
        before = u;
        net = c.net;
    }
    return b;
}

/* 0 without bracket. unit: brings currents to order 1 for f32. */
FN_LARGE real potential_root(CONSTANT elem *mr, GLOBAL real *s, u32 rule, kappa_plasma plasma, real unit,
                             potential_bracket b)
{
    const real zero = R(0.0),
               tolerance = rule == CHARGING_SUMS ? POTENTIAL_SUMS_TOLERANCE : POTENTIAL_TOLERANCE;
    /* `now` is best, `other` nearest of other sign, `last` the one before */
    real last = b.low, last_net = b.net_low * unit, now = b.high, net = b.net_high * unit, other = last,
         other_net = last_net;
    real step = now - last, step_before = step, root = now;
    mask open = b.found;
    for (u32 k = 0; k < POTENTIAL_STEPS && ANY(open); k++) {
        const mask opposite = OR(AND(last_net > zero, net < zero), AND(last_net<zero, net> zero));
        other = SELECT(opposite, last, other);
        other_net = SELECT(opposite, last_net, other_net);
        step = SELECT(opposite, now - last, step);
        step_before = SELECT(opposite, step, step_before);
        const mask swap = potential_size(other_net) < potential_size(net);
        const real was = now, was_net = net;
        last = SELECT(swap, was, last);
        last_net = SELECT(swap, was_net, last_net);
        now = SELECT(swap, other, now);
        net = SELECT(swap, other_net, net);
        other = SELECT(swap, was, other);
        other_net = SELECT(swap, was_net, other_net);
        const real near = R(0.5) * FMA(POTENTIAL_RELATIVE, potential_size(now), tolerance),
                   middle = R(0.5) * (other - now);
        root = SELECT(open, now, root);
        open = AND(open, AND(OR(net > zero, net < zero), potential_size(middle) >= near));
        /* secant, or parabola through three points */
        const mask three = OR(last > other, last < other);
        const real rise = net - last_net,
                   secant = flush(
                       DIVIDE(flush(net * (last - now)), SELECT(OR(rise > zero, rise < zero), rise, R(1.0))));
        const real by_last = flush(DIVIDE(last_net - net, SELECT(three, last - now, R(1.0)))),
                   by_other = flush(DIVIDE(other_net - net, SELECT(three, other - now, R(1.0))));
        const real under = flush(flush(by_other * by_last) * (other_net - last_net));
        const real over = flush(net * flush(flush(last_net * by_last) - flush(other_net * by_other)));
        const real tried =
            SELECT(three, flush(DIVIDE(over, SELECT(OR(under > zero, under < zero), under, R(1.0)))), secant);
        const real reach = FMA(R(3.0), potential_size(middle), -near), before = potential_size(step_before);
        const mask better = potential_size(net) < potential_size(last_net),
                   shorter = R(2.0) * potential_size(tried) < SELECT(before < reach, before, reach);
        const mask good = AND(AND(before > near, better), shorter);
        step_before = SELECT(good, step, middle);
        step = SELECT(good, tried, middle);
        last = now;
        last_net = net;
        now = now + SELECT(potential_size(step) > near, step, SELECT(middle > zero, near, -near));
        TEAM_IF(ANY(open)) net = currents_at(mr, s, rule, plasma, now).net * unit;
    }
    return root;
}

FN potential_bracket potential_below_of_sums(CONSTANT elem *mr, GLOBAL real *s, kappa_plasma plasma, real net)
{
    potential_bracket b = {R(-POTENTIAL_LOWEST), R(0.0), net, net, net != net};
    mask seeking = net == net;
    for (u32 k = 0; k <= 10 && ANY(seeking); k++) {
        b.low = SELECT(seeking, k ? R(1.5) * b.low : b.low, b.low);
        const currents c = currents_at(mr, s, CHARGING_SUMS, plasma, b.low);
        b.net_low = SELECT(seeking, c.net, b.net_low);
        const mask opposite = OR(AND(net > R(0.0), c.net <= R(0.0)), AND(net <= R(0.0), c.net >= R(0.0)));
        b.found = OR(b.found, AND(seeking, opposite));
        seeking = AND(seeking, NOT(opposite));
    }
    return b;
}

typedef struct {
    real potential, second, status, has_second;
} potential_balance;

FN potential_balance potential_in_shade(CONSTANT elem *mr, GLOBAL real *s, u32 rule, kappa_plasma plasma)
{
    const real zero = R(0.0);
    const currents at_zero = currents_at(mr, s, rule, plasma, zero);
    const real unit =
        DIVIDE(R(1.0), SELECT(at_zero.electrons > at_zero.ions, at_zero.electrons, at_zero.ions));
    potential_balance p;
    potential_bracket below;
    TEAM_IF(rule == CHARGING_SUMS) below = potential_below_of_sums(mr, s, plasma, at_zero.net);
    TEAM_IF(rule != CHARGING_SUMS) below = potential_below(mr, s, plasma, at_zero.net);
    const real down = potential_root(mr, s, rule, plasma, unit, below);
    p.potential = down;
    p.second = zero;
    p.has_second = zero;
    mask found = below.found;
    const mask up = AND(at_zero.net >= zero, rule != CHARGING_SUMS ? zero == zero : zero != zero);
    TEAM_IF(ANY(up)) {
        const currents highest = currents_at(mr, s, rule, plasma, R(POTENTIAL_HIGHEST));
        const potential_bracket above = {zero, R(POTENTIAL_HIGHEST), at_zero.net, highest.net,
                                         AND(up, highest.net <= zero)};
        const real root = potential_root(mr, s, rule, plasma, unit, above);
        p.second = SELECT(AND(above.found, found), down, zero);
        p.has_second = SELECT(AND(above.found, found), R(1.0), zero);
        p.potential = SELECT(above.found, root, down);
        found = OR(found, above.found);
    }
    p.status = SELECT(found, R(CHARGING_FOUND), R(CHARGING_NO_BALANCE));
    return p;
}

/* The currents stay balanced. */
typedef struct {
    real by_density, by_kappa, by_theta;
} potential_slopes;

/* Up (even k) or down: kappa by `move` (k = 0, 1), theta by its part h (k = 2, 3), else the same. */
FN kappa_plasma plasma_moved(kappa_plasma plasma, u32 k, real move, real h)
{
    const real side = k & 1 ? R(-1.0) : R(1.0);
    if (k / 2 == 0) plasma.kappa = FMA(side, move, plasma.kappa);
    if (k / 2 == 1) plasma.theta = plasma.theta * FMA(side, h, R(1.0));
    return plasma;
}

FN potential_slopes potential_slopes_in_sun(real current, kappa_plasma plasma, real potential, real lower,
                                            real upper)
{
    const real h = POTENTIAL_DIFFERENCE, one = R(1.0), move = h * (plasma.kappa - R(1.5));
    real ignored, found[4];
    const real inverse = DIVIDE(one, current_photo_slope(potential, &ignored));
    for (u32 k = 0; k < 4; k++)
        found[k] =
            current_electrons(current_plasma_at(plasma_moved(plasma, k, move, h), R(0.0)), lower, upper);
    potential_slopes d;
    d.by_density = current * inverse;
    d.by_kappa = flush(DIVIDE(found[0] - found[1], R(2.0) * move)) * inverse;
    d.by_theta = flush(DIVIDE(found[2] - found[3], R(2.0) * h)) * inverse;
    return d;
}

FN potential_slopes potential_slopes_in_shade(CONSTANT elem *mr, GLOBAL real *s, kappa_plasma plasma,
                                              real potential)
{
    const real one = R(1.0), two = R(2.0), size = potential_size(potential), least = R(1e-3),
               above = plasma.kappa - R(1.5);
    /* keeps the temperature positive */
    const real part = one + DIVIDE(potential, above * kappa_temperature(plasma.kappa, plasma.theta));
    const real h = POTENTIAL_DIFFERENCE * SELECT(part < one, part, one), move = h * above,
               rise = h * SELECT(size > least, size, least);
    real found[6];
    for (u32 k = 0; k < 6; k++) {
        const real at = k < 4 ? potential : FMA(k & 1 ? R(-1.0) : one, rise, potential);
        found[k] = currents_at(mr, s, CHARGING_CONVERGED, plasma_moved(plasma, k, move, h), at).net;
    }
    const real by_potential = found[4] - found[5],
               inverse = flush(DIVIDE(
                   -two * rise, SELECT(OR(by_potential > R(0.0), by_potential < R(0.0)), by_potential, one)));
    potential_slopes d;
    d.by_density = R(0.0); /* the density scales all currents */
    d.by_kappa = flush(flush(DIVIDE(found[0] - found[1], two * move)) * inverse);
    d.by_theta = flush(flush(DIVIDE(found[2] - found[3], two * h)) * inverse);
    return d;
}
