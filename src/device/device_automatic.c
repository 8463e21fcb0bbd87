/* device_automatic.c: see automatic.h. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "device/device_automatic.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* OpenCL devices that are looked at: processors and devices without f64 come first on some machines */
#define OPENCL_TRIED 8

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

paritas_status automatic_open(paritas_context *context, unsigned attempt, unsigned precision,
                              struct paritas_device **device)
{
    static const char *const kinds[] = {"cuda", "metal"};
    char name[32];
    *device = NULL;
    if (attempt >= 2 + OPENCL_TRIED) return PARITAS_NOT_FOUND;
    if (attempt < 2)
        snprintf(name, sizeof name, "%s", kinds[attempt]);
    else
        snprintf(name, sizeof name, "opencl:%u", attempt - 2);
    return device_try(context, name, NULL, precision, false, device);
}

/* Opens the first accelerator that can run. Failures leave no message behind: nobody asked for these
 * devices. */
static void find_accelerator(paritas_context *context, struct automatic *automatic, unsigned precision)
{
    char message[sizeof context->message];
    memcpy(message, context->message, sizeof message);
    automatic->searched = true;
    for (unsigned attempt = 0; !automatic->accelerator; attempt++) {
        struct paritas_device *device = NULL;
        const paritas_status status = automatic->open(context, attempt, precision, &device);
        if (status == PARITAS_NOT_FOUND) break;
        if (status == PARITAS_OK) automatic->accelerator = device;
    }
    memcpy(context->message, message, sizeof message);
    if (automatic->accelerator)
        paritas_note(context, "device auto: after %.1f s on the CPU, %s (%s) is tried beside it",
                     automatic->seconds, automatic->accelerator->name,
                     automatic->accelerator->operations->describe(automatic->accelerator));
    else
        paritas_note(context,
                     "device auto: no accelerator runs f%u here (an OpenCL device that is the processor "
                     "itself is none), the CPU goes on",
                     precision);
}

/* The whole part of a number's binary logarithm; 0 for 0. */
static unsigned size_of(size_t number)
{
    unsigned size = 0;
    while (number >> size > 1) size++;
    return size;
}

static struct automatic_kind *kind_of(struct automatic *automatic, const struct kernel_module *module,
                                      const struct device_launch *launch)
{
    const unsigned rows = size_of(launch->rows), slab = size_of(launch->slab);
    struct automatic_kind *oldest = &automatic->kinds[0];
    for (size_t k = 0; k < AUTOMATIC_KINDS; k++) {
        struct automatic_kind *kind = &automatic->kinds[k];
        if (kind->module == module && kind->entry == launch->entry && kind->rows == rows &&
            kind->slab == slab) {
            kind->used = ++automatic->launches;
            return kind;
        }
        if (kind->used < oldest->used) oldest = kind;
    }
    *oldest = (struct automatic_kind){
        .module = module, .used = ++automatic->launches, .entry = launch->entry, .rows = rows, .slab = slab};
    return oldest;
}

/* Runs on the accelerator. False: it failed, was closed, and the CPU has to do it. */
static bool accelerated(paritas_context *context, struct automatic *automatic, struct automatic_kind *kind,
                        uint64_t serial, const struct kernel_module *module,
                        const struct device_tables *tables, const struct device_launch *launch,
                        paritas_status *status)
{
    struct paritas_device *accelerator = automatic->accelerator;
    const double before = seconds_now();
    *status = device_launch_model(context, accelerator, serial, module, tables, launch);
    const double seconds = seconds_now() - before;
    if (*status == PARITAS_OK && kind->accelerated++ > 0 && seconds > 0.0)
        kind->accelerator_rate = launch->rows / seconds;
    if (*status == PARITAS_OK && kind->accelerator_rate > kind->cpu_rate && !automatic->told) {
        automatic->told = true;
        snprintf(context->device_name, sizeof context->device_name, "%s", accelerator->name);
        paritas_note(context, "device auto: %s runs %s at %.2g times the CPU's rate", accelerator->name,
                     module->entries[launch->entry], kind->accelerator_rate / kind->cpu_rate);
    }
    if (*status == PARITAS_OK || *status == PARITAS_CANCELLED) return true;
    paritas_note(context, "device auto: the CPU goes on alone, since %s", context->message);
    device_close(accelerator);
    automatic->accelerator = NULL;
    automatic->told = false;
    snprintf(context->device_name, sizeof context->device_name, "cpu");
    return false;
}

paritas_status automatic_launch(paritas_context *context, struct paritas_device *device, uint64_t serial,
                                const struct kernel_module *module, const struct device_tables *tables,
                                const struct device_launch *launch)
{
    struct automatic *automatic = device->automatic;
    struct automatic_kind *kind = kind_of(automatic, module, launch);
    paritas_status status = PARITAS_OK;
    /* the CPU first, so that there is a rate to compare with; then the accelerator until it is timed; then
     * the faster */
    const bool wanted =
        kind->cpu_rate > 0.0 && (kind->accelerator_rate == 0.0 || kind->accelerator_rate > kind->cpu_rate);
    if (automatic->accelerator && wanted &&
        accelerated(context, automatic, kind, serial, module, tables, launch, &status))
        return status;
    device->automatic = NULL;
    const double before = seconds_now();
    status = device_launch_model(context, device, serial, module, tables, launch);
    const double seconds = seconds_now() - before;
    device->automatic = automatic;
    automatic->seconds += seconds;
    if (status == PARITAS_OK && seconds > 0.0) kind->cpu_rate = launch->rows / seconds;
    if (status == PARITAS_OK && !automatic->searched && automatic->seconds > AUTOMATIC_SECONDS)
        find_accelerator(context, automatic, device->precision);
    return status;
}

void automatic_close(struct automatic *automatic, const paritas_allocator *allocator)
{
    if (!automatic) return;
    device_close(automatic->accelerator);
    paritas_release(allocator, automatic);
}
