/* er_number.h: decimal numbers of day files to double, correctly rounded, in about 5 ns.
 *
 * Looks at eight bytes at once. No branch depends on the number of digits: field lengths vary, so it would
 * be mispredicted. 15 digits and powers of ten up to 22 are exact: one product or quotient rounds once.
 * All else goes to base/json/number.h. */
#pragma once

#include "base/bytes.h"
#include "base/json/number.h"

#include <stdbool.h>

#define ER_PADDING 16 /* readable bytes after the text, a line end first */

/* [at, end) as a number, `end` anywhere; false: none, or too large. */
bool er_number_within(const char *at, const char *end, double *value);
/* Is it a spectrum number: whole, from 0 to 2^53? */
static inline bool er_is_spectrum(double value)
{
    return value >= 0.0 && value <= 9007199254740992.0 && value == (double)(int64_t)value;
}
/* er_number for any form. */
const char *er_number_general(const char *at, double *value);

static inline bool er_is_end(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static inline const char *er_skip_blanks(const char *at)
{
    for (;;) {
        const uint64_t other = load_bytes(at) ^ EACH_BYTE(' ');
        if (other != 0) {
            at += __builtin_ctzll(other) >> 3;
            if (*at != '\t') return at;
            at++;
        } else {
            at += 8;
        }
    }
}

/* (-1)^negative * digits * 10^exponent; digits < 10^15, |exponent| <= 22. */
static inline double er_compose(bool negative, uint64_t digits, int exponent)
{
    const double whole = (double)(int64_t)digits, magnitude = exponent < 0 ? whole / number_powers[-exponent]
                                                                           : whole * number_powers[exponent];
    return negative ? -magnitude : magnitude;
}

/* E or D, as Fortran writes for double precision; large or small. */
static inline bool er_is_exponent(char byte)
{
    return (byte | 0x21) == 'e';
}

/* [+-]digits[.digits][(e|E|d|D)[+-]digits], digits before or after the point. Returns the end of number and
 * field, or NULL.
 *
 * This path: point within seven digits; no exponent, or one of two digits. */
static inline const char *er_number(const char *at, double *value)
{
    const char *const first = at;
    const bool negative = *at == '-';
    at += negative;
    const uint64_t digits = load_digits(at), others = not_digits(digits), behind = others & (others - 1);
    if (behind == 0) return er_number_general(first, value);
    /* bits before the point, and before what follows the decimals: multiples of 8, less 1 */
    const unsigned point = (unsigned)__builtin_ctzll(others) & 56,
                   end = (unsigned)__builtin_ctzll(behind) & 56;
    const uint64_t before = ((uint64_t)1 << point) - 1, joined = (digits & before) | (digits >> 8 & ~before);
    if ((digits >> point & 0xff) != ('.' ^ 0x30) || end == 8) return er_number_general(first, value);
    at += end >> 3;
    int exponent = -(int)((end - point - 8) >> 3);
    if (er_is_exponent(*at)) {
        const unsigned tens = (unsigned char)(at[2] ^ 0x30), ones = (unsigned char)(at[3] ^ 0x30);
        if ((at[1] != '+' && at[1] != '-') || tens > 9 || ones > 9) return er_number_general(first, value);
        const int power = (int)(10 * tens + ones);
        exponent += at[1] == '-' ? -power : power;
        at += 4;
    }
    if (!er_is_end(*at) || exponent < -22 || exponent > 22) return er_number_general(first, value);
    *value = er_compose(negative, value_of_digits(joined << (72 - end)), exponent);
    return at;
}
