/* launch.c: cuts lists of jobs into launches. */
#include "fit/launch.h"

#include <string.h>

#define QUEUED_JOBS_OF_TEAM 128u          /* of device_teams() */
#define CACHED_ELEMENTS ((size_t)1 << 20) /* of a processor's launch, unless it has few jobs */

/* Jobs per lane, out of n: as few as keep the device busy. */
static uint32_t share_of(const struct launch_plan *plan, const struct paritas_device *device, size_t n)
{
    const size_t even = n / device_teams(device);
    return even < 1 ? 1 : even > plan->share_most ? plan->share_most : (uint32_t)even;
}

static paritas_status run_rows(paritas_context *context, struct paritas_device *device,
                               const struct launch_plan *plan, const struct device_progress *progress,
                               struct launch_rows *rows, size_t n_out, size_t n_args)
{
    paritas_status status = plan->fill(plan->user, rows);
    const struct device_launch launch = {
        .entry = plan->entry,
        .rows = (uint32_t)(rows->n * (plan->rows_of_job ? plan->rows_of_job : 1)),
        .share = plan->share_most ? rows->share : 0,
        .args = rows->args,
        .in = rows->in,
        .out = rows->out,
        .n_args = n_args,
        .n_in = rows->n_in,
        .n_out = n_out,
        .slab = plan->slab,
        .slab_most = plan->slab_most > plan->slab ? plan->slab_most : plan->slab,
        .matrix = plan->matrix,
        .touched = plan->touched,
        .lanes = context->lanes,
        .cost = plan->cost,
        .limit = plan->limit_arg > 0 ? rows->args + plan->limit_arg : NULL,
        .before = plan->before_arg > 0 ? rows->args + plan->before_arg : NULL,
        .progress = progress};
    if (status == PARITAS_OK)
        status = device_launch(context, device,
                               &(struct device_model){plan->serial, plan->module, *plan->tables}, &launch);
    return status == PARITAS_OK ? plan->take(plan->user, rows) : status;
}

/* Memory for launches of up to n jobs. */
struct buffers {
    double *in, *out;
    uint32_t *args;
    uint32_t share;
};

static size_t n_in(const struct launch_plan *plan, size_t n)
{
    return plan->in.once + n * plan->in.job;
}

/* queues add an answer row per team */
static size_t n_out(const struct launch_plan *plan, size_t n, uint32_t share)
{
    return plan->out.once + (plan->share_most ? n + n / share + 1 : n) * plan->out.job;
}

static size_t n_args(const struct launch_plan *plan, size_t n)
{
    return plan->args.once + n * plan->args.job;
}

static void buffers_close(paritas_context *context, struct buffers *buffers)
{
    paritas_release_aligned(&context->allocator, buffers->in);
    paritas_release_aligned(&context->allocator, buffers->out);
    paritas_release(&context->allocator, buffers->args);
    *buffers = (struct buffers){0};
}

static paritas_status buffers_open(paritas_context *context, const struct paritas_device *device,
                                   const struct launch_plan *plan, size_t n, struct buffers *buffers)
{
    buffers->share = plan->share_most ? share_of(plan, device, n) : 1;
    buffers->in = paritas_allocate_aligned(context, n_in(plan, n) + 1, sizeof *buffers->in);
    buffers->out =
        paritas_allocate_aligned(context, n_out(plan, n, buffers->share) + 1, sizeof *buffers->out);
    buffers->args = paritas_allocate(context, n_args(plan, n) + 1, sizeof *buffers->args);
    return buffers->in && buffers->out && buffers->args ? PARITAS_OK : paritas_fail_memory(context);
}

static paritas_status run_once(paritas_context *context, struct paritas_device *device,
                               const struct launch_plan *plan, const struct device_progress *progress,
                               size_t at, size_t n, const struct buffers *buffers)
{
    struct launch_rows rows = {.context = context,
                               .at = at,
                               .n = n,
                               .n_in = n_in(plan, n),
                               .share = buffers->share,
                               .args = buffers->args,
                               .in = buffers->in,
                               .out = buffers->out};
    memset(rows.args, 0, (n_args(plan, n) + 1) * sizeof *rows.args);
    return run_rows(context, device, plan, progress, &rows, n_out(plan, n, rows.share), n_args(plan, n));
}

size_t launch_queued_jobs(const struct paritas_device *device)
{
    return device->is_processor ? (size_t)QUEUED_JOBS_OF_TEAM * device_teams(device) : SIZE_MAX;
}

/* Jobs of a launch, out of n: even parts. Rows of a processor stay near its caches. */
static size_t jobs_at_once(const struct launch_plan *plan, const struct paritas_device *device, size_t n)
{
    const size_t enough = plan->share_most ? launch_queued_jobs(device) : n;
    const size_t each = plan->in.job + plan->out.job;
    size_t most = launch_jobs(each);
    if (device->is_processor && CACHED_ELEMENTS / each < most)
        most = CACHED_ELEMENTS / each + device_teams(device) / 16;
    if (enough < most) most = enough;
    if (n == 0) return 1;
    const size_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
}

paritas_status launch_run(paritas_context *context, struct paritas_device *device,
                          const struct launch_plan *plan, size_t n)
{
    struct device_progress progress = plan->progress;
    if (!progress.report) {
        progress.report = context->progress;
        progress.user = context->progress_user;
    }
    const size_t rows_of_job = plan->rows_of_job ? plan->rows_of_job : 1;
    if (progress.total == 0) progress.total = (uint64_t)n * rows_of_job;
    const size_t each = plan->in.job + plan->out.job;
    struct buffers buffers = {0};
    paritas_status status = PARITAS_OK;
    size_t step = jobs_at_once(plan, device, n);
    for (size_t at = 0; at < n && status == PARITAS_OK;) {
        const size_t count = n - at < step ? n - at : step;
        if (!buffers.in) status = buffers_open(context, device, plan, count, &buffers);
        if (status == PARITAS_OK) status = run_once(context, device, plan, &progress, at, count, &buffers);
        if (status == PARITAS_OUT_OF_MEMORY && count > 1 && count * each > LAUNCH_ELEMENTS_LEAST) {
            step = count / 2;
            buffers_close(context, &buffers);
            status = PARITAS_OK;
        } else if (status == PARITAS_OK) {
            at += count;
            progress.before += (uint64_t)count * rows_of_job;
        }
    }
    buffers_close(context, &buffers);
    return status;
}

paritas_status launch_in_stages(paritas_context *context, struct paritas_device *device,
                                const struct launch_stages *stages, size_t n)
{
    unsigned char *stage_of = paritas_allocate_clear(context, n + 1, sizeof *stage_of);
    size_t *which = paritas_allocate(context, n + 1, sizeof *which);
    paritas_status status = stage_of && which ? PARITAS_OK : paritas_fail_memory(context);
    for (enum launch_stage stage = STAGE_FIRST; stage < STAGE_DONE && status == PARITAS_OK; stage++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (stage_of[i] == stage) which[count++] = i;
        if (count > 0)
            status = stages->run(context, stage == STAGE_FIRST ? device : context->host, stages->user, stage,
                                 count, which);
        for (size_t k = 0; k < count && status == PARITAS_OK; k++)
            stage_of[which[k]] = (unsigned char)stages->next(stages->user, stage, which[k]);
    }
    paritas_release(&context->allocator, stage_of);
    paritas_release(&context->allocator, which);
    return status;
}
