/* second_differences.h: of rates by each parameter, in errors of counts. */
#ifndef PARITAS_HISTFACTORY_SECOND_DIFFERENCES_H
#define PARITAS_HISTFACTORY_SECOND_DIFFERENCES_H

#include "base/context.h"
#include "fit/family.h"

/* See struct paritas_family. */
paritas_status hf_second_differences(paritas_context *context, const struct frozen *model, const double *data,
                                     const double *point, double *differences);

#endif
