/* fit.h: from a list of jobs to answers, for callers within the library: sizes of structs are not looked
 * at. */
#ifndef PARITAS_FIT_FIT_H
#define PARITAS_FIT_FIT_H

#include "fit/family.h"

/* Arguments as paritas_fit has them; `options` may be NULL. */
paritas_status fit_run(paritas_context *context, const paritas_model *model,
                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                       const paritas_fit_answers *answers);

/* ---- for derivatives of what depends on fits ----
 * A statistic hardly feels an error of 1e-5 sigma in the point of a minimum; its derivative by the data feels
 * it to first order. */

struct closest_fit {
    paritas_fit_status status;
    /* twice the NLL less what depends on the data alone: 0 where the model meets them exactly; NaN outside
     * the domain */
    double deviance;
    bool open; /* a direction had no curvature */
};

/* Fits by Newton's method, as close to the minimum as rounding lets any fit be (EDM_CLOSEST); one that does
 * not get there is taken as far as any other. For contexts in f64. fits: n; parameters: n rows. */
paritas_status fit_closest(paritas_context *context, const paritas_model *model, bool start_is_near, size_t n,
                           const paritas_job *jobs, struct closest_fit *fits, double *parameters);

/* Covariances (n rows of parameter_count squared) at the starts of jobs, which must be minima: NaN where the
 * Hessian has no factor. */
paritas_status fit_covariances(paritas_context *context, const paritas_model *model, size_t n,
                               const paritas_job *jobs, double *covariance);

#endif
