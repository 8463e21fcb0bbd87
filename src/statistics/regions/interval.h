/* interval.h: confidences of one parameter, and curves over its bounds. */
#pragma once

#include "statistics/regions/profile_curve.h"

/* Refuses a confidence that is not between 0 and 1, by its number. */
paritas_status confidences_check(const struct infer *infer, size_t n, const double *confidences);
/* q at the edge of an interval of one parameter, for each confidence; in the arena. */
paritas_status confidences_quantiles(struct infer *infer, size_t n, const double *confidences,
                                     const double **quantiles);
/* Makes the lowest free fit, and a curve over the bounds. Leaves levels and top to the caller. */
paritas_status interval_open(struct infer *infer, size_t parameter, struct infer_profile *profile,
                             struct profile_curve *curve);
