/* kernel_module.h: kernels of a model family: compiled for the CPU, text for other devices. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MODULE_ENTRIES_MAX 16

/* Model tables (u32; elem), arguments, inputs, outputs, the team's slab, team. */
typedef void (*cpu_entry)(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, void *out,
                          void *slab, uint32_t team);

/* For one instruction set, precision and shape: `lanes` fits side by side or `pack` elements of one; one of
 * the two is 1. */
struct cpu_variant {
    const char *isa;
    unsigned precision, lanes, pack;
    const cpu_entry *entries;
};

/* Static; entries are numbers in `entries`. */
struct kernel_module {
    const char *name;
    const char *const *entries;
    unsigned n_entries;
    const unsigned char *text; /* kernel language without the dialect; NUL-terminated */
    const size_t *text_size;   /* without the NUL */
    const struct cpu_variant *variants;
    size_t n_variants;
};

/* of this file: a program may bring a module built with another one */
#define KERNEL_MODULE_API 1

/* Kernels of a program outside the library. */
struct paritas_kernels {
    uint32_t api;
    const struct kernel_module *module;
};
