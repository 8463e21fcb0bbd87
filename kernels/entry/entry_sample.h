/* entry_sample.h: chains of posterior draws, for all families (sample/sample_sizes.h). f64 only. */
#pragma once

#include "entry/entry_jobs.h"
#include "sample/nuts.h"

#if F64
FN sample_call sample_read_call(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in)
{
    const u32 n = MODEL_SLOTS;
    sample_call c;
    c.free = args[SAMPLE_ARG_FREE];
    c.row = SAMPLE_ROW(c.free);
    c.warmup = args[SAMPLE_ARG_WARMUP];
    c.depth = args[SAMPLE_ARG_DEPTH];
    c.has_priors = args[SAMPLE_ARG_PRIORS];
    c.key0 = args[SAMPLE_ARG_SEED_LOW];
    c.key1 = args[SAMPLE_ARG_SEED_HIGH];
    c.end = REAL_OF(c.warmup) + REAL_OF(args[SAMPLE_ARG_DRAWS]);
    c.slots = args + SAMPLE_ARGS;
    c.shared = in + MODEL_DATA;
    c.table = c.shared + SAMPLE_TABLE(n);
    c.transposed = c.shared + SAMPLE_TRANSPOSED(n, c.free);
    c.first_step = LOADM1(c.shared, SAMPLE_NUMBER(n, SAMPLE_FIRST_STEP));
    c.target = LOADM1(c.shared, SAMPLE_NUMBER(n, SAMPLE_TARGET));
    c.spread = LOADM1(c.shared, SAMPLE_NUMBER(n, SAMPLE_SPREAD));
    return c;
}
#endif

FN void job_sample(JOB_PARAMETERS)
{
#if F64
    const u32 chains = args[SAMPLE_ARG_CHAINS];
    const lane_rows rows = rows_of_team(team, chains);
    const sample_call c = sample_read_call(MODEL, args, in);
    job_prepare(MODEL);
    job_load_data(MODEL, in, rows_modulo(rows, 1));
    nuts_run(MODEL, &c, args[SAMPLE_ARG_STEPS], chains, c.shared + SAMPLE_SHARED(MODEL_SLOTS, c.free), out,
             rows);
#endif
}
