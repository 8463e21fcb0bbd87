/* cholesky.h: the factor and the inverse of a small matrix on the host, and products with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

static inline double dot_product(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Upper triangle of the symmetric a[n][n] := U, a = U^T U; the rest stays. False: not positive definite. */
bool cholesky(size_t n, double *a);

/* y[n] := a^-1 y, by that factor. */
void cholesky_solve(size_t n, const double *factor, double *y);

/* The symmetric a[n][n] := its inverse. False: not positive definite. */
bool invert_positive(size_t n, double *a);

/* l[n][n] := L with a = L L^T, for a[n][n] symmetric with no negative eigenvalue. The largest pivot comes
 * first, so that columns without pivot are 0. Pivots up to `least` of a's own diagonal count as 0. Returns
 * how many columns there are. */
size_t cholesky_with_pivots(size_t n, const double *a, double least, double *l);
