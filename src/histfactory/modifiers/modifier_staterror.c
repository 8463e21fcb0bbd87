/* modifier_staterror.c: a factor a bin, shared by samples of a channel; normal constraint, or Poisson. */
#include "histfactory/modifiers/modifier_numbers.h"
#include "histfactory/workspace/workspace_read.h"

#include <string.h>

/* `there`: of a channel of the set without the carrier's sample. */
static paritas_status refuse_carrier(const struct hf_raw *raw, const struct hf_set *set,
                                     const struct hf_spread *carrier, const struct hf_spread *there)
{
    return hf_refuse_use(raw, &carrier->use, "", HF_NONE,
                         "the staterror \"%.200s\" is carried by this sample here but not in channels[%u] "
                         "(\"%.200s\"), where it is used too",
                         set->name, there->use.channel->index, there->use.channel->name);
}

/* All channels of a set need the same carriers. A channel's spreads are sorted by sample. */
static paritas_status check_carriers(const struct hf_raw *raw, const struct hf_set *set,
                                     const struct hf_spread *spreads)
{
    const struct hf_spread *others = spreads;
    while (others && others->use.channel == spreads->use.channel) others = others->next;
    const struct hf_spread *const end = others;
    while (others) {
        const struct hf_spread *wanted = spreads, *const there = others;
        for (; wanted != end || (others && others->use.channel == there->use.channel);
             wanted = wanted->next) {
            const bool here = others && others->use.channel == there->use.channel;
            const int order = wanted == end ? 1
                              : !here       ? -1
                                            : strcmp(wanted->use.sample->name, others->use.sample->name);
            if (order > 0) return refuse_carrier(raw, set, others, spreads);
            if (order < 0) return refuse_carrier(raw, set, wanted, there);
            others = others->next;
        }
    }
    return PARITAS_OK;
}

/* Sums in the order of sample names, as pyhf. */
static paritas_status fill(const struct hf_raw *raw, struct hf_set *set, const struct hf_spread *spreads)
{
    TRY(check_carriers(raw, set, spreads));
    double *total = arena_array(raw->scratch, set->size, 2 * sizeof *total);
    if (!total) return paritas_fail_memory(raw->source.context);
    double *relative = total + set->size;
    for (const struct hf_spread *spread = spreads; spread; spread = spread->next)
        for (uint32_t k = 0; k < spread->use.channel->n_bins; k++)
            total[spread->use.modifier->first + k] += spread->use.sample->data[k];
    for (const struct hf_spread *spread = spreads; spread; spread = spread->next)
        for (uint32_t k = 0; k < spread->use.channel->n_bins; k++) {
            const uint32_t element = spread->use.modifier->first + k;
            const double sum = relative[element] +
                               hf_square_of_relative(spread->use.modifier->uncertainty[k], total[element]);
            if (!hf_is_variance(sum) || (set->tau && sum > 0.0 && !hf_is_tau(1.0 / sum)))
                return hf_refuse_spread(raw, spread, k, "the relative uncertainty");
            relative[element] = sum;
            set->fixed[element] = !(sum > 0.0);
            hf_put_constraint(set, element, sum, sum > 0.0 ? 1.0 / sum : 1.0);
        }
    return PARITAS_OK;
}

const struct hf_modifier_kind hf_modifier_staterror = {.name = "staterror",
                                                       .data = HF_DATA_BINS,
                                                       .action = HF_FACTORS,
                                                       .extent = HF_EACH_BIN_OF_EACH,
                                                       .constraint = HF_GAUSSIAN,
                                                       .shares = HF_BIT(HF_STATERROR),
                                                       .sigma_given = true,
                                                       .init = 1.0,
                                                       .lower = 1e-10,
                                                       .upper = 10.0,
                                                       .aux = 1.0,
                                                       .fill = fill};
