/* profile_curve.h: the profile of one parameter over a range, and its parts below levels.
 *
 *   coarse values, known minima ─► halves, where the curve is not as predicted ─► minima by free fits,
 *   maxima between parts ─► crossings ─► further starts at the crossings
 *
 * A part of a region holds a minimum of the profile. So known minima lead to parts, and so do slopes that
 * change their sign between two values. A round is one batch of fits. */
#pragma once

#include "statistics/regions/profile_nodes.h"

/* Sets a curve of infer->poi over its bounds, for levels of q. The profile has its free fit. */
void profile_curve_open(struct profile_curve *curve, struct infer *infer, struct infer_profile *profile,
                        size_t n_levels, const double *levels);
/* Follows the curve of infer->poi from `lower` to `upper`. `taken`: n points that hold this parameter alone,
 * fitted from further starts. */
paritas_status profile_curve_follow(struct profile_curve *curve, size_t n, struct infer_point *taken);
/* Takes the minima that searches of the free fit have met, and no more. */
paritas_status profile_curve_take_known(struct profile_curve *curve);
/* Parts below a level, ascending: up to `room` of them. Returns how many there are. */
size_t profile_curve_parts(const struct profile_curve *curve, double level, size_t room,
                           struct curve_part *parts);
