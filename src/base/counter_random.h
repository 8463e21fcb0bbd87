/* counter_random.h: random numbers by place in a table, whatever else is drawn. */
#ifndef PARITAS_COUNTER_RANDOM_H
#define PARITAS_COUNTER_RANDOM_H

#include <stdint.h>

/* 64 random bits: SplitMix64's output function (Steele, Lea, Flood, OOPSLA'14) on a counter. */
static inline uint64_t counter_bits(uint64_t row, uint64_t column)
{
    uint64_t z = (row << 32 | column) * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

#endif
