/* native_kernels.c: the CUDA text of one module as native code, in one precision (PARITAS_F64). The build
 * names the module. */
#include "cuda/words.h"

#define PARITAS_WORKERS native_workers /* a team's size is the test's choice while it runs */
#include "dialect/dialect_cuda.h"
#include PARITAS_MODULE_FILE
#include PARITAS_MODULE_ENTRIES_FILE

#define X(name)                                                                                      \
    KERNEL_OF(name)                                                                                  \
    static void run_##name(void **arguments)                                                         \
    {                                                                                                \
        name(*(const u32 **)arguments[0], *(const elem **)arguments[1], *(const u32 **)arguments[2], \
             *(const elem **)arguments[3], *(elem **)arguments[4], *(real **)arguments[5],           \
             *(u32 *)arguments[6], *(u32 *)arguments[7]);                                            \
    }
MODULE_ENTRIES(X)
#undef X

#define TABLE_NAME_(module, bits) native_##module##_f##bits
#define TABLE_NAME(module, bits) TABLE_NAME_(module, bits)
#if F64
#define ENTRIES TABLE_NAME(PARITAS_MODULE, 64)
#else
#define ENTRIES TABLE_NAME(PARITAS_MODULE, 32)
#endif
const struct native_entry ENTRIES[] = {
#define X(name) {#name, run_##name},
    MODULE_ENTRIES(X)
#undef X
        {NULL, NULL}};
