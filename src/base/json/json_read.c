/* json_read.c: JSON text to a tree in one pass, without recursion.
 *
 *   window: ... , "data" : [ 1.25 , ...          arena: [ node | node | node ... ]
 *                   │         │                           ▲ key    ▲ text
 *                   └─────────┴─── copies ──────► [ data 1.25 ... ]
 *
 * The window moves over the file. What it leaves behind are nodes, literals of numbers and one copy of each
 * short text. */
#include "base/json/json.h"

#include "base/json/json_reader.h"
#include "base/file_bytes.h"
#include "base/platform.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_KEYS 16 /* up to here comparing all pairs beats sorting */

static paritas_status fail_with(struct json_reader *reader, uint32_t place, const char *format,
                                va_list arguments)
{
    char reason[192];
    size_t line, column;
    vsnprintf(reason, sizeof reason, format, arguments);
    json_window_line(&reader->window, place, &line, &column);
    return paritas_fail(reader->context, PARITAS_INVALID_INPUT, "%s: line %zu, column %zu: %s",
                        reader->document->label, line, column, reason);
}

paritas_status json_fail_at_place(struct json_reader *reader, uint32_t place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const paritas_status status = fail_with(reader, place, format, arguments);
    va_end(arguments);
    return status;
}

paritas_status json_fail_at(struct json_reader *reader, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const paritas_status status =
        fail_with(reader, json_window_place(&reader->window, at), format, arguments);
    va_end(arguments);
    return status;
}

/* A byte that begins no value. */
static paritas_status fail_value(struct json_reader *reader)
{
    static const struct {
        char byte;
        const char *reason;
    } known[] = {{'\0', "a zero byte is not allowed"},
                 {'\'', "strings are quoted by \", not by '"},
                 {'+', "a number does not begin with '+'"},
                 {'.', "a number does not begin with '.'"},
                 {'/', "JSON has no comments"},
                 {'#', "JSON has no comments"},
                 {',', "a value is missing before ','"},
                 {']', "a value is expected"},
                 {'}', "a value is expected"}};
    const char *at = reader->at;
    int word = 0;
    while (word < 24 && ((at[word] | 32) >= 'a' && (at[word] | 32) <= 'z')) word++;
    if (at == reader->window.end)
        return json_fail_at(reader, at,
                            reader->depth ? "the text ends where a value is expected"
                                          : "the text holds no value");
    if ((word == 3 && memcmp(at, "NaN", 3) == 0) || (word == 8 && memcmp(at, "Infinity", 8) == 0))
        return json_fail_at(reader, at, "%.*s is not a JSON number", word, at);
    if (word) return json_fail_at(reader, at, "'%.*s' is not a JSON value", word, at);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (*at == known[i].byte) return json_fail_at(reader, at, "%s", known[i].reason);
    const size_t length = utf8_sequence((const unsigned char *)at, (size_t)(reader->window.end - at));
    return length == 0 ? json_fail_at(reader, at, "the text is not UTF-8")
                       : json_fail_at(reader, at, "a value does not begin with '%.*s'", (int)length, at);
}

/* After a value: neither ',' nor the end. */
static paritas_status fail_after_value(struct json_reader *reader)
{
    const char *at = reader->at;
    const bool in_array = reader->depth && reader->open[reader->depth - 1].container->type == JSON_ARRAY;
    if (at < reader->window.end && (*at == '/' || *at == '#'))
        return json_fail_at(reader, at, "JSON has no comments");
    if (reader->depth == 0) return json_fail_at(reader, at, "text follows the value");
    if (at == reader->window.end)
        return json_fail_at(reader, at, "the text ends inside an %s", in_array ? "array" : "object");
    return json_fail_at(reader, at, "',' or '%c' is expected", in_array ? ']' : '}');
}

static paritas_status read_word(struct json_reader *reader, struct json *node, const char *word,
                                size_t length, json_type type)
{
    char after =
        reader->at[0] == word[0] && strncmp(reader->at, word, length) == 0 ? reader->at[length] : 'x';
    if ((after | 32) >= 'a' && (after | 32) <= 'z') return fail_value(reader);
    node->type = (uint8_t)type;
    reader->at += length;
    return PARITAS_OK;
}

static bool same_keys(const struct json *a, const struct json *b)
{
    return a->key_length == b->key_length && memcmp(a->key, b->key, a->key_length) == 0;
}

/* Length, bytes, place. */
static int by_key(const void *left, const void *right)
{
    const struct json *a = *(const struct json *const *)left, *b = *(const struct json *const *)right;
    if (a->key_length != b->key_length) return a->key_length < b->key_length ? -1 : 1;
    const int order = memcmp(a->key, b->key, a->key_length);
    return order != 0 ? order : (a->key_place > b->key_place) - (a->key_place < b->key_place);
}

