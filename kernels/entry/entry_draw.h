/* entry_draw.h: draws data around an expectation, for all families. Comes behind a family's words
 * (entry_jobs.h) and
 *
 *   model_draws(MODEL, i, fixed, drawn, &counted, &measured, &precision)
 *
 * which sorts `drawn` places from i on into counts and measurements of a precision (1/sigma^2). `fixed`: keep
 * auxiliary data.
 *
 *   MODEL_BIFURCATES   0: measurements have one sigma
 *   MODEL_RATIO(i)     else a pack from place i on: sigma below the expectation over that above, whose
 *                      precision is model_draws'
 *   MODEL_CORRELATE(expected, fixed)   a statement behind the draws: makes deviations correlated */
#pragma once

#include "entry/entry_jobs.h"
#include "numeric/rng.h"

/* Expected counts < 0 or > RNG_POISSON_LARGEST give NaN. In f32 the entry copies `in`. */
FN void job_draw(JOB_PARAMETERS)
{
    const u32 places = MODEL_DATA;
    const lane_rows rows = rows_of_team(team, args[DRAW_ARG_TOYS]);
#if F64
    GLOBAL real *data = MODEL_MAIN;
    rng_stream stream;
    stream.toy = PLINT_OF(LINT_OF_ROWS(rows) + LI(((elem_int)args[DRAW_ARG_FIRST_HIGH] << 32) |
                                                  (elem_int)args[DRAW_ARG_FIRST_LOW]));
    stream.key0 = args[DRAW_ARG_SEED_LOW];
    stream.key1 = args[DRAW_ARG_SEED_HIGH];
    stream.purpose = args[DRAW_ARG_PURPOSE];
    TEAM_FOR_PACK(i, places) {
        const pack expected = LOADM(in, i);
        pack precision = PK(0.0), value = expected;
        pmask counted, measured;
        stream.item = LOADI(args + DRAW_ARGS, i);
        model_draws(MODEL, i, args[DRAW_ARG_FIX_AUX], stream.item != PLI(DRAW_NO_ITEM), &counted, &measured,
                    &precision);
        if (PANY(counted)) value = PSELECT(counted, rng_poisson(stream, expected, counted), value);
        if (PANY(measured)) {
            pack deviate = rng_normal(stream);
            if (MODEL_BIFURCATES) deviate = rng_bifurcated(stream, deviate, MODEL_RATIO(i));
            value = PSELECT(
                measured,
                PFMA(PDIVIDE(PK(1.0), PSQRT(PSELECT(measured, precision, PK(1.0)))), deviate, expected),
                value);
        }
        STOREP(data, i, value);
    }
    TEAM_BARRIER();
    MODEL_CORRELATE(in, args[DRAW_ARG_FIX_AUX])
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, data[i]);
#else
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, LOADM1(in, i));
#endif
}
