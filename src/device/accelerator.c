/* accelerator.c: accelerator.h's devices. Host memory is from the context's allocator, except the
 * driver's. */
#include "device/accelerator.h"
#include "device/device_precision.h"
#include "base/dynamic_library.h"
#include "base/platform.h"
#include "device/kernel_cache.h"
#include "device/kernel_source.h"
#include "device/probe.h"

#include <stdio.h>
#include <string.h>

#define SLABS_SHARE 2     /* one part in so many of the device's memory */
#define LOG_SHOWN 1500    /* bytes of log in a message */
#define PIECE_SECONDS 0.5 /* of jobs that may take long */

struct accelerator_model {
    const struct kernel_module *module;
    void *ints, *reals;
};

static const struct accelerator_code *find_code(const struct accelerator *accelerator, int code)
{
    static const struct accelerator_code unknown = {0, false, NULL};
    const struct accelerator_code *known = accelerator->operations->codes;
    while (known->words && known->code != code) known++;
    return known->words ? known : &unknown;
}

static bool memory_ran_out(const struct accelerator *accelerator, int code)
{
    return find_code(accelerator, code)->no_memory;
}

static paritas_status status_of(const struct accelerator *accelerator, int code)
{
    return memory_ran_out(accelerator, code) ? PARITAS_OUT_OF_MEMORY : PARITAS_NO_DEVICE;
}

paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code)
{
    const char *words = find_code(accelerator, code)->words;
    return paritas_fail(context, status_of(accelerator, code), "device '%s': %s failed with code %d%s%s%s",
                        accelerator->device->name, what, code, words ? " (" : "", words ? words : "",
                        words ? ")" : "");
}

paritas_status accelerator_check(paritas_context *context, const struct accelerator *accelerator,
                                 const char *what, int code)
{
    return code == 0 ? PARITAS_OK : accelerator_fail(context, accelerator, what, code);
}

paritas_status accelerator_refuse(const struct accelerator_build *build, const char *who, int code, char *log)
{
    const struct accelerator *accelerator = build->accelerator;
    const char *words = find_code(accelerator, code)->words;
    char number[100] = "";
    if (code != 0)
        snprintf(number, sizeof number, " (code %d%s%s)", code, words ? ", " : "", words ? words : "");
    for (char *c = log; c && *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r') *c = ' ';
    return paritas_fail(build->context, status_of(accelerator, code),
                        "device '%s' (%s): %s refuses kernel %s%s: %.*s", accelerator->device->name,
                        accelerator->properties.name, who, build->entry, number, LOG_SHOWN,
                        log && *log ? log : "it does not say why");
}

paritas_status accelerator_absent(paritas_context *context, const struct accelerator *accelerator,
                                  const char *interface, unsigned count)
{
    const char *name = accelerator->device->name;
    if (count == 0)
        return paritas_fail(context, DEVICE_ABSENT, "device '%s': there is no %s device", name, interface);
    return paritas_fail(context, DEVICE_ABSENT, "device '%s': there %s %u %s device%s", name,
                        count == 1 ? "is" : "are", count, interface, count == 1 ? "" : "s");
}

paritas_status accelerator_lacks_f64(paritas_context *context, const struct accelerator *accelerator)
{
    return paritas_fail(context, DEVICE_LACKS_PRECISION,
                        "device '%s': it has no arithmetic in f64; `precision` may be f32 or auto",
                        accelerator->device->name);
}

/* Finds the interface's functions; DEVICE_ABSENT if one is missing. */
static paritas_status find_functions(paritas_context *context, const struct accelerator *accelerator)
{
    const struct accelerator_libraries *libraries = accelerator->operations->libraries;
    if (!libraries) return PARITAS_OK;
    const char *device = accelerator->device->name, *hint = libraries->hint;
    const char *const instead[] = {libraries->instead ? *libraries->instead : NULL, NULL};
    const char *const *names = instead[0] ? instead : libraries->names, *const *name = names;
    if (!names[0]) return paritas_fail(context, DEVICE_ABSENT, "device '%s': %s", device, hint);
    const int kind = (int)strcspn(device, ":"); /* the reason holds for the whole kind */
    struct probe *probe = context->probe;
    void *opened[ACCELERATOR_LIBRARIES_MAX];
    size_t n = 0;
    for (; *name; name++) {
        if (probe && !probe->loaded && library_is_open(*name)) probe->inherited = true;
        void *library = library_open(*name);
        if (library) opened[n++] = library;
        if (libraries->all == !library) break; /* one is enough, or a required one is missing */
    }
    if (probe && probe->inherited) return DEVICE_ABSENT; /* of no use after a fork */
    if (probe) probe->loaded = true;
    if (libraries->all ? *name != NULL : n == 0)
        return paritas_fail(context, DEVICE_ABSENT, "device '%.*s': %s %s%s%s%s", kind, device,
                            libraries->all ? *name : names[0],
                            libraries->all ? "cannot be opened" : "is not installed", hint ? " (" : "",
                            hint ? hint : "", hint ? ")" : "");
    const char *missing = library_find_all(opened, n, libraries->functions, accelerator->state);
    return missing ? paritas_fail(context, DEVICE_ABSENT, "device '%.*s': %s is not in the installed library",
                                  kind, device, missing)
                   : PARITAS_OK;
}

/* ---- primitives ---- */

static int enter(struct accelerator *accelerator)
{
    return accelerator->operations->enter ? accelerator->operations->enter(accelerator) : 0;
}

static void leave(struct accelerator *accelerator)
{
    if (accelerator->operations->leave) accelerator->operations->leave(accelerator);
}

#define CALL(accelerator, code, call) \
    do {                              \
        (code) = enter(accelerator);  \
        if ((code) != 0) break;       \
        (code) = (call);              \
        leave(accelerator);           \
    } while (0)

static void release(struct accelerator *accelerator, void *memory)
{
    if (!memory || enter(accelerator) != 0) return;
    accelerator->operations->release(accelerator, memory);
    leave(accelerator);
}

static void unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    if (kernel->function && enter(accelerator) == 0) {
        accelerator->operations->unload(accelerator, kernel);
        leave(accelerator);
    }
    *kernel = (struct accelerator_kernel){NULL, NULL, 0, 0};
}

