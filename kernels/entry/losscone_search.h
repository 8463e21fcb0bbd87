/* losscone_search.h: the entry that finds the global minimum of a sweep's misfit. */
#ifndef PARITAS_ENTRY_LOSSCONE_SEARCH_H
#define PARITAS_ENTRY_LOSSCONE_SEARCH_H

#include "losscone/cells.h"

/* args: sweeps. in: their rows. out: misfit where no cell is in the cone, cells. */
KERNEL(losscone_search)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    cells_prepare(mi, mr, in + (size_t)LINT_OF_ROWS(rows) * SWEEP_SIZE, s);
    ONE_WORKER { STORE_ROWS(out, rows, 1, 0, CELLS_BASE); }
}

#endif
