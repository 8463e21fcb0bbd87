/* closest.h: fits for derivatives of what depends on their points: as close to the minimum as rounding lets
 * any fit be, without errors.
 *
 * A statistic hardly feels an error of 1e-5 sigma in the point of a minimum; its derivative by the data feels
 * it to first order. */
#ifndef PARITAS_FIT_CLOSEST_H
#define PARITAS_FIT_CLOSEST_H

#include "base/context.h"

struct closest_fit {
    paritas_fit_status status;
    /* twice the NLL less what depends on the data alone: 0 where the model meets them exactly; NaN outside
     * the domain */
    double deviance;
    bool open; /* a direction had no curvature */
};

/* As paritas_fit, by Newton's method, down to EDM_CLOSEST; a fit that does not get there is taken as far as
 * any other. For contexts in f64. fits: n; parameters: n rows. */
paritas_status fit_closest(paritas_context *context, const paritas_model *model, bool start_is_near, size_t n,
                           const paritas_job *jobs, struct closest_fit *fits, double *parameters);

/* Covariances (n rows of parameter_count squared) at the starts of jobs, which must be minima: NaN where the
 * Hessian has no factor. */
paritas_status fit_covariances(paritas_context *context, const paritas_model *model, size_t n,
                               const paritas_job *jobs, double *covariance);

#endif
