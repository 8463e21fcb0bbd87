/* toys.h: the entries that draw data of the HistFactory family. Comes behind entry/histfactory.h. */
#ifndef PARITAS_ENTRY_TOYS_H
#define PARITAS_ENTRY_TOYS_H

#include "numeric/rng.h"

#define HF_NO_ITEM 0xffffffff

/* Draws data rows, a row a toy, toy number first + row.
 * args: toys, first toy (low, high word; below 2^63), seed (low, high word), purpose (< 256), 1 where auxiliary data stay as given,
 * 0, then, HF_DATA of them, the item number (< 2^24) of each place of a data row, HF_NO_ITEM where there is none: such a place keeps what `in` has.
 * in: one data row: expected main data; expected auxiliary data (of Poisson constraints the expected count, of Gaussian ones the mean).
 * out: the rows. A place whose expected count is negative or above RNG_POISSON_LARGEST receives NaN.
 * Toys are drawn in f64 always; in f32 the entry answers what `in` has. */
KERNEL(hf_draw)
{
    const u32 places = mi[HF_DATA];
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
#if F64
    const u32 first_aux = 8 * mi[HF_PANELS], fixed = args[6];
    GLOBAL real *data = s + mi[HF_S_MAIN];
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
        const pmask drawn = stream.item != PLI(HF_NO_ITEM), none = zero > zero;
        pmask counted = drawn, measured = none;
        pack sigma = zero, value = expected;
        if (i >= first_aux) {
            const pack precision = LOADM(mr + mi[HF_R_PRECISION], i - first_aux);
            counted = AND(drawn, LOADM(mr + mi[HF_R_TAU], i - first_aux) > zero);
            measured = AND(AND(drawn, PNOT(counted)), precision > zero);
            if (fixed) counted = measured = none;
            sigma = PDIVIDE(PK(1.0), PSQRT(PSELECT(measured, precision, PK(1.0))));
        }
        if (PANY(counted)) value = PSELECT(counted, rng_poisson(stream, expected, counted), value);
        if (PANY(measured)) value = PSELECT(measured, PFMA(sigma, rng_normal(stream), expected), value);
        STOREP(data, i, value);
    }
    TEAM_BARRIER();
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, data[i]);
#else
    TEAM_FOR(i, places) STORE_ROWS(out, rows, places, i, LOADM1(in, i));
#endif
}

#endif
