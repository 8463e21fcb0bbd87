/* native_kernels.c: the CUDA text of one module as native code, in one precision (PARITAS_F64). The build names the module. */
#include "cuda/words.h"

#define PARITAS_WORKERS native_workers /* a team's size is the test's choice while it runs */
#include "dialect/cuda.h"
#include PARITAS_MODULE_FILE
#include PARITAS_MODULE_ENTRIES_FILE

#define X(name)                                                                                                                            \
    KERNEL_OF(name)                                                                                                                        \
    static void run_##name(void **arguments)                                                                                               \
    {                                                                                                                                      \
        name(*(const u32 **)arguments[0], *(const elem **)arguments[1], *(const u32 **)arguments[2], *(const elem **)arguments[3],         \
             *(elem **)arguments[4], *(real **)arguments[5], *(u32 *)arguments[6], *(u32 *)arguments[7]);                                  \
    }
MODULE_ENTRIES(X)
#undef X

#if F64
#define ENTRIES native_entries_f64
#else
#define ENTRIES native_entries_f32
#endif
const struct native_entry ENTRIES[] = {
#define X(name) {#name, run_##name},
    MODULE_ENTRIES(X)
#undef X
};
#if F64
const size_t native_entry_count = sizeof ENTRIES / sizeof ENTRIES[0];
#endif
