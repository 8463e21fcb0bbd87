/* digest.c: digest of a tree; MD5 (RFC 1321), which published patch sets use. */
#include "base/digest.h"
#include "base/bytes.h"
#include "base/math/host_math.h"
#include "base/json/json.h"

#include <string.h>

static uint32_t rotate_left(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static uint32_t load_little(const unsigned char *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* 2^32 |sin i|, i = 1 ... 64, rounded down (RFC 1321, 3.4); none is within 0.002 of a whole number. */
static void md5_constants(uint32_t constants[64])
{
    for (int i = 1; i <= 64; i++) {
        const double sine = host_sin_degrees(i * 57.29577951308232);
        constants[i - 1] = (uint32_t)(4294967296.0 * (sine < 0.0 ? -sine : sine));
    }
}

static void md5_compress(uint32_t *state, const uint32_t constants[64], const unsigned char *block)
{
    static const unsigned char turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const unsigned char words[4][2] = {{1, 0}, {5, 1}, {3, 5}, {7, 0}}; /* step and start */
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t mixed = t < 16   ? (b & c) | (~b & d)
                               : t < 32 ? (b & d) | (c & ~d)
                               : t < 48 ? b ^ c ^ d
                                        : c ^ (b | ~d);
        const unsigned word = words[t / 16][0] * t + words[t / 16][1];
        uint32_t next = b + rotate_left(a + mixed + constants[t] + load_little(block + 4 * (word % 16)),
                                        turns[t / 16][t % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* hex: 33 bytes */
static void md5(const char *bytes, size_t length, char *hex)
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, constants[64];
    md5_constants(constants);
    const unsigned char *at = (const unsigned char *)bytes;
    size_t left = length;
    for (; left >= 64; left -= 64, at += 64) md5_compress(state, constants, at);
    unsigned char tail[128] = {0};
    if (left) memcpy(tail, at, left);
    tail[left] = 0x80; /* a 1 bit, zeros, length in bits */
    size_t total = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)length * 8;
    for (size_t i = 0; i < 8; i++) tail[total - 8 + i] = (unsigned char)(bits >> 8 * i);
    for (size_t i = 0; i < total; i += 64) md5_compress(state, constants, tail + i);
    for (unsigned i = 0; i < 16; i++) {
        const uint32_t byte = state[i / 4] >> 8 * (i % 4);
        hex[2 * i] = hex_digit(byte >> 4);
        hex[2 * i + 1] = hex_digit(byte);
    }
    hex[32] = '\0';
}

void sha256_of_bytes(const char *bytes, size_t length, char hex[65])
{
    struct sha256 digest;
    sha256_open(&digest);
    sha256_append(&digest, bytes, length);
    sha256_close(&digest, hex);
}

paritas_status json_digest(paritas_context *context, const struct json *node, const char *algorithm,
                           char hex[65])
{
    bool is_sha256 = strcmp(algorithm, "sha256") == 0;
    if (!is_sha256 && strcmp(algorithm, "md5") != 0)
        return paritas_refuse(context, "the digest algorithm '%s' is not known (sha256 and md5 are)",
                              algorithm);
    struct text text;
    text_open(&text, &context->allocator);
    json_write(&text, node, 0, true);
    paritas_status status = PARITAS_OK;
    if (text.failed) {
        status = paritas_fail_memory(context);
    } else if (is_sha256) {
        sha256_of_bytes(text.bytes, text.length, hex);
    } else {
        md5(text.bytes, text.length, hex);
    }
    text_free(&text);
    return status;
}
