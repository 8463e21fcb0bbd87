/* scan.c: profile likelihood at given values of one or more parameters. */
#include "infer/infer.h"
#include "base/sized.h"
#include "infer/probability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COARSE_POINTS 5 /* at least */

struct place {
    double value;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* First a coarse grid outward from the free fit, then midpoints, predicted from the four nearest. */
static paritas_status arrange_waves(struct infer *infer, size_t n, struct infer_point *fits)
{
    struct place *order = infer_array(infer, n, sizeof *order);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) order[i] = (struct place){fits[i].value[0], i};
    qsort(order, n, sizeof *order, by_value);
    size_t step = 1;
    while ((n - 1) / (2 * step) + 1 >= COARSE_POINTS) step *= 2;
    size_t nodes = (n - 1) / step + 1, below = 0;
    double best = fits[0].profile->parameters[fits[0].parameter[0]];
    while (below < nodes && order[below * step].value < best) below++;
    unsigned wave = 0;
    for (size_t i = 0; i < nodes; i++) {
        struct infer_point *point = &fits[order[i * step].index];
        size_t before = i < below ? below - 1 - i : i - below; /* same side, nearer to the free fit */
        point->wave = (unsigned)before;
        for (size_t j = 0; j < before && j + 1 < INFER_NEIGHBOURS; j++)
            point->neighbour[j] = &fits[order[(i < below ? i + 1 + j : i - 1 - j) * step].index];
        if (wave <= before) wave = (unsigned)before + 1;
    }
    for (; step > 1; step /= 2, wave++) {
        nodes = (n - 1) / step + 1;
        for (size_t i = step / 2; i < n; i += step) {
            struct infer_point *point = &fits[order[i].index];
            size_t first = i / step > 1 ? i / step - 1 : 0;
            if (first + INFER_NEIGHBOURS > nodes) first = nodes - INFER_NEIGHBOURS;
            point->wave = wave;
            for (size_t j = 0; j < INFER_NEIGHBOURS; j++)
                point->neighbour[j] = &fits[order[(first + j) * step].index];
        }
    }
    return PARITAS_OK;
}

static paritas_status scan(struct infer *infer, const paritas_scan_request *request)
{
    const size_t k = request->n_parameters, n = request->n_points;
    REQUIRE_AS(infer->context, "parameters, values", request->parameters, request->values);
    TRY(infer_check_profiled(infer, k, request->parameters));
    struct infer_point *fits = infer_array(infer, n, sizeof *fits);
    TRY(infer_memory(infer));
    struct infer_profile profile = {.data = infer->base.data};
    for (size_t i = 0; i < n; i++) {
        fits[i].profile = &profile;
        fits[i].k = k;
        for (size_t j = 0; j < k; j++) {
            fits[i].parameter[j] = request->parameters[j];
            fits[i].value[j] = request->values[i * k + j];
            TRY(infer_make_room(infer, fits[i].parameter[j], fits[i].value[j]));
            TRY(infer_check_value(infer, fits[i].parameter[j], fits[i].value[j]));
        }
    }
    infer_note_widening(infer);
    if (k == 1) infer->poi = request->parameters[0];
    TRY(infer_free_fit(infer, &profile));
    if (k == 1 && n > 0) TRY(arrange_waves(infer, n, fits));
    TRY(infer_points(infer, n, fits));
    *request->best = profile.result;
    request->best->size = sizeof *request->best;
    if (request->best_parameters)
        memcpy(request->best_parameters, profile.parameters, infer->n_parameters * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double fall = fits[i].twice_nll - profile.result.twice_nll, q = fall < 0.0 ? 0.0 : fall;
        request->points[i] = (paritas_scan_point){.size = sizeof(paritas_scan_point),
                                                  .q = q,
                                                  .p = chi2_survival(q, (double)k),
                                                  .twice_nll = fits[i].twice_nll,
                                                  .status = fits[i].status};
    }
    return PARITAS_OK;
}

paritas_status paritas_scan(paritas_context *context, const paritas_model *model, const paritas_job *job,
                            const paritas_scan_request *given)
{
    paritas_scan_request request = PARITAS_SCAN_REQUEST_DEFAULT;
    TRY(SIZED_CHECK(context, paritas_scan_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_scan_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_fit_result, "best", 1, request.best));
    TRY(SIZED_CHECK(context, paritas_scan_point, "points", request.n_points, request.points));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = scan(&infer, &request);
    infer_close(&infer);
    return status;
}
