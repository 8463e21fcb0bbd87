/* workspace_read.c: from a document of the right shape to a spec: what the model means is checked in file order, then
 * channels, samples and modifiers are laid out in pyhf's order. Parameters are the work of parameters.c. */
#include "histfactory/workspace_read.h"

#include <string.h>

/* ---- meaning, in file order ---- */

static paritas_status refuse_modifier(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                                      const char *reason, const char *found)
{
    const struct hf_place root = {NULL, "", HF_NONE}, channel = {&root, "channels", use->channel},
                          sample = {&channel, "samples", use->sample},
                          modifier = {&sample, "modifiers", use->modifier}, at = {&modifier, member, HF_NONE};
    return hf_refuse(raw->context, raw->label, &at, "%s%s", reason, found);
}

static paritas_status refuse_length(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                                    uint32_t found, uint32_t wanted)
{
    const struct hf_place root = {NULL, "", HF_NONE}, channel = {&root, "channels", use->channel},
                          sample = {&channel, "samples", use->sample},
                          modifier = {&sample, "modifiers", use->modifier},
                          at = {use->modifier != HF_NONE ? &modifier : &sample, member, HF_NONE};
    return hf_refuse(
        raw->context, raw->label, &at, "must have %lu bins, as %s, found %lu", (unsigned long)wanted,
        use->modifier != HF_NONE ? "its sample" : "the channel's first sample", (unsigned long)found);
}

/* A name may be shared by normsys and histosys, which have one alpha then, or within one type other than
 * shapesys. */
static paritas_status check_sharing(struct hf_raw *raw, const struct hf_raw_modifier *modifier,
                                    const struct hf_use *use)
{
    const uint32_t alphas = 1U << HF_NORMSYS | 1U << HF_HISTOSYS, bit = 1U << modifier->type;
    struct hf_name *name = &raw->names.items[modifier->name];
    uint32_t types = name->types | bit;
    if (name->types == 0) name->first_use = *use;
    bool twice = modifier->type == HF_SHAPESYS && name->types != 0,
         mixed = types != bit && (types & ~alphas) != 0;
    name->types = types;
    if (!twice && !mixed) return PARITAS_OK;
    const struct hf_use *first = &name->first_use;
    const struct hf_place root = {NULL, "", HF_NONE}, channel = {&root, "channels", use->channel},
                          sample = {&channel, "samples", use->sample},
                          at = {&sample, "modifiers", use->modifier};
    hf_type before = raw->channels[first->channel].samples[first->sample].modifiers[first->modifier].type;
    return hf_refuse(
        raw->context, raw->label, &at,
        "the name \"%.200s\" of this %s is also that of the %s channels[%lu].samples[%lu].modifiers[%lu]; %s",
        name->text, hf_type_name(modifier->type), hf_type_name(before), (unsigned long)first->channel,
        (unsigned long)first->sample, (unsigned long)first->modifier,
        mixed ? "only normsys and histosys may share one" : "a shapesys cannot be shared");
}

static paritas_status check_modifier(struct hf_raw *raw, const struct hf_raw_modifier *modifier,
                                     const struct hf_use *use, uint32_t n_bins)
{
    char found[32];
    switch (modifier->type) {
    case HF_NORMSYS:
        if (!(modifier->hi > 0.0))
            return refuse_modifier(raw, use, "data.hi", "must be a number greater than 0, found ",
                                   hf_number(modifier->hi, found));
        if (!(modifier->lo > 0.0))
            return refuse_modifier(raw, use, "data.lo", "must be a number greater than 0, found ",
                                   hf_number(modifier->lo, found));
        break;
    case HF_HISTOSYS:
        if (modifier->n_values != n_bins)
            return refuse_length(raw, use, "data.hi_data", modifier->n_values, n_bins);
        if (modifier->n_lo_values != n_bins)
            return refuse_length(raw, use, "data.lo_data", modifier->n_lo_values, n_bins);
        break;
    case HF_SHAPESYS:
    case HF_STATERROR:
        if (modifier->n_values != n_bins) return refuse_length(raw, use, "data", modifier->n_values, n_bins);
        break;
    default:
        break;
    }
    return check_sharing(raw, modifier, use);
}

