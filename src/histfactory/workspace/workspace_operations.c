/* workspace_operations.c: sort, prune, mask, rename, combine. Each checks its input, works on a copy, and
 * checks the result. */
#include "base/utf8.h"
#include "base/sized.h"
#include "histfactory/workspace/workspace_read.h"

#include <stdlib.h>
#include <string.h>

static struct json *member(struct json *object, const char *key)
{
    return (struct json *)json_get(object, key); /* the caller owns the tree */
}

static const char *name_of(const struct json *object)
{
    return json_get(object, "name")->text;
}

/* The children stay linked by `next`. */
static struct json *take_children(struct json *array)
{
    struct json *first = array->first;
    array->first = array->last = NULL;
    array->count = 0;
    return first;
}

static paritas_status check_arguments(paritas_context *context, const paritas_workspace *workspace,
                                      paritas_workspace **out)
{
    if (out) *out = NULL;
    REQUIRE(context, workspace, out);
    return PARITAS_OK;
}

/* Hands out `made` if all is well, else frees it. */
static paritas_status finish(paritas_context *context, paritas_status status, paritas_workspace *made,
                             paritas_workspace **out)
{
    return json_hand_out(status == PARITAS_OK ? hf_workspace_check(context, made) : status, made, out);
}

typedef enum kind { CHANNEL, SAMPLE, MODIFIER, MEASUREMENT, MODIFIER_TYPE, KINDS } kind;
static const char *const kind_names[KINDS] = {"channel", "sample", "modifier", "measurement",
                                              "modifier of type"};

/* Called for one array, one correlation or penalty (may be NULL); false stops the walk. */
struct visit {
    bool (*array)(struct visit *visit, struct json *array, kind what);
    bool (*correlation)(const struct visit *visit, struct json *correlation);
    paritas_context *context;
    paritas_workspace *document;
    const paritas_workspace *before; /* of `drop_correlated` */
    const paritas_names *lists[KINDS];
};

/* Visits those of a measurement. Drops one that has no parameter left. */
static bool visit_correlations(const struct visit *visit, struct json *config, const char *key)
{
    struct json *list = member(config, key), *next;
    bool good = true;
    for (struct json *one = list ? list->first : NULL; good && one; one = next) {
        next = one->next;
        good = visit->correlation(visit, one);
        if (good && member(one, "parameters")->count == 0) json_remove(list, one);
    }
    return good;
}

/* Visits arrays of named elements, outer before inner. */
static bool visit_arrays(struct visit *visit)
{
    struct json *root = visit->document->root, *channels = member(root, "channels"),
                *measurements = member(root, "measurements");
    bool good = visit->array(visit, channels, CHANNEL) && visit->array(visit, measurements, MEASUREMENT) &&
                visit->array(visit, member(root, "observations"), CHANNEL);
    for (struct json *channel = channels->first; good && channel; channel = channel->next) {
        struct json *samples = member(channel, "samples");
        good = visit->array(visit, samples, SAMPLE);
        for (struct json *sample = samples->first; good && sample; sample = sample->next)
            good = visit->array(visit, member(sample, "modifiers"), MODIFIER);
    }
    for (struct json *measurement = measurements->first; good && measurement;
         measurement = measurement->next) {
        struct json *config = member(measurement, "config"), *functions = member(config, HF_FUNCTIONS_KEY);
        good = visit->array(visit, member(config, "parameters"), MODIFIER) &&
               (!functions || visit->array(visit, functions, MODIFIER)) &&
               (!visit->correlation || (visit_correlations(visit, config, HF_CORRELATIONS_KEY) &&
                                        visit_correlations(visit, config, HF_PENALTIES_KEY)));
    }
    return good;
}

/* Name, then type (modifiers only). */
static int by_name(const void *left, const void *right)
{
    const struct json *a = *(const struct json *const *)left, *b = *(const struct json *const *)right;
    const int order = strcmp(name_of(a), name_of(b));
    const struct json *type_a = json_get(a, "type"), *type_b = json_get(b, "type");
    return order != 0 || !type_a || !type_b ? order : strcmp(type_a->text, type_b->text);
}

