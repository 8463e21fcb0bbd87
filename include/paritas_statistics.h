/* paritas_statistics.h: asymptotic statistics: tests, limits, significances, scans, rankings, goodness of
 * fit.
 *
 * Formulas: Cowan, Cranmer, Gross, Vitells, Eur. Phys. J. C 71 (2011) 1554, arXiv:1007.1727. In all functions
 * `job` may be NULL: the model's own data, starts, bounds and fixed flags. Five expected values stand for -2,
 * -1, 0, 1, 2 sigma.
 */
#ifndef PARITAS_STATISTICS_H
#define PARITAS_STATISTICS_H

#include "paritas_fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several minima ----------------------------------------------------------------------------- */

#define PARITAS_MINIMA_NAME 96 /* bytes, with the end */
#define PARITAS_MINIMA_FIELDS(FIELD, R)                                                                 \
    FIELD(R, size_t, met, , "met", "",                                                                  \
          "different minima within 25 of the lowest, of the fit that met most; 0: one each")            \
    FIELD(R, double, apart, , "apart", "", "twice the NLL between the lowest and the highest of a fit") \
    FIELD(R, double, next, , "next", "",                                                                \
          "the same between the lowest and the next one, where that is least; 0: one each")             \
    FIELD(R, char, parameter, [PARITAS_MINIMA_NAME], "parameter", "",                                   \
          "what tells these two apart most: its name, the start of a long one; empty from a store")     \
    FIELD(R, double, at_lowest, , "at_lowest", "", "its value in the lowest")                           \
    FIELD(R, double, at_next, , "at_next", "", "its value in the next one")
typedef struct paritas_minima {
    PARITAS_MINIMA_FIELDS(PARITAS_MEMBER, )
} paritas_minima;
#define PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                          \
    FIELD(R, paritas_truth, several_minima, , "several_minima", "",                      \
          "further starts met different minima; the answer uses the lowest of each fit") \
    FIELD(R, paritas_minima, minima, , "minima", "", "what they met")
/* The same of rows: all of one answer have what its fits met, which the program writes once. */
#define PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)                                                    \
    FIELD(R, paritas_truth, several_minima, , "", "",                                            \
          "further starts met different minima, of any row; answers use the lowest of each fit") \
    FIELD(R, paritas_minima, minima, , "", "", "what they met")
/* Upper bounds of parameters of interest are where searches begin. A best fit or a tested value beyond widens
 * them, up to 2^20 times. A best fit does not if the job gives the bound (paritas_job.kept). */
#define PARITAS_BOUND_FIELDS(FIELD, R)                                 \
    FIELD(R, double, upper_bound, , "upper_bound", "",                 \
          "of the parameter of interest, as used; NaN: there is none") \
    FIELD(R, paritas_truth, bound_widened, , "bound_widened", "",      \
          "the best fit lies beyond the model's bound")

/* ---- hypothesis tests --------------------------------------------------------------------------- */

#define PARITAS_STATISTIC_LIST(ITEM)                                                           \
    ITEM(PARITAS_STATISTIC_QTILDE, 0, "qtilde", "upper limits, best fit not below 0 (eq. 16)") \
    ITEM(PARITAS_STATISTIC_Q, 1, "q", "upper limits, best fit of any sign (eq. 14)")           \
    ITEM(PARITAS_STATISTIC_Q0, 2, "q0", "discovery: tests 0 (eq. 12)")
typedef enum paritas_test_statistic { PARITAS_STATISTIC_LIST(PARITAS_ENUMERATOR) } paritas_test_statistic;

/* A test is `found` or `undefined`; a limit may be missing for other reasons too. */
#define PARITAS_REASON_LIST(ITEM)                                                            \
    ITEM(PARITAS_REASON_FOUND, 0, "found", "the number exists and was found")                \
    ITEM(PARITAS_REASON_NONE_BELOW_BOUND, 1, "none_below_bound",                             \
         "CLs stays above the level up to the widest bound")                                 \
    ITEM(PARITAS_REASON_COMES_BACK, 2, "comes_back",                                         \
         "CLs crosses the level, but is above it again up to the widest bound")              \
    ITEM(PARITAS_REASON_ALL_EXCLUDED, 3, "all_excluded", "CLs is below the level down to 0") \
    ITEM(PARITAS_REASON_JUMP, 4, "jump",                                                     \
         "CLs jumps across the level, so a fit beside the jump is not the lowest minimum")   \
    ITEM(PARITAS_REASON_UNDEFINED, 5, "undefined",                                           \
         "CLs does not exist: a fit or q_A is not finite, or q_A is 0")                      \
    ITEM(PARITAS_REASON_NOT_REACHED, 6, "not_reached", "more tests are needed than a search makes")
typedef enum paritas_reason { PARITAS_REASON_LIST(PARITAS_ENUMERATOR) } paritas_reason;

