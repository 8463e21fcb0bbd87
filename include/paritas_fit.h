/* paritas_fit.h: best fits, their errors and covariance. */
#ifndef PARITAS_FIT_H
#define PARITAS_FIT_H

#include "paritas_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of one fit. */
#define PARITAS_FIT_STATUS_LIST(ITEM)                                                                     \
    ITEM(PARITAS_FIT_CONVERGED, 0, "converged", "the conditions were checked at the returned point")      \
    ITEM(PARITAS_FIT_AT_ITERATION_LIMIT, 1, "at_iteration_limit", "more iterations are needed")           \
    ITEM(PARITAS_FIT_NO_PROGRESS, 2, "no_progress", "no step lowered the likelihood, far from a minimum") \
    ITEM(PARITAS_FIT_NON_FINITE, 3, "non_finite", "the likelihood is not finite at the start")            \
    ITEM(PARITAS_FIT_NOT_A_MINIMUM, 4, "not_a_minimum", "a stationary point with negative curvature")
typedef enum paritas_fit_status { PARITAS_FIT_STATUS_LIST(PARITAS_ENUMERATOR) } paritas_fit_status;
#define PARITAS_FIT_STATUS_COUNT (0 PARITAS_FIT_STATUS_LIST(PARITAS_COUNT_ITEM))

/* Methods of minimisation. A fit by one of the last two converged only if the exact Hessian confirms it.
 *   newton   exact gradient and Hessian
 *   lbfgsb   Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995) 1190
 *   de       differential evolution, Storn, Price, J. Global Optimization 11 (1997) 341. With more than about
 *            30 parameters it rarely gets near enough to the minimum, and says so. */
#define PARITAS_MINIMIZER_LIST(ITEM)                                                               \
    ITEM(PARITAS_MINIMIZER_NEWTON, 0, "newton", "exact derivatives; the default")                  \
    ITEM(PARITAS_MINIMIZER_LBFGSB, 1, "lbfgsb", "gradients alone; an independent check of newton") \
    ITEM(PARITAS_MINIMIZER_DE, 2, "de", "values alone; for rough functions of few parameters")
typedef enum paritas_minimizer { PARITAS_MINIMIZER_LIST(PARITAS_ENUMERATOR) } paritas_minimizer;
#define PARITAS_MINIMIZER_COUNT (0 PARITAS_MINIMIZER_LIST(PARITAS_COUNT_ITEM))

/* State of a parameter at the end of a fit. */
#define PARITAS_PARAMETER_STATE_LIST(ITEM)                                                               \
    ITEM(PARITAS_PARAMETER_FREE, 0, "free", "between its bounds")                                        \
    ITEM(PARITAS_PARAMETER_FIXED, 1, "fixed", "fixed by the job")                                        \
    ITEM(PARITAS_PARAMETER_AT_LOWER_BOUND, 2, "at_lower_bound", "the slope holds it at its lower bound") \
    ITEM(PARITAS_PARAMETER_AT_UPPER_BOUND, 3, "at_upper_bound", "the slope holds it at its upper bound") \
    ITEM(PARITAS_PARAMETER_AT_KINK, 4, "at_kink",                                                        \
         "free, at 0, where the slope jumps; its error is the mean of two")                              \
    ITEM(PARITAS_PARAMETER_AT_EDGE, 5, "at_edge",                                                        \
         "free, but a rate would be negative beyond; no symmetric error means anything")
typedef enum paritas_parameter_state {
    PARITAS_PARAMETER_STATE_LIST(PARITAS_ENUMERATOR)
} paritas_parameter_state;

#define PARITAS_STARTS_MOST 100000 /* of one fit */
/* Converged fits in f64 share a minimum if twice the NLL agrees to this. */
#define PARITAS_SAME_MINIMUM 1.0e-8

