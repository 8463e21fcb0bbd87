/* edges.c: empty bins with a rate of 0. */
#include "fit/edges.h"
#include "fit/cholesky.h"
#include "fit/minimum.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-9       /* of a parameter's size or of 1: so small a step would take the rate to 0 */
#define NEAR_RAW 1e-3   /* the same of fits in f32 without polish */
#define SMALL 1e-3      /* a larger rate is none at the edge, which saves derivatives */
#define SAME_EDGE 1e-12 /* of a squared norm: the bin's rate follows from the other edges' */

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

/* `by` and `vector` have `wide` numbers, of which the first n make the product. */
static void subtract_along(size_t n, size_t wide, const double *direction, double norm, const double *by,
                           double *vector)
{
    const double part = dot_product(n, by, vector) / norm;
    for (size_t i = 0; i < wide; i++) vector[i] -= part * direction[i];
}

/* Gram and Schmidt's way. Behind each row and behind the gradient stand their parts along the bins. */
static void follow(size_t n, const struct edges *edges, const unsigned char *held, double *rows, double *room,
                   double *gradient)
{
    const size_t wide = n + edges->n;
    for (size_t k = 0; k < edges->n; k++) {
        double *row = rows + k * wide, *free = room + k * n;
        double norm = 0.0;
        memcpy(row, edges->jacobian + edges->bins[k] * n, n * sizeof *row);
        row[n + k] = 1.0;
        for (int pass = 0; pass < 2; pass++) { /* the second takes the other bins' parts away */
            for (size_t j = 0; pass == 1 && j < k; j++) {
                const double own = dot_product(n, room + j * n, room + j * n);
                if (own > 0.0) subtract_along(n, wide, rows + j * wide, own, room + j * n, row);
            }
            for (size_t i = 0; i < n; i++) free[i] = held[i] ? 0.0 : row[i];
            const double now = dot_product(n, free, free);
            if (pass == 1 && !(now > SAME_EDGE * norm)) memset(free, 0, n * sizeof *free);
            norm = now;
        }
        if (dot_product(n, free, free) > 0.0) subtract_along(n, wide, row, norm, free, gradient);
    }
}

paritas_status edges_follow(paritas_context *context, size_t n, const struct edges *edges,
                            const unsigned char *held, struct arena *arena, double *gradient,
                            double *multipliers)
{
    const size_t wide = n + edges->n;
    double *rows = arena_array(arena, edges->n + 1, wide * sizeof *rows),
           *room = arena_array(arena, edges->n, n * sizeof *room);
    if (!rows || !room) return paritas_fail_memory(context);
    double *left = rows + edges->n * wide;
    memcpy(left, gradient, n * sizeof *left);
    follow(n, edges, held, rows, room, left);
    memcpy(gradient, left, n * sizeof *left);
    for (size_t k = 0; multipliers && k < edges->n; k++) multipliers[k] = 0.0 - left[n + k];
    return PARITAS_OK;
}
