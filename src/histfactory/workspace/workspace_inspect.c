/* workspace_inspect.c: contents of a workspace with pyhf's keys, and unused leftovers. */
#include "histfactory/workspace/workspace_read.h"

struct inspect {
    struct hf_raw *raw;
    paritas_workspace *out;
    struct hf_name **sorted; /* by text */
    bool good;               /* false: out of memory */
};

static struct json *make(struct inspect *inspect, json_type type)
{
    struct json *node = json_new(inspect->out, type);
    if (!node) inspect->good = false;
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

/* Makes an integer literal. */
static struct json *make_count(struct inspect *inspect, uint32_t count)
{
    struct json *node = json_new_number(inspect->out, count);
    if (!node) return NULL;
    node->length -= 2; /* without ".0" */
    node->integer = 1;
    return node;
}

static struct json *add_array(struct inspect *inspect, struct json *object, const char *key)
{
    struct json *array = make(inspect, JSON_ARRAY);
    set(inspect, object, key, array);
    return array;
}

static struct json *append_pair(struct inspect *inspect, struct json *array, const char *first,
                                const char *second)
{
    struct json *pair = make(inspect, JSON_ARRAY);
    append_text(inspect, pair, first);
    append_text(inspect, pair, second);
    append(inspect, array, pair);
    return pair;
}

/* Constraint by pyhf's laws of the modifiers. */
static const char *constraint_of(uint32_t types)
{
    uint32_t constraints = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (types & HF_BIT(type)) constraints |= HF_BIT(hf_kind((hf_type)type)->constraint);
    const hf_constraint law = constraints & HF_BIT(HF_UNCONSTRAINED) ? HF_UNCONSTRAINED
                              : constraints & HF_BIT(HF_POISSON)     ? HF_POISSON
                                                                     : HF_GAUSSIAN;
    return hf_constraint_kinds[law].inspected;
}

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
        const uint32_t types = hf_name_types(name);
        if (name->channel != 0) {
            struct json *pair = make(inspect, JSON_ARRAY);
            append_text(inspect, pair, name->text);
            append(inspect, pair, make_count(inspect, raw->channels[name->channel - 1].n_bins));
            append(inspect, channels, pair);
        }
        if (name->sample_in != 0) append_text(inspect, samples, name->text);
        if (types == 0) continue;
        append_pair(inspect, parameters, name->text, constraint_of(types));
        struct json *list = make(inspect, JSON_ARRAY);
        append(inspect, append_pair(inspect, systematics, name->text, constraint_of(types)), list);
        for (int type = 0; type < HF_TYPE_COUNT; type++) {
            if ((types & HF_BIT(type)) == 0) continue;
            append_text(inspect, list, hf_kind((hf_type)type)->name);
            set(inspect, modifiers, name->text, json_new_text(inspect->out, hf_kind((hf_type)type)->name));
        }
    }
    if (!inspect->good) return;
    set(inspect, counts, "channels", make_count(inspect, channels->count));
    set(inspect, counts, "samples", make_count(inspect, samples->count));
    set(inspect, counts, "parameters", make_count(inspect, parameters->count));
    set(inspect, counts, "modifiers", make_count(inspect, modifiers->count));
}

static void add_unused_poi(struct inspect *inspect, struct json *pois, const char *measurement,
                           const char *poi)
{
    const struct hf_name *name = hf_names_find(&inspect->raw->names, poi);
    if (poi[0] != '\0' && (!name || (hf_name_types(name) == 0 && !name->is_argument)))
        append_pair(inspect, pois, measurement, poi);
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
        const struct hf_name *name = raw->observations[i].name;
        if (name->channel == 0) append_text(inspect, observations, name->text);
    }
    for (uint32_t i = 0; inspect->good && i < raw->n_measurements; i++) {
        const struct hf_raw_measurement *measurement = &raw->measurements[i];
        const char *text = measurement->name->text;
        struct json *names = make(inspect, JSON_ARRAY);
        append(inspect, append_pair(inspect, measurements, text, measurement->poi), names);
        for (uint32_t k = 0; k < measurement->n_configs; k++) {
            const struct hf_name *name = measurement->configs[k].name;
            append_text(inspect, names, name->text);
            if (hf_name_types(name) == 0 && !name->is_argument)
                append_pair(inspect, parameters, text, name->text);
        }
        add_unused_poi(inspect, pois, text, measurement->poi);
        for (uint32_t k = 1; k < measurement->n_pois; k++) /* the first is `poi` */
            add_unused_poi(inspect, pois, text, measurement->pois[k]);
    }
}

