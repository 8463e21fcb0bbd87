/* dialect_metal.h: the kernel language in Metal Shading Language (2.3 and later). The words are listed in dialect.md.
 *
 * The host puts PARITAS_F64 (0: Metal has no double), PARITAS_WORKERS (threads of a threadgroup; a single one
 * needs no barriers) and PARITAS_ENTRY, the one entry of the text that becomes a kernel, in front of it. One
 * threadgroup is one team, one thread one worker.
 *
 * Metal tells a thread its number by a kernel's parameter and nowhere else, but any function may share work
 * by TEAM_FOR. So all functions are members of one struct, `team`, which knows the number: this file opens
 * it, KERNEL_OF closes it. A struct has no constant tables of its own, hence TABLE makes a member that every
 * worker brings along, and the compiler folds.
 *
 * Kernels use no threadgroup memory, of which Apple's devices have 32 KB: workers meet in the slab, which is
 * device memory.
 *
 * Bits: the math mode is safe, which alone would still contract a * b + c within a statement; fma and
 * precise::sqrt, and the quotient in the safe mode, are correctly rounded by the specification (its chapter
 * on numerical compliance). Subnormal numbers may be flushed.
 */
#ifndef PARITAS_DIALECT_METAL_H
#define PARITAS_DIALECT_METAL_H

#include <metal_stdlib>

#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#else
#pragma clang fp contract(off) /* the mode is the host's option */
#endif

#if PARITAS_F64
#error "Metal has no arithmetic in f64"
#endif
#define F64 0

typedef uint u32;
typedef float elem;
typedef int elem_int;

#define FN inline __attribute__((always_inline))
#define FN_LARGE __attribute__((noinline))
#define UNUSED __attribute__((unused))
#define GLOBAL device
#define CONSTANT device const /* a model's tables are larger than any constant memory */
#define PRIVATE thread
#define TABLE(type, name, n) const type name[n]

#define ELEM(x) (x##f)
#define ELEM_FMA(a, b, c) metal::fma(a, b, c)
#define SQRT(a) metal::precise::sqrt(a)
#define ELEM_BITS(a) as_type<int>(a)
#define ELEM_FROM_BITS(i) as_type<float>(i)
#define DIVIDE(a, b) ((a) / (b))

/* ---- teams: a threadgroup. Workers meet in the slab, which is device memory ---- */
#define UNROLL /* the compiler knows its registers */
#if PARITAS_WORKERS == 1
#define TEAM_FOR(i, n) for (u32 i = 0; i < (u32)(n); i++)
#define TEAM_BARRIER() ((void)0)
#define ONE_WORKER
#else
#define TEAM_FOR(i, n) for (u32 i = worker; i < (u32)(n); i += PARITAS_WORKERS)
#define TEAM_BARRIER() metal::threadgroup_barrier(metal::mem_flags::mem_device)
#define ONE_WORKER if (worker == 0)
#endif
#define TEAM_IF(c) if (c)

/* ---- entries: `first_team` is the row of the launch's first team, `slab` the elements of a team's slab
 * ---- */
#define KERNEL_OF(entry) /* the name behind PARITAS_ENTRY */ \
    }                                                        \
    ;                                                        \
    KERNEL_NAMED(entry)
#define KERNEL_NAMED(name)                                                                                 \
    [[kernel, max_total_threads_per_threadgroup(PARITAS_WORKERS)]] void name(                              \
        CONSTANT u32 *mi [[buffer(0)]], CONSTANT elem *mr [[buffer(1)]], CONSTANT u32 *args [[buffer(2)]], \
        GLOBAL const elem *in [[buffer(3)]], GLOBAL elem *out [[buffer(4)]],                               \
        GLOBAL elem *slabs [[buffer(5)]], constant u32 &slab [[buffer(6)]],                                \
        constant u32 &first_team [[buffer(7)]], uint group [[threadgroup_position_in_grid]],               \
        uint worker [[thread_position_in_threadgroup]])                                                    \
    {                                                                                                      \
        team t;                                                                                            \
        t.worker = worker;                                                                                 \
        t.name##_body(mi, mr, args, in, out, slabs + (size_t)slab * group, first_team + group);            \
    }

struct team {
    u32 worker;

#include "dialect/dialect_one_lane.h"

#endif
