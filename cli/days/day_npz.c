/* day_npz.c: tables as archives of arrays, with their provenance first. */
#include "base/platform.h"
#include "days/day_tables.h"

#include <errno.h>
#include <string.h>

static bool put(struct npz *npz, struct output_file *file, const struct column *column)
{
    return npz_add(npz, column) && output_append(file, npz->header.bytes, npz->header.length) &&
           output_append(file, npz->array.bytes, npz->array.length);
}

paritas_status npz_put(paritas_context *context, struct output_file *file, const char *path,
                       const char *provenance, size_t n, const struct column *columns)
{
    struct npz npz;
    npz_open(&npz, &context->allocator);
    const struct column first = {
        .name = "provenance", .kind = COLUMN_TEXT, .scalar = true, .rows = 1, .values = &provenance};
    bool ok = put(&npz, file, &first);
    for (size_t i = 0; i < n && ok; i++) ok = put(&npz, file, &columns[i]);
    ok = ok && npz_end(&npz) && output_append(file, npz.directory.bytes, npz.directory.length);
    const paritas_status status = ok ? PARITAS_OK : columns_unwritable(context, path);
    npz_close(&npz);
    return status;
}

/* The first member, if a text array of one element. */
static bool read_first(FILE *file, struct text *out)
{
    static const char wanted[] = "provenance.npy";
    char local[30], magic[10];
    char name[sizeof wanted - 1];
    if (fread(local, 1, sizeof local, file) != sizeof local || npz_little(local, 4) != 0x04034b50 ||
        npz_little(local + 26, 2) != sizeof name || npz_little(local + 28, 2) != 0)
        return false;
    if (fread(name, 1, sizeof name, file) != sizeof name || memcmp(name, wanted, sizeof name) != 0)
        return false;
    if (fread(magic, 1, sizeof magic, file) != sizeof magic || memcmp(magic, "\x93NUMPY\x01\x00", 8) != 0)
        return false;
    const uint32_t header = npz_little(magic + 8, 2), size = npz_little(local + 18, 4);
    if (size < sizeof magic + header || fseek(file, (long)header, SEEK_CUR) != 0) return false;
    for (uint32_t left = (size - (uint32_t)sizeof magic - header) / 4; left > 0; left--) {
        uint32_t point; /* other byte order: not our file */
        if (fread(&point, 1, sizeof point, file) != sizeof point) return false;
        if (point == 0) break;
        if (!npz_append_character(out, point)) return false;
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
    struct npz npz;
    char *bytes, wanted[128];
    size_t length = 0;
    const int wanted_length = snprintf(wanted, sizeof wanted, "%s.npy", name);
    text[0] = '\0';
    *whole = false;
    read_bytes(context, path, &bytes, &length);
    if (!bytes) return PARITAS_OK;
    npz_open(&npz, &context->allocator);
    for (;;) {
        const char *local = bytes + npz.offset;
        const size_t left = length - (size_t)npz.offset;
        if (left < 30 || npz_little(local, 4) != 0x04034b50) break;
        const size_t size = npz_little(local + 18, 4), name_length = npz_little(local + 26, 2);
        char member[128];
        if (name_length >= sizeof member || left - 30 < name_length || left - 30 - name_length < size) break;
        memcpy(member, local + 30, name_length);
        member[name_length] = '\0';
        const char *array = bytes + npz.offset + 30 + name_length;
        npz_append_headers(&npz, member, array, size);
        if (npz.header.failed || memcmp(npz.header.bytes, local, 30 + name_length) != 0) break;
        if (name_length == (size_t)wanted_length && strcmp(member, wanted) == 0 && size > 256)
            for (size_t i = 0; i < 65; i++)
                text[i] = i < 64 ? (char)npz_little(array + size - 256 + 4 * i, 4) : '\0';
        npz.offset += 30 + name_length + size;
        npz.members++;
    }
    const bool failed = !npz_end(&npz) || npz.header.failed;
    if (!failed)
        *whole = npz.directory.length == length - npz.offset &&
                 memcmp(npz.directory.bytes, bytes + npz.offset, npz.directory.length) == 0;
    npz_close(&npz);
    paritas_release(&context->allocator, bytes);
    return failed ? paritas_fail_memory(context) : PARITAS_OK;
}
