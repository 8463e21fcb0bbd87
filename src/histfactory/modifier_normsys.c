/* modifier_normsys.c: an interpolated factor; normal constraint. */
#include "histfactory/modifier_numbers.h"

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

void hf_put_coefficients(unsigned code, double hi, double lo, double *to, size_t step)
{
    const double log_hi = host_log(hi), log_lo = host_log(lo);
    double c[6];
    match(upward(hi, log_hi), downward(lo, log_lo), 1.0, c);
    for (size_t i = 0; i < 6 && code == 4; i++) to[i * step] = c[i];
    to[6 * step] = log_hi;
    to[7 * step] = log_lo;
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

struct hf_factor_slopes hf_normsys_slopes(unsigned code, double hi, double lo, double a)
{
    struct hf_factor_slopes s = {0};
    if (code == 4 && a < 1.0 && a > -1.0) {
        const struct variation none = {0};
        const double log_hi = host_log(hi), log_lo = host_log(lo);
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
