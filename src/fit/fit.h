/* fit.h: fits for callers inside the library; struct sizes are not checked. */
#pragma once

#include "fit/family.h"

paritas_status fit_run(paritas_context *context, const paritas_model *model,
                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                       const paritas_fit_answers *answers);
/* Refuses a start or bounds, data of job i, or all of these, that no fit can have, with the job's number
 * (INVALID_ARGUMENT). */
paritas_status fit_check_starts(paritas_context *context, const paritas_model *model, size_t n,
                                const paritas_job *jobs);
paritas_status fit_check_data(paritas_context *context, const paritas_model *model, size_t n,
                              const paritas_job *jobs, size_t i);
paritas_status fit_check_jobs(paritas_context *context, const paritas_model *model, size_t n,
                              const paritas_job *jobs);
/* The places of job i, and those that follow. p: parameters. */
paritas_fit_answers fit_answers_from(const paritas_fit_answers *all, size_t i, size_t p);

/* ---- for derivatives of what depends on fits ----
 * An error of 1e-5 sigma in a minimum barely changes a statistic, but its data derivatives change
 * to first order. */

struct closest_fit {
    paritas_fit_status status;
    /* deviance form of twice the NLL; NaN outside the domain */
    double deviance;
    bool open; /* a direction had no curvature */
};

/* Newton fits to EDM_CLOSEST, or else to the usual limit. f64 contexts. fits: n; parameters: n rows. */
paritas_status fit_closest(paritas_context *context, const paritas_model *model, bool start_is_near, size_t n,
                           const paritas_job *jobs, struct closest_fit *fits, double *parameters);

/* n covariances at the jobs' starts, which must be minima: how those respond to small changes. Parameters
 * that kinks hold do not. NaN without a factor. */
paritas_status fit_covariances(paritas_context *context, const paritas_model *model, size_t n,
                               const paritas_job *jobs, double *covariance);
