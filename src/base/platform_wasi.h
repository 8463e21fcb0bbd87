/* platform_wasi.h: what platform_posix.c asks for and WASI lacks. There are no permissions, no other
 * processes and no libraries to open. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define RTLD_NOW 0
#define RTLD_LAZY 0
#define RTLD_LOCAL 0
#define RTLD_NOLOAD 0
#define LOCK_EX 0
#define LOCK_SH 0
#define LOCK_NB 0

static inline mode_t umask(mode_t mask)
{
    (void)mask;
    return 0;
}

static inline int keep_permissions(int file, mode_t mode)
{
    (void)file, (void)mode;
    return 0;
}
#define fchmod keep_permissions

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

static inline int flock(int file, int operation)
{
    (void)file, (void)operation;
    return 0;
}

static inline void *dlopen(const char *name, int flags)
{
    (void)name, (void)flags;
    return NULL;
}

static inline void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

static inline int dlclose(void *library)
{
    (void)library;
    return 0;
}
