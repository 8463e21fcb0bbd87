/* wrong_words.h: implementations of the kernel language with one mistake each, as drivers and compilers make
 * them. WRONG(name, group that must refuse it in f64, in f32, what is wrong). NOWHERE: it changes no bit, or
 * the precision does not run it. wrong_words.cpp makes the mistakes. */
#ifndef PARITAS_TESTS_KERNELS_WRONG_WORDS_H
#define PARITAS_TESTS_KERNELS_WRONG_WORDS_H

#include "entry/conformance_sizes.h"

#include <float.h>

/* arithmetic of packs */
#define WRONG_ARITHMETIC(WRONG)                                                       \
    WRONG(SUM_CUT, SUM, SUM, "+ rounds towards zero")                                 \
    WRONG(DIFFERENCE_CUT, DIFFERENCE, DIFFERENCE, "- rounds towards zero")            \
    WRONG(PRODUCT_CUT, PRODUCT, PRODUCT, "* rounds towards zero")                     \
    WRONG(BY_RECIPROCAL, QUOTIENT, QUOTIENT, "a / b is a * (1 / b)")                  \
    WRONG(ROOT_BY_INVERSE, ROOT, ROOT, "sqrt(a) is a * (1 / sqrt(a))")                \
    WRONG(FMA_UNFUSED, FMA, FMA, "fma rounds its product")                            \
    WRONG(FMA_BY_WIDER, FMA_WIDE, FMA, "fma rounds to a wider format first")          \
    WRONG(CONTRACTED, TWO_ROUNDINGS, TWO_ROUNDINGS, "a * b + c is fused")             \
    WRONG(FOUR_SUMS, SERIAL_SUM, SERIAL_SUM, "a sum in a loop is four sums")          \
    WRONG(SUM_BY_PAIRS, SERIAL_SUM, SERIAL_SUM, "a sum in a loop is a tree of pairs") \
    WRONG(LITERAL_CUT, LITERAL, LITERAL, "a literal is a float, in f32 cut")          \
    WRONG(NAN_IS_EQUAL, COMPARISONS, COMPARISONS, "x == x is folded to true")         \
    WRONG(NAN_IS_NOT_UNEQUAL, COMPARISONS, COMPARISONS, "x != x is folded to false")  \
    WRONG(NOT_BY_OPPOSITE, COMPARISONS, COMPARISONS, "not a < b is folded to a >= b") \
    WRONG(NAN_IS_LESS, COMPARISONS, COMPARISONS, "a < b is folded to not a >= b")     \
    WRONG(NO_INFINITY, COMPARISONS, COMPARISONS, "1 / 0 is the largest number")       \
    WRONG(ZERO_ADDED, ZEROS, ZEROS, "0 + x is folded to x")                           \
    WRONG(ZERO_MINUS, ZEROS, ZEROS, "-x is 0 - x")                                    \
    WRONG(ZERO_TIMES, COMPARISONS, COMPARISONS, "0 * x is folded to 0")               \
    WRONG(FLUSH_RESULTS, SUBNORMAL, NOWHERE, "subnormal results are zero")            \
    WRONG(FLUSH_OPERANDS, SUBNORMAL_SUM, NOWHERE, "subnormal operands are zero")      \
    WRONG(FLUSH_WITHOUT_SUM, NOWHERE, SUBNORMAL_SUM, "fma with a subnormal product loses its third operand")

