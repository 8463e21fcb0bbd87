/* er_codes.h: counts as the instrument stored them: one byte each, 4 bits of exponent and 4 of mantissa. */
#pragma once

#include <stdint.h>

#define ER_CODES 256u
#define ER_CODED_COUNTS (UINT64_C(1) << 19) /* a code tells counts below this */
#define ER_PRESCALE 16u                     /* divides counts from there on, by assumption */

/* Counts n of which `lower` <= n < `lower` + `width` is known. */
struct er_interval {
    uint64_t lower, width;
};

/* Truncates: the code is that of the interval's lower end. Counts that no code tells have the last. */
unsigned er_code(uint64_t counts);
/* The counts that have this code, 0 to 255. The intervals tile [0, ER_CODED_COUNTS). */
struct er_interval er_code_interval(unsigned code);
/* What is known of counts that were stored, prescaled where they are too many for a code. Counts that are too
 * many even so have the last interval. */
struct er_interval er_stored(uint64_t counts);
