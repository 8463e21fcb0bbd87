/* batch.c: runs batch.h's jobs. */
#include "fit/batch.h"

#include <string.h>

static paritas_status fill(void *user, struct launch_rows *rows)
{
    const struct batch *batch = user;
    const uint64_t first = batch->first + rows->at;
    memcpy(rows->args, batch->args, sizeof batch->args);
    rows->args[BATCH_ARG_JOBS] = (uint32_t)rows->n;
    rows->args[BATCH_ARG_FIRST_LOW] = (uint32_t)first;
    rows->args[BATCH_ARG_FIRST_HIGH] = (uint32_t)(first >> 32);
    if (batch->n_shared)
        memcpy(rows->in + rows->n * batch->n_in, batch->shared, batch->n_shared * sizeof *rows->in);
    for (size_t k = 0; k < rows->n; k++) batch->fill(batch->user, rows->at + k, rows->in + k * batch->n_in);
    return PARITAS_OK;
}

static paritas_status take(void *user, const struct launch_rows *rows)
{
    const struct batch *batch = user;
    for (size_t k = 0; k < rows->n; k++) batch->take(batch->user, rows->at + k, rows->out + k * batch->n_out);
    return PARITAS_OK;
}

paritas_status batch_run(paritas_context *context, struct paritas_device *device, const struct batch *batch,
                         size_t n)
{
    struct batch own = *batch;
    const struct launch_plan plan = {.module = batch->module,
                                     .tables = &batch->tables,
                                     .serial = device_model_serial(),
                                     .entry = batch->entry,
                                     .in = {batch->n_shared, batch->n_in},
                                     .out = {0, batch->n_out},
                                     .args = {BATCH_ARGS, 0},
                                     .slab = batch->slab,
                                     .touched = batch->slab,
                                     .progress = {.before = (uint64_t)batch->pass * n,
                                                  .total = (uint64_t)(batch->passes ? batch->passes : 1) * n},
                                     .fill = fill,
                                     .take = take,
                                     .user = &own};
    return launch_run(context, device, &plan, n);
}
