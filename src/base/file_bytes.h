/* file_bytes.h: the bytes of what is read once only, as pipes. */
#pragma once

#include "base/context.h"

struct file_bytes {
    char *at; /* for paritas_release, also after a failure */
    size_t length;
};

/* Reads to the end, or at least `most` bytes. UNREADABLE: "LABEL: reason". */
paritas_status file_bytes_read(paritas_context *context, const char *label, int file, size_t most,
                               struct file_bytes *bytes);
