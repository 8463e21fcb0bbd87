/* second_differences.h: of rates by each parameter. */
#pragma once

#include "base/context.h"
#include "fit/family.h"

/* See struct paritas_family. */
paritas_status hf_second_differences(paritas_context *context, const struct frozen *model, const double *data,
                                     const double *point, const double *weights, double *differences);
