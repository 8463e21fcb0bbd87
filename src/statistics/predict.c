/* predict.c: Asimov data, and yields with errors before and after a fit. */
#include "base/sized.h"
#include "fit/edges.h"
#include "fit/fit.h"
#include "minima/domain.h"
#include "minima/lowest_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Looks for a lower minimum with the parameter of interest at mu. If there is one the fit is repeated from
 * there. */
static paritas_status look_lower(struct infer *infer, double mu, const paritas_job *job,
                                 paritas_fit_result *result, double *point)
{
    struct infer_profile profile = {.data = infer->base.data};
    paritas_job again = *job;
    if (infer->starts == 1) return PARITAS_OK;
    TRY(infer_free_fit(infer, &profile));
    struct infer_point tested = infer_point_at(infer, &profile, mu);
    tested.place = true;
    TRY(infer_points(infer, 1, &tested));
    if (tested.status != PARITAS_FIT_CONVERGED ||
        tested.twice_nll >= result->twice_nll - same_minimum(infer->context))
        return PARITAS_OK;
    again.start = tested.parameters;
    return fit_run(infer->context, infer->model, NULL, 1, &again,
                   &(paritas_fit_answers){.results = result, .parameters = point});
}

static paritas_status make_asimov_data(struct infer *infer, double mu, paritas_fit_result *result,
                                       double *data)
{
    const size_t n = infer->n_parameters;
    double *start = infer_reals(infer, n, 1), *point = infer_reals(infer, n, 1);
    unsigned char *fixed = infer_array(infer, n, sizeof *fixed);
    char fit[256];
    TRY(infer_memory(infer));
    if (infer->n_pois == 0) return paritas_refuse(infer->context, "the model has no parameter of interest");
    const size_t poi = infer->poi = infer->pois[0];
    memcpy(start, infer->base.start, n * sizeof *start);
    memcpy(fixed, infer->base.fixed, n * sizeof *fixed);
    start[poi] = mu;
    fixed[poi] = 1;
    paritas_job job = infer->base;
    job.start = start;
    job.fixed = fixed;
    TRY(fit_run(infer->context, infer->model, NULL, 1, &job,
                &(paritas_fit_answers){.results = result, .parameters = point}));
    TRY(look_lower(infer, mu, &job, result, point));
    TRY(infer_judge_place(infer, (ptrdiff_t)poi, point, &result->status));
    snprintf(fit, sizeof fit, "Asimov data: the fit with %s = %.6g",
             paritas_model_parameter_name(infer->model, poi), mu);
    TRY(domain_check(infer, result->status, fit, point));
    TRY(paritas_expected_data_of(infer->context, infer->model, 1, point, infer->base.data, data));
    size_t cleared;
    return edges_clear(infer->context, infer->model, point, infer->base.data, data, &cleared);
}

paritas_status paritas_asimov_data(paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, double mu, paritas_fit_result *result,
                                   double *data)
{
    REQUIRE(context, model, result, data);
    TRY(SIZED_CHECK(context, paritas_fit_result, "result", 1, result));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = make_asimov_data(&infer, mu, result, data);
    infer_close(&infer);
    return status;
}

/* The root of row C row^T; 0 where rounding makes that negative, NaN without C. */
static double error_of(size_t n, const double *row, const double *covariance)
{
    double variance = covariance ? 0.0 : (double)NAN;
    for (size_t i = 0; i < n && covariance; i++) {
        if (row[i] == 0.0) continue;
        double inner = 0.0;
        for (size_t j = 0; j < n; j++) inner += covariance[i * n + j] * row[j];
        variance += row[i] * inner;
    }
    return variance < 0.0 ? 0.0 : sqrt(variance);
}

/* `jacobian` and `sum` are scratch. */
static paritas_status yields_at(struct infer *infer, const double *point, const double *covariance,
                                double *jacobian, double *sum, const paritas_yields *yields)
{
    const paritas_model *model = infer->model;
    const size_t n = infer->n_parameters, n_main = paritas_model_main_count(model);
    const double *data = infer->base.data, *row = jacobian;
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(paritas_expected_data_of(infer->context, model, 1, point, data, expected));
    TRY(paritas_expected_by_sample_of(infer->context, model, point, data, yields->samples));
    TRY(paritas_expected_jacobian_of(infer->context, model, point, data, jacobian));
    memcpy(yields->bins, expected, n_main * sizeof *expected);
    for (size_t i = 0; i < n_main; i++) yields->errors[i] = error_of(n, jacobian + i * n, covariance);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        yields->totals[c] = 0.0;
        memset(sum, 0, n * sizeof *sum);
        for (size_t b = 0; b < paritas_model_channel_bins(model, c); b++, row += n) {
            yields->totals[c] += *expected++;
            for (size_t i = 0; i < n; i++) sum[i] += row[i];
        }
        yields->total_errors[c] = error_of(n, sum, covariance);
    }
    return PARITAS_OK;
}

static paritas_status predict(struct infer *infer, const paritas_predict_request *fit,
                              const paritas_predict_answers *answers)
{
    const size_t n = infer->n_parameters;
    double *jacobian = infer_reals(infer, paritas_model_main_count(infer->model), n),
           *sum = infer_reals(infer, n, 1), *widths = infer_reals(infer, n, n);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++)
        if (!isnan(infer->widths[i]) && !infer->base.fixed[i])
            widths[i * n + i] = infer->widths[i] * infer->widths[i];
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    if (frozen->family->correlated_variances)
        TRY(frozen->family->correlated_variances(infer->context, frozen, infer->base.fixed, widths));
    TRY(yields_at(infer, infer->base.start, widths, jacobian, sum, &answers->before));
    return yields_at(infer, fit->best, fit->covariance, jacobian, sum, &answers->after);
}

static paritas_status check_yields(paritas_context *context, const paritas_yields *yields)
{
    REQUIRE_AS(context, "bins, errors, samples, totals, total_errors", yields->bins, yields->errors,
               yields->samples, yields->totals, yields->total_errors);
    return PARITAS_OK;
}

paritas_status paritas_predict(paritas_context *context, const paritas_model *model, const paritas_job *job,
                               const paritas_predict_request *request, const paritas_predict_answers *answers)
{
    REQUIRE(context, model);
    TRY(SIZED_CHECK(context, paritas_predict_request, "request", 1, request));
    TRY(SIZED_CHECK(context, paritas_predict_answers, "answers", 1, answers));
    REQUIRE_AS(context, "best", request->best);
    TRY(check_yields(context, &answers->before));
    TRY(check_yields(context, &answers->after));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = predict(&infer, request, answers);
    infer_close(&infer);
    return status;
}
