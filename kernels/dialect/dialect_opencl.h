/* dialect_opencl.h: the kernel language (dialect.md) in OpenCL C 1.2.
 *
 * A work-group is a team, a work-item a worker (dialect_one_lane.h).
 *
 * Bits: FP_CONTRACT is off; fma and f64 quotients and roots are correctly rounded by the standard. For floats
 * the host passes -cl-fp32-correctly-rounded-divide-sqrt or else defines PARITAS_BUILT_DIVISION. */
#pragma once

#define F64 PARITAS_F64

#pragma OPENCL FP_CONTRACT OFF
#if F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double elem;
typedef long elem_int;
typedef ulong elem_bits;
#define ELEM(x) (x)
#define ELEM_BITS(a) as_long(a)
#define ELEM_FROM_BITS(i) as_double(i)
#else
typedef float elem;
typedef int elem_int;
#define ELEM(x) (x##f)
#define ELEM_BITS(a) as_int(a)
#define ELEM_FROM_BITS(i) as_float(i)
#endif

typedef uint u32;

#define FN static inline
#define FN_LARGE static inline
#define UNUSED
#define GLOBAL __global
#define CONSTANT __global const /* too large for constant memory */
#define NOW(p) (*(p))
#define PRIVATE __private
#define RESTRICT restrict
#define TABLE(type, name, n) __constant type name[n]

#define ELEM_FMA(a, b, c) fma(a, b, c)

/* ---- teams: a work-group; workers meet in global memory ---- */
#define UNROLL /* left to the compiler */
#define TEAM_IS_ONE (PARITAS_WORKERS == 1)
#if PARITAS_WORKERS == 1
#define TEAM_FOR(i, n) for (u32 i = 0; i < (u32)(n); i++)
#define TEAM_BARRIER() ((void)0)
#define TEAM_IF(c) if (c)
#define ONE_WORKER
#else
#define TEAM_FOR(i, n) for (u32 i = (u32)get_local_id(0); i < (u32)(n); i += PARITAS_WORKERS)
#define TEAM_BARRIER() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
/* a loop: compilers that serialise teams copy what follows an `if` around a barrier, not what follows a
 * loop */
#define TEAM_IF(c) for (int once = (c) ? 1 : 0; once > 0; once--)
#define ONE_WORKER if (get_local_id(0) == 0)
#endif

#include "dialect/dialect_one_lane.h"

#if F64 || !defined(PARITAS_BUILT_DIVISION)
#define DIVIDE(a, b) ((a) / (b))
#define SQRT(a) sqrt(a)
#else
#define BUILT_RECIPROCAL(x) (1.0f / (x))
#define BUILT_ROOT(x) sqrt(x)
#include "dialect/dialect_division.h"
#define DIVIDE(a, b) built_divide(a, b)
#define SQRT(a) built_root(a)
#endif

/* ---- entries; first_team: row of the launch's first team, slab: elements a team ---- */
#define KERNEL_OF(entry) KERNEL_NAMED(entry) /* the name in PARITAS_ENTRY */
#define KERNEL_NAMED(name)                                                                    \
    __kernel __attribute__((reqd_work_group_size(PARITAS_WORKERS, 1, 1))) void name(          \
        KERNEL_TABLES, GLOBAL real *slabs, u32 slab, u32 first_team)                          \
    {                                                                                         \
        const u32 group = (u32)get_group_id(0);                                               \
        name##_body(mi, mr, args, in, out, slabs + (size_t)slab * group, first_team + group); \
    }
