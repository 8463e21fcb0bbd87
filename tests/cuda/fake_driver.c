/* fake_driver.c: see fake.h. One device at a time, one thread at a time. */
#include "cuda/cuda_fake.h"
#include "device/cuda/cuda_api.h"
#include "device/doom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define GUARD 64
#define GUARD_BYTE 0x5a
#define KEPT_MAX 256

enum {
    NOT_INITIALISED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719
};

struct cuda_context {
    int retained;
};
struct cuda_stream {
    int alive;
};
struct cuda_function {
    struct cuda_module *module;
};
struct cuda_module {
    struct fake_image image;
    native_kernel run;
    struct cuda_function function;
};
struct memory {
    unsigned char *begin; /* of the guard in front */
    size_t bytes;
};
struct work {
    enum { TO_DEVICE, TO_HOST, LAUNCH } kind;
    void *to;
    const void *from;
    size_t bytes;
    struct cuda_function *function;
    struct accelerator_values {
        void *pointers[6];
        uint32_t slab, first_team;
    } values;
    unsigned blocks;
};

static struct fake_cuda fake = FAKE_CUDA_AT_FIRST;
static struct {
    int initialised;
    struct cuda_context primary, *stack[8];
    int depth;
    struct cuda_stream streams[4];
    struct cuda_module *modules[KEPT_MAX];
    struct memory memory[KEPT_MAX];
    struct work queue[KEPT_MAX];
    unsigned queued;
} driver;

EXPORT struct fake_cuda *fake_cuda(void);
EXPORT int fake_call(const char *name);
struct fake_cuda *fake_cuda(void)
{
    return &fake;
}

int fake_call(const char *name)
{
    doom(++fake.calls);
    if (fake.fail_at == 0 || fake.calls < fake.fail_at || (fake.calls > fake.fail_at && !fake.fail_on))
        return 0;
    fake.failed = name;
    return fake.fail_code;
}

int fake_fault(int code, const char *format, ...)
{
    if (fake.fault[0]) return code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fake.fault, sizeof fake.fault, format, arguments);
    va_end(arguments);
    return code;
}

/* In front of every call: counted, and with the device's context where it needs one. */
#define CALL(needs_context)                                                                        \
    do {                                                                                           \
        if (!driver.initialised) return fake_fault(NOT_INITIALISED, "%s before cuInit", __func__); \
        if ((needs_context) && fake.current != &driver.primary)                                    \
            return fake_fault(INVALID_CONTEXT, "%s without the device's context", __func__);       \
        const int code_ = fake_call(__func__);                                                     \
        if (code_) return code_;                                                                   \
    } while (0)
/* The same for a call that releases: it does so first. */
#define RELEASED(needs_context)                                                              \
    do {                                                                                     \
        if ((needs_context) && fake.current != &driver.primary)                              \
            return fake_fault(INVALID_CONTEXT, "%s without the device's context", __func__); \
        return fake_call(__func__);                                                          \
    } while (0)

#define X(type, name, parameters) EXPORT type name parameters;
CUDA_FUNCTIONS(X)
#undef X

/* ---- device and context ---- */

int cuInit(unsigned flags)
{
    if (flags) return fake_fault(CUDA_INVALID_VALUE, "cuInit: flags");
    const int code = fake_call(__func__);
    if (code) return code;
    driver.initialised = 1;
    return fake.devices ? 0 : 100;
}

int cuDriverGetVersion(int *version)
{
    *version = fake.driver;
    return fake_call(__func__);
}

int cuDeviceGetCount(int *count)
{
    CALL(0);
    *count = fake.devices;
    return 0;
}

