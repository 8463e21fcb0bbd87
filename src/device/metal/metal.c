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
    struct metal_methods methods;
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

/* These send a message without arguments, and with arguments. */
#define ASK(state, object, method) ((state)->methods.method.send(object, (state)->methods.method.selector))
#define SEND(state, object, method, ...) \
    ((state)->methods.method.send(object, (state)->methods.method.selector, __VA_ARGS__))

static void release(const struct metal_state *state, metal_id object)
{
    if (object) ASK(state, object, release);
}

/* Copies a string as far as there is room; "" for nil. */
static void copy_text(const struct metal_state *state, metal_id string, char *text, size_t size)
{
    const char *bytes = string ? ASK(state, string, UTF8String) : NULL;
    snprintf(text, size, "%s", bytes ? bytes : "");
}

/* Makes a string that the caller owns. Returns nil without memory. */
static metal_id new_string(const struct metal_state *state, const char *text, size_t length)
{
    const metal_id string = ASK(state, state->api.objc_getClass("NSString"), alloc);
    return SEND(state, string, initWithBytes, text, length, METAL_UTF8);
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

static const char *const frameworks[] = {PLATFORM_NAME(NULL, "/usr/lib/libobjc.A.dylib", NULL),
                                         "/System/Library/Frameworks/Foundation.framework/Foundation",
                                         "/System/Library/Frameworks/Metal.framework/Metal", NULL};
static const char *const functions[] = {METAL_FUNCTIONS(LIBRARY_NAME) NULL};
static const struct accelerator_libraries libraries = {
    .names = frameworks,
    .instead = &metal_library,
    .all = true,
    .hint = PLATFORM_NAME("Metal needs macOS, and this is a different system", NULL,
                          "Metal needs macOS, and this is a different system"),
    .functions = functions};

static void find_methods(struct metal_state *state)
{
#define METHOD(result, method, text, ...)                               \
    state->methods.method.selector = state->api.sel_registerName(text); \
    state->methods.method.send = (result (*)(metal_id, metal_selector, __VA_ARGS__))state->api.objc_msgSend;
#define PLAIN(result, method)                                              \
    state->methods.method.selector = state->api.sel_registerName(#method); \
    state->methods.method.send = (result (*)(metal_id, metal_selector))state->api.objc_msgSend;
    METAL_METHODS(PLAIN, METHOD)
#undef METHOD
#undef PLAIN
}

static paritas_status find_device(paritas_context *context, const struct accelerator *accelerator)
{
    struct metal_state *state = accelerator->state;
    const unsigned index = accelerator->device->index;
    const metal_id all = state->api.MTLCopyAllDevices();
    const metal_unsigned n = ASK(state, all, count);
    if (index < n) state->device = ASK(state, SEND(state, all, objectAtIndex, index), retain);
    release(state, all);
    if (!state->device) return accelerator_absent(context, accelerator, "Metal", (unsigned)n);
    state->queue = ASK(state, state->device, newCommandQueue);
    if (!state->queue)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s': it gives no command queue",
                            accelerator->device->name);
    return PARITAS_OK;
}

static void examine(const struct metal_state *state, struct accelerator_properties *properties)
{
    char version[96];
    copy_text(state, ASK(state, state->device, name), properties->name, sizeof properties->name);
    const metal_id process = ASK(state, state->api.objc_getClass("NSProcessInfo"), processInfo);
    copy_text(state, ASK(state, process, operatingSystemVersionString), version, sizeof version);
    snprintf(properties->versions, sizeof properties->versions, "macOS %s", version);
    properties->memory = ASK(state, state->device, recommendedMaxWorkingSetSize);
    properties->largest_buffer = ASK(state, state->device, maxBufferLength);
    properties->units = UNITS;
    properties->teams_per_unit = TEAMS_PER_UNIT;
    properties->workers = WORKERS;
    properties->workers_alone = ACCELERATOR_WORKERS_ALONE;
    properties->workers_most = WORKERS_MOST;
}

static paritas_status metal_open(paritas_context *context, struct accelerator *accelerator)
{
    find_methods(accelerator->state);
    metal_enter(accelerator);
    const paritas_status status = find_device(context, accelerator);
    if (status == PARITAS_OK) examine(accelerator->state, &accelerator->properties);
    metal_leave(accelerator);
    return status;
}

static int outcome(const struct metal_state *state, metal_id commands)
{
    if (ASK(state, commands, status) == METAL_STATUS_COMPLETED) return METAL_OK;
    const metal_signed code = ASK(state, ASK(state, commands, error), code);
    return code > 0 && code < METAL_NO_BUFFER ? (int)code : METAL_NOT_COMPLETED;
}

static int metal_finish(struct accelerator *accelerator)
{
    struct metal_state *state = accelerator->state;
    if (!state->running) return METAL_OK;
    ASK(state, state->running, waitUntilCompleted);
    const int code = outcome(state, state->running);
    release(state, state->running);
    state->running = NULL;
    return code;
}

static void metal_close(struct accelerator *accelerator)
{
    const struct metal_state *state = accelerator->state;
    if (state->running) {
        metal_enter(accelerator);
        metal_finish(accelerator);
        metal_leave(accelerator);
    }
    release(state, state->queue);
    release(state, state->device);
}

static int metal_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                     const struct accelerator_arguments *arguments, uint32_t teams)
{
    struct metal_state *state = accelerator->state;
    void *const buffers[] = {arguments->ints, arguments->reals, arguments->args,
                             arguments->in,   arguments->out,   arguments->slabs};
    const uint32_t numbers[] = {arguments->slab, arguments->first_team};
    const metal_unsigned n_buffers = COUNT_OF(buffers);
    const int code = metal_finish(accelerator);
    if (code != METAL_OK) return code;
    const metal_id commands = ASK(state, state->queue, commandBuffer);
    const metal_id encoder = ASK(state, commands, computeCommandEncoder);
    if (!encoder) return commands ? METAL_NO_ENCODER : METAL_NO_COMMAND_BUFFER;
    SEND(state, encoder, setComputePipelineState, kernel->function);
    for (metal_unsigned k = 0; k < n_buffers; k++) SEND(state, encoder, setBuffer, buffers[k], 0, k);
    for (metal_unsigned k = 0; k < 2; k++)
        SEND(state, encoder, setBytes, &numbers[k], sizeof numbers[k], n_buffers + k);
    const struct metal_size groups = {teams, 1, 1}, group = {kernel->workers, 1, 1};
    SEND(state, encoder, dispatchThreadgroups, groups, group);
    ASK(state, encoder, endEncoding);
    ASK(state, commands, commit);
    state->running = ASK(state, commands, retain);
    return METAL_OK;
}