/* A child whose key repeats (of many, the later one); NULL: none. Many keys are sorted, few compared
 * pairwise. */
static paritas_status find_duplicate(struct json_reader *reader, const struct json *object,
                                     const struct json **found)
{
    const size_t count = object->count;
    *found = NULL;
    if (count <= FEW_KEYS) {
        for (const struct json *b = object->first; b && !*found; b = b->next)
            for (const struct json *a = object->first; a != b && !*found; a = a->next)
                if (same_keys(a, b)) *found = b;
        return PARITAS_OK;
    }
    const struct json **items = paritas_allocate(reader->context, count, sizeof *items);
    if (!items) return paritas_fail_memory(reader->context);
    size_t used = 0;
    for (const struct json *child = object->first; child; child = child->next) items[used++] = child;
    qsort(items, used, sizeof *items, by_key);
    for (size_t i = 1; i < used && !*found; i++)
        if (same_keys(items[i - 1], items[i])) *found = items[i];
    paritas_release(&reader->context->allocator, items);
    return PARITAS_OK;
}

static paritas_status check_keys(struct json_reader *reader, const struct json *object)
{
    const struct json *duplicate;
    TRY(find_duplicate(reader, object, &duplicate));
    if (!duplicate) return PARITAS_OK;
    const uint32_t close = json_window_place(&reader->window, reader->at) - 1;
    return json_fail_at_place(reader, duplicate->key_decoded ? close : duplicate->key_place,
                              "the key \"%.*s\" stands twice in one object",
                              duplicate->key_length < 100 ? (int)duplicate->key_length : 100, duplicate->key);
}

static paritas_status read_key(struct json_reader *reader, struct json_level *level, struct json *node)
{
    if (*reader->at != '"') {
        if (reader->at == reader->window.end)
            return json_fail_at(reader, reader->at, "the text ends inside an object");
        if (*reader->at == '/' || *reader->at == '#')
            return json_fail_at(reader, reader->at, "JSON has no comments");
        return json_fail_at(reader, reader->at, "a key in \" is expected");
    }
    struct json_kept kept;
    node->key_place = json_window_place(&reader->window, reader->at);
    TRY(json_read_string(reader, &kept));
    node->key = kept.text;
    node->key_length = kept.length;
    node->key_decoded = kept.decoded;
    const uint64_t bit = (uint64_t)1 << (kept.hash >> 40 & 63);
    level->doubt = level->doubt || (level->keys & bit) != 0;
    level->keys |= bit;
    TRY(json_pass_blanks(reader));
    if (*reader->at != ':') return json_fail_at(reader, reader->at, "':' is expected after a key");
    reader->at++;
    return json_pass_blanks(reader);
}

static paritas_status read_text(struct json_reader *reader, struct json *node)
{
    struct json_kept kept;
    TRY(json_read_string(reader, &kept));
    node->type = JSON_STRING;
    node->text = kept.text;
    node->length = kept.length;
    return PARITAS_OK;
}

/* A scalar, or a container's opening bracket; the caller goes on inside. */
static paritas_status read_value(struct json_reader *reader, struct json *node)
{
    switch (*reader->at) {
    case '"':
        return read_text(reader, node);
    case '{':
    case '[':
        if (reader->depth == JSON_DEPTH_MAX)
            return json_fail_at(reader, reader->at, "arrays and objects are nested too deeply");
        node->type = *reader->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        reader->open[reader->depth++] = (struct json_level){.container = node};
        reader->at++;
        return json_pass_blanks(reader);
    case 't':
        return read_word(reader, node, "true", 4, JSON_TRUE);
    case 'f':
        return read_word(reader, node, "false", 5, JSON_FALSE);
    case 'n':
        return read_word(reader, node, "null", 4, JSON_NULL);
    default:
        break;
    }
    if (json_begins_number(*reader->at)) return json_read_number(reader, node);
    return fail_value(reader);
}

/* Closes containers, then passes one ','. Ends at the next key or value; depth 0: done. */
static paritas_status read_between(struct json_reader *reader)
{
    while (reader->depth) {
        TRY(json_pass_blanks(reader));
        const struct json_level *level = &reader->open[reader->depth - 1];
        const struct json *parent = level->container;
        const char close = parent->type == JSON_OBJECT ? '}' : ']';
        if (*reader->at == ',') {
            const uint32_t comma = json_window_place(&reader->window, reader->at++);
            TRY(json_pass_blanks(reader));
            if (*reader->at == close)
                return json_fail_at_place(reader, comma, "a ',' stands before '%c'", close);
            return PARITAS_OK;
        }
        if (*reader->at != close) return fail_after_value(reader);
        reader->at++;
        reader->depth--;
        if (level->doubt) TRY(check_keys(reader, parent));
    }
    return PARITAS_OK;
}

