/* line_search.h: line search for the strong Wolfe conditions. J. J. More, D. J. Thuente, ACM TOMS 20 (1994)
 * 286. The caller evaluates. */
#pragma once

#include "minimise/fit_outcome.h"

/* Length, value, slope of the ends `best`, `other` (0: none yet) and the trial `at`. */
typedef struct {
    real best, best_value, best_slope, other, other_value, other_slope, at, low, high, most, width, wider;
    mask bracketed, early;
} line_search;

/* Begins with value and slope at 0, toward 1 and at most to `most`. */
FN line_search line_search_begin(real value, real slope, real most)
{
    line_search q;
    q.best = q.other = q.low = R(0.0);
    q.best_value = q.other_value = value;
    q.best_slope = q.other_slope = slope;
    q.at = R(1.0);
    q.high = R(5.0);
    q.most = q.width = most;
    q.wider = R(2.0) * most;
    q.bracketed = R(0.0) > R(1.0);
    q.early = R(0.0) < R(1.0);
    return q;
}

/* Minimum of the cubic (f, g at 0; f2, g2 at h), as a part of h; 0: none. */
FN real line_search_cubic(real h, real f, real g, real f2, real g2)
{
    const real theta = DIVIDE(R(3.0) * (f - f2), h) + g + g2;
    real scale = fit_size(theta);
    scale = SELECT(fit_size(g) > scale, fit_size(g), scale);
    scale = SELECT(fit_size(g2) > scale, fit_size(g2), scale);
    scale = SELECT(scale > R(0.0), scale, R(1.0));
    const real square =
        flush(FMA(DIVIDE(theta, scale), DIVIDE(theta, scale), -(DIVIDE(g, scale)) * (DIVIDE(g2, scale))));
    real root = scale * SQRT(SELECT(square > R(0.0), square, R(0.0)));
    root = SELECT(h < R(0.0), -root, root);
    const real part = DIVIDE(root - g + theta, root - g + root + g2);
    return SELECT(square > R(0.0), part, R(0.0));
}

/* The next trial after value f and slope g at q.at: cases 1 to 4 of section 4, then the interval. */
FN line_search line_search_next(line_search q, real f, real g)
{
    const real h = q.best - q.at;
    const mask forward = h<R(0.0), turned = flush(g * q.best_slope) < R(0.0), higher = f> q.best_value,
               flatter = fit_size(g) < fit_size(q.best_slope);
    const real cubic = line_search_cubic(h, f, g, q.best_value, q.best_slope), by_cubic = FMA(cubic, h, q.at);
    const real by_secant = FMA(DIVIDE(g, g - q.best_slope), h, q.at);
    /* 1, higher value: the cubic's minimum, or half way to the parabola's */
    const real parabola =
        FMA(DIVIDE(R(-0.5) * q.best_slope, DIVIDE(f - q.best_value, h) + q.best_slope), h, q.best);
    real next = SELECT(fit_size(by_cubic - q.best) < fit_size(parabola - q.best), by_cubic,
                       R(0.5) * (by_cubic + parabola));
    /* 2, slope turned: cubic or secant, the farther from the trial */
    const real turning = SELECT(fit_size(by_cubic - q.at) > fit_size(by_secant - q.at), by_cubic, by_secant);
    /* 3, flatter slope: beyond the trial, if the cubic has a minimum there */
    const real far = SELECT(forward, q.high, q.low), beyond = SELECT(cubic < R(0.0), by_cubic, far);
    const mask nearer = fit_size(beyond - q.at) < fit_size(by_secant - q.at);
    real flat = SELECT(nearer, beyond, by_secant);
    const real limit = FMA(R(0.66), q.other - q.at, q.at);
    flat = SELECT(forward, SELECT(flat < limit, flat, limit), SELECT(flat > limit, flat, limit));
    flat = SELECT(q.bracketed, flat, SELECT(nearer, by_secant, beyond));
    /* 4, as steep: toward the other end, or as far as allowed */
    const real h_other = q.other - q.at;
    const real steep = SELECT(
        q.bracketed, FMA(line_search_cubic(h_other, f, g, q.other_value, q.other_slope), h_other, q.at), far);
    next = SELECT(higher, next, SELECT(turned, turning, SELECT(flatter, flat, steep)));
    const mask swap = AND(turned, NOT(higher));
    q.other_value = SELECT(higher, f, SELECT(swap, q.best_value, q.other_value));
    q.other_slope = SELECT(higher, g, SELECT(swap, q.best_slope, q.other_slope));
    q.other = SELECT(higher, q.at, SELECT(swap, q.best, q.other));
    const real tried = q.at;
    const real from = q.best;
    q.best = SELECT(higher, q.best, q.at);
    q.best_value = SELECT(higher, q.best_value, f);
    q.best_slope = SELECT(higher, q.best_slope, g);
    q.bracketed = OR(q.bracketed, OR(higher, turned));
    /* halve an interval that did not shrink to two thirds in two trials */
    const real size = fit_size(q.other - q.best);
    next = SELECT(AND(q.bracketed, size >= R(0.66) * q.wider), FMA(R(0.5), q.other - q.best, q.best), next);
    q.wider = SELECT(q.bracketed, q.width, q.wider);
    q.width = SELECT(q.bracketed, size, q.width);
    const mask ascending = q.best < q.other;
    q.low = SELECT(q.bracketed, SELECT(ascending, q.best, q.other), FMA(R(1.1), tried - from, tried));
    q.high = SELECT(q.bracketed, SELECT(ascending, q.other, q.best), FMA(R(4.0), tried - from, tried));
    /* rounding may leave the interval */
    next = SELECT(
        AND(next >= q.low, next <= q.high), next,
        SELECT(q.bracketed, FMA(R(0.5), q.other - q.best, q.best), SELECT(next < q.low, q.low, q.high)));
    q.at = SELECT(next < q.most, next, q.most);
    return q;
}

/* The same for the function less `tilt` times the length. */
FN line_search line_search_next_tilted(line_search q, real f, real g, real tilt)
{
    q.best_value = FMA(-tilt, q.best, q.best_value);
    q.other_value = FMA(-tilt, q.other, q.other_value);
    q.best_slope = q.best_slope - tilt;
    q.other_slope = q.other_slope - tilt;
    q = line_search_next(q, FMA(-tilt, q.at, f), g - tilt);
    q.best_value = FMA(tilt, q.best, q.best_value);
    q.other_value = FMA(tilt, q.other, q.other_value);
    q.best_slope = q.best_slope + tilt;
    q.other_slope = q.other_slope + tilt;
    return q;
}

/* `next` where the trial of q had a value; elsewhere only the far end shrinks. */
FN line_search line_search_defined(mask m, line_search q, line_search next)
{
    const real shorter = FMA(R(0.25), q.at - q.best, q.best), end = FMA(R(0.9), q.at - q.best, q.best);
    q.most = SELECT(m, q.most, end);
    q.high = SELECT(m, next.high, end);
    q.at = SELECT(m, next.at, shorter);
    q.low = SELECT(m, next.low, q.low);
    q.best = SELECT(m, next.best, q.best);
    q.best_value = SELECT(m, next.best_value, q.best_value);
    q.best_slope = SELECT(m, next.best_slope, q.best_slope);
    q.other = SELECT(m, next.other, q.other);
    q.other_value = SELECT(m, next.other_value, q.other_value);
    q.other_slope = SELECT(m, next.other_slope, q.other_slope);
    q.width = SELECT(m, next.width, q.width);
    q.wider = SELECT(m, next.wider, q.wider);
    q.bracketed = AND(m, next.bracketed);
    return q;
}
