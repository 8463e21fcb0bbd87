/* workspace_functions.c: parameters that are expressions of others.
 *
 *   hf_functions_read ──► names, parsed expressions ──► hf_functions_order ──► those in use, arguments first
 *                     ──► hf_functions_place ──► numbers of the arguments */
#include "histfactory/workspace/workspace_read.h"

#include <stdio.h>
#include <string.h>

/* A member of function k; "": all of it. */
#define FUNCTION_PLACE(raw, measurement, k)                                                               \
    HF_MEMBER_AT(HF_MEMBER(HF_MEMBER_AT(HF_ROOT(&(raw)->source), "measurements", measurement), "config"), \
                 HF_FUNCTIONS_KEY, k)

/* ---- the document ---- */

static paritas_status read_expression(struct hf_raw *raw, const struct hf_place *place,
                                      const struct json *node, struct hf_raw_function *function)
{
    struct expression *e = &function->expression;
    uint32_t column;
    char reason[512];
    if (strlen(node->text) != node->length) return hf_refuse(place, "must not contain a NUL character");
    const paritas_status status =
        expression_parse(raw->source.context, raw->keep, node->text, NULL, 0, e, &column);
    if (status == PARITAS_INVALID_INPUT) {
        snprintf(reason, sizeof reason, "%.511s", raw->source.context->message);
        return hf_refuse(place, "column %u: %s", column, reason);
    }
    TRY(status);
    function->arguments = arena_array(raw->keep, e->n_names, sizeof *function->arguments);
    if (!function->arguments) return paritas_fail_memory(raw->source.context);
    for (uint32_t i = 0; i < e->n_names; i++) {
        TRY(hf_name_read(raw, e->names[i], strlen(e->names[i]), &function->arguments[i]));
        function->arguments[i]->is_argument = true;
    }
    return PARITAS_OK;
}

static paritas_status read_function(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    const uint32_t measurement = place->up->up->index;
    struct hf_raw_function *function = &raw->measurements[measurement].functions[place->index];
    const struct json *name_node, *expression;
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name_node},
                  {"expression", HF_STRING, &expression}));
    TRY(hf_name_read(raw, name_node->text, name_node->length, &function->name));
    function->text = expression->text;
    struct hf_name *name = function->name;
    if (hf_is_function(name, measurement))
        return hf_refuse(place, "the name \"%.200s\" is also that of functions[%u]", name->text,
                         name->function_at);
    if (name->config_in == measurement + 1)
        return hf_refuse(
            place, "\"%.200s\" is a function and cannot be configured as a parameter, as in parameters[%u]",
            name->text, name->config_at);
    name->function_in = measurement + 1;
    name->function_at = place->index;
    return read_expression(raw, HF_MEMBER(place, "expression"), expression, function);
}

paritas_status hf_functions_read(struct hf_raw *raw, const struct hf_place *config, const struct json *list,
                                 struct hf_raw_measurement *measurement)
{
    measurement->n_functions = list->count;
    measurement->functions = arena_array(raw->keep, list->count, sizeof *measurement->functions);
    if (!measurement->functions) return paritas_fail_memory(raw->source.context);
    return hf_each(config, HF_FUNCTIONS_KEY, list, read_function, raw);
}

/* ---- those in use ---- */

void hf_measurement_choose(const struct hf_raw *raw, uint32_t measurement)
{
    const struct hf_raw_measurement *chosen = &raw->measurements[measurement];
    for (uint32_t k = 0; k < chosen->n_configs; k++) {
        chosen->configs[k].name->config_in = measurement + 1;
        chosen->configs[k].name->config_at = k;
    }
    for (uint32_t k = 0; k < chosen->n_functions; k++) {
        chosen->functions[k].name->function_in = measurement + 1;
        chosen->functions[k].name->function_at = k;
    }
}

struct order {
    struct hf_raw *raw;
    struct hf_spec *spec;
    uint32_t measurement;
    void (*add)(void *user, struct hf_name *name);
    void *user;
};

static struct hf_raw_function *function_of(const struct hf_raw *raw, uint32_t measurement,
                                           const struct hf_name *name)
{
    return &raw->measurements[measurement].functions[name->function_at];
}

static paritas_status refuse_cycle(const struct order *o, const struct hf_name *name)
{
    char names[512] = "";
    const struct hf_name *at = name;
    do {
        const struct hf_raw_function *function = function_of(o->raw, o->measurement, at);
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "\"%.60s\" is a function of ", at->text);
        for (uint32_t i = 0; i < function->expression.n_names; i++)
            if (hf_is_function(function->arguments[i], o->measurement) &&
                function_of(o->raw, o->measurement, function->arguments[i])->open) {
                at = function->arguments[i];
                break;
            }
    } while (at != name && strlen(names) < sizeof names - 1);
    return hf_refuse(HF_MEMBER(FUNCTION_PLACE(o->raw, o->measurement, name->function_at), "expression"),
                     "a cycle: %s\"%.60s\"", names, name->text);
}

