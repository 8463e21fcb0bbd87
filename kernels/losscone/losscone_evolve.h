/* losscone_evolve.h: differential evolution of the points of one sweep, best/1/bin with F = 0.5 and CR = 0.9 (R.
 * Storn, K. Price, J. Global Optimization 11 (1997) 341), as loss cones have usually been fitted. The exact
 * search beats it in every respect; it is there to compare with.
 *
 *   400 points of a Latin hypercube ─► the best of them and a Sobol set are the population ─► generations ─►
 *       the best member
 *
 * All members of a generation are made from the one before, which the slab keeps beside it. What leaves the
 * bounds ends on them; a trial replaces its member where it is better. Random numbers are Philox words of
 * (seed; generation, member, sweep), so that a sweep's answer depends on its number alone.
 *
 * The stop is the sweep's own. The usual one, no gain of 1e-3 by the best member in one generation past the
 * tenth, ends Lillis at once, whose misfits are that small, and Halekas while most gains are still to come,
 * since a generation without any is nothing rare. Here it is EVOLVE_PATIENCE generations without a gain of
 * EVOLVE_GAIN of the misfit.
 */
#ifndef PARITAS_LOSSCONE_EVOLVE_H
#define PARITAS_LOSSCONE_EVOLVE_H

#include "losscone/losscone_point.h"
#include "numeric/philox.h"
#include "numeric/rng.h"

#define EVOLVE_PATIENCE 10
#define EVOLVE_GAIN R(1e-5)
#define EVOLVE_LEAST R(1e-9) /* gains below it do not count: noise-free sweeps have misfits without end */
#define EVOLVE_CROSSED 58982 /* of 2^16: CR */

/* The slab behind what point.h has; `members` is a multiple of 8. Two populations in turn, by coordinate: U,
 * r, A, value. */
#define EVOLVE_AT (s + CELLS_SIZE + POINT_SIZE)
#define EVOLVE_BEST(g) EVOLVE_AT[(g) % 16]                 /* the least value after each generation */
#define EVOLVE_VALUES (EVOLVE_AT + 16)                     /* of the Latin hypercube */
#define EVOLVE_WORDS (EVOLVE_VALUES + EVOLVE_STARTS)       /* six numbers of 16 random bits a member */
#define EVOLVE_NUMBER (EVOLVE_WORDS + 6 * (size_t)members) /* 0, 1, 2, .. */
#define EVOLVE_MEMBERS(turn) (EVOLVE_NUMBER + (1 + 4 * (size_t)(turn)) * members)

typedef struct {
    real lower[3], upper[3];
} evolve_box;

#if F64
/* Bits 0 .. 15, 16 .. 31 of words as numbers. */
FN pack evolve_low(plint word)
{
    return PFROM_BITS((word & PLI(0xffff)) | PLI(M_INTEGER_BITS)) - PK(4503599627370496.0);
}
FN pack evolve_high(plint word)
{
    return evolve_low(SHIFT_RIGHT(word, 16) & PLI(0xffff));
}
#endif

/* Numbers of 16 random bits for the trials of a generation, kept by the workers that will need them. In f64
 * the words of a pack of members come at once. */
FN void evolve_draw(GLOBAL real *s, u32 members, u32 generation, u32 sweep_low, u32 sweep_high, u32 key0,
                    u32 key1)
{
#if F64
    TEAM_FOR_PACK(m, members) {
        const plint number = PBITS(LOADP(EVOLVE_NUMBER, m) + PK(4503599627370496.0)) & PLI(0xffffffff);
        const rng_block b = rng_philox(PLI(generation), number, PLI(sweep_low), PLI(sweep_high), key0, key1);
        for (u32 w = 0; w < 3; w++) {
            STOREP(EVOLVE_WORDS, 2 * w * members + m, evolve_low(b.word[w]));
            STOREP(EVOLVE_WORDS, (2 * w + 1) * members + m, evolve_high(b.word[w]));
        }
    }
#else
    TEAM_FOR(m, members) {
        const philox_block b = philox(generation, m, sweep_low, sweep_high, key0, key1);
        for (u32 w = 0; w < 3; w++) {
            EVOLVE_WORDS[2 * w * members + m] = REAL_OF(b.word[w] & 0xffff);
            EVOLVE_WORDS[(2 * w + 1) * members + m] = REAL_OF(b.word[w] >> 16);
        }
    }
#endif
}

/* The member with the least value, the first of equals. */
FN u32 evolve_best(GLOBAL const real *value, u32 n)
{
    u32 best = 0;
    for (u32 m = 1; m < n; m++) best = value[m] < value[best] ? m : best;
    return best;
}

