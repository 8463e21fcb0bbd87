/* cls_curve.h: a profile known at a few points with its slopes, and the search for a root on it.
 *
 * Twice the NLL of a profile is close to a parabola, which a cubic through two values and slopes reproduces.
 * The error of a root goes with the fourth power of the distance to the points: two or three rounds of fits
 * reach 1e-9. Beyond the outermost points the curve goes on as a parabola. */
#ifndef PARITAS_CLS_CURVE_H
#define PARITAS_CLS_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#define CURVE_NODES_MAX 72

struct curve {
    size_t n;
    double curvature; /* second derivative for extrapolation while there is one node only */
    struct {
        double x, y, slope;
    } node[CURVE_NODES_MAX]; /* ascending in x */
};

/* Adds a node, or replaces the one at the same x. Ignored if a number is not finite or the curve is full. */
void curve_add(struct curve *curve, double x, double y, double slope);
double curve_value(const struct curve *curve, double x);

/* Root in [a, b] of f, which has opposite signs there (+-HUGE_VAL are fine, NaN is read as negative), to a
 * few ulp. */
double find_root(double (*f)(const void *user, double x), const void *user, double a, double b);

#endif