/* Lists of functions, beyond pyhf's keys: only where there are any. */
static void add_functions(struct inspect *inspect, struct json *root)
{
    const struct hf_raw *raw = inspect->raw;
    struct json *functions = make(inspect, JSON_ARRAY), *unused = make(inspect, JSON_ARRAY);
    for (uint32_t i = 0; inspect->good && i < raw->n_measurements; i++) {
        const struct hf_raw_measurement *measurement = &raw->measurements[i];
        for (uint32_t k = 0; k < measurement->n_functions; k++) {
            const struct hf_raw_function *function = &measurement->functions[k];
            const struct hf_name *name = function->name;
            append_text(inspect, append_pair(inspect, functions, measurement->name->text, name->text),
                        function->text);
            if (hf_name_types(name) == 0 && !name->is_argument)
                append_pair(inspect, unused, measurement->name->text, name->text);
        }
    }
    if (!inspect->good) return;
    if (functions->count) set(inspect, root, HF_FUNCTIONS_KEY, functions);
    if (unused->count) set(inspect, (struct json *)json_get(root, "unused"), HF_FUNCTIONS_KEY, unused);
}

/* Appends measurement, name and parameters. */
static void append_group(struct inspect *inspect, struct json *list,
                         const struct hf_raw_measurement *measurement, const char *name, uint32_t n,
                         const char *const *parameters)
{
    struct json *names = make(inspect, JSON_ARRAY);
    for (uint32_t p = 0; p < n; p++) append_text(inspect, names, parameters[p]);
    append(inspect, append_pair(inspect, list, measurement->name->text, name), names);
}

/* Each correlation and each penalty, beyond pyhf's keys: only where there are any. */
static void add_correlations(struct inspect *inspect, struct json *root)
{
    const struct hf_raw *raw = inspect->raw;
    struct json *correlations = make(inspect, JSON_ARRAY), *penalties = make(inspect, JSON_ARRAY);
    for (uint32_t i = 0; inspect->good && i < raw->n_measurements; i++) {
        const struct hf_raw_measurement *m = &raw->measurements[i];
        for (uint32_t k = 0; k < m->n_correlations; k++)
            append_group(inspect, correlations, m, m->correlations[k].name, m->correlations[k].n,
                         m->correlations[k].parameters);
        for (uint32_t k = 0; k < m->n_penalties; k++)
            append_group(inspect, penalties, m, m->penalties[k].name, m->penalties[k].n,
                         m->penalties[k].parameters);
    }
    if (inspect->good && correlations->count) set(inspect, root, HF_CORRELATIONS_KEY, correlations);
    if (inspect->good && penalties->count) set(inspect, root, HF_PENALTIES_KEY, penalties);
}

paritas_status paritas_workspace_inspect(paritas_context *context, const paritas_workspace *workspace,
                                         paritas_workspace **out)
{
    static const struct json empty = {.type = JSON_OBJECT};
    struct arena arena;
    struct hf_raw raw;
    struct inspect inspect = {.raw = &raw, .good = true};
    if (out) *out = NULL;
    REQUIRE(context, workspace, out);
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    if (status == PARITAS_OK) {
        inspect.sorted = hf_names_rank(&raw.names);
        if (!inspect.sorted) status = paritas_fail_memory(context);
    }
    if (status == PARITAS_OK) status = json_copy(context, &empty, workspace->label, &inspect.out);
    if (status == PARITAS_OK) {
        add_names(&inspect, inspect.out->root);
        add_measurements(&inspect, inspect.out->root);
        add_functions(&inspect, inspect.out->root);
        add_correlations(&inspect, inspect.out->root);
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
