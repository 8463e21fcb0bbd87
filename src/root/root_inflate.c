/* root_inflate.c: blocks of compressed bytes. A header of nine bytes: two letters for the method, a version,
 * the packed and the plain length, lowest byte first. */
#include "root/root_inflate.h"

#include "base/inflating.h"

#define MOST_PER_BYTE 1032 /* that a packed byte stands for in zlib */
#define SPARE 258          /* bytes behind the last one: zlib is slower where it has less room than this */

const char *root_other_packing(struct root_bytes packed)
{
    static const struct {
        char letters[3];
        const char *name;
    } methods[] = {{"XZ", "lzma"}, {"L4", "lz4"}, {"ZS", "zstd"}, {"CS", "the old method CS"}};
    const unsigned char *const letters = root_take(&packed, 2);
    for (size_t i = 0; letters && i < COUNT_OF(methods); i++) {
        if (memcmp(letters, methods[i].letters, 2) == 0) return methods[i].name;
    }
    return NULL;
}

static uint32_t load_length(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* `plain` has room for `left` and SPARE bytes. */
static paritas_status inflate_blocks(z_stream *stream, struct root_bytes *packed, unsigned char *plain,
                                     uint32_t left)
{
    while (left > 0) {
        const unsigned char *const header = root_take(packed, 9);
        if (!header || memcmp(header, "ZL\x08", 3) != 0) return PARITAS_INVALID_INPUT;
        const uint32_t room = load_length(header + 6);
        stream->avail_in = load_length(header + 3);
        stream->next_in = (Bytef *)(uintptr_t)root_take(packed, stream->avail_in); /* zlib knows no const */
        if (!stream->next_in || room > left) return PARITAS_INVALID_INPUT;
        stream->next_out = plain;
        stream->avail_out = room + SPARE;
        inflateReset(stream);
        const int code = inflate(stream, Z_FINISH);
        if (code == Z_MEM_ERROR) return PARITAS_OUT_OF_MEMORY;
        if (code != Z_STREAM_END || stream->avail_out != SPARE) return PARITAS_INVALID_INPUT;
        plain += room;
        left -= room;
    }
    return PARITAS_OK;
}

paritas_status root_inflate(paritas_context *context, struct root_bytes packed, uint32_t length,
                            unsigned char **plain)
{
    *plain = NULL;
    if (length / MOST_PER_BYTE > (uint64_t)(packed.end - packed.at)) return PARITAS_INVALID_INPUT;
    unsigned char *out = paritas_allocate(context, (size_t)length + SPARE, 1);
    z_stream stream = inflating(&context->allocator);
    if (!out || inflateInit(&stream) != Z_OK) {
        paritas_release(&context->allocator, out);
        return paritas_fail_memory(context);
    }
    const paritas_status status = inflate_blocks(&stream, &packed, out, length);
    inflateEnd(&stream);
    if (!status) {
        *plain = out;
        return PARITAS_OK;
    }
    paritas_release(&context->allocator, out);
    return status == PARITAS_OUT_OF_MEMORY ? paritas_fail_memory(context) : status;
}
