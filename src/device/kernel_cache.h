/* kernel_cache.h: compiled kernels on disk, one file each, named by the SHA-256 of all that made it. Failures
 * are never errors: a miss, or a kernel not kept. */
#ifndef PARITAS_DEVICE_KERNEL_CACHE_H
#define PARITAS_DEVICE_KERNEL_CACHE_H

#include "device/accelerator.h"

/* Key of text, options, device, driver, compiler and file format. hex: 65 bytes. False: out of memory. */
bool kernel_cache_key(paritas_context *context, const struct accelerator *accelerator,
                      const struct accelerator_build *build, char hex[65]);
/* The key's binary from the context's allocator; NULL: a miss, also for cut, changed or foreign files. */
void *kernel_cache_read(paritas_context *context, const char *key, size_t *size);
/* Keeps a binary: writes a temporary file, renames it. Makes missing folders. */
void kernel_cache_write(paritas_context *context, const char *key, const void *binary, size_t size);

#endif
