/* number.c: decimal text to double and back: exact, fast, without locale.
 *
 *   text ──► digits * 10^exponent ──► small and exact? one product or quotient
 *                                 └──► 64 x 128 bit product, with an error bound ──► decided? done
 *                                                                               └──► strtod
 *
 * power_of_ten makes 700 128-bit powers from 26 stored ones and powers of five. Reading: the product is
 * known to two units of its last of 127 bits; strtod is needed for ties and once in 2^70 other numbers.
 * Writing: Raffaele Giulietti, "The Schubfach way to render doubles" (2020). */
#include "base/json/json.h"

#include "base/bytes.h"
#include "base/json/number.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define POWER_STEP 27
#define POWER_FIRST (-13) /* first stored power, in steps */

/* Leading 192 bits, rounded down, of 10^(27 i), i = -13 ... 12. */
static const uint64_t stored_powers[26][3] = {
    {0x8049a4ac0c5811ae, 0x205b896d777d6278, 0xac261e9f5141430b},
    {0xcf42894a5dce35ea, 0x52064cac828675b9, 0x475f2b7d7df1ad7a},
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36},
    {0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7},
    {0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662},
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418},
    {0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d},
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396},
    {0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3},
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec},
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901},
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8},
    {0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7},
    {0x8000000000000000, 0x0000000000000000, 0x0000000000000000},
    {0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000},
    {0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000},
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28},
    {0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3},
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f},
    {0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5},
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c},
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde},
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47},
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c},
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37},
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2},
};

/* 5^0 ... 5^26: up to 61 bits. */
static const uint64_t small_powers[POWER_STEP] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
};

const double number_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* power_of_ten(k) for k = -27 ... 0, which most literals need: those with a decimal point and no exponent. */
#define NEAR_FIRST (-27)
static const uint64_t near_powers[28][2] = {
    {0x9e74d1b791e07e48, 0x775ea264cf55347d}, {0xc612062576589dda, 0x95364afe032a819d},
    {0xf79687aed3eec551, 0x3a83ddbd83f52204}, {0x9abe14cd44753b52, 0xc4926a9672793542},
    {0xc16d9a0095928a27, 0x75b7053c0f178293}, {0xf1c90080baf72cb1, 0x5324c68b12dd6338},
    {0x971da05074da7bee, 0xd3f6fc16ebca5e03}, {0xbce5086492111aea, 0x88f4bb1ca6bcf584},
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e5}, {0x9392ee8e921d5d07, 0x3aff322e62439fcf},
    {0xb877aa3236a4b449, 0x09befeb9fad487c2}, {0xe69594bec44de15b, 0x4c2ebe687989a9b3},
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a10}, {0xb424dc35095cd80f, 0x538484c19ef38c94},
    {0xe12e13424bb40e13, 0x2865a5f206b06fb9}, {0x8cbccc096f5088cb, 0xf93f87b7442e45d3},
    {0xafebff0bcb24aafe, 0xf78f69a51539d748}, {0xdbe6fecebdedd5be, 0xb573440e5a884d1b},
    {0x89705f4136b4a597, 0x31680a88f8953030}, {0xabcc77118461cefc, 0xfdc20d2b36ba7c3d},
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4c}, {0x8637bd05af6c69b5, 0xa63f9a49c2c1b10f},
    {0xa7c5ac471b478423, 0x0fcf80dc33721d53}, {0xd1b71758e219652b, 0xd3c36113404ea4a8},
    {0x83126e978d4fdf3b, 0x645a1cac083126e9}, {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a3},
    {0xcccccccccccccccc, 0xcccccccccccccccc}, {0x8000000000000000, 0x0000000000000000},
};

/* floor(log2(10^k)), |k| <= 1233. */
static int log2_of_power(int k)
{
    return (k * 1741647) >> 19;
}

/* Leading 128 bits of 10^k, rounded down: 10^k is in [p, p + 1) * 2^(log2_of_power(k) - 127), exact for 0
 * <= k <= 55. -351 <= k <= 350; a check of all k shows that 192 bits suffice. */
