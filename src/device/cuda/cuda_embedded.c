/* cuda_embedded.c: kernels that the build compiled to PTX (cmake/EmbedPtx.cmake); empty without
 * PARITAS_EMBED_PTX or NVRTC. */
#include "device/cuda/cuda.h"

#if defined(PARITAS_EMBEDDED)
#define X(text, symbol, size) extern const char symbol[];
#include "embedded_ptx.inc"
#undef X
#endif

const struct cuda_embedded paritas_cuda_embedded[] = {
#if defined(PARITAS_EMBEDDED)
#define X(text, symbol, size) {text, symbol, size},
#include "embedded_ptx.inc"
#undef X
#endif
    {0, NULL, 0}};
