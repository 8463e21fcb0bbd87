/* losscone_evolution.h: fits by differential evolution (kernels/losscone/losscone_evolve.h). */
#pragma once

#include "moon/losscone/losscone.h"

/* Latin hypercube of all fits: point k is the middle of cell starts[d][k] of EVOLVE_STARTS along U, r, A.
 * SciPy's for seed 42, as in published fits. */
void losscone_starts(uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS]);

/* The first n points of a scrambled Sobol set in the unit cube. */
void losscone_sobol(uint64_t seed, size_t n, double (*points)[LOSSCONE_POINT]);

paritas_status losscone_evolve(paritas_context *context, const struct losscone_call *call,
                               paritas_losscone_result *results);
