/* fit_notes.h: why a fit behind a statistic has no answer. */
#pragma once

#include "minima/infer.h"

/* Notes the first fit that did not converge, once for each struct infer: which one, and the bin outside the
 * domain or the parameter that is furthest from its minimum. */
paritas_status fit_notes_points(struct infer *infer, size_t n, const struct infer_point *points);
paritas_status fit_notes_profile(struct infer *infer, const struct infer_profile *profile);
