/* modifier_normsys.c: an interpolated factor; normal constraint. */
#include "histfactory/histfactory_arrays.h"
#include "histfactory/modifiers/modifier_numbers.h"

#include <string.h>

static bool acts(const struct hf_modifier *modifier, const struct hf_sample *sample, uint32_t n_bins)
{
    (void)sample;
    (void)n_bins;
    return modifier->hi_template || modifier->lo_template || modifier->hi != 1.0 || modifier->lo != 1.0;
}

const struct hf_modifier_kind hf_modifier_normsys = {.name = "normsys",
                                                     .data = HF_DATA_HI_LO,
                                                     .action = HF_INTERPOLATED_FACTOR,
                                                     .constraint = HF_GAUSSIAN,
                                                     .shares = HF_BIT(HF_NORMSYS) | HF_BIT(HF_HISTOSYS),
                                                     .lower = -5.0,
                                                     .upper = 5.0,
                                                     .acts = acts};

static bool is_exponential(paritas_normsys_code code)
{
    return code == PARITAS_NORMSYS_CODE_1 || code == PARITAS_NORMSYS_CODE_4;
}

/* What the polynomial matches: a variation, and its first and second derivative by the parameter. */
struct variation {
    double value, slope, curve;
};

/* The polynomial is `up` at a = 1, `down` at a = -1, `middle` at 0. Linear in all numbers. */
static void match(struct variation up, struct variation down, double middle, double c[6])
{
    const double even = 0.5 * (up.value + down.value) - middle, odd = 0.5 * (up.value - down.value);
    const double even1 = 0.5 * (up.slope - down.slope), odd1 = 0.5 * (up.slope + down.slope),
                 even2 = 0.5 * (up.curve + down.curve), odd2 = 0.5 * (up.curve - down.curve);
    c[4] = (odd2 - 3.0 * (odd1 - odd)) / 8.0;
    c[2] = 0.5 * (odd1 - odd) - 2.0 * c[4];
    c[0] = odd - c[2] - c[4];
    c[5] = (even2 - 5.0 * even1 + 8.0 * even) / 8.0;
    c[3] = 0.5 * (even1 - 2.0 * even) - 2.0 * c[5];
    c[1] = even - c[3] - c[5];
}

/* Of 0 none is needed: 0 times a logarithm is 0 in the limit, and beyond the edge stands a line. */
static double log_of(double factor)
{
    return factor > 0.0 ? host_log(factor) : 0.0;
}

/* hi^a at a = 1. */
static struct variation upward(double hi, double log_hi)
{
    const double slope = hi * log_hi;
    return (struct variation){hi, slope, slope * log_hi};
}
/* lo^-a at a = -1. */
static struct variation downward(double lo, double log_lo)
{
    return (struct variation){lo, -lo * log_lo, lo * log_lo * log_lo};
}

/* hi^a and lo^-a, and between -1 and 1 the polynomial that matches them. */
static void put_exponential(double hi, double lo, double *c)
{
    const double log_hi = log_of(hi), log_lo = log_of(lo);
    match(upward(hi, log_hi), downward(lo, log_lo), 1.0, c);
    c[HF_NORMSYS_UP] = log_hi;
    c[HF_NORMSYS_DOWN] = log_lo;
    c[HF_NORMSYS_LINEAR] =
        hi > 0.0 ? (lo > 0.0 ? HF_LINE_NONE : HF_LINE_DOWN) : (lo > 0.0 ? HF_LINE_UP : HF_LINE_BOTH);
}

static void put_linear(double hi, double lo, paritas_normsys_code code, double *c)
{
    const double even = 0.5 * (hi + lo) - 1.0, odd = 0.5 * (hi - lo);
    c[HF_NORMSYS_LINEAR] = HF_LINE_BOTH;
    c[HF_NORMSYS_OFFSET] = 1.0;
    c[HF_NORMSYS_BOUND] = code == PARITAS_NORMSYS_CODE_0 ? 0.0 : 1.0;
    c[HF_NORMSYS_UP] = hi - 1.0;
    c[HF_NORMSYS_DOWN] = lo - 1.0;
    c[0] = odd;
    if (code == PARITAS_NORMSYS_CODE_6) { /* as a histosys with 4p */
        c[1] = 1.875 * even;
        c[3] = -1.25 * even;
        c[5] = 0.375 * even;
    } else if (code == PARITAS_NORMSYS_CODE_2C) {
        c[1] = even;
        c[HF_NORMSYS_OFFSET] = 1.0 - even;
        c[HF_NORMSYS_UP] = 2.0 * even + odd;
        c[HF_NORMSYS_DOWN] = 2.0 * even - odd;
    }
}

