/* precision.h: numbers of the host in the precision of an f32 device. */
#ifndef PARITAS_DEVICE_PRECISION_H
#define PARITAS_DEVICE_PRECISION_H

#include <stddef.h>

#define DEVICE_FLOAT_LEAST 0x1p-76 /* as kernels/numeric/flush.h: what is smaller counts as zero, for some devices know no subnormal numbers */

static inline float device_float(double number)
{
    return number < DEVICE_FLOAT_LEAST && number > -DEVICE_FLOAT_LEAST ? 0.0f : (float)number;
}

/* floats[i] := numbers[i], i < count. */
static inline void device_floats(float *floats, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) floats[i] = device_float(numbers[i]);
}

#endif
