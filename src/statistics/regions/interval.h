/* interval.h: confidences of one parameter, and curves over its bounds. */
#pragma once

#include "statistics/regions/profile_curve.h"

/* Refuses a confidence that is not between 0 and 1, by its number. */
paritas_status confidences_check(const struct infer *infer, size_t n, const double *confidences);
/* q at the edge of an interval of one parameter, for each confidence; in the arena. */
paritas_status confidences_quantiles(struct infer *infer, size_t n, const double *confidences,
                                     const double **quantiles);
