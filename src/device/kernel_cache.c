/* kernel_cache.c: files of 8 bytes of format, 64 hex digits of the rest's SHA-256, the binary. */
#include "device/kernel_cache.h"
#include "base/json/json.h"
#include "base/platform.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "paritas1"
#define HEADER (sizeof FORMAT - 1 + 64)
#define LARGEST ((long)1 << 28) /* bytes; far above any kernel */

bool kernel_cache_key(paritas_context *context, const char *made_by, const char *text, size_t text_size,
                      char hex[65])
{
    const size_t room = sizeof FORMAT + strlen(made_by) + text_size + 1;
    char *all = paritas_allocate(context, room, 1);
    if (!all) return false;
    /* a line each, the multi-line text last: different parts never join to the same bytes */
    const int length = snprintf(all, room, "%s\n%s", FORMAT, made_by);
    memcpy(all + length, text, text_size);
    sha256_of_bytes(all, (size_t)length + text_size, hex);
    paritas_release(&context->allocator, all);
    return true;
}

/* The path of a file in the cache, allocated. NULL: no cache. */
static char *path_of(paritas_context *context, const char *key, const char *ending)
{
    if (!context->cache) return NULL;
    const size_t room = strlen(context->cache) + strlen(key) + strlen(ending) + 2;
    char *path = paritas_allocate(context, room, 1);
    if (path) snprintf(path, room, "%s/%s%s", context->cache, key, ending);
    return path;
}

void *kernel_cache_read(paritas_context *context, const char *key, size_t *size)
{
    char *path = context->again ? NULL : path_of(context, key, "");
    struct platform_info found;
    /* a pipe would block for ever */
    const bool is_file = path && platform_info(path, &found) && found.kind == PLATFORM_FILE;
    FILE *file = is_file ? platform_open_stream(path, "rb") : NULL;
    paritas_release(&context->allocator, path);
    if (!file) return NULL;
    char header[HEADER], hex[65];
    char *binary = NULL;
    bool good = fread(header, 1, HEADER, file) == HEADER && memcmp(header, FORMAT, sizeof FORMAT - 1) == 0;
    const long end = good && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    good = end > (long)HEADER && end <= LARGEST && fseek(file, (long)HEADER, SEEK_SET) == 0;
    if (good) {
        *size = (size_t)end - HEADER;
        binary = paritas_allocate(context, *size, 1);
        good = binary && fread(binary, 1, *size, file) == *size;
    }
    fclose(file);
    if (good) {
        sha256_of_bytes(binary, *size, hex);
        good = memcmp(hex, header + sizeof FORMAT - 1, 64) == 0;
    }
    if (good) return binary;
    paritas_release(&context->allocator, binary);
    return NULL;
}

/* Makes the folders of a path. */
static void make_folders(char *path)
{
    for (char *c = path + 1; *c; c++) {
        if (!platform_is_separator(*c)) continue;
        const char separator = *c;
        *c = '\0';
        platform_make_folder(path);
        *c = separator;
    }
}

bool kernel_cache_writable(paritas_context *context)
{
    char *inside = path_of(context, "x", "");
    if (!inside) return false;
    make_folders(inside);
    paritas_release(&context->allocator, inside);
    struct platform_info found;
    return platform_info(context->cache, &found) && found.kind == PLATFORM_FOLDER &&
           platform_writable(context->cache);
}

void kernel_cache_write(paritas_context *context, const char *key, const void *binary, size_t size)
{
    char *path = path_of(context, key, ""), *temporary = path_of(context, key, ".XXXXXX");
    char hex[65];
    if (path && temporary) {
        make_folders(temporary);
        const int file = platform_open_temporary(temporary);
        if (file >= 0) {
            sha256_of_bytes(binary, size, hex);
            bool good = platform_write(file, FORMAT, sizeof FORMAT - 1) && platform_write(file, hex, 64) &&
                        platform_write(file, binary, size);
            good = platform_close_temporary(file, temporary, good, false);
            if (good && !platform_rename(temporary, path)) platform_remove(temporary);
        }
    }
    paritas_release(&context->allocator, path);
    paritas_release(&context->allocator, temporary);
}