int cuDeviceGet(cuda_device *device, int index)
{
    CALL(0);
    if (index < 0 || index >= fake.devices) return fake_fault(INVALID_DEVICE, "device %d", index);
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int room, cuda_device device)
{
    CALL(0);
    snprintf(name, (size_t)room, "Stand-in %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, cuda_device device)
{
    (void)device;
    CALL(0);
    *bytes = fake.memory;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, cuda_device device)
{
    (void)device;
    CALL(0);
    switch (attribute) {
    case CUDA_DEVICE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    case CUDA_DEVICE_MULTIPROCESSOR_COUNT:
        *value = 2;
        break;
    case CUDA_DEVICE_COMPUTE_MODE:
        *value = fake.prohibited ? CUDA_COMPUTE_MODE_PROHIBITED : 0;
        break;
    case CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR:
        *value = fake.major;
        break;
    case CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR:
        *value = fake.minor;
        break;
    case CUDA_DEVICE_SINGLE_TO_DOUBLE_RATIO:
        *value = fake.ratio;
        break;
    default:
        return CUDA_INVALID_VALUE;
    }
    return 0;
}

int cuDevicePrimaryCtxRetain(cuda_context *context, cuda_device device)
{
    (void)device;
    CALL(0);
    driver.primary.retained++;
    fake.in_use++;
    *context = &driver.primary;
    return 0;
}

/* The context's last holder lets go: all that is in it goes, which on a device that works is a leak. */
static void end_context(void)
{
    const long before = fake.in_use;
    for (int k = 0; k < 4; k++) {
        fake.in_use -= driver.streams[k].alive;
        driver.streams[k].alive = 0;
    }
    for (int k = 0; k < KEPT_MAX; k++) {
        if (driver.modules[k]) fake.in_use--;
        if (driver.memory[k].begin) fake.in_use--;
        free(driver.modules[k]);
        free(driver.memory[k].begin);
        driver.modules[k] = NULL;
        driver.memory[k].begin = NULL;
    }
    fake.allocated = 0;
    driver.queued = 0;
    const int excused = fake.fail_on || (fake.failed && strcmp(fake.failed, "cuCtxPushCurrent_v2") == 0);
    if (fake.in_use != before && !excused)
        fake_fault(0, "%ld things are held as the context goes", before - fake.in_use);
}

int cuDevicePrimaryCtxRelease_v2(cuda_device device)
{
    (void)device;
    if (driver.primary.retained <= 0)
        return fake_fault(INVALID_CONTEXT, "a context that is not held is released");
    driver.primary.retained--;
    fake.in_use--;
    if (driver.primary.retained == 0) end_context();
    RELEASED(0);
}

int cuCtxPushCurrent_v2(cuda_context context)
{
    CALL(0);
    if (context == &driver.primary && driver.primary.retained <= 0)
        return fake_fault(INVALID_CONTEXT, "a context that is not held is pushed");
    if (driver.depth == 8) return fake_fault(INVALID_CONTEXT, "contexts are pushed and not popped");
    driver.stack[driver.depth++] = context;
    fake.current = context;
    return 0;
}

int cuCtxPopCurrent_v2(cuda_context *context)
{
    if (driver.depth == 0) return fake_fault(INVALID_CONTEXT, "more contexts are popped than pushed");
    *context = driver.stack[--driver.depth];
    fake.current = driver.depth ? driver.stack[driver.depth - 1] : NULL;
    RELEASED(0);
}

/* ---- memory ---- */

static struct memory *memory_at(uintptr_t address)
{
    for (int k = 0; k < KEPT_MAX; k++)
        if (driver.memory[k].begin && (uintptr_t)driver.memory[k].begin + GUARD <= address &&
            address < (uintptr_t)driver.memory[k].begin + GUARD + driver.memory[k].bytes)
            return &driver.memory[k];
    return NULL;
}

uintptr_t fake_memory(uintptr_t address, size_t *bytes)
{
    const struct memory *memory = memory_at(address);
    *bytes = memory ? memory->bytes : 0;
    return memory ? (uintptr_t)memory->begin + GUARD : 0;
}

static int is_inside(uintptr_t address, size_t bytes)
{
    const struct memory *memory = memory_at(address);
    return memory && bytes <= memory->bytes - (address - ((uintptr_t)memory->begin + GUARD));
}

static void look_at_guards(void)
{
    for (int k = 0; k < KEPT_MAX; k++)
        for (size_t i = 0; driver.memory[k].begin && i < 2 * GUARD; i++) {
            const unsigned char *byte = driver.memory[k].begin + i + (i < GUARD ? 0 : driver.memory[k].bytes);
            if (*byte != GUARD_BYTE)
                fake_fault(0, "something wrote beside a memory of %zu bytes", driver.memory[k].bytes);
        }
}

int cuMemAlloc_v2(cuda_memory *memory, size_t bytes)
{
    CALL(1);
    if (bytes == 0) return fake_fault(CUDA_INVALID_VALUE, "a memory of no bytes");
    if (fake.allocated + bytes > fake.memory) return CUDA_OUT_OF_MEMORY;
    int k = 0;
    while (k < KEPT_MAX && driver.memory[k].begin) k++;
    if (k == KEPT_MAX || !(driver.memory[k].begin = malloc(bytes + 2 * GUARD))) return CUDA_OUT_OF_MEMORY;
    driver.memory[k].bytes = bytes;
    memset(driver.memory[k].begin, GUARD_BYTE, bytes + 2 * GUARD);
    memset(driver.memory[k].begin + GUARD, 0xff, bytes);
    *memory = (uintptr_t)driver.memory[k].begin + GUARD;
    fake.allocated += bytes;
    fake.allocations++;
    fake.in_use++;
    return 0;
}

int cuMemFree_v2(cuda_memory address)
{
    struct memory *memory = memory_at(address);
    if (!memory || address != (uintptr_t)memory->begin + GUARD)
        return fake_fault(CUDA_INVALID_VALUE, "memory is freed that was not allocated");
    if (driver.queued) fake_fault(0, "memory is freed while work is queued");
    look_at_guards();
    fake.allocated -= memory->bytes;
    free(memory->begin);
    memory->begin = NULL;
    fake.in_use--;
    RELEASED(1);
}

static int is_stream(cuda_stream stream)
{
    for (int k = 0; k < 4; k++)
        if (stream == &driver.streams[k]) return stream->alive;
    return 0;
}

static int enqueue(cuda_stream stream, struct work work)
{
    if (!is_stream(stream)) return fake_fault(INVALID_HANDLE, "work for no stream");
    if (driver.queued == KEPT_MAX) return fake_fault(CUDA_OUT_OF_MEMORY, "nobody waits for the stream");
    driver.queue[driver.queued++] = work;
    fake.last_stream = stream;
    return 0;
}

int cuMemcpyHtoDAsync_v2(cuda_memory to, const void *from, size_t bytes, cuda_stream stream)
{
    CALL(1);
    if (!is_inside(to, bytes))
        return fake_fault(CUDA_INVALID_VALUE, "a copy of %zu bytes reaches beyond its memory", bytes);
    return enqueue(stream, (struct work){.kind = TO_DEVICE, .to = (void *)to, .from = from, .bytes = bytes});
}

int cuMemcpyDtoHAsync_v2(void *to, cuda_memory from, size_t bytes, cuda_stream stream)
{
    CALL(1);
    if (!is_inside(from, bytes))
        return fake_fault(CUDA_INVALID_VALUE, "a copy of %zu bytes reaches beyond its memory", bytes);
    return enqueue(stream,
                   (struct work){.kind = TO_HOST, .to = to, .from = (const void *)from, .bytes = bytes});
}

/* ---- kernels ---- */

/* What a PTX of NVRTC's own holds. */
static struct fake_image image_of_ptx(const char *ptx)
{
    struct fake_image image = {.precision = strstr(ptx, ".f64") ? 64 : 32};
    const char *entry = strstr(ptx, ".entry "), *threads = strstr(ptx, ".maxntid "),
               *target = strstr(ptx, ".target sm_");
    if (!entry || !threads || !target || sscanf(entry, ".entry %63[a-z_0-9]", image.entry) != 1 ||
        sscanf(threads, ".maxntid %u", &image.workers) != 1 ||
        sscanf(target, ".target sm_%u", &image.architecture) != 1)
        return image;
    memcpy(image.magic, FAKE_MAGIC, sizeof image.magic);
    return image;
}

int cuModuleLoadDataEx(cuda_module *module, const void *image, unsigned n, int *options, void **values)
{
    CALL(1);
    struct fake_image found = {.precision = 0};
    if (n != 2 || options[0] != CUDA_JIT_ERROR_LOG_BUFFER ||
        options[1] != CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || !values[0])
        return fake_fault(CUDA_INVALID_VALUE, "options of cuModuleLoadDataEx");
    if (memcmp(image, "\177ELF", 4) == 0)
        memcpy(&found, (const char *)image + FAKE_HEADER, sizeof found);
    else if (strncmp(image, FAKE_PTX, strlen(FAKE_PTX)) == 0 &&
             sscanf((const char *)image + strlen(FAKE_PTX), "%63s %u %u %u", found.entry, &found.precision,
                    &found.workers, &found.architecture) == 4)
        memcpy(found.magic, FAKE_MAGIC, sizeof found.magic);
    else if (strstr(image, ".version "))
        found = image_of_ptx(image);
    native_kernel run = NULL;
    if (memcmp(found.magic, FAKE_MAGIC, sizeof found.magic) == 0) {
        const unsigned own = (unsigned)(10 * fake.major + fake.minor);
        if (memcmp(image, "\177ELF", 4) == 0 ? found.architecture != own : found.architecture > own)
            return NO_BINARY;
        run = fake_kernel(&found, image);
    }
    if (!run) {
        snprintf(values[0], (size_t)(uintptr_t)values[1], "ptxas: nothing\nof ours");
        return INVALID_IMAGE;
    }
    int k = 0;
    while (k < KEPT_MAX && driver.modules[k]) k++;
    if (k == KEPT_MAX || !(driver.modules[k] = calloc(1, sizeof **driver.modules))) return CUDA_OUT_OF_MEMORY;
    driver.modules[k]->image = found;
    driver.modules[k]->run = run;
    driver.modules[k]->function.module = driver.modules[k];
    *module = driver.modules[k];
    fake.in_use++;
    return 0;
}

static struct cuda_module **place_of(const struct cuda_module *module)
{
    for (int k = 0; k < KEPT_MAX; k++)
        if (module && driver.modules[k] == module) return &driver.modules[k];
    return NULL;
}

int cuModuleUnload(cuda_module module)
{
    struct cuda_module **place = place_of(module);
    if (!place) return fake_fault(INVALID_HANDLE, "a module is unloaded that was not loaded");
    if (driver.queued) fake_fault(0, "a module is unloaded while work is queued");
    free(module);
    *place = NULL;
    fake.in_use--;
    RELEASED(1);
}

int cuModuleGetFunction(cuda_function *function, cuda_module module, const char *name)
{
    CALL(1);
    if (!place_of(module)) return fake_fault(INVALID_HANDLE, "no module");
    if (strcmp(name, module->image.entry) != 0) return NOT_FOUND;
    *function = &module->function;
    return 0;
}

int cuFuncGetAttribute(int *value, int attribute, cuda_function function)
{
    CALL(1);
    if (attribute != CUDA_FUNCTION_MAX_THREADS_PER_BLOCK || !place_of(function->module))
        return fake_fault(CUDA_INVALID_VALUE, "attribute %d", attribute);
    *value = fake.threads_most;
    return 0;
}

int cuFuncSetAttribute(cuda_function function, int attribute, int value)
{
    CALL(1);
    if (attribute != CUDA_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT || value < 0 || value > 100 ||
        !place_of(function->module))
        return fake_fault(CUDA_INVALID_VALUE, "attribute %d := %d", attribute, value);
    return 0;
}

int cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, cuda_stream stream,
                   void **arguments, void **extra)
{
    CALL(1);
    if (!function || !place_of(function->module)) return fake_fault(INVALID_HANDLE, "no kernel");
    const struct fake_image *image = &function->module->image;
    if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || shared != 0 || extra)
        return fake_fault(CUDA_INVALID_VALUE, "shape of a launch");
    if (block_x != image->workers)
        return fake_fault(CUDA_INVALID_VALUE, "blocks of %u threads of a kernel for %u", block_x,
                          image->workers);
    if ((int)block_x > fake.threads_most) return fake_fault(701, "blocks of %u threads", block_x);
    struct work work = {.kind = LAUNCH, .function = function, .blocks = grid_x};
    for (int k = 0; k < 6; k++) {
        memcpy(&work.values.pointers[k], arguments[k], sizeof work.values.pointers[k]);
        const struct memory *memory = memory_at((uintptr_t)work.values.pointers[k]);
        if (!memory || (uintptr_t)work.values.pointers[k] != (uintptr_t)memory->begin + GUARD)
            return fake_fault(CUDA_INVALID_VALUE, "argument %d is no memory of the device", k);
    }
    memcpy(&work.values.slab, arguments[6], sizeof work.values.slab);
    memcpy(&work.values.first_team, arguments[7], sizeof work.values.first_team);
    if (!is_inside((uintptr_t)work.values.pointers[5],
                   (size_t)work.values.slab * grid_x * (image->precision / 8)))
        return fake_fault(CUDA_INVALID_VALUE, "the slabs of %u teams reach beyond their memory", grid_x);
    fake.launches++;
    return enqueue(stream, work);
}

