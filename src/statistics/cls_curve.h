/* cls_curve.h: interpolation of a profile from values and slopes, and its roots.
 *
 * Twice the NLL is nearly a parabola. A root's error goes with the fourth power of the distance to the
 * points: two or three rounds of fits reach 1e-9. Outside, the curve is a parabola. */
#pragma once

#include <stddef.h>

#define CURVE_NODES_MAX 72

struct curve {
    size_t n;
    double curvature; /* for extrapolation from a single node */
    struct {
        double x, y, slope;
    } node[CURVE_NODES_MAX]; /* ascending in x */
};

/* Replaces a node at the same x. Ignores non-finite numbers and a full curve. */
void curve_add(struct curve *curve, double x, double y, double slope);
/* Replaces slopes that contradict the values, which have an error of `noise`: on the edge of the domain the
 * gradient is not the profile's slope. */
void curve_mend_slopes(struct curve *curve, double noise);
/* Slope at a node; NaN elsewhere. */
double curve_slope(const struct curve *curve, double x);
double curve_value(const struct curve *curve, double x);

/* Root of f in [a, b], to a few ulp. f must change sign: +-HUGE_VAL is fine, NaN counts as negative. */
double find_root(double (*f)(const void *user, double x), const void *user, double a, double b);
