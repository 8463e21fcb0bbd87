/* cuda_fake.h: libraries that stand in for NVIDIA's driver and NVRTC, and what a test tells them and learns
 * from them.
 *
 * The driver does everything late: copies and kernels happen when a stream is waited for, in order, so that
 * memory that went away too soon is missed (by the address sanitizer, too). Kernels are those of native.c.
 * Memory is the host's, with guards on both sides, and begins as NaN. What a real driver would leave
 * undefined is a fault, whose first is kept: unknown handles, a call without the device's context, copies and
 * kernels that reach beyond their memory, work that is still queued when its memory or module goes.
 */
#ifndef PARITAS_CUDA_FAKE_H
#define PARITAS_CUDA_FAKE_H

#include "cuda/cuda_native.h"

struct fake_cuda {
    /* the machine; a test changes it between devices */
    int devices, driver, major, minor, prohibited;
    int ratio;               /* of the speeds of f32 and f64 */
    size_t memory;           /* bytes that can be allocated */
    int threads_most;        /* of a block, that any kernel answers */
    enum native_order order; /* in which the threads of a block take turns */

    /* failures on demand: the calls that could fail are counted from 1; number `fail_at` answers `fail_code`,
     * with `fail_on` all from there on do. A call that releases something does so all the same. 0: none
     * fails. */
    unsigned long calls, fail_at;
    int fail_on, fail_code;
    const char *failed;  /* the last call that was made to fail */
    int compile_refused; /* NVRTC finds an error in every text */
    int garbage;         /* 1: what NVRTC makes is no machine code; 2: it is cut short */

    /* what happened */
    char fault[256]; /* the first; "": none */
    unsigned long allocations, launches, compiled, copies;
    unsigned long ran; /* of the launches, also the one that runs */
    size_t allocated;  /* bytes of memory */
    long in_use;       /* contexts, streams, modules, memory, programs that are held */
    void *current;     /* the context on top of the thread's stack */
    void *last_stream; /* that had work */
    int streams;       /* that were made */
    int nvrtc;         /* the version that compiled last: 13000 */
    char options[512]; /* of the last compilation, with blanks between */
    unsigned workers;  /* that it was for */
};

/* The machine as it is at first. */
#define FAKE_CUDA_AT_FIRST      \
    {.devices = 1,              \
     .driver = 13000,           \
     .major = 9,                \
     .ratio = 2,                \
     .memory = (size_t)1 << 30, \
     .threads_most = 1024,      \
     .order = NATIVE_SHUFFLED}

/* Exported by the driver's stand-in as `fake_cuda`. */
typedef struct fake_cuda *(*fake_cuda_function)(void);
/* Counts a call; the code that it has to answer. */
typedef int (*fake_call_function)(const char *name);

/* What the stand-in for NVRTC makes: behind 64 bytes that look like an ELF header. PTX is the same behind a
 * line of text. */
struct fake_image {
    char magic[8];
    char entry[64];
    unsigned precision, workers, architecture;
};
/* What the driver has of who knows its kernels: of fake_kernels.c by their names, of tests/ptx by their PTX.
 * NULL: there is none. */
native_kernel fake_kernel(const struct fake_image *image, const char *text);
/* What they have of the driver: a fault, which ends the launch; the device's memory around an address (0:
 * none). */
int fake_fault(int code, const char *format, ...);
uintptr_t fake_memory(uintptr_t address, size_t *bytes);

#define FAKE_MAGIC "fakecub"
#define FAKE_HEADER 64
#define FAKE_PTX "//\n.version 1.0\n"

#endif
