/* root_bytes.h: numbers, texts and records in the bytes of a ROOT file, highest byte first.
 *
 * A read beyond the end gives zeros and sets `failed`, which stays: whoever reads checks it once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct root_bytes {
    const unsigned char *at, *end;
    bool failed;
};

/* The next `n` bytes; NULL: there are fewer. */
static inline const unsigned char *root_take(struct root_bytes *bytes, uint64_t n)
{
    const unsigned char *const at = bytes->at;
    if (bytes->failed || n > (uint64_t)(bytes->end - at)) {
        bytes->failed = true;
        return NULL;
    }
    bytes->at += n;
    return at;
}

static inline uint64_t root_load(const unsigned char *at, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) value = value << 8 | at[i];
    return value;
}

/* An unsigned number of `n` bytes. */
static inline uint64_t root_number(struct root_bytes *bytes, unsigned n)
{
    const unsigned char *const at = root_take(bytes, n);
    return at ? root_load(at, n) : 0;
}

static inline uint32_t root_u32(struct root_bytes *bytes)
{
    return (uint32_t)root_number(bytes, 4);
}

static inline uint32_t root_u16(struct root_bytes *bytes)
{
    return (uint32_t)root_number(bytes, 2);
}

static inline double root_double(struct root_bytes *bytes)
{
    const uint64_t bits = root_number(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A text without end byte. */
static inline struct root_bytes root_text(struct root_bytes *bytes)
{
    uint64_t length = root_number(bytes, 1);
    if (length == 255) length = root_u32(bytes);
    const unsigned char *const at = root_take(bytes, length);
    return (struct root_bytes){.at = at, .end = at ? at + length : at, .failed = !at};
}

/* The inside of a record: it begins with its length and the version of its class. */
static inline struct root_bytes root_record(struct root_bytes *bytes, uint32_t *version)
{
    const uint32_t count = root_u32(bytes), has_length = 0x40000000;
    const uint32_t length = count & ~has_length;
    const unsigned char *const at = count & has_length ? root_take(bytes, length) : NULL;
    struct root_bytes inside = {.at = at, .end = at ? at + length : NULL, .failed = !at};
    bytes->failed = bytes->failed || !at;
    *version = root_u16(&inside);
    return inside;
}

static inline void root_skip_records(struct root_bytes *bytes, unsigned n)
{
    uint32_t version;
    while (n-- > 0) root_record(bytes, &version);
}
