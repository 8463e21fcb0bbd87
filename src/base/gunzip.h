/* gunzip.h: what a gzip file holds, as a stream. */
#pragma once

#include "base/context.h"

/* Up to `room` bytes; 0: there are no more. */
typedef size_t gunzip_take(void *user, void *out, size_t room);

enum gunzip_state {
    GUNZIP_READING,
    GUNZIP_END,     /* all was read, and the checksums agree */
    GUNZIP_CUT,     /* the compressed bytes end too early */
    GUNZIP_DAMAGED, /* not what a compressor writes, or another checksum */
    GUNZIP_TOO_FAR, /* see unpacked.h */
    GUNZIP_NO_MEMORY
};

/* A gzip file in memory, which shrinks as it is read. */
struct gunzip_bytes {
    const unsigned char *at;
    size_t left;
};
/* The gunzip_take of a struct gunzip_bytes. */
size_t gunzip_take_bytes(void *user, void *out, size_t room);

struct gunzip;
/* Returns NULL without memory, and leaves no message. */
struct gunzip *gunzip_open(paritas_context *context, gunzip_take *take, void *user);
void gunzip_close(struct gunzip *gunzip);
/* Up to `room` plain bytes; 0: there are no more, and gunzip_state says why. */
size_t gunzip_read(struct gunzip *gunzip, void *out, size_t room);
enum gunzip_state gunzip_state(const struct gunzip *gunzip);
