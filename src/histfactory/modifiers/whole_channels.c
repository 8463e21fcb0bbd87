/* whole_channels.c: what needs a channel's bins together, and factors a bin that would cut it.
 *
 * A shape's total is a sum over bins. An mcstat follows factors of samples, not of bins; a linear total is
 * such a factor. */
#include "histfactory/modifiers/modifier_numbers.h"
#include "histfactory/workspace/workspace_read.h"

/* What the channel has of both, for messages; NULL: nothing. */
static const char *find_need(const struct hf_channel *channel)
{
    const char *need = NULL;
    for (uint32_t s = 0; s < channel->n_samples; s++) {
        if (hf_find_type(&channel->samples[s], HF_MCSTAT)) return "an mcstat";
        if (channel->samples[s].shape.total > 0.0) need = "a shape with a total";
    }
    return need;
}

/* Another channel with the set; NULL: none. */
static const struct hf_channel *shared_with(const struct hf_spec *spec, const struct hf_channel *channel,
                                            uint32_t set)
{
    for (const struct hf_channel *other = spec->channels; other < spec->channels + spec->n_channels; other++)
        for (uint32_t s = 0; other != channel && s < other->n_samples; s++)
            for (uint32_t m = 0; m < other->samples[s].n_modifiers; m++)
                if (other->samples[s].modifiers[m].set == set) return other;
    return NULL;
}

static paritas_status check_factor(const struct hf_raw *raw, const struct hf_spec *spec,
                                   const struct hf_use *use, const char *need)
{
    const struct hf_modifier *m = use->modifier;
    const struct hf_channel *other =
        m->type == HF_SHAPEFACTOR ? shared_with(spec, use->channel, m->set) : NULL;
    if (m->type == HF_MCSTAT && use->sample->shape.total > 0.0 && !use->sample->shape.logarithmic)
        return hf_refuse_use(raw, use, "", HF_NONE,
                             "a sample whose shape has a total cannot have an mcstat, whose errors do not "
                             "follow shapes: leave the total out, or make the shape logarithmic");
    if (hf_multiplies_bins(m))
        return hf_refuse_use(raw, use, "", HF_NONE,
                             "a histosys of code 1, 5 or 6 and %s cannot act in one channel: give it code 0, "
                             "2, 2c or 4p",
                             need);
    if (other)
        return hf_refuse_use(raw, use, "", HF_NONE,
                             "a shapefactor that the channel \"%.200s\" has, too, and %s cannot act in one "
                             "channel: give it another name there",
                             other->name, need);
    return PARITAS_OK;
}

paritas_status hf_whole_channels_check(paritas_context *context, const paritas_workspace *workspace,
                                       const struct hf_spec *spec)
{
    const struct hf_raw raw = {.source = {context, workspace->label}};
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *channel = &spec->channels[c];
        const char *need = find_need(channel);
        for (uint32_t s = 0; need && s < channel->n_samples; s++)
            for (uint32_t m = 0; m < channel->samples[s].n_modifiers; m++)
                TRY(check_factor(
                    &raw, spec,
                    &(struct hf_use){channel, &channel->samples[s], &channel->samples[s].modifiers[m]},
                    need));
    }
    return PARITAS_OK;
}