static paritas_status load(const struct accelerator_build *build, const void *binary, size_t size,
                           struct accelerator_kernel *kernel)
{
    struct accelerator *accelerator = build->accelerator;
    TRY(accelerator_check(build->context, accelerator, "loading a kernel", enter(accelerator)));
    const paritas_status status = accelerator->operations->load(build, binary, size, kernel);
    leave(accelerator);
    return status;
}

/* ---- entries ---- */

static uint32_t teams_of(const struct device_launch *launch)
{
    const uint32_t share = launch->share ? launch->share : 1;
    return launch->rows / share + (launch->rows % share != 0);
}

/* The loaded entries of a module; NULL: too many modules. */
static struct accelerator_module *module_of(struct accelerator *accelerator,
                                            const struct kernel_module *module)
{
    for (size_t k = 0; k < ACCELERATOR_MODULES_MAX; k++) {
        if (!accelerator->modules[k].module) accelerator->modules[k].module = module;
        if (accelerator->modules[k].module == module) return &accelerator->modules[k];
    }
    return NULL;
}

/* `key`: of the cache, or NULL. */
static paritas_status compile(const struct accelerator_build *build, const char *key,
                              struct accelerator_kernel *kernel)
{
    paritas_context *context = build->context;
    struct accelerator *accelerator = build->accelerator;
    void *binary = NULL;
    size_t size = 0;
    if (!accelerator->told) { /* may take as long as the rest */
        const bool kept = key && kernel_cache_writable(context);
        accelerator->told = true;
        paritas_note_of_device(context, "device %s: compiling kernels%s%s", accelerator->device->name,
                               kept ? ", which the next run finds in " : "", kept ? context->cache : "");
    }
    TRY(accelerator_check(context, accelerator, "compiling a kernel", enter(accelerator)));
    paritas_status status = accelerator->operations->compile(build, &binary, &size);
    leave(accelerator);
    if (status != PARITAS_OK) return status;
    accelerator->device->builds++;
    status = load(build, binary, size, kernel);
    if (status == PARITAS_OK && key) kernel_cache_write(context, key, binary, size);
    paritas_release(&context->allocator, binary);
    return status;
}

/* The key of a compiled kernel in the cache. False: out of memory. */
static bool cache_key(const struct accelerator_build *build, char key[65])
{
    const struct accelerator_properties *properties = &build->accelerator->properties;
    char options[512], made_by[sizeof options + sizeof *properties];
    build->accelerator->operations->options(build, options, sizeof options);
    snprintf(made_by, sizeof made_by, "%s\n%s\n%s\n", properties->name, properties->versions, options);
    return kernel_cache_key(build->context, made_by, build->text, build->text_size, key);
}

