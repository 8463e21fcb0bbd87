/* differential_evolution.h: a population that finds its way without derivatives, for rough objectives. Knows
 * no model.
 *
 * R. Storn, K. Price, Differential evolution, J. Global Optimization 11 (1997) 341: rand/1/bin, with a factor
 * drawn anew for each trial ("dither"). With the best member in place of a random one (best/1) it is four
 * times faster on smooth functions, and on rough ones ends in the wrong minimum. Of newton.h's words it needs
 * those that lbfgsb.h lists, with
 *   MODEL_MEMORY    slab space of DE_MEMORY(MODEL_SLOTS, members) scalars; holds anything on entry
 *   DE_UNIT         filled by the entry: about one error of each slot, positive
 *
 *   the start and points around it ─► for each member, one after the other: one + F (another - a third),
 *       crossed with the member; kept where not worse
 *
 * What was kept serves the next member already: one population, half the memory. What leaves the bounds ends
 * on them: reflection would never find a minimum that lies there. Random numbers are Philox words of (seed;
 * generation, member, slots): all fits draw the same, so that an answer does not depend on the place of its
 * job in a list, and lanes choose the same partners. Converged: the members' values lie within the tolerance
 * of each other and the members within DE_CLOSE errors.
 */
#ifndef PARITAS_MINIMISE_DIFFERENTIAL_EVOLUTION_H
#define PARITAS_MINIMISE_DIFFERENTIAL_EVOLUTION_H

#include "minimise/fit_outcome.h"
#include "numeric/philox.h"

#define DE_CROSSED 0xc0000000u /* of 2^32: three quarters of the slots come from the mutant */
#define DE_CLOSE R(1e-2)

#define DE_UNIT (MODEL_WORK + 3 * MODEL_SLOTS)
#define DE_BEST (MODEL_WORK + 4 * MODEL_SLOTS)
#define DE_RANGE (MODEL_WORK + 5 * MODEL_SLOTS)
#define DE_MEMBER(k) (MODEL_MEMORY + (size_t)(k) * MODEL_SLOTS)
#define DE_VALUE(k) (MODEL_MEMORY + (size_t)members * MODEL_SLOTS)[k]

FN real de_within(real x, real lower, real upper)
{
    return SELECT(x < lower, lower, SELECT(x > upper, upper, x));
}

/* MODEL_X := a point within `reach` units of BEST. */
FN void de_scatter(MODEL_PARAMETERS, u32 member, real reach, u32 key0, u32 key1)
{
    TEAM_FOR(group, MODEL_SLOTS / 4) {
        const philox_block b = philox(0, member, group, 0, key0, key1);
        for (u32 j = 0; j < 4; j++) {
            const u32 i = 4 * group + j;
            const real from = (DE_BEST)[i], away = reach * (R(2.0) * philox_uniform(b.word[j]) - R(1.0));
            const real x = de_within(flush(FMA(away, (DE_UNIT)[i], from)), (FIT_LOWER)[i], (FIT_UPPER)[i]);
            (MODEL_X)[i] = SELECT((FIT_FREE)[i] > R(0.0), x, from);
        }
    }
}

/* MODEL_X := the trial against `member`. */
FN void de_trial(MODEL_PARAMETERS, u32 generation, u32 member, u32 members, u32 key0, u32 key1)
{
    const philox_block choice = philox(generation, member, 0xffffffff, 0, key0, key1);
    /* three others, all different: numbers among those that are left, ascending past the ones taken */
    u32 one = choice.word[0] % (members - 1), other = choice.word[1] % (members - 2),
        base = choice.word[3] % (members - 3);
    one += one >= member;
    u32 first = one < member ? one : member, second = one < member ? member : one;
    other += other >= first;
    other += other >= second;
    const u32 third = other > second ? other : second;
    second = other > second ? second : other < first ? first : other;
    first = other < first ? other : first;
    base += base >= first;
    base += base >= second;
    base += base >= third;
    const real factor = FMA(R(0.5), philox_uniform(choice.word[2]), R(0.5));
    const u32 forced = (choice.word[3] >> 16) % MODEL_SLOTS;
    TEAM_FOR(group, MODEL_SLOTS / 4) {
        const philox_block b = philox(generation, member, group, 0, key0, key1);
        for (u32 j = 0; j < 4; j++) {
            const u32 i = 4 * group + j;
            real x = DE_MEMBER(member)[i];
            if (b.word[j] < DE_CROSSED || i == forced) {
                const real mutant =
                    flush(FMA(factor, DE_MEMBER(one)[i] - DE_MEMBER(other)[i], DE_MEMBER(base)[i]));
                x = SELECT((FIT_FREE)[i] > R(0.0), de_within(mutant, (FIT_LOWER)[i], (FIT_UPPER)[i]), x);
            }
            (MODEL_X)[i] = x;
        }
    }
}

/* Fits from MODEL_X, which lies where the bounds allow, with `members` (at least 4) points that start within
 * `reach` units of it. On return MODEL_X is the answer and MODEL_GRADIENT its gradient, FIT_STATUS(0..4) its
 * status, value, the square of its projected gradient in units of the errors twice over, as the EDM that is
 * known without a Hessian, and as such; in between the generations. `tolerance` is one of values. */
