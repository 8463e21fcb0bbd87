/* batch.h: many equal, independent jobs through one entry of a module, in launches of at most 2^24 numbers in
 * or out. For families whose jobs are rows of numbers rather than fits of a frozen model.
 *
 *   fill rows of the chunk ─► launch ─► take answers ─► next chunk
 *
 * Memory does not grow with the number of jobs; a chunk for which memory runs out is halved, down to one
 * job. */
#ifndef PARITAS_FIT_BATCH_H
#define PARITAS_FIT_BATCH_H

#include "device/device.h"

struct batch {
    const struct kernel_module *module;
    struct device_tables tables; /* options, the same for all jobs; may be empty */
    unsigned entry;
    size_t n_in, n_out; /* elements of a job's row */
    size_t n_shared;    /* elements behind the last row that all jobs share */
    const double *shared;
    size_t slab; /* elements of one team's working memory, a lane */
    /* from 3 on the entry's own; before: jobs of the launch, number of its first job (low, high word) */
    uint32_t args[8];
    uint64_t first; /* number of the first job: what random numbers are keyed by */
    /* of progress: this is pass number `pass`, from 0, of a call that runs all jobs `passes` times; 0:
     * once */
    size_t pass, passes;
    /* Writes the rows of jobs at .. at + n - 1; reads their answers. Called from the calling thread, in
     * order. A failure ends the run. */
    paritas_status (*fill)(paritas_context *context, void *user, size_t at, size_t n, double *in);
    paritas_status (*take)(paritas_context *context, void *user, size_t at, size_t n, const double *out);
    void *user;
};

/* Runs n jobs on this device. Progress counts jobs, those of all passes; the caller's cancelling answers
 * PARITAS_CANCELLED. */
paritas_status batch_run(paritas_context *context, struct paritas_device *device, const struct batch *batch,
                         size_t n);

#endif
