/* kernel_embedded.h: kernels that the build compiled to PTX (cmake/EmbedPtx.cmake). */
#pragma once

#include "base/context.h"

/* PTX of exactly one text, as a gzip file. */
struct kernel_embedded {
    uint64_t text; /* its cuda_text_number */
    const unsigned char *packed;
    size_t packed_size, size; /* size: with the NUL */
};
extern const struct kernel_embedded paritas_kernels_embedded[]; /* packed NULL ends it */

/* The PTX in *ptx, which the caller releases. */
paritas_status kernel_embedded_unpack(paritas_context *context, const struct kernel_embedded *kernel,
                                      void **ptx);
