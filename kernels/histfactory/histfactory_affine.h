/* histfactory_affine.h: constraints whose auxiliary datum measures y = offset + slope x.
 *
 *   Poisson     datum n, mean tau y                     (ROOT's gamma: y = 1 + r alpha, tau = 1 / r^2)
 *   log-normal  datum a = ln of the measurement, normal around ln y
 *
 * Their slots have neither precision nor tau in the common tables. */
#ifndef PARITAS_HISTFACTORY_AFFINE_H
#define PARITAS_HISTFACTORY_AFFINE_H

#include "numeric/deviance.h"
#include "histfactory/histfactory_records.h"

FN pack hf_affine_number(CONSTANT u32 *mi, CONSTANT elem *mr, u32 row, u32 slot)
{
    return LOADM(HF_R(AFFINE) + row * mi[HF_SLOTS], slot);
}

/* At HF_S_X. */
typedef struct {
    pmask counted, measured; /* Poisson, log-normal; else no such constraint */
    pack y, slope, weight;   /* weight: tau or precision */
    pack safe;               /* y, or 1 outside the domain */
    pack datum, pull;        /* pull: ln y - datum */
} hf_affine;

FN hf_affine hf_affine_of(HF_PARAMETERS, u32 slot)
{
    hf_affine a;
    const pack zero = PK(0.0), precision = hf_affine_number(mi, mr, HF_AFFINE_PRECISION, slot),
               tau = hf_affine_number(mi, mr, HF_AFFINE_TAU, slot);
    a.counted = tau > zero;
    a.measured = precision > zero;
    a.weight = PSELECT(a.counted, tau, precision);
    a.slope = hf_affine_number(mi, mr, HF_AFFINE_SLOPE, slot);
    a.y = pflush(PFMA(a.slope, LOADP(HF_S(X), slot), hf_affine_number(mi, mr, HF_AFFINE_OFFSET, slot)));
    a.safe = PSELECT(a.y > zero, a.y, PK(1.0));
    a.datum = LOADP(HF_S(AUX), slot);
    a.pull = PANY(a.measured) ? m_log(a.safe) - a.datum : zero;
    return a;
}

FN pmask hf_is_affine(hf_affine a)
{
    return OR(a.counted, a.measured);
}

/* HF_HUGE outside the domain. */
FN pack hf_affine_term(hf_affine a)
{
    const pack huge = PACK_OF(HF_HUGE), mean = pflush(a.weight * a.y);
    const pack counts = poisson_term(PFMA(a.weight, a.y, -a.datum), mean, a.datum,
                                     poisson_slope(mean, a.datum), huge),
               square = pflush(pflush(PK(0.5) * a.weight * a.pull) * a.pull);
    return PSELECT(a.counted, counts, PSELECT(a.y > PK(0.0), square, huge));
}

/* 0 without such a constraint, as below. */
FN pack hf_affine_slope(HF_PARAMETERS, u32 slot)
{
    const hf_affine a = hf_affine_of(HF, slot);
    const pack counts = a.weight - PDIVIDE(a.datum, a.safe),
               measured = PDIVIDE(pflush(a.weight * a.pull), a.safe);
    return PSELECT(hf_is_affine(a), pflush(a.slope * PSELECT(a.counted, counts, measured)), PK(0.0));
}

/* kap 0: expected. */
FN pack hf_affine_curvature(HF_PARAMETERS, u32 slot, real kap)
{
    const hf_affine a = hf_affine_of(HF, slot);
    const pack by_y = PDIVIDE(a.weight, a.safe), turn = PDIVIDE(a.slope, a.safe),
               excess = pflush(PDIVIDE(a.datum, a.safe) - a.weight);
    const pack counts = PFMA(PACK_OF(kap), pflush(PDIVIDE(excess, a.safe)), by_y),
               measured = pflush(a.weight * PFMA(-PACK_OF(kap), a.pull, PK(1.0)));
    return PSELECT(a.counted, pflush(pflush(counts * a.slope) * a.slope),
                   PSELECT(a.measured, pflush(pflush(measured * turn) * turn), PK(0.0)));
}

#endif
