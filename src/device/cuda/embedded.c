/* embedded.c: no kernels are embedded in this build (PARITAS_EMBED_PTX is off, or there was no NVRTC). */
#include "device/cuda/cuda.h"

const struct cuda_embedded paritas_cuda_embedded[] = {{NULL, 0, 0, 0, NULL, 0}};
