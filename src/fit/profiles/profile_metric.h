/* profile_metric.h: the inverse Hessian that quasi-Newton fits share. */
#pragma once

#include "fit/profiles/profile.h"

/* From the inverse Hessian at `start` for its expected data (kernel row), all but fixed parameters free and
 * off bounds; of conditional fits at their start, where it is known. Arrays from `arena`. *usable: exists and
 * is positive. */
paritas_status profiles_metric(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, struct arena *arena, struct profile_metric *metric,
                               bool *usable);

/* The same matrix alone, for the data of `row` as they are. */
paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan, const double *row,
                               struct arena *arena, struct profile_metric *metric, bool *usable);
