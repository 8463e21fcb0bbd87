/* differential_evolution.h: a population search without derivatives, for rough objectives.
 *
 * R. Storn, K. Price, J. Global Optimization 11 (1997) 341: rand/1/bin with a new factor each trial
 * ("dither"). best/1 is four times faster on smooth functions but finds wrong minima on rough ones. Needs
 * newton.h's words as in lbfgsb.h, and
 *   MODEL_MEMORY    DE_MEMORY(MODEL_SLOTS, members) scalars of slab, not initialised
 *   DE_UNIT         from the entry: about one error of each slot, > 0
 *
 *   start and points around it ─► for each member in turn: one + F (another - a third),
 *       crossed with the member; kept where not worse
 *
 * Kept members serve at once: one population, half the memory. Trials move onto violated bounds; reflection
 * would miss minima there. Philox words of (seed; generation, member, slots) are the same for all fits:
 * answers do not depend on a job's place, lanes share partners. Converged: values agree within the tolerance,
 * members within DE_CLOSE errors. */
#pragma once

#include "minimise/fit_outcome.h"
#include "numeric/philox.h"

#define DE_CROSSED 0xc0000000u /* 3/4 of 2^32: share of slots from the mutant */
#define DE_CLOSE R(1e-2)

#define DE_UNIT (MODEL_WORK + 3 * MODEL_SLOTS)
#define DE_BEST (MODEL_WORK + 4 * MODEL_SLOTS)
#define DE_RANGE (MODEL_WORK + 5 * MODEL_SLOTS)
#define DE_MEMBER(k) (MODEL_MEMORY + (size_t)(k) * MODEL_SLOTS)
#define DE_VALUE(k) (MODEL_MEMORY + (size_t)members * MODEL_SLOTS)[k]
enum de_scalar {
    DE_FOUND = FIT_SCRATCH,
    DE_WHICH,
    DE_APART, /* squared distance */
    DE_LEAST  /* the best value, for a launch that goes on */
};

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

FN void de_trial(MODEL_PARAMETERS, u32 generation, u32 member, u32 members, u32 key0, u32 key1)
{
    const philox_block choice = philox(generation, member, 0xffffffff, 0, key0, key1);
    /* random ranks among those left, moved past the ones taken */
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

FN void de_put_member(MODEL_PARAMETERS, u32 k, u32 members, real value)
{
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(DE_MEMBER(k), i, LOADP(MODEL_X, i));
    ONE_WORKER
    {
        DE_VALUE(k) = SELECT(value < MODEL_HUGE, value, MODEL_HUGE);
    }
    TEAM_BARRIER();
}

/* First members: MODEL_X (value `start`) and points around it. */
FN void de_populate(MODEL_PARAMETERS, u32 members, real start, real reach, u32 key0, u32 key1)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(DE_BEST, i, LOADP(MODEL_X, i));
    de_put_member(MODEL, 0, members, start);
    for (u32 k = 1; k < members; k++) {
        de_scatter(MODEL, k, reach, key0, key1);
        TEAM_BARRIER();
        de_put_member(MODEL, k, members, model_value(MODEL, 0));
    }
}

/* BEST := the member with the least value, which is returned. */
FN real de_find_best(MODEL_PARAMETERS, u32 members)
{
    ONE_WORKER
    {
        real least = DE_VALUE(0), which = R(0.0);
        for (u32 k = 1; k < members; k++) {
            const mask less = DE_VALUE(k) < least;
            least = SELECT(less, DE_VALUE(k), least);
            which = SELECT(less, REAL_OF(k), which);
        }
        FIT_SCALAR(DE_FOUND) = least;
        FIT_SCALAR(DE_WHICH) = which;
    }
    TEAM_BARRIER();
    const real best = FIT_SCALAR(DE_FOUND), which = FIT_SCALAR(DE_WHICH);
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack x = LOADP(DE_MEMBER(0), i);
        for (u32 k = 1; k < members; k++)
            x = PSELECT(PACK_OF(which) == PACK_OF_ELEM(k), LOADP(DE_MEMBER(k), i), x);
        STOREP(DE_BEST, i, x);
    }
    TEAM_BARRIER();
    return best;
}

