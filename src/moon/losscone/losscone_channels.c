/* losscone_channels.c: energies of a channel, weighted by the measured spectrum, on the host. */
#include "base/math/host_math.h"
#include "moon/losscone/losscone_counted.h"

#include <math.h>

/* Where five equal steps come nearest to the mean over a normal distribution, in logarithms of levels 1 to
 * 0.05: each at the geometric mean of its two levels, l_n = 1 - 0.19 n. Quantiles 1 - (1 - sqrt(l_n l_n+1)) /
 * 0.95. */
static const double steps[LOSSCONE_ENERGIES] = {1.2521, 0.5053, -0.0229, -0.5665, -1.5327};
#define NEAREST 7 /* rows of a slope: noise moves slopes, and U with them */
#define NEAREST_COUNTED \
    3 /* of counts: a wider parabola misses the spectrum's bend by more than noise moves it */
#define LEAST_DETERMINANT 1e-9
#define CURVATURE_MOST 0.5 /* of sigma^-2: keeps a width */
#define PART_LEAST 0.25    /* of sigma^2, a channel's variance */
#define PART_MOST 4.0

double losscone_response_sigma(double width)
{
    const double asinh = host_log(width + host_sqrt(1.0 + width * width));
    return asinh / host_sqrt(2.0 * host_log(2.0));
}

/* Logarithm of the mean flux of a row's incident cells, zeros included; NaN: none. */
static double log_flux(size_t cells, const double *cosine, const double *flux)
{
    double sum = 0.0;
    unsigned n = 0;
    for (size_t j = 0; j < cells; j++) {
        if (!(cosine[j] > 0.0 && flux[j] >= 0.0 && isfinite(flux[j]))) continue;
        sum += flux[j];
        n++;
    }
    return sum > 0.0 ? host_log(sum / n) : NAN;
}

struct spectrum {
    size_t rows;
    double energy[PARITAS_SWEEP_ROWS_MOST], flux[PARITAS_SWEEP_ROWS_MOST]; /* logarithms */
};

static bool is_known(const struct spectrum *s, size_t i)
{
    return isfinite(s->energy[i]) && isfinite(s->flux[i]);
}

/* First of `nearest` rows with a spectrum around row i, near the ends to one side; *last: behind the last. */
static size_t window_of(const struct spectrum *s, size_t i, size_t nearest, size_t *last)
{
    size_t first = i, n = is_known(s, i);
    *last = i + 1;
    while (n < nearest && (first > 0 || *last < s->rows)) {
        const bool more = first == 0 || (*last < s->rows && *last - i <= i - first);
        n += is_known(s, more ? (*last)++ : --first);
    }
    return first;
}

/* Slope and half the second derivative of ln flux by ln E: of the parabola nearest to the rows around. The
 * determinant of its normal equations is 0 for fewer than three rows: then a straight line, or NaN. */
static void shape_of(const struct spectrum *s, size_t i, size_t nearest, double *slope, double *bend)
{
    double sum[5] = {0.0}, moment[3] = {0.0};
    size_t last;
    for (size_t k = window_of(s, i, nearest, &last); k < last; k++) {
        const double x = s->energy[k] - s->energy[i], y = s->flux[k];
        if (!is_known(s, k)) continue;
        double power = 1.0;
        for (size_t p = 0; p < 5; p++, power *= x) {
            sum[p] += power;
            if (p < 3) moment[p] += power * y;
        }
    }
    const double n = sum[0], xx = sum[2] - sum[1] * sum[1] / n, xq = sum[3] - sum[1] * sum[2] / n,
                 qq = sum[4] - sum[2] * sum[2] / n, xy = moment[1] - sum[1] * moment[0] / n,
                 qy = moment[2] - sum[2] * moment[0] / n, determinant = xx * qq - xq * xq;
    *bend = n >= 3.0 && determinant > LEAST_DETERMINANT * xx * qq ? (xx * qy - xq * xy) / determinant : 0.0;
    *slope = (xy - *bend * xq) / xx;
}

static void channel_of(const struct spectrum *s, size_t i, double sigma, double *channel)
{
    double slope, bend;
    shape_of(s, i, NEAREST, &slope, &bend);
    const double most = 0.5 * CURVATURE_MOST / (sigma * sigma);
    const double square = sigma * sigma / (1.0 - 2.0 * sigma * sigma * (bend < most ? bend : most));
    for (size_t n = 0; n < LOSSCONE_ENERGIES; n++)
        channel[n] = host_exp(slope * square + host_sqrt(square) * steps[n]);
}

/* The measured flux is a mean over the channel, too. If the spectrum is a parabola in logarithms, so is the
 * measured one, with slope s / (1 - 2 b sigma^2) and bend b / (1 - 2 b sigma^2). In these, response times
 * spectrum have the mean slope sigma^2 and the variance sigma^2 (1 + 2 bend sigma^2). */
static void counted_channel_of(const struct spectrum *s, size_t i, double sigma, double *channel)
{
    double slope, bend;
    shape_of(s, i, NEAREST_COUNTED, &slope, &bend);
    const double square = sigma * sigma, factor = 1.0 + 2.0 * bend * square;
    const double part = factor < PART_LEAST  ? PART_LEAST
                        : factor > PART_MOST ? PART_MOST
                                             : factor,
                 width = sigma * host_sqrt(part);
    for (size_t n = 0; n < LOSSCONE_ENERGIES; n++) channel[n] = host_exp(slope * square + width * steps[n]);
}

struct losscone_channel losscone_channel_shape(double first, double last)
{
    const double width = host_log(first / last) / (steps[0] - steps[LOSSCONE_ENERGIES - 1]);
    return (struct losscone_channel){host_log(first) - width * steps[0], width};
}

paritas_status paritas_losscone_channels(paritas_context *context, const paritas_sweeps *given_sweeps,
                                         const paritas_losscone_options *given_options, const double *flux,
                                         double *channel)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(losscone_open(context, given_sweeps, given_options, false, &call));
    const paritas_sweeps *sweeps = &call.sweeps;
    if (sweeps->n > 0) REQUIRE(context, flux, channel);
    const double sigma = losscone_response_sigma(call.options.response_width);
    const bool counted =
        call.options.method == PARITAS_LOSSCONE_METHOD_COUNTS ||
        (call.options.method == PARITAS_LOSSCONE_METHOD_AUTO && sweeps->measured && sweeps->counts);
    for (size_t k = 0; k < sweeps->n; k++) {
        struct spectrum s = {.rows = sweeps->rows};
        for (size_t i = 0; i < sweeps->rows; i++) {
            const size_t row = k * sweeps->rows + i;
            const double energy = sweeps->energy[row];
            s.energy[i] = energy > 0.0 && energy > sweeps->potential[row] ? host_log(energy) : NAN;
            s.flux[i] =
                log_flux(sweeps->cells, sweeps->cosine + row * sweeps->cells, flux + row * sweeps->cells);
        }
        for (size_t i = 0; i < sweeps->rows; i++) {
            double *to = channel + (k * sweeps->rows + i) * LOSSCONE_ENERGIES;
            if (counted)
                counted_channel_of(&s, i, sigma, to);
            else
                channel_of(&s, i, sigma, to);
        }
    }
    return PARITAS_OK;
}
