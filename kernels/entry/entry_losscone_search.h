/* entry_losscone_search.h: global minimum of a sweep's misfit. */
#pragma once

#include "losscone/losscone_outcome.h"
#include "losscone/losscone_quality.h"

/* in: sweeps' rows. out: search_answer. Slab: SEARCH_SLAB. */
LOSSCONE_KERNEL(search)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + (size_t)LINT_OF_ROWS(rows) * SWEEP_SIZE;
    GLOBAL real *outcome = s + SEARCH_OUTCOME;
    cells_prepare(LOSSCONE);
    beam_forget(s);
    search_run(LOSSCONE, UNBOUNDED);
    ONE_WORKER
    {
        search_answer(LOSSCONE, outcome);
    }
    TEAM_BARRIER();
    search_misfit(LOSSCONE, outcome + OUTCOME_POINT, outcome + OUTCOME_MISFIT);
    quality_find(losscone_run_of(mi, mr), sweep, s, outcome + OUTCOME_POINT, outcome + OUTCOME_QUALITY);
    TEAM_IF(quality_at_bound(mr, outcome + OUTCOME_POINT)) {
        ONE_WORKER
        {
            for (u32 c = 0; c < LOSSCONE_POINT; c++)
                (s + SEARCH_HALVED)[c] = outcome[OUTCOME_POINT + c] * (c == LOSSCONE_A ? R(0.5) : R(1.0));
        }
        TEAM_BARRIER();
        search_misfit(LOSSCONE, s + SEARCH_HALVED, outcome + OUTCOME_QUALITY + QUALITY_HALF);
    }
    TEAM_BARRIER();
    TEAM_FOR(i, OUTCOME_SIZE) STORE_ROWS(out, rows, OUTCOME_SIZE, i, outcome[i]);
    TEAM_BARRIER();
}
