/* Expected significances of several signals without a model for each: the signal's rates are arguments. */
#include <paritas.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { SIGNALS = 3 };
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    double *rows = NULL, *gradient = NULL;
    const paritas_template signal = {PARITAS_TEMPLATE_NOMINAL, "singlechannel", "signal", NULL};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = 1;
    options.templates = &signal;
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, &options, &model);
    if (!failed) {
        size_t bins = paritas_model_template_count(model),
               n = paritas_model_main_count(model) + paritas_model_aux_count(model) + bins;
        rows = malloc(SIGNALS * n * sizeof *rows);
        gradient = malloc(n * sizeof *gradient);
        failed = !rows || !gradient;
        for (int k = 0; k < SIGNALS && !failed; k++) {
            double *row = rows + k * n;
            paritas_significance_result result = PARITAS_INIT(paritas_significance_result);
            paritas_job job = PARITAS_JOB_DEFAULT;
            job.data = row;
            /* observed data, the workspace's signal */
            failed = paritas_model_fill_row(context, model, NULL, NULL, row);
            for (size_t b = 0; b < bins; b++) row[n - bins + b] *= 1.0 + 0.5 * k;
            failed = failed || paritas_significance(context, model, &job, &result);
            failed =
                failed || paritas_data_derivatives(context, model, 1, paritas_model_suggested_init(model),
                                                   row, NULL, gradient, NULL);
            if (!failed)
                printf("Z %.6g, expected %.6g; twice the NLL moves by %.6g an event in the first bin\n",
                       result.z, result.z_exp, gradient[n - bins]);
        }
    }
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: templates FILE");
    free(gradient);
    free(rows);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed ? 1 : 0;
}
