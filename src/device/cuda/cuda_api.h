/* cuda_api.h: the used part of the CUDA driver interface and NVRTC, declared here and loaded at run time: no
 * vendor header, no linking. Types and values: CUDA 11.2 manuals; later versions keep them. */
#pragma once

#include "base/dynamic_library.h"

#include <stddef.h>
#include <stdint.h>

typedef int cuda_device;
typedef struct cuda_context *cuda_context;
typedef struct cuda_stream *cuda_stream;
typedef struct cuda_module *cuda_module;
typedef struct cuda_function *cuda_function;
typedef uintptr_t cuda_memory; /* a device address, as wide as a host one */
typedef int cuda_code;
typedef struct nvrtc_program *nvrtc_program;
typedef int nvrtc_code; /* 0: success */

/* X(return type, name, parameters) for dynamic_library.h: exported names, which today's header maps to. */
#define CUDA_FUNCTIONS(X)                                                                                    \
    X(cuda_code, cuInit, (unsigned flags))                                                                   \
    X(cuda_code, cuDriverGetVersion, (int *version))                                                         \
    X(cuda_code, cuDeviceGetCount, (int *count))                                                             \
    X(cuda_code, cuDeviceGet, (cuda_device *, int index))                                                    \
    X(cuda_code, cuDeviceGetName, (char *name, int room, cuda_device))                                       \
    X(cuda_code, cuDeviceTotalMem_v2, (size_t *bytes, cuda_device))                                          \
    X(cuda_code, cuDeviceGetAttribute, (int *value, int attribute, cuda_device))                             \
    X(cuda_code, cuDevicePrimaryCtxRetain, (cuda_context *, cuda_device))                                    \
    X(cuda_code, cuDevicePrimaryCtxRelease_v2, (cuda_device))                                                \
    X(cuda_code, cuCtxPushCurrent_v2, (cuda_context))                                                        \
    X(cuda_code, cuCtxPopCurrent_v2, (cuda_context *))                                                       \
    X(cuda_code, cuStreamCreate, (cuda_stream *, unsigned flags))                                            \
    X(cuda_code, cuStreamDestroy_v2, (cuda_stream))                                                          \
    X(cuda_code, cuStreamSynchronize, (cuda_stream))                                                         \
    X(cuda_code, cuMemAlloc_v2, (cuda_memory *, size_t bytes))                                               \
    X(cuda_code, cuMemFree_v2, (cuda_memory))                                                                \
    X(cuda_code, cuMemcpyHtoDAsync_v2, (cuda_memory to, const void *from, size_t bytes, cuda_stream))        \
    X(cuda_code, cuMemcpyDtoHAsync_v2, (void *to, cuda_memory from, size_t bytes, cuda_stream))              \
    X(cuda_code, cuModuleLoadDataEx,                                                                         \
      (cuda_module *, const void *image, unsigned n, int *options, void **values))                           \
    X(cuda_code, cuModuleUnload, (cuda_module))                                                              \
    X(cuda_code, cuModuleGetFunction, (cuda_function *, cuda_module, const char *name))                      \
    X(cuda_code, cuFuncGetAttribute, (int *value, int attribute, cuda_function))                             \
    X(cuda_code, cuFuncSetAttribute, (cuda_function, int attribute, int value))                              \
    X(cuda_code, cuLaunchKernel,                                                                             \
      (cuda_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared, cuda_stream, void **arguments, void **extra))

#define NVRTC_FUNCTIONS(X)                                                                             \
    X(nvrtc_code, nvrtcVersion, (int *major, int *minor))                                              \
    X(nvrtc_code, nvrtcGetNumSupportedArchs, (int *count))                                             \
    X(nvrtc_code, nvrtcGetSupportedArchs, (int *architectures))                                        \
    X(nvrtc_code, nvrtcCreateProgram,                                                                  \
      (nvrtc_program *, const char *text, const char *name, int n_headers, const char *const *headers, \
       const char *const *names))                                                                      \
    X(nvrtc_code, nvrtcDestroyProgram, (nvrtc_program *))                                              \
    X(nvrtc_code, nvrtcCompileProgram, (nvrtc_program, int n, const char *const *options))             \
    X(nvrtc_code, nvrtcGetProgramLogSize, (nvrtc_program, size_t *size))                               \
    X(nvrtc_code, nvrtcGetProgramLog, (nvrtc_program, char *log))                                      \
    X(nvrtc_code, nvrtcGetPTXSize, (nvrtc_program, size_t *size))                                      \
    X(nvrtc_code, nvrtcGetPTX, (nvrtc_program, char *ptx))                                             \
    X(nvrtc_code, nvrtcGetCUBINSize, (nvrtc_program, size_t *size))                                    \
    X(nvrtc_code, nvrtcGetCUBIN, (nvrtc_program, char *cubin))

struct cuda_api {
    CUDA_FUNCTIONS(LIBRARY_MEMBER)
};
struct nvrtc_api {
    NVRTC_FUNCTIONS(LIBRARY_MEMBER)
};

/* Newest first: run-time packages have no unversioned name, NVIDIA's toolkit is in no search path. */
#define NVRTC_NAMES                                                              \
    {PLATFORM_NAME("libnvrtc.so.13", "libnvrtc.so.13", "nvrtc64_130_0.dll"),     \
     PLATFORM_NAME("libnvrtc.so.12", "libnvrtc.so.12", "nvrtc64_120_0.dll"),     \
     PLATFORM_NAME("libnvrtc.so.11.2", "libnvrtc.so.11.2", "nvrtc64_112_0.dll"), \
     PLATFORM_NAME("libnvrtc.so", "libnvrtc.so", NULL),                          \
     PLATFORM_NAME("/usr/local/cuda/lib64/libnvrtc.so", NULL, NULL),             \
     NULL}

/* Rounds each operation correctly by itself and keeps subnormals; NVRTC contracts by default. */
#define NVRTC_ROUNDING "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"

enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,

    CUDA_STREAM_NON_BLOCKING = 1,

    CUDA_DEVICE_MAX_THREADS_PER_BLOCK = 1,
    CUDA_DEVICE_MULTIPROCESSOR_COUNT = 16,
    CUDA_DEVICE_COMPUTE_MODE = 20,
    CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
    CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR = 76,
    CUDA_DEVICE_SINGLE_TO_DOUBLE_RATIO = 87,
    CUDA_COMPUTE_MODE_PROHIBITED = 2,

    CUDA_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
    CUDA_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT = 9, /* percent */

    CUDA_JIT_ERROR_LOG_BUFFER = 5,
    CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};
