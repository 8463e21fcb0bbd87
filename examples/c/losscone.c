/* A sweep of known truth: the model is asked for it, and both models of the instrument find the surface
 * potential again. */
#include <paritas_losscone.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

int main(void)
{
    const double truth[3] = {-150.0, 0.8, 0.0}; /* U in V, r, amplitude of the beam */
    double energy[ROWS], potential[ROWS];
    double *cosine = malloc(ROWS * CELLS * sizeof *cosine), *flux = malloc(ROWS * CELLS * sizeof *flux);
    for (int i = 0; i < ROWS; i++) {
        energy[i] = i > 0 ? 1.54 * energy[i - 1] : 40.0;
        potential[i] = 8.0; /* of the spacecraft */
        /* above 0: towards the Moon */
        for (int j = 0; cosine && j < CELLS; j++)
            cosine[CELLS * i + j] = 1.0 - (2.0 * j + 1.0 + 0.05 * i) / (CELLS + 1.0);
    }
    paritas_context *context = NULL;
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const paritas_sweeps sweep = {.size = sizeof sweep,
                                  .n = 1,
                                  .energy = energy,
                                  .potential = potential,
                                  .cosine = cosine,
                                  .flux = flux};
    int failed = !cosine || !flux || paritas_open(NULL, &context) ||
                 paritas_losscone_model(context, &sweep, &options, truth, flux, NULL);
    for (int folded = 0; folded < 2 && !failed; folded++) {
        paritas_losscone_result result = PARITAS_INIT(paritas_losscone_result);
        options.response = folded ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
        options.amplitude_upper = folded ? 0.0 : 5.0; /* the folded model has no beam */
        failed = paritas_losscone_fit(context, &sweep, &options, &result) != PARITAS_OK;
        if (failed) break;
        printf("%-6s %s: misfit %.3f, U %.1f V, not known from %.1f to %.1f V, r %.3f\n",
               paritas_losscone_response_name(options.response), paritas_sweep_status_name(result.status),
               result.misfit, result.potential_centre, result.potential_lower, result.potential_upper,
               result.ratio_centre);
    }
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "no context");
    paritas_close(context);
    free(flux);
    free(cosine);
    return failed ? 1 : 0;
}
