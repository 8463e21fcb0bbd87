/* statistics.h: how improbable a sample is under what should have made it. */
#ifndef PARITAS_TESTS_STATISTICS_H
#define PARITAS_TESTS_STATISTICS_H

#include <math.h>
#include <stddef.h>

/* P(chi^2 >= x) with n degrees of freedom: the upper incomplete gamma function, by its series below the mean,
 * by its continued fraction (Lentz) above. */
static inline double chi_square_tail(double x, double n)
{
    const double a = 0.5 * n, z = 0.5 * x;
    if (z <= 0.0) return 1.0;
    const double front = exp(a * log(z) - z - lgamma(a));
    if (z < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (int k = 1; term > 1e-17 * sum; k++) {
            term *= z / (a + k);
            sum += term;
        }
        return 1.0 - front * sum;
    }
    double b = z + 1.0 - a, c = 1e300, d = 1.0 / b, y = d;
    for (int k = 1; k < 10000; k++) {
        const double step = -k * (k - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        y *= d * c;
        if (fabs(d * c - 1.0) < 1e-15) break;
    }
    return front * y;
}

/* The p-value of Pearson's test of counts in cells against their probabilities, which sum to 1. */
static inline double cells_p_value(const double *counts, const double *probabilities, size_t cells)
{
    double n = 0.0, chi2 = 0.0;
    for (size_t i = 0; i < cells; i++) n += counts[i];
    for (size_t i = 0; i < cells; i++) {
        const double expected = n * probabilities[i];
        chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return chi_square_tail(chi2, (double)cells - 1.0);
}

#endif
