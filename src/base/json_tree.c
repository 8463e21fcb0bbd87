/* json_tree.c: looking into trees, building and comparing them.
 *
 * Functions here that walk a whole tree call themselves; the depth of documents is bounded
 * (JSON_DEPTH_MAX). */
#include "base/json.h"

#include <string.h>

/* ---- look-up ---------------------------------------------------------------------------------- */

bool json_is(const struct json *node, json_type type)
{
    return node && node->type == type;
}

static bool key_is(const struct json *child, const char *key, size_t length)
{
    return child->key_length == length && memcmp(child->key, key, length) == 0;
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (!json_is(object, JSON_OBJECT)) return NULL;
    size_t length = strlen(key);
    const struct json *child = object->first;
    while (child && !key_is(child, key, length)) child = child->next;
    return child;
}

const struct json *json_at(const struct json *array, size_t index)
{
    if (!json_is(array, JSON_ARRAY) || index >= array->count) return NULL;
    const struct json *child = array->first;
    while (index--) child = child->next;
    return child;
}

bool json_text_is(const struct json *node, const char *text)
{
    return json_is(node, JSON_STRING) && node->length == strlen(text) &&
           memcmp(node->text, text, node->length) == 0;
}

const char *json_type_name(const struct json *node)
{
    if (!node) return "nothing";
    switch ((json_type)node->type) {
    case JSON_NULL:
        return "null";
    case JSON_FALSE:
        return "false";
    case JSON_TRUE:
        return "true";
    case JSON_NUMBER:
        return "a number";
    case JSON_STRING:
        return "a string";
    case JSON_ARRAY:
        return "an array";
    case JSON_OBJECT:
        return "an object";
    }
    return "nothing";
}

/* ---- comparison ------------------------------------------------------------------------------- */

/* Integers beyond 2^53 may differ where their doubles do not; there the literals decide, which have no
 * leading zeros. */
static bool equal_numbers(const struct json *a, const struct json *b)
{
    if (a->number != b->number) return false;
    if (!a->integer || !b->integer || a->number == 0) return true;
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool equal_objects(const struct json *a, const struct json *b)
{
    if (a->count != b->count) return false;
    const struct json *guess = b->first; /* keys mostly come in the same order */
    for (const struct json *child = a->first; child; child = child->next) {
        const struct json *other = guess;
        while (other && !key_is(other, child->key, child->key_length)) other = other->next;
        if (!other) {
            other = b->first;
            while (other != guess && !key_is(other, child->key, child->key_length)) other = other->next;
            if (other == guess) return false;
        }
        if (!json_equal(child, other)) return false;
        guess = other->next;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (!a || !b) return a == b;
    if (a->type != b->type) return false;
    switch ((json_type)a->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
        return equal_numbers(a, b);
    case JSON_STRING:
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    case JSON_OBJECT:
        return equal_objects(a, b);
    case JSON_ARRAY:
        break;
    }
    if (a->count != b->count) return false;
    const struct json *other = b->first;
    for (const struct json *child = a->first; child; child = child->next, other = other->next) {
        if (!json_equal(child, other)) return false;
    }
    return true;
}

/* ---- building --------------------------------------------------------------------------------- */

struct json *json_new(struct paritas_workspace *document, json_type type)
{
    struct json *node = arena_array(&document->arena, 1, sizeof *node);
    if (node) node->type = (uint8_t)type;
    return node;
}

struct json *json_new_text(struct paritas_workspace *document, const char *text)
{
    size_t length = strlen(text);
    struct json *node = length < UINT32_MAX ? json_new(document, JSON_STRING) : NULL;
    if (!node) return NULL;
    node->text = arena_text(&document->arena, text, length);
    node->length = (uint32_t)length;
    return node->text ? node : NULL;
}

struct json *json_new_number(struct paritas_workspace *document, double value)
{
    if (value - value != 0) return json_new(document, JSON_NULL);
    struct json *node = json_new(document, JSON_NUMBER);
    if (!node) return NULL;
    char literal[32];
    int length = number_write(value, literal);
    node->number = value;
    node->text = arena_text(&document->arena, literal, (size_t)length);
    node->length = (uint32_t)length;
    return node->text ? node : NULL;
}

struct json *json_clone(struct paritas_workspace *document, const struct json *node)
{
    struct json *copy = json_new(document, (json_type)node->type);
    if (!copy) return NULL;
    copy->number = node->number;
    copy->integer = node->integer;
    if (node->text) {
        copy->text = arena_text(&document->arena, node->text, node->length);
        copy->length = node->length;
        if (!copy->text) return NULL;
    }
    for (const struct json *child = node->first; child; child = child->next) {
        struct json *twin = json_clone(document, child);
        if (!twin) return NULL;
        if (child->key) {
            twin->key = arena_text(&document->arena, child->key, child->key_length);
            twin->key_length = child->key_length;
            if (!twin->key) return NULL;
        }
        json_append(copy, twin);
    }
    return copy;
}

bool json_append(struct json *container, struct json *child)
{
    if (!container || !child) return false;
    child->next = NULL;
    if (container->last) {
        container->last->next = child;
    } else {
        container->first = child;
    }
    container->last = child;
    container->count++;
    return true;
}

/* Puts `child` where `old` stands. `before` is the sibling before it, NULL if `old` is the first. */
static void replace_child(struct json *container, struct json *before, struct json *old, struct json *child)
{
    child->next = old->next;
    if (before) {
        before->next = child;
    } else {
        container->first = child;
    }
    if (container->last == old) container->last = child;
    old->next = NULL;
}

bool json_set(struct paritas_workspace *document, struct json *object, const char *key, struct json *child)
{
    if (!object || !child) return false;
    size_t length = strlen(key);
    struct json *before = NULL, *old = object->first;
    while (old && !key_is(old, key, length)) {
        before = old;
        old = old->next;
    }
    if (old) {
        child->key = old->key;
        child->key_length = old->key_length;
        if (old != child) replace_child(object, before, old, child);
        return true;
    }
    if (length >= UINT32_MAX) return false;
    child->key = arena_text(&document->arena, key, length);
    child->key_length = (uint32_t)length;
    return child->key && json_append(object, child);
}

void json_remove(struct json *container, struct json *child)
{
    struct json *before = NULL, *at = container->first;
    while (at && at != child) {
        before = at;
        at = at->next;
    }
    if (!at) return;
    if (before) {
        before->next = child->next;
    } else {
        container->first = child->next;
    }
    if (container->last == child) container->last = before;
    container->count--;
    child->next = NULL;
}
