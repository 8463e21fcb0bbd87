/* cancelling.h: fits in which a sample became negative and cancels the others. */
#pragma once

#include "minima/infer.h"

/* Notes the first point, or free fit, that is held by an empty bin whose rate is 0 because a sample is
 * negative there that was not where the job starts, once for each struct infer. The sample is no signal. Such
 * a model absorbs any signal: its minima say little, and a limit's search for lower ones would not end. */
paritas_status cancelling_note(struct infer *infer, size_t n, struct infer_point *points);
