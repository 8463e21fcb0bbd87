/* context_open.c: opens and closes contexts. */
#include "device/device.h"
#include "base/platform.h"
#include "base/sized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *malloc_allocate(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}
static void *malloc_reallocate(void *user, void *memory, size_t size)
{
    (void)user;
    return realloc(memory, size);
}
static void malloc_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static paritas_status take_options(struct paritas_context *opened, const paritas_options *options)
{
    opened->progress = options->progress;
    opened->progress_user = options->progress_user;
    opened->note = options->note;
    opened->note_user = options->note_user;
    opened->lanes = options->lanes;
    opened->workers = options->workers;
    opened->precision =
        options->precision && options->precision != PARITAS_PRECISION_AUTO ? options->precision : 64;
    opened->no_polish = options->no_polish != 0;
    opened->again = options->again != 0;
    if (opened->precision != 64 && opened->precision != 32)
        return paritas_refuse(opened, "`precision` %u: there are 64, 32 and PARITAS_PRECISION_AUTO",
                              opened->precision);
    if (options->lanes > 16 || (options->lanes & (options->lanes - 1)) != 0)
        return paritas_refuse(opened, "`lanes` %u: there are 1, 2, 4, 8 and 16", options->lanes);
    if (options->cache && options->cache[0]) {
        opened->cache = paritas_allocate(opened, strlen(options->cache) + 1, 1);
        if (!opened->cache) return paritas_fail_memory(opened);
        memcpy(opened->cache, options->cache, strlen(options->cache) + 1);
    }
    opened->threads = options->threads ? options->threads : platform_processors();
    if (opened->threads > 256) opened->threads = 256;
    return PARITAS_OK;
}

/* Nobody chose f32 here, so that is said. */
static void note_f32(paritas_context *opened)
{
    paritas_note_of_device(opened, "device '%s' has no arithmetic in f64: it runs in f32%s",
                           device_name(opened->device),
                           opened->no_polish ? "" : ", and fits of HistFactory models are polished in f64");
}

/* Opens the chosen device: f32 if the precision is open and f64 is slow or missing. */
static paritas_status open_device(struct paritas_context *opened, const paritas_options *options)
{
    struct device_request request = {.isa = options->isa,
                                     .precision = opened->precision,
                                     .threads = opened->threads,
                                     .workers = opened->workers,
                                     .stream = options->stream};
    paritas_status status = device_open(opened, options->device, &request, &opened->device);
    const bool lacks_f64 = status == DEVICE_LACKS_PRECISION,
               slow_f64 = status == PARITAS_OK && opened->device->slow_f64;
    if (options->precision == PARITAS_PRECISION_AUTO ? lacks_f64 || slow_f64
                                                     : options->precision == 0 && lacks_f64) {
        struct paritas_device *instead = NULL;
        request.precision = 32;
        const paritas_status found = device_open(opened, options->device, &request, &instead);
        if (found == PARITAS_OK) {
            device_close(opened->device);
            opened->device = instead;
            opened->precision = 32;
        }
        if (status != PARITAS_OK) status = found;
    }
    if (status != PARITAS_OK) return device_status(status);
    opened->message[0] = '\0';
    if (lacks_f64 && options->precision == 0) note_f32(opened);
    if (options->stream && !opened->device->takes_stream && !opened->device->automatic)
        return paritas_refuse(opened, "`stream`: device '%s' has none, only CUDA devices have",
                              opened->device->name);
    return PARITAS_OK;
}

/* Opens the f64 CPU for covariances and polish. */
static paritas_status open_host(struct paritas_context *opened, const paritas_options *options)
{
    const struct device_request request = {
        .isa = options->isa, .precision = 64, .threads = opened->threads, .workers = opened->workers};
    if (opened->precision == 64 && opened->device->operations == &DEVICE_KIND(PARITAS_DEVICE_CPU)) {
        opened->host = opened->device;
        return PARITAS_OK;
    }
    return device_status(device_open(opened, "cpu", &request, &opened->host));
}

const char *paritas_cache_folder(const char *paritas_cache, const char *xdg_cache_home, const char *home,
                                 size_t room, char *path)
{
    const bool xdg = xdg_cache_home && platform_is_absolute(xdg_cache_home);
    const char *const base = xdg ? xdg_cache_home : home && platform_is_absolute(home) ? home : NULL;
    if (!path || !(paritas_cache ? *paritas_cache : base != NULL)) return NULL;
    const int length = paritas_cache ? snprintf(path, room, "%s", paritas_cache)
                                     : snprintf(path, room, "%s%s/paritas", base, xdg ? "" : PLATFORM_CACHES);
    return length >= 0 && (size_t)length < room ? path : NULL;
}

paritas_status paritas_open(const paritas_options *given, paritas_context **context)
{
    if (!context) return PARITAS_INVALID_ARGUMENT;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    struct paritas_context refused = {0}; /* holds the message until a context exists */
    paritas_status status = SIZED_TAKE(&refused, paritas_options, "options", given, &options);
    const paritas_allocator standard = {malloc_allocate, malloc_reallocate, malloc_release, NULL};
    const paritas_allocator allocator = options.allocator ? *options.allocator : standard;
    struct paritas_context *opened = allocator.allocate(allocator.user, sizeof *opened);
    *context = opened;
    if (!opened) return PARITAS_OUT_OF_MEMORY;
    memset(opened, 0, sizeof *opened);
    opened->allocator = allocator;
    opened->standard_memory = !options.allocator;
    memcpy(opened->message, refused.message, sizeof opened->message);
    if (status == PARITAS_OK) status = take_options(opened, &options);
    if (status == PARITAS_OK) status = open_device(opened, &options);
    return status == PARITAS_OK ? open_host(opened, &options) : status;
}

void paritas_close(paritas_context *context)
{
    if (!context) return;
    if (context->host != context->device) device_close(context->host);
    device_close(context->device);
    const paritas_allocator allocator = context->allocator;
    paritas_release(&allocator, context->cache);
    allocator.release(allocator.user, context);
}

const char *paritas_device_name(const paritas_context *context)
{
    return context && context->device ? device_name(context->device) : "";
}
const char *paritas_device_description(const paritas_context *context)
{
    return context && context->device ? context->device->operations->describe(context->device) : "";
}
const char *paritas_isa_name(const paritas_context *context)
{
    return context && context->device ? context->device->isa : "";
}
const char *paritas_precision_name(const paritas_context *context)
{
    return context && context->precision == 32 ? "f32" : "f64";
}
const paritas_work *paritas_work_done(const paritas_context *context)
{
    return context ? &context->work : NULL;
}
const char *paritas_polish_name(const paritas_context *context)
{
    return context && context->precision == 32 && !context->no_polish ? "f64" : "none";
}
