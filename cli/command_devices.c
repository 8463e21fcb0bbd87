/* command_devices.c: what can run here. */
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

/* A reason for a row of the table, which has the name already: without "device 'NAME'" in front, and without
 * what the vendor calls it where the description says so. */
static void append_reason(struct text *out, const char *reason, bool described)
{
    static const char lead[] = "device '";
    const char *quote =
        strncmp(reason, lead, sizeof lead - 1) == 0 ? strchr(reason + sizeof lead - 1, '\'') : NULL;
    const char *vendor = quote != NULL && strncmp(quote, "' (", 3) == 0 ? quote + 3 : NULL,
               *end = vendor != NULL ? strstr(vendor, "): ") : NULL;
    if (end != NULL)
        text_format(out, "%.*s%s%s", described ? 0 : (int)(end - vendor), vendor, described ? "" : ": ",
                    end + 3);
    else
        text_format(out, "%s", quote != NULL && strncmp(quote, "': ", 3) == 0 ? quote + 3 : reason);
}

static const char *precisions_of(const paritas_device_info *info)
{
    return info->f64 && info->f32 ? "f64, f32" : info->f64 ? "f64" : info->f32 ? "f32" : "none";
}

static int run(struct session *session)
{
    paritas_device_info *found = sized_records(session, DEVICES_MAX, sizeof *found);
    size_t n = 0;
    if (found == NULL) return PARITAS_OUT_OF_MEMORY;
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
        if (reason == NULL)
            table_text(&table, found[i].description);
        else {
            struct text row;
            const bool described = found[i].description[0] != '\0';
            text_open(&row, &session->context->allocator);
            text_format(&row, "%s%s", found[i].description, described ? "; not in the other: " : "");
            append_reason(&row, reason, described);
            text_append(&row, "", 1);
            table_text(&table, row.failed ? "" : row.bytes);
            session->out.failed = session->out.failed || row.failed;
            text_free(&row);
        }
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
