/* dialect_one_lane.h: the words shared by OpenCL, CUDA and Metal. A team runs one fit, its workers are
 * threads, and there are no lanes.
 *
 * The build defines PARITAS_F64 (1, 0), PARITAS_WORKERS (a single one needs no barriers) and PARITAS_ENTRY,
 * the only entry compiled, since compilers are slow. The dialect defines numbers, ELEM_..., address spaces
 * and teams first. */
#define LANES 1
#define PACK 1

typedef elem real;
typedef elem pack;
typedef int mask; /* 0 or 1 */
typedef int pmask;
typedef elem_int lint;
typedef elem_int plint;

#define REAL_OF(e) ((elem)(e))
#define LI(x) ((elem_int)(x))
#define FMA(a, b, c) ELEM_FMA(a, b, c)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define LSELECT(m, a, b) ((m) ? (a) : (b))
#define ANY(m) ((m) != 0)
#define BITS(a) ELEM_BITS(a)
#define FROM_BITS(i) ELEM_FROM_BITS(i)
#define LINT_OF(a) ((elem_int)(a))
#define U32_OF(a) ((u32)(a))
#define R(x) REAL_OF(ELEM(x))
#define PDIVIDE(a, b) DIVIDE(a, b)
#if F64
#define SHIFT_RIGHT(a, n) ((elem_int)((elem_bits)(a) >> (n)))
#define MULTIPLY32(a, b) ((elem_int)((elem_bits)(u32)(a) * (u32)(b)))
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

/* ---- entries and rows ---- */
#define KERNEL_TABLES \
    CONSTANT u32 *mi, CONSTANT elem *mr, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out
#define KERNEL(name) FN void name##_body(KERNEL_TABLES, GLOBAL real *s, u32 team)
#define TEAM_INDEX team
#define TEAM_FOR_PACK(i, n) TEAM_FOR(i, n)

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
FN mask rows_are_not(lane_rows r, u32 other)
{
    return r.of != other;
}
#define GATHER_ELEM(p, index) ((p)[index])
#define GATHER_REAL(p, index) ((p)[index])
#define LINT_OF_ROWS(r) ((elem_int)(r).of)
#define LOAD_ROWS(p, r, stride, i) ((p)[(size_t)(r).of * (stride) + (i)])
#define STORE_ROWS(p, r, stride, i, v) ((p)[(size_t)(r).of * (stride) + (i)] = (v))
FN void rows_load(GLOBAL real *to, mask m, GLOBAL const elem *p, lane_rows r, u32 stride, u32 first, u32 n)
{
    if (m)
        TEAM_FOR(i, n) to[i] = LOAD_ROWS(p, r, stride, first + i);
}
FN void rows_store(GLOBAL elem *p, mask m, lane_rows r, u32 stride, u32 first, GLOBAL const real *from, u32 n)
{
    if (m)
        TEAM_FOR(i, n) STORE_ROWS(p, r, stride, first + i, from[i]);
}
