/* dialect_metal.h: the kernel language (dialect.md) in Metal Shading Language, 2.3 and later; f32 only.
 *
 * A threadgroup is a team, a thread a worker (dialect_one_lane.h). Only a kernel's parameter tells a thread
 * its number, but any function may use TEAM_FOR. So functions are members of struct `team`, opened here,
 * closed by KERNEL_OF. TABLE makes a member, which the compiler folds. Workers meet in device memory: Apple's
 * devices have 32 KB of threadgroup memory.
 *
 * Bits: safe math mode would still contract a * b + c in a statement. fma, precise::sqrt and safe quotients
 * are correctly rounded by the specification. Subnormals may be flushed. */
#pragma once

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
#define CONSTANT device const /* too large for constant memory */
#define NOW(p) (*(p))
#define PRIVATE thread
#define RESTRICT
#define TABLE(type, name, n) const type name[n]

#define ELEM(x) (x##f)
#define ELEM_FMA(a, b, c) metal::fma(a, b, c)
#define SQRT(a) metal::precise::sqrt(a)
#define ELEM_BITS(a) as_type<int>(a)
#define ELEM_FROM_BITS(i) as_type<float>(i)
#define DIVIDE(a, b) ((a) / (b))

/* ---- teams: a threadgroup ---- */
#define UNROLL /* left to the compiler */
#define TEAM_IS_ONE (PARITAS_WORKERS == 1)
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

/* ---- entries; first_team: row of the launch's first team, slab: elements a team ---- */
#define KERNEL_OF(entry) /* the name in PARITAS_ENTRY */ \
    }                                                    \
    ;                                                    \
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
