/* day_npz.c: ZIP archives (PKWARE APPNOTE 6.3) of stored NPY 1.0 arrays (NumPy enhancement proposal 1).
 *
 *   local header, name, array │ ... │ directory: header, name │ ... │ end of the directory */
#include "base/platform.h"
#include "base/utf8.h"
#include "days/day_tables.h"
#include "print/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const struct {
    const char *name; /* of NumPy, without byte order */
    size_t size;
} types[] = {[COLUMN_F64] = {"f8", 8},
             [COLUMN_I64] = {"i8", 8},
             [COLUMN_U32] = {"u4", 4},
             [COLUMN_I8] = {"i1", 1},
             [COLUMN_U8] = {"u1", 1},
             [COLUMN_BOOL] = {"b1", 1},
             [COLUMN_TEXT] = {"U", sizeof(const char *)}};

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
    else if (width == 0)
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
        text_append(out, column->values, column->rows * (width > 0 ? width : 1) * column_size(column->kind));
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

struct archive {
    struct output_file *file;
    struct text array, header, directory;
    uint64_t offset;
    size_t members;
};

static void append_headers(struct archive *archive, const char *name, const char *array, size_t size)
{
    const uLong crc = crc32(0, (const Bytef *)array, (uInt)size);
    struct text *directory = &archive->directory;
    archive->header.length = 0;
    APPEND(&archive->header, {4, 0x04034b50});
    append_member(&archive->header, name, crc, size);
    text_append(&archive->header, name, strlen(name));
    APPEND(directory, {4, 0x02014b50}, {2, 20}); /* made by version 2.0 */
    append_member(directory, name, crc, size);
    /* no comment, one disk, binary, no attributes */
    APPEND(directory, {2, 0}, {2, 0}, {2, 0}, {4, 0}, {4, archive->offset});
    text_append(directory, name, strlen(name));
}

/* errno EFBIG: needs ZIP64 (4 GiB or more). */
static bool add_array(struct archive *archive, const struct column *column)
{
    char name[128];
    snprintf(name, sizeof name, "%s.npy", column->name);
    archive->array.length = 0;
    append_array(&archive->array, column);
    if (archive->array.failed) {
        errno = ENOMEM;
        return false;
    }
    const size_t size = archive->array.length;
    if (archive->offset + size > UINT32_MAX - (UINT32_C(1) << 20)) {
        errno = EFBIG;
        return false;
    }
    append_headers(archive, name, archive->array.bytes, size);
    if (archive->header.failed || archive->directory.failed) {
        errno = ENOMEM;
        return false;
    }
    archive->offset += archive->header.length + size;
    archive->members++;
    return output_append(archive->file, archive->header.bytes, archive->header.length) &&
           output_append(archive->file, archive->array.bytes, size);
}

static void append_end(struct archive *archive)
{
    struct text *directory = &archive->directory;
    const size_t size = directory->length;
    /* one disk; members, here and in all; no comment */
    APPEND(directory, {4, 0x06054b50}, {4, 0}, {2, archive->members}, {2, archive->members}, {4, size},
           {4, archive->offset}, {2, 0});
}

paritas_status npz_put(paritas_context *context, struct output_file *file, const char *path,
                       const char *provenance, size_t n, const struct column *columns)
{
    struct archive archive = {.file = file};
    text_open(&archive.array, &context->allocator);
    text_open(&archive.header, &context->allocator);
    text_open(&archive.directory, &context->allocator);
    const struct column first = {
        .name = "provenance", .kind = COLUMN_TEXT, .scalar = true, .rows = 1, .values = &provenance};
    bool ok = add_array(&archive, &first);
    for (size_t i = 0; i < n && ok; i++) ok = add_array(&archive, &columns[i]);
    append_end(&archive);
    if (ok && archive.directory.failed) {
        ok = false;
        errno = ENOMEM;
    }
    ok = ok && output_append(file, archive.directory.bytes, archive.directory.length);
    const paritas_status status = ok ? PARITAS_OK : columns_unwritable(context, path);
    text_free(&archive.array);
    text_free(&archive.header);
    text_free(&archive.directory);
    return status;
}

static uint32_t little(const unsigned char *bytes, unsigned n)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < n; i++) value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

