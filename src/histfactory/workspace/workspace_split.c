/* workspace_split.c: a parameter becomes one for each group of channels.
 *
 *   parameter ─► split names: it and the functions of it ─► channels: their modifiers get the group's names
 *       ─► measurements: configurations, functions and parameters of interest for each group */
#include "base/expression.h"
#include "base/pattern.h"
#include "base/sized.h"
#include "histfactory/workspace/workspace_read.h"

#include <string.h>

struct split {
    paritas_context *context;
    paritas_workspace *document; /* the copy; names are in its arena */
    const paritas_split_options *options;
    const char *parameter;
    const char **names; /* that are split; the first is the parameter */
    size_t n_names;
    const char **groups; /* that depend on it, in the order of the channels; those of masked channels last */
    size_t n_groups, n_compared; /* compared: those with a channel in the likelihood */
};

static struct json *member(const struct json *object, const char *key)
{
    return (struct json *)json_get(object, key); /* the document is our copy */
}

static struct json *children(const struct json *object, const char *key)
{
    const struct json *array = json_get(object, key);
    return array ? array->first : NULL;
}

static const char *name_of(const struct json *object)
{
    return json_get(object, "name")->text;
}

static bool is_split(const struct split *split, const char *name)
{
    for (size_t i = 0; i < split->n_names; i++)
        if (strcmp(split->names[i], name) == 0) return true;
    return false;
}

static struct arena *arena_of(const struct split *split)
{
    return &split->document->arena;
}

/* NAME_GROUP; NULL: out of memory. */
static const char *name_in(const struct split *split, const char *name, const char *group)
{
    struct text text;
    text_open(&text, &split->context->allocator);
    text_format(&text, "%s_%s", name, group);
    const char *made = text.failed ? NULL : arena_text(arena_of(split), text.bytes, text.length);
    text_free(&text);
    return made;
}

static bool set_text(struct json *node, const char *text)
{
    node->text = text;
    node->length = text ? (uint32_t)strlen(text) : 0;
    return text;
}

/* ---- names that are split ---- */

static paritas_status find_parameter(struct split *split)
{
    const paritas_split_options *o = split->options;
    const struct json *one = children(split->document->root, "measurements");
    split->parameter = o->parameter;
    if (o->parameter) return PARITAS_OK;
    while (one && o->measurement && strcmp(name_of(one), o->measurement) != 0) one = one->next;
    if (!one)
        return paritas_fail(split->context, PARITAS_NOT_FOUND, "%s: there is no measurement \"%.200s\"",
                            split->document->label, o->measurement ? o->measurement : "");
    split->parameter = json_get(json_get(one, "config"), "poi")->text;
    return PARITAS_OK;
}

/* Has the expression an argument that is split? */
static paritas_status depends(const struct split *split, const struct json *expression, bool *found)
{
    struct expression parsed;
    uint32_t column;
    *found = false;
    TRY(expression_parse(split->context, arena_of(split), expression->text, NULL, 0, &parsed, &column));
    for (uint32_t i = 0; i < parsed.n_names; i++) *found = *found || is_split(split, parsed.names[i]);
    return PARITAS_OK;
}

/* Functions of split names in one measurement. *more: there was one that is new. */
static paritas_status add_functions(struct split *split, const struct json *measurement, bool *more)
{
    const struct json *one = children(json_get(measurement, "config"), HF_FUNCTIONS_KEY);
    for (; one; one = one->next) {
        bool found;
        if (is_split(split, name_of(one))) continue;
        TRY(depends(split, json_get(one, "expression"), &found));
        if (!found) continue;
        split->names[split->n_names++] = name_of(one);
        *more = true;
    }
    return PARITAS_OK;
}

static paritas_status find_names(struct split *split)
{
    const struct json *measurements = json_get(split->document->root, "measurements");
    size_t most = 1;
    for (const struct json *one = measurements->first; one; one = one->next) {
        const struct json *functions = json_get(json_get(one, "config"), HF_FUNCTIONS_KEY);
        most += functions ? functions->count : 0;
    }
    split->names = arena_array(arena_of(split), most, sizeof *split->names);
    if (!split->names) return paritas_fail_memory(split->context);
    split->names[split->n_names++] = split->parameter;
    for (bool more = true; more;) {
        more = false;
        for (const struct json *one = measurements->first; one; one = one->next)
            TRY(add_functions(split, one, &more));
    }
    return PARITAS_OK;
}

