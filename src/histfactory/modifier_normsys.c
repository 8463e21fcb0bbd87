/* modifier_normsys.c: an interpolated factor; normal constraint. */
#include "histfactory/modifier_numbers.h"

static bool acts(const struct hf_modifier *modifier, const struct hf_sample *sample, uint32_t n_bins)
{
    (void)sample;
    (void)n_bins;
    return modifier->hi != 1.0 || modifier->lo != 1.0;
}

const struct hf_modifier_kind hf_modifier_normsys = {.name = "normsys",
                                                     .data = HF_DATA_HI_LO,
                                                     .action = HF_INTERPOLATED_FACTOR,
                                                     .constraint = HF_GAUSSIAN,
                                                     .shares = HF_BIT(HF_NORMSYS) | HF_BIT(HF_HISTOSYS),
                                                     .lower = -5.0,
                                                     .upper = 5.0,
                                                     .acts = acts};

/* The polynomial matches hi^a at a = 1, lo^-a at a = -1: value and two derivatives. */
void hf_normsys_coefficients(const struct hf_modifier *modifier, double c[8])
{
    const double hi = modifier->hi, lo = modifier->lo, log_hi = host_log(hi), log_lo = host_log(lo);
    const double up1 = hi * log_hi, down1 = -lo * log_lo, up2 = up1 * log_hi, down2 = lo * log_lo * log_lo;
    const double even = 0.5 * (hi + lo) - 1.0, odd = 0.5 * (hi - lo);
    const double even1 = 0.5 * (up1 - down1), odd1 = 0.5 * (up1 + down1), even2 = 0.5 * (up2 + down2),
                 odd2 = 0.5 * (up2 - down2);
    c[4] = (odd2 - 3.0 * (odd1 - odd)) / 8.0;
    c[2] = 0.5 * (odd1 - odd) - 2.0 * c[4];
    c[0] = odd - c[2] - c[4];
    c[5] = (even2 - 5.0 * even1 + 8.0 * even) / 8.0;
    c[3] = 0.5 * (even1 - 2.0 * even) - 2.0 * c[5];
    c[1] = even - c[3] - c[5];
    c[6] = log_hi;
    c[7] = log_lo;
}
