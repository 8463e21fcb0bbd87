/* entry_losscone_counted.h: fits of counts by the channel's response, and confidence sets. */
#pragma once

#include "losscone/counted_quality.h"
#include "losscone/counted_set.h"

/* in: counted_row. out: counted_answer. Slab: COUNTED_SLAB. */
LOSSCONE_KERNEL(counted)
{
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + job * COUNTED_IN, *tail = sweep + COUNTED_TAIL;
    GLOBAL elem *answer = out + job * COUNTED_OUT;
    counted_prepare(LOSSCONE);
    steps_prepare(LOSSCONE);
    const counted_point best =
        counted_search(LOSSCONE, tail[COUNTED_TAIL_FROM], tail[COUNTED_TAIL_TO], UNBOUNDED);
    real at_bound = best.value;
    TEAM_IF(tail[COUNTED_TAIL_FROM] < tail[COUNTED_TAIL_TO] && best.value < UNBOUNDED) {
        at_bound = counted_at_bound(LOSSCONE, best, tail[COUNTED_TAIL_FROM], tail[COUNTED_TAIL_TO]);
    }
    TEAM_FOR(i, sweep_rows(mi)) counted_judge_row(LOSSCONE, best, i);
    TEAM_BARRIER();
    ONE_WORKER
    {
        answer[FOUND_DEVIANCE] = best.value;
        answer[FOUND_PROVEN] = s[COUNTED_PROVEN];
        answer[FOUND_U] = best.u;
        answer[FOUND_R] = best.r;
        answer[FOUND_BOXES] = s[COUNTED_BOUNDED];
        answer[FOUND_AT_BOUND] = at_bound;
        for (u32 n = 0; n < JUDGED_SIZE; n++) {
            real sum = R(0.0);
            for (u32 i = 0; i < sweep_rows(mi); i++) sum = sum + (s + COUNTED_TOTALS)[n * SWEEP_SLOTS + i];
            answer[FOUND_JUDGED + n] = sum;
        }
    }
}

/* in: counted_row with the minimum and the limit. out: the set's two ends. Slab: COUNTED_SLAB. */
LOSSCONE_KERNEL(counted_set)
{
    const size_t job = losscone_job(TEAM_INDEX, args[LOSSCONE_ARG_SWEEPS]);
    GLOBAL const elem *sweep = in + job * COUNTED_IN, *tail = sweep + COUNTED_TAIL;
    GLOBAL elem *answer = out + job * 2;
    const real limit = tail[COUNTED_TAIL_LIMIT];
    real low = R(0.0), high = R(0.0);
    TEAM_IF(limit > R(0.0)) {
        counted_prepare(LOSSCONE);
        steps_prepare(LOSSCONE);
        const counted_point best = counted_at(LOSSCONE, tail[COUNTED_TAIL_U], tail[COUNTED_TAIL_R]);
        const real step = set_step(best, limit);
        low = set_end(LOSSCONE, best, limit, tail[COUNTED_TAIL_FROM], step);
        high = set_end(LOSSCONE, best, limit, tail[COUNTED_TAIL_TO], step);
    }
    ONE_WORKER
    {
        answer[0] = low;
        answer[1] = high;
    }
}