/* The trial against member m of `from`, and the better of the two in `to`. */
FN void evolve_trial(losscone_run run, GLOBAL real *s, evolve_box box, GLOBAL const real *from,
                     GLOBAL real *to, u32 members, u32 population, u32 m, u32 best)
{
    const u32 one = (U32_OF(EVOLVE_WORDS[m]) * population) >> 16,
              other = (U32_OF(EVOLVE_WORDS[members + m]) * population) >> 16;
    const u32 forced = (U32_OF(EVOLVE_WORDS[5 * members + m]) * 3) >> 16;
    real x[3];
    for (u32 c = 0; c < 3; c++) {
        GLOBAL const real *at = from + c * members;
        x[c] = at[m];
        if (c != forced && !(EVOLVE_WORDS[(2 + c) * members + m] < REAL_OF(EVOLVE_CROSSED))) continue;
        const real v = flush(FMA(R(0.5), at[one] - at[other], at[best]));
        x[c] = v < box.lower[c] ? box.lower[c] : v > box.upper[c] ? box.upper[c] : v;
    }
    const real value = point_misfit(run, s, x[0], x[1], x[2]), before = from[3 * members + m];
    const int better = value < before;
    for (u32 c = 0; c < 3; c++) to[c * members + m] = better ? x[c] : from[c * members + m];
    to[3 * members + m] = better ? value : before;
}

/* Part of the way from lower to upper. */
FN real evolve_within(real lower, real upper, real part)
{
    const real x = flush(FMA(part, upper - lower, lower));
    return x < lower ? lower : x > upper ? upper : x;
}

/* Finds a minimum of the sweep that point_prepare knows. starts: the points of the Latin hypercube, then
 * those of the Sobol set, of the unit cube; the former's U lie between first_lower and first_upper. Answers
 * the least value; *where its place in the slab, coordinates `members` apart; *generations those it took,
 * *stopped whether it came to rest. */
FN real evolve(losscone_run run, GLOBAL real *s, evolve_box box, GLOBAL const elem *starts, real first_lower,
               real first_upper, u32 population, u32 most, u32 sweep_low, u32 sweep_high, u32 key0, u32 key1,
               PRIVATE u32 *where, PRIVATE u32 *generations, PRIVATE int *stopped)
{
    const u32 members = (population + 7) & ~7u;
    TEAM_FOR(k, EVOLVE_STARTS) {
        GLOBAL const elem *unit = starts + 3 * k;
        EVOLVE_VALUES[k] = point_misfit(run, s, evolve_within(first_lower, first_upper, unit[0]),
                                        evolve_within(box.lower[1], box.upper[1], unit[1]),
                                        evolve_within(box.lower[2], box.upper[2], unit[2]));
    }
    TEAM_BARRIER();
    const u32 first = evolve_best(EVOLVE_VALUES, EVOLVE_STARTS);
    TEAM_FOR(m, population) {
        GLOBAL const elem *unit = starts + 3 * (m == 0 ? first : EVOLVE_STARTS + m);
        GLOBAL real *to = EVOLVE_MEMBERS(0) + m;
        to[0] = m == 0 ? evolve_within(first_lower, first_upper, unit[0])
                       : evolve_within(box.lower[0], box.upper[0], unit[0]);
        for (u32 c = 1; c < 3; c++) to[c * members] = evolve_within(box.lower[c], box.upper[c], unit[c]);
        to[3 * members] = point_misfit(run, s, to[0], to[members], to[2 * members]);
    }
    TEAM_FOR(m, members) EVOLVE_NUMBER[m] = REAL_OF(m);
    TEAM_BARRIER();
    u32 best = evolve_best(EVOLVE_MEMBERS(0) + 3 * members, population), generation = 0;
    int rest = 0;
    ONE_WORKER
    {
        EVOLVE_BEST(0) = EVOLVE_MEMBERS(0)[3 * members + best];
    }
    TEAM_BARRIER();
    while (generation < most && !rest) {
        GLOBAL const real *from = EVOLVE_MEMBERS(generation % 2);
        GLOBAL real *to = EVOLVE_MEMBERS((generation + 1) % 2);
        generation++;
        evolve_draw(s, members, generation, sweep_low, sweep_high, key0, key1);
        TEAM_FOR(m, population) evolve_trial(run, s, box, from, to, members, population, m, best);
        TEAM_BARRIER();
        best = evolve_best(to + 3 * members, population);
        const real value = to[3 * members + best];
        if (generation > EVOLVE_PATIENCE)
            rest = EVOLVE_BEST(generation - EVOLVE_PATIENCE) - value <= FMA(EVOLVE_GAIN, value, EVOLVE_LEAST);
        ONE_WORKER
        {
            EVOLVE_BEST(generation) = value;
        }
        TEAM_BARRIER();
    }
    GLOBAL const real *last = EVOLVE_MEMBERS(generation % 2);
    *where = (u32)(last - s) + best;
    *generations = generation;
    *stopped = rest;
    return last[3 * members + best];
}

#endif
