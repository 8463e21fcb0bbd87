/* workspace_read.c: document to spec: checks meaning in file order, lays out in pyhf's order. */
#include "histfactory/workspace/workspace_read.h"

#include <stdio.h>
#include <string.h>

/* `member` of a modifier (sample) needs as many bins as the sample (channel). */
static paritas_status check_length(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                                   uint32_t n, uint32_t wanted)
{
    if (n == wanted) return PARITAS_OK;
    return hf_refuse_use(raw, use, member, HF_NONE, "must have %u bins, as %s, found %u", wanted,
                         use->modifier ? "its sample" : "the channel's first sample", n);
}

/* Which interpolations take 0 is checked when they are known: hf_codes_settle. */
static paritas_status check_factor(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                                   double value)
{
    char found[32];
    if (value >= 0.0) return PARITAS_OK;
    return hf_refuse_use(raw, use, member, HF_NONE, "must be a number of at least 0, found %s",
                         hf_number(value, found));
}

/* Only some modifiers may share a name, hence a parameter set. */
static paritas_status check_sharing(const struct hf_raw *raw, const struct hf_use *use)
{
    const hf_type type = use->modifier->type;
    struct hf_name *name = use->modifier->key;
    if (name->types == 0) name->first_use = *use;
    const uint32_t refused = name->types & ~hf_kind(type)->shares;
    const bool mixed = (refused & ~HF_BIT(type)) != 0;
    name->types |= HF_BIT(type);
    if (refused == 0) return PARITAS_OK;
    const struct hf_use *first = &name->first_use;
    return hf_refuse_use(raw, use, "", HF_NONE,
                         "the name \"%.200s\" of this %s is also that of the %s "
                         "channels[%u].samples[%u].modifiers[%u]; %s",
                         name->text, hf_kind(type)->name, hf_kind(first->modifier->type)->name,
                         first->channel->index, first->sample->index, first->modifier->index,
                         mixed ? "only normsys and histosys may share one" : "a shapesys cannot be shared");
}

static paritas_status check_modifier(const struct hf_raw *raw, const struct hf_use *use)
{
    const struct hf_modifier *modifier = use->modifier;
    const uint32_t n_bins = use->sample->n_bins;
    switch (hf_kind(modifier->type)->data) {
    case HF_DATA_HI_LO:
        TRY(check_factor(raw, use, "data.hi", modifier->hi));
        TRY(check_factor(raw, use, "data.lo", modifier->lo));
        break;
    case HF_DATA_HI_LO_BINS:
        TRY(check_length(raw, use, "data.hi_data", modifier->n_hi, n_bins));
        TRY(check_length(raw, use, "data.lo_data", modifier->n_lo, n_bins));
        break;
    case HF_DATA_BINS:
        TRY(check_length(raw, use, "data", modifier->n_hi, n_bins));
        break;
    case HF_DATA_NONE:
        break;
    }
    TRY(check_sharing(raw, use));
    return hf_kind(modifier->type)->check ? hf_kind(modifier->type)->check(raw, use) : PARITAS_OK;
}

static paritas_status check_masks(const struct hf_raw *raw)
{
    for (uint32_t c = 0; c < raw->n_channels; c++)
        if (!raw->channels[c].masked) return PARITAS_OK;
    return hf_refuse(HF_MEMBER(HF_ROOT(&raw->source), "channels"),
                     "all are masked, so nothing is left to fit: mask fewer");
}

static paritas_status check_channels(const struct hf_raw *raw)
{
    uint64_t n_modifiers = 0;
    TRY(check_masks(raw));
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_channel *channel = &raw->channels[c];
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            struct hf_use use = {channel, &channel->samples[s], NULL};
            TRY(check_length(raw, &use, "data", use.sample->n_bins, channel->n_bins));
            for (uint32_t m = 0; m < use.sample->n_modifiers; m++) {
                use.modifier = &use.sample->modifiers[m];
                TRY(check_modifier(raw, &use));
            }
            n_modifiers += use.sample->n_modifiers;
        }
    }
    return n_modifiers != 0 ? PARITAS_OK
                            : hf_refuse(HF_MEMBER(HF_ROOT(&raw->source), "channels"),
                                        "no sample has a modifier, so the model has no parameter");
}

