/* flush.h: negligible f32 numbers become zero.
 *
 * Devices differ for subnormal numbers (below 2^-126). So stored f32 numbers are 0 or at least 2^-63: a
 * product of two is never subnormal. (A subnormal term decides a sum that lies in the middle between two
 * numbers.) Products of more, quotients and sums are flushed when stored, not in inner loops. */
#pragma once

#include "numeric/least.h"

/* A limit of accuracy as `real`: in f64, in f32. */
#if F64
#define LIMIT(f64, f32) R(f64)
#else
#define LIMIT(f64, f32) R(f32)
#endif

/* Keeps NaN. */
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

/* n: a multiple of 8. By the team, own barriers. */
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
