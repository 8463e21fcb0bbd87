/* kernel_embedded.c: embedded PTX; none without PARITAS_EMBED_PTX or NVRTC. */
#include "device/kernel_embedded.h"
#include "base/gunzip.h"

#if defined(PARITAS_EMBEDDED)
#define X(text, symbol, packed_size, size) extern const unsigned char symbol[];
#include "embedded_ptx.inc"
#undef X
#endif

const struct kernel_embedded paritas_kernels_embedded[] = {
#if defined(PARITAS_EMBEDDED)
#define X(text, symbol, packed_size, size) {text, symbol, packed_size, size},
#include "embedded_ptx.inc"
#undef X
#endif
    {0, NULL, 0, 0}};

paritas_status kernel_embedded_unpack(paritas_context *context, const struct kernel_embedded *kernel,
                                      void **ptx)
{
    struct gunzip_bytes packed = {kernel->packed, kernel->packed_size};
    struct gunzip *gunzip = gunzip_open(context, gunzip_take_bytes, &packed);
    *ptx = gunzip ? paritas_allocate(context, kernel->size, 1) : NULL;
    const bool whole = *ptx && gunzip_read(gunzip, *ptx, kernel->size) == kernel->size;
    gunzip_close(gunzip);
    if (whole) return PARITAS_OK;
    paritas_release(&context->allocator, *ptx);
    *ptx = NULL;
    return paritas_fail_memory(context);
}
