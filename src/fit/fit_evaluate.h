/* fit_evaluate.h: likelihoods for callers inside the library; struct sizes are not checked. */
#pragma once

#include "fit/family.h"

/* paritas_evaluate on a device of the caller's choice. */
paritas_status fit_evaluate(paritas_context *context, struct paritas_device *device,
                            const paritas_model *model, size_t n_points, const double *points, size_t n_data,
                            const double *data, const paritas_evaluate_answers *answers);
