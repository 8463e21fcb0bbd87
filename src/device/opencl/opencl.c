/* opencl.c: any OpenCL 1.2 device, plainly: one work-group a team, one launch of an entry at a time, nothing overlapped.
 *
 *   open:   load libOpenCL ─► pick device i over all platforms ─► build the first entry: the driver takes the kernels' text
 *   launch: build the entry, once ─► rows up ─► work-groups in chunks, as many at once as their slabs fit into memory ─► rows down
 *
 * The driver's memory is its own; everything on the host comes from the context's allocator.
 */
#include "device/opencl/opencl.h"
#include "device/precision.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern const unsigned char paritas_kernel_text[];
extern const size_t paritas_kernel_text_size;

#define PLATFORMS_MAX 16
#define DEVICES_MAX 64
#define LOG_SHOWN 1500 /* bytes of a compiler's log that a message carries */
#define GPU_WORKERS 64
#define GPU_TEAMS_PER_UNIT 16 /* enough to hide the latency of memory */
#define CPU_TEAMS_PER_UNIT 4
#define SLABS_SHARE 2 /* slabs may take one part in so many of the device's memory */

struct opencl_model {
    opencl_memory ints, reals;
};

/* Is this the driver's way of saying that memory ran out? Some say so only when a kernel is started. */
static bool memory_ran_out(opencl_code code)
{
    return code == OPENCL_MEM_OBJECT_ALLOCATION_FAILURE || code == OPENCL_OUT_OF_RESOURCES || code == OPENCL_OUT_OF_HOST_MEMORY ||
           code == OPENCL_INVALID_BUFFER_SIZE;
}

/* The failure of a call: out of memory or a device that does not work. */
static paritas_status fail_call(paritas_context *context, const struct paritas_device *device, const char *call, opencl_code code)
{
    return paritas_fail(context, memory_ran_out(code) ? PARITAS_OUT_OF_MEMORY : PARITAS_NO_DEVICE, "device '%s': %s failed with code %d",
                        device->name, call, (int)code);
}

/* ---- open ------------------------------------------------------------------------------------- */

/* Finds the loader and its functions. The loader is never unloaded: drivers keep threads of their own running in it. */
static paritas_status load_api(paritas_context *context, struct opencl_state *state)
{
    static const char *const names[] = {
#if defined(__APPLE__)
        "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#else
        "libOpenCL.so.1",
        "libOpenCL.so",
#endif
    };
    int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_NODELETE)
    flags |= RTLD_NODELETE;
#endif
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !state->library; k++) state->library = dlopen(names[k], flags);
    if (!state->library) return paritas_fail(context, PARITAS_NO_DEVICE, "device 'opencl': %s is not installed", names[0]);
    void *address;