static u128 power_of_ten(int k)
{
    if (k >= NEAR_FIRST && k <= 0)
        return (u128)near_powers[k - NEAR_FIRST][0] << 64 | near_powers[k - NEAR_FIRST][1];
    int shifted = k - POWER_FIRST * POWER_STEP;
    const uint64_t *stored = stored_powers[shifted / POWER_STEP];
    uint64_t small = small_powers[shifted % POWER_STEP];
    if (small == 1) return (u128)stored[0] << 64 | stored[1];
    u128 low = (u128)stored[2] * small;
    u128 middle = (u128)stored[1] * small + (uint64_t)(low >> 64);
    u128 high = (u128)stored[0] * small + (uint64_t)(middle >> 64);
    /* upper half of `high`: neither 0 (stored >= 2^191, small >= 5) nor above 2^61 */
    int shift = __builtin_clzll((uint64_t)(high >> 64));
    return high << shift | (uint64_t)middle >> (64 - shift);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Appends digits to *digits (modulo 2^64); returns their end. Eight at once; of the last, leading zeros take
 * the place of what is missing: no branch depends on how many there are. */
static inline const char *scan_digits(const char *at, const char *end, uint64_t *digits)
{
    static const uint32_t tens[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t value = *digits;
    while (end - at >= 8) {
        const uint64_t eight = load_digits(at), stop = not_digits(eight);
        if (stop != 0) {
            const int n = __builtin_ctzll(stop) / 8;
            *digits = value * tens[n] + value_of_digits(eight << (56 - 8 * n) << 8);
            return at + n;
        }
        value = value * 100000000u + value_of_digits(eight);
        at += 8;
    }
    while (at < end && is_digit(*at)) value = value * 10 + (uint64_t)(*at++ - '0');
    *digits = value;
    return at;
}

/* After more than 19 digits `digits` may have wrapped: takes the first 19 significant ones. */
static void take_leading_digits(const char *at, const char *end, struct decimal *decimal)
{
    uint64_t digits = 0;
    int taken = 0;
    int64_t dropped = 0;
    for (; at < end && (is_digit(*at) || *at == '.'); at++) {
        if (*at == '.' || (taken == 0 && *at == '0')) continue;
        if (taken < 19) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            taken++;
        } else {
            dropped++;
            if (*at != '0') decimal->truncated = true;
        }
    }
    decimal->digits = digits;
    decimal->exponent += dropped;
}

const char *number_scan(const char *at, const char *end, struct decimal *decimal, const char **reason)
{
    *reason = NULL;
    *decimal = (struct decimal){.integer = true};
    if (at < end && *at == '-') {
        decimal->negative = true;
        at++;
    }
    const char *first = at;
    if (at == end || !is_digit(*at)) {
        *reason = "a digit is expected";
        return at;
    }
    at = scan_digits(at, end, &decimal->digits);
    int64_t count = at - first;
    if (*first == '0' && count > 1) {
        *reason = "a number does not begin with 0";
        return first;
    }
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = scan_digits(at, end, &decimal->digits);
        if (at == fraction) {
            *reason = "a digit is expected after the decimal point";
            return at;
        }
        decimal->integer = false;
        decimal->exponent = fraction - at;
        count += at - fraction;
    }
    if (count > 19) take_leading_digits(first, at, decimal);
    if (at < end && (*at == 'e' || *at == 'E')) {
        decimal->integer = false;
        at++;
        bool negative = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (at == end || !is_digit(*at)) {
            *reason = "a digit is expected in the exponent";
            return at;
        }
        int64_t exponent = 0; /* clamped: no text in memory has enough digits to compensate */
        for (; at < end && is_digit(*at); at++) {
            if (exponent < (int64_t)1 << 50) exponent = exponent * 10 + (*at - '0');
        }
        decimal->exponent += negative ? -exponent : exponent;
    }
    return at;
}

/* Ties have at most 767 significant digits: after these a 1 stands for a nonzero rest. */
#define DIGITS_MOST 800

