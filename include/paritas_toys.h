/* paritas_toys.h: toys: data drawn at random from a model, each with its fits. Tests, limits and goodness of
 * fit from toys; the store that keeps them.
 *
 * Toy t depends on the seed and t alone: not on how many toys there are, the shard, the device or the
 * threads. In all functions `job` and `options` may be NULL. A toy whose fits have no answer is counted by
 * its status and enters no fraction and no mean. Memory does not depend on the number of toys, except for a
 * test's statistics (8 bytes each).
 */
#ifndef PARITAS_TOYS_H
#define PARITAS_TOYS_H

#include "paritas_statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_STRENGTHS_MOST 16 /* of importance sampling, with both hypotheses */
/* Toys of each tested value and hypothesis, where options->n is 0; of limits at most so many. */
#define PARITAS_TOYS 2000
#define PARITAS_LIMIT_TOYS 100000

/* ---- what all runs of toys share ---------------------------------------------------------------- */

/* One toy of a hypothesis test; a row of table `toys` of a store. */
#define PARITAS_TOY_FIELDS(FIELD, R)                                                                        \
    FIELD(R, double, mu, , "mu", "", "tested value of the parameter of interest")                           \
    FIELD(R, double, hypothesis, , "hypothesis", "", "value that the toy was drawn at")                     \
    FIELD(R, uint64_t, toy, , "toy", "", "its number; with the seed it says all that was drawn")            \
    FIELD(R, double, q, , "q", "", "test statistic")                                                        \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                       \
    FIELD(R, double, twice_nll_free, , "twice_nll_free", "", "twice the NLL at the best fit")               \
    FIELD(R, double, twice_nll_fixed, , "twice_nll_fixed", "", "twice the NLL with the tested value fixed") \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of its fits")                       \
    FIELD(R, unsigned, iterations, , "iterations", "", "of its fits together")                              \
    FIELD(R, double, weight, , "weight", "",                                                                \
          "importance sampling: its probability at the tested value over the strengths' mean; else NaN")    \
    FIELD(R, double, weight_other, , "weight_other", "", "the same of the other hypothesis")
typedef struct paritas_toy {
    size_t size;
    PARITAS_TOY_FIELDS(PARITAS_MEMBER, )
} paritas_toy;

/* Receives finished toys, ascending within a call, on the calling thread. Toy i is at toys[0].size * i bytes.
 * A return other than 0 cancels the run. */
typedef int (*paritas_toys_taker)(void *user, size_t n, const paritas_toy *toys);

/* A named text in the key of a store. A run is resumed, and shards are pooled, only where all agree but the
 * number of toys. */
typedef struct paritas_key_entry {
    const char *name, *value;
} paritas_key_entry;

