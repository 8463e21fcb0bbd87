/* accelerator.c: see accelerator.h. The driver's memory is its own; everything on the host comes from the
 * context's allocator. */
#include "device/accelerator.h"
#include "device/kernel_cache.h"
#include "device/device_precision.h"
#include "device/device_self_test.h"

#include <stdio.h>
#include <string.h>

#define SLABS_SHARE 2 /* slabs may take one part in so many of the device's memory */

struct accelerator_model {
    const struct kernel_module *module;
    void *ints, *reals;
};

paritas_status accelerator_fail(paritas_context *context, const struct accelerator *accelerator,
                                const char *what, int code)
{
    const char *name = accelerator->operations->explain(code);
    return paritas_fail(
        context, accelerator->operations->memory_ran_out(code) ? PARITAS_OUT_OF_MEMORY : PARITAS_NO_DEVICE,
        "device '%s': %s failed with code %d%s%s%s", accelerator->device->name, what, code, name ? " (" : "",
        name ? name : "", name ? ")" : "");
}

void accelerator_one_line(char *log)
{
    for (char *c = log; c && *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r') *c = ' ';
}

/* ---- entries ---------------------------------------------------------------------------------- */

/* Teams of a whole launch. */
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

/* The whole text of a module for this device. Allocated from the context; NULL: out of memory. */
static char *join_text(paritas_context *context, const struct accelerator *accelerator,
                       const struct kernel_module *module, size_t *size)
{
    static const char kernel[] = "\nKERNEL_OF(PARITAS_ENTRY)\n";
    const size_t dialect = *accelerator->operations->dialect_size, body = *module->text_size;
    char *text = paritas_allocate(context, dialect + 1 + body + sizeof kernel, 1);
    if (!text) return NULL;
    memcpy(text, accelerator->operations->dialect, dialect);
    text[dialect] = '\n';
    memcpy(text + dialect + 1, module->text, body);
    memcpy(text + dialect + 1 + body, kernel, sizeof kernel);
    *size = dialect + 1 + body + sizeof kernel - 1;
    return text;
}

/* Loads an entry from the cache, else compiles it. What the device refuses to load from the cache is compiled
 * again. */
static paritas_status obtain(paritas_context *context, struct accelerator *accelerator,
                             const struct accelerator_build *build, struct accelerator_kernel *kernel)
{
    const struct accelerator_operations *operations = accelerator->operations;
    char key[65];
    size_t size = 0;
    const bool cached =
        operations->cached && context->cache && kernel_cache_key(context, accelerator, build, key);
    void *binary = cached ? kernel_cache_read(context, key, &size) : NULL;
    if (binary) {
        const paritas_status status = operations->load(context, accelerator, build, binary, size, kernel);
        paritas_release(&context->allocator, binary);
        if (status == PARITAS_OK || status == PARITAS_OUT_OF_MEMORY) return status;
    }
    if (!accelerator->told && operations->cached) { /* it may take as long as all that follows */
        accelerator->told = true;
        paritas_note(context, "device %s: compiling kernels%s%s", accelerator->device->name,
                     cached ? ", which the next run finds in " : "", cached ? context->cache : "");
    }
    paritas_status status = operations->compile(context, accelerator, build, &binary, &size);
    if (status != PARITAS_OK) return status;
    accelerator->device->builds++;
    status = operations->load(context, accelerator, build, binary, size, kernel);
    if (status == PARITAS_OK && cached) kernel_cache_write(context, key, binary, size);
    paritas_release(&context->allocator, binary);
    return status;
}

/* Loads an entry for teams of so many workers. One that needs too many registers for that gets a smaller
 * team; a size that was asked for is kept or refused. */
static paritas_status load_entry(paritas_context *context, struct accelerator *accelerator,
                                 const struct kernel_module *module, unsigned entry, unsigned workers,
                                 struct accelerator_kernel *kernel)
{
    const struct paritas_device *device = accelerator->device;
    struct accelerator_build build = {.entry = module->entries[entry], .precision = device->precision};
    char *text = join_text(context, accelerator, module, &build.text_size);
    if (!text) return paritas_fail_memory(context);
    build.text = text;
    paritas_status status = PARITAS_OK;
    for (; status == PARITAS_OK; workers /= 2) {
        build.workers = workers;
        status = obtain(context, accelerator, &build, kernel);
        kernel->workers = workers;
        if (status != PARITAS_OK || workers <= kernel->workers_most || workers == 1) break;
        const size_t most = kernel->workers_most;
        accelerator->operations->unload(accelerator, kernel);
        *kernel = (struct accelerator_kernel){NULL, NULL, 0, 0};
        if (device->workers)
            status = paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                                  "workers %u: device '%s' takes at most %zu for %s", device->workers,
                                  device->name, most, build.entry);
    }
    if (status != PARITAS_OK) *kernel = (struct accelerator_kernel){NULL, NULL, 0, 0};
    paritas_release(&context->allocator, text);
    return status;
}

