/* er_input.h: the bytes of a file; of a gzip file what it holds. */
#pragma once

#include "moon/er/er.h"

#include "base/digest.h"
#include "base/gunzip.h"

#include <stdio.h>

struct er_input {
    paritas_context *context;
    const char *path;
    FILE *file;
    struct gunzip *gunzip; /* NULL: a plain file */
    struct sha256 *digest; /* of the file as it lies on disk; NULL: not asked for */
    uint64_t size;         /* of the file, 0: unknown */
    char head[2];          /* read ahead */
    size_t n_head, at_head;
};

/* After a failure nothing is open. `digest` is open and outlives the input. */
paritas_status er_input_open(paritas_context *context, const char *path, struct sha256 *digest,
                             struct er_input *input);
/* Up to `room` bytes; 0: the end, or a failure. */
size_t er_input_read(struct er_input *input, char *out, size_t room);
/* Closes. UNREADABLE, or INVALID_INPUT for damaged gzip data. cut: a gzip file ended too early. */
paritas_status er_input_close(struct er_input *input, bool *cut);
