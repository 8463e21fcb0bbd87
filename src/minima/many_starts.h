/* many_starts.h: random starts, and the minima that fits from them end in. */
#pragma once

#include "paritas_fit.h"

/* Draws start k > 0 in place of the model's. Parameters with a constraint lie within some widths of it,
 * others evenly within bounds, at most ten times their size away (docs/contract.md). Depends on k alone.
 * `widths`: NaN without constraint. */
void many_starts_draw(size_t n, const double *widths, const double *lower, const double *upper,
                      const unsigned char *fixed, uint64_t k, double *start);

/* Counts a minimum among the *n lowest ones, at most `most`, which ascend. Minima within `same` are one. */
void many_starts_count(paritas_fit_minimum *minima, size_t *n, size_t most, double twice_nll, double same);
