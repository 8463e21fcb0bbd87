/* output_wasi.h: what output.c asks of POSIX and WASI lacks: modes of files, names of temporary files. */
#ifndef PARITAS_CLI_OUTPUT_WASI_H
#define PARITAS_CLI_OUTPUT_WASI_H

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

#define fchmod keep_mode

#endif
