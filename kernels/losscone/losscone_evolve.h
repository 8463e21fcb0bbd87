/* losscone_evolve.h: differential evolution for one sweep, best/1/bin, F = 0.5, CR = 0.9 (R. Storn, K. Price,
 * J. Global Optimization 11 (1997) 341): the usual loss-cone fit, for comparison. The exact search is better.
 *
 *   400 points of a Latin hypercube ─► population: the best and a Sobol set ─► generations ─► the best
 *
 * A generation is made from the last one, kept in the slab. Points are clipped to the bounds; a better trial
 * replaces its member. Random numbers are Philox words of (seed; generation, member, sweep): the answer
 * depends on the sweep's number, not on its batch.
 *
 * The usual stop, one generation after the tenth without a gain of 1e-3, ends Lillis at once (misfits are
 * that small) and Halekas too early (such generations are common). Here: EVOLVE_PATIENCE generations without
 * a gain of EVOLVE_GAIN of the misfit. */
#pragma once

#include "losscone/losscone_point.h"
#include "numeric/philox.h"
#include "numeric/rng.h"

#define EVOLVE_GAIN R(1e-5)
#define EVOLVE_LITTLE R(1e-9) /* smaller gains do not count: noise-free misfits fall without end */
#define EVOLVE_CROSSED 58982  /* CR times 2^16 */

/* Columns are `members` apart, a multiple of 8. */
typedef struct {
    losscone_run run;
    real lower[LOSSCONE_POINT], upper[LOSSCONE_POINT], first_lower, first_upper;
    u32 population, members, sweep_low, sweep_high, key0, key1;
} evolve_fit;

#define EVOLVE_COLUMN(k) (s + EVOLVE_MEMBERS + (k) * (size_t)fit.members)
/* U, r, A and value of members. */
#define EVOLVE_TURN_OF(generation) EVOLVE_COLUMN(EVOLVE_TURN + (generation) % 2 * (LOSSCONE_POINT + 1))
#define EVOLVE_LEAST_OF(generation) (s + EVOLVE_LEAST)[(generation) % (EVOLVE_PATIENCE + 1)]

#if F64
/* Bits 0 .. 15 and 16 .. 31 as numbers. */
FN pack evolve_low(plint word)
{
    return PFROM_BITS((word & PLI(0xffff)) | PLI(M_INTEGER_BITS)) - PK(4503599627370496.0);
}
FN pack evolve_high(plint word)
{
    return evolve_low(SHIFT_RIGHT(word, 16) & PLI(0xffff));
}
#endif

/* Each worker draws what it needs. In f64 a pack of members at once. */
FN void evolve_draw(evolve_fit fit, GLOBAL real *s, u32 generation)
{
#if F64
    TEAM_FOR_PACK(m, fit.members) {
        const plint number =
            PBITS(LOADP(EVOLVE_COLUMN(EVOLVE_NUMBER), m) + PK(4503599627370496.0)) & PLI(0xffffffff);
        const rng_block b =
            rng_philox(PLI(generation), number, PLI(fit.sweep_low), PLI(fit.sweep_high), fit.key0, fit.key1);
        for (u32 w = 0; w < EVOLVE_WORDS / 2; w++) {
            STOREP(EVOLVE_COLUMN(EVOLVE_WORD + 2 * w), m, evolve_low(b.word[w]));
            STOREP(EVOLVE_COLUMN(EVOLVE_WORD + 2 * w + 1), m, evolve_high(b.word[w]));
        }
    }
#else
    TEAM_FOR(m, fit.members) {
        const philox_block b = philox(generation, m, fit.sweep_low, fit.sweep_high, fit.key0, fit.key1);
        for (u32 w = 0; w < EVOLVE_WORDS / 2; w++) {
            EVOLVE_COLUMN(EVOLVE_WORD + 2 * w)[m] = REAL_OF(b.word[w] & 0xffff);
            EVOLVE_COLUMN(EVOLVE_WORD + 2 * w + 1)[m] = REAL_OF(b.word[w] >> 16);
        }
    }
#endif
}

/* The first of equals. */
FN u32 evolve_best(GLOBAL const real *value, u32 n)
{
    u32 best = 0;
    for (u32 m = 1; m < n; m++) best = value[m] < value[best] ? m : best;
    return best;
}

/* A choice below `n`, from word k of member m. */
FN u32 evolve_choice(evolve_fit fit, GLOBAL const real *s, u32 k, u32 m, u32 n)
{
    return (U32_OF(EVOLVE_COLUMN(EVOLVE_WORD + k)[m]) * n) >> 16;
}

