/* device_precision.h: numbers of the host in the precision of an f32 device. */
#ifndef PARITAS_DEVICE_PRECISION_H
#define PARITAS_DEVICE_PRECISION_H

#include "numeric/least.h"

#include <stddef.h>

/* What is too small to count is zero, as in the kernels (numeric/flush.h). */
static inline float device_float(double number)
{
    return number < FLUSH_BELOW && number > -FLUSH_BELOW ? 0.0f : (float)number;
}

/* floats[i] := numbers[i], i < count. */
static inline void device_floats(float *floats, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) floats[i] = device_float(numbers[i]);
}

#endif
