/* fake_device.c: Metal's own objects, of the runtime that stands in for Apple's: devices, buffers, libraries,
 * command buffers.
 *
 * A command buffer runs when it is waited for, not when it is committed: who reads results before, reads old
 * ones. */
#include "metal/fake_object.h"
#include "flush.h"
#include "native_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static unsigned under_way; /* command buffers that are committed and have not run */

/* ---- devices and memory ----------------------------------------------------------------------- */

EXPORT id MTLCopyAllDevices(void)
{
    if (fake_metal.faults.nil_devices) return NULL;
    id array = fake_new(ARRAY);
    array->length = fake_metal.faults.no_devices ? 0 : 2;
    for (size_t k = 0; k < array->length; k++) array->held[k] = fake_new(DEVICE);
    return array;
}
static id device_name(id device, selector s)
{
    (void)device, (void)s;
    return fake_pass_string("Fake GPU");
}
static uintptr_t device_memory(id device, selector s)
{
    (void)device, (void)s;
    return (uintptr_t)1 << 30;
}
static id device_queue(id device, selector s)
{
    (void)device, (void)s;
    return fake_metal.faults.no_queue ? NULL : fake_new(QUEUE);
}
static id device_buffer(id device, selector s, uintptr_t length, uintptr_t options)
{
    (void)device, (void)s;
    if (options != 0) fake_violation("a buffer that the host cannot read");
    if (length == 0) fake_violation("a buffer of no bytes");
    fake_metal.buffers++;
    if (fake_metal.buffers == fake_metal.faults.nil_buffer) return NULL;
    if (fake_metal.faults.buffer_most && length > fake_metal.faults.buffer_most) return NULL;
    id buffer = fake_new(BUFFER);
    buffer->bytes = malloc(length); /* exactly as large, so that an address sanitizer sees what lies behind */
    if (!buffer->bytes) abort();
    memset(buffer->bytes, 0xff, length); /* NaN: nothing may be read that was not written */
    buffer->length = length;
    return buffer;
}
static void *buffer_contents(id buffer, selector s)
{
    (void)s;
    if (under_way) fake_violation("the host touches a buffer while a kernel may run");
    return buffer->bytes;
}

/* ---- kernels ---------------------------------------------------------------------------------- */

/* The modules that are there as native code: the file of their text, and kernels for teams of one worker and
 * of more. */
#define X(name, text) extern const struct native_kernel native_##name##_one[], native_##name##_many[];
NATIVE_MODULES(X)
#undef X
static const struct {
    const char *text;
    const struct native_kernel *one, *many;
} modules[] = {
#define X(name, text) {text, native_##name##_one, native_##name##_many},
    NATIVE_MODULES(X)
#undef X
};
enum { MODULES = sizeof modules / sizeof modules[0] };
uint32_t metal_workers = 1;

/* Whether `text` goes on with the whole of a file; it then points behind that. */
static bool skip_file(const char **text, const char *path)
{
    bool same = true;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    for (int c; same && (c = fgetc(file)) != EOF;) same = (unsigned char)*(*text)++ == (unsigned)c;
    fclose(file);
    return same;
}

static id device_library(id device, selector s, id source, id options, id *error)
{
    (void)device, (void)s;
    unsigned workers = 0;
    int settings = 0;
    char entry[sizeof source->name] = "";
    fake_metal.libraries++;
    if (!options || options->kind != OPTIONS) fake_violation("a library without options");
    if (fake_metal.faults.compiler) {
        *error = fake_pass_error(3, fake_metal.faults.compiler);
        return NULL;
    }
    sscanf(source->bytes, "#define PARITAS_F64 0\n#define PARITAS_WORKERS %u\n#define PARITAS_ENTRY %63s%n",
           &workers, entry, &settings);
    const char *text = source->bytes + settings + 1;
    size_t module = MODULES;
    if (settings > 0 && skip_file(&text, METAL_DIALECT) && *text++ == '\n')
        for (size_t m = 0; m < MODULES; m++) {
            const char *rest = text;
            if (skip_file(&rest, modules[m].text) && strcmp(rest, "\nKERNEL_OF(PARITAS_ENTRY)\n") == 0)
                module = m;
        }
    if (module == MODULES) {
        *error = fake_pass_error(3, "the text is not the one that the native kernels were built from");
        return NULL;
    }
    id library = fake_new(LIBRARY);
    library->workers = workers;
    memcpy(library->name, entry, sizeof entry);
    const struct native_kernel *table = workers == 1 ? modules[module].one : modules[module].many;
    for (; table->name; table++)
        if (strcmp(table->name, entry) == 0) library->entry = table->entry;
    return library;
}
static id library_function(id library, selector s, id name)
{
    (void)s;
    if (fake_metal.faults.nil_function || !library->entry || strcmp(name->bytes, library->name) != 0)
        return NULL;
    id function = fake_new(FUNCTION);
    function->held[0] = fake_retain(library);
    function->entry = library->entry;
    function->workers = library->workers;
    return function;
}
static id device_pipeline(id device, selector s, id function, id *error)
{
    (void)device, (void)s;
    if (fake_metal.faults.pipeline) {
        *error = fake_pass_error(2, fake_metal.faults.pipeline);
        return NULL;
    }
    id pipeline = fake_new(PIPELINE);
    pipeline->entry = function->entry;
    pipeline->workers = function->workers;
    return pipeline;
}
static uintptr_t pipeline_threads(id pipeline, selector s)
{
    (void)pipeline, (void)s;
    return fake_metal.threads_most ? fake_metal.threads_most : 1024;
}

