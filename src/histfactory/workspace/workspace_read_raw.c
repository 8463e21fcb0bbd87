/* workspace_read_raw.c: shape of a workspace: pyhf's schema 1.0.0 and constraints beyond it, unique names. */
#include "histfactory/workspace/workspace_read.h"

#include <stdio.h>
#include <string.h>

paritas_status hf_refuse_use(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                             uint32_t element, const char *format, ...)
{
    char reason[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const struct hf_place *root = HF_ROOT(&raw->source),
                          *channel = HF_MEMBER_AT(root, "channels", use->channel->index),
                          *sample = HF_MEMBER_AT(channel, "samples", use->sample->index),
                          *modifier =
                              HF_MEMBER_AT(sample, "modifiers", use->modifier ? use->modifier->index : 0);
    return hf_refuse(HF_MEMBER_AT(use->modifier ? modifier : sample, member, element), "%s", reason);
}

paritas_status hf_refuse_spread(const struct hf_raw *raw, const struct hf_spread *spread, uint32_t bin,
                                const char *what)
{
    char rate[32], uncertainty[32];
    return hf_refuse_use(raw, &spread->use, "data", bin,
                         "%s is out of range for an uncertainty of %s on a rate of %s", what,
                         hf_number(spread->use.modifier->uncertainty[bin], uncertainty),
                         hf_number(spread->use.sample->data[bin], rate));
}

/* one number or more, checked */
static paritas_status read_numbers(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                   const double **numbers, uint32_t *n)
{
    double *copy = arena_allocate(raw->keep, (size_t)node->count * sizeof *copy);
    if (!copy) return paritas_fail_memory(raw->source.context);
    *numbers = copy;
    *n = 0;
    const double *packed = json_numbers(node);
    if (packed) {
        memcpy(copy, packed, (size_t)node->count * sizeof *copy);
        *n = node->count;
        return PARITAS_OK;
    }
    for (const struct json *item = node->first; item; item = item->next) {
        if (item->type != JSON_NUMBER) return hf_expect(HF_MEMBER_AT(place, "", *n), item, HF_NUMBER);
        copy[(*n)++] = item->number;
    }
    return PARITAS_OK;
}

/* Member `key`, if there is one. */
static paritas_status read_list(struct hf_raw *raw, const struct hf_place *place, const char *key,
                                const struct json *node, const double **numbers, uint32_t *n)
{
    return node ? read_numbers(raw, HF_MEMBER(place, key), node, numbers, n) : PARITAS_OK;
}

paritas_status hf_name_read(struct hf_raw *raw, const char *text, size_t length, struct hf_name **name)
{
    *name = hf_names_enter(&raw->names, text, (uint32_t)length);
    return *name ? PARITAS_OK : paritas_fail_memory(raw->source.context);
}

static paritas_status read_name(struct hf_raw *raw, const struct json *node, struct hf_name **name)
{
    return hf_name_read(raw, node->text, node->length, name);
}

/* *made: a cleared array, set before; *n counts. */
static paritas_status read_array(struct hf_raw *raw, const struct hf_place *up, const char *key,
                                 const struct json *node, hf_check *read, size_t size, void *made,
                                 uint32_t *n)
{
    void *array = arena_array(raw->keep, node->count, size);
    if (!array) return paritas_fail_memory(raw->source.context);
    memcpy(made, &array, sizeof array);
    *n = node->count;
    return hf_each(up, key, node, read, raw);
}

/* `seen`: the name's stamp in this array, index + 1. */
static paritas_status refuse_twice(const struct hf_place *place, const struct hf_name *name, uint32_t *seen)
{
    if (*seen != 0)
        return hf_refuse(place, "the name \"%.200s\" is also that of %s[%u]", name->text, place->key,
                         *seen - 1);
    *seen = place->index + 1;
    return PARITAS_OK;
}

/* Member `scale` of a histosys, beyond pyhf's schema. */
static paritas_status read_scale(const struct hf_place *data, const struct json *node,
                                 struct hf_modifier *modifier)
{
    char found[64];
    modifier->scale = node ? node->number : 1.0;
    if (!(modifier->scale > 0.0))
        return hf_refuse(HF_MEMBER(data, "scale"), "must be greater than 0, found %s",
                         hf_describe(node, found));
    if (node && modifier->code != PARITAS_HISTOSYS_CODE_4P)
        return hf_refuse(HF_MEMBER(data, "scale"), "goes with \"interpcode\": \"code4p\" alone");
    return PARITAS_OK;
}

static paritas_status read_data(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                struct hf_modifier *modifier)
{
    const struct json *hi, *lo, *code, *scale;
    switch (hf_kind(modifier->type)->data) {
    case HF_DATA_HI_LO:
        TRY(HF_FIELDS(place, node, false, {"hi", HF_NUMBER, &hi}, {"lo", HF_NUMBER, &lo},
                      {HF_CODE_KEY, HF_STRING | HF_OPTIONAL, &code}));
        modifier->hi = hi->number;
        modifier->lo = lo->number;
        return hf_code_read(place, code, modifier);
    case HF_DATA_BINS:
        TRY(hf_expect(place, node, HF_FILLED_ARRAY));
        return read_numbers(raw, place, node, &modifier->uncertainty, &modifier->n_hi);
    case HF_DATA_HI_LO_BINS:
        TRY(HF_FIELDS(place, node, false, {"hi_data", HF_FILLED_ARRAY, &hi},
                      {"lo_data", HF_FILLED_ARRAY, &lo}, {HF_CODE_KEY, HF_STRING | HF_OPTIONAL, &code},
                      {"scale", HF_NUMBER | HF_OPTIONAL, &scale}));
        TRY(hf_code_read(place, code, modifier));
        TRY(read_scale(place, scale, modifier));
        TRY(read_list(raw, place, "hi_data", hi, &modifier->hi_data, &modifier->n_hi));
        return read_list(raw, place, "lo_data", lo, &modifier->lo_data, &modifier->n_lo);
    case HF_DATA_NONE:
        break;
    }
    return hf_expect(place, node, HF_NULL);
}

static paritas_status read_modifier(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_modifier *modifier =
        &raw->channels[place->up->up->index].samples[place->up->index].modifiers[place->index];
    const struct json *name_node, *type_node, *data_node;
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name_node}, {"type", HF_STRING, &type_node},
                  {"data", HF_ANY, &data_node}));
    TRY(read_name(raw, name_node, &modifier->key));
    modifier->index = place->index;
    const hf_type type = modifier->type = hf_type_of(type_node->text);
    if (type == HF_TYPE_COUNT) {
        char found[64];
        return hf_refuse(HF_MEMBER(place, "type"), "unknown modifier type %s", hf_describe(type_node, found));
    }
    const struct hf_modifier_kind *kind = hf_kind(type);
    struct hf_name *name = modifier->key;
    if (name->modifier_in[type] == raw->n_samples)
        return hf_refuse(place, "the %s \"%.200s\" is given twice in this sample, first as modifiers[%u]",
                         kind->name, name->text, name->modifier_at[type]);
    name->modifier_in[type] = raw->n_samples;
    name->modifier_at[type] = place->index;
    if (kind->only_name && strcmp(name->text, kind->only_name) != 0)
        return hf_refuse(HF_MEMBER(place, "name"),
                         "a modifier of type %s must be named \"%s\", found \"%.200s\"", kind->name,
                         kind->only_name, name->text);
    return read_data(raw, HF_MEMBER(place, "data"), data_node, modifier);
}

