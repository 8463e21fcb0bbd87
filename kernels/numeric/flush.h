/* flush.h: in f32, what is too small to count becomes zero.
 *
 * Devices differ in how they treat subnormal numbers (below 2^-126). So every f32 number that kernels or the
 * host store is 0 or at least 2^-76: a product of two is then normal, or too small to change a sum that
 * counts. Products of several factors, quotients and results of sums are flushed where they are stored, inner
 * loops not. In f64 these functions do nothing. */
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
