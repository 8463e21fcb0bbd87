/* paritas_simplified.h: simplified likelihoods: a model as moments of its background, and moments as a model.
 *
 *   workspace ─► paritas_simplify ─► moments ─► paritas_simplified_workspace ─► workspace ─► any statistic
 *
 * Buckley, Citron, Fichet, Kraml, Waltenberger, Wardle, JHEP 04 (2019) 064, arXiv:1809.05548. With signal s,
 * the rate of bin i is
 *
 *   mu s_i + a_i + b_i theta_i + c_i theta_i^2,   theta normal with mean 0, variance 1 and correlation rho
 *
 * a, b, c and rho follow from mean, covariance and third moments of the background (eq. 2.9 to 2.12). Without
 * third moments c is 0. */
#ifndef PARITAS_SIMPLIFIED_H
#define PARITAS_SIMPLIFIED_H

#include "paritas_model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_MOMENTS_LIST(ITEM)                                               \
    ITEM(PARITAS_MOMENTS_DERIVATIVES, 0, "derivatives",                          \
         "exact first derivatives; third moments by rates an error up and down") \
    ITEM(PARITAS_MOMENTS_DRAWS, 1, "draws", "sums over draws of the parameters, within bounds")
typedef enum paritas_moments { PARITAS_MOMENTS_LIST(PARITAS_ENUMERATOR) } paritas_moments;

#define PARITAS_SIMPLIFY_OPTIONS(OPTION, OTHER, S)                                                          \
    OTHER(S, const char *const *, control, "n_control patterns: channels that measure the background")      \
    OTHER(S, size_t, n_control, "0: constraints alone say what is known of the parameters")                 \
    OPTION(S, paritas_truth, postfit, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--postfit", "",               \
           "the background is fitted to all channels, also to those that are kept")                         \
    OPTION(S, paritas_moments, by, PARITAS_MOMENTS_DERIVATIVES, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--by", \
           "", "how moments are found")                                                                     \
    OPTION(S, unsigned, draws, 20000, PARITAS_FROM(2), PARITAS_TO(100000000), "--draws", "",                \
           "draws of the parameters")                                                                       \
    OPTION(S, uint64_t, seed, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "--seed", "", "of the draws")

/* Options of paritas_simplify. Start from PARITAS_SIMPLIFY_OPTIONS_DEFAULT. */
typedef struct paritas_simplify_options {
    size_t size;
    PARITAS_SIMPLIFY_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_simplify_options;
#define PARITAS_SIMPLIFY_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_simplify_options, PARITAS_SIMPLIFY_OPTIONS)

/* Moments of the background in all bins of a workspace, as a document. Channels that `control` matches (* is
 * any text, ? one byte) are left out, and so are masked ones.
 *
 * A fit at 0 for all parameters of interest finds the background, in the channels of `control` and with
 * constraints, from one start. Parameters are normal around it with its covariance. Without control channels
 * they are normal around the constraints' centres, with their widths. With `postfit` the fit is to all
 * channels. If you then test the same data, they count twice.
 *
 * The document's keys, by N bins in the order of channels:
 *   channels       [{name, bins}]
 *   poi            name of the signal strength; "mu" in a model without one
 *   observed, background, signal, third_moments: N numbers. Signal: rates at 1 less those at 0, with the
 *                  other parameters at the fit; 0 without a parameter of interest. Third moments are central
 *   covariance     N rows of N
 *   expansion      a, b, c: N numbers; correlation: N rows of N, of theta
 * `model_options` and `options` may be NULL. Freed by paritas_workspace_free.
 *
 * INVALID_ARGUMENT: options; no channel is left; a free parameter that nothing constrains, with its name.
 * NOT_CONVERGED: the fit, with its status. */
PARITAS_API paritas_status paritas_simplify(paritas_context *context, const paritas_workspace *workspace,
                                            const paritas_model_options *PARITAS_OR_NULL model_options,
                                            const paritas_simplify_options *PARITAS_OR_NULL options,
                                            paritas_workspace **moments);

#define PARITAS_SIMPLIFIED_LIST(ITEM)                                                                        \
    ITEM(PARITAS_SIMPLIFIED_LINEAR, 0, "linear", "c is 0: histosys in one background, which pyhf reads")     \
    ITEM(PARITAS_SIMPLIFIED_QUADRATIC, 1, "quadratic", "third moments: functions of parameters, a bin each") \
    ITEM(PARITAS_SIMPLIFIED_COMMON, 2, "common",                                                             \
         "ATLAS' simplify: one histosys moves all bins by their errors, which then are fully correlated")
typedef enum paritas_simplified { PARITAS_SIMPLIFIED_LIST(PARITAS_ENUMERATOR) } paritas_simplified;

/* A workspace with this likelihood, from moments of paritas_simplify or of a publication. `background`,
 * `covariance` and `observed` are needed, and `third_moments` of a quadratic one. Without `channels` all bins
 * are one, "bins". Without `signal` it is 0.
 *
 * theta is L u with independent u, where L L^T = rho by Cholesky with pivots. Parameters `simplified_k` are
 * the elements of u: as many as the rank. Third moments that the expansion does not reach (8 variance^3 <
 * third^2) are cut, and a correlation that is not positive is made so. Both are noted. Freed by
 * paritas_workspace_free.
 *
 * INVALID_INPUT, with key and index: a shape, a number that is not finite, a negative variance. The
 * covariance must be symmetric. Correlations above 1 count as 1 up to 1.01, where numbers may be rounded. */
PARITAS_API paritas_status paritas_simplified_workspace(paritas_context *context,
                                                        const paritas_workspace *moments,
                                                        paritas_simplified form,
                                                        paritas_workspace **workspace);

#define PARITAS_SIMPLIFIED_ENUMERATIONS(ENUMERATION)                                       \
    ENUMERATION(paritas_moments, PARITAS_MOMENTS_LIST, "How moments of yields are found.") \
    ENUMERATION(paritas_simplified, PARITAS_SIMPLIFIED_LIST, "Forms of simplified likelihoods.")
PARITAS_SIMPLIFIED_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
