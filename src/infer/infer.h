/* infer.h: what all statistics share: the free fit to a data set and conditional fits that start from it.
 *
 *   infer_open ──► infer_free_fit ──► infer_points (values fixed, the rest profiled) ──► infer_slopes
 *
 * Every stage is one job list, so lanes and threads are used. Conditional fits come in waves. The first wave
 * starts from the free fit, moved along its first-order response to the fixed values. Later ones start from
 * the polynomial through neighbours, which saves most of their iterations. Where a point finds a lower
 * minimum than the free fit, the free fit is repeated from there, and then the points. */
#ifndef PARITAS_INFER_INFER_H
#define PARITAS_INFER_INFER_H

#include "base/context.h"
#include "fit/minimum.h"

#define INFER_FIXED_MAX 2
#define INFER_NEIGHBOURS 4

/* One call of a statistics function: its arguments with no NULL left, and all of its memory. */
struct infer {
    paritas_context *context;
    const paritas_model *model;
    struct arena arena;
    size_t n_parameters, n_data;
    size_t poi;       /* meaningful if infer_open was asked for one */
    paritas_job base; /* data, start, lower, fixed: borrowed; upper: `upper` */
    double *upper;    /* own copy: limits widen it */
    /* of constraints, NaN where there is none: the model's, or what the data's templates make of them */
    const double *widths;
    bool out_of_memory; /* an array was not there */
};

/* The free fit to one data set. All arrays are in the arena. */
struct infer_profile {
    const double *data;  /* set by the caller */
    const double *start; /* set by the caller; NULL: the base job's */
    paritas_fit_result result;
    double *parameters, *errors, *covariance; /* n, n, n * n */
    paritas_parameter_state *states;
    double *hessian; /* of twice the NLL; made when a parameter at its bound is moved, else NULL */
};

/* A conditional fit: `k` parameters of a profile fixed at values. */
struct infer_point {
    struct infer_profile *profile;
    size_t k;
    size_t parameter[INFER_FIXED_MAX];
    double value[INFER_FIXED_MAX];
    unsigned wave; /* fitted after all smaller waves */
    bool afresh;   /* starts where the job does, not from what is known */
    /* of smaller waves, same profile and parameter; NULL: none */
    const struct infer_point *neighbour[INFER_NEIGHBOURS];
    paritas_fit_status status; /* from here on: answers */
    double twice_nll;
    double slope;             /* d(twice_nll) / d(value[0]) of the profile; only after infer_slopes */
    const double *parameters; /* in the arena */
};

/* Fills `infer`. Refuses a model without POI, or with a fixed one, if `needs_poi`. Close it also after a
 * failure. */
paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model,
                          const paritas_job *job, bool needs_poi);
/* The same for what draws toys: refuses a model with templates. */
paritas_status infer_open_for_toys(struct infer *infer, paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, bool needs_poi);
void infer_close(struct infer *infer);

/* n elements, or n rows of p reals, cleared, in the call's arena. NULL: no memory, which infer_memory says of
 * all arrays asked for before it. */
void *infer_array(struct infer *infer, size_t n, size_t size);
double *infer_reals(struct infer *infer, size_t n, size_t p);
paritas_status infer_memory(const struct infer *infer);

/* INVALID_ARGUMENT, naming parameter, value and bounds, unless `value` lies within the bounds of
 * `parameter`. */
paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value);

/* A value within the bounds of a parameter. */
double infer_bounded(const struct infer *infer, size_t parameter, double value);

/* paritas_evaluate at n points of one data set, and paritas_expected_data with the templates of the base
 * job's data. On the host in f64: what steers a search or becomes data is exact. */
paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data,
                              double *twice_nll, double *gradient, double *hessian);
paritas_status infer_expected(struct infer *infer, const double *point, double *expected);

/* The free fit of a profile. */
paritas_status infer_free_fit(struct infer *infer, struct infer_profile *profile);

/* A conditional fit with the parameter of interest at mu, to be done. */
struct infer_point infer_point_at(const struct infer *infer, struct infer_profile *profile, double mu);
/* Conditional fits of n points, a batch a wave. Where the data leave directions open there may be several
 * minima: then each point is fitted from the job's start too, and the lower answer stays. The profiles of the
 * points must have been fitted; one that turns out not to be the lowest minimum is replaced (its result,
 * parameters, errors and covariance change). */
paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points);

/* As infer_points, but fits once and leaves the profiles alone. */
paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points);

/* Takes a fitted point to its minimum as closely as numbers allow, by Newton steps on top of the fit. Twice
 * the NLL does not feel an error of 1e-5 sigma; data made from the parameters do. */
paritas_status infer_polish(struct infer *infer, struct infer_point *point);

/* Slopes of the profile at n fitted points: the exact gradient there (envelope theorem). */
paritas_status infer_slopes(struct infer *infer, size_t n, struct infer_point *points);
/* The same at a profile's free fit: not 0 where the parameter is on its bound. */
paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter,
                                double *slope);

/* Variance of a parameter at a free fit: from the covariance or, on its bound, from the curvature. NaN:
 * neither. */
paritas_status infer_variance(struct infer *infer, struct infer_profile *profile, size_t parameter,
                              double *variance);

/* Where each parameter's constraint is at its best (the pull is 0) with the base job's auxiliary data; NaN
 * for an unconstrained one. centres: n_parameters. */
paritas_status infer_constraint_centres(struct infer *infer, double *centres);

/* The worse of two outcomes. */
paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b);

#endif
