/* entry_losscone_evaluate.h: the loss-cone model at given points, and its geometry. */
#pragma once

#include "losscone/losscone_direct.h"

/* in: sweeps' rows, then shared points. out: MISFITS_OUT each; none without cells, or for Lillis with fewer
 * than 5. Slab: MISFIT_SLAB. */
LOSSCONE_KERNEL(misfit)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const u32 points = args[LOSSCONE_ARG_COUNT], sweeps = args[LOSSCONE_ARG_SWEEPS];
    const size_t job = losscone_job(TEAM_INDEX, sweeps);
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *point = in + (size_t)sweeps * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * MISFITS_OUT(points);
    GLOBAL real *sums = s + MISFIT_SUMS;
    direct_prepare(run, sweep, s);
    ONE_WORKER
    {
        s[MISFIT_CELLS] = direct_count(run, s);
    }
    TEAM_BARRIER();
    const real cells = s[MISFIT_CELLS];
    for (u32 first = 0; first < points; first += MISFIT_POINTS) {
        const u32 count = points - first < MISFIT_POINTS ? points - first : MISFIT_POINTS;
        TEAM_FOR(item, count * run.rows) {
            const u32 i = item % run.rows, k = item / run.rows;
            GLOBAL const elem *at = point + LOSSCONE_POINT * (first + k);
            const losscone_row row =
                losscone_row_of(run, sweep, i, at[LOSSCONE_U], at[LOSSCONE_R], at[LOSSCONE_A]);
            sums[k * SWEEP_ROWS + i] = direct_row(run, s, i, row);
        }
        TEAM_BARRIER();
        TEAM_FOR(k, count) {
            real sum = R(0.0);
            for (u32 i = 0; i < run.rows; i++) sum = sum + sums[k * SWEEP_ROWS + i];
            answer[first + k] = flush(DIVIDE(sum, losscone_divisor(run, cells)));
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        answer[points] = cells;
    }
}

/* in: model_row each. out: model_answer: each cell's model, each row's cone angle (degrees) at its energy. */
LOSSCONE_KERNEL(model)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + job * MODEL_IN, *point = sweep + MODEL_POINT;
    GLOBAL elem *answer = out + job * MODEL_OUT;
    TEAM_FOR(i, run.rows) {
        const losscone_row row =
            losscone_row_of(run, sweep, i, point[LOSSCONE_U], point[LOSSCONE_R], point[LOSSCONE_A]);
        for (u32 j = 0; j < run.cells; j += PACK) {
            const pack cosine = LOADP(sweep + SWEEP_COSINE, i * SWEEP_CELLS + j),
                       sine = cone_sine_square(cosine);
            STOREP(answer + MODEL_CELL, i * SWEEP_CELLS + j,
                   row.beam > R(0.0) ? losscone_with_beam(run, row, sine, losscone_beam_profile(run, cosine))
                                     : losscone_of_cells(run, row, sine, run.level));
        }
        (answer + MODEL_EDGE)[i] = FIRST(m_asin_root_degrees(PACK_OF(row.edge[0])));
    }
}

/* in: cosines_row each, then cells' inclinations (degrees). out: cosines. Slab: 2 SWEEP_CELLS. Always f64. */
LOSSCONE_KERNEL(cosines)
{
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + job * COSINES_IN,
                      *theta = in + (size_t)args[LOSSCONE_ARG_SWEEPS] * COSINES_IN;
    GLOBAL elem *answer = out + job * SWEEP_ALL;
    TEAM_FOR_PACK(j, sweep_cells(mi)) {
        STOREP(s, j, m_sin_degrees(LOADP(theta, j)));
        STOREP(s, SWEEP_CELLS + j, m_cos_degrees(LOADP(theta, j)));
    }
    TEAM_BARRIER();
    TEAM_FOR(i, sweep_rows(mi)) {
        GLOBAL const elem *field = sweep + COSINES_FIELD + 3 * i;
        real most = R(0.0), b[3];
        for (u32 k = 0; k < 3; k++) {
            const real size = field[k] < R(0.0) ? -field[k] : field[k];
            most = size > most ? size : most;
        }
        for (u32 k = 0; k < 3; k++) b[k] = most > R(0.0) ? DIVIDE(field[k], most) : R(1.0);
        const real scale =
            DIVIDE((sweep + COSINES_SIGN)[i], SQRT(FMA(b[0], b[0], FMA(b[1], b[1], b[2] * b[2]))));
        for (u32 k = 0; k < 3; k++) b[k] = b[k] * scale;
        for (u32 j = 0; j < sweep_cells(mi); j += PACK) {
            const pack azimuth = LOADP(sweep + COSINES_AZIMUTH, i * SWEEP_CELLS + j);
            const pack across =
                PFMA(m_sin_degrees(azimuth), PACK_OF(b[1]), m_cos_degrees(azimuth) * PACK_OF(b[0]));
            const pack cosine = PFMA(across, LOADP(s, SWEEP_CELLS + j), LOADP(s, j) * PACK_OF(b[2]));
            STOREP(answer, i * SWEEP_CELLS + j,
                   PSELECT(cosine > PK(1.0), PK(1.0), PSELECT(cosine < PK(-1.0), PK(-1.0), cosine)));
        }
    }
}
