/* losscone_channels.c: energies of a channel, weighted by the measured spectrum, on the host. */
#include "base/host_math.h"
#include "losscone/losscone.h"

#include <math.h>

/* Where five equal steps come nearest to the mean over a normal distribution, in logarithms of levels 1 to
 * 0.05: each at the geometric mean of its two levels, l_n = 1 - 0.19 n. Quantiles 1 - (1 - sqrt(l_n l_n+1)) /
 * 0.95. */
static const double steps[LOSSCONE_ENERGIES] = {1.2521, 0.5053, -0.0229, -0.5665, -1.5327};
#define CURVATURE_MOST 0.5 /* of sigma^-2: keeps a width */

double losscone_response_sigma(double width)
{
    const double asinh = host_log(width + host_sqrt(1.0 + width * width));
    return asinh / host_sqrt(2.0 * host_log(2.0));
}

/* Logarithm of the mean flux of a row's incident cells, zeros included; NaN: none. */
static double log_flux(const double *cosine, const double *flux)
{
    double sum = 0.0;
    unsigned n = 0;
    for (size_t j = 0; j < SWEEP_CELLS; j++) {
        if (!(cosine[j] > 0.0 && flux[j] >= 0.0 && isfinite(flux[j]))) continue;
        sum += flux[j];
        n++;
    }
    return sum > 0.0 ? host_log(sum / n) : NAN;
}

struct spectrum {
    double energy[SWEEP_ROWS], flux[SWEEP_ROWS]; /* logarithms */
};

static double slope_to(const struct spectrum *s, size_t i, size_t k)
{
    return (s->flux[k] - s->flux[i]) / (s->energy[k] - s->energy[i]);
}

/* Slope and half the second derivative of ln flux by ln E. */
static void shape_of(const struct spectrum *s, size_t i, double *slope, double *bend)
{
    const double before = i > 0 ? slope_to(s, i, i - 1) : NAN,
                 behind = i + 1 < SWEEP_ROWS ? slope_to(s, i, i + 1) : NAN;
    *bend = 0.0;
    *slope = isfinite(before) ? before : behind;
    if (!isfinite(before) || !isfinite(behind)) return;
    const double a = s->energy[i - 1] - s->energy[i], b = s->energy[i + 1] - s->energy[i];
    *bend = (behind - before) / (b - a);
    *slope = before - *bend * a;
}

static void channel_of(const struct spectrum *s, size_t i, double sigma, double *channel)
{
    double slope, bend;
    shape_of(s, i, &slope, &bend);
    const double most = 0.5 * CURVATURE_MOST / (sigma * sigma);
    const double square = sigma * sigma / (1.0 - 2.0 * sigma * sigma * (bend < most ? bend : most));
    for (size_t n = 0; n < LOSSCONE_ENERGIES; n++)
        channel[n] = host_exp(slope * square + host_sqrt(square) * steps[n]);
}

paritas_status paritas_losscone_channels(paritas_context *context, size_t n, double response_width,
                                         const double *energy, const double *cosine, const double *flux,
                                         double *channel)
{
    if (n > 0) REQUIRE(context, energy, cosine, flux, channel);
    if (!(response_width >= 0.0) || !(response_width < 1.0))
        return paritas_refuse(context, "response_width: %g; it must be at least 0 and below 1",
                              response_width);
    const double sigma = losscone_response_sigma(response_width);
    for (size_t k = 0; k < n; k++) {
        struct spectrum s;
        for (size_t i = 0; i < SWEEP_ROWS; i++) {
            const size_t row = k * SWEEP_ROWS + i;
            s.energy[i] = energy[row] > 0.0 ? host_log(energy[row]) : NAN;
            s.flux[i] = log_flux(cosine + row * SWEEP_CELLS, flux + row * SWEEP_CELLS);
        }
        for (size_t i = 0; i < SWEEP_ROWS; i++)
            channel_of(&s, i, sigma, channel + (k * SWEEP_ROWS + i) * LOSSCONE_ENERGIES);
    }
    return PARITAS_OK;
}
