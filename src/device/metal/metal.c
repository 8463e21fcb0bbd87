/* metal.c: Metal devices, in f32. Buffers are shared with the host, one command buffer runs at a time, the
 * system caches kernels.
 *
 * Results of `alloc` and `new...` are released here, others by each primitive's autorelease pool. */
#include "device/metal/metal.h"
#include "device/accelerator.h"
#include "device/metal/metal_api.h"

#include <stdio.h>
#include <string.h>

#define WORKERS 32        /* a SIMD-group: cheapest barriers */
#define WORKERS_MOST 1024 /* of any device; each kernel's limit is asked later */
#define UNITS 32          /* Metal does not tell; devices have 7 to 80 */
#define TEAMS_PER_UNIT 16
#define ENOUGH_FOR_A_LOG 1600

const char *metal_library;

struct metal_state {
    struct metal_api api;
    struct metal_selectors selectors;
    metal_id device, queue;
    metal_id running;
    void *pool; /* of the current primitive */
};

static const struct accelerator_code metal_codes[] = {
    {1, false, "an internal error of Metal"},
    {2, false, "the system ended a kernel that took too long"},
    {3, false, "a kernel touched memory that is not its own"},
    {4, false, "the system took the device from this process"},
    {7, false, "this process may not use the device"},
    {8, true, "out of device memory"},
    {9, false, "invalid resource"},
    {11, false, "the device is gone"},
    {12, false, "a kernel's stack overflowed"},
    {METAL_NO_BUFFER, true, "no memory for a buffer"},
    {METAL_NO_COMMAND_BUFFER, false, "the queue gives no command buffer"},
    {METAL_NO_ENCODER, false, "the command buffer gives no encoder"},
    {METAL_NOT_COMPLETED, false, "the kernel did not complete and Metal gives no reason"},
    {0, false, NULL}};

/* objc_msgSend cast to this type */
#define SEND(state, type, ...) ((type (*)(metal_id, metal_selector, __VA_ARGS__))(state)->api.objc_msgSend)
#define SEND_PLAIN(state, type) ((type (*)(metal_id, metal_selector))(state)->api.objc_msgSend)

static metal_id ask(const struct metal_state *state, metal_id object, metal_selector what)
{
    return SEND_PLAIN(state, metal_id)(object, what);
}
static metal_unsigned ask_number(const struct metal_state *state, metal_id object, metal_selector what)
{
    return SEND_PLAIN(state, metal_unsigned)(object, what);
}
static void tell(const struct metal_state *state, metal_id object, metal_selector what)
{
    SEND_PLAIN(state, void)(object, what);
}
static void release(const struct metal_state *state, metal_id object)
{
    if (object) tell(state, object, state->selectors.release);
}

/* Truncated; "" for nil. */
static void copy_text(const struct metal_state *state, metal_id string, char *text, size_t size)
{
    const char *bytes = string ? SEND_PLAIN(state, const char *)(string, state->selectors.UTF8String) : NULL;
    snprintf(text, size, "%s", bytes ? bytes : "");
}

/* Owned by the caller. nil: no memory. */
static metal_id new_string(const struct metal_state *state, const char *text, size_t length)
{
    const metal_id string = ask(state, state->api.objc_getClass("NSString"), state->selectors.alloc);
    return SEND(state, metal_id, const void *, metal_unsigned,
                metal_unsigned)(string, state->selectors.initWithBytes, text, length, METAL_UTF8);
}

static int metal_enter(struct accelerator *accelerator)
{
    struct metal_state *state = accelerator->state;
    state->pool = state->api.objc_autoreleasePoolPush();
    return METAL_OK;
}
static void metal_leave(struct accelerator *accelerator)
{
    const struct metal_state *state = accelerator->state;
    state->api.objc_autoreleasePoolPop(state->pool);
}

