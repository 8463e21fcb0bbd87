/* profile_flips.h: profiles' further minima, on the other side of parameters.
 *
 *   ends ─► signs (fit/signs.h) at each ─► the strongest turned round, one start each ─► lower ends stay
 *     ▲                                                                                        │
 *     └────────────────────────── where one fell: signs there, and the pair's other end ◄──────┘ */
#pragma once

#include "fit/profiles/profile.h"

/* Fits by quasi-Newton, in f64, with the plan's metric. `ends`: n rows of both fits' points, which lower ones
 * replace. Starts without an answer count for nothing. */
paritas_status profiles_flip(paritas_context *context, const struct profile_plan *plan, size_t n,
                             const double *data, struct profile *profiles, double *ends);
