/* custom_draw.h: the entry that draws data of a user's model. Comes behind entry/custom.h. */
#ifndef PARITAS_ENTRY_CUSTOM_DRAW_H
#define PARITAS_ENTRY_CUSTOM_DRAW_H

#include "numeric/rng.h"

#define CUSTOM_NO_ITEM 0xffffffff

/* Rows as hf_draw's (entry/toys.h): counts and measurements around what is expected of them, in f64; in f32 the entry answers what `in` has. */
KERNEL(custom_draw)
{
    const u32 places = mi[CUSTOM_DATA];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
#if F64
    const u32 first_aux = mi[CUSTOM_PLACES], fixed = args[6];
    GLOBAL real *data = s + mi[CUSTOM_S_MAIN];
    CONSTANT u32 *items = args + 8;
    rng_stream stream;
    stream.toy = PLINT_OF(LINT_OF_ROWS(rows) + LI(((elem_int)args[2] << 32) | (elem_int)args[1]));
    stream.key0 = args[3];
    stream.key1 = args[4];
    stream.purpose = args[5];
    TEAM_FOR_PACK(i, places)
    {
        const pack expected = LOADM(in, i), zero = PK(0.0);
        stream.item = LOADI(items, i);
        pmask drawn = stream.item != PLI(CUSTOM_NO_ITEM);
        if (i >= first_aux && fixed) drawn = zero > zero;
        const pack kind = i < first_aux ? LOADM(mr, i) : LOADM(mr + mi[CUSTOM_R_PRECISION], i - first_aux);
        const pmask measured = AND(drawn, kind > zero), counted = AND(drawn, AND(kind <= zero, kind > CUSTOM_IS_TERM));
        pack value = expected;
        if (PANY(counted)) value = PSELECT(counted, rng_poisson(stream, expected, counted), value);
        if (PANY(measured)) value = PSELECT(measured, PFMA(PDIVIDE(PK(1.0), PSQRT(PSELECT(measured, kind, PK(1.0)))), rng_normal(stream), expected), value);
        STOREP(data, i, value);
    }
    TEAM_BARRIER();
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, data[i]);
#else
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, LOADM1(in, i));
#endif
}

#endif