/* The entry for a launch of so many teams, loaded. */
static paritas_status prepare_entry(paritas_context *context, struct accelerator *accelerator,
                                    const struct kernel_module *module, unsigned entry, uint32_t teams,
                                    struct accelerator_kernel **prepared)
{
    struct accelerator_properties *properties = &accelerator->properties;
    struct accelerator_module *loaded = module_of(accelerator, module);
    if (!loaded)
        return paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                            "device '%s': more than %d model families at once", accelerator->device->name,
                            ACCELERATOR_MODULES_MAX);
    if (properties->workers_alone > properties->workers && teams < properties->units) {
        *prepared = &loaded->alone[entry];
        if ((*prepared)->function) return PARITAS_OK;
        const paritas_status status =
            load_entry(context, accelerator, module, entry, properties->workers_alone, *prepared);
        if (status == PARITAS_OK || status == PARITAS_OUT_OF_MEMORY) return status;
        /* ordinary teams do as well: embedded kernels, for example, are made for those alone */
        properties->workers_alone = 0;
    }
    *prepared = &loaded->kernels[entry];
    return (*prepared)->function
               ? PARITAS_OK
               : load_entry(context, accelerator, module, entry, properties->workers, *prepared);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void release_buffer(struct accelerator *accelerator, struct accelerator_buffer *buffer)
{
    if (buffer->memory) accelerator->operations->release(accelerator, buffer->memory);
    *buffer = (struct accelerator_buffer){NULL, 0};
}

/* Device memory. Where there is none left, that of the slabs, which is the most and the easiest to do with
 * less of, is given up for it. */
static int allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    int code = accelerator->operations->allocate(accelerator, bytes, memory);
    if (code != 0 && accelerator->operations->memory_ran_out(code) && accelerator->slabs.memory) {
        release_buffer(accelerator, &accelerator->slabs);
        code = accelerator->operations->allocate(accelerator, bytes, memory);
    }
    if (code != 0) *memory = NULL;
    return code;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

paritas_status accelerator_open(paritas_context *context, struct paritas_device *device,
                                const struct accelerator_operations *operations, unsigned index)
{
    struct accelerator *accelerator = paritas_allocate_clear(context, 1, sizeof *accelerator);
    if (!accelerator) return paritas_fail_memory(context);
    accelerator->operations = operations;
    accelerator->device = device;
    device->state = accelerator;
    device->keeps_models = true;
    snprintf(device->name, sizeof device->name, "%s:%u", operations->kind, index);
    paritas_status status = operations->open(context, accelerator, index);
    struct accelerator_properties *properties = &accelerator->properties;
    if (status == PARITAS_OK && device->workers > properties->workers_most)
        status = paritas_fail(context, PARITAS_INVALID_ARGUMENT, "workers %u: device '%s' takes at most %u",
                              device->workers, device->name, properties->workers_most);
    if (status == PARITAS_OK) {
        if (device->workers) {
            properties->workers = device->workers;
            properties->workers_alone = 0;
        }
        device->is_processor = properties->is_processor;
        device->slow_f64 = properties->slow_f64;
        device->teams = (properties->units ? properties->units : 1) *
                        (properties->teams_per_unit ? properties->teams_per_unit : 1);
        while (properties->workers > 1 && properties->workers > properties->workers_most)
            properties->workers /= 2;
        if (properties->workers_alone > properties->workers_most) properties->workers_alone = 0;
        snprintf(accelerator->description, sizeof accelerator->description, "%s, %s", properties->name,
                 properties->versions);
    }
    if (status == PARITAS_OK && properties->is_processor && !device->processors)
        status = paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): it is a processor", device->name,
                              properties->name);
    if (status == PARITAS_OK) status = self_test_run(context, device);
    /* those were large teams, if the device has them */
    if (status == PARITAS_OK && properties->workers_alone > properties->workers) {
        const unsigned alone = properties->workers_alone;
        properties->workers_alone = 0;
        status = self_test_run(context, device);
        properties->workers_alone = alone;
    }
    if (status != PARITAS_OK) accelerator_close(device);
    return status;
}

