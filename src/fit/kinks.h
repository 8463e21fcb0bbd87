/* kinks.h: fits that end where a parameter is at its kink at 0: conditions and errors there.
 *
 * Rates have a derivative on each side. The point is a minimum if the NLL falls on neither side, and the
 * exact Hessian of the other parameters is positive.
 *
 * Errors: on each side the NLL rises along the parameter by slope and curvature of that side, while others
 * follow; other parameters at kinks stay. The side's error is where twice the NLL has risen by 1: MINOS'
 * error of second order. The parameter's error is the mean of its two. Several of them are correlated as
 * their curvature says, with those errors. Others follow along their conditional minima; their covariance is
 * the mean of what the two sides give. Without a kink (equal sides, slope 0) all this is the usual
 * covariance. */
#pragma once

#include "fit/fit_rows.h"

#include <math.h>

/* Does the job's start have a free parameter at its kink? */
bool kinks_hold(const struct frozen *model, const struct fit_job *job);

/* A covariance's answer (entry/entry_rows.h, with the matrix) for such a job. The parameters at kinks are
 * active; EDM and pull are the worse ones of the two sides. */
paritas_status kinks_covariance(paritas_context *context, const struct frozen *model,
                                const struct fit_job *job, double *answer);

/* The same for a minimum's response to small changes: kinks hold parameters where the NLL rises on both
 * sides. Others are on the upper side. */
paritas_status kinks_response(paritas_context *context, const struct frozen *model, const struct fit_job *job,
                              double *answer);

/* ---- also of kink surfaces ---- */

/* The error on a side where the NLL rises by this slope and curvature. */
static inline double kinks_error(double slope, double curvature)
{
    return 1.0 / (slope + sqrt(slope * slope + curvature));
}

/* The curvature `stiff` of n kinks := their covariance with these errors; without correlations where that is
 * not positive. */
void kinks_correlate(size_t n, const double *errors, double *stiff);
