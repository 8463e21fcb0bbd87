/* batch.h: many equal, independent jobs through one entry of a module, for families whose jobs are rows of
 * numbers rather than fits of a frozen model. How they are cut into launches: launch.h. */
#ifndef PARITAS_FIT_BATCH_H
#define PARITAS_FIT_BATCH_H

#include "entry/entry_rows.h"
#include "fit/launch.h"

struct batch {
    const struct kernel_module *module;
    struct device_tables tables; /* options, the same for all jobs; may be empty */
    unsigned entry;
    size_t n_in, n_out; /* elements of a job's row */
    size_t n_shared;    /* elements behind the last row that all jobs share */
    const double *shared;
    size_t slab;               /* elements of one team's working memory, a lane */
    uint32_t args[BATCH_ARGS]; /* from BATCH_ARG_OWN on the entry's own */
    uint64_t first;            /* number of the first job: what random numbers are keyed by */
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
