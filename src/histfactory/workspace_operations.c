/* workspace_operations.c: sort, prune, rename and combine workspaces. Each works on a copy of its input, whose shape
 * has been checked, so that the members it walks are there, and checks the shape of what it made. */
#include "base/utf8.h"
#include "base/sized.h"
#include "histfactory/workspace_read.h"

#include <string.h>

/* ---- trees of checked documents ---- */

static struct json *member(struct json *object, const char *key)
{
    return (struct json *)json_get(object, key); /* the caller owns the tree */
}

static const char *name_of(const struct json *object)
{
    return json_get(object, "name")->text;
}

/* Replaces the text of a string node. */
static bool set_text(struct paritas_workspace *document, struct json *node, const char *text)
{
    size_t length = strlen(text);
    node->text = arena_text(&document->arena, text, length);
    node->length = (uint32_t)length;
    return node->text != NULL;
}

/* Takes all children out of an array; they stay linked by `next`. */
static struct json *take_children(struct json *array)
{
    struct json *first = array->first;
    array->first = array->last = NULL;
    array->count = 0;
    return first;
}

/* A copy of `source` to work on, labelled "LABEL (what)". */
static paritas_status copy_for(paritas_context *context, const struct paritas_workspace *source,
                               const char *what, struct paritas_workspace **out)
{
    struct text label;
    text_open(&label, &context->allocator);
    text_format(&label, "%s (%s)", source->label, what);
    text_append(&label, "", 1);
    paritas_status status =
        label.failed ? paritas_fail_memory(context) : json_copy(context, source->root, label.bytes, out);
    text_free(&label);
    return status;
}

/* What every operation has to be given. */
static paritas_status check_arguments(paritas_context *context, const struct paritas_workspace *workspace,
                                      struct paritas_workspace **out)
{
    if (out != NULL) *out = NULL;
    if (context == NULL || out == NULL) return PARITAS_INVALID_ARGUMENT;
    return workspace != NULL ? PARITAS_OK
                             : paritas_fail(context, PARITAS_INVALID_ARGUMENT, "no workspace is given");
}

/* Hands out `made` if it succeeded so far and has the right shape, frees it otherwise. */
static paritas_status finish(paritas_context *context, paritas_status status, struct paritas_workspace *made,
                             struct paritas_workspace **out)
{
    if (status == PARITAS_OK) status = hf_workspace_check(context, made);
    if (status != PARITAS_OK) {
        paritas_workspace_free(made);
        return status;
    }
    *out = made;
    return PARITAS_OK;
}

/* ---- sort ---- */

struct entry {
    const char *name, *type; /* type: "" but for modifiers */
    struct json *node;
};

static bool entry_after(const struct entry *a, const struct entry *b)
{
    int order = strcmp(a->name, b->name);
    return order != 0 ? order > 0 : strcmp(a->type, b->type) > 0;
}

/* Merge sort that keeps equals in order. `scratch` has n places. */
static void sort_entries(struct entry *entries, struct entry *scratch, size_t n)
{
    if (n < 2) return;
    size_t half = n / 2, a = 0, b = half;
    sort_entries(entries, scratch, half);
    sort_entries(entries + half, scratch, n - half);
    memcpy(scratch, entries, n * sizeof *entries);
    for (size_t k = 0; k < n; k++) {
        bool right = a == half || (b < n && entry_after(&scratch[a], &scratch[b]));
        entries[k] = right ? scratch[b++] : scratch[a++];
    }
}

/* Sorts the children of an array by name, then type. False when memory runs out. */
static bool sort_children(paritas_context *context, struct json *array)
{
    size_t n = array->count;
    if (n < 2) return true;
    struct entry *entries = paritas_allocate(context, n, 2 * sizeof *entries);
    if (entries == NULL) return false;
    size_t i = 0;
    for (struct json *child = take_children(array); child != NULL; child = child->next) {
        const struct json *type = json_get(child, "type");
        entries[i++] = (struct entry){name_of(child), type != NULL ? type->text : "", child};
    }
    sort_entries(entries, entries + n, n);
    for (i = 0; i < n; i++) json_append(array, entries[i].node);
    paritas_release(&context->allocator, entries);
    return true;
}

