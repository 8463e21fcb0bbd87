/* infer.h: the fits of all statistics: free, and conditional ones that start from them.
 *
 *   infer_open ──► infer_free_fit ──► infer_points (values fixed, rest profiled) ──► infer_slopes
 *
 * Every stage is one job list. Conditional fits come in waves: the first starts from the free fit, moved by
 * its first-order response. Later ones start from a polynomial through neighbours, which saves most
 * iterations. A point below the free fit restarts both. */
#ifndef PARITAS_INFER_INFER_H
#define PARITAS_INFER_INFER_H

#include "base/context.h"
#include "fit/minimum.h"

#define INFER_FIXED_MAX 2
#define INFER_NEIGHBOURS 4

/* Arguments without NULL, and all memory. */
struct infer {
    paritas_context *context;
    const paritas_model *model;
    struct arena arena;
    size_t n_parameters, n_data;
    size_t poi;       /* valid if infer_open needed it */
    paritas_job base; /* borrowed, except `upper` */
    double *upper;    /* own copy: limits widen it */
    /* of constraints, by model or data's templates; NaN: none */
    const double *widths;
    bool out_of_memory; /* an allocation failed */
};

/* To one data set. Arrays are in the arena. */
struct infer_profile {
    const double *data;  /* by the caller */
    const double *start; /* by the caller; NULL: the base job's */
    paritas_fit_result result;
    double *parameters, *errors, *covariance; /* n, n, n * n */
    paritas_parameter_state *states;
    double *hessian; /* of twice the NLL; only for a parameter on its bound */
};

/* `k` parameters held at values. */
struct infer_point {
    struct infer_profile *profile;
    size_t k;
    size_t parameter[INFER_FIXED_MAX];
    double value[INFER_FIXED_MAX];
    unsigned wave; /* after all smaller waves */
    bool afresh;   /* from the job's start */
    /* of smaller waves, same profile and parameter; NULL: none */
    const struct infer_point *neighbour[INFER_NEIGHBOURS];
    paritas_fit_status status; /* answers follow */
    double twice_nll;
    double slope;             /* d(twice_nll) / d(value[0]), by infer_slopes */
    const double *parameters; /* in the arena */
};

/* `needs_poi`: fails without a free POI. Close it even after a failure. */
paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model,
                          const paritas_job *job, bool needs_poi);
/* Also refuses templates: no toys with them. */
paritas_status infer_open_for_toys(struct infer *infer, paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, bool needs_poi);
void infer_close(struct infer *infer);

/* n cleared elements (rows of p reals) in the arena. NULL: no memory; infer_memory then fails for all. */
void *infer_array(struct infer *infer, size_t n, size_t size);
double *infer_reals(struct infer *infer, size_t n, size_t p);
paritas_status infer_memory(const struct infer *infer);

/* INVALID_ARGUMENT, naming parameter and bounds, if outside. */
paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value);

double infer_bounded(const struct infer *infer, size_t parameter, double value);

/* At n points; templates as in the base job. In f64 on the host, for searches and generated data. */
paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data,
                              double *twice_nll, double *gradient, double *hessian);
paritas_status infer_expected(struct infer *infer, const double *point, double *expected);

paritas_status infer_free_fit(struct infer *infer, struct infer_profile *profile);

/* An unfitted point with the POI at mu. */
struct infer_point infer_point_at(const struct infer *infer, struct infer_profile *profile, double mu);
/* A batch a wave. Open directions allow several minima: then each point is also fitted from the job's
 * start, and the lower answer stays. Profiles must be fitted; one above the lowest minimum is replaced. */
paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points);

/* Fits once, keeps the profiles. */
paritas_status infer_points_once(struct infer *infer, size_t n, struct infer_point *points);

/* Newton steps on top of a fit. Twice the NLL hides an error of 1e-5 sigma; data made from the parameters
 * do not. */
paritas_status infer_polish(struct infer *infer, struct infer_point *point);

/* Exact gradients at fitted points (envelope theorem). */
paritas_status infer_slopes(struct infer *infer, size_t n, struct infer_point *points);
/* Not 0 if the parameter is on its bound. */
paritas_status infer_free_slope(struct infer *infer, const struct infer_profile *profile, size_t parameter,
                                double *slope);

/* From the covariance, or on a bound the curvature. NaN: neither. */
paritas_status infer_variance(struct infer *infer, struct infer_profile *profile, size_t parameter,
                              double *variance);

/* Values (n_parameters) with pull 0 for the base job; NaN: unconstrained. */
paritas_status infer_constraint_centres(struct infer *infer, double *centres);

paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b);

#endif
