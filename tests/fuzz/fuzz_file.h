/* fuzz_file.h: a file of the input, for readers that take a path. */
#pragma once

#include "fuzzing.h"

#include <stdio.h>
#include <unistd.h>

static char fuzz_path[] = "/dev/shm/fuzz_XXXXXX"; /* in memory, where the system has that folder */

static inline void fuzz_remove(void)
{
    unlink(fuzz_path);
}

/* The file at fuzz_path has these bytes. */
static inline void fuzz_write(const uint8_t *data, size_t size)
{
    static int descriptor = -1;
    if (descriptor < 0) {
        if (access("/dev/shm", W_OK) != 0) strcpy(fuzz_path, "/tmp/fuzz_XXXXXX");
        descriptor = mkstemp(fuzz_path);
        atexit(fuzz_remove);
    }
    check(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, data, size, 0) == (ssize_t)size);
}
