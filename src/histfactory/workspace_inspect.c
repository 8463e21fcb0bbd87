/* workspace_inspect.c: what is in a workspace, as a document with pyhf's keys and the leftovers that no model uses. */
#include "histfactory/workspace_read.h"

#include <string.h>

struct inspect {
    struct hf_raw *raw;
    struct paritas_workspace *out;
    const struct hf_name **sorted; /* names by rank */
    bool good;                     /* false: memory ran out */
};

/* ---- building, with failures noted once ---- */

static struct json *make(struct inspect *inspect, json_type type)
{
    struct json *node = json_new(inspect->out, type);
    if (node == NULL) inspect->good = false;
    return node;
}

static void append(struct inspect *inspect, struct json *array, struct json *child)
{
    if (!json_append(array, child)) inspect->good = false;
}

static void append_text(struct inspect *inspect, struct json *array, const char *text)
{
    append(inspect, array, json_new_text(inspect->out, text));
}

static void set(struct inspect *inspect, struct json *object, const char *key, struct json *child)
{
    if (!json_set(inspect->out, object, key, child)) inspect->good = false;
}

/* A count as an integer literal. */
static struct json *make_count(struct inspect *inspect, uint32_t count)
{
    struct json *node = json_new_number(inspect->out, count);
    if (node == NULL) return NULL;
    if (node->length > 2 && strcmp(node->text + node->length - 2, ".0") == 0) {
        node->length -= 2;
        node->integer = 1;
    }
    return node;
}

/* A new array under `key` of `object`. */
static struct json *add_array(struct inspect *inspect, struct json *object, const char *key)
{
    struct json *array = make(inspect, JSON_ARRAY);
    set(inspect, object, key, array);
    return array;
}

/* ---- names ---- */

static uint32_t types_of(const struct hf_name *name)
{
    uint32_t types = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (name->modifier_in[type] != 0) types |= 1U << type;
    return types;
}

static const char *constraint_of(uint32_t types)
{
    if ((types & (1U << HF_NORMFACTOR | 1U << HF_SHAPEFACTOR)) != 0) return "unconstrained";
    return (types & 1U << HF_SHAPESYS) != 0 ? "constrained_by_poisson" : "constrained_by_normal";
}

static bool sort_names(struct inspect *inspect)
{
    const struct hf_names *names = &inspect->raw->names;
    if (!hf_names_rank(&inspect->raw->names, inspect->raw->scratch)) return false;
    inspect->sorted = arena_array(inspect->raw->scratch, names->count, sizeof *inspect->sorted);
    if (inspect->sorted == NULL) return false;
    for (uint32_t i = 0; i < names->count; i++) inspect->sorted[names->items[i].rank] = &names->items[i];
    return true;
}

/* channels, samples, modifiers, parameters, systematics and counts */
static void add_names(struct inspect *inspect, struct json *root)
{
    const struct hf_raw *raw = inspect->raw;
    struct json *channels = add_array(inspect, root, "channels"),
                *samples = add_array(inspect, root, "samples"), *modifiers = make(inspect, JSON_OBJECT),
                *parameters = add_array(inspect, root, "parameters"),
                *systematics = add_array(inspect, root, "systematics"), *counts = make(inspect, JSON_OBJECT);
    set(inspect, root, "modifiers", modifiers);
    set(inspect, root, "counts", counts);
    for (uint32_t i = 0; inspect->good && i < raw->names.count; i++) {
        const struct hf_name *name = inspect->sorted[i];
        if (name->channel != 0) {
            struct json *pair = make(inspect, JSON_ARRAY);
            append_text(inspect, pair, name->text);
            append(inspect, pair, make_count(inspect, raw->channels[name->channel - 1].samples[0].n_bins));
            append(inspect, channels, pair);
        }
        if (name->sample_in != 0) append_text(inspect, samples, name->text);
        uint32_t types = types_of(name);
        if (types == 0) continue;
        struct json *pair = make(inspect, JSON_ARRAY), *triple = make(inspect, JSON_ARRAY),
                    *list = make(inspect, JSON_ARRAY), *last = NULL;
        append_text(inspect, pair, name->text);
        append_text(inspect, pair, constraint_of(types));
        append(inspect, parameters, pair);
        append_text(inspect, triple, name->text);
        append_text(inspect, triple, constraint_of(types));
        for (int type = 0; type < HF_TYPE_COUNT; type++) {
            if ((types & 1U << type) == 0) continue;
            append_text(inspect, list, hf_type_name((hf_type)type));
            last = json_new_text(inspect->out, hf_type_name((hf_type)type));
        }
        append(inspect, triple, list);
        append(inspect, systematics, triple);
        set(inspect, modifiers, name->text, last);
    }
    if (!inspect->good) return;
    set(inspect, counts, "channels", make_count(inspect, channels->count));
    set(inspect, counts, "samples", make_count(inspect, samples->count));
    set(inspect, counts, "parameters", make_count(inspect, parameters->count));
    set(inspect, counts, "modifiers", make_count(inspect, modifiers->count));
}