static paritas_status check_observations(const struct hf_raw *raw)
{
    const struct hf_place *root = HF_ROOT(&raw->source);
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_channel *channel = &raw->channels[c];
        const struct hf_name *name = channel->key;
        const uint32_t n_bins = channel->n_bins;
        if (name->observation == 0)
            return hf_refuse(HF_MEMBER(root, "observations"),
                             "none for the channel \"%.200s\" (channels[%u])", name->text, c);
        const struct hf_list *data = &raw->observations[name->observation - 1].data;
        const struct hf_place *at = HF_MEMBER_AT(root, "observations", name->observation - 1);
        if (data->n != n_bins)
            return hf_refuse(HF_MEMBER(at, "data"), "must have %u bins, as the channel \"%.200s\", found %u",
                             n_bins, name->text, data->n);
        for (uint32_t k = 0; k < n_bins; k++) {
            char found[32];
            if (data->at[k] < 0.0)
                return hf_refuse(HF_MEMBER_AT(at, "data", k), "must not be negative, found %s",
                                 hf_number(data->at[k], found));
        }
    }
    return PARITAS_OK;
}

static void place_channels(const struct hf_raw *raw, struct hf_spec *spec)
{
    spec->channels = raw->channels;
    spec->n_channels = raw->n_channels;
    for (struct hf_channel *channel = spec->channels; channel < spec->channels + spec->n_channels;
         channel++) {
        channel->first_bin = spec->n_main;
        channel->observed = raw->observations[channel->key->observation - 1].data.at;
        spec->n_main += channel->n_bins;
    }
}

static paritas_status find_measurement(const struct hf_raw *raw, const char *measurement, uint32_t *index)
{
    *index = 0;
    if (!measurement) return PARITAS_OK;
    const struct hf_name *name = hf_names_find(&raw->names, measurement);
    if (name && name->measurement != 0) {
        *index = name->measurement - 1;
        return PARITAS_OK;
    }
    struct text list;
    text_open(&list, &raw->source.context->allocator);
    for (uint32_t i = 0; i < raw->n_measurements; i++)
        text_format(&list, "%s\"%s\"", i != 0 ? ", " : "", raw->measurements[i].name->text);
    text_append(&list, "", 1);
    paritas_status status = list.failed ? paritas_fail_memory(raw->source.context)
                                        : paritas_fail(raw->source.context, PARITAS_NOT_FOUND,
                                                       "%s: measurements: there is no \"%.200s\", only %s",
                                                       raw->source.label, measurement, list.bytes);
    text_free(&list);
    return status;
}

static bool is_function(const struct hf_spec *spec, const struct hf_set *set)
{
    return set >= spec->sets + spec->n_sets;
}

/* Parameters that the model lacks are left out: a patch may have removed their modifier. */
static paritas_status find_further_pois(const struct hf_raw *raw,
                                        const struct hf_raw_measurement *measurement, struct hf_spec *spec)
{
    spec->pois = arena_array(raw->keep, measurement->n_pois + 1, sizeof *spec->pois);
    if (!spec->pois) return paritas_fail_memory(raw->source.context);
    for (uint32_t k = 0; k < measurement->n_pois; k++) {
        const struct hf_name *name = hf_names_find(&raw->names, measurement->pois[k]);
        if (!name || name->set == 0) continue;
        const struct hf_set *set = &spec->sets[name->set - 1];
        if (is_function(spec, set))
            return paritas_refuse(raw->source.context,
                                  "%s: pois: \"%.200s\" is a function of others and cannot be of interest",
                                  raw->source.label, set->name);
        if (set->size != 1)
            return paritas_refuse(raw->source.context,
                                  "%s: pois: \"%.200s\" is a set of %u parameters and cannot be of interest",
                                  raw->source.label, set->name, set->size);
        spec->pois[spec->n_pois++] = set->first;
    }
    return PARITAS_OK;
}

/* The set with a member of this name, "x[2]", and which member; NULL: none. */
static const struct hf_set *member_named(const struct hf_raw *raw, const struct hf_spec *spec,
                                         const char *text, uint32_t *member)
{
    const char *bracket = strrchr(text, '[');
    unsigned place;
    int length = 0;
    if (!bracket || sscanf(bracket, "[%9u]%n", &place, &length) != 1 || bracket[length] != '\0') return NULL;
    char again[16];
    snprintf(again, sizeof again, "[%u]", place);
    if (strcmp(again, bracket) != 0) return NULL;
    char *base = arena_text(raw->keep, text, (size_t)(bracket - text));
    const struct hf_name *name = base ? hf_names_find(&raw->names, base) : NULL;
    if (!name || name->set == 0) return NULL;
    const struct hf_set *set = &spec->sets[name->set - 1];
    *member = place;
    return is_function(spec, set) || set->scalar || place >= set->size ? NULL : set;
}

