/* cuda.c: NVIDIA's devices by their driver interface, opened at run time. A block is a team, one of its
 * threads a worker.
 *
 * Everything runs on one stream of the device's primary context, the one that all libraries of a process
 * share; a caller's own stream may be taken for it, so that our work stands in order with the caller's. The
 * context is made current for the length of each call and the caller's put back, on whatever thread that is.
 */
#include "device/cuda/cuda.h"
#include "device/dynamic_library.h"

#include <stdio.h>
#include <string.h>

#define SLOW_F64 4        /* times faster in f32: compute devices have 2, cards for pictures 24 to 64 */
#define WORKERS_ALONE 256 /* where teams are few: a fit has loops of hundreds of turns to share */
#define TEAMS_PER_UNIT 32 /* more than run at once: the device deals out the rest as blocks end */

extern const unsigned char paritas_dialect_cuda[];
extern const size_t paritas_dialect_cuda_size;

static struct cuda_state *state_of(const struct accelerator *accelerator)
{
    return accelerator->state;
}

static const char *cuda_explain(int code)
{
    static const struct {
        int code;
        const char *name;
    } known[] = {{1, "invalid value"},
                 {2, "out of memory"},
                 {3, "not initialised"},
                 {4, "the driver is shutting down"},
                 {34, "the driver library is a stub of the toolkit's"},
                 {46, "the device is unavailable"},
                 {100, "no CUDA-capable device is detected"},
                 {101, "invalid device"},
                 {200, "the kernel image is invalid"},
                 {201, "invalid context"},
                 {209, "no kernel image for this device"},
                 {214, "uncorrectable ECC error"},
                 {218, "the PTX is invalid"},
                 {222, "the PTX is of a later version than the driver knows"},
                 {500, "not found"},
                 {700, "illegal address"},
                 {701, "too many resources requested for a launch"},
                 {702, "the launch took longer than this device allows"},
                 {709, "the context was destroyed"},
                 {716, "misaligned address"},
                 {719, "the launch failed"},
                 {802, "the system is not ready yet"},
                 {803, "the driver is older than CUDA on this system"},
                 {804, "forward compatibility is not supported on this device"},
                 {999, "unknown error"}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].code == code) return known[k].name;
    return NULL;
}

static bool cuda_memory_ran_out(int code)
{
    return code == CUDA_OUT_OF_MEMORY;
}

/* ---- open and close --------------------------------------------------------------------------- */

