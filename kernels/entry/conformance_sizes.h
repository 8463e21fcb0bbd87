/* conformance_sizes.h: shared by host and conformance kernels. */
#pragma once

/* Results of a row in groups of 8: GROUP(name, the word or function that a message blames). */
#define CONFORM_GROUP_LIST(GROUP)                               \
    GROUP(SUM, "+")                                             \
    GROUP(DIFFERENCE, "-")                                      \
    GROUP(PRODUCT, "*")                                         \
    GROUP(QUOTIENT, "DIVIDE")                                   \
    GROUP(ROOT, "SQRT")                                         \
    GROUP(FMA, "FMA")                                           \
    GROUP(TWO_ROUNDINGS, "a * b + c, which must not contract,") \
    GROUP(SERIAL_SUM, "a sum term by term")                     \
    GROUP(SELECT, "SELECT with masks")                          \
    GROUP(INTEGERS, "BITS and integers")                        \
    GROUP(LSELECT, "LSELECT")                                   \
    GROUP(SHIFTS, "SHIFT_RIGHT and MULTIPLY32")                 \
    GROUP(COMPARISONS, "a comparison of infinities or NaN")     \
    GROUP(ZEROS, "the sign of a zero")                          \
    GROUP(SUBNORMAL, "a subnormal number")                      \
    GROUP(SUBNORMAL_SUM, "a sum with subnormal terms")          \
    GROUP(LITERAL, "a literal")                                 \
    GROUP(TABLE, "TABLE")                                       \
    GROUP(EXP, "m_exp")                                         \
    GROUP(LOG, "m_log")                                         \
    GROUP(LOG1P, "m_log1p")                                     \
    GROUP(DEVIANCE, "m_deviance")                               \
    GROUP(ERF, "m_erf")                                         \
    GROUP(ERFC, "m_erfc")                                       \
    GROUP(LGAMMA, "m_lgamma")                                   \
    GROUP(NORMAL_CDF, "m_normal_cdf")                           \
    GROUP(PACKS, "LOADP, LOADM or STOREP")                      \
    GROUP(LOADI, "LOADI")                                       \
    GROUP(GATHERP, "GATHERP")                                   \
    GROUP(GATHERS, "GATHER_REAL or GATHER_ELEM")                \
    GROUP(REALS, "arithmetic of reals")                         \
    GROUP(ROWS, "rows of jobs")                                 \
    GROUP(TEAM, "TEAM_FOR with TEAM_BARRIER")                   \
    GROUP(TEAM_SUM, "a sum by ONE_WORKER")                      \
    GROUP(PHILOX, "philox")                                     \
    GROUP(NORMAL, "rng_normal")                                 \
    GROUP(POISSON, "rng_poisson")                               \
    GROUP(U32_OF, "U32_OF")                                     \
    GROUP(SIN, "m_sin_degrees")                                 \
    GROUP(COS, "m_cos_degrees")                                 \
    GROUP(ACOS, "m_acos_degrees")                               \
    GROUP(ASIN_ROOT, "m_asin_root_degrees")

#define CONFORM_ENUMERATOR(name, word) CONFORM_##name,
enum { CONFORM_GROUP_LIST(CONFORM_ENUMERATOR) CONFORM_GROUPS };

#define CONFORM_IN 24 /* a, b, c of a row, 8 each */
#define CONFORM_OUT (8 * CONFORM_GROUPS)
#define CONFORM_SHARED 256 /* elements shared by a team: the largest team's size */
#define CONFORM_SLAB 1024
#define CONFORM_INTS (CONFORM_SHARED + 8) /* a permutation of the shared elements, then 8 integers */
#define CONFORM_ELEMS 8
