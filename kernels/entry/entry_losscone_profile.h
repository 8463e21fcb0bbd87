/* entry_losscone_profile.h: profiles, confidence sets, bootstrap thresholds. */
#pragma once

#include "losscone/losscone_bootstrap.h"
#include "losscone/losscone_confidence.h"

/* in: sweeps' rows, then potentials. out: PROFILES_OUT: profiled_potential of each, number of cells. Slab:
 * PROFILE_SLAB. */
LOSSCONE_KERNEL(profile)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const u32 potentials = args[LOSSCONE_ARG_COUNT], sweeps = args[LOSSCONE_ARG_SWEEPS];
    const size_t job = losscone_job(TEAM_INDEX, sweeps);
    GLOBAL const elem *sweep = in + job * SWEEP_SIZE, *potential = in + (size_t)sweeps * SWEEP_SIZE;
    GLOBAL elem *answer = out + job * PROFILES_OUT((size_t)potentials);
    cells_prepare(LOSSCONE);
    beam_forget(s);
    for (u32 i = 0; i < potentials; i++, answer += PROFILED_SIZE) {
        profile_run(LOSSCONE, potential[i], UNBOUNDED, -UNBOUNDED);
        ONE_WORKER
        {
            answer[PROFILED_MISFIT] = flush(DIVIDE(s[PROFILE_BEST], losscone_divisor(run, s[CELLS_NUMBER])));
            answer[PROFILED_R] = s[PROFILE_R];
            answer[PROFILED_A] = s[PROFILE_A];
        }
        TEAM_BARRIER();
    }
    ONE_WORKER
    {
        answer[0] = s[CELLS_NUMBER];
    }
}

/* count: potentials. in: sweeps with confidence_tail, the potentials' step in units of 1 / scale, scale. out:
 * confidence_answer. Slab: CONFIDENCE_SLAB. */
LOSSCONE_KERNEL(confidence)
{
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + job * CONFIDENCE_IN, *tail = sweep + SWEEP_SIZE;
    GLOBAL elem *answer = out + job * CONFIDENCE_OUT;
    confidence_grid grid;
    grid.lower = LOADM1(mr, LOSSCONE_U_LOWER);
    grid.upper = LOADM1(mr, LOSSCONE_U_UPPER);
    grid.whole_step = in[(size_t)args[LOSSCONE_ARG_SWEEPS] * CONFIDENCE_IN];
    grid.scale = in[(size_t)args[LOSSCONE_ARG_SWEEPS] * CONFIDENCE_IN + 1];
    grid.whole_lower = grid.lower * grid.scale;
    grid.step = DIVIDE(grid.whole_step, grid.scale);
    grid.count = args[LOSSCONE_ARG_COUNT];
    cells_prepare(LOSSCONE);
    beam_forget(s);
    confidence_run(LOSSCONE, grid, tail[CONFIDENCE_LIMIT], tail[CONFIDENCE_LOWER], tail[CONFIDENCE_UPPER]);
    ONE_WORKER
    {
        const real found = s[CONFIDENCE_FOUND];
        answer[CONFIDENCE_INTERVALS] = found;
        for (u32 i = 0; i < 2 * CONFIDENCE_SETS; i++)
            answer[CONFIDENCE_END + i] = REAL_OF(i) < R(2.0) * found ? (s + CONFIDENCE_ENDS)[i] : R(0.0);
    }
}

/* count: draws. in: sweeps with bootstrap_tail. out per draw: misfit at the true potential above the minimum.
 * Slab: BOOTSTRAP_SLAB. */
LOSSCONE_KERNEL(bootstrap)
{
    const losscone_run run = losscone_run_of(mi, mr);
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    const u32 draws = args[LOSSCONE_ARG_COUNT];
    GLOBAL const elem *sweep = in + job * BOOTSTRAP_IN, *tail = sweep + SWEEP_SIZE;
    GLOBAL elem *answer = out + job * draws;
    const real u = tail[BOOTSTRAP_U], r = tail[BOOTSTRAP_R];
    const u32 fitted = REAL_OF(tail[BOOTSTRAP_FITTED]) > R(0.0);
    bootstrap_draw draw;
    draw.sweep_low = args[LOSSCONE_ARG_FIRST_LOW] + (u32)job;
    draw.sweep_high =
        args[LOSSCONE_ARG_FIRST_HIGH] + (draw.sweep_low < args[LOSSCONE_ARG_FIRST_LOW] ? 1u : 0u);
    draw.key0 = mi[LOSSCONE_SEED_LOW];
    draw.key1 = mi[LOSSCONE_SEED_HIGH];
    cells_prepare(LOSSCONE);
    beam_forget(s);
    ONE_WORKER
    {
        s[SOLVE_A] = LOADM1(mr, LOSSCONE_A_LOWER);
        if (has_beam(mr) && fitted) { /* best amplitude there */
            search_locate(mi, s, u, r);
            solve_cell(LOSSCONE, s + SEARCH_TRIED, u, u);
        }
    }
    TEAM_BARRIER();
    bootstrap_begin(run, LOSSCONE, u, r, s[SOLVE_A]);
    for (draw.number = 0; draw.number < (fitted ? draws : 0u); draw.number++) {
        bootstrap_renew(LOSSCONE, draw);
        profile_run(LOSSCONE, u, UNBOUNDED, -UNBOUNDED);
        search_run(LOSSCONE, s[PROFILE_BEST]);
        ONE_WORKER
        {
            /* an upper limit if the search was cut short */
            const real above = s[PROFILE_BEST] - (s[SEARCH_BEST] - s[SEARCH_GAP]);
            answer[draw.number] =
                flush(DIVIDE(above > R(0.0) ? above : R(0.0), losscone_divisor(run, s[CELLS_NUMBER])));
        }
        TEAM_BARRIER();
    }
}
