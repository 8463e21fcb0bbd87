/* kernel_cache.h: compiled kernels on disk, named by the SHA-256 of all that made them. Failures are misses,
 * never errors. */
#ifndef PARITAS_DEVICE_KERNEL_CACHE_H
#define PARITAS_DEVICE_KERNEL_CACHE_H

#include "device/accelerator.h"

/* Text, options, device, driver, compiler, file format. hex: 65 bytes. False: out of memory. */
bool kernel_cache_key(const struct accelerator_build *build, char hex[65]);
/* Returns memory of the context's allocator, or NULL for a miss: also for cut, changed or foreign files. */
void *kernel_cache_read(paritas_context *context, const char *key, size_t *size);
/* Writes a temporary file, renames it; makes missing folders. */
void kernel_cache_write(paritas_context *context, const char *key, const void *binary, size_t size);

#endif