/* Takes a kernel from the cache. Compiles it if it is not there, or is refused. */
static paritas_status obtain(const struct accelerator_build *build, struct accelerator_kernel *kernel)
{
    paritas_context *context = build->context;
    char key[65];
    size_t size = 0;
    if (!build->accelerator->operations->compile) {
        build->accelerator->device->builds++;
        return load(build, NULL, 0, kernel);
    }
    const bool cached = context->cache && cache_key(build, key);
    void *binary = cached ? kernel_cache_read(context, key, &size) : NULL;
    if (binary) {
        const paritas_status status = load(build, binary, size, kernel);
        paritas_release(&context->allocator, binary);
        if (status == PARITAS_OK || status == PARITAS_OUT_OF_MEMORY) return status;
    }
    return compile(build, cached ? key : NULL, kernel);
}

static paritas_status load_entry(paritas_context *context, struct accelerator *accelerator,
                                 const struct kernel_module *module, unsigned entry, unsigned workers,
                                 struct accelerator_kernel *kernel)
{
    const struct kernel_source source = {.dialect = accelerator->operations->dialect,
                                         .dialect_size = *accelerator->operations->dialect_size,
                                         .module = module->text,
                                         .module_size = *module->text_size,
                                         .entry = module->entries[entry],
                                         .precision = accelerator->device->precision,
                                         .workers = workers};
    const size_t size = kernel_source_join(&source, NULL);
    char *text = paritas_allocate(context, size + 1, 1);
    if (!text) return paritas_fail_memory(context);
    kernel_source_join(&source, text);
    const struct accelerator_build build = {context,      accelerator,      text,   size,
                                            source.entry, source.precision, workers};
    const paritas_status status = obtain(&build, kernel);
    kernel->workers = workers;
    if (status != PARITAS_OK) *kernel = (struct accelerator_kernel){NULL, NULL, 0, 0};
    paritas_release(&context->allocator, text);
    return status;
}

/* Smaller teams if registers run out; a requested size is kept or refused. */
static paritas_status load_fitting(paritas_context *context, struct accelerator *accelerator,
                                   const struct kernel_module *module, unsigned entry, unsigned workers,
                                   struct accelerator_kernel *kernel)
{
    const struct paritas_device *device = accelerator->device;
    paritas_status status = load_entry(context, accelerator, module, entry, workers, kernel);
    while (status == PARITAS_OK && workers > kernel->workers_most && workers > 1) {
        const size_t most = kernel->workers_most;
        unload(accelerator, kernel);
        if (device->workers)
            return paritas_refuse(context, "`workers` %u: device '%s' takes at most %zu for %s",
                                  device->workers, device->name, most, module->entries[entry]);
        workers /= 2;
        status = load_entry(context, accelerator, module, entry, workers, kernel);
    }
    return status;
}

static paritas_status prepare_entry(paritas_context *context, struct accelerator *accelerator,
                                    const struct kernel_module *module, const struct device_launch *launch,
                                    struct accelerator_kernel **prepared)
{
    struct accelerator_properties *properties = &accelerator->properties;
    struct accelerator_module *loaded = module_of(accelerator, module);
    if (!loaded)
        return paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                            "device '%s': more than %d model families at once", accelerator->device->name,
                            ACCELERATOR_MODULES_MAX);
    if (properties->workers_alone > properties->workers && teams_of(launch) < properties->units &&
        !launch->usual_teams) {
        *prepared = &loaded->alone[launch->entry];
        if ((*prepared)->function) return PARITAS_OK;
        const paritas_status status =
            load_fitting(context, accelerator, module, launch->entry, properties->workers_alone, *prepared);
        if (status == PARITAS_OK || status == PARITAS_OUT_OF_MEMORY) return status;
        /* use ordinary teams: embedded kernels exist only for those */
        properties->workers_alone = 0;
    }
    *prepared = &loaded->kernels[launch->entry];
    return (*prepared)->function
               ? PARITAS_OK
               : load_fitting(context, accelerator, module, launch->entry, properties->workers, *prepared);
}

/* ---- memory ---- */

