/* gunzip.c: inflates gzip members one after the other, by zlib with the caller's memory. */
#include "base/gunzip.h"
#include "base/inflating.h"
#include "base/unpacked.h"

#include <limits.h>
#include <string.h>

struct gunzip {
    paritas_allocator allocator;
    gunzip_take *take;
    void *user;
    enum gunzip_state state;
    bool between;           /* behind a member: zeros and another one may follow */
    uint64_t packed, plain; /* bytes so far */
    z_stream stream;
    unsigned char in[16384];
};

size_t gunzip_take_bytes(void *user, void *out, size_t room)
{
    struct gunzip_bytes *bytes = user;
    const size_t n = bytes->left < room ? bytes->left : room;
    memcpy(out, bytes->at, n);
    bytes->at += n;
    bytes->left -= n;
    return n;
}

struct gunzip *gunzip_open(paritas_context *context, gunzip_take *take, void *user)
{
    struct gunzip *z = paritas_allocate_clear(context, 1, sizeof *z);
    if (!z) return NULL;
    z->allocator = context->allocator;
    z->take = take;
    z->user = user;
    z->stream = inflating(&z->allocator);
    if (inflateInit2(&z->stream, 16 + MAX_WBITS) == Z_OK) return z; /* 16: gzip's header and trailer */
    paritas_release(&context->allocator, z);
    return NULL;
}

void gunzip_close(struct gunzip *gunzip)
{
    if (!gunzip) return;
    const paritas_allocator allocator = gunzip->allocator;
    inflateEnd(&gunzip->stream);
    paritas_release(&allocator, gunzip);
}

enum gunzip_state gunzip_state(const struct gunzip *gunzip)
{
    return gunzip->state;
}

static void look_for_member(struct gunzip *z)
{
    if (z->stream.avail_in == 0) {
        z->state = GUNZIP_END;
    } else if (*z->stream.next_in == 0) { /* padding */
        z->stream.next_in++;
        z->stream.avail_in--;
    } else {
        inflateReset(&z->stream);
        z->between = false;
    }
}

static void inflate_some(struct gunzip *z)
{
    const uInt packed = z->stream.avail_in, room = z->stream.avail_out;
    const int code = inflate(&z->stream, Z_NO_FLUSH);
    z->packed += packed - z->stream.avail_in;
    z->plain += room - z->stream.avail_out;
    z->between = code == Z_STREAM_END;
    if (unpacks_too_far(z->plain, z->packed))
        z->state = GUNZIP_TOO_FAR;
    else if (code == Z_BUF_ERROR)
        z->state = GUNZIP_CUT;
    else if (code == Z_MEM_ERROR)
        z->state = GUNZIP_NO_MEMORY;
    else if (code != Z_OK && code != Z_STREAM_END)
        z->state = GUNZIP_DAMAGED;
}

size_t gunzip_read(struct gunzip *gunzip, void *out, size_t room)
{
    z_stream *stream = &gunzip->stream;
    const uInt most = room < UINT_MAX ? (uInt)room : UINT_MAX;
    stream->next_out = out;
    stream->avail_out = most;
    while (stream->avail_out > 0 && gunzip->state == GUNZIP_READING) {
        if (stream->avail_in == 0) {
            stream->next_in = gunzip->in;
            stream->avail_in = (uInt)gunzip->take(gunzip->user, gunzip->in, sizeof gunzip->in);
        }
        (gunzip->between ? look_for_member : inflate_some)(gunzip);
    }
    return most - stream->avail_out;
}
