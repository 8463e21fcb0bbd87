/* words.h: CUDA's words for a C compiler of the host, so that the very text that NVRTC takes
 * (kernels/dialect/dialect_cuda.h and a module) runs as native code. Stands in front of the dialect; comes
 * behind all system headers, since it takes names that those use. */
#ifndef PARITAS_TESTS_CUDA_WORDS_H
#define PARITAS_TESTS_CUDA_WORDS_H

#include "cuda/cuda_native.h"

#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll */
#endif
#define __device__ __attribute__((unused))
#define __global__ static
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(threads)
#define __syncthreads() native_barrier(__FILE__, __LINE__) /* of the kernel's line that has the barrier */
#define threadIdx native_thread
#define blockIdx native_block
#define __fma_rn(a, b, c) __builtin_fma(a, b, c)
#define __fmaf_rn(a, b, c) __builtin_fmaf(a, b, c)
#define __dsqrt_rn(a) __builtin_sqrt(a)
#define __fsqrt_rn(a) __builtin_sqrtf(a)
#define __double_as_longlong(a) native_bits64(a)
#define __longlong_as_double(i) native_from_bits64(i)
#define __float_as_int(a) native_bits32(a)
#define __int_as_float(i) native_from_bits32(i)

static inline long long native_bits64(double a)
{
    long long i;
    memcpy(&i, &a, sizeof i);
    return i;
}
static inline double native_from_bits64(long long i)
{
    double a;
    memcpy(&a, &i, sizeof a);
    return a;
}
static inline int native_bits32(float a)
{
    int i;
    memcpy(&i, &a, sizeof i);
    return i;
}
static inline float native_from_bits32(int i)
{
    float a;
    memcpy(&a, &i, sizeof a);
    return a;
}

#endif
