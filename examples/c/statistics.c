/* CLs at mu = 1 and the upper limit of a workspace's parameter of interest. */
#include <paritas.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    paritas_hypotest_result test = PARITAS_INIT(paritas_hypotest_result);
    paritas_limit_request wanted = PARITAS_LIMIT_REQUEST_DEFAULT; /* qtilde, 95 % confidence */
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    double mu = 1.0;
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_model_create(context, workspace, NULL, &model) ||
                 paritas_hypotest(context, model, NULL, PARITAS_STATISTIC_QTILDE, 1, &mu, &test) ||
                 paritas_limit(context, model, NULL, &wanted, &limit);
    if (failed) {
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: statistics FILE");
    } else {
        printf("CLs at mu = 1: observed %.8f, expected %.8f\n", test.cls_obs, test.cls_exp[2]);
        printf("upper limit:   observed %.6f, expected %.6f\n", limit.limit_obs, limit.limit_exp[2]);
    }
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed ? 1 : 0;
}