static bool sort_children(struct visit *visit, struct json *array, kind what)
{
    const size_t n = array->count;
    struct json **children = paritas_allocate(visit->context, n, sizeof *children);
    (void)what;
    if (!children) return false;
    size_t i = 0;
    for (struct json *child = take_children(array); child; child = child->next) children[i++] = child;
    qsort(children, n, sizeof *children, by_name);
    for (i = 0; i < n; i++) json_append(array, children[i]);
    paritas_release(&visit->context->allocator, children);
    return true;
}

static bool type_in_use(const struct hf_raw *raw, hf_type type)
{
    for (uint32_t i = 0; type != HF_TYPE_COUNT && i < raw->names.size; i++)
        if (raw->names.table[i] && raw->names.table[i]->modifier_in[type] != 0) return true;
    return false;
}

static bool is_there(const struct hf_raw *raw, kind what, const char *text)
{
    if (what == MODIFIER_TYPE) return type_in_use(raw, hf_type_of(text));
    const struct hf_name *name = hf_names_find(&raw->names, text);
    return name && (what == CHANNEL    ? name->channel
                    : what == SAMPLE   ? name->sample_in
                    : what == MODIFIER ? hf_name_types(name) | name->is_argument
                                       : name->measurement) != 0;
}

static bool is_utf8(const char *text)
{
    size_t step = 1;
    for (size_t left = strlen(text); left != 0 && step != 0; text += step, left -= step)
        step = utf8_sequence((const unsigned char *)text, left);
    return step != 0;
}

/* Texts exist, new ones are valid, every step-th name is in the workspace. */
static paritas_status check_names(const struct hf_raw *raw, kind what, const paritas_names *list, size_t step)
{
    paritas_context *context = raw->source.context;
    if (list->count % step != 0)
        return paritas_refuse(context, "names of a %s must come in pairs, old and new", kind_names[what]);
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items || !list->items[i])
            return paritas_refuse(context, "%s: name %zu is NULL", kind_names[what], i);
        if (i % step == 0 && !is_there(raw, what, list->items[i]))
            return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no %s \"%.200s\"",
                                raw->source.label, kind_names[what], list->items[i]);
        if (i % step != 0 && !is_utf8(list->items[i]))
            return paritas_refuse(context, "%s: the new name of \"%.200s\" is not UTF-8", kind_names[what],
                                  list->items[i - 1]);
    }
    return PARITAS_OK;
}

static paritas_status check_lists(const struct visit *visit, const paritas_workspace *workspace, size_t step)
{
    static const kind order[] = {MODIFIER_TYPE, MODIFIER, SAMPLE, CHANNEL, MEASUREMENT};
    struct arena arena;
    struct hf_raw raw;
    arena_open(&arena, &visit->context->allocator);
    paritas_status status = hf_raw_read(visit->context, workspace, &arena, &arena, &raw);
    for (int k = 0; k < KINDS && status == PARITAS_OK; k++)
        if (visit->lists[order[k]]) status = check_names(&raw, order[k], visit->lists[order[k]], step);
    arena_free(&arena);
    return status;
}

/* A copy labelled `what`, with the names in the visitor's lists checked and its arrays visited. */
static paritas_status transform(struct visit *visit, const paritas_workspace *workspace, size_t step,
                                const char *what, paritas_workspace **out)
{
    TRY(check_lists(visit, workspace, step));
    TRY(json_copy_as(visit->context, workspace, &visit->document, "%s", what));
    const bool done = visit_arrays(visit);
    return finish(visit->context, done ? PARITAS_OK : paritas_fail_memory(visit->context), visit->document,
                  out);
}

paritas_status paritas_workspace_sort(paritas_context *context, const paritas_workspace *workspace,
                                      paritas_workspace **out)
{
    struct visit visit = {.array = sort_children, .context = context};
    TRY(check_arguments(context, workspace, out));
    return transform(&visit, workspace, 1, "sorted", out);
}

static bool in_list(const paritas_names *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0) return true;
    return false;
}

/* Drops children whose name or type is listed. */
static bool drop(struct visit *visit, struct json *array, kind what)
{
    const paritas_names *names = visit->lists[what], *types = visit->lists[MODIFIER_TYPE];
    struct json *next;
    for (struct json *child = take_children(array); child; child = next) {
        next = child->next;
        const struct json *type = json_get(child, "type");
        if (!in_list(names, name_of(child)) && !(type && in_list(types, type->text)))
            json_append(array, child);
    }
    return true;
}

