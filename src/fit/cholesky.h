/* cholesky.h: the factor and the inverse of a small matrix on the host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Upper triangle of the symmetric a[n][n] := U, a = U^T U; the rest stays. False: not positive definite. */
bool cholesky(size_t n, double *a);

/* The symmetric a[n][n] := its inverse. False: not positive definite. */
bool invert_positive(size_t n, double *a);
