/* deviance.h: a Poisson term of a likelihood, as its distance from the best that there can be. */
#ifndef PARITAS_NUMERIC_DEVIANCE_H
#define PARITAS_NUMERIC_DEVIANCE_H

#include "numeric/flush.h"
#include "numeric/math.h"

/* n D(excess / n), D(x) = x - ln(1 + x): a Poisson term in deviance form; excess = lambda - n, w = 1 - n /
 * lambda. The rounding of the quotient is corrected to first order (dD/dx = w): near x = -1, ln(1 + x) would
 * magnify it by n / lambda. */
FN pack poisson_deviance(pack excess, pack lambda, pack n, pack w)
{
    const pack x = PDIVIDE(excess, PSELECT(n > PK(0.0), n, PK(1.0)));
    const pack rest = pflush(w * (PFMA(-x, n, excess) + (lambda - (excess + n))));
    const pmask small = AND(rest<PK(1.0), rest> PK(-1.0));
    return PFMA(n, m_deviance(x), PSELECT(small, rest, PK(0.0)));
}

/* 1 - n / lambda, the term's derivative by lambda. */
FN pack poisson_slope(pack lambda, pack n)
{
    return PK(1.0) - PDIVIDE(n, PSELECT(lambda > PK(0.0), lambda, PK(1.0)));
}

/* The whole term: `huge` where lambda is outside the domain; at n = 0 it is lambda. w: poisson_slope. */
FN pack poisson_term(pack excess, pack lambda, pack n, pack w, pack huge)
{
    const pack zero = PK(0.0);
    const pack deviance = PSELECT(n > zero, pflush(poisson_deviance(pflush(excess), lambda, n, w)), lambda);
    const pmask inside = AND(lambda >= zero, PSELECT(n > zero, lambda, PK(1.0)) > zero);
    return PSELECT(inside, deviance, huge);
}

#endif