/* Asks the C library, with digits and an exponent: without a decimal point no locale matters. */
static double read_exactly(const char *literal, size_t length)
{
    char text[DIGITS_MOST + 32], *out = text;
    struct decimal decimal;
    const char *reason, *end = literal + length;
    number_scan(literal, end, &decimal, &reason);
    int64_t power = decimal.exponent;
    int taken = 0; /* decimal.digits has the first 19 */
    bool rest = false;
    if (decimal.negative) *out++ = '-';
    for (const char *at = literal; at < end && *at != 'e' && *at != 'E'; at++) {
        if (!is_digit(*at) || (taken == 0 && *at == '0')) continue;
        if (taken < DIGITS_MOST) {
            *out++ = *at;
            if (++taken > 19) power--;
        } else if (*at != '0') {
            rest = true;
        }
    }
    if (rest) *out++ = '1';
    snprintf(out, sizeof text - (size_t)(out - text), "e%" PRId64, power - rest);
    return strtod(text, NULL);
}

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double number_value(const struct decimal *decimal, const char *literal, size_t length)
{
    const uint64_t sign = (uint64_t)decimal->negative << 63, infinity = (uint64_t)2047 << 52;
    uint64_t digits = decimal->digits;
    if (digits <= (uint64_t)1 << 53 && decimal->exponent >= -22 && decimal->exponent <= 22) {
        double value = (double)digits; /* both exact: one rounding */
        value = decimal->exponent < 0 ? value / number_powers[-decimal->exponent]
                                      : value * number_powers[decimal->exponent];
        return decimal->negative ? -value : value;
    }
    /* 10^19 * 10^-344 is below half the least double */
    if (digits == 0 || decimal->exponent < -343) return double_of_bits(sign);
    if (decimal->exponent > 308) return double_of_bits(sign | infinity);
    int power = (int)decimal->exponent;

    /* the literal is in [product, product + slack) * 2^(scale - 126); bit 126 of product is set */
    int shift = __builtin_clzll(digits);
    u128 ten = power_of_ten(power);
    uint64_t mantissa = digits << shift;
    u128 low = (u128)mantissa * (uint64_t)ten;
    u128 product = (u128)mantissa * (uint64_t)(ten >> 64) + (uint64_t)(low >> 64);
    u128 slack = 2 + (decimal->truncated ? (u128)1 << (64 + shift) : 0);
    int scale = log2_of_power(power) - shift + 63;
    const int carry = (int)(product >> 127);
    product >>= carry;
    scale += carry;

    int kept = scale >= -1022 ? 53 : scale + 1075; /* result bits; fewer if subnormal */
    if (scale > 1023) return double_of_bits(sign | infinity);
    if (kept < 0) return double_of_bits(sign);
    int dropped = 127 - kept;
    uint64_t whole = (uint64_t)(product >> dropped);
    u128 part = product & (((u128)1 << dropped) - 1), half = (u128)1 << (dropped - 1);
    const bool up = part > half;
    if (!up && part + slack > half) return read_exactly(literal, length);
    /* the mantissa's top bit adds 1 to the exponent, as does a carry */
    uint64_t exponent_field = scale >= -1022 ? (uint64_t)(scale + 1022) << 52 : 0;
    return double_of_bits(sign | (exponent_field + whole + up));
}

/* Digits, perhaps with a decimal point among them, at most 19. NULL: otherwise. */
static inline const char *scan_usual(const char *at, uint64_t *digits, int *exponent, bool *integer)
{
    const uint64_t first = load_digits(at), stop = not_digits(first);
    const int whole = stop != 0 ? __builtin_ctzll(stop) / 8 : 0;
    if (whole == 0 || (whole > 1 && (first & 255) == 0)) return NULL;
    *digits = value_of_digits(first << (64 - 8 * whole));
    *exponent = 0;
    at += whole;
    *integer = *at != '.';
    if (!*integer) {
        const char *fraction = ++at;
        at = scan_digits(at, at + 24, digits);
        if (at == fraction || at - fraction + whole > 19) return NULL;
        *exponent = (int)(fraction - at);
    }
    return (*at | 32) == 'e' ? NULL : at;
}

/* digits * 10^power for a power of near_powers, of which the first 64 bits nearly always decide. The product
 * is in [high, high + 2) * 2^64; no result is subnormal. False: they do not decide. */
