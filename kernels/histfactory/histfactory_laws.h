/* histfactory_laws.h: terms of constraints, by the laws of histfactory_constraints.h.
 *
 *   hf_NAME_value(c)           minus the log-likelihood, 0 where it is largest; HF_HUGE outside the domain
 *   hf_NAME_slope(c, g)        g plus the derivative by x
 *   hf_NAME_curvature(c, kap)  the second derivative by x; expected over data where kap is 0, exact where 1
 *
 * Slots of laws of y have 0 in the tables of laws of x. */
#pragma once

#include "numeric/deviance.h"
#include "histfactory/histfactory_records.h"

/* A constraint at HF_S_X. */
typedef struct {
    pack datum;
    pack strength; /* tau of a count, 1 / sigma^2 of a measurement; 0: a slot of another law */
    pack y, turn;  /* turn: dy/dx; laws of x: y is x */
    pack safe;     /* y, or 1 where y is not positive */
    pack ratio;    /* HF_AFFINE_RATIO */
} hf_term;

/* ---- laws of x ---- */

FN pack hf_gaussian_value(hf_term c)
{
    const pack pull = c.y - c.datum;
    return pflush(pflush(PK(0.5) * c.strength * pull) * pull);
}
FN pack hf_gaussian_slope(hf_term c, pack g)
{
    return PFMA(c.strength, c.y - c.datum, g);
}
FN pack hf_gaussian_curvature(hf_term c, real kap UNUSED)
{
    return c.strength;
}

/* A Poisson term, as a bin's. */
FN pack hf_poisson_value(hf_term c)
{
    const pack mean = pflush(c.strength * c.y);
    return poisson_term(PFMA(c.strength, c.y, -c.datum), mean, c.datum, poisson_slope(mean, c.datum),
                        PACK_OF(HF_HUGE));
}
FN pack hf_poisson_slope(hf_term c, pack g)
{
    return g + PSELECT(c.strength > PK(0.0), c.strength - PDIVIDE(c.datum, c.y), PK(0.0));
}
FN pack hf_poisson_curvature(hf_term c, real kap)
{
    const pack expected = PDIVIDE(c.strength, c.y), exact = PDIVIDE(c.datum, pflush(c.y * c.y));
    return PSELECT(c.strength > PK(0.0), PFMA(PACK_OF(kap), exact - expected, expected), PK(0.0));
}

/* ---- laws of y ---- */

/* The datum is the logarithm of a measured value, normal around ln y. */
FN pack hf_lognormal_pull(hf_term c)
{
    return m_log(c.safe) - c.datum;
}
FN pack hf_lognormal_value(hf_term c)
{
    const pack pull = hf_lognormal_pull(c);
    return PSELECT(c.y > PK(0.0), pflush(pflush(PK(0.5) * c.strength * pull) * pull), PACK_OF(HF_HUGE));
}
FN pack hf_lognormal_slope(hf_term c, pack g)
{
    return g + pflush(c.turn * PDIVIDE(pflush(c.strength * hf_lognormal_pull(c)), c.safe));
}
FN pack hf_lognormal_curvature(hf_term c, real kap)
{
    const pack turn = PDIVIDE(c.turn, c.safe),
               by_log = pflush(c.strength * PFMA(-PACK_OF(kap), hf_lognormal_pull(c), PK(1.0)));
    return pflush(pflush(by_log * turn) * turn);
}

/* The datum is a count of mean tau y (ROOT's gamma: y = 1 + r alpha, tau = 1 / r^2). */
FN pack hf_gamma_value(hf_term c)
{
    return hf_poisson_value(c);
}
FN pack hf_gamma_slope(hf_term c, pack g)
{
    return g + pflush(c.turn * (c.strength - PDIVIDE(c.datum, c.safe)));
}
FN pack hf_gamma_curvature(hf_term c, real kap)
{
    const pack expected = PDIVIDE(c.strength, c.safe), excess = pflush(PDIVIDE(c.datum, c.safe) - c.strength),
               by_y = PFMA(PACK_OF(kap), pflush(PDIVIDE(excess, c.safe)), expected);
    return pflush(pflush(by_y * c.turn) * c.turn);
}

/* The datum is normal around y, with another width on each side: data below y have `ratio` times the sigma of
 * those above. */
