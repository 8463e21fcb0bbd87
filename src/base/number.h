/* number.h: the steps behind number_read (json.h), for a reader that checks and reads in one pass. */
#ifndef PARITAS_BASE_NUMBER_H
#define PARITAS_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A scanned literal: (-1)^negative * digits * 10^exponent, and if `truncated` up to one more unit of
 * `digits`. */
struct decimal {
    uint64_t digits; /* the first 19 significant digits at most */
    int64_t exponent;
    bool negative, truncated, integer;
};

/* Scans the number at `at` by the grammar of RFC 8259. Returns its end, *reason NULL; or the offending place
 * and a constant *reason. Reads no byte at or after `end`. */
const char *number_scan(const char *at, const char *end, struct decimal *decimal, const char **reason);

/* Correctly rounded value (half to even) of a scanned literal; infinite where it is too large. Looks at
 * `literal` again only where the first 19 digits do not decide. */
double number_value(const struct decimal *decimal, const char *literal, size_t length);

/* The powers of ten that a double holds exactly. */
extern const double number_powers[23];

#endif
