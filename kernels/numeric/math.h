/* math.h: functions of a real number, with the same bits everywhere.
 *
 * No branches, no tables: masks choose. NaN and outside a domain: one quiet NaN. Subnormals are zero in f32,
 * as on some devices, and complete in f64. tests/numeric asserts the errors against MPFR. */
#pragma once

#if F64
#include "math_f64.h"
#else
#include "math_f32.h"
#endif

#define M_INFINITY PFROM_BITS(PLI(M_INFINITY_BITS))
#define M_MINUS_INFINITY (-PFROM_BITS(PLI(M_INFINITY_BITS)))
#define M_NAN PFROM_BITS(PLI(M_NAN_BITS))

FN pack m_abs(pack x)
{
    return PFROM_BITS(PBITS(x) & PLI(M_MAGNITUDE_BITS));
}

/* f32 only; keeps the sign. */
FN pack m_flush(pack x)
{
#if F64
    return x;
#else
    /* not 0 x: some compilers fold it, sign and all */
    return PSELECT(m_abs(x) < PK(M_SMALLEST), PFROM_BITS(PBITS(x) & PLI(~M_MAGNITUDE_BITS)), x);
#endif
}

/* Zeros, and subnormals in f32, become positive; not by x + 0, which some compilers fold. */
FN pack m_positive_zero(pack x)
{
    return PSELECT(m_abs(x) < PK(M_TINIEST), PK(0.0), x);
}

/* ---- polynomials, highest power first; function, range, largest weighted errors in f64 and f32
 * (tools/make_polynomials.py) ---- */

#define M_FIRST(c) pack y = PK(c)
#define M_NEXT(c) y = PFMA(y, x, PK(c))
#define M_POLYNOMIAL(name, COEFFICIENTS) \
    FN pack name(pack x)                 \
    {                                    \
        COEFFICIENTS(M_FIRST, M_NEXT)    \
        return y;                        \
    }
