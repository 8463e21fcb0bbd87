/* profiles.h: a free fit and a conditional fit to each of many data sets that were drawn around one point.
 *
 *   data rows ─► quasi-Newton, where there is a shared matrix ─► Newton, for the rest ─► ladder ─► profiles
 *
 * In f32 the device runs quasi-Newton, or where there is no matrix Newton, and the host the same method once
 * more in f64 from where f32 ended: a gradient or two a fit. A data row that f32 does not finish, or that has
 * no answer from there, is fitted as if there were no f32. Without polish the f32 answers stand; what f32
 * does not finish is f64's also then.
 *
 * Every data row is fitted by itself: its answer does not depend on the others, nor on how rows are cut into
 * calls.
 */
#ifndef PARITAS_FIT_PROFILES_H
#define PARITAS_FIT_PROFILES_H

#include "fit/family.h"

/* What all fits of a call share. Arrays are borrowed; parameter arrays in the user's order. */
struct profile_plan {
    const paritas_model *model;
    const double *start; /* of the free fits: the point that the data were drawn at, or near it */
    const double *lower, *upper;
    const unsigned char *fixed;
    ptrdiff_t poi;    /* -1: none, then there are no conditional fits */
    bool conditional; /* fit with the parameter of interest at `mu`, too */
    double mu;
    const double *conditional_start; /* the conditional fit to the expected data of `start` */
    const double *matrix;            /* n_slots squared, from profiles_matrix; NULL: Newton only */
    bool in_f64;                     /* whatever the context's precision is */
};

/* The way that an answer took. */
enum profile_rung {
    PROFILE_QUASI_NEWTON,
    PROFILE_NEWTON,
    PROFILE_SUGGESTED_START,
    PROFILE_FROM_THE_OTHER, /* from where the other fit of the pair ended */
    PROFILE_FURTHER_STARTS, /* bounds, the fit to the expected data, perturbed points */
    /* the minimum is where the rate of an empty bin becomes 0, at the edge of the domain */
    PROFILE_AT_EDGE,
    PROFILE_NO_ANSWER,
    PROFILE_RUNGS
};

struct profile {
    double value_free, value_fixed; /* NLL in deviance form: 0 where the model meets the data exactly */
    double mu_hat, edm;             /* of the free fit */
    paritas_fit_status status_free, status_fixed;
    /* of all fits: Newton iterations, or gradients where quasi-Newton did it */
    unsigned iterations;
    enum profile_rung rung;
    bool refitted; /* the conditional fit had found a lower minimum, from which the free fit was repeated */
};

/* The inverse Hessian at `start` for the expected data of that point (a kernel data row), all parameters but
 * the fixed ones free and away from their bounds: matrix[n_slots * n_slots]. *usable: it exists and is
 * positive. */
paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, double *matrix, bool *usable);

/* Fits `n` data rows (kernel order, n_places each). `points`: NULL or n rows for the free fits'
 * parameters. */
paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points);

/* By quasi-Newton alone, in f64 and down to EDM_CLOSEST: what it does not finish has PROFILE_NO_ANSWER.
 * `ends`: n rows of both fits' parameters (2 n_parameters). */
paritas_status profiles_closest(paritas_context *context, const struct profile_plan *plan, size_t n,
                                const double *data, struct profile *profiles, double *ends);

#endif
