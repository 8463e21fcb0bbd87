/* json_patch.c: JSON Patch (RFC 6902), JSON Pointer (RFC 6901), in place.
 *
 *   operation ──► resolve its pointers to places (container, key or index, child) ──► change the tree
 *
 * Values are cloned: the document never points into the patch, unless it shares (json_share). A failure may
 * leave it half patched: callers patch a copy. A document copied into itself grows exponentially, so depth
 * and copied nodes are limited. */
#include "base/json/json.h"

#include <stdio.h>
#include <string.h>

/* nodes copied by one patch: 64 MiB */
#define COPIED_MAX ((size_t)1 << 20)

struct patcher {
    paritas_context *context;
    paritas_workspace *document;
    const char *label;
    size_t index;
    size_t copied; /* by 'copy', so far */
};

/* Target of a pointer. The whole document has no container. */
struct place {
    const struct json *pointer; /* for messages */
    const char *member;         /* "path" or "from" */
    struct json *container;
    const char *key;    /* in an object */
    size_t index;       /* in an array; count for "-" */
    struct json *child; /* NULL: nothing there yet */
    unsigned depth;     /* containers above */
};

PRINTF_LIKE(3, 4)
static paritas_status fail(const struct patcher *patcher, const struct place *place, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const char *pointer = place->pointer && place->pointer->type == JSON_STRING ? place->pointer->text : "";
    return paritas_fail(patcher->context, PARITAS_INVALID_INPUT, "%s: [%zu].%s: %.400s%s%s", patcher->label,
                        patcher->index, place->member, pointer, *pointer ? ": " : "", reason);
}

static paritas_status fail_member(const struct patcher *patcher, const char *member, const char *reason)
{
    return fail(patcher, &(struct place){.member = member}, "%s", reason);
}

/* Decodes the token at *at (adds an end byte), steps to the next '/' or the end. */
static bool read_token(const char **at, char *out)
{
    for (; **at && **at != '/'; (*at)++) {
        if (**at != '~') {
            *out++ = **at;
            continue;
        }
        (*at)++;
        if (**at != '0' && **at != '1') return false;
        *out++ = **at == '0' ? '~' : '/';
    }
    *out = '\0';
    return true;
}

/* RFC 6901: no leading zeros. Larger values are clamped to SIZE_MAX / 16. */
static bool read_index(const char *token, size_t *index)
{
    if (*token == '\0' || (token[0] == '0' && token[1] != '\0')) return false;
    size_t value = 0;
    for (; *token; token++) {
        if (*token < '0' || *token > '9') return false;
        if (value < SIZE_MAX / 16) value = value * 10 + (size_t)(*token - '0');
    }
    *index = value;
    return true;
}

static paritas_status fail_absent(const struct patcher *patcher, const struct place *place)
{
    if (place->container->type == JSON_OBJECT)
        return fail(patcher, place, "there is no member '%.100s'", place->key);
    return fail(patcher, place, "index %.30s is beyond the end of an array of %u", place->key,
                place->container->count);
}

/* Containers on the way become the document's own, so that they can change. */
static paritas_status enter(const struct patcher *patcher, struct place *place, const char *token)
{
    struct json *container = place->child;
    if (!json_own_children(patcher->document, container)) return paritas_fail_memory(patcher->context);
    place->container = container;
    place->key = token;
    place->depth++;
    if (container->type == JSON_OBJECT) {
        place->child = (struct json *)(uintptr_t)json_get(container, token); /* the document is ours */
        return PARITAS_OK;
    }
    if (container->type != JSON_ARRAY)
        return fail(patcher, place, "'%.100s' is looked for in %s", token, json_type_name(container));
    if (strcmp(token, "-") == 0) {
        place->index = container->count;
    } else if (!read_index(token, &place->index)) {
        return fail(patcher, place, "'%.100s' is not an array index", token);
    }
    if (place->index > container->count) return fail_absent(patcher, place);
    place->child = (struct json *)(uintptr_t)json_at(container, place->index);
    return PARITAS_OK;
}

static struct json *take_value(const struct patcher *patcher, const struct json *value)
{
    return patcher->document->base ? json_borrow(patcher->document, value)
                                   : json_clone(patcher->document, value);
}

/* Follows a pointer. All steps must exist, the last only if `exists`. */
static paritas_status resolve(const struct patcher *patcher, const struct json *operation, const char *member,
                              bool exists, struct place *place)
{
    *place = (struct place){
        .pointer = json_get(operation, member), .member = member, .child = patcher->document->root};
    if (!place->pointer) return fail_member(patcher, member, "is missing");
    if (place->pointer->type != JSON_STRING)
        return fail(patcher, place, "a string is expected, found %s", json_type_name(place->pointer));
    const char *at = place->pointer->text;
    if (*at && *at != '/') return fail(patcher, place, "a JSON pointer begins with '/'");
    char *token = arena_allocate(&patcher->document->arena, (size_t)place->pointer->length + 1);
    if (!token) return paritas_fail_memory(patcher->context);
    while (*at) {
        at++;
        if (!place->child) return fail_absent(patcher, place);
        if (!read_token(&at, token)) return fail(patcher, place, "'~' is followed by 0 or 1");
        TRY(enter(patcher, place, token));
    }
    return exists && !place->child ? fail_absent(patcher, place) : PARITAS_OK;
}

/* Is `inner` inside the value at `outer`? Escapes have one spelling: texts compare. */
static bool is_inside(const struct json *inner, const struct json *outer)
{
    return inner->length > outer->length && memcmp(inner->text, outer->text, outer->length) == 0 &&
           inner->text[outer->length] == '/';
}

