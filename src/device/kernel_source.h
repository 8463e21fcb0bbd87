/* kernel_source.h: the text of one entry, as a device's compiler reads it. Needs nothing of the library: a
 * step of the build uses it, too (tools/embed_ptx.c). */
#ifndef PARITAS_DEVICE_KERNEL_SOURCE_H
#define PARITAS_DEVICE_KERNEL_SOURCE_H

#include <stddef.h>

struct kernel_source {
    const unsigned char *dialect, *module; /* texts */
    size_t dialect_size, module_size;
    const char *entry;
    unsigned precision, workers; /* of a team */
};

/* Writes settings, dialect, module and the line that makes the entry a kernel into `text`, with a NUL at the
 * end. NULL: writes nothing. Answers the bytes without the NUL. */
size_t kernel_source_join(const struct kernel_source *source, char *text);

#endif
