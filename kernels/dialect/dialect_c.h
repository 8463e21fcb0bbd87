/* dialect_c.h: the kernel language (dialect.md) in C17 for the CPU.
 *
 * The build defines PARITAS_F64 (1, 0), PARITAS_LANES (W), PARITAS_PACK (P); W or P is 1. Vectors of W * P
 * elements are GCC/clang vector types with IEEE operations. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#elif defined(__wasm__)
#include "dialect/dialect_software_fma.h"
#endif

#define F64 PARITAS_F64
#define LANES PARITAS_LANES
#define PACK PARITAS_PACK

typedef uint32_t u32;
#if F64
typedef double elem;
typedef int64_t elem_int;
#if defined(__wasm_relaxed_simd__)
/* relaxed_madd is fused: src/device/cpu/cpu.c has tried it. WebAssembly has no other fma. */
#define ELEM_FMA(a, b, c)    \
    wasm_f64x2_extract_lane( \
        wasm_f64x2_relaxed_madd(wasm_f64x2_splat(a), wasm_f64x2_splat(b), wasm_f64x2_splat(c)), 0)
#elif defined(__wasm__)
#define ELEM_FMA software_fma
#else
#define ELEM_FMA __builtin_fma
#endif
#define ELEM_SQRT __builtin_sqrt
#define ELEM(x) (x)
#else
typedef float elem;
typedef int32_t elem_int;
#if defined(__wasm_relaxed_simd__)
#define ELEM_FMA(a, b, c)    \
    wasm_f32x4_extract_lane( \
        wasm_f32x4_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0)
#elif defined(__wasm__)
#define ELEM_FMA software_fmaf
#else
#define ELEM_FMA __builtin_fmaf
#endif
#define ELEM_SQRT __builtin_sqrtf
#define ELEM(x) (x##f)
#endif

#define FN static inline __attribute__((always_inline, unused))
#define FN_LARGE static __attribute__((noinline, unused))
#define UNUSED __attribute__((unused))
#define GLOBAL
#define RESTRICT restrict
#define CONSTANT const
#define NOW(p) (*(const volatile u32 *)(p)) /* the host may lower it while kernels run */
#define PRIVATE
#define TABLE(type, name, n) static const type name[n]

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define VECTOR_WIDTH (LANES * PACK)
#if VECTOR_WIDTH > 1
typedef elem vec __attribute__((vector_size(sizeof(elem) * VECTOR_WIDTH)));
typedef elem_int vint __attribute__((vector_size(sizeof(elem) * VECTOR_WIDTH)));
/* at any address of an elem */
typedef elem vec_anywhere
    __attribute__((vector_size(sizeof(elem) * VECTOR_WIDTH), aligned(sizeof(elem)), may_alias));

/* Lists: where a loop sets the elements, gcc 14 takes some of them for uninitialised. */
#define TWO_OF(e) e, e
#define FOUR_OF(e) TWO_OF(e), TWO_OF(e)
#define EIGHT_OF(e) FOUR_OF(e), FOUR_OF(e)
#if VECTOR_WIDTH == 2
#define ALL_OF(e) {TWO_OF(e)}
#elif VECTOR_WIDTH == 4
#define ALL_OF(e) {FOUR_OF(e)}
#elif VECTOR_WIDTH == 8
#define ALL_OF(e) {EIGHT_OF(e)}
#elif VECTOR_WIDTH == 16
#define ALL_OF(e) {EIGHT_OF(e), EIGHT_OF(e)}
#endif
FN vec vec_of(elem e)
{
    return (vec)ALL_OF(e);
}
FN vint vint_of(elem_int e)
{
    return (vint)ALL_OF(e);
}
/* Intrinsics only here, in vec_any, vint_multiply: clang 14 cuts chains of the loop into pairs, an any() loop
 * costs more than it saves, gcc multiplies all 64 bits. */
FN vec vec_fma(vec a, vec b, vec c)
{
    vec v = {0};
#if defined(__AVX512F__) && F64 && VECTOR_WIDTH == 8
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX512F__) && !F64 && VECTOR_WIDTH == 16
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__) && F64 && VECTOR_WIDTH == 4
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__FMA__) && !F64 && VECTOR_WIDTH == 8
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__wasm_relaxed_simd__) && F64 && VECTOR_WIDTH == 2
    return (vec)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#elif defined(__wasm_relaxed_simd__) && !F64 && VECTOR_WIDTH == 4
    return (vec)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#elif defined(__wasm__) && F64 && VECTOR_WIDTH == 2
    return (vec)software_fma_pair((fma_pair)a, (fma_pair)b, (fma_pair)c);