const struct hf_set *hf_set_named(const struct hf_raw *raw, const struct hf_spec *spec, const char *text,
                                  uint32_t *member)
{
    const struct hf_name *name = hf_names_find(&raw->names, text);
    const struct hf_set *set = name && name->set != 0 ? &spec->sets[name->set - 1] : NULL;
    *member = 0;
    return set && !is_function(spec, set) && set->scalar ? set : member_named(raw, spec, text, member);
}

/* A parameter "x[0]" beside a set x would have the name of the set's member. */
static paritas_status check_names(const struct hf_raw *raw, const struct hf_spec *spec)
{
    for (const struct hf_set *set = spec->sets; set < spec->sets + spec->n_sets; set++) {
        uint32_t member;
        const struct hf_set *other = set->scalar ? member_named(raw, spec, set->name, &member) : NULL;
        if (other)
            return paritas_fail(raw->source.context, PARITAS_INVALID_INPUT,
                                "%s: two parameters are named \"%.200s\": the %s of this name, and number %u "
                                "of the %s \"%.200s\"; rename a modifier",
                                raw->source.label, set->name, set->kind->name, member, other->kind->name,
                                other->name);
    }
    return PARITAS_OK;
}

static paritas_status find_poi(const struct hf_raw *raw, uint32_t measurement, const char *asked,
                               struct hf_spec *spec)
{
    const char *text = asked ? asked : raw->measurements[measurement].poi;
    spec->poi = -1;
    if (text[0] == '\0') return PARITAS_OK;
    const struct hf_name *name = hf_names_find(&raw->names, text);
    if (!name || name->set == 0) {
        uint32_t member;
        const struct hf_set *of = member_named(raw, spec, text, &member);
        if (asked && of) {
            spec->poi = (int32_t)(of->first + member);
            spec->poi_name = arena_text(raw->keep, text, strlen(text));
            return spec->poi_name ? PARITAS_OK : paritas_fail_memory(raw->source.context);
        }
        if (asked)
            return paritas_fail(raw->source.context, PARITAS_NOT_FOUND,
                                "%s: the model has no parameter \"%.200s\" to be the parameter of interest",
                                raw->source.label, asked);
        spec->unused_poi = arena_text(raw->keep, text, strlen(text));
        return spec->unused_poi ? PARITAS_OK : paritas_fail_memory(raw->source.context);
    }
    const struct hf_set *set = &spec->sets[name->set - 1];
    const struct hf_place *root = HF_ROOT(&raw->source),
                          *at = HF_MEMBER_AT(root, "measurements", measurement);
    if (is_function(spec, set))
        return hf_refuse(asked ? root : HF_MEMBER(at, "config.poi"),
                         "\"%.200s\" is a function of others and cannot be the parameter of interest",
                         set->name);
    if (set->size != 1)
        return hf_refuse(asked ? root : HF_MEMBER(at, "config.poi"),
                         "\"%.200s\" is a set of %u parameters and cannot be the parameter of interest",
                         set->name, set->size);
    spec->poi = (int32_t)set->first;
    spec->poi_name = set->name;
    return asked ? PARITAS_OK : find_further_pois(raw, &raw->measurements[measurement], spec);
}

static paritas_status read_into(paritas_context *context, const paritas_workspace *workspace,
                                const char *measurement, const char *poi, struct arena *scratch,
                                struct hf_spec *spec)
{
    struct hf_raw raw;
    uint32_t chosen = 0;
    TRY(hf_raw_read(context, workspace, scratch, &spec->arena, &raw));
    TRY(find_measurement(&raw, measurement, &chosen));
    TRY(check_channels(&raw));
    TRY(check_observations(&raw));
    if (!hf_raw_sort(&raw)) return paritas_fail_memory(context);
    place_channels(&raw, spec);
    TRY(hf_sets_build(&raw, chosen, spec));
    TRY(check_names(&raw, spec));
    TRY(hf_correlations_place(&raw, chosen, spec));
    TRY(hf_penalties_place(&raw, chosen, spec));
    return find_poi(&raw, chosen, poi, spec);
}

paritas_status hf_spec_read(paritas_context *context, const paritas_workspace *workspace,
                            const char *measurement, const char *poi, struct hf_spec **spec)
{
    struct arena keep, scratch;
    *spec = NULL;
    arena_open(&keep, &context->allocator);
    struct hf_spec *made = arena_array(&keep, 1, sizeof *made);
    if (!made) {
        arena_free(&keep);
        return paritas_fail_memory(context);
    }
    made->arena = keep; /* the spec lies in its own arena */
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
    if (!spec) return;
    struct arena arena = spec->arena; /* a copy: freeing the blocks frees the spec */
    arena_free(&arena);
}
