/* The significance that a signal of another shape would have, and how it changes with every bin of signal and
 * background: one step of a training. */
#include <paritas_gradient.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const paritas_template templates[2] = {
        {PARITAS_TEMPLATE_NOMINAL, "singlechannel", "signal", NULL},
        {PARITAS_TEMPLATE_NOMINAL, "singlechannel", "background", NULL}};
    static const double rates[4] = {6.0, 18.0, 50.0, 52.0}; /* the signal's two bins, then the background's */
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = 2;
    options.templates = templates;
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, &options, &model);
    if (!failed) {
        const size_t n = paritas_model_main_count(model) + paritas_model_aux_count(model),
                     length = n + paritas_model_template_count(model);
        double *row = malloc(length * sizeof *row), *slopes = malloc(length * sizeof *slopes), z;
        paritas_fit_status status;
        paritas_gradient_options expected = PARITAS_GRADIENT_OPTIONS_DEFAULT;
        expected.quantity = PARITAS_QUANTITY_Z_ASIMOV;
        expected.statistic = PARITAS_STATISTIC_Q0;
        /* the background's uncertainty is absolute, so its sideband changes with its rates */
        expected.aux_follow = 1;
        const paritas_gradient answer = {
            .size = sizeof(paritas_gradient), .values = &z, .statuses = &status, .data = slopes};
        failed = !row || !slopes || paritas_model_fill_row(context, model, NULL, rates, row) ||
                 paritas_differentiate(context, model, &expected, NULL, 1, NULL, row, &answer);
        if (!failed) {
            printf("%s: expected significance %.6f\n", paritas_fit_status_name(status), z);
            for (size_t i = 0; i < 4; i++)
                printf("    by %s, bin %zu: %9.6f\n", i < 2 ? "signal" : "background", i % 2, slopes[n + i]);
        }
        free(slopes);
        free(row);
    }
    if (failed)
        fprintf(stderr, "%s\n",
                argc != 2 ? "usage: gradient FILE"
                : context ? paritas_error_message(context)
                          : "out of memory");
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed;
}