static size_t base_length(const char *parameter)
{
    const char *bracket = strrchr(parameter, '[');
    return bracket ? (size_t)(bracket - parameter) : strlen(parameter);
}

/* Is this the name of the parameter, "x", or of its set, "x" of "x[0]"? */
static bool names_parameter(const char *name, const char *parameter)
{
    const size_t length = base_length(parameter);
    return strcmp(name, parameter) == 0 || (strncmp(name, parameter, length) == 0 && name[length] == '\0');
}

static bool has_modifier(const struct json *root, const char *parameter)
{
    for (const struct json *channel = json_get(root, "channels")->first; channel; channel = channel->next)
        for (const struct json *sample = json_get(channel, "samples")->first; sample; sample = sample->next)
            for (const struct json *one = json_get(sample, "modifiers")->first; one; one = one->next)
                if (names_parameter(name_of(one), parameter)) return true;
    return false;
}

static void drop_child(struct json *array, size_t index)
{
    struct json *child = array->first;
    while (index-- > 0) child = child->next;
    json_remove(array, child);
}

/* Without parameters whose last modifier was pruned: the others' joint law is the same matrix without their
 * rows and columns. A penalty is as with these parameters at their centres. */
static bool drop_correlated(const struct visit *visit, struct json *correlation)
{
    struct json *parameters = member(correlation, "parameters"), *rows = member(correlation, "rows"),
                *matrix = rows ? NULL : member(correlation, "correlation"),
                *centre = member(correlation, "centre"), *next;
    size_t index = 0;
    if (!rows && !matrix) matrix = member(correlation, "covariance");
    if (!rows) rows = matrix;
    for (struct json *one = parameters->first; one; one = next) {
        next = one->next;
        if (has_modifier(visit->document->root, one->text) || !has_modifier(visit->before->root, one->text)) {
            index++;
            continue;
        }
        json_remove(parameters, one);
        if (matrix) drop_child(matrix, index);
        if (centre) drop_child(centre, index);
        for (struct json *row = rows->first; row; row = row->next) drop_child(row, index);
    }
    return true;
}

paritas_status paritas_workspace_prune(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_prune_options *given, paritas_workspace **out)
{
    paritas_prune_options prune = PARITAS_PRUNE_OPTIONS_DEFAULT;
    struct visit visit = {.array = drop,
                          .correlation = drop_correlated,
                          .before = workspace,
                          .context = context,
                          .lists = {[CHANNEL] = &prune.channels,
                                    [SAMPLE] = &prune.samples,
                                    [MODIFIER] = &prune.modifiers,
                                    [MODIFIER_TYPE] = &prune.modifier_types,
                                    [MEASUREMENT] = &prune.measurements}};
    TRY(check_arguments(context, workspace, out));
    TRY(SIZED_TAKE(context, paritas_prune_options, "options", given, &prune));
    return transform(&visit, workspace, 1, "pruned", out);
}

static bool mask(struct visit *visit, struct json *array, kind what)
{
    bool good = true;
    for (struct json *child = array->first; good && what == CHANNEL && child; child = child->next) {
        if (!json_get(child, "samples") || !in_list(visit->lists[CHANNEL], name_of(child))) continue;
        struct json *masked = json_new(visit->document, JSON_TRUE);
        good = masked && json_set(visit->document, child, HF_MASKED_KEY, masked);
    }
    return good;
}

paritas_status paritas_workspace_mask(paritas_context *context, const paritas_workspace *workspace,
                                      const paritas_names *channels, paritas_workspace **out)
{
    static const paritas_names none = {NULL, 0};
    struct visit visit = {
        .array = mask, .context = context, .lists = {[CHANNEL] = channels ? channels : &none}};
    TRY(check_arguments(context, workspace, out));
    return transform(&visit, workspace, 1, "masked", out);
}

/* Of two pairs with one old name the last counts. */
static bool rename_node(paritas_workspace *document, struct json *node, const paritas_names *pairs)
{
    for (size_t i = pairs->count; i >= 2; i -= 2) {
        if (strcmp(pairs->items[i - 2], node->text) != 0) continue;
        const size_t length = strlen(pairs->items[i - 1]);
        node->text = arena_text(&document->arena, pairs->items[i - 1], length);
        node->length = (uint32_t)length;
        return node->text;
    }
    return true;
}

