/* paritas_unfold.h: regularised unfolding.
 *
 *   workspace ─► paritas_unfold ─► strength, spectrum, covariance, bias
 *   workspace ─► paritas_penalise ─► workspace with the penalty ─► any statistic
 *
 * A truth bin is a sample, or several, with a normfactor of its own: x_i. The samples' yields are the
 * response. Twice the NLL gets the penalty
 *
 *   tau |L W (x - c)|^2
 *
 * L is a matrix of differences, W the diagonal of weights w, c the centres. With the truth yields as weights
 * this is the penalty of TUnfold (arXiv:1205.6201), whose tau^2 is tau here. */
#ifndef PARITAS_UNFOLD_H
#define PARITAS_UNFOLD_H

#include "paritas_model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_REGULARISE_LIST(ITEM)                                   \
    ITEM(PARITAS_REGULARISE_SIZE, 0, "size", "L is the identity: x_i")  \
    ITEM(PARITAS_REGULARISE_DERIVATIVE, 1, "derivative", "x_i+1 - x_i") \
    ITEM(PARITAS_REGULARISE_CURVATURE, 2, "curvature", "x_i - 2 x_i+1 + x_i+2")
typedef enum paritas_regularise { PARITAS_REGULARISE_LIST(PARITAS_ENUMERATOR) } paritas_regularise;

#define PARITAS_UNFOLD_CHOICE_LIST(ITEM)                                                    \
    ITEM(PARITAS_UNFOLD_CHOICE_LCURVE, 0, "lcurve", "the largest curvature of the L-curve") \
    ITEM(PARITAS_UNFOLD_CHOICE_CORRELATION, 1, "correlation", "the smallest mean of global correlations")
typedef enum paritas_unfold_choice { PARITAS_UNFOLD_CHOICE_LIST(PARITAS_ENUMERATOR) } paritas_unfold_choice;

#define PARITAS_UNFOLD_SCAN_MOST 10000
#define PARITAS_UNFOLD_OPTIONS(OPTION, OTHER, S)                                                           \
    OTHER(S, const char *const *, parameters, "n_parameters patterns: the truth bins, in their order")     \
    OTHER(S, size_t, n_parameters, "the parameters of one pattern are in the order of their numbers")      \
    OTHER(S, const double *, taus, "n_taus strengths, from 0")                                             \
    OTHER(S, size_t, n_taus, "0: a scan")                                                                  \
    OTHER(S, const double *, weights, "n_weights: w, such as the truth yields; NULL: 1")                   \
    OTHER(S, size_t, n_weights, "a number for each truth bin")                                             \
    OTHER(S, const double *, centres, "n_centres: c; NULL: 1")                                             \
    OTHER(S, size_t, n_centres, "a number for each truth bin")                                             \
    OTHER(S, const double *, truth, "n_truth: x of the data that show the bias; NULL: the fit at tau = 0") \
    OTHER(S, size_t, n_truth, "a number for each truth bin")                                               \
    OPTION(S, unsigned, scan, 40, PARITAS_FROM(2), PARITAS_TO(PARITAS_UNFOLD_SCAN_MOST), "--scan", "",     \
           "strengths of a scan, in equal steps of the logarithm")                                         \
    OPTION(S, double, tau_min, 0.0, PARITAS_FROM(0.0), PARITAS_NO_BOUND, "--tau-min", "",                  \
           "smallest strength of the scan; 0: one that damps no bin")                                      \
    OPTION(S, double, tau_max, 0.0, PARITAS_FROM(0.0), PARITAS_NO_BOUND, "--tau-max", "",                  \
           "largest strength of the scan; 0: one that damps all that the penalty sees")                    \
    OPTION(S, paritas_regularise, by, PARITAS_REGULARISE_CURVATURE, PARITAS_NO_BOUND, PARITAS_NO_BOUND,    \
           "--by", "", "what the penalty makes small")                                                     \
    OPTION(S, paritas_unfold_choice, choose, PARITAS_UNFOLD_CHOICE_LCURVE, PARITAS_NO_BOUND,               \
           PARITAS_NO_BOUND, "--choose", "", "how one strength is chosen")