static paritas_status check_channels(struct hf_raw *raw)
{
    uint64_t n_modifiers = 0;
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_raw_channel *channel = &raw->channels[c];
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            const struct hf_raw_sample *sample = &channel->samples[s];
            const struct hf_use sample_use = {c, s, HF_NONE};
            if (sample->n_bins != channel->samples[0].n_bins)
                return refuse_length(raw, &sample_use, "data", sample->n_bins, channel->samples[0].n_bins);
            for (uint32_t m = 0; m < sample->n_modifiers; m++) {
                const struct hf_use use = {c, s, m};
                paritas_status status = check_modifier(raw, &sample->modifiers[m], &use, sample->n_bins);
                if (status != PARITAS_OK) return status;
            }
            n_modifiers += sample->n_modifiers;
        }
    }
    const struct hf_place root = {NULL, "", HF_NONE}, at = {&root, "channels", HF_NONE};
    if (n_modifiers == 0)
        return hf_refuse(raw->context, raw->label, &at,
                         "no sample has a modifier, so the model has no parameter");
    return PARITAS_OK;
}

static paritas_status check_observations(const struct hf_raw *raw)
{
    const struct hf_place root = {NULL, "", HF_NONE}, observations = {&root, "observations", HF_NONE};
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_raw_channel *channel = &raw->channels[c];
        const struct hf_name *name = &raw->names.items[channel->name];
        if (name->observation == 0)
            return hf_refuse(raw->context, raw->label, &observations,
                             "none for the channel \"%.200s\" (channels[%lu])", name->text, (unsigned long)c);
        const struct hf_raw_observation *observation = &raw->observations[name->observation - 1];
        const struct hf_place at = {&root, "observations", name->observation - 1},
                              data = {&at, "data", HF_NONE};
        if (observation->n_bins != channel->samples[0].n_bins)
            return hf_refuse(
                raw->context, raw->label, &data, "must have %lu bins, as the channel \"%.200s\", found %lu",
                (unsigned long)channel->samples[0].n_bins, name->text, (unsigned long)observation->n_bins);
        for (uint32_t k = 0; k < observation->n_bins; k++) {
            char found[32];
            const struct hf_place bin = {&at, "data", k};
            if (observation->data[k] < 0.0)
                return hf_refuse(raw->context, raw->label, &bin, "must not be negative, found %s",
                                 hf_number(observation->data[k], found));
        }
    }
    return PARITAS_OK;
}

/* ---- layout, in pyhf's order ---- */

static struct hf_modifier layout_modifier(const struct hf_raw_modifier *source)
{
    struct hf_modifier modifier = {.type = source->type, .hi = source->hi, .lo = source->lo};
    if (source->type == HF_HISTOSYS) {
        modifier.hi_data = source->values;
        modifier.lo_data = source->lo_values;
    } else {
        modifier.uncertainty = source->values;
    }
    return modifier;
}

static bool layout_sample(const struct hf_raw *raw, const struct hf_raw_sample *source,
                          struct hf_sample *sample)
{
    const struct hf_name *name = &raw->names.items[source->name];
    sample->name = arena_text(raw->keep, name->text, name->length);
    sample->data = source->data;
    sample->n_modifiers = source->n_modifiers;
    sample->modifiers = arena_allocate(raw->keep, (source->n_modifiers != 0 ? source->n_modifiers : 1) *
                                                      sizeof *sample->modifiers);
    if (sample->name == NULL || sample->modifiers == NULL) return false;
    for (uint32_t m = 0; m < source->n_modifiers; m++)
        sample->modifiers[m] = layout_modifier(&source->modifiers[source->order[m]]);
    return true;
}

static bool layout_channels(const struct hf_raw *raw, struct hf_spec *spec)
{
    spec->n_channels = raw->n_channels;
    spec->channels = arena_array(raw->keep, raw->n_channels, sizeof *spec->channels);
    if (spec->channels == NULL) return false;
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_raw_channel *source = &raw->channels[raw->order[c]];
        const struct hf_name *name = &raw->names.items[source->name];
        struct hf_channel *channel = &spec->channels[c];
        channel->name = arena_text(raw->keep, name->text, name->length);
        channel->n_samples = source->n_samples;
        channel->n_bins = source->samples[0].n_bins;
        channel->first_bin = spec->n_main;
        channel->observed = raw->observations[name->observation - 1].data;
        channel->samples = arena_array(raw->keep, source->n_samples, sizeof *channel->samples);
        if (channel->name == NULL || channel->samples == NULL) return false;
        for (uint32_t s = 0; s < source->n_samples; s++)
            if (!layout_sample(raw, &source->samples[source->order[s]], &channel->samples[s])) return false;
        spec->n_main += channel->n_bins;
    }
    return true;
}

/* ---- measurement and POI ---- */

