/* probability.c: the kernels' functions at width one; chi-squared. */
#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "numeric/math.h"

#include "base/math/probability.h"

#include "base/processor.h"

#include <math.h>

HOST_FUNCTION(normal_cdf, m_normal_cdf)
HOST_FUNCTION(normal_log_cdf, m_log_normal_cdf)
HOST_FUNCTION(normal_quantile, m_normal_quantile)

double normal_density(double x)
{
    return 0.39894228040143267794 * m_exp(-0.5 * x * x);
}

#define TERMS_MAX 100000

/* P(a, x) / (x^a e^-x / Gamma(a)), series for x < a + 1 (Abramowitz and Stegun 6.5.29). */
static double lower_series(double a, double x)
{
    double term = 1.0 / a, sum = term;
    for (int k = 1; k < TERMS_MAX && term > 1e-17 * sum; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum;
}

/* Q(a, x) / (the same), continued fraction for x >= a + 1 (6.5.31; modified Lentz). */
static double upper_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, value = d;
    for (int k = 1; k < TERMS_MAX; k++) {
        double an = -k * (k - a);
        b += 2.0;
        d = an * d + b;
        if (d == 0.0) d = 1e-300;
        c = b + an / c;
        if (c == 0.0) c = 1e-300;
        d = 1.0 / d;
        double factor = c * d;
        value *= factor;
        if (factor > 1.0 - 1e-16 && factor < 1.0 + 4e-16) break;
    }
    return value;
}

double chi2_survival(double x, double ndof)
{
    if (isnan(x) || !(ndof > 0.0)) return (double)NAN;
    if (!(x > 0.0)) return 1.0;
    if (isinf(x)) return 0.0;
    double a = 0.5 * ndof, h = 0.5 * x;
    double factor = m_exp(a * m_log(h) - h - m_lgamma(a));
    return h < a + 1.0 ? 1.0 - factor * lower_series(a, h) : factor * upper_fraction(a, h);
}
