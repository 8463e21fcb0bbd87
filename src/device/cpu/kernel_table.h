/* kernel_table.h: the tables that the kernel variants of the CPU export, one object a variant. */
#ifndef PARITAS_DEVICE_CPU_KERNEL_TABLE_H
#define PARITAS_DEVICE_CPU_KERNEL_TABLE_H

#include "device/entries.h"
#include <stdint.h>

/* model tables (u32; elem), arguments, inputs, outputs, the team's slab, which team */
typedef void (*cpu_entry)(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, void *out, void *slab, uint32_t team);

struct cpu_kernels {
    cpu_entry entry[PARITAS_KERNEL_ENTRY_COUNT];
};

#endif
