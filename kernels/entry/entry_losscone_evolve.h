/* entry_losscone_evolve.h: the entry that fits a sweep by differential evolution. */
#ifndef PARITAS_ENTRY_LOSSCONE_EVOLVE_H
#define PARITAS_ENTRY_LOSSCONE_EVOLVE_H

#include "losscone/losscone_evolve.h"

/* args: sweeps, number of the first (low, high word). in: the sweeps' rows; behind them bounds of U for the
 * Latin hypercube, its EVOLVE_STARTS points and the population's Sobol points, in the unit cube. out, a
 * sweep: EVOLVE_OUT numbers. Slab: EVOLVE_SIZE. */
KERNEL(losscone_evolve)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *shared = in + (size_t)args[0] * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * EVOLVE_OUT;
    const u32 population = mi[LOSSCONE_POPULATION], members = (population + 7) & ~7u,
              low = args[1] + (u32)job;
    cells_prepare(mi, mr, sweep, s);
    point_prepare(run, sweep, s, LOADM1(mr, LOSSCONE_A_UPPER));
    evolve_box box;
    for (u32 c = 0; c < 3; c++) {
        box.lower[c] = LOADM1(mr, LOSSCONE_U_LOWER + 2 * c);
        box.upper[c] = LOADM1(mr, LOSSCONE_U_LOWER + 2 * c + 1);
    }
    u32 where, generations;
    int stopped;
    const real value = evolve(run, s, box, shared + 2, shared[0], shared[1], population,
                              mi[LOSSCONE_GENERATIONS], low, args[2] + (low < args[1] ? 1u : 0u),
                              mi[LOSSCONE_SEED], mi[LOSSCONE_SEED + 1], &where, &generations, &stopped);
    ONE_WORKER
    {
        const real cells = CELLS_NUMBER;
        answer[0] = flush(DIVIDE(value, losscone_divisor(run, cells)));
        for (u32 c = 0; c < 3; c++) answer[1 + c] = s[where + c * members];
        answer[4] = cells;
        answer[5] = REAL_OF(generations);
        answer[6] = stopped ? R(1.0) : R(0.0);
    }
}

#endif
