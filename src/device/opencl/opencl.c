/* opencl.c: OpenCL 1.2 devices. Work-group: team. */
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <string.h>

#define PLATFORMS_MAX 16
#define DEVICES_MAX 64
#define GPU_WORKERS 64
#define GPU_TEAMS_PER_UNIT 16 /* hides memory latency */
#define CPU_TEAMS_PER_UNIT 4

/* Some drivers report lack of memory only when a kernel starts. */
static const struct accelerator_code opencl_codes[] = {
    {-1, false, "CL_DEVICE_NOT_FOUND"},
    {-2, false, "CL_DEVICE_NOT_AVAILABLE"},
    {OPENCL_MEM_OBJECT_ALLOCATION_FAILURE, true, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, true, "CL_OUT_OF_RESOURCES"},
    {-6, true, "CL_OUT_OF_HOST_MEMORY"},
    {-11, false, "CL_BUILD_PROGRAM_FAILURE"},
    {-36, false, "CL_INVALID_COMMAND_QUEUE"},
    {-42, false, "CL_INVALID_BINARY"},
    {-54, false, "CL_INVALID_WORK_GROUP_SIZE"},
    {-61, true, "CL_INVALID_BUFFER_SIZE"},
    {0, false, NULL}};

static const char *const loaders[] = {
    PLATFORM_NAME("libOpenCL.so.1", "/System/Library/Frameworks/OpenCL.framework/OpenCL", "OpenCL.dll"),
    PLATFORM_NAME("libOpenCL.so", NULL, NULL), NULL};
static const char *const functions[] = {OPENCL_FUNCTIONS(LIBRARY_NAME) NULL};
static const struct accelerator_libraries libraries = {.names = loaders, .functions = functions};

/* Finds a device by its number over all platforms. */
static paritas_status find_device(paritas_context *context, const struct accelerator *accelerator)
{
    struct opencl_state *state = accelerator->state;
    const unsigned index = accelerator->device->index;
    opencl_platform platforms[PLATFORMS_MAX];
    uint32_t n_platforms = 0, found = 0;
    /* a loader without drivers returns an extension's code: none as well */
    if (state->api.clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != 0) n_platforms = 0;
    if (n_platforms > PLATFORMS_MAX) n_platforms = PLATFORMS_MAX;
    if (n_platforms == 0)
        return paritas_fail(context, DEVICE_ABSENT,
                            "device 'opencl': there is no OpenCL platform (no driver is installed)");
    for (uint32_t p = 0; p < n_platforms; p++) {
        opencl_device devices[DEVICES_MAX];
        uint32_t n = 0;
        if (state->api.clGetDeviceIDs(platforms[p], OPENCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &n) != 0)
            continue;
        if (n > DEVICES_MAX) n = DEVICES_MAX;
        if (index - found < n) {
            state->device = devices[index - found];
            return PARITAS_OK;
        }
        found += n;
    }
    return accelerator_absent(context, accelerator, "OpenCL", found);
}

/* Asks for a property of the device; `value` stays if it is unknown. */
static void ask_device(const struct opencl_state *state, uint32_t what, void *value, size_t size)
{
    char answer[sizeof(uint64_t)];
    size_t answered = 0;
    if (state->api.clGetDeviceInfo(state->device, what, sizeof answer, answer, &answered) == 0 &&
        answered == size)
        memcpy(value, answer, size);
}

static void ask_text(const struct opencl_state *state, uint32_t what, char *text, size_t size)
{
    if (state->api.clGetDeviceInfo(state->device, what, size, text, NULL) != 0) text[0] = '\0';
    text[size - 1] = '\0';
}