static bool sort_tree(paritas_context *context, struct json *root)
{
    struct json *channels = member(root, "channels"), *measurements = member(root, "measurements");
    bool good = sort_children(context, channels) && sort_children(context, measurements) &&
                sort_children(context, member(root, "observations"));
    for (struct json *channel = channels->first; good && channel != NULL; channel = channel->next) {
        struct json *samples = member(channel, "samples");
        good = sort_children(context, samples);
        for (struct json *sample = samples->first; good && sample != NULL; sample = sample->next)
            good = sort_children(context, member(sample, "modifiers"));
    }
    for (struct json *measurement = measurements->first; good && measurement != NULL;
         measurement = measurement->next)
        good = sort_children(context, member(member(measurement, "config"), "parameters"));
    return good;
}

paritas_status paritas_workspace_sort(paritas_context *context, const struct paritas_workspace *workspace,
                                      struct paritas_workspace **out)
{
    struct paritas_workspace *made = NULL;
    paritas_status status = check_arguments(context, workspace, out);
    if (status != PARITAS_OK) return status;
    status = hf_workspace_check(context, workspace);
    if (status == PARITAS_OK) status = copy_for(context, workspace, "sorted", &made);
    if (status == PARITAS_OK && !sort_tree(context, made->root)) status = paritas_fail_memory(context);
    return finish(context, status, made, out);
}

/* ---- names that must be there ---- */

typedef enum kind { CHANNEL, SAMPLE, MODIFIER, MODIFIER_TYPE, MEASUREMENT } kind;
static const char *const kind_names[] = {"channel", "sample", "modifier", "modifier of type", "measurement"};

static bool type_in_use(const struct hf_raw *raw, hf_type type)
{
    for (uint32_t i = 0; type != HF_TYPE_COUNT && i < raw->names.count; i++)
        if (raw->names.items[i].modifier_in[type] != 0) return true;
    return false;
}

static bool is_there(const struct hf_raw *raw, kind what, const char *text)
{
    if (what == MODIFIER_TYPE) return type_in_use(raw, hf_type_of(text));
    uint32_t id = hf_names_find(&raw->names, text);
    if (id == HF_NONE) return false;
    const struct hf_name *name = &raw->names.items[id];
    uint32_t types = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++) types |= name->modifier_in[type];
    return (what == CHANNEL    ? name->channel
            : what == SAMPLE   ? name->sample_in
            : what == MODIFIER ? types
                               : name->measurement) != 0;
}

static bool is_utf8(const char *text)
{
    size_t step = 1;
    for (size_t left = strlen(text); left != 0 && step != 0; text += step, left -= step)
        step = utf8_sequence((const unsigned char *)text, left);
    return step != 0;
}

/* Texts must be there, new ones fit for a document, and every step-th name of the list in the workspace. */
static paritas_status check_names(const struct hf_raw *raw, kind what, const paritas_names *list, size_t step)
{
    if (list->count % step != 0)
        return paritas_fail(raw->context, PARITAS_INVALID_ARGUMENT,
                            "names of a %s must come in pairs, old and new", kind_names[what]);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items == NULL || list->items[i] == NULL)
            return paritas_fail(raw->context, PARITAS_INVALID_ARGUMENT, "%s: name %zu is NULL",
                                kind_names[what], i);
        if (i % step == 0 && !is_there(raw, what, list->items[i]))
            return paritas_fail(raw->context, PARITAS_NOT_FOUND, "%s: there is no %s \"%.200s\"", raw->label,
                                kind_names[what], list->items[i]);
        if (i % step != 0 && !is_utf8(list->items[i]))
            return paritas_fail(raw->context, PARITAS_INVALID_ARGUMENT,
                                "%s: the new name of \"%.200s\" is not UTF-8", kind_names[what],
                                list->items[i - 1]);
    }
    return PARITAS_OK;
}

