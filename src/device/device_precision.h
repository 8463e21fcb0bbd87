/* device_precision.h: host numbers to a device's precision and back. */
#pragma once

#include "base/context.h"
#include "numeric/least.h"

/* Tiny numbers are flushed to 0 (numeric/flush.h). */
static inline void precision_round(float *to, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = numbers[i] < FLUSH_BELOW && numbers[i] > -FLUSH_BELOW ? 0.0f : (float)numbers[i];
}

/* f64: the given numbers. f32: a copy; free by precision_release. NULL: out of memory. */
static inline const void *precision_narrow(paritas_context *context, unsigned precision,
                                           const double *numbers, size_t count)
{
    static const double nothing;
    if (precision == 64) return numbers ? numbers : &nothing;
    float *floats = paritas_allocate_aligned(context, count + 1, sizeof *floats);
    if (floats) precision_round(floats, numbers, count);
    return floats;
}

static inline void precision_release(const paritas_allocator *allocator, unsigned precision,
                                     const void *numbers)
{
    if (precision == 32) paritas_release_aligned(allocator, (void *)numbers);
}

/* Widens floats to doubles. `floats` NULL: f64, nothing to do. */
static inline void precision_widen(double *to, const float *floats, size_t count)
{
    for (size_t i = 0; floats && i < count; i++) to[i] = (double)floats[i];
}
