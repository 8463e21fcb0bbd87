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

/* The sweep of a team; teams past the end repeat the last. */
FN size_t losscone_job(u32 team, u32 n)
{
    return team < n ? team : n - 1;
}

/* How many of n rising sines are below x. */
FN u32 cone_sines_below(GLOBAL const real *sine, u32 n, real x)
{
    u32 low = 0, high = n;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (sine[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

FN real limited(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
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
