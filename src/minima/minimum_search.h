/* minimum_search.h: further starts for the fits of a statistic. */
#pragma once

#include "minima/infer.h"

/* Looks for lower minima of a profile's free fit and of n of its conditional fits. Better answers replace
 * theirs. Notes in infer->minima what it met. Values that were searched before get few starts or none. */
paritas_status minimum_search_run(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points);

/* Carries the minima that a search of the profile has met to these fits. Nothing, where there is one each. */
paritas_status minimum_search_carry(struct infer *infer, struct infer_profile *profile, size_t n,
                                    struct infer_point *const *points);

/* A factor other than the parameter of interest ended at its bound: at 0 its samples' parameters have no
 * effect, and two factors of one sample share a product. */
bool minimum_search_has_factor_at_bound(const struct infer *infer, const double *parameters);

/* What searches found until now, for any data. The first two are false where fits have one start. */
bool minimum_search_is_suspicious(const struct infer *infer); /* signs of several minima */
bool minimum_search_suspects(const struct infer *infer);      /* toys of this model may have several minima */
bool minimum_search_has_starts(const struct infer *infer);    /* minima that are starts for other fits */
