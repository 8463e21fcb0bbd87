/* modifier_normsys.c: an interpolated factor; normal constraint. */
#include "histfactory/histfactory_arrays.h"
#include "histfactory/modifier_numbers.h"

#include <string.h>

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

/* Matches hi^a at a = 1, lo^-a at a = -1: value and two derivatives. */
static void put_exponential(double hi, double lo, double *c)
{
    const double log_hi = host_log(hi), log_lo = host_log(lo);
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
    c[HF_NORMSYS_UP] = log_hi;
    c[HF_NORMSYS_DOWN] = log_lo;
}

static void put_linear(double hi, double lo, paritas_normsys_code code, double *c)
{
    const double even = 0.5 * (hi + lo) - 1.0, odd = 0.5 * (hi - lo);
    c[HF_NORMSYS_LINEAR] = c[HF_NORMSYS_OFFSET] = 1.0;
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

void hf_factor_numbers(double hi, double lo, paritas_normsys_code code, double *c)
{
    memset(c, 0, HF_NORMSYS_OWN_NUMBERS * sizeof *c);
    if (code == PARITAS_NORMSYS_CODE_1 || code == PARITAS_NORMSYS_CODE_4) {
        put_exponential(hi, lo, c);
        c[HF_NORMSYS_BOUND] = code == PARITAS_NORMSYS_CODE_1 ? 0.0 : 1.0;
    } else {
        put_linear(hi, lo, code, c);
    }
}
