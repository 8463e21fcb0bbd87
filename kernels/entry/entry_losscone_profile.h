/* entry_losscone_profile.h: the entries that say what the data allow of the potential: its profile,
 * confidence sets, the bootstrap of their thresholds. */
#ifndef PARITAS_ENTRY_LOSSCONE_PROFILE_H
#define PARITAS_ENTRY_LOSSCONE_PROFILE_H

#include "losscone/losscone_bootstrap.h"
#include "losscone/losscone_confidence.h"

/* args: sweeps, -, -, potentials. in: the sweeps' rows, then the potentials. out, a sweep: PROFILE_OUT
 * numbers of each potential, then the number of cells. Slab: PROFILE_AT + PROFILE_SIZE. */
KERNEL(losscone_profile)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    const u32 potentials = args[3];
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *potential = in + (size_t)args[0] * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * (PROFILE_OUT * (size_t)potentials + 1);
    cells_prepare(mi, mr, sweep, s);
    beam_forget(s);
    for (u32 i = 0; i < potentials; i++) {
        profile_run(mi, mr, sweep, s, potential[i], UNBOUNDED, -UNBOUNDED);
        ONE_WORKER
        {
            answer[PROFILE_OUT * i] = flush(DIVIDE(PROFILE_BEST, losscone_divisor(run, CELLS_NUMBER)));
            answer[PROFILE_OUT * i + 1] = PROFILE_RATIO;
            answer[PROFILE_OUT * i + 2] = PROFILE_AMPLITUDE;
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        answer[PROFILE_OUT * (size_t)potentials] = CELLS_NUMBER;
    }
}

/* args: sweeps, -, -, potentials of the grid. in: CONFIDENCE_IN numbers a sweep, then the grid's step. out:
 * CONFIDENCE_OUT numbers a sweep. Slab: CONFIDENCE_SLAB. */
KERNEL(losscone_confidence)
{
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + job * CONFIDENCE_IN;
    GLOBAL elem *answer = out + job * CONFIDENCE_OUT;
    confidence_grid grid;
    grid.lower = LOADM1(mr, LOSSCONE_U_LOWER);
    grid.upper = LOADM1(mr, LOSSCONE_U_UPPER);
    grid.step = in[(size_t)args[0] * CONFIDENCE_IN];
    grid.count = args[3];
    cells_prepare(mi, mr, sweep, s);
    beam_forget(s);
    confidence_run(mi, mr, sweep, s, grid, sweep[CONFIDENCE_LIMIT], sweep[CONFIDENCE_PLATEAU],
                   sweep[CONFIDENCE_PLATEAU + 1]);
    ONE_WORKER
    {
        answer[0] = CONFIDENCE_FOUND;
        for (u32 i = 0; i < 2 * CONFIDENCE_SETS; i++)
            answer[1 + i] = REAL_OF(i) < R(2.0) * CONFIDENCE_FOUND ? CONFIDENCE_ENDS[i] : R(0.0);
    }
}

/* args: sweeps, number of the first (low, high word), draws. in: BOOTSTRAP_IN numbers a sweep. out, a sweep:
 * of each draw how far the misfit at the true potential is above its minimum. Slab: BOOTSTRAP_SLAB. */
KERNEL(losscone_bootstrap)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    const u32 draws = args[3], low = args[1] + (u32)job, high = args[2] + (low < args[1] ? 1u : 0u);
    GLOBAL const elem *sweep = in + job * BOOTSTRAP_IN, *truth = sweep + SWEEP_SIZE;
    GLOBAL elem *answer = out + job * draws;
    const real noise = truth[2];
    cells_prepare(mi, mr, sweep, s);
    beam_forget(s);
    ONE_WORKER
    {
        SOLVE_A = LOADM1(mr, LOSSCONE_A_LOWER);
        if (has_beam(mr) && noise >= R(0.0)) { /* the best amplitude there */
            search_locate(mi, s, truth[0], truth[1]);
            solve_cell(mi, mr, sweep, s, SEARCH_TRIED, truth[0], truth[0]);
        }
    }
    TEAM_BARRIER();
    bootstrap_begin(run, mr, sweep, s, truth[0], truth[1], SOLVE_A);
    for (u32 draw = 0; draw < (noise < R(0.0) ? 0u : draws); draw++) {
        bootstrap_draw(mi, mr, sweep, s, noise, draw, low, high);
        profile_run(mi, mr, sweep, s, truth[0], UNBOUNDED, -UNBOUNDED);
        search_run(mi, mr, sweep, s, PROFILE_BEST); /* it has only to look for less */
        ONE_WORKER
        {
            /* where the search was cut short: at most */
            const real above = PROFILE_BEST - (SEARCH_BEST - SEARCH_GAP);
            answer[draw] =
                flush(DIVIDE(above > R(0.0) ? above : R(0.0), losscone_divisor(run, CELLS_NUMBER)));
        }
        TEAM_BARRIER();
    }
}

#endif