static paritas_status enter_sample(struct hf_raw *raw, const struct hf_place *place, struct hf_sample *sample)
{
    const uint32_t channel = place->up->index;
    struct hf_name *name = sample->key;
    sample->index = place->index;
    sample->name = name->text;
    if (name->sample_in == channel + 1)
        return hf_refuse(place, "the name \"%.200s\" is also that of samples[%u]", name->text,
                         name->sample_at);
    name->sample_in = channel + 1;
    name->sample_at = place->index;
    raw->n_samples++;
    return PARITAS_OK;
}

/* Returns NULL without memory. */
static struct hf_name *twin_of(struct hf_raw *raw, const struct hf_name *lent)
{
    struct hf_name **twin = &raw->twins[lent->rank];
    if (!*twin) *twin = hf_names_enter(&raw->names, lent->text, lent->length);
    return *twin;
}

/* Takes a sample as if it were read here. Its numbers stay where they are. */
static paritas_status take_sample(struct hf_raw *raw, const struct hf_place *place,
                                  const struct hf_sample *lent, struct hf_sample *sample)
{
    const size_t size = lent->n_modifiers * sizeof *sample->modifiers;
    *sample = *lent;
    sample->key = twin_of(raw, lent->key);
    sample->modifiers = arena_allocate(raw->keep, size);
    if (!sample->key || !sample->modifiers) return paritas_fail_memory(raw->source.context);
    TRY(enter_sample(raw, place, sample));
    if (size > 0) memcpy(sample->modifiers, lent->modifiers, size);
    for (uint32_t m = 0; m < sample->n_modifiers; m++) {
        struct hf_modifier *modifier = &sample->modifiers[m];
        modifier->key = twin_of(raw, modifier->key);
        if (!modifier->key) return paritas_fail_memory(raw->source.context);
        modifier->key->modifier_in[modifier->type] = raw->n_samples;
        modifier->key->modifier_at[modifier->type] = m;
    }
    return PARITAS_OK;
}