/* Finds the driver and its functions. */
static paritas_status load_driver(paritas_context *context, struct cuda_state *state)
{
    state->library = library_open("libcuda.so.1");
    if (!state->library)
        return paritas_fail(context, DEVICE_ABSENT,
                            "device 'cuda': libcuda.so.1 is not installed (it comes with NVIDIA's driver)");
#define X(name, symbol, parameters)                                                                     \
    if (!library_find(state->library, #symbol, &state->api.name, sizeof state->api.name))               \
        return paritas_fail(context, DEVICE_ABSENT, "device 'cuda': %s is not in the installed driver", \
                            #symbol);
    CUDA_FUNCTIONS(X)
#undef X
    return PARITAS_OK;
}

/* One property of the device; `fallback` where the driver does not know it. */
static int ask(const struct cuda_state *state, int attribute, int fallback)
{
    int value = fallback;
    return state->api.cuDeviceGetAttribute(&value, attribute, state->device) == 0 ? value : fallback;
}

/* Device number `index` and what it is. */
static paritas_status find_device(paritas_context *context, struct accelerator *accelerator,
                                  struct cuda_state *state, unsigned index)
{
    struct accelerator_properties *properties = &accelerator->properties;
    int count = 0;
    cuda_code code = state->api.cuInit(0);
    if (code != 0) { /* for most reasons there is no device at all then */
        const paritas_status status = accelerator_fail(context, accelerator, "cuInit", code);
        return status == PARITAS_OUT_OF_MEMORY ? status : DEVICE_ABSENT;
    }
    if ((code = state->api.cuDeviceGetCount(&count)) != 0)
        return accelerator_fail(context, accelerator, "cuDeviceGetCount", code);
    if (count < 0 || index >= (unsigned)count)
        return paritas_fail(context, DEVICE_ABSENT, "device 'cuda:%u': there %s %d CUDA device%s", index,
                            count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    if ((code = state->api.cuDeviceGet(&state->device, (int)index)) != 0)
        return accelerator_fail(context, accelerator, "cuDeviceGet", code);
    size_t memory = 0;
    if (state->api.cuDeviceGetName(properties->name, (int)sizeof properties->name, state->device) != 0)
        snprintf(properties->name, sizeof properties->name, "unnamed");
    if (state->api.cuDeviceTotalMem(&memory, state->device) != 0) memory = 0;
    state->api.cuDriverGetVersion(&state->driver);
    state->capability = (unsigned)(10 * ask(state, CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR, 0) +
                                   ask(state, CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR, 0));
    properties->memory = properties->largest_buffer = memory;
    properties->units = (uint32_t)ask(state, CUDA_DEVICE_MULTIPROCESSOR_COUNT, 1);
    properties->teams_per_unit = TEAMS_PER_UNIT;
    properties->slow_f64 = ask(state, CUDA_DEVICE_SINGLE_TO_DOUBLE_RATIO, 1) > SLOW_F64;
    properties->workers = CUDA_WORKERS;
    properties->workers_alone = WORKERS_ALONE;
    properties->workers_most = (unsigned)ask(state, CUDA_DEVICE_MAX_THREADS_PER_BLOCK, 1024);
    if (ask(state, CUDA_DEVICE_COMPUTE_MODE, 0) == CUDA_COMPUTE_MODE_PROHIBITED)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s' (%s): its compute mode prohibits programs",
                            accelerator->device->name, properties->name);
    return PARITAS_OK;
}

static paritas_status cuda_open(paritas_context *context, struct accelerator *accelerator, unsigned index)
{
    struct cuda_state *state = paritas_allocate_clear(context, 1, sizeof *state);
    if (!state) return paritas_fail_memory(context);
    accelerator->state = state;
    struct accelerator_properties *properties = &accelerator->properties;
    cuda_code code = 0;
    paritas_status status = load_driver(context, state);
    if (status == PARITAS_OK) status = find_device(context, accelerator, state, index);
    if (status == PARITAS_OK) status = cuda_load_nvrtc(context, accelerator->device, state);
    if (status != PARITAS_OK) return status;
    if (state->nvrtc_library)
        snprintf(properties->versions, sizeof properties->versions,
                 "CUDA %d.%d, NVRTC %d.%d, compute capability %u.%u", state->driver / 1000,
                 state->driver / 10 % 100, state->nvrtc_version / 1000, state->nvrtc_version / 10 % 100,
                 state->capability / 10, state->capability % 10);
    else
        snprintf(properties->versions, sizeof properties->versions,
                 "CUDA %d.%d, embedded kernels, compute capability %u.%u", state->driver / 1000,
                 state->driver / 10 % 100, state->capability / 10, state->capability % 10);
    if ((code = state->api.cuDevicePrimaryCtxRetain(&state->context, state->device)) != 0) {
        state->context = NULL;
        return accelerator_fail(context, accelerator, "cuDevicePrimaryCtxRetain", code);
    }
    state->stream = context->stream;
    if (state->stream) return PARITAS_OK;
    if ((code = state->api.cuCtxPushCurrent(state->context)) != 0)
        return accelerator_fail(context, accelerator, "cuCtxPushCurrent", code);
    code = state->api.cuStreamCreate(&state->stream, CUDA_STREAM_NON_BLOCKING);
    state->owns_stream = code == 0;
    state->api.cuCtxPopCurrent(&(cuda_context){NULL});
    return code == 0 ? PARITAS_OK : accelerator_fail(context, accelerator, "cuStreamCreate", code);
}

/* The context for the length of a call: enter, one expression, leave. */
#define IN_CONTEXT(state, code, call)                             \
    do {                                                          \
        (code) = (state)->api.cuCtxPushCurrent((state)->context); \
        if ((code) != 0) break;                                   \
        (code) = (call);                                          \
        (state)->api.cuCtxPopCurrent(&(cuda_context){NULL});      \
    } while (0)

static void cuda_close(struct accelerator *accelerator)
{
    struct cuda_state *state = accelerator->state;
    if (!state) return;
    cuda_code ignored = 0;
    if (state->owns_stream) IN_CONTEXT(state, ignored, state->api.cuStreamDestroy(state->stream));
    (void)ignored;
    if (state->context) state->api.cuDevicePrimaryCtxRelease(state->device);
    if (state->nvrtc_library) dlclose(state->nvrtc_library);
    if (state->library) dlclose(state->library);
    paritas_release(&accelerator->device->allocator, state);
    accelerator->state = NULL;
}

/* ---- memory ----------------------------------------------------------------------------------- */

static int cuda_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_memory address = 0;
    cuda_code code;
    IN_CONTEXT(state, code, state->api.cuMemAlloc(&address, bytes));
    *memory = code == 0 ? (void *)address : NULL;
    return code;
}

/* Waits until the stream has done all that it was given. */
static cuda_code wait_now(struct cuda_state *state)
{
    const cuda_code code = state->api.cuStreamSynchronize(state->stream);
    state->busy = code != 0;
    return code;
}

static cuda_code free_now(struct cuda_state *state, void *memory)
{
    if (state->busy) (void)wait_now(state); /* after a failure: what still runs may use it */
    return state->api.cuMemFree((cuda_memory)memory);
}

static void cuda_release(struct accelerator *accelerator, void *memory)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_code ignored;
    if (memory) IN_CONTEXT(state, ignored, free_now(state, memory));
}

static cuda_code write_now(struct cuda_state *state, void *memory, const void *from, size_t bytes)
{
    state->busy = true;
    const cuda_code code = state->api.cuMemcpyHtoDAsync((cuda_memory)memory, from, bytes, state->stream);
    /* a caller's memory that is pinned is read while the stream runs, not before the call returns */
    return code == 0 ? wait_now(state) : code;
}

static int cuda_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_code code;
    IN_CONTEXT(state, code, write_now(state, memory, from, bytes));
    return code;
}

