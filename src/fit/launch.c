/* launch.c: cuts lists of jobs into launches. */
#include "fit/launch.h"

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
        .touched = plan->touched,
        .lanes = context->lanes,
        .cost = plan->cost,
        .progress = progress};
    if (status == PARITAS_OK)
        status = device_launch(context, device,
                               &(struct device_model){plan->serial, plan->module, *plan->tables}, &launch);
    return status == PARITAS_OK ? plan->take(plan->user, rows) : status;
}

static paritas_status run_once(paritas_context *context, struct paritas_device *device,
                               const struct launch_plan *plan, const struct device_progress *progress,
                               size_t at, size_t n)
{
    struct launch_rows rows = {.context = context, .at = at, .n = n};
    rows.n_in = plan->in.once + n * plan->in.job;
    rows.share = plan->share_most ? share_of(plan, device, n) : 1;
    /* queues add an answer row per team */
    const size_t answers = plan->share_most ? n + n / rows.share + 1 : n,
                 n_out = plan->out.once + answers * plan->out.job,
                 n_args = plan->args.once + n * plan->args.job;
    rows.in = paritas_allocate_aligned(context, rows.n_in + 1, sizeof *rows.in);
    rows.out = paritas_allocate_aligned(context, n_out + 1, sizeof *rows.out);
    rows.args = paritas_allocate_clear(context, n_args + 1, sizeof *rows.args);
    const paritas_status status = rows.in && rows.out && rows.args
                                      ? run_rows(context, device, plan, progress, &rows, n_out, n_args)
                                      : paritas_fail_memory(context);
    paritas_release_aligned(&context->allocator, rows.in);
    paritas_release_aligned(&context->allocator, rows.out);
    paritas_release(&context->allocator, rows.args);
    return status;
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
    size_t step = launch_jobs(each);
    for (size_t at = 0; at < n;) {
        const size_t count = n - at < step ? n - at : step;
        const paritas_status status = run_once(context, device, plan, &progress, at, count);
        if (status == PARITAS_OUT_OF_MEMORY && count > 1 && count * each > LAUNCH_ELEMENTS_LEAST) {
            step = count / 2;
            continue;
        }
        if (status != PARITAS_OK) return status;
        at += count;
        progress.before += (uint64_t)count * rows_of_job;
    }
    return PARITAS_OK;
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
