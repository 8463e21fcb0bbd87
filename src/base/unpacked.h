/* unpacked.h: how far a file may unpack. zlib packs up to a thousand to one, so without a limit a small file
 * could take all memory. */
#pragma once

#include "base/context.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool unpacks_too_far(uint64_t plain, uint64_t packed)
{
    return plain > (uint64_t)PARITAS_UNPACKED_MIB << 20 && plain / PARITAS_UNPACKED_TIMES > packed;
}

#define UNPACKS_TOO_FAR UNPACKS_BEYOND(PARITAS_UNPACKED_MIB, PARITAS_UNPACKED_TIMES)
#define UNPACKS_BEYOND(mib, times) \
    "it would unpack to more than " TEXT_OF(mib) " MiB and " TEXT_OF(times) " times its size"
