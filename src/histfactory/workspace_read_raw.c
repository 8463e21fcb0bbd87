/* workspace_read_raw.c: the shape of a workspace document: pyhf's schema 1.0.0, with names given twice refused as well.
 *
 * One walk over the tree checks and copies. Each level holds its place on the stack (three stores), and only
 * a refusal turns the places into text. */
#include "histfactory/workspace_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VERSION "1.0.0"

/* ---- refusals ---- */

/* Writes the path up to `place`; returns how much of `out` is used. Keys are the schema's, so it never grows
 * long. */
static size_t write_path(const struct hf_place *place, char *out, size_t size)
{
    size_t used = place->up != NULL ? write_path(place->up, out, size) : 0;
    int more = 0;
    if (place->key[0] != '\0')
        more = snprintf(out + used, size - used, "%s%s", used != 0 ? "." : "", place->key);
    used += more > 0 ? (size_t)more : 0;
    if (used >= size) return size - 1;
    more =
        place->index != HF_NONE ? snprintf(out + used, size - used, "[%lu]", (unsigned long)place->index) : 0;
    used += more > 0 ? (size_t)more : 0;
    return used < size ? used : size - 1;
}

paritas_status hf_refuse(paritas_context *context, const char *label, const struct hf_place *place,
                         const char *format, ...)
{
    char path[256] = "", reason[1024];
    write_path(place, path, sizeof path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: %s%s%s", label, path,
                        path[0] != '\0' ? ": " : "", reason);
}

const char *hf_describe(const struct json *node, char out[64])
{
    if (json_is(node, JSON_NUMBER))
        snprintf(out, 64, "%.*s%s", node->length < 40 ? (int)node->length : 40, node->text,
                 node->length > 40 ? "..." : "");
    else if (json_is(node, JSON_STRING))
        snprintf(out, 64, "\"%.*s%s\"", node->length < 40 ? (int)node->length : 40, node->text,
                 node->length > 40 ? "..." : "");
    else
        snprintf(out, 64, "%s", json_type_name(node));
    return out;
}

const char *hf_number(double value, char out[32])
{
    if (value - value == 0.0)
        number_write(value, out);
    else
        snprintf(out, 32, "a number out of range");
    return out;
}

/* ---- pieces of any schema ---- */

static const char *type_phrase(json_type type)
{
    switch (type) {
    case JSON_NULL:
        return "null";
    case JSON_FALSE:
    case JSON_TRUE:
        return "true or false";
    case JSON_NUMBER:
        return "a number";
    case JSON_STRING:
        return "a string";
    case JSON_ARRAY:
        return "an array";
    case JSON_OBJECT:
        break;
    }
    return "an object";
}

paritas_status hf_expect(paritas_context *context, const char *label, const struct hf_place *place,
                         const struct json *node, json_type type, bool nonempty)
{
    char found[64];
    if (!json_is(node, type))
        return hf_refuse(context, label, place, "must be %s, found %s", type_phrase(type),
                         hf_describe(node, found));
    if (nonempty && node->count == 0) return hf_refuse(context, label, place, "must not be empty");
    return PARITAS_OK;
}

paritas_status hf_fields(paritas_context *context, const char *label, const struct hf_place *place,
                         const struct json *object, struct hf_field *fields, size_t n)
{
    paritas_status status = hf_expect(context, label, place, object, JSON_OBJECT, false);
    if (status != PARITAS_OK) return status;
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        size_t i = 0;
        while (i < n && !hf_same(member->key, fields[i].key)) i++;
        if (i == n) return hf_refuse(context, label, place, "unknown key \"%.200s\"", member->key);
        fields[i].node = member;
    }
    for (size_t i = 0; i < n; i++) {
        if (fields[i].required && fields[i].node == NULL) {
            const struct hf_place missing = {place, fields[i].key, HF_NONE};
            return hf_refuse(context, label, &missing, "is missing");
        }
    }
    return PARITAS_OK;
}

/* hf_expect with the common case in line. */
static inline paritas_status refuse_type(struct hf_raw *raw, const struct hf_place *place,
                                         const struct json *node, json_type type, bool nonempty)
{
    if (node->type == type && !(nonempty && node->count == 0)) return PARITAS_OK;
    return hf_expect(raw->context, raw->label, place, node, type, nonempty);
}

