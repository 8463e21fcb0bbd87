/* kernel_cache.h: compiled kernels on disk. A file a kernel, named by the SHA-256 of all that made it.
 * Nothing here is ever an error: what cannot be read is a miss, what cannot be written is not kept. */
#ifndef PARITAS_DEVICE_KERNEL_CACHE_H
#define PARITAS_DEVICE_KERNEL_CACHE_H

#include "device/accelerator.h"

/* The key: text, options, device, driver, compiler, format of the file. hex: 65 bytes. False: out of
 * memory. */
bool kernel_cache_key(paritas_context *context, const struct accelerator *accelerator,
                      const struct accelerator_build *build, char hex[65]);
/* The binary of that key, allocated from the context; NULL: a miss. Files that are cut, changed or of another
 * format are misses. */
void *kernel_cache_read(paritas_context *context, const char *key, size_t *size);
/* Keeps a binary: a temporary file beside the place, then a rename. Makes the cache's folder where it is not
 * there. */
void kernel_cache_write(paritas_context *context, const char *key, const void *binary, size_t size);

#endif
