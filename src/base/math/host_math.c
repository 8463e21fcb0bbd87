/* host_math.c: the kernels' functions at width 1. */
#include "base/math/host_math.h"

#include "base/processor.h"

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "numeric/math.h"

HOST_FUNCTION(host_exp, m_exp)
HOST_FUNCTION(host_log, m_log)
HOST_FUNCTION(host_lgamma, m_lgamma)
HOST_FUNCTION(host_sqrt, SQRT)
HOST_FUNCTION(host_sin_degrees, m_sin_degrees)
HOST_FUNCTION(host_cos_degrees, m_cos_degrees)
HOST_FUNCTION(host_acos_degrees, m_acos_degrees)

/* x <= 3: (x - zero) times the sum over n of 1 / ((n + x) (n + zero)); positive terms, no cancellation.
 * Rest: Euler-Maclaurin (Abramowitz and Stegun 6.3.16, 23.1.30). */
static double digamma_near_zero(double x)
{
    const double zero = 1.4616321449683622, zero_rest = 9.5499954299656977e-17,
                 distance = (x - zero) - zero_rest;
    const double a = 12.0 + zero, b = 12.0 + x, u = (x - zero) / a;
    const double bernoulli[6] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760};
    double sum = 0.5 / (a * b), power = 1.0, log_ratio = 0.0, quotient = 0.0;
    for (int k = 1; k < 20; k++) { /* ln(b / a) / (b - a) */
        log_ratio += power / k;
        power *= -u;
    }
    sum += log_ratio / a;
    for (int k = 5; k >= 0; k--) { /* (a^-m - b^-m) / (b - a), m = 2 (k + 1) */
        quotient = 0.0;
        double term = 1.0;
        for (int i = 0; i < 2 * (k + 1); i++) term /= b;
        for (int i = 0; i < 2 * (k + 1); i++) {
            quotient += term / a;
            term *= b / a;
        }
        sum += bernoulli[k] * quotient;
    }
    for (int n = 11; n >= 0; n--) sum += 1.0 / ((n + x) * (n + zero));
    return distance * sum;
}

double host_digamma(double x)
{
    if (!(x > 0.0)) return __builtin_nan("");
    if (x < 1.0) return digamma_near_zero(x + 1.0) - 1.0 / x;
    if (x < 3.0) return digamma_near_zero(x);
    double below = 0.0;
    for (; x < 12.0; x += 1.0) below += 1.0 / x;
    const double r = 1.0 / x, r2 = r * r; /* Abramowitz and Stegun 6.3.18 */
    return m_log(x) -
           (0.5 * r + r2 * (1.0 / 12 -
                            r2 * (1.0 / 120 -
                                  r2 * (1.0 / 252 - r2 * (1.0 / 240 - r2 * (1.0 / 132 - r2 * (691.0 / 32760 -
                                                                                              r2 / 12))))))) -
           below;
}

double host_trigamma(double x)
{
    if (!(x > 0.0)) return __builtin_nan("");
    double below = 0.0;
    for (; x < 16.0; x += 1.0) below += 1.0 / (x * x);
    const double r = 1.0 / x, r2 = r * r; /* Abramowitz and Stegun 6.4.12 */
    return below + r + 0.5 * r2 +
           r * r2 *
               (1.0 / 6 -
                r2 * (1.0 / 30 - r2 * (1.0 / 42 - r2 * (1.0 / 30 - r2 * (5.0 / 66 - r2 * 691.0 / 2730)))));
}

double host_poisson_constant(double n)
{
    if (n <= 0.0) return 0.0;
    if (n < 10.0) return n - n * host_log(n) + host_lgamma(n + 1.0);
    /* Stirling's series (Abramowitz and Stegun 6.1.41) without n ln n - n, which cancels. First omitted
     * term: below 1e-16 of the sum. */
    const double r = 1.0 / n, r2 = r * r;
    const double series =
        r *
        (1.0 / 12 -
         r2 * (1.0 / 360 -
               r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 * (1.0 / 1188 - r2 * (691.0 / 360360 - r2 / 156))))));
    return 0.5 * host_log(6.283185307179586 * n) + series;
}

double host_gauss_constant(double sigma)
{
    return host_log(sigma) + HOST_LN_SQRT_2PI;
}
