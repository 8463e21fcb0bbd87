/* root_file.c: the file, its folders, and the records of objects.
 *
 * A folder's record says where the list of its keys is. A key says where an object's record is. Lists are
 * read when they are asked for, and found in by a table of their names. */
#include "root/root_file.h"

#include "base/platform.h"
#include "base/unpacked.h"
#include "root/root_inflate.h"
#include "root/root_key.h"

#include <errno.h>

#define HEADER_BYTES 64      /* of the file: more than its numbers take */
#define FOLDER_BYTES 42      /* of a folder's record, with long places */
#define SHORTEST_KEY 29      /* bytes */
#define BIG_FILE 1000000     /* added to the version: places have eight bytes */
#define BIG_RECORD 1000      /* the same for a record's version */
#define NAMES_SHOWN 3        /* near one that is not there */
#define WHOLE_MOST (8 << 20) /* bytes of a file that is read at once */

struct root_folder {
    uint32_t n, n_slots;
    struct root_key *keys; /* in the order of the list; a name once */
    uint32_t *slots;       /* key + 1 from its name's place on; 0: free */
};

struct root_file {
    paritas_allocator allocator;
    int file;
    uint64_t size;
    unsigned char *whole; /* all of it; NULL: a large file, or not read yet */
    const char *path;
    struct root_folder *top;
    struct arena arena; /* the path, all keys */
};

paritas_status root_refuse(paritas_context *context, const struct root_file *file, const char *name,
                           const char *format, ...)
{
    char reason[256];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: %s%s%s", file->path, name, *name ? ": " : "",
                        reason);
}

static paritas_status unreadable(paritas_context *context, const struct root_file *file)
{
    return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", file->path, strerror(errno));
}

/* `n` bytes from `at` on. The caller has compared both with the size of the file. */
static paritas_status read_at(paritas_context *context, const struct root_file *file, uint64_t at, size_t n,
                              unsigned char *out)
{
    if (file->whole) {
        memcpy(out, file->whole + at, n);
        return PARITAS_OK;
    }
    if (!platform_seek(file->file, at)) return unreadable(context, file);
    for (size_t got = 0; got < n;) {
        const ptrdiff_t more = platform_read(file->file, out + got, n - got);
        if (more < 0) return unreadable(context, file);
        if (more == 0) return root_refuse(context, file, "", "the file became shorter while it was read");
        got += (size_t)more;
    }
    return PARITAS_OK;
}

/* The same, of a record of `name`, which the file may not have. `memory` is for paritas_release. */
static paritas_status read_new(paritas_context *context, const struct root_file *file, const char *name,
                               uint64_t at, uint64_t n, unsigned char **memory)
{
    *memory = NULL;
    if (at > file->size || n > file->size - at || n > SIZE_MAX)
        return root_refuse(context, file, name,
                           "it would reach beyond the end of the file, which is damaged");
    unsigned char *const bytes = paritas_allocate(context, n > 0 ? (size_t)n : 1, 1);
    if (!bytes) return paritas_fail_memory(context);
    const paritas_status status = read_at(context, file, at, (size_t)n, bytes);
    if (status)
        paritas_release(&context->allocator, bytes);
    else
        *memory = bytes;
    return status;
}

/* ---- folders ---- */

/* The slot of a name, or the free one where it belongs. The slots are a power of two, and some are free. */
static uint32_t *find_slot(const struct root_folder *folder, const char *name, size_t length)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * UINT32_C(16777619);
    for (uint32_t at = hash ^ hash >> 15;; at++) {
        uint32_t *const slot = &folder->slots[at & (folder->n_slots - 1)];
        if (*slot == 0) return slot;
        const char *const there = folder->keys[*slot - 1].name;
        if (strncmp(there, name, length) == 0 && there[length] == '\0') return slot;
    }
}

/* As ROOT finds an object by its name alone: of several cycles the first in the list. ROOT itself writes the
 * newest one first. False without memory. */
