/* bytes.h: text by eight bytes; hexadecimal digits. */
#pragma once

#include <stdint.h>
#include <string.h>

#define EACH_BYTE(byte) ((uint64_t)(byte) * 0x0101010101010101u)

/* First byte lowest. */
static inline uint64_t load_bytes(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* The first byte that is no space. Reads up to seven bytes beyond it. Eight at a time: sixteen with SSE2 were
 * no faster. */
static inline const char *skip_spaces(const char *at)
{
    uint64_t other;
    while ((other = load_bytes(at) ^ EACH_BYTE(' ')) == 0) at += 8;
    return at + __builtin_ctzll(other) / 8;
}

/* Eight bytes xor '0': digits become values; others are 10 or more. */
static inline uint64_t load_digits(const char *at)
{
    return load_bytes(at) ^ EACH_BYTE('0');
}

/* 0x80 for each byte that is no digit. */
static inline uint64_t not_digits(uint64_t digits)
{
    return (digits | ((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76))) & EACH_BYTE(0x80);
}

/* Value of eight digits, first one lowest: joins neighbours three times. */
static inline uint64_t value_of_digits(uint64_t digits)
{
    digits = (digits * (10 * 256 + 1)) >> 8 & 0x00ff00ff00ff00ffu;
    digits = (digits * (100 * 65536 + 1)) >> 16 & 0x0000ffff0000ffffu;
    return (digits * (10000 * 4294967296u + 1)) >> 32;
}

static inline char hex_digit(uint32_t value)
{
    return "0123456789abcdef"[value & 15];
}