/* Copies an array of at least one number. `place` is the array's. */
static paritas_status read_numbers(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                   const double **numbers, uint32_t *n)
{
    paritas_status status = refuse_type(raw, place, node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    double *copy = arena_allocate(raw->keep, (size_t)node->count * sizeof *copy);
    if (copy == NULL) return paritas_fail_memory(raw->context);
    uint32_t i = 0;
    for (const struct json *item = node->first; item != NULL; item = item->next) {
        if (item->type != JSON_NUMBER) {
            const struct hf_place at = {place, "", i};
            return refuse_type(raw, &at, item, JSON_NUMBER, false);
        }
        copy[i++] = item->number;
    }
    *numbers = copy;
    *n = i;
    return PARITAS_OK;
}

/* Enters the text of a name. `place` is the object's that has it. */
static paritas_status read_name(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                uint32_t *name)
{
    if (node->type != JSON_STRING) {
        const struct hf_place at = {place, "name", HF_NONE};
        return refuse_type(raw, &at, node, JSON_STRING, false);
    }
    *name = hf_names_enter(&raw->names, raw->scratch, node->text, node->length);
    return *name != HF_NONE ? PARITAS_OK : paritas_fail_memory(raw->context);
}

/* A cleared array for the children of `node`, which is not empty. */
static void *make_array(struct hf_raw *raw, const struct json *node, size_t size)
{
    return arena_array(raw->scratch, node->count != 0 ? node->count : 1, size);
}

/* ---- channels ---- */

static paritas_status read_histosys(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                    struct hf_raw_modifier *modifier)
{
    struct hf_field fields[] = {{"hi_data", true, NULL}, {"lo_data", true, NULL}};
    const struct hf_place at = {place, "data", HF_NONE}, hi = {&at, "hi_data", HF_NONE},
                          lo = {&at, "lo_data", HF_NONE};
    paritas_status status = hf_fields(raw->context, raw->label, &at, node, fields, 2);
    if (status == PARITAS_OK)
        status = read_numbers(raw, &hi, fields[0].node, &modifier->values, &modifier->n_values);
    if (status == PARITAS_OK)
        status = read_numbers(raw, &lo, fields[1].node, &modifier->lo_values, &modifier->n_lo_values);
    return status;
}

static paritas_status read_normsys(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                   struct hf_raw_modifier *modifier)
{
    struct hf_field fields[] = {{"hi", true, NULL}, {"lo", true, NULL}};
    const struct hf_place at = {place, "data", HF_NONE}, hi = {&at, "hi", HF_NONE}, lo = {&at, "lo", HF_NONE};
    paritas_status status = hf_fields(raw->context, raw->label, &at, node, fields, 2);
    if (status == PARITAS_OK) status = refuse_type(raw, &hi, fields[0].node, JSON_NUMBER, false);
    if (status == PARITAS_OK) status = refuse_type(raw, &lo, fields[1].node, JSON_NUMBER, false);
    if (status != PARITAS_OK) return status;
    modifier->hi = fields[0].node->number;
    modifier->lo = fields[1].node->number;
    return PARITAS_OK;
}

static paritas_status read_modifier(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                    uint32_t sample_serial, struct hf_raw_modifier *modifier)
{
    struct hf_field fields[] = {{"name", true, NULL}, {"type", true, NULL}, {"data", true, NULL}};
    const struct hf_place data = {place, "data", HF_NONE}, type_place = {place, "type", HF_NONE};
    paritas_status status = hf_fields(raw->context, raw->label, place, node, fields, 3);
    if (status == PARITAS_OK) status = read_name(raw, place, fields[0].node, &modifier->name);
    if (status == PARITAS_OK) status = refuse_type(raw, &type_place, fields[1].node, JSON_STRING, false);
    if (status != PARITAS_OK) return status;
    char found[64];
    hf_type type = hf_type_of(fields[1].node->text);
    if (type == HF_TYPE_COUNT)
        return hf_refuse(raw->context, raw->label, &type_place, "unknown modifier type %s",
                         hf_describe(fields[1].node, found));
    modifier->type = type;
    struct hf_name *name = &raw->names.items[modifier->name];
    if (name->modifier_in[type] == sample_serial)
        return hf_refuse(raw->context, raw->label, place,
                         "the %s \"%.200s\" is given twice in this sample, first as modifiers[%lu]",
                         hf_type_name(type), name->text, (unsigned long)name->modifier_at[type]);
    name->modifier_in[type] = sample_serial;
    name->modifier_at[type] = place->index;
    switch (type) {
    case HF_HISTOSYS:
        return read_histosys(raw, place, fields[2].node, modifier);
    case HF_NORMSYS:
        return read_normsys(raw, place, fields[2].node, modifier);
    case HF_SHAPESYS:
    case HF_STATERROR:
        return read_numbers(raw, &data, fields[2].node, &modifier->values, &modifier->n_values);
    default:
        break;
    }
    if (type == HF_LUMI && strcmp(name->text, "lumi") != 0) {
        const struct hf_place name_place = {place, "name", HF_NONE};
        return hf_refuse(raw->context, raw->label, &name_place,
                         "a modifier of type lumi must be named \"lumi\", found \"%.200s\"", name->text);
    }
    return refuse_type(raw, &data, fields[2].node, JSON_NULL, false);
}

static paritas_status read_sample(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                  uint32_t channel, uint32_t serial, struct hf_raw_sample *sample)
{
    struct hf_field fields[] = {{"name", true, NULL}, {"data", true, NULL}, {"modifiers", true, NULL}};
    const struct hf_place data = {place, "data", HF_NONE}, modifiers = {place, "modifiers", HF_NONE};
    paritas_status status = hf_fields(raw->context, raw->label, place, node, fields, 3);
    if (status == PARITAS_OK) status = read_name(raw, place, fields[0].node, &sample->name);
    if (status == PARITAS_OK)
        status = read_numbers(raw, &data, fields[1].node, &sample->data, &sample->n_bins);
    if (status == PARITAS_OK) status = refuse_type(raw, &modifiers, fields[2].node, JSON_ARRAY, false);
    if (status != PARITAS_OK) return status;
    struct hf_name *name = &raw->names.items[sample->name];
    if (name->sample_in == channel + 1)
        return hf_refuse(raw->context, raw->label, place, "the name \"%.200s\" is also that of samples[%lu]",
                         name->text, (unsigned long)name->sample_at);
    name->sample_in = channel + 1;
    name->sample_at = place->index;
    sample->modifiers = make_array(raw, fields[2].node, sizeof *sample->modifiers);
    if (sample->modifiers == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = fields[2].node->first; item != NULL; item = item->next) {
        const struct hf_place at = {&modifiers, "", sample->n_modifiers};
        status = read_modifier(raw, &at, item, serial, &sample->modifiers[sample->n_modifiers++]);
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

/* Refuses the second of two elements of one name; `seen` is the name's stamp of their array: index + 1. */
static paritas_status refuse_twice(struct hf_raw *raw, const struct hf_place *place, uint32_t name,
                                   uint32_t *seen, const char *array)
{
    if (*seen != 0)
        return hf_refuse(raw->context, raw->label, place, "the name \"%.200s\" is also that of %s[%lu]",
                         raw->names.items[name].text, array, (unsigned long)(*seen - 1));
    *seen = place->index + 1;
    return PARITAS_OK;
}

static paritas_status read_channels(struct hf_raw *raw, const struct hf_place *root, const struct json *node)
{
    const struct hf_place place = {root, "channels", HF_NONE};
    uint32_t serial = 0;
    paritas_status status = refuse_type(raw, &place, node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    raw->channels = make_array(raw, node, sizeof *raw->channels);
    if (raw->channels == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = node->first; item != NULL; item = item->next) {
        uint32_t index = raw->n_channels++;
        struct hf_raw_channel *channel = &raw->channels[index];
        struct hf_field fields[] = {{"name", true, NULL}, {"samples", true, NULL}};
        const struct hf_place at = {&place, "", index}, samples = {&at, "samples", HF_NONE};
        status = hf_fields(raw->context, raw->label, &at, item, fields, 2);
        if (status == PARITAS_OK) status = read_name(raw, &at, fields[0].node, &channel->name);
        if (status == PARITAS_OK)
            status =
                refuse_twice(raw, &at, channel->name, &raw->names.items[channel->name].channel, "channels");
        if (status == PARITAS_OK) status = refuse_type(raw, &samples, fields[1].node, JSON_ARRAY, true);
        if (status != PARITAS_OK) return status;
        channel->samples = make_array(raw, fields[1].node, sizeof *channel->samples);
        if (channel->samples == NULL) return paritas_fail_memory(raw->context);
        for (const struct json *sample = fields[1].node->first; sample != NULL; sample = sample->next) {
            const struct hf_place sample_place = {&samples, "", channel->n_samples};
            status = read_sample(raw, &sample_place, sample, index, ++serial,
                                 &channel->samples[channel->n_samples++]);
            if (status != PARITAS_OK) return status;
        }
    }
    return PARITAS_OK;
}

/* ---- observations and measurements ---- */

static paritas_status read_observations(struct hf_raw *raw, const struct hf_place *root,
                                        const struct json *node)
{
    const struct hf_place place = {root, "observations", HF_NONE};
    paritas_status status = refuse_type(raw, &place, node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    raw->observations = make_array(raw, node, sizeof *raw->observations);
    if (raw->observations == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = node->first; item != NULL; item = item->next) {
        struct hf_raw_observation *observation = &raw->observations[raw->n_observations];
        struct hf_field fields[] = {{"name", true, NULL}, {"data", true, NULL}};
        const struct hf_place at = {&place, "", raw->n_observations++}, data = {&at, "data", HF_NONE};
        status = hf_fields(raw->context, raw->label, &at, item, fields, 2);
        if (status == PARITAS_OK) status = read_name(raw, &at, fields[0].node, &observation->name);
        if (status == PARITAS_OK)
            status = read_numbers(raw, &data, fields[1].node, &observation->data, &observation->n_bins);
        if (status == PARITAS_OK)
            status = refuse_twice(raw, &at, observation->name,
                                  &raw->names.items[observation->name].observation, "observations");
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

static paritas_status read_bounds(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                  struct hf_raw_config *config)
{
    paritas_status status = refuse_type(raw, place, node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    double *bounds = arena_array(raw->keep, node->count, 2 * sizeof *bounds);
    if (bounds == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = node->first; item != NULL; item = item->next) {
        char found[64];
        const struct hf_place at = {place, "", config->n_bounds};
        if (item->type != JSON_ARRAY)
            return hf_refuse(raw->context, raw->label, &at, "must be a pair [lower, upper], found %s",
                             hf_describe(item, found));
        if (item->count != 2)
            return hf_refuse(raw->context, raw->label, &at,
                             "must be a pair [lower, upper], found an array of %lu",
                             (unsigned long)item->count);
        const struct hf_place lower = {&at, "", 0}, upper = {&at, "", 1};
        status = refuse_type(raw, &lower, item->first, JSON_NUMBER, false);
        if (status == PARITAS_OK) status = refuse_type(raw, &upper, item->last, JSON_NUMBER, false);
        if (status != PARITAS_OK) return status;
        bounds[2 * config->n_bounds] = item->first->number;
        bounds[2 * config->n_bounds + 1] = item->last->number;
        config->n_bounds++;
    }
    config->bounds = bounds;
    return PARITAS_OK;
}

static paritas_status read_config(struct hf_raw *raw, const struct hf_place *place, const struct json *node,
                                  struct hf_raw_config *config)
{
    enum { NAME, INITS, BOUNDS, AUXDATA, FACTORS, SIGMAS, FIXED, FIELDS };
    struct hf_field fields[FIELDS] = {
        [NAME] = {"name", true, NULL},        [INITS] = {"inits", false, NULL},
        [BOUNDS] = {"bounds", false, NULL},   [AUXDATA] = {"auxdata", false, NULL},
        [FACTORS] = {"factors", false, NULL}, [SIGMAS] = {"sigmas", false, NULL},
        [FIXED] = {"fixed", false, NULL}};
    paritas_status status = hf_fields(raw->context, raw->label, place, node, fields, FIELDS);
    if (status == PARITAS_OK) status = read_name(raw, place, fields[NAME].node, &config->name);
    if (status != PARITAS_OK) return status;
    const struct {
        int field;
        const double **numbers;
        uint32_t *n;
    } lists[] = {{INITS, &config->inits, &config->n_inits},
                 {AUXDATA, &config->auxdata, &config->n_auxdata},
                 {FACTORS, &config->factors, &config->n_factors},
                 {SIGMAS, &config->sigmas, &config->n_sigmas}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct hf_field *field = &fields[lists[i].field];
        const struct hf_place at = {place, field->key, HF_NONE};
        if (field->node != NULL) status = read_numbers(raw, &at, field->node, lists[i].numbers, lists[i].n);
        if (status != PARITAS_OK) return status;
    }
    const struct hf_place bounds = {place, "bounds", HF_NONE}, fixed = {place, "fixed", HF_NONE};
    if (fields[BOUNDS].node != NULL) status = read_bounds(raw, &bounds, fields[BOUNDS].node, config);
    if (status != PARITAS_OK) return status;
    const struct json *flag = fields[FIXED].node;
    if (flag != NULL && !json_is(flag, JSON_FALSE)) status = refuse_type(raw, &fixed, flag, JSON_TRUE, false);
    config->fixed = flag == NULL ? -1 : json_is(flag, JSON_TRUE);
    return status;
}

static paritas_status read_measurement(struct hf_raw *raw, const struct hf_place *place,
                                       const struct json *node, struct hf_raw_measurement *measurement)
{
    struct hf_field fields[] = {{"name", true, NULL}, {"config", true, NULL}},
                    inner[] = {{"poi", true, NULL}, {"parameters", true, NULL}};
    const struct hf_place config = {place, "config", HF_NONE}, poi = {&config, "poi", HF_NONE},
                          parameters = {&config, "parameters", HF_NONE};
    paritas_status status = hf_fields(raw->context, raw->label, place, node, fields, 2);
    if (status == PARITAS_OK) status = read_name(raw, place, fields[0].node, &measurement->name);
    if (status == PARITAS_OK)
        status = refuse_twice(raw, place, measurement->name, &raw->names.items[measurement->name].measurement,
                              "measurements");
    if (status == PARITAS_OK) status = hf_fields(raw->context, raw->label, &config, fields[1].node, inner, 2);
    if (status == PARITAS_OK) status = refuse_type(raw, &poi, inner[0].node, JSON_STRING, false);
    if (status == PARITAS_OK) status = refuse_type(raw, &parameters, inner[1].node, JSON_ARRAY, false);
    if (status != PARITAS_OK) return status;
    measurement->poi = inner[0].node->text;
    measurement->configs = make_array(raw, inner[1].node, sizeof *measurement->configs);
    if (measurement->configs == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = inner[1].node->first; item != NULL; item = item->next) {
        struct hf_raw_config *entry = &measurement->configs[measurement->n_configs];
        const struct hf_place at = {&parameters, "", measurement->n_configs++};
        status = read_config(raw, &at, item, entry);
        if (status != PARITAS_OK) return status;
        struct hf_name *name = &raw->names.items[entry->name];
        if (name->config_in == place->index + 1)
            return hf_refuse(raw->context, raw->label, &at,
                             "the parameter \"%.200s\" is configured twice, first in parameters[%lu]",
                             name->text, (unsigned long)name->config_at);
        name->config_in = place->index + 1;
        name->config_at = at.index;
    }
    return PARITAS_OK;
}

static paritas_status read_measurements(struct hf_raw *raw, const struct hf_place *root,
                                        const struct json *node)
{
    const struct hf_place place = {root, "measurements", HF_NONE};
    paritas_status status = refuse_type(raw, &place, node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    raw->measurements = make_array(raw, node, sizeof *raw->measurements);
    if (raw->measurements == NULL) return paritas_fail_memory(raw->context);
    for (const struct json *item = node->first; item != NULL; item = item->next) {
        const struct hf_place at = {&place, "", raw->n_measurements};
        status = read_measurement(raw, &at, item, &raw->measurements[raw->n_measurements++]);
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

paritas_status hf_raw_read(paritas_context *context, const struct paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw)
{
    *raw = (struct hf_raw){.context = context, .label = workspace->label, .scratch = scratch, .keep = keep};
    struct hf_field fields[] = {{"channels", true, NULL},
                                {"observations", true, NULL},
                                {"measurements", true, NULL},
                                {"version", true, NULL}};
    const struct hf_place root = {NULL, "", HF_NONE}, version = {&root, "version", HF_NONE};
    paritas_status status = hf_fields(context, raw->label, &root, workspace->root, fields, 4);
    if (status != PARITAS_OK) return status;
    char found[64];
    if (!json_text_is(fields[3].node, VERSION))
        return hf_refuse(context, raw->label, &version, "must be \"" VERSION "\", found %s",
                         hf_describe(fields[3].node, found));
    status = read_channels(raw, &root, fields[0].node);
    if (status == PARITAS_OK) status = read_observations(raw, &root, fields[1].node);
    if (status == PARITAS_OK) status = read_measurements(raw, &root, fields[2].node);
    return status;
}

paritas_status hf_workspace_check(paritas_context *context, const struct paritas_workspace *workspace)
{
    struct arena arena;
    struct hf_raw raw;
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    arena_free(&arena);
    return status;
}
