/* losscone_quality.h: what tells a loss cone from none, at a point of a prepared sweep.
 *
 * Two levels a row, one for each hemisphere, are the best model without an edge. Neighbours in one level of
 * the model differ by noise. */
#pragma once

#include "losscone/losscone_cells.h"
#include "losscone/losscone_direct.h"

#define QUALITY_OF_ROW(number) (s + CELLS_QUALITY + (number) * SWEEP_SLOTS)
#define QUALITY_AT_BOUND R(0.999999) /* of the largest amplitude */

/* A row's hemisphere: data less the level 1, then QUALITY_END to a multiple of 8 and one more pack. In the
 * place of step tables, which no search needs any longer. */
#define QUALITY_ROOM (SWEEP_CELLS + 8)
#define QUALITY_END R(1e30)
#define QUALITY_DATA(row) (CELLS_STEP(0) + (row) * QUALITY_ROOM)

typedef struct {
    real spread, steps, pairs; /* squares about the mean; squared differences of neighbours, and how many */
} quality_sums;

FN quality_sums quality_of(GLOBAL const real *data, u32 cells_most)
{
    acc8 count = acc8_zero(), sum = acc8_zero(), square = acc8_zero(), steps = acc8_zero(),
         pairs = acc8_zero();
    for (u32 j = 0; j < cells_most; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const u32 part = l / PACK;
            const pack here = LOADP(data, j + l), next = LOADP(data, j + l + 1), none = PK(0.0);
            const pmask there = here < PACK_OF(QUALITY_END), both = AND(there, next < PACK_OF(QUALITY_END));
            const pack datum = PSELECT(there, here, none), step = PSELECT(both, pflush(next - here), none);
            count.part[part] = count.part[part] + PSELECT(there, PK(1.0), none);
            pairs.part[part] = pairs.part[part] + PSELECT(both, PK(1.0), none);
            sum.part[part] = sum.part[part] + datum;
            square.part[part] = PFMA(datum, datum, square.part[part]);
            steps.part[part] = PFMA(step, step, steps.part[part]);
        }
    const real cells = acc8_total(count), total = flush(acc8_total(sum));
    const real left = cells > R(0.0) ? FMA(-flush(DIVIDE(total, cells)), total, acc8_total(square)) : R(0.0);
    quality_sums sums;
    sums.spread = left > R(0.0) ? left : R(0.0);
    sums.steps = acc8_total(steps);
    sums.pairs = acc8_total(pairs);
    return sums;
}

/* Incident cells in the sweep's order; gaps part neighbours. */
FN void quality_incident(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, u32 row)
{
    GLOBAL real *data = QUALITY_DATA(row);
    const u32 at = row * SWEEP_CELLS;
    for (u32 j = 0; j < run.cells; j += PACK) {
        const pmask there = AND(LOADP(sweep + SWEEP_FLUX, at + j) > PK(0.0),
                                PNOT(cone_may_hold(LOADP(sweep + SWEEP_COSINE, at + j))));
        STOREP(data, j,
               PSELECT(there, pflush(LOADP(s + CELLS_ALL, at + j) - PACK_OF(run.datum[0])),
                       PACK_OF(QUALITY_END)));
    }
    for (u32 j = run.cells; j < run.cells + 8; j++) data[j] = QUALITY_END;
}

/* Reflected cells by pitch angle, from along the field. */
FN void quality_reflected(losscone_run run, GLOBAL real *s, u32 row)
{
    GLOBAL real *data = QUALITY_DATA(row);
    const u32 reflected = U32_OF((s + CELLS_COUNT)[row]);
    for (u32 j = 0; j < run.cells + 8; j++)
        data[j] = j < reflected ? flush(CELLS_DATA_OF(row)[j] - run.datum[0]) : QUALITY_END;
}

FN void quality_row(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, GLOBAL const real *point,
                    u32 row)
{
    const u32 reflected = U32_OF((s + CELLS_COUNT)[row]);
    const losscone_row edges =
        losscone_row_of(run, sweep, row, point[LOSSCONE_U], point[LOSSCONE_R], point[LOSSCONE_A]);
    GLOBAL const real *data = QUALITY_DATA(row);
    quality_incident(run, sweep, s, row);
    const quality_sums incident = quality_of(data, run.cells);
    quality_reflected(run, s, row);
    const quality_sums up = quality_of(data, run.cells);
    real steps = incident.steps + up.steps, pairs = incident.pairs + up.pairs, sum = R(0.0);
    u32 least = reflected, before[LOSSCONE_ENERGIES];
    for (u32 k = 0; k < run.energies; k++) {
        const u32 inside = cone_sines_below(s + CELLS_SINE + row * SWEEP_CELLS, reflected, edges.edge[k]);
        u32 again = inside == 0 || inside == reflected; /* nothing lies across this edge, or is taken out */
        for (u32 l = 0; l < k; l++) again |= before[l] == inside;
        before[k] = inside;
        least = inside < least ? inside : least;
        if (again) continue;
        const real step = flush(data[inside] - data[inside - 1]);
        steps = FMA(-step, step, steps);
        pairs = pairs - R(1.0);
    }
    if (edges.beam > run.background) least = 0;
    for (u32 j = 0; j < least; j++) sum = sum + CELLS_DATA_OF(row)[j];
    QUALITY_OF_ROW(QUALITY_LEVELS)[row] = incident.spread + up.spread;
    QUALITY_OF_ROW(QUALITY_STEPS)[row] = steps > R(0.0) ? steps : R(0.0);
    QUALITY_OF_ROW(QUALITY_PAIRS)[row] = pairs;
    QUALITY_OF_ROW(QUALITY_INSIDE)[row] = sum;
    QUALITY_OF_ROW(QUALITY_COUNT)[row] = REAL_OF(least);
}

/* All but QUALITY_HALF, which becomes 0. By the whole team, up to a barrier. */
FN void quality_find(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, GLOBAL const real *point,
                     GLOBAL real *to)
{
    TEAM_FOR(row, run.rows) quality_row(run, sweep, s, point, row);
    TEAM_BARRIER();
    ONE_WORKER
    {
        for (u32 number = 0; number < QUALITY_HALF; number++) {
            real sum = R(0.0);
            for (u32 row = 0; row < run.rows; row++) sum = sum + QUALITY_OF_ROW(number)[row];
            to[number] = sum;
        }
        to[QUALITY_HALF] = R(0.0);
    }
    TEAM_BARRIER();
}

/* Is half the amplitude to be tried? */
FN u32 quality_at_bound(CONSTANT elem *mr, GLOBAL const real *point)
{
    const real most = LOADM1(mr, LOSSCONE_A_UPPER);
    return most > LOADM1(mr, LOSSCONE_A_LOWER) && point[LOSSCONE_A] >= QUALITY_AT_BOUND * most;
}