/* ---- running ---------------------------------------------------------------------------------- */

static id queue_commands(id queue, selector s)
{
    (void)queue, (void)s;
    fake_metal.commands++;
    if (fake_metal.commands == fake_metal.faults.nil_commands) return NULL;
    id commands = fake_new(COMMANDS);
    const unsigned failing = fake_metal.faults.failing_commands;
    if (failing &&
        (fake_metal.commands == failing || (fake_metal.faults.then_all && fake_metal.commands > failing)))
        commands->code = fake_metal.faults.failing_code;
    return fake_pass(commands);
}
static id commands_encoder(id commands, selector s)
{
    (void)s;
    if (fake_metal.faults.nil_encoder) return NULL;
    if (commands->committed || commands->encoding)
        fake_violation("an encoder of a command buffer that is encoded or committed");
    id encoder = fake_new(ENCODER);
    encoder->held[0] = fake_retain(commands);
    commands->encoding = 1;
    return fake_pass(encoder);
}
static id encoded(id encoder)
{
    id commands = encoder->held[0];
    if (!commands->encoding) fake_violation("a call of an encoder that has ended");
    return commands;
}
static void encoder_pipeline(id encoder, selector s, id pipeline)
{
    (void)s;
    id commands = encoded(encoder);
    if (!pipeline || pipeline->kind != PIPELINE || commands->held[BUFFERS])
        fake_violation("no pipeline, or a second one");
    else
        commands->held[BUFFERS] = fake_retain(pipeline);
}
static void encoder_buffer(id encoder, selector s, id buffer, uintptr_t offset, uintptr_t index)
{
    (void)s;
    id commands = encoded(encoder);
    if (!buffer || buffer->kind != BUFFER || offset != 0 || index >= BUFFERS || commands->held[index])
        fake_violation("buffer %zu is none, or misplaced", (size_t)index);
    else {
        commands->held[index] = fake_retain(buffer);
        commands->bound |= 1u << index;
    }
}
static void encoder_bytes(id encoder, selector s, const void *bytes, uintptr_t length, uintptr_t index)
{
    (void)s;
    id commands = encoded(encoder);
    if (length != sizeof(uint32_t) || index < BUFFERS || index >= BUFFERS + NUMBERS)
        fake_violation("argument %zu of %zu bytes", (size_t)index, (size_t)length);
    else {
        memcpy(&commands->numbers[index - BUFFERS], bytes, length);
        commands->bound |= 1u << index;
    }
}
static void encoder_dispatch(id encoder, selector s, struct size groups, struct size group)
{
    (void)s;
    id commands = encoded(encoder), pipeline = commands->held[BUFFERS];
    if (!pipeline || commands->bound != (1u << (BUFFERS + NUMBERS)) - 1)
        fake_violation("a dispatch without all its arguments");
    if (groups.width == 0 || groups.height != 1 || groups.depth != 1 || group.height != 1 || group.depth != 1)
        fake_violation("a dispatch that is not a row of teams");
    if (pipeline && (group.width != pipeline->workers || group.width > pipeline_threads(pipeline, NULL)))
        fake_violation("threadgroups of %zu", (size_t)group.width);
    commands->groups = groups;
    commands->group = group;
    fake_metal.dispatches++;
    if (groups.width > fake_metal.teams_most) fake_metal.teams_most = groups.width;
}
static void encoder_end(id encoder, selector s)
{
    (void)s;
    encoded(encoder)->encoding = 0;
}
static void commands_commit(id commands, selector s)
{
    (void)s;
    if (commands->encoding || commands->committed)
        fake_violation("a command buffer is committed twice, or before its encoder ends");
    commands->committed = 1;
    under_way++;
}

