/* device_list.c: which devices can run here, and why others cannot. */
#include "base/sized.h"
#include "device/device_plain.h"

#include <stdio.h>
#include <string.h>

#define OF_A_KIND 64 /* devices tried per kind */

/* A failure fills `reason`. */
static paritas_status try_device(paritas_context *context, const char *name, unsigned precision,
                                 paritas_device_info *info, char *reason, size_t room)
{
    const struct device_request request = {
        .precision = precision, .threads = context->threads, .workers = context->workers};
    struct paritas_device *device = NULL;
    const paritas_status status = plain_open(context, name, &request, &device);
    if (status != PARITAS_OK) {
        snprintf(reason, room, "%.*s", (int)room - 1, context->message);
        return status;
    }
    snprintf(info->name, sizeof info->name, "%s", device->name);
    snprintf(info->description, sizeof info->description, "%.*s", (int)sizeof info->description - 1,
             device->operations->describe(device));
    snprintf(info->isa, sizeof info->isa, "%s", device->isa);
    plain_close(device);
    return PARITAS_OK;
}

/* False: none; the reason holds for the kind. */
static bool describe(paritas_context *context, const char *kind, unsigned index, paritas_device_info *info)
{
    char name[sizeof info->name];
    snprintf(name, sizeof name, "%s:%u", kind, index);
    const paritas_status f64 = try_device(context, name, 64, info, info->reason_f64, sizeof info->reason_f64);
    const paritas_status f32 =
        f64 == DEVICE_ABSENT ? f64
                             : try_device(context, name, 32, info, info->reason_f32, sizeof info->reason_f32);
    info->f64 = f64 == PARITAS_OK;
    info->f32 = f32 == PARITAS_OK;
    if (f64 != DEVICE_ABSENT && f32 != DEVICE_ABSENT) return true;
    if (f64 == DEVICE_ABSENT)
        memcpy(info->reason_f32, info->reason_f64, sizeof info->reason_f32);
    else
        memcpy(info->reason_f64, info->reason_f32, sizeof info->reason_f64);
    snprintf(info->name, sizeof info->name, "%s", kind);
    return false;
}

paritas_status paritas_list_devices(paritas_context *context, size_t room, paritas_device_info *devices,
                                    size_t *count)
{
    *count = 0;
    const paritas_status status = SIZED_CHECK(context, paritas_device_info, "devices", room, devices);
    if (status != PARITAS_OK) return status;
    struct paritas_context aside = *context; /* reasons go into the list, not the caller's message */
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        for (unsigned index = 0; index < OF_A_KIND; index++) {
            paritas_device_info info = PARITAS_INIT(paritas_device_info);
            const bool there =
                describe(&aside, paritas_device_kind_name((paritas_device_kind)kind), index, &info);
            if (!there && index > 0) break;
            if (*count < room) devices[*count] = info;
            ++*count;
            if (!there) break;
        }
    context->message[0] = '\0';
    return PARITAS_OK;
}
