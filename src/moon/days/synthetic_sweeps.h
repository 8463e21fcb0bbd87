/* synthetic_sweeps.h: shared by the files that draw synthetic sweeps. */
#pragma once

#include "moon/days/days.h"

/* Random numbers of one sweep. SplitMix64 (Steele, Lea, Flood, OOPSLA'14) on a counter. */
struct dice {
    uint64_t state;
};
void dice_open(struct dice *dice, uint64_t seed, uint64_t sweep);
double dice_uniform(struct dice *dice);

/* Counts sweep k: replaces its fluxes by those of drawn counts, stored and corrected for dead time.
 * Cells whose correction exceeds 1.25 are marked as erroneous, as the archive marks them. */
void synthetic_count(const paritas_synthetic_options *plan, size_t k, paritas_er_day *day);
/* Would the archive mark this flux as erroneous, but for noise? */
bool synthetic_saturates(const paritas_synthetic_options *plan, double energy, double flux);
