/* many_starts.h: random starts, and the minima that fits from them end in. */
#pragma once

#include "paritas_fit.h"

/* Draws start k > 0 in place of the model's: parameters with a constraint by its width, others evenly within
 * bounds, at most three times their size away. Depends on k alone. `widths`: NaN without constraint. */
void many_starts_draw(size_t n, const double *widths, const double *lower, const double *upper,
                      const unsigned char *fixed, uint64_t k, double *start);

/* Counts a minimum among the *n lowest ones, at most `most`, which ascend. Minima within `same` are one. */
void many_starts_count(paritas_fit_minimum *minima, size_t *n, size_t most, double twice_nll, double same);
