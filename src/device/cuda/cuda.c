/* cuda.c: NVIDIA devices by the driver interface, opened at run time. Block: team; thread: worker.
 *
 * All work is on one stream of the primary context, which libraries share; a caller's stream keeps our work
 * in order with theirs. Calls make the context current on their thread, then restore the caller's. */
#include "device/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

#define SLOW_F64 4        /* f32 : f64 speed; compute cards have 2, graphics cards 24 to 64 */
#define TEAMS_PER_UNIT 32 /* more than fit: the device starts blocks as others end */

static struct cuda_state *state_of(const struct accelerator *accelerator)
{
    return accelerator->state;
}

static const struct accelerator_code cuda_codes[] = {
    {CUDA_INVALID_VALUE, false, "invalid value"},
    {CUDA_OUT_OF_MEMORY, true, "out of memory"},
    {3, false, "not initialised"},
    {4, false, "the driver is shutting down"},
    {34, false, "the driver library is a stub of the toolkit's"},
    {46, false, "the device is unavailable"},
    {100, false, "no CUDA-capable device is detected"},
    {101, false, "invalid device"},
    {200, false, "the kernel image is invalid"},
    {201, false, "invalid context"},
    {209, false, "no kernel image for this device"},
    {214, false, "uncorrectable ECC error"},
    {218, false, "the PTX is invalid"},
    {222, false, "the PTX is of a later version than the driver knows"},
    {500, false, "not found"},
    {700, false, "illegal address"},
    {701, false, "too many resources requested for a launch"},
    {702, false, "the launch took longer than this device allows"},
    {709, false, "the context was destroyed"},
    {716, false, "misaligned address"},
    {719, false, "the launch failed"},
    {802, false, "the system is not ready yet"},
    {803, false, "the driver is older than CUDA on this system"},
    {804, false, "forward compatibility is not supported on this device"},
    {999, false, "unknown error"},
    {0, false, NULL}};

/* ---- open and close ---- */

static const char *const drivers[] = {PLATFORM_NAME("libcuda.so.1", "libcuda.so.1", "nvcuda.dll"), NULL};
static const char *const functions[] = {CUDA_FUNCTIONS(LIBRARY_NAME) NULL};
static const struct accelerator_libraries libraries = {
    .names = drivers, .hint = "it comes with NVIDIA's driver", .functions = functions};

/* Makes the device's context current; leave restores the caller's. */
static int cuda_enter(struct accelerator *accelerator)
{
    const struct cuda_state *state = state_of(accelerator);
    return state->api.cuCtxPushCurrent_v2(state->context);
}
static void cuda_leave(struct accelerator *accelerator)
{
    state_of(accelerator)->api.cuCtxPopCurrent_v2(&(cuda_context){NULL});
}

/* An attribute of the device; `fallback` if the driver does not know it. */
static int ask(const struct cuda_state *state, int attribute, int fallback)
{
    int value = fallback;
    return state->api.cuDeviceGetAttribute(&value, attribute, state->device) == 0 ? value : fallback;
}

static paritas_status find_device(paritas_context *context, struct accelerator *accelerator)
{
    struct cuda_state *state = state_of(accelerator);
    const unsigned index = accelerator->device->index;
    int count = 0;
    const paritas_status status = accelerator_check(context, accelerator, "cuInit", state->api.cuInit(0));
    if (status == PARITAS_NO_DEVICE) return DEVICE_ABSENT; /* the usual reason */
    TRY(status);
    TRY(accelerator_check(context, accelerator, "cuDeviceGetCount", state->api.cuDeviceGetCount(&count)));
    if (count < 0 || index >= (unsigned)count)
        return accelerator_absent(context, accelerator, "CUDA", count > 0 ? (unsigned)count : 0);
    return accelerator_check(context, accelerator, "cuDeviceGet",
                             state->api.cuDeviceGet(&state->device, (int)index));
}