/* Keeps the better of trial and member m. */
FN void evolve_trial(evolve_fit fit, GLOBAL real *s, u32 generation, u32 m, u32 best)
{
    const u32 one = evolve_choice(fit, s, 0, m, fit.population),
              other = evolve_choice(fit, s, 1, m, fit.population),
              forced = evolve_choice(fit, s, 5, m, LOSSCONE_POINT);
    GLOBAL const real *from = EVOLVE_TURN_OF(generation);
    GLOBAL real *to = EVOLVE_TURN_OF(generation + 1);
    real x[LOSSCONE_POINT];
    for (u32 c = 0; c < LOSSCONE_POINT; c++) {
        GLOBAL const real *at = from + c * fit.members;
        x[c] = at[m];
        if (c != forced && !(EVOLVE_COLUMN(EVOLVE_WORD + 2 + c)[m] < REAL_OF(EVOLVE_CROSSED))) continue;
        const real v = flush(FMA(R(0.5), at[one] - at[other], at[best]));
        x[c] = v < fit.lower[c] ? fit.lower[c] : v > fit.upper[c] ? fit.upper[c] : v;
    }
    const real value = point_misfit(fit.run, s, x[LOSSCONE_U], x[LOSSCONE_R], x[LOSSCONE_A]),
               before = from[LOSSCONE_POINT * fit.members + m];
    const int better = value < before;
    for (u32 c = 0; c < LOSSCONE_POINT; c++)
        to[c * fit.members + m] = better ? x[c] : from[c * fit.members + m];
    to[LOSSCONE_POINT * fit.members + m] = better ? value : before;
}

/* ---- the first population ---- */

FN real evolve_within(real lower, real upper, real part)
{
    const real x = flush(FMA(part, upper - lower, lower));
    return x < lower ? lower : x > upper ? upper : x;
}

/* Scales a unit point to the bounds and returns its value. `first`: a Latin hypercube point, which has own
 * bounds of U. */
FN real evolve_place(evolve_fit fit, GLOBAL const real *s, GLOBAL const elem *unit, int first,
                     PRIVATE real *x)
{
    for (u32 c = 0; c < LOSSCONE_POINT; c++) x[c] = evolve_within(fit.lower[c], fit.upper[c], unit[c]);
    if (first) x[LOSSCONE_U] = evolve_within(fit.first_lower, fit.first_upper, unit[LOSSCONE_U]);
    return point_misfit(fit.run, s, x[LOSSCONE_U], x[LOSSCONE_R], x[LOSSCONE_A]);
}

FN void evolve_populate(evolve_fit fit, GLOBAL real *s, GLOBAL const elem *units)
{
    TEAM_FOR(k, EVOLVE_STARTS) {
        real x[LOSSCONE_POINT];
        (s + EVOLVE_VALUES)[k] = evolve_place(fit, s, units + LOSSCONE_POINT * k, 1, x);
    }
    TEAM_BARRIER();
    const u32 first = evolve_best(s + EVOLVE_VALUES, EVOLVE_STARTS);
    TEAM_FOR(m, fit.population) {
        real x[LOSSCONE_POINT];
        GLOBAL real *to = EVOLVE_TURN_OF(0) + m;
        to[LOSSCONE_POINT * fit.members] =
            evolve_place(fit, s, units + LOSSCONE_POINT * (m == 0 ? first : EVOLVE_STARTS + m), m == 0, x);
        for (u32 c = 0; c < LOSSCONE_POINT; c++) to[c * fit.members] = x[c];
    }
    TEAM_FOR(m, fit.members) EVOLVE_COLUMN(EVOLVE_NUMBER)[m] = REAL_OF(m);
    TEAM_BARRIER();
}

typedef struct {
    u32 best, generations; /* best member of the last generation */
    int settled;           /* the population came to rest */
} evolve_end;

/* Evolves after point_prepare. units: unit-cube points of the Latin hypercube, then of the Sobol set. */
FN evolve_end evolve(evolve_fit fit, GLOBAL real *s, GLOBAL const elem *units, u32 most)
{
    evolve_populate(fit, s, units);
    evolve_end end;
    end.generations = 0;
    end.settled = 0;
    end.best = evolve_best(EVOLVE_TURN_OF(0) + LOSSCONE_POINT * fit.members, fit.population);
    ONE_WORKER
    {
        EVOLVE_LEAST_OF(0) = EVOLVE_TURN_OF(0)[LOSSCONE_POINT * fit.members + end.best];
    }
    TEAM_BARRIER();
    while (end.generations < most && !end.settled) {
        const u32 generation = end.generations++;
        evolve_draw(fit, s, generation + 1);
        TEAM_FOR(m, fit.population) evolve_trial(fit, s, generation, m, end.best);
        TEAM_BARRIER();
        GLOBAL const real *values = EVOLVE_TURN_OF(generation + 1) + LOSSCONE_POINT * fit.members;
        end.best = evolve_best(values, fit.population);
        const real value = values[end.best];
        if (end.generations > EVOLVE_PATIENCE)
            end.settled = EVOLVE_LEAST_OF(end.generations - EVOLVE_PATIENCE) - value <=
                          FMA(EVOLVE_GAIN, value, EVOLVE_LITTLE);
        ONE_WORKER
        {
            EVOLVE_LEAST_OF(end.generations) = value;
        }
        TEAM_BARRIER();
    }
    return end;
}
