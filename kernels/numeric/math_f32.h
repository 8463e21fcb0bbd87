/* math_f32.h: what math.h needs to know of a float, and the polynomials in f32.
 * The polynomials come from tools/make_polynomials.py 32; the comments give their largest weighted errors. */
#ifndef PARITAS_NUMERIC_MATH_F32_H
#define PARITAS_NUMERIC_MATH_F32_H

/* the layout */
#define M_MANTISSA 23
#define M_EXPONENTS 0xff
#define M_MAGNITUDE_BITS 0x7fffffff
#define M_INFINITY_BITS 0x7f800000
#define M_NAN_BITS 0x7fc00000
#define M_ONE_BITS 0x3f800000
#define M_INTEGER_BITS 0x4b000000 /* of 2^23, where the last bit counts 1 */
#define M_SMALLEST 1.17549435e-38 /* normal */
#define M_TINIEST M_SMALLEST      /* that is not taken for zero */

#define M_LN2_HI 0.693145752 /* 15 bits: k M_LN2_HI is exact */
#define M_LN2_LO 1.42860677e-06
#define M_LOG2_E 1.44269502

#define M_EXP_MAGIC 12583038.0         /* 3/2 2^23 + 126 */
#define M_EXP_MAGIC_SHIFTED 12583070.0 /* 32 more */
#define M_EXP_UNSHIFT 4.65661287e-10   /* 2^(1-32) */
#define M_EXP_SHIFTED -60.0
#define M_EXP_LEAST -87.3365402
#define M_EXP_LARGEST 88.7228317

#define M_FOUR_THIRDS 1.33333337
#define M_THIRD 0.333333343
#define M_LOG_OFFSET 8388735.0      /* 2^23 + 127 */
#define M_LOG1P_OFFSET 8388733.0    /* 2^23 + 125 */
#define M_LOG1P_IS_X 9.31322575e-10 /* 2^-30 */

#define M_ERFCX_POLE 2.0
#define M_ERFC_ZERO 11.0
#define M_TAIL_ZERO 15.0
#define M_LARGE 1e30
#define M_LGAMMA_LARGEST 4.08500311e36

#define M_DEGREES_LARGEST 1e6
#define M_DEGREES_MAGIC 12582912.0 /* 3/2 2^23 */
#define M_NINETIETH 0.0111111114
#define M_RADIANS_HI 0.0174532924
#define M_RADIANS_LO 1.35199605e-10
#define M_DEGREES_HI 57.2957802
#define M_DEGREES_LO -6.68802445e-7

/* (log((1 + s) / (1 - s)) - 2 s) / s^3 in x = s^2, weight s, on [0, 0.04]: 9.77e-10 */
FN pack m_log_tail(pack x)
{
    pack z = x * x;
    pack even = PK(0.284921169);
    even = PFMA(even, z, PK(0.666666627));
    pack odd = PK(0.243501648);
    odd = PFMA(odd, z, PK(0.400010824));
    return PFMA(odd, x, even);
}

/* (e^x - 1 - x) / x^2, weight x^2, on [-log(2)/2, log(2)/2]: 4.21e-9 */
FN pack m_exp_tail(pack x)
{
    pack z = x * x;
    pack even = PK(0.00139507197);
    even = PFMA(even, z, PK(0.0416662022));
    even = PFMA(even, z, PK(0.5));
    pack odd = PK(0.00836902484);
    odd = PFMA(odd, z, PK(0.166665182));
    return PFMA(odd, x, even);
}

/* erf(v) / v - 1 in x = v^2, on [0, 1]: 1.31e-9 */
FN pack m_erf_ratio(pack x)
{
    pack y = PK(7.92036299e-5);
    y = PFMA(y, x, PK(-0.000803076138));
    y = PFMA(y, x, PK(0.00519073382));
    y = PFMA(y, x, PK(-0.026855126));
    y = PFMA(y, x, PK(0.112836182));
    y = PFMA(y, x, PK(-0.376126289));
    y = PFMA(y, x, PK(0.128379166));
    return y;
}

