/* accelerators_absent.c: WASI has no drivers, so every device but the CPU says that it is not there. */
#include "device/device_kind.h"

static paritas_status absent_open(paritas_context *context, struct paritas_device *device, const char *isa)
{
    (void)isa;
    return paritas_fail(context, DEVICE_ABSENT, "device '%s': a program in WebAssembly has only the CPU",
                        device->name);
}

/* of every kind; the CPU's own definition replaces it */
#define ABSENT(kind, value, word, doc) \
    __attribute__((weak)) const struct device_operations DEVICE_KIND(kind) = {.open = absent_open};
PARITAS_DEVICE_KIND_LIST(ABSENT)