static paritas_status find_functions(paritas_context *context, const struct accelerator *accelerator,
                                     struct metal_state *state)
{
    static const char *const frameworks[] = {
#if defined(__APPLE__)
        "/usr/lib/libobjc.A.dylib", "/System/Library/Frameworks/Foundation.framework/Foundation",
        "/System/Library/Frameworks/Metal.framework/Metal",
#endif
        NULL};
    static const char *const functions[] = {METAL_FUNCTIONS(LIBRARY_NAME)};
    const char *const replaced[] = {metal_library, NULL};
    const struct accelerator_libraries libraries = {.names = metal_library ? replaced : frameworks,
                                                    .all = true,
                                                    .functions = functions,
                                                    .n_functions = sizeof functions / sizeof functions[0],
                                                    .api = &state->api};
    if (!libraries.names[0])
        return paritas_fail(context, DEVICE_ABSENT,
                            "device '%s': Metal is a part of macOS, and this system is another",
                            accelerator->device->name);
    const paritas_status status = accelerator_find_functions(context, accelerator, &libraries);
    if (status != PARITAS_OK) return status;
#define X(member, selector) state->selectors.member = state->api.sel_registerName(selector);
    METAL_SELECTORS(X)
#undef X
    return PARITAS_OK;
}

static paritas_status find_device(paritas_context *context, const struct accelerator *accelerator,
                                  struct metal_state *state)
{
    const unsigned index = accelerator->device->index;
    const metal_id all = state->api.MTLCopyAllDevices();
    const metal_unsigned n = ask_number(state, all, state->selectors.count);
    if (index < n) {
        state->device = SEND(state, metal_id, metal_unsigned)(all, state->selectors.objectAtIndex, index);
        state->device = ask(state, state->device, state->selectors.retain);
    }
    release(state, all);
    if (!state->device) return accelerator_absent(context, accelerator, "Metal", (unsigned)n);
    state->queue = ask(state, state->device, state->selectors.newCommandQueue);
    if (!state->queue)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s': it gives no command queue",
                            accelerator->device->name);
    return PARITAS_OK;
}

static void examine(const struct metal_state *state, struct accelerator_properties *properties)
{
    char version[96];
    copy_text(state, ask(state, state->device, state->selectors.name), properties->name,
              sizeof properties->name);
    const metal_id process =
        ask(state, state->api.objc_getClass("NSProcessInfo"), state->selectors.processInfo);
    copy_text(state, ask(state, process, state->selectors.operatingSystemVersionString), version,
              sizeof version);
    snprintf(properties->versions, sizeof properties->versions, "macOS %s", version);
    properties->memory =
        SEND_PLAIN(state, uint64_t)(state->device, state->selectors.recommendedMaxWorkingSetSize);
    properties->largest_buffer = ask_number(state, state->device, state->selectors.maxBufferLength);
    properties->units = UNITS;
    properties->teams_per_unit = TEAMS_PER_UNIT;
    properties->workers = WORKERS;
    properties->workers_alone = ACCELERATOR_WORKERS_ALONE;
    properties->workers_most = WORKERS_MOST;
}

static paritas_status metal_open(paritas_context *context, struct accelerator *accelerator)
{
    if (accelerator->device->precision != 32) return accelerator_lacks_f64(context, accelerator);
    struct metal_state *state = paritas_allocate_clear(context, 1, sizeof *state);
    if (!state) return paritas_fail_memory(context);
    accelerator->state = state;
    paritas_status status = find_functions(context, accelerator, state);
    if (status != PARITAS_OK) return status;
    metal_enter(accelerator);
    status = find_device(context, accelerator, state);
    if (status == PARITAS_OK) examine(state, &accelerator->properties);
    metal_leave(accelerator);
    return status;
}

static int outcome(const struct metal_state *state, metal_id commands)
{
    if (ask_number(state, commands, state->selectors.status) == METAL_STATUS_COMPLETED) return METAL_OK;
    const metal_id error = ask(state, commands, state->selectors.error);
    const metal_signed code = SEND_PLAIN(state, metal_signed)(error, state->selectors.code);
    return code > 0 && code < METAL_NO_BUFFER ? (int)code : METAL_NOT_COMPLETED;
}