static int run_kernel(const struct work *work)
{
    const struct fake_image *image = &work->function->module->image;
    struct accelerator_values values = work->values;
    void *arguments[8];
    for (int k = 0; k < 6; k++) arguments[k] = &values.pointers[k];
    arguments[6] = &values.slab;
    arguments[7] = &values.first_team;
    native_workers = image->workers;
    fake.ran++;
    native_settings = (struct native_settings){.order = fake.order, .seed = fake.launches};
    const char *wrong = native_run(work->function->module->run, arguments, work->blocks);
    look_at_guards();
    if (wrong) fake_fault(0, "%s", wrong);
    return fake.fault[0] ? LAUNCH_FAILED : 0;
}

/* ---- streams ---- */

int cuStreamCreate(cuda_stream *stream, unsigned flags)
{
    CALL(1);
    if (flags != CUDA_STREAM_NON_BLOCKING) return fake_fault(CUDA_INVALID_VALUE, "flags of a stream");
    for (int k = 0; k < 4; k++) {
        if (driver.streams[k].alive) continue;
        driver.streams[k].alive = 1;
        *stream = &driver.streams[k];
        fake.streams++;
        fake.in_use++;
        return 0;
    }
    return CUDA_OUT_OF_MEMORY;
}

int cuStreamDestroy_v2(cuda_stream stream)
{
    if (!is_stream(stream)) return fake_fault(INVALID_HANDLE, "a stream is destroyed that is none");
    stream->alive = 0;
    fake.in_use--;
    RELEASED(1);
}

int cuStreamSynchronize(cuda_stream stream)
{
    if (!is_stream(stream)) return fake_fault(INVALID_HANDLE, "no stream is waited for");
    int code = fake.current == &driver.primary
                   ? fake_call(__func__)
                   : fake_fault(INVALID_CONTEXT, "cuStreamSynchronize without the device's context");
    for (unsigned k = 0; k < driver.queued && code == 0; k++) {
        const struct work *work = &driver.queue[k];
        if (work->kind == LAUNCH)
            code = run_kernel(work);
        else
            memcpy(work->to, work->from, work->bytes);
        fake.copies += work->kind != LAUNCH;
    }
    driver.queued = 0; /* a failure ends all that was queued */
    return code;
}
