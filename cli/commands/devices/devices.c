/* devices.c: lists devices. */
#include "commands.h"
#include "session/session.h"
#include "print/table.h"

#include <string.h>

#define DEVICES_MAX 64

/* The device's, if the same in both precisions. */
static const char *reason_of(const paritas_device_info *info)
{
    if (info->f64 && info->f32) return NULL;
    return info->f64 ? info->reason_f32 : info->reason_f64;
}

/* Without what the row shows: the name, and the vendor's name of a described row. */
static void append_reason(struct text *out, const char *reason, bool described)
{
    static const char lead[] = "device '";
    const char *quote =
        strncmp(reason, lead, sizeof lead - 1) == 0 ? strchr(reason + sizeof lead - 1, '\'') : NULL;
    const char *vendor = quote && strncmp(quote, "' (", 3) == 0 ? quote + 3 : NULL,
               *end = vendor ? strstr(vendor, "): ") : NULL;
    if (end)
        text_format(out, "%.*s%s%s", described ? 0 : (int)(end - vendor), vendor, described ? "" : ": ",
                    end + 3);
    else
        text_format(out, "%s", quote && strncmp(quote, "': ", 3) == 0 ? quote + 3 : reason);
}

static const char *precisions_of(const paritas_device_info *info)
{
    return info->f64 && info->f32 ? "f64, f32" : info->f64 ? "f64" : info->f32 ? "f32" : "none";
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void write_build(struct writer *w)
{
    const paritas_build build = paritas_library_build();
    char name[40];
    write_object(w, "build", true);
    write_array(w, "variants", false);
    for (size_t i = 0; i < build.variants; i++)
        write_string(w, NULL, paritas_library_variant(i, sizeof name, name));
    write_close(w);
    write_members(w, "cuda_kernels:z cuda_bytes:z cuda_bytes_unpacked:z", build.cuda_kernels,
                  build.cuda_bytes, build.cuda_bytes_unpacked);
    write_close(w);
}

static void append_build(struct text *out)
{
    const paritas_build build = paritas_library_build();
    text_format(out, "built: %zu variants of the CPU's kernels, %zu of CUDA's kernels", build.variants,
                build.cuda_kernels);
    if (build.cuda_kernels > 0)
        text_format(out, " (%.1f MB, unpacked %.1f MB)", (double)build.cuda_bytes / 1e6,
                    (double)build.cuda_bytes_unpacked / 1e6);
    text_format(out, "\n");
}

static void write_json(struct writer *w, size_t n, const paritas_device_info *found)
{
    write_object(w, NULL, true);
    write_array(w, "devices", true);
    for (size_t i = 0; i < n; i++) {
        const paritas_device_info *one = &found[i];
        write_row(w, "name:s usable:b f64:b f32:b reason:s description:s isa:s teams:z workers:z memory:z",
                  one->name, one->f64 || one->f32, one->f64, one->f32, reason_of(one),
                  or_null(one->description), or_null(one->isa), (size_t)one->teams, (size_t)one->workers,
                  (size_t)one->memory);
    }
    write_close(w);
    write_build(w);
    write_close(w);
}

static void write_table(struct text *out, size_t n, const paritas_device_info *found)
{
    struct table table;
    table_open(&table, out, "device|runs in|", "l l l");
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_of(&found[i]);
        const bool described = found[i].description[0] != '\0';
        struct text last;
        text_open(&last, out->allocator);
        text_format(&last, "%s%s", found[i].description, reason && described ? "; not in the other: " : "");
        if (reason) append_reason(&last, reason, described);
        text_append(&last, "", 1);
        table_row(&table, found[i].name, precisions_of(&found[i]), last.failed ? "" : last.bytes);
        out->failed = out->failed || last.failed;
        text_free(&last);
    }
    table_close(&table);
}

static int run(struct session *session)
{
    paritas_device_info *found = arena_records(session, DEVICES_MAX, sizeof *found);
    size_t n = 0;
    TRY(allocated(session));
    TRY(paritas_list_devices(session->context, DEVICES_MAX, found, &n));
    if (n > DEVICES_MAX) n = DEVICES_MAX;
    for (size_t i = 0; i < n; i++) {
        NAME_OPTIONS(NULL, found[i].reason_f64);
        NAME_OPTIONS(NULL, found[i].reason_f32);
    }
    if (session->json) {
        write_json(&session->writer, n, found);
    } else {
        write_table(&session->out, n, found);
        append_build(&session->out);
    }
    return PARITAS_OK;
}

static const struct option options[] = {
    {"--again", OPTION_FLAG, NULL,
     "try every driver and compile every kernel again, whatever the cache remembers"},
    {0},
};

const struct command command_devices = {
    .name = "devices",
    .operands = "",
    .summary = "the devices that can run, and why others cannot",
    .groups = {GROUP_OPTIONS, GROUP_OUTPUT},
    .run = run,
};
