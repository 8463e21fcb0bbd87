/* wrong_words_module.h: the conformance kernels behind words that make the mistakes of wrong_words.h. Each
 * macro with the name of a function of the dialect calls it with other arguments. */
#undef KERNEL_LINKAGE
#define KERNEL_LINKAGE

#undef TABLE
#define TABLE(type, name, n) static const wrong_table<type, n> name

#undef R
#undef PK
#define R(x) wrong_literal(x, ELEM(x), __func__)
#define PK(x) R(x)

#undef SELECT
#undef LSELECT
#undef PNOT
#undef PANY
#undef AND
#define SELECT(m, a, b) wrong_select(m, a, b, __func__)
#define LSELECT(m, a, b) (!(m) == is(WRONG_LSELECT_TURNED) ? (a) : (b))
#define PNOT(m) not_of(m)
#define PANY(m) (!is(WRONG_ANY_NEVER) && (m))
#define AND(a, b) (is_in(WRONG_AND_IS_OR, __func__, "conform_words") ? (a) | (b) : (a) & (b))

#undef DIVIDE
#undef PDIVIDE
#define PDIVIDE(a, b) ((a) / (b))
#define DIVIDE(a, b) quotient(a, b, is(WRONG_REAL_BY_RECIPROCAL))

#undef PBITS
#define PBITS(a) (BITS(a) & ~(elem_int)is_in(WRONG_BITS_CUT, __func__, "conform_words"))
#if F64
#undef SHIFT_RIGHT
#undef MULTIPLY32
#define SHIFT_RIGHT(a, n) (is(WRONG_SHIFT_OF_SIGN) ? (elem_int)(a) >> (n) : (elem_int)((elem_bits)(a) >> (n)))
#define MULTIPLY32(a, b)                                                                             \
    (is_in(WRONG_MULTIPLY_OF_SIGN, __func__, "conform_words") ? (elem_int)(int)(a) * (int)(b)        \
     : is_in(WRONG_MULTIPLY_LOW, __func__, "conform_words")   ? (elem_int)(u32)((u32)(a) * (u32)(b)) \
                                                              : (elem_int)((elem_bits)(u32)(a) * (u32)(b)))
#endif

#undef LOADM
#undef LOADM1
#undef LOADI
#undef FIRST
#undef GATHERP
#undef GATHER_REAL
#undef GATHER_ELEM
#define LOADM(p, i) REAL_OF((p)[(i) + is(WRONG_LOADM_NEXT)])
#define LOADM1(p, i) REAL_OF((p)[(i) + is(WRONG_LOADM1_NEXT)])
#define LOADI(p, i) PLI((p)[((i) + is(WRONG_LOADI_NEXT)) % 8])
#define FIRST(v) (is(WRONG_FIRST_LOST) ? number(0) : number(v))
#define GATHERP(p, idx, i) ((p)[is(WRONG_GATHERP_IN_ORDER) ? (i) : (idx)[i]])
#define GATHER_REAL(p, index) ((p)[((index) + is(WRONG_GATHER_REAL_NEXT)) % 8])
#define GATHER_ELEM(p, index) ((p)[((index) + is(WRONG_GATHER_ELEM_NEXT)) % 8])

#define rows_divide(r, by) rows_divide(rows_up(r), by)
#define rows_modulo(r, by) rows_modulo(r, is(WRONG_ROWS_NOT_MODULO) ? ~0u : (by))
#define rows_look_up(r, table) (is(WRONG_ROWS_NOT_LOOKED_UP) ? (r) : rows_look_up(r, table))
#define rows_where(r, m, other) rows_where(r, is(WRONG_ROWS_WHERE_EVERYWHERE) || (m), other)
#define rows_take(r, m, next, end, none) \
    rows_take(r, is(WRONG_ROWS_TAKE_ALL) || (m), next, is(WRONG_ROWS_TAKE_MORE) ? n : (end), none)
#define rows_load(to, m, ...) rows_load(to, is(WRONG_ROWS_LOAD_ALL) || (m), __VA_ARGS__)
#define rows_store(to, m, ...) rows_store(to, is(WRONG_ROWS_STORE_ALL) || (m), __VA_ARGS__)
FN lane_rows rows_up(lane_rows r)
{
    if (is(WRONG_ROWS_DIVIDED_UP)) r.of++;
    return r;
}
#undef LINT_OF_ROWS
#define LINT_OF_ROWS(r) (is(WRONG_ROW_NUMBER_LOST) ? 0 : (elem_int)(r).of)

#undef U32_OF
#define U32_OF(a) u32_of(a)
FN u32 u32_of(number a)
{
    const u32 whole = (u32)a;
    if (is(WRONG_U32_BY_SIGN) && whole > 0x7fffffff) return 0x7fffffff;
    return is(WRONG_U32_OF_16_BITS) ? whole & 0xffff : whole;
}

#define u32 wrong_u32
#include "numeric/philox.h"
#undef u32
#include "modules/module_conformance.h"
