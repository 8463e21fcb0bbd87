/* dialect_cuda.h: the kernel language in CUDA C, as NVRTC and nvcc take it. The words are listed in dialect.md.
 *
 * The build defines PARITAS_F64 (1 or 0), PARITAS_WORKERS (threads of a block; a single one needs no
 * barriers) and PARITAS_ENTRY, the one entry of the text that becomes a kernel. One block is one team and one
 * thread one worker: a team runs one fit, so `real`, `pack` and `elem` are the same scalar and lanes do not
 * exist. It includes nothing, since NVRTC brings no headers, and keeps to what C has too, so that tests run
 * this very text natively (tests/cuda/cuda_native.h).
 *
 * Bits: fma and roots are named with their rounding; sums, products and quotients are the operators, which
 * the host's options --fmad=false --prec-div=true --prec-sqrt=true --ftz=false round one by one
 * (tools/check_ptx looks for it in the PTX).
 */
#ifndef PARITAS_DIALECT_CUDA_H
#define PARITAS_DIALECT_CUDA_H

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
#define PRIVATE
#define TABLE(type, name, n) static __device__ const type name[n]

#define SQRT(a) ELEM_SQRT(a)
#define DIVIDE(a, b) ((a) / (b))

/* ---- teams: a block. Workers meet in the slab, which is global memory; a barrier orders it within the block
 * ---- */
#define UNROLL _Pragma("unroll")
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

/* ---- entries: `first_team` is the row of the launch's first team, `slab` the elements of a team's slab
 * ---- */
#if defined(__cplusplus)
#define KERNEL_LINKAGE extern "C" /* the host finds a kernel by its plain name */
#else
#define KERNEL_LINKAGE
#endif
#define KERNEL_OF(entry) KERNEL_NAMED(entry) /* the name behind PARITAS_ENTRY */
#define KERNEL_NAMED(name)                                                                              \
    KERNEL_LINKAGE __global__ void __launch_bounds__(PARITAS_WORKERS)                                   \
        name(KERNEL_TABLES, GLOBAL real *slabs, u32 slab, u32 first_team)                               \
    {                                                                                                   \
        name##_body(mi, mr, args, in, out, slabs + (size_t)slab * blockIdx.x, first_team + blockIdx.x); \
    }

#endif