static int metal_finish(struct accelerator *accelerator)
{
    struct metal_state *state = accelerator->state;
    if (!state->running) return METAL_OK;
    tell(state, state->running, state->selectors.waitUntilCompleted);
    const int code = outcome(state, state->running);
    release(state, state->running);
    state->running = NULL;
    return code;
}

static void metal_close(struct accelerator *accelerator)
{
    struct metal_state *state = accelerator->state;
    if (!state) return;
    if (state->running) {
        metal_enter(accelerator);
        metal_finish(accelerator);
        metal_leave(accelerator);
    }
    release(state, state->queue);
    release(state, state->device);
    paritas_release(&accelerator->device->allocator, state);
    accelerator->state = NULL;
}

static int metal_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                     const struct accelerator_arguments *arguments, uint32_t teams)
{
    struct metal_state *state = accelerator->state;
    const struct metal_selectors *s = &state->selectors;
    void *const buffers[] = {arguments->ints, arguments->reals, arguments->args,
                             arguments->in,   arguments->out,   arguments->slabs};
    const uint32_t numbers[] = {arguments->slab, arguments->first_team};
    const metal_unsigned n_buffers = sizeof buffers / sizeof buffers[0];
    const int code = metal_finish(accelerator);
    if (code != METAL_OK) return code;
    const metal_id commands = ask(state, state->queue, s->commandBuffer);
    const metal_id encoder = ask(state, commands, s->computeCommandEncoder);
    if (!encoder) return commands ? METAL_NO_ENCODER : METAL_NO_COMMAND_BUFFER;
    SEND(state, void, metal_id)(encoder, s->setComputePipelineState, kernel->function);
    for (metal_unsigned k = 0; k < n_buffers; k++)
        SEND(state, void, metal_id, metal_unsigned, metal_unsigned)(encoder, s->setBuffer, buffers[k], 0, k);
    for (metal_unsigned k = 0; k < 2; k++)
        SEND(state, void, const void *, metal_unsigned, metal_unsigned)(encoder, s->setBytes, &numbers[k],
                                                                        sizeof numbers[k], n_buffers + k);
    const struct metal_size groups = {teams, 1, 1}, group = {kernel->workers, 1, 1};
    SEND(state, void, struct metal_size, struct metal_size)(encoder, s->dispatchThreadgroups, groups, group);
    tell(state, encoder, s->endEncoding);
    tell(state, commands, s->commit);
    state->running = ask(state, commands, s->retain);
    return METAL_OK;
}

/* Memory is a buffer object; the host uses its contents while no kernel runs. */
static int metal_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    const struct metal_state *state = accelerator->state;
    *memory = SEND(state, metal_id, metal_unsigned, metal_unsigned)(
        state->device, state->selectors.newBufferWithLength, bytes, METAL_STORAGE_SHARED);
    return *memory ? METAL_OK : METAL_NO_BUFFER;
}

static void metal_release(struct accelerator *accelerator, void *memory)
{
    metal_finish(accelerator);
    release(accelerator->state, memory);
}

static void *contents(const struct metal_state *state, void *memory)
{
    return SEND_PLAIN(state, void *)(memory, state->selectors.contents);
}

static int metal_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    const int code = metal_finish(accelerator);
    if (code == METAL_OK) memcpy(contents(accelerator->state, memory), from, bytes);
    return code;
}

static int metal_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    const int code = metal_finish(accelerator);
    if (code == METAL_OK) memcpy(to, contents(accelerator->state, memory), bytes);
    return code;
}

static void metal_options(const struct accelerator *accelerator, const struct accelerator_build *build,
                          char *line, size_t room)
{
    (void)accelerator, (void)build;
    snprintf(line, room, "math mode safe");
}