FN pack hf_bifurcated_strength(hf_term c)
{
    const pack below = pflush(PDIVIDE(c.strength, pflush(c.ratio * c.ratio)));
    return PSELECT(c.y >= c.datum, below, c.strength);
}
FN pack hf_bifurcated_value(hf_term c)
{
    const pack pull = c.y - c.datum;
    return pflush(pflush(PK(0.5) * hf_bifurcated_strength(c) * pull) * pull);
}
FN pack hf_bifurcated_slope(hf_term c, pack g)
{
    return g + pflush(c.turn * pflush(hf_bifurcated_strength(c) * (c.y - c.datum)));
}
/* The expectation over data is one over the product of both sigmas. */
FN pack hf_bifurcated_curvature(hf_term c, real kap)
{
    const pack expected = pflush(PDIVIDE(c.strength, c.ratio)), exact = hf_bifurcated_strength(c),
               by_y = PFMA(PACK_OF(kap), exact - expected, expected);
    return pflush(pflush(by_y * c.turn) * c.turn);
}

/* ---- slots ---- */

FN hf_term hf_term_of_x(HF_PARAMETERS, pack strength, u32 slot)
{
    hf_term c;
    c.datum = LOADP(HF_S(AUX), slot);
    c.strength = strength;
    c.y = c.safe = LOADP(HF_S(X), slot);
    c.turn = c.ratio = PK(1.0);
    return c;
}

FN pack hf_affine_number(CONSTANT u32 *mi, CONSTANT elem *mr, u32 row, u32 slot)
{
    return LOADM(HF_R(AFFINE) + row * mi[HF_SLOTS], slot);
}

/* The strength comes from the law's row. */
FN hf_term hf_term_of_y(HF_PARAMETERS, u32 slot)
{
    hf_term c;
    c.datum = LOADP(HF_S(AUX), slot);
    c.strength = PK(0.0);
    c.turn = hf_affine_number(mi, mr, HF_AFFINE_SLOPE, slot);
    c.y = pflush(PFMA(c.turn, LOADP(HF_S(X), slot), hf_affine_number(mi, mr, HF_AFFINE_OFFSET, slot)));
    c.safe = PSELECT(c.y > PK(0.0), c.y, PK(1.0));
    const pack ratio = hf_affine_number(mi, mr, HF_AFFINE_RATIO, slot);
    c.ratio = PSELECT(ratio > PK(0.0), ratio, PK(1.0));
    return c;
}

/* Each slot of a law of y takes its answer, others `other`. Neighbouring slots may have different laws. */
#define HF_IN_ITS_SLOTS(NAME, answer, function)                    \
    c.strength = hf_affine_number(mi, mr, HF_AFFINE_##NAME, slot); \
    if (PANY(c.strength > PK(0.0))) answer = PSELECT(c.strength > PK(0.0), function, answer);
#define HF_TAKE_VALUE(NAME, name, word, inspected, datum, domain, scale) \
    HF_IN_ITS_SLOTS(NAME, value, hf_##name##_value(c))
#define HF_TAKE_SLOPE(NAME, name, word, inspected, datum, domain, scale) \
    HF_IN_ITS_SLOTS(NAME, slope, hf_##name##_slope(c, g))
#define HF_TAKE_CURVATURE(NAME, name, word, inspected, datum, domain, scale) \
    HF_IN_ITS_SLOTS(NAME, curvature, hf_##name##_curvature(c, kap))

FN pack hf_value_of_y(HF_PARAMETERS, u32 slot, pack other)
{
    hf_term c = hf_term_of_y(HF, slot);
    pack value = other;
    HF_LAWS_OF_Y(HF_TAKE_VALUE)
    return value;
}
FN pack hf_slope_of_y(HF_PARAMETERS, u32 slot, pack g)
{
    hf_term c = hf_term_of_y(HF, slot);
    pack slope = g;
    HF_LAWS_OF_Y(HF_TAKE_SLOPE)
    return slope;
}
FN pack hf_curvature_of_y(HF_PARAMETERS, u32 slot, real kap)
{
    hf_term c = hf_term_of_y(HF, slot);
    pack curvature = PK(0.0);
    HF_LAWS_OF_Y(HF_TAKE_CURVATURE)
    return curvature;
}
