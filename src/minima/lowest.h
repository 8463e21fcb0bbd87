/* lowest.h: further starts for the fits of a statistic, where there may be several minima. */
#ifndef PARITAS_INFER_LOWEST_H
#define PARITAS_INFER_LOWEST_H

#include "minima/infer.h"

/* Looks for lower minima of a profile's free fit and of n of its conditional fits. Better answers replace
 * theirs. Notes in infer->minima what it met. A profile without any sign of several minima costs a few
 * evaluations per parameter, once. */
paritas_status lowest_search(struct infer *infer, struct infer_profile *profile, size_t n,
                             struct infer_point *const *points);

/* As lowest_search, but looks beyond kinks alone (interpolation codes 0 and 1). Models without kinks cost
 * nothing. */
paritas_status lowest_across_kinks(struct infer *infer, struct infer_profile *profile, size_t n,
                                   struct infer_point *const *points);

/* Do rates with the templates of `data` bend with a parameter, where the parameter of interest is `at`? Then
 * fits may have several minima. */
paritas_status lowest_bends(struct infer *infer, const double *data, double at, bool *bend);
/* A factor other than the parameter of interest ended at its bound: at 0 it hides what others do, and two
 * factors of one sample share a product. */
bool lowest_has_factor_at_bound(const struct infer *infer, const double *parameters);
/* After lowest_search: may toys of this model have several minima? */
bool lowest_suspects(const struct infer *infer);

#endif
