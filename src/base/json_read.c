/* json_read.c: JSON text to a tree in one pass, without recursion.
 *
 *   arena: [ workspace | label | text ......... 16 zeros ] [ node | node | node ... ]
 *                                 ▲        ▲                 key ┘  text ┘
 *
 * Nodes point into the text: a zero replaces a string's closing quote. Only strings with escapes are
 * copied. Zeros after the text stop scanners that load eight bytes. Measured on 2.3 MB, 40,000 nodes: 4.8
 * ms (jansson 34 ms), nearly half for fresh pages. */
#include "base/json.h"

#include "base/bytes.h"
#include "base/number.h"
#include "base/platform.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PADDING 16
#define FEW_KEYS 16 /* up to here comparing all pairs beats sorting */

struct reader {
    paritas_context *context;
    paritas_workspace *document;
    const char *begin, *end;
    const char *at;
    unsigned depth;
    struct json *open[JSON_DEPTH_MAX]; /* not closed yet, outermost first */
};

/* Columns count characters from 1. */
PRINTF_LIKE(3, 4)
static paritas_status fail_at(struct reader *reader, const char *place, const char *format, ...)
{
    char reason[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    size_t line = 1, column = 1;
    for (const char *at = reader->begin; at < place; at++) {
        if (*at == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*at & 0xc0) != 0x80) {
            column++;
        }
    }
    return paritas_fail(reader->context, PARITAS_INVALID_INPUT, "%s: line %zu, column %zu: %s",
                        reader->document->label, line, column, reason);
}

/* A byte that begins no value. */
static paritas_status fail_value(struct reader *reader)
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
    if (at == reader->end)
        return fail_at(reader, at,
                       reader->depth ? "the text ends where a value is expected" : "the text holds no value");
    if ((word == 3 && memcmp(at, "NaN", 3) == 0) || (word == 8 && memcmp(at, "Infinity", 8) == 0))
        return fail_at(reader, at, "%.*s is not a JSON number", word, at);
    if (word) return fail_at(reader, at, "'%.*s' is not a JSON value", word, at);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (*at == known[i].byte) return fail_at(reader, at, "%s", known[i].reason);
    const size_t length = utf8_sequence((const unsigned char *)at, (size_t)(reader->end - at));
    return length == 0 ? fail_at(reader, at, "the text is not UTF-8")
                       : fail_at(reader, at, "a value does not begin with '%.*s'", (int)length, at);
}

/* After a value: neither ',' nor the end. */
static paritas_status fail_after_value(struct reader *reader)
{
    const char *at = reader->at;
    const bool in_array = reader->depth && reader->open[reader->depth - 1]->type == JSON_ARRAY;
    if (at < reader->end && (*at == '/' || *at == '#')) return fail_at(reader, at, "JSON has no comments");
    if (reader->depth == 0) return fail_at(reader, at, "text follows the value");
    if (at == reader->end)
        return fail_at(reader, at, "the text ends inside an %s", in_array ? "array" : "object");
    return fail_at(reader, at, "',' or '%c' is expected", in_array ? ']' : '}');
}

static inline const char *skip_blanks(const char *at)
{
    while ((unsigned char)*at <= ' ') {
        if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t') break;
        at++;
        uint64_t other; /* long runs of spaces: indentation */
        while ((other = load_bytes(at) ^ EACH_BYTE(' ')) == 0) at += 8;
        at += __builtin_ctzll(other) / 8;
    }
    return at;
}

/* The first quote, backslash, control byte (also the final zeros) or non-ASCII byte. */
static inline const char *skip_plain(const char *at)
{
    for (;; at += 8) {
        uint64_t bytes = load_bytes(at);
        uint64_t quote = bytes ^ EACH_BYTE('"'), escape = bytes ^ EACH_BYTE('\\');
        /* borrows come only from marked bytes: the lowest mark is true */
        uint64_t stop = ((quote - EACH_BYTE(1)) & ~quote) | ((escape - EACH_BYTE(1)) & ~escape) |
                        (bytes - EACH_BYTE(0x20)) | bytes;
        stop &= EACH_BYTE(0x80);
        if (stop) return at + __builtin_ctzll(stop) / 8;
    }
}