#endif
    for (int l = 0; l < VECTOR_WIDTH; l++) v[l] = ELEM_FMA(a[l], b[l], c[l]);
    return v;
}
FN vec vec_sqrt(vec a)
{
    vec v = {0};
    for (int l = 0; l < VECTOR_WIDTH; l++) v[l] = ELEM_SQRT(a[l]);
    return v;
}
FN vint vec_iselect(vint m, vint a, vint b)
{
    return (m & a) | (~m & b);
}
FN vec vec_select(vint m, vec a, vec b)
{
    return (vec)vec_iselect(m, (vint)a, (vint)b);
}
FN int vec_any(vint m)
{
#if defined(__AVX512F__)
    if (sizeof m == 64) {
        __m512i wide;
        memcpy(&wide, &m, sizeof m < sizeof wide ? sizeof m : sizeof wide);
        return _mm512_test_epi64_mask(wide, wide) != 0;
    }
#endif
#if defined(__AVX2__)
    if (sizeof m == 32) {
        __m256i half;
        memcpy(&half, &m, sizeof m < sizeof half ? sizeof m : sizeof half);
        return !_mm256_testz_si256(half, half);
    }
#endif
    elem_int any = 0;
    for (int l = 0; l < VECTOR_WIDTH; l++) any |= m[l];
    return any != 0;
}
#if F64
typedef uint64_t vec_bits __attribute__((vector_size(8 * VECTOR_WIDTH)));
FN vint vint_shift_right(vint a, int n)
{
    return (vint)((vec_bits)a >> n);
}
FN vint vint_multiply(vint a, vint b)
{
    vint v = {0};
#if defined(__AVX512F__) && VECTOR_WIDTH == 8
    return (vint)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && VECTOR_WIDTH == 4
    return (vint)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
    for (int l = 0; l < VECTOR_WIDTH; l++) v[l] = (elem_int)((uint64_t)(u32)a[l] * (u32)b[l]);
    return v;
}
#endif
#endif

FN elem_int elem_bits(elem a)
{
    elem_int i;
    memcpy(&i, &a, sizeof i);
    return i;
}
FN elem elem_from_bits(elem_int i)
{
    elem a;
    memcpy(&a, &i, sizeof a);
    return a;
}

/* ---- real: W lanes ---- */
#if LANES > 1
typedef vec real;
typedef vint mask;
typedef vint lint;
#define REAL_OF(e) vec_of(e)
#define LI(x) vint_of(x)
#define FMA(a, b, c) vec_fma(a, b, c)
#define SQRT(a) vec_sqrt(a)
#define SELECT(m, a, b) vec_select(m, a, b)
#define LSELECT(m, a, b) vec_iselect(m, a, b)
#define ANY(m) vec_any(m)
#define BITS(a) ((lint)(a))
#define FROM_BITS(i) ((real)(i))
FN lint LINT_OF(real a)
{
    lint i = {0};
    for (int l = 0; l < LANES; l++) i[l] = (elem_int)a[l];
    return i;
}
#else
typedef elem real;
typedef elem_int mask;
typedef elem_int lint;
#define REAL_OF(e) ((elem)(e))
#define LI(x) ((elem_int)(x))
#define FMA(a, b, c) ELEM_FMA(a, b, c)
#define SQRT(a) ELEM_SQRT(a)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define LSELECT(m, a, b) ((m) ? (a) : (b))
#define ANY(m) ((m) != 0)
#define BITS(a) elem_bits(a)
#define FROM_BITS(i) elem_from_bits(i)
#define LINT_OF(a) ((elem_int)(a))
#define U32_OF(a) ((u32)(a))
#endif
#define R(x) REAL_OF(ELEM(x))
#define DIVIDE(a, b) ((a) / (b))
#define PDIVIDE(a, b) ((a) / (b))

/* ---- 64-bit integers ---- */
#if F64
#if VECTOR_WIDTH > 1
#define SHIFT_RIGHT(a, n) vint_shift_right(a, n)
#define MULTIPLY32(a, b) vint_multiply(a, b)
#else
#define SHIFT_RIGHT(a, n) ((elem_int)((uint64_t)(a) >> (n)))
#define MULTIPLY32(a, b) ((elem_int)((uint64_t)(u32)(a) * (u32)(b)))
#endif
#endif

