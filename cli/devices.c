/* devices.c: what can run here. */
#include "session.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

#define DEVICES_MAX 32

struct found {
    char name[32], isa[16], reason[512];
    bool usable;
};

/* Opens the device called `name` and notes what became of it. */
static void try_device(const char *name, struct found *found)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context = NULL;
    options.device = name;
    paritas_status status = paritas_open(&options, &context);
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "%s", name);
    found->usable = status == PARITAS_OK;
    if (found->usable) snprintf(found->isa, sizeof found->isa, "%s", paritas_isa_name(context));
    if (!found->usable)
        snprintf(found->reason, sizeof found->reason, "%s",
                 context != NULL ? paritas_error_message(context) : paritas_status_message(status));
    paritas_close(context);
}

static int run(struct session *session)
{
    struct found *found = arena_array(&session->arena, DEVICES_MAX, sizeof *found);
    if (found == NULL) return paritas_fail_memory(session->context);
    size_t n = 0;
    try_device("cpu", &found[n++]);
    /* OpenCL devices are numbered without gaps: the first that cannot be opened ends the list, and is shown if it is the only one */
    for (unsigned i = 0; n < DEVICES_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "opencl:%u", i);
        try_device(name, &found[n]);
        if (!found[n].usable && i > 0) break;
        if (!found[n++].usable) break;
    }
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_array(w, "devices", true);
        for (size_t i = 0; i < n; i++) {
            write_object(w, NULL, false);
            write_string(w, "name", found[i].name);
            write_bool(w, "usable", found[i].usable);
            write_string(w, "reason", found[i].usable ? NULL : found[i].reason);
            write_string(w, "isa", found[i].isa[0] != '\0' ? found[i].isa : NULL);
            write_close(w);
        }
        write_close(w);
        write_close(w);
        return PARITAS_OK;
    }
    struct table table;
    table_open(&table, &session->context->allocator, "device|usable|", "lll");
    for (size_t i = 0; i < n; i++) {
        table_text(&table, found[i].name);
        table_text(&table, found[i].usable ? "yes" : "no");
        table_text(&table, found[i].usable ? found[i].isa : found[i].reason);
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
