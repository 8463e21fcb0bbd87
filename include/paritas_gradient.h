/* paritas_gradient.h: statistics as differentiable functions of data rows, for training and design: values
 * and exact gradients of many rows in one call.
 *
 *   data row (main data, auxiliary data, templates) ─► NLL, q, Z, CLs, upper limits
 *                                                      and their derivatives by every number
 *
 * Values agree with paritas_hypotest, paritas_significance and paritas_limit. Gradients are not differences.
 * At a minimum the derivative by the data is a partial one (envelope theorem). Asimov data follow the
 * conditional fit that makes them. Its derivative comes from the exact Hessian (implicit function theorem),
 * at the cost of one solution for each number asked for.
 *
 * A row has the same bits whatever other rows the call has, on any device in f64, with any number of threads.
 * Contexts in f32 do this work on the host in f64. Derivatives by rows are for HistFactory models; counts are
 * taken as real numbers. The rules of paritas.h hold.
 *
 * At a kink the derivative is one-sided. It belongs to the side where the statistic keeps its value:
 *   - q is 0 where the best fit lies beyond the tested mu (below 0 for q0), and at mu_hat = mu. Its gradient
 *     is 0 too.
 *   - sqrt(q) where q is 0 (below 1e-11, which is rounding) has the gradient 0, although its slope on the
 *     other side is not 0. Z0 gives no direction to a fit without an excess; the expected significance does.
 *   - A parameter at its bound stays there. A rate of 0 stays 0 where it holds a fit at the edge of its
 *     domain.
 *   - A count or rate of 0 where the derivative is infinite: 0.
 */
#ifndef PARITAS_GRADIENT_H
#define PARITAS_GRADIENT_H

#include "paritas_statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- quantities --------------------------------------------------------------------------------- */

/* What can be differentiated: quantities of one number, and bands of PARITAS_QUANTITY_OUTPUTS. */
#define PARITAS_SINGLE_QUANTITY_LIST(ITEM)                                                                  \
    ITEM(PARITAS_QUANTITY_NLL, 0, "nll", "negative log-likelihood at given parameters")                     \
    ITEM(PARITAS_QUANTITY_TWICE_NLL, 1, "twice_nll", "twice that")                                          \
    ITEM(PARITAS_QUANTITY_Q, 2, "q", "test statistic at mu; q0 where the options' statistic is q0")         \
    ITEM(PARITAS_QUANTITY_Z, 3, "z", "its square root: of q0 the significance")                             \
    ITEM(PARITAS_QUANTITY_Q_ASIMOV, 4, "q_asimov",                                                          \
         "q of the Asimov data, which are expected at the conditional fit to the row at mu = 0 (q0: at 1)") \
    ITEM(PARITAS_QUANTITY_Z_ASIMOV, 5, "z_asimov",                                                          \
         "its square root: of q0 the significance expected for mu = 1")
#define PARITAS_BAND_QUANTITY_LIST(ITEM)                                                    \
    ITEM(PARITAS_QUANTITY_CLS, 6, "cls",                                                    \
         "CLs at mu: observed, then expected at -2, -1, 0, 1, 2 sigma, ascending (q0: p0)") \
    ITEM(PARITAS_QUANTITY_LIMIT, 7, "limit", "upper limits at the options' level: observed, then expected")
#define PARITAS_QUANTITY_LIST(ITEM) PARITAS_SINGLE_QUANTITY_LIST(ITEM) PARITAS_BAND_QUANTITY_LIST(ITEM)
typedef enum paritas_quantity { PARITAS_QUANTITY_LIST(PARITAS_ENUMERATOR) } paritas_quantity;

#define PARITAS_QUANTITY_OUTPUTS 6 /* of a band: observed and five expected */

/* ---- gradients ---------------------------------------------------------------------------------- */

/* The fit to a job's own data (NULL: the workspace's) and its curvature, which the fits of many rows share.
 * Immutable: threads may share it. `model` must outlive it. Rows are fitted on their own if this fit does not
 * converge, its curvature is not positive, or the model has kinks. */
typedef struct paritas_shared_fits paritas_shared_fits;
PARITAS_API paritas_status paritas_shared_fits_create(paritas_context *context, const paritas_model *model,
                                                      const paritas_job *PARITAS_OR_NULL job,
                                                      paritas_shared_fits **shared);
PARITAS_API void paritas_shared_fits_free(paritas_shared_fits *shared); /* NULL is a no-op */

