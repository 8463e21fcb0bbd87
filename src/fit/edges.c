/* edges.c: empty bins with a rate of 0. */
#include "fit/edges.h"
#include "fit/minimum.h"

#include <math.h>

#define NEAR 1e-9     /* of a parameter's size or of 1: so small a step would take the rate to 0 */
#define NEAR_RAW 1e-3 /* the same of fits in f32 without polish */
#define SMALL 1e-3    /* a larger rate is none at the edge, which saves derivatives */

struct rates {
    const struct frozen *model;
    const double *point, *data;
    double *expected, *jacobian; /* n_data; a row of n_parameters for each datum */
};

static bool is_empty(const struct frozen *model, const double *data, size_t i)
{
    return data[i] == 0.0 && frozen_counts(model, i) && !frozen_is_masked(model, i);
}

bool edges_may_hold(const struct frozen *model, const double *data)
{
    for (size_t i = 0; i < model->n_main; i++)
        if (is_empty(model, data, i)) return true;
    return false;
}

static bool may_hold(const struct rates *rates, size_t i)
{
    return is_empty(rates->model, rates->data, i) && fabs(rates->expected[i]) < SMALL;
}

static bool holds(const struct rates *rates, size_t i, double near)
{
    const size_t n = rates->model->n_parameters;
    const double *slopes = rates->jacobian + i * n, rate = fabs(rates->expected[i]);
    for (size_t p = 0; p < n; p++)
        if (slopes[p] != 0.0 && rate <= near * fabs(slopes[p]) * fmax(fabs(rates->point[p]), 1.0))
            return true;
    return false;
}

static void add(const struct rates *rates, size_t i, struct edges *edges)
{
    const size_t n = rates->model->n_parameters;
    edges->bins[edges->n++] = i;
    for (size_t p = 0; p < n; p++)
        if (rates->jacobian[i * n + p] != 0.0) edges->moves[p] = 1;
}

paritas_status edges_find(paritas_context *context, const paritas_model *model, const double *point,
                          const double *data, struct arena *arena, struct edges *edges)
{
    const struct frozen *frozen = paritas_model_frozen(model);
    struct rates rates = {.model = frozen, .point = point, .data = data ? data : frozen->data};
    size_t candidates = 0;
    *edges = (struct edges){.n = 0};
    if (frozen->no_expectation || !edges_may_hold(frozen, rates.data)) return PARITAS_OK;
    rates.expected = arena_array(arena, frozen->n_data, sizeof *rates.expected);
    if (!rates.expected) return paritas_fail_memory(context);
    TRY(family_expected_data(context, context->host, model, 1, point, data, rates.expected));
    for (size_t i = 0; i < frozen->n_main; i++) candidates += may_hold(&rates, i);
    if (candidates == 0) return PARITAS_OK;
    rates.jacobian = arena_array(arena, frozen->n_data, frozen->n_parameters * sizeof *rates.jacobian);
    edges->bins = arena_array(arena, candidates, sizeof *edges->bins);
    edges->moves = arena_array(arena, frozen->n_parameters, 1);
    if (!rates.jacobian || !edges->bins || !edges->moves) return paritas_fail_memory(context);
    TRY(paritas_expected_jacobian_of(context, model, point, data, rates.jacobian));
    for (size_t i = 0; i < frozen->n_main; i++)
        if (may_hold(&rates, i) && holds(&rates, i, fits_are_raw(context) ? NEAR_RAW : NEAR))
            add(&rates, i, edges);
    edges->jacobian = rates.jacobian;
    return PARITAS_OK;
}

paritas_status edges_clear(paritas_context *context, const paritas_model *model, const double *point,
                           const double *data, double *expected, size_t *n)
{
    struct arena arena;
    struct edges edges;
    arena_open(&arena, &context->allocator);
    const paritas_status status = edges_find(context, model, point, data, &arena, &edges);
    *n = edges.n;
    for (size_t k = 0; status == PARITAS_OK && k < edges.n; k++) expected[edges.bins[k]] = 0.0;
    arena_free(&arena);
    return status;
}
