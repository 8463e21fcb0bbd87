/* device_list.c: which devices can run here, and why others cannot. */
#include "base/sized.h"
#include "base/utf8.h"
#include "device/device_plain.h"
#include "device/verdict.h"

#include <stdio.h>
#include <string.h>

#define OF_A_KIND 64             /* devices tried per kind */
#define PROBE_MILLISECONDS 60000 /* a driver may compile for long: PoCL takes 10 s on a busy machine */

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
    if (!info->f64) { /* kernels of f32 may be of another instruction set */
        snprintf(info->description, sizeof info->description, "%.*s", (int)sizeof info->description - 1,
                 device->operations->describe(device));
        snprintf(info->isa, sizeof info->isa, "%s", device->isa);
    }
    info->teams = device->teams;
    info->workers = device->team_workers;
    info->memory = device->memory;
    plain_close(device);
    return PARITAS_OK;
}

/* Drivers may name themselves by any bytes: those that are no text become question marks. */
static void make_printable(char *text)
{
    for (size_t i = 0; text[i];) {
        const size_t step = utf8_sequence((const unsigned char *)text + i, strlen(text + i));
        const bool control = (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
        if (step == 0 || control) text[i] = '?';
        i += step > 0 ? step : 1;
    }
}

/* Fills probe->info. Status DEVICE_ABSENT: there is none, and the reason holds for the kind. */
static void describe(paritas_context *context, struct probe *probe)
{
    paritas_device_info *info = &probe->info;
    const char *name = probe->name;
    const paritas_status f64 = try_device(context, name, 64, info, info->reason_f64, sizeof info->reason_f64);
    info->f64 = f64 == PARITAS_OK;
    if (context->probe) probe_tell(probe);
    const paritas_status f32 =
        f64 == DEVICE_ABSENT ? f64
                             : try_device(context, name, 32, info, info->reason_f32, sizeof info->reason_f32);
    info->f32 = f32 == PARITAS_OK;
    probe->status = f64 == DEVICE_ABSENT || f32 == DEVICE_ABSENT ? DEVICE_ABSENT : PARITAS_OK;
    if (probe->status == PARITAS_OK) return;
    if (f64 == DEVICE_ABSENT)
        memcpy(info->reason_f32, info->reason_f64, sizeof info->reason_f32);
    else
        memcpy(info->reason_f64, info->reason_f32, sizeof info->reason_f64);
    snprintf(info->name, sizeof info->name, "%.*s", (int)strcspn(name, ":"), name);
}

/* Keeps what the child found before its driver took it down; the reason stands for the rest. */
static void describe_failure(const paritas_context *context, struct probe *probe)
{
    paritas_device_info *info = &probe->info;
    char *const reasons[] = {info->reason_f64, info->reason_f32};
    const bool runs[] = {info->f64, info->f32};
    for (size_t k = 0; k < COUNT_OF(reasons); k++)
        if (!runs[k] && !*reasons[k])
            snprintf(reasons[k], sizeof info->reason_f64, "%.*s", (int)sizeof info->reason_f64 - 1,
                     context->message);
    probe->status = probe->opened ? PARITAS_OK : PARITAS_NO_DEVICE;
    if (!probe->opened) snprintf(info->name, sizeof info->name, "%s", probe->name);
}

/* Tries all of a device in a child; the CPU, and drivers that this process uses already, here. */
static void probe_device(paritas_context *context, const char *name, struct probe *probe)
{
    *probe = (struct probe){
        .name = name, .milliseconds = PROBE_MILLISECONDS, .info = PARITAS_INIT(paritas_device_info)};
    const enum probe_end end = verdict_run(context, probe, describe);
    if (end == PROBE_REFUSED) {
        probe->info = (paritas_device_info)PARITAS_INIT(paritas_device_info);
        describe(context, probe);
    } else if (end == PROBE_FAILED) {
        describe_failure(context, probe);
    }
    make_printable(probe->info.description);
}

paritas_status paritas_list_devices(paritas_context *context, size_t room, paritas_device_info *devices,
                                    size_t *count)
{
    REQUIRE(context, count);
    *count = 0;
    const paritas_status status = SIZED_CHECK(context, paritas_device_info, "devices", room, devices);
    if (status != PARITAS_OK) return status;
    struct paritas_context aside = *context; /* reasons go into the list, not the caller's message */
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        for (unsigned index = 0; index < OF_A_KIND; index++) {
            char name[sizeof devices->name];
            struct probe probe;
            snprintf(name, sizeof name, "%s:%u", paritas_device_kind_name((paritas_device_kind)kind), index);
            probe_device(&aside, name, &probe);
            if (probe.status == DEVICE_ABSENT && index > 0) break;
            if (*count < room) devices[*count] = probe.info;
            ++*count;
            if (probe.status != PARITAS_OK) break;
        }
    context->message[0] = '\0';
    return PARITAS_OK;
}