#define PARITAS_TOYS_OPTIONS(OPTION, OTHER, S)                                                               \
    OPTION(S, uint64_t, n, 0, PARITAS_NO_BOUND, PARITAS_TO(281474976710655.0), "--ntoys", "",                \
           "toys of each hypothesis, over all shards; 0: 2000, for limits up to 100000")                     \
    OPTION(S, uint64_t, seed, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "",                           \
           "toy t depends on the seed and t alone")                                                          \
    OPTION(S, unsigned, shard, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                                \
           "this run draws part `shard`, from 1; 0: all")                                                    \
    OPTION(S, unsigned, shards, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "", "of so many parts; 0: all")   \
    OPTION(S, paritas_truth, fix_aux, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--fix-aux", "",                \
           "keep auxiliary data as observed")                                                                \
    OPTION(S, paritas_truth, newton_only, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                     \
           "never fit by quasi-Newton; 0: where the first toys show that it is faster")                      \
    OTHER(S, const char *, store, "path of a store (SQLite) that keeps every toy; NULL: none")               \
    OPTION(S, paritas_truth, resume, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--resume", "",                  \
           "continue a store that exists, also to a larger number of toys")                                  \
    OTHER(S, size_t, n_entries, "further entries of the store's key, for example the workspace's digest")    \
    OTHER(S, const paritas_key_entry *, entries, "n_entries")                                                \
    OTHER(S, paritas_toys_taker, take, "receives the toys of a test that this call fits; NULL: none")        \
    OTHER(S, void *, user, "of `take`")                                                                      \
    OPTION(S, paritas_truth, importance, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--importance", "",          \
           "importance sampling, for small p-values: n toys of each of several strengths, with weights")     \
    OTHER(S, size_t, n_strengths, "at most PARITAS_STRENGTHS_MOST - 2")                                      \
    OTHER(S, const double *, strengths,                                                                      \
          "values of the parameter of interest where toys are drawn, besides both hypotheses; NULL: chosen") \
    OPTION(S, paritas_gof_algorithm, algo, PARITAS_GOF_SATURATED, PARITAS_NO_BOUND, PARITAS_NO_BOUND,        \
           "--algo", "", "statistic of goodness of fit")

/* Options of all runs of toys. Start from PARITAS_TOYS_OPTIONS_DEFAULT. Importance sampling is for tests and
 * significances alone, `algo` for goodness of fit. */
typedef struct paritas_toys_options {
    size_t size;
    PARITAS_TOYS_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_toys_options;
#define PARITAS_TOYS_OPTIONS_DEFAULT PARITAS_OPTIONS_DEFAULTS(paritas_toys_options, PARITAS_TOYS_OPTIONS)

/* What became of the toys of a run. */
#define PARITAS_TOYS_TALLY_FIELDS(FIELD, R)                                                            \
    FIELD(R, uint64_t, counts, [PARITAS_FIT_STATUS_COUNT], "counts", "", "toys by their status")       \
    FIELD(R, uint64_t, fitted, , "fitted", "", "toys that this call fitted; the store had the others") \
    FIELD(R, uint64_t, iterations, , "iterations", "", "of the toys fitted now")                       \
    FIELD(R, uint64_t, by_quasi_newton, , "quasi_newton", "", "toys answered by quasi-Newton")         \
    FIELD(R, uint64_t, by_newton, , "newton", "", "by Newton's method")                                \
    FIELD(R, uint64_t, from_suggested_start, , "suggested_start", "", "from the suggested start")      \
    FIELD(R, uint64_t, from_the_other_fit, , "from_the_other_fit", "",                                 \
          "from the end of the toy's other fit")                                                       \
    FIELD(R, uint64_t, from_further_starts, , "further_starts", "", "from further starts")             \
    FIELD(R, uint64_t, at_edge, , "at_edge", "", "at the edge of the domain")                          \
    FIELD(R, uint64_t, refitted, , "refitted", "",                                                     \
          "free fits repeated because the conditional fit had found a lower minimum")
typedef struct paritas_toys_tally {
    PARITAS_TOYS_TALLY_FIELDS(PARITAS_MEMBER, )
} paritas_toys_tally;

/* ---- tests -------------------------------------------------------------------------------------- */

#define PARITAS_HYPOTEST_TOYS_RESULT_FIELDS(FIELD, R)                                                      \
    FIELD(R, double, mu, , "mu", "", "tested value of the parameter of interest")                          \
    FIELD(R, double, cls_obs, , "CLs_obs", "", "observed CLs")                                             \
    FIELD(R, double, cls_obs_error, , "CLs_obs_error", "", "its standard error")                           \
    FIELD(R, double, cls_exp, [5], "CLs_exp", "",                                                          \
          "CLs at percentiles of the toys drawn at the other hypothesis, ascending")                       \
    FIELD(R, double, cls_exp_error, [5], "CLs_exp_error", "", "their standard errors")                     \
    FIELD(R, double, clsb, , "CLsb", "", "p-value of the tested value, CLs+b")                             \
    FIELD(R, double, clsb_error, , "CLsb_error", "", "its standard error")                                 \
    FIELD(R, double, clb, , "CLb", "", "p-value of the other hypothesis")                                  \
    FIELD(R, double, clb_error, , "CLb_error", "", "its standard error")                                   \
    FIELD(R, double, q, , "q", "", "test statistic of the data")                                           \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                      \
    FIELD(R, double, p0, , "p0", "", "p-value of the background; q0 only, else NaN")                       \
    FIELD(R, double, p0_error, , "p0_error", "", "its standard error")                                     \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits to the observed data") \
    FIELD(R, uint64_t, n_tested, , "n_tested", "", "toys with an answer, drawn at the tested value")       \
    FIELD(R, uint64_t, n_other, , "n_other", "", "toys with an answer, drawn at the other hypothesis")     \
    FIELD(R, double, twice_nll_free, , "", "", "twice the NLL of the data at the best fit")                \
    FIELD(R, double, twice_nll_fixed, , "", "", "the same with the tested value fixed")                    \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of the toys of both hypotheses")            \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                                \
    FIELD(R, size_t, n_strengths, , "", "", "importance sampling: values where toys were drawn; else 0")   \
    FIELD(R, double, strengths, [PARITAS_STRENGTHS_MOST], "", "",                                          \
          "these: tested value, other hypothesis, the others ascending, then the one of tested nuisances") \
    FIELD(R, double, effective_tested, , "", "",                                                           \
          "effective number of toys behind CLsb, (sum w)^2 / sum w^2 of their weights; else NaN")          \
    FIELD(R, double, effective_other, , "", "", "the same behind CLb")
/* The standard error of a fraction k of n has the variance p (1 - p) / n with p = (k + 1) / (n + 2). Neither
 * 0 nor n is then certain. */
typedef struct paritas_hypotest_toys_result {
    size_t size;
    PARITAS_HYPOTEST_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_hypotest_toys_result;

/* Tests mu by toys, as pyhf's ToyCalculator does. The other hypothesis is 0 (for q0, which tests 0, it is 1).
 * Toys are drawn around the conditional fits to the observed data at both, and each gets a free and a
 * conditional fit. If `progress` or `take` cancels: CANCELLED, and the store keeps the toys that are
 * finished.
 *
 * options->importance: toys are drawn at several strengths, equally many at the conditional fit of each. The
 * last strength, near the best fit, has the nuisance parameters of the tested value. It is left out if these
 * equal the best fit's, or if the tested value is less than two standard deviations from it. Given strengths
 * have no such addition. A toy has the weight p_H / mean of p_j, by probabilities of its data at these points
 * (the balance heuristic: Veach, Guibas, SIGGRAPH 1995). A p-value is the mean weight of toys with at least
 * the observed statistic. The mean of all weights, which is 1, serves as a control variate (Owen, Zhou, J.
 * Am. Stat. Assoc. 95 (2000) 135). Errors come from the variances at each strength. NOT_CONVERGED: a p-value
 * that the answer needs rests on an effective number of toys below 25. The answer's p-values are then NaN. In
 * a shard they are NaN, too, but the call succeeds. */
PARITAS_API paritas_status paritas_hypotest_toys(paritas_context *context, const paritas_model *model,
                                                 const paritas_job *PARITAS_OR_NULL job,
                                                 paritas_test_statistic statistic, double mu,
                                                 const paritas_toys_options *PARITAS_OR_NULL options,
                                                 paritas_hypotest_toys_result *result);

#define PARITAS_SIGNIFICANCE_TOYS_RESULT_FIELDS(FIELD, R)                                                 \
    FIELD(R, double, p0, , "p0", "", "part of the toys drawn at 0 whose q0 is at least the observed one") \
    FIELD(R, double, p0_error, , "p0_error", "", "its standard error")                                    \
    FIELD(R, double, z, , "Z", "", "Phi^-1(1 - p0); NaN where no toy reaches q0, or all do")              \
    FIELD(R, double, z_error, , "Z_error", "", "its standard error, to first order")                      \
    FIELD(R, double, z_at_least, , "Z_at_least", "",                                                      \
          "where no toy reaches q0: lower limit on Z at 95 % confidence; else NaN")                       \
    FIELD(R, double, p0_exp, , "p0_exp", "", "p0 of the median q0 of toys drawn at 1")                    \
    FIELD(R, double, p0_exp_error, , "p0_exp_error", "", "its standard error")                            \
    FIELD(R, double, z_exp, , "Z_exp", "", "Phi^-1(1 - p0_exp)")                                          \
    FIELD(R, double, z_exp_error, , "Z_exp_error", "", "its standard error, to first order")              \
    FIELD(R, double, z_exp_at_least, , "Z_exp_at_least", "", "as Z_at_least, for Z_exp")                  \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_significance_toys_result {
    size_t size;
    PARITAS_SIGNIFICANCE_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_significance_toys_result;

/* Discovery by toys: paritas_hypotest_toys with PARITAS_STATISTIC_Q0, whose stores it shares. *test receives
 * that test; its CLs_exp is p0 at -2 ... 2 sigma. It may be NULL. */
PARITAS_API paritas_status paritas_significance_toys(paritas_context *context, const paritas_model *model,
                                                     const paritas_job *PARITAS_OR_NULL job,
                                                     const paritas_toys_options *PARITAS_OR_NULL options,
                                                     paritas_significance_toys_result *result,
                                                     paritas_hypotest_toys_result *PARITAS_OR_NULL test);

/* ---- upper limits ------------------------------------------------------------------------------- */

#define PARITAS_LIMIT_TOYS_REQUEST_OPTIONS(OPTION, OTHER, S)                                           \
    OPTION(S, paritas_test_statistic, statistic, PARITAS_STATISTIC_QTILDE,                             \
           PARITAS_FROM(PARITAS_STATISTIC_QTILDE), PARITAS_TO(PARITAS_STATISTIC_Q), "--test-stat", "", \
           "test statistic")                                                                           \
    OPTION(S, double, level, 0.05, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--level", "",              \
           "CLs at the limit")                                                                         \
    OPTION(S, double, rtol, 0.05, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--rtol", "",                \
           "relative error that each limit by toys should reach")                                      \
    OTHER(S, size_t, scan_room, "places in `scan`, as in paritas_limit_request")                       \
    OTHER(S, paritas_hypotest_toys_result *, scan, "receives the tests; NULL: none")

/* What limits by toys are asked for. Start from PARITAS_LIMIT_TOYS_REQUEST_DEFAULT. */
typedef struct paritas_limit_toys_request {
    size_t size;
    PARITAS_LIMIT_TOYS_REQUEST_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_limit_toys_request;
#define PARITAS_LIMIT_TOYS_REQUEST_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_limit_toys_request, PARITAS_LIMIT_TOYS_REQUEST_OPTIONS)

#define PARITAS_LIMIT_TOYS_RESULT_FIELDS(FIELD, R)                                                         \
    FIELD(R, double, limit_obs, , "limit_obs", "", "observed limit; NaN: no root up to upper_bound")       \
    FIELD(R, double, limit_obs_error, , "limit_obs_error", "", "standard error from the number of toys")   \
    FIELD(R, double, limit_exp, [5], "limit_exp", "", "expected limits at -2 ... 2 sigma")                 \
    FIELD(R, double, limit_exp_error, [5], "limit_exp_error", "", "their standard errors")                 \
    FIELD(R, paritas_truth, reached_obs, , "reached_obs", "",                                              \
          "the error is at most rtol, or there is no limit; else toys or places in the scan ran out")      \
    FIELD(R, paritas_truth, reached_exp, [5], "reached_exp", "", "the same of the expected limits")        \
    FIELD(R, double, asymptotic_obs, , "", "", "asymptotic limit, where the search began")                 \
    FIELD(R, double, asymptotic_exp, [5], "", "", "the same of the expected limits")                       \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                      \
    FIELD(R, double, upper_bound, , "upper_bound", "", "of the parameter of interest, as used")            \
    FIELD(R, paritas_truth, bound_widened, , "bound_widened", "",                                          \
          "the search went beyond the model's bound")                                                      \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits to the observed data") \
    FIELD(R, double, twice_nll_free, , "", "", "twice the NLL of the data at the best fit")                \
    FIELD(R, size_t, n_scan, , "", "", "values that were tested; scan has them as far as it has room")     \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of all toys")                               \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_limit_toys_result {
    size_t size;
    PARITAS_LIMIT_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_limit_toys_result;

/* Upper limits by toys. Values of mu are tested where they matter, beginning at the asymptotic limits. Toys
 * are added where a curve's error needs them; toy t has the same random numbers at every value. Errors hold
 * whatever the correlation between tested values. options->n is the most toys of each value and hypothesis;
 * 0: PARITAS_LIMIT_TOYS. A store keeps all tested values. A run that goes on with it, also with more toys or
 * another rtol, answers as a run without interruption. A limit cannot be cut into shards:
 * INVALID_ARGUMENT. */
PARITAS_API paritas_status paritas_limit_toys(paritas_context *context, const paritas_model *model,
                                              const paritas_job *PARITAS_OR_NULL job,
                                              const paritas_limit_toys_request *PARITAS_OR_NULL request,
                                              const paritas_toys_options *PARITAS_OR_NULL options,
                                              paritas_limit_toys_result *result);

/* ---- look-elsewhere effect ---------------------------------------------------------------------- */

#define PARITAS_LOOK_ELSEWHERE_POINT_FIELDS(FIELD, R)                                                       \
    FIELD(R, double, q0, , "q0", "", "test statistic of the data")                                          \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                       \
    FIELD(R, double, p_local, , "p_local", "", "asymptotic p-value of the background, of this point alone") \
    FIELD(R, double, z_local, , "Z_local", "", "its significance, sqrt(q0)")                                \
    FIELD(R, double, p_local_toys, , "p_local_toys", "",                                                    \
          "part of the toys whose q0 here is at least as large")                                            \
    FIELD(R, double, p_local_toys_error, , "p_local_toys_error", "", "its standard error")                  \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits to the observed data")
typedef struct paritas_look_elsewhere_point {
    size_t size;
    PARITAS_LOOK_ELSEWHERE_POINT_FIELDS(PARITAS_MEMBER, )
} paritas_look_elsewhere_point;

#define PARITAS_LOOK_ELSEWHERE_REQUEST_OPTIONS(OPTION, OTHER, S)                                            \
    OTHER(S, size_t, n_points, "1 to 100000")                                                               \
    OTHER(S, const paritas_model *const *, models, "n_points: the background and one signal each")          \
    OTHER(S, const paritas_job *, jobs, "n_points; NULL: the models' own")                                  \
    OTHER(S, const paritas_model *, background,                                                             \
          "without signal, or with a parameter of interest that is held at 0; NULL: models[0] at 0")        \
    OTHER(S, const paritas_job *, background_job, "NULL: its own; not read without `background`")           \
    OPTION(                                                                                                 \
        S, double, upcrossed, 0.5, PARITAS_FROM(0.0), PARITAS_NO_BOUND, "--upcrossed", "",                  \
        "count how often q0 rises above this value from point to point, along a line of points; 0: do not") \
    OTHER(S, paritas_look_elsewhere_point *, points, "receives n_points answers")

/* Signals at n_points points, for example masses. Start from PARITAS_LOOK_ELSEWHERE_REQUEST_DEFAULT.
 * Upcrossings mean something only if the points are in order along a line. */
typedef struct paritas_look_elsewhere_request {
    size_t size;
    PARITAS_LOOK_ELSEWHERE_REQUEST_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_look_elsewhere_request;
#define PARITAS_LOOK_ELSEWHERE_REQUEST_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_look_elsewhere_request, PARITAS_LOOK_ELSEWHERE_REQUEST_OPTIONS)

#define PARITAS_LOOK_ELSEWHERE_RESULT_FIELDS(FIELD, R)                                                      \
    FIELD(R, double, p_global, , "p_global", "",                                                            \
          "part of the toys whose largest q0 of all points is at least the observed one")                   \
    FIELD(R, double, p_global_error, , "p_global_error", "", "its standard error")                          \
    FIELD(R, double, z_global, , "Z_global", "", "Phi^-1(1 - p_global); NaN where no toy is as large")      \
    FIELD(R, double, z_global_error, , "Z_global_error", "", "its standard error, to first order")          \
    FIELD(R, double, z_at_least, , "Z_at_least", "",                                                        \
          "where no toy is as large: lower limit on Z at 95 % confidence; else NaN")                        \
    FIELD(R, double, q0, , "q0", "", "largest of the observed q0")                                          \
    FIELD(R, double, p_local, , "p_local", "", "asymptotic p-value of the point with it, alone")            \
    FIELD(R, double, z_local, , "Z_local", "", "its significance")                                          \
    FIELD(R, double, p_local_toys, , "p_local_toys", "", "its p-value by the same toys")                    \
    FIELD(R, double, p_local_toys_error, , "p_local_toys_error", "", "its standard error")                  \
    FIELD(R, double, trial_factor, , "trial_factor", "", "p_global / p_local_toys; NaN without such a toy") \
    FIELD(R, double, trial_factor_error, , "trial_factor_error", "",                                        \
          "its standard error: toys with a local excess are among those with a global one")                 \
    FIELD(R, double, upcrossings, , "upcrossings", "",                                                      \
          "mean number of upcrossings in a toy; NaN: not asked")                                            \
    FIELD(R, double, upcrossings_error, , "upcrossings_error", "", "its standard error")                    \
    FIELD(R, double, p_upcrossings, , "p_upcrossings", "",                                                  \
          "bound on p_global from upcrossings: p_local + upcrossings exp((upcrossed - q0) / 2)")            \
    FIELD(R, double, p_upcrossings_error, , "p_upcrossings_error", "", "its standard error")                \
    FIELD(R, uint64_t, n, , "n", "", "toys with an answer at all points")                                   \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits to the observed data")  \
    FIELD(R, size_t, point, , "", "", "number of the point with the largest q0")                            \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of the toys; fits of all points")            \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)
typedef struct paritas_look_elsewhere_result {
    size_t size;
    PARITAS_LOOK_ELSEWHERE_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_look_elsewhere_result;

/* Global significance of the largest excess among the points. Toys are drawn from the background fitted to
 * the data. All points see the same main data of a toy. An auxiliary datum gets its random numbers by the
 * name of its parameter. So points share the draw of a common parameter, and a signal's parameters have their
 * own draws. The data of a point depend on neither the other points nor their order.
 *
 * A background without parameters is no model: leave `background` NULL. The first point without its signal
 * has the same rates.
 *
 * Upcrossings: Gross, Vitells, Eur. Phys. J. C 70 (2010) 525, arXiv:1005.1891, eq. 3 with one degree of
 * freedom and one side.
 *
 * Channels of all models must be channels of the background, with the same observed data: INVALID_ARGUMENT.
 * There is no store: `store`, `shard` and `take` of the options are INVALID_ARGUMENT. */
PARITAS_API paritas_status paritas_look_elsewhere(paritas_context *context,
                                                  const paritas_look_elsewhere_request *request,
                                                  const paritas_toys_options *PARITAS_OR_NULL options,
                                                  paritas_look_elsewhere_result *result);

/* ---- intervals ---------------------------------------------------------------------------------- */

#define PARITAS_INTERVAL_TOYS_REQUEST_OPTIONS(OPTION, OTHER, S)                           \
    OPTION(S, double, level, 0.05, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--level", "", \
           "1 less the confidence level")                                                 \
    OPTION(S, double, rtol, 0.01, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "--rtol", "",   \
           "an edge is bisected to this part of the asymptotic half width")               \
    OTHER(S, size_t, scan_room, "places in `scan`, as in paritas_limit_request")          \
    OTHER(S, paritas_hypotest_toys_result *, scan, "receives the tests; NULL: none")

/* What intervals by toys are asked for. Start from PARITAS_INTERVAL_TOYS_REQUEST_DEFAULT. */
typedef struct paritas_interval_toys_request {
    size_t size;
    PARITAS_INTERVAL_TOYS_REQUEST_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_interval_toys_request;
#define PARITAS_INTERVAL_TOYS_REQUEST_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_interval_toys_request, PARITAS_INTERVAL_TOYS_REQUEST_OPTIONS)

#define PARITAS_INTERVAL_TOYS_RESULT_FIELDS(FIELD, R)                                                       \
    FIELD(R, double, lower, , "lower", "", "lower edge; the parameter's lower bound if that is in the set") \
    FIELD(R, double, lower_error, , "lower_error", "",                                                      \
          "its error from the number of toys; 0 at the bound; NaN: no value tested is surely out")          \
    FIELD(R, double, upper, , "upper", "", "upper edge; NaN: none was found")                               \
    FIELD(R, double, upper_error, , "upper_error", "", "its error")                                         \
    FIELD(R, paritas_truth, lower_at_bound, , "lower_at_bound", "", "the lower bound is in the set")        \
    FIELD(R, double, mu_hat, , "mu_hat", "", "best fit of the parameter of interest")                       \
    FIELD(R, double, upper_bound, , "upper_bound", "", "of the parameter of interest, as used")             \
    FIELD(R, paritas_truth, bound_widened, , "bound_widened", "",                                           \
          "the search went beyond the model's bound")                                                       \
    FIELD(R, paritas_fit_status, status, , "status", "", "worst outcome of the fits to the observed data")  \
    FIELD(R, size_t, n_scan, , "", "", "values that were tested; scan has them as far as it has room")      \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of all toys")                                \
    PARITAS_SEVERAL_MINIMA_FIELDS(FIELD, R)                                                                 \
    FIELD(R, paritas_reason, upper_reason, , "upper_reason", "",                                            \
          "why upper is NaN: none_below_bound, all values up to the widest bound are in; not_reached; or "  \
          "found")
typedef struct paritas_interval_toys_result {
    size_t size;
    PARITAS_INTERVAL_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_interval_toys_result;

/* The interval of Feldman and Cousins (Phys. Rev. D 57 (1998) 3873) by toys: all mu whose p-value of
 * t = -2 ln(L(mu) / L(best fit)) is above the level. The best fit stays above the parameter's lower bound.
 * The upper bound is widened so that it cuts no best fits of toys. Toys are drawn at the conditional fit to
 * the data at each tested mu. Each edge is bisected; if there are several crossings, one of them is found. An
 * edge's error is half the distance between the nearest values that are in the set, and out of it, by more
 * than their errors. options->n: toys of each value; 0: 2000. CLsb of a scan's entry is the p-value. Stores
 * and shards are as in paritas_limit_toys. */
PARITAS_API paritas_status paritas_interval_toys(paritas_context *context, const paritas_model *model,
                                                 const paritas_job *PARITAS_OR_NULL job,
                                                 const paritas_interval_toys_request *PARITAS_OR_NULL request,
                                                 const paritas_toys_options *PARITAS_OR_NULL options,
                                                 paritas_interval_toys_result *result);

/* ---- fits of toys ------------------------------------------------------------------------------- */

/* The free fit of one toy. Pointers are valid until the taker returns. */
typedef struct paritas_toy_fit {
    size_t size;
    uint64_t toy;
    paritas_fit_result
        result;               /* its projected gradient is NaN without errors: the fit was ended by its EDM */
    double statistic;         /* twice the NLL less its saturated value, without loss of digits */
    const double *parameters; /* parameter_count */
    const double *errors;     /* parameter_count; NULL unless asked for. NaN where not free */
} paritas_toy_fit;

/* Takes rows as paritas_toys_taker does, for paritas_toys. */
typedef int (*paritas_toy_fits_taker)(void *user, size_t n, const paritas_toy_fit *fits);

/* One parameter over all toys with an answer and a known fitted value. */
#define PARITAS_TOYS_PARAMETER_FIELDS(FIELD, R)                                              \
    FIELD(R, double, generated, , "generated", "",                                           \
          "its value at the point where toys are drawn; NaN where expected data were given") \
    FIELD(R, uint64_t, n, , "n", "", "toys")                                                 \
    FIELD(R, double, mean, , "mean", "", "of the fitted value")                              \
    FIELD(R, double, rms, , "rms", "", "standard deviation of the fitted value, of n - 1")   \
    FIELD(R, uint64_t, n_pulls, , "n_pulls", "", "toys where it also has an error")          \
    FIELD(R, double, pull_mean, , "pull_mean", "", "of (fitted - generated) / error")        \
    FIELD(R, double, pull_rms, , "pull_rms", "", "standard deviation of the pull")
typedef struct paritas_toys_parameter {
    size_t size;
    PARITAS_TOYS_PARAMETER_FIELDS(PARITAS_MEMBER, )
} paritas_toys_parameter;

/* Flags of paritas_toys_request. */
#define PARITAS_TOYS_KEEP_PARAMETERS 1u /* the store keeps the fitted parameters */
#define PARITAS_TOYS_ERRORS 2u          /* errors from each toy's exact Hessian; the store keeps them */
#define PARITAS_TOYS_EXPECTED 4u        /* paritas_generate: one row, of what is expected there */

/* Where toys are drawn and what is wanted of them. Start from PARITAS_TOYS_REQUEST_DEFAULT: at the best fit
 * to the job's data. Not both of `point` and `expected`. */
typedef struct paritas_toys_request {
    size_t size;
    const double *point;         /* parameter_count: draw there */
    const double *expected;      /* main_count + aux_count: draw around these data */
    unsigned flags;              /* PARITAS_TOYS_... */
    paritas_toy_fits_taker take; /* receives the toys that this call fits; NULL: none */
    void *user;
    paritas_toys_parameter *parameters; /* receives parameter_count summaries; may be NULL */
} paritas_toys_request;
#define PARITAS_TOYS_REQUEST_DEFAULT PARITAS_INIT(paritas_toys_request)

#define PARITAS_TOYS_RESULT_FIELDS(FIELD, R)                                            \
    FIELD(R, paritas_fit_status, status, , "status", "",                                \
          "of the fit to the observed data where toys are drawn at it, else converged") \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of the toys")
typedef struct paritas_toys_result {
    size_t size;
    PARITAS_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_toys_result;

/* Draws toys and fits each freely within the job's bounds and fixed flags. Auxiliary data are drawn too,
 * around what is expected of them; with options->fix_aux they stay as observed (or as `expected` gives them).
 * Fits start where the expected data themselves are best fitted from job->start (NULL: from `point`, or the
 * suggested start). A fixed parameter stays at its start, wherever the toys are drawn. Needs no parameter of
 * interest. options->take is not called. `request` may be NULL. INVALID_ARGUMENT: data that nothing can be
 * drawn from, named. */
PARITAS_API paritas_status paritas_toys(paritas_context *context, const paritas_model *model,
                                        const paritas_job *PARITAS_OR_NULL job,
                                        const paritas_toys_request *PARITAS_OR_NULL request,
                                        const paritas_toys_options *PARITAS_OR_NULL options,
                                        paritas_toys_result *result);

/* ---- data of toys ------------------------------------------------------------------------------- */

/* Data rows, and how they were made. Its arrays are const: a caller who fills the struct keeps them. */
typedef struct paritas_toy_data {
    size_t size;
    size_t n;                  /* rows */
    uint64_t first, seed;      /* row i is toy first + i of this seed */
    paritas_truth fix_aux;     /* auxiliary data were not drawn */
    paritas_truth expected;    /* nothing was drawn: the only row is what is expected */
    paritas_fit_status status; /* of the fit to the data at which they were drawn; converged where none was */
    const double *point;       /* parameter_count: the truth; NULL: unknown, drawn around given data */
    const double *rows;        /* n rows of main_count + aux_count */
    const char *model; /* digest of the model that drew them; NULL: rows for any model of this shape */
} paritas_toy_data;

/* Draws toys and fits none. They are the toys of paritas_toys with this job, request and these options. Only
 * the options `n`, `seed`, `shard`, `shards` and `fix_aux` count. The request may have only the flag
 * PARITAS_TOYS_EXPECTED. *data: freed by paritas_toy_data_free. */
PARITAS_API paritas_status paritas_generate(paritas_context *context, const paritas_model *model,
                                            const paritas_job *PARITAS_OR_NULL job,
                                            const paritas_toys_request *PARITAS_OR_NULL request,
                                            const paritas_toys_options *PARITAS_OR_NULL options,
                                            paritas_toy_data **data);
PARITAS_API void paritas_toy_data_free(paritas_toy_data *data); /* NULL is a no-op */
/* The same as JSON, with the channels of the model: numbers come back with their bits. Freed by
 * paritas_text_free. */
PARITAS_API paritas_status paritas_toy_data_write(paritas_context *context, const paritas_model *model,
                                                  const paritas_toy_data *data, char **text, size_t *length);
/* The same as an archive for numpy.load (.npz). `main` has a row of main data for each toy, `aux` one of
 * auxiliary data; side by side they are rows as pyhf takes them. `bins` and `measured` name their columns:
 * "CHANNEL[BIN]" and parameters. `toy`, `seed`, `model`, `parameters` and `point` say how they were drawn.
 * Freed by paritas_text_free. INVALID_ARGUMENT: 4 GiB or more. */
PARITAS_API paritas_status paritas_toy_data_pack(paritas_context *context, const paritas_model *model,
                                                 const paritas_toy_data *data, char **bytes, size_t *length);
/* Reads such a file, JSON or an archive ("-": JSON from standard input). One row may also be an array of
 * main and auxiliary data, or an object {"main": [...], "aux": [...]}. An archive of numpy.savez needs `main`
 * and `aux` alone. Freed by paritas_toy_data_free. INVALID_INPUT, with file and place: numbers that no
 * data of the model can be, or a file of a model with another digest. */
PARITAS_API paritas_status paritas_toy_data_read(paritas_context *context, const paritas_model *model,
                                                 const char *path, paritas_toy_data **data);

/* ---- goodness of fit ---------------------------------------------------------------------------- */

#define PARITAS_GOF_TOYS_RESULT_FIELDS(FIELD, R)                                                         \
    FIELD(R, double, p, , "p_toys", "", "part of the toys whose statistic is at least the observed one") \
    FIELD(R, double, p_error, , "p_toys_error", "", "its standard error")                                \
    FIELD(R, uint64_t, n, , "", "", "toys with an answer")                                               \
    FIELD(R, paritas_toys_tally, tally, , "", "", "what became of the toys")
typedef struct paritas_gof_toys_result {
    size_t size;
    PARITAS_GOF_TOYS_RESULT_FIELDS(PARITAS_MEMBER, )
} paritas_gof_toys_result;

/* Goodness of fit by toys that are drawn at the best fit to the job's data, each with its own best fit.
 * Statistics within 1e-8 count as equal; of KS and AD, within 1e-6. */
PARITAS_API paritas_status paritas_gof_toys(paritas_context *context, const paritas_model *model,
                                            const paritas_job *PARITAS_OR_NULL job,
                                            const paritas_toys_options *PARITAS_OR_NULL options,
                                            paritas_gof_toys_result *result,
                                            paritas_gof_result *PARITAS_OR_NULL gof);

/* Compatibility of channels by toys that are drawn at the common best fit to the job's data, each with both
 * fits (paritas_compatibility). Statistics within 1e-8 count as equal. `observed` and `groups`: the
 * answer of the data; may be NULL. Without a store and shards. */
PARITAS_API paritas_status paritas_compatibility_toys(paritas_context *context, const paritas_model *model,
                                                      const paritas_job *PARITAS_OR_NULL job,
                                                      const paritas_model *separate,
                                                      const paritas_toys_options *PARITAS_OR_NULL options,
                                                      paritas_gof_toys_result *result,
                                                      paritas_compatibility_result *PARITAS_OR_NULL observed,
                                                      paritas_compatibility_group *PARITAS_OR_NULL groups);

/* ---- stores ------------------------------------------------------------------------------------- */

/* Pools n stores of toys, the shards of one run, into a new one at `output`. It has exactly the rows of the
 * uncut run. The stores must come from equal runs (the key's entry `shard` aside) and share no toy.
 * INVALID_INPUT names the entry or toy that does not fit, and the files. `output` must not exist; it appears
 * when all is pooled, or not at all. UNREADABLE: a store that another process has open for writing. Keeps n
 * files and a few open at once. */
PARITAS_API paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths,
                                               const char *output);

/* Do n stores of one run have all its toys? INVALID_INPUT: the message names the shards that are missing or
 * were killed, and toys that no shard of the given cuts has. A pool that is no whole run only says how many
 * toys are missing. Runs that differ in `ntoys` alone are one run, of the largest number. Stores without
 * `ntoys` (of limits) are whole. */
PARITAS_API paritas_status paritas_store_check_whole(paritas_context *context, size_t n,
                                                     const char *const *paths);

/* The run whose toys a store has. */
typedef struct paritas_store_run {
    size_t n_entries;
    const paritas_key_entry *entries;          /* the key */
    uint64_t counts[PARITAS_FIT_STATUS_COUNT]; /* toys by outcome */
    paritas_truth has_hypotest;                /* paritas_store_hypotest has an answer */
} paritas_store_run;

/* Reads the run of a store. Freed by paritas_store_run_free, until when the store stays open for reading. */
PARITAS_API paritas_status paritas_store_run_read(paritas_context *context, const char *path,
                                                  paritas_store_run **run);
PARITAS_API void paritas_store_run_free(paritas_store_run *run); /* NULL is a no-op */

/* The answer of paritas_hypotest_toys from the rows of a store alone; no fit is made. The store is one that
 * paritas_hypotest_toys or paritas_significance_toys made, or a pool of such stores. The tally has only the
 * counts by status; its other numbers are 0. INVALID_ARGUMENT: a store of another kind (of a limit, of plain
 * toys), or one without any toy. */
PARITAS_API paritas_status paritas_store_hypotest(paritas_context *context, const char *path,
                                                  paritas_hypotest_toys_result *result);

#define PARITAS_TOYS_RECORDS(RECORD)                                                                        \
    RECORD(paritas_toy, PARITAS_TOY_FIELDS, "One toy of a hypothesis test.")                                \
    RECORD(paritas_toys_tally, PARITAS_TOYS_TALLY_FIELDS, "What became of the toys of a run.")              \
    RECORD(paritas_hypotest_toys_result, PARITAS_HYPOTEST_TOYS_RESULT_FIELDS, "Test by toys of one value.") \
    RECORD(paritas_significance_toys_result, PARITAS_SIGNIFICANCE_TOYS_RESULT_FIELDS, "Discovery by toys.") \
    RECORD(paritas_limit_toys_result, PARITAS_LIMIT_TOYS_RESULT_FIELDS, "Upper limits by toys.")            \
    RECORD(paritas_look_elsewhere_point, PARITAS_LOOK_ELSEWHERE_POINT_FIELDS,                               \
           "One of many signals on a background.")                                                          \
    RECORD(paritas_look_elsewhere_result, PARITAS_LOOK_ELSEWHERE_RESULT_FIELDS,                             \
           "Global significance of the largest excess.")                                                    \
    RECORD(paritas_interval_toys_result, PARITAS_INTERVAL_TOYS_RESULT_FIELDS, "Interval by toys.")          \
    RECORD(paritas_toys_parameter, PARITAS_TOYS_PARAMETER_FIELDS, "One parameter over all toys.")           \
    RECORD(paritas_toys_result, PARITAS_TOYS_RESULT_FIELDS, "A run of toys, each with its free fit.")       \
    RECORD(paritas_gof_toys_result, PARITAS_GOF_TOYS_RESULT_FIELDS, "Goodness of fit by toys.")

#ifdef __cplusplus
}
#endif
#endif