#define X(type, name, parameters)                                                                                                          \
    address = dlsym(state->library, #name);                                                                                                \
    if (!address) return paritas_fail(context, PARITAS_NO_DEVICE, "device 'opencl': %s is not in the installed library", #name);           \
    memcpy(&state->api.name, &address, sizeof address); /* the one conversion to a function that ISO C leaves */
    OPENCL_FUNCTIONS(X)
#undef X
    return PARITAS_OK;
}

/* Device number `index` over the devices of all platforms. */
static paritas_status find_device(paritas_context *context, struct opencl_state *state, unsigned index)
{
    opencl_platform platforms[PLATFORMS_MAX];
    uint32_t n_platforms = 0, found = 0;
    /* a loader without a single driver answers a code of an extension's, which means none as well */
    if (state->api.clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != 0) n_platforms = 0;
    if (n_platforms > PLATFORMS_MAX) n_platforms = PLATFORMS_MAX;
    if (n_platforms == 0)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device 'opencl': there is no OpenCL platform (no driver is installed)");
    for (uint32_t p = 0; p < n_platforms; p++) {
        opencl_device devices[DEVICES_MAX];
        uint32_t n = 0;
        if (state->api.clGetDeviceIDs(platforms[p], OPENCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &n) != 0) continue;
        if (n > DEVICES_MAX) n = DEVICES_MAX;
        if (index - found < n) {
            state->device = devices[index - found];
            return PARITAS_OK;
        }
        found += n;
    }
    return paritas_fail(context, PARITAS_NO_DEVICE, "device 'opencl:%u': there are %u OpenCL devices", index, found);
}

/* One property of the device; `value` keeps what it held where the driver does not know it. */
static void ask_device(const struct opencl_state *state, uint32_t what, void *value, size_t size)
{
    char answer[sizeof(uint64_t)];
    size_t answered = 0;
    if (state->api.clGetDeviceInfo(state->device, what, sizeof answer, answer, &answered) == 0 && answered == size)
        memcpy(value, answer, size);
}

static void ask_text(const struct opencl_state *state, uint32_t what, char *text, size_t size)
{
    if (state->api.clGetDeviceInfo(state->device, what, size, text, NULL) != 0) text[0] = '\0';
    text[size - 1] = '\0';
}

/* Properties of the device; refuses one that cannot give the bits in this precision. */
static paritas_status examine(paritas_context *context, struct paritas_device *device, struct opencl_state *state)
{
    char name[128], driver[64];
    uint64_t type = 0, doubles = 0, singles = 0;
    uint32_t available = 0, compiler = 0;
    size_t largest_group = 1;
    state->compute_units = 1;
    ask_text(state, OPENCL_DEVICE_NAME, name, sizeof name);
    ask_text(state, OPENCL_DRIVER_VERSION, driver, sizeof driver);
    ask_device(state, OPENCL_DEVICE_TYPE, &type, sizeof type);
    ask_device(state, OPENCL_DEVICE_AVAILABLE, &available, sizeof available);
    ask_device(state, OPENCL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    ask_device(state, OPENCL_DEVICE_DOUBLE_FP_CONFIG, &doubles, sizeof doubles);
    ask_device(state, OPENCL_DEVICE_SINGLE_FP_CONFIG, &singles, sizeof singles);
    ask_device(state, OPENCL_DEVICE_MAX_COMPUTE_UNITS, &state->compute_units, sizeof state->compute_units);
    ask_device(state, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE, &largest_group, sizeof largest_group);
    ask_device(state, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE, &state->largest_buffer, sizeof state->largest_buffer);
    ask_device(state, OPENCL_DEVICE_GLOBAL_MEM_SIZE, &state->memory, sizeof state->memory);
    state->is_cpu = (type & OPENCL_DEVICE_TYPE_CPU) != 0;
    state->workers = device->workers ? device->workers : state->is_cpu ? 1 : GPU_WORKERS;
    while (!device->workers && state->workers > 1 && state->workers > largest_group) state->workers /= 2;
    snprintf(state->description, sizeof state->description, "%s, driver %s", name, driver);
    if (!available || !compiler)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): %s", device->name, name,
                            available ? "its driver has no compiler" : "it is not available");
    if (state->workers > largest_group)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "workers %u: device '%s' takes at most %zu", device->workers, device->name,
                            largest_group);
    if (device->precision == 64 && doubles == 0)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): it has no arithmetic in precision 64, only in 32", device->name,
                            name);
    if (device->precision == 32 && (singles & OPENCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) == 0)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): in precision 32 it does not round quotients and roots correctly",
                            device->name, name);
    if (device->precision == 32 && (singles & OPENCL_FP_DENORM) == 0)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): in precision 32 it takes subnormal numbers for zeros",
                            device->name, name);
    return PARITAS_OK;
}

/* ---- entries ---------------------------------------------------------------------------------- */

static void release_entry(const struct opencl_state *state, struct opencl_entry *entry)
{
    if (entry->kernel) state->api.clReleaseKernel(entry->kernel);
    if (entry->program) state->api.clReleaseProgram(entry->program);
    *entry = (struct opencl_entry){NULL, NULL, 0};
}