/* (1 + 2 v) e^(v^2) erfc(v) in x = (v - p) / (v + p), p = M_ERFCX_POLE, on [-1, 1]: 1.89e-8 */
FN pack m_erfcx_mapped(pack x)
{
    pack y = PK(-2.03977834e-5);
    y = PFMA(y, x, PK(6.36408586e-5));
    y = PFMA(y, x, PK(0.000222018003));
    y = PFMA(y, x, PK(-0.000358665362));
    y = PFMA(y, x, PK(-0.00146460207));
    y = PFMA(y, x, PK(0.00121815375));
    y = PFMA(y, x, PK(0.00872490183));
    y = PFMA(y, x, PK(-0.00801928714));
    y = PFMA(y, x, PK(-0.0542203411));
    y = PFMA(y, x, PK(0.164049506));
    y = PFMA(y, x, PK(-0.166030377));
    y = PFMA(y, x, PK(-0.0927637666));
    y = PFMA(y, x, PK(1.27697837));
    return y;
}

/* lgamma(2 + x) / x, on [-0.5, 0.5]: 1.2e-8 */
FN pack m_lgamma_ratio(pack x)
{
    pack y = PK(-0.000257206731);
    y = PFMA(y, x, PK(0.000570348289));
    y = PFMA(y, x, PK(-0.00118416536));
    y = PFMA(y, x, PK(0.00287882634));
    y = PFMA(y, x, PK(-0.00738643901));
    y = PFMA(y, x, PK(0.020581631));
    y = PFMA(y, x, PK(-0.0673522651));
    y = PFMA(y, x, PK(0.322467029));
    y = PFMA(y, x, PK(0.422784328));
    return y;
}

/* the rest of Stirling's formula times v, in x = 1 / v^2, on [0, 0.015625]: 2.48e-9 */
FN pack m_stirling(pack x)
{
    pack y = PK(0.000861369073);
    y = PFMA(y, x, PK(-0.00277897809));
    y = PFMA(y, x, PK(0.0833333358));
    return y;
}

/* normal quantile of 1/2 + v over v, in x = v^2, on [0, 0.0625]: 5.66e-7 */
FN pack m_quantile_centre(pack x)
{
    pack y = PK(81.7796326);
    y = PFMA(y, x, PK(13.5216208));
    y = PFMA(y, x, PK(5.8234334));
    y = PFMA(y, x, PK(2.62452579));
    y = PFMA(y, x, PK(2.50662875));
    return y;
}

/* minus the normal quantile of p, less s, in x = 1 / s, s = sqrt(-2 log p), on [0.025641, 0.600561]:
 * 8.98e-5 */
FN pack m_quantile_tail(pack x)
{
    pack y = PK(-2447.18066);
    y = PFMA(y, x, PK(7402.40039));
    y = PFMA(y, x, PK(-9598.44727));
    y = PFMA(y, x, PK(6990.97119));
    y = PFMA(y, x, PK(-3156.02002));
    y = PFMA(y, x, PK(924.635193));
    y = PFMA(y, x, PK(-182.121307));
    y = PFMA(y, x, PK(26.5720024));
    y = PFMA(y, x, PK(-4.61667728));
    y = PFMA(y, x, PK(-0.01407417));
    return y;
}

/* (sin t - t) / t^3 in x = t^2, weight t^2, on [0, 0.62]: 3.8e-9 */
FN pack m_sin_tail(pack x)
{
    pack y = PK(-0.000195179935);
    y = PFMA(y, x, PK(0.00833218824));
    y = PFMA(y, x, PK(-0.166666552));
    return y;
}

/* (cos t - 1 + t^2 / 2) / t^4 in x = t^2, weight t^4, on [0, 0.62]: 1.06e-10 */
FN pack m_cos_tail(pack x)
{
    pack y = PK(2.44306702e-5);
    y = PFMA(y, x, PK(-0.00138873013));
    y = PFMA(y, x, PK(0.0416666456));
    return y;
}

/* (asin s - s) / s^3 in x = s^2, weight s^2, on [0, 0.2501]: 4.99e-9 */
FN pack m_asin_tail(pack x)
{
    pack y = PK(0.0422198027);
    y = PFMA(y, x, PK(0.0241481271));
    y = PFMA(y, x, PK(0.0454766601));
    y = PFMA(y, x, PK(0.0749524906));
    y = PFMA(y, x, PK(0.166667536));
    return y;
}

#endif
