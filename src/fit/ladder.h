/* ladder.h: profiles by Newton's method, from one start after the other until there is an answer.
 *
 *   the plan's start ─► suggested start ─► the other fit's end ─► bounds ─► between ─► perturbed ─► the edge
 */
#ifndef PARITAS_FIT_LADDER_H
#define PARITAS_FIT_LADDER_H

#include "fit/fit_rows.h"
#include "fit/profiles.h"

/* ---- what all methods do with a plan ---- */

extern const struct profile profile_without_answer;

/* One fit of the plan to a kernel's data row, from `start`. */
struct fit_job profile_job(const struct profile_plan *plan, bool conditional, const double *row,
                           const double *start);
/* Are these fits to begin in f32? */
bool profile_begins_in_f32(const paritas_context *context, const struct profile_plan *plan);
/* Where the plan's fits run first. */
struct paritas_device *profile_device(const paritas_context *context, const struct profile_plan *plan);
/* The f32 answer of a fit (n_parameters), as a start of the same fit in f64. False: it is no point. */
bool profile_land(const struct profile_plan *plan, bool conditional, double *point);
/* Of the NLL, which is half of what same_minimum is of: further than this below a free fit, a conditional one
 * has found another minimum. */
double profile_same_minimum(const paritas_context *context, const struct profile_plan *plan);

/* Fits the profiles `which` (n of them) of the data rows; a free fit that ends above its conditional one is
 * repeated from there. Other arguments as profiles_fit. */
paritas_status ladder_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                          const size_t *which, const double *data, struct profile *profiles, double *points);

#endif
