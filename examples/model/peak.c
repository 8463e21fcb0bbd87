/* A model of one's own (peak.h) fitted to many spectra at once, by the functions that fit any other model. */
#include <paritas.h>
#include <math.h>
#include <stdio.h>

extern const paritas_kernels paritas_model_peak; /* compiled into the program by paritas_add_model */

enum { BINS = 40, SPECTRA = 200, PARAMETERS = 5 };

int main(void)
{
    static const char *const names[PARAMETERS] = {"signal", "position", "width", "background", "slope"};
    static const double init[PARAMETERS] = {100.0, 5.0, 0.5, 50.0, 0.2},
                        lower[PARAMETERS] = {0.0, 3.0, 0.2, 1.0, -1.0},
                        upper[PARAMETERS] = {1e4, 7.0, 2.0, 1e4, 2.0};
    static double edges[2 * BINS], expected[BINS], spectra[SPECTRA][BINS], parameters[SPECTRA][PARAMETERS],
        errors[SPECTRA][PARAMETERS];
    /* in an array the size of the first one counts */
    static paritas_job jobs[SPECTRA] = {PARITAS_JOB_DEFAULT};
    static paritas_fit_result results[SPECTRA] = {PARITAS_INIT(paritas_fit_result)};
    for (int i = 0; i < BINS; i++) {
        edges[i] = 0.25 * i;
        edges[BINS + i] = 0.25 * (i + 1);
    }

    paritas_context *context;
    paritas_model *model = NULL;
    paritas_model_description description = PARITAS_MODEL_DESCRIPTION_DEFAULT;
    description.kernels = &paritas_model_peak;
    description.n_parameters = PARAMETERS;
    description.names = names;
    description.init = init;
    description.lower = lower;
    description.upper = upper;
    description.poi = "signal";
    description.n_main = BINS;
    description.data = expected; /* counts that a job does not replace: none here */
    description.n_reals = 2 * BINS;
    description.reals = edges;
    paritas_status status = paritas_open(NULL, &context);
    if (status == PARITAS_OK) status = paritas_model_define(context, &description, &model);
    if (status == PARITAS_OK) status = paritas_expected_data(context, model, 1, init, expected);

    /* made-up spectra: what is expected, and a few counts more or less in a pattern */
    for (int k = 0; k < SPECTRA; k++) {
        for (int i = 0; i < BINS; i++) {
            const double count =
                floor(expected[i] + sqrt(expected[i]) * (((7 * i + 13 * k) % 11 - 5) / 4.0) + 0.5);
            spectra[k][i] = count > 0.0 ? count : 0.0;
        }
        jobs[k].data = spectra[k];
    }
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    answers.results = results;
    answers.parameters = parameters[0];
    answers.errors = errors[0];
    if (status == PARITAS_OK) status = paritas_fit(context, model, NULL, SPECTRA, jobs, &answers);
    if (status == PARITAS_OK) {
        int converged = 0;
        double sum = 0.0;
        for (int k = 0; k < SPECTRA; k++) {
            converged += results[k].status == PARITAS_FIT_CONVERGED;
            sum += parameters[k][0];
        }
        printf("%d of %d spectra fitted, mean signal %.2f; the first:\n", converged, SPECTRA, sum / SPECTRA);
        for (int p = 0; p < PARAMETERS; p++)
            printf("  %-10s %8.4f +- %.4f\n", names[p], parameters[0][p], errors[0][p]);
        if (converged < SPECTRA) status = PARITAS_NOT_CONVERGED;
    }

    /* what the first spectrum says of the signal's existence */
    paritas_significance_result significance = PARITAS_INIT(paritas_significance_result);
    if (status == PARITAS_OK) status = paritas_significance(context, model, &jobs[0], &significance);
    if (status == PARITAS_OK)
        printf("  significance %.2f\n", significance.z);
    else
        fprintf(stderr, "%s\n", paritas_error_message(context));
    paritas_model_free(model);
    paritas_close(context);
    return status != PARITAS_OK;
}
