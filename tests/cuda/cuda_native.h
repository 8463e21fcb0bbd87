/* cuda_native.h: blocks of CUDA threads on the host, without a device.
 *
 *   native_run ─► for each block: a fiber a thread; each runs from barrier to barrier while the others stand
 *       still
 *
 * In which order the threads of a block take their turns is free: as numbered, backwards, or shuffled anew at
 * every barrier. A kernel whose results depend on it lacks a barrier. So that tests can see that such a lack
 * shows, any barrier can be dropped by its place in the text. One run at a time in a process's thread; the
 * settings are that thread's.
 */
#ifndef PARITAS_CUDA_NATIVE_H
#define PARITAS_CUDA_NATIVE_H

#include "modules.h"

#include <stddef.h>
#include <stdint.h>

#define NATIVE_WORKERS_MAX 256

/* A kernel; arguments[k] points to its argument k, as cuLaunchKernel has them. */
typedef void (*native_kernel)(void **arguments);

/* The kernels of a module in one precision, in the order of its entries; the last has no name. */
struct native_entry {
    const char *name;
    native_kernel run;
};
#define NATIVE_DECLARE(module, lanes) \
    extern const struct native_entry native_##module##_f64[], native_##module##_f32[];
PARITAS_KERNEL_MODULES(NATIVE_DECLARE)

enum native_order { NATIVE_FORWARD, NATIVE_BACKWARD, NATIVE_SHUFFLED };

struct native_place {
    const char *file;
    unsigned line;
};

struct native_settings {
    enum native_order order;
    uint64_t seed;               /* of the shuffling */
    struct native_place dropped; /* a barrier that does nothing; file NULL: none */
};
extern _Thread_local struct native_settings native_settings;
extern _Thread_local unsigned native_workers; /* threads of a block */

/* What CUDA calls threadIdx and blockIdx. */
struct native_index {
    unsigned x;
};
extern _Thread_local struct native_index native_thread, native_block;

/* Runs blocks 0 .. blocks - 1, one after the other. NULL, or what went wrong: threads of a block at different
 * barriers. */
const char *native_run(native_kernel kernel, void **arguments, unsigned blocks);

void native_barrier(const char *file, unsigned line);

/* The barriers that were met since the last native_forget_barriers, each once; how many there are. */
size_t native_barriers(const struct native_place **places);
void native_forget_barriers(void);

#endif