/* Member `shape` of a sample, beyond pyhf's schema. */
static paritas_status read_shape(const struct hf_place *place, const struct json *node,
                                 struct hf_sample_shape *shape)
{
    const struct json *minimum, *total, *padding, *logarithmic;
    char found[64];
    TRY(HF_FIELDS(place, node, false, {"minimum", HF_NUMBER, &minimum},
                  {"total", HF_NUMBER | HF_OPTIONAL, &total}, {"padding", HF_NUMBER | HF_OPTIONAL, &padding},
                  {"logarithmic", HF_BOOLEAN | HF_OPTIONAL, &logarithmic}));
    *shape = (struct hf_sample_shape){.given = true,
                                      .logarithmic = logarithmic && json_is(logarithmic, JSON_TRUE),
                                      .minimum = minimum->number,
                                      .total = total ? total->number : 0.0,
                                      .padding = padding ? padding->number : 0.0};
    if (!(shape->minimum >= 0.0))
        return hf_refuse(HF_MEMBER(place, "minimum"), "must not be negative, found %s",
                         hf_describe(minimum, found));
    if (total && !(shape->total > 0.0 && (shape->minimum > 0.0 || shape->logarithmic)))
        return hf_refuse(HF_MEMBER(place, "total"), "must be greater than 0, as the minimum, found %s",
                         hf_describe(total, found));
    if (padding && shape->logarithmic)
        return hf_refuse(HF_MEMBER(place, "padding"), "a logarithmic shape has none, found %s: leave it out",
                         hf_describe(padding, found));
    if (padding && !(shape->padding >= 0.0 && total))
        return hf_refuse(HF_MEMBER(place, "padding"), "must not be negative, and goes with a total, found %s",
                         hf_describe(padding, found));
    return PARITAS_OK;
}

/* Exponentials have a total if any rate is above 0. */
static paritas_status find_edge(const struct hf_place *place, struct hf_sample *sample)
{
    double sum = 0.0;
    bool some = false;
    for (uint32_t b = 0; b < sample->n_bins; b++) {
        sum += sample->data[b];
        some = some || sample->data[b] > 0.0;
    }
    sample->shape.edge = sample->shape.minimum < 1e-7 * sum ? 0.0 : sample->shape.minimum;
    if (some || !sample->shape.logarithmic || sample->shape.total == 0.0) return PARITAS_OK;
    return hf_refuse(HF_MEMBER(place, "data"),
                     "a logarithmic shape with a total needs a rate above 0 in one of its bins");
}