#define PARITAS_HYPOTEST_RESULT_FIELDS(FIELD, R)                                                        \
    FIELD(R, double, mu, , "mu", "", "tested value of the parameter of interest")                       \
    FIELD(R, double, cls_obs, , "CLs_obs", "", "observed CLs")                                          \
    FIELD(R, double, cls_exp, [5], "CLs_exp", "", "expected CLs at -2 ... 2 sigma, ascending")          \
    FIELD(R, double, clsb, , "CLsb", "", "p-value of the tested value, CLs+b")                          \
    FIELD(R, double, clb, , "CLb", "", "p-value of the background alone")                               \
    FIELD(R, double, q, , "q", "", "test statistic of the data")                                        \
    FIELD(R, double, q_asimov, , "q_A", "", "test statistic of the Asimov data")                        \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                   \
    FIELD(R, double, p0, , "p0", "", "p-value of the background for discovery; q0 only, else NaN")      \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits behind the answer") \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                             \
    FIELD(R, double, twice_nll_free, , "", "", "twice the NLL at the best fit")                         \
    FIELD(R, double, twice_nll_fixed, , "", "", "twice the NLL with the tested value fixed")            \
    FIELD(R, paritas_reason, reason, , "reason", "", "found; undefined where CLs does not exist")       \
    FIELD(R, double, upper_bound, , "", "", "of the parameter of interest, as used")                    \
    FIELD(R, paritas_truth, bound_widened, , "", "", "a tested value or a best fit lies beyond")        \
    FIELD(R, double, q_asimov_other, , "", "",                                                          \
          "of other Asimov data: the fit behind them has a second minimum, as low; NaN: none")          \
    FIELD(R, double, cls_obs_other, , "", "", "observed CLs by those")                                  \
    FIELD(R, double, cls_exp_other, [5], "", "", "expected CLs by those")
