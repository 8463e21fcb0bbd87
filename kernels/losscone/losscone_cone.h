/* losscone_cone.h: what the formula (direct.h) and the tables of the searches (cells.h) say of the cone and
 * must say with the same bits: which cells may lie in it, sin^2 of their pitch angles, energies, and where
 * its edge is.
 */
#ifndef PARITAS_LOSSCONE_CONE_H
#define PARITAS_LOSSCONE_CONE_H

#include "losscone/losscone_rows.h"
#include "numeric/flush.h"
#include "numeric/math.h"

#define LOSSCONE_LEAST_ENERGY 1e-12 /* eV: what is left of an electron's energy at least */

/* Cells at right angles to the field are in no cone; rounding makes their cosines a little more or less than
 * 0. Of all others sin^2 is below 1, so that a cone whose edge is at 1 holds them. */
#if F64
#define CONE_REFLECTED PK(-1e-8)
#else
#define CONE_REFLECTED PK(-2e-4)
#endif
#define CONE_NEVER PK(2.0) /* in the place of sin^2 of cells that are never in the cone: more than any edge */

FN pmask cone_may_hold(pack cosine)
{
    return cosine < CONE_REFLECTED;
}

/* sin^2 of pitch angles above 90 degrees, of the others CONE_NEVER. */
FN pack cone_sine_square(pack cosine)
{
    return PSELECT(cone_may_hold(cosine), pflush(PFMA(-cosine, cosine, PK(1.0))), CONE_NEVER);
}

/* The part of a row's energy that is number n of the five across the response, by falling energy. */
FN real cone_part(real response, u32 n)
{
    return FMA(response, R(1.0) - R(0.5) * REAL_OF(n), R(1.0));
}

/* 1 / E' at an energy. */
FN real cone_inverse(real energy, real spacecraft)
{
    const real rest = energy - spacecraft;
    return DIVIDE(R(1.0), rest > R(LOSSCONE_LEAST_ENERGY) ? rest : R(LOSSCONE_LEAST_ENERGY));
}

/* x = r (1 + U / E'); cells with sin^2 < x are in the cone. */
FN real cone_edge(real potential, real ratio, real inverse)
{
    return flush(ratio * FMA(potential, inverse, R(1.0)));
}

#endif
