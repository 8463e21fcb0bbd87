/* model_races.c: runs the kernels of a model that a user wrote on an OpenCL device, for a simulator that
 * finds data races (tests/opencl/races). */
#include "model/models.h"

int main(int count, char **arguments)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    const paritas_model_description description = onoff_description();
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_context *context;
    paritas_model *model = NULL;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    double value, gradient[3], hessian[9], x[3], expected[3], jacobian[6];
    options.device = "opencl";
    options.workers = count > 1 ? (unsigned)atoi(arguments[1]) : 0;
    options.threads = 1;
    paritas_status status = paritas_open(&options, &context);
    if (status == PARITAS_OK) status = paritas_model_define(context, &description, &model);
    if (status == PARITAS_OK)
        status = paritas_evaluate(
            context, model, 1, onoff_init, 0, NULL,
            SIZED(paritas_evaluate_answers, .twice_nll = &value, .gradient = gradient, .hessian = hessian));
    if (status == PARITAS_OK) status = paritas_expected_data(context, model, 1, onoff_init, expected);
    if (status == PARITAS_OK) status = paritas_expected_jacobian(context, model, onoff_init, jacobian);
    for (int m = 0; m < 3 && status == PARITAS_OK; m++) {
        paritas_fit_options fit = PARITAS_FIT_OPTIONS_DEFAULT;
        fit.minimizer = (paritas_minimizer)m;
        fit.population = 6;
        fit.max_iterations = m == PARITAS_MINIMIZER_DE ? 3 : 0;
        status = paritas_fit(context, model, &fit, 1, &job,
                             SIZED(paritas_fit_answers, .results = &result, .parameters = x));
        if (status == PARITAS_OK)
            printf("%s: %s, signal %g\n", paritas_minimizer_name(fit.minimizer),
                   paritas_fit_status_name(result.status), x[0]);
    }
    if (status != PARITAS_OK) printf("%s\n", paritas_error_message(context));
    paritas_model_free(model);
    paritas_close(context);
    return status != PARITAS_OK;
}
