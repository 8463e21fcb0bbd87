/* modifier_shapesys.c: a factor a bin of one sample; Poisson constraint, or normal. */
#include "histfactory/modifiers/modifier_numbers.h"
#include "histfactory/workspace/workspace_read.h"

/* A negative one would be taken as none, and its parameter held. */
static paritas_status check(const struct hf_raw *raw, const struct hf_use *use)
{
    char found[32];
    for (uint32_t b = 0; b < use->modifier->n_hi; b++)
        if (use->modifier->uncertainty[b] < 0.0)
            return hf_refuse_use(raw, use, "data", b, "must not be negative, found %s: give its size",
                                 hf_number(use->modifier->uncertainty[b], found));
    return PARITAS_OK;
}

static paritas_status fill(const struct hf_raw *raw, struct hf_set *set, const struct hf_spread *spread)
{
    for (uint32_t k = 0; k < spread->use.channel->n_bins; k++) {
        const double rate = spread->use.sample->data[k], uncertainty = spread->use.modifier->uncertainty[k],
                     tau = hf_tau_of(rate, uncertainty);
        if (!hf_is_tau(tau) || (set->sigma && !hf_is_variance(1.0 / tau)))
            return hf_refuse_spread(raw, spread, k, "tau = (rate / uncertainty)^2");
        hf_put_constraint(set, k, hf_tau_is_alive(rate, uncertainty) ? 1.0 / tau : 0.0, tau);
        set->fixed[k] = !hf_tau_is_alive(rate, uncertainty);
    }
    return PARITAS_OK;
}

const struct hf_modifier_kind hf_modifier_shapesys = {.name = "shapesys",
                                                      .data = HF_DATA_BINS,
                                                      .action = HF_FACTORS,
                                                      .extent = HF_EACH_BIN,
                                                      .constraint = HF_POISSON,
                                                      .init = 1.0,
                                                      .lower = 1e-10,
                                                      .upper = 10.0,
                                                      .aux = 1.0,
                                                      .check = check,
                                                      .fill = fill};
