/* lowest_fit.h: the lowest minimum that a single fit can have, by the search that statistics use. */
#pragma once

#include "minima/infer.h"

/* Looks for a minimum below `usual`, the answer of the fit from the job's own start. *lower: there is one, and
 * `start` (parameter_count) leads there. `found`: what the search met, if that is more than one minimum. */
paritas_status lowest_fit_look(paritas_context *context, const paritas_model *model, const paritas_job *job,
                               const paritas_fit_result *usual, double *start, bool *lower,
                               paritas_fit_starts *found);
