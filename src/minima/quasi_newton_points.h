/* quasi_newton_points.h: many conditional fits of one profile, by quasi-Newton with its covariance.
 *
 *   free fit ─► covariance ─► all points at once, from predicted starts ─► Newton for those without an end
 *
 * A point costs some gradients, eight points at once, in place of a Hessian and three gradients alone. */
#pragma once

#include "minima/infer.h"

/* Fits points of profiles that have enough of them, as Newton's method would. Leaves in `points` those
 * without an answer, *n of them. Only in f64. */
paritas_status quasi_newton_points_fit(struct infer *infer, size_t *n, struct infer_point **points);