static paritas_status refuse(paritas_context *context, const struct accelerator *accelerator,
                             const struct accelerator_build *build, const char *who, metal_id error)
{
    const struct metal_state *state = accelerator->state;
    char words[ENOUGH_FOR_A_LOG], no_reason[] = "Metal gives no reason";
    copy_text(state, ask(state, error, state->selectors.localizedDescription), words, sizeof words);
    return accelerator_refuse(context, accelerator, build, who, 0, words[0] ? words : no_reason);
}

/* Exact math: its math mode since macOS 15, before a switch that later systems may ignore. Owned by the
 * caller. */
static metal_id new_options(const struct metal_state *state)
{
    const struct metal_selectors *s = &state->selectors;
    const metal_id options =
        ask(state, ask(state, state->api.objc_getClass("MTLCompileOptions"), s->alloc), s->init);
    SEND(state, void, unsigned char)(options, s->setFastMathEnabled, 0);
    if (SEND(state, unsigned char, metal_selector)(options, s->respondsToSelector, s->setMathMode))
        SEND(state, void, metal_signed)(options, s->setMathMode, METAL_MATH_MODE_SAFE);
    if (SEND(state, unsigned char, metal_selector)(options, s->respondsToSelector,
                                                   s->setMathFloatingPointFunctions))
        SEND(state, void, metal_signed)(options, s->setMathFloatingPointFunctions,
                                        METAL_MATH_FUNCTIONS_PRECISE);
    return options;
}

static paritas_status metal_load(paritas_context *context, struct accelerator *accelerator,
                                 const struct accelerator_build *build, const void *binary, size_t size,
                                 struct accelerator_kernel *kernel)
{
    const struct metal_state *state = accelerator->state;
    const struct metal_selectors *s = &state->selectors;
    (void)binary, (void)size; /* takes text */
    const metal_id source = new_string(state, build->text, build->text_size),
                   name = new_string(state, build->entry, strlen(build->entry));
    const metal_id options = new_options(state);
    paritas_status status = source && name && options ? PARITAS_OK : paritas_fail_memory(context);
    metal_id error = NULL, library = NULL, function = NULL, pipeline = NULL;
    if (status == PARITAS_OK) {
        library = SEND(state, metal_id, metal_id, metal_id,
                       metal_id *)(state->device, s->newLibraryWithSource, source, options, &error);
        if (!library) status = refuse(context, accelerator, build, "its compiler", error);
    }
    if (status == PARITAS_OK) {
        function = SEND(state, metal_id, metal_id)(library, s->newFunctionWithName, name);
        if (!function) status = refuse(context, accelerator, build, "the compiled library", NULL);
    }
    if (status == PARITAS_OK) {
        error = NULL;
        pipeline = SEND(state, metal_id, metal_id,
                        metal_id *)(state->device, s->newComputePipelineStateWithFunction, function, &error);
        if (!pipeline) status = refuse(context, accelerator, build, "the device", error);
    }
    if (status == PARITAS_OK) {
        kernel->program = library;
        kernel->function = pipeline;
        kernel->workers_most = ask_number(state, pipeline, s->maxTotalThreadsPerThreadgroup);
    } else
        release(state, library);
    release(state, function);
    release(state, options);
    release(state, name);
    release(state, source);
    return status;
}

static void metal_unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    metal_finish(accelerator);
    release(accelerator->state, kernel->function);
    release(accelerator->state, kernel->program);
}

ACCELERATOR_DECLARE_DIALECT(paritas_dialect_metal)
static const struct accelerator_operations operations = {ACCELERATOR_PRIMITIVES(metal), .enter = metal_enter,
                                                         .leave = metal_leave, .codes = metal_codes,
                                                         ACCELERATOR_DIALECT(paritas_dialect_metal)};
const struct device_operations DEVICE_KIND(PARITAS_DEVICE_METAL) = ACCELERATOR_DEVICE(&operations);
