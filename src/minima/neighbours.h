/* neighbours.h: conditional fits from the ends of their neighbours.
 *
 * The lowest minimum is continuous in the tested value. Where two neighbours lie in different ones, each end
 * is a start for the other. */
#pragma once

#include "minima/conditional_fits.h"

/* Is a's point lower? It counts even if no fit converged there: the answer then has its status. */
bool neighbours_is_lower(const struct infer *infer, const struct infer_point *a, const struct infer_point *b);

/* Compares n points of one profile, which hold one parameter, with their neighbours until none goes lower.
 * `fresh`: points that were not compared yet; all false afterwards. *lowered becomes true if a point went
 * lower. Its slope is set. Notes in infer->minima what differs. */
paritas_status neighbours_compare(struct infer *infer, size_t n, struct infer_point *const *ascending,
                                  bool *fresh, bool *lowered);
