/* neighbours.h: conditional fits from the ends of their neighbours.
 *
 * The lowest minimum is continuous in the tested value. Where two neighbours lie in different ones, each end
 * is a start for the other. */
#pragma once

#include "minima/conditional_fits.h"

/* Is a's point lower? It counts even if no fit converged there: the answer then has its status. */
bool neighbours_is_lower(const struct infer *infer, const struct infer_point *a, const struct infer_point *b);

/* A fit of one point from another's end, or from the line through two ends. */
struct neighbour_pair {
    const struct infer_point *from, *other;
    struct infer_point *to;
    bool lowered; /* answer: `to` has a lower minimum now */
};

/* Fits all pairs in one batch. The lowest end stays, with its slope. */
paritas_status neighbours_fit(struct infer *infer, size_t n, struct neighbour_pair *pairs);

/* Compares n points of one profile, which hold one parameter, with their neighbours until none goes lower.
 * `fresh`: points that were not compared yet; all false afterwards. *lowered becomes true if a point went
 * lower. Its slope is set. Notes in infer->minima what differs. */
paritas_status neighbours_compare(struct infer *infer, size_t n, struct infer_point *const *ascending,
                                  bool *fresh, bool *lowered);