/* Returns the best value. */
FN real de_generation(MODEL_PARAMETERS, u32 generation, u32 members, mask running, real best, u32 key0,
                      u32 key1)
{
    for (u32 k = 0; k < members; k++) {
        de_trial(MODEL, generation, k, members, key0, key1);
        TEAM_BARRIER();
        const real found = model_value(MODEL, 0), before = DE_VALUE(k);
        TEAM_BARRIER();
        const mask kept = AND(running, AND(found < MODEL_HUGE, found <= before)),
                   better = AND(kept, found < best);
        const pmask keep = fit_packs(kept), lead = fit_packs(better);
        best = SELECT(better, found, best);
        TEAM_FOR_PACK(i, MODEL_SLOTS) {
            const pack x = LOADP(MODEL_X, i);
            STOREP(DE_MEMBER(k), i, PSELECT(keep, x, LOADP(DE_MEMBER(k), i)));
            STOREP(DE_BEST, i, PSELECT(lead, x, LOADP(DE_BEST, i)));
        }
        ONE_WORKER
        {
            DE_VALUE(k) = SELECT(kept, found, before);
        }
        TEAM_BARRIER();
    }
    return best;
}

FN mask de_is_close(MODEL_PARAMETERS, u32 members, real best, real tolerance)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        pack low = LOADP(DE_MEMBER(0), i), high = low;
        for (u32 k = 1; k < members; k++) {
            const pack x = LOADP(DE_MEMBER(k), i);
            low = PSELECT(x < low, x, low);
            high = PSELECT(x > high, x, high);
        }
        STOREP(
            DE_RANGE, i,
            PSELECT(LOADP(FIT_FREE, i) > PK(0.0), pflush(PDIVIDE(high - low, LOADP(DE_UNIT, i))), PK(0.0)));
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real highest = best;
        for (u32 k = 0; k < members; k++) highest = SELECT(DE_VALUE(k) > highest, DE_VALUE(k), highest);
        FIT_SCALAR(DE_FOUND) = highest - best;
        FIT_SCALAR(DE_APART) = dot8(DE_RANGE, DE_RANGE, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    const real noise = fit_noise(best), spread = FIT_SCALAR(DE_FOUND), apart = FIT_SCALAR(DE_APART);
    TEAM_BARRIER();
    return AND(spread <= SELECT(tolerance > noise, tolerance, noise), apart <= DE_CLOSE * DE_CLOSE);
}

/* Squared projected gradient, in errors. */
FN real de_pull(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, MODEL_SLOTS) {
        const pack unit = LOADP(DE_UNIT, i), x = LOADP(MODEL_X, i),
                   d = pflush(-LOADP(MODEL_GRADIENT, i) * unit);
        const pack down = pflush(PDIVIDE(LOADP(FIT_LOWER, i) - x, unit)),
                   up = pflush(PDIVIDE(LOADP(FIT_UPPER, i) - x, unit));
        STOREP(DE_RANGE, i, PSELECT(LOADP(FIT_FREE, i) > PK(0.0), fit_within(d, down, up), PK(0.0)));
    }
    return fit_dot(MODEL, DE_RANGE, DE_RANGE);
}

/* Fits from MODEL_X (within bounds); `members` >= 4 start within `reach` units. `tolerance`: of values.
 * Leaves the answer in MODEL_X, MODEL_GRADIENT and fit_answer.h's scalars: EDM is the squared projected
 * gradient, iterations are generations. A host that lowers max_generations ends the fit. With `before` above
 * 0 a fit that ended after so many generations goes on in the same slab, as if it had not ended. */
FN void de_minimise(MODEL_PARAMETERS, real tolerance, CONSTANT u32 *max_generations, u32 before, u32 members,
                    real reach, u32 key0, u32 key1)
{
    real best = FIT_SCALAR(DE_LEAST), generations = FIT_SCALAR(FIT_ITERATIONS),
         status = FIT_SCALAR(FIT_STATUS);
    status = SELECT(status == FIT_AT_LIMIT, FIT_RUNNING, status);
    if (before == 0) {
        best = model_value(MODEL, 1);
        generations = R(0.0);
        status = SELECT(best < MODEL_HUGE, FIT_RUNNING, FIT_NON_FINITE);
        de_populate(MODEL, members, best, reach, key0, key1);
        best = de_find_best(MODEL, members);
    }
    for (u32 generation = before + 1; generation <= NOW(max_generations) && ANY(status == FIT_RUNNING);
         generation++) {
        const mask running = status == FIT_RUNNING;
        generations = SELECT(running, generations + R(1.0), generations);
        best = de_generation(MODEL, generation, members, running, best, key0, key1);
        status = SELECT(AND(running, de_is_close(MODEL, members, best, tolerance)), FIT_CONVERGED, status);
    }
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(MODEL_X, i, LOADP(DE_BEST, i));
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(DE_LEAST) = best;
    }
    const real value = model_value(MODEL, 1), pull = de_pull(MODEL);
    fit_end(MODEL, status, value, pull, generations, R(2.0) * SQRT(pull));
}
