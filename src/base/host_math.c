/* host_math.c: see host_math.h. The functions are the kernels' text at width 1. */
#include "base/host_math.h"

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/c.h"
#include "numeric/math.h"

double host_exp(double x) { return m_exp(x); }
double host_log(double x) { return m_log(x); }
double host_lgamma(double x) { return m_lgamma(x); }
double host_sqrt(double x) { return SQRT(x); }
double host_sin_degrees(double x) { return m_sin_degrees(x); }
double host_cos_degrees(double x) { return m_cos_degrees(x); }
double host_acos_degrees(double x) { return m_acos_degrees(x); }

double host_poisson_constant(double n)
{
    if (n <= 0.0) return 0.0;
    if (n < 10.0) return n - n * m_log(n) + m_lgamma(n + 1.0);
    /* Stirling's series for ln Gamma(n + 1) = (n + 1/2) ln n - n + ln(2 pi) / 2 + ...: what is left after n ln n - n cancels
     * (Abramowitz and Stegun 6.1.41). The first term left out is below 1e-16 of the sum. */
    const double r = 1.0 / n, r2 = r * r;
    const double series = r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 * (1.0 / 1188 - r2 * (691.0 / 360360 - r2 / 156))))));
    return 0.5 * m_log(6.283185307179586 * n) + series;
}
