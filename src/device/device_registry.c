/* device_registry.c: names to devices. */
#include "device/device_automatic.h"
#include "device/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const struct device_operations *operations;
} kinds[] = {
    {"cpu", &device_cpu}, {"cuda", &device_cuda}, {"metal", &device_metal}, {"opencl", &device_opencl}};

const char *device_kind(size_t k)
{
    return k < sizeof kinds / sizeof kinds[0] ? kinds[k].name : NULL;
}

paritas_status device_open_as(paritas_context *context, const struct device_operations *operations,
                              const char *name, const char *isa, unsigned precision, bool processors,
                              unsigned index, struct paritas_device **device)
{
    *device = NULL;
    struct paritas_device *opened = paritas_allocate_clear(context, 1, sizeof *opened);
    if (!opened) return paritas_fail_memory(context);
    opened->operations = operations;
    opened->allocator = context->allocator;
    opened->threads = context->threads;
    opened->precision = precision;
    opened->workers = context->workers;
    opened->processors = processors;
    opened->index = index;
    snprintf(opened->name, sizeof opened->name, "%s", name);
    const paritas_status status = operations->open(context, opened, isa, index);
    if (status != PARITAS_OK) {
        paritas_release(&context->allocator, opened);
        return status;
    }
    *device = opened;
    return PARITAS_OK;
}

/* The CPU, which looks for company when the work is long. */
static paritas_status open_automatic(paritas_context *context, const char *isa, unsigned precision,
                                     struct paritas_device **device)
{
    paritas_status status = device_open_as(context, &device_cpu, "cpu", isa, precision, true, 0, device);
    if (status != PARITAS_OK) return status;
    struct automatic *automatic = paritas_allocate_clear(context, 1, sizeof *automatic);
    if (!automatic) {
        device_close(*device);
        *device = NULL;
        return paritas_fail_memory(context);
    }
    automatic->open = automatic_open;
    (*device)->automatic = automatic;
    return PARITAS_OK;
}

paritas_status device_try(paritas_context *context, const char *name, const char *isa, unsigned precision,
                          bool processors, struct paritas_device **device)
{
    *device = NULL;
    if (!name) name = "cpu";
    if (strcmp(name, "auto") == 0) return open_automatic(context, isa, precision, device);
    const char *colon = strchr(name, ':');
    const size_t length = colon ? (size_t)(colon - name) : strlen(name);
    unsigned index = 0;
    if (colon) {
        const char *digit = colon + 1;
        if (!*digit || strspn(digit, "0123456789") != strlen(digit) || strlen(digit) > 4)
            return paritas_fail(context, PARITAS_NO_DEVICE,
                                "device '%s': what follows the colon must be a number", name);
        for (; *digit; digit++) index = 10 * index + (unsigned)(*digit - '0');
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strlen(kinds[k].name) == length && strncmp(kinds[k].name, name, length) == 0)
            return device_open_as(context, kinds[k].operations, kinds[k].name, isa, precision, processors,
                                  index, device);
    return paritas_fail(context, PARITAS_NO_DEVICE,
                        "device '%s' is not known; there are auto, cpu, cuda[:i], metal[:i] and opencl[:i]",
                        name);
}

paritas_status device_open(paritas_context *context, const char *name, const char *isa, unsigned precision,
                           struct paritas_device **device)
{
    const paritas_status status = device_try(context, name, isa, precision, true, device);
    return status == DEVICE_ABSENT || status == DEVICE_LACKS_PRECISION ? PARITAS_NO_DEVICE : status;
}

void device_close(struct paritas_device *device)
{
    if (!device) return;
    automatic_close(device->automatic, &device->allocator);
    for (size_t k = 0; k < DEVICE_RESIDENTS; k++)
        device->operations->model_release(device, device->residents[k].handle);
    device->operations->close(device);
    const paritas_allocator allocator = device->allocator;
    paritas_release(&allocator, device);
}

uint32_t device_teams(const struct paritas_device *device)
{
    return device->automatic && device->automatic->accelerator ? device->automatic->accelerator->teams
                                                               : device->teams;
}

uint64_t device_model_serial(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

paritas_status device_launch_model(paritas_context *context, struct paritas_device *device, uint64_t serial,
                                   const struct kernel_module *module, const struct device_tables *tables,
                                   const struct device_launch *launch)
{
    if (device->automatic) return automatic_launch(context, device, serial, module, tables, launch);
    const struct device_operations *operations = device->operations;
    struct device_resident *place = &device->residents[0];
    for (size_t k = 0; k < DEVICE_RESIDENTS && place->serial != serial; k++)
        if (device->residents[k].serial == serial || device->residents[k].used < place->used)
            place = &device->residents[k];
    paritas_status status = PARITAS_OK;
    if (!device->keeps_models || place->serial != serial) {
        operations->model_release(device, place->handle);
        *place = (struct device_resident){0, 0, NULL};
        status = operations->model_upload(context, device, module, tables, &place->handle);
        if (status != PARITAS_OK) return status;
        place->serial = serial;
    }
    place->used = device->launches + 1;
    status = operations->launch(context, device, place->handle, launch);
    if (!device->keeps_models) {
        operations->model_release(device, place->handle);
        *place = (struct device_resident){0, 0, NULL};
    }
    return status;
}
