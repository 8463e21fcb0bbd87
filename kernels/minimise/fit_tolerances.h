/* fit_tolerances.h: every tolerance of the contract that is not zero, once. Kernels, the host, tests,
 * `paritas parity` and (by tools/check_docs.py) the pages read it. Where nothing stands here, bits are equal.
 *
 * EDM: estimated distance to the minimum, in units of twice the NLL. Errors: of the parameter, from the
 * covariance.
 */
#ifndef PARITAS_FIT_TOLERANCES_H
#define PARITAS_FIT_TOLERANCES_H

/* `converged` in each precision: the EDM at the returned point, and each |slope of twice the NLL| x error
 * there. */
#define EDM_TOLERANCE_F64 1e-10
#define EDM_TOLERANCE_F32 1e-5
#define PULL_TOLERANCE_F64 1e-5
#define PULL_TOLERANCE_F32 7e-3 /* an EDM of 1e-5, all of it along one parameter: 2 sqrt(EDM) */
#define EDM_CLOSER 1e-4         /* part of the above that a continued or polished fit goes down to */
/* the same of a fit at whose point derivatives of statistics are taken: within 3e-11 errors of the minimum */
#define EDM_CLOSEST 1e-11

/* A polished f32 answer against the minimum that an f64 fit finds. */
#define POLISHED_NLL 1e-9       /* of the NLL, absolute */
#define POLISHED_PARAMETER 1e-6 /* of errors */
/* relative, of the errors themselves: they change with the point that an f64 fit stopped at */
#define POLISHED_ERROR 1e-5
#define POLISHED_Q 1e-6   /* of q, absolute: scan points, tests, toys */
#define POLISHED_CLS 1e-6 /* absolute */
/* part of the toys of which that must hold; the rest may have found another minimum */
#define POLISHED_TOYS 0.999

/* f32 kernels before any polish, against f64: the NLL, of 1 + its deviance form; a slope, of the largest one
 * at the point; an element of the Hessian, of the geometric mean of the largest ones of its row and
 * column. */
#define RAW_NLL 1e-5
#define RAW_SLOPE 1e-3
#define RAW_CURVATURE 1e-3
#define RAW_SAME_MINIMUM 1e-3 /* of twice the NLL: raw f32 fits this near each other are at one minimum */

#endif
