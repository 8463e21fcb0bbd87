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

/* Draws `n` toys around `expected` (n_data) into `data` (n * n_data); datum i is item i. Those from `items`
 * on are no items. */
static inline paritas_status draw_toys(paritas_context *context, const paritas_model *given,
                                       const struct draws *draws, const double *expected, size_t items,
                                       size_t n, double *data)
{
    const struct frozen *model = paritas_model_frozen(given);
    struct rows rows;
    paritas_status status =
        rows_allocate(context, model->n_places, n * model->n_places, 8 + model->n_places, &rows);
    if (status != PARITAS_OK) return status;
    const uint32_t head[8] = {
        (uint32_t)n,           (uint32_t)draws->first_toy,    (uint32_t)(draws->first_toy >> 32),
        (uint32_t)draws->seed, (uint32_t)(draws->seed >> 32), draws->purpose,
        draws->fixed_aux != 0};
    memcpy(rows.args, head, sizeof head);
    memset(rows.args + 8, 0xff, model->n_places * sizeof *rows.args);
    for (uint32_t i = 0; i < items; i++) rows.args[8 + model->place_of[i]] = i;
    rows_put_data(model, expected, rows.in);
    status = rows_launch(context, context->device, model, model->family->draw, n, &rows);
    for (size_t r = 0; r < n && status == PARITAS_OK; r++)
        for (size_t i = 0; i < model->n_data; i++)
            data[r * model->n_data + i] = rows.out[r * model->n_places + model->place_of[i]];
    rows_free(&rows);
    return status;
}

#endif
