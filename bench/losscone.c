/* losscone.c: the time of loss-cone fits, a sweep, on one thread.
 *
 *   losscone [N [REPEATS]]
 *
 * N synthetic sweeps (500) are fitted by each product REPEATS times (9): the median and the least of the
 * processor's time for a call, a sweep, what the search did, and how far the plateau's centre lies from the
 * truth. */
#define _POSIX_C_SOURCE 200809L
#include "losscone/synthetic.h"
#include "measuring.h"

#include <stdio.h>

static int fail(paritas_context *context)
{
    fprintf(stderr, "losscone: %s\n", paritas_error_message(context));
    return 1;
}

static int measure(const char *name, size_t n, int repeats, paritas_losscone_options options)
{
    paritas_options open = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    open.threads = 1;
    if (paritas_open(&open, &context)) return fail(context);
    struct synthetic data = synthetic_sweeps(n, 1, -400.0, &options);
    if (options.method == PARITAS_LOSSCONE_METHOD_LILLIS) mask_lillis(&data);
    const paritas_sweeps sweeps = sweeps_of(&data);
    paritas_losscone_result *results = sized_array(n, sizeof *results);
    double *times = array((size_t)repeats, sizeof *times);
    for (int k = -1; k < repeats; k++) {
        const clock_t begin = clock();
        if (paritas_losscone_fit(context, &sweeps, &options, results)) return fail(context);
        if (k >= 0) times[k] = 1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)n;
    }
    qsort(times, (size_t)repeats, sizeof *times, ascending);
    double boxes = 0.0, solved = 0.0, misfit = 0.0, square = 0.0, most_boxes = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double away = results[k].potential_centre - data.truth[k][0];
        boxes += results[k].boxes, solved += results[k].solved, misfit += results[k].misfit,
            square += away * away;
        if (results[k].boxes > most_boxes) most_boxes = results[k].boxes;
    }
    printf("%-28s %7.2f us a sweep (least %.2f)  boxes %.1f (most %.0f)  solved %.2f  misfit %.6f  rms of U "
           "%.2f V\n",
           name, times[repeats / 2], times[0], boxes / (double)n, most_boxes, solved / (double)n,
           misfit / (double)n, sqrt(square / (double)n));
    free(results), free(times);
    synthetic_free(&data);
    paritas_close(context);
    return 0;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 500;
    const int repeats = argc > 2 ? atoi(argv[2]) : 9;
    paritas_losscone_options beamless = PARITAS_LOSSCONE_OPTIONS_DEFAULT, halekas = beamless,
                             lillis = beamless, folded = beamless;
    beamless.amplitude_upper = 0.0;
    lillis.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    folded.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    if (n == 0 || repeats < 1) {
        fprintf(stderr, "usage: losscone [N [REPEATS]]\n");
        return 2;
    }
    if (measure("Halekas, no beam", n, repeats, beamless) || measure("Halekas, folded", n, repeats, folded) ||
        measure("Halekas", n, repeats, halekas))
        return 1;
    if (measure("Lillis", n, repeats, lillis)) return 1;
    beamless.search = halekas.search = lillis.search = folded.search = PARITAS_LOSSCONE_SEARCH_DE;
    if (measure("de: Halekas, no beam", n, repeats, beamless) ||
        measure("de: Halekas, folded", n, repeats, folded) || measure("de: Halekas", n, repeats, halekas))
        return 1;
    return measure("de: Lillis", n, repeats, lillis);
}
