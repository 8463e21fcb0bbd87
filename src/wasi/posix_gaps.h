/* posix_gaps.h: what base/platform_posix.c asks of POSIX and WASI lacks: modes of files, names of temporary
 * files, locks between processes, libraries. */
#ifndef PARITAS_WASI_POSIX_GAPS_H
#define PARITAS_WASI_POSIX_GAPS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Files have no modes. */
static inline mode_t umask(mode_t mask)
{
    (void)mask;
    return 0;
}

static inline int keep_mode(int file, mode_t mode)
{
    (void)file, (void)mode;
    return 0;
}

/* Replaces the XXXXXX at the end by the first number that no file has. */
static inline int mkstemp(char *name)
{
    const size_t length = strlen(name);
    for (unsigned n = 0; n < 1000000; n++) {
        snprintf(name + length - 6, 7, "%06u", n);
        const int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* A module is alone with its files. */
enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4 };

static inline int flock(int file, int operation)
{
    (void)file, (void)operation;
    return 0;
}

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_NOLOAD = 4 };

static inline void *dlopen(const char *name, int flags)
{
    (void)name, (void)flags;
    return NULL;
}

static inline int dlclose(void *library)
{
    (void)library;
    return 0;
}

static inline void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

#define fchmod keep_mode

#endif