/* Memory is a buffer object; the host uses its contents while no kernel runs. */
static int metal_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    const struct metal_state *state = accelerator->state;
    *memory = SEND(state, state->device, newBufferWithLength, bytes, METAL_STORAGE_SHARED);
    return *memory ? METAL_OK : METAL_NO_BUFFER;
}

static void metal_release(struct accelerator *accelerator, void *memory)
{
    metal_finish(accelerator);
    release(accelerator->state, memory);
}

static int metal_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    const struct metal_state *state = accelerator->state;
    const int code = metal_finish(accelerator);
    if (code == METAL_OK) memcpy(ASK(state, memory, contents), from, bytes);
    return code;
}

static int metal_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    const struct metal_state *state = accelerator->state;
    const int code = metal_finish(accelerator);
    if (code == METAL_OK) memcpy(to, ASK(state, memory, contents), bytes);
    return code;
}

static void metal_options(const struct accelerator_build *build, char *line, size_t room)
{
    (void)build;
    snprintf(line, room, "math mode safe");
}

static paritas_status refuse(const struct accelerator_build *build, const char *who, metal_id error)
{
    const struct metal_state *state = build->accelerator->state;
    char words[ENOUGH_FOR_A_LOG], no_reason[] = "Metal gives no reason";
    copy_text(state, ASK(state, error, localizedDescription), words, sizeof words);
    return accelerator_refuse(build, who, 0, words[0] ? words : no_reason);
}

/* Exact math: its math mode since macOS 15, before a switch that later systems may ignore. Owned by the
 * caller. */
static metal_id new_options(const struct metal_state *state)
{
    const metal_id made = ASK(state, state->api.objc_getClass("MTLCompileOptions"), alloc),
                   options = ASK(state, made, init);
    SEND(state, options, setFastMathEnabled, 0);
    if (SEND(state, options, respondsToSelector, state->methods.setMathMode.selector))
        SEND(state, options, setMathMode, METAL_MATH_MODE_SAFE);
    if (SEND(state, options, respondsToSelector, state->methods.setMathFloatingPointFunctions.selector))
        SEND(state, options, setMathFloatingPointFunctions, METAL_MATH_FUNCTIONS_PRECISE);
    return options;
}

/* Fills kernel->program even if a later step fails. */
static paritas_status make_pipeline(const struct accelerator_build *build, metal_id source, metal_id name,
                                    metal_id options, struct accelerator_kernel *kernel)
{
    const struct metal_state *state = build->accelerator->state;
    metal_id error = NULL;
    if (!source || !name || !options) return paritas_fail_memory(build->context);
    kernel->program = SEND(state, state->device, newLibraryWithSource, source, options, &error);
    if (!kernel->program) return refuse(build, "its compiler", error);
    const metal_id function = SEND(state, kernel->program, newFunctionWithName, name);
    if (!function) return refuse(build, "the compiled library", NULL);
    error = NULL;
    kernel->function = SEND(state, state->device, newComputePipelineStateWithFunction, function, &error);
    release(state, function);
    if (!kernel->function) return refuse(build, "the device", error);
    kernel->workers_most = ASK(state, kernel->function, maxTotalThreadsPerThreadgroup);
    return PARITAS_OK;
}

static paritas_status metal_load(const struct accelerator_build *build, const void *binary, size_t size,
                                 struct accelerator_kernel *kernel)
{
    const struct metal_state *state = build->accelerator->state;
    (void)binary, (void)size; /* takes text */
    const metal_id source = new_string(state, build->text, build->text_size),
                   name = new_string(state, build->entry, strlen(build->entry)), options = new_options(state);
    const paritas_status status = make_pipeline(build, source, name, options, kernel);
    if (status != PARITAS_OK) release(state, kernel->program);
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
static const struct accelerator_operations operations = {ACCELERATOR_PRIMITIVES(metal),
                                                         .libraries = &libraries,
                                                         .state_size = sizeof(struct metal_state),
                                                         .lacks_f64 = true,
                                                         .enter = metal_enter,
                                                         .leave = metal_leave,
                                                         .codes = metal_codes,
                                                         ACCELERATOR_DIALECT(paritas_dialect_metal)};
const struct device_operations DEVICE_KIND(PARITAS_DEVICE_METAL) = ACCELERATOR_DEVICE(&operations);
