/* modifier_numbers.h: a modifier's numbers for the kernels. */
#pragma once

#include "base/math/host_math.h"
#include "histfactory/workspace/workspace_spec.h"

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

/* A factor's constraint around 1 of relative variance `variance` (0: none), as Poisson `tau`. */
static inline void hf_put_constraint(struct hf_set *set, uint32_t k, double variance, double tau)
{
    if (set->sigma) set->sigma[k] = hf_sigma_of(variance);
    if (set->tau) set->tau[k] = set->aux[k] = tau;
}

/* Expected auxiliary datum at x and its derivative. `width`: the datum's tau or sigma. */
static inline double hf_expected_aux(const struct hf_set *set, double width, double x)
{
    const double mean = hf_law(set)->scale->mean(set->offset + set->slope * x);
    return set->tau ? width * mean : mean;
}
static inline double hf_expected_aux_slope(const struct hf_set *set, double width, double x)
{
    const double slope = hf_law(set)->scale->slope(set->offset + set->slope * x, set->slope);
    return set->tau ? width * slope : slope;
}
/* A measurement's sigma: over both sides, which normalises it; where it is `offset` below its mean. */
static inline double hf_mean_sigma(const struct hf_set *set, uint32_t i)
{
    return set->sigma[i] * (0.5 * (1.0 + set->ratio));
}
static inline double hf_sigma_at(const struct hf_set *set, double sigma, double offset)
{
    return offset >= 0.0 ? sigma * set->ratio : sigma;
}
/* Where the parameter expects a datum of a law of y. */
static inline double hf_centre_of_y(const struct hf_set *set, uint32_t i, double datum)
{
    return (hf_law(set)->scale->inverse(set->tau ? datum / set->tau[i] : datum) - set->offset) / set->slope;
}
/* The parameter's width under a law of y: from the expected curvature where its datum is expected; a count is
 * at least one. */
static inline double hf_width_of_y(const struct hf_set *set, uint32_t i)
{
    const struct hf_scale *scale = hf_law(set)->scale;
    const double datum = set->aux[i];
    if (set->sigma) return set->sigma[i] * host_sqrt(set->ratio) * scale->inverse_slope(datum) / set->slope;
    return host_sqrt(datum > 1.0 ? datum : 1.0) / (set->tau[i] * set->slope) *
           scale->inverse_slope(datum / set->tau[i]);
}

/* Is a bin's nominal rate the minimum of a shape, whose edge is at 0? */
static inline bool hf_is_lifted(const struct hf_sample_shape *shape, double rate)
{
    return shape->given && !shape->logarithmic && rate == shape->minimum && shape->edge < rate;
}

/* histosys: S and A of a bin, 8 places apart (kernel tables). */
static inline void hf_put_shift(double nominal, double hi, double lo, double *pair)
{
    const double up = hi - nominal, down = nominal - lo;
    pair[0] = 0.5 * (up + down);
    pair[8] = (up - down) / 16.0;
}

/* The logarithm of a nominal rate, below that of any number where it is not above 0; of hi or lo over it, 0
 * where one of both is not above 0. */
static inline double hf_log_of_rate(double rate)
{
    return rate > 0.0 ? host_log(rate) : -999.0;
}
static inline double hf_log_ratio(double rate, double nominal)
{
    return rate > 0.0 && nominal > 0.0 ? host_log(rate / nominal) : 0.0;
}

/* Numbers of a normsys entry. `model_code`: HF_NORMSYS_CODE. */
/* Has the code a value where a factor is 0? An exponential has none. */
bool hf_factor_takes_zero(paritas_normsys_code code);
size_t hf_factor_count(unsigned model_code);
/* Puts a factor, hi at 1 and lo at -1, into the table of all entries: what the kernels read of enum
 * hf_normsys_number. */
void hf_put_factor(unsigned model_code, paritas_normsys_code code, double hi, double lo, double *table,
                   uint32_t entry);

/* Derivatives of ln v of a normsys with factor v: by hi and lo; of these by the parameter; second ones. At
 * kinks they belong to the side that the kernels take. 0 where a linear factor stays at 0. */
struct hf_factor_slopes {
    double by_hi, by_lo, by_hi_turn, by_lo_turn, by_hi_hi, by_hi_lo, by_lo_lo;
};
struct hf_factor_slopes hf_normsys_slopes(paritas_normsys_code code, double hi, double lo, double parameter);

/* Histosys of these codes are factors, one a bin: the code of the factor. Others are shifts: DEFAULT. */
static inline paritas_normsys_code hf_factor_code(int histosys_code)
{
    return histosys_code == PARITAS_HISTOSYS_CODE_1   ? PARITAS_NORMSYS_CODE_1
           : histosys_code == PARITAS_HISTOSYS_CODE_5 ? PARITAS_NORMSYS_CODE_4
           : histosys_code == PARITAS_HISTOSYS_CODE_6 ? PARITAS_NORMSYS_CODE_6
                                                      : PARITAS_NORMSYS_CODE_DEFAULT;
}
static inline bool hf_multiplies_bins(const struct hf_modifier *modifier)
{
    return modifier->type == HF_HISTOSYS && hf_factor_code(modifier->code) != PARITAS_NORMSYS_CODE_DEFAULT;
}
