/* entry_losscone_search.h: the entry that finds the global minimum of a sweep's misfit. */
#ifndef PARITAS_ENTRY_LOSSCONE_SEARCH_H
#define PARITAS_ENTRY_LOSSCONE_SEARCH_H

#include "losscone/losscone_outcome.h"

/* args: sweeps. in: their rows. out: OUTCOME_SIZE numbers each (losscone/losscone_outcome.h). Slab:
 * SEARCH_SLAB_SIZE. */
KERNEL(losscone_search)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + (size_t)LINT_OF_ROWS(rows) * SWEEP_SIZE;
    cells_prepare(mi, mr, sweep, s);
    beam_forget(s);
    search_run(mi, mr, sweep, s, UNBOUNDED);
    GLOBAL real *outcome = SEARCH_OUTCOME;
    ONE_WORKER
    {
        search_answer(mi, mr, sweep, s, outcome);
    }
    TEAM_BARRIER();
    misfit_of_rows(mi, mr, sweep, s, outcome[OUTCOME_POINT], outcome[OUTCOME_POINT + 1],
                   outcome[OUTCOME_POINT + 2], SEARCH_VALUES);
    TEAM_BARRIER();
    ONE_WORKER
    {
        real sum = R(0.0);
        for (u32 i = 0; i < SWEEP_ROWS; i++) sum = sum + SEARCH_VALUES[i];
        outcome[OUTCOME_MISFIT] = sum;
    }
    TEAM_BARRIER();
    TEAM_FOR(i, OUTCOME_SIZE) STORE_ROWS(out, rows, OUTCOME_SIZE, i, outcome[i]);
    TEAM_BARRIER();
}

#endif
