/* verdict.c: files of the kernel cache. */
#include "device/verdict.h"
#include "base/json/json.h"
#include "base/platform.h"
#include "device/device_plain.h"
#include "device/kernel_cache.h"
#include "device/kernel_modules.h"

#include <stdio.h>
#include <string.h>

#define IDENTITY_ROOM 4096
#define PROBE_MILLISECONDS 30000 /* a kernel may be compiled */

/* What is remembered. */
struct verdict {
    char identity[65]; /* of the drivers' files */
    bool failed, opened;
    paritas_status status;
    paritas_device_info info;
    char message[1024];
};

/* Where drivers are installed: the files of a folder, or a file. */
static const char *const places[] = {"/etc/OpenCL/vendors", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                     "/usr/lib/aarch64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
                                     "/usr/lib/wsl/lib/libcuda.so.1"};

static size_t append_file(char *text, size_t at, const char *name, const struct platform_info *info)
{
    const int length = snprintf(text + at, IDENTITY_ROOM - at, "%s %llu %llu\n", name,
                                (unsigned long long)info->size, (unsigned long long)info->number);
    return length > 0 && at + (size_t)length < IDENTITY_ROOM ? at + (size_t)length : at;
}

/* A package that is installed anew has new files. */
static void identify(char hex[65])
{
    char text[IDENTITY_ROOM];
    size_t at = 0;
    struct platform_info info;
    for (size_t k = 0; k < COUNT_OF(places); k++) {
        if (!platform_info(places[k], &info)) continue;
        at = append_file(text, at, places[k], &info);
        struct platform_folder *folder =
            info.kind == PLATFORM_FOLDER ? platform_folder_open(places[k]) : NULL;
        for (const char *name = folder ? platform_folder_next(folder) : NULL; name;
             name = platform_folder_next(folder))
            if (name[0] != '.' && platform_folder_info(folder, name, &info))
                at = append_file(text, at, name, &info);
        if (folder) platform_folder_close(folder);
    }
    sha256_of_bytes(text, at, hex);
}

/* A verdict is of one self-test. */
static bool key_of(paritas_context *context, const char *what, char key[65])
{
    char made_by[200];
    const struct kernel_module *test = &paritas_module_conformance;
    snprintf(made_by, sizeof made_by, "verdict\n%s, by %s\n", what, paritas_version());
    return context->cache &&
           kernel_cache_key(context, made_by, (const char *)test->text, *test->text_size, key);
}

/* Has the device passed its self-test in this precision? */
static bool runs_in(const paritas_device_info *info, unsigned precision)
{
    return precision == 64 ? info->f64 : precision == 32 && info->f32;
}

static bool recall(paritas_context *context, const char *key, struct verdict *verdict)
{
    char now[65];
    size_t size = 0;
    void *bytes = kernel_cache_read(context, key, &size);
    const bool whole = bytes && size == sizeof *verdict;
    if (whole) memcpy(verdict, bytes, sizeof *verdict);
    paritas_release(&context->allocator, bytes);
    if (!whole) return false;
    identify(now);
    return memcmp(now, verdict->identity, sizeof now) == 0;
}

static void remember(paritas_context *context, const char *key, const struct probe *probe, bool failed)
{
    struct verdict verdict;
    memset(&verdict, 0, sizeof verdict);
    identify(verdict.identity);
    verdict.failed = failed;
    verdict.opened = probe->opened;
    verdict.status = probe->status;
    verdict.info = probe->info;
    snprintf(verdict.message, sizeof verdict.message, "%.*s", (int)sizeof verdict.message - 1,
             failed ? context->message : "");
    kernel_cache_write(context, key, &verdict, sizeof verdict);
}

enum probe_end verdict_run(paritas_context *context, struct probe *probe,
                           void (*work)(paritas_context *context, struct probe *probe))
{
    char key[65];
    struct verdict verdict;
    if (strncmp(probe->name, "cpu", 3) == 0) return PROBE_REFUSED;
    const bool cached = key_of(context, probe->name, key),
               known = cached && !context->again && recall(context, key, &verdict),
               runs = known && runs_in(&verdict.info, probe->request.precision);
    probe->remembered = runs || (known && verdict.failed);
    if (probe->remembered) {
        probe->opened = verdict.opened;
        probe->status = runs ? PARITAS_OK : verdict.status;
        probe->info = verdict.info;
        if (runs) return PROBE_ANSWERED;
        paritas_fail(context, PARITAS_NO_DEVICE, "%s (found before; list devices with `again` to try again)",
                     verdict.message);
        return PROBE_FAILED;
    }
    const enum probe_end end = probe_run(context, probe, work);
    const bool opened = end == PROBE_ANSWERED && probe->status == PARITAS_OK;
    if (opened && known && probe->request.precision != 0) { /* what the other precision's child found */
        probe->info.f64 = probe->info.f64 || verdict.info.f64;
        probe->info.f32 = probe->info.f32 || verdict.info.f32;
    }
    if (cached && (end == PROBE_FAILED || (opened && (probe->info.f64 || probe->info.f32))))
        remember(context, key, probe, end == PROBE_FAILED);
    return end;
}

static void try_in_child(paritas_context *context, struct probe *probe)
{
    struct paritas_device *device;
    probe->status = plain_open(context, probe->name, &probe->request, &device);
    const bool runs = probe->status == PARITAS_OK;
    if (probe->request.precision == 64)
        probe->info.f64 = runs;
    else
        probe->info.f32 = runs;
    plain_close(device);
}

paritas_status verdict_open(paritas_context *context, const char *name, const struct device_request *request,
                            struct paritas_device **device, bool *news)
{
    struct probe probe = {.name = name, .milliseconds = PROBE_MILLISECONDS, .request = *request};
    *device = NULL;
    const enum probe_end end = verdict_run(context, &probe, try_in_child);
    if (news) *news = end == PROBE_FAILED && !probe.remembered;
    if (end == PROBE_FAILED) return probe.opened ? PARITAS_NO_DEVICE : DEVICE_ABSENT;
    if (end == PROBE_ANSWERED && probe.status != PARITAS_OK) return probe.status;
    return plain_open(context, name, request, device);
}

bool verdict_is_news(paritas_context *context, const char *what)
{
    char key[65];
    size_t size = 0;
    if (!key_of(context, what, key)) return true;
    void *told = kernel_cache_read(context, key, &size);
    paritas_release(&context->allocator, told);
    if (told) return false;
    kernel_cache_write(context, key, "told", 4);
    return true;
}
