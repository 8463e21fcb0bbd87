/* losscone_cone.h: the cone's edge and cells, bit for bit the same in the formula (losscone_direct.h) and the
 * tables (losscone_cells.h). */
#pragma once

#include "losscone/sweep_layout.h"
#include "numeric/flush.h"
#include "numeric/math.h"

#define LOSSCONE_LEAST_ENERGY 1e-12 /* eV */

/* Cells at right angles are in no cone; rounding moves their cosines off 0. All others have sin^2 < 1, so
 * that an edge at 1 holds them. */
#if F64
#define CONE_REFLECTED PK(-1e-8)
#else
#define CONE_REFLECTED PK(-2e-4)
#endif
#define CONE_NEVER PK(2.0) /* for sin^2: above any edge */

/* Rows of the sweeps, and cells to a multiple of 8. */
FN u32 sweep_rows(CONSTANT u32 *mi)
{
    return SWEEP_FILLED ? SWEEP_ROWS : mi[LOSSCONE_ROWS];
}
FN u32 sweep_cells(CONSTANT u32 *mi)
{
    return SWEEP_FILLED ? SWEEP_CELLS : mi[LOSSCONE_CELLS];
}

FN pmask cone_may_hold(pack cosine)
{
    return cosine < CONE_REFLECTED;
}

/* CONE_NEVER for cells that are never in the cone. */
FN pack cone_sine_square(pack cosine)
{
    return PSELECT(cone_may_hold(cosine), pflush(PFMA(-cosine, cosine, PK(1.0))), CONE_NEVER);
}

/* 1 / E' */
FN real cone_inverse(real energy, real spacecraft)
{
    const real rest = energy - spacecraft;
    return DIVIDE(R(1.0), rest > R(LOSSCONE_LEAST_ENERGY) ? rest : R(LOSSCONE_LEAST_ENERGY));
}

/* x; cells with sin^2 < x are in the cone. */
FN real cone_edge(real potential, real ratio, real inverse)
{
    return flush(ratio * FMA(potential, inverse, R(1.0)));
}