/* The message of a text that the driver's compiler refused. */
static paritas_status fail_build(paritas_context *context, const struct paritas_device *device, opencl_program program, opencl_code code)
{
    const struct opencl_state *state = device->state;
    size_t size = 0;
    char *log = NULL;
    if (state->api.clGetProgramBuildInfo(program, state->device, OPENCL_PROGRAM_BUILD_LOG, 0, NULL, &size) == 0 && size > 0)
        log = paritas_allocate_clear(context, size + 1, 1);
    if (log) state->api.clGetProgramBuildInfo(program, state->device, OPENCL_PROGRAM_BUILD_LOG, size, log, NULL);
    for (char *c = log; c && *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r') *c = ' ';
    const paritas_status status =
        paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): its compiler refuses the kernels (code %d): %.*s", device->name,
                     state->description, (int)code, LOG_SHOWN, log && *log ? log : "it does not say why");
    paritas_release(&context->allocator, log);
    return status;
}

/* Builds an entry for work-groups of `entry->workers`; *limit: how many the device could run of it. */
static paritas_status build_entry(paritas_context *context, const struct paritas_device *device, const char *name,
                                  struct opencl_entry *entry, size_t *limit)
{
    const struct opencl_state *state = device->state;
    const char *text = (const char *)paritas_kernel_text;
    /* On a processor a work-group of several work-items is one thread that runs through all of them between barriers. Its compiler
     * unfolds the kernels that way first, and optimising what comes out takes minutes (PoCL 3.1: 150 s for a fit, 30 s without). */
    const bool unfolded = state->is_cpu && entry->workers != 1;
    char options[192];
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DPARITAS_F64=%d -DPARITAS_WORKERS=%u -DPARITAS_ENTRY=%s%s%s", device->precision == 64,
             entry->workers, name, device->precision == 32 ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             unfolded ? " -cl-opt-disable" : "");
    opencl_code code = 0;
    entry->program = state->api.clCreateProgramWithSource(state->context, 1, &text, &paritas_kernel_text_size, &code);
    if (!entry->program) return fail_call(context, device, "clCreateProgramWithSource", code);
    code = state->api.clBuildProgram(entry->program, 1, &state->device, options, NULL, NULL);
    if (code != 0) return fail_build(context, device, entry->program, code);
    entry->kernel = state->api.clCreateKernel(entry->program, name, &code);
    if (!entry->kernel) return fail_call(context, device, "clCreateKernel", code);
    code = state->api.clGetKernelWorkGroupInfo(entry->kernel, state->device, OPENCL_KERNEL_WORK_GROUP_SIZE, sizeof *limit, limit, NULL);
    return code == 0 ? PARITAS_OK : fail_call(context, device, "clGetKernelWorkGroupInfo", code);
}

/* Sees to it that an entry is built. One that needs too many registers for the device's own choice of a work-group gets a smaller
 * one; a size that was asked for is kept or refused. */
