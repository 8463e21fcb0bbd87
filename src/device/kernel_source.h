/* kernel_source.h: an entry's text for compilers. Needs no library: the build uses it (tools/embed_ptx.c). */
#pragma once

#include <stddef.h>

struct kernel_source {
    const unsigned char *dialect, *module;
    size_t dialect_size, module_size;
    const char *entry;
    unsigned precision, workers; /* of a team */
};

/* Settings, dialect, module, the entry's kernel line and a NUL into `text` (NULL: nothing). Returns the
 * length without the NUL. */
size_t kernel_source_join(const struct kernel_source *source, char *text);
