/* batch.h: equal, independent jobs of plain numbers through one entry, in launches (launch.h). */
#pragma once

#include "entry/entry_rows.h"
#include "fit/launch.h"

struct batch {
    const struct kernel_module *module;
    struct device_tables tables; /* options of all jobs; may be empty */
    unsigned entry;
    size_t n_in, n_out;
    size_t n_shared; /* shared, behind the last row */
    const double *shared;
    size_t slab;               /* working memory per team and lane */
    uint32_t args[BATCH_ARGS]; /* the entry's own from BATCH_ARG_OWN */
    uint64_t first;            /* keys random numbers */
    /* for progress: number of this pass (from 0), of all passes; 0: one */
    size_t pass, passes;
    /* A job's row, and its answer: in order, on the calling thread. */
    void (*fill)(const void *user, size_t job, double *row);
    void (*take)(const void *user, size_t job, const double *answer);
    const void *user;
};

/* Progress counts jobs of all passes; cancelling gives PARITAS_CANCELLED. */
paritas_status batch_run(paritas_context *context, struct paritas_device *device, const struct batch *batch,
                         size_t n);
