/* list.c: what can run here, and why what is there cannot. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#define OF_A_KIND 64 /* devices of one kind that are asked for */

/* Opens a device in one precision and notes what became of it; 1: it can run. */
static int try_device(paritas_context *context, unsigned precision, paritas_device_info *info, char *reason, size_t room)
{
    struct paritas_device *device = NULL;
    if (device_open(context, info->name, NULL, precision, &device) != PARITAS_OK) {
        snprintf(reason, room, "%.*s", (int)room - 1, context->message);
        return 0;
    }
    snprintf(info->description, sizeof info->description, "%.*s", (int)sizeof info->description - 1, device->operations->describe(device));
    snprintf(info->isa, sizeof info->isa, "%s", device->isa);
    device_close(device);
    return 1;
}

paritas_status paritas_list_devices(paritas_context *context, size_t room, paritas_device_info *devices, size_t *count)
{
    *count = 0;
    for (size_t k = 0; device_kind(k); k++)
        for (unsigned index = 0; index < OF_A_KIND; index++) {
            const char *kind = device_kind(k);
            paritas_device_info info;
            memset(&info, 0, sizeof info);
            if (strcmp(kind, "cpu") == 0 && index == 0) snprintf(info.name, sizeof info.name, "%s", kind);
            else snprintf(info.name, sizeof info.name, "%s:%u", kind, index);
            info.f64 = try_device(context, 64, &info, info.reason_f64, sizeof info.reason_f64);
            const bool absent_f64 = !info.f64 && context->absent;
            if (!absent_f64) info.f32 = try_device(context, 32, &info, info.reason_f32, sizeof info.reason_f32);
            const bool absent = absent_f64 || (!info.f64 && !info.f32 && context->absent);
            if (absent && index > 0) break;
            if (absent) { /* one reason for both: that there is none */
                char *const from = absent_f64 ? info.reason_f64 : info.reason_f32, *const to = absent_f64 ? info.reason_f32 : info.reason_f64;
                memcpy(to, from, sizeof info.reason_f64);
                snprintf(info.name, sizeof info.name, "%s", kind);
            }
            if (*count < room) devices[*count] = info;
            ++*count;
            if (absent) break;
        }
    context->message[0] = '\0';
    return PARITAS_OK;
}
