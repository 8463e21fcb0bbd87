/* Freezes a workspace into a model and lists its parameters. */
#include <paritas.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, NULL, &model);
    paritas_workspace_free(workspace); /* a model keeps nothing of it */
    if (failed) {
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: models FILE");
    } else {
        const double *start = paritas_model_suggested_init(model);
        const double *lower = paritas_model_lower_bounds(model), *upper = paritas_model_upper_bounds(model);
        for (size_t i = 0; i < paritas_model_parameter_count(model); i++)
            printf("%-24s %g in [%g, %g]%s\n", paritas_model_parameter_name(model, i), start[i], lower[i],
                   upper[i], (ptrdiff_t)i == paritas_model_poi_index(model) ? "  parameter of interest" : "");
    }
    paritas_model_free(model);
    paritas_close(context);
    return failed ? 1 : 0;
}
