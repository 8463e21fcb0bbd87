/* losscone_profile.h: the entries that say what the data allow of the potential: its profile, confidence sets, the bootstrap of their thresholds. */
#ifndef PARITAS_ENTRY_LOSSCONE_PROFILE_H
#define PARITAS_ENTRY_LOSSCONE_PROFILE_H

#include "losscone/direct.h"
#include "losscone/profile.h"

/* args: sweeps, -, -, potentials. in: the sweeps' rows, then the potentials. out, a sweep: PROFILE_OUT numbers of each potential, then the number of cells. Slab: PROFILE_AT +
 * PROFILE_SIZE. */
KERNEL(losscone_profile)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    const u32 potentials = args[3];
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *potential = in + (size_t)args[0] * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * (PROFILE_OUT * (size_t)potentials + 1);
    cells_prepare(mi, mr, sweep, s);
    profile_begin(s);
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
    ONE_WORKER { answer[PROFILE_OUT * (size_t)potentials] = CELLS_NUMBER; }
}

#endif
