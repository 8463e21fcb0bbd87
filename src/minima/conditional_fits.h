/* conditional_fits.h: free fits, and conditional fits that start from them.
 *
 * Conditional fits come in waves: the first starts from the free fit, moved by its first-order response.
 * Later ones start from a polynomial through neighbours, which saves most iterations. Many points of a wave
 * share their free fit's covariance (quasi_newton_points.h). */
#pragma once

#include "minima/infer.h"

paritas_status infer_free_fit(struct infer *infer, struct infer_profile *profile);
/* The same from another start (NULL: the job's), into a profile that can replace this one. It knows where it
 * started, and later fits start where the profile's do. */
paritas_status infer_free_fit_from(struct infer *infer, const struct infer_profile *profile,
                                   const double *start, struct infer_profile *again);

/* Fits one batch a wave. Fit the profiles first. */
paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points);

/* Newton steps from a fitted point. Twice the NLL does not feel an error of 1e-5 sigma; data made from the
 * parameters do. */
paritas_status infer_polish(struct infer *infer, struct infer_point *point);

/* The exact gradient at fitted points (envelope theorem). */
paritas_status infer_slopes(struct infer *infer, size_t n, struct infer_point *points);
/* The same at the free fit: not 0 if the parameter is on its bound. */
paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter,
                                double *slope);
