/* ladder.h: Newton profiles, from start to start until there is an answer.
 *
 *   plan's start ─► suggested start ─► the other fit's end ─► bounds ─► between ─► perturbed */
#ifndef PARITAS_FIT_LADDER_H
#define PARITAS_FIT_LADDER_H

#include "fit/fit_rows.h"
#include "fit/profiles.h"

/* ---- common to all methods ---- */

extern const struct profile profile_without_answer;

struct fit_job profile_job(const struct profile_plan *plan, bool conditional, const double *row,
                           const double *start);
bool profile_begins_in_f32(const paritas_context *context, const struct profile_plan *plan);
struct paritas_device *profile_device(const paritas_context *context, const struct profile_plan *plan);
/* Turns an f32 answer into an f64 start. False: not finite. */
bool profile_land(const struct profile_plan *plan, bool conditional, double *point);
/* In NLL, half of same_minimum: a conditional fit further below its free fit found another minimum. */
double profile_same_minimum(const paritas_context *context, const struct profile_plan *plan);

/* Fits profiles `which` (n); repeats free fits from lower conditional ones. Others as profiles_fit. */
paritas_status ladder_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                          const size_t *which, const double *data, struct profile *profiles, double *points);

#endif
