/* entry_draw.h: data drawn around what a model expects, for the draw entries of all families. Knows no model.
 *
 * A family defines the words of jobs.h, and
 *
 *   model_draws(MODEL, i, fixed, drawn, &counted, &measured, &precision)
 *
 * which says of the places from i on, those of `drawn` alone, which are counts and which are measurements of
 * a precision (1/sigma^2); `fixed`: auxiliary data stay as they are given.
 */
#ifndef PARITAS_ENTRY_DRAW_H
#define PARITAS_ENTRY_DRAW_H

#include "numeric/rng.h"

#define DRAW_NO_ITEM 0xffffffff

/* Draws data rows, a row a toy, toy number first + row.
 * args: toys, first toy (low, high word; below 2^63), seed (low, high word), purpose (< 256), 1 where
 * auxiliary data stay as given, 0, then, MODEL_DATA of them, the item number (< 2^24) of each place of a data
 * row, DRAW_NO_ITEM where there is none: such a place keeps what `in` has. in: one data row: what is expected
 * of counts, the mean of measurements. out: the rows. A place whose expected count is negative or above
 * RNG_POISSON_LARGEST receives NaN. Toys are drawn in f64 always; in f32 the entry answers what `in` has. */
FN void job_draw(MODEL_PARAMETERS, CONSTANT u32 *args, GLOBAL const elem *in, GLOBAL elem *out, u32 team)
{
    const u32 places = MODEL_DATA;
    const lane_rows rows = rows_of_team(team, args[0]);
#if F64
    GLOBAL real *data = MODEL_MAIN;
    CONSTANT u32 *items = args + 8;
    rng_stream stream;
    stream.toy = PLINT_OF(LINT_OF_ROWS(rows) + LI(((elem_int)args[2] << 32) | (elem_int)args[1]));
    stream.key0 = args[3];
    stream.key1 = args[4];
    stream.purpose = args[5];
    TEAM_FOR_PACK(i, places) {
        const pack expected = LOADM(in, i);
        pack precision = PK(0.0), value = expected;
        pmask counted, measured;
        stream.item = LOADI(items, i);
        model_draws(MODEL, i, args[6], stream.item != PLI(DRAW_NO_ITEM), &counted, &measured, &precision);
        if (PANY(counted)) value = PSELECT(counted, rng_poisson(stream, expected, counted), value);
        if (PANY(measured))
            value = PSELECT(measured,
                            PFMA(PDIVIDE(PK(1.0), PSQRT(PSELECT(measured, precision, PK(1.0)))),
                                 rng_normal(stream), expected),
                            value);
        STOREP(data, i, value);
    }
    TEAM_BARRIER();
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, data[i]);
#else
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, LOADM1(in, i));
#endif
}

#endif