/* lo^-a and hi^a joined at -1/2 and 1/2: ln v = ((hi' - lo') + S(2 a) (hi' + lo')) a / 2 with logarithms hi',
 * lo' and S(z) = (3 z^5 - 10 z^3 + 15 z) / 8. */
static void put_lnN(double hi, double lo, double *c)
{
    const double log_hi = host_log(hi), log_lo = host_log(lo), even = log_hi + log_lo;
    c[0] = 0.5 * (log_hi - log_lo);
    c[1] = 1.875 * even;
    c[3] = -5.0 * even;
    c[5] = 6.0 * even;
    c[HF_NORMSYS_UP] = log_hi;
    c[HF_NORMSYS_DOWN] = log_lo;
    c[HF_NORMSYS_BOUND] = 0.5;
    c[HF_NORMSYS_LINEAR] = HF_LINE_INNER;
}

/* Numbers of a factor in the order of enum hf_normsys_number. */
static void factor_numbers(double hi, double lo, paritas_normsys_code code, double *c)
{
    memset(c, 0, HF_NORMSYS_OWN_NUMBERS * sizeof *c);
    if (is_exponential(code)) {
        put_exponential(hi, lo, c);
        c[HF_NORMSYS_BOUND] = code == PARITAS_NORMSYS_CODE_1 ? 0.0 : 1.0;
    } else if (code == PARITAS_NORMSYS_CODE_LNN) {
        put_lnN(hi, lo, c);
    } else {
        put_linear(hi, lo, code, c);
    }
}

bool hf_factor_takes_zero(paritas_normsys_code code)
{
    return code != PARITAS_NORMSYS_CODE_1 && code != PARITAS_NORMSYS_CODE_LNN;
}

size_t hf_factor_count(unsigned model_code)
{
    return HF_NORMSYS_KINDS(model_code);
}

void hf_put_factor(unsigned model_code, paritas_normsys_code code, double hi, double lo, double *table,
                   uint32_t entry)
{
    double c[HF_NORMSYS_OWN_NUMBERS], *to = table + HF_NORMSYS_AT(model_code, entry);
    factor_numbers(hi, lo, code, c);
    for (size_t i = model_code == PARITAS_NORMSYS_CODE_1 ? HF_NORMSYS_UP : 0; i < hf_factor_count(model_code);
         i++)
        to[8 * i] = c[i];
}

/* c1 a + ... + c6 a^6, and its derivative. */
static double polynomial(const double c[6], double a, double *slope)
{
    double value = 0.0;
    *slope = 0.0;
    for (size_t k = 6; k-- > 0;) {
        *slope = *slope * a + value;
        value = value * a + c[k];
    }
    *slope = *slope * a + value;
    return value * a;
}

/* By one of hi and lo: w = V'/V, its derivatives by the parameter and by the same number; V' and V'' as
 * polynomials. */
static void slopes_inside(const double by[6], const double by_twice[6], double a, double v, double turn,
                          double *w, double *w_turn, double *w_same)
{
    double slope, ignored;
    *w = polynomial(by, a, &slope) / v;
    *w_turn = slope / v - *w * turn;
    *w_same = polynomial(by_twice, a, &ignored) / v - *w * *w;
}

/* v - 1 of a linear code before it stays at 0, and its derivative by the parameter. */
static double linear_excess(double hi, double lo, paritas_normsys_code code, double a, double *slope)
{
    double c[HF_NORMSYS_OWN_NUMBERS];
    factor_numbers(hi, lo, code, c);
    if (a < c[HF_NORMSYS_BOUND] && a > -c[HF_NORMSYS_BOUND]) return polynomial(c, a, slope);
    *slope = a >= 0.0 ? c[HF_NORMSYS_UP] : -c[HF_NORMSYS_DOWN];
    return (c[HF_NORMSYS_OFFSET] - 1.0) + *slope * a;
}