typedef struct paritas_hypotest_result {
    size_t size;
    PARITAS_HYPOTEST_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_hypotest_result;

/* Asymptotic test of n values of mu. The free fit and the Asimov data are made once. A value beyond the upper
 * bound of the parameter of interest widens that bound for all. results: n. */
PARITAS_API paritas_status paritas_hypotest(paritas_context *context, const paritas_model *model,
                                            const paritas_job *PARITAS_OR_NULL job,
                                            paritas_test_statistic statistic, size_t n, const double *mu,
                                            paritas_hypotest_result *results);

/* The largest upper bound that a test gives a parameter of interest: 2^20 times the width of its bounds. */
PARITAS_API double paritas_widest_bound(const paritas_model *model, size_t parameter);

/* The asymptotic variable t of p-values (eq. 59 and 67). CLs+b is the tail of a unit normal distribution
 * above t + sqrt(q_A), CLb the tail above t. NaN: no such statistic. */
PARITAS_API double paritas_asymptotic_shift(paritas_test_statistic statistic, double q, double q_asimov);

/* ---- upper limits ------------------------------------------------------------------------------- */

#define PARITAS_SCAN_MOST 128 /* values of mu that a search for limits tests at most */
/* Further crossings of the level by a curve. Each lies below a test of its own, so none is left out. */
#define PARITAS_CROSSINGS_MOST PARITAS_SCAN_MOST

#define PARITAS_LIMIT_REQUEST_OPTIONS(OPTION, OTHER, S)                                                \
    OPTION(S, paritas_test_statistic, statistic, PARITAS_STATISTIC_QTILDE,                             \
           PARITAS_FROM(PARITAS_STATISTIC_QTILDE), PARITAS_TO(PARITAS_STATISTIC_Q), "--test-stat", "", \
           "test statistic")                                                                           \
    OPTION(S, double, level, 0.05, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--level", "",              \
           "CLs at the limit")                                                                         \
    OTHER(S, size_t, scan_room, "places in `scan`")                                                    \
    OTHER(S, paritas_hypotest_result *, scan, "receives the tests made on the way; NULL: none")

/* What limits are asked for. Start from PARITAS_LIMIT_REQUEST_DEFAULT: qtilde, 95 % confidence. `scan` gets
 * the tests ascending in mu, as many as there is room for. PARITAS_SCAN_MOST places suffice. */
typedef struct paritas_limit_request {
    size_t size;
    PARITAS_LIMIT_REQUEST_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_limit_request;
#define PARITAS_LIMIT_REQUEST_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_limit_request, PARITAS_LIMIT_REQUEST_OPTIONS)

#define PARITAS_LIMIT_RESULT_FIELDS(FIELD, R)                                                           \
    FIELD(R, double, limit_obs, , "limit_obs", "", "observed limit; NaN where no root was found")       \
    FIELD(R, double, limit_exp, [5], "limit_exp", "", "expected limits at -2 ... 2 sigma")              \
    FIELD(R, double, upper_bound, , "upper_bound", "", "of the parameter of interest, as used")         \
    FIELD(R, paritas_truth, bound_widened, , "bound_widened", "",                                       \
          "the search went beyond the model's bound")                                                   \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits behind the answer") \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                             \
    FIELD(R, double, mu_hat, , "", "",                                                                  \
          "best fit of the parameter of interest; NaN where nothing was tested")                        \
    FIELD(R, size_t, n_scan, , "", "", "values that were tested; scan has them as far as it has room")  \
    FIELD(R, paritas_reason, reason_obs, , "reason_obs", "", "why limit_obs is NaN, or found")          \
    FIELD(R, paritas_reason, reason_exp, [5], "reason_exp", "", "why limit_exp is NaN, or found")       \
    FIELD(R, double, crossings_obs, [PARITAS_CROSSINGS_MOST], "", "",                                   \
          "where else the observed CLs crosses the level, ascending, then NaN")                         \
    FIELD(R, double, crossings_exp, [5][PARITAS_CROSSINGS_MOST], "", "", "the same of the expected CLs")
typedef struct paritas_limit_result {
    size_t size;
    PARITAS_LIMIT_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_limit_result;

/* Upper limits: the roots in mu of CLs = level for the observed and the five expected curves, to 1e-7
 * relative. A limit is the last crossing upward; a jump of CLs across the level is none. `request` may be
 * NULL. */
PARITAS_API paritas_status paritas_limit(paritas_context *context, const paritas_model *model,
                                         const paritas_job *PARITAS_OR_NULL job,
                                         const paritas_limit_request *PARITAS_OR_NULL request,
                                         paritas_limit_result *result);

/* ---- discovery ---------------------------------------------------------------------------------- */

#define PARITAS_SIGNIFICANCE_RESULT_FIELDS(FIELD, R)                                                    \
    FIELD(R, double, p0, , "p0", "", "p-value of the background")                                       \
    FIELD(R, double, z, , "Z", "", "significance, Phi^-1(1 - p0)")                                      \
    FIELD(R, double, p0_exp, , "p0_exp", "", "p-value expected for mu = 1")                             \
    FIELD(R, double, z_exp, , "Z_exp", "", "significance expected for mu = 1")                          \
    FIELD(R, double, q0, , "q0", "", "test statistic of the data")                                      \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                   \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits behind the answer") \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                             \
    PARITAS_BOUND_FIELDS(FIELD, R)
typedef struct paritas_significance_result {
    size_t size;
    PARITAS_SIGNIFICANCE_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_significance_result;

PARITAS_API paritas_status paritas_significance(paritas_context *context, const paritas_model *model,
                                                const paritas_job *PARITAS_OR_NULL job,
                                                paritas_significance_result *result);

/* ---- profile likelihood ------------------------------------------------------------------------- */

#define PARITAS_SCAN_PARAMETERS_MOST 8
#define PARITAS_SCAN_POINT_FIELDS(FIELD, R)                                                        \
    FIELD(R, double, q, , "q", "", "twice the NLL, less its value at the best fit, not below 0")   \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the NLL with the parameters fixed here") \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")                     \
    FIELD(R, double, p, , "", "", "chi-squared probability of q, a degree of freedom a parameter") \
    PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_scan_point {
    size_t size;
    PARITAS_SCAN_POINT_FIELDS(PARITAS_MEMBER, )
} paritas_scan_point;

/* Confidences of intervals and of crossings, unless others are asked for: one and two standard deviations. */
#define PARITAS_INTERVAL_CONFIDENCE {0.68268949213708585, 0.95449973610364158}
/* Places for parts or crossings of a level that suffice for all that have been met. */
#define PARITAS_PARTS_MOST 16

#define PARITAS_CROSSING_FIELDS(FIELD, R)                                                   \
    FIELD(R, double, confidence, , "confidence", "", "chi-squared probability below q")     \
    FIELD(R, double, q, , "q", "", "the quantile: 1 for 68.27 %, 4 for 95.45 %")            \
    FIELD(R, double, value, , "value", "", "of the parameter, to 1e-6 relative")            \
    FIELD(R, paritas_truth, rises, , "rises", "", "q rises here: the upper edge of a part") \
    PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_crossing {
    size_t size;
    PARITAS_CROSSING_FIELDS(PARITAS_MEMBER, )
} paritas_crossing;

/* Where a profile is asked for, and where it goes. Arrays are the caller's. Start from
 * PARITAS_SCAN_REQUEST_DEFAULT. */
typedef struct paritas_scan_request {
    size_t size;
    size_t n_parameters; /* 1 to PARITAS_SCAN_PARAMETERS_MOST */
    const size_t *parameters;
    size_t n_points;
    const double *values;       /* n_points rows of n_parameters */
    paritas_fit_result *best;   /* receives the free fit */
    double *best_parameters;    /* receives its parameters, parameter_count; may be NULL */
    paritas_scan_point *points; /* n_points */
    double *point_parameters;   /* receives n_points rows of parameter_count; may be NULL */
    /* of one parameter: where q crosses levels between the least and the largest value */
    size_t n_levels;
    const double *levels;        /* confidences, above 0 and below 1 */
    size_t crossings_room;       /* places in `crossings` */
    paritas_crossing *crossings; /* receives them, level by level, ascending; NULL: not asked for */
    size_t *n_crossings;         /* receives how many there are; may be NULL */
} paritas_scan_request;
#define PARITAS_SCAN_REQUEST_DEFAULT PARITAS_INIT(paritas_scan_request)

/* Profile likelihood over one or more parameters. A single point tests several parameters together, with q as
 * the statistic t_mu (arXiv:1007.1727, eq. 8) and p as its p-value. A value beyond the upper bound of a
 * parameter of interest widens that bound. */
PARITAS_API paritas_status paritas_scan(paritas_context *context, const paritas_model *model,
                                        const paritas_job *PARITAS_OR_NULL job,
                                        const paritas_scan_request *request);

/* A range for scans of a parameter: 3 errors beyond every minimum that is known, within the bounds. Searches
 * know minima up to 25 above the best fit, in twice the NLL. A model of up to 32 parameters is also looked
 * through between the bounds. A minimum without an error counts with a quarter of the width of the bounds.
 * The range may go beyond an upper bound that gives way. range: 2. */
PARITAS_API paritas_status paritas_scan_range(paritas_context *context, const paritas_model *model,
                                              const paritas_job *PARITAS_OR_NULL job, size_t parameter,
                                              double range[2]);

/* ---- intervals ---------------------------------------------------------------------------------- */

#define PARITAS_INTERVAL_PART_FIELDS(FIELD, R)                                                             \
    FIELD(R, double, confidence, , "confidence", "", "of the interval")                                    \
    FIELD(R, double, lower, , "lower", "", "lower edge; or the bound, or the domain's edge, that cuts it") \
    FIELD(R, double, upper, , "upper", "", "upper edge; or the same")                                      \
    FIELD(R, paritas_minos_end, lower_end, , "lower_end", "",                                              \
          "how it ends below; a crossing is of the interval's q")                                          \
    FIELD(R, paritas_minos_end, upper_end, , "upper_end", "", "how it ends above")                         \
    FIELD(R, double, minimum, , "minimum", "", "value with the least q of the part")                       \
    FIELD(R, double, q, , "q", "", "q there; 0 at the best fit")                                           \
    FIELD(R, paritas_fit_status, status, , "status", "", "converged; no_progress: an end was not found")   \
    PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_interval_part {
    size_t size;
    PARITAS_INTERVAL_PART_FIELDS(PARITAS_MEMBER, )
} paritas_interval_part;

/* Which intervals of which parameter are asked for, and where they go. Arrays are the caller's. Start from
 * PARITAS_INTERVAL_REQUEST_DEFAULT. */
typedef struct paritas_interval_request {
    size_t size;
    size_t parameter;
    size_t n_levels;
    const double *levels;         /* confidences, above 0 and below 1 */
    paritas_fit_result *best;     /* receives the free fit */
    double *best_parameters;      /* receives its parameters, parameter_count; may be NULL */
    size_t room;                  /* places in `parts` */
    paritas_interval_part *parts; /* receives the parts, level by level, ascending */
    size_t *n_parts;              /* receives how many there are */
} paritas_interval_request;
#define PARITAS_INTERVAL_REQUEST_DEFAULT PARITAS_INIT(paritas_interval_request)

/* Likelihood intervals of one parameter, with all parts. An interval has the values whose q is at most
 * the quantile of chi-squared with one degree of freedom. q is twice the NLL, minimised over all other
 * parameters, less its value at the best fit. Parts are found from all minima that searches meet, and
 * from values all over the bounds. Edges have 1e-6 relative. An upper bound of a parameter of interest
 * gives way to the part with the best fit, as in limits, unless the job keeps it. Other bounds cut a
 * part. n_parts may be more than `room`: then the first are given. No part: the best fit has no
 * likelihood. */
PARITAS_API paritas_status paritas_interval(paritas_context *context, const paritas_model *model,
                                            const paritas_job *PARITAS_OR_NULL job,
                                            const paritas_interval_request *request);

/* ---- contours ----------------------------------------------------------------------------------- */

#define PARITAS_CONTOUR_POINT_FIELDS(FIELD, R)                                                          \
    FIELD(R, double, values, [2], "values", "", "of the two parameters")                                \
    FIELD(R, double, q, , "q", "", "twice the NLL here, less its value at the best fit")                \
    FIELD(R, paritas_truth, at_bound, , "at_bound", "", "a bound cuts the region here, below its edge") \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")                          \
    PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_contour_point {
    size_t size;
    PARITAS_CONTOUR_POINT_FIELDS(PARITAS_MEMBER, )
} paritas_contour_point;

#define PARITAS_CONTOUR_PART_FIELDS(FIELD, R)                                                               \
    FIELD(R, double, confidence, , "confidence", "", "of the region")                                       \
    FIELD(R, paritas_truth, hole, , "hole", "", "the curve is the edge of a hole, and clockwise")           \
    FIELD(R, double, minimum, [2], "minimum", "", "values of the minimum to which a fit leads in the part") \
    FIELD(R, double, q, , "q", "", "q there; 0 at the best fit")                                            \
    FIELD(R, size_t, first, , "", "", "number of its first point in `edges`")                               \
    FIELD(R, size_t, n_points, , "", "", "of the closed curve")
typedef struct paritas_contour_part {
    size_t size;
    PARITAS_CONTOUR_PART_FIELDS(PARITAS_MEMBER, )
} paritas_contour_part;
/* Places for points that suffice for the parts of a level. */
#define PARITAS_EDGES_MOST 4096

/* Confidences of regions, unless others are asked for: one standard deviation's, and the field's 95 %. */
#define PARITAS_CONTOUR_CONFIDENCE {0.68268949213708585, 0.95}

#define PARITAS_CONTOUR_REQUEST_OPTIONS(OPTION, OTHER, S)                                                  \
    OTHER(S, const size_t *, parameters, "both, by number")                                                \
    OTHER(S, size_t, n_levels, "regions")                                                                  \
    OTHER(S, const double *, levels, "confidence of each, above 0 and below 1")                            \
    OPTION(S, size_t, n_points, 40, PARITAS_FROM(4), PARITAS_NO_BOUND, "--points", "", "of each contour")  \
    OTHER(S, paritas_fit_result *, best, "receives the free fit")                                          \
    OTHER(S, double *, best_parameters, "receives its parameters, parameter_count; NULL: not asked for")   \
    OTHER(S, paritas_contour_point *, points, "receives n_levels rows of n_points, counterclockwise")      \
    OTHER(S, size_t, parts_room, "places in `parts`")                                                      \
    OTHER(S, paritas_contour_part *, parts, "receives all parts, level by level; NULL: not asked for")     \
    OTHER(S, size_t *, n_parts, "receives how many there are")                                             \
    OTHER(S, size_t, edges_room, "places in `edges`")                                                      \
    OTHER(S, paritas_contour_point *, edges, "receives the points of all parts, one part after the other") \
    OTHER(S, size_t *, n_edges, "receives how many there are")

/* Which regions of which two parameters are asked for, and where they go. Arrays are the caller's. Start from
 * PARITAS_CONTOUR_REQUEST_DEFAULT. */
typedef struct paritas_contour_request {
    size_t size;
    PARITAS_CONTOUR_REQUEST_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_contour_request;
#define PARITAS_CONTOUR_REQUEST_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_contour_request, PARITAS_CONTOUR_REQUEST_OPTIONS)

/* Confidence regions of two parameters: q = -2 ln(1 - level), the quantile of chi-squared with 2 degrees of
 * freedom. `points` lie on n_points rays from the best fit, evenly spread where the covariance is a circle.
 * From a best fit at a bound the rays leave on the inner side, the first and the last along the bound. A ray
 * that meets a bound first ends there. If a region has bays, a ray finds one of its crossings.
 *
 * `parts` are all closed curves of a region, also around holes. They are found from all known minima, and
 * from a grid over the places where both profiles are below the level. A point of `edges` lies on a line of
 * the grid. Outer curves are counterclockwise. n_parts and n_edges may be more than there is room for: then
 * the first are given. Each point has q to 1e-6 of the quantile; at a bound it has less. */
PARITAS_API paritas_status paritas_contour(paritas_context *context, const paritas_model *model,
                                           const paritas_job *PARITAS_OR_NULL job,
                                           const paritas_contour_request *request);

/* ---- ranking ------------------------------------------------------------------------------------ */

#define PARITAS_RANKING_ENTRY_FIELDS(FIELD, R)                                                               \
    FIELD(R, size_t, parameter, , "", "", "number of the parameter")                                         \
    FIELD(R, double, pull, , "pull", "", "(best - prefit value) / constraint width; NaN without constraint") \
    FIELD(R, double, constraint, , "constraint", "", "error / constraint width; NaN without constraint")     \
    FIELD(R, double, impact_up, , "impact_up", "", "shift of the POI's best fit, parameter at best + error") \
    FIELD(R, double, impact_down, , "impact_down", "", "the same at best - error")                           \
    FIELD(R, double, prefit_up, , "prefit_up", "", "the same at best + constraint width; NaN without one")   \
    FIELD(R, double, prefit_down, , "prefit_down", "", "the same at best - constraint width")                \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of its fits")                        \
    PARITAS_QUIET_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_ranking_entry {
    size_t size;
    PARITAS_RANKING_ENTRY_FIELDS(PARITAS_MEMBER, )
} paritas_ranking_entry;

/* The zeros of pulls: values at which constraints expect their data. `centres`: parameter_count places, NaN
 * without a constraint. `data`: a data row; NULL: the model's. */
PARITAS_API paritas_status paritas_constraint_centres(paritas_context *context, const paritas_model *model,
                                                      const double *PARITAS_OR_NULL data, double *centres);

/* Impacts on the parameter of interest of all other parameters that are not fixed, largest first. `entries`
 * has parameter_count places; *n: how many are used. */
PARITAS_API paritas_status paritas_ranking(paritas_context *context, const paritas_model *model,
                                           const paritas_job *PARITAS_OR_NULL job,
                                           paritas_ranking_entry *entries, size_t *n);

/* ---- breakdown of the error ---------------------------------------------------------------------- */

#define PARITAS_BREAKDOWN_GROUP_FIELDS(FIELD, R)                                                            \
    FIELD(R, double, impact, , "impact", "", "error of the POI from this group: sqrt(total^2 - without^2)") \
    FIELD(R, double, without, , "without", "", "error of the POI with the group fixed at the best fit")     \
    FIELD(R, size_t, held, , "held", "", "free parameters of the group")                                    \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit without the group")
typedef struct paritas_breakdown_group {
    size_t size;
    PARITAS_BREAKDOWN_GROUP_FIELDS(PARITAS_MEMBER, )
} paritas_breakdown_group;

#define PARITAS_BREAKDOWN_RESULT_FIELDS(FIELD, R)                                                        \
    FIELD(R, double, best, , "best", "", "best fit of the parameter of interest")                        \
    FIELD(R, double, total, , "total", "", "its error")                                                  \
    FIELD(R, double, statistical, , "statistical", "", "the same with all constrained parameters fixed") \
    FIELD(R, double, systematic, , "systematic", "", "sqrt(total^2 - statistical^2)")                    \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of its fits")                    \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                              \
    FIELD(R, paritas_parameter_state, state, , "state", "",                                              \
          "of the parameter of interest: at a bound it has no error")
typedef struct paritas_breakdown_result {
    size_t size;
    PARITAS_BREAKDOWN_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_breakdown_result;

/* Parts of the POI's error by groups of parameters. Each group is held at the best fit, and the rest is
 * fitted again. The impact is the difference of the errors in quadrature (TRExFitter's grouped impact).
 * Impacts of correlated groups do not add up to the total. `members`: n_groups rows of parameter_count flags.
 * `groups`: n_groups places. Errors come from the exact Hessian; all are NaN if the POI is at a bound.
 * INVALID_ARGUMENT: a group with the POI. */
PARITAS_API paritas_status paritas_breakdown(paritas_context *context, const paritas_model *model,
                                             const paritas_job *PARITAS_OR_NULL job, size_t n_groups,
                                             const unsigned char *members, paritas_breakdown_result *result,
                                             paritas_breakdown_group *groups);

/* Sets members[i] of each parameter whose name `pattern` matches, all of it: * stands for any text, ? for one
 * byte, other bytes for themselves. Leaves the other flags. NOT_FOUND: it matches no parameter. */
PARITAS_API paritas_status paritas_match_parameters(paritas_context *context, const paritas_model *model,
                                                    const char *pattern, unsigned char *members);

/* ---- global impacts ------------------------------------------------------------------------------ */

#define PARITAS_GLOBAL_IMPACT_FIELDS(FIELD, R)                                                      \
    FIELD(R, size_t, parameter, , "", "", "number of the parameter")                                \
    FIELD(R, double, pull, , "pull", "", "(best - prefit value) / constraint width")                \
    FIELD(R, double, constraint, , "constraint", "", "error / constraint width")                    \
    FIELD(R, double, sigma, , "sigma", "", "standard deviation of the parameter's auxiliary datum") \
    FIELD(R, double, impact, , "impact", "", "shift of the POI's best fit per sigma of the auxiliary datum")
typedef struct paritas_global_impact {
    size_t size;
    PARITAS_GLOBAL_IMPACT_FIELDS(PARITAS_MEMBER, )
} paritas_global_impact;

#define PARITAS_GLOBAL_RESULT_FIELDS(FIELD, R)                                                              \
    FIELD(R, double, best, , "best", "", "best fit of the parameter of interest")                           \
    FIELD(R, double, total, , "total", "", "its error")                                                     \
    FIELD(R, double, statistical, , "statistical", "", "part of the main data: each count by its root")     \
    FIELD(R, double, systematic, , "systematic", "", "part of all auxiliary data")                          \
    FIELD(R, double, sum, , "sum", "", "sqrt(statistical^2 + systematic^2)")                                \
    FIELD(R, size_t, sources, , "sources", "", "parameters that are not fixed and have an auxiliary datum") \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")                              \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                                 \
    FIELD(R, paritas_parameter_state, state, , "state", "",                                                 \
          "of the parameter of interest: at a bound it has no error")
typedef struct paritas_global_result {
    size_t size;
    PARITAS_GLOBAL_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_global_result;

/* Parts of the POI's error by what fluctuates: each auxiliary datum and the main data (global observables,
 * arXiv:2307.04007). The part of a datum is its standard deviation times the derivative of the best fit by
 * it. Derivatives come from the exact second derivatives at one fit: nothing is fitted again. A measurement
 * has the sigma of its constraint, on the side where it lies. A count, main or auxiliary, has its root. Parts
 * add up in quadrature. `sum` equals `total` if the data are those expected at the best fit. They are equal,
 * too, if rates are linear in the parameters and constraints are normal or Poisson.
 *   members   n_groups rows of parameter_count flags; the POI's is not set
 *   entries   parameter_count places, of which result->sources are used: the largest impact first
 *   groups    n_groups impacts: the roots of their members' sums of squares
 * All numbers but `best` are NaN if the POI is at a bound or the fit fails. INVALID_ARGUMENT: a group with
 * the POI; a model that has no derivatives by data, as paritas_data_derivatives says. */
PARITAS_API paritas_status paritas_global_impacts(paritas_context *context, const paritas_model *model,
                                                  const paritas_job *PARITAS_OR_NULL job, size_t n_groups,
                                                  const unsigned char *members, paritas_global_result *result,
                                                  paritas_global_impact *entries, double *groups);

/* ---- Asimov data and yields ---------------------------------------------------------------------- */

/* Asimov data: the data row expected at the job's fit with the parameter of interest fixed at mu. The fit has
 * one start. `result`: the outcome of that fit. `data`: a data row; templates are the job's.
 * NOT_CONVERGED: the fit ended outside the domain; the message names the bins. */
PARITAS_API paritas_status paritas_asimov_data(paritas_context *context, const paritas_model *model,
                                               const paritas_job *PARITAS_OR_NULL job, double mu,
                                               paritas_fit_result *result, double *data);

/* Yields of main data with their errors. Errors are roots of the diagonal of J C J^T: J has the derivatives
 * of the yields, C is a covariance. Errors of totals include correlations between bins. */
typedef struct paritas_yields {
    double *bins;         /* main_count */
    double *errors;       /* main_count */
    double *samples;      /* for each channel, for each sample, its bins */
    double *totals;       /* channel_count: sums of the bins */
    double *total_errors; /* channel_count */
} paritas_yields;

/* The fit whose yields are asked for. */
typedef struct paritas_predict_request {
    size_t size;
    const double *best;       /* parameter_count */
    const double *covariance; /* parameter_count squared; NULL: errors are NaN */
} paritas_predict_request;

/* Where yields go. All arrays are the caller's. */
typedef struct paritas_predict_answers {
    size_t size;
    paritas_yields before; /* at the job's start, with the constraints' widths of parameters not fixed */
    paritas_yields after;  /* at the best fit, with its covariance */
} paritas_predict_answers;

/* Yields before and after the fit of a job. */
PARITAS_API paritas_status paritas_predict(paritas_context *context, const paritas_model *model,
                                           const paritas_job *PARITAS_OR_NULL job,
                                           const paritas_predict_request *request,
                                           const paritas_predict_answers *answers);

/* ---- goodness of fit ---------------------------------------------------------------------------- */

/* What says how far data are from the best fit. */
#define PARITAS_GOF_ALGORITHM_LIST(ITEM)                                                              \
    ITEM(PARITAS_GOF_SATURATED, 0, "saturated", "difference of twice the NLL to the saturated model") \
    ITEM(PARITAS_GOF_KS, 1, "ks", "Kolmogorov-Smirnov: largest distance of cumulative parts")         \
    ITEM(PARITAS_GOF_AD, 2, "ad", "Anderson-Darling: weighted squared distances of cumulative parts")
typedef enum paritas_gof_algorithm { PARITAS_GOF_ALGORITHM_LIST(PARITAS_ENUMERATOR) } paritas_gof_algorithm;

#define PARITAS_GOF_RESULT_FIELDS(FIELD, R)                                                                  \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the NLL at the best fit")                          \
    FIELD(R, double, saturated, , "saturated", "", "twice the NLL of the saturated model")                   \
    FIELD(R, double, statistic, , "statistic", "", "their difference")                                       \
    FIELD(R, size_t, ndof, , "ndof", "", "degrees of freedom: bins less free parameters without constraint") \
    FIELD(R, double, p, , "p", "", "chi-squared probability of the statistic")                               \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")                               \
    FIELD(R, double, ks, , "ks", "", "Kolmogorov-Smirnov statistic, summed over channels; NaN: no channels") \
    FIELD(R, double, ad, , "ad", "", "Anderson-Darling statistic, summed over channels; NaN: no channels")   \
    PARITAS_BOUND_FIELDS(FIELD, R)
typedef struct paritas_gof_result {
    size_t size;
    PARITAS_GOF_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_gof_result;

/* Goodness of the best fit. Let F be the part of a channel's events up to a bin, and G the expected part. The
 * KS of the channel is the largest |F - G| of its bins. Its AD is the sum over bins of
 * n (F - G)^2 / (G (1 - G)) times the expected part of the bin, for n events. A channel without events has
 * -1 for both. They have no p-value without toys (paritas_gof_toys). */
PARITAS_API paritas_status paritas_gof(paritas_context *context, const paritas_model *model,
                                       const paritas_job *PARITAS_OR_NULL job, paritas_gof_result *result);

/* ---- compatibility of channels ------------------------------------------------------------------ */

#define PARITAS_COMPATIBILITY_GROUP_FIELDS(FIELD, R)                                     \
    FIELD(R, double, mu, , "mu", "", "best fit of the group's own parameter")            \
    FIELD(R, double, error, , "error", "", "its error; NaN at a bound")                  \
    FIELD(R, double, down, , "minos_down", "", "MINOS error below; NaN: it ends before") \
    FIELD(R, double, up, , "minos_up", "", "MINOS error above")                          \
    FIELD(R, paritas_parameter_state, state, , "state", "", "of the parameter")          \
    FIELD(R, size_t, parameter, , "", "", "its number in the model with a parameter for each group")
typedef struct paritas_compatibility_group {
    size_t size;
    PARITAS_COMPATIBILITY_GROUP_FIELDS(PARITAS_MEMBER, )
} paritas_compatibility_group;

#define PARITAS_COMPATIBILITY_RESULT_FIELDS(FIELD, R)                                                   \
    FIELD(R, double, mu, , "mu", "", "best fit of the common parameter")                                \
    FIELD(R, double, error, , "error", "", "its error; NaN at a bound, and where it is fixed")          \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the NLL at the best fit with it")             \
    FIELD(R, double, twice_nll_separate, , "twice_nll_separate", "", "with a parameter for each group") \
    FIELD(R, double, statistic, , "statistic", "", "their difference")                                  \
    FIELD(R, size_t, ndof, , "ndof", "", "groups, less 1 for the common parameter unless it is fixed")  \
    FIELD(R, double, p, , "p", "", "chi-squared probability of the statistic; NaN: ndof is 0")          \
    FIELD(R, paritas_fit_status, status, , "status", "", "worse outcome of the two fits")               \
    PARITAS_BOUND_FIELDS(FIELD, R)
typedef struct paritas_compatibility_result {
    size_t size;
    PARITAS_COMPATIBILITY_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_compatibility_result;

/* Do groups of channels agree on the parameter of interest? `separate`: the model of the same workspace after
 * paritas_workspace_split. Its parameters of interest, in their order, have the rows of `groups`
 * (paritas_model_poi_count; may be NULL). `job` is of `model`. All other parameters are common. A parameter
 * of interest that the job fixes is compared with free ones. With many events the statistic follows
 * chi-squared. */
PARITAS_API paritas_status paritas_compatibility(paritas_context *context, const paritas_model *model,
                                                 const paritas_job *PARITAS_OR_NULL job,
                                                 const paritas_model *separate,
                                                 paritas_compatibility_result *result,
                                                 paritas_compatibility_group *PARITAS_OR_NULL groups);

#define PARITAS_STATISTICS_ENUMERATIONS(ENUMERATION)                                             \
    ENUMERATION(paritas_test_statistic, PARITAS_STATISTIC_LIST, "Test statistics.")              \
    ENUMERATION(paritas_reason, PARITAS_REASON_LIST, "Whether a number was found, and why not.") \
    ENUMERATION(paritas_gof_algorithm, PARITAS_GOF_ALGORITHM_LIST, "Statistics of goodness of fit.")
#define PARITAS_STATISTICS_RECORDS(RECORD)                                                                  \
    RECORD(paritas_minima, PARITAS_MINIMA_FIELDS, "Different minima that the fits of a statistic met.")     \
    RECORD(paritas_hypotest_result, PARITAS_HYPOTEST_RESULT_FIELDS, "Asymptotic test of one value of mu.")  \
    RECORD(paritas_limit_result, PARITAS_LIMIT_RESULT_FIELDS, "Asymptotic upper limits.")                   \
    RECORD(paritas_significance_result, PARITAS_SIGNIFICANCE_RESULT_FIELDS, "Asymptotic discovery.")        \
    RECORD(paritas_scan_point, PARITAS_SCAN_POINT_FIELDS, "A point of a profile likelihood.")               \
    RECORD(paritas_crossing, PARITAS_CROSSING_FIELDS, "A crossing of a level by a profile.")                \
    RECORD(paritas_interval_part, PARITAS_INTERVAL_PART_FIELDS, "A part of a likelihood interval.")         \
    RECORD(paritas_contour_point, PARITAS_CONTOUR_POINT_FIELDS, "A point on the edge of a region.")         \
    RECORD(paritas_contour_part, PARITAS_CONTOUR_PART_FIELDS, "A closed curve around a region, or a hole.") \
    RECORD(paritas_ranking_entry, PARITAS_RANKING_ENTRY_FIELDS, "Impact of one parameter.")                 \
    RECORD(paritas_breakdown_group, PARITAS_BREAKDOWN_GROUP_FIELDS, "Part of the error of one group.")      \
    RECORD(paritas_breakdown_result, PARITAS_BREAKDOWN_RESULT_FIELDS, "Parts of the POI's error.")          \
    RECORD(paritas_global_impact, PARITAS_GLOBAL_IMPACT_FIELDS, "Global impact of one parameter.")          \
    RECORD(paritas_global_result, PARITAS_GLOBAL_RESULT_FIELDS, "Parts of the POI's error by the data.")    \
    RECORD(paritas_gof_result, PARITAS_GOF_RESULT_FIELDS, "Goodness of fit.")                               \
    RECORD(paritas_compatibility_group, PARITAS_COMPATIBILITY_GROUP_FIELDS, "One group of channels.")       \
    RECORD(paritas_compatibility_result, PARITAS_COMPATIBILITY_RESULT_FIELDS, "Compatibility of channels.")
PARITAS_STATISTICS_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
