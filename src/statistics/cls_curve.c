/* cls_curve.c: cubic interpolation of a profile, and a bracketing root finder. */
#include "statistics/cls_curve.h"

#include <math.h>
#include <string.h>

void curve_add(struct curve *curve, double x, double y, double slope)
{
    if (!isfinite(x) || !isfinite(y) || !isfinite(slope)) return;
    size_t at = 0;
    while (at < curve->n && curve->node[at].x < x) at++;
    if (at == curve->n || curve->node[at].x != x) {
        if (curve->n == CURVE_NODES_MAX) return;
        memmove(&curve->node[at + 1], &curve->node[at], (curve->n - at) * sizeof curve->node[0]);
        curve->n++;
    }
    curve->node[at].x = x;
    curve->node[at].y = y;
    curve->node[at].slope = slope;
}

static double parabola(const struct curve *curve, size_t node, double curvature, double x)
{
    double d = x - curve->node[node].x;
    if (!(curvature > 0.0)) curvature = 0.0;
    return curve->node[node].y + d * (curve->node[node].slope + 0.5 * curvature * d);
}

/* The derivative at an inner node of the parabola through it and its neighbours. */
static double slope_of_values(const struct curve *curve, size_t i, double *secants)
{
    const double before = curve->node[i].x - curve->node[i - 1].x,
                 after = curve->node[i + 1].x - curve->node[i].x;
    secants[0] = (curve->node[i].y - curve->node[i - 1].y) / before;
    secants[1] = (curve->node[i + 1].y - curve->node[i].y) / after;
    return (after * secants[0] + before * secants[1]) / (before + after);
}

void curve_mend_slopes(struct curve *curve, double noise)
{
    for (size_t i = 1; i + 1 < curve->n; i++) {
        double secants[2];
        const double slope = slope_of_values(curve, i, secants),
                     nearest = fmin(curve->node[i].x - curve->node[i - 1].x,
                                    curve->node[i + 1].x - curve->node[i].x);
        if (!(fabs(curve->node[i].slope - slope) <= fabs(secants[1] - secants[0]) + noise / nearest))
            curve->node[i].slope = slope;
    }
    if (curve->n < 3) return;
    const size_t last = curve->n - 1;
    const double width = curve->node[last].x - curve->node[last - 1].x,
                 secant = (curve->node[last].y - curve->node[last - 1].y) / width,
                 turn = secant - curve->node[last - 1].slope;
    if (!(fabs(curve->node[last].slope - secant - turn) <= 2.0 * fabs(turn) + noise / width))
        curve->node[last].slope = secant + turn;
}

double curve_slope(const struct curve *curve, double x)
{
    for (size_t i = 0; i < curve->n; i++)
        if (curve->node[i].x == x) return curve->node[i].slope;
    return (double)NAN;
}

double curve_value(const struct curve *curve, double x)
{
    size_t n = curve->n;
    if (n == 0) return (double)NAN;
    if (n == 1) return parabola(curve, 0, curve->curvature, x);
    size_t right = 0;
    while (right < n && curve->node[right].x < x) right++;
    if (right == 0 || right == n) { /* outside: extend the last interval's mean curvature */
        size_t a = right == 0 ? 0 : n - 2;
        double curvature =
            (curve->node[a + 1].slope - curve->node[a].slope) / (curve->node[a + 1].x - curve->node[a].x);
        return parabola(curve, right == 0 ? 0 : n - 1, curvature, x);
    }
    size_t a = right - 1;
    double h = curve->node[right].x - curve->node[a].x, t = (x - curve->node[a].x) / h, u = 1.0 - t;
    double from_a = u * u * ((1.0 + 2.0 * t) * curve->node[a].y + h * t * curve->node[a].slope);
    double from_b = t * t * ((1.0 + 2.0 * u) * curve->node[right].y - h * u * curve->node[right].slope);
    return from_a + from_b;
}

/* Bounded, so that a secant makes sense. */
static double tame(double y)
{
    return y > 700.0 ? 700.0 : y >= -700.0 ? y : -700.0;
}

double find_root(double (*f)(const void *user, double x), const void *user, double a, double b)
{
    double fa = tame(f(user, a)), fb = tame(f(user, b));
    if (fa == 0.0) return a;
    if (fb == 0.0) return b;
    /* regula falsi with Illinois weights; every fourth step bisects, which bounds the worst case */
    int kept = 0;
    for (int i = 0; i < 200; i++) {
        double x = i % 4 == 3 ? 0.5 * (a + b) : b - fb * (b - a) / (fb - fa);
        if (!((x - a) * (x - b) < 0.0)) x = 0.5 * (a + b);
        if (x == a || x == b || fabs(b - a) <= 4e-16 * fabs(x)) return x;
        double fx = tame(f(user, x));
        if (fx == 0.0) return x;
        if ((fx < 0.0) == (fb < 0.0)) {
            b = x;
            fb = fx;
            if (kept == 1) fa *= 0.5;
            kept = 1;
        } else {
            a = x;
            fa = fx;
            if (kept == 2) fb *= 0.5;
            kept = 2;
        }
    }
    return 0.5 * (a + b);
}