static inline bool multiply_near(uint64_t digits, int power, double *value)
{
    const int shift = __builtin_clzll(digits);
    const uint64_t high = (uint64_t)((u128)(digits << shift) * near_powers[power - NEAR_FIRST][0] >> 64);
    const int carry = (int)(high >> 63), dropped = 10 + carry;
    const uint64_t part = high & (((uint64_t)1 << dropped) - 1), half = (uint64_t)1 << (dropped - 1);
    if (part - (half - 1) <= 1) return false; /* half - 1, half: perhaps a tie */
    /* the mantissa's top bit adds 1 to the exponent, as does a carry */
    const uint64_t exponent = (uint64_t)(log2_of_power(power) - shift + 63 + carry + 1022);
    *value = double_of_bits((exponent << 52) + (high >> dropped) + (part > half));
    return true;
}

const char *number_read_usual(const char *at, double *value, bool *integer)
{
    uint64_t digits;
    int exponent;
    const bool negative = *at == '-';
    at = scan_usual(at + negative, &digits, &exponent, integer);
    if (!at) return NULL;
    *value = 0.0;
    if (digits != 0 && !multiply_near(digits, exponent, value)) return NULL;
    if (negative) *value = -*value;
    return at;
}

/* Upper 64 bits of factor * value / 2^128 x 2^64; lowest bit set if lower bits are not all zero. */
static uint64_t multiply_to_odd(u128 factor, uint64_t value)
{
    u128 low = (u128)(uint64_t)factor * value;
    u128 high = (u128)(uint64_t)(factor >> 64) * value + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* Shortest decimal *digits * 10^result in the rounding interval, the nearest. Names as in the paper: value
 * = c * 2^q. */
static int shortest(uint64_t bits, uint64_t *digits)
{
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int field = (int)(bits >> 52 & 2047);
    uint64_t c = field ? fraction | (uint64_t)1 << 52 : fraction;
    int q = field ? field - 1075 : -1074;
    bool odd = c & 1;
    /* below a power of two doubles are twice as dense */
    bool narrow_below = fraction == 0 && field > 1;
    int k = (int)(((int64_t)q * 1262611 - (narrow_below ? 524031 : 0)) >> 22);
    int h = q + log2_of_power(-k) + 1;
    u128 g = power_of_ten(-k) + (-k < 0 || -k > 55); /* rounded up */
    /* even values own their interval's ends */
    uint64_t low = multiply_to_odd(g, (4 * c - 2 + narrow_below) << h) + odd;
    uint64_t middle = multiply_to_odd(g, (4 * c) << h);
    uint64_t high = multiply_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above) {
            *digits = tens + above;
            return k + 1;
        }
    }
    bool below = low <= 4 * s, above = 4 * s + 4 <= high;
    if (below != above) {
        *digits = s + above;
    } else {
        uint64_t half = 4 * s + 2;
        *digits = s + (middle > half || (middle == half && (s & 1)));
    }
    return k;
}

static char *write_digits(char *out, uint64_t value)
{
    char reversed[20];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count) *out++ = reversed[--count];
    return out;
}

int number_write(double value, char out[32])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    char *at = out;
    if (bits >> 63) *at++ = '-';
    bits &= ~((uint64_t)1 << 63);
    uint64_t digits = 0;
    int exponent = 0;
    if (bits) exponent = shortest(bits, &digits);
    while (digits && digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    char text[20];
    int count = (int)(write_digits(text, digits) - text);
    int point = bits ? count + exponent : 1; /* digits before the point */
    if (point > -4 && point <= 16) {
        int lead = point < 1 ? 1 - point : 0; /* zeros before the first digit */
        int total = lead + count > lead + point ? lead + count : lead + point;
        for (int i = 0; i < total; i++) {
            if (i == lead + point) *at++ = '.';
            *at++ = i >= lead && i < lead + count ? text[i - lead] : '0';
        }
        if (total == lead + point) {
            *at++ = '.';
            *at++ = '0';
        }
    } else {
        *at++ = text[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, text + 1, (size_t)(count - 1));
            at += count - 1;
        }
        *at++ = 'e';
        *at++ = point > 0 ? '+' : '-';
        int power = point > 0 ? point - 1 : 1 - point;
        if (power < 10) *at++ = '0';
        at = write_digits(at, (uint64_t)power);
    }
    *at = '\0';
    return (int)(at - out);
}
