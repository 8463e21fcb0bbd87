/* minimum.h: when two fits found the same minimum. */
#pragma once

#include "base/context.h"
#include "paritas_fit.h"
#include "minimise/fit_tolerances.h"

/* Are this context's fits f32 without polish? Those end this far apart at one minimum. */
static inline bool fits_are_raw(const paritas_context *context)
{
    return context->precision == 32 && context->no_polish;
}
static inline double same_minimum(const paritas_context *context)
{
    return fits_are_raw(context) ? RAW_SAME_MINIMUM : PARITAS_SAME_MINIMUM;
}