static void release_buffer(struct accelerator *accelerator, struct accelerator_buffer *buffer)
{
    release(accelerator, buffer->memory);
    *buffer = (struct accelerator_buffer){NULL, 0};
}

/* If memory runs out, frees the slabs: the largest part, and launches can do with fewer. */
static int allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    const struct accelerator_operations *operations = accelerator->operations;
    int code;
    CALL(accelerator, code, operations->allocate(accelerator, bytes, memory));
    if (code != 0 && memory_ran_out(accelerator, code) && accelerator->slabs.memory) {
        release_buffer(accelerator, &accelerator->slabs);
        CALL(accelerator, code, operations->allocate(accelerator, bytes, memory));
    }
    if (code != 0) *memory = NULL;
    return code;
}

/* Makes a buffer large enough; its contents are lost. */
static int reserve(struct accelerator *accelerator, struct accelerator_buffer *buffer, size_t bytes)
{
    if (bytes < sizeof(uint64_t)) bytes = sizeof(uint64_t);
    if (buffer->bytes >= bytes) return 0;
    release_buffer(accelerator, buffer);
    const int code = allocate(accelerator, bytes, &buffer->memory);
    if (code == 0) buffer->bytes = bytes;
    return code;
}

/* ---- opening and closing ---- */

static paritas_status take_properties(paritas_context *context, struct accelerator *accelerator)
{
    struct accelerator_properties *properties = &accelerator->properties;
    struct paritas_device *device = accelerator->device;
    const unsigned most = properties->workers_most;
    if (device->workers > most)
        return paritas_refuse(context, "`workers` %u: device '%s' takes at most %u", device->workers,
                              device->name, most);
    if (device->workers) {
        properties->workers = device->workers;
        properties->workers_alone = 0;
    }
    while (properties->workers > 1 && properties->workers > most) properties->workers /= 2;
    if (properties->workers_alone > most) properties->workers_alone = 0;
    device->large_teams = properties->workers_alone > properties->workers;
    device->is_processor = properties->is_processor;
    device->slow_f64 = properties->slow_f64;
    device->teams = (properties->units ? properties->units : 1) *
                    (properties->teams_per_unit ? properties->teams_per_unit : 1);
    device->team_workers = properties->workers;
    device->memory = properties->memory;
    snprintf(accelerator->description, sizeof accelerator->description, "%s, %s", properties->name,
             properties->versions);
    return PARITAS_OK;
}

static paritas_status open_backend(paritas_context *context, struct accelerator *accelerator)
{
    const struct accelerator_operations *operations = accelerator->operations;
    accelerator->state = paritas_allocate_clear(context, 1, operations->state_size);
    if (!accelerator->state) return paritas_fail_memory(context);
    TRY(find_functions(context, accelerator)); /* first: a missing driver is the better reason */
    if (operations->lacks_f64 && accelerator->device->precision != 32)
        return accelerator_lacks_f64(context, accelerator);
    TRY(operations->open(context, accelerator));
    return take_properties(context, accelerator);
}

paritas_status accelerator_open(paritas_context *context, struct paritas_device *device, const char *isa)
{
    (void)isa; /* CPU only */
    struct accelerator *accelerator = paritas_allocate_clear(context, 1, sizeof *accelerator);
    if (!accelerator) return paritas_fail_memory(context);
    accelerator->operations = device->operations->accelerator;
    accelerator->device = device;
    device->state = accelerator;
    device->keeps_models = true;
    const paritas_status status = open_backend(context, accelerator);
    if (status != PARITAS_OK) accelerator_close(device);
    return status;
}

void accelerator_close(struct paritas_device *device)
{
    struct accelerator *accelerator = device->state;
    if (!accelerator) return;
    struct accelerator_buffer *const buffers[] = {&accelerator->args, &accelerator->in, &accelerator->out,
                                                  &accelerator->slabs};
    for (size_t k = 0; k < COUNT_OF(buffers); k++) release_buffer(accelerator, buffers[k]);
    for (size_t m = 0; m < ACCELERATOR_MODULES_MAX; m++)
        for (size_t k = 0; k < MODULE_ENTRIES_MAX; k++) {
            unload(accelerator, &accelerator->modules[m].kernels[k]);
            unload(accelerator, &accelerator->modules[m].alone[k]);
        }
    if (accelerator->state) accelerator->operations->close(accelerator);
    paritas_release(&device->allocator, accelerator->state);
    paritas_release(&device->allocator, accelerator);
    device->state = NULL;
}