#define PARITAS_JOB_OPTIONS(OPTION, OTHER, S)                                                                \
    OTHER(S, const double *, data, "a data row: main_count + aux_count + template_count")                    \
    OTHER(S, const double *, start, "parameter_count; where fixed, the value")                               \
    OTHER(S, const double *, lower, "parameter_count")                                                       \
    OTHER(S, const double *, upper, "parameter_count")                                                       \
    OTHER(S, const unsigned char *, fixed, "parameter_count")                                                \
    OPTION(                                                                                                  \
        S, unsigned, starts, 0, PARITAS_NO_BOUND, PARITAS_TO(PARITAS_STARTS_MOST), "--starts", "",           \
        "starts of each fit, of which the lowest minimum counts; 0: as many as the lowest minimum needs, "   \
        "and one for each of many fits")                                                                     \
    OPTION(S, unsigned, max_iterations, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--max-iterations", "",       \
           "iterations of a fit, at most; 0: 200 for newton and toys, 5000 for lbfgsb, 3000 for de")         \
    OTHER(S, size_t, n_pois, "parameters of interest of a statistic; 0: the model's")                        \
    OTHER(S, const size_t *, pois,                                                                           \
          "their numbers; a function of one takes the first, and the others are free")                       \
    OTHER(S, const unsigned char *, kept,                                                                    \
          "parameter_count: 1 where a statistic keeps the upper bound of a parameter of interest, wherever " \
          "the best fit lies; NULL: all if `upper` is given, else none")

/* What is fitted. NULL means the model's own: observed data, suggested start, bounds, fixed flags. Start from
 * PARITAS_JOB_DEFAULT. */
typedef struct paritas_job {
    size_t size;
    PARITAS_JOB_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_job;
#define PARITAS_JOB_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_job, PARITAS_JOB_OPTIONS)

#define PARITAS_FIT_RESULT_FIELDS(FIELD, R)                                                            \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")                         \
    FIELD(R, double, twice_nll, , "twice_nll", "",                                                     \
          "twice the negative log-likelihood at the returned point, all constants included")           \
    FIELD(R, double, edm, , "edm", "", "estimated distance to the minimum, in units of twice the NLL") \
    FIELD(R, double, projected_gradient, , "projected_gradient", "",                                   \
          "largest |gradient of twice the NLL| x error over the free parameters")                      \
    FIELD(R, unsigned, iterations, , "iterations", "", "iterations, repeated fits included")
typedef struct paritas_fit_result {
    size_t size;
    PARITAS_FIT_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_fit_result;

/* ---- fits from many starts ---- */

#define PARITAS_FIT_MINIMUM_FIELDS(FIELD, R)                                                           \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the negative log-likelihood at the minimum") \
    FIELD(R, size_t, count, , "count", "", "starts whose fits ended there")
typedef struct paritas_fit_minimum {
    PARITAS_FIT_MINIMUM_FIELDS(PARITAS_MEMBER, )
} paritas_fit_minimum;

#define PARITAS_FIT_POINT_FIELDS(FIELD, R)                                                           \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the negative log-likelihood at the point") \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit that ended there")
typedef struct paritas_fit_point {
    PARITAS_FIT_POINT_FIELDS(PARITAS_MEMBER, )
} paritas_fit_point;

#define PARITAS_FIT_MINIMA_MOST 8
#define PARITAS_FIT_STARTS_FIELDS(FIELD, R)                                                              \
    FIELD(R, size_t, n, , "n", "", "starts")                                                             \
    FIELD(R, size_t, converged, , "converged", "", "starts whose fits converged")                        \
    FIELD(R, size_t, best_start, , "best_start", "", "the start that won; 0: the job's own")             \
    FIELD(R, double, spread, , "spread", "", "twice the NLL between the highest and the lowest minimum") \
    FIELD(R, double, gain, , "", "",                                                                     \
          "twice the NLL that the winner lies below the minimum of the job's own start")                 \
    FIELD(R, size_t, n_minima, , "", "", "different minima: at most PARITAS_FIT_MINIMA_MOST")            \
    FIELD(R, paritas_fit_minimum, minima, [PARITAS_FIT_MINIMA_MOST], "minima", "",                       \
          "the lowest ones, ascending")                                                                  \
    FIELD(R, paritas_fit_point, lower_known, , "lower_known", "",                                        \
          "the lowest point below the answer; its fit did not converge; NaN: there is none")
typedef struct paritas_fit_starts {
    size_t size;
    PARITAS_FIT_STARTS_FIELDS(PARITAS_MEMBER, )
} paritas_fit_starts;

#define PARITAS_FIT_OPTIONS(OPTION, OTHER, S)                                                                \
    OPTION(S, unsigned, max_iterations, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                       \
           "0: the first job's; if that is 0 too: 200 for newton, 5000 for lbfgsb, 3000 generations for de") \
    OPTION(S, paritas_truth, start_is_near, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                   \
           "starts are predictions of the minima, which saves newton a step")                                \
    OPTION(S, paritas_minimizer, minimizer, PARITAS_MINIMIZER_NEWTON, PARITAS_NO_BOUND, PARITAS_NO_BOUND,    \
           "--minimizer", "", "minimizer")                                                                   \
    OPTION(S, unsigned, population, 0, PARITAS_ZERO_OR_FROM(4), PARITAS_TO(65536), "--population", "",       \
           "population size of de; 0: 10 for each parameter, from 20 to 200")                                \
    OPTION(S, uint64_t, seed, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "",                           \
           "seed of de's random numbers, the same for every job")

/* Options of paritas_fit. Start from PARITAS_FIT_OPTIONS_DEFAULT. */
typedef struct paritas_fit_options {
    size_t size;
    PARITAS_FIT_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_fit_options;
#define PARITAS_FIT_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_fit_options, PARITAS_FIT_OPTIONS)

/* Where the answers of n fits go. All arrays are the caller's; only `results` is required. Start from
 * PARITAS_FIT_ANSWERS_DEFAULT. */
typedef struct paritas_fit_answers {
    size_t size;
    paritas_fit_result *results;     /* n */
    double *parameters;              /* n rows of parameter_count */
    double *errors;                  /* the same: root of the covariance's diagonal; NaN: see `states` */
    double *covariance;              /* n rows of parameter_count squared; 0 where not free */
    paritas_parameter_state *states; /* n rows of parameter_count */
    paritas_fit_starts *starts;      /* n: what the fits from the job's starts met */
} paritas_fit_answers;
#define PARITAS_FIT_ANSWERS_DEFAULT PARITAS_INIT(paritas_fit_answers)

/* Runs n fits. Results depend on (model, data, options, precision) alone. The covariance is twice the inverse
 * of the exact Hessian of twice the NLL at the returned point, on the free parameters. `options` may be NULL.
 *
 * With job.starts = N the lowest minimum of N fits answers. The first fit has the job's start. The others
 * start at random around it, start k at the same point for any N. A fit that failed below the lowest minimum
 * continues from where it ended, also by another method.
 *
 * Data that cannot be fitted are NaN, infinity, a negative count, or templates that no job may have. Such a
 * job is non_finite, with NaN for all numbers; its `states` say nothing. paritas_error_message has the reason
 * for the last such job. The other jobs are fitted.
 *
 * INVALID_ARGUMENT: bounds that are no interval, or a start that is not finite or lies outside of them. The
 * message names the parameter and the job, counted from 0 ("job 3: ..."). */
PARITAS_API paritas_status paritas_fit(paritas_context *context, const paritas_model *model,
                                       const paritas_fit_options *PARITAS_OR_NULL options, size_t n,
                                       const paritas_job *jobs, const paritas_fit_answers *answers);

/* Runs one fit, and looks for a lower minimum as statistics do. If one is met, the fit is repeated from
 * there, and answers->starts has what was met. `job` may be NULL. With job.starts above 0, a limit of
 * iterations or another minimiser than newton it is paritas_fit. */
PARITAS_API paritas_status paritas_fit_lowest(paritas_context *context, const paritas_model *model,
                                              const paritas_fit_options *PARITAS_OR_NULL options,
                                              const paritas_job *PARITAS_OR_NULL job,
                                              const paritas_fit_answers *answers);

/* Fits a job from `point`, and goes on with Newton's steps in f64 until rounding ends them. These steps still
 * change the parameters, although twice the NLL stays the same. `point` (parameter_count) receives the
 * minimum. */
PARITAS_API paritas_status paritas_fit_refine(paritas_context *context, const paritas_model *model,
                                              const paritas_job *PARITAS_OR_NULL job, double *point);

/* Upper bounds for the fit that statistics call the best one. A parameter of interest that a fit leaves at
 * its bound gets a wider one (paritas_job.kept). `upper` (parameter_count) has the job's of all others. */
PARITAS_API paritas_status paritas_best_fit_bounds(paritas_context *context, const paritas_model *model,
                                                   const paritas_job *PARITAS_OR_NULL job, double *upper);

/* A bin that makes the likelihood infinite or undefined: its rate is below 0, or 0 where something was
 * observed. */
typedef struct paritas_outside_bin {
    const char *channel; /* NULL: a model without channels */
    size_t bin;          /* from 0 within the channel; in a model without channels, within all main data */
    double rate, observed;
} paritas_outside_bin;

/* The bins outside the domain at one point. `data`: a data row; NULL: the model's. *n: how many there are;
 * the first `room` of them are in `bins`. None for a model without expectations. */
PARITAS_API paritas_status paritas_find_outside(paritas_context *context, const paritas_model *model,
                                                const double *point, const double *PARITAS_OR_NULL data,
                                                size_t room, paritas_outside_bin *bins, size_t *n);
/* The bins that hold a fit at the edge of its domain: nothing was observed, the rate is 0, and would be
 * negative beyond. As paritas_find_outside; rates that no parameter moves are left out. */
PARITAS_API paritas_status paritas_find_edge(paritas_context *context, const paritas_model *model,
                                             const double *point, const double *PARITAS_OR_NULL data,
                                             size_t room, paritas_outside_bin *bins, size_t *n);
/* Describes such a bin: "channel SR, bin 3 has the rate -1.27 where 13 were observed". `text`: room for
 * `room` bytes. */
PARITAS_API void paritas_describe_outside(const paritas_outside_bin *bin, size_t room, char *text);

/* How a MINOS error ends on one side. */
#define PARITAS_MINOS_END_LIST(ITEM)                                                            \
    ITEM(PARITAS_MINOS_END_CROSSING, 0, "crossing", "twice the NLL has risen by 1")             \
    ITEM(PARITAS_MINOS_END_BOUND, 1, "at_bound", "a bound of the parameter comes first")        \
    ITEM(PARITAS_MINOS_END_EDGE, 2, "at_edge",                                                  \
         "the domain ends first: beyond, a rate is negative whatever the other parameters are") \
    ITEM(PARITAS_MINOS_END_UNKNOWN, 3, "unknown", "no end was found, and the message says why")
typedef enum paritas_minos_end { PARITAS_MINOS_END_LIST(PARITAS_ENUMERATOR) } paritas_minos_end;

/* The parameter whose MINOS errors are asked for, and the converged fit of the job. */
struct paritas_minima; /* paritas_statistics.h */
typedef struct paritas_minos_request {
    size_t size;
    size_t parameter;
    const double *best;            /* parameter_count: at the best fit */
    double best_twice_nll;         /* there */
    double error;                  /* of the parameter there */
    struct paritas_minima *minima; /* raised to what its fits met, if that is more; NULL: not asked for */
    paritas_minos_end *ends;       /* 2: how each side ends; NULL: not asked for */
    double *reach;                 /* 2: the offsets of these ends; NaN: unknown; NULL: not asked for */
} paritas_minos_request;

/* MINOS errors of one parameter: offsets[0] < 0 < offsets[1], where the profile of twice the NLL has risen by
 * 1. NaN where a bound or the edge of the domain comes first: `ends` says which. `job` may be NULL. */
PARITAS_API paritas_status paritas_minos(paritas_context *context, const paritas_model *model,
                                         const paritas_job *PARITAS_OR_NULL job,
                                         const paritas_minos_request *request, double offsets[2]);

#define PARITAS_FIT_ENUMERATIONS(ENUMERATION)                                                               \
    ENUMERATION(paritas_fit_status, PARITAS_FIT_STATUS_LIST, "Outcome of a fit.")                           \
    ENUMERATION(paritas_minimizer, PARITAS_MINIMIZER_LIST, "Methods of minimisation.")                      \
    ENUMERATION(paritas_parameter_state, PARITAS_PARAMETER_STATE_LIST, "State of a parameter after a fit.") \
    ENUMERATION(paritas_minos_end, PARITAS_MINOS_END_LIST, "How a MINOS error ends on one side.")
#define PARITAS_FIT_RECORDS(RECORD)                                                                      \
    RECORD(paritas_fit_result, PARITAS_FIT_RESULT_FIELDS, "Outcome of one fit.")                         \
    RECORD(paritas_fit_minimum, PARITAS_FIT_MINIMUM_FIELDS, "A minimum that fits from many starts met.") \
    RECORD(paritas_fit_point, PARITAS_FIT_POINT_FIELDS, "A point where a fit ended.")                    \
    RECORD(paritas_fit_starts, PARITAS_FIT_STARTS_FIELDS, "What fits from many starts met.")
PARITAS_FIT_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
