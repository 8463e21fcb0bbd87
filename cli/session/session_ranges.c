/* session_ranges.c: bounds of parameters, and ranges within them. */
#include "session/session.h"

struct range bounds_of(const struct session *session, size_t parameter)
{
    return (struct range){paritas_model_lower_bounds(session->model)[parameter],
                          paritas_model_upper_bounds(session->model)[parameter]};
}

bool in_range(struct range range, double value)
{
    return value >= range.lower && value <= range.upper;
}

double clamped(struct range range, double value)
{
    return value < range.lower ? range.lower : value > range.upper ? range.upper : value;
}

struct range range_around(const struct session *session, size_t parameter, double best, double error,
                          double errors, double part)
{
    const struct range bounds = bounds_of(session, parameter);
    const double reach = error > 0.0 ? errors * error : part * (bounds.upper - bounds.lower);
    return (struct range){best - reach > bounds.lower ? best - reach : bounds.lower,
                          best + reach < bounds.upper ? best + reach : bounds.upper};
}

double range_value(struct range range, size_t k, size_t n)
{
    if (n == 1) return range.lower;
    return k + 1 == n ? range.upper
                      : range.lower + (range.upper - range.lower) * ((double)k / (double)(n - 1));
}
