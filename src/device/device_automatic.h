/* device_automatic.h: the device called "auto": the CPU, until the work turns out to be long; from then on whichever
 * is faster at it.
 *
 *   CPU ─► 2 s of kernels ─► the first accelerator that opens and passes its self-test ─► each kind of launch
 *       runs on both, then on the faster
 *
 * A kind is (entry, number of rows and size of the model, both to a power of two). Since every device of a
 * precision has the same bits, where a launch runs changes nothing but the time. An accelerator that fails is
 * closed and the launch repeated on the CPU.
 */
#ifndef PARITAS_DEVICE_AUTOMATIC_H
#define PARITAS_DEVICE_AUTOMATIC_H

#include "device/device.h"

/* of kernels on the CPU, before a driver is opened: that alone may take half a second, compiling more */
#define AUTOMATIC_SECONDS 2.0
#define AUTOMATIC_KINDS 32

struct automatic_kind {
    const struct kernel_module *module; /* NULL: a free place */
    uint64_t used;
    unsigned entry, rows, slab; /* the last two as binary logarithms */
    unsigned accelerated; /* launches on the accelerator; the first may have compiled and is not timed */
    double cpu_rate, accelerator_rate; /* rows a second; 0: not measured */
};

/* Belongs to the CPU device that was opened as "auto". */
struct automatic {
    struct paritas_device *accelerator;
    bool searched, told;
    double seconds; /* of kernels on the CPU */
    uint64_t launches;
    struct automatic_kind kinds[AUTOMATIC_KINDS];
    /* The devices to try, in order, until one that is no processor opens; for tests to replace. */
    paritas_status (*open)(paritas_context *context, unsigned attempt, unsigned precision,
                           struct paritas_device **device);
};

/* Attempt number `attempt` of opening an accelerator: PARITAS_NOT_FOUND where there is none left to try. */
paritas_status automatic_open(paritas_context *context, unsigned attempt, unsigned precision,
                              struct paritas_device **device);
/* As device_launch_model, on the CPU `device` or its accelerator. */
paritas_status automatic_launch(paritas_context *context, struct paritas_device *device, uint64_t serial,
                                const struct kernel_module *module, const struct device_tables *tables,
                                const struct device_launch *launch);
void automatic_close(struct automatic *automatic, const paritas_allocator *allocator); /* NULL is a no-op */

#endif
