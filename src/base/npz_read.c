/* npz_read.c: finds an array by the directory at the end, and inflates it if it is packed.
 *
 *   end of the directory ─► line of the name ─► local header ─► NPY header: type, order, shape ─► array */
#include "base/inflating.h"
#include "base/npz.h"
#include "base/unpacked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL 30      /* bytes of a local header, without name and extra field */
#define LINE 46       /* of a line of the directory */
#define END 22        /* of the end of the directory, without a comment */
#define COMMENT 65535 /* the longest */

#define damaged(reader, ...) paritas_fail((reader)->context, PARITAS_INVALID_INPUT, __VA_ARGS__)

struct reader {
    paritas_context *context;
    const char *label, *name;
    const char *bytes;
    size_t length;
};

struct member {
    const char *packed;
    size_t n_packed, n_plain;
    uint32_t method, crc;
};

bool npz_is(const char *bytes, size_t length)
{
    return length >= 4 && (npz_little(bytes, 4) == 0x04034b50 || npz_little(bytes, 4) == 0x06054b50);
}

/* Finds the end of the directory; NULL: there is none. */
static const char *find_end(const struct reader *r)
{
    if (r->length < END) return NULL;
    const char *at = r->bytes + r->length - END;
    const char *const first = r->length > END + COMMENT ? at - COMMENT : r->bytes;
    for (; at >= first; at--)
        if (npz_little(at, 4) == 0x06054b50) return at;
    return NULL;
}

static paritas_status take_member(const struct reader *r, const char *line, struct member *member)
{
    const size_t at = npz_little(line + 42, 4);
    *member = (struct member){.method = npz_little(line + 10, 2),
                              .crc = npz_little(line + 16, 4),
                              .n_packed = npz_little(line + 20, 4),
                              .n_plain = npz_little(line + 24, 4)};
    if (member->n_packed == UINT32_MAX || member->n_plain == UINT32_MAX || at == UINT32_MAX)
        return damaged(r, "%s: %s: 4 GiB or more are too large: save it in parts", r->label, r->name);
    if (at > r->length - LOCAL || npz_little(r->bytes + at, 4) != 0x04034b50)
        return damaged(r, "%s: %s: the archive is damaged", r->label, r->name);
    const size_t begin = at + LOCAL + npz_little(r->bytes + at + 26, 2) + npz_little(r->bytes + at + 28, 2);
    if (begin > r->length || r->length - begin < member->n_packed)
        return damaged(r, "%s: %s: the archive is damaged", r->label, r->name);
    member->packed = r->bytes + begin;
    return PARITAS_OK;
}

/* The member NAME.npy. */
static paritas_status find_member(const struct reader *r, struct member *member, bool *found)
{
    const char *const end = find_end(r);
    const size_t wanted = strlen(r->name);
    if (!end) return damaged(r, "%s: the archive is cut short", r->label);
    size_t at = npz_little(end + 16, 4);
    for (size_t left = npz_little(end + 10, 2); left > 0; left--) {
        const size_t most = (size_t)(end - r->bytes);
        if (at > most || most - at < LINE || npz_little(r->bytes + at, 4) != 0x02014b50)
            return damaged(r, "%s: the archive's directory is damaged", r->label);
        const char *const line = r->bytes + at;
        const size_t length = npz_little(line + 28, 2);
        if (most - at - LINE < length) return damaged(r, "%s: the archive's directory is damaged", r->label);
        if (length == wanted + 4 && memcmp(line + LINE, r->name, wanted) == 0 &&
            memcmp(line + LINE + wanted, ".npy", 4) == 0) {
            *found = true;
            return take_member(r, line, member);
        }
        at += LINE + length + npz_little(line + 30, 2) + npz_little(line + 32, 2);
    }
    return PARITAS_OK;
}

static paritas_status inflate_member(const struct reader *r, const struct member *member, char **plain)
{
    z_stream stream = inflating(&r->context->allocator);
    if (member->n_plain / 1032 > member->n_packed) /* zlib packs no denser */
        return damaged(r, "%s: %s: the archive is damaged", r->label, r->name);
    if (unpacks_too_far(member->n_plain, member->n_packed))
        return damaged(r, "%s: %s: " UNPACKS_TOO_FAR ": save it without compression", r->label, r->name);
    *plain = paritas_allocate(r->context, member->n_plain + 1, 1);
    if (!*plain || inflateInit2(&stream, -MAX_WBITS) != Z_OK) return paritas_fail_memory(r->context);
    stream.next_in = (Bytef *)(uintptr_t)member->packed; /* zlib knows no const */
    stream.avail_in = (uInt)member->n_packed;
    stream.next_out = (Bytef *)*plain;
    stream.avail_out = (uInt)member->n_plain;
    const int code = inflate(&stream, Z_FINISH);
    const bool whole = code == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (code == Z_MEM_ERROR) return paritas_fail_memory(r->context);
    return whole ? PARITAS_OK : damaged(r, "%s: %s: the archive is damaged", r->label, r->name);
}

/* ---- the array's own header ---- */

