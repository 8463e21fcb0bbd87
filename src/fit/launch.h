/* launch.h: from a list of jobs to a device.
 *
 *   plan ─► as many jobs as LAUNCH_ELEMENTS numbers hold ─► fill rows ─► device ─► take answers ─► next jobs
 *
 * Memory stays flat; if it runs out, launches are halved until rows are small. Answers do not depend on
 * cuts. */
#pragma once

#include "device/device.h"

/* Most numbers per launch, unless it has one job. */
#define LAUNCH_ELEMENTS ((size_t)16 << 20)
/* Below this, halving does not help. */
#define LAUNCH_ELEMENTS_LEAST ((size_t)1 << 16)

/* Number of jobs in a launch, at least one. */
static inline size_t launch_jobs(size_t each)
{
    return LAUNCH_ELEMENTS / each + 1;
}

struct launch_rows {
    paritas_context *context;
    size_t at, n, n_in; /* n_in: fill may lower it */
    uint32_t share;     /* jobs per lane */
    uint32_t *args;     /* zeroed */
    double *in, *out;
};

struct launch_size {
    size_t once, job;
};

struct launch_plan {
    const struct kernel_module *module;
    const struct device_tables *tables;
    uint64_t serial; /* of the tables (device_model_serial) */
    unsigned entry;
    struct launch_size in, out, args;
    size_t rows_of_job; /* 0: one */
    size_t slab, slab_most, touched;
    struct device_part matrix;
    double cost;         /* these five: see struct device_launch */
    unsigned limit_arg;  /* of entries that may take long: where 0 ends a job; 0: none */
    unsigned before_arg; /* of those that can go on: see struct device_launch; 0: none */
    uint32_t share_most; /* queues: most jobs per lane; 0: no queues */
    /* of a larger list; all 0: of this list, for the context's caller */
    struct device_progress progress;
    /* fill writes args and in, take reads out. In list order; a failure ends the run. */
    paritas_status (*fill)(void *user, struct launch_rows *rows);
    paritas_status (*take)(void *user, const struct launch_rows *rows);
    void *user;
};

/* Most jobs of a queues' launch. On a processor: as many as its threads share out evenly; more spoil its
 * caches. */
size_t launch_queued_jobs(const struct paritas_device *device);

/* Cancelling gives PARITAS_CANCELLED. */
paritas_status launch_run(paritas_context *context, struct paritas_device *device,
                          const struct launch_plan *plan, size_t n);

/* ---- f32 first, then f64 ----
 *
 *   FIRST, on the device ─► NEAR or FAR, in f64 on the host, from where f32 ended ─► ANEW, as if without f32
 *
 * NEAR: f32 converged; FAR: it did not. f32 affects time, never answers. */
enum launch_stage { STAGE_FIRST, STAGE_NEAR, STAGE_FAR, STAGE_ANEW, STAGE_DONE };

struct launch_stages {
    paritas_status (*run)(paritas_context *context, struct paritas_device *device, void *user,
                          enum launch_stage stage, size_t n, const size_t *which);
    /* The job's next stage, never an earlier one. */
    enum launch_stage (*next)(void *user, enum launch_stage stage, size_t i);
    void *user;
};

/* The first stage on `device`, others on the host. */
paritas_status launch_in_stages(paritas_context *context, struct paritas_device *device,
                                const struct launch_stages *stages, size_t n);

/* Device for f64 launches of any context. */
static inline struct paritas_device *launch_device_f64(const paritas_context *context)
{
    return context->precision == 64 ? context->device : context->host;
}
