/* counted_steps.h: a fast lower bound of the deviance in large boxes.
 *
 * Five energies of a channel part its electrons. With n of them in the cone a cell's level lies in an
 * interval, and its deviance is at least the least there. These are the steps of losscone_cells.h, whose
 * bound (losscone_bound.h) holds with them. */
#pragma once

#include "losscone/counted_cells.h"

/* Places of the energies in widths, falling, and the channel's part above each. */
TABLE(elem, steps_places, LOSSCONE_ENERGIES) = {ELEM(2.7), ELEM(0.8), ELEM(0.0), ELEM(-0.8), ELEM(-2.7)};
TABLE(elem, steps_parts, LOSSCONE_ENERGIES + 2) = {ELEM(0.0),     ELEM(0.00346), ELEM(0.21185), ELEM(0.5),
                                                   ELEM(0.78815), ELEM(0.99654), ELEM(1.0)};
/* Parts are rounded: levels by this much. */
#define STEPS_ROUNDING R(1e-5)

/* Least deviances of a row's cells in each interval, n of five energies in the cone, as sums over the first k
 * cells of differences. */
FN real steps_of_row(LOSSCONE_PARAMETERS, u32 i)
{
    const counted_row row = counted_row_of(mr, sweep, i);
    const u32 n = U32_OF((s + COUNTED_CELLS)[i]), at = i * SWEEP_CELLS;
    const real depth = R(1.0) - row.inside, width = DIVIDE(R(1.0), row.narrow);
    GLOBAL real *before = COUNTED_SPARE(0) + at, *here = COUNTED_SPARE(1) + at;
    real base = R(0.0);
    for (u32 step = 0; step <= LOSSCONE_ENERGIES; step++) {
        const real high = FMA(-depth, REAL_OF(steps_parts[step]), R(1.0) + STEPS_ROUNDING),
                   low = FMA(-depth, REAL_OF(steps_parts[step + 1]), R(1.0) - STEPS_ROUNDING);
        for (u32 j = 0; j < n; j += PACK) {
            const counted_cells c = counted_cells_at(s, at + j);
            const pack most = counted_mean_of(c, PACK_OF(high)), least = counted_mean_of(c, PACK_OF(low)),
                       nearest = PSELECT(c.count < most, PSELECT(c.count > least, c.count, least), most);
            STOREP(here, j, counted_cost(row.k, c, nearest));
        }
        real sum = R(0.0);
        for (u32 k = 0; k < n; k++) {
            if (step == 0)
                base = base + here[k];
            else {
                CELLS_STEP(step - 1)[k * SWEEP_SLOTS + i] = sum;
                sum = sum + (here[k] - before[k]);
            }
            before[k] = here[k];
        }
        if (step > 0) {
            const real energy =
                FIRST(m_exp(PACK_OF(FMA(REAL_OF(steps_places[step - 1]), width, row.centre))));
            (s + CELLS_INVERSE)[(step - 1) * SWEEP_SLOTS + i] = cone_inverse(energy, row.spacecraft);
            for (u32 k = n; k <= SWEEP_CELLS; k++) CELLS_STEP(step - 1)[k * SWEEP_SLOTS + i] = sum;
        }
    }
    for (u32 k = 0; k < SWEEP_CELLS + 2; k++)
        (s + CELLS_THRESHOLD)[k * SWEEP_SLOTS + i] = k < n ? (s + COUNTED_SINE)[at + k] : NO_THRESHOLD;
    return base;
}

/* The whole team calls it, up to a barrier. */
FN void steps_prepare(LOSSCONE_PARAMETERS)
{
    const u32 rows = sweep_rows(mi);
    TEAM_FOR(i, SWEEP_SLOTS) {
        if (i < rows)
            (s + CELLS_PART)[i] = steps_of_row(LOSSCONE, i);
        else {
            (s + CELLS_PART)[i] = R(0.0);
            for (u32 n = 0; n < LOSSCONE_ENERGIES; n++) {
                (s + CELLS_INVERSE)[n * SWEEP_SLOTS + i] = R(1.0);
                for (u32 k = 0; k <= SWEEP_CELLS; k++) CELLS_STEP(n)[k * SWEEP_SLOTS + i] = R(0.0);
            }
            for (u32 k = 0; k < SWEEP_CELLS + 2; k++)
                (s + CELLS_THRESHOLD)[k * SWEEP_SLOTS + i] = NO_THRESHOLD;
        }
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real most = R(0.0);
        for (u32 i = 0; i < rows; i++) most = (s + COUNTED_CELLS)[i] > most ? (s + COUNTED_CELLS)[i] : most;
        s[CELLS_LEVELS] = most;
        s[CELLS_BASE] = sum8(s + CELLS_PART, SWEEP_SLOTS);
    }
    TEAM_BARRIER();
}

/* The whole team calls it, up to a barrier. */
FN real steps_bound(LOSSCONE_PARAMETERS, real u0, real u1, real r0, real r1)
{
    const search_box box = {u0, u1, r0, r1};
    bound_families(mi, mr, sweep, s, box, s + COUNTED_FAMILIES);
    TEAM_BARRIER();
    return s[CELLS_BASE] + sum8(s + COUNTED_FAMILIES + BOUND_LEAST, losscone_families(mi));
}