static bool keep_first_of_names(struct root_folder *folder, struct arena *arena)
{
    uint32_t kept = 0;
    folder->n_slots = 2;
    while (folder->n_slots < 2 * folder->n) folder->n_slots *= 2;
    folder->slots = arena_array(arena, folder->n_slots, sizeof *folder->slots);
    if (!folder->slots) return false;
    for (uint32_t i = 0; i < folder->n; i++) {
        const char *const name = folder->keys[i].name;
        uint32_t *const slot = find_slot(folder, name, strlen(name));
        if (*slot != 0) continue;
        folder->keys[kept] = folder->keys[i];
        *slot = ++kept;
    }
    folder->n = kept;
    return true;
}

/* The header of a record. The texts are in `arena`; NULL without memory. */
static struct root_key read_key(struct root_bytes *bytes, struct arena *arena)
{
    struct root_key key = {.bytes = root_u32(bytes)};
    const unsigned place = root_u16(bytes) > BIG_RECORD ? 8 : 4;
    key.length = root_u32(bytes);
    root_u32(bytes); /* date */
    key.header = root_u16(bytes);
    root_u16(bytes); /* its cycle */
    key.at = root_number(bytes, place);
    root_number(bytes, place); /* its folder */
    const struct root_bytes class_name = root_text(bytes), name = root_text(bytes);
    root_text(bytes); /* title */
    key.class_name = arena_text(arena, (const char *)class_name.at, (size_t)(class_name.end - class_name.at));
    key.name = arena_text(arena, (const char *)name.at, (size_t)(name.end - name.at));
    return key;
}

static paritas_status read_keys(struct root_bytes *bytes, struct arena *arena, struct root_folder *folder)
{
    if (!read_key(bytes, arena).name) return PARITAS_OUT_OF_MEMORY; /* the list's own */
    const uint32_t n = root_u32(bytes);
    if (bytes->failed || n > (uint64_t)(bytes->end - bytes->at) / SHORTEST_KEY) return PARITAS_INVALID_INPUT;
    folder->keys = arena_array(arena, n, sizeof *folder->keys);
    if (!folder->keys) return PARITAS_OUT_OF_MEMORY;
    for (; folder->n < n; folder->n++) {
        const struct root_key key = read_key(bytes, arena);
        if (!key.class_name || !key.name) return PARITAS_OUT_OF_MEMORY;
        folder->keys[folder->n] = key;
    }
    if (bytes->failed) return PARITAS_INVALID_INPUT;
    return keep_first_of_names(folder, arena) ? PARITAS_OK : PARITAS_OUT_OF_MEMORY;
}

/* Where a folder's list is, and its length. */
static paritas_status read_folder_record(paritas_context *context, const struct root_file *file,
                                         const char *name, uint64_t at, uint64_t *list, uint32_t *length)
{
    unsigned char record[FOLDER_BYTES];
    const uint64_t left = at < file->size ? file->size - at : 0;
    const size_t n = left < sizeof record ? (size_t)left : sizeof record;
    if (n > 0) TRY(read_at(context, file, at, n, record));
    struct root_bytes bytes = {.at = record, .end = record + n};
    const unsigned place = root_u16(&bytes) > BIG_RECORD ? 8 : 4;
    root_take(&bytes, 8); /* dates */
    *length = root_u32(&bytes);
    root_take(&bytes, 4 + 2 * place); /* its own place, and that of the folder around it */
    *list = root_number(&bytes, place);
    return bytes.failed ? root_refuse(context, file, name, "the record of a folder is damaged") : PARITAS_OK;
}

static paritas_status read_list(paritas_context *context, struct root_file *file, const char *name,
                                uint64_t list, uint32_t length, struct root_folder *folder)
{
    unsigned char *memory;
    TRY(read_new(context, file, name, list, length, &memory));
    struct root_bytes bytes = {.at = memory, .end = memory + length};
    const paritas_status status = read_keys(&bytes, &file->arena, folder);
    paritas_release(&context->allocator, memory);
    if (status == PARITAS_OUT_OF_MEMORY) return paritas_fail_memory(context);
    return status ? root_refuse(context, file, name, "the list of objects is damaged") : PARITAS_OK;
}

