/* Fits a workspace, then once more with its first parameter held at one: two jobs, one call. */
#include <paritas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, NULL, &model);
    if (failed) {
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: fits FILE");
    } else {
        size_t n = paritas_model_parameter_count(model);
        double *start = malloc(n * sizeof *start), *values = malloc(2 * n * sizeof *values),
               *errors = malloc(2 * n * sizeof *errors);
        unsigned char *fixed = malloc(n);
        failed = !start || !values || !errors || !fixed;
        if (!failed) {
            memcpy(start, paritas_model_suggested_init(model), n * sizeof *start);
            memcpy(fixed, paritas_model_suggested_fixed(model), n);
            start[0] = 1.0;
            fixed[0] = 1;
            /* NULL everywhere: the model's own data, start, bounds and flags */
            paritas_job jobs[2] = {PARITAS_JOB_DEFAULT, PARITAS_JOB_DEFAULT};
            jobs[1].start = start;
            jobs[1].fixed = fixed;
            paritas_fit_result results[2] = {PARITAS_INIT(paritas_fit_result)};
            paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
            answers.results = results;
            answers.parameters = values;
            answers.errors = errors;
            failed = paritas_fit(context, model, NULL, 2, jobs, &answers) != PARITAS_OK;
            for (int j = 0; j < 2 && !failed; j++) {
                printf("%s, twice the NLL %.9f\n", paritas_fit_status_name(results[j].status),
                       results[j].twice_nll);
                for (size_t i = 0; i < n; i++)
                    printf("    %-24s %10.6f +- %.6f\n", paritas_model_parameter_name(model, i),
                           values[j * n + i], errors[j * n + i]);
            }
            if (failed) fprintf(stderr, "%s\n", paritas_error_message(context));
        }
        free(fixed);
        free(errors);
        free(values);
        free(start);
    }
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed ? 1 : 0;
}