/* The first member, if a text array of one element. */
static bool read_first(FILE *file, struct text *out)
{
    static const char wanted[] = "provenance.npy";
    unsigned char local[30], magic[10], points[4];
    char name[sizeof wanted - 1];
    if (fread(local, 1, sizeof local, file) != sizeof local || little(local, 4) != 0x04034b50 ||
        little(local + 26, 2) != sizeof name || little(local + 28, 2) != 0)
        return false;
    if (fread(name, 1, sizeof name, file) != sizeof name || memcmp(name, wanted, sizeof name) != 0)
        return false;
    if (fread(magic, 1, sizeof magic, file) != sizeof magic || memcmp(magic, "\x93NUMPY\x01\x00", 8) != 0)
        return false;
    const uint32_t header = little(magic + 8, 2), size = little(local + 18, 4);
    if (size < sizeof magic + header || fseek(file, (long)header, SEEK_CUR) != 0) return false;
    for (uint32_t left = (size - (uint32_t)sizeof magic - header) / 4; left > 0; left--) {
        if (fread(points, 1, sizeof points, file) != sizeof points) return false;
        uint32_t point;
        /* other byte order: not our file */
        memcpy(&point, points, sizeof point);
        if (point == 0) break;
        if (point > 0x10FFFF) return false;
        /* UTF-8, from the last byte of a sequence to its first */
        const size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
        char bytes[4];
        for (size_t i = length - 1; i > 0; i--, point >>= 6) bytes[i] = (char)(0x80 | (point & 63));
        bytes[0] = (char)(leads[length - 1] | point);
        text_append(out, bytes, length);
    }
    return true;
}

paritas_status npz_provenance(paritas_context *context, const char *path, struct paritas_workspace **document)
{
    return provenance_read(context, path, read_first, document);
}

static void read_bytes(paritas_context *context, const char *path, char **bytes, size_t *length)
{
    FILE *file = platform_open_stream(path, "rb");
    *bytes = NULL;
    if (!file) return;
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    *length = end > 0 ? (size_t)end : 0;
    if (end > 0 && fseek(file, 0, SEEK_SET) == 0) *bytes = paritas_allocate(context, *length, 1);
    if (*bytes && fread(*bytes, 1, *length, file) != *length) {
        paritas_release(&context->allocator, *bytes);
        *bytes = NULL;
    }
    fclose(file);
}

/* Rebuilds headers and directory from the members. Any difference is damage. */
paritas_status npz_whole(paritas_context *context, const char *path, const char *name, bool *whole,
                         char text[65])
{
    struct archive archive = {.offset = 0};
    char *bytes, wanted[128];
    size_t length = 0;
    const int wanted_length = snprintf(wanted, sizeof wanted, "%s.npy", name);
    text[0] = '\0';
    *whole = false;
    read_bytes(context, path, &bytes, &length);
    if (!bytes) return PARITAS_OK;
    text_open(&archive.header, &context->allocator);
    text_open(&archive.directory, &context->allocator);
    for (;;) {
        const unsigned char *local = (const unsigned char *)bytes + archive.offset;
        const size_t left = length - (size_t)archive.offset;
        if (left < 30 || little(local, 4) != 0x04034b50) break;
        const size_t size = little(local + 18, 4), name_length = little(local + 26, 2);
        char member[128];
        if (name_length >= sizeof member || left - 30 < name_length || left - 30 - name_length < size) break;
        memcpy(member, local + 30, name_length);
        member[name_length] = '\0';
        const char *array = bytes + archive.offset + 30 + name_length;
        append_headers(&archive, member, array, size);
        if (archive.header.failed || memcmp(archive.header.bytes, local, 30 + name_length) != 0) break;
        if (name_length == (size_t)wanted_length && strcmp(member, wanted) == 0 && size > 256)
            for (size_t i = 0; i < 65; i++)
                text[i] = i < 64 ? (char)little((const unsigned char *)array + size - 256 + 4 * i, 4) : '\0';
        archive.offset += 30 + name_length + size;
        archive.members++;
    }
    append_end(&archive);
    const bool failed = archive.header.failed || archive.directory.failed;
    if (!failed)
        *whole = archive.directory.length == length - archive.offset &&
                 memcmp(archive.directory.bytes, bytes + archive.offset, archive.directory.length) == 0;
    text_free(&archive.header);
    text_free(&archive.directory);
    paritas_release(&context->allocator, bytes);
    return failed ? paritas_fail_memory(context) : PARITAS_OK;
}
