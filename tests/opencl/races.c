/* races.c: a likelihood with its gradient, Hessian and Jacobian, expected data, a fit, and one whose steps meet many bounds, with
 * covariances, of a small model on the first OpenCL device, for a simulator that watches what the workers of a team read and write
 * (tests/opencl/races). Its argument is the size of the work-groups. */
#include "base/context.h"
#include "device/device.h"
#include "opencl/workspace.h"
#include "paritas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const paritas_context *context)
{
    printf("%s\n", paritas_error_message(context));
    return 1;
}

int main(int count, char **arguments)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    options.device = "opencl:0";
    options.workers = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 8;
    if (paritas_open(&options, &context) != PARITAS_OK) return fail(context);
    if (paritas_workspace_parse(context, small_workspace, strlen(small_workspace), "small.json", &workspace) != PARITAS_OK)
        return fail(context);
    if (paritas_model_create(context, workspace, NULL, &model) != PARITAS_OK) return fail(context);
    const size_t n = paritas_model_parameter_count(model), bins = paritas_model_main_count(model);
    double nll, *gradient = malloc(n * sizeof *gradient), *hessian = malloc(n * n * sizeof *hessian);
    double *jacobian = malloc(bins * n * sizeof *jacobian), *parameters = malloc(2 * n * sizeof *parameters);
    double *expected = malloc((bins + paritas_model_aux_count(model)) * sizeof *expected);
    double *lower = malloc(n * sizeof *lower), *upper = malloc(n * sizeof *upper);
    if (!gradient || !hessian || !jacobian || !parameters || !expected || !lower || !upper) return 1;
    double *covariance = malloc(2 * n * n * sizeof *covariance);
    if (!covariance) return 1;
    const double *init = paritas_model_suggested_init(model);
    if (paritas_evaluate(context, model, 1, init, 0, NULL, &nll, gradient, NULL) != PARITAS_OK) return fail(context);
    if (paritas_evaluate(context, model, 1, init, 0, NULL, &nll, gradient, hessian) != PARITAS_OK) return fail(context);
    if (paritas_expected_jacobian(context, model, init, jacobian) != PARITAS_OK) return fail(context);
    if (paritas_expected_data(context, model, 1, init, expected) != PARITAS_OK) return fail(context);
    for (size_t p = 0; p < n; p++) {
        lower[p] = init[p] - 0.02;
        upper[p] = init[p] + 0.02;
    }
    device_close(context->host); /* covariances there too, which otherwise run on the CPU */
    context->host = context->device;
    const paritas_job jobs[2] = {{NULL, NULL, NULL, NULL, NULL}, {NULL, NULL, lower, upper, NULL}};
    paritas_result results[2];
    if (paritas_fit(context, model, NULL, 2, jobs, results, parameters, NULL, covariance, NULL) != PARITAS_OK) return fail(context);
    paritas_fit_options other = PARITAS_FIT_OPTIONS_DEFAULT;
    other.minimizer = PARITAS_LBFGSB;
    other.max_iterations = 4;
    paritas_result shortened[2];
    if (paritas_fit(context, model, &other, 2, jobs, shortened, parameters, NULL, NULL, NULL) != PARITAS_OK) return fail(context);
    for (int k = 0; k < 2; k++) printf("%.17g, %s at %.17g\n", nll, paritas_fit_status_name(results[k].status), results[k].twice_nll);
    free(gradient);
    free(hessian);
    free(jacobian);
    free(parameters);
    free(covariance);
    free(expected);
    free(lower);
    free(upper);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return results[0].status != PARITAS_FIT_CONVERGED || results[1].status != PARITAS_FIT_CONVERGED;
}