/* ---- pack: P neighbouring elements of every lane ---- */
#if PACK > 1
typedef vec pack;
typedef vint pmask;
typedef vint plint;
#define PACK_OF(r) vec_of(r)
#define PACK_OF_ELEM(e) vec_of(e)
#define PLI(x) vint_of(x)
#define PFMA(a, b, c) vec_fma(a, b, c)
#define PSQRT(a) vec_sqrt(a)
#define PSELECT(m, a, b) vec_select(m, a, b)
#define PLSELECT(m, a, b) vec_iselect(m, a, b)
#define PANY(m) vec_any(m)
#define PBITS(a) ((plint)(a))
#define PFROM_BITS(i) ((pack)(i))
#define LOADP(p, i) (*(const vec_anywhere *)((p) + (i)))
#define STOREP(p, i, v) (*(vec_anywhere *)((p) + (i)) = (v))
#define LOADM(p, i) (*(const vec_anywhere *)((p) + (i)))
FN plint LOADI(const u32 *p, u32 i)
{
    plint v = {0};
    for (int l = 0; l < PACK; l++) v[l] = (elem_int)p[i + (u32)l];
    return v;
}
#define PLINT_OF(i) vint_of(i)
#define FIRST(v) ((v)[0])
#define ELEMENT(v, j) ((v)[j])
FN pack gather_pack(const real *p, const u32 *index)
{
    pack v = {0};
    for (int l = 0; l < PACK; l++) v[l] = p[index[l]];
    return v;
}
#define GATHERP(p, idx, i) gather_pack(p, (idx) + (i))
#if PACK == 8
#define TURN_PACK(v, n) \
    __builtin_shufflevector(v, v, n, (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7)
/* Rows of an 8 x 8 block to columns, in three rounds. */
#define TRANSPOSE_PACKS(v) transpose_packs(v)
FN void transpose_packs(pack *v)
{
    pack t[8];
    UNROLL for (int i = 0; i < 4; i++)
    {
        t[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    UNROLL for (int i = 0; i < 8; i++)
    {
        const int a = i & ~2;
        v[i] = i & 2 ? __builtin_shufflevector(t[a], t[a + 2], 2, 3, 10, 11, 6, 7, 14, 15)
                     : __builtin_shufflevector(t[a], t[a + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    }
    UNROLL for (int i = 0; i < 8; i++)
    {
        const int a = i & ~4;
        t[i] = i & 4 ? __builtin_shufflevector(v[a], v[a + 4], 4, 5, 6, 7, 12, 13, 14, 15)
                     : __builtin_shufflevector(v[a], v[a + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    }
    UNROLL for (int i = 0; i < 8; i++) v[i] = t[i];
}
#endif
#else
typedef real pack;
typedef mask pmask;
typedef lint plint;
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
#define LOADP(p, i) ((p)[i])
#define STOREP(p, i, v) ((p)[i] = (v))
#define LOADM(p, i) REAL_OF((p)[i])
#define LOADI(p, i) PLI((p)[i])
#define PLINT_OF(i) (i)
#define FIRST(v) (v)
#define ELEMENT(v, j) (v)
#define GATHERP(p, idx, i) ((p)[(idx)[i]])
#endif
#define PK(x) PACK_OF_ELEM(ELEM(x))
#define LOADM1(p, i) REAL_OF((p)[i])

/* Vector masks are all bits or none, scalar ones 1 or 0. */
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#if VECTOR_WIDTH > 1
#if LANES > 1
#define NOT(a) (~(a))
#define PNOT(a) (~(a))
#else
#define NOT(a) (!(a))
#define PNOT(a) (~(a))
#endif
#else
#define NOT(a) (!(a))
#define PNOT(a) (!(a))
#endif

/* ---- teams: one worker ---- */
#define TEAM_FOR(i, n) for (u32 i = 0; i < (u32)(n); i++)
#define TEAM_FOR_PACK(i, n) for (u32 i = 0; i < (u32)(n); i += PACK)
#define TEAM_BARRIER() ((void)0)
#define TEAM_IS_ONE 1
#define TEAM_IF(c) if (c)
#define ONE_WORKER

/* ---- entries and rows ---- */
#define KERNEL_NAME_(name, variant) name##_##variant
#define KERNEL_NAME(name, variant) KERNEL_NAME_(name, variant)
#define KERNEL(name)                                                                                      \
    static void name##_body(const u32 *mi, const elem *mr, const u32 *args, const elem *in, elem *out,    \
                            real *s, u32 team);                                                           \
    static UNUSED void KERNEL_NAME(name, PARITAS_VARIANT)(const u32 *mi, const void *mr, const u32 *args, \
                                                          const void *in, void *out, void *s, u32 team)   \
    {                                                                                                     \
        name##_body(mi, (const elem *)mr, args, (const elem *)in, (elem *)out, (real *)s, team);          \
    }                                                                                                     \
    static void name##_body(const u32 *mi, const elem *mr, const u32 *args, const elem *in, elem *out,    \
                            real *s, u32 team)
#define TEAM_INDEX team

/* The lanes' rows of job arrays. */
typedef struct {
    u32 of[LANES];
} lane_rows;
FN lane_rows rows_of_team(u32 team, u32 n)
{
    lane_rows r;
    for (u32 l = 0; l < LANES; l++) r.of[l] = team * LANES + l < n ? team * LANES + l : n - 1;
    return r;
}
FN lane_rows rows_divide(lane_rows r, u32 by)
{
    for (u32 l = 0; l < LANES; l++) r.of[l] /= by;
    return r;
}
FN lane_rows rows_modulo(lane_rows r, u32 by)
{
    for (u32 l = 0; l < LANES; l++) r.of[l] %= by;
    return r;
}
FN lane_rows rows_look_up(lane_rows r, const u32 *table)
{
    for (u32 l = 0; l < LANES; l++) r.of[l] = table[r.of[l]];
    return r;
}
FN lane_rows rows_where(lane_rows r, mask m, u32 other)
{
#if LANES > 1
    for (u32 l = 0; l < LANES; l++) r.of[l] = m[l] ? r.of[l] : other;
#else
    r.of[0] = m ? r.of[0] : other;
#endif
    return r;
}
/* lanes in m take the next row each, or `none` at the end */
FN lane_rows rows_take(lane_rows r, mask m, u32 *next, u32 end, u32 none)
{
    for (u32 l = 0; l < LANES; l++) {
#if LANES > 1
        if (!m[l]) continue;
#else
        if (!m) continue;
#endif
        r.of[l] = *next < end ? (*next)++ : none;
    }
    return r;
}
FN mask rows_are_not(lane_rows r, u32 other)
{
#if LANES > 1
    mask m = {0};
    for (u32 l = 0; l < LANES; l++) m[l] = r.of[l] != other ? -1 : 0;
    return m;
#else
    return r.of[0] != other;
#endif
}
#if LANES > 1
/* element index[l] of a table, or of lane l's array */
FN real gather_elem(const elem *p, lint index)
{
    real v = {0};
    for (u32 l = 0; l < LANES; l++) v[l] = p[index[l]];
    return v;
}
FN real gather_real(const real *p, lint index)
{
    real v = {0};
    for (u32 l = 0; l < LANES; l++) v[l] = p[index[l]][l];
    return v;
}
#else
FN real gather_elem(const elem *p, lint index)
{
    return p[index];
}
FN real gather_real(const real *p, lint index)
{
    return p[index];
}
#endif
#define GATHER_ELEM(p, index) gather_elem(p, index)
#define GATHER_REAL(p, index) gather_real(p, index)
#if LANES > 1
FN real load_rows(const elem *p, lane_rows r, u32 stride, u32 i)
{
    real v = {0};
    for (u32 l = 0; l < LANES; l++) v[l] = p[(size_t)r.of[l] * stride + i];
    return v;
}
FN void store_rows(elem *p, lane_rows r, u32 stride, u32 i, real v)
{
    for (u32 l = 0; l < LANES; l++) p[(size_t)r.of[l] * stride + i] = v[l];
}
#else
FN real load_rows(const elem *p, lane_rows r, u32 stride, u32 i)
{
    return p[(size_t)r.of[0] * stride + i];
}
FN void store_rows(elem *p, lane_rows r, u32 stride, u32 i, real v)
{
    p[(size_t)r.of[0] * stride + i] = v;
}
#endif
FN lint LINT_OF_ROWS(lane_rows r)
{
#if LANES > 1
    lint v = {0};
    for (u32 l = 0; l < LANES; l++) v[l] = (elem_int)r.of[l];
    return v;
#else
    return (elem_int)r.of[0];
#endif
}
#define LOAD_ROWS(p, r, stride, i) load_rows(p, r, stride, i)
#define STORE_ROWS(p, r, stride, i, v) store_rows(p, r, stride, i, v)
/* n elements from `first` on, in lanes of m alone: few at a time finish a task */
#if LANES > 1
FN void rows_load(real *to, mask m, const elem *p, lane_rows r, u32 stride, u32 first, u32 n)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!m[l]) continue;
        const elem *row = p + (size_t)r.of[l] * stride + first;
        for (u32 i = 0; i < n; i++) to[i][l] = row[i];
    }
}
FN void rows_store(elem *p, mask m, lane_rows r, u32 stride, u32 first, const real *from, u32 n)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!m[l]) continue;
        elem *row = p + (size_t)r.of[l] * stride + first;
        for (u32 i = 0; i < n; i++) row[i] = from[i][l];
    }
}
#else
FN void rows_load(real *to, mask m, const elem *p, lane_rows r, u32 stride, u32 first, u32 n)
{
    for (u32 i = 0; i < n && m; i++) to[i] = load_rows(p, r, stride, first + i);
}
FN void rows_store(elem *p, mask m, lane_rows r, u32 stride, u32 first, const real *from, u32 n)
{
    for (u32 i = 0; i < n && m; i++) store_rows(p, r, stride, first + i, from[i]);
}
#endif