static paritas_status read_sample(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_sample *sample = &raw->channels[place->up->index].samples[place->index];
    const struct hf_sample *lent = raw->reading ? hf_reading_find(raw->reading, node) : NULL;
    const struct json *name, *data, *modifiers, *shape;
    if (lent) return take_sample(raw, place, lent, sample);
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name}, {"data", HF_FILLED_ARRAY, &data},
                  {"modifiers", HF_ARRAY, &modifiers}, {"shape", HF_OBJECT | HF_OPTIONAL, &shape}));
    if (shape) TRY(read_shape(HF_MEMBER(place, "shape"), shape, &sample->shape));
    TRY(read_name(raw, name, &sample->key));
    TRY(read_list(raw, place, "data", data, &sample->data, &sample->n_bins));
    if (shape) TRY(find_edge(place, sample));
    TRY(enter_sample(raw, place, sample));
    return read_array(raw, place, "modifiers", modifiers, read_modifier, sizeof *sample->modifiers,
                      &sample->modifiers, &sample->n_modifiers);
}

static paritas_status read_channel(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_channel *channel = &raw->channels[place->index];
    const struct json *name, *samples, *masked;
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name}, {"samples", HF_FILLED_ARRAY, &samples},
                  {HF_MASKED_KEY, HF_BOOLEAN | HF_OPTIONAL, &masked}));
    TRY(read_name(raw, name, &channel->key));
    channel->index = place->index;
    channel->masked = masked && json_is(masked, JSON_TRUE);
    channel->name = channel->key->text;
    TRY(refuse_twice(place, channel->key, &channel->key->channel));
    TRY(read_array(raw, place, "samples", samples, read_sample, sizeof *channel->samples, &channel->samples,
                   &channel->n_samples));
    channel->n_bins = channel->samples[0].n_bins;
    return PARITAS_OK;
}

static paritas_status read_observation(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_observation *observation = &raw->observations[place->index];
    const struct json *name, *data;
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name}, {"data", HF_FILLED_ARRAY, &data}));
    TRY(read_name(raw, name, &observation->name));
    TRY(read_list(raw, place, "data", data, &observation->data.at, &observation->data.n));
    return refuse_twice(place, observation->name, &observation->name->observation);
}

static paritas_status read_bounds(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                  struct hf_list *list)
{
    double *bounds = arena_array(raw->keep, node->count, 2 * sizeof *bounds);
    if (!bounds) return paritas_fail_memory(raw->source.context);
    *list = (struct hf_list){bounds, 0};
    struct json_walk walk, pair;
    for (const struct json *item = json_walk_first(&walk, node); item; item = json_walk_next(&walk)) {
        char found[64];
        const struct hf_place *at = HF_MEMBER_AT(place, "bounds", list->n);
        list->n++;
        if (item->type != JSON_ARRAY)
            return hf_refuse(at, "must be a pair [lower, upper], found %s", hf_describe(item, found));
        if (item->count != 2)
            return hf_refuse(at, "must be a pair [lower, upper], found an array of %u", item->count);
        uint32_t k = 0;
        for (const struct json *bound = json_walk_first(&pair, item); bound; bound = json_walk_next(&pair)) {
            TRY(hf_expect(HF_MEMBER_AT(at, "", k++), bound, HF_NUMBER));
            *bounds++ = bound->number;
        }
    }
    return PARITAS_OK;
}