static bool in_list(const paritas_names *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0) return true;
    return false;
}

/* ---- prune ---- */

/* Keeps the children whose `key` is not in the list. */
static void drop(struct json *array, const char *key, const paritas_names *list)
{
    struct json *next, *child = list->count != 0 ? take_children(array) : NULL;
    for (; child != NULL; child = next) {
        next = child->next;
        if (!in_list(list, json_get(child, key)->text)) json_append(array, child);
    }
}

static void prune_tree(struct json *root, const paritas_prune_options *prune)
{
    struct json *channels = member(root, "channels"), *measurements = member(root, "measurements");
    drop(channels, "name", &prune->channels);
    drop(measurements, "name", &prune->measurements);
    drop(member(root, "observations"), "name", &prune->channels);
    for (struct json *channel = channels->first; channel != NULL; channel = channel->next) {
        struct json *samples = member(channel, "samples");
        drop(samples, "name", &prune->samples);
        for (struct json *sample = samples->first; sample != NULL; sample = sample->next) {
            drop(member(sample, "modifiers"), "name", &prune->modifiers);
            drop(member(sample, "modifiers"), "type", &prune->modifier_types);
        }
    }
    for (struct json *measurement = measurements->first; measurement != NULL; measurement = measurement->next)
        drop(member(member(measurement, "config"), "parameters"), "name", &prune->modifiers);
}

static paritas_status check_prune(paritas_context *context, const struct paritas_workspace *workspace,
                                  const paritas_prune_options *prune)
{
    struct arena arena;
    struct hf_raw raw;
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    if (status == PARITAS_OK) status = check_names(&raw, MODIFIER_TYPE, &prune->modifier_types, 1);
    if (status == PARITAS_OK) status = check_names(&raw, MODIFIER, &prune->modifiers, 1);
    if (status == PARITAS_OK) status = check_names(&raw, SAMPLE, &prune->samples, 1);
    if (status == PARITAS_OK) status = check_names(&raw, CHANNEL, &prune->channels, 1);
    if (status == PARITAS_OK) status = check_names(&raw, MEASUREMENT, &prune->measurements, 1);
    arena_free(&arena);
    return status;
}

paritas_status paritas_workspace_prune(paritas_context *context, const struct paritas_workspace *workspace,
                                       const paritas_prune_options *given, struct paritas_workspace **out)
{
    paritas_prune_options prune = PARITAS_PRUNE_OPTIONS_DEFAULT;
    struct paritas_workspace *made = NULL;
    paritas_status status = check_arguments(context, workspace, out);
    if (status != PARITAS_OK) return status;
    status = SIZED_TAKE(context, paritas_prune_options, "options", given, &prune);
    if (status == PARITAS_OK) status = check_prune(context, workspace, &prune);
    if (status == PARITAS_OK) status = copy_for(context, workspace, "pruned", &made);
    if (status == PARITAS_OK) prune_tree(made->root, &prune);
    return finish(context, status, made, out);
}

/* ---- rename ---- */

/* Renames a string node if a pair says so; of two pairs with one old name the last holds. */
static bool rename_node(struct paritas_workspace *document, struct json *node, const paritas_names *pairs)
{
    for (size_t i = pairs->count; i >= 2; i -= 2)
        if (strcmp(pairs->items[i - 2], node->text) == 0)
            return set_text(document, node, pairs->items[i - 1]);
    return true;
}

static bool rename_children(struct paritas_workspace *document, struct json *array,
                            const paritas_names *pairs)
{
    bool good = true;
    for (struct json *child = array->first; good && child != NULL; child = child->next)
        good = rename_node(document, member(child, "name"), pairs);
    return good;
}

