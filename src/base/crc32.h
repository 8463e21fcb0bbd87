/* crc32.h: CRC-32 of ISO 3309 (polynomial 0xEDB88320), as in ZIP and gzip files, in pieces. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Table t: the effect of a byte followed by t bytes. */
struct crc32 {
    uint32_t tables[8][256];
};

void crc32_open(struct crc32 *crc);
/* before: of the bytes before these; 0: there are none. */
uint32_t crc32_append(const struct crc32 *crc, uint32_t before, const void *bytes, size_t length);
