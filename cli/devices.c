/* devices.c: what can run here. */
#include "session.h"
#include "table.h"

#include <string.h>

#define DEVICES_MAX 64

/* Where a reason is the same in both precisions, it is the device's. */
static const char *reason_of(const paritas_device_info *info)
{
    if (info->f64 && info->f32) return NULL;
    return info->f64 ? info->reason_f32 : info->reason_f64;
}

static const char *precisions_of(const paritas_device_info *info)
{
    return info->f64 && info->f32 ? "f64, f32" : info->f64 ? "f64" : info->f32 ? "f32" : "none";
}

static int run(struct session *session)
{
    paritas_device_info *found = arena_array(&session->arena, DEVICES_MAX, sizeof *found);
    size_t n = 0;
    if (found == NULL) return paritas_fail_memory(session->context);
    const paritas_status status = paritas_list_devices(session->context, DEVICES_MAX, found, &n);
    if (status != PARITAS_OK) return status;
    if (n > DEVICES_MAX) n = DEVICES_MAX;
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_array(w, "devices", true);
        for (size_t i = 0; i < n; i++) {
            write_object(w, NULL, false);
            write_string(w, "name", found[i].name);
            write_bool(w, "usable", found[i].f64 || found[i].f32);
            write_bool(w, "f64", found[i].f64);
            write_bool(w, "f32", found[i].f32);
            write_string(w, "reason", reason_of(&found[i]));
            write_string(w, "description", found[i].description[0] != '\0' ? found[i].description : NULL);
            write_string(w, "isa", found[i].isa[0] != '\0' ? found[i].isa : NULL);
            write_close(w);
        }
        write_close(w);
        write_close(w);
        return PARITAS_OK;
    }
    struct table table;
    table_open(&table, &session->context->allocator, "device|runs in|", "lll");
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_of(&found[i]);
        table_text(&table, found[i].name);
        table_text(&table, precisions_of(&found[i]));
        if (reason == NULL) table_text(&table, found[i].description);
        else table_format(&table, "%s%s%s", found[i].description, found[i].description[0] != '\0' ? "; not in the other: " : "", reason);
    }
    table_close(&table, &session->out);
    return PARITAS_OK;
}

const struct command command_devices = {
    .name = "devices",
    .operands = "",
    .operands_min = 0,
    .operands_max = 0,
    .summary = "the devices that can run, and why others cannot",
    .groups = {GROUP_OUTPUT, GROUP_END},
    .run = run,
};
