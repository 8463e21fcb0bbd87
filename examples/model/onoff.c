/* On/off counting: 25 events in the signal region, 60 in a control region that has 4 times the background, an
 * efficiency of 0.80 +- 0.05. */
#include <paritas.h>
#include <math.h>
#include <stdio.h>

extern const paritas_kernels paritas_model_onoff; /* compiled into the program by paritas_add_model */

int main(void)
{
    const char *const names[] = {"signal", "background", "efficiency"};
    const double init[] = {1, 10, 0.8}, lower[] = {0, 0, 0.1}, upper[] = {1000, 1000, 2},
                 widths[] = {NAN, NAN, 0.05};
    const double data[] = {25, 60, 0.8};   /* two counts, then what was measured of the efficiency */
    const double columns[] = {1, 0, 1, 4}; /* column 0 of both counts, column 1 of both */
    paritas_model_description description = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    description.kernels = &paritas_model_onoff;
    description.n_parameters = 3;
    description.names = names;
    description.init = init;
    description.lower = lower;
    description.upper = upper;
    description.constraint_widths = widths;
    description.poi = "signal";
    description.n_main = 2;
    description.data = data;
    description.n_reals = 4;
    description.reals = columns;

    paritas_context *context;
    paritas_model *model = NULL;
    const paritas_job job = PARITAS_JOB_DEFAULT; /* the model's own data, start and bounds */
    paritas_fit_result fit = PARITAS_INIT(paritas_fit_result);
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    double parameters[3], errors[3];
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    answers.results = &fit;
    answers.parameters = parameters;
    answers.errors = errors;
    paritas_status status = paritas_open(NULL, &context);
    if (status == PARITAS_OK) status = paritas_model_define(context, &description, &model);
    if (status == PARITAS_OK) status = paritas_fit(context, model, NULL, 1, &job, &answers);
    /* no request: qtilde, 95 % confidence */
    if (status == PARITAS_OK) status = paritas_limit(context, model, NULL, NULL, &limit);
    if (status == PARITAS_OK)
        printf("%s: signal %.2f +- %.2f, below %.2f at 95 %% confidence\n",
               paritas_fit_status_name(fit.status), parameters[0], errors[0], limit.limit_obs);
    else
        fprintf(stderr, "%s\n", paritas_error_message(context));
    paritas_model_free(model);
    paritas_close(context);
    return status != PARITAS_OK;
}
