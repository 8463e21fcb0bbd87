/* metal.h: the kernel language in Metal Shading Language (2.3 and later). The words are listed in dialect.md.
 *
 * The host puts PARITAS_F64 (0: Metal has no double), PARITAS_WORKERS (threads of a threadgroup; a single one needs no barriers) and
 * PARITAS_ENTRY, the one entry of the text that becomes a kernel, in front of it. One threadgroup is one team, one thread one worker.
 *
 * Metal tells a thread its number by a kernel's parameter and nowhere else, but any function may share work by TEAM_FOR. So all functions
 * are members of one struct, `team`, which knows the number: this file opens it, KERNEL_OF closes it. A struct has no constant tables of
 * its own, hence TABLE makes a member that every worker brings along, and the compiler folds.
 *
 * Kernels use no threadgroup memory, of which Apple's devices have 32 KB: workers meet in the slab, which is device memory.
 *
 * Bits: the math mode is safe, which alone would still contract a * b + c within a statement; fma and precise::sqrt, and the quotient in
 * the safe mode, are correctly rounded by the specification (its chapter on numerical compliance). Subnormal numbers may be flushed.
 */
#ifndef PARITAS_DIALECT_H
#define PARITAS_DIALECT_H

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
#define LANES 1
#define PACK 1

typedef uint u32;
typedef float elem;
typedef int elem_int;
typedef elem real;
typedef elem pack;
typedef int mask; /* what a comparison of scalars answers: 0 or 1 */
typedef int pmask;
typedef elem_int lint;
typedef elem_int plint;

#define FN inline __attribute__((always_inline))
#define FN_LARGE __attribute__((noinline))
#define UNUSED __attribute__((unused))
#define GLOBAL device
#define CONSTANT device const /* a model's tables are larger than any constant memory */
#define PRIVATE thread
#define TABLE(type, name, n) const type name[n]

#define ELEM(x) (x##f)
#define REAL_OF(e) ((elem)(e))
#define LI(x) ((elem_int)(x))
#define FMA(a, b, c) metal::fma(a, b, c)
#define SQRT(a) metal::precise::sqrt(a)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define LSELECT(m, a, b) ((m) ? (a) : (b))
#define ANY(m) ((m) != 0)
#define BITS(a) as_type<int>(a)
#define FROM_BITS(i) as_type<float>(i)
#define LINT_OF(a) ((elem_int)(a))
#define R(x) REAL_OF(ELEM(x))
#define DIVIDE(a, b) ((a) / (b))
#define PDIVIDE(a, b) DIVIDE(a, b)

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
#define TEAM_FOR_PACK(i, n) TEAM_FOR(i, n)
#define TEAM_IF(c) if (c)

/* ---- entries and rows: `first_team` is the row of the launch's first team, `slab` the elements of a team's slab ---- */
#define KERNEL_TABLES CONSTANT u32 *mi, CONSTANT elem *mr, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out
#define KERNEL(name) FN void name##_body(KERNEL_TABLES, GLOBAL real *s, u32 team)
#define KERNEL_OF(entry) /* the name behind PARITAS_ENTRY */ \
    };                                                       \
    KERNEL_NAMED(entry)
#define KERNEL_NAMED(name)                                                                                                             \
    [[kernel, max_total_threads_per_threadgroup(PARITAS_WORKERS)]] void name(                                                          \
        CONSTANT u32 *mi [[buffer(0)]], CONSTANT elem *mr [[buffer(1)]], CONSTANT u32 *args [[buffer(2)]],                             \
        GLOBAL const elem *in [[buffer(3)]], GLOBAL elem *out [[buffer(4)]], GLOBAL real *slabs [[buffer(5)]],                         \
        constant u32 &slab [[buffer(6)]], constant u32 &first_team [[buffer(7)]], uint group [[threadgroup_position_in_grid]],         \
        uint worker [[thread_position_in_threadgroup]])                                                                                \
    {                                                                                                                                  \
        team t;                                                                                                                        \
        t.worker = worker;                                                                                                             \
        t.name##_body(mi, mr, args, in, out, slabs + (size_t)slab * group, first_team + group);                                        \
    }
#define TEAM_INDEX team

typedef struct {
    u32 of;
} lane_rows;

struct team {
    u32 worker;

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
