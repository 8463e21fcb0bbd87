/* draws.h: rows of the entry that draws toys, in the user's order. Knows no test framework. */
#ifndef PARITAS_TESTS_DRAWS_H
#define PARITAS_TESTS_DRAWS_H

#include "fit/fit_rows.h"

#include <string.h>

struct draws {
    uint64_t first_toy, seed;
    uint32_t purpose;
    int fixed_aux; /* auxiliary data stay as expected */
};

/* One launch of the entry. */
struct drawing {
    const struct frozen *model;
    const struct draws *draws;
    const double *expected;
    size_t items;
    double *data;
};

static paritas_status draw_fill(void *user, struct launch_rows *rows)
{
    const struct drawing *d = user;
    uint32_t *args = rows->args;
    args[DRAW_ARG_TOYS] = (uint32_t)rows->n;
    args[DRAW_ARG_FIRST_LOW] = (uint32_t)(d->draws->first_toy + rows->at);
    args[DRAW_ARG_FIRST_HIGH] = (uint32_t)((d->draws->first_toy + rows->at) >> 32);
    args[DRAW_ARG_SEED_LOW] = (uint32_t)d->draws->seed;
    args[DRAW_ARG_SEED_HIGH] = (uint32_t)(d->draws->seed >> 32);
    args[DRAW_ARG_PURPOSE] = d->draws->purpose;
    args[DRAW_ARG_FIX_AUX] = d->draws->fixed_aux != 0;
    for (size_t i = 0; i < d->model->n_places; i++) args[DRAW_ARGS + i] = DRAW_NO_ITEM;
    for (uint32_t i = 0; i < d->items; i++) args[DRAW_ARGS + d->model->place_of[i]] = i;
    rows_put_data(d->model, d->expected, rows->in);
    return PARITAS_OK;
}

static paritas_status draw_take(void *user, const struct launch_rows *rows)
{
    const struct drawing *d = user;
    for (size_t r = 0; r < rows->n; r++)
        for (size_t i = 0; i < d->model->n_data; i++)
            d->data[(rows->at + r) * d->model->n_data + i] =
                rows->out[r * d->model->n_places + d->model->place_of[i]];
    return PARITAS_OK;
}

/* Draws `n` toys around `expected` (n_data) into `data` (n * n_data); datum i is item i. Those from `items`
 * on are no items. */
static inline paritas_status draw_toys(paritas_context *context, const paritas_model *given,
                                       const struct draws *draws, const double *expected, size_t items,
                                       size_t n, double *data)
{
    const struct frozen *model = paritas_model_frozen(given);
    struct drawing drawing = {model, draws, expected, items, data};
    struct launch_plan plan;
    TRY(rows_plan(context, model, model->family->draw, &plan));
    plan.in.once = plan.out.job = model->n_places;
    plan.args.once = DRAW_ARGS + model->n_places;
    plan.fill = draw_fill;
    plan.take = draw_take;
    plan.user = &drawing;
    return launch_run(context, context->device, &plan, n);
}

#endif