FN void de_minimise(MODEL_PARAMETERS, real tolerance, u32 max_generations, u32 members, real reach, u32 key0,
                    u32 key1)
{
    const real zero = R(0.0), one = R(1.0);
    real best = model_value(MODEL, 1);
    real status = SELECT(best < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE), generations = zero;
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        STOREP(DE_BEST, i, LOADP(MODEL_X, i));
        STOREP(DE_MEMBER(0), i, LOADP(MODEL_X, i));
    }
    ONE_WORKER
    {
        DE_VALUE(0) = best;
    }
    TEAM_BARRIER();
    for (u32 k = 1; k < members; k++) {
        de_scatter(MODEL, k, reach, key0, key1);
        TEAM_BARRIER();
        const real found = model_value(MODEL, 0);
        TEAM_BARRIER();
        TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(DE_MEMBER(k), i, LOADP(MODEL_X, i));
        ONE_WORKER
        {
            DE_VALUE(k) = SELECT(found < MODEL_HUGE, found, MODEL_HUGE);
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        real least = DE_VALUE(0), which = zero;
        for (u32 k = 1; k < members; k++) {
            const mask less = DE_VALUE(k) < least;
            least = SELECT(less, DE_VALUE(k), least);
            which = SELECT(less, REAL_OF(k), which);
        }
        FIT_STATUS(8) = least;
        FIT_STATUS(9) = which;
    }
    TEAM_BARRIER();
    best = FIT_STATUS(8);
    const real which = FIT_STATUS(9);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack x = LOADP(DE_MEMBER(0), i);
        for (u32 k = 1; k < members; k++)
            x = PSELECT(PACK_OF(which) == PACK_OF_ELEM(k), LOADP(DE_MEMBER(k), i), x);
        STOREP(DE_BEST, i, x);
    }
    TEAM_BARRIER();
    for (u32 generation = 1; generation <= max_generations && ANY(status == FIT_RUNNING); generation++) {
        const mask running = status == FIT_RUNNING;
        generations = SELECT(running, generations + one, generations);
        for (u32 k = 0; k < members; k++) {
            de_trial(MODEL, generation, k, members, key0, key1);
            TEAM_BARRIER();
            const real found = model_value(MODEL, 0);
            const real before = DE_VALUE(k);
            TEAM_BARRIER();
            const mask kept = AND(running, AND(found < MODEL_HUGE, found <= before)),
                       better = AND(kept, found < best);
            const real keep = SELECT(kept, one, zero), lead = SELECT(better, one, zero);
            best = SELECT(better, found, best);
            TEAM_FOR_PACK(i, MODEL_SLOTS) {
                const pack x = LOADP(MODEL_X, i);
                STOREP(DE_MEMBER(k), i, PSELECT(PACK_OF(keep) > PK(0.0), x, LOADP(DE_MEMBER(k), i)));
                STOREP(DE_BEST, i, PSELECT(PACK_OF(lead) > PK(0.0), x, LOADP(DE_BEST, i)));
            }
            ONE_WORKER
            {
                DE_VALUE(k) = SELECT(kept, found, before);
            }
            TEAM_BARRIER();
        }
        /* how far the members are apart */
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            pack low = LOADP(DE_MEMBER(0), i), high = low;
            for (u32 k = 1; k < members; k++) {
                const pack x = LOADP(DE_MEMBER(k), i);
                low = PSELECT(x < low, x, low);
                high = PSELECT(x > high, x, high);
            }
            STOREP(DE_RANGE, i,
                   PSELECT(LOADP(FIT_FREE, i) > PK(0.0), pflush(PDIVIDE(high - low, LOADP(DE_UNIT, i))),
                           PK(0.0)));
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            real highest = best;
            for (u32 k = 0; k < members; k++) highest = SELECT(DE_VALUE(k) > highest, DE_VALUE(k), highest);
            FIT_STATUS(8) = highest - best;
            FIT_STATUS(9) = dot8(DE_RANGE, DE_RANGE, MODEL_SLOTS);
        }
        TEAM_BARRIER();
        const real size = SELECT(best < zero, -best, best), noise = FIT_NOISE * (one + size),
                   spread = FIT_STATUS(8);
        const mask close =
            AND(spread <= SELECT(tolerance > noise, tolerance, noise), FIT_STATUS(9) <= DE_CLOSE * DE_CLOSE);
        status = SELECT(AND(running, close), FIT_CONVERGED, status);
        TEAM_BARRIER();
    }
    status = SELECT(status == FIT_RUNNING, FIT_AT_LIMIT, status);
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(MODEL_X, i, LOADP(DE_BEST, i));
    TEAM_BARRIER();
    const real value = model_value(MODEL, 1);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack unit = LOADP(DE_UNIT, i), x = LOADP(MODEL_X, i),
                   d = pflush(-LOADP(MODEL_GRADIENT, i) * unit);
        const pack down = pflush(PDIVIDE(LOADP(FIT_LOWER, i) - x, unit)),
                   up = pflush(PDIVIDE(LOADP(FIT_UPPER, i) - x, unit));
        STOREP(
            DE_RANGE, i,
            PSELECT(LOADP(FIT_FREE, i) > PK(0.0), PSELECT(d < down, down, PSELECT(d > up, up, d)), PK(0.0)));
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(8) = dot8(DE_RANGE, DE_RANGE, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    const real pull = FIT_STATUS(8);
    fit_end(MODEL, status, value, pull, generations, pull);
}

#endif