/* A parameter, which must exist. */
static paritas_status take_parameter(const struct order *o, const struct hf_raw_function *function,
                                     uint32_t i)
{
    struct hf_name *name = function->arguments[i];
    const struct hf_place *at =
        HF_MEMBER(FUNCTION_PLACE(o->raw, o->measurement, function->name->function_at), "expression");
    if (name->set == 0 && name->config_in == o->measurement + 1) o->add(o->user, name);
    if (name->set == 0)
        return hf_refuse(at,
                         "column %u: there is no parameter \"%.200s\": no modifier has the name, and the "
                         "measurement does not configure it",
                         function->expression.columns[i], name->text);
    const struct hf_modifier_kind *kind = o->spec->sets[name->set - 1].kind;
    if (kind->extent != HF_ONE)
        return hf_refuse(
            at, "column %u: \"%.200s\" is a %s, with a parameter for each bin, and cannot be an argument",
            function->expression.columns[i], name->text, kind->name);
    return PARITAS_OK;
}

static paritas_status check_modifiers(const struct order *o, const struct hf_name *name)
{
    const uint32_t others = hf_name_types(name) & ~HF_BIT(HF_NORMFACTOR);
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (others & HF_BIT(type))
            return hf_refuse(
                FUNCTION_PLACE(o->raw, o->measurement, name->function_at),
                "\"%.200s\" is a function, so a modifier of this name must be a normfactor; one is a %s",
                name->text, hf_kind((hf_type)type)->name);
    return PARITAS_OK;
}

/* Functions behind each other are far fewer than levels of the stack: a chain of more is refused. */
enum { CHAIN_MOST = 200 };

static paritas_status take_function(const struct order *o, struct hf_name *name, uint32_t level)
{
    struct hf_raw_function *function = function_of(o->raw, o->measurement, name);
    if (function->done) return PARITAS_OK;
    if (function->open) return refuse_cycle(o, name);
    if (level > CHAIN_MOST)
        return hf_refuse(FUNCTION_PLACE(o->raw, o->measurement, name->function_at),
                         "more than %d functions of one another", CHAIN_MOST);
    function->open = true;
    TRY(check_modifiers(o, name));
    for (uint32_t i = 0; i < function->expression.n_names; i++)
        TRY(hf_is_function(function->arguments[i], o->measurement)
                ? take_function(o, function->arguments[i], level + 1)
                : take_parameter(o, function, i));
    function->open = false;
    function->done = true;
    o->spec->functions[o->spec->n_functions++] =
        (struct hf_function){.key = name, .expression = &function->expression};
    return PARITAS_OK;
}

paritas_status hf_functions_order(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec,
                                  void (*add)(void *user, struct hf_name *name), void *user)
{
    const struct hf_raw_measurement *from = &raw->measurements[measurement];
    const struct order order = {raw, spec, measurement, add, user};
    if (from->n_functions == 0) return PARITAS_OK;
    spec->functions = arena_array(raw->keep, from->n_functions, sizeof *spec->functions);
    if (!spec->functions) return paritas_fail_memory(raw->source.context);
    for (uint32_t k = 0; k < from->n_functions; k++)
        if (hf_name_types(from->functions[k].name) != 0)
            TRY(take_function(&order, from->functions[k].name, 0));
    return PARITAS_OK;
}

paritas_status hf_functions_place(const struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec)
{
    for (uint32_t k = 0; k < spec->n_functions; k++) {
        struct hf_function *function = &spec->functions[k];
        const struct hf_raw_function *from = function_of(raw, measurement, function->key);
        struct hf_set *set = &spec->sets[spec->n_sets + k];
        *set = (struct hf_set){.name = function->key->text,
                               .kind = hf_kind(HF_NORMFACTOR),
                               .size = 1,
                               .scalar = true,
                               .first = spec->n_parameters + k};
        function->arguments = arena_array(raw->keep, from->expression.n_names, sizeof *function->arguments);
        if (!function->arguments) return paritas_fail_memory(raw->source.context);
        for (uint32_t i = 0; i < from->expression.n_names; i++)
            function->arguments[i] = spec->sets[from->arguments[i]->set - 1].first;
    }
    return PARITAS_OK;
}
