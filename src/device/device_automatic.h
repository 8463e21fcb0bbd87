/* device_automatic.h: "auto": the CPU first, for long work the faster device.
 *
 *   CPU ─► 2 s of kernels ─► the first accelerator that opens and passes its self-test ─► each kind of launch
 *       runs on both, then on the faster
 *
 * Kind of launch: (entry, rows, model size), sizes to a power of two. All devices of a precision give the
 * same bits. A failing accelerator is closed and the CPU repeats the launch. */
#pragma once

#include "device/device_kind.h"

/* of CPU kernels before a driver is opened: opening takes up to 0.5 s, compiling more */
#define AUTOMATIC_SECONDS 2.0
#define AUTOMATIC_KINDS 32

struct automatic_kind {
    const struct kernel_module *module; /* NULL: free place */
    uint64_t used, launches;
    unsigned entry, rows, slab;        /* rows, slab: binary logarithms */
    unsigned accelerated;              /* the first may compile: not timed */
    double cpu_rate, accelerator_rate; /* 0: not measured */
};

struct device_automatic {
    struct device_request request;
    struct paritas_device *accelerator;
    bool searched;
    char name[32];  /* of the busiest device */
    double seconds; /* of CPU kernels */
    uint64_t launches;
    struct automatic_kind kinds[AUTOMATIC_KINDS];
    /* automatic_find and platform_seconds, or a test's replacements */
    struct paritas_device *(*find)(paritas_context *context, const struct device_request *request);
    double (*clock)(void);
};

/* The first that runs, by PARITAS_DEVICE_PREFERENCE; no CPU under another name. NULL: none. */
struct paritas_device *automatic_find(paritas_context *context, const struct device_request *request);

paritas_status automatic_open(paritas_context *context, const struct device_request *request,
                              struct paritas_device **device);
paritas_status automatic_launch(paritas_context *context, struct paritas_device *device,
                                const struct device_model *model, const struct device_launch *launch);
void automatic_close(struct device_automatic *automatic, const paritas_allocator *allocator);
