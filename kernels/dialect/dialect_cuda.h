/* dialect_cuda.h: the kernel language (dialect.md) in CUDA C for NVRTC and nvcc.
 *
 * A block is a team, a thread a worker (dialect_one_lane.h). Nothing is included, since NVRTC has no headers.
 * Tests run this text natively (tests/cuda/cuda_native.h), so it keeps to what C has too.
 *
 * Bits: fma and roots name their rounding; --fmad=false --prec-div=true --prec-sqrt=true --ftz=false round
 * the operators (tools/check_ptx). */
#pragma once

#define F64 PARITAS_F64

#if F64
typedef double elem;
typedef long long elem_int;
typedef unsigned long long elem_bits;
#define ELEM(x) (x)
#define ELEM_FMA(a, b, c) __fma_rn(a, b, c)
#define ELEM_SQRT(a) __dsqrt_rn(a)
#define ELEM_BITS(a) __double_as_longlong(a)
#define ELEM_FROM_BITS(i) __longlong_as_double(i)
#else
typedef float elem;
typedef int elem_int;
#define ELEM(x) (x##f)
#define ELEM_FMA(a, b, c) __fmaf_rn(a, b, c)
#define ELEM_SQRT(a) __fsqrt_rn(a)
#define ELEM_BITS(a) __float_as_int(a)
#define ELEM_FROM_BITS(i) __int_as_float(i)
#endif

typedef unsigned int u32;

#define FN static __device__ inline
#define FN_LARGE static __device__ __noinline__
#define UNUSED
#define GLOBAL
#define CONSTANT const
#define NOW(p) (*(p))
#define PRIVATE
#define RESTRICT __restrict__
#define TABLE(type, name, n) static __device__ const type name[n]

#define SQRT(a) ELEM_SQRT(a)
#define DIVIDE(a, b) ((a) / (b))

/* ---- teams: a block; workers meet in global memory ---- */
#define UNROLL _Pragma("unroll")
#define TEAM_IS_ONE (PARITAS_WORKERS == 1)
#if PARITAS_WORKERS == 1
#define TEAM_FOR(i, n) for (u32 i = 0; i < (u32)(n); i++)
#define TEAM_BARRIER() ((void)0)
#define ONE_WORKER
#else
#define TEAM_FOR(i, n) for (u32 i = threadIdx.x; i < (u32)(n); i += PARITAS_WORKERS)
#define TEAM_BARRIER() __syncthreads()
#define ONE_WORKER if (threadIdx.x == 0)
#endif
#define TEAM_IF(c) if (c)

#include "dialect/dialect_one_lane.h"

/* ---- entries; first_team: row of the launch's first team, slab: elements a team ---- */
#if defined(__cplusplus)
#define KERNEL_LINKAGE extern "C" /* for the plain name */
#else
#define KERNEL_LINKAGE
#endif
#define KERNEL_OF(entry) KERNEL_NAMED(entry) /* the name in PARITAS_ENTRY */
#define KERNEL_NAMED(name)                                                                              \
    KERNEL_LINKAGE __global__ void __launch_bounds__(PARITAS_WORKERS)                                   \
        name(KERNEL_TABLES, GLOBAL real *slabs, u32 slab, u32 first_team)                               \
    {                                                                                                   \
        name##_body(mi, mr, args, in, out, slabs + (size_t)slab * blockIdx.x, first_team + blockIdx.x); \
    }
