/* oracle.c: the numeric functions in MPFR, with as many digits as cancellation and tails may cost. */
#include "oracle.h"

#include "numeric_variant.h"
#include <math.h>
#include <mpfr.h>

/* y = the distribution function of the normal distribution at x */
static void normal_cdf(mpfr_t y, const mpfr_t x)
{
    mpfr_t root;
    mpfr_init2(root, mpfr_get_prec(y));
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(y, x, root, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(y, y, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_clear(root);
}

/* y = sine or cosine of x degrees, exact where it is 0 or 1: x less its multiples of 90 is. */
static void of_degrees(mpfr_t y, const mpfr_t x, int cosine)
{
    mpfr_t k, rest;
    mpfr_inits2(160, k, rest, (mpfr_ptr)0);
    mpfr_div_ui(k, x, 90, MPFR_RNDN);
    mpfr_rint(k, k, MPFR_RNDN);
    mpfr_mul_ui(rest, k, 90, MPFR_RNDN);
    mpfr_sub(rest, x, rest, MPFR_RNDN);
    /* cos x = sin(x + 90) */
    const unsigned quarter = ((unsigned)mpfr_get_si(k, MPFR_RNDN) + (cosine ? 1 : 0)) % 4;
    mpfr_const_pi(k, MPFR_RNDN);
    mpfr_mul(rest, rest, k, MPFR_RNDN);
    mpfr_div_ui(rest, rest, 180, MPFR_RNDN);
    if (quarter % 2)
        mpfr_cos(y, rest, MPFR_RNDN);
    else
        mpfr_sin(y, rest, MPFR_RNDN);
    if (quarter > 1) mpfr_neg(y, y, MPFR_RNDN);
    mpfr_clears(k, rest, (mpfr_ptr)0);
}

static void radians_to_degrees(mpfr_t y)
{
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(y));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_div(y, y, pi, MPFR_RNDN);
    mpfr_mul_ui(y, y, 180, MPFR_RNDN);
    mpfr_clear(pi);
}

static void evaluate(int function, mpfr_t y, mpfr_t x)
{
    switch (function) {
    case index_m_sin_degrees:
    case index_m_cos_degrees:
        of_degrees(y, x, function == index_m_cos_degrees);
        break;
    case index_m_acos_degrees:
        mpfr_acos(y, x, MPFR_RNDN);
        radians_to_degrees(y);
        break;
    case index_m_asin_root_degrees:
        mpfr_sqrt(y, x, MPFR_RNDN);
        mpfr_asin(y, y, MPFR_RNDN);
        radians_to_degrees(y);
        break;
    case index_m_exp:
        mpfr_exp(y, x, MPFR_RNDN);
        break;
    case index_m_log:
        mpfr_log(y, x, MPFR_RNDN);
        break;
    case index_m_log1p:
        mpfr_log1p(y, x, MPFR_RNDN);
        break;
    case index_m_deviance:
        mpfr_log1p(y, x, MPFR_RNDN);
        mpfr_sub(y, x, y, MPFR_RNDN);
        break;
    case index_m_erf:
        mpfr_erf(y, x, MPFR_RNDN);
        break;
    case index_m_erfc:
        mpfr_erfc(y, x, MPFR_RNDN);
        break;
    case index_m_lgamma:
        mpfr_lngamma(y, x, MPFR_RNDN);
        break;
    case index_m_normal_cdf:
        normal_cdf(y, x);
        break;
    default: /* m_log_normal_cdf */
        if (mpfr_sgn(x) < 0) {
            normal_cdf(y, x);
            mpfr_log(y, y, MPFR_RNDN);
        } else {
            mpfr_neg(x, x, MPFR_RNDN);
            normal_cdf(y, x);
            mpfr_neg(y, y, MPFR_RNDN);
            mpfr_log1p(y, y, MPFR_RNDN);
        }
    }
}

/* One unit in the last place of a number whose exponent (MPFR's, of 1/2 <= m < 1) is e. */
static double unit(long e, int digits)
{
    long least = digits == 53 ? -1074 : -149;
    return ldexp(1.0, (int)(e - digits < least ? least : e - digits));
}

/* The quantile's error follows from the probability of what was returned, to first order. */
static struct oracle_error quantile_error(int digits, double p, double got)
{
    struct oracle_error error = {0.0, 0.0};
    if (!isfinite(got)) {
        int due = p == 0.0 ? got < 0.0 : p == 1.0 ? got > 0.0 : (p > 0.0 && p < 1.0) ? 0 : isnan(got);
        if (!due) error.ulp = error.absolute = INFINITY;
        return error;
    }
    mpfr_t x, y, z;
    mpfr_inits2(160, x, y, z, (mpfr_ptr)0);
    mpfr_set_d(x, got, MPFR_RNDN);
    normal_cdf(y, x);
    mpfr_sub_d(y, y, p, MPFR_RNDN);
    mpfr_sqr(x, x, MPFR_RNDN);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_const_pi(z, MPFR_RNDN);
    mpfr_mul_2ui(z, z, 1, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_mul(y, y, z, MPFR_RNDN);
    error.absolute = fabs(mpfr_get_d(y, MPFR_RNDN));
    int e;
    frexp(got, &e);
    error.ulp = error.absolute / unit(got == 0.0 ? -2000 : e, digits);
    mpfr_clears(x, y, z, (mpfr_ptr)0);
    return error;
}

struct oracle_error oracle_error(int function, int digits, double argument, double got)
{
    if (function == index_m_normal_quantile) return quantile_error(digits, argument, got);
    struct oracle_error error = {0.0, 0.0};
    int outside = isnan(argument) || (function == index_m_log && argument < 0.0) ||
                  (function == index_m_lgamma && argument < 0.0) ||
                  ((function == index_m_log1p || function == index_m_deviance) && argument < -1.0) ||
                  ((function == index_m_sin_degrees || function == index_m_cos_degrees) &&
                   fabs(argument) > (digits == 53 ? 1e14 : 1e6)) ||
                  (function == index_m_acos_degrees && fabs(argument) > 1.0) ||
                  (function == index_m_asin_root_degrees && !(argument >= 0.0 && argument <= 1.0));
    int smallest = digits == 53 ? -1074 : -126; /* f32 functions return zero for what is subnormal */
    int e = 0;
    if (isfinite(argument)) frexp(argument, &e);
    mpfr_t x, y;
    mpfr_init2(x, 64);
    mpfr_init2(y, function == index_m_deviance     ? 130 - 3 * (e < 0 ? e : 0)
                  : function >= index_m_normal_cdf ? 160
                                                   : 96);
    mpfr_set_d(x, argument, MPFR_RNDN);
    if (function == index_m_deviance && isinf(argument))
        mpfr_set_d(y, argument, MPFR_RNDN);
    else if (!outside)
        evaluate(function, y, x);
    if (outside) {
        if (!isnan(got)) error.ulp = error.absolute = INFINITY;
    } else if (mpfr_inf_p(y)) {
        if (!isinf(got) || (got < 0.0) != (mpfr_sgn(y) < 0)) error.ulp = error.absolute = INFINITY;
    } else if (mpfr_zero_p(y)) {
        if (got != 0.0) error.ulp = error.absolute = INFINITY;
    } else if (isnan(got)) {
        error.ulp = error.absolute = INFINITY;
    } else {
        double one = unit(mpfr_get_exp(y), digits);
        int flushed = digits == 24 && mpfr_get_exp(y) <= smallest;
        /* beyond the largest number infinity stands for the next power of two */
        int top = digits == 53 ? 1024 : 128;
        if (mpfr_get_exp(y) > top) {
            if (!isinf(got) || (got < 0.0) != (mpfr_sgn(y) < 0)) error.ulp = error.absolute = INFINITY;
        } else if (flushed && got == 0.0) {
            error.ulp = 0.0;
        } else {
            mpfr_t g;
            mpfr_init2(g, 64);
            if (isinf(got))
                mpfr_set_si_2exp(g, got < 0.0 ? -1 : 1, top, MPFR_RNDN);
            else
                mpfr_set_d(g, got, MPFR_RNDN);
            mpfr_sub(y, y, g, MPFR_RNDN);
            error.absolute = fabs(mpfr_get_d(y, MPFR_RNDN));
            mpfr_set_d(g, one, MPFR_RNDN);
            mpfr_div(y, y, g, MPFR_RNDN);
            error.ulp = fabs(mpfr_get_d(y, MPFR_RNDN));
            mpfr_clear(g);
        }
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    return error;
}

void oracle_close(void)
{
    mpfr_free_cache();
}
