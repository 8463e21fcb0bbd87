/* workspace_read_raw.c: shape of a workspace: pyhf's schema 1.0.0, unique names. */
#include "histfactory/workspace_read.h"

#include <stdio.h>
#include <string.h>

#define VERSION "1.0.0"

paritas_status hf_refuse_use(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                             uint32_t element, const char *format, ...)
{
    char reason[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const struct hf_place root = hf_root(&raw->source),
                          channel = hf_member_at(&root, "channels", use->channel),
                          sample = hf_member_at(&channel, "samples", use->sample),
                          modifier = hf_member_at(&sample, "modifiers", use->modifier),
                          at = hf_member_at(use->modifier != HF_NONE ? &modifier : &sample, member, element);
    return hf_refuse(&at, "%s", reason);
}

paritas_status hf_refuse_spread(const struct hf_raw *raw, const struct hf_spread *spread, uint32_t bin,
                                const char *what)
{
    char rate[32], uncertainty[32];
    return hf_refuse_use(raw, &spread->use, "data", bin,
                         "%s is out of range for an uncertainty of %s on a rate of %s", what,
                         hf_number(spread->modifier->uncertainty[bin], uncertainty),
                         hf_number(spread->sample->data[bin], rate));
}

const char *hf_use_name(const struct hf_raw *raw, const struct hf_use *use)
{
    const struct hf_raw_sample *sample = &raw->channels[use->channel].samples[use->sample];
    return raw->names.items[sample->modifiers[use->modifier].name].text;
}

/* one number or more, checked */
static paritas_status read_numbers(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                   struct hf_list *list)
{
    double *copy = arena_allocate(raw->keep, (size_t)node->count * sizeof *copy);
    if (!copy) return paritas_fail_memory(raw->source.context);
    *list = (struct hf_list){copy, 0};
    for (const struct json *item = node->first; item; item = item->next) {
        if (item->type != JSON_NUMBER) {
            const struct hf_place at = hf_element(place, list->n);
            return hf_expect(&at, item, HF_NUMBER);
        }
        copy[list->n++] = item->number;
    }
    return PARITAS_OK;
}

static paritas_status read_field(struct hf_raw *raw, const struct hf_place *place,
                                 const struct hf_field *field, struct hf_list *list)
{
    const struct hf_place at = hf_member(place, field->key);
    return field->node ? read_numbers(raw, &at, field->node, list) : PARITAS_OK;
}

static paritas_status read_name(struct hf_raw *raw, const struct json *node, uint32_t *name)
{
    *name = hf_names_enter(&raw->names, raw->scratch, node->text, node->length);
    return *name != HF_NONE ? PARITAS_OK : paritas_fail_memory(raw->source.context);
}

/* *made: a cleared array, set before; *n counts. */
static paritas_status read_array(struct hf_raw *raw, const struct hf_place *up, const struct hf_field *field,
                                 hf_check *read, size_t size, void *made, uint32_t *n)
{
    void *array = arena_array(raw->scratch, field->node->count, size);
    if (!array) return paritas_fail_memory(raw->source.context);
    memcpy(made, &array, sizeof array);
    *n = field->node->count;
    return hf_each(up, field->key, field->node, read, raw);
}

/* `seen`: the name's stamp in this array, index + 1. */
static paritas_status refuse_twice(struct hf_raw *raw, const struct hf_place *place, uint32_t name,
                                   uint32_t *seen)
{
    if (*seen != 0)
        return hf_refuse(place, "the name \"%.200s\" is also that of %s[%u]", raw->names.items[name].text,
                         place->key, *seen - 1);
    *seen = place->index + 1;
    return PARITAS_OK;
}

static paritas_status read_data(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                struct hf_raw_modifier *modifier)
{
    struct hf_field numbers[] = {{.key = "hi", .shape = HF_NUMBER}, {.key = "lo", .shape = HF_NUMBER}},
                    arrays[] = {{.key = "hi_data", .shape = HF_FILLED_ARRAY},
                                {.key = "lo_data", .shape = HF_FILLED_ARRAY}};
    switch (hf_kind(modifier->type)->data) {
    case HF_DATA_HI_LO:
        TRY(hf_fields(place, node, numbers, 2, false));
        modifier->hi = numbers[0].node->number;
        modifier->lo = numbers[1].node->number;
        return PARITAS_OK;
    case HF_DATA_BINS:
        TRY(hf_expect(place, node, HF_FILLED_ARRAY));
        return read_numbers(raw, place, node, &modifier->values);
    case HF_DATA_HI_LO_BINS:
        TRY(hf_fields(place, node, arrays, 2, false));
        TRY(read_field(raw, place, &arrays[0], &modifier->highs));
        return read_field(raw, place, &arrays[1], &modifier->lows);
    case HF_DATA_NONE:
        break;
    }
    return hf_expect(place, node, HF_NULL);
}

static paritas_status read_modifier(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_modifier *modifier =
        &raw->channels[place->up->up->index].samples[place->up->index].modifiers[place->index];
    struct hf_field fields[] = {
        {.key = "name", .shape = HF_STRING}, {.key = "type", .shape = HF_STRING}, {.key = "data"}};
    TRY(hf_fields(place, node, fields, 3, false));
    TRY(read_name(raw, fields[0].node, &modifier->name));
    const hf_type type = modifier->type = hf_type_of(fields[1].node->text);
    if (type == HF_TYPE_COUNT) {
        char found[64];
        const struct hf_place at = hf_member(place, "type");
        return hf_refuse(&at, "unknown modifier type %s", hf_describe(fields[1].node, found));
    }
    const struct hf_modifier_kind *kind = hf_kind(type);
    struct hf_name *name = &raw->names.items[modifier->name];
    if (name->modifier_in[type] == raw->n_samples)
        return hf_refuse(place, "the %s \"%.200s\" is given twice in this sample, first as modifiers[%u]",
                         kind->name, name->text, name->modifier_at[type]);
    name->modifier_in[type] = raw->n_samples;
    name->modifier_at[type] = place->index;
    if (kind->only_name && strcmp(name->text, kind->only_name) != 0) {
        const struct hf_place at = hf_member(place, "name");
        return hf_refuse(&at, "a modifier of type %s must be named \"%s\", found \"%.200s\"", kind->name,
                         kind->only_name, name->text);
    }
    const struct hf_place data = hf_member(place, "data");
    return read_data(raw, &data, fields[2].node, modifier);
}

static paritas_status read_sample(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    const uint32_t channel = place->up->index;
    struct hf_raw_sample *sample = &raw->channels[channel].samples[place->index];
    struct hf_field fields[] = {{.key = "name", .shape = HF_STRING},
                                {.key = "data", .shape = HF_FILLED_ARRAY},
                                {.key = "modifiers", .shape = HF_ARRAY}};
    TRY(hf_fields(place, node, fields, 3, false));
    TRY(read_name(raw, fields[0].node, &sample->name));
    TRY(read_field(raw, place, &fields[1], &sample->data));
    struct hf_name *name = &raw->names.items[sample->name];
    if (name->sample_in == channel + 1)
        return hf_refuse(place, "the name \"%.200s\" is also that of samples[%u]", name->text,
                         name->sample_at);
    name->sample_in = channel + 1;
    name->sample_at = place->index;
    raw->n_samples++;
    return read_array(raw, place, &fields[2], read_modifier, sizeof *sample->modifiers, &sample->modifiers,
                      &sample->n_modifiers);
}

static paritas_status read_channel(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_channel *channel = &raw->channels[place->index];
    struct hf_field fields[] = {{.key = "name", .shape = HF_STRING},
                                {.key = "samples", .shape = HF_FILLED_ARRAY}};
    TRY(hf_fields(place, node, fields, 2, false));
    TRY(read_name(raw, fields[0].node, &channel->name));
    TRY(refuse_twice(raw, place, channel->name, &raw->names.items[channel->name].channel));
    return read_array(raw, place, &fields[1], read_sample, sizeof *channel->samples, &channel->samples,
                      &channel->n_samples);
}

static paritas_status read_observation(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_observation *observation = &raw->observations[place->index];
    struct hf_field fields[] = {{.key = "name", .shape = HF_STRING},
                                {.key = "data", .shape = HF_FILLED_ARRAY}};
    TRY(hf_fields(place, node, fields, 2, false));
    TRY(read_name(raw, fields[0].node, &observation->name));
    TRY(read_field(raw, place, &fields[1], &observation->data));
    return refuse_twice(raw, place, observation->name, &raw->names.items[observation->name].observation);
}

static paritas_status read_bounds(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                  struct hf_list *list)
{
    double *bounds = arena_array(raw->keep, node->count, 2 * sizeof *bounds);
    if (!bounds) return paritas_fail_memory(raw->source.context);
    *list = (struct hf_list){bounds, 0};
    for (const struct json *item = node->first; item; item = item->next) {
        char found[64];
        const struct hf_place at = hf_member_at(place, "bounds", list->n++);
        if (item->type != JSON_ARRAY)
            return hf_refuse(&at, "must be a pair [lower, upper], found %s", hf_describe(item, found));
        if (item->count != 2)
            return hf_refuse(&at, "must be a pair [lower, upper], found an array of %u", item->count);
        const struct hf_place lower = hf_element(&at, 0), upper = hf_element(&at, 1);
        TRY(hf_expect(&lower, item->first, HF_NUMBER));
        TRY(hf_expect(&upper, item->last, HF_NUMBER));
        *bounds++ = item->first->number;
        *bounds++ = item->last->number;
    }
    return PARITAS_OK;
}

const char *const hf_setting_names[] = {"inits", "bounds", "auxdata", "factors", "sigmas"};

static paritas_status read_config(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    const uint32_t measurement = place->up->up->index;
    struct hf_raw_config *config = &raw->measurements[measurement].configs[place->index];
    enum { NAME = HF_SETTINGS, FIXED, FIELDS };
    struct hf_field fields[FIELDS] = {[NAME] = {.key = "name", .shape = HF_STRING},
                                      [FIXED] = {.key = "fixed", .shape = HF_BOOLEAN, .optional = true}};
    for (int k = 0; k < HF_SETTINGS; k++)
        fields[k] = (struct hf_field){.key = hf_setting_names[k], .shape = HF_FILLED_ARRAY, .optional = true};
    TRY(hf_fields(place, node, fields, FIELDS, false));
    TRY(read_name(raw, fields[NAME].node, &config->name));
    for (int k = 0; k < HF_SETTINGS; k++)
        if (k != HF_GIVEN_BOUNDS) TRY(read_field(raw, place, &fields[k], &config->settings[k]));
    if (fields[HF_GIVEN_BOUNDS].node)
        TRY(read_bounds(raw, place, fields[HF_GIVEN_BOUNDS].node, &config->settings[HF_GIVEN_BOUNDS]));
    config->fixed = fields[FIXED].node ? json_is(fields[FIXED].node, JSON_TRUE) : -1;
    struct hf_name *name = &raw->names.items[config->name];
    if (name->config_in == measurement + 1)
        return hf_refuse(place, "the parameter \"%.200s\" is configured twice, first in parameters[%u]",
                         name->text, name->config_at);
    name->config_in = measurement + 1;
    name->config_at = place->index;
    return PARITAS_OK;
}

static paritas_status read_measurement(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_measurement *measurement = &raw->measurements[place->index];
    struct hf_field fields[] = {{.key = "name", .shape = HF_STRING}, {.key = "config"}},
                    inner[] = {{.key = "poi", .shape = HF_STRING}, {.key = "parameters", .shape = HF_ARRAY}};
    const struct hf_place config = hf_member(place, "config");
    TRY(hf_fields(place, node, fields, 2, false));
    TRY(read_name(raw, fields[0].node, &measurement->name));
    TRY(refuse_twice(raw, place, measurement->name, &raw->names.items[measurement->name].measurement));
    TRY(hf_fields(&config, fields[1].node, inner, 2, false));
    measurement->poi = inner[0].node->text;
    return read_array(raw, &config, &inner[1], read_config, sizeof *measurement->configs,
                      &measurement->configs, &measurement->n_configs);
}

paritas_status hf_raw_read(paritas_context *context, const paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw)
{
    *raw = (struct hf_raw){.source = {context, workspace->label}, .scratch = scratch, .keep = keep};
    struct hf_field fields[] = {{.key = "channels", .shape = HF_FILLED_ARRAY},
                                {.key = "observations", .shape = HF_FILLED_ARRAY},
                                {.key = "measurements", .shape = HF_FILLED_ARRAY},
                                {.key = "version"}};
    const struct hf_place root = hf_root(&raw->source), version = hf_member(&root, "version");
    TRY(hf_fields(&root, workspace->root, fields, 4, false));
    char found[64];
    if (!json_text_is(fields[3].node, VERSION))
        return hf_refuse(&version, "must be \"" VERSION "\", found %s", hf_describe(fields[3].node, found));
    TRY(read_array(raw, &root, &fields[0], read_channel, sizeof *raw->channels, &raw->channels,
                   &raw->n_channels));
    TRY(read_array(raw, &root, &fields[1], read_observation, sizeof *raw->observations, &raw->observations,
                   &raw->n_observations));
    return read_array(raw, &root, &fields[2], read_measurement, sizeof *raw->measurements, &raw->measurements,
                      &raw->n_measurements);
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
