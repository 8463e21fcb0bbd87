/* counter_random.h: random numbers by place in a table, whatever else is drawn. */
#pragma once

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

/* SplitMix64's output function (Steele, Lea, Flood, OOPSLA'14). */
static inline uint64_t random_mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Evenly between 0 and 1, never at either end. */
static inline double random_part(uint64_t bits)
{
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* 64 random bits of a counter. */
static inline uint64_t counter_bits(uint64_t row, uint64_t column)
{
    return random_mixed((row << 32 | column) * RANDOM_STEP + UINT64_C(0x632BE59BD9B4E019));
}
