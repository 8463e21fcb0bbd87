/* losscone_evolution.h: fits by differential evolution (kernels/losscone/losscone_evolve.h). */
#ifndef PARITAS_LOSSCONE_EVOLUTION_H
#define PARITAS_LOSSCONE_EVOLUTION_H

#include "losscone/losscone.h"

/* The Latin hypercube that every fit starts from: point k lies in the middle of cell starts[d][k] of
 * EVOLVE_STARTS equal ones along U, r and A. It is SciPy's of the seed 42, as published fits have it. */
void losscone_starts(uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS]);

/* The first n points of a Sobol set of three dimensions, scrambled for this seed by random lower triangular
 * matrices and shifts; in the unit cube. */
void losscone_sobol(uint64_t seed, size_t n, double (*points)[LOSSCONE_POINT]);

/* Fits every sweep of the call. */
paritas_status losscone_evolve(paritas_context *context, const struct losscone_call *call,
                               paritas_losscone_result *results);

#endif
