/* platform_posix.c: Linux, macOS, and what else has POSIX. CMakeLists.txt picks this file or
 * platform_windows.c. */
#define _GNU_SOURCE      /* flock, realpath, dirfd on Linux */
#define _DARWIN_C_SOURCE /* the same and _SC_NPROCESSORS_ONLN on macOS */
#include "base/platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#if defined(__wasi__)
#include "base/platform_wasi.h"
#else
#include <dlfcn.h>
#include <sys/file.h>
#endif

#define LINKS_MOST 40 /* as in Linux */

/* ---- files ---- */

static bool put_info(int failed, const struct stat *found, struct platform_info *info)
{
    if (failed) return false;
    info->kind = S_ISREG(found->st_mode)   ? PLATFORM_FILE
                 : S_ISDIR(found->st_mode) ? PLATFORM_FOLDER
                                           : PLATFORM_OTHER;
    info->size = found->st_size > 0 ? (uint64_t)found->st_size : 0;
    info->volume = (uint64_t)found->st_dev;
    info->number = (uint64_t)found->st_ino;
    return true;
}

bool platform_info(const char *path, struct platform_info *info)
{
    struct stat found;
    return put_info(stat(path, &found), &found, info);
}

bool platform_info_open(int file, struct platform_info *info)
{
    struct stat found;
    return put_info(fstat(file, &found), &found, info);
}

bool platform_exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

bool platform_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

bool platform_writable(const char *path)
{
    struct stat found;
    const bool folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    return access(path, folder ? W_OK | X_OK : W_OK) == 0;
}

FILE *platform_open_stream(const char *path, const char *mode)
{
    return fopen(path, mode[0] == 'r' ? "rbe" : "wbe");
}

int platform_open_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int platform_open_write(const char *path)
{
    return open(path, O_WRONLY | O_CLOEXEC);
}

#define OPEN_FILES "/proc/self/fd"

/* A file without a name in the folder of `path`; -1: the system or the disk has none such. */
static int open_nameless(const char *path)
{
#if defined(O_TMPFILE)
    if (access(OPEN_FILES, X_OK) != 0) return -1; /* it could get no name */
    char *folder = platform_folder_of(path);
    const int file = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(folder);
    return file;
#else
    (void)path;
    return -1;
#endif
}