/* Refuses a device without this precision's bits. */
static paritas_status examine(paritas_context *context, struct accelerator *accelerator)
{
    struct opencl_state *state = accelerator->state;
    struct accelerator_properties *properties = &accelerator->properties;
    const struct paritas_device *device = accelerator->device;
    char driver[64], version[96];
    uint64_t type = 0, doubles = 0, singles = 0;
    uint32_t available = 0, compiler = 0;
    size_t largest_group = 1;
    properties->units = 1;
    ask_text(state, OPENCL_DEVICE_NAME, properties->name, sizeof properties->name);
    ask_text(state, OPENCL_DRIVER_VERSION, driver, sizeof driver);
    ask_text(state, OPENCL_DEVICE_VERSION, version, sizeof version);
    ask_device(state, OPENCL_DEVICE_TYPE, &type, sizeof type);
    ask_device(state, OPENCL_DEVICE_AVAILABLE, &available, sizeof available);
    ask_device(state, OPENCL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    ask_device(state, OPENCL_DEVICE_DOUBLE_FP_CONFIG, &doubles, sizeof doubles);
    ask_device(state, OPENCL_DEVICE_SINGLE_FP_CONFIG, &singles, sizeof singles);
    ask_device(state, OPENCL_DEVICE_MAX_COMPUTE_UNITS, &properties->units, sizeof properties->units);
    ask_device(state, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE, &largest_group, sizeof largest_group);
    ask_device(state, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE, &properties->largest_buffer,
               sizeof properties->largest_buffer);
    ask_device(state, OPENCL_DEVICE_GLOBAL_MEM_SIZE, &properties->memory, sizeof properties->memory);
    properties->is_processor = (type & OPENCL_DEVICE_TYPE_CPU) != 0;
    properties->workers = properties->is_processor ? 1 : GPU_WORKERS;
    properties->workers_alone = properties->is_processor ? 0 : ACCELERATOR_WORKERS_ALONE;
    properties->workers_most = largest_group < 1024 ? (unsigned)largest_group : 1024;
    properties->teams_per_unit = properties->is_processor ? CPU_TEAMS_PER_UNIT : GPU_TEAMS_PER_UNIT;
    snprintf(properties->versions, sizeof properties->versions, "driver %s, %s", driver, version);
    if (!available || !compiler)
        return paritas_fail(context, PARITAS_NO_DEVICE, "device '%s' (%s): %s", device->name,
                            properties->name,
                            available ? "its driver has no compiler" : "it is not available");
    if (device->precision == 64 && doubles == 0) return accelerator_lacks_f64(context, accelerator);
    state->builds_division =
        device->precision == 32 && (singles & OPENCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) == 0;
    return PARITAS_OK;
}

static paritas_status opencl_open(paritas_context *context, struct accelerator *accelerator)
{
    struct opencl_state *state = accelerator->state;
    opencl_code code = 0;
    TRY(find_device(context, accelerator));
    TRY(examine(context, accelerator));
    state->context = state->api.clCreateContext(NULL, 1, &state->device, NULL, NULL, &code);
    if (!state->context) return accelerator_fail(context, accelerator, "clCreateContext", code);
    state->queue = state->api.clCreateCommandQueue(state->context, state->device, 0, &code);
    return state->queue ? PARITAS_OK : accelerator_fail(context, accelerator, "clCreateCommandQueue", code);
}

static void opencl_close(struct accelerator *accelerator)
{
    const struct opencl_state *state = accelerator->state;
    if (state->queue) state->api.clReleaseCommandQueue(state->queue);
    if (state->context) state->api.clReleaseContext(state->context);
}

static void opencl_unload(struct accelerator *accelerator, struct accelerator_kernel *kernel)
{
    const struct opencl_state *state = accelerator->state;
    if (kernel->function) state->api.clReleaseKernel(kernel->function);
    if (kernel->program) state->api.clReleaseProgram(kernel->program);
    kernel->function = kernel->program = NULL;
}

static void opencl_options(const struct accelerator_build *build, char *line, size_t room)
{
    /* On a CPU one thread runs a group's work-items between barriers. Unfolding kernels that way and
     * optimising takes minutes (PoCL 3.1: 150 s for a fit, 30 s without). */
    const bool unfolded = build->accelerator->properties.is_processor && build->workers != 1;
    const struct opencl_state *state = build->accelerator->state;
    const char *division = build->precision == 64   ? ""
                           : state->builds_division ? " -DPARITAS_BUILT_DIVISION"
                                                    : " -cl-fp32-correctly-rounded-divide-sqrt";
    snprintf(line, room, "-cl-std=CL1.2%s%s", division, unfolded ? " -cl-opt-disable" : "");
}

static paritas_status build_program(const struct accelerator_build *build, opencl_program program)
{
    const struct opencl_state *state = build->accelerator->state;
    char options[256];
    opencl_options(build, options, sizeof options);
    const opencl_code code = state->api.clBuildProgram(program, 1, &state->device, options, NULL, NULL);
    if (code == 0) return PARITAS_OK;
    size_t size = 0;
    state->api.clGetProgramBuildInfo(program, state->device, OPENCL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = size > 0 ? paritas_allocate_clear(build->context, size + 1, 1) : NULL;
    if (log)
        state->api.clGetProgramBuildInfo(program, state->device, OPENCL_PROGRAM_BUILD_LOG, size, log, NULL);
    const paritas_status status = accelerator_refuse(build, "its compiler", code, log);
    paritas_release(&build->context->allocator, log);
    return status;
}

/* The program's machine code, from the context's allocator. */
static paritas_status fetch_binary(const struct accelerator_build *build, opencl_program program,
                                   void **binary, size_t *size)
{
    paritas_context *context = build->context;
    const struct opencl_state *state = build->accelerator->state;
    TRY(accelerator_check(
        context, build->accelerator, "clGetProgramInfo",
        state->api.clGetProgramInfo(program, OPENCL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL)));
    *binary = paritas_allocate(context, *size + 1, 1);
    if (!*binary) return paritas_fail_memory(context);
    const opencl_code code =
        state->api.clGetProgramInfo(program, OPENCL_PROGRAM_BINARIES, sizeof *binary, binary, NULL);
    if (code == 0) return PARITAS_OK;
    paritas_release(&context->allocator, *binary);
    *binary = NULL;
    return accelerator_fail(context, build->accelerator, "clGetProgramInfo", code);
}

static paritas_status opencl_compile(const struct accelerator_build *build, void **binary, size_t *size)
{
    const struct opencl_state *state = build->accelerator->state;
    opencl_code code = 0;
    *binary = NULL;
    opencl_program program = state->api.clCreateProgramWithSource(
        state->context, 1, (const char **)&build->text, &build->text_size, &code);
    if (!program)
        return accelerator_fail(build->context, build->accelerator, "clCreateProgramWithSource", code);
    paritas_status status = build_program(build, program);
    if (status == PARITAS_OK) status = fetch_binary(build, program, binary, size);
    state->api.clReleaseProgram(program);
    return status;
}

static paritas_status load_program(const struct accelerator_build *build, const unsigned char *binary,
                                   size_t size, struct accelerator_kernel *kernel)
{
    paritas_context *context = build->context;
    const struct accelerator *accelerator = build->accelerator;
    const struct opencl_state *state = accelerator->state;
    opencl_code code = 0, of_device = 0;
    kernel->program = state->api.clCreateProgramWithBinary(state->context, 1, &state->device, &size, &binary,
                                                           &of_device, &code);
    if (!kernel->program) return accelerator_fail(context, accelerator, "clCreateProgramWithBinary", code);
    TRY(build_program(build, kernel->program));
    kernel->function = state->api.clCreateKernel(kernel->program, build->entry, &code);
    if (!kernel->function) return accelerator_fail(context, accelerator, "clCreateKernel", code);
    code = state->api.clGetKernelWorkGroupInfo(kernel->function, state->device, OPENCL_KERNEL_WORK_GROUP_SIZE,
                                               sizeof kernel->workers_most, &kernel->workers_most, NULL);
    return accelerator_check(context, accelerator, "clGetKernelWorkGroupInfo", code);
}

static paritas_status opencl_load(const struct accelerator_build *build, const void *binary, size_t size,
                                  struct accelerator_kernel *kernel)
{
    const paritas_status status = load_program(build, binary, size, kernel);
    if (status != PARITAS_OK) opencl_unload(build->accelerator, kernel);
    return status;
}

static int opencl_allocate(struct accelerator *accelerator, size_t bytes, void **memory)
{
    const struct opencl_state *state = accelerator->state;
    opencl_code code = 0;
    *memory = state->api.clCreateBuffer(state->context, OPENCL_MEM_READ_WRITE, bytes, NULL, &code);
    return *memory ? 0 : code != 0 ? code : OPENCL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static void opencl_release(struct accelerator *accelerator, void *memory)
{
    ((const struct opencl_state *)accelerator->state)->api.clReleaseMemObject(memory);
}

static int opencl_write(struct accelerator *accelerator, void *memory, const void *from, size_t bytes)
{
    const struct opencl_state *state = accelerator->state;
    return state->api.clEnqueueWriteBuffer(state->queue, memory, 1, 0, bytes, from, 0, NULL, NULL);
}

static int opencl_read(struct accelerator *accelerator, void *to, void *memory, size_t bytes)
{
    const struct opencl_state *state = accelerator->state;
    return state->api.clEnqueueReadBuffer(state->queue, memory, 1, 0, bytes, to, 0, NULL, NULL);
}

static int opencl_run(struct accelerator *accelerator, const struct accelerator_kernel *kernel,
                      const struct accelerator_arguments *of, uint32_t teams)
{
    const struct opencl_state *state = accelerator->state;
#define ARGUMENT(type, name) {sizeof of->name, &of->name},
    const struct {
        size_t size;
        const void *value;
    } arguments[] = {ACCELERATOR_ARGUMENTS(ARGUMENT)};
#undef ARGUMENT
    for (uint32_t k = 0; k < COUNT_OF(arguments); k++) {
        const opencl_code code =
            state->api.clSetKernelArg(kernel->function, k, arguments[k].size, arguments[k].value);
        if (code != 0) return code;
    }
    const size_t local = kernel->workers, global = teams * local;
    return state->api.clEnqueueNDRangeKernel(state->queue, kernel->function, 1, NULL, &global, &local, 0,
                                             NULL, NULL);
}

static int opencl_finish(struct accelerator *accelerator)
{
    const struct opencl_state *state = accelerator->state;
    return state->api.clFinish(state->queue);
}

ACCELERATOR_DECLARE_DIALECT(paritas_dialect_opencl)
static const struct accelerator_operations operations = {
    ACCELERATOR_PRIMITIVES(opencl), .libraries = &libraries, .state_size = sizeof(struct opencl_state),
    .compile = opencl_compile,      .codes = opencl_codes,   ACCELERATOR_DIALECT(paritas_dialect_opencl)};
/* Intel's CPU runtime sums in another order where it vectorises across work-items. PoCL 6 aborts in LLVM
 * with its usual way of work-groups. */
const char *paritas_driver_setting(size_t index)
{
    static const char *const settings[] = {"CL_CONFIG_USE_VECTORIZER=False", "POCL_WORK_GROUP_METHOD=cbs"};
    return index < COUNT_OF(settings) ? settings[index] : NULL;
}

const struct device_operations DEVICE_KIND(PARITAS_DEVICE_OPENCL) = ACCELERATOR_DEVICE(&operations);