/* Even and odd powers side by side. */
#define M_SPLIT_POLYNOMIAL(name, EVEN, ODD)            \
    M_POLYNOMIAL(name##_even, EVEN)                    \
    M_POLYNOMIAL(name##_odd, ODD)                      \
    FN pack name(pack x)                               \
    {                                                  \
        const pack z = x * x;                          \
        return PFMA(name##_odd(z), x, name##_even(z)); \
    }

/* (log((1 + s) / (1 - s)) - 2 s) / s^3 in x = s^2, weight s, on [0, 0.04]: 3.23e-18, 9.77e-10 */
M_SPLIT_POLYNOMIAL(m_log_tail, M_LOG_TAIL_EVEN, M_LOG_TAIL_ODD)
/* (e^x - 1 - x) / x^2, weight x^2, on [-log(2)/2, log(2)/2]: 7.53e-18, 4.21e-9 */
M_SPLIT_POLYNOMIAL(m_exp_tail, M_EXP_TAIL_EVEN, M_EXP_TAIL_ODD)
/* erf(v) / v - 1 in x = v^2, on [0, 1]: 1.5e-17, 1.31e-9 */
M_POLYNOMIAL(m_erf_ratio, M_ERF_RATIO)
/* (1 + 2 v) e^(v^2) erfc(v) in x = (v - p) / (v + p), p = M_ERFCX_POLE, on [-1, 1]: 5.93e-17, 1.89e-8 */
M_POLYNOMIAL(m_erfcx_mapped, M_ERFCX_MAPPED)
/* lgamma(2 + x) / x, on [-0.5, 0.5]: 1.32e-17, 1.2e-8 */
M_POLYNOMIAL(m_lgamma_ratio, M_LGAMMA_RATIO)
/* rest of Stirling's formula times v, x = 1 / v^2, on [0, 0.015625]: 4.63e-18, 2.48e-9 */
M_POLYNOMIAL(m_stirling, M_STIRLING)
/* normal quantile of 1/2 + v over v, x = v^2, on [0, 0.0625]: 5.57e-7, 5.66e-7 */
M_POLYNOMIAL(m_quantile_centre, M_QUANTILE_CENTRE)
/* -(normal quantile of p) - s, x = 1 / s, s = sqrt(-2 log p), on [0.025641, 0.600561]: 6.72e-5, 8.98e-5 */
M_POLYNOMIAL(m_quantile_tail, M_QUANTILE_TAIL)
/* (sin t - t) / t^3 in x = t^2, weight t^2, on [0, 0.62]: 3.76e-18, 3.8e-9 */
M_POLYNOMIAL(m_sin_tail, M_SIN_TAIL)
/* (cos t - 1 + t^2 / 2) / t^4 in x = t^2, weight t^4, on [0, 0.62]: 5.62e-20, 1.06e-10 */
M_POLYNOMIAL(m_cos_tail, M_COS_TAIL)
/* (asin s - s) / s^3 in x = s^2, weight s^2, on [0, 0.2501]: 1.54e-17, 4.99e-9 */
M_POLYNOMIAL(m_asin_tail, M_ASIN_TAIL)

/* `magic` leaves k = round(x / log 2) in the low bits. r + rest = x - k log 2: rounding r alone would cost
 * 1/4 unit. */
FN pack m_exp(pack x)
{
    /* 2^k in parts: only the last product may be subnormal */
    pmask low = x < PK(M_EXP_SHIFTED);
    pack magic = PSELECT(low, PK(M_EXP_MAGIC_SHIFTED), PK(M_EXP_MAGIC));
    pack t = PFMA(x, PK(M_LOG2_E), magic);
    pack k = t - magic;
    pack scale = PFROM_BITS((PBITS(t) & PLI(M_EXPONENTS)) << M_MANTISSA);
    pack r0 = PFMA(k, PK(-M_LN2_HI), x);
    pack r = PFMA(k, PK(-M_LN2_LO), r0);
    pack rest = PFMA(k, PK(-M_LN2_LO), r0 - r);
    pack q = PK(1.0) + (r + PFMA(r * r, m_exp_tail(r), rest));
    pack y = (q * scale) * PSELECT(low, PK(M_EXP_UNSHIFT), PK(2.0));
    y = PSELECT(x > PK(M_EXP_LARGEST), M_INFINITY, y);
    y = PSELECT(x < PK(M_EXP_LEAST), PK(0.0), y);
    return PSELECT(x == x, y, M_NAN);
}

/* log(2^k (1 + f)), 3/4 <= 1 + f < 3/2, f exact: with s = f / (2 + f), log(1 + f) = f - f^2/2 + s (f^2/2 +
 * s^2 m_log_tail(s^2)). tail has the low part of k log 2. */
typedef struct {
    pack k, f, half_f, tail;
} m_log_parts;

FN m_log_parts m_log_parts_of(pack k, pack f)
{
    m_log_parts l;
    pack s = PDIVIDE(f, PK(2.0) + f);
    pack z = s * s;
    l.k = k;
    l.f = f;
    l.half_f = PK(0.5) * f;
    l.tail = PFMA(s, PFMA(l.half_f, f, z * m_log_tail(z)), k * PK(M_LN2_LO));
    return l;
}

FN pack m_log_sum(m_log_parts l)
{
    return PFMA(l.k, PK(M_LN2_HI), l.f + PFMA(-l.half_f, l.f, l.tail));
}

/* x > 0, finite; k: exponent of 4/3 x. */
FN m_log_parts m_log_split(pack x)
{
#if F64
    pmask small = x < PK(M_SMALLEST);
    pack offset = PSELECT(small, PK(M_LOG_OFFSET_SCALED), PK(M_LOG_OFFSET));
    x = PSELECT(small, x * PK(M_LOG_SCALE), x);
#else
    pack offset = PK(M_LOG_OFFSET);
#endif
    plint i = PBITS(PK(M_FOUR_THIRDS) * x);
    pack k = PFROM_BITS(((i >> M_MANTISSA) & PLI(M_EXPONENTS)) | PLI(M_INTEGER_BITS)) - offset;
    pack m = PFROM_BITS(PBITS(m_abs(x)) - (i & PLI(M_INFINITY_BITS)) + PLI(M_ONE_BITS));
    return m_log_parts_of(k, m - PK(1.0));
}

/* -inf at 0, NaN below. */
FN pack m_log(pack x)
{
    pack y = m_log_sum(m_log_split(x));
    y = PSELECT(x < M_INFINITY, y, M_INFINITY);
    pack outside = PSELECT(m_abs(x) < PK(M_TINIEST), M_MINUS_INFINITY, M_NAN);
    return PSELECT(x >= PK(M_TINIEST), y, outside);
}

/* k: exponent of 4/3 (1 + x), less 2 so that `fourfold` = 2^(2-k) is normal. f = 2^-k x + (2^-k - 1) is
 * exact: a multiple of 2^-(M_MANTISSA+1), at most 1/2. */
FN m_log_parts m_log1p_split(pack x)
{
    plint i = PBITS(PFMA(x, PK(M_THIRD), PK(M_THIRD)));
    pack k = PFROM_BITS(((i >> M_MANTISSA) & PLI(M_EXPONENTS)) | PLI(M_INTEGER_BITS)) - PK(M_LOG1P_OFFSET);
    pack fourfold = PFROM_BITS(PLI(2 * M_ONE_BITS) - (i & PLI(M_INFINITY_BITS)));
#if F64
    pack scale = PK(0.25) * fourfold;
    pack f = PFMA(x, scale, scale - PK(1.0));
#else
    pack f = PFMA(PK(0.25) * x, fourfold, PFMA(PK(0.25), fourfold, PK(-1.0))); /* 2^-k might be flushed */
#endif
    return m_log_parts_of(k, f);
}

/* -inf at -1, NaN below. */
FN pack m_log1p(pack x)
{
    pack y = m_log_sum(m_log1p_split(x));
    y = PSELECT(m_abs(x) < PK(M_LOG1P_IS_X), m_flush(x), y);
    y = PSELECT(x < M_INFINITY, y, M_INFINITY);
    return PSELECT(x > PK(-1.0), y, PSELECT(x == PK(-1.0), M_MINUS_INFINITY, M_NAN));
}

/* x - log(1 + x); for k = -1, 0, 1 cancellation is exact. +inf at -1, NaN below. */
FN pack m_deviance(pack x)
{
    m_log_parts l = m_log1p_split(x);
#if !F64
    /* a flushed x / 4 or tail might change the rounding */
    pmask small = m_abs(x) < PK(M_LOG1P_IS_X);
    l.f = PSELECT(small, x, l.f);
    l.tail = PSELECT(small, PK(0.0), l.tail);
#endif
    pack y = (PFMA(l.k, PK(-M_LN2_HI), x) - l.f) + PFMA(l.half_f, l.f, -l.tail);
#if !F64
    y = m_positive_zero(y);
#endif
    y = PSELECT(x < M_INFINITY, y, M_INFINITY);
    return PSELECT(x > PK(-1.0), y, PSELECT(x == PK(-1.0), M_INFINITY, M_NAN));
}

/* exp(x^2) erfc(x), x >= 0, to a few units; times 1 + 2x, mapped to -1 .. 1, a polynomial. */
FN pack m_erfcx(pack x)
{
    pack t = PDIVIDE(x - PK(M_ERFCX_POLE), x + PK(M_ERFCX_POLE));
    return PDIVIDE(m_erfcx_mapped(t), PFMA(PK(2.0), x, PK(1.0)));
}

/* exp(-scale x^2) with the rounding of x^2 corrected; scale: a power of two. */
FN pack m_gauss(pack x, pack scale)
{
    pack square = x * x;
    pack rest = PFMA(x, x, -square);
    pack e = m_exp(-scale * square);
    return PFMA(e, -scale * rest, e);
}

FN pack m_erfc_of_magnitude(pack a)
{
    a = PSELECT(a < PK(M_ERFC_ZERO), a, PK(M_ERFC_ZERO));
    return m_positive_zero(m_gauss(a, PK(1.0)) * m_erfcx(a));
}

FN pack m_erf(pack x)
{
    pack a = m_abs(x);
    pack large = PK(1.0) - m_erfc_of_magnitude(a);
    pack signed_large = PSELECT(x < PK(0.0), -large, large);
    pack near = m_flush(x);
    near = PFMA(near, m_erf_ratio(near * near), near);
    pack y = PSELECT(a < PK(1.0), near, signed_large);
    return PSELECT(x == x, y, M_NAN);
}

FN pack m_erfc(pack x)
{
    pack y = m_erfc_of_magnitude(m_abs(x));
    y = PSELECT(x < PK(0.0), PK(2.0) - y, y);
    return PSELECT(x == x, y, M_NAN);
}

/* log gamma; +inf at 0, NaN below. Below 8: lgamma(2 + e) = e m_lgamma_ratio(e), |e| <= 1/2, and the log of
 * the recurrence's factors; exact e keeps the zeros at 1 and 2. Else Stirling's series. */
FN pack m_lgamma(pack x)
{
    pack y = x;
    pack product = PK(1.0);
    for (u32 i = 0; i < 6; i++) {
        pmask above = y >= PK(2.5);
        pack below = y - PK(1.0);
        product = PSELECT(above, product * below, product);
        y = PSELECT(above, below, y);
    }
    pmask under_half = x < PK(0.5);
    pmask recur_up = x < PK(1.5);
    pmask large = x >= PK(8.0);
    pack e = PSELECT(under_half, x, PSELECT(recur_up, x - PK(1.0), y - PK(2.0)));
    pack argument = PSELECT(under_half, PFMA(x, x, x), PSELECT(recur_up, x, PSELECT(large, x, product)));
    argument = PSELECT(AND(argument >= PK(M_TINIEST), argument < M_INFINITY), argument, PK(1.0));

    m_log_parts l = m_log_split(argument);
    pack hi = PFMA(l.k, PK(M_LN2_HI), l.f);
    pack lo = (PFMA(l.k, PK(M_LN2_HI), -hi) + l.f) + PFMA(-l.half_f, l.f, l.tail);

    pack sign = PSELECT(recur_up, PK(-1.0), PK(1.0));
    pack near = PFMA(sign, lo, PFMA(e, m_lgamma_ratio(e), sign * hi));

    /* half of (x - 1/2)(log x - 1) + (log 2 pi - 1) / 2 + 1 / 12 x - ..: all might overflow */
    pack w = PDIVIDE(PK(1.0), x);
    pack a = PFMA(PK(0.5), x, PK(-0.25));
    pack b = hi - PK(1.0);
    pack ab = a * b;
    pack rest =
        PFMA(a, lo, PFMA(a, b, -ab)) + PFMA(PK(0.5) * w, m_stirling(w * w), PK(0.20946926660233637089));
    pack far = PSELECT(x <= PK(M_LGAMMA_LARGEST), PK(2.0) * (ab + rest), M_INFINITY);

    pack value = PSELECT(large, far, near);
    pack outside = PSELECT(m_abs(x) < PK(M_TINIEST), M_INFINITY, M_NAN);
    return PSELECT(x >= PK(M_TINIEST), value, outside);
}

#define M_SQRT_HALF 0.70710678118654752440

/* P(normal > a), a >= 0; by a^2/2, not the square of a rounded a/sqrt 2. */
FN pack m_normal_tail(pack a)
{
    a = PSELECT(a < PK(M_TAIL_ZERO), a, PK(M_TAIL_ZERO));
    return m_positive_zero((PK(0.5) * m_gauss(a, PK(0.5))) * m_erfcx(PK(M_SQRT_HALF) * a));
}

FN pack m_normal_cdf(pack x)
{
    pack tail = m_normal_tail(m_abs(x));
    pack y = PSELECT(x < PK(0.0), tail, PK(1.0) - tail);
    return PSELECT(x == x, y, M_NAN);
}

/* Holds also where m_normal_cdf is 0. */
FN pack m_log_normal_cdf(pack x)
{
    pack a = m_abs(x);
    pack finite = PSELECT(a < PK(M_LARGE), a, PK(M_LARGE));
    pack below = PFMA(PK(-0.5) * finite, a, m_log(PK(0.5) * m_erfcx(PK(M_SQRT_HALF) * finite)));
    pack y = PSELECT(x < PK(0.0), below, m_log1p(-m_normal_tail(a)));
    return PSELECT(x == x, y, M_NAN);
}

/* -inf at 0, +inf at 1, NaN outside. Rational start, two Halley steps: on the distribution for 1/4 <= p <=
 * 3/4, where p - 1/2 is exact, else on its logarithm. Upper tail: minus the quantile of the tail. */
FN pack m_normal_quantile(pack p)
{
    pack q = p - PK(0.5);
    pmask central = m_abs(q) <= PK(0.25);
    pmask inside = AND(p >= PK(M_TINIEST), p < PK(1.0));
    pack side = PSELECT(q > PK(0.0), PK(1.0) - p, p);
    side = PSELECT(AND(inside, PNOT(central)), side, PK(0.25));
    q = PSELECT(central, q, PK(0.0));

    pack log_side = m_log(side);
    pack s = PSQRT(PK(-2.0) * log_side);
    pack far = -s - m_quantile_tail(PDIVIDE(PK(1.0), s));
    pack x = PSELECT(central, q * m_quantile_centre(q * q), far);
    for (u32 i = 0; i < 2; i++) {
        /* u: value over derivative; twice: minus second derivative over first */
        pack a = PSELECT(central, PK(0.0), -x);
        pack ratio = m_erfcx(PK(M_SQRT_HALF) * a);
        pack hazard = PDIVIDE(PK(0.79788456080286535588), ratio);
        pack u_far = PDIVIDE(PFMA(PK(-0.5) * a, a, m_log(PK(0.5) * ratio)) - log_side, hazard);
        pack h = PSELECT(central, PK(M_SQRT_HALF) * x, PK(0.0));
        pack u_central =
            PDIVIDE(PFMA(PFMA(h, m_erf_ratio(h * h), h), PK(0.5), -q) * PK(2.5066282746310005024),
                    m_gauss(h, PK(1.0)));
        pack u = PSELECT(central, u_central, u_far);
        pack twice = PSELECT(central, x, x + hazard);
        x = x - PDIVIDE(u, PFMA(PK(0.5) * u, twice, PK(1.0)));
    }
    x = PSELECT(AND(PNOT(central), p > PK(0.5)), -x, x);
    pack outside =
        PSELECT(p == PK(1.0), M_INFINITY, PSELECT(m_abs(p) < PK(M_TINIEST), M_MINUS_INFINITY, M_NAN));
    return PSELECT(inside, x, outside);
}

/* Degrees as quarter turns -2 .. 2 and radians t + low in -pi/4 .. pi/4. */
typedef struct {
    pack quarter, t, low;
} m_turn;

FN m_turn m_turn_of(pack x)
{
    m_turn a;
    const pack magic = PK(M_DEGREES_MAGIC);
    const pack k = PFMA(x, PK(M_NINETIETH), magic) - magic, degrees = PFMA(k, PK(-90.0), x);
    a.quarter = PFMA(PFMA(k, PK(0.25), magic) - magic, PK(-4.0), k);
    a.t = degrees * PK(M_RADIANS_HI);
    a.low = PFMA(degrees, PK(M_RADIANS_LO), PFMA(degrees, PK(M_RADIANS_HI), -a.t));
#if !F64
    /* if flushed it might change a rounding */
    a.low = PSELECT(m_abs(a.t) < PK(M_LOG1P_IS_X), PK(0.0), a.low);
#endif
    return a;
}

FN pack m_turn_sin(m_turn a)
{
    const pack z = a.t * a.t;
    return a.t + PFMA(a.t * z, m_sin_tail(z), a.low);
}

FN pack m_turn_cos(m_turn a)
{
    const pack z = a.t * a.t, half_z = PK(0.5) * z, near = PK(1.0) - half_z;
    return near + (((PK(1.0) - near) - half_z) + PFMA(z * z, m_cos_tail(z), -a.t * a.low));
}

/* Sine of x degrees plus `turns` (0, 1) quarter turns; exact at multiples of 90, zeros positive. NaN beyond
 * M_DEGREES_LARGEST. */
FN pack m_sine(pack x, pack turns)
{
    const pmask known = m_abs(x) <= PK(M_DEGREES_LARGEST);
    const m_turn a = m_turn_of(PSELECT(known, m_flush(x), PK(0.0)));
    const pack quarter = a.quarter + turns, q = m_abs(quarter);
    const pmask odd = OR(AND(q > PK(0.5), q < PK(1.5)), q > PK(2.5));
    const pack y = PSELECT(odd, m_turn_cos(a), m_turn_sin(a));
    const pack signed_y = PSELECT(OR(quarter<PK(-0.5), quarter> PK(1.5)), -y, y);
    return PSELECT(known, m_positive_zero(signed_y), M_NAN);
}
FN pack m_sin_degrees(pack x)
{
    return m_sine(x, PK(0.0));
}
FN pack m_cos_degrees(pack x)
{
    return m_sine(x, PK(1.0));
}

/* asin in degrees, |s| <= 1/2: y + *low. */
FN pack m_asin_near(pack s, PRIVATE pack *low)
{
    const pack z = s * s, y = s * PK(M_DEGREES_HI);
    *low =
        PFMA(s, PFMA(PK(M_DEGREES_HI) * z, m_asin_tail(z), PK(M_DEGREES_LO)), PFMA(s, PK(M_DEGREES_HI), -y));
    return y;
}

/* acos in degrees; sine_square: (1 - |c|) / 2. */
FN pack m_arc(pack c, pack sine_square)
{
    const pmask middle = m_abs(c) <= PK(0.5);
    pack low, y = m_asin_near(PSELECT(middle, c, PSQRT(sine_square)), &low);
    const pack outer = PK(2.0) * (y + low);
    return PSELECT(middle, (PK(90.0) - y) - low, PSELECT(c < PK(0.0), PK(180.0) - outer, outer));
}

/* NaN outside -1 .. 1. */
FN pack m_acos_degrees(pack c)
{
    const pmask known = m_abs(c) <= PK(1.0);
    const pack inside = PSELECT(known, m_flush(c), PK(0.0));
    return PSELECT(known, m_arc(inside, PFMA(m_abs(inside), PK(-0.5), PK(0.5))), M_NAN);
}

/* 0 to 90 degrees, x = sin^2; NaN outside 0 .. 1. */
FN pack m_asin_root_degrees(pack x)
{
    const pack flushed = m_flush(x);
    const pmask known = AND(flushed >= PK(0.0), flushed <= PK(1.0));
    const pack inside = PSELECT(known, flushed, PK(0.0)), rest = PK(1.0) - inside;
    return PSELECT(
        known, PK(0.5) * m_arc(PFMA(PK(-2.0), inside, PK(1.0)), PSELECT(inside < rest, inside, rest)), M_NAN);
}
