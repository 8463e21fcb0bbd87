/* cholesky.h: the factor and the inverse of a small matrix on the host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Upper triangle of the symmetric a[n][n] := U, a = U^T U; the rest stays. False: not positive definite. */
bool cholesky(size_t n, double *a);

/* The symmetric a[n][n] := its inverse. False: not positive definite. */
bool invert_positive(size_t n, double *a);

/* l[n][n] := L with a = L L^T, for a[n][n] symmetric with no negative eigenvalue. The largest pivot comes
 * first, so that columns without pivot are 0. Pivots up to `least` of a's own diagonal count as 0. Returns
 * how many columns there are. */
size_t cholesky_with_pivots(size_t n, const double *a, double least, double *l);
