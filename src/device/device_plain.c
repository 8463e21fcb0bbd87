/* device_plain.c: names, self-test and resident models of a device. */
#include "device/device_plain.h"
#include "device/device_self_test.h"
#include "device/probe.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const struct device_operations *operations;
} kinds[DEVICE_KINDS] = {
#define KIND(kind, value, word, doc) {word, &DEVICE_KIND(kind)},
    PARITAS_DEVICE_KIND_LIST(KIND)
#undef KIND
};

/* "opencl:12" into kind and index (default 0). *kind: DEVICE_KINDS if unknown. */
static paritas_status read_name(paritas_context *context, const char *name, size_t *kind, unsigned *index)
{
    const char *colon = strchr(name, ':'), *digit = colon ? colon + 1 : "0";
    const size_t length = colon ? (size_t)(colon - name) : strlen(name), digits = strlen(digit);
    if (digits < 1 || digits > 4 || strspn(digit, "0123456789") != digits)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': what follows the colon must be a number", name);
    for (*index = 0; *digit; digit++) *index = 10 * *index + (unsigned)(*digit - '0');
    for (*kind = 0; *kind < DEVICE_KINDS; ++*kind)
        if (strlen(kinds[*kind].name) == length && strncmp(kinds[*kind].name, name, length) == 0) break;
    return PARITAS_OK;
}

static paritas_status fail_unknown(paritas_context *context, const char *name)
{
    char known[200] = "auto";
    for (size_t k = 0; k < DEVICE_KINDS; k++) {
        const size_t length = strlen(known);
        const char *comma = k + 1 < DEVICE_KINDS ? "," : " and", *number = k > 0 ? "[:i]" : "";
        snprintf(known + length, sizeof known - length, "%s %s%s", comma, kinds[k].name, number);
    }
    return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' is not known; there are %s", name, known);
}

paritas_status plain_open(paritas_context *context, const char *name, const struct device_request *request,
                          struct paritas_device **device)
{
    size_t kind = DEVICE_KINDS;
    unsigned index = 0;
    *device = NULL;
    const paritas_status status = read_name(context, name, &kind, &index);
    if (status != PARITAS_OK) return status;
    return kind < DEVICE_KINDS
               ? plain_open_as(context, kinds[kind].operations, kinds[kind].name, index, request, device)
               : fail_unknown(context, name);
}

/* Tests every kernel it may use, also for few teams. */
static paritas_status test_device(paritas_context *context, struct paritas_device *device)
{
    const bool is_reference = device->operations == &DEVICE_KIND(PARITAS_DEVICE_CPU);
    paritas_status status = is_reference ? PARITAS_OK : self_test_run(context, device, false);
    if (status == PARITAS_OK && device->large_teams) status = self_test_run(context, device, true);
    device->uploads = device->builds = device->launches = 0; /* the self-test's do not count */
    return status;
}

paritas_status plain_open_as(paritas_context *context, const struct device_operations *operations,
                             const char *kind, unsigned index, const struct device_request *request,
                             struct paritas_device **device)
{
    *device = NULL;
    struct paritas_device *opened = paritas_allocate_clear(context, 1, sizeof *opened);
    if (!opened) return paritas_fail_memory(context);
    opened->operations = operations;
    opened->allocator = context->allocator;
    opened->threads = request->threads;
    opened->precision = request->precision;
    opened->workers = request->workers;
    opened->stream = request->stream;
    opened->index = index;
    if (operations == &DEVICE_KIND(PARITAS_DEVICE_CPU) && index == 0)
        snprintf(opened->name, sizeof opened->name, "%s", kind);
    else
        snprintf(opened->name, sizeof opened->name, "%s:%u", kind, index);
    paritas_status status = operations->open(context, opened, request->isa);
    if (status != PARITAS_OK) {
        paritas_release(&context->allocator, opened);
        return status;
    }
    if (context->probe) probe_opened(context->probe, opened);
    if (opened->is_processor && request->no_processor)
        status = paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): it is a processor", opened->name,
                              operations->describe(opened));
    if (status == PARITAS_OK) status = test_device(context, opened);
    if (status == PARITAS_OK)
        *device = opened;
    else
        plain_close(opened);
    return status;
}

void plain_close(struct paritas_device *device)
{
    if (!device) return;
    for (size_t k = 0; k < DEVICE_RESIDENTS; k++)
        device->operations->model_release(device, device->residents[k].handle);
    device->operations->close(device);
    const paritas_allocator allocator = device->allocator;
    paritas_release(&allocator, device);
}

static void forget(struct paritas_device *device, struct device_resident *place)
{
    device->operations->model_release(device, place->handle);
    *place = (struct device_resident){0, 0, NULL};
}

paritas_status plain_launch(paritas_context *context, struct paritas_device *device,
                            const struct device_model *model, const struct device_launch *launch)
{
    const struct device_operations *operations = device->operations;
    struct device_resident *place = &device->residents[0];
    for (size_t k = 0; k < DEVICE_RESIDENTS && place->serial != model->serial; k++)
        if (device->residents[k].serial == model->serial || device->residents[k].used < place->used)
            place = &device->residents[k];
    if (!device->keeps_models || place->serial != model->serial) {
        forget(device, place);
        const paritas_status status =
            operations->model_upload(context, device, model->module, &model->tables, &place->handle);
        if (status != PARITAS_OK) return status;
        place->serial = model->serial;
    }
    place->used = device->launches + 1;
    const paritas_status status = operations->launch(context, device, place->handle, launch);
    if (!device->keeps_models) forget(device, place);
    return status;
}