/* ---- measurements and leftovers ---- */

static void append_pair(struct inspect *inspect, struct json *array, const char *first, const char *second)
{
    struct json *pair = make(inspect, JSON_ARRAY);
    append_text(inspect, pair, first);
    append_text(inspect, pair, second);
    append(inspect, array, pair);
}

static void add_measurements(struct inspect *inspect, struct json *root)
{
    const struct hf_raw *raw = inspect->raw;
    struct json *measurements = add_array(inspect, root, "measurements"),
                *unused = make(inspect, JSON_OBJECT);
    set(inspect, root, "unused", unused);
    struct json *observations = add_array(inspect, unused, "observations"),
                *parameters = add_array(inspect, unused, "parameters"),
                *pois = add_array(inspect, unused, "pois");
    for (uint32_t i = 0; i < raw->n_observations; i++) {
        const struct hf_name *name = &raw->names.items[raw->observations[i].name];
        if (name->channel == 0) append_text(inspect, observations, name->text);
    }
    for (uint32_t i = 0; inspect->good && i < raw->n_measurements; i++) {
        const struct hf_raw_measurement *measurement = &raw->measurements[i];
        const char *text = raw->names.items[measurement->name].text;
        struct json *entry = make(inspect, JSON_ARRAY), *names = make(inspect, JSON_ARRAY);
        append_text(inspect, entry, text);
        append_text(inspect, entry, measurement->poi);
        for (uint32_t k = 0; k < measurement->n_configs; k++) {
            const struct hf_name *name = &raw->names.items[measurement->configs[k].name];
            append_text(inspect, names, name->text);
            if (types_of(name) == 0) append_pair(inspect, parameters, text, name->text);
        }
        append(inspect, entry, names);
        append(inspect, measurements, entry);
        uint32_t poi = hf_names_find(&raw->names, measurement->poi);
        if (measurement->poi[0] != '\0' && (poi == HF_NONE || types_of(&raw->names.items[poi]) == 0))
            append_pair(inspect, pois, text, measurement->poi);
    }
}

paritas_status paritas_workspace_inspect(paritas_context *context, const struct paritas_workspace *workspace,
                                         struct paritas_workspace **out)
{
    static const struct json empty = {.type = JSON_OBJECT};
    struct arena arena;
    struct hf_raw raw;
    struct inspect inspect = {.raw = &raw, .good = true};
    if (out != NULL) *out = NULL;
    if (context == NULL || out == NULL) return PARITAS_INVALID_ARGUMENT;
    if (workspace == NULL) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "no workspace is given");
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    if (status == PARITAS_OK && !sort_names(&inspect)) status = paritas_fail_memory(context);
    if (status == PARITAS_OK) status = json_copy(context, &empty, workspace->label, &inspect.out);
    if (status == PARITAS_OK) {
        add_names(&inspect, inspect.out->root);
        add_measurements(&inspect, inspect.out->root);
        if (!inspect.good) status = paritas_fail_memory(context);
    }
    arena_free(&arena);
    if (status != PARITAS_OK) {
        paritas_workspace_free(inspect.out);
        return status;
    }
    *out = inspect.out;
    return PARITAS_OK;
}
