/* json_tree.c: looks into, builds and compares trees. Recursion is bounded by JSON_DEPTH_MAX. */
#include "base/json/json.h"

#include <stdio.h>
#include <string.h>

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

const double *json_numbers(const struct json *array)
{
    return json_is(array, JSON_ARRAY) && array->packed ? array->numbers_of->at : NULL;
}

static const struct json *walk_number(struct json_walk *walk)
{
    if (walk->index == walk->array->count) return NULL;
    const char *literal = walk->literal, *end = literal;
    bool integer = true;
    for (; *end != ','; end++) integer = integer && *end != '.' && *end != 'e' && *end != 'E';
    walk->number = (struct json){.text = literal,
                                 .number = walk->array->numbers_of->at[walk->index++],
                                 .length = (uint32_t)(end - literal),
                                 .type = JSON_NUMBER,
                                 .integer = integer};
    walk->literal = end + 1;
    return &walk->number;
}

const struct json *json_walk_first(struct json_walk *walk, const struct json *array)
{
    walk->array = array;
    walk->item = array->first;
    if (!array->packed) return walk->item;
    walk->literal = array->numbers_of->literals;
    walk->index = 0;
    return walk_number(walk);
}

const struct json *json_walk_next(struct json_walk *walk)
{
    if (walk->array->packed) return walk_number(walk);
    return walk->item = walk->item->next;
}

bool json_text_is(const struct json *node, const char *text)
{
    return json_is(node, JSON_STRING) && node->length == strlen(text) &&
           memcmp(node->text, text, node->length) == 0;
}

const char *json_type_name(const struct json *node)
{
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return node ? names[node->type] : "nothing";
}

static bool same_text(const struct json *a, const struct json *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* Beyond 2^53 different integers may share a double: literals decide (no leading zeros). */
static bool equal_numbers(const struct json *a, const struct json *b)
{
    if (a->number != b->number) return false;
    if (!a->integer || !b->integer || a->number == 0) return true;
    return same_text(a, b);
}

static bool equal_objects(const struct json *a, const struct json *b)
{
    if (a->count != b->count) return false;
    const struct json *guess = b->first; /* keys mostly come in order */
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
    if (a->type == JSON_NUMBER) return equal_numbers(a, b);
    if (a->type == JSON_STRING) return same_text(a, b);
    if (a->type == JSON_OBJECT) return equal_objects(a, b);
    if (a->count != b->count) return false; /* an array */
    struct json_walk walk_a, walk_b;
    const struct json *other = json_walk_first(&walk_b, b);
    for (const struct json *child = json_walk_first(&walk_a, a); child;
         child = json_walk_next(&walk_a), other = json_walk_next(&walk_b))
        if (!json_equal(child, other)) return false;
    return true;
}

struct json *json_new(paritas_workspace *document, json_type type)
{
    struct json *node = arena_array(&document->arena, 1, sizeof *node);
    if (node) node->type = (uint8_t)type;
    return node;
}

struct json *json_new_text(paritas_workspace *document, const char *text)
{
    size_t length = strlen(text);
    struct json *node = length < UINT32_MAX ? json_new(document, JSON_STRING) : NULL;
    if (!node) return NULL;
    node->text = arena_text(&document->arena, text, length);
    node->length = (uint32_t)length;
    return node->text ? node : NULL;
}

static struct json *new_literal(paritas_workspace *document, double value, const char *literal, int length)
{
    struct json *node = json_new(document, JSON_NUMBER);
    if (!node) return NULL;
    node->number = value;
    node->text = arena_text(&document->arena, literal, (size_t)length);
    node->length = (uint32_t)length;
    return node->text ? node : NULL;
}

struct json *json_new_number(paritas_workspace *document, double value)
{
    char literal[32];
    if (value - value != 0) return json_new(document, JSON_NULL);
    const int length = number_write(value, literal);
    return new_literal(document, value, literal, length);
}

struct json *json_new_count(paritas_workspace *document, size_t count)
{
    char literal[32];
    const int length = snprintf(literal, sizeof literal, "%zu", count);
    struct json *node = new_literal(document, (double)count, literal, length);
    if (node) node->integer = true;
    return node;
}

struct json *json_new_numbers(paritas_workspace *document, size_t n, const double *values)
{
    struct json *array = json_new(document, JSON_ARRAY);
    for (size_t i = 0; i < n; i++)
        if (!json_append(array, json_new_number(document, values ? values[i] : 0.0))) return NULL;
    return array;
}

struct json *json_clone(paritas_workspace *document, const struct json *node)
{
    struct json *copy = json_new(document, (json_type)node->type);
    if (!copy) return NULL;
    if (node->type == JSON_NUMBER || node->type == JSON_STRING) {
        copy->number = node->number;
        copy->integer = node->integer;
        copy->text = arena_text(&document->arena, node->text, node->length);
        copy->length = node->length;
        if (!copy->text) return NULL;
    }
    struct json_walk walk;
    if (node->type < JSON_ARRAY) return copy;
    for (const struct json *child = json_walk_first(&walk, node); child; child = json_walk_next(&walk)) {
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

struct json *json_borrow(paritas_workspace *document, const struct json *node)
{
    struct json *copy = arena_allocate(&document->arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = *node;
    copy->next = NULL;
    copy->lent = node->type >= JSON_ARRAY;
    return copy;
}

bool json_own_children(paritas_workspace *document, struct json *container)
{
    if (!container->lent) return true;
    const struct json lent = *container;
    struct json_walk walk;
    container->first = container->last = NULL;
    container->count = 0;
    container->lent = container->packed = false;
    for (const struct json *child = json_walk_first(&walk, &lent); child; child = json_walk_next(&walk))
        if (!json_append(container, json_borrow(document, child))) return false;
    return true;
}

bool json_append(struct json *container, struct json *child)
{
    if (!container || !child) return false;
    child->next = NULL;
    *(container->last ? &container->last->next : &container->first) = child;
    container->last = child;
    container->count++;
    return true;
}

bool json_set(paritas_workspace *document, struct json *object, const char *key, struct json *child)
{
    if (!object || !child) return false;
    size_t length = strlen(key);
    struct json **link = &object->first, *old;
    while ((old = *link) && !key_is(old, key, length)) link = &old->next;
    if (old) {
        child->key = old->key;
        child->key_length = old->key_length;
        if (old == child) return true;
        child->next = old->next;
        *link = child;
        if (object->last == old) object->last = child;
        old->next = NULL;
        return true;
    }
    if (length >= UINT32_MAX) return false;
    child->key = arena_text(&document->arena, key, length);
    child->key_length = (uint32_t)length;
    return child->key && json_append(object, child);
}

void json_remove(struct json *container, struct json *child)
{
    struct json *before = NULL, **link = &container->first;
    while (*link && *link != child) {
        before = *link;
        link = &before->next;
    }
    if (!*link) return;
    *link = child->next;
    if (container->last == child) container->last = before;
    container->count--;
    child->next = NULL;
}
