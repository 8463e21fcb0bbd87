/* unpacked.h: how far a file may unpack. zlib packs up to a thousand to one, so without a limit a small file
 * could take all memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Refused is what unpacks to more than 256 MiB, if that is also more than 200 times its own bytes. */
static inline bool unpacks_too_far(uint64_t plain, uint64_t packed)
{
    return plain > (uint64_t)256 << 20 && plain / 200 > packed;
}

#define UNPACKS_TOO_FAR "it would unpack to more than 256 MiB and 200 times its size"
