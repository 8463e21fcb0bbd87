/* histfactory_bends.h: how much bins bend with a parameter. */
#ifndef PARITAS_HISTFACTORY_BENDS_H
#define PARITAS_HISTFACTORY_BENDS_H

#include "base/context.h"
#include "fit/family.h"

/* See struct paritas_family. */
paritas_status hf_bends(paritas_context *context, const struct frozen *model, const double *data,
                        const double *point, const double *weights, double *bends);

#endif