static paritas_status examine(paritas_context *context, struct accelerator *accelerator)
{
    struct accelerator_properties *properties = &accelerator->properties;
    struct cuda_state *state = state_of(accelerator);
    const struct cuda_api *api = &state->api;
    size_t memory = 0;
    char compiler[40] = "embedded kernels";
    if (api->cuDeviceGetName(properties->name, (int)sizeof properties->name, state->device) != 0)
        snprintf(properties->name, sizeof properties->name, "unnamed");
    if (api->cuDeviceTotalMem_v2(&memory, state->device) != 0) memory = 0;
    api->cuDriverGetVersion(&state->driver);
    state->capability = (unsigned)(10 * ask(state, CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR, 0) +
                                   ask(state, CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR, 0));
    properties->memory = properties->largest_buffer = memory;
    properties->units = (uint32_t)ask(state, CUDA_DEVICE_MULTIPROCESSOR_COUNT, 1);
    properties->teams_per_unit = TEAMS_PER_UNIT;
    properties->slow_f64 = ask(state, CUDA_DEVICE_SINGLE_TO_DOUBLE_RATIO, 1) > SLOW_F64;
    properties->workers = CUDA_WORKERS;
    properties->workers_alone = ACCELERATOR_WORKERS_ALONE;
    properties->workers_most = (unsigned)ask(state, CUDA_DEVICE_MAX_THREADS_PER_BLOCK, 1024);
    if (ask(state, CUDA_DEVICE_COMPUTE_MODE, 0) == CUDA_COMPUTE_MODE_PROHIBITED)
        return paritas_fail(context, PARITAS_NO_DEVICE,
                            "device '%s' (%s): its compute mode prohibits programs",
                            accelerator->device->name, properties->name);
    const paritas_status status = cuda_load_nvrtc(context, accelerator);
    if (state->nvrtc_version)
        snprintf(compiler, sizeof compiler, "NVRTC %d.%d", state->nvrtc_version / 1000,
                 state->nvrtc_version / 10 % 100);
    snprintf(properties->versions, sizeof properties->versions, "CUDA %d.%d, %s, compute capability %u.%u",
             state->driver / 1000, state->driver / 10 % 100, compiler, state->capability / 10,
             state->capability % 10);
    return status;
}

static paritas_status open_stream(paritas_context *context, struct accelerator *accelerator)
{
    struct cuda_state *state = state_of(accelerator);
    accelerator->device->takes_stream = true;
    state->stream = accelerator->device->stream;
    if (state->stream) return PARITAS_OK;
    TRY(accelerator_check(context, accelerator, "cuCtxPushCurrent", cuda_enter(accelerator)));
    const cuda_code code = state->api.cuStreamCreate(&state->stream, CUDA_STREAM_NON_BLOCKING);
    state->owns_stream = code == 0;
    cuda_leave(accelerator);
    return accelerator_check(context, accelerator, "cuStreamCreate", code);
}

static paritas_status cuda_open(paritas_context *context, struct accelerator *accelerator)
{
    struct cuda_state *state = state_of(accelerator);
    TRY(find_device(context, accelerator));
    TRY(examine(context, accelerator));
    const cuda_code code = state->api.cuDevicePrimaryCtxRetain(&state->context, state->device);
    if (code == 0) return open_stream(context, accelerator);
    state->context = NULL;
    return accelerator_fail(context, accelerator, "cuDevicePrimaryCtxRetain", code);
}

static void cuda_close(struct accelerator *accelerator)
{
    struct cuda_state *state = accelerator->state;
    if (!state) return;
    if (state->owns_stream && cuda_enter(accelerator) == 0) {
        state->api.cuStreamDestroy_v2(state->stream);
        cuda_leave(accelerator);
    }
    if (state->context) state->api.cuDevicePrimaryCtxRelease_v2(state->device);
}

/* ---- memory ---- */

static int cuda_finish(struct accelerator *accelerator)
{
    struct cuda_state *state = state_of(accelerator);
    const cuda_code code = state->api.cuStreamSynchronize(state->stream);
    state->busy = code != 0;
    return code;
}

/* After a failure: running work may still use memory about to be freed. */
static void calm_down(struct accelerator *accelerator)
{
    if (state_of(accelerator)->busy) (void)cuda_finish(accelerator);
}

