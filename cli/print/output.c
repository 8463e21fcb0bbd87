/* output.c: files written whole or not at all. */
#include "print/output.h"
#include "base/platform.h"
#include "base/visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD_OUTPUT 1

static bool failed(const char *path)
{
    char shown[1024];
    fprintf(stderr, "paritas: %s: cannot be written: %s\n", visible_copy(path, sizeof shown, shown),
            strerror(errno));
    return false;
}

static bool is_standard_output(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool output_check(const char *path)
{
    struct platform_info info;
    if (is_standard_output(path)) return true;
    if (platform_info(path, &info)) {
        if (info.kind == PLATFORM_FOLDER) {
            errno = EISDIR;
            return failed(path);
        }
        if (info.kind != PLATFORM_FILE) return platform_writable(path) || failed(path);
    }
    char *real = platform_behind_links(path), *folder = real ? platform_folder_of(real) : NULL;
    bool writable = folder && platform_writable(folder);
    int error = errno;
    free(real);
    free(folder);
    errno = error;
    return writable || failed(path);
}

static bool write_in_place(const char *path, const char *bytes, size_t length)
{
    int file = platform_open_write(path);
    if (file < 0) return failed(path);
    bool ok = platform_write(file, bytes, length);
    int error = errno;
    if (!platform_close(file) && ok) {
        ok = false;
        error = errno;
    }
    errno = error;
    return ok || failed(path);
}

bool output_open(struct output_file *output, const char *path)
{
    output->target = platform_behind_links(path); /* what a link leads to is replaced, not the link */
    output->file = -1;
    const size_t size = output->target ? strlen(output->target) + sizeof ".XXXXXX" : 0;
    output->beside = output->target ? malloc(size) : NULL;
    if (output->beside) {
        snprintf(output->beside, size, "%s.XXXXXX", output->target);
        output->file = platform_open_temporary(output->beside);
    }
    if (output->file >= 0) return true;
    const int error = errno;
    free(output->target);
    free(output->beside);
    errno = error;
    return false;
}

bool output_append(struct output_file *output, const void *bytes, size_t length)
{
    return platform_write(output->file, bytes, length);
}

/* keep: the file stays beside its target. `sync`: waits for the disk. */
static bool seal(struct output_file *output, bool keep, bool sync)
{
    const bool ok = keep && platform_set_permissions(output->file, output->target);
    output->sealed = platform_close_temporary(output->file, output->beside, ok, sync);
    return output->sealed;
}

bool output_seal(struct output_file *output)
{
    return seal(output, true, true);
}

bool output_name(struct output_file *output, bool keep)
{
    const bool ok = keep && platform_rename(output->beside, output->target);
    const int error = errno;
    if (!ok && output->sealed) platform_remove(output->beside);
    free(output->target);
    free(output->beside);
    errno = error;
    return ok;
}

/* `keep` false: of a failure, whose errno stays. */
static bool close_file(struct output_file *output, bool keep, bool sync)
{
    const int error = errno;
    const bool sealed = seal(output, keep, sync);
    if (!keep) errno = error;
    return output_name(output, keep && sealed);
}

bool output_close(struct output_file *output, bool keep)
{
    return close_file(output, keep, true);
}

bool output_write(const char *path, const char *bytes, size_t length)
{
    if (is_standard_output(path))
        return platform_write(STANDARD_OUTPUT, bytes, length) || failed("standard output");
    struct platform_info info;
    if (platform_info(path, &info) && info.kind != PLATFORM_FILE) return write_in_place(path, bytes, length);
    struct output_file output;
    if (!output_open(&output, path)) return failed(path);
    const bool written = output_append(&output, bytes, length);
    const int error = errno;
    /* no sync: slower than most commands. Readers see the old or the new file, never a part */
    const bool kept = close_file(&output, written, false);
    if (!written) errno = error;
    return (written && kept) || failed(path);
}
