/* cuda_api.h: the part of CUDA's driver interface and of NVRTC that the device calls, declared here and loaded at
 * run time: the library is not linked with CUDA and no vendor's header is needed to build it. Types and
 * values are those of the CUDA 11.2 reference manuals, which later versions keep.
 */
#ifndef PARITAS_CUDA_API_H
#define PARITAS_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_device;
typedef struct cuda_context *cuda_context;
typedef struct cuda_stream *cuda_stream;
typedef struct cuda_module *cuda_module;
typedef struct cuda_function *cuda_function;
typedef uintptr_t cuda_memory; /* an address on the device, as wide as one of the host */
typedef int cuda_code;         /* 0: success */
typedef struct nvrtc_program *nvrtc_program;
typedef int nvrtc_code; /* 0: success */

/* X(name, symbol, parameters); all answer a code. The symbols are those behind the names of today's
 * header. */
#define CUDA_FUNCTIONS(X)                                                                               \
    X(cuInit, cuInit, (unsigned flags))                                                                 \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                           \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                                 \
    X(cuDeviceGet, cuDeviceGet, (cuda_device * device, int index))                                      \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int room, cuda_device device))                     \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, cuda_device device))                       \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, cuda_device device))      \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (cuda_context * context, cuda_device device)) \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (cuda_device device))                    \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (cuda_context context))                                    \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (cuda_context * context))                                    \
    X(cuStreamCreate, cuStreamCreate, (cuda_stream * stream, unsigned flags))                           \
    X(cuStreamDestroy, cuStreamDestroy_v2, (cuda_stream stream))                                        \
    X(cuStreamSynchronize, cuStreamSynchronize, (cuda_stream stream))                                   \
    X(cuMemAlloc, cuMemAlloc_v2, (cuda_memory * memory, size_t bytes))                                  \
    X(cuMemFree, cuMemFree_v2, (cuda_memory memory))                                                    \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                          \
      (cuda_memory to, const void *from, size_t bytes, cuda_stream stream))                             \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                          \
      (void *to, cuda_memory from, size_t bytes, cuda_stream stream))                                   \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                           \
      (cuda_module * module, const void *image, unsigned n, int *options, void **values))               \
    X(cuModuleUnload, cuModuleUnload, (cuda_module module))                                             \
    X(cuModuleGetFunction, cuModuleGetFunction,                                                         \
      (cuda_function * function, cuda_module module, const char *name))                                 \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, cuda_function function))      \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (cuda_function function, int attribute, int value))       \
    X(cuLaunchKernel, cuLaunchKernel,                                                                   \
      (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
       unsigned block_y, unsigned block_z, unsigned shared, cuda_stream stream, void **arguments,       \
       void **extra))

#define NVRTC_FUNCTIONS(X)                                                                                  \
    X(nvrtcVersion, nvrtcVersion, (int *major, int *minor))                                                 \
    X(nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *count))                                   \
    X(nvrtcGetSupportedArchs, nvrtcGetSupportedArchs, (int *architectures))                                 \
    X(nvrtcCreateProgram, nvrtcCreateProgram,                                                               \
      (nvrtc_program * program, const char *text, const char *name, int n_headers,                          \
       const char *const *headers, const char *const *names))                                               \
    X(nvrtcDestroyProgram, nvrtcDestroyProgram, (nvrtc_program * program))                                  \
    X(nvrtcCompileProgram, nvrtcCompileProgram, (nvrtc_program program, int n, const char *const *options)) \
    X(nvrtcGetProgramLogSize, nvrtcGetProgramLogSize, (nvrtc_program program, size_t *size))                \
    X(nvrtcGetProgramLog, nvrtcGetProgramLog, (nvrtc_program program, char *log))                           \
    X(nvrtcGetPTXSize, nvrtcGetPTXSize, (nvrtc_program program, size_t *size))                              \
    X(nvrtcGetPTX, nvrtcGetPTX, (nvrtc_program program, char *ptx))                                         \
    X(nvrtcGetCUBINSize, nvrtcGetCUBINSize, (nvrtc_program program, size_t *size))                          \
    X(nvrtcGetCUBIN, nvrtcGetCUBIN, (nvrtc_program program, char *cubin))

#define X(name, symbol, parameters) int(*name) parameters;
struct cuda_api {
    CUDA_FUNCTIONS(X)
};
struct nvrtc_api {
    NVRTC_FUNCTIONS(X)
};
#undef X

/* Where NVRTC may be: the newest first; a machine with the run-time packages alone has no unversioned name,
 * and a toolkit as its makers install it is in no search path. */
#define NVRTC_NAMES                                                         \
    {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", \
     "/usr/local/cuda/lib64/libnvrtc.so"}

/* How every text is compiled: each operation rounded by itself and correctly, subnormal numbers kept. Of its
 * defaults NVRTC contracts. */
#define NVRTC_ROUNDING "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"
#define NVRTC_ROUNDING_LINE "--fmad=false --prec-div=true --prec-sqrt=true --ftz=false"

enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,

    CUDA_STREAM_NON_BLOCKING = 1,

    CUDA_DEVICE_MAX_THREADS_PER_BLOCK = 1,
    CUDA_DEVICE_MULTIPROCESSOR_COUNT = 16,
    CUDA_DEVICE_COMPUTE_MODE = 20,
    CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
    CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR = 76,
    CUDA_DEVICE_SINGLE_TO_DOUBLE_RATIO = 87, /* of their speeds */
    CUDA_COMPUTE_MODE_PROHIBITED = 2,

    CUDA_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
    CUDA_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT = 9, /* percent */

    CUDA_JIT_ERROR_LOG_BUFFER = 5,
    CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

#endif
