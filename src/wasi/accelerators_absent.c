/* accelerators_absent.c: WASI has no drivers, so every device but the CPU says that it is not there. */
#include "device/device_kind.h"
#include "device/device_plain.h"
#include "device/verdict.h"

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

const char *paritas_driver_setting(size_t index)
{
    (void)index;
    return NULL;
}

enum probe_end verdict_run(paritas_context *context, struct probe *probe,
                           void (*work)(paritas_context *context, struct probe *probe))
{
    (void)context, (void)probe, (void)work;
    return PROBE_REFUSED;
}

paritas_status verdict_open(paritas_context *context, const char *name, const struct device_request *request,
                            struct paritas_device **device, bool *news)
{
    if (news) *news = false;
    return plain_open(context, name, request, device);
}

bool verdict_is_news(paritas_context *context, const char *what)
{
    (void)context, (void)what;
    return true;
}
