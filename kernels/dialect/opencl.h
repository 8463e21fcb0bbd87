/* opencl.h: the kernel language in OpenCL C 1.2. The words are listed in dialect.md.
 *
 * The build defines PARITAS_F64 (1 or 0), PARITAS_WORKERS (work-items of a work-group; a single one needs no barriers) and
 * PARITAS_ENTRY, the one entry of the text that becomes a kernel: compilers of devices take long, and most programs launch few.
 * One work-group is one team and one work-item one worker: a team runs one fit, so `real`, `pack` and `elem` are the same
 * scalar and lanes do not exist.
 *
 * Bits: FP_CONTRACT is off, fma and the division and root of doubles are correctly rounded by the standard, those of floats by the
 * option -cl-fp32-correctly-rounded-divide-sqrt, which the host passes. Where a device does not know that, the host defines PARITAS_BUILT_DIVISION.
 */
#ifndef PARITAS_DIALECT_H
#define PARITAS_DIALECT_H

#define F64 PARITAS_F64
#define LANES 1
#define PACK 1

#pragma OPENCL FP_CONTRACT OFF
#if F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double elem;
typedef long elem_int;
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
typedef elem real;
typedef elem pack;
typedef int mask; /* what a comparison of scalars answers: 0 or 1 */
typedef int pmask;
typedef elem_int lint;
typedef elem_int plint;

#define FN static inline
#define FN_LARGE static inline
#define UNUSED
#define GLOBAL __global
#define CONSTANT __global const /* a model's tables are larger than any constant memory */
#define PRIVATE __private
#define TABLE(type, name, n) __constant type name[n]

#define REAL_OF(e) ((elem)(e))
#define LI(x) ((elem_int)(x))
#define FMA(a, b, c) fma(a, b, c)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define LSELECT(m, a, b) ((m) ? (a) : (b))
#define ANY(m) ((m) != 0)
#define BITS(a) ELEM_BITS(a)
#define FROM_BITS(i) ELEM_FROM_BITS(i)
#define LINT_OF(a) ((elem_int)(a))
#define R(x) REAL_OF(ELEM(x))
#if F64 || !defined(PARITAS_BUILT_DIVISION)
#define DIVIDE(a, b) ((a) / (b))
#define SQRT(a) sqrt(a)
#else
#define BUILT_RECIPROCAL(x) (1.0f / (x))
#define BUILT_ROOT(x) sqrt(x)
#include "dialect/built_division.h"
#define DIVIDE(a, b) built_divide(a, b)
#define SQRT(a) built_root(a)
#endif
#define PDIVIDE(a, b) DIVIDE(a, b)
#if F64
#define SHIFT_RIGHT(a, n) ((elem_int)((ulong)(a) >> (n)))
#define MULTIPLY32(a, b) ((elem_int)((ulong)(u32)(a) * (u32)(b)))
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

/* ---- teams: a work-group. Workers meet in the slab, which is global memory ---- */
#define UNROLL /* the driver's compiler knows its registers */
#if PARITAS_WORKERS == 1
#define TEAM_FOR(i, n) for (u32 i = 0; i < (u32)(n); i++)
#define TEAM_BARRIER() ((void)0)
#define TEAM_IF(c) if (c)
#define ONE_WORKER
#else
#define TEAM_FOR(i, n) for (u32 i = (u32)get_local_id(0); i < (u32)(n); i += PARITAS_WORKERS)
#define TEAM_BARRIER() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
/* a loop of one turn: compilers that serialise teams copy all that follows an `if` around a barrier, but not what follows a loop */
#define TEAM_IF(c) for (int once = (c) ? 1 : 0; once > 0; once--)
#define ONE_WORKER if (get_local_id(0) == 0)
#endif
#define TEAM_FOR_PACK(i, n) TEAM_FOR(i, n)

/* ---- entries and rows: `first_team` is the row of the launch's first team, `slab` the elements of a team's slab ---- */
#define KERNEL_TABLES CONSTANT u32 *mi, CONSTANT elem *mr, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out
#define KERNEL(name) FN void name##_body(KERNEL_TABLES, GLOBAL real *s, u32 team)
#define KERNEL_OF(entry) KERNEL_NAMED(entry) /* the name behind PARITAS_ENTRY */
#define KERNEL_NAMED(name)                                                                                                  \
    __kernel __attribute__((reqd_work_group_size(PARITAS_WORKERS, 1, 1))) void name(KERNEL_TABLES, GLOBAL real *slabs, u32 slab, \
                                                                                    u32 first_team)                         \
    {                                                                                                                       \
        const u32 group = (u32)get_group_id(0);                                                                             \
        name##_body(mi, mr, args, in, out, slabs + (size_t)slab * group, first_team + group);                               \
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
