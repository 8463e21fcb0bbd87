/* launch.h: the one way from a list of jobs to a device. Knows neither models nor what rows mean.
 *
 *   plan ─► as many jobs as LAUNCH_ELEMENTS numbers hold ─► fill rows ─► device ─► take answers ─► next jobs
 *
 * So memory does not grow with the list. Where it runs out all the same, half as many jobs go at once, until
 * their rows are small. Answers do not depend on how the list is cut.
 */
#ifndef PARITAS_FIT_LAUNCH_H
#define PARITAS_FIT_LAUNCH_H

#include "device/device.h"

/* Numbers that a launch brings and fetches at most, if it has more than one job. */
#define LAUNCH_ELEMENTS ((size_t)16 << 20)
/* Where memory runs out with fewer, still fewer would not help. */
#define LAUNCH_ELEMENTS_LEAST ((size_t)1 << 16)

/* How many jobs of `each` numbers go at once; at least one. */
static inline size_t launch_jobs(size_t each)
{
    return LAUNCH_ELEMENTS / each + 1;
}

/* The rows of one launch: jobs at .. at + n - 1 of the list. */
struct launch_rows {
    paritas_context *context;
    size_t at, n, n_in; /* n_in: elements of `in`; fill may say that it needed fewer */
    uint32_t share;     /* jobs that a lane works through */
    uint32_t *args;     /* cleared */
    double *in, *out;
};

/* Elements of an array: for the launch as a whole, and for each job. */
struct launch_size {
    size_t once, job;
};

struct launch_plan {
    const struct kernel_module *module;
    const struct device_tables *tables;
    uint64_t serial; /* of the tables, device_model_serial */
    unsigned entry;
    struct launch_size in, out, args;
    size_t rows_of_job; /* of the entry; 0: one */
    size_t slab, slab_most, touched;
    double cost;         /* these four as struct device_launch has them */
    uint32_t share_most; /* for entries with queues: jobs that a lane takes at most; 0: no queues */
    /* Whom it tells, of this many jobs that were done before, out of `total`; all 0: the context's caller, of
     * the jobs of this list. */
    struct device_progress progress;
    /* Writes args and in; reads out. Called in the order of the list; a failure ends the run. */
    paritas_status (*fill)(void *user, struct launch_rows *rows);
    paritas_status (*take)(void *user, const struct launch_rows *rows);
    void *user;
};

/* Runs n jobs. The caller's cancelling answers PARITAS_CANCELLED. */
paritas_status launch_run(paritas_context *context, struct paritas_device *device,
                          const struct launch_plan *plan, size_t n);

/* ---- f32 first, then f64 ----
 *
 *   FIRST, on the device ─► NEAR or FAR, in f64 on the host, from where f32 ended ─► ANEW, as if without f32
 *
 * The f32 point leaves no trace in an answer, only in the time that it took. */
enum launch_stage {
    STAGE_FIRST,
    STAGE_NEAR, /* what f32 finished */
    STAGE_FAR,  /* what it did not */
    STAGE_ANEW,
    STAGE_DONE
};

struct launch_stages {
    /* Runs the jobs `which` as the stage has them. */
    paritas_status (*run)(paritas_context *context, struct paritas_device *device, void *user,
                          enum launch_stage stage, size_t n, const size_t *which);
    /* Which stage job i goes on to; never an earlier one. */
    enum launch_stage (*next)(void *user, enum launch_stage stage, size_t i);
    void *user;
};

/* Takes jobs 0 .. n - 1 through their stages: the first on `device`, the others on the host. */
paritas_status launch_in_stages(paritas_context *context, struct paritas_device *device,
                                const struct launch_stages *stages, size_t n);

/* Where a launch runs that is in f64 whatever the context's precision is. */
static inline struct paritas_device *launch_device_f64(const paritas_context *context)
{
    return context->precision == 64 ? context->device : context->host;
}

#endif