static bool rename_tree(struct paritas_workspace *document, const paritas_rename_options *rename)
{
    struct json *root = document->root, *channels = member(root, "channels"),
                *measurements = member(root, "measurements");
    bool good = rename_children(document, channels, &rename->channels) &&
                rename_children(document, measurements, &rename->measurements) &&
                rename_children(document, member(root, "observations"), &rename->channels);
    for (struct json *channel = channels->first; good && channel != NULL; channel = channel->next) {
        struct json *samples = member(channel, "samples");
        good = rename_children(document, samples, &rename->samples);
        for (struct json *sample = samples->first; good && sample != NULL; sample = sample->next)
            good = rename_children(document, member(sample, "modifiers"), &rename->modifiers);
    }
    for (struct json *measurement = measurements->first; good && measurement != NULL;
         measurement = measurement->next) {
        struct json *config = member(measurement, "config");
        good = rename_children(document, member(config, "parameters"), &rename->modifiers) &&
               rename_node(document, member(config, "poi"), &rename->modifiers);
    }
    return good;
}

static paritas_status check_rename(paritas_context *context, const struct paritas_workspace *workspace,
                                   const paritas_rename_options *rename)
{
    struct arena arena;
    struct hf_raw raw;
    arena_open(&arena, &context->allocator);
    paritas_status status = hf_raw_read(context, workspace, &arena, &arena, &raw);
    if (status == PARITAS_OK) status = check_names(&raw, MODIFIER, &rename->modifiers, 2);
    if (status == PARITAS_OK) status = check_names(&raw, SAMPLE, &rename->samples, 2);
    if (status == PARITAS_OK) status = check_names(&raw, CHANNEL, &rename->channels, 2);
    if (status == PARITAS_OK) status = check_names(&raw, MEASUREMENT, &rename->measurements, 2);
    arena_free(&arena);
    return status;
}

paritas_status paritas_workspace_rename(paritas_context *context, const struct paritas_workspace *workspace,
                                        const paritas_rename_options *given, struct paritas_workspace **out)
{
    paritas_rename_options rename = PARITAS_RENAME_OPTIONS_DEFAULT;
    struct paritas_workspace *made = NULL;
    paritas_status status = check_arguments(context, workspace, out);
    if (status != PARITAS_OK) return status;
    status = SIZED_TAKE(context, paritas_rename_options, "options", given, &rename);
    if (status == PARITAS_OK) status = check_rename(context, workspace, &rename);
    if (status == PARITAS_OK) status = copy_for(context, workspace, "renamed", &made);
    if (status == PARITAS_OK && !rename_tree(made, &rename)) status = paritas_fail_memory(context);
    return finish(context, status, made, out);
}

/* ---- combine ---- */

enum join { NONE, OUTER, LEFT_OUTER, RIGHT_OUTER };

static bool join_of(const char *text, enum join *join)
{
    static const char *const names[] = {"none", "outer", "left outer", "right outer"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *join = (enum join)i;
        return true;
    }
    return false;
}

struct combine {
    paritas_context *context;
    const struct paritas_workspace *left, *right;
    struct paritas_workspace *made; /* begins as a copy of the side that wins */
    enum join join;
};

/* The first of `array` with this name; NULL: none. */
static const struct json *find(const struct json *array, const char *name)
{
    const struct json *item = array->first;
    while (item != NULL && strcmp(name_of(item), name) != 0) item = item->next;
    return item;
}

static paritas_status append_copy(struct combine *combine, struct json *array, const struct json *item)
{
    return json_append(array, json_clone(combine->made, item)) ? PARITAS_OK
                                                               : paritas_fail_memory(combine->context);
}

static paritas_status refuse_join(const struct combine *combine, const char *array, const struct json *item,
                                  const char *reason)
{
    return paritas_fail(combine->context, PARITAS_INVALID_INPUT, "%s and %s: %s: \"%.200s\" %s",
                        combine->left->label, combine->right->label, array, name_of(item), reason);
}

