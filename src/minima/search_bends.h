/* search_bends.h: where rates bend too little for a second minimum.
 *
 * The Hessian of the NLL is what the data's errors alone give, J^T n/r^2 J, and what is left: constraints,
 * and bends of rates times the residuals 1 - n/r. In widths of the constraints, the least eigenvalue of what
 * is left is 1 for linear rates. At 0.6 and above no second minimum was met in 59 fits of published
 * analyses; below, in 17 of 73. A factor of one simulated event or fewer is another sign: the search for
 * three leptons by recursive jigsaws has 0.06 events in a bin, and its second minimum at their bound. */
#pragma once

#include "minima/search_targets.h"

#define LOW_DIRECTIONS_MOST 8

/* The eigenvectors of the least eigenvalues, in the parameters' units; a row of n_parameters each. */
struct bends {
    bool several_possible; /* the least eigenvalue is below 0.6, or unknown */
    size_t n;
    const double *directions;
};

/* Measures the bends of a target, where its fit ended. */
paritas_status search_bends(const struct search *search, const struct target *target, struct bends *bends);