int platform_open_temporary(char *path)
{
    const int nameless = open_nameless(path);
    if (nameless >= 0) return nameless;
    const int file = mkstemp(path);
    if (file >= 0) fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

/* Names a file of open_nameless, as mkstemp would. */
static bool give_name(int file, char *path)
{
#if defined(O_TMPFILE)
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char now[64];
    snprintf(now, sizeof now, OPEN_FILES "/%d", file);
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t state = (uint64_t)time.tv_nsec ^ (uint64_t)getpid() << 32;
    for (int tries = 0; tries < 100; tries++) {
        for (char *end = path + strlen(path), *at = end - 6; at < end; at++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            *at = letters[(state >> 33) % (sizeof letters - 1)];
        }
        if (linkat(AT_FDCWD, now, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) return true;
        if (errno != EEXIST) break;
    }
    return false;
#else
    (void)file, (void)path;
    return true;
#endif
}

bool platform_close_temporary(int file, char *path, bool keep, bool sync)
{
    struct stat found;
    const bool named = fstat(file, &found) != 0 || found.st_nlink > 0;
    bool kept = keep && (!sync || fsync(file) == 0) && (named || give_name(file, path));
    int error = errno;
    if (close(file) != 0 && kept) {
        kept = false;
        error = errno;
        platform_remove(path);
    } else if (!kept && named) {
        platform_remove(path);
    }
    errno = error;
    return kept;
}

ptrdiff_t platform_read(int file, void *bytes, size_t room)
{
    ssize_t got;
    do got = read(file, bytes, room);
    while (got < 0 && errno == EINTR);
    return got;
}

bool platform_seek(int file, uint64_t at)
{
    return (uint64_t)lseek(file, (off_t)at, SEEK_SET) == at;
}

bool platform_write(int file, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        const ssize_t n = write(file, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

bool platform_close(int file)
{
    return close(file) == 0;
}

bool platform_set_permissions(int file, const char *like)
{
    struct stat found;
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, stat(like, &found) == 0 ? found.st_mode & 07777 : 0666 & ~mask) == 0;
}

bool platform_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool platform_remove(const char *path)
{
    return unlink(path) == 0;
}

char *platform_behind_links(const char *path)
{
    char *target = strdup(path);
    for (int links = 0; target && links < LINKS_MOST; links++) {
        struct stat found;
        char next[PLATFORM_PATH_MAX];
        const bool is_link = lstat(target, &found) == 0 && S_ISLNK(found.st_mode);
        const ssize_t length = is_link ? readlink(target, next, sizeof next - 1) : -1;
        if (length < 0) return target;
        next[length] = '\0';
        char *folder = next[0] == '/' ? strdup("") : platform_folder_of(target), *beyond = NULL;
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

bool platform_real_path(const char *path, char real[PLATFORM_PATH_MAX])
{
    char *found = realpath(path, NULL);
    if (!found) return false;
    const size_t length = strlen(found);
    if (length < PLATFORM_PATH_MAX) memcpy(real, found, length + 1);
    free(found);
    if (length >= PLATFORM_PATH_MAX) errno = ENAMETOOLONG;
    return length < PLATFORM_PATH_MAX;
}

const char *platform_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *platform_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

bool platform_is_separator(char byte)
{
    return byte == '/';
}

bool platform_is_absolute(const char *path)
{
    return path[0] == '/';
}

/* ---- folders ---- */

bool platform_make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

struct platform_folder *platform_folder_open(const char *path)
{
    return (struct platform_folder *)opendir(path);
}

const char *platform_folder_next(struct platform_folder *folder)
{
    errno = 0;
    const struct dirent *entry = readdir((DIR *)folder);
    return entry ? entry->d_name : NULL;
}

bool platform_folder_info(struct platform_folder *folder, const char *name, struct platform_info *info)
{
    struct stat found;
    return put_info(fstatat(dirfd((DIR *)folder), name, &found, 0), &found, info);
}

void platform_folder_close(struct platform_folder *folder)
{
    closedir((DIR *)folder);
}

const char *platform_home(void)
{
    return getenv("HOME");
}

void platform_set_missing(const char *name, const char *value)
{
    setenv(name, value, 0);
}

/* ---- locks ---- */

static bool in_use(int error)
{
    return error == EWOULDBLOCK || error == EAGAIN;
}

enum platform_lock platform_lock_take(const char *path, int *file)
{
    for (;;) {
        *file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (*file < 0) return PLATFORM_LOCK_NOT_MADE;
        if (flock(*file, LOCK_EX | LOCK_NB) != 0) {
            const int error = errno;
            close(*file);
            *file = -1;
            if (error == EINTR) continue;
            errno = error;
            return in_use(error) ? PLATFORM_LOCK_IN_USE : PLATFORM_LOCK_FAILED;
        }
        /* the last holder may have removed the file between our open and lock: then nobody else finds it */
        struct stat held, there;
        if (fstat(*file, &held) == 0 && stat(path, &there) == 0 && held.st_dev == there.st_dev &&
            held.st_ino == there.st_ino)
            return PLATFORM_LOCK_TAKEN;
        close(*file);
    }
}

void platform_lock_drop(const char *path, int file)
{
    unlink(path); /* before unlocking, see platform_lock_take */
    close(file);
}

bool platform_lock_is_held(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && in_use(errno);
    close(file);
    return held;
}

/* ---- libraries ---- */

void *platform_library_open(const char *name)
{
    int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_NODELETE)
    flags |= RTLD_NODELETE;
#endif
    return dlopen(name, flags);
}

void platform_library_close(void *library)
{
    dlclose(library);
}

bool platform_library_is_open(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library) dlclose(library);
    return library != NULL;
}

void *platform_library_find(void *library, const char *name)
{
    return dlsym(library, name);
}

/* ---- the process ---- */

void platform_system(size_t room, char *text)
{
    struct utsname system;
    if (uname(&system) == 0)
        snprintf(text, room, "%s %s", system.sysname, system.release);
    else
        snprintf(text, room, "unknown");
}

#if defined(__APPLE__)
void platform_processor(size_t room, char *text)
{
    if (sysctlbyname("machdep.cpu.brand_string", text, &room, NULL, 0) != 0) snprintf(text, room, "unknown");
}
#else
/* arm64's Linux tells the numbers of maker and part, which lscpu has names for. */
void platform_processor(size_t room, char *text)
{
    unsigned maker = 0, part = 0;
    char line[256];
    FILE *file = platform_open_stream("/proc/cpuinfo", "rb");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (!value) continue;
        if (strncmp(line, "CPU implementer", 15) == 0) maker = (unsigned)strtoul(value + 1, NULL, 0);
        if (strncmp(line, "CPU part", 8) == 0) part = (unsigned)strtoul(value + 1, NULL, 0);
    }
    if (file) fclose(file);
    snprintf(text, room, maker > 0 ? "maker 0x%02x, part 0x%03x" : "unknown", maker, part);
}
#endif

double platform_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

unsigned platform_processors(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (unsigned)processors : 1;
}

void platform_start_program(int *argc, char ***argv)
{
    (void)argc, (void)argv;
}

bool platform_shows_progress(void)
{
    return isatty(STDERR_FILENO);
}

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
#define LARGE_PAGE ((size_t)2 << 20)
#define HEAP_LEAD ((size_t)160 << 10) /* more than what is left of the heap so far */

/* The heap goes on shortly before a large page, so that malloc's own words do not lie in it: where a small
 * page was touched, no large one comes. What lies before it stays taken and untouched, since its small pages
 * would cost more. */
void platform_enlarge_pages(size_t bytes)
{
    static void *volatile lead; /* volatile: or compilers leave both calls out */
    bytes &= ~(LARGE_PAGE - 1); /* what does not fill a large page is cheaper in small ones */
    const uintptr_t used = (uintptr_t)sbrk(0),
                    large = (used + HEAP_LEAD + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    if (bytes == 0 || bytes > INT_MAX / 2 || sbrk((intptr_t)(large - HEAP_LEAD - used)) != (void *)used)
        return;
    /* large pieces too come from the heap, which does not shrink */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, (int)(bytes + HEAP_LEAD)); /* up to the end of a large page, or little more */
    free(lead);
    lead = malloc(HEAP_LEAD - 16384);
    const uintptr_t end = (uintptr_t)sbrk(0) & ~(LARGE_PAGE - 1);
    if (end > large) madvise((void *)large, end - large, MADV_HUGEPAGE); /* advice alone */
}
#else
void platform_enlarge_pages(size_t bytes)
{
    (void)bytes;
}
#endif