/* -1: not four hexadecimal digits. */
static int32_t read_hex(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char byte = at[i], lower = (char)(byte | 32);
        int digit = byte >= '0' && byte <= '9'     ? byte - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* A code point above U+0000; returns its end. */
static char *put_code_point(char *out, int32_t point)
{
    static const int32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    *out++ = (char)(leads[more] | point >> 6 * more);
    while (more-- > 0) *out++ = (char)(0x80 | (point >> 6 * more & 63));
    return out;
}

/* Decodes the escape at reader->at into *out and steps over it. */
static paritas_status read_escape(struct reader *reader, char **out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *at = reader->at, *end = reader->end;
    if (end - at >= 2 && at[1] != '\0') {
        const char *name = strchr(names, at[1]);
        if (name) {
            *(*out)++ = bytes[name - names];
            reader->at = at + 2;
            return PARITAS_OK;
        }
    }
    if (end - at < 2 || at[1] != 'u')
        return fail_at(reader, at, "a backslash is followed by one of \"\\/bfnrtu");
    int32_t point = read_hex(at + 2, end);
    if (point < 0) return fail_at(reader, at, "\\u is followed by four hexadecimal digits");
    if (point == 0)
        return fail_at(reader, at, "\\u0000 is not allowed: texts and names hold no zero character");
    size_t length = 6;
    if (point >= 0xd800 && point <= 0xdfff) {
        int32_t low =
            point <= 0xdbff && end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? read_hex(at + 8, end) : -1;
        if (low < 0xdc00 || low > 0xdfff) return fail_at(reader, at, "half of a surrogate pair stands alone");
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *out = put_code_point(*out, point);
    reader->at = at + length;
    return PARITAS_OK;
}

/* Skips plain and non-ASCII bytes up to a quote or backslash. */
static paritas_status read_plain(struct reader *reader)
{
    for (;;) {
        const char *at = skip_plain(reader->at);
        if ((unsigned char)*at >= 0x80) {
            size_t length = utf8_sequence((const unsigned char *)at, (size_t)(reader->end - at));
            if (length == 0) return fail_at(reader, at, "the text is not UTF-8");
            reader->at = at + length;
            continue;
        }
        reader->at = at;
        if (*at == '"' || *at == '\\') return PARITAS_OK;
        if (at == reader->end) return fail_at(reader, at, "the text ends inside a string");
        return fail_at(reader, at, "a control character in a string must be written as an escape");
    }
}

static paritas_status read_escaped(struct reader *reader, const char *start, const char **text,
                                   uint32_t *length)
{
    const char *close = reader->at;
    while (close < reader->end && *close != '"') close += *close == '\\' ? 2 : 1;
    char *decoded = arena_allocate(&reader->document->arena, (size_t)(close - start) + 1);
    if (!decoded) return paritas_fail_memory(reader->context);
    char *out = decoded;
    reader->at = start;
    for (;;) {
        const char *plain = reader->at;
        TRY(read_plain(reader));
        memcpy(out, plain, (size_t)(reader->at - plain));
        out += reader->at - plain;
        if (*reader->at == '"') break;
        TRY(read_escape(reader, &out));
    }
    *out = '\0';
    *text = decoded;
    *length = (uint32_t)(out - decoded);
    reader->at++;
    return PARITAS_OK;
}

static paritas_status read_string(struct reader *reader, const char **text, uint32_t *length)
{
    const char *start = ++reader->at;
    TRY(read_plain(reader));
    if (*reader->at == '\\') return read_escaped(reader, start, text, length);
    /* the document owns the text; scanners see it as const */
    *(char *)(uintptr_t)reader->at = '\0';
    *text = start;
    *length = (uint32_t)(reader->at - start);
    reader->at++;
    return PARITAS_OK;
}

static paritas_status read_number(struct reader *reader, struct json *node)
{
    struct decimal decimal;
    const char *reason, *start = reader->at;
    const char *at = number_scan(start, reader->end, &decimal, &reason);
    if (reason) {
        if (strncmp(at, "Infinity", 8) == 0) return fail_at(reader, start, "-Infinity is not a JSON number");
        return fail_at(reader, at, "%s", reason);
    }
    node->type = JSON_NUMBER;
    node->integer = decimal.integer;
    node->text = start;
    node->length = (uint32_t)(at - start);
    node->number = number_value(&decimal, start, node->length);
    if (node->number - node->number != 0)
        return fail_at(reader, start, "the number is too large for a double");
    reader->at = at;
    return PARITAS_OK;
}

static paritas_status read_word(struct reader *reader, struct json *node, const char *word, size_t length,
                                json_type type)
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
    return order != 0 ? order : (a->key > b->key) - (a->key < b->key);
}

/* A child whose key repeats (of many, the later one); NULL: none. Many keys are sorted, few compared
 * pairwise. */
static paritas_status find_duplicate(struct reader *reader, const struct json *object,
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

static paritas_status check_keys(struct reader *reader, const struct json *object)
{
    const struct json *duplicate;
    TRY(find_duplicate(reader, object, &duplicate));
    if (!duplicate) return PARITAS_OK;
    /* decoded keys lie elsewhere */
    const bool in_text = duplicate->key >= reader->begin && duplicate->key < reader->end;
    return fail_at(reader, in_text ? duplicate->key - 1 : reader->at - 1,
                   "the key \"%.*s\" stands twice in one object",
                   duplicate->key_length < 100 ? (int)duplicate->key_length : 100, duplicate->key);
}

static paritas_status read_key(struct reader *reader, const char **key, uint32_t *length)
{
    if (*reader->at != '"') {
        if (reader->at == reader->end) return fail_at(reader, reader->at, "the text ends inside an object");
        if (*reader->at == '/' || *reader->at == '#')
            return fail_at(reader, reader->at, "JSON has no comments");
        return fail_at(reader, reader->at, "a key in \" is expected");
    }
    TRY(read_string(reader, key, length));
    reader->at = skip_blanks(reader->at);
    if (*reader->at != ':') return fail_at(reader, reader->at, "':' is expected after a key");
    reader->at = skip_blanks(reader->at + 1);
    return PARITAS_OK;
}

/* A scalar, or a container's opening bracket; the caller goes on inside. */
static paritas_status read_value(struct reader *reader, struct json *node)
{
    switch (*reader->at) {
    case '"':
        node->type = JSON_STRING;
        return read_string(reader, &node->text, &node->length);
    case '{':
    case '[':
        if (reader->depth == JSON_DEPTH_MAX)
            return fail_at(reader, reader->at, "arrays and objects are nested too deeply");
        node->type = *reader->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        reader->open[reader->depth++] = node;
        reader->at = skip_blanks(reader->at + 1);
        return PARITAS_OK;
    case 't':
        return read_word(reader, node, "true", 4, JSON_TRUE);
    case 'f':
        return read_word(reader, node, "false", 5, JSON_FALSE);
    case 'n':
        return read_word(reader, node, "null", 4, JSON_NULL);
    default:
        break;
    }
    if (*reader->at == '-' || (*reader->at >= '0' && *reader->at <= '9')) return read_number(reader, node);
    return fail_value(reader);
}

/* Closes containers, then passes one ','. Ends at the next key or value; depth 0: done. */
static paritas_status read_between(struct reader *reader)
{
    while (reader->depth) {
        reader->at = skip_blanks(reader->at);
        struct json *parent = reader->open[reader->depth - 1];
        char close = parent->type == JSON_OBJECT ? '}' : ']';
        if (*reader->at == ',') {
            const char *comma = reader->at;
            reader->at = skip_blanks(reader->at + 1);
            if (*reader->at == close) return fail_at(reader, comma, "a ',' stands before '%c'", close);
            return PARITAS_OK;
        }
        if (*reader->at != close) return fail_after_value(reader);
        reader->at++;
        reader->depth--;
        if (close == '}') TRY(check_keys(reader, parent));
    }
    return PARITAS_OK;
}

static paritas_status read_tree(struct reader *reader)
{
    const char *start = reader->at;
    if (reader->begin == reader->end) return fail_at(reader, start, "the file is empty");
    if (strncmp(start, "\xef\xbb\xbf", 3) == 0)
        return fail_at(reader, start, "the text begins with a byte order mark, which JSON does not allow");
    reader->at = skip_blanks(start);
    do {
        struct json *parent = reader->depth ? reader->open[reader->depth - 1] : NULL;
        struct json *node = arena_array(&reader->document->arena, 1, sizeof *node);
        if (!node) return paritas_fail_memory(reader->context);
        if (parent && parent->type == JSON_OBJECT) TRY(read_key(reader, &node->key, &node->key_length));
        TRY(read_value(reader, node));
        if (parent) {
            json_append(parent, node);
        } else {
            reader->document->root = node;
        }
        bool opened = node->type >= JSON_ARRAY;
        if (opened && *reader->at != (node->type == JSON_OBJECT ? '}' : ']')) continue;
        TRY(read_between(reader));
    } while (reader->depth);
    reader->at = skip_blanks(reader->at);
    return reader->at == reader->end ? PARITAS_OK : fail_after_value(reader);
}

/* Without a tree; NULL: out of memory. */
static paritas_workspace *open_document(paritas_context *context, const char *label)
{
    paritas_workspace *document = paritas_allocate_clear(context, 1, sizeof *document);
    if (!document) return NULL;
    arena_open(&document->arena, &context->allocator);
    document->label = arena_text(&document->arena, label, strlen(label));
    if (document->label) return document;
    paritas_workspace_free(document);
    return NULL;
}

paritas_status json_hand_out(paritas_status status, paritas_workspace *made, paritas_workspace **out)
{
    if (status == PARITAS_OK)
        *out = made;
    else
        paritas_workspace_free(made);
    return status;
}

/* `length` bytes lie in the arena, followed by PADDING free bytes. */
static paritas_status read_text(paritas_context *context, paritas_workspace *document, char *text,
                                size_t length)
{
    memset(text + length, 0, PADDING);
    if (length >= UINT32_MAX)
        return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: documents of 4 GiB are not read",
                            document->label);
    struct reader reader;
    reader.context = context;
    reader.document = document;
    reader.begin = reader.at = text;
    reader.end = text + length;
    reader.depth = 0;
    return read_tree(&reader);
}

paritas_status json_read(paritas_context *context, const char *text, size_t length, const char *label,
                         paritas_workspace **document)
{
    *document = NULL;
    paritas_workspace *opened = open_document(context, label);
    char *copy =
        opened && length < SIZE_MAX - PADDING ? arena_allocate(&opened->arena, length + PADDING) : NULL;
    if (copy && length) memcpy(copy, text, length);
    return json_hand_out(copy ? read_text(context, opened, copy, length) : paritas_fail_memory(context),
                         opened, document);
}

paritas_status json_copy(paritas_context *context, const struct json *root, const char *label,
                         paritas_workspace **document)
{
    *document = NULL;
    paritas_workspace *opened = open_document(context, label);
    if (opened) opened->root = json_clone(opened, root);
    return json_hand_out(opened && opened->root ? PARITAS_OK : paritas_fail_memory(context), opened,
                         document);
}

paritas_status json_share(paritas_context *context, const paritas_workspace *base,
                          paritas_workspace **document)
{
    *document = NULL;
    paritas_workspace *opened = open_document(context, base->label);
    if (opened) {
        opened->base = base;
        opened->root = json_borrow(opened, base->root);
    }
    return json_hand_out(opened && opened->root ? PARITAS_OK : paritas_fail_memory(context), opened,
                         document);
}

paritas_status json_copy_as(paritas_context *context, const paritas_workspace *source,
                            paritas_workspace **copy, const char *what, ...)
{
    struct text label;
    va_list arguments;
    text_open(&label, &context->allocator);
    text_format(&label, "%s (", source->label);
    va_start(arguments, what);
    text_format_list(&label, what, arguments);
    va_end(arguments);
    text_append(&label, ")", 2); /* with the end byte */
    paritas_status status =
        label.failed ? paritas_fail_memory(context) : json_copy(context, source->root, label.bytes, copy);
    text_free(&label);
    return status;
}

static paritas_status fail_unreadable(paritas_context *context, const paritas_workspace *document,
                                      const char *reason)
{
    return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", document->label, reason);
}

/* Files of unknown size: doubling pieces, all kept in the arena. */
static paritas_status read_all(paritas_context *context, paritas_workspace *document, int file, char **text,
                               size_t *length)
{
    struct platform_info about;
    if (!platform_info_open(file, &about)) return fail_unreadable(context, document, strerror(errno));
    if (about.kind == PLATFORM_FOLDER) return fail_unreadable(context, document, "is a directory");
    size_t room = about.kind == PLATFORM_FILE && about.size > 0 ? (size_t)about.size + 1 : 65536, used = 0;
    char *bytes = arena_allocate(&document->arena, room + PADDING);
    while (bytes) {
        const ptrdiff_t got = platform_read(file, bytes + used, room - used);
        if (got < 0) return fail_unreadable(context, document, strerror(errno));
        if (got == 0) {
            *text = bytes;
            *length = used;
            return PARITAS_OK;
        }
        used += (size_t)got;
        if (used < room) continue;
        char *larger = room < SIZE_MAX / 8 ? arena_allocate(&document->arena, 2 * room + PADDING) : NULL;
        if (larger) memcpy(larger, bytes, used);
        bytes = larger;
        room *= 2;
    }
    return paritas_fail_memory(context);
}

/* XML and ROOT files are told by their first bytes. */
static paritas_status check_format(paritas_context *context, const paritas_workspace *document,
                                   const char *text, size_t length)
{
    static const char *const xml[] = {"<?xml", "<!DOCTYPE", "<Combination", "<Channel"};
    for (size_t i = 0; i < sizeof xml / sizeof *xml; i++)
        if (length > strlen(xml[i]) && memcmp(text, xml[i], strlen(xml[i])) == 0)
            return paritas_fail(context, PARITAS_INVALID_INPUT,
                                "%s: is XML, not JSON; `python -m paritas convert` reads HistFactory's",
                                document->label);
    if (length > 5 && memcmp(text, "root\0", 5) == 0)
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: is a ROOT file, not JSON; `python -m paritas convert` reads the HistFactory "
                            "XML that names it",
                            document->label);
    return PARITAS_OK;
}

paritas_status json_read_file(paritas_context *context, const char *path, paritas_workspace **document)
{
    const bool standard_input = strcmp(path, "-") == 0;
    *document = NULL;
    paritas_workspace *opened = open_document(context, standard_input ? "standard input" : path);
    if (!opened) return paritas_fail_memory(context);
    const int file = standard_input ? 0 : platform_open_read(path);
    char *text = NULL;
    size_t length = 0;
    const char *reason = errno == EISDIR ? "is a directory" : strerror(errno); /* where opening one fails */
    paritas_status status =
        file < 0 ? fail_unreadable(context, opened, reason) : read_all(context, opened, file, &text, &length);
    if (file >= 0 && !standard_input) platform_close(file, false);
    if (status == PARITAS_OK) status = check_format(context, opened, text, length);
    if (status == PARITAS_OK) status = read_text(context, opened, text, length);
    return json_hand_out(status, opened, document);
}
