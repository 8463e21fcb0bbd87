/* toys.c: CLs by toys, resumed from a store, and what single toys look like. */
#include <paritas.h>
#include <stdio.h>

/* Called with finished toys; a return other than 0 would cancel the run. */
static int take(void *user, size_t n, const paritas_toy *toys)
{
    double *largest = user;
    for (size_t i = 0; i < n; i++)
        if (toys[i].status == PARITAS_FIT_CONVERGED && toys[i].q > *largest) *largest = toys[i].q;
    return 0;
}

static paritas_status run(paritas_context *context, const paritas_model *model)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    double largest = 0.0;
    options.n = 4000; /* of each hypothesis */
    options.seed = 7; /* the same toys on any machine, thread count and device */
    options.take = take;
    options.user = &largest;
    paritas_status status =
        paritas_hypotest_toys(context, model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &options, &result);
    if (status != PARITAS_OK) return status;
    printf("q = %.4f observed, at most %.1f in the toys\n", result.q, largest);
    printf("CLs = %.3f +- %.3f from %llu and %llu toys\n", result.cls_obs, result.cls_obs_error,
           (unsigned long long)result.n_tested, (unsigned long long)result.n_other);
    /* kept in an SQLite file, of which a killed run loses at most the toys in flight: options.store =
     * "toys.db"; options.resume = 1; */
    return PARITAS_OK;
}

int main(int argc, char **argv)
{
    paritas_context *context;
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    paritas_status status = paritas_open(NULL, &context);
    if (status == PARITAS_OK)
        status = paritas_workspace_read(context, argc > 1 ? argv[1] : "examples/two_bins.json", &workspace);
    if (status == PARITAS_OK) status = paritas_model_create(context, workspace, NULL, &model);
    if (status == PARITAS_OK) status = run(context, model);
    if (status != PARITAS_OK)
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : paritas_status_message(status));
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return status == PARITAS_OK ? 0 : 1;
}