void accelerator_close(struct paritas_device *device)
{
    struct accelerator *accelerator = device->state;
    if (!accelerator) return;
    release_buffer(accelerator, &accelerator->args);
    release_buffer(accelerator, &accelerator->in);
    release_buffer(accelerator, &accelerator->out);
    release_buffer(accelerator, &accelerator->slabs);
    for (size_t m = 0; m < ACCELERATOR_MODULES_MAX; m++)
        for (size_t k = 0; k < MODULE_ENTRIES_MAX; k++) {
            if (accelerator->modules[m].kernels[k].function)
                accelerator->operations->unload(accelerator, &accelerator->modules[m].kernels[k]);
            if (accelerator->modules[m].alone[k].function)
                accelerator->operations->unload(accelerator, &accelerator->modules[m].alone[k]);
        }
    accelerator->operations->close(accelerator);
    paritas_release(&device->allocator, accelerator);
    device->state = NULL;
}

const char *accelerator_describe(const struct paritas_device *device)
{
    return ((const struct accelerator *)device->state)->description;
}

/* ---- models ----------------------------------------------------------------------------------- */

/* `count` numbers of f64 in the device's precision. Where that is 64 they are the given ones, else a copy
 * that the caller releases. NULL: out of memory. */
static const void *in_precision(paritas_context *context, const struct paritas_device *device,
                                const double *numbers, size_t count)
{
    if (device->precision == 64) return numbers;
    float *floats = paritas_allocate(context, count + 1, sizeof *floats);
    if (floats) device_floats(floats, numbers, count);
    return floats;
}

static void release_precision(const struct paritas_device *device, const void *numbers)
{
    if (device->precision == 32) paritas_release(&device->allocator, (void *)numbers);
}

/* A table in device memory; an empty one gets one element, since no interface knows empty buffers. */
static int upload_table(struct accelerator *accelerator, const void *table, size_t bytes, void **memory)
{
    const int code = allocate(accelerator, bytes > 0 ? bytes : sizeof(uint64_t), memory);
    return code != 0 || bytes == 0 ? code
                                   : accelerator->operations->write(accelerator, *memory, table, bytes);
}

void accelerator_model_release(struct paritas_device *device, void *handle)
{
    struct accelerator *accelerator = device->state;
    struct accelerator_model *model = handle;
    if (!model) return;
    if (model->ints) accelerator->operations->release(accelerator, model->ints);
    if (model->reals) accelerator->operations->release(accelerator, model->reals);
    paritas_release(&device->allocator, model);
}

paritas_status accelerator_model_upload(paritas_context *context, struct paritas_device *device,
                                        const struct kernel_module *module,
                                        const struct device_tables *tables, void **handle)
{
    struct accelerator *accelerator = device->state;
    *handle = NULL;
    struct accelerator_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    static const double nothing;
    const void *reals =
        in_precision(context, device, tables->n_reals ? tables->reals : &nothing, tables->n_reals);
    paritas_status status = model && reals ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        model->module = module;
        int code =
            upload_table(accelerator, tables->ints, tables->n_ints * sizeof *tables->ints, &model->ints);
        if (code == 0)
            code = upload_table(accelerator, reals, tables->n_reals * (device->precision / 8), &model->reals);
        if (code != 0) status = accelerator_fail(context, accelerator, "bringing the model", code);
    }
    if (reals) release_precision(device, reals);
    if (status != PARITAS_OK) {
        accelerator_model_release(device, model);
        return status;
    }
    device->uploads++;
    *handle = model;
    return PARITAS_OK;
}

/* ---- launches --------------------------------------------------------------------------------- */

/* Sees to it that a buffer has this many bytes; what it held is lost. */
static int reserve(struct accelerator *accelerator, struct accelerator_buffer *buffer, size_t bytes)
{
    if (bytes < sizeof(uint64_t)) bytes = sizeof(uint64_t);
    if (buffer->bytes >= bytes) return 0;
    release_buffer(accelerator, buffer);
    const int code = allocate(accelerator, bytes, &buffer->memory);
    if (code == 0) buffer->bytes = bytes;
    return code;
}

/* Brings what the kernels read to the device and makes room for what they write. */
static int bring_rows(struct accelerator *accelerator, const struct device_launch *launch, const void *in,
                      size_t element)
{
    const struct accelerator_operations *operations = accelerator->operations;
    int code = reserve(accelerator, &accelerator->args, launch->n_args * sizeof *launch->args);
    if (code == 0) code = reserve(accelerator, &accelerator->in, launch->n_in * element);
    if (code == 0) code = reserve(accelerator, &accelerator->out, launch->n_out * element);
    if (code == 0 && launch->n_args > 0)
        code = operations->write(accelerator, accelerator->args.memory, launch->args,
                                 launch->n_args * sizeof *launch->args);
    if (code == 0 && launch->n_in > 0)
        code = operations->write(accelerator, accelerator->in.memory, in, launch->n_in * element);
    return code;
}