/* ---- channels ---- */

static const char *group_of(const struct split *split, const char *channel)
{
    const paritas_names *groups = &split->options->groups;
    for (size_t i = 0; i + 1 < groups->count; i += 2)
        if (pattern_matches(groups->items[i + 1], channel)) return groups->items[i];
    return channel;
}

static paritas_status rename_modifier(const struct split *split, const struct json *channel,
                                      const struct json *modifier, const char *group)
{
    if (!json_text_is(json_get(modifier, "type"), "normfactor"))
        return paritas_fail(split->context, PARITAS_INVALID_INPUT,
                            "%s: channel \"%.200s\": the %s \"%.200s\" cannot be split: only normfactors can",
                            split->document->label, name_of(channel), json_get(modifier, "type")->text,
                            name_of(modifier));
    return set_text(member(modifier, "name"), name_in(split, name_of(modifier), group))
               ? PARITAS_OK
               : paritas_fail_memory(split->context);
}

static paritas_status split_channel(struct split *split, const struct json *channel)
{
    const char *group = group_of(split, name_of(channel));
    bool found = false;
    for (const struct json *sample = children(channel, "samples"); sample; sample = sample->next)
        for (const struct json *one = children(sample, "modifiers"); one; one = one->next) {
            if (!is_split(split, name_of(one))) continue;
            TRY(rename_modifier(split, channel, one, group));
            found = true;
        }
    for (size_t k = 0; k < split->n_groups; k++)
        if (strcmp(split->groups[k], group) == 0) return PARITAS_OK;
    if (found) split->groups[split->n_groups++] = group;
    return PARITAS_OK;
}

static paritas_status refuse_taken(const struct split *split, const char *name)
{
    for (size_t i = 0; i < split->n_names; i++)
        for (size_t k = 0; k < split->n_groups; k++) {
            const size_t length = strlen(split->names[i]);
            if (strncmp(name, split->names[i], length) == 0 && name[length] == '_' &&
                strcmp(name + length + 1, split->groups[k]) == 0)
                return paritas_fail(split->context, PARITAS_INVALID_INPUT,
                                    "%s: \"%.200s\" is there already, and is what \"%.200s\" becomes: give "
                                    "the group another name",
                                    split->document->label, name, split->names[i]);
        }
    return PARITAS_OK;
}

/* Before anything is renamed: are the new names free? Groups are those of all channels. */
static paritas_status check_free(struct split *split, const struct json *channels)
{
    size_t n = 0;
    for (const struct json *channel = channels->first; channel; channel = channel->next)
        split->groups[n++] = group_of(split, name_of(channel));
    split->n_groups = n;
    for (const struct json *channel = channels->first; channel; channel = channel->next)
        for (const struct json *sample = children(channel, "samples"); sample; sample = sample->next)
            for (const struct json *one = children(sample, "modifiers"); one; one = one->next)
                TRY(refuse_taken(split, name_of(one)));
    split->n_groups = 0;
    return PARITAS_OK;
}

static bool is_masked(const struct json *channel)
{
    return json_is(json_get(channel, HF_MASKED_KEY), JSON_TRUE);
}

static paritas_status split_channels(struct split *split)
{
    const struct json *channels = json_get(split->document->root, "channels");
    split->groups = arena_array(arena_of(split), channels->count, sizeof *split->groups);
    if (!split->groups) return paritas_fail_memory(split->context);
    TRY(check_free(split, channels));
    for (const struct json *channel = channels->first; channel; channel = channel->next)
        if (!is_masked(channel)) TRY(split_channel(split, channel));
    split->n_compared = split->n_groups;
    for (const struct json *channel = channels->first; channel; channel = channel->next)
        if (is_masked(channel)) TRY(split_channel(split, channel));
    if (split->n_compared > 0) return PARITAS_OK;
    return paritas_fail(split->context, PARITAS_NOT_FOUND, "%s: no channel depends on \"%.200s\"",
                        split->document->label, split->parameter);
}

/* ---- measurements ---- */

/* Old and new names of a group, in pairs. NULL: out of memory. */
static const char **pairs_of(const struct split *split, const char *group)
{
    const char **pairs = arena_array(arena_of(split), 2 * split->n_names, sizeof *pairs);
    for (size_t i = 0; pairs && i < split->n_names; i++) {
        pairs[2 * i] = split->names[i];
        pairs[2 * i + 1] = name_in(split, split->names[i], group);
        if (!pairs[2 * i + 1]) return NULL;
    }
    return pairs;
}

