/* ptx_thread.h: what translated PTX (translate_ptx.py) sees: its thread, its registers, and the instructions
 * that C has no word for. PTX_LOOKS: every access to memory is looked at. */
#ifndef PARITAS_TESTS_PTX_THREAD_H
#define PARITAS_TESTS_PTX_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum ptx_access { PTX_READS, PTX_READS_CONSTANT, PTX_WRITES };

struct ptx_thread;
struct ptx_host {
    void (*begin)(struct ptx_thread *thread, void **arguments); /* fills it */
    void (*barrier)(struct ptx_thread *thread, unsigned place);
    void (*look)(const struct ptx_thread *thread, uint64_t address, unsigned bytes, enum ptx_access access,
                 unsigned place);
};

struct ptx_memory {
    const void *begin; /* NULL: of a table that ends a list */
    size_t bytes;
    struct ptx_memory *outer; /* of a thread's own: what its callers have */
    struct ptx_thread *thread;
};

/* What a library of translated PTX has: ptx_library, and ptx_run of one thread. */
struct ptx_library {
    const struct ptx_memory *tables;
    const struct ptx_host *host; /* set by who loads it, as is the rest */
    unsigned long launch, launches;
};

struct ptx_thread {
    struct ptx_library *library;
    uint32_t thread, block, threads;
    uint32_t barriers;           /* that it has passed */
    struct ptx_memory *privates; /* of the innermost function */
};

#define PTX_RUN(call)                                         \
    struct ptx_library ptx_library = {.tables = ptx_tables};  \
    void ptx_run(void **arguments)                            \
    {                                                         \
        struct ptx_thread thread = {.library = &ptx_library}; \
        ptx_library.host->begin(&thread, arguments);          \
        call;                                                 \
    }
#define PTX_BARRIER(place) T->library->host->barrier(T, place)

/* ---- registers and memory ---- */

union ptx16 {
    uint16_t b;
};
union ptx32 {
    uint32_t b;
    float f;
};
union ptx64 {
    uint64_t b;
    double f;
};

#define PTX_LOAD(to, address) memcpy(&(to), (const void *)(uintptr_t)(address), sizeof(to))
#define PTX_STORE(type, address, value)                               \
    do {                                                              \
        const type stored = (value);                                  \
        memcpy((void *)(uintptr_t)(address), &stored, sizeof stored); \
    } while (0)
#define PTX_PARAMETER(name, size) _Alignas(16) unsigned char name[size]
#if defined(PTX_LOOKS)
#define PTX_LOOK(address, bytes, access, place) T->library->host->look(T, address, bytes, access, place)
static inline void ptx_forget(const struct ptx_memory *memory)
{
    memory->thread->privates = memory->outer;
}
/* A thread's own memory, until its function ends. As a device's, it holds anything at first. */
#define PTX_PRIVATE(name, size)                                                                    \
    PTX_PARAMETER(name, size);                                                                     \
    memset(name, 0xff, size);                                                                      \
    struct ptx_memory name##_ __attribute__((cleanup(ptx_forget))) = {name, size, T->privates, T}; \
    T->privates = &name##_
#else
#define PTX_LOOK(address, bytes, access, place) ((void)0)
#define PTX_PRIVATE(name, size) PTX_PARAMETER(name, size)
#endif

/* ---- instructions ---- */

/* Conversions end at the ends of their type; a NaN is 0, of 64 bits the highest bit. */
static inline int32_t ptx_whole_s32(double a)
{
    if (a != a) return 0;
    return a <= -0x1p31 ? INT32_MIN : a >= 0x1p31 ? INT32_MAX : (int32_t)a;
}
static inline uint32_t ptx_whole_u32(double a)
{
    if (a != a) return 0;
    return a <= 0 ? 0 : a >= 0x1p32 ? UINT32_MAX : (uint32_t)a;
}
static inline int64_t ptx_whole_s64(double a)
{
    if (a != a) return INT64_MIN;
    return a <= -0x1p63 ? INT64_MIN : a >= 0x1p63 ? INT64_MAX : (int64_t)a;
}
static inline uint64_t ptx_whole_u64(double a)
{
    if (a != a) return UINT64_C(1) << 63;
    return a <= 0 ? 0 : a >= 0x1p64 ? UINT64_MAX : (uint64_t)a;
}

/* The low `n` bits of `a` in `b`, from bit `at` on. */
static inline uint64_t ptx_insert64(uint64_t a, uint64_t b, uint32_t at, uint32_t n)
{
    at &= 255;
    n &= 255;
    if (at > 63 || n == 0) return b;
    const uint64_t mask = (n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}
static inline uint32_t ptx_insert32(uint32_t a, uint32_t b, uint32_t at, uint32_t n)
{
    if ((at & 255) > 31) return b;
    return (uint32_t)ptx_insert64(a, b, at, n);
}

#endif
