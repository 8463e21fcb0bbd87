/* device_automatic.h: the device called "auto": the CPU, until the work turns out to be long; from then on
 * whichever device is faster at it.
 *
 *   CPU ─► 2 s of kernels ─► the first accelerator that opens and passes its self-test ─► each kind of launch
 *       runs on both, then on the faster
 *
 * A kind of launch is (entry, number of rows and size of the model, both to a power of two). Since every
 * device of a precision has the same bits, where a launch runs changes nothing but the time. An accelerator
 * that fails is closed, and the CPU repeats the launch.
 */
#ifndef PARITAS_DEVICE_DEVICE_AUTOMATIC_H
#define PARITAS_DEVICE_DEVICE_AUTOMATIC_H

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
struct device_automatic {
    struct device_request request; /* of the accelerator */
    struct paritas_device *accelerator;
    bool searched;
    char name[32];  /* of the device that runs most */
    double seconds; /* of kernels on the CPU */
    uint64_t launches;
    struct automatic_kind kinds[AUTOMATIC_KINDS];
    /* automatic_find, or what a test puts in its place */
    struct paritas_device *(*find)(paritas_context *context, const struct device_request *request);
};

/* The first accelerator that opens: kind after kind as `paritas devices` lists them; no processor under
 * another name. NULL: there is none. */
struct paritas_device *automatic_find(paritas_context *context, const struct device_request *request);

/* Opens the CPU as "auto". */
paritas_status automatic_open(paritas_context *context, const struct device_request *request,
                              struct paritas_device **device);
/* As device_launch, on the CPU `device` or its accelerator. */
paritas_status automatic_launch(paritas_context *context, struct paritas_device *device,
                                const struct device_model *model, const struct device_launch *launch);
void automatic_close(struct device_automatic *automatic, const paritas_allocator *allocator); /* or NULL */

#endif
