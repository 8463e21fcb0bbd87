/* cuda.h: what an opened CUDA device holds. Apart from this folder only tests look here. */
#ifndef PARITAS_DEVICE_CUDA_CUDA_H
#define PARITAS_DEVICE_CUDA_CUDA_H

#include "device/accelerator.h"
#include "device/cuda/cuda_api.h"

#define CUDA_WORKERS 32 /* a warp, whose barriers cost next to nothing; the size of what is embedded */

struct cuda_state {
    struct cuda_api api;
    struct nvrtc_api nvrtc;
    cuda_device device;
    /* the device's primary one, which all libraries of a process share; NULL: not retained */
    cuda_context context;
    cuda_stream stream;
    bool owns_stream; /* else it is the caller's */
    bool busy;  /* the stream may still read or write memory of ours: nobody has waited for it, or in vain */
    int driver; /* 13000 for 13.0: the newest CUDA that the driver runs */
    int nvrtc_version;          /* the same of what compiles; 0: kernels are those embedded in this build */
    const char *nvrtc_unusable; /* the name of one that is there but cannot serve */
    unsigned capability;        /* 90 for 9.0 */
    /* architecture that NVRTC compiles for; capability itself (machine code) or an older one (PTX) */
    unsigned target;
};

/* A kernel that the build compiled to PTX: the PTX runs for the very text that it was made from. */
struct cuda_embedded {
    uint64_t text; /* cuda_text_number of it */
    const char *ptx;
    size_t size; /* with the NUL */
};
extern const struct cuda_embedded paritas_cuda_embedded[]; /* ends with a ptx NULL */

/* Tells texts apart (FNV-1a, 64 bits). */
static inline uint64_t cuda_text_number(const char *text, size_t size)
{
    uint64_t number = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) number = (number ^ (unsigned char)text[i]) * 0x100000001b3u;
    return number;
}

/* nvrtc.c: text to machine code or PTX. */

/* Loads the newest NVRTC there is and chooses what it compiles for. PARITAS_OK without NVRTC, too; fails
 * where it knows no architecture that the device runs. */
paritas_status cuda_load_nvrtc(paritas_context *context, const struct accelerator *accelerator);
/* As the primitives `options` and `compile`. *binary: a cubin, or PTX that ends with a NUL (counted in
 * *size). */
void cuda_options(const struct accelerator *accelerator, const struct accelerator_build *build, char *line,
                  size_t room);
paritas_status cuda_compile(paritas_context *context, struct accelerator *accelerator,
                            const struct accelerator_build *build, void **binary, size_t *size);

#endif