static paritas_status find_measurement(const struct hf_raw *raw, const char *measurement, uint32_t *index)
{
    *index = 0;
    if (measurement == NULL) return PARITAS_OK;
    uint32_t name = hf_names_find(&raw->names, measurement);
    if (name != HF_NONE && raw->names.items[name].measurement != 0) {
        *index = raw->names.items[name].measurement - 1;
        return PARITAS_OK;
    }
    struct text list;
    text_open(&list, &raw->context->allocator);
    for (uint32_t i = 0; i < raw->n_measurements; i++)
        text_format(&list, "%s\"%s\"", i != 0 ? ", " : "", raw->names.items[raw->measurements[i].name].text);
    text_append(&list, "", 1);
    paritas_status status = list.failed ? paritas_fail_memory(raw->context)
                                        : paritas_fail(raw->context, PARITAS_NOT_FOUND,
                                                       "%s: measurements: there is no \"%.200s\", only %s",
                                                       raw->label, measurement, list.bytes);
    text_free(&list);
    return status;
}

static paritas_status find_poi(const struct hf_raw *raw, uint32_t measurement, const char *asked,
                               struct hf_spec *spec)
{
    const char *text = asked != NULL ? asked : raw->measurements[measurement].poi;
    spec->poi = -1;
    if (text[0] == '\0') return PARITAS_OK;
    uint32_t name = hf_names_find(&raw->names, text),
             index = name != HF_NONE ? raw->names.items[name].set : HF_NONE;
    if (index == HF_NONE) {
        if (asked != NULL)
            return paritas_fail(raw->context, PARITAS_NOT_FOUND,
                                "%s: the model has no parameter \"%.200s\" to be the parameter of interest",
                                raw->label, asked);
        spec->unused_poi = arena_text(raw->keep, text, strlen(text));
        return spec->unused_poi != NULL ? PARITAS_OK : paritas_fail_memory(raw->context);
    }
    const struct hf_set *set = &spec->sets[index];
    if (set->size != 1) {
        const struct hf_place root = {NULL, "", HF_NONE}, at = {&root, "measurements", measurement},
                              poi = {&at, "config.poi", HF_NONE};
        return hf_refuse(raw->context, raw->label, asked != NULL ? &root : &poi,
                         "\"%.200s\" is a set of %lu parameters and cannot be the parameter of interest",
                         set->name, (unsigned long)set->size);
    }
    spec->poi = (int32_t)set->first;
    spec->poi_name = set->name;
    return PARITAS_OK;
}

/* ---- the whole ---- */

static paritas_status read_into(paritas_context *context, const struct paritas_workspace *workspace,
                                const char *measurement, const char *poi, struct arena *scratch,
                                struct hf_spec *spec)
{
    struct hf_raw raw;
    uint32_t chosen = 0;
    paritas_status status = hf_raw_read(context, workspace, scratch, &spec->arena, &raw);
    if (status == PARITAS_OK) status = find_measurement(&raw, measurement, &chosen);
    if (status == PARITAS_OK) status = check_channels(&raw);
    if (status == PARITAS_OK) status = check_observations(&raw);
    if (status == PARITAS_OK && !(hf_raw_order(&raw) && layout_channels(&raw, spec)))
        status = paritas_fail_memory(context);
    if (status == PARITAS_OK) status = hf_sets_build(&raw, chosen, spec);
    if (status == PARITAS_OK) status = find_poi(&raw, chosen, poi, spec);
    return status;
}

paritas_status hf_spec_read(paritas_context *context, const struct paritas_workspace *workspace,
                            const char *measurement, const char *poi, struct hf_spec **spec)
{
    struct arena keep, scratch;
    *spec = NULL;
    arena_open(&keep, &context->allocator);
    struct hf_spec *made = arena_array(&keep, 1, sizeof *made);
    if (made == NULL) {
        arena_free(&keep);
        return paritas_fail_memory(context);
    }
    made->arena = keep; /* from here on the arena is the spec's, which lies in it */
    arena_open(&scratch, &context->allocator);
    paritas_status status = read_into(context, workspace, measurement, poi, &scratch, made);
    arena_free(&scratch);
    if (status != PARITAS_OK) {
        hf_spec_free(made);
        return status;
    }
    *spec = made;
    return PARITAS_OK;
}

void hf_spec_free(struct hf_spec *spec)
{
    if (spec == NULL) return;
    struct arena arena = spec->arena; /* a copy: the spec itself goes with its blocks */
    arena_free(&arena);
}