struct thread {
    id commands;
    uint32_t group;
};
static void run_thread(void *user, unsigned worker)
{
    const struct thread *thread = user;
    id commands = thread->commands;
    commands->held[BUFFERS]->entry(
        (const uint32_t *)commands->held[0]->bytes, (const float *)commands->held[1]->bytes,
        (const uint32_t *)commands->held[2]->bytes, (const float *)commands->held[3]->bytes,
        (float *)commands->held[4]->bytes, (float *)commands->held[5]->bytes, &commands->numbers[0],
        &commands->numbers[1], thread->group, worker);
}
static void run_commands(id commands)
{
    commands->ran = 1;
    under_way--;
    if (commands->code != 0 || fake_metal.violations) return; /* what was bound wrongly must not run */
    metal_workers = (uint32_t)commands->group.width;
    const uint64_t mode = fake_metal.flushes ? flush_begin() : 0;
    for (uint32_t g = 0; g < commands->groups.width; g++) {
        struct thread thread = {commands, g};
        if (team_run(metal_workers, fake_metal.order, run_thread, &thread))
            fake_violation("some workers of a team wait at a barrier that others do not reach");
    }
    if (fake_metal.flushes) flush_end(mode);
    if (fake_metal.rounds_wrongly) *(uint32_t *)commands->held[4]->bytes ^= 1;
    team_release();
}
static void commands_wait(id commands, selector s)
{
    (void)s;
    if (!commands->committed)
        fake_violation("waiting for a command buffer that is not committed");
    else if (!commands->ran)
        run_commands(commands);
}
static uintptr_t commands_status(id commands, selector s)
{
    (void)s;
    return commands->code ? 5 : commands->ran ? 4 : commands->committed ? 2 : 0;
}
static id commands_error(id commands, selector s)
{
    (void)s;
    return commands->code ? fake_pass_error(commands->code, "the command buffer failed") : NULL;
}

void fake_device_goes(id object)
{
    if (object->kind != COMMANDS) return;
    if (object->encoding) fake_violation("a command buffer goes while it is encoded");
    if (object->committed && !object->ran) run_commands(object);
}

const struct fake_method fake_device_methods[] = {
    {DEVICE, "name", (method)device_name},
    {DEVICE, "maxBufferLength", (method)device_memory},
    {DEVICE, "recommendedMaxWorkingSetSize", (method)device_memory},
    {DEVICE, "newCommandQueue", (method)device_queue},
    {DEVICE, "newBufferWithLength:options:", (method)device_buffer},
    {DEVICE, "newLibraryWithSource:options:error:", (method)device_library},
    {DEVICE, "newComputePipelineStateWithFunction:error:", (method)device_pipeline},
    {LIBRARY, "newFunctionWithName:", (method)library_function},
    {PIPELINE, "maxTotalThreadsPerThreadgroup", (method)pipeline_threads},
    {BUFFER, "contents", (method)buffer_contents},
    {QUEUE, "commandBuffer", (method)queue_commands},
    {COMMANDS, "computeCommandEncoder", (method)commands_encoder},
    {COMMANDS, "commit", (method)commands_commit},
    {COMMANDS, "waitUntilCompleted", (method)commands_wait},
    {COMMANDS, "status", (method)commands_status},
    {COMMANDS, "error", (method)commands_error},
    {ENCODER, "setComputePipelineState:", (method)encoder_pipeline},
    {ENCODER, "setBuffer:offset:atIndex:", (method)encoder_buffer},
    {ENCODER, "setBytes:length:atIndex:", (method)encoder_bytes},
    {ENCODER, "dispatchThreadgroups:threadsPerThreadgroup:", (method)encoder_dispatch},
    {ENCODER, "endEncoding", (method)encoder_end},
};
const size_t fake_device_n_methods = sizeof fake_device_methods / sizeof fake_device_methods[0];
