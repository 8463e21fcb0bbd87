/* dialect_software_fma.h: fma, also of pairs of doubles, for WebAssembly engines that lack it. The same bits;
 * WebAssembly's libm needs four times as long.
 *
 * The product and the sums are exact pairs (Dekker, Numer. Math. 18 (1971) 224; Knuth's two-sum). What is
 * left is rounded to odd, so that the last sum rounds once (Boldo, Melquiond, IEEE Trans. Comput. 57 (2008)
 * 462). Numbers near the ends of the range, infinities and NaN go to libm. */
#pragma once

#include <stdint.h>

typedef double fma_pair __attribute__((vector_size(16)));
typedef int64_t fma_bits __attribute__((vector_size(16)));

#define FMA_PAIR(x) ((fma_pair){(x), (x)})
#define FMA_SPLITTER 134217729.0 /* 2^27 + 1 */
/* factors within these bounds have an exact product of two normal numbers */
#define FMA_LEAST 0x1p-400
#define FMA_MOST 0x1p400
#define FMA_SUM_MOST 0x1p1000

/* The rounding error of sum = a + b. */
static inline fma_pair fma_sum_error(fma_pair a, fma_pair b, fma_pair sum)
{
    const fma_pair from_b = sum - a;
    return (a - (sum - from_b)) + (b - from_b);
}

/* The rounding error of product = a * b. */
static inline fma_pair fma_product_error(fma_pair a, fma_pair b, fma_pair product)
{
    const fma_pair ca = FMA_PAIR(FMA_SPLITTER) * a, cb = FMA_PAIR(FMA_SPLITTER) * b;
    const fma_pair a1 = ca - (ca - a), b1 = cb - (cb - b), a2 = a - a1, b2 = b - b1;
    return a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
}

/* a + b rounded to odd: where the sum is not exact, its last bit is 1. */
static inline fma_pair fma_sum_to_odd(fma_pair a, fma_pair b)
{
    const fma_pair sum = a + b, error = fma_sum_error(a, b, sum), zero = {0.0, 0.0};
    const fma_bits bits = (fma_bits)sum, one = {1, 1};
    const fma_bits even = (bits & one) == (fma_bits){0, 0}, away = ~((error > zero) ^ (sum > zero));
    const fma_bits step = away + away + one; /* -1 away from zero, 1 towards it */
    return (fma_pair)(bits - (step & even & (error != zero)));
}

/* Magnitude of a factor. */
static inline fma_bits fma_factor_in_range(fma_pair x)
{
    const fma_pair zero = {0.0, 0.0};
    return (x <= FMA_PAIR(FMA_MOST)) & ((x >= FMA_PAIR(FMA_LEAST)) | (x == zero));
}

/* Elements whose fma the pairs get right; 0 + 0 may have the other sign. */
static inline fma_bits fma_in_range(fma_pair a, fma_pair b, fma_pair c, fma_pair product)
{
    const fma_bits sign = {INT64_MIN, INT64_MIN};
    const fma_pair x = (fma_pair)((fma_bits)a & ~sign), y = (fma_pair)((fma_bits)b & ~sign),
                   z = (fma_pair)((fma_bits)c & ~sign), zero = {0.0, 0.0};
    return fma_factor_in_range(x) & fma_factor_in_range(y) & (z <= FMA_PAIR(FMA_SUM_MOST)) &
           ((z > zero) | (product != zero));
}

static __attribute__((noinline, unused)) fma_pair software_fma_pair(fma_pair a, fma_pair b, fma_pair c)
{
    const fma_pair product = a * b, rest = fma_product_error(a, b, product);
    const fma_pair low = c + rest, lowest = fma_sum_error(c, rest, low);
    const fma_pair high = product + low, middle = fma_sum_error(product, low, high);
    fma_pair result = high + fma_sum_to_odd(lowest, middle);
    const fma_bits good = fma_in_range(a, b, c, product);
    if (good[0] & good[1]) return result;
    for (int k = 0; k < 2; k++)
        if (!good[k])
            result[k] = a[k] == 0.0 || b[k] == 0.0 ? a[k] * b[k] + c[k] : __builtin_fma(a[k], b[k], c[k]);
    return result;
}

static __attribute__((noinline, unused)) double software_fma(double a, double b, double c)
{
    return software_fma_pair(FMA_PAIR(a), FMA_PAIR(b), FMA_PAIR(c))[0];
}

/* The product of two floats is exact in f64, and a sum rounded to odd has bits to spare. */
static inline __attribute__((unused)) float software_fmaf(float a, float b, float c)
{
    const double product = (double)a * b, sum = product + c;
    if (sum - sum != 0.0) return (float)sum; /* infinite, NaN */
    return (float)fma_sum_to_odd(FMA_PAIR(product), FMA_PAIR((double)c))[0];
}
