/* kappa_distribution.h: the isotropic kappa distribution of electrons as omnidirectional flux (Vasyliunas, J.
 * Geophys. Res. 73 (1968) 2839).
 *
 *   f(v) = n / (pi^1.5 theta^3) A(kappa) (1 + q / kappa)^-(kappa + 1),   q = (v / theta)^2 = E / E_theta,
 *   A = Gamma(kappa + 1) / (kappa^1.5 Gamma(kappa - 1/2)),   E_theta = m theta^2 / 2,   flux = 4 pi v^2 f / m
 *
 * A tends to 1 (Maxwellian). Units: 1/m^3, m/s, eV, flux in 1/(cm^2 s eV). 3/2 < kappa <= KAPPA_LARGEST. f32
 * holds all steps for thermal energies from 1e-3 eV to 1e9 eV. */
#pragma once

#include "numeric/flush.h"
#include "numeric/math.h"

/* m = 9.1093837015e-31 kg / 1.602176634e-19 C (CODATA 2018) */
#define KAPPA_HALF_MASS 2.8428150517828616e-12
#define KAPPA_TWO_OVER_MASS 351764002154.4326
#define KAPPA_SPEED 593096.9584768013 /* of 1 eV */
#define KAPPA_LARGEST 1000.0
#define KAPPA_FLUX_UNIT 39692317.176520281 /* 4e-4 / (sqrt(pi) m), from 1/m^2 to 1/cm^2 */

FN real kappa_exp(real x)
{
    return FIRST(m_exp(PACK_OF(x)));
}
FN real kappa_log(real x)
{
    return FIRST(m_log(PACK_OF(x)));
}
FN real kappa_log1p(real x)
{
    return FIRST(m_log1p(PACK_OF(x)));
}

/* eV, m/s */
FN real kappa_thermal_energy(real theta)
{
    return flush((R(KAPPA_HALF_MASS) * theta) * theta);
}
FN real kappa_thermal_speed(real energy)
{
    return R(KAPPA_SPEED) * SQRT(energy);
}

/* eV, m/s */
FN real kappa_temperature(real kappa, real theta)
{
    return DIVIDE(kappa, kappa - R(1.5)) * kappa_thermal_energy(theta);
}
FN real kappa_theta_of(real kappa, real temperature)
{
    return SQRT(DIVIDE(kappa - R(1.5), kappa) * (R(KAPPA_TWO_OVER_MASS) * temperature));
}

/* slope, curvature: of ln A. From kappa + 8, reached by recurrence, the ratio of gammas is w^1.5 exp(sum of
 * b_j w^-2j), w = kappa + 7.75 (Tricomi, Erdelyi, Pacific J. Math. 1 (1951) 133), to 1e-16. */
typedef struct {
    real value, slope, curvature;
} kappa_normalisation;

FN kappa_normalisation kappa_normalise(real kappa)
{
    real above = R(1.0), below = R(1.0), slope = R(0.0), curvature = R(0.0);
    for (u32 j = 0; j < 8; j++) {
        const real a = kappa + (REAL_OF((elem)j) - R(0.5)), b = kappa + (REAL_OF((elem)j) + R(1.0));
        const real inverse = DIVIDE(R(1.0), a * b);
        above = above * a;
        below = below * b;
        slope = FMA(R(1.5), inverse, slope);
        curvature = FMA(R(-1.5) * (a + b), inverse * inverse, curvature);
    }
    const real w = kappa + R(7.75), i = DIVIDE(R(1.0), w), z = i * i, inverse = DIVIDE(R(1.0), kappa);
    /* sums of b_j z^j / z, times 1, 2j, 2j (2j + 1) */
    const real b1 = R(-0.078125), b2 = R(0.00048828125), b3 = R(-0.0013224283854166667),
               b4 = R(0.0013170242309570312), b5 = R(-0.0024092197418212891), b6 = R(0.0067123795549074809);
    const real rest = FMA(FMA(FMA(FMA(FMA(b6, z, b5), z, b4), z, b3), z, b2), z, b1);
    const real first =
        FMA(FMA(FMA(FMA(FMA(R(12.0) * b6, z, R(10.0) * b5), z, R(8.0) * b4), z, R(6.0) * b3), z, R(4.0) * b2),
            z, R(2.0) * b1);
    const real second =
        FMA(FMA(FMA(FMA(FMA(R(156.0) * b6, z, R(110.0) * b5), z, R(72.0) * b4), z, R(42.0) * b3), z,
                R(20.0) * b2),
            z, R(6.0) * b1);
    const real t = w * inverse;
    kappa_normalisation n;
    n.value = (t * SQRT(t)) * (DIVIDE(above, below) * kappa_exp(z * rest));
    /* 1.5 / w - 1.5 / kappa without cancellation */
    n.slope = slope + FMA(R(-11.625) * i, inverse, -(z * i) * first);
    n.curvature = curvature + FMA(R(11.625) * (i * inverse), i + inverse, (z * z) * second);
    return n;
}

typedef struct {
    pack scale, unit, exponent, inverse_kappa;
} kappa_shape;

/* a: A(kappa) */
FN kappa_shape kappa_shape_with(real n, real kappa, real theta, real a)
{
    kappa_shape s;
    s.scale = PACK_OF(flush(flush(R(KAPPA_FLUX_UNIT) * flush(DIVIDE(n, theta))) * a));
    s.unit = PACK_OF(DIVIDE(R(1.0), kappa_thermal_energy(theta)));
    s.exponent = PACK_OF(-(kappa + R(1.0)));
    s.inverse_kappa = PACK_OF(DIVIDE(R(1.0), kappa));
    return s;
}

FN kappa_shape kappa_shape_of(real n, real kappa, real theta)
{
    return kappa_shape_with(n, kappa, theta, kappa_normalise(kappa).value);
}

FN pack kappa_flux_of(kappa_shape s, pack energy)
{
    const pack q = energy * s.unit;
    return pflush(pflush(s.scale * q) * m_exp(s.exponent * m_log1p(q * s.inverse_kappa)));
}