static cuda_code read_now(struct cuda_state *state, void *to, void *memory, size_t bytes)
{
    state->busy = true;
    const cuda_code code = state->api.cuMemcpyDtoHAsync(to, (cuda_memory)memory, bytes, state->stream);
    return code == 0 ? wait_now(state) : code;
}

static int cuda_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_code code;
    IN_CONTEXT(state, code, read_now(state, to, memory, bytes));
    return code;
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static void cuda_options(const struct accelerator *accelerator, const struct accelerator_build *build,
                         char *line, size_t room)
{
    cuda_options_line(state_of(accelerator), build, line, room);
}

static paritas_status cuda_compile(paritas_context *context, struct accelerator *accelerator,
                                   const struct accelerator_build *build, void **binary, size_t *size)
{
    return cuda_compile_text(context, accelerator->device, state_of(accelerator), build, binary, size);
}

/* Is this a whole cubin or a whole text? The driver takes an address alone and would read past the end of
 * what is cut short. */
static bool is_whole(const unsigned char *binary, size_t size)
{
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1};
    enum { HEADER = 64, SECTIONS_AT = 40, SECTION_SIZE_AT = 58, SECTION_COUNT_AT = 60 };
    if (size >= HEADER && memcmp(binary, elf, sizeof elf) == 0) {
        uint64_t at;
        uint16_t bytes, count;
        memcpy(&at, binary + SECTIONS_AT, sizeof at);
        memcpy(&bytes, binary + SECTION_SIZE_AT, sizeof bytes);
        memcpy(&count, binary + SECTION_COUNT_AT, sizeof count);
        return at <= size && (uint64_t)bytes * count <= size - at;
    }
    return size > 1 && binary[size - 1] == '\0' && memchr(binary, '\0', size) == binary + size - 1 &&
           strstr((const char *)binary, ".version");
}

