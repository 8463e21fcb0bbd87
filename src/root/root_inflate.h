/* root_inflate.h: compressed objects. */
#pragma once

#include "root/root_bytes.h"

#include "base/context.h"

/* What compressed them, where that is not zlib; NULL: zlib, or nothing that is known. */
const char *root_other_packing(struct root_bytes packed);
/* Inflates the blocks of an object of `length` bytes. `plain` is for paritas_release, and NULL after a
 * failure. INVALID_INPUT has no message: they are damaged. */
paritas_status root_inflate(paritas_context *context, struct root_bytes packed, uint32_t length,
                            unsigned char **plain);
