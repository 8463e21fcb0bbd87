/* digest.c: SHA-256 (FIPS 180-4) and MD5 (RFC 1321), and the digest of a tree.
 *
 * Both hashes take 64-byte blocks and end with a 1 bit, zeros and the length in bits; they differ in the order of bytes and
 * in the round. MD5 is here because published patch sets carry such digests, not for security. */
#include "base/digest.h"
#include "base/json.h"

#include <string.h>

typedef void (*compress_function)(uint32_t *state, const unsigned char *block);

static uint32_t rotate_left(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static uint32_t load_big(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t load_little(const unsigned char *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha256_compress(uint32_t *state, const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++) w[t] = load_big(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t near = w[t - 2], far = w[t - 15];
        uint32_t mixed_near = rotate_left(near, 15) ^ rotate_left(near, 13) ^ near >> 10;
        uint32_t mixed_far = rotate_left(far, 25) ^ rotate_left(far, 14) ^ far >> 3;
        w[t] = mixed_near + w[t - 7] + mixed_far + w[t - 16];
    }
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t a = s[0], e = s[4];
        uint32_t choice = (e & s[5]) ^ (~e & s[6]), majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (rotate_left(e, 26) ^ rotate_left(e, 21) ^ rotate_left(e, 7)) + choice + sha256_constants[t] + w[t];
        uint32_t second = (rotate_left(a, 30) ^ rotate_left(a, 19) ^ rotate_left(a, 10)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

/* Integer parts of 2^32 |sin i|, i = 1 ... 64 (RFC 1321, 3.4). */
static const uint32_t md5_constants[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static void md5_compress(uint32_t *state, const unsigned char *block)
{
    static const unsigned char turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned t = 0; t < 64; t++) {
        uint32_t mixed;
        unsigned word;
        if (t < 16) {
            mixed = (b & c) | (~b & d);
            word = t;
        } else if (t < 32) {
            mixed = (b & d) | (c & ~d);
            word = 5 * t + 1;
        } else if (t < 48) {
            mixed = b ^ c ^ d;
            word = 3 * t + 5;
        } else {
            mixed = c ^ (b | ~d);
            word = 7 * t;
        }
        uint32_t next = b + rotate_left(a + mixed + md5_constants[t] + load_little(block + 4 * (word % 16)), turns[t / 16][t % 4]);
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

/* Runs the one or two padded blocks at the end of `length` bytes, the last length % 64 of which are at `rest`. */
static void hash_end(compress_function compress, bool big_endian, uint32_t *state, const unsigned char *rest, uint64_t length)
{
    const size_t left = length % 64;
    unsigned char tail[128] = {0};
    if (left) memcpy(tail, rest, left);
    tail[left] = 0x80;
    size_t total = left < 56 ? 64 : 128;
    uint64_t bits = length * 8;
    for (size_t i = 0; i < 8; i++) tail[total - 8 + i] = (unsigned char)(bits >> 8 * (big_endian ? 7 - i : i));
    for (size_t i = 0; i < total; i += 64) compress(state, tail + i);
}

/* Writes `count` words as hexadecimal digits and an end byte. */
static void write_hex(const uint32_t *state, unsigned count, bool big_endian, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 4 * count; i++) {
        unsigned byte = state[i / 4] >> 8 * (big_endian ? 3 - i % 4 : i % 4) & 255;
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    hex[8 * count] = '\0';
}

void sha256_open(struct sha256 *digest)
{
    /* Fractional parts of the square roots of the first 8 primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(digest->state, start, sizeof start);
    digest->length = 0;
}

void sha256_append(struct sha256 *digest, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    const size_t used = digest->length % 64;
    digest->length += length;
    if (used) {
        const size_t taken = length < 64 - used ? length : 64 - used;
        memcpy(digest->block + used, at, taken);
        if (used + taken < 64) return;
        sha256_compress(digest->state, digest->block);
        at += taken;
        length -= taken;
    }
    for (; length >= 64; length -= 64, at += 64) sha256_compress(digest->state, at);
    if (length) memcpy(digest->block, at, length);
}

void sha256_close(struct sha256 *digest, char *hex)
{
    hash_end(sha256_compress, true, digest->state, digest->block, digest->length);
    write_hex(digest->state, 8, true, hex);
}

void sha256_of_bytes(const char *bytes, size_t length, char hex[65])
{
    struct sha256 digest;
    sha256_open(&digest);
    sha256_append(&digest, bytes, length);
    sha256_close(&digest, hex);
}

static void md5(const char *bytes, size_t length, char *hex)
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const unsigned char *at = (const unsigned char *)bytes;
    size_t left = length;
    for (; left >= 64; left -= 64, at += 64) md5_compress(state, at);
    hash_end(md5_compress, false, state, at, length);
    write_hex(state, 4, false, hex);
}

paritas_status json_digest(paritas_context *context, const struct json *node, const char *algorithm, char hex[65])
{
    bool is_sha256 = strcmp(algorithm, "sha256") == 0;
    if (!is_sha256 && strcmp(algorithm, "md5") != 0) {
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "the digest algorithm '%s' is not known (sha256 and md5 are)", algorithm);
    }
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
