/* entry_losscone_evaluate.h: entries that evaluate the loss-cone model at given points, by its formula, cell
 * by cell, and the geometry of its cells. */
#ifndef PARITAS_ENTRY_LOSSCONE_EVALUATE_H
#define PARITAS_ENTRY_LOSSCONE_EVALUATE_H

#include "losscone/losscone_direct.h"

/* Which of n jobs a team works on. */
FN size_t losscone_job(u32 team, u32 n)
{
    return team < n ? team : n - 1;
}

/* args: sweeps, -, -, points. in: the sweeps' rows, then the points (U, r, A), the same for all. out, a
 * sweep: the misfit at each point, then the number of cells. Where that is 0, or of Lillis below 5, the
 * misfit is none. Slab: MISFIT_SLAB. */
KERNEL(losscone_misfit)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const u32 points = args[3];
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *point = in + (size_t)args[0] * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * (points + 1);
    GLOBAL real *sums = s + DIRECT_SIZE;
    direct_prepare(run, sweep, s);
    ONE_WORKER
    {
        s[MISFIT_CELLS] = direct_count(s);
    }
    TEAM_BARRIER();
    const real cells = s[MISFIT_CELLS];
    for (u32 first = 0; first < points; first += MISFIT_POINTS) {
        const u32 count = points - first < MISFIT_POINTS ? points - first : MISFIT_POINTS;
        TEAM_FOR(item, count * SWEEP_ROWS) {
            const u32 k = item / SWEEP_ROWS, i = item % SWEEP_ROWS, at = 3 * (first + k);
            const losscone_row row = losscone_row_of(run, sweep[SWEEP_ENERGY + i], sweep[SWEEP_POTENTIAL + i],
                                                     point[at], point[at + 1], point[at + 2]);
            sums[item] = direct_row(run, s, i, row);
        }
        TEAM_BARRIER();
        TEAM_FOR(k, count) {
            real sum = R(0.0);
            for (u32 i = 0; i < SWEEP_ROWS; i++) sum = sum + sums[k * SWEEP_ROWS + i];
            answer[first + k] = flush(DIVIDE(sum, losscone_divisor(run, cells)));
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        answer[points] = cells;
    }
}

/* args: sweeps. in: a sweep's row, with the point (U, r, A) in place of its fluxes: MODEL_IN elements. out, a
 * sweep: the model of each cell, then each row's angle of the cone in degrees, of its own energy:
 * MODEL_OUT. */
KERNEL(losscone_model)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + job * MODEL_IN, *point = sweep + SWEEP_FLUX;
    GLOBAL elem *answer = out + job * MODEL_OUT;
    TEAM_FOR(i, SWEEP_ROWS) {
        const losscone_row row = losscone_row_of(run, sweep[SWEEP_ENERGY + i], sweep[SWEEP_POTENTIAL + i],
                                                 point[0], point[1], point[2]);
        for (u32 j = 0; j < SWEEP_CELLS; j += PACK) {
            const pack cosine = LOADP(sweep, SWEEP_COSINE + i * SWEEP_CELLS + j);
            pack model = losscone_of_cells(run, row, cone_sine_square(cosine), run.level);
            if (row.beam > R(0.0))
                model = model + pflush(PACK_OF(row.beam) * losscone_beam_profile(run, cosine));
            STOREP(answer, i * SWEEP_CELLS + j, model);
        }
        answer[SWEEP_ALL + i] = FIRST(m_asin_root_degrees(PACK_OF(row.edge[0])));
    }
}

/* args: sweeps. in, a sweep: COSINES_IN elements, the field of each row (3 components at COSINES_FIELD), its
 * sign (COSINES_SIGN) and azimuths (COSINES_AZIMUTH) of cells in degrees; behind the sweeps the cells'
 * inclinations in degrees. out: the cosines. Slab: 2 SWEEP_CELLS. In f64 only, whatever the device. */
KERNEL(losscone_cosines)
{
    const size_t job = losscone_job(TEAM_INDEX, args[0]);
    GLOBAL const elem *sweep = in + job * COSINES_IN, *theta = in + (size_t)args[0] * COSINES_IN;
    GLOBAL elem *answer = out + job * SWEEP_ALL;
    TEAM_FOR_PACK(j, SWEEP_CELLS) {
        STOREP(s, j, m_sin_degrees(LOADP(theta, j)));
        STOREP(s, SWEEP_CELLS + j, m_cos_degrees(LOADP(theta, j)));
    }
    TEAM_BARRIER();
    TEAM_FOR(i, SWEEP_ROWS) {
        GLOBAL const elem *field = sweep + COSINES_FIELD + 3 * i;
        real most = R(0.0), b[3];
        for (u32 k = 0; k < 3; k++) {
            const real size = field[k] < R(0.0) ? -field[k] : field[k];
            most = size > most ? size : most;
        }
        for (u32 k = 0; k < 3; k++) b[k] = most > R(0.0) ? DIVIDE(field[k], most) : R(1.0);
        const real scale =
            DIVIDE(sweep[COSINES_SIGN + i], SQRT(FMA(b[0], b[0], FMA(b[1], b[1], b[2] * b[2]))));
        for (u32 k = 0; k < 3; k++) b[k] = b[k] * scale;
        for (u32 j = 0; j < SWEEP_CELLS; j += PACK) {
            const pack azimuth = LOADP(sweep, COSINES_AZIMUTH + i * SWEEP_CELLS + j);
            const pack across =
                PFMA(m_sin_degrees(azimuth), PACK_OF(b[1]), m_cos_degrees(azimuth) * PACK_OF(b[0]));
            const pack cosine = PFMA(across, LOADP(s, SWEEP_CELLS + j), LOADP(s, j) * PACK_OF(b[2]));
            STOREP(answer, i * SWEEP_CELLS + j,
                   PSELECT(cosine > PK(1.0), PK(1.0), PSELECT(cosine < PK(-1.0), PK(-1.0), cosine)));
        }
    }
}

#endif