static unsigned height(const struct json *node)
{
    unsigned below = 0;
    for (const struct json *child = node->first; child; child = child->next) {
        unsigned now = height(child);
        if (now > below) below = now;
    }
    return below + (node->type >= JSON_ARRAY);
}

static size_t count_nodes(const struct json *node)
{
    size_t count = 1 + (node->packed ? node->count : 0);
    for (const struct json *child = node->first; child; child = child->next) count += count_nodes(child);
    return count;
}

static void insert(struct json *array, size_t index, struct json *child)
{
    if (index == array->count) {
        json_append(array, child);
        return;
    }
    struct json **link = &array->first;
    while (index--) link = &(*link)->next;
    child->next = *link;
    *link = child;
    array->count++;
}

static paritas_status add(const struct patcher *patcher, const struct place *place, struct json *value)
{
    if (!value) return paritas_fail_memory(patcher->context);
    if (place->depth + height(value) > JSON_DEPTH_MAX)
        return fail(patcher, place, "arrays and objects would be nested too deeply");
    value->key = NULL; /* a moved value drops its name */
    value->key_length = 0;
    if (!place->container) {
        patcher->document->root = value;
    } else if (place->container->type == JSON_ARRAY) {
        insert(place->container, place->index, value);
    } else if (!json_set(patcher->document, place->container, place->key, value)) {
        return paritas_fail_memory(patcher->context);
    }
    return PARITAS_OK;
}

static paritas_status apply_remove(const struct patcher *patcher, const struct place *path)
{
    if (!path->container) return fail(patcher, path, "the whole document cannot be removed");
    json_remove(path->container, path->child);
    return PARITAS_OK;
}

static paritas_status apply_replace(const struct patcher *patcher, const struct place *path,
                                    const struct json *value)
{
    paritas_status status = add(patcher, path, take_value(patcher, value));
    if (!status && path->container && path->container->type == JSON_ARRAY)
        json_remove(path->container, path->child);
    return status;
}

static paritas_status apply_move(const struct patcher *patcher, const struct json *operation,
                                 const struct place *from)
{
    const struct json *path = json_get(operation, "path");
    if (json_is(path, JSON_STRING)) {
        if (is_inside(path, from->pointer)) return fail(patcher, from, "a value cannot be moved into itself");
        if (json_equal(path, from->pointer)) return PARITAS_OK;
    }
    struct json *value = from->child;
    if (from->container) json_remove(from->container, value);
    struct place place; /* resolved after the removal */
    paritas_status status = resolve(patcher, operation, "path", false, &place);
    return status ? status : add(patcher, &place, value);
}

static paritas_status apply_copy(struct patcher *patcher, const struct place *path, const struct place *from)
{
    patcher->copied += count_nodes(from->child);
    if (patcher->copied > COPIED_MAX) return fail(patcher, from, "the copies of this patch are too large");
    return add(patcher, path, json_clone(patcher->document, from->child));
}

enum operation { ADD, REMOVE, REPLACE, MOVE, COPY, TEST, OPERATIONS };

static paritas_status read_operation(const struct patcher *patcher, const struct json *operation,
                                     enum operation *kind)
{
    static const char *const names[OPERATIONS] = {"add", "remove", "replace", "move", "copy", "test"};
    if (operation->type != JSON_OBJECT) {
        return paritas_fail(patcher->context, PARITAS_INVALID_INPUT,
                            "%s: [%zu]: an operation is an object, found %s", patcher->label, patcher->index,
                            json_type_name(operation));
    }
    struct place op = {.member = "op"};
    const struct json *name = json_get(operation, "op");
    if (!name) return fail_member(patcher, "op", "is missing");
    if (name->type != JSON_STRING)
        return fail(patcher, &op, "a string is expected, found %s", json_type_name(name));
    for (int i = 0; i < OPERATIONS; i++) {
        if (json_text_is(name, names[i])) {
            *kind = (enum operation)i;
            return PARITAS_OK;
        }
    }
    return fail(patcher, &op, "'%.100s' is none of add, remove, replace, move, copy and test", name->text);
}

static paritas_status apply(struct patcher *patcher, const struct json *operation)
{
    enum operation kind = ADD;
    struct place path, from;
    TRY(read_operation(patcher, operation, &kind));
    if (kind == MOVE || kind == COPY) {
        TRY(resolve(patcher, operation, "from", true, &from));
        if (kind == MOVE) return apply_move(patcher, operation, &from);
    }
    bool exists = kind == REMOVE || kind == REPLACE || kind == TEST;
    TRY(resolve(patcher, operation, "path", exists, &path));
    if (kind == REMOVE) return apply_remove(patcher, &path);
    if (kind == COPY) return apply_copy(patcher, &path, &from);
    const struct json *value = json_get(operation, "value");
    if (!value) return fail_member(patcher, "value", "is missing");
    if (kind == ADD) return add(patcher, &path, take_value(patcher, value));
    if (kind == REPLACE) return apply_replace(patcher, &path, value);
    return json_equal(path.child, value) ? PARITAS_OK
                                         : fail(patcher, &path, "the test fails: another value is there");
}

paritas_status json_patch(paritas_context *context, paritas_workspace *document, const struct json *patch,
                          const char *patch_label)
{
    struct patcher patcher = {.context = context, .document = document, .label = patch_label};
    if (!json_is(patch, JSON_ARRAY)) {
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: a JSON Patch is an array of operations, found %s", patch_label,
                            json_type_name(patch));
    }
    for (const struct json *operation = patch->first; operation; operation = operation->next) {
        TRY(apply(&patcher, operation));
        patcher.index++;
    }
    return PARITAS_OK;
}