/* `at`: of the folder's record. `name` is for messages. */
static paritas_status read_folder(paritas_context *context, struct root_file *file, const char *name,
                                  uint64_t at, struct root_folder **out)
{
    uint64_t list;
    uint32_t length;
    struct root_folder *const folder = arena_array(&file->arena, 1, sizeof *folder);
    if (!folder) return paritas_fail_memory(context);
    TRY(read_folder_record(context, file, name, at, &list, &length));
    if (list != 0)
        TRY(read_list(context, file, name, list, length, folder));
    else if (!file->top) /* a folder without objects may have none */
        return root_refuse(context, file, name,
                           "the program that wrote the file did not close it: write it again");
    *out = folder;
    return PARITAS_OK;
}

/* ---- the file ---- */

static paritas_status read_top(paritas_context *context, struct root_file *file)
{
    struct platform_info about;
    unsigned char header[HEADER_BYTES];
    if (!platform_info_open(file->file, &about)) return unreadable(context, file);
    if (about.kind != PLATFORM_FILE)
        return root_refuse(context, file, "", "a ROOT file is read at many places: this is no file");
    paritas_note_read(context, &about);
    file->size = about.size;
    const size_t n = about.size < sizeof header ? (size_t)about.size : sizeof header;
    TRY(read_at(context, file, 0, n, header));
    if (n < sizeof header || memcmp(header, "root", 4) != 0)
        return root_refuse(context, file, "", "this is no ROOT file");
    if (file->size <= WHOLE_MOST) TRY(read_new(context, file, "", 0, file->size, &file->whole));
    struct root_bytes bytes = {.at = header + 4, .end = header + n};
    const unsigned place = root_u32(&bytes) >= BIG_FILE ? 8 : 4;
    const uint64_t first = root_u32(&bytes), end = root_number(&bytes, place);
    root_take(&bytes, place + 8); /* what is free */
    const uint32_t name_bytes = root_u32(&bytes);
    if (end > file->size)
        return root_refuse(context, file, "", "%llu of the file's %llu bytes are there: copy it again",
                           (unsigned long long)file->size, (unsigned long long)end);
    return read_folder(context, file, "", first + name_bytes, &file->top);
}

paritas_status root_file_open(paritas_context *context, const char *path, struct root_file **out)
{
    *out = NULL;
    const int descriptor = platform_open_read(path);
    if (descriptor < 0) return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
    struct root_file *const file = paritas_allocate_clear(context, 1, sizeof *file);
    if (!file) {
        platform_close(descriptor);
        return paritas_fail_memory(context);
    }
    file->allocator = context->allocator;
    file->file = descriptor;
    arena_open(&file->arena, &context->allocator);
    file->path = arena_text(&file->arena, path, strlen(path));
    const paritas_status status = file->path ? read_top(context, file) : paritas_fail_memory(context);
    if (status)
        root_file_close(file);
    else
        *out = file;
    return status;
}

void root_file_close(struct root_file *file)
{
    if (!file) return;
    const paritas_allocator allocator = file->allocator;
    platform_close(file->file);
    paritas_release(&allocator, file->whole);
    arena_free(&file->arena);
    paritas_release(&allocator, file);
}

/* ---- objects ---- */

/* The last name before another, or, `behind`, the first behind it; NULL: none. */
static const char *neighbour(const struct root_folder *folder, const char *name, bool behind)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < folder->n; i++) {
        const char *const there = folder->keys[i].name;
        const int order = strcmp(there, name);
        if (behind ? order <= 0 : order >= 0) continue;
        if (!found || (strcmp(there, found) < 0) == behind) found = there;
    }
    return found;
}

/* `part`: the name that is not in the folder. */
static paritas_status not_found(paritas_context *context, const struct root_file *file, const char *name,
                                const char *part, const struct root_folder *folder)
{
    char names[NAMES_SHOWN * 104] = "";
    size_t used = 0;
    const char *at = neighbour(folder, part, false);
    if (!at) at = neighbour(folder, part, true);
    for (int i = 0; at && i < NAMES_SHOWN; i++, at = neighbour(folder, at, true))
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%.96s\"", used ? ", " : "", at);
    return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no \"%s\": the folder of \"%s\" %s%s",
                        file->path, name, part, used ? "has, for example, " : "is empty", names);
}