/* Appends to `samples` those of `more` whose name it lacks. */
static paritas_status merge_samples(struct combine *combine, struct json *samples, const struct json *more)
{
    for (const struct json *sample = more->first; sample != NULL; sample = sample->next) {
        paritas_status status =
            find(samples, name_of(sample)) == NULL ? append_copy(combine, samples, sample) : PARITAS_OK;
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

/* Joins the channels or the observations (`array`) of the losing side into ours. */
static paritas_status join_items(struct combine *combine, const char *array, const struct json *other,
                                 bool merge)
{
    struct json *ours = member(combine->made->root, array);
    for (const struct json *item = json_get(other, array)->first; item != NULL; item = item->next) {
        const struct json *twin = find(ours, name_of(item));
        paritas_status status = PARITAS_OK;
        if (twin == NULL)
            status = append_copy(combine, ours, item);
        else if (combine->join == NONE)
            status = refuse_join(combine, array, item, "is in both");
        else if (merge)
            status =
                merge_samples(combine, member((struct json *)twin, "samples"), json_get(item, "samples"));
        else if (combine->join == OUTER && !json_equal(twin, item))
            status = refuse_join(combine, array, item, "is in both and differs");
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

/* OUTER: puts the parameter configurations of `item` into `twin`, a measurement of the same name. */
static paritas_status merge_measurement(struct combine *combine, struct json *twin, const struct json *item)
{
    struct json *config = member(twin, "config"), *parameters = member(config, "parameters");
    const struct json *other = json_get(item, "config");
    if (!json_equal(json_get(config, "poi"), json_get(other, "poi")))
        return refuse_join(combine, "measurements", item, "is in both with different parameters of interest");
    for (const struct json *parameter = json_get(other, "parameters")->first; parameter != NULL;
         parameter = parameter->next) {
        const struct json *same = find(parameters, name_of(parameter));
        if (same != NULL && !json_equal(same, parameter))
            return paritas_fail(
                combine->context, PARITAS_INVALID_INPUT,
                "%s and %s: measurements: \"%.200s\" configures \"%.200s\" differently in both",
                combine->left->label, combine->right->label, name_of(item), name_of(parameter));
        paritas_status status = same == NULL ? append_copy(combine, parameters, parameter) : PARITAS_OK;
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

static paritas_status join_measurements(struct combine *combine, const struct json *other)
{
    struct json *ours = member(combine->made->root, "measurements");
    for (const struct json *item = json_get(other, "measurements")->first; item != NULL; item = item->next) {
        const struct json *twin = find(ours, name_of(item));
        paritas_status status = PARITAS_OK;
        if (twin == NULL)
            status = append_copy(combine, ours, item);
        else if (combine->join == NONE)
            status = refuse_join(combine, "measurements", item, "is in both");
        else if (combine->join == OUTER)
            status = merge_measurement(combine, (struct json *)twin, item);
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

paritas_status paritas_workspace_combine(paritas_context *context, const struct paritas_workspace *left,
                                         const struct paritas_workspace *right, const char *join,
                                         int merge_channels, struct paritas_workspace **out)
{
    struct combine combine = {context, left, right, NULL, NONE};
    paritas_status status = check_arguments(context, left, out);
    if (status == PARITAS_OK) status = check_arguments(context, right, out);
    if (status != PARITAS_OK) return status;
    if (join != NULL && !join_of(join, &combine.join))
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "join \"%.200s\": there are none, outer, left outer, right outer", join);
    if (merge_channels && combine.join == NONE)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "channels can be merged by an outer join only, not by \"none\"");
    status = hf_workspace_check(context, left);
    if (status == PARITAS_OK) status = hf_workspace_check(context, right);
    const struct paritas_workspace *winner = combine.join == RIGHT_OUTER ? right : left,
                                   *other = winner == left ? right : left;
    struct text what;
    text_open(&what, &context->allocator);
    text_format(&what, "combined with %s", other->label);
    text_append(&what, "", 1);
    if (status == PARITAS_OK)
        status =
            what.failed ? paritas_fail_memory(context) : copy_for(context, winner, what.bytes, &combine.made);
    text_free(&what);
    if (status == PARITAS_OK) status = join_items(&combine, "channels", other->root, merge_channels != 0);
    if (status == PARITAS_OK) status = join_items(&combine, "observations", other->root, false);
    if (status == PARITAS_OK) status = join_measurements(&combine, other->root);
    return finish(context, status, combine.made, out);
}
