/* profile_newton.h: profiles by Newton's method, from further starts where one has no answer.
 *
 *   plan's start ─► suggested start ─► the other fit's end ─► bounds ─► between ─► perturbed
 *
 * With plan->starts beyond STARTS_TURNED all fits have several starts, and the lowest ends stay. */
#pragma once

#include "fit/profiles/profile.h"

/* Fits profiles `which` (n); repeats free fits from lower conditional ones. `ends` (may be NULL): rows of
 * both fits' points. Others as profiles_fit. */
paritas_status profiles_by_newton(paritas_context *context, const struct profile_plan *plan, size_t n,
                                  const size_t *which, const double *data, struct profile *profiles,
                                  double *ends);
