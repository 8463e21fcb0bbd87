/* deviance.h: Poisson terms in deviance form: 0 at lambda = n. */
#pragma once

#include "numeric/flush.h"
#include "numeric/math.h"

/* n D(excess / n), D(x) = x - ln(1 + x), excess = lambda - n, w = 1 - n / lambda. First-order correction of
 * the quotient's rounding (dD/dx = w): near x = -1, ln(1 + x) magnifies it by n / lambda. */
FN pack poisson_deviance(pack excess, pack lambda, pack n, pack w)
{
    const pack x = PDIVIDE(excess, PSELECT(n > PK(0.0), n, PK(1.0)));
    const pack rest = pflush(w * (PFMA(-x, n, excess) + (lambda - (excess + n))));
    const pmask small = AND(rest<PK(1.0), rest> PK(-1.0));
    return PFMA(n, m_deviance(x), PSELECT(small, rest, PK(0.0)));
}

FN pack poisson_slope(pack lambda, pack n)
{
    return PK(1.0) - PDIVIDE(n, PSELECT(lambda > PK(0.0), lambda, PK(1.0)));
}

/* `huge` outside the domain. w: poisson_slope. */
FN pack poisson_term(pack excess, pack lambda, pack n, pack w, pack huge)
{
    const pack zero = PK(0.0);
    const pack deviance = PSELECT(n > zero, pflush(poisson_deviance(pflush(excess), lambda, n, w)), lambda);
    const pmask inside = AND(lambda >= zero, PSELECT(n > zero, lambda, PK(1.0)) > zero);
    return PSELECT(inside, deviance, huge);
}
