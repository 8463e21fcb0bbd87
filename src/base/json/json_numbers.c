/* json_numbers.c: numbers of JSON texts, alone or as packed arrays.
 *
 *   [ 1.5, 2, 3e-1 ] ──► numbers of the reader: 1.5  2  0.3      ──► one piece of the arena each
 *                    └──► literals of the reader: 1.5,2,3e-1,
 */
#include "base/json/json_reader.h"

#include "base/json/number.h"
#include <string.h>

/* Short ones as one block: windows and rooms reach that far. */
static inline void copy_literal(char *out, const char *literal, size_t length)
{
    if (length <= JSON_SLACK)
        memcpy(out, literal, JSON_SLACK);
    else
        memcpy(out, literal, length);
}

/* Copies a literal into the arena. Returns NULL without memory. */
static inline const char *keep_literal(struct json_reader *reader, const char *literal, size_t length)
{
    char *copy = json_text_room(reader, length + 1);
    if (!copy) return NULL;
    copy_literal(copy, literal, length);
    copy[length] = '\0';
    return copy;
}

/* Any number; from reader->at to *end. */
static paritas_status scan_number(struct json_reader *reader, const char **end, double *value, bool *integer)
{
    struct decimal decimal;
    const char *reason;
    *end = number_scan(reader->at, reader->window.end, &decimal, &reason);
    while (*end > reader->window.low) { /* it may go on */
        TRY(json_more(reader));
        *end = number_scan(reader->at, reader->window.end, &decimal, &reason);
    }
    if (reason) {
        if (strncmp(*end, "Infinity", 8) == 0)
            return json_fail_at(reader, reader->at, "-Infinity is not a JSON number");
        return json_fail_at(reader, *end, "%s", reason);
    }
    *integer = decimal.integer;
    *value = number_value(&decimal, reader->at, (size_t)(*end - reader->at));
    if (*value - *value != 0) return json_fail_at(reader, reader->at, "the number is too large for a double");
    return PARITAS_OK;
}

_Static_assert(NUMBER_AHEAD <= JSON_PADDING, "number_read_usual may look beyond the window");

/* The same, quick for the usual one. */
static inline paritas_status read_number(struct json_reader *reader, const char **end, double *value,
                                         bool *integer)
{
    *end = number_read_usual(reader->at, value, integer);
    if (*end && *end <= reader->window.low) return PARITAS_OK;
    return scan_number(reader, end, value, integer);
}

paritas_status json_read_number(struct json_reader *reader, struct json *node)
{
    const char *end;
    bool integer;
    TRY(read_number(reader, &end, &node->number, &integer));
    node->type = JSON_NUMBER;
    node->integer = integer;
    node->length = (uint32_t)(end - reader->at);
    node->text = keep_literal(reader, reader->at, node->length);
    if (!node->text) return paritas_fail_memory(reader->context);
    reader->at = end;
    return PARITAS_OK;
}

/* Room for one more number and a literal of `length` bytes. */
static bool make_room(struct json_reader *reader, size_t n, size_t used, size_t length)
{
    if (n == reader->number_room) {
        const size_t room = 2 * n + 64;
        double *larger = paritas_reallocate(reader->context, reader->numbers, room, sizeof *larger);
        if (!larger) return false;
        reader->numbers = larger;
        reader->number_room = room;
    }
    if (reader->literal_room - used < length + JSON_SLACK) {
        const size_t room = 2 * (used + length) + 1024;
        char *larger = paritas_reallocate(reader->context, reader->literals, room, 1);
        if (!larger) return false;
        reader->literals = larger;
        reader->literal_room = room;
    }
    return true;
}

/* `used`: bytes of literals. */
static paritas_status pack(struct json_reader *reader, struct json *array, size_t n, size_t used)
{
    struct json_numbers *made = arena_allocate(&reader->document->arena, sizeof *made + n * sizeof *made->at);
    char *literals = json_text_room(reader, used);
    if (!made || !literals) return paritas_fail_memory(reader->context);
    made->literals = memcpy(literals, reader->literals, used);
    memcpy(made->at, reader->numbers, n * sizeof *made->at);
    array->numbers_of = made;
    array->packed = true;
    array->count = (uint32_t)n;
    return PARITAS_OK;
}

/* A value other than a number follows: the array has nodes after all. */
static paritas_status unpack(struct json_reader *reader, struct json *array, size_t n)
{
    const char *literal = reader->literals;
    for (size_t i = 0; i < n; i++) {
        struct json *node = json_next_node(reader);
        const char *reason;
        struct decimal decimal;
        if (!node) return paritas_fail_memory(reader->context);
        const char *end = strchr(literal, ',');
        number_scan(literal, end, &decimal, &reason);
        node->type = JSON_NUMBER;
        node->integer = decimal.integer;
        node->number = reader->numbers[i];
        node->length = (uint32_t)(end - literal);
        node->text = keep_literal(reader, literal, node->length);
        if (!node->text) return paritas_fail_memory(reader->context);
        json_add(array, node);
        literal = end + 1;
    }
    return PARITAS_OK;
}

paritas_status json_read_numbers(struct json_reader *reader, struct json *array)
{
    size_t n = 0, used = 0;
    for (;;) {
        const char *end;
        double value;
        bool integer;
        TRY(read_number(reader, &end, &value, &integer));
        const size_t length = (size_t)(end - reader->at);
        if (!make_room(reader, n, used, length + 1)) return paritas_fail_memory(reader->context);
        reader->numbers[n++] = value;
        copy_literal(reader->literals + used, reader->at, length);
        reader->literals[used + length] = ',';
        used += length + 1;
        reader->at = end;
        TRY(json_pass_blanks(reader));
        if (*reader->at == ']') return pack(reader, array, n, used);
        const char *next = *reader->at == ',' ? json_skip_blanks(reader->at + 1) : reader->at;
        if (next > reader->window.low || !json_begins_number(*next) || *reader->at != ',') break;
        reader->at = next;
    }
    return unpack(reader, array, n);
}