static int cuda_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    cuda_memory address = 0;
    const cuda_code code = state_of(accelerator)->api.cuMemAlloc_v2(&address, bytes);
    *memory = code == 0 ? (void *)address : NULL;
    return code;
}

static void cuda_release(struct accelerator *accelerator, void *memory)
{
    calm_down(accelerator);
    state_of(accelerator)->api.cuMemFree_v2((cuda_memory)memory);
}

static int cuda_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    struct cuda_state *state = state_of(accelerator);
    state->busy = true;
    const cuda_code code = state->api.cuMemcpyHtoDAsync_v2((cuda_memory)memory, from, bytes, state->stream);
    /* wait: pinned memory of a caller is read while the stream runs */
    return code == 0 ? cuda_finish(accelerator) : code;
}

static int cuda_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    struct cuda_state *state = state_of(accelerator);
    state->busy = true;
    const cuda_code code = state->api.cuMemcpyDtoHAsync_v2(to, (cuda_memory)memory, bytes, state->stream);
    return code == 0 ? cuda_finish(accelerator) : code;
}

/* ---- kernels ---- */

/* A whole cubin or text? The driver gets no length and would read past a cut end. */
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

static cuda_code find_entry(const struct cuda_api *api, const struct accelerator_build *build,
                            struct accelerator_kernel *kernel)
{
    cuda_function function = NULL;
    int threads = 0;
    cuda_code code = api->cuModuleGetFunction(&function, kernel->program, build->entry);
    if (code == 0) code = api->cuFuncGetAttribute(&threads, CUDA_FUNCTION_MAX_THREADS_PER_BLOCK, function);
    if (code != 0) return code;
    /* let shared memory be cache: no kernel uses it; old drivers ignore the wish */
    (void)api->cuFuncSetAttribute(function, CUDA_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT, 0);
    kernel->function = function;
    kernel->workers_most = threads > 0 ? (size_t)threads : 0;
    return 0;
}

static void cuda_unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    calm_down(accelerator);
    state_of(accelerator)->api.cuModuleUnload(kernel->program);
    kernel->program = kernel->function = NULL;
}

static paritas_status cuda_load(const struct accelerator_build *build, const void *binary, size_t size,
                                struct accelerator_kernel *kernel)
{
    const struct cuda_api *api = &state_of(build->accelerator)->api;
    char log[1500] = "it is neither machine code nor PTX";
    if (!is_whole(binary, size)) return accelerator_refuse(build, "the driver", 0, log);
    int options[] = {CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    cuda_module module = NULL;
    log[0] = '\0';
    cuda_code code = api->cuModuleLoadDataEx(&module, binary, 2, options, values);
    if (code == 0) {
        kernel->program = module;
        code = find_entry(api, build, kernel);
        if (code != 0) cuda_unload(build->accelerator, kernel);
    }
    log[sizeof log - 1] = '\0';
    return code == 0 ? PARITAS_OK : accelerator_refuse(build, "the driver", code, log);
}

static int cuda_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                    const struct accelerator_arguments *arguments, uint32_t teams)
{
    struct cuda_state *state = state_of(accelerator);
    struct accelerator_arguments copy = *arguments;
#define ARGUMENT(type, name) &copy.name,
    void *list[] = {ACCELERATOR_ARGUMENTS(ARGUMENT)};
#undef ARGUMENT
    state->busy = true;
    return state->api.cuLaunchKernel(kernel->function, teams, 1, 1, kernel->workers, 1, 1, 0, state->stream,
                                     list, NULL);
}

ACCELERATOR_DECLARE_DIALECT(paritas_dialect_cuda)
static const struct accelerator_operations operations = {ACCELERATOR_PRIMITIVES(cuda),
                                                         .libraries = &libraries,
                                                         .state_size = sizeof(struct cuda_state),
                                                         .enter = cuda_enter,
                                                         .leave = cuda_leave,
                                                         .compile = cuda_compile,
                                                         .codes = cuda_codes,
                                                         ACCELERATOR_DIALECT(paritas_dialect_cuda)};
const struct device_operations DEVICE_KIND(PARITAS_DEVICE_CUDA) = ACCELERATOR_DEVICE(&operations);
