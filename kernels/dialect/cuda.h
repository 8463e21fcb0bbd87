/* cuda.h: the kernel language in CUDA C, as NVRTC and nvcc take it. The words are listed in dialect.md.
 *
 * The build defines PARITAS_F64 (1 or 0), PARITAS_WORKERS (threads of a block; a single one needs no barriers) and PARITAS_ENTRY, the
 * one entry of the text that becomes a kernel. One block is one team and one thread one worker: a team runs one fit, so `real`,
 * `pack` and `elem` are the same scalar and lanes do not exist. It includes nothing, since NVRTC brings no headers, and keeps to
 * what C has too, so that tests run this very text natively (tests/cuda/native.h).
 *
 * Bits: fma and roots are named with their rounding; sums, products and quotients are the operators, which the host's options
 * --fmad=false --prec-div=true --prec-sqrt=true --ftz=false round one by one (tools/check_ptx looks for it in the PTX).
 */
#ifndef PARITAS_DIALECT_H
#define PARITAS_DIALECT_H

#define F64 PARITAS_F64
#define LANES 1
#define PACK 1

#if F64
typedef double elem;
typedef long long elem_int;
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
typedef elem real;
typedef elem pack;
typedef int mask; /* what a comparison of scalars answers: 0 or 1 */
typedef int pmask;
typedef elem_int lint;
typedef elem_int plint;

#define FN static __device__ inline
#define FN_LARGE static __device__ __noinline__
#define UNUSED
#define GLOBAL
#define CONSTANT const
#define PRIVATE
#define TABLE(type, name, n) static __device__ const type name[n]

#define REAL_OF(e) ((elem)(e))
#define LI(x) ((elem_int)(x))
#define FMA(a, b, c) ELEM_FMA(a, b, c)
#define SQRT(a) ELEM_SQRT(a)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define LSELECT(m, a, b) ((m) ? (a) : (b))
#define ANY(m) ((m) != 0)
#define BITS(a) ELEM_BITS(a)
#define FROM_BITS(i) ELEM_FROM_BITS(i)
#define LINT_OF(a) ((elem_int)(a))
#define R(x) REAL_OF(ELEM(x))
#define DIVIDE(a, b) ((a) / (b))
#define PDIVIDE(a, b) DIVIDE(a, b)
#if F64
#define SHIFT_RIGHT(a, n) ((elem_int)((unsigned long long)(a) >> (n)))
#define MULTIPLY32(a, b) ((elem_int)((unsigned long long)(u32)(a) * (u32)(b)))
#endif

#define PACK_OF(r) (r)
#define PACK_OF_ELEM(e) REAL_OF(e)
#define PLI(x) LI(x)
#define PFMA(a, b, c) FMA(a, b, c)
#define PSQRT(a) SQRT(a)
#define PSELECT(m, a, b) SELECT(m, a, b)
#define PLSELECT(m, a, b) LSELECT(m, a, b)
#define PANY(m) ANY(m)
#define PBITS(a) BITS(a)
#define PFROM_BITS(i) FROM_BITS(i)
#define PK(x) PACK_OF_ELEM(ELEM(x))
#define LOADP(p, i) ((p)[i])
#define STOREP(p, i, v) ((p)[i] = (v))
#define LOADM(p, i) REAL_OF((p)[i])
#define LOADM1(p, i) REAL_OF((p)[i])
#define LOADI(p, i) PLI((p)[i])
#define PLINT_OF(i) (i)
#define GATHERP(p, idx, i) ((p)[(idx)[i]])
#define FIRST(v) (v)
#define ELEMENT(v, j) (v)

#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define NOT(a) (!(a))
#define PNOT(a) (!(a))

/* ---- teams: a block. Workers meet in the slab, which is global memory; a barrier orders it within the block ---- */
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
#define TEAM_FOR_PACK(i, n) TEAM_FOR(i, n)
#define TEAM_IF(c) if (c)

/* ---- entries and rows: `first_team` is the row of the launch's first team, `slab` the elements of a team's slab ---- */
#if defined(__cplusplus)
#define KERNEL_LINKAGE extern "C" /* the host finds a kernel by its plain name */
#else
#define KERNEL_LINKAGE
#endif
#define KERNEL_TABLES CONSTANT u32 *mi, CONSTANT elem *mr, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out
#define KERNEL(name) FN void name##_body(KERNEL_TABLES, GLOBAL real *s, u32 team)
#define KERNEL_OF(entry) KERNEL_NAMED(entry) /* the name behind PARITAS_ENTRY */
#define KERNEL_NAMED(name)                                                                                                            \
    KERNEL_LINKAGE __global__ void __launch_bounds__(PARITAS_WORKERS) name(KERNEL_TABLES, GLOBAL real *slabs, u32 slab, u32 first_team) \
    {                                                                                                                                 \
        name##_body(mi, mr, args, in, out, slabs + (size_t)slab * blockIdx.x, first_team + blockIdx.x);                               \
    }
#define TEAM_INDEX team

typedef struct {
    u32 of;
} lane_rows;
FN lane_rows rows_of_team(u32 team, u32 n)
{
    lane_rows r;
    r.of = team < n ? team : n - 1;
    return r;
}
FN lane_rows rows_divide(lane_rows r, u32 by)
{
    r.of /= by;
    return r;
}
FN lane_rows rows_modulo(lane_rows r, u32 by)
{
    r.of %= by;
    return r;
}
FN lane_rows rows_look_up(lane_rows r, CONSTANT u32 *table)
{
    r.of = table[r.of];
    return r;
}
FN lane_rows rows_where(lane_rows r, mask m, u32 other)
{
    if (!m) r.of = other;
    return r;
}
FN lane_rows rows_take(lane_rows r, mask m, PRIVATE u32 *next, u32 end, u32 none)
{
    if (m) r.of = *next < end ? (*next)++ : none;
    return r;
}
FN mask rows_are_not(lane_rows r, u32 other) { return r.of != other; }
#define GATHER_ELEM(p, index) ((p)[index])
#define GATHER_REAL(p, index) ((p)[index])
#define LINT_OF_ROWS(r) ((elem_int)(r).of)
#define LOAD_ROWS(p, r, stride, i) ((p)[(size_t)(r).of * (stride) + (i)])
#define STORE_ROWS(p, r, stride, i, v) ((p)[(size_t)(r).of * (stride) + (i)] = (v))

#endif