const char *accelerator_describe(const struct paritas_device *device)
{
    return ((const struct accelerator *)device->state)->description;
}

/* ---- models ---- */

/* Empty tables get one element: no interface has empty buffers. */
static int upload_table(struct accelerator *accelerator, const void *table, size_t bytes, void **memory)
{
    int code = allocate(accelerator, bytes > 0 ? bytes : sizeof(uint64_t), memory);
    if (code == 0 && bytes > 0)
        CALL(accelerator, code, accelerator->operations->write(accelerator, *memory, table, bytes));
    return code;
}

void accelerator_model_release(struct paritas_device *device, void *handle)
{
    struct accelerator_model *model = handle;
    if (!model) return;
    release(device->state, model->ints);
    release(device->state, model->reals);
    paritas_release(&device->allocator, model);
}

paritas_status accelerator_model_upload(paritas_context *context, struct paritas_device *device,
                                        const struct kernel_module *module,
                                        const struct device_tables *tables, void **handle)
{
    struct accelerator *accelerator = device->state;
    *handle = NULL;
    struct accelerator_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    const void *reals = precision_narrow(context, device->precision, tables->reals, tables->n_reals);
    paritas_status status = model && reals ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        model->module = module;
        int code =
            upload_table(accelerator, tables->ints, tables->n_ints * sizeof *tables->ints, &model->ints);
        if (code == 0)
            code = upload_table(accelerator, reals, tables->n_reals * (device->precision / 8), &model->reals);
        status = accelerator_check(context, accelerator, "bringing the model", code);
    }
    precision_release(&context->allocator, device->precision, reals);
    if (status != PARITAS_OK) {
        accelerator_model_release(device, model);
        return status;
    }
    device->uploads++;
    *handle = model;
    return PARITAS_OK;
}

/* ---- launches ---- */

static int bring(struct accelerator *accelerator, struct accelerator_buffer *buffer, const void *rows,
                 size_t bytes)
{
    int code = reserve(accelerator, buffer, bytes);
    if (code == 0 && bytes > 0)
        CALL(accelerator, code, accelerator->operations->write(accelerator, buffer->memory, rows, bytes));
    return code;
}

static paritas_status bring_rows(paritas_context *context, struct accelerator *accelerator,
                                 const struct device_launch *launch)
{
    const unsigned precision = accelerator->device->precision;
    const void *in = precision_narrow(context, precision, launch->in, launch->n_in);
    if (!in) return paritas_fail_memory(context);
    int code = bring(accelerator, &accelerator->args, launch->args, launch->n_args * sizeof *launch->args);
    if (code == 0) code = bring(accelerator, &accelerator->in, in, launch->n_in * (precision / 8));
    if (code == 0) code = reserve(accelerator, &accelerator->out, launch->n_out * (precision / 8));
    precision_release(&context->allocator, precision, in);
    return accelerator_check(context, accelerator, "bringing the rows", code);
}

/* Teams that keep the device busy, before memory limits. */
static uint32_t wished_teams(const struct accelerator *accelerator, uint32_t rows, size_t slab_bytes)
{
    const struct accelerator_properties *properties = &accelerator->properties;
    const uint64_t limits[] = {properties->memory / SLABS_SHARE, properties->largest_buffer,
                               accelerator->slabs_most / 2};
    uint64_t teams = accelerator->device->teams;
    for (size_t k = 0; k < COUNT_OF(limits); k++)
        if (limits[k] > 0 && teams > limits[k] / slab_bytes) teams = limits[k] / slab_bytes;
    if (teams > rows) teams = rows;
    return teams > 0 ? (uint32_t)teams : 1;
}

/* *what: the failed call. */
static int run_chunk(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                     const struct accelerator_model *model, const struct device_launch *launch,
                     size_t slabs_bytes, uint32_t first, uint32_t count, const char **what)
{
    *what = "making room for the slabs";
    int code = reserve(accelerator, &accelerator->slabs, slabs_bytes);
    if (code != 0) return code;
    const struct accelerator_arguments arguments = {model->ints,
                                                    model->reals,
                                                    accelerator->args.memory,
                                                    accelerator->in.memory,
                                                    accelerator->out.memory,
                                                    accelerator->slabs.memory,
                                                    (uint32_t)launch->slab,
                                                    first};
    *what = "starting a kernel";
    CALL(accelerator, code, accelerator->operations->run(accelerator, kernel, &arguments, count));
    if (code != 0) return code;
    *what = "running a kernel";
    CALL(accelerator, code, accelerator->operations->finish(accelerator));
    return code;
}

