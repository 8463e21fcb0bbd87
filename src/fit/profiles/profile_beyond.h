/* profile_beyond.h: free fits that ended on an upper bound which gives way. */
#pragma once

#include "fit/profiles/profile.h"

/* Does profiles_go_beyond need the free fits' ends? Else mu_hat says all. */
bool profiles_need_ends(const struct profile_plan *plan);
/* Repeats profiles of `n` kernel rows whose free fits ended on such a bound, with bounds twice as wide, as
 * long as there are any. Bounds of all parameters of interest widen together, so that no row depends on
 * others. `ends`:
 * the free fits', or NULL. */
paritas_status profiles_go_beyond(paritas_context *context, const struct profile_plan *plan, size_t n,
                                  const double *data, struct profile *profiles, double *ends);
