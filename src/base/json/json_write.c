/* json_write.c: growing text, and JSON exactly as Python's json.dumps(tree, ensure_ascii=False), for equal
 * digests. */
#include "base/json/json.h"

#include "base/bytes.h"
#include "base/visible.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_open(struct text *text, const paritas_allocator *allocator)
{
    *text = (struct text){.allocator = allocator};
}

/* Returns false and sets `failed` without memory. */
static bool reserve(struct text *text, size_t more)
{
    if (text->failed) return false;
    if (more <= text->capacity - text->length) return true;
    size_t capacity = text->capacity < 128 ? 256 : 2 * text->capacity;
    char *bytes = NULL;
    if (more <= SIZE_MAX / 4 - text->length) {
        const paritas_allocator *allocator = text->allocator;
        if (capacity < text->length + more) capacity = text->length + more;
        bytes = text->bytes ? allocator->reallocate(allocator->user, text->bytes, capacity)
                            : allocator->allocate(allocator->user, capacity);
    }
    text->failed = !bytes;
    if (!bytes) return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (!length || !reserve(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void text_visible(struct text *text, const char *bytes, size_t length)
{
    for (size_t step; length > 0; length -= step, bytes += step) {
        char shown[VISIBLE_MOST];
        text_append(text, shown, visible_letter(bytes, length, &step, shown));
    }
}

#define END_OF_LINE '\xff' /* of the format alone: no name has this byte, which is not UTF-8 */

/* Ends of lines are the format's, or hidden letters of an argument. */
static void format_for_people(struct text *text, const char *format, va_list arguments)
{
    struct text marked, line;
    text_open(&marked, text->allocator);
    text_open(&line, text->allocator);
    text_append(&marked, format, strlen(format) + 1);
    for (size_t k = 0; !marked.failed && k < marked.length; k++)
        if (marked.bytes[k] == '\n') marked.bytes[k] = END_OF_LINE;
    if (!marked.failed) text_format_list(&line, marked.bytes, arguments);
    for (size_t at = 0, end; at < line.length; at = end + 1) {
        for (end = at; end < line.length && line.bytes[end] != END_OF_LINE;) end++;
        text_visible(text, line.bytes + at, end - at);
        if (end < line.length) text_append(text, "\n", 1);
    }
    text->failed = text->failed || marked.failed || line.failed;
    text_free(&marked);
    text_free(&line);
}

void text_format_list(struct text *text, const char *format, va_list arguments)
{
    if (text->for_people) {
        format_for_people(text, format, arguments);
        return;
    }
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) text->failed = true;
    if (length >= 0 && reserve(text, (size_t)length + 1)) { /* vsnprintf adds an end byte */
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format_list(text, format, arguments);
    va_end(arguments);
}

void text_number(struct text *text, double value)
{
    char digits[32];
    if (value - value != 0) {
        text_append(text, "null", 4);
    } else {
        text_append(text, digits, (size_t)number_write(value, digits));
    }
}

void text_quoted(struct text *text, const char *bytes, size_t length)
{
    static const char names[] = "\b\t\n\f\r\"\\", escapes[] = "btnfr\"\\";
    text_append(text, "\"", 1);
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        text_append(text, bytes + plain, i - plain);
        plain = i + 1;
        const char *name = memchr(names, bytes[i], sizeof names - 1);
        if (name) {
            text_append(text, (const char[2]){'\\', escapes[name - names]}, 2);
        } else {
            text_append(text, (const char[6]){'\\', 'u', '0', '0', hex_digit(byte >> 4), hex_digit(byte)}, 6);
        }
    }
    text_append(text, bytes + plain, length - plain);
    text_append(text, "\"", 1);
}

void text_free(struct text *text)
{
    paritas_release(text->allocator, text->bytes);
    text->bytes = NULL;
    text->length = text->capacity = 0;
}

/* UTF-8 bytes sort as code points. */
static int by_key(const void *a, const void *b)
{
    return strcmp((*(const struct json *const *)a)->key, (*(const struct json *const *)b)->key);
}

/* Freed by the caller; NULL, and `failed`: out of memory. */
static const struct json **sorted_children(struct text *text, const struct json *object)
{
    size_t used = 0;
    const struct json **items =
        text->allocator->allocate(text->allocator->user, object->count * sizeof *items);
    if (!items) {
        text->failed = true;
        return NULL;
    }
    for (const struct json *child = object->first; child; child = child->next) items[used++] = child;
    qsort(items, used, sizeof *items, by_key);
    return items;
}

/* Integers keep all digits; Python's int has no -0. */
static void write_number(struct text *text, const struct json *node)
{
    if (!node->integer) {
        text_number(text, node->number);
    } else if (node->number == 0) {
        text_append(text, "0", 1);
    } else {
        text_append(text, node->text, node->length);
    }
}

static void write_break(struct text *text, unsigned indent, unsigned depth)
{
    static const char blanks[] = "                                ";
    text_append(text, "\n", 1);
    for (size_t left = (size_t)indent * depth; left > 0;) {
        size_t step = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        text_append(text, blanks, step);
        left -= step;
    }
}

static void write_node(struct text *text, const struct json *node, unsigned indent, bool sort_keys,
                       unsigned depth)
{
    const bool object = node->type == JSON_OBJECT;
    if (node->type < JSON_NUMBER) {
        const char *word = json_type_name(node);
        text_append(text, word, strlen(word));
    } else if (node->type == JSON_NUMBER) {
        write_number(text, node);
    } else if (node->type == JSON_STRING) {
        text_quoted(text, node->text, node->length);
    }
    if (node->type < JSON_ARRAY) return;
    const struct json **sorted = object && sort_keys && node->count > 1 ? sorted_children(text, node) : NULL;
    text_append(text, object ? "{" : "[", 1);
    struct json_walk walk;
    const struct json *child = json_walk_first(&walk, node);
    for (uint32_t i = 0; child && !text->failed; i++) {
        if (i > 0) text_append(text, ", ", indent ? 1 : 2);
        if (indent) write_break(text, indent, depth + 1);
        const struct json *now = sorted ? sorted[i] : child;
        if (object) {
            text_quoted(text, now->key, now->key_length);
            text_append(text, ": ", 2);
        }
        write_node(text, now, indent, sort_keys, depth + 1);
        child = json_walk_next(&walk);
    }
    if (indent && node->count) write_break(text, indent, depth);
    text_append(text, object ? "}" : "]", 1);
    paritas_release(text->allocator, sorted);
}

void json_write(struct text *text, const struct json *node, unsigned indent, bool sort_keys)
{
    write_node(text, node, indent, sort_keys, 0);
}