/* Member `constraint` of a configuration, beyond pyhf's schema. */
static paritas_status read_law(const struct hf_place *place, const struct json *node,
                               struct hf_configured_law *law)
{
    const struct json *type, *offset, *slope, *ratio;
    char found[64], words[96];
    TRY(HF_FIELDS(place, node, false, {"type", HF_STRING, &type},
                  {"offset", HF_NUMBER | HF_OPTIONAL, &offset}, {"slope", HF_NUMBER | HF_OPTIONAL, &slope},
                  {"ratio", HF_NUMBER | HF_OPTIONAL, &ratio}));
    *law = (struct hf_configured_law){.given = true,
                                      .is_affine = offset || slope,
                                      .constraint = hf_constraint_of_word(type->text),
                                      .offset = offset ? offset->number : 0.0,
                                      .slope = slope ? slope->number : 1.0,
                                      .ratio = ratio ? ratio->number : 1.0};
    if (law->constraint == HF_CONSTRAINT_COUNT)
        return hf_refuse(HF_MEMBER(place, "type"), "must be %s, found %s",
                         hf_constraint_words(NULL, " or ", words), hf_describe(type, found));
    if (!(law->slope > 0.0))
        return hf_refuse(HF_MEMBER(place, "slope"), "must be greater than 0, found %s",
                         hf_describe(slope, found));
    if (ratio && law->constraint != HF_BIFURCATED)
        return hf_refuse(HF_MEMBER(place, "ratio"), "only \"%s\" has a ratio, found %s",
                         hf_constraint_kinds[HF_BIFURCATED].word, hf_describe(ratio, found));
    if (!(law->ratio > 0.0))
        return hf_refuse(HF_MEMBER(place, "ratio"), "must be greater than 0, found %s",
                         hf_describe(ratio, found));
    if (!ratio && law->constraint == HF_BIFURCATED)
        return hf_refuse(place, "its ratio is missing: the width above over the width below");
    return PARITAS_OK;
}

const char *const hf_setting_names[] = {"inits", "bounds", "auxdata", "factors", "sigmas"};

static paritas_status read_config(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    const uint32_t measurement = place->up->up->index;
    struct hf_raw_config *config = &raw->measurements[measurement].configs[place->index];
    const struct json *name_node, *fixed, *law, *settings[HF_SETTINGS];
    struct hf_field fields[HF_SETTINGS + 3] = {{"name", HF_STRING, &name_node},
                                               {"fixed", HF_BOOLEAN | HF_OPTIONAL, &fixed},
                                               {"constraint", HF_OBJECT | HF_OPTIONAL, &law}};
    for (int k = 0; k < HF_SETTINGS; k++)
        fields[k + 3] = (struct hf_field){hf_setting_names[k], HF_FILLED_ARRAY | HF_OPTIONAL, &settings[k]};
    TRY(hf_fields(place, node, false, fields, COUNT_OF(fields)));
    TRY(read_name(raw, name_node, &config->name));
    for (int k = 0; k < HF_SETTINGS; k++)
        if (k != HF_GIVEN_BOUNDS)
            TRY(read_list(raw, place, hf_setting_names[k], settings[k], &config->settings[k].at,
                          &config->settings[k].n));
    if (settings[HF_GIVEN_BOUNDS])
        TRY(read_bounds(raw, place, settings[HF_GIVEN_BOUNDS], &config->settings[HF_GIVEN_BOUNDS]));
    if (law) TRY(read_law(HF_MEMBER(place, "constraint"), law, &config->law));
    config->fixed = fixed ? json_is(fixed, JSON_TRUE) : -1;
    struct hf_name *name = config->name;
    if (name->config_in == measurement + 1)
        return hf_refuse(place, "the parameter \"%.200s\" is configured twice, first in parameters[%u]",
                         name->text, name->config_at);
    name->config_in = measurement + 1;
    name->config_at = place->index;
    return PARITAS_OK;
}

