/* metal_native.h: the kernels' Metal text as native code: a table of kernels for each module and kind of
 * team. The last has no name. */
#ifndef PARITAS_METAL_NATIVE_H
#define PARITAS_METAL_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* One thread of a threadgroup. All as the kernel's signature has it. */
typedef void (*native_entry)(const uint32_t *mi, const float *mr, const uint32_t *args, const float *in,
                             float *out, float *slabs, const uint32_t *slab, const uint32_t *first_team,
                             uint32_t group, uint32_t worker);
struct native_kernel {
    const char *name;
    native_entry entry;
};
extern uint32_t metal_workers; /* of a team */

#if defined(__cplusplus)
}
#endif
#endif
