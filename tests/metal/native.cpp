// native.cpp: the text that Metal compiles, dialect and module joined as the library hands them over, as
// native code. METAL_DIALECT and METAL_MODULE are its files, METAL_ENTRIES that of its entries; NATIVE_TABLE
// names the table. PARITAS_WORKERS is 1, or metal_workers: then the size of a team is chosen when it runs.
#define METAL_SHIM_RUNS 1
#define __METAL_VERSION__ 310
#define PARITAS_F64 0

#include "metal/metal_native.h"

#include <metal_stdlib>

#if !defined(PARITAS_WORKERS)
#define PARITAS_WORKERS metal_workers
#endif

namespace { // functions of one name that are not the same when there is one worker and when there are more

#include METAL_DIALECT
#include METAL_MODULE

}; // ends the struct that the dialect begins, as KERNEL_OF does

#include METAL_ENTRIES
MODULE_ENTRIES(KERNEL_NAMED)

#define X(name)                                                                                            \
    void run_##name(const uint32_t *mi, const float *mr, const uint32_t *args, const float *in, float *out, \
                    float *slabs, const uint32_t *slab, const uint32_t *first_team, uint32_t group,         \
                    uint32_t worker)                                                                        \
    {                                                                                                       \
        name(mi, mr, args, in, out, slabs, *slab, *first_team, group, worker);                              \
    }
MODULE_ENTRIES(X)
#undef X
}

extern "C" const native_kernel NATIVE_TABLE[];
const native_kernel NATIVE_TABLE[] = {
#define X(name) {#name, run_##name},
    MODULE_ENTRIES(X)
#undef X
    {nullptr, nullptr}};