static bool rename_pois(const struct visit *visit, struct json *config)
{
    bool good = rename_node(visit->document, member(config, "poi"), visit->lists[MODIFIER]);
    struct json *further = member(config, "pois");
    for (struct json *child = further ? further->first : NULL; good && child; child = child->next)
        good = rename_node(visit->document, child, visit->lists[MODIFIER]);
    return good;
}

/* A node's text := the new name of its set, and its place there. Of two pairs with one old name the last
 * counts. */
static bool rename_member(const struct visit *visit, struct json *node)
{
    const paritas_names *pairs = visit->lists[MODIFIER];
    for (size_t i = pairs->count; i >= 2; i -= 2) {
        if (!names_parameter(pairs->items[i - 2], node->text)) continue;
        struct text text;
        text_open(&text, &visit->context->allocator);
        text_format(&text, "%s%s", pairs->items[i - 1], node->text + strlen(pairs->items[i - 2]));
        node->text = text.failed ? NULL : arena_text(&visit->document->arena, text.bytes, text.length);
        node->length = (uint32_t)text.length;
        text_free(&text);
        return node->text;
    }
    return true;
}

static bool rename_correlated(const struct visit *visit, struct json *correlation)
{
    bool good = true;
    for (struct json *one = member(correlation, "parameters")->first; good && one; one = one->next)
        good = rename_member(visit, one);
    return good;
}

/* A function's arguments. */
static bool rename_arguments(const struct visit *visit, struct json *expression)
{
    const paritas_names *pairs = visit->lists[MODIFIER];
    if (!expression) return true;
    expression->text =
        expression_rename(&visit->document->arena, expression->text, pairs->items, pairs->count);
    expression->length = expression->text ? (uint32_t)strlen(expression->text) : 0;
    return expression->text;
}

/* Also renames the parameters of interest of a measurement, and arguments of functions. */
static bool rename_children(struct visit *visit, struct json *array, kind what)
{
    bool good = true;
    for (struct json *child = array->first; good && child; child = child->next) {
        good = rename_node(visit->document, member(child, "name"), visit->lists[what]) &&
               (what != MODIFIER || rename_arguments(visit, member(child, "expression")));
        if (good && what == MEASUREMENT) good = rename_pois(visit, member(child, "config"));
    }
    return good;
}

paritas_status paritas_workspace_rename(paritas_context *context, const paritas_workspace *workspace,
                                        const paritas_rename_options *given, paritas_workspace **out)
{
    paritas_rename_options rename = PARITAS_RENAME_OPTIONS_DEFAULT;
    struct visit visit = {.array = rename_children,
                          .correlation = rename_correlated,
                          .context = context,
                          .lists = {[CHANNEL] = &rename.channels,
                                    [SAMPLE] = &rename.samples,
                                    [MODIFIER] = &rename.modifiers,
                                    [MEASUREMENT] = &rename.measurements}};
    TRY(check_arguments(context, workspace, out));
    TRY(SIZED_TAKE(context, paritas_rename_options, "options", given, &rename));
    return transform(&visit, workspace, 2, "renamed", out);
}

enum join { NONE, OUTER, LEFT_OUTER, RIGHT_OUTER };

static bool join_of(const char *text, enum join *join)
{
    static const char *const names[] = {"none", "outer", "left outer", "right outer"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *join = (enum join)i;
        return true;
    }
    return false;
}

struct combine {
    paritas_context *context;
    const paritas_workspace *left, *right;
    paritas_workspace *made; /* starts as a copy of the winning side */
    enum join join;
};

