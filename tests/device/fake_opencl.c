/* fake_opencl.c: stands in for libOpenCL. It has one device, accepts all calls and computes nothing, so its
 * self-test finds other bits. FAKE_DRIVER ends the program at one of its calls (doom.h). */
#include "device/doom.h"
#include "device/opencl/opencl_api.h"

#include <stdbool.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(type, name, parameters) EXPORT type name parameters;
OPENCL_FUNCTIONS(DECLARE)
#undef DECLARE

static unsigned long calls;
static int thing; /* what all handles point to */

/* The text of the environment's variable, else `otherwise`. */
static void answer_text(const char *variable, const char *otherwise, void *value, size_t room)
{
    const char *text = getenv(variable);
    snprintf(value, room, "%s", text ? text : otherwise);
}

opencl_code clGetPlatformIDs(uint32_t room, opencl_platform *platforms, uint32_t *count)
{
    const char *platforms_told = getenv("FAKE_PLATFORMS");
    doom(++calls);
    for (uint32_t k = 0; k < room; k++) platforms[k] = (opencl_platform)&thing;
    *count = platforms_told ? (uint32_t)strtoul(platforms_told, NULL, 10) : 1;
    return 0;
}
opencl_code clGetDeviceIDs(opencl_platform platform, uint64_t type, uint32_t room, opencl_device *devices,
                           uint32_t *count)
{
    (void)platform, (void)type;
    doom(++calls);
    for (uint32_t k = 0; k < room; k++) devices[k] = (opencl_device)&thing;
    *count = 1;
    return 0;
}
opencl_code clGetDeviceInfo(opencl_device device, uint32_t what, size_t room, void *value, size_t *size)
{
    (void)device;
    doom(++calls);
    const uint64_t number =
        what == OPENCL_DEVICE_TYPE                                                          ? 4
        : what == OPENCL_DEVICE_MAX_WORK_GROUP_SIZE                                         ? 1024
        : what == OPENCL_DEVICE_GLOBAL_MEM_SIZE || what == OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE ? 1 << 30
        : what == OPENCL_DEVICE_MAX_COMPUTE_UNITS                                           ? 2
                                                                                            : 0xff;
    const bool wide = what == OPENCL_DEVICE_TYPE || what == OPENCL_DEVICE_MAX_WORK_GROUP_SIZE ||
                      what == OPENCL_DEVICE_GLOBAL_MEM_SIZE || what == OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE ||
                      what == OPENCL_DEVICE_DOUBLE_FP_CONFIG || what == OPENCL_DEVICE_SINGLE_FP_CONFIG;
    if (what == OPENCL_DEVICE_NAME || what == OPENCL_DRIVER_VERSION || what == OPENCL_DEVICE_VERSION) {
        answer_text("FAKE_NAME", "stand-in", value, room);
        return 0;
    }
    memcpy(value, &number, wide ? 8 : 4);
    if (size) *size = wide ? 8 : 4;
    return 0;
}
opencl_context clCreateContext(const intptr_t *properties, uint32_t n, const opencl_device *devices,
                               opencl_notify_context notify, void *user, opencl_code *code)
{
    (void)properties, (void)n, (void)devices, (void)notify, (void)user;
    doom(++calls);
    *code = 0;
    return (opencl_context)&thing;
}
opencl_queue clCreateCommandQueue(opencl_context context, opencl_device device, uint64_t properties,
                                  opencl_code *code)
{
    (void)context, (void)device, (void)properties;
    doom(++calls);
    *code = 0;
    return (opencl_queue)&thing;
}
opencl_program clCreateProgramWithSource(opencl_context context, uint32_t n, const char **texts,
                                         const size_t *lengths, opencl_code *code)
{
    (void)context, (void)n, (void)texts, (void)lengths;
    doom(++calls);
    *code = 0;
    return (opencl_program)&thing;
}
opencl_program clCreateProgramWithBinary(opencl_context context, uint32_t n, const opencl_device *devices,
                                         const size_t *lengths, const unsigned char **binaries,
                                         opencl_code *of_device, opencl_code *code)
{
    (void)context, (void)n, (void)devices, (void)lengths, (void)binaries;
    doom(++calls);
    *of_device = *code = 0;
    return (opencl_program)&thing;
}
opencl_code clGetProgramInfo(opencl_program program, uint32_t what, size_t room, void *value, size_t *size)
{
    (void)program, (void)room, (void)size;
    doom(++calls);
    if (what == OPENCL_PROGRAM_BINARY_SIZES)
        *(size_t *)value = 4;
    else
        memcpy(*(void **)value, "none", 4);
    return 0;
}
opencl_code clGetProgramBuildInfo(opencl_program program, opencl_device device, uint32_t what, size_t room,
                                  void *value, size_t *size)
{
    (void)program, (void)device, (void)what, (void)room, (void)value;
    doom(++calls);
    if (size) *size = 0;
    return 0;
}
opencl_kernel clCreateKernel(opencl_program program, const char *name, opencl_code *code)
{
    (void)program, (void)name;
    doom(++calls);
    *code = 0;
    return (opencl_kernel)&thing;
}
opencl_code clGetKernelWorkGroupInfo(opencl_kernel kernel, opencl_device device, uint32_t what, size_t room,
                                     void *value, size_t *size)
{
    (void)kernel, (void)device, (void)what, (void)room, (void)size;
    doom(++calls);
    *(size_t *)value = 1024;
    return 0;
}
opencl_memory clCreateBuffer(opencl_context context, uint64_t flags, size_t bytes, void *host,
                             opencl_code *code)
{
    (void)context, (void)flags, (void)bytes, (void)host;
    doom(++calls);
    *code = 0;
    return (opencl_memory)&thing;
}
opencl_code clEnqueueReadBuffer(opencl_queue queue, opencl_memory memory, uint32_t blocking, size_t offset,
                                size_t bytes, void *to, uint32_t n_wait, const opencl_event *wait,
                                opencl_event *event)
{
    (void)queue, (void)memory, (void)blocking, (void)offset, (void)n_wait, (void)wait, (void)event;
    doom(++calls);
    memset(to, 0, bytes);
    return 0;
}

/* The others answer success and do nothing. */
#define ACCEPT(name, ...)         \
    opencl_code name(__VA_ARGS__) \
    {                             \
        doom(++calls);            \
        return 0;                 \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
ACCEPT(clReleaseContext, opencl_context context)
ACCEPT(clReleaseCommandQueue, opencl_queue queue)
ACCEPT(clReleaseProgram, opencl_program program)
ACCEPT(clReleaseKernel, opencl_kernel kernel)
ACCEPT(clReleaseMemObject, opencl_memory memory)
ACCEPT(clFinish, opencl_queue queue)
ACCEPT(clSetKernelArg, opencl_kernel kernel, uint32_t index, size_t size, const void *value)
ACCEPT(clBuildProgram, opencl_program program, uint32_t n, const opencl_device *devices, const char *options,
       opencl_notify_program notify, void *user)
ACCEPT(clEnqueueWriteBuffer, opencl_queue queue, opencl_memory memory, uint32_t blocking, size_t offset,
       size_t bytes, const void *from, uint32_t n_wait, const opencl_event *wait, opencl_event *event)
ACCEPT(clEnqueueNDRangeKernel, opencl_queue queue, opencl_kernel kernel, uint32_t dimensions,
       const size_t *offset, const size_t *global, const size_t *local, uint32_t n_wait,
       const opencl_event *wait, opencl_event *event)