/* Jobs that may take long run in pieces, between which the caller may cancel: *what is then NULL. They go on
 * in their slabs, so pieces change no bit. Jobs that have ended take no time, and pieces double. */
static int run_pieces(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                      const struct accelerator_model *model, const struct device_launch *launch,
                      size_t slabs_bytes, uint32_t first, uint32_t count, const char **what)
{
    const uint32_t all = *launch->limit, share = launch->share ? launch->share : 1;
    uint32_t piece = 1, done = 0;
    int code = 0;
    do {
        const double start = platform_seconds();
        *launch->before = done;
        done = *launch->limit = all - done > piece ? done + piece : all;
        *what = "bringing the rows";
        code = bring(accelerator, &accelerator->args, launch->args, launch->n_args * sizeof *launch->args);
        if (code == 0) code = run_chunk(accelerator, kernel, model, launch, slabs_bytes, first, count, what);
        const double seconds = platform_seconds() - start;
        if (seconds < 0.5 * PIECE_SECONDS)
            piece *= 2;
        else if (seconds > PIECE_SECONDS && piece > 1)
            piece /= 2;
        if (code == 0 && done < all && !device_report(launch, (uint64_t)first * share)) *what = NULL;
    } while (code == 0 && *what && done < all);
    *launch->before = 0;
    *launch->limit = all;
    return code;
}

/* Halves the teams at once if memory runs out, down to one. */
static paritas_status run_teams(paritas_context *context, struct accelerator *accelerator,
                                const struct accelerator_kernel *kernel,
                                const struct accelerator_model *model, const struct device_launch *launch)
{
    const size_t slab_bytes = (launch->slab > 0 ? launch->slab : 1) * (accelerator->device->precision / 8);
    const uint32_t share = launch->share ? launch->share : 1, teams = teams_of(launch);
    uint32_t at_once = wished_teams(accelerator, teams, slab_bytes);
    for (uint32_t first = 0; first < teams;) {
        const uint32_t count = at_once < teams - first ? at_once : teams - first;
        const char *what;
        const int code = (launch->before ? run_pieces : run_chunk)(accelerator, kernel, model, launch,
                                                                   at_once * slab_bytes, first, count, &what);
        if (code != 0 && memory_ran_out(accelerator, code) && at_once > 1) {
            accelerator->slabs_most = at_once * slab_bytes; /* later launches start below this */
            at_once /= 2;
            release_buffer(accelerator, &accelerator->slabs);
            continue;
        }
        if (code != 0) return accelerator_fail(context, accelerator, what, code);
        accelerator->teams_at_once = at_once;
        first += count;
        if (!what || !device_report(launch, (uint64_t)first * share))
            return paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
    }
    return PARITAS_OK;
}

static paritas_status fetch_rows(paritas_context *context, struct accelerator *accelerator,
                                 const struct device_launch *launch)
{
    const unsigned precision = accelerator->device->precision;
    if (launch->n_out == 0) return PARITAS_OK;
    float *floats = NULL;
    if (precision == 32 && !(floats = paritas_allocate(context, launch->n_out, sizeof *floats)))
        return paritas_fail_memory(context);
    void *to = floats ? (void *)floats : launch->out;
    int code;
    CALL(accelerator, code,
         accelerator->operations->read(accelerator, to, accelerator->out.memory,
                                       launch->n_out * (precision / 8)));
    if (code == 0) precision_widen(launch->out, floats, launch->n_out);
    paritas_release(&context->allocator, floats);
    return accelerator_check(context, accelerator, "fetching the rows", code);
}

paritas_status accelerator_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                  const struct device_launch *launch)
{
    struct accelerator *accelerator = device->state;
    const struct accelerator_model *model = handle;
    struct accelerator_kernel *kernel = NULL;
    if (launch->rows == 0) return PARITAS_OK;
    TRY(prepare_entry(context, accelerator, model->module, launch, &kernel));
    device->launches++;
    TRY(bring_rows(context, accelerator, launch));
    TRY(run_teams(context, accelerator, kernel, model, launch));
    return fetch_rows(context, accelerator, launch);
}