static const struct json *find(const struct json *array, const char *name)
{
    const struct json *item = array->first;
    while (item && strcmp(name_of(item), name) != 0) item = item->next;
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

static paritas_status merge_samples(struct combine *combine, struct json *samples, const struct json *more)
{
    for (const struct json *sample = more->first; sample; sample = sample->next)
        if (!find(samples, name_of(sample))) TRY(append_copy(combine, samples, sample));
    return PARITAS_OK;
}

/* Joins `item` of the losing side with our `twin`. */
typedef paritas_status join_twin(struct combine *combine, const char *array, struct json *twin,
                                 const struct json *item);

static paritas_status join_equal(struct combine *combine, const char *array, struct json *twin,
                                 const struct json *item)
{
    return combine->join != OUTER || json_equal(twin, item)
               ? PARITAS_OK
               : refuse_join(combine, array, item, "is in both and differs");
}

static paritas_status join_samples(struct combine *combine, const char *array, struct json *twin,
                                   const struct json *item)
{
    (void)array;
    return merge_samples(combine, member(twin, "samples"), json_get(item, "samples"));
}

/* Joins lists of a measurement's configuration: parameters, functions. */
static paritas_status join_lists(struct combine *combine, const char *array, const struct json *item,
                                 struct json *config, const char *key)
{
    struct json *ours = member(config, key);
    const struct json *others = json_get(json_get(item, "config"), key);
    if (!others) return PARITAS_OK;
    if (!ours) ours = json_new(combine->made, JSON_ARRAY);
    if (!ours || (!json_get(config, key) && !json_set(combine->made, config, key, ours)))
        return paritas_fail_memory(combine->context);
    for (const struct json *other = others->first; other; other = other->next) {
        const struct json *same = find(ours, name_of(other));
        if (same && !json_equal(same, other))
            return paritas_fail(combine->context, PARITAS_INVALID_INPUT,
                                "%s and %s: %s: \"%.200s\" configures \"%.200s\" differently in both",
                                combine->left->label, combine->right->label, array, name_of(item),
                                name_of(other));
        if (!same) TRY(append_copy(combine, ours, other));
    }
    return PARITAS_OK;
}

/* OUTER: joins parameter configurations, functions, correlations and penalties. */
static paritas_status join_configs(struct combine *combine, const char *array, struct json *twin,
                                   const struct json *item)
{
    if (combine->join != OUTER) return PARITAS_OK;
    struct json *config = member(twin, "config");
    const struct json *other = json_get(item, "config");
    if (!json_equal(json_get(config, "poi"), json_get(other, "poi")) ||
        !json_equal(json_get(config, "pois"), json_get(other, "pois")))
        return refuse_join(combine, array, item, "is in both with different parameters of interest");
    TRY(join_lists(combine, array, item, config, "parameters"));
    TRY(join_lists(combine, array, item, config, HF_CORRELATIONS_KEY));
    TRY(join_lists(combine, array, item, config, HF_PENALTIES_KEY));
    return join_lists(combine, array, item, config, HF_FUNCTIONS_KEY);
}

static paritas_status join_array(struct combine *combine, const char *array, const struct json *other,
                                 join_twin *join)
{
    struct json *ours = member(combine->made->root, array);
    for (const struct json *item = json_get(other, array)->first; item; item = item->next) {
        const struct json *twin = find(ours, name_of(item));
        if (!twin)
            TRY(append_copy(combine, ours, item));
        else if (combine->join == NONE)
            return refuse_join(combine, array, item, "is in both");
        else
            TRY(join(combine, array, (struct json *)twin, item));
    }
    return PARITAS_OK;
}

static paritas_status join_all(struct combine *combine, const struct json *other, bool merge_channels)
{
    TRY(join_array(combine, "channels", other, merge_channels ? join_samples : join_equal));
    TRY(join_array(combine, "observations", other, join_equal));
    return join_array(combine, "measurements", other, join_configs);
}

paritas_status paritas_workspace_combine(paritas_context *context, const paritas_workspace *left,
                                         const paritas_workspace *right, const char *join, int merge_channels,
                                         paritas_workspace **out)
{
    struct combine combine = {context, left, right, NULL, NONE};
    if (out) *out = NULL;
    REQUIRE(context, left, right, out);
    if (join && !join_of(join, &combine.join))
        return paritas_refuse(context, "join \"%.200s\": there are none, outer, left outer, right outer",
                              join);
    if (merge_channels && combine.join == NONE)
        return paritas_refuse(context, "channels can be merged by an outer join only, not by \"none\"");
    TRY(hf_workspace_check(context, left));
    TRY(hf_workspace_check(context, right));
    const paritas_workspace *winner = combine.join == RIGHT_OUTER ? right : left,
                            *other = winner == left ? right : left;
    TRY(json_copy_as(context, winner, &combine.made, "combined with %s", other->label));
    const paritas_status status = join_all(&combine, other->root, merge_channels != 0);
    return finish(context, status, combine.made, out);
}
