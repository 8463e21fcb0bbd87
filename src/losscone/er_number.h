/* er_number.h: the decimal numbers of day files to double, correctly rounded, in about 10 ns.
 *
 * Up to eight digits are found and valued at once, without a branch on how many there are: the lengths of fields vary from one to the next, and every branch on them would be
 * mispredicted. At most 15 digits and a power of ten up to 22 are exact in a double, so one product or quotient rounds once; all else goes to base/number.h.
 */
#ifndef PARITAS_LOSSCONE_ER_NUMBER_H
#define PARITAS_LOSSCONE_ER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ER_PADDING 16 /* readable bytes that must stand behind the text, the first a line's end */

/* Value of the number that fills [at, end), by the slow way; false: it is none, or too large. */
bool er_number_slow(const char *at, const char *end, double *value);

static inline bool er_is_blank(char byte) { return byte == ' ' || byte == '\t'; }
static inline bool er_is_end(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/* Eight bytes with the first in the lowest place. */
static inline uint64_t er_load(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* Past the blanks. */
static inline const char *er_skip_blanks(const char *at)
{
    for (;;) {
        const uint64_t other = er_load(at) ^ 0x2020202020202020u;
        if (other != 0) {
            at += __builtin_ctzll(other) >> 3;
            if (*at != '\t') return at;
            at++;
        } else {
            at += 8;
        }
    }
}

/* Value of the digits at *at, 8 at most, and how many; *at is moved behind them. */
static inline uint64_t er_digits(const char **at, unsigned *count)
{
    uint64_t bytes = er_load(*at);
    const uint64_t digits = bytes ^ 0x3030303030303030u; /* 0 to 9 where there is a digit */
    const uint64_t others = (digits | ((digits & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u)) & 0x8080808080808080u;
    const unsigned n = others != 0 ? (unsigned)__builtin_ctzll(others) >> 3 : 8;
    *at += n;
    *count = n;
    if (n == 0) return 0;
    bytes = digits << (64 - 8 * n); /* as eight digits that begin with zeros: neighbours are joined three times */
    bytes = (bytes * (10 * 256 + 1)) >> 8 & 0x00ff00ff00ff00ffu;
    bytes = (bytes * (100 * 65536 + 1)) >> 16 & 0x0000ffff0000ffffu;
    return (bytes * (10000 * 4294967296u + 1)) >> 32;
}

/* Reads the number at `at`: [+-]digits[.digits][(e|E)[+-]digits], digits before or behind the point. Returns its end, which is that of the field, or NULL. */
static inline const char *er_number(const char *at, double *value)
{
    static const uint64_t integer_powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    static const double powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *const first = at;
    const uint64_t sign = (uint64_t)(*at == '-') << 63;
    at += *at == '-' || *at == '+';
    unsigned count, behind = 0;
    uint64_t digits = er_digits(&at, &count);
    if (count == 8) { /* at most 8 more: longer ones are left to the slow way */
        unsigned more;
        const uint64_t rest = er_digits(&at, &more);
        digits = digits * integer_powers[more] + rest;
        count += more;
    }
    if (*at == '.') {
        at++;
        const uint64_t fraction = er_digits(&at, &behind);
        digits = digits * integer_powers[behind] + fraction;
        count += behind;
        if (behind == 8) count = 16; /* there may be more */
    }
    int exponent = -(int)behind;
    if ((*at | 32) == 'e') {
        at++;
        const bool negative = *at == '-';
        at += *at == '-' || *at == '+';
        unsigned places;
        const int power = (int)er_digits(&at, &places);
        if (places == 0) return NULL;
        exponent += negative ? -power : power;
    }
    if (count >= 1 && count <= 15 && er_is_end(*at) && exponent >= -22 && exponent <= 22) {
        const double magnitude = exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
        uint64_t bits;
        memcpy(&bits, &magnitude, sizeof bits);
        bits |= sign;
        memcpy(value, &bits, sizeof bits);
        return at;
    }
    for (at = first; !er_is_end(*at);) at++;
    return er_number_slow(first, at, value) ? at : NULL;
}

#endif
