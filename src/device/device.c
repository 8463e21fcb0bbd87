/* device.c: front door to plain devices and "auto". */
#include "device/device.h"
#include "device/device_automatic.h"
#include "device/device_plain.h"
#include "device/verdict.h"

#include <stdatomic.h>
#include <string.h>

paritas_status device_open(paritas_context *context, const char *name, const struct device_request *request,
                           struct paritas_device **device)
{
    char lower[64]; /* names are lower case, and are found in any case */
    if (!name) name = "cpu";
    if (strlen(name) < sizeof lower) {
        size_t i = 0;
        for (; name[i] != '\0'; i++)
            lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
        lower[i] = '\0';
        name = lower;
    }
    if (strcmp(name, "auto") == 0) return automatic_open(context, request, device);
    /* the cache remembers what a child found, so a driver is tried once, not by every command */
    return context->cache ? verdict_open(context, name, request, device, NULL)
                          : plain_open(context, name, request, device);
}

paritas_status device_status(paritas_status status)
{
    return status == DEVICE_ABSENT || status == DEVICE_LACKS_PRECISION ? PARITAS_NO_DEVICE : status;
}

void device_close(struct paritas_device *device)
{
    if (!device) return;
    automatic_close(device->automatic, &device->allocator);
    plain_close(device);
}

const char *device_name(const struct paritas_device *device)
{
    return device->automatic ? device->automatic->name : device->name;
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

paritas_status device_launch(paritas_context *context, struct paritas_device *device,
                             const struct device_model *model, const struct device_launch *launch)
{
    return device->automatic ? automatic_launch(context, device, model, launch)
                             : plain_launch(context, device, model, launch);
}