/* masks, integers, memory, rows */
#define WRONG_WORDS_OF_MEMORY(WRONG)                                               \
    WRONG(SELECT_TURNED, SELECT, SELECT, "PSELECT takes the other")                \
    WRONG(ANY_NEVER, SELECT, SELECT, "PANY is false")                              \
    WRONG(AND_IS_OR, SELECT, SELECT, "AND is OR")                                  \
    WRONG(BITS_CUT, INTEGERS, INTEGERS, "BITS loses the last bit")                 \
    WRONG(LSELECT_TURNED, LSELECT, LSELECT, "PLSELECT takes the other")            \
    WRONG(SHIFT_OF_SIGN, SHIFTS, NOWHERE, "SHIFT_RIGHT brings the sign")           \
    WRONG(MULTIPLY_OF_SIGN, SHIFTS, NOWHERE, "MULTIPLY32 takes signs")             \
    WRONG(MULTIPLY_LOW, SHIFTS, NOWHERE, "MULTIPLY32 keeps 32 bits")               \
    WRONG(PFLUSH_TURNED, NOWHERE, SUBNORMAL, "pflush keeps what is small")         \
    WRONG(TABLE_NEXT, TABLE, TABLE, "TABLE reads the next entry")                  \
    WRONG(LOADM_NEXT, PACKS, PACKS, "LOADM reads the next number")                 \
    WRONG(LOADM1_NEXT, PACKS, PACKS, "LOADM1 reads the next number")               \
    WRONG(FIRST_LOST, PACKS, PACKS, "FIRST is zero")                               \
    WRONG(LOADI_NEXT, LOADI, LOADI, "LOADI reads the next entry")                  \
    WRONG(GATHERP_IN_ORDER, GATHERP, GATHERP, "GATHERP ignores the index")         \
    WRONG(GATHER_REAL_NEXT, GATHERS, GATHERS, "GATHER_REAL reads the next number") \
    WRONG(GATHER_ELEM_NEXT, GATHERS, GATHERS, "GATHER_ELEM reads the next number") \
    WRONG(REAL_UNFUSED, REALS, REALS, "FMA rounds its product")                    \
    WRONG(REAL_BY_RECIPROCAL, REALS, REALS, "DIVIDE is a * (1 / b)")               \
    WRONG(REAL_SELECT_TURNED, REALS, REALS, "SELECT takes the other")              \
    WRONG(ROWS_DIVIDED_UP, ROWS, ROWS, "rows_divide rounds up")                    \
    WRONG(ROWS_NOT_MODULO, ROWS, ROWS, "rows_modulo does nothing")                 \
    WRONG(ROWS_NOT_LOOKED_UP, ROWS, ROWS, "rows_look_up does nothing")             \
    WRONG(ROWS_WHERE_EVERYWHERE, ROWS, ROWS, "rows_where ignores its mask")        \
    WRONG(ROWS_TAKE_ALL, ROWS, ROWS, "rows_take ignores its mask")                 \
    WRONG(ROWS_TAKE_MORE, ROWS, ROWS, "rows_take ignores the end")                 \
    WRONG(ROWS_LOAD_ALL, ROWS, ROWS, "rows_load ignores its mask")                 \
    WRONG(ROWS_STORE_ALL, ROWS, ROWS, "rows_store ignores its mask")               \
    WRONG(ROW_NUMBER_LOST, ROWS, ROWS, "LINT_OF_ROWS is zero")                     \
    WRONG(TEAM_SUM_UNFUSED, TEAM_SUM, TEAM_SUM, "fma in dot8 rounds its product")  \
    WRONG(PRODUCT_OF_24_BITS, PHILOX, PHILOX, "products of u32 take 24 bits")      \
    WRONG(U32_BY_SIGN, U32_OF, NOWHERE, "U32_OF stops at 2^31")                    \
    WRONG(U32_OF_16_BITS, U32_OF, U32_OF, "U32_OF keeps 16 bits")

/* one function alone */
#define WRONG_FUNCTIONS(WRONG)                                       \
    WRONG(EXP_TURNED, EXP, EXP, "m_exp")                             \
    WRONG(LOG_TURNED, LOG, LOG, "m_log")                             \
    WRONG(LOG1P_TURNED, LOG1P, LOG1P, "m_log1p")                     \
    WRONG(DEVIANCE_UNFUSED, DEVIANCE, DEVIANCE, "m_deviance")        \
    WRONG(ERF_UNFUSED, ERF, ERF, "m_erf_ratio")                      \
    WRONG(ERFC_TURNED, ERFC, ERFC, "m_erfc")                         \
    WRONG(LGAMMA_UNFUSED, LGAMMA, LGAMMA, "m_lgamma")                \
    WRONG(NORMAL_CDF_TURNED, NORMAL_CDF, NORMAL_CDF, "m_normal_cdf") \
    WRONG(NORMAL_UNFUSED, NORMAL, NOWHERE, "rng_normal_ratio")       \
    WRONG(POISSON_TURNED, POISSON, NOWHERE, "rng_poisson")           \
    WRONG(SIN_UNFUSED, SIN, SIN, "m_turn_of")                        \
    WRONG(COS_WITHOUT_LITERAL, COS, COS, "m_cos_degrees")            \
    WRONG(ACOS_TURNED, ACOS, ACOS, "m_acos_degrees")                 \
    WRONG(ASIN_ROOT_TURNED, ASIN_ROOT, ASIN_ROOT, "m_asin_root_degrees")

#define WRONG_WORDS(WRONG)       \
    WRONG_ARITHMETIC(WRONG)      \
    WRONG_WORDS_OF_MEMORY(WRONG) \
    WRONG_FUNCTIONS(WRONG)

enum {
    CONFORM_NOWHERE = CONFORM_GROUPS,
    CONFORM_FMA_WIDE = LDBL_MANT_DIG == 64 ? CONFORM_FMA : CONFORM_NOWHERE /* what is wider than double */
};

enum wrong_word {
    WRONG_NOTHING,
#define WRONG_ENUMERATOR(name, f64, f32, what) WRONG_##name,
    WRONG_WORDS(WRONG_ENUMERATOR)
#undef WRONG_ENUMERATOR
};

#if defined(__cplusplus)
extern "C"
#else
extern
#endif
    enum wrong_word wrong_word; /* what runs next has this mistake */

#endif
