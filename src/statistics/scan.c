/* scan.c: profile likelihood at given values of one or more parameters. */
#include "statistics/regions/interval.h"
#include "minima/lowest_points.h"
#include "base/sized.h"
#include "base/math/probability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COARSE_POINTS 8 /* fitted at once */

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

/* Place of a coarse point among n, which are more; n for the one behind the last. */
static size_t node_at(size_t node, size_t n)
{
    return node < COARSE_POINTS ? node * (n - 1) / (COARSE_POINTS - 1) : n;
}

/* First some points over the whole range, then all others, predicted from the four nearest of those. */
static paritas_status arrange_waves(struct infer *infer, size_t n, struct infer_point *fits)
{
    struct place *order = infer_array(infer, n, sizeof *order);
    TRY(infer_memory(infer));
    if (n <= COARSE_POINTS) return PARITAS_OK;
    for (size_t i = 0; i < n; i++) order[i] = (struct place){fits[i].value[0], i};
    qsort(order, n, sizeof *order, by_value);
    const struct infer_point *nodes[COARSE_POINTS];
    for (size_t i = 0, node = 0; i < n; i++) {
        struct infer_point *point = &fits[order[i].index];
        point->wave = i != node_at(node, n);
        if (!point->wave) nodes[node++] = point;
    }
    for (size_t i = 0, above = 0; i < n; i++) {
        struct infer_point *point = &fits[order[i].index];
        above += !point->wave;
        size_t first = above > INFER_NEIGHBOURS / 2 ? above - INFER_NEIGHBOURS / 2 : 0;
        if (first + INFER_NEIGHBOURS > COARSE_POINTS) first = COARSE_POINTS - INFER_NEIGHBOURS;
        for (size_t j = 0; j < INFER_NEIGHBOURS && point->wave; j++) point->neighbour[j] = nodes[first + j];
    }
    return PARITAS_OK;
}

/* Where each fit ended. */
static void copy_parameters(const struct infer *infer, size_t n, const struct infer_point *fits, double *rows)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * infer->n_parameters, fits[i].parameters, infer->n_parameters * sizeof *rows);
}

static void put_edge(const struct infer *infer, const paritas_scan_request *request, double confidence,
                     double q, const struct curve_part *part, int side, size_t *n)
{
    const struct curve_end *end = &part->ends[side];
    if (end->end != PARITAS_MINOS_END_CROSSING) return;
    if (*n < request->crossings_room)
        request->crossings[*n] = (paritas_crossing){.size = sizeof(paritas_crossing),
                                                    .confidence = confidence,
                                                    .q = q,
                                                    .value = end->value,
                                                    .rises = side,
                                                    .several_minima = infer_has_several(&infer->minima),
                                                    .minima = infer->minima};
    ++*n;
}

static paritas_status put_crossings(const struct profile_curve *curve, const paritas_scan_request *request)
{
    struct infer *infer = curve->infer;
    struct curve_part *parts = infer_array(infer, request->crossings_room + 1, sizeof *parts);
    size_t found = 0;
    TRY(infer_memory(infer));
    for (size_t k = 0; k < request->n_levels; k++) {
        const size_t n = profile_curve_parts(curve, curve->levels[k], request->crossings_room + 1, parts);
        for (size_t i = 0; i < n && i < request->crossings_room + 1; i++)
            for (int side = 0; side < 2; side++)
                put_edge(infer, request, request->levels[k], curve->levels[k], &parts[i], side, &found);
    }
    if (request->n_crossings) *request->n_crossings = found;
    return PARITAS_OK;
}

/* Crossings between the least and the largest value of a line. Its points may be lower afterwards. */
static paritas_status find_crossings(struct infer *infer, const paritas_scan_request *request,
                                     struct infer_profile *profile, struct infer_point *fits)
{
    struct profile_curve curve;
    const double *levels;
    if (request->n_crossings) *request->n_crossings = 0;
    if (!request->crossings || request->n_parameters != 1 || request->n_points == 0) return PARITAS_OK;
    REQUIRE_AS(infer->context, "levels", request->levels);
    TRY(confidences_check(infer, request->n_levels, request->levels));
    TRY(confidences_quantiles(infer, request->n_levels, request->levels, &levels));
    profile_curve_open(&curve, infer, profile, request->n_levels, levels);
    curve.lower = curve.upper = fits[0].value[0];
    for (size_t i = 1; i < request->n_points; i++) {
        curve.lower = fmin(curve.lower, fits[i].value[0]);
        curve.upper = fmax(curve.upper, fits[i].value[0]);
    }
    const bool has_range = curve.lower < curve.upper && isfinite(curve.upper - curve.lower);
    if (!has_range || profile->result.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    TRY(profile_curve_follow(&curve, request->n_points, fits));
    return put_crossings(&curve, request);
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
    if (k == 1) infer->poi = request->parameters[0];
    TRY(infer_free_fit(infer, &profile));
    if (k == 1 && n > 0) TRY(arrange_waves(infer, n, fits));
    TRY(infer_points(infer, n, fits));
    TRY(find_crossings(infer, request, &profile, fits));
    infer_note_widening(infer);
    infer_put_best(infer, &profile, request->best, request->best_parameters);
    for (size_t i = 0; i < n; i++) {
        const double fall = fits[i].twice_nll - profile.result.twice_nll, q = fall < 0.0 ? 0.0 : fall;
        request->points[i] = (paritas_scan_point){.size = sizeof(paritas_scan_point),
                                                  .q = q,
                                                  .p = chi2_survival(q, (double)k),
                                                  .twice_nll = fits[i].twice_nll,
                                                  .several_minima = infer_has_several(&infer->minima),
                                                  .minima = infer->minima,
                                                  .status = fits[i].status};
    }
    if (request->point_parameters) copy_parameters(infer, n, fits, request->point_parameters);
    return PARITAS_OK;
}

paritas_status paritas_scan(paritas_context *context, const paritas_model *model, const paritas_job *job,
                            const paritas_scan_request *given)
{
    paritas_scan_request request = PARITAS_SCAN_REQUEST_DEFAULT;
    REQUIRE(context, model);
    TRY(SIZED_CHECK(context, paritas_scan_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_scan_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_fit_result, "best", 1, request.best));
    TRY(SIZED_CHECK(context, paritas_scan_point, "points", request.n_points, request.points));
    if (request.crossings)
        TRY(SIZED_CHECK(context, paritas_crossing, "crossings", request.crossings_room, request.crossings));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = scan(&infer, &request);
    infer_close(&infer);
    return status;
}
