/* modifier_mcstat.c: the statistical error of a bin's templates, added to its rate; normal constraint. */
#include "histfactory/modifiers/modifier_numbers.h"
#include "histfactory/workspace/workspace_read.h"

/* Without an error in any sample a parameter does nothing. */
static void hold(struct hf_set *set, const struct hf_spread *spreads)
{
    for (uint32_t k = 0; k < set->size; k++) set->fixed[k] = 1;
    for (const struct hf_spread *spread = spreads; spread; spread = spread->next)
        for (uint32_t k = 0; k < set->size; k++)
            if (spread->use.modifier->uncertainty[k] > 0.0) set->fixed[k] = 0;
}

static paritas_status refuse_other(const struct hf_raw *raw, const struct hf_use *use,
                                   const struct hf_name *other)
{
    return hf_refuse_use(raw, use, "name", HF_NONE,
                         "a channel has one mcstat, here \"%.200s\", found \"%.200s\": give all samples of "
                         "the channel the same name",
                         other->text, use->modifier->key->text);
}

/* One name a channel, and a channel of its own. */
static paritas_status check(const struct hf_raw *raw, const struct hf_use *use)
{
    const struct hf_use *first = &use->modifier->key->first_use;
    char found[32];
    for (uint32_t k = 0; k < use->sample->n_bins; k++)
        if (!(use->modifier->uncertainty[k] >= 0.0))
            return hf_refuse_use(raw, use, "data", k, "an error must not be negative, found %s",
                                 hf_number(use->modifier->uncertainty[k], found));
    if (first->channel != use->channel)
        return hf_refuse_use(raw, use, "name", HF_NONE,
                             "the mcstat \"%.200s\" is also in channels[%u]; give each channel its own name",
                             use->modifier->key->text, first->channel->index);
    for (const struct hf_sample *sample = use->channel->samples; sample <= use->sample; sample++)
        for (uint32_t m = 0; m < sample->n_modifiers; m++) {
            const struct hf_modifier *other = &sample->modifiers[m];
            if (other->type == HF_MCSTAT && other->key != use->modifier->key)
                return refuse_other(raw, use, other->key);
        }
    return PARITAS_OK;
}

const struct hf_modifier_kind hf_modifier_mcstat = {.name = "mcstat",
                                                    .data = HF_DATA_BINS,
                                                    .action = HF_BIN_ERRORS,
                                                    .extent = HF_EACH_BIN,
                                                    .constraint = HF_GAUSSIAN,
                                                    .shares = HF_BIT(HF_MCSTAT),
                                                    .lower = -7.0,
                                                    .upper = 7.0,
                                                    .hold = hold,
                                                    .check = check};
