/* ensemble.c: see ensemble.h. */
#include "fit/ensemble.h"
#include "fit/minimum.h"
#include "fit/fit_rows.h"

#include <math.h>
#include <string.h>

#define NO_ITEM 0xffffffffu
/* above, a count is no whole number that a double and Poisson's distribution agree on */
#define RATE_LARGEST 1e12
#define COMPARED 8 /* probes that Newton fits as well */
/* gradients that an iteration of Newton's may cost before quasi-Newton is the slower one */
#define EVALUATIONS_A_STEP 4.0

paritas_status ensemble_check(paritas_context *context, const paritas_model *given, const double *expected)
{
    const struct frozen *model = paritas_model_frozen(given);
    const size_t main = model->n_main;
    const paritas_status status = family_check_expectation(context, model);
    if (status != PARITAS_OK) return status;
    for (size_t i = 0; i < model->n_data; i++) {
        const double value = expected[i];
        const bool count = frozen_counts(model, i);
        if (value - value == 0.0 && (!count || (value >= 0.0 && value <= RATE_LARGEST))) continue;
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "toys cannot be drawn: %s datum %zu has the expectation %.17g",
                            i < main ? "main" : "auxiliary", i < main ? i : i - main, value);
    }
    return PARITAS_OK;
}

/* Rows of data for the toys from `first` on; a place that nothing can be drawn for is an error. */
static paritas_status draw(paritas_context *context, const struct ensemble *e, uint64_t first, size_t n,
                           struct rows *rows)
{
    const struct frozen *model = e->model;
    const size_t places = model->n_places;
    paritas_status status = rows_allocate(context, places, n * places, 8 + places, rows);
    if (status != PARITAS_OK) return status;
    memcpy(rows->in, e->expected, places * sizeof *rows->in);
    const uint32_t args[8] = {(uint32_t)n,
                              (uint32_t)first,
                              (uint32_t)(first >> 32),
                              (uint32_t)e->options.seed,
                              (uint32_t)(e->options.seed >> 32),
                              e->options.purpose,
                              e->options.fix_aux};
    memcpy(rows->args, args, sizeof args);
    memcpy(rows->args + 8, e->items, places * sizeof *rows->args);
    /* in f64 always: toys are the same whatever precision they are fitted in */
    status = rows_launch(context, rows_device_f64(context), model, model->family->draw, n, rows);
    for (size_t i = 0; i < n * places && status == PARITAS_OK; i++)
        if (!(rows->out[i] - rows->out[i] == 0.0))
            status = paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                                  "toys cannot be drawn: an auxiliary count has the expectation %.17g",
                                  e->expected[i % places]);
    if (status != PARITAS_OK) rows_free(rows);
    return status;
}

/* Quasi-Newton where the first toys end there, need few gradients, and find no worse minima than Newton
 * does. */
static paritas_status choose_method(paritas_context *context, struct ensemble *e, const double *matrix)
{
    struct profile shared[ENSEMBLE_PROBES], alone[COMPARED];
    struct profile_plan plan = e->options.plan;
    struct rows rows;
    paritas_status status = draw(context, e, 0, ENSEMBLE_PROBES, &rows);
    if (status != PARITAS_OK) return status;
    plan.in_f64 = true; /* runs in f32 choose alike */
    plan.matrix = NULL;
    status = profiles_fit(context, &plan, COMPARED, rows.out, alone, NULL);
    plan.matrix = matrix;
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, ENSEMBLE_PROBES, rows.out, shared, NULL);
    rows_free(&rows);
    if (status != PARITAS_OK) return status;
    size_t answered = 0;
    double gradients = 0.0, iterations = 0.0;
    bool worse = false;
    for (size_t i = 0; i < ENSEMBLE_PROBES; i++) {
        if (shared[i].rung != PROFILE_QUASI_NEWTON) continue;
        answered++;
        gradients += shared[i].iterations;
        if (i >= COMPARED) continue;
        iterations += alone[i].iterations;
        if (alone[i].status_free == PARITAS_FIT_CONVERGED)
            worse = worse || shared[i].value_free > alone[i].value_free + 0.5 * SAME_MINIMUM;
        if (alone[i].status_fixed == PARITAS_FIT_CONVERGED)
            worse = worse || shared[i].value_fixed > alone[i].value_fixed + 0.5 * SAME_MINIMUM;
    }
    const bool few = gradients / ENSEMBLE_PROBES <= EVALUATIONS_A_STEP * iterations / COMPARED;
    e->quasi_newton = 10 * answered >= 9 * ENSEMBLE_PROBES && few && !worse;
    return PARITAS_OK;
}

paritas_status ensemble_open(paritas_context *context, const struct ensemble_options *options,
                             struct ensemble *e)
{
    *e = (struct ensemble){.options = *options, .model = paritas_model_frozen(options->plan.model)};
    const struct frozen *model = e->model;
    arena_open(&e->arena, &context->allocator);
    paritas_status status = ensemble_check(context, options->plan.model, options->expected);
    if (status != PARITAS_OK) return status;
    double *matrix = arena_array(&e->arena, model->n_slots * model->n_slots, sizeof *matrix);
    e->expected = arena_array(&e->arena, model->n_places, sizeof *e->expected);
    e->items = arena_array(&e->arena, model->n_places, sizeof *e->items);
    if (!matrix || !e->expected || !e->items) return paritas_fail_memory(context);
    rows_put_data(model, options->expected, e->expected);
    for (size_t i = 0; i < model->n_places; i++) e->items[i] = NO_ITEM;
    for (size_t i = 0; i < model->n_data; i++) e->items[model->place_of[i]] = (uint32_t)i;
    e->options.plan.matrix = NULL;
    if (options->newton_only) return PARITAS_OK;
    bool usable;
    status = profiles_matrix(context, &e->options.plan, e->expected, matrix, &usable);
    if (status == PARITAS_OK && usable) status = choose_method(context, e, matrix);
    if (e->quasi_newton) e->options.plan.matrix = matrix;
    return status;
}

void ensemble_close(struct ensemble *e)
{
    arena_free(&e->arena);
}

size_t ensemble_chunk(const struct ensemble *e)
{
    const size_t n = (ROWS_ELEMENTS / 2) / (e->model->n_places + e->model->n_slots + 16) + 1;
    return n < 65536 ? n : 65536;
}

paritas_status ensemble_run(paritas_context *context, const struct ensemble *e, uint64_t first, size_t n,
                            struct profile *profiles, double *data, double *parameters, double *constants)
{
    const struct frozen *model = e->model;
    const size_t slots = model->n_slots, n_data = model->n_data;
    struct rows rows;
    paritas_status status = draw(context, e, first, n, &rows);
    if (status != PARITAS_OK) return status;
    double *points = parameters ? paritas_allocate(context, n * slots, sizeof *points) : NULL;
    double *own = data ? NULL : paritas_allocate(context, n_data, sizeof *own);
    if ((parameters && !points) || (!data && !own)) status = paritas_fail_memory(context);
    if (status == PARITAS_OK) status = profiles_fit(context, &e->options.plan, n, rows.out, profiles, points);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        if (parameters) rows_get_point(model, points + i * slots, parameters + i * model->n_parameters);
        if (!data && !constants) continue;
        double *one = data ? data + i * n_data : own;
        for (size_t k = 0; k < n_data; k++) one[k] = rows.out[i * model->n_places + model->place_of[k]];
        if (constants) constants[i] = model->constant(model, one);
    }
    paritas_release(&context->allocator, points);
    paritas_release(&context->allocator, own);
    rows_free(&rows);
    return status;
}
