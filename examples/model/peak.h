/* peak.h: a peak in a falling spectrum, in the kernel language. N bins of counts; column 0 of the tables has
 * their lower edges, column 1 the upper ones.
 *
 *   expected counts of a bin = SIGNAL (Phi(z_high) - Phi(z_low)) + BACKGROUND width exp(-SLOPE centre),   z =
 *       (edge - POSITION) / WIDTH
 */
enum { SIGNAL, POSITION, WIDTH, BACKGROUND, SLOPE, PARAMETERS };
#include "custom/custom_model.h"

EXPECTATION
{
    const pack low = COLUMN(0), high = COLUMN(1), centre = PK(0.5) * (low + high), size = high - low;
    const pack one = PK(1.0), width = PARAMETER(WIDTH), position = PARAMETER(POSITION),
               signal = PARAMETER(SIGNAL);
    const pack z0 = PDIVIDE(low - position, width), z1 = PDIVIDE(high - position, width),
               norm = PDIVIDE(PK(0.39894228040143268), width);
    /* the densities at the edges */
    const pack p0 = norm * m_exp(PK(-0.5) * z0 * z0), p1 = norm * m_exp(PK(-0.5) * z1 * z1);
    const pack part = m_normal_cdf(z1) - m_normal_cdf(z0), fall = size * m_exp(-PARAMETER(SLOPE) * centre),
               background = PARAMETER(BACKGROUND) * fall;
    const pack by_position = p0 - p1, by_width = z0 * p0 - z1 * p1, slope = PDIVIDE(signal, width);
    expectation y = expectation_zero();
    y.value = PFMA(signal, part, background);
    y.first[SIGNAL] = part;
    y.first[POSITION] = signal * by_position;
    y.first[WIDTH] = signal * by_width;
    y.first[BACKGROUND] = fall;
    y.first[SLOPE] = -centre * background;
    y.second[PAIR(SIGNAL, POSITION)] = by_position;
    y.second[PAIR(SIGNAL, WIDTH)] = by_width;
    y.second[PAIR(POSITION, POSITION)] = slope * by_width;
    y.second[PAIR(POSITION, WIDTH)] = slope * ((z0 * z0 - one) * p0 - (z1 * z1 - one) * p1);
    y.second[PAIR(WIDTH, WIDTH)] = slope * (z0 * (z0 * z0 - PK(2.0)) * p0 - z1 * (z1 * z1 - PK(2.0)) * p1);
    y.second[PAIR(BACKGROUND, SLOPE)] = -centre * fall;
    y.second[PAIR(SLOPE, SLOPE)] = centre * centre * background;
    return y;
}

#include "entry/entry_custom.h"