static paritas_status prepare_entry(paritas_context *context, struct paritas_device *device, enum kernel_entry number)
{
    static const char *const names[] = {
#define X(name) #name,
        PARITAS_KERNEL_ENTRIES(X)
#undef X
    };
    struct opencl_state *state = device->state;
    struct opencl_entry *entry = &state->entries[number];
    paritas_status status = PARITAS_OK;
    for (unsigned workers = state->workers; status == PARITAS_OK && !entry->kernel; workers /= 2) {
        size_t limit = 0;
        entry->workers = workers;
        status = build_entry(context, device, names[number], entry, &limit);
        if (status != PARITAS_OK || workers <= limit || workers == 1) break;
        release_entry(state, entry);
        if (device->workers)
            status = paritas_fail(context, PARITAS_INVALID_ARGUMENT, "workers %u: device '%s' takes at most %zu for %s", device->workers,
                                  device->name, limit, names[number]);
    }
    if (status != PARITAS_OK) release_entry(state, entry);
    return status;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

static paritas_status opencl_open(paritas_context *context, struct paritas_device *device, const char *isa, unsigned index)
{
    (void)isa; /* of the CPU */
    struct opencl_state *state = paritas_allocate_clear(context, 1, sizeof *state);
    if (!state) return paritas_fail_memory(context);
    device->state = state;
    snprintf(device->name, sizeof device->name, "opencl:%u", index);
    opencl_code code = 0;
    paritas_status status = load_api(context, state);
    if (status == PARITAS_OK) status = find_device(context, state, index);
    if (status == PARITAS_OK) status = examine(context, device, state);
    if (status == PARITAS_OK && !(state->context = state->api.clCreateContext(NULL, 1, &state->device, NULL, NULL, &code)))
        status = fail_call(context, device, "clCreateContext", code);
    if (status == PARITAS_OK && !(state->queue = state->api.clCreateCommandQueue(state->context, state->device, 0, &code)))
        status = fail_call(context, device, "clCreateCommandQueue", code);
    if (status == PARITAS_OK) status = prepare_entry(context, device, 0); /* a driver that refuses the text is no device */
    if (status != PARITAS_OK) device->operations->close(device);
    return status;
}

static void release_buffer(const struct opencl_state *state, struct opencl_buffer *buffer)
{
    if (buffer->memory) state->api.clReleaseMemObject(buffer->memory);
    *buffer = (struct opencl_buffer){NULL, 0};
}

static void opencl_close(struct paritas_device *device)
{
    struct opencl_state *state = device->state;
    if (!state) return;
    release_buffer(state, &state->args);
    release_buffer(state, &state->in);
    release_buffer(state, &state->out);
    release_buffer(state, &state->slabs);
    for (size_t k = 0; k < PARITAS_KERNEL_ENTRY_COUNT; k++) release_entry(state, &state->entries[k]);
    if (state->queue) state->api.clReleaseCommandQueue(state->queue);
    if (state->context) state->api.clReleaseContext(state->context);
    if (state->library) dlclose(state->library);
    paritas_release(&device->allocator, state);
    device->state = NULL;
}

static const char *opencl_describe(const struct paritas_device *device)
{
    return ((const struct opencl_state *)device->state)->description;
}

/* ---- models ----------------------------------------------------------------------------------- */

/* `count` numbers of f64 in the device's precision. Where that is 64 they are the given ones, else a copy that the caller
 * releases. NULL: out of memory. */
static const void *in_precision(paritas_context *context, const struct paritas_device *device, const double *numbers, size_t count)
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

static void opencl_model_release(struct paritas_device *device, void *handle)
{
    const struct opencl_state *state = device->state;
    struct opencl_model *model = handle;
    if (!model) return;
    if (model->ints) state->api.clReleaseMemObject(model->ints);
    if (model->reals) state->api.clReleaseMemObject(model->reals);
    paritas_release(&device->allocator, model);
}

/* A table in device memory. NULL with *code on failure. An empty one gets one element, since OpenCL knows no empty buffers. */
static opencl_memory upload_table(const struct opencl_state *state, const void *table, size_t bytes, opencl_code *code)
{
    static const uint64_t nothing = 0;
    if (bytes == 0)
        return state->api.clCreateBuffer(state->context, OPENCL_MEM_READ_ONLY | OPENCL_MEM_COPY_HOST_PTR, sizeof nothing, (void *)&nothing,
                                         code);
    return state->api.clCreateBuffer(state->context, OPENCL_MEM_READ_ONLY | OPENCL_MEM_COPY_HOST_PTR, bytes, (void *)table, code);
}

static paritas_status opencl_model_upload(paritas_context *context, struct paritas_device *device, const struct device_tables *tables,
                                          void **handle)
{
    const struct opencl_state *state = device->state;
    *handle = NULL;
    struct opencl_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    const void *reals = in_precision(context, device, tables->reals, tables->n_reals);
    paritas_status status = model && reals ? PARITAS_OK : paritas_fail_memory(context);
    opencl_code code = 0;
    if (status == PARITAS_OK) {
        model->ints = upload_table(state, tables->ints, tables->n_ints * sizeof *tables->ints, &code);
        if (model->ints) model->reals = upload_table(state, reals, tables->n_reals * (device->precision / 8), &code);
        if (!model->reals) status = fail_call(context, device, "clCreateBuffer", code);
    }
    release_precision(device, reals);
    if (status != PARITAS_OK) {
        opencl_model_release(device, model);
        return status;
    }
    device->uploads++;
    *handle = model;
    return PARITAS_OK;
}

/* ---- launches --------------------------------------------------------------------------------- */

/* Sees to it that a buffer has this many bytes; what it held is lost. */
static opencl_code reserve(const struct opencl_state *state, struct opencl_buffer *buffer, size_t bytes)
{
    if (bytes < sizeof(uint64_t)) bytes = sizeof(uint64_t);
    if (buffer->bytes >= bytes) return 0;
    release_buffer(state, buffer);
    opencl_code code = 0;
    buffer->memory = state->api.clCreateBuffer(state->context, OPENCL_MEM_READ_WRITE, bytes, NULL, &code);
    if (!buffer->memory) return code != 0 ? code : OPENCL_MEM_OBJECT_ALLOCATION_FAILURE;
    buffer->bytes = bytes;
    return 0;
}

/* Brings what the kernels read to the device and makes room for what they write. */
static opencl_code bring_rows(struct opencl_state *state, const struct device_launch *launch, const void *in, size_t element)
{
    opencl_code code = reserve(state, &state->args, launch->n_args * sizeof *launch->args);
    if (code == 0) code = reserve(state, &state->in, launch->n_in * element);
    if (code == 0) code = reserve(state, &state->out, launch->n_out * element);
    if (code == 0 && launch->n_args > 0)
        code = state->api.clEnqueueWriteBuffer(state->queue, state->args.memory, 1, 0, launch->n_args * sizeof *launch->args, launch->args,
                                               0, NULL, NULL);
    if (code == 0 && launch->n_in > 0)
        code = state->api.clEnqueueWriteBuffer(state->queue, state->in.memory, 1, 0, launch->n_in * element, in, 0, NULL, NULL);
    return code;
}

/* How many teams run at once, before memory is asked: what keeps the device busy and should fit. */
static uint32_t wished_teams(const struct opencl_state *state, uint32_t rows, size_t slab_bytes)
{
    uint64_t teams = (uint64_t)state->compute_units * (state->is_cpu ? CPU_TEAMS_PER_UNIT : GPU_TEAMS_PER_UNIT);
    const uint64_t room = state->largest_buffer < state->memory / SLABS_SHARE ? state->largest_buffer : state->memory / SLABS_SHARE;
    if (room > 0 && teams > room / slab_bytes) teams = room / slab_bytes;
    if (teams > rows) teams = rows;
    return teams > 0 ? (uint32_t)teams : 1;
}

static opencl_code set_arguments(const struct opencl_state *state, opencl_kernel kernel, const struct opencl_model *model, uint32_t slab,
                                 uint32_t first_team)
{
    const struct {
        size_t size;
        const void *value;
    } arguments[] = {{sizeof model->ints, &model->ints},
                     {sizeof model->reals, &model->reals},
                     {sizeof state->args.memory, &state->args.memory},
                     {sizeof state->in.memory, &state->in.memory},
                     {sizeof state->out.memory, &state->out.memory},
                     {sizeof state->slabs.memory, &state->slabs.memory},
                     {sizeof slab, &slab},
                     {sizeof first_team, &first_team}};
    for (uint32_t k = 0; k < sizeof arguments / sizeof arguments[0]; k++) {
        const opencl_code code = state->api.clSetKernelArg(kernel, k, arguments[k].size, arguments[k].value);
        if (code != 0) return code;
    }
    return 0;
}

/* All teams of a launch, chunk by chunk. Where memory runs out half as many teams share the slabs, down to one. */
static paritas_status run_teams(paritas_context *context, struct paritas_device *device, const struct opencl_model *model,
                                const struct device_launch *launch)
{
    struct opencl_state *state = device->state;
    const size_t slab_bytes = (launch->slab > 0 ? launch->slab : 1) * (device->precision / 8);
    const struct opencl_entry *entry = &state->entries[launch->entry];
    const size_t local = entry->workers;
    const uint32_t share = launch->share ? launch->share : 1, teams = (launch->rows + share - 1) / share;
    uint32_t at_once = wished_teams(state, teams, slab_bytes);
    for (uint32_t first = 0; first < teams;) {
        const uint32_t count = at_once < teams - first ? at_once : teams - first;
        const size_t global = count * local;
        const char *call = "clCreateBuffer";
        opencl_code code = reserve(state, &state->slabs, at_once * slab_bytes);
        if (code == 0) {
            call = "clSetKernelArg";
            code = set_arguments(state, entry->kernel, model, (uint32_t)launch->slab, first);
        }
        if (code == 0) {
            call = "clEnqueueNDRangeKernel";
            code = state->api.clEnqueueNDRangeKernel(state->queue, entry->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
        }
        if (code == 0) {
            call = "clFinish";
            code = state->api.clFinish(state->queue);
        }
        if (memory_ran_out(code) && at_once > 1) {
            at_once /= 2;
            release_buffer(state, &state->slabs);
            continue;
        }
        if (code != 0) return fail_call(context, device, call, code);
        state->teams_at_once = at_once;
        first += count;
        const uint64_t done = (uint64_t)first * share;
        if (context->progress && context->progress(context->progress_user, done < launch->rows ? done : launch->rows, launch->rows))
            return paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
    }
    return PARITAS_OK;
}

/* Fetches the rows that the kernels wrote. */
static paritas_status fetch_rows(paritas_context *context, struct paritas_device *device, const struct device_launch *launch)
{
    struct opencl_state *state = device->state;
    const size_t element = device->precision / 8;
    if (launch->n_out == 0) return PARITAS_OK;
    float *floats = NULL;
    if (device->precision == 32 && !(floats = paritas_allocate(context, launch->n_out, sizeof *floats)))
        return paritas_fail_memory(context);
    const opencl_code code = state->api.clEnqueueReadBuffer(state->queue, state->out.memory, 1, 0, launch->n_out * element,
                                                            floats ? (void *)floats : launch->out, 0, NULL, NULL);
    for (size_t i = 0; floats && code == 0 && i < launch->n_out; i++) launch->out[i] = (double)floats[i];
    paritas_release(&context->allocator, floats);
    return code == 0 ? PARITAS_OK : fail_call(context, device, "clEnqueueReadBuffer", code);
}

static paritas_status opencl_launch(paritas_context *context, struct paritas_device *device, void *handle,
                                    const struct device_launch *launch)
{
    if (launch->rows == 0) return PARITAS_OK;
    paritas_status status = prepare_entry(context, device, launch->entry);
    if (status != PARITAS_OK) return status;
    device->launches++;
    const void *in = in_precision(context, device, launch->in, launch->n_in);
    if (!in) return paritas_fail_memory(context);
    const opencl_code code = bring_rows(device->state, launch, in, device->precision / 8);
    release_precision(device, in);
    status = code == 0 ? PARITAS_OK : fail_call(context, device, "bringing the rows", code);
    if (status == PARITAS_OK) status = run_teams(context, device, handle, launch);
    if (status == PARITAS_OK) status = fetch_rows(context, device, launch);
    return status;
}

const struct device_operations device_opencl = PARITAS_DEVICE_OPERATIONS(opencl);