#define PARITAS_GRADIENT_OPTIONS(OPTION, OTHER, S)                                                          \
    OPTION(S, paritas_quantity, quantity, PARITAS_QUANTITY_Q, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",   \
           "what is differentiated")                                                                        \
    OPTION(S, paritas_test_statistic, statistic, PARITAS_STATISTIC_QTILDE, PARITAS_NO_BOUND,                \
           PARITAS_NO_BOUND, "", "", "not of the likelihoods; a limit takes qtilde or q")                   \
    OPTION(S, unsigned, outputs, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                             \
           "of a band: bit 0 the observed one, bits 1 to 5 the expected ones; 0: all")                      \
    OPTION(S, double, level, 0.05, PARITAS_ABOVE(0.0), PARITAS_BELOW(1.0), "", "", "of a limit: CLs there") \
    OTHER(S, const paritas_shared_fits *, shared, "NULL: each row has its own curvature")                   \
    OPTION(S, paritas_truth, aux_follow, 0, PARITAS_NO_BOUND, PARITAS_NO_BOUND, "", "",                     \
           "auxiliary data follow the row's templates")

/* Options of paritas_differentiate. Start from PARITAS_GRADIENT_OPTIONS_DEFAULT.
 *   shared      Fits of q, z and limits take their curvature from here, as toys do. This is fast for rows
 *               similar to the data it was made of. Limits of all rows are then searched for together. A row
 *               that these fits do not finish is fitted on its own. Results do not depend on the batch. They
 *               differ in the last digits from results without `shared`
 *   aux_follow  Auxiliary data of the rows are not read. They are those that the row's templates suggest
 *               (paritas_model_fill_row). Their effect belongs to the derivative by templates; that by
 *               auxiliary data is 0 */
typedef struct paritas_gradient_options {
    size_t size;
    PARITAS_GRADIENT_OPTIONS(PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, )
} paritas_gradient_options;
#define PARITAS_GRADIENT_OPTIONS_DEFAULT \
    PARITAS_OPTIONS_DEFAULTS(paritas_gradient_options, PARITAS_GRADIENT_OPTIONS)

/* Where the answers go, k outputs a row. All arrays are the caller's; only `values` is required, and a NULL
 * array is not computed. Jacobians are whole, because a row has few outputs. So a backward pass can weight
 * them later without another fit. */
typedef struct paritas_gradient {
    size_t size;
    double *values;               /* n x k */
    paritas_fit_status *statuses; /* n: the worst of the fits behind a row */
    double *data;                 /* n x k data rows: derivatives by the row */
    double *at;                   /* n x k: derivatives by mu; of the likelihoods n x parameter_count */
} paritas_gradient;
#define PARITAS_GRADIENT_DEFAULT PARITAS_INIT(paritas_gradient)

/* The quantity of `options` for n data rows, and its derivatives.
 *   job    start, bounds and fixed flags of all fits (NULL: the model's own). If `data` is NULL, all rows
 *          have the job's data. `shared` must be made of the same model, bounds and flags
 *   at     likelihoods: n points of parameter_count; q, z, q_asimov, z_asimov and cls: n values of mu (NULL:
 *          1; q0 tests 0 and takes none); limits: nothing
 *   data   n data rows
 * A row without an answer has NaN in all its values and derivatives. Other rows have the same bits as without
 * it, and the call does not fail. The row's status says why:
 *   - a fit's own: that fit did not converge
 *   - non_finite: a number of the row is not finite, a count is negative, or no job may have its templates
 *     ("templates" in paritas_model.h). paritas_error_message names channel and bin of the last of these rows
 *   - no_progress: derivatives of limits where the model has several minima and the fits end in another one
 * A limit that does not exist is NaN too, but an answer. INVALID_ARGUMENT: an unknown quantity or statistic;
 * a mu outside its bounds; derivatives by rows for another family of models; wrong data of the job itself.
 * Memory does not depend on n, except for the caller's arrays. */
PARITAS_API paritas_status paritas_differentiate(paritas_context *context, const paritas_model *model,
                                                 const paritas_gradient_options *PARITAS_OR_NULL options,
                                                 const paritas_job *PARITAS_OR_NULL job, size_t n,
                                                 const double *PARITAS_OR_NULL at,
                                                 const double *PARITAS_OR_NULL data,
                                                 const paritas_gradient *gradient);

/* Data rows and directions. Start from PARITAS_GRADIENT_ROWS_DEFAULT. */
typedef struct paritas_gradient_rows {
    size_t size;
    size_t n;                    /* rows */
    const double *at, *data;     /* as of paritas_differentiate */
    const double *at_directions; /* n directions of mu, or of the parameters; NULL: 0 */
    /* n directions of data rows; NULL: 0. With `aux_follow`, auxiliary data have none of their own */
    const double *directions;
} paritas_gradient_rows;
#define PARITAS_GRADIENT_ROWS_DEFAULT PARITAS_INIT(paritas_gradient_rows)

/* Differentiates once more, along a direction of each row: products of second derivatives (the Hessian) with
 * vectors, also through the profiled parameters. The likelihoods, q and z have them. The others would need
 * third derivatives of the likelihood: INVALID_ARGUMENT.
 *   gradient   as of paritas_differentiate
 *   along      n rows: derivatives along the directions of `values` and of gradient's `data` and `at`. Its
 *              `statuses` are not written
 * The minimum moves by the implicit function theorem; parameters at their bounds stay there. The cost is one
 * pass over the model for each parameter and fit. All derivatives are 0 if q is 0. */
PARITAS_API paritas_status paritas_differentiate_along(
    paritas_context *context, const paritas_model *model,
    const paritas_gradient_options *PARITAS_OR_NULL options, const paritas_job *PARITAS_OR_NULL job,
    const paritas_gradient_rows *rows, const paritas_gradient *gradient, const paritas_gradient *along);

#define PARITAS_GRADIENT_ENUMERATIONS(ENUMERATION) \
    ENUMERATION(paritas_quantity, PARITAS_QUANTITY_LIST, "What can be differentiated.")
PARITAS_GRADIENT_ENUMERATIONS(PARITAS_NAME_FUNCTION)

#ifdef __cplusplus
}
#endif
#endif
