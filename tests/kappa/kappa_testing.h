/* kappa_testing.h: what the tests of currents and potentials share: plasmas to try, the integrals done by
 * sums. */
#ifndef PARITAS_KAPPA_TESTING_H
#define PARITAS_KAPPA_TESTING_H

#include "paritas_kappa.h"
#include "reference.h"

#include <stdbool.h>

#define ASSERT_NEAR(a, b, relative) ASSERT_CLOSE(a, b, (relative) * fabs(b))

static inline paritas_kappa_plasma plasma_of(const struct json *row)
{
    return (paritas_kappa_plasma){json_get(row, "n")->number, json_get(row, "kappa")->number,
                                  json_get(row, "theta")->number};
}

/* Plasma number k: density 1e3 .. 1e8, kappa 1.7 .. 9, now and then near a Maxwellian, temperature 3 .. 3000
 * eV. */
static inline paritas_kappa_plasma some_plasma(size_t k)
{
    double u[3];
    for (size_t i = 0; i < 3; i++) {
        uint64_t z = (3 * k + i + 1) * 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        u[i] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    const double kappa = k % 11 == 5 ? 20.0 + 700.0 * u[1] : 1.7 + 7.3 * u[1];
    return (paritas_kappa_plasma){pow(10.0, 3.0 + 5.0 * u[0]), kappa,
                                  paritas_kappa_theta(kappa, 3.0 * pow(1000.0, u[2]))};
}

#define PI 3.14159265358979323846

/* What the omnidirectional flux, 1/(cm^2 s eV), has for a factor besides its dependence on the energy. */
static inline double flux_scale(const paritas_kappa_plasma *p)
{
    return 4.0 * PI * 1e-4 * p->density * exp(lgamma(p->kappa + 1.0) - lgamma(p->kappa - 0.5)) /
           pow(PI * p->kappa, 1.5) / pow(p->theta, 3.0);
}
static inline double flux_of(const paritas_kappa_plasma *p, double scale, double energy, double mass)
{
    const double speed2 = 2.0 * energy / mass;
    return scale * exp(-(p->kappa + 1.0) * log1p(speed2 / (p->kappa * p->theta * p->theta))) * speed2 / mass;
}

#define CHARGE 1.602176634e-19

/* The electrons' current by Simpson's rule for uneven steps, on a geometric grid. Its last step, where the
 * points are even in number, takes the mean of trapezoids at either end and Simpson's rule between (SciPy
 * until 1.10), or the parabola through the last three points (from 1.11 on). */
static inline double simpson_current(const paritas_kappa_plasma *p, double lower, double upper, size_t n,
                                     int parabola)
{
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    assert_true(x && y && n > 3);
    const double scale = flux_scale(p);
    for (size_t i = 0; i < n; i++) {
        x[i] = i == 0 ? lower : i == n - 1 ? upper : lower * pow(upper / lower, (double)i / (double)(n - 1));
        y[i] = flux_of(p, scale, x[i], 5.685630e-12); /* the electron's mass of the reference */
    }
    double sum[2] = {0.0, 0.0};
    for (size_t start = 0; start < 2; start++) {
        for (size_t i = start; i + 2 < n; i += 2) {
            const double a = x[i + 1] - x[i], b = x[i + 2] - x[i + 1];
            sum[start] +=
                (a + b) / 6.0 *
                ((2.0 - b / a) * y[i] + (a + b) * (a + b) / (a * b) * y[i + 1] + (2.0 - a / b) * y[i + 2]);
        }
    }
    double integral = sum[0];
    if (n % 2 == 0 && parabola) {
        const double a = x[n - 2] - x[n - 3], b = x[n - 1] - x[n - 2];
        integral += (2.0 * b * b + 3.0 * a * b) / (6.0 * (a + b)) * y[n - 1] +
                    (b * b + 3.0 * a * b) / (6.0 * a) * y[n - 2] - b * b * b / (6.0 * a * (a + b)) * y[n - 3];
    } else if (n % 2 == 0)
        integral = 0.5 * (sum[0] + 0.5 * (x[n - 1] - x[n - 2]) * (y[n - 1] + y[n - 2]) + sum[1] +
                          0.5 * (x[1] - x[0]) * (y[0] + y[1]));
    free(x);
    free(y);
    return CHARGE * 1e4 * 0.25 * integral;
}

struct currents_here {
    double electrons, secondaries, ions;
};

/* Currents in shade between 1 eV and 20 keV, by sums. */
static inline struct currents_here integrate_currents(const paritas_kappa_plasma *spectrum, double potential)
{
    const double mass = 9.1093837015e-31 / CHARGE,
                 temperature = paritas_kappa_temperature(spectrum->kappa, spectrum->theta) +
                               potential / (spectrum->kappa - 1.5);
    const paritas_kappa_plasma p = {spectrum->density, spectrum->kappa,
                                    paritas_kappa_theta(spectrum->kappa, temperature)};
    const double upper = 20000.0, lower = fmin(fmax(1.0, -potential), upper);
    /* Romberg's rule in q, E = lower + q^4: the yield's root of E + U is smooth in q also where E begins at
     * -U */
    enum { LEVELS = 15 };
    const double scale = flux_scale(&p);
    struct currents_here c = {0.0, 0.0, 0.0};
    double table[2][LEVELS][LEVELS];
    const double end = pow(upper - lower, 0.25);
    for (int level = 0; level < LEVELS; level++) {
        const long points = 1L << level;
        double sum[2] = {0.0, 0.0};
        for (long i = level ? 1 : 0; i <= points; i += level ? 2 : 1) {
            const double q = end * (double)i / (double)points, energy = lower + q * q * q * q;
            const double term = CHARGE * 1e4 * 0.25 * flux_of(&p, scale, energy, mass) * 4.0 * q * q * q *
                                (level ? 1.0 : 0.5);
            sum[0] += term;
            sum[1] += term * paritas_secondary_yield(energy + potential);
        }
        for (int w = 0; w < 2; w++) {
            const double step = end / (double)points;
            table[w][level][0] = (level ? 0.5 * table[w][level - 1][0] : 0.0) + step * sum[w];
            for (int j = 1; j <= level; j++) {
                const double four = pow(4.0, j);
                table[w][level][j] =
                    (four * table[w][level][j - 1] - table[w][level - 1][j - 1]) / (four - 1.0);
            }
        }
    }
    c.electrons = table[0][LEVELS - 1][4];
    c.secondaries = table[1][LEVELS - 1][4] * (potential > 0.0 ? exp(-potential / 3.0) : 1.0);
    const double ions = temperature + 1e-6;
    c.ions = CHARGE * p.density * sqrt(CHARGE * ions / (2.0 * PI * 1.67262192369e-27)) *
             (potential > 0.0 ? exp(-potential / ions) : sqrt(1.0 - potential / ions));
    return c;
}

#endif
