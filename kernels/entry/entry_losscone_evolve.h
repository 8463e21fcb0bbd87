/* entry_losscone_evolve.h: fits sweeps by differential evolution. */
#pragma once

#include "losscone/losscone_evolve.h"
#include "losscone/losscone_quality.h"

/* in: sweeps' rows, then evolve_shared: bounds of U for the Latin hypercube, its EVOLVE_STARTS points, Sobol
 * points of the population (unit cube). out: evolve_answer. Slab: EVOLVE_SLAB. */
LOSSCONE_KERNEL(evolve)
{
    const u32 sweeps = args[LOSSCONE_ARG_SWEEPS];
    const size_t job = losscone_job(TEAM_INDEX, sweeps);
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *shared = in + (size_t)sweeps * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * EVOLVE_OUT;
    evolve_fit fit;
    fit.run = losscone_run_of(mi, mr);
    for (u32 c = 0; c < LOSSCONE_POINT; c++) {
        fit.lower[c] = LOADM1(mr, LOSSCONE_U_LOWER + 2 * c);
        fit.upper[c] = LOADM1(mr, LOSSCONE_U_LOWER + 2 * c + 1);
    }
    fit.first_lower = shared[EVOLVE_FIRST_LOWER];
    fit.first_upper = shared[EVOLVE_FIRST_UPPER];
    fit.population = mi[LOSSCONE_POPULATION];
    fit.members = (fit.population + 7) & ~7u;
    fit.sweep_low = args[LOSSCONE_ARG_FIRST_LOW] + (u32)job;
    fit.sweep_high = args[LOSSCONE_ARG_FIRST_HIGH] + (fit.sweep_low < args[LOSSCONE_ARG_FIRST_LOW] ? 1u : 0u);
    fit.key0 = mi[LOSSCONE_SEED_LOW];
    fit.key1 = mi[LOSSCONE_SEED_HIGH];
    cells_prepare(LOSSCONE);
    point_prepare(fit.run, sweep, s, LOADM1(mr, LOSSCONE_A_UPPER));
    const evolve_end end = evolve(fit, s, shared + EVOLVE_UNITS, mi[LOSSCONE_GENERATIONS]);
    ONE_WORKER
    {
        GLOBAL const real *best = EVOLVE_TURN_OF(end.generations) + end.best;
        const real cells = s[CELLS_NUMBER];
        answer[EVOLVE_MISFIT] =
            flush(DIVIDE(best[LOSSCONE_POINT * fit.members], losscone_divisor(fit.run, cells)));
        for (u32 c = 0; c < LOSSCONE_POINT; c++) answer[EVOLVE_POINT + c] = best[c * fit.members];
        answer[EVOLVE_CELLS] = cells;
        answer[EVOLVE_GENERATIONS] = REAL_OF(end.generations);
        answer[EVOLVE_SETTLED] = end.settled ? R(1.0) : R(0.0);
        for (u32 c = 0; c < LOSSCONE_POINT; c++) (s + EVOLVE_OUTCOME)[c] = best[c * fit.members];
    }
    TEAM_BARRIER();
    quality_find(fit.run, sweep, s, s + EVOLVE_OUTCOME, s + EVOLVE_QUALITIES);
    ONE_WORKER
    {
        GLOBAL const real *point = s + EVOLVE_OUTCOME;
        GLOBAL real *quality = s + EVOLVE_QUALITIES;
        if (quality_at_bound(mr, point))
            quality[QUALITY_HALF] =
                point_misfit(fit.run, s, point[LOSSCONE_U], point[LOSSCONE_R], R(0.5) * point[LOSSCONE_A]);
        for (u32 i = 0; i < QUALITY_SIZE; i++) answer[EVOLVE_QUALITY + i] = quality[i];
    }
    TEAM_BARRIER();
}
