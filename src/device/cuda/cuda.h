/* cuda.h: state of an open CUDA device, for this folder and tests. */
#pragma once

#include "device/accelerator.h"
#include "device/cuda/cuda_api.h"

#define CUDA_WORKERS 32 /* a warp: barriers are nearly free; embedded kernels have this size */

struct cuda_state {
    struct cuda_api api;
    struct nvrtc_api nvrtc;
    cuda_device device;
    /* primary context; NULL: not retained */
    cuda_context context;
    cuda_stream stream;
    bool owns_stream;           /* false: the caller's */
    bool busy;                  /* the stream may still use our memory */
    int driver;                 /* newest CUDA of the driver: 13000 for 13.0 */
    int nvrtc_version;          /* the compiler's; 0: only embedded kernels */
    const char *nvrtc_unusable; /* an installed one that cannot serve */
    unsigned capability;        /* 90 for 9.0 */
    /* NVRTC's target: capability (machine code) or older (PTX) */
    unsigned target;
};

/* FNV-1a (64 bits) of a text. */
static inline uint64_t cuda_text_number(const char *text, size_t size)
{
    uint64_t number = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) number = (number ^ (unsigned char)text[i]) * 0x100000001b3u;
    return number;
}

/* The newest NVRTC and its target. PARITAS_OK also without NVRTC; fails if it has no architecture for the
 * device. */
paritas_status cuda_load_nvrtc(paritas_context *context, const struct accelerator *accelerator);
/* Primitives `options` and `compile`. *binary: cubin, or PTX with a NUL (counted in *size). */
void cuda_options(const struct accelerator_build *build, char *line, size_t room);
paritas_status cuda_compile(const struct accelerator_build *build, void **binary, size_t *size);
