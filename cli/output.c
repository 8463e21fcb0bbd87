/* output.c: files written whole or not at all. */
#define _XOPEN_SOURCE 700
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__wasi__)
#include "output_wasi.h"
#endif

#define LINKS_MOST 40 /* as in the kernel */

static bool failed(const char *path)
{
    fprintf(stderr, "paritas: %s: cannot be written: %s\n", path, strerror(errno));
    return false;
}

/* Freed by the caller; NULL: out of memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* The file that `path` leads to through links, also where it does not exist yet. NULL: errno says why. */
static char *target_of(const char *path)
{
    char *target = strdup(path);
    for (int links = 0; target && links < LINKS_MOST; links++) {
        struct stat info;
        char next[PATH_MAX];
        const ssize_t length =
            lstat(target, &info) == 0 && S_ISLNK(info.st_mode) ? readlink(target, next, sizeof next - 1) : -1;
        if (length < 0) return target;
        next[length] = '\0';
        char *folder = next[0] == '/' ? strdup("") : folder_of(target), *beyond = NULL;
        const size_t size = folder ? strlen(folder) + (size_t)length + sizeof "/" : 0;
        if (folder && (beyond = malloc(size)))
            snprintf(beyond, size, "%s%s%s", folder, next[0] == '/' ? "" : "/", next);
        free(folder);
        free(target);
        target = beyond;
    }
    if (target) errno = ELOOP;
    free(target);
    return NULL;
}

static bool is_standard_output(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool output_check(const char *path)
{
    struct stat info;
    if (is_standard_output(path)) return true;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            return failed(path);
        }
        if (!S_ISREG(info.st_mode)) return access(path, W_OK) == 0 || failed(path);
    }
    char *real = target_of(path), *folder = real ? folder_of(real) : NULL;
    bool writable = folder && access(folder, W_OK | X_OK) == 0;
    int error = errno;
    free(real);
    free(folder);
    errno = error;
    return writable || failed(path);
}

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(file, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

static bool write_in_place(const char *path, const char *bytes, size_t length)
{
    int file = open(path, O_WRONLY);
    if (file < 0) return failed(path);
    bool ok = write_all(file, bytes, length);
    int error = errno;
    if (close(file) != 0 && ok) {
        ok = false;
        error = errno;
    }
    errno = error;
    return ok || failed(path);
}

bool output_open(struct output_file *output, const char *path)
{
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    const mode_t mask = umask(0);
    umask(mask);
    output->target = target_of(path); /* what a link leads to is replaced, not the link */
    output->mode = exists ? info.st_mode & 07777 : 0666 & ~mask;
    output->file = -1;
    const size_t size = output->target ? strlen(output->target) + sizeof ".XXXXXX" : 0;
    output->beside = output->target ? malloc(size) : NULL;
    if (output->beside) {
        snprintf(output->beside, size, "%s.XXXXXX", output->target);
        output->file = mkstemp(output->beside);
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
    return write_all(output->file, bytes, length);
}

/* `sync`: wait for the disk. The file stays beside its target. */
static bool seal(struct output_file *output, bool sync)
{
    bool ok = fchmod(output->file, output->mode) == 0 && (!sync || fsync(output->file) == 0);
    const int error = errno;
    if (close(output->file) != 0 && ok) return false;
    if (!ok) errno = error;
    return ok;
}

bool output_seal(struct output_file *output)
{
    return seal(output, true);
}

bool output_name(struct output_file *output, bool keep)
{
    const bool ok = keep && rename(output->beside, output->target) == 0;
    const int error = errno;
    if (!ok) unlink(output->beside);
    free(output->target);
    free(output->beside);
    errno = error;
    return ok;
}

/* `keep` false: of a failure, whose errno stays. */
static bool close_file(struct output_file *output, bool keep, bool sync)
{
    const int error = errno;
    const bool sealed = seal(output, keep && sync);
    if (!keep) errno = error;
    return output_name(output, keep && sealed);
}

bool output_close(struct output_file *output, bool keep)
{
    return close_file(output, keep, true);
}

bool output_write(const char *path, const char *bytes, size_t length)
{
    if (is_standard_output(path)) return write_all(STDOUT_FILENO, bytes, length) || failed("standard output");
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_in_place(path, bytes, length);
    struct output_file output;
    if (!output_open(&output, path)) return failed(path);
    const bool written = output_append(&output, bytes, length);
    const int error = errno;
    /* no sync: slower than most commands. Readers see the old or the new file, never a part */
    const bool kept = close_file(&output, written, false);
    if (!written) errno = error;
    return (written && kept) || failed(path);
}