static cuda_code load_now(const struct cuda_state *state, const struct accelerator_build *build,
                          const void *binary, char *log, size_t room, cuda_module *module,
                          cuda_function *function, int *threads)
{
    int options[] = {CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)room};
    cuda_code code = state->api.cuModuleLoadDataEx(module, binary, 2, options, values);
    if (code != 0) {
        *module = NULL;
        return code;
    }
    code = state->api.cuModuleGetFunction(function, *module, build->entry);
    if (code == 0)
        code = state->api.cuFuncGetAttribute(threads, CUDA_FUNCTION_MAX_THREADS_PER_BLOCK, *function);
    /* no kernel has shared memory: all of it may be cache. A wish, which old drivers do not know */
    if (code == 0)
        (void)state->api.cuFuncSetAttribute(*function, CUDA_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT, 0);
    if (code != 0) {
        state->api.cuModuleUnload(*module);
        *module = NULL;
    }
    return code;
}

static paritas_status cuda_load(paritas_context *context, struct accelerator *accelerator,
                                const struct accelerator_build *build, const void *binary, size_t size,
                                struct accelerator_kernel *kernel)
{
    struct cuda_state *state = state_of(accelerator);
    char log[ACCELERATOR_LOG_SHOWN] = "";
    cuda_module module = NULL;
    cuda_function function = NULL;
    int threads = 0;
    if (!is_whole(binary, size))
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s': what should be kernel %s is neither machine code nor PTX",
                            accelerator->device->name, build->entry);
    cuda_code code;
    IN_CONTEXT(state, code, load_now(state, build, binary, log, sizeof log, &module, &function, &threads));
    log[sizeof log - 1] = '\0';
    accelerator_one_line(log);
    if (code != 0) {
        const char *reason = cuda_explain(code);
        return paritas_fail(context, cuda_memory_ran_out(code) ? PARITAS_OUT_OF_MEMORY : PARITAS_NO_DEVICE,
                            "device '%s': the driver refuses kernel %s: %s (code %d)%s%s",
                            accelerator->device->name, build->entry, reason ? reason : "no reason known",
                            code, *log ? ": " : "", log);
    }
    kernel->program = module;
    kernel->function = function;
    kernel->workers_most = threads > 0 ? (size_t)threads : 0;
    return PARITAS_OK;
}

static cuda_code unload_now(struct cuda_state *state, cuda_module module)
{
    if (state->busy) (void)wait_now(state);
    return state->api.cuModuleUnload(module);
}

static void cuda_unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_code ignored;
    if (kernel->program) IN_CONTEXT(state, ignored, unload_now(state, kernel->program));
    kernel->program = kernel->function = NULL;
}

static int cuda_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                    const struct accelerator_arguments *arguments, uint32_t teams)
{
    struct cuda_state *state = state_of(accelerator);
    struct accelerator_arguments a = *arguments;
    void *list[] = {&a.ints, &a.reals, &a.args, &a.in, &a.out, &a.slabs, &a.slab, &a.first_team};
    cuda_code code;
    state->busy = true;
    IN_CONTEXT(state, code,
               state->api.cuLaunchKernel(kernel->function, teams, 1, 1, kernel->workers, 1, 1, 0,
                                         state->stream, list, NULL));
    return code;
}

static int cuda_finish(struct accelerator *accelerator)
{
    struct cuda_state *state = state_of(accelerator);
    cuda_code code;
    IN_CONTEXT(state, code, wait_now(state));
    return code;
}

static const struct accelerator_operations operations =
    ACCELERATOR_OPERATIONS(cuda, "cuda", true, paritas_dialect_cuda);
ACCELERATOR_DEVICE(cuda, &operations);
