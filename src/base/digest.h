/* digest.h: SHA-256 in pieces. */
#pragma once

#include "base/context.h"

#include <stddef.h>
#include <stdint.h>

/* Whole blocks of 64 bytes. */
typedef void (*sha256_compress)(uint32_t *state, const unsigned char *block, size_t blocks);

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* total */
    sha256_compress compress;
    unsigned char block[64]; /* rest after whole blocks */
};

void sha256_open(struct sha256 *digest);
/* Opens a digest without SHA instructions, for tests. */
void sha256_open_plain(struct sha256 *digest);
void sha256_append(struct sha256 *digest, const void *bytes, size_t length);
/* hex: 65 bytes */
void sha256_close(struct sha256 *digest, char *hex);
/* Digest of a file; UNREADABLE: "PATH: reason". */
paritas_status sha256_file(paritas_context *context, const char *path, char hex[65]);
/* The same of an open file, from its begin on. `path`: for messages. */
paritas_status sha256_open_file(paritas_context *context, const char *path, int file, char hex[65]);
