/* paritas_gradient.h: statistics as differentiable functions of data rows, for training and design: values
 * and exact gradients of many rows in one call.
 *
 *   data row (main data, auxiliary data, templates) ─► NLL, q, Z, CLs, upper limits, and their derivatives by
 *       every number of the row
 *
 * Values are those of paritas_hypotest, paritas_significance and paritas_limit. Gradients are no differences:
 * a statistic is made of minima, at which its derivative by the data is a partial one (envelope theorem), but
 * for Asimov data, which follow the conditional fit that they are made of; there the minimum's own derivative
 * comes from the exact Hessian (implicit function theorem), one solution of it a number asked for.
 *
 * A row answers the same bits whatever other rows the call has, on any device in f64, with any number of
 * threads. Contexts in f32 do this work on the host in f64. Derivatives by rows are those of HistFactory
 * models; counts are taken as real numbers. The rules of paritas.h hold.
 *
 * Where a statistic has a kink the derivative is that of the side where it stays what it is:
 *   - q where the best fit lies beyond the tested mu (below 0 for q0), and at mu_hat = mu: q is 0, and so is
 *     its gradient.
 *   - sqrt(q) where q is 0 (below 1e-11, which is rounding): 0, though on the other side its slope is not. Z0
 *     gives no direction to a fit
 *     that finds no excess; the expected significance, a function of the same templates, does.
 *   - a parameter at its bound stays there.
 *   - by a count or rate of 0 where the derivative is infinite: 0.
 */
#ifndef PARITAS_GRADIENT_H
#define PARITAS_GRADIENT_H

#include "paritas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- quantities --------------------------------------------------------------------------------- */

/* What can be differentiated, each with the number of its outputs.
 *   nll, twice_nll  at given parameters
 *   q               the test statistic at mu; q0 where the options' statistic is PARITAS_STATISTIC_Q0
 *   z               its square root: of q0, the significance
 *   q_asimov        q of the Asimov data: those expected at the conditional fit to the row at mu = 0, for q0
 *                   at mu = 1
 *   z_asimov        its square root: of q0, the significance expected for mu = 1
 *   cls             CLs at mu: observed, then expected at -2, -1, 0, 1, 2 sigma, ascending in CLs (of q0: p0)
 *   limit           upper limits at the options' level: observed, then expected as those of paritas_limit */
#define PARITAS_QUANTITY_LIST(X)    \
    X(NLL, 0, "nll", 1)             \
    X(TWICE_NLL, 1, "twice_nll", 1) \
    X(Q, 2, "q", 1)                 \
    X(Z, 3, "z", 1)                 \
    X(Q_ASIMOV, 4, "q_asimov", 1)   \
    X(Z_ASIMOV, 5, "z_asimov", 1)   \
    X(CLS, 6, "cls", 6)             \
    X(LIMIT, 7, "limit", 6)

typedef enum paritas_quantity {
#define X(name, value, word, outputs) PARITAS_QUANTITY_##name = value,
    PARITAS_QUANTITY_LIST(X)
#undef X
} paritas_quantity;

#define PARITAS_QUANTITY_OUTPUTS 6 /* the most that any of them has */

/* "nll", ..., NULL: there is none of this number */
PARITAS_API const char *paritas_quantity_name(paritas_quantity quantity);

/* ---- gradients ---------------------------------------------------------------------------------- */

/* Options of paritas_differentiate. Start from PARITAS_GRADIENT_OPTIONS_DEFAULT. */
typedef struct paritas_gradient_options {
    size_t size; /* sizeof(paritas_gradient_options), for growth */
    paritas_quantity quantity;
    paritas_test_statistic statistic; /* of all but the likelihoods; a limit takes qtilde or q */
    /* of cls and limit: bit 0 for the observed one, bits 1 to 5 for the expected ones; 0: all */
    unsigned outputs;
    double level; /* of limit: CLs there */
    /* nonzero: fits of q and z take their curvature from the fits to the job's own data (NULL: the
     * workspace's), as toys do, and a row that is not finished so goes its own way. For rows by the dozen
     * that are like these data; each still has the same bits in any batch, which are others than without,
     * within what the fits leave open */
    int shared;
    /* nonzero: auxiliary data of the rows are not read but are those that the row's templates suggest
     * (paritas_model_fill_row), and what a template does through them belongs to its derivative, while that
     * by auxiliary data is 0 */
    int aux_follow;
} paritas_gradient_options;
#define PARITAS_GRADIENT_OPTIONS_DEFAULT \
    {sizeof(paritas_gradient_options), PARITAS_QUANTITY_Q, PARITAS_STATISTIC_QTILDE, 0, 0.05, 0, 0}

/* What paritas_differentiate answers, k outputs a row; each array is the caller's, all but `values` may be
 * NULL. What is not asked for is not computed. Jacobians come whole, since a row has few outputs: what a
 * backward pass weights later needs no fit. */
typedef struct paritas_gradient {
    double *values;               /* n x k */
    paritas_fit_status *statuses; /* n: the worst of the fits behind a row */
    /* n x k data rows (main_count + aux_count + template_count): derivatives by the row */
    double *data;
    /* n x k: derivatives by mu; of the likelihoods n x parameter_count: by the parameters */
    double *at;
} paritas_gradient;

/* The quantity of `options` for n data rows, and its derivatives. `job`: start, bounds and fixed flags of all
 * fits (NULL: the model's own); its data are those of all rows where `data` is NULL. `at`: of the likelihoods
 * n points of parameter_count; of q, z, q_asimov, z_asimov and cls n values of mu (NULL: 1; q0 tests 0, and
 * takes none), of limits nothing.
 *
 * Never an error of the call: a fit that does not converge; and, each with the status non_finite, a number in
 * a row that is not finite, a negative count, templates that no job may have (rates that switch the
 * constraint of a bin on or off or take its width out of range, see "templates" in paritas.h; channel and bin
 * of the last such row are in paritas_error_message). Such a row has NaN in all its values and derivatives,
 * and its status; other rows have the bits that they have without it. So has a row of limits whose
 * derivatives are asked for where the model has several minima and the fits there end in another than the
 * limit was found with (no_progress). A limit that does not exist is NaN, too, but an answer.
 * INVALID_ARGUMENT: options that name nothing, a mu outside its bounds, derivatives by rows of a model of
 * another family, data of the job itself that no job may have. Memory does not depend on n but for the
 * caller's arrays. */
PARITAS_API paritas_status paritas_differentiate(paritas_context *context, const paritas_model *model,
                                                 const paritas_gradient_options *options,
                                                 const paritas_job *job, size_t n, const double *at,
                                                 const double *data, const paritas_gradient *gradient);

#ifdef __cplusplus
}
#endif
#endif
