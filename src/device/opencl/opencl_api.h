/* opencl_api.h: the used part of OpenCL 1.2, declared here and loaded at run time: no vendor header, no
 * linking. Types and values: OpenCL 1.2 specification. */
#pragma once

#include "base/dynamic_library.h"

#include <stddef.h>
#include <stdint.h>

typedef struct opencl_platform *opencl_platform;
typedef struct opencl_device *opencl_device;
typedef struct opencl_context *opencl_context;
typedef struct opencl_queue *opencl_queue;
typedef struct opencl_program *opencl_program;
typedef struct opencl_kernel *opencl_kernel;
typedef struct opencl_memory *opencl_memory;
typedef struct opencl_event *opencl_event;
typedef int32_t opencl_code; /* 0: success */
typedef void (*opencl_notify_context)(const char *message, const void *data, size_t size, void *user);
typedef void (*opencl_notify_program)(opencl_program program, void *user);

/* X(return type, name, parameters) */
#define OPENCL_FUNCTIONS(X)                                                                                 \
    X(opencl_code, clGetPlatformIDs, (uint32_t room, opencl_platform *platforms, uint32_t *count))          \
    X(opencl_code, clGetDeviceIDs,                                                                          \
      (opencl_platform, uint64_t type, uint32_t room, opencl_device *devices, uint32_t *count))             \
    X(opencl_code, clGetDeviceInfo, (opencl_device, uint32_t what, size_t room, void *value, size_t *size)) \
    X(opencl_context, clCreateContext,                                                                      \
      (const intptr_t *properties, uint32_t n, const opencl_device *devices, opencl_notify_context notify,  \
       void *user, opencl_code *code))                                                                      \
    X(opencl_code, clReleaseContext, (opencl_context))                                                      \
    X(opencl_queue, clCreateCommandQueue,                                                                   \
      (opencl_context, opencl_device, uint64_t properties, opencl_code *code))                              \
    X(opencl_code, clReleaseCommandQueue, (opencl_queue))                                                   \
    X(opencl_program, clCreateProgramWithSource,                                                            \
      (opencl_context, uint32_t n, const char **texts, const size_t *lengths, opencl_code *code))           \
    X(opencl_program, clCreateProgramWithBinary,                                                            \
      (opencl_context, uint32_t n, const opencl_device *devices, const size_t *lengths,                     \
       const unsigned char **binaries, opencl_code *of_device, opencl_code *code))                          \
    X(opencl_code, clGetProgramInfo,                                                                        \
      (opencl_program, uint32_t what, size_t room, void *value, size_t *size))                              \
    X(opencl_code, clBuildProgram,                                                                          \
      (opencl_program, uint32_t n, const opencl_device *devices, const char *options,                       \
       opencl_notify_program notify, void *user))                                                           \
    X(opencl_code, clGetProgramBuildInfo,                                                                   \
      (opencl_program, opencl_device, uint32_t what, size_t room, void *value, size_t *size))               \
    X(opencl_code, clReleaseProgram, (opencl_program))                                                      \
    X(opencl_kernel, clCreateKernel, (opencl_program, const char *name, opencl_code *code))                 \
    X(opencl_code, clReleaseKernel, (opencl_kernel))                                                        \
    X(opencl_code, clGetKernelWorkGroupInfo,                                                                \
      (opencl_kernel, opencl_device, uint32_t what, size_t room, void *value, size_t *size))                \
    X(opencl_code, clSetKernelArg, (opencl_kernel, uint32_t index, size_t size, const void *value))         \
    X(opencl_memory, clCreateBuffer,                                                                        \
      (opencl_context, uint64_t flags, size_t bytes, void *host, opencl_code *code))                        \
    X(opencl_code, clReleaseMemObject, (opencl_memory))                                                     \
    X(opencl_code, clEnqueueWriteBuffer,                                                                    \
      (opencl_queue, opencl_memory, uint32_t blocking, size_t offset, size_t bytes, const void *from,       \
       uint32_t n_wait, const opencl_event *wait, opencl_event *))                                          \
    X(opencl_code, clEnqueueReadBuffer,                                                                     \
      (opencl_queue, opencl_memory, uint32_t blocking, size_t offset, size_t bytes, void *to,               \
       uint32_t n_wait, const opencl_event *wait, opencl_event *))                                          \
    X(opencl_code, clEnqueueNDRangeKernel,                                                                  \
      (opencl_queue, opencl_kernel, uint32_t dimensions, const size_t *offset, const size_t *global,        \
       const size_t *local, uint32_t n_wait, const opencl_event *wait, opencl_event *))                     \
    X(opencl_code, clFinish, (opencl_queue))

struct opencl_api {
    OPENCL_FUNCTIONS(LIBRARY_MEMBER)
};

enum {
    OPENCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,

    OPENCL_DEVICE_TYPE = 0x1000,
    OPENCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    OPENCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    OPENCL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    OPENCL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    OPENCL_DEVICE_AVAILABLE = 0x1027,
    OPENCL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    OPENCL_DEVICE_NAME = 0x102B,
    OPENCL_DRIVER_VERSION = 0x102D,
    OPENCL_DEVICE_VERSION = 0x102F,
    OPENCL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    OPENCL_PROGRAM_BINARY_SIZES = 0x1165,
    OPENCL_PROGRAM_BINARIES = 0x1166,
    OPENCL_PROGRAM_BUILD_LOG = 0x1183,
    OPENCL_KERNEL_WORK_GROUP_SIZE = 0x11B0,

    OPENCL_DEVICE_TYPE_CPU = 1 << 1,
    OPENCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    OPENCL_MEM_READ_WRITE = 1 << 0
};
#define OPENCL_DEVICE_TYPE_ALL 0xFFFFFFFFu
