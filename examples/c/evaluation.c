/* Twice the negative log-likelihood and its gradient at two points, in one call. */
#include <paritas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    double *points = NULL, *gradient = NULL, nll[2];
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, NULL, &model);
    if (!failed) {
        size_t n = paritas_model_parameter_count(model);
        paritas_evaluate_answers answers = PARITAS_EVALUATE_ANSWERS_DEFAULT;
        points = malloc(2 * n * sizeof *points);
        gradient = malloc(2 * n * sizeof *gradient);
        failed = !points || !gradient;
        if (!failed) {
            for (int p = 0; p < 2; p++)
                memcpy(points + p * n, paritas_model_suggested_init(model), n * sizeof *points);
            points[n] *= 0.5; /* the second point differs in the first parameter */
            answers.twice_nll = nll;
            answers.gradient = gradient;
            failed = paritas_evaluate(context, model, 2, points, 1, NULL, &answers) != PARITAS_OK;
        }
        for (int p = 0; p < 2 && !failed; p++)
            printf("%.12g, derivative by %s: %.6g\n", nll[p], paritas_model_parameter_name(model, 0),
                   gradient[p * n]);
    }
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: evaluation FILE");
    free(gradient);
    free(points);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed ? 1 : 0;
}
