/* profiles.h: free and conditional fits of many data sets drawn around one point.
 *
 *   data rows ─► quasi-Newton, where there is a shared matrix ─► Newton, for the rest ─► ladder ─► profiles
 *
 * f32 fits first on the device; the host continues the method in f64: a gradient or two per fit. Rows without
 * an answer that way are fitted without f32. Without polish f32 answers stand; f64 fits only unfinished rows.
 *
 * Answers do not depend on other rows or on how rows are cut into calls. */
#ifndef PARITAS_FIT_PROFILES_H
#define PARITAS_FIT_PROFILES_H

#include "fit/family.h"

/* Starts of each fit. Further ones count only where their ends are lower. */
enum profile_starts {
    STARTS_USUAL, /* others only where this one has no answer */
    STARTS_PROBE, /* the suggested one too: shows whether toys have several minima */
    STARTS_MANY   /* and random ones, round by round, until nothing lower is found */
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
    ptrdiff_t poi; /* -1: none */
    bool conditional;
    double mu;
    const double *conditional_start;     /* fit to `start`'s expected data */
    const struct profile_metric *metric; /* NULL: Newton only */
    const struct profile_known *known;   /* NULL: none */
    enum profile_starts starts;          /* other than usual: in f64, without a metric */
    bool in_f64;                         /* regardless of the context */
};

enum profile_rung {
    PROFILE_QUASI_NEWTON,
    PROFILE_NEWTON,
    PROFILE_SUGGESTED_START,
    PROFILE_FROM_THE_OTHER, /* from the pair's other fit */
    PROFILE_FURTHER_STARTS, /* bounds, expected data's fit, perturbed points */
    PROFILE_AT_EDGE,        /* by Newton, at the domain's edge: an empty bin's rate is 0 */
    PROFILE_NO_ANSWER,
    PROFILE_RUNGS
};

struct profile {
    double value_free, value_fixed; /* deviance form */
    double mu_hat, edm;
    double below; /* twice the NLL: from the usual start's end down to that of a further one, at most */
    paritas_fit_status status_free, status_fixed;
    /* of all fits: Newton iterations or quasi-Newton gradients */
    unsigned iterations;
    enum profile_rung rung;
    bool refitted; /* from a lower conditional one */
    bool edge;     /* a fit ended at the domain's edge */
};

#define PROFILE_EVALUATIONS 80 /* of a quasi-Newton fit in f64; then Newton takes over */

/* Parameters that are not fixed. */
size_t profile_free_count(const struct profile_plan *plan);
/* From the inverse Hessian at `start` for its expected data (kernel row), all but fixed parameters free and
 * off bounds; of conditional fits at their start, where it is known. Arrays from `arena`. *usable: exists and
 * is positive. */
paritas_status profiles_metric(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, struct arena *arena, struct profile_metric *metric,
                               bool *usable);

/* The same matrix alone, for the data of `row` as they are. */
paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan, const double *row,
                               struct arena *arena, struct profile_metric *metric, bool *usable);

/* Fits `n` kernel rows. `points`: free fits' parameters, or NULL. */
paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points);

/* Quasi-Newton only, f64, to EDM_CLOSEST; the rest has PROFILE_NO_ANSWER. `ends`: n rows of 2 n_parameters,
 * both fits. slopes: n, of twice the NLL by the parameter of interest, at the conditional fits. */
paritas_status profiles_closest(paritas_context *context, const struct profile_plan *plan, size_t n,
                                const double *data, struct profile *profiles, double *slopes, double *ends);
/* The same for conditional fits alone, as value_free, each at its own value of the parameter of interest. The
 * first half of a row of `ends` is the start, with that value, and then the end. */
paritas_status profiles_closest_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                                     const double *data, struct profile *profiles, double *slopes,
                                     double *ends);

/* Free fits to one kernel row, by quasi-Newton only, in f64. Each also holds parameters of its own. `ends`: n
 * rows of its start, which its answer replaces, and of 1 for parameters that move, 0 for others. `closest`:
 * to an EDM a hundred times smaller, where more than the value is wanted. The rest has PROFILE_NO_ANSWER. */
paritas_status profiles_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                             const double *row, struct profile *profiles, bool closest, double *ends);

#endif
