/* json_strings.c: strings of JSON texts: checked, decoded and kept.
 *
 *   "text" ──► plain? kept as it is ──► a short one that is known? the copy of before
 *                └──► decoded, then the same
 */
#include "base/json/json_reader.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include <string.h>

#define SHORT_TEXT 64 /* longer ones seldom repeat */
#define FIRST_ROOM ((size_t)1024)
#define MOST_ROOM ((size_t)64 * 1024)

char *json_text_room(struct json_reader *reader, size_t length)
{
    if (length + JSON_SLACK > (size_t)(reader->room_end - reader->room)) {
        if (reader->text_room < MOST_ROOM)
            reader->text_room = reader->text_room ? 2 * reader->text_room : FIRST_ROOM;
        if (length >= reader->text_room / 4)
            return arena_allocate(&reader->document->arena, length + JSON_SLACK);
        reader->room = arena_allocate(&reader->document->arena, reader->text_room);
        reader->room_end = reader->room ? reader->room + reader->text_room : NULL;
        if (!reader->room) return NULL;
    }
    char *room = reader->room;
    reader->room += length;
    return room;
}

/* The first `length` bytes of a word, at most eight. */
static inline uint64_t load_first(const char *at, size_t length)
{
    return length >= 8 ? load_bytes(at) : load_bytes(at) & (((uint64_t)1 << 8 * length) - 1);
}

/* Texts of the same length. Both have eight readable bytes behind their ends. */
static inline bool same_text(const char *a, const char *b, size_t length)
{
    size_t i = 0;
    for (; length - i > 8; i += 8)
        if (load_bytes(a + i) != load_bytes(b + i)) return false;
    return ((load_bytes(a + i) ^ load_bytes(b + i)) &
            load_first("\xff\xff\xff\xff\xff\xff\xff\xff", length - i)) == 0;
}

