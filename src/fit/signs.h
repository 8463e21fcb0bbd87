/* signs.h: parameters whose other side may hold a lower minimum.
 *
 * Templates that bend give a bin the same rate on both sides of a parameter. Where the fit leaves bins too
 * low, a bend upward lowers the likelihood on either side: twice the NLL then has a minimum on each. The sign
 * is
 *
 *   h_i = sum over bins of (1 - n / rate) (rate(+1) + rate(-1) - 2 rate(0)), parameter i in its widths:
 *
 * what bends add to half the second derivative of twice the NLL, beside the constraint's 1. */
#pragma once

#include "base/context.h"
#include "fit/family.h"

#define SIGN_LEAST 0.3 /* of -h; below -1 twice the NLL has a maximum between two minima */

/* Can the signs of this model be known? */
bool signs_are_known(const struct frozen *model);

/* -h of each parameter at a point where it is at least SIGN_LEAST, else 0. `expected`: the data expected
 * there. `templates`: a user's row, or NULL. `data`, `expected`: n_data, in the user's order. */
paritas_status signs_measure(paritas_context *context, const struct frozen *model, const double *templates,
                             const double *point, const double *data, const double *expected, double *signs);

/* The largest elements that are above 0, at most `most`, the largest first. They become 0. */
size_t signs_take_largest(size_t n, double *elements, size_t most, size_t *which);

/* The value at least `widths` from the centre: on the value's side of it, or on the other one if negative. */
double signs_moved(double value, double centre, double width, double widths);