static paritas_status read_tree(struct json_reader *reader)
{
    const char *start = reader->at;
    if (start == reader->window.end) return json_fail_at(reader, start, "the file is empty");
    if (strncmp(start, "\xef\xbb\xbf", 3) == 0)
        return json_fail_at(reader, start,
                            "the text begins with a byte order mark, which JSON does not allow");
    TRY(json_pass_blanks(reader));
    do {
        struct json_level *level = reader->depth ? &reader->open[reader->depth - 1] : NULL;
        struct json *node = json_next_node(reader);
        if (!node) return paritas_fail_memory(reader->context);
        if (level && level->container->type == JSON_OBJECT) TRY(read_key(reader, level, node));
        TRY(read_value(reader, node));
        if (level)
            json_add(level->container, node);
        else
            reader->document->root = node;
        const bool opened = node->type >= JSON_ARRAY;
        if (reader->packs && node->type == JSON_ARRAY && json_begins_number(*reader->at))
            TRY(json_read_numbers(reader, node));
        else if (opened && *reader->at != (node->type == JSON_OBJECT ? '}' : ']'))
            continue;
        TRY(read_between(reader));
    } while (reader->depth);
    TRY(json_pass_blanks(reader));
    return reader->at == reader->window.end ? PARITAS_OK : fail_after_value(reader);
}

/* Takes the window over. */
static paritas_status read_window(paritas_context *context, paritas_workspace *document,
                                  struct json_window *window, bool packs, paritas_status status)
{
    struct json_reader *reader = NULL;
    if (status == PARITAS_OK) {
        reader = paritas_allocate(context, 1, sizeof *reader);
        status = reader ? PARITAS_OK : paritas_fail_memory(context);
    }
    if (status == PARITAS_OK) {
        memset(reader, 0, offsetof(struct json_reader, open));
        reader->context = context;
        reader->document = document;
        reader->window = *window;
        reader->at = window->bytes;
        reader->packs = packs;
        status = read_tree(reader);
        *window = reader->window;
        paritas_release(&context->allocator, reader->numbers);
        paritas_release(&context->allocator, reader->literals);
    }
    paritas_release(&context->allocator, reader);
    json_window_close(window);
    return status;
}

paritas_status json_read(paritas_context *context, const char *text, size_t length, const char *label,
                         paritas_workspace **document)
{
    struct json_window window;
    *document = NULL;
    paritas_workspace *opened = json_open(context, label);
    if (!opened) return paritas_fail_memory(context);
    const paritas_status status = json_window_of_text(&window, context, opened->label, text, length);
    return json_hand_out(read_window(context, opened, &window, false, status), opened, document);
}

static paritas_status fail_unreadable(paritas_context *context, const paritas_workspace *document,
                                      const char *reason)
{
    return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", document->label, reason);
}

/* Reads from an open file. */
static paritas_status read_file(paritas_context *context, paritas_workspace *document, int file, bool again,
                                bool packs)
{
    struct platform_info about;
    struct json_window window;
    struct file_bytes bytes = {0};
    if (!platform_info_open(file, &about)) return fail_unreadable(context, document, strerror(errno));
    if (about.kind == PLATFORM_FOLDER) return fail_unreadable(context, document, "is a directory");
    paritas_status status;
    if (again && about.kind == PLATFORM_FILE && about.size > 0) {
        status = json_window_of_file(&window, context, document->label, file, about.size);
    } else {
        status = file_bytes_read(context, document->label, file, SIZE_MAX, &bytes);
        if (status == PARITAS_OK)
            status = json_window_of_text(&window, context, document->label, bytes.at, bytes.length);
        else
            window.bytes = NULL;
    }
    if (status == PARITAS_OK)
        status =
            json_check_format(context, document->label, window.bytes, (size_t)(window.end - window.bytes));
    status = read_window(context, document, &window, packs, status);
    paritas_release(&context->allocator, bytes.at);
    return status;
}

static paritas_status open_file(paritas_context *context, const char *path, bool packs,
                                paritas_workspace **document)
{
    const bool standard_input = strcmp(path, "-") == 0;
    *document = NULL;
    paritas_workspace *opened = json_open(context, standard_input ? "standard input" : path);
    if (!opened) return paritas_fail_memory(context);
    const int file = standard_input ? 0 : platform_open_read(path);
    const char *reason = errno == EISDIR ? "is a directory" : strerror(errno); /* where opening one fails */
    const paritas_status status = file < 0 ? fail_unreadable(context, opened, reason)
                                           : read_file(context, opened, file, !standard_input, packs);
    if (file >= 0 && !standard_input) platform_close(file);
    return json_hand_out(status, opened, document);
}

paritas_status json_read_file(paritas_context *context, const char *path, paritas_workspace **document)
{
    return open_file(context, path, false, document);
}

paritas_status json_read_packed(paritas_context *context, const char *path, paritas_workspace **document)
{
    return open_file(context, path, true, document);
}