/* Options of paritas_unfold and paritas_penalise. Start from PARITAS_UNFOLD_OPTIONS_DEFAULT. */
typedef struct paritas_unfold_options {
    size_t size;
    PARITAS_UNFOLD_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_unfold_options;
#define PARITAS_UNFOLD_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_unfold_options, PARITAS_UNFOLD_OPTIONS)

/* Fits the workspace's data at each strength, as a document. Its keys, for n truth bins:
 *
 *   parameters   n names
 *   truth        n numbers: x of the data that show the bias
 *   chosen       index of the strength that `choose` takes: the best one inside of the scan, else one of
 *                its ends, which is noted. null if no fit has what is compared
 *   points       an object a strength:
 *     tau, status     of the fit; numbers are null if it did not converge
 *     chi2            A: twice the NLL without the penalty, less its saturated value
 *     penalty         B = |L W (x - c)|^2
 *     curvature       of the L-curve, log10 B over log10 A, along log tau; positive at a corner
 *     degrees         of freedom that the data fix: trace of C F
 *     correlation, correlation_most   mean and largest of `correlations`
 *     estimates, errors, correlations, bias   n numbers each
 *     covariance      n rows of n
 *
 * C is the inverse of F + P, with the information F of the data and P = tau W L^T L W. Nuisance parameters
 * are profiled. Estimates of repeated measurements have the covariance V = C F C = C - C P C. Errors are the
 * roots of its diagonal. Global correlations are sqrt(1 - 1 / (V_ii (V^-1)_ii)).
 *
 * The bias is the estimate from expected data less their x. The fit at tau = 0 gives their other parameters,
 * and without `truth` also x. Derivatives along tau behind `curvature` are exact for a quadratic A. They are
 * B' = -2 r^T C r and A' = -tau B', for r = W L^T L W (x - c).
 *
 * A parameter at a bound counts as fixed: its row of the covariance is 0, its correlation null.
 * `model_options` and `options` may be NULL. Freed by paritas_workspace_free.
 *
 * INVALID_ARGUMENT: options; a pattern without parameters; fewer truth bins than L needs; a penalty
 * "unfolding" already. `truth` beyond bounds, or with negative expected data. A strength so large that the
 * data are lost in rounding. If data alone do not fix the spectrum, `truth` and strengths or both ends are
 * needed.
 * NOT_CONVERGED: the fit at tau = 0, or all others. */
PARITAS_API paritas_status paritas_unfold(paritas_context *context, const paritas_workspace *workspace,
                                          const paritas_model_options *PARITAS_OR_NULL model_options,
                                          const paritas_unfold_options *PARITAS_OR_NULL options,
                                          paritas_workspace **answer);

/* The workspace with the penalty at one strength, which all functions take: `penalties` in the measurement's
 * configuration. Strengths, `truth` and `choose` of `options` are not read. Toys do not throw the
 * centres. Freed by paritas_workspace_free. INVALID_ARGUMENT: as above; a negative tau. */
PARITAS_API paritas_status paritas_penalise(paritas_context *context, const paritas_workspace *workspace,
                                            const paritas_model_options *PARITAS_OR_NULL model_options,
                                            const paritas_unfold_options *PARITAS_OR_NULL options, double tau,
                                            paritas_workspace **penalised);

#define PARITAS_UNFOLD_ENUMERATIONS(ENUMERATION)                                                     \
    ENUMERATION(paritas_regularise, PARITAS_REGULARISE_LIST, "What is small in a regular spectrum.") \
    ENUMERATION(paritas_unfold_choice, PARITAS_UNFOLD_CHOICE_LIST, "How a strength is chosen.")
PARITAS_UNFOLD_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
