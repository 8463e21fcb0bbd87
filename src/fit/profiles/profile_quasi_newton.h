/* profile_quasi_newton.h: launches of the quasi-Newton entry (kernels/minimise/quasi_newton.h). */
#pragma once

#include "fit/profiles/profile.h"

/* Fits of data rows by the plan's metric. Without an answer, profile and end stay. */
struct quasi_newton {
    const struct profile_plan *plan;
    size_t n;
    const size_t *which; /* n rows; NULL: 0 .. n - 1 */
    const double *data;  /* all rows; with PROFILE_HOLDS one for all fits */
    struct profile *profiles;
    double *ends;   /* a row of both fits' points (user's order); may be NULL */
    double *slopes; /* of twice the NLL by the parameter of interest, in the last fit; or NULL */
    const struct profile_known *known; /* free fits: taken with PROFILE_KNOWN, else noted; or NULL */
    uint32_t flags;                    /* PROFILE_POINTS and so on; PROFILE_CONDITIONAL is the plan's */
    uint32_t evaluations;              /* at most */
};

paritas_status quasi_newton_run(paritas_context *context, struct paritas_device *device,
                                struct quasi_newton *fits);
