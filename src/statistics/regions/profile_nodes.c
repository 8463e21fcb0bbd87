/* profile_nodes.c: what nodes say. */
#include "statistics/regions/profile_nodes.h"

#include <math.h>

/* Outside the domain is an answer; a fit that failed within is none. */
static bool has_answer(const struct infer_point *point)
{
    return point->status == PARITAS_FIT_CONVERGED || !isfinite(point->twice_nll);
}

double profile_curve_q(const struct profile_curve *curve, size_t node)
{
    const double twice_nll = curve->nodes[node].point->twice_nll;
    return isfinite(twice_nll) ? fmax(twice_nll - curve->profile->result.twice_nll, 0.0) : HUGE_VAL;
}

size_t profile_curve_next(const struct profile_curve *curve, size_t from)
{
    while (from < curve->n && !has_answer(curve->nodes[from].point)) from++;
    return from;
}