static bool is_folder(const struct root_key *key)
{
    return strcmp(key->class_name, "TDirectory") == 0 || strcmp(key->class_name, "TDirectoryFile") == 0;
}

/* `may_lack`: a missing name needs no message. */
static paritas_status find_key(paritas_context *context, struct root_file *file, const char *name,
                               bool may_lack, const struct root_key **out)
{
    const struct root_folder *folder = file->top;
    for (const char *part = name;;) {
        part += strspn(part, "/");
        const size_t length = strcspn(part, "/");
        const uint32_t place = folder->n > 0 ? *find_slot(folder, part, length) : 0;
        if (place == 0) return may_lack ? PARITAS_NOT_FOUND : not_found(context, file, name, part, folder);
        struct root_key *const key = &folder->keys[place - 1];
        part += length;
        if (*part == '\0') {
            *out = key;
            return PARITAS_OK;
        }
        if (!is_folder(key))
            return paritas_fail(context, PARITAS_NOT_FOUND,
                                "%s: there is no \"%s\": \"%s\" is a %s, no folder", file->path, name,
                                key->name, key->class_name);
        if (!key->folder) TRY(read_folder(context, file, name, key->at + key->header, &key->folder));
        folder = key->folder;
    }
}

paritas_status root_find(paritas_context *context, struct root_file *file, const char *name,
                         const struct root_key **key)
{
    return find_key(context, file, name, false, key);
}

bool root_file_has(struct root_file *file, const char *name)
{
    paritas_context quiet = {.allocator = file->allocator};
    const struct root_key *key;
    return find_key(&quiet, file, name, true, &key) == PARITAS_OK;
}

static paritas_status inflate_object(paritas_context *context, const struct root_file *file, const char *name,
                                     const struct root_key *key, struct root_bytes packed,
                                     unsigned char **plain)
{
    const char *const other = root_other_packing(packed);
    *plain = NULL;
    if (other)
        return root_refuse(context, file, name, "compressed by %s; zlib can be read: " ROOT_REWRITE, other);
    if (unpacks_too_far(key->length, (uint64_t)(packed.end - packed.at)))
        return root_refuse(context, file, name, UNPACKS_TOO_FAR);
    const paritas_status status = root_inflate(context, packed, key->length, plain);
    return status == PARITAS_INVALID_INPUT
               ? root_refuse(context, file, name, "the compressed bytes are damaged")
               : status;
}

/* The bytes of a record behind its header. `memory` as for root_read. */
static paritas_status read_record(paritas_context *context, const struct root_file *file, const char *name,
                                  const struct root_key *key, unsigned char **memory,
                                  struct root_bytes *record)
{
    const uint64_t at = key->at + key->header, n = key->bytes - key->header;
    *memory = NULL;
    if (!file->whole || at > file->size || n > file->size - at)
        TRY(read_new(context, file, name, at, n, memory));
    record->at = *memory ? *memory : file->whole + at;
    record->end = record->at + n;
    record->failed = false;
    return PARITAS_OK;
}

paritas_status root_read(paritas_context *context, struct root_file *file, const char *name,
                         const struct root_key *key, unsigned char **memory, struct root_bytes *object)
{
    *memory = NULL;
    if (key->at > file->size || key->bytes < key->header)
        return root_refuse(context, file, name, "its key in the list of objects is damaged");
    TRY(read_record(context, file, name, key, memory, object));
    if (key->length > key->bytes - key->header) {
        unsigned char *const packed = *memory;
        const paritas_status status = inflate_object(context, file, name, key, *object, memory);
        paritas_release(&context->allocator, packed);
        TRY(status);
        object->at = *memory;
    }
    object->end = object->at + key->length;
    return PARITAS_OK;
}
