/* random_start.h: random starts of fits, by place in a table (base/math/counter_random.h). */
#pragma once

#include <math.h>

#define RANDOM_START_SIZES 3.0 /* reach of a parameter without a constraint, in sizes */

static inline double random_start_size(double centre)
{
    return fmax(fabs(centre), 1.0);
}

/* Reach of a parameter without a constraint around `centre`. */
static inline double random_start_reach(double centre)
{
    return RANDOM_START_SIZES * random_start_size(centre);
}

/* Evenly within `reach` of `centre` and within bounds. part: random, 0 to 1. */
static inline double random_start(double centre, double reach, double lower, double upper, double part)
{
    const double low = fmax(lower, centre - reach), high = fmin(upper, centre + reach);
    return low + part * (high - low);
}
