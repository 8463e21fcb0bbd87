/* flush.h: in f32, what is too small to count becomes zero.
 *
 * Some devices flush subnormal numbers (below 2^-126), some do not, some flush the operands of fma alone.
 * Kernels answer the same bits on all because every number that they keep in f32 is zero or at least 2^-76 in
 * magnitude: the product of two of them is then either normal or, flushed or not, below what counts, and what
 * a flushed intermediate number takes from a sum that counts lies far below its rounding. The host does the
 * same to what it hands over. Flushed are products of several factors, quotients and results of sums, where
 * they are stored; inner loops are not. In f64 subnormal numbers are used in full, everywhere, and these
 * functions are nothing.
 */
#ifndef PARITAS_NUMERIC_FLUSH_H
#define PARITAS_NUMERIC_FLUSH_H

#include "numeric/least.h"

/* 0 where |x| < 2^-76, else x; NaN stays. */
FN real flush(real x)
{
#if F64
    return x;
#else
    return SELECT(AND(x<R(FLUSH_BELOW), x> R(-FLUSH_BELOW)), R(0.0), x);
#endif
}
FN pack pflush(pack x)
{
#if F64
    return x;
#else
    return PSELECT(AND(x<PK(FLUSH_BELOW), x> PK(-FLUSH_BELOW)), PK(0.0), x);
#endif
}

/* a[0 .. n-1], n a multiple of 8, by the team, between barriers of its own. */
FN void flush_array(GLOBAL real *a, u32 n)
{
#if F64
    (void)a;
    (void)n;
#else
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, n) STOREP(a, i, pflush(LOADP(a, i)));
    TEAM_BARRIER();
#endif
}

#endif