/* How many teams run at once, before memory is asked: what keeps the device busy and should fit. */
static uint32_t wished_teams(const struct accelerator *accelerator, uint32_t rows, size_t slab_bytes)
{
    const struct accelerator_properties *properties = &accelerator->properties;
    uint64_t teams = accelerator->device->teams;
    uint64_t room = properties->memory / SLABS_SHARE;
    if (properties->largest_buffer > 0 && (room == 0 || room > properties->largest_buffer))
        room = properties->largest_buffer;
    if (accelerator->slabs_most > 0 && (room == 0 || room > accelerator->slabs_most / 2))
        room = accelerator->slabs_most / 2;
    if (room > 0 && teams > room / slab_bytes) teams = room / slab_bytes;
    if (teams > rows) teams = rows;
    return teams > 0 ? (uint32_t)teams : 1;
}

/* All teams of a launch, chunk by chunk. Where memory runs out half as many teams share the slabs, down to
 * one. */
static paritas_status run_teams(paritas_context *context, struct accelerator *accelerator,
                                const struct accelerator_kernel *kernel,
                                const struct accelerator_model *model, const struct device_launch *launch)
{
    const struct accelerator_operations *operations = accelerator->operations;
    const size_t slab_bytes = (launch->slab > 0 ? launch->slab : 1) * (accelerator->device->precision / 8);
    const uint32_t share = launch->share ? launch->share : 1, teams = teams_of(launch);
    uint32_t at_once = wished_teams(accelerator, teams, slab_bytes);
    for (uint32_t first = 0; first < teams;) {
        const uint32_t count = at_once < teams - first ? at_once : teams - first;
        const char *what = "making room for the slabs";
        int code = reserve(accelerator, &accelerator->slabs, at_once * slab_bytes);
        if (code == 0) {
            const struct accelerator_arguments arguments = {model->ints,
                                                            model->reals,
                                                            accelerator->args.memory,
                                                            accelerator->in.memory,
                                                            accelerator->out.memory,
                                                            accelerator->slabs.memory,
                                                            (uint32_t)launch->slab,
                                                            first};
            what = "starting a kernel";
            code = operations->run(accelerator, kernel, &arguments, count);
        }
        if (code == 0) {
            what = "running a kernel";
            code = operations->finish(accelerator);
        }
        if (code != 0 && operations->memory_ran_out(code) && at_once > 1) {
            accelerator->slabs_most = at_once * slab_bytes; /* later launches need not find out again */
            at_once /= 2;
            release_buffer(accelerator, &accelerator->slabs);
            continue;
        }
        if (code != 0) return accelerator_fail(context, accelerator, what, code);
        accelerator->teams_at_once = at_once;
        first += count;
        if (!device_report(launch, (uint64_t)first * share))
            return paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
    }
    return PARITAS_OK;
}

/* Fetches the rows that the kernels wrote. */
static paritas_status fetch_rows(paritas_context *context, struct accelerator *accelerator,
                                 const struct device_launch *launch)
{
    const unsigned precision = accelerator->device->precision;
    if (launch->n_out == 0) return PARITAS_OK;
    float *floats = NULL;
    if (precision == 32 && !(floats = paritas_allocate(context, launch->n_out, sizeof *floats)))
        return paritas_fail_memory(context);
    const int code = accelerator->operations->read(accelerator, floats ? (void *)floats : launch->out,
                                                   accelerator->out.memory, launch->n_out * (precision / 8));
    for (size_t i = 0; floats && code == 0 && i < launch->n_out; i++) launch->out[i] = (double)floats[i];
    paritas_release(&context->allocator, floats);
    return code == 0 ? PARITAS_OK : accelerator_fail(context, accelerator, "fetching the rows", code);
}

paritas_status accelerator_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                  const struct device_launch *launch)
{
    struct accelerator *accelerator = device->state;
    const struct accelerator_model *model = handle;
    struct accelerator_kernel *kernel = NULL;
    if (launch->rows == 0) return PARITAS_OK;
    paritas_status status =
        prepare_entry(context, accelerator, model->module, launch->entry, teams_of(launch), &kernel);
    if (status != PARITAS_OK) return status;
    device->launches++;
    const void *in = in_precision(context, device, launch->in, launch->n_in);
    if (!in) return paritas_fail_memory(context);
    const int code = bring_rows(accelerator, launch, in, device->precision / 8);
    release_precision(device, in);
    if (code != 0) return accelerator_fail(context, accelerator, "bringing the rows", code);
    status = run_teams(context, accelerator, kernel, model, launch);
    return status == PARITAS_OK ? fetch_rows(context, accelerator, launch) : status;
}
