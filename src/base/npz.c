/* npz.c: writes arrays for numpy.load. */
#include "base/npz.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const struct {
    const char *name; /* of NumPy, without byte order */
    size_t size;
} types[] = {[COLUMN_F64] = {"f8", 8},  [COLUMN_I64] = {"i8", 8},
             [COLUMN_U64] = {"u8", 8},  [COLUMN_U32] = {"u4", 4},
             [COLUMN_I8] = {"i1", 1},   [COLUMN_U8] = {"u1", 1},
             [COLUMN_BOOL] = {"b1", 1}, [COLUMN_TEXT] = {"U", sizeof(const char *)}};

size_t column_size(enum column_kind kind)
{
    return types[kind].size;
}

/* NPY names the machine's byte order. */
static char byte_order(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1 ? '<' : '>';
}

/* The next code point; invalid UTF-8 becomes U+FFFD. */
static uint32_t next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    const size_t length = utf8_sequence(at, strlen(*text));
    *text += length > 0 ? length : 1;
    if (length == 0) return 0xFFFD;
    uint32_t point = length == 1 ? at[0] : at[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) point = point << 6 | (at[i] & 0x3F);
    return point;
}

static size_t longest_of(size_t n, const char *const *texts, size_t least)
{
    size_t longest = least > 0 ? least : 1;
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        for (const char *at = texts[i]; at && *at != '\0'; length++) next_character(&at);
        if (length > longest) longest = length;
    }
    return longest;
}

static void append_texts(struct text *out, size_t n, const char *const *texts, size_t characters)
{
    uint32_t row[64];
    const size_t room = COUNT_OF(row);
    for (size_t i = 0; i < n; i++) {
        const char *at = texts[i] ? texts[i] : "";
        for (size_t left = characters; left > 0;) {
            const size_t step = left < room ? left : room;
            for (size_t k = 0; k < step; k++) row[k] = *at != '\0' ? next_character(&at) : 0;
            text_append(out, (const char *)row, step * sizeof *row);
            left -= step;
        }
    }
}

static void append_array(struct text *out, const struct column *column)
{
    char type[40], shape[64], header[192];
    const bool text = column->kind == COLUMN_TEXT;
    const size_t characters = text ? longest_of(column->rows, column->values, column->width) : 0,
                 width = text ? 0 : column->width;
    if (text)
        snprintf(type, sizeof type, "%cU%zu", byte_order(), characters);
    else
        snprintf(type, sizeof type, "%c%s", column_size(column->kind) == 1 ? '|' : byte_order(),
                 types[column->kind].name);
    if (column->scalar)
        snprintf(shape, sizeof shape, "()");
    else if (width == 0 && !column->matrix)
        snprintf(shape, sizeof shape, "(%zu,)", column->rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", column->rows, width);
    /* after ten bytes, blanks to a multiple of 64 */
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          type, shape);
    while ((10 + length + 1) % 64 != 0) header[length++] = ' ';
    header[length++] = '\n';
    text_append(out, "\x93NUMPY\x01\x00", 8);
    text_append(out, (const char[2]){(char)(length & 255), (char)(length >> 8)}, 2);
    text_append(out, header, (size_t)length);
    if (text)
        append_texts(out, column->rows, column->values, characters);
    else
        text_append(out, column->values,
                    column->rows * (width > 0 || column->matrix ? width : 1) * column_size(column->kind));
}

/* Numbers of a header, least byte first. */
struct little {
    unsigned bytes;
    uint64_t value;
};
#define APPEND(out, ...)                                     \
    append_little(out, (const struct little[]){__VA_ARGS__}, \
                  sizeof((const struct little[]){__VA_ARGS__}) / sizeof(struct little))

static void append_little(struct text *out, const struct little *numbers, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (unsigned i = 0; i < numbers[k].bytes; i++)
            text_append(out, (const char[1]){(char)(numbers[k].value >> 8 * i & 255)}, 1);
}

/* Common fields of local header and directory: version 2.0 is needed, names are UTF-8, stored, at ZIP's
 * earliest time, no extra fields. */
static void append_member(struct text *out, const char *name, uLong crc, size_t size)
{
    APPEND(out, {2, 20}, {2, 1u << 11}, {2, 0}, {2, 0}, {2, 1u << 5 | 1}, {4, crc}, {4, size}, {4, size},
           {2, strlen(name)}, {2, 0});
}

void npz_open(struct npz *npz, const paritas_allocator *allocator)
{
    *npz = (struct npz){.offset = 0};
    text_open(&npz->header, allocator);
    text_open(&npz->array, allocator);
    text_open(&npz->directory, allocator);
}

void npz_close(struct npz *npz)
{
    text_free(&npz->header);
    text_free(&npz->array);
    text_free(&npz->directory);
}

void npz_append_headers(struct npz *npz, const char *name, const char *array, size_t size)
{
    const uLong crc = crc32(0, (const Bytef *)array, (uInt)size);
    struct text *directory = &npz->directory;
    npz->header.length = 0;
    APPEND(&npz->header, {4, 0x04034b50});
    append_member(&npz->header, name, crc, size);
    text_append(&npz->header, name, strlen(name));
    APPEND(directory, {4, 0x02014b50}, {2, 20}); /* made by version 2.0 */
    append_member(directory, name, crc, size);
    /* no comment, one disk, binary, no attributes */
    APPEND(directory, {2, 0}, {2, 0}, {2, 0}, {4, 0}, {4, npz->offset});
    text_append(directory, name, strlen(name));
}

bool npz_add(struct npz *npz, const struct column *column)
{
    char name[128];
    snprintf(name, sizeof name, "%s.npy", column->name);
    npz->array.length = 0;
    append_array(&npz->array, column);
    const size_t size = npz->array.length;
    if (!npz->array.failed && npz->offset + size > UINT32_MAX - (UINT32_C(1) << 20)) {
        errno = EFBIG;
        return false;
    }
    if (!npz->array.failed) npz_append_headers(npz, name, npz->array.bytes, size);
    if (npz->array.failed || npz->header.failed || npz->directory.failed) {
        errno = ENOMEM;
        return false;
    }
    npz->offset += npz->header.length + size;
    npz->members++;
    return true;
}

bool npz_end(struct npz *npz)
{
    struct text *directory = &npz->directory;
    const size_t size = directory->length;
    /* one disk; members, here and in all; no comment */
    APPEND(directory, {4, 0x06054b50}, {4, 0}, {2, npz->members}, {2, npz->members}, {4, size},
           {4, npz->offset}, {2, 0});
    if (directory->failed) errno = ENOMEM;
    return !directory->failed;
}
