/* kernel_module.h: the kernels of one model family as devices take them: compiled ahead of time for the CPU,
 * as text for all others. */
#ifndef PARITAS_KERNEL_MODULE_H
#define PARITAS_KERNEL_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define MODULE_ENTRIES_MAX 16

/* An entry on the CPU: model tables (u32; elem), arguments, inputs, outputs, the team's slab, which team. */
typedef void (*cpu_entry)(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, void *out,
                          void *slab, uint32_t team);

/* All entries of a module for one instruction set, precision and shape of vectors (`lanes` fits side by side
 * or `pack` elements of one; one of the two is 1). */
struct cpu_variant {
    const char *isa;
    unsigned precision, lanes, pack;
    const cpu_entry *entries;
};

/* Static and immutable; an entry is its number in `entries`. */
struct kernel_module {
    const char *name;
    const char *const *entries;
    unsigned n_entries;
    const unsigned char *text; /* in the kernel language, complete but for the dialect; ends with a NUL */
    const size_t *text_size;   /* without the NUL */
    const struct cpu_variant *variants;
    size_t n_variants;
};

/* of all in this file: a program may bring a module that was compiled with another version of it */
#define KERNEL_MODULE_API 1

/* A module as a program outside the library hands it over. */
struct paritas_kernels {
    uint32_t api;
    const struct kernel_module *module;
};

#endif