static char *copy_text(struct json_reader *reader, const char *text, size_t length)
{
    char *copy = json_text_room(reader, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Keeps a text of less than eight bytes. */
static inline paritas_status keep_word(struct json_reader *reader, uint64_t word, size_t length,
                                       struct json_kept *kept)
{
    kept->hash = (word ^ length) * 0x9e3779b97f4a7c15u;
    kept->length = (uint32_t)length;
    struct json_known_word *known = &reader->words[kept->hash >> 57];
    if (known->word != word || !known->text) {
        char *copy = json_text_room(reader, 8);
        if (!copy) return paritas_fail_memory(reader->context);
        for (int i = 0; i < 8; i++) copy[i] = (char)(word >> 8 * i);
        *known = (struct json_known_word){word, copy};
    }
    kept->text = known->text;
    return PARITAS_OK;
}

/* `text` has eight readable bytes behind its end. */
static paritas_status keep_text(struct json_reader *reader, const char *text, size_t length,
                                struct json_kept *kept)
{
    if (length < 8) return keep_word(reader, load_first(text, length), length, kept);
    uint64_t hash =
        load_bytes(text) ^ load_bytes(text + length - 8) * 0xff51afd7ed558ccdu ^ (uint64_t)length << 56;
    if (length > 16) hash ^= load_bytes(text + 8) * 0xc4ceb9fe1a85ec53u;
    hash *= 0x9e3779b97f4a7c15u;
    struct json_known_text *known = &reader->texts[hash >> 55];
    kept->hash = hash;
    kept->length = (uint32_t)length;
    kept->text = known->text;
    if (known->text && known->length == length && same_text(known->text, text, length)) return PARITAS_OK;
    kept->text = copy_text(reader, text, length);
    if (!kept->text) return paritas_fail_memory(reader->context);
    if (length <= SHORT_TEXT) *known = (struct json_known_text){kept->text, length};
    return PARITAS_OK;
}

/* Marks quotes, backslashes, control bytes (also the final zeros) and non-ASCII bytes, each by its highest
 * bit. The lowest mark is true: borrows come only from marked bytes. */
static inline uint64_t special_bytes(uint64_t bytes)
{
    const uint64_t quote = bytes ^ EACH_BYTE('"'), escape = bytes ^ EACH_BYTE('\\');
    return (((quote - EACH_BYTE(1)) & ~quote) | ((escape - EACH_BYTE(1)) & ~escape) |
            (bytes - EACH_BYTE(0x20)) | bytes) &
           EACH_BYTE(0x80);
}

static inline const char *skip_plain(const char *at)
{
    uint64_t stop;
    while ((stop = special_bytes(load_bytes(at))) == 0) at += 8;
    return at + __builtin_ctzll(stop) / 8;
}

/* Returns -1 unless there are four hexadecimal digits. */
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
static paritas_status read_escape(struct json_reader *reader, char **out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *at = reader->at, *end = reader->window.end;
    if (end - at >= 2 && at[1] != '\0') {
        const char *name = strchr(names, at[1]);
        if (name) {
            *(*out)++ = bytes[name - names];
            reader->at = at + 2;
            return PARITAS_OK;
        }
    }
    if (end - at < 2 || at[1] != 'u')
        return json_fail_at(reader, at, "a backslash is followed by one of \"\\/bfnrtu");
    int32_t point = read_hex(at + 2, end);
    if (point < 0) return json_fail_at(reader, at, "\\u is followed by four hexadecimal digits");
    if (point == 0)
        return json_fail_at(reader, at, "\\u0000 is not allowed: texts and names hold no zero character");
    size_t length = 6;
    if (point >= 0xd800 && point <= 0xdfff) {
        int32_t low =
            point <= 0xdbff && end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? read_hex(at + 8, end) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return json_fail_at(reader, at, "half of a surrogate pair stands alone");
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *out = put_code_point(*out, point);
    reader->at = at + length;
    return PARITAS_OK;
}

/* Skips plain and non-ASCII bytes up to a quote or backslash. *start moves with the window. */
static paritas_status read_plain(struct json_reader *reader, const char **start)
{
    for (;;) {
        const char *at = reader->at = skip_plain(reader->at);
        if (*at == '"') return PARITAS_OK;
        if (at > reader->window.low) {
            const ptrdiff_t done = at - *start;
            TRY(json_window_more(&reader->window, start));
            reader->at = *start + done;
            continue;
        }
        if (*at == '\\') return PARITAS_OK;
        if ((unsigned char)*at < 0x80) {
            if (at == reader->window.end) return json_fail_at(reader, at, "the text ends inside a string");
            return json_fail_at(reader, at, "a control character in a string must be written as an escape");
        }
        const size_t length = utf8_sequence((const unsigned char *)at, (size_t)(reader->window.end - at));
        if (length == 0) return json_fail_at(reader, at, "the text is not UTF-8");
        reader->at = at + length;
    }
}

/* The closing quote, or the end. The window then reaches beyond it: decoding does not move it. */
static paritas_status find_close(struct json_reader *reader, const char **start, const char **close)
{
    const char *at = reader->at;
    for (;;) {
        while (at < reader->window.end && *at != '"') at += *at == '\\' ? 2 : 1;
        *close = at < reader->window.end ? at : reader->window.end;
        if (*close <= reader->window.low) return PARITAS_OK;
        const ptrdiff_t place = reader->at - *start;
        TRY(json_window_more(&reader->window, start));
        at = reader->at = *start + place;
    }
}

/* reader->at: the first backslash. */
static paritas_status read_escaped(struct json_reader *reader, const char *start, struct json_kept *kept)
{
    const char *close;
    TRY(find_close(reader, &start, &close));
    char *decoded = json_text_room(reader, (size_t)(close - start) + 1);
    if (!decoded) return paritas_fail_memory(reader->context);
    char *out = decoded;
    reader->at = start;
    for (;;) {
        const char *plain = reader->at;
        TRY(read_plain(reader, &plain));
        memcpy(out, plain, (size_t)(reader->at - plain));
        out += reader->at - plain;
        if (*reader->at == '"') break;
        TRY(read_escape(reader, &out));
    }
    reader->at++;
    kept->decoded = true;
    return keep_text(reader, decoded, (size_t)(out - decoded), kept);
}

paritas_status json_read_string(struct json_reader *reader, struct json_kept *kept)
{
    const char *start = ++reader->at;
    const uint64_t first = load_bytes(start), stop = special_bytes(first);
    kept->decoded = false;
    if (stop != 0) {
        const int length = __builtin_ctzll(stop) / 8;
        reader->at += length + 1;
        if (start[length] == '"')
            return keep_word(reader, first & (((uint64_t)1 << 8 * length) - 1), (size_t)length, kept);
        reader->at = start;
    }
    TRY(read_plain(reader, &start));
    if (*reader->at == '\\') return read_escaped(reader, start, kept);
    const size_t length = (size_t)(reader->at - start);
    reader->at++;
    return keep_text(reader, start, length, kept);
}
