/* fit.h: from a list of jobs to results, as paritas_fit has it, for callers within the library: sizes of structs
 * are not looked at. */
#ifndef PARITAS_FIT_FIT_H
#define PARITAS_FIT_FIT_H

#include "fit/family.h"

/* Arguments as paritas_fit has them; `options` may be NULL. */
paritas_status fit_run(paritas_context *context, const paritas_model *model,
                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                       const paritas_fit_answers *answers);

#endif
