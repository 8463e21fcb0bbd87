/* minimum.h: when two fits of the same data have found the same minimum. */
#ifndef PARITAS_FIT_MINIMUM_H
#define PARITAS_FIT_MINIMUM_H

#include "base/context.h"
#include "minimise/fit_tolerances.h"

/* Two minima of twice the NLL count as different when they are further apart than this. */
#define SAME_MINIMUM 1e-8

/* The same for fits as this context makes them: those in f32 that are not polished end so far from each other
 * at one minimum. */
static inline bool fits_are_raw(const paritas_context *context)
{
    return context->precision == 32 && context->no_polish;
}
static inline double same_minimum(const paritas_context *context)
{
    return fits_are_raw(context) ? RAW_SAME_MINIMUM : SAME_MINIMUM;
}

#endif
