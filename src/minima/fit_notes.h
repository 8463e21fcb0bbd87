/* fit_notes.h: what fits behind a statistic leave to be said: why one has no answer, which parameters
 * ended at their bounds. */
#pragma once

#include "minima/infer.h"

/* Each once for a struct infer: the first fit that did not converge, and the bin outside the domain or the
 * parameter that is furthest from its minimum; the first fit that ended with parameters at bounds. */
paritas_status fit_notes_points(struct infer *infer, size_t n, const struct infer_point *points);
paritas_status fit_notes_profile(struct infer *infer, const struct infer_profile *profile);