/* Member `pois` of a measurement's configuration, beyond pyhf's schema: `poi` and further ones. */
static paritas_status read_pois(struct hf_raw *raw, const struct hf_place *at, const struct json *list,
                                struct hf_raw_measurement *measurement)
{
    measurement->pois = arena_array(raw->scratch, list->count, sizeof *measurement->pois);
    if (!measurement->pois) return paritas_fail_memory(raw->source.context);
    struct json_walk walk;
    for (const struct json *item = json_walk_first(&walk, list); item; item = json_walk_next(&walk)) {
        const uint32_t k = measurement->n_pois;
        const struct hf_place *place = HF_MEMBER_AT(at, "pois", k);
        TRY(hf_expect(place, item, HF_STRING));
        for (uint32_t i = 0; i < k; i++)
            if (hf_same(measurement->pois[i], item->text))
                return hf_refuse(place, "\"%.200s\" is already pois[%u]", item->text, i);
        measurement->pois[measurement->n_pois++] = item->text;
    }
    if (hf_same(measurement->pois[0], measurement->poi)) return PARITAS_OK;
    return hf_refuse(HF_MEMBER_AT(at, "pois", 0), "must be \"%.200s\", the name in poi, found \"%.200s\"",
                     measurement->poi, measurement->pois[0]);
}

static paritas_status read_measurement(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_measurement *measurement = &raw->measurements[place->index];
    const struct json *name, *config, *poi, *pois, *parameters, *functions, *correlations, *penalties;
    const struct hf_place *at = HF_MEMBER(place, "config");
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name}, {"config", HF_ANY, &config}));
    TRY(read_name(raw, name, &measurement->name));
    TRY(refuse_twice(place, measurement->name, &measurement->name->measurement));
    TRY(HF_FIELDS(at, config, false, {"poi", HF_STRING, &poi}, {"pois", HF_FILLED_ARRAY | HF_OPTIONAL, &pois},
                  {"parameters", HF_ARRAY, &parameters},
                  {HF_FUNCTIONS_KEY, HF_ARRAY | HF_OPTIONAL, &functions},
                  {HF_CORRELATIONS_KEY, HF_ARRAY | HF_OPTIONAL, &correlations},
                  {HF_PENALTIES_KEY, HF_ARRAY | HF_OPTIONAL, &penalties}));
    measurement->poi = poi->text;
    if (pois) TRY(read_pois(raw, at, pois, measurement));
    TRY(read_array(raw, at, "parameters", parameters, read_config, sizeof *measurement->configs,
                   &measurement->configs, &measurement->n_configs));
    if (correlations) TRY(hf_correlations_read(raw, at, correlations, measurement));
    if (penalties) TRY(hf_penalties_read(raw, at, penalties, measurement));
    return functions ? hf_functions_read(raw, at, functions, measurement) : PARITAS_OK;
}

paritas_status hf_raw_read(paritas_context *context, const paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw)
{
    *raw = (struct hf_raw){.source = {context, workspace->label},
                           .scratch = scratch,
                           .keep = keep,
                           .names = {.scratch = scratch, .keep = keep},
                           .reading = workspace->base ? workspace->base->reading : NULL};
    if (raw->reading) raw->twins = arena_array(scratch, raw->reading->n_names, sizeof *raw->twins);
    if (raw->reading && !raw->twins) return paritas_fail_memory(context);
    const struct json *channels, *observations, *measurements, *version;
    const struct hf_place *root = HF_ROOT(&raw->source);
    TRY(hf_expect_kind(root, workspace->root, "channels"));
    TRY(HF_FIELDS(root, workspace->root, false, {"channels", HF_FILLED_ARRAY, &channels},
                  {"observations", HF_FILLED_ARRAY, &observations},
                  {"measurements", HF_FILLED_ARRAY, &measurements}, {"version", HF_ANY, &version}));
    TRY(hf_check_version(root, version));
    TRY(read_array(raw, root, "channels", channels, read_channel, sizeof *raw->channels, &raw->channels,
                   &raw->n_channels));
    TRY(read_array(raw, root, "observations", observations, read_observation, sizeof *raw->observations,
                   &raw->observations, &raw->n_observations));
    return read_array(raw, root, "measurements", measurements, read_measurement, sizeof *raw->measurements,
                      &raw->measurements, &raw->n_measurements);
}

paritas_status hf_workspace_check(paritas_context *context, const paritas_workspace *workspace)
{
    struct arena arena;
    struct hf_raw raw;
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    arena_free(&arena);
    return status;
}