/* A copy of a configuration or a function, for a group. */
static bool append_for(const struct split *split, struct json *array, const struct json *item,
                       const char *group)
{
    struct json *copy = json_clone(split->document, item);
    const char **pairs = pairs_of(split, group);
    if (!copy || !pairs || !set_text(member(copy, "name"), name_in(split, name_of(item), group)))
        return false;
    struct json *expression = member(copy, "expression");
    if (expression && !set_text(expression, expression_rename(arena_of(split), expression->text, pairs,
                                                              2 * split->n_names)))
        return false;
    return json_append(array, copy);
}

/* Named objects of a configuration: those that are split become one for each group. */
static bool split_list(const struct split *split, struct json *array)
{
    struct json *one = array ? array->first : NULL, *next;
    if (!array) return true;
    array->first = array->last = NULL;
    array->count = 0;
    for (; one; one = next) {
        next = one->next;
        one->next = NULL;
        if (!is_split(split, name_of(one))) {
            if (!json_append(array, one)) return false;
            continue;
        }
        for (size_t k = 0; k < split->n_groups; k++)
            if (!append_for(split, array, one, split->groups[k])) return false;
    }
    return true;
}

/* A parameter of masked channels alone has no best value. */
static bool set_pois(const struct split *split, struct json *config)
{
    paritas_workspace *document = split->document;
    struct json *pois = json_new(document, JSON_ARRAY);
    for (size_t k = 0; pois && k < split->n_compared; k++) {
        const char *name = name_in(split, split->parameter, split->groups[k]);
        struct json *text = name ? json_new_text(document, name) : NULL;
        if (!json_append(pois, text) || (k == 0 && !set_text(member(config, "poi"), name))) return false;
    }
    return pois && json_set(document, config, "pois", pois);
}

static paritas_status split_measurements(const struct split *split)
{
    for (const struct json *one = children(split->document->root, "measurements"); one; one = one->next) {
        struct json *config = member(one, "config");
        if (!split_list(split, member(config, "parameters")) ||
            !split_list(split, member(config, HF_FUNCTIONS_KEY)) || !set_pois(split, config))
            return paritas_fail_memory(split->context);
    }
    return PARITAS_OK;
}

/* ---- the operation ---- */

static paritas_status check_groups(paritas_context *context, const paritas_names *groups)
{
    if (groups->count % 2 != 0) return paritas_refuse(context, "groups must come in pairs, name and pattern");
    for (size_t i = 0; i < groups->count; i++)
        if (!groups->items || !groups->items[i] || groups->items[i][0] == '\0')
            return paritas_refuse(context, "groups: item %zu is empty", i);
    return PARITAS_OK;
}

/* Each group has a channel that no earlier one took. */
static paritas_status check_channels(const struct split *split)
{
    const paritas_names *groups = &split->options->groups;
    for (size_t i = 0; i < groups->count; i += 2) {
        bool any = false;
        for (const struct json *one = children(split->document->root, "channels"); one; one = one->next)
            any = any || group_of(split, json_get(one, "name")->text) == groups->items[i];
        if (!any)
            return paritas_refuse(
                split->context,
                "group \"%.100s\": no channel is left that \"%.100s\" matches: mend the pattern",
                groups->items[i], groups->items[i + 1]);
    }
    return PARITAS_OK;
}

static paritas_status split_copy(struct split *split)
{
    TRY(check_channels(split));
    TRY(find_parameter(split));
    TRY(find_names(split));
    TRY(split_channels(split));
    return split_measurements(split);
}

paritas_status paritas_workspace_split(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_split_options *given, paritas_workspace **out)
{
    paritas_split_options options = PARITAS_SPLIT_OPTIONS_DEFAULT;
    struct split split = {.context = context, .options = &options};
    if (out) *out = NULL;
    REQUIRE(context, workspace, out);
    TRY(SIZED_TAKE(context, paritas_split_options, "options", given, &options));
    TRY(check_groups(context, &options.groups));
    TRY(hf_workspace_check(context, workspace));
    TRY(json_copy_as(context, workspace, &split.document, "split"));
    paritas_status status = split_copy(&split);
    if (status == PARITAS_OK) status = hf_workspace_check(context, split.document);
    return json_hand_out(status, split.document, out);
}