/* v is linear in hi and lo: v = 1 + (hi - 1) V(2, 1) + (lo - 1) V(1, 2), V the excess. */
static struct hf_factor_slopes linear_slopes(paritas_normsys_code code, double hi, double lo, double a)
{
    struct hf_factor_slopes s = {0};
    double slope, slope_hi, slope_lo;
    const double v = 1.0 + linear_excess(hi, lo, code, a, &slope),
                 by_hi = linear_excess(2.0, 1.0, code, a, &slope_hi),
                 by_lo = linear_excess(1.0, 2.0, code, a, &slope_lo);
    if (!(v > 0.0)) return s;
    s.by_hi = by_hi / v;
    s.by_lo = by_lo / v;
    s.by_hi_turn = slope_hi / v - s.by_hi * slope / v;
    s.by_lo_turn = slope_lo / v - s.by_lo * slope / v;
    s.by_hi_hi = -s.by_hi * s.by_hi;
    s.by_hi_lo = -s.by_hi * s.by_lo;
    s.by_lo_lo = -s.by_lo * s.by_lo;
    return s;
}

/* ln v = (a + e) ln(hi) / 2 + (e - a) ln(lo) / 2 with e = S(2 a) a. */
static struct hf_factor_slopes lnN_slopes(double hi, double lo, double a)
{
    const double z = 2.0 * a, z2 = z * z, size = a < 0.0 ? -a : a, side = a < 0.0 ? -1.0 : 1.0;
    const bool inner = size < 0.5;
    const double e = inner ? a * z * (15.0 + z2 * (3.0 * z2 - 10.0)) / 8.0 : size,
                 slope = inner ? z * (30.0 + z2 * (18.0 * z2 - 40.0)) / 8.0 : side;
    const double up = 0.5 * (a + e), down = 0.5 * (e - a);
    return (struct hf_factor_slopes){.by_hi = up / hi,
                                     .by_lo = down / lo,
                                     .by_hi_turn = 0.5 * (1.0 + slope) / hi,
                                     .by_lo_turn = 0.5 * (slope - 1.0) / lo,
                                     .by_hi_hi = -up / (hi * hi),
                                     .by_lo_lo = -down / (lo * lo)};
}

struct hf_factor_slopes hf_normsys_slopes(paritas_normsys_code code, double hi, double lo, double a)
{
    struct hf_factor_slopes s = {0};
    if (code == PARITAS_NORMSYS_CODE_LNN) return lnN_slopes(hi, lo, a);
    if (!is_exponential(code)) return linear_slopes(code, hi, lo, a);
    if (code == PARITAS_NORMSYS_CODE_4 && a < 1.0 && a > -1.0) {
        const struct variation none = {0};
        const double log_hi = log_of(hi), log_lo = log_of(lo);
        double c[6], by[6], by_twice[6], slope;
        match(upward(hi, log_hi), downward(lo, log_lo), 1.0, c);
        const double v = 1.0 + polynomial(c, a, &slope), turn = slope / v;
        match((struct variation){1.0, log_hi + 1.0, log_hi * (log_hi + 2.0)}, none, 0.0, by);
        match((struct variation){0.0, 1.0 / hi, 2.0 * (log_hi + 1.0) / hi}, none, 0.0, by_twice);
        slopes_inside(by, by_twice, a, v, turn, &s.by_hi, &s.by_hi_turn, &s.by_hi_hi);
        match(none, (struct variation){1.0, -log_lo - 1.0, log_lo * (log_lo + 2.0)}, 0.0, by);
        match(none, (struct variation){0.0, -1.0 / lo, 2.0 * (log_lo + 1.0) / lo}, 0.0, by_twice);
        slopes_inside(by, by_twice, a, v, turn, &s.by_lo, &s.by_lo_turn, &s.by_lo_lo);
        s.by_hi_lo = -s.by_hi * s.by_lo;
    } else if (a >= 0.0) { /* ln v = a ln hi */
        s = (struct hf_factor_slopes){.by_hi = a / hi, .by_hi_turn = 1.0 / hi, .by_hi_hi = -a / (hi * hi)};
    } else { /* ln v = -a ln lo */
        s = (struct hf_factor_slopes){.by_lo = -a / lo, .by_lo_turn = -1.0 / lo, .by_lo_lo = a / (lo * lo)};
    }
    return s;
}
