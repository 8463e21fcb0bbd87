/* number.h: reads numbers, correctly rounded and independent of the locale. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* (-1)^negative * digits * 10^exponent; `truncated`: up to one more unit of `digits`. */
struct decimal {
    uint64_t digits; /* at most 19 significant digits */
    int64_t exponent;
    bool negative, truncated, integer;
};

/* Scans a number by RFC 8259. Returns its end, *reason NULL; or the wrong place and a constant *reason.
 * Reads nothing from `end` on. */
const char *number_scan(const char *at, const char *end, struct decimal *decimal, const char **reason);

/* Correctly rounded (half to even), infinite if too large. Reads `literal` again only if 19 digits do not
 * decide. */
double number_value(const struct decimal *decimal, const char *literal, size_t length);

/* Both at once for the usual number: at most 19 digits, perhaps with a decimal point among them. Returns its
 * end; NULL: another, or none, or a tie. `at` has NUMBER_AHEAD readable bytes. */
#define NUMBER_AHEAD 48
const char *number_read_usual(const char *at, double *value, bool *integer);

/* Powers of ten exact in a double. */
extern const double number_powers[23];
