/* er_codes.c: counts as the instrument stored them.
 *
 * Exponent e and mantissa m mean m for e = 0, else (16 + m) 2^(e-1): a number's first five binary digits.
 * Prescaling shifts four digits out first, which leaves the same five. */
#include "moon/er/er_codes.h"

#define MANTISSAS 16u

unsigned er_code(uint64_t counts)
{
    unsigned exponent = 1;
    if (counts >= ER_CODED_COUNTS) return ER_CODES - 1;
    if (counts < MANTISSAS) return (unsigned)counts;
    while (counts >> (exponent - 1) >= 2 * MANTISSAS) exponent++;
    return MANTISSAS * exponent + (unsigned)(counts >> (exponent - 1)) - MANTISSAS;
}

struct er_interval er_code_interval(unsigned code)
{
    const unsigned exponent = code / MANTISSAS, mantissa = code % MANTISSAS;
    if (exponent == 0) return (struct er_interval){mantissa, 1};
    const uint64_t width = UINT64_C(1) << (exponent - 1);
    return (struct er_interval){(MANTISSAS + mantissa) * width, width};
}

struct er_interval er_stored(uint64_t counts)
{
    if (counts < ER_CODED_COUNTS) return er_code_interval(er_code(counts));
    const struct er_interval scaled = er_code_interval(er_code(counts / ER_PRESCALE));
    return (struct er_interval){ER_PRESCALE * scaled.lower, ER_PRESCALE * scaled.width};
}
