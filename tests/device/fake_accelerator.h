/* fake_accelerator.h: an accelerator whose kernels are the CPU's portable ones, whose memory is the host's,
 * and that fails on demand. */
#ifndef PARITAS_TESTS_DEVICE_FAKE_ACCELERATOR_H
#define PARITAS_TESTS_DEVICE_FAKE_ACCELERATOR_H

#include "device/accelerator.h"

enum { FAKE_OUT_OF_MEMORY = -2, FAKE_GONE = -7 };

/* One at a time, reset by fake_reset. */
struct fake {
    /* what happened */
    unsigned opens, closes, compiles, loads, unloads, runs;
    long buffers;     /* live */
    uint32_t largest; /* teams of one run */
    uint64_t teams;   /* of all runs */
    double seconds;   /* of all runs */
    /* what is to happen */
    size_t buffer_most;             /* bytes of one buffer; 0: any number */
    uint32_t teams_most;            /* of one run, above it memory runs out; 0: any number */
    unsigned gone_after;            /* runs until the device is gone; 0: never */
    unsigned workers_most_of_entry; /* 0: as many as are asked for */
    /* every run changes the last bit of this number that comes back, counted from 1; 0: of none */
    size_t wrong_number;
    bool refuses_to_open, refuses_text, refuses_binaries, is_processor;
    double seconds_of_run; /* only told: a run takes what it takes */
    char versions[64];
};
extern struct fake fake;
extern const struct device_operations device_fake;
void fake_reset(void);

/* Opens a fake device in place of the context's own. */
paritas_status fake_use(paritas_context *context);

#endif
