/* lowest_points.h: conditional fits in the lowest minimum that is found. */
#pragma once

#include "minima/conditional_fits.h"

/* Fits as infer_points_once does. If a direction is open there may be several minima: points are also fitted
 * from the job's start, and the lower answer stays. If a point is below the free fit, both are repeated from
 * there: a profile that is not the lowest minimum changes. Other minima are searched for
 * (minimum_search.h). */
paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points);
/* The same without a search, for points on the way to answers: from minima that are known. */
paritas_status infer_points_nearby(struct infer *infer, size_t n, struct infer_point *points);

/* The free fit, in the lowest minimum that is found. */
paritas_status infer_lowest_free_fit(struct infer *infer, struct infer_profile *profile);
