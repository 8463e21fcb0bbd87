/* numeric_variant.h: the numeric kernel functions as one shape of vector and one optimisation level compiles
 * them. */
#ifndef PARITAS_NUMERIC_VARIANT_H
#define PARITAS_NUMERIC_VARIANT_H

#include <stddef.h>
#include <stdint.h>

/* In the order of the table `functions`. */
#define NUMERIC_FUNCTIONS(X) \
    X(m_exp)                 \
    X(m_log)                 \
    X(m_log1p)               \
    X(m_deviance)            \
    X(m_erf)                 \
    X(m_erfc)                \
    X(m_lgamma)              \
    X(m_normal_cdf)          \
    X(m_log_normal_cdf)      \
    X(m_normal_quantile)     \
    X(m_sin_degrees)         \
    X(m_cos_degrees)         \
    X(m_acos_degrees)        \
    X(m_asin_root_degrees)   \
    X(pflush)

#define NUMERIC_INDEX(name) index_##name,
enum { NUMERIC_FUNCTIONS(NUMERIC_INDEX) NUMERIC_FUNCTION_COUNT };
#undef NUMERIC_INDEX

/* Random streams: element i of an array belongs to toy first_toy + i. */
struct numeric_streams {
    uint64_t first_toy, seed;
    uint32_t item, purpose;
};

/* Numbers are doubles where f64 is set, else floats. Arrays are aligned to 64 bytes. */
struct numeric_variant {
    const char *name;
    int f64;
    unsigned lanes, pack;
    /* y[i] = f(x[i]) for i < n; n is a multiple of 16 */
    void (*functions[NUMERIC_FUNCTION_COUNT])(const void *x, void *y, size_t n);
    /* n terms a lane, number i of lane l at i * lanes + l; one sum a lane. n is a multiple of 8 */
    void (*sum)(const void *a, void *sums, unsigned n);
    void (*dot)(const void *a, const void *b, void *sums, unsigned n);
    /* In f64 only, n a multiple of 8: Philox blocks of counters whose first word grows by one, four words
     * each; random numbers. Poisson numbers only where wanted[i] is not 0. */
    void (*philox)(const uint32_t counter[4], const uint32_t key[2], uint32_t *words, size_t n);
    void (*normal)(const struct numeric_streams *streams, double *y, size_t n);
    void (*poisson)(const struct numeric_streams *streams, const double *rates, const double *wanted,
                    double *y, size_t n);
};

#endif
