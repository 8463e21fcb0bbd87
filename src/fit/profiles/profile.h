/* profile.h: a free and a conditional fit of one data set: what is asked, and what is found. */
#pragma once

#include "fit/fit_rows.h"
#include "fit/widening.h"

#define PROFILE_EVALUATIONS 80 /* of a quasi-Newton fit in f64; then Newton takes over */

enum kind { FREE_FIT, CONDITIONAL_FIT, KINDS };

/* Starts of each fit. Further ones count only where their ends are lower. */
enum profile_starts {
    STARTS_USUAL,  /* others only where this one has no answer */
    STARTS_TURNED, /* and the other sides of parameters, where signs ask for them: only with a metric */
    STARTS_PROBE,  /* the suggested one too: shows whether toys have several minima */
    STARTS_MANY    /* and random ones, round by round, until nothing lower is found */
};

/* Inverse Hessian for quasi-Newton. Where data were drawn, bins' weights are the expected ones. So it is the
 * constraints' variances, less a column per bin. An unconstrained parameter adds a column. */
struct profile_metric {
    double *matrix;                     /* n_slots squared */
    double *diagonal;                   /* of parameters that are not fixed, user's order */
    double *columns;                    /* rank of them */
    size_t added;                       /* of them add to the diagonal; the others subtract */
    size_t rank;                        /* 0: only `matrix`; else it is the sum, to rounding */
    struct profile_metric *conditional; /* of conditional fits: without the parameter of interest */
};

/* Where quasi-Newton ended in free fits of the first n rows, and after how many evaluations (0: not known).
 * A fit that is known is not repeated; one that is not is noted. Not where fits begin in f32. */
struct profile_known {
    double *ends; /* n rows */
    unsigned *evaluations;
    size_t n;
};

/* Arrays are borrowed and in the user's order. */
struct profile_plan {
    const paritas_model *model;
    const double *start; /* of free fits: where the data were drawn, or near */
    const double *lower, *upper;
    const unsigned char *fixed;
    const struct widening *widening; /* of `upper`, in ensembles; NULL: it stays */
    ptrdiff_t poi;                   /* -1: none */
    bool conditional;
    double mu;
    const double *conditional_start;     /* fit to `start`'s expected data */
    const struct profile_metric *metric; /* NULL: Newton only */
    const struct profile_known *known;   /* NULL: none */
    enum profile_starts starts;          /* beyond STARTS_TURNED: in f64, without a metric */
    bool in_f64;                         /* regardless of the context */
};

/* Which method answered, from which start. */
enum profile_method {
    PROFILE_QUASI_NEWTON,
    PROFILE_NEWTON,
    PROFILE_SUGGESTED_START,
    PROFILE_FROM_THE_OTHER, /* from the pair's other fit */
    PROFILE_FURTHER_STARTS, /* bounds, expected data's fit, perturbed points */
    PROFILE_AT_EDGE,        /* by Newton, at the domain's edge: an empty bin's rate is 0 */
    PROFILE_NO_ANSWER
};

struct profile {
    double value_free, value_fixed; /* deviance form */
    double mu_hat, edm;
    double below; /* twice the NLL: from the usual start's end down to that of a further one, at most */
    paritas_fit_status status_free, status_fixed;
    /* of all fits: Newton iterations or quasi-Newton gradients */
    unsigned iterations;
    enum profile_method method;
    bool refitted; /* from a lower conditional one */
    bool edge;     /* a fit ended at the domain's edge */
};

extern const struct profile profile_without_answer;

/* Parameters that are not fixed. */
size_t profile_free_count(const struct profile_plan *plan);
/* PROFILE_POI_FREE, where free fits move the parameter of interest. */
uint32_t profile_poi_flag(const struct profile_plan *plan);
struct fit_job profile_job(const struct profile_plan *plan, bool conditional, const double *row,
                           const double *start);
bool profile_begins_in_f32(const paritas_context *context, const struct profile_plan *plan);
struct paritas_device *profile_device(const paritas_context *context, const struct profile_plan *plan);
/* Turns an f32 answer into an f64 start. False: not finite. */
bool profile_land(const struct profile_plan *plan, bool conditional, double *point);
/* Half of same_minimum, in NLL. A conditional fit further below its free fit found another minimum. */
double profile_same_minimum(const paritas_context *context, const struct profile_plan *plan);
