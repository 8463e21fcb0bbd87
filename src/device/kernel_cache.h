/* kernel_cache.h: compiled kernels on disk, named by the SHA-256 of all that made them. Failures are misses,
 * never errors. */
#pragma once

#include "base/context.h"

/* Hash of the file format, of `made_by` (device, driver, compiler, options: a line each) and of the text.
 * hex: 65 bytes. False: out of memory. */
bool kernel_cache_key(paritas_context *context, const char *made_by, const char *text, size_t text_size,
                      char hex[65]);
/* Returns memory of the context's allocator, or NULL for a miss: also for cut, changed or foreign files, and
 * where the context asks anew. */
void *kernel_cache_read(paritas_context *context, const char *key, size_t *size);
/* Writes a temporary file, renames it; makes missing folders. */
/* Will a later run find what is written now? Makes the folder. */
bool kernel_cache_writable(paritas_context *context);
void kernel_cache_write(paritas_context *context, const char *key, const void *binary, size_t size);
