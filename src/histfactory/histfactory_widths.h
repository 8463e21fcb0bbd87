/* histfactory_widths.h: how widths of constraints follow from rates and their uncertainties, and shifts of a histosys
 * from its templates: for reading a workspace, freezing, and data rows that bring such numbers themselves. */
#ifndef PARITAS_HISTFACTORY_WIDTHS_H
#define PARITAS_HISTFACTORY_WIDTHS_H

#include "base/host_math.h"

#include <stdbool.h>

/* shapesys: tau = (rate / uncertainty)^2; a bin without a positive rate and uncertainty is a constant of tau
 * 1. */
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

/* staterror: the squares of the relative uncertainties of all samples that carry it add up, each relative to
 * the samples' whole rate. A bin without is a constant of sigma 1. */
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

/* What a Gaussian constraint adds to the constants of the likelihood: ln(sigma sqrt(2 pi)). */
static inline double hf_gauss_term(double sigma)
{
    return host_log(sigma) + 0.9189385332046727;
}

/* S and A of a histosys in a bin, as the kernels' tables have them: 8 places apart. */
static inline void hf_put_shift(double nominal, double hi, double lo, double *pair)
{
    const double up = hi - nominal, down = nominal - lo;
    pair[0] = 0.5 * (up + down);
    pair[8] = (up - down) / 16.0;
}

#endif
