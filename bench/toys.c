/* toys.c: where the time of toys goes: methods, lanes, and what refilling them gains.
 *
 *   toys WORKSPACE [N [MU]]
 *
 * N toys (1000) are drawn at the conditional fit at MU (the other hypothesis, 0) and tested at 1, with one
 * thread. For each method and lane width: toys a second, evaluations (quasi-Newton) or iterations (Newton) a
 * toy. From the evaluations of each toy follows how many lanes would idle if all of a group waited for its
 * slowest, and how many do with refilling (as kernels/minimise/quasi_newton.h does it). */
#define _POSIX_C_SOURCE 200809L
#include "fit/profiles/ensemble.h"
#include "measuring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of lanes that work, if groups of `lanes` wait for their slowest, or if each lane takes the next toy
 * of a queue of `share` a lane. */
static double busy(const struct profile *profiles, size_t n, size_t lanes, size_t share, int refill)
{
    double work = 0.0, room = 0.0;
    for (size_t first = 0; first + lanes * share <= n; first += lanes * share) {
        double *clock = array(lanes, sizeof *clock), last = 0.0;
        for (size_t i = 0; i < lanes * share; i++) {
            const double cost = profiles[first + i].iterations;
            size_t lane = i % lanes;
            for (size_t l = 0; refill && l < lanes; l++)
                if (clock[l] < clock[lane]) lane = l;
            if (!refill && lane == 0) /* the group before has ended */
                for (size_t l = 0; l < lanes; l++) clock[l] = last;
            clock[lane] += cost;
            if (clock[lane] > last) last = clock[lane];
            work += cost;
        }
        room += last * (double)lanes;
        free(clock);
    }
    return room > 0.0 ? work / room : 0.0;
}

static int fail(paritas_context *context)
{
    fprintf(stderr, "toys: %s\n", paritas_error_message(context));
    return 1;
}

/* One row of the table. */
static int measure(const char *path, double hypothesis, size_t n, unsigned lanes, int newton)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    paritas_model *model;
    options.threads = 1;
    options.lanes = lanes;
    if (paritas_open(&options, &context) || load_model(context, path, NULL, &model)) return fail(context);
    const struct frozen *frozen = paritas_model_frozen(model);
    const size_t p = frozen->n_parameters, poi = (size_t)paritas_model_poi_index(model);
    if (paritas_model_poi_index(model) < 0) {
        fprintf(stderr, "toys: %s has no parameter of interest\n", path);
        return 1;
    }
    double *start = array(p, sizeof *start), *point = array(p, sizeof *point),
           *tested = array(p, sizeof *tested), *expected = array(frozen->n_data, sizeof *expected);
    unsigned char *fixed = array(p, 1);
    struct profile *profiles = array(n, sizeof *profiles);
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    memcpy(start, frozen->init, p * sizeof *start);
    memcpy(fixed, frozen->fixed, p);
    fixed[poi] = 1;
    start[poi] = hypothesis;
    paritas_job job = {.size = sizeof(paritas_job), .start = start, .fixed = fixed};
    if (paritas_fit(context, model, NULL, 1, &job,
                    SIZED(paritas_fit_answers, .results = &result, .parameters = point)) ||
        paritas_expected_data(context, model, 1, point, expected))
        return fail(context);
    job.data = expected;
    start[poi] = 1.0;
    if (paritas_fit(context, model, NULL, 1, &job,
                    SIZED(paritas_fit_answers, .results = &result, .parameters = tested)))
        return fail(context);
    const struct ensemble_options ensemble_options = {.plan = {.model = model,
                                                               .start = point,
                                                               .lower = frozen->lower,
                                                               .upper = frozen->upper,
                                                               .fixed = frozen->fixed,
                                                               .poi = (ptrdiff_t)poi,
                                                               .conditional = true,
                                                               .mu = 1.0,
                                                               .conditional_start = tested},
                                                      .expected = expected,
                                                      .newton_only = newton};
    struct ensemble ensemble;
    if (ensemble_open(context, &ensemble_options, &ensemble)) return fail(context);
    if (newton || ensemble.quasi_newton) {
        const double begin = now();
        if (ensemble_run(context, &ensemble, 0, n, profiles, NULL, NULL, NULL)) return fail(context);
        const double seconds = now() - begin;
        double iterations = 0.0, by_quasi_newton = 0.0;
        for (size_t i = 0; i < n; i++) {
            iterations += profiles[i].iterations;
            by_quasi_newton += profiles[i].method == PROFILE_QUASI_NEWTON;
        }
        printf("%-12s lanes %u  %9.0f toys/s  %5.1f %s a toy", newton ? "Newton" : "quasi-Newton", lanes,
               (double)n / seconds, iterations / (double)n, newton ? "iterations" : "evaluations");
        if (!newton)
            printf(", %.2f %% left to Newton; lanes busy %.1f %% (%.1f %% if all waited)",
                   100.0 * (1.0 - by_quasi_newton / (double)n), 100.0 * busy(profiles, n, lanes, 32, 1),
                   100.0 * busy(profiles, n, lanes, 32, 0));
        printf("\n");
    } else
        printf("quasi-Newton is not used for this model\n");
    ensemble_close(&ensemble);
    free(start), free(point), free(tested), free(expected), free(fixed), free(profiles);
    paritas_model_free(model);
    paritas_close(context);
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned widths[] = {1, 4, 8};
    if (argc < 2) {
        fprintf(stderr, "usage: toys WORKSPACE [N [MU]]\n");
        return 2;
    }
    const size_t n = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 1000;
    const double hypothesis = argc > 3 ? strtod(argv[3], NULL) : 0.0;
    for (int newton = 0; newton < 2; newton++)
        for (int k = 0; k < 3; k++)
            if (measure(argv[1], hypothesis, n, widths[k], newton)) return 1;
    return 0;
}
