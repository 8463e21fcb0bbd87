/* er_number.c: numbers as base/json/number.h reads them: no plus, no leading zeros, digits by the point. */
#include "moon/er/er_number.h"

#define LONGEST 1000 /* more digits than neighbouring doubles need */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool er_number_within(const char *at, const char *end, double *value)
{
    char text[LONGEST + 4], *out = text;
    if (end - at > LONGEST) return false;
    if (end - at == 9 && memcmp(at, "9.999E-99", 9) == 0) { /* common filler of files */
        *value = 9.999e-99;
        return true;
    }
    if (at < end && *at == '-') *out++ = '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *const first = at;
    while (at < end && is_digit(*at)) at++;
    const bool before = at > first;
    const char *shown = first;
    while (shown < at && *shown == '0') shown++;
    if (shown == at) *out++ = '0';
    memcpy(out, shown, (size_t)(at - shown));
    out += at - shown;
    if (at < end && *at == '.') {
        const char *const point = at++;
        while (at < end && is_digit(*at)) at++;
        if (at - point > 1) {
            memcpy(out, point, (size_t)(at - point));
            out += at - point;
        } else if (!before) {
            return false;
        }
    } else if (!before) {
        return false;
    }
    memcpy(out, at, (size_t)(end - at)); /* an exponent, if any; all else is refused below */
    if (at < end && er_is_exponent(*at)) *out = 'e';
    out += end - at;
    struct decimal decimal;
    const char *reason;
    if (number_scan(text, out, &decimal, &reason) != out || reason != NULL) return false;
    *value = number_value(&decimal, text, (size_t)(out - text));
    return *value - *value == 0.0;
}

/* Value of up to 8 digits at *at, and their number; moves *at. */
static uint64_t take_digits(const char **at, unsigned *count)
{
    const uint64_t digits = load_digits(*at), others = not_digits(digits);
    const unsigned n = others != 0 ? (unsigned)__builtin_ctzll(others) >> 3 : 8;
    *at += n;
    *count = n;
    return n == 0 ? 0 : value_of_digits(digits << (64 - 8 * n));
}

const char *er_number_general(const char *at, double *value)
{
    static const uint64_t powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const char *const first = at;
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    unsigned count, more;
    uint64_t digits = take_digits(&at, &count);
    if (count == 8) { /* at most 8 more: beyond is not exact here */
        const uint64_t rest = take_digits(&at, &more);
        digits = digits * powers[more] + rest;
        count += more;
    }
    int exponent = 0;
    if (*at == '.') {
        at++;
        const uint64_t fraction = take_digits(&at, &more);
        digits = digits * powers[more] + fraction;
        count += more;
        exponent = -(int)more;
    }
    if (er_is_exponent(*at)) {
        at++;
        const bool down = *at == '-';
        at += *at == '-' || *at == '+';
        const int power = (int)take_digits(&at, &more);
        if (more == 0) return NULL;
        exponent += down ? -power : power;
    }
    if (count >= 1 && count <= 15 && er_is_end(*at) && exponent >= -22 && exponent <= 22) {
        *value = er_compose(negative, digits, exponent);
        return at;
    }
    for (at = first; !er_is_end(*at);) at++;
    return er_number_within(first, at, value) ? at : NULL;
}
