/* cuda_embedded.c: the kernels that the build compiled to PTX (cmake/EmbedPtx.cmake); none where
 * PARITAS_EMBED_PTX is off or there was no NVRTC. */
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
