/* cancelling.h: fits in which a sample became negative and cancels the others. */
#pragma once

#include "minima/infer.h"

/* Is one of the points, or the free fit, held by an empty bin whose rate is 0 because a sample is negative
 * there that was not where the job starts? The sample is no signal. Notes the first, once for each struct
 * infer. Such a model absorbs any signal: its minima say little, and a search for lower ones would not
 * end. */
paritas_status cancelling_find(struct infer *infer, const struct infer_profile *profile, size_t n,
                               struct infer_point *const *points, bool *found);
/* The same of points that no search looks at. */
paritas_status cancelling_note(struct infer *infer, size_t n, struct infer_point *points);
