/* batch.c: see batch.h. */
#include "fit/batch.h"

#include <string.h>

/* Elements that a launch may bring or fetch at most. */
#define BATCH_ELEMENTS ((size_t)16 << 20)

/* Progress of a launch as progress of the run. */
struct told {
    paritas_progress progress;
    void *user;
    uint64_t before, total;
};

static int tell(void *user, uint64_t done, uint64_t total)
{
    const struct told *told = user;
    (void)total;
    return told->progress(told->user, told->before + done, told->total);
}

/* One launch of n jobs from `at` on. */
static paritas_status launch(paritas_context *context, struct paritas_device *device,
                             const struct batch *batch, uint64_t serial, size_t at, size_t n)
{
    const size_t n_in = n * batch->n_in + batch->n_shared, n_out = n * batch->n_out;
    double *in = paritas_allocate_aligned(context, n_in + 1, sizeof *in),
           *out = paritas_allocate_aligned(context, n_out + 1, sizeof *out);
    paritas_status status = in && out ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) status = batch->fill(context, batch->user, at, n, in);
    if (status == PARITAS_OK) {
        if (batch->n_shared) memcpy(in + n * batch->n_in, batch->shared, batch->n_shared * sizeof *in);
        const uint64_t first = batch->first + at;
        uint32_t args[8];
        memcpy(args, batch->args, sizeof args);
        args[0] = (uint32_t)n;
        args[1] = (uint32_t)first;
        args[2] = (uint32_t)(first >> 32);
        const struct device_launch wanted = {.entry = batch->entry,
                                             .rows = (uint32_t)n,
                                             .args = args,
                                             .in = in,
                                             .out = out,
                                             .n_args = 8,
                                             .n_in = n_in,
                                             .n_out = n_out,
                                             .slab = batch->slab,
                                             .slab_most = batch->slab,
                                             .touched = batch->slab,
                                             .lanes = context->lanes,
                                             .progress = context->progress,
                                             .progress_user = context->progress_user};
        const struct device_model resident = {serial, batch->module, batch->tables};
        status = device_launch(context, device, &resident, &wanted);
    }
    if (status == PARITAS_OK) status = batch->take(context, batch->user, at, n, out);
    paritas_release_aligned(&context->allocator, in);
    paritas_release_aligned(&context->allocator, out);
    return status;
}

paritas_status batch_run(paritas_context *context, struct paritas_device *device, const struct batch *batch,
                         size_t n)
{
    const uint64_t serial = device_model_serial();
    const size_t widest = batch->n_in > batch->n_out ? batch->n_in : batch->n_out;
    size_t chunk = BATCH_ELEMENTS / (widest ? widest : 1);
    if (chunk < 1) chunk = 1;
    const paritas_progress progress = context->progress;
    void *const user = context->progress_user;
    const uint64_t gone = (uint64_t)batch->pass * n,
                   total = (uint64_t)(batch->passes ? batch->passes : 1) * n;
    struct told told = {progress, user, gone, total};
    if (progress) {
        context->progress = tell;
        context->progress_user = &told;
    }
    paritas_status status = PARITAS_OK;
    for (size_t at = 0; at < n && status == PARITAS_OK;) {
        const size_t count = n - at < chunk ? n - at : chunk;
        told.before = gone + at;
        status = launch(context, device, batch, serial, at, count);
        if (status == PARITAS_OUT_OF_MEMORY && count > 1) {
            chunk = count / 2;
            status = PARITAS_OK;
            continue;
        }
        at += count;
    }
    context->progress = progress;
    context->progress_user = user;
    return status;
}
