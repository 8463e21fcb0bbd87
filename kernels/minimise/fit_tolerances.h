/* fit_tolerances.h: every nonzero tolerance of the contract. Kernels, host, tests, `paritas parity` and
 * tools/check_docs.py read it. Anything not listed here agrees to the bit.
 *
 * EDM: estimated distance to the minimum, in units of twice the NLL. Errors: from the covariance. */
#pragma once

/* Limits of `converged` on the EDM and on each |slope of twice the NLL| x error at the returned point. */
#define EDM_TOLERANCE_F64 1e-10
#define EDM_TOLERANCE_F32 1e-5
#define PULL_TOLERANCE_F64 1e-5
#define PULL_TOLERANCE_F32 7e-3 /* 2 sqrt(EDM): an EDM of 1e-5 along one parameter */
#define EDM_CLOSER 1e-4         /* factor for continued or polished fits */
/* where statistics are differentiated: within 3e-11 errors of the minimum */
#define EDM_CLOSEST 1e-11

/* A polished f32 answer against an f64 fit. */
#define POLISHED_NLL 1e-9       /* of the NLL, absolute */
#define POLISHED_PARAMETER 1e-6 /* of errors */
/* relative, of the errors: they change with an f64 fit's stopping point */
#define POLISHED_ERROR 1e-5
#define POLISHED_Q 1e-6   /* of q, absolute */
#define POLISHED_CLS 1e-6 /* absolute */
/* share of toys where that holds; others may find another minimum */
#define POLISHED_TOYS 0.999

/* Raw f32 kernels against f64. NLL: of 1 + its deviance form + RAW_RATES of the sum over all data of
 * |rate - datum|: rates are rounded, and the NLL falls with each by 1 - datum / rate. Where rates of samples
 * cancel, their sizes enter, times |1 - datum / rate|. Slope: of the largest. Hessian element: of the
 * geometric mean of the largest in its row and column. */
#define RAW_NLL 1e-5
#define RAW_RATES 0.1
#define RAW_SLOPE 1e-3
#define RAW_CURVATURE 1e-3
#define RAW_SAME_MINIMUM 1e-3 /* of twice the NLL: raw f32 fits this close share a minimum */
