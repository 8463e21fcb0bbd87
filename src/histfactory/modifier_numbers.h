/* modifier_numbers.h: a modifier's numbers for the kernels. */
#ifndef PARITAS_HISTFACTORY_MODIFIER_NUMBERS_H
#define PARITAS_HISTFACTORY_MODIFIER_NUMBERS_H

#include "base/host_math.h"
#include "histfactory/workspace_spec.h"

/* shapesys: tau = (rate / uncertainty)^2. Unless both are positive: constant, tau 1. */
static inline bool hf_tau_is_alive(double rate, double uncertainty)
{
    return rate > 0.0 && uncertainty > 0.0;
}
static inline double hf_tau_of(double rate, double uncertainty)
{
    return hf_tau_is_alive(rate, uncertainty) ? rate * rate / (uncertainty * uncertainty) : 1.0;
}
static inline bool hf_is_tau(double tau)
{
    return tau > 0.0 && tau <= 1.7976931348623157e308;
}

/* staterror: squared uncertainties of the carriers over the square of their total rate. Without: constant,
 * sigma 1. */
static inline double hf_square_of_relative(double uncertainty, double total)
{
    const double ratio = total > 0.0 ? uncertainty / total : 0.0;
    return ratio * ratio;
}
static inline bool hf_is_variance(double sum)
{
    return sum <= 1.7976931348623157e308;
}
static inline double hf_sigma_of(double sum)
{
    return sum > 0.0 ? host_sqrt(sum) : 1.0;
}

/* histosys: S and A of a bin, 8 places apart (kernel tables). */
static inline void hf_put_shift(double nominal, double hi, double lo, double *pair)
{
    const double up = hi - nominal, down = nominal - lo;
    pair[0] = 0.5 * (up + down);
    pair[8] = (up - down) / 16.0;
}

/* normsys: c1..c6 of the code 4 polynomial (not for code 1), ln hi, ln lo, `step` places apart (kernel
 * tables). */
void hf_put_coefficients(unsigned code, double hi, double lo, double *to, size_t step);

/* Derivatives of ln v of a normsys with factor v: by hi and lo; of these by the parameter; second ones. At
 * the kinks of code 1 they belong to the side that the kernels take. */
struct hf_factor_slopes {
    double by_hi, by_lo, by_hi_turn, by_lo_turn, by_hi_hi, by_hi_lo, by_lo_lo;
};
struct hf_factor_slopes hf_normsys_slopes(unsigned code, double hi, double lo, double parameter);

#endif
