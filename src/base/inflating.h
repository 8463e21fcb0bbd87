/* inflating.h: a stream of zlib with the caller's memory. Only files that inflate include it. */
#pragma once

#include "base/context.h"

#include <zlib.h>

static inline voidpf inflating_allocate(voidpf user, uInt count, uInt size)
{
    const paritas_allocator *allocator = user;
    return allocator->allocate(allocator->user, (size_t)count * size);
}

static inline void inflating_release(voidpf user, voidpf memory)
{
    paritas_release(user, memory);
}

/* A stream for inflateInit. The allocator outlives it. */
static inline z_stream inflating(paritas_allocator *allocator)
{
    return (z_stream){.zalloc = inflating_allocate, .zfree = inflating_release, .opaque = allocator};
}