/* Returns what follows "'key':" and blanks; NULL: there is no such key. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool read_shape(const char *at, struct npz_array *array)
{
    array->shape[0] = array->shape[1] = 1;
    if (!at || *at++ != '(') return false;
    while (*at >= '0' && *at <= '9') {
        char *next;
        if (array->dimensions == 2) return false;
        array->shape[array->dimensions++] = strtoull(at, &next, 10);
        at = next + strspn(next, ", ");
    }
    return *at == ')';
}

/* Byte order, kind and size: '<f8'. */
static bool read_type(const char *at, struct npz_array *array)
{
    char *end;
    if (!at || *at++ != '\'' || (*at != '<' && *at != '|' && *at != '=')) return false;
    array->kind = at[1];
    array->size = strtoul(at + 2, &end, 10);
    if (*end != '\'' || array->size == 0 || array->size > 65536) return false;
    const size_t n = array->size;
    if (array->kind == 'U') array->size = 4 * n;
    return array->kind == 'U' || (array->kind == 'f' && (n == 4 || n == 8)) ||
           (array->kind == 'b' && n == 1) ||
           ((array->kind == 'i' || array->kind == 'u') && (n == 1 || n == 2 || n == 4 || n == 8));
}

static paritas_status read_array(const struct reader *r, const char *bytes, size_t length,
                                 struct npz_array *array)
{
    char header[512];
    if (length < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return damaged(r, "%s: %s: is not an array of NumPy", r->label, r->name);
    const unsigned wide = bytes[6] == 1 ? 2 : 4;
    const size_t begin = 8 + wide, n = npz_little(bytes + 8, wide);
    if (n >= sizeof header || length - begin < n)
        return damaged(r, "%s: %s: its header is damaged", r->label, r->name);
    memcpy(header, bytes + begin, n);
    header[n] = '\0';
    const char *const order = value_of(header, "fortran_order");
    if (!read_type(value_of(header, "descr"), array))
        return damaged(r, "%s: %s: is no array of numbers, truths or texts in this machine's byte order",
                       r->label, r->name);
    if (!read_shape(value_of(header, "shape"), array))
        return damaged(r, "%s: %s: has more than two dimensions", r->label, r->name);
    array->by_columns = order && strncmp(order, "True", 4) == 0;
    const size_t room = (length - begin - n) / array->size, rows = array->shape[0], width = array->shape[1];
    if (rows > 0 && width > 0 && room / rows < width)
        return damaged(r, "%s: %s: is shorter than its shape", r->label, r->name);
    array->bytes = bytes + begin + n;
    return PARITAS_OK;
}

paritas_status npz_find(paritas_context *context, const char *label, const struct file_bytes *archive,
                        const char *name, struct npz_array *array, bool *found)
{
    const struct reader r = {context, label, name, archive->at, archive->length};
    struct member member = {0};
    *array = (struct npz_array){.kind = '\0'};
    *found = false;
    TRY(find_member(&r, &member, found));
    if (!*found) return PARITAS_OK;
    if (member.method != 0 && member.method != 8)
        return damaged(&r, "%s: %s: is packed by method %u, which is not deflate", label, name,
                       member.method);
    paritas_status status = PARITAS_OK;
    if (member.method == 8) status = inflate_member(&r, &member, &array->plain);
    const char *const bytes = array->plain ? array->plain : member.packed;
    const size_t length = member.method == 8 ? member.n_plain : member.n_packed;
    if (status == PARITAS_OK && crc32(0, (const Bytef *)bytes, (uInt)length) != member.crc)
        status = damaged(&r, "%s: %s: the archive is damaged", label, name);
    if (status == PARITAS_OK) status = read_array(&r, bytes, length, array);
    if (status == PARITAS_OK) return PARITAS_OK;
    paritas_release(&context->allocator, array->plain);
    array->plain = NULL;
    return status;
}

/* ---- elements ---- */

static const char *element(const struct npz_array *array, size_t i)
{
    const size_t rows = array->shape[0], width = array->shape[1];
    const size_t at = array->by_columns ? i % width * rows + i / width : i;
    return array->bytes + at * array->size;
}

#define ELEMENT(type)                     \
    do {                                  \
        type value;                       \
        memcpy(&value, at, sizeof value); \
        return (double)value;             \
    } while (0)

double npz_number(const struct npz_array *array, size_t i)
{
    const char *const at = element(array, i);
    switch (array->kind << 8 | (int)array->size) {
    case 'f' << 8 | 8:
        ELEMENT(double);
    case 'f' << 8 | 4:
        ELEMENT(float);
    case 'i' << 8 | 8:
        ELEMENT(int64_t);
    case 'i' << 8 | 4:
        ELEMENT(int32_t);
    case 'i' << 8 | 2:
        ELEMENT(int16_t);
    case 'i' << 8 | 1:
        ELEMENT(int8_t);
    case 'u' << 8 | 8:
        ELEMENT(uint64_t);
    case 'u' << 8 | 4:
        ELEMENT(uint32_t);
    case 'u' << 8 | 2:
        ELEMENT(uint16_t);
    case 'u' << 8 | 1:
    case 'b' << 8 | 1:
        ELEMENT(uint8_t);
    default:
        return NAN;
    }
}

bool npz_append_character(struct text *out, uint32_t point)
{
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    const size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    char bytes[4];
    if (point > 0x10FFFF) return false;
    /* from the last byte of a sequence to its first */
    for (size_t i = length - 1; i > 0; i--, point >>= 6) bytes[i] = (char)(0x80 | (point & 63));
    bytes[0] = (char)(leads[length - 1] | point);
    text_append(out, bytes, length);
    return true;
}

void npz_text(const struct npz_array *array, size_t i, struct text *out)
{
    const char *const at = element(array, i);
    for (size_t k = 0; array->kind == 'U' && k < array->size; k += 4) {
        const uint32_t point = npz_little(at + k, 4);
        if (point == 0 || !npz_append_character(out, point)) return;
    }
}
