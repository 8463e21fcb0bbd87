/* losscone_point.h: the misfit at (U, r, A) from the tables of losscone_cells.h.
 *
 * A bucket of x tells where to search a row's thresholds: two steps without a branch, more are rare.
 * Thresholds and their steps lie side by side. Cells in the beam, few and near 180 degrees, are summed one by
 * one, by sine. */
#pragma once

#include "losscone/losscone_cells.h"
#include "losscone/losscone_direct.h"

#define POINT_TABLE_OF(row) (s + POINT_TABLE + (size_t)(row) * POINT_ENTRY * POINT_THRESHOLDS)

FN void point_put(GLOBAL real *s, u32 row, u32 n, real profile, real sine, real datum)
{
    const u32 at = row * SWEEP_CELLS + n;
    (s + POINT_PROFILE)[at] = profile;
    (s + POINT_SINE)[at] = sine;
    (s + POINT_DATUM)[at] = datum;
}

FN void point_reach(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, u32 row, real most)
{
    const u32 reflected = row < run.rows ? U32_OF((s + CELLS_COUNT)[row]) : 0, at = row * SWEEP_CELLS;
    const real least = R(LOSSCONE_LITTLE_BEAM) * run.background;
    u32 n = 0;
    int more = most > R(0.0);
    for (u32 j = 0; j < reflected && more; j += PACK) { /* by rising sine: falling profile */
        const pack square = LOADP(s + CELLS_SINE, at + j), height = losscone_beam_of_sine(run.sigma, square);
        for (u32 l = 0; l < PACK && j + l < reflected && more; l++) {
            more = most * ELEMENT(height, l) > least;
            if (more)
                point_put(s, row, n++, ELEMENT(height, l), ELEMENT(square, l), (s + CELLS_DATA)[at + j + l]);
        }
    }
    /* incident cells in a wide profile */
    if (row < run.rows && more)
        for (u32 cell = at; cell < at + run.cells; cell++) {
            const pack cosine = PACK_OF(REAL_OF((sweep + SWEEP_COSINE)[cell]));
            if (!((sweep + SWEEP_FLUX)[cell] > R(0.0)) || PANY(cone_may_hold(cosine))) continue;
            const real height = FIRST(losscone_beam_profile(run, cosine));
            if (most * height > least) point_put(s, row, n++, height, R(2.0), (s + CELLS_ALL)[cell]);
        }
    for (; n % 8 != 0; n++) point_put(s, row, n, R(0.0), R(2.0), R(0.0));
    (s + POINT_REACHED)[row] = REAL_OF(n);
}

FN void point_tabulate(GLOBAL real *s, u32 row, u32 energies)
{
    const u32 thresholds = U32_OF((s + CELLS_MOST)[row]);
    GLOBAL real *start = s + POINT_START + row * POINT_STRIDE, *table = POINT_TABLE_OF(row);
    for (u32 k = 0; k <= thresholds; k++) {
        table[k * POINT_ENTRY] = k < thresholds ? row_threshold(s, row, k) : NO_THRESHOLD;
        for (u32 n = 0; n < energies; n++)
            table[k * POINT_ENTRY + 1 + n] = CELLS_STEP(n)[k * SWEEP_SLOTS + row];
    }
    table[(thresholds + 1) * POINT_ENTRY] = NO_THRESHOLD; /* compared, never passed */
    u32 k = 0;
    for (u32 b = 0; b <= POINT_BUCKETS; b++) {
        const real x = REAL_OF(b) * R(0.0078125); /* 1 / POINT_BUCKETS */
        while (table[k * POINT_ENTRY] < x) k++;
        start[b] = REAL_OF(k);
    }
}

/* Prepares points after cells_prepare; `most`: largest amplitude. The whole team calls it and waits. */
FN void point_prepare(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, real most)
{
    TEAM_FOR(row, SWEEP_SLOTS) {
        point_tabulate(s, row, run.energies);
        (s + POINT_ENERGY)[row] = row < run.rows ? REAL_OF(sweep[SWEEP_ENERGY + row]) : R(1.0);
        (s + POINT_SPACECRAFT)[row] = row < run.rows ? REAL_OF(sweep[SWEEP_POTENTIAL + row]) : R(0.0);
        point_reach(run, sweep, s, row, most);
    }
    TEAM_BARRIER();
}

/* The entry with k = thresholds below x. */
FN GLOBAL const real *point_look_up(GLOBAL const real *s, u32 row, real x)
{
    const u32 bucket = x < R(1.0) ? U32_OF(x > R(0.0) ? x * REAL_OF(POINT_BUCKETS) : R(0.0)) : POINT_BUCKETS;
    GLOBAL const real *at =
        POINT_TABLE_OF(row) + POINT_ENTRY * U32_OF((s + POINT_START)[row * POINT_STRIDE + bucket]);
    at += at[0] < x ? POINT_ENTRY : 0;
    at += at[0] < x ? POINT_ENTRY : 0;
    while (at[0] < x) at += POINT_ENTRY;
    return at;
}

/* n: energies of folded rows, falling. */
FN void point_edges(GLOBAL const real *s, u32 n, real potential, real ratio, PRIVATE real *edge)
{
    for (u32 row = 0; row < SWEEP_SLOTS; row += PACK)
        STOREP(edge, row,
               pflush(PACK_OF(ratio) *
                      PFMA(PACK_OF(potential), LOADP(s + CELLS_INVERSE, n * SWEEP_SLOTS + row), PK(1.0))));
}

/* 0 in rows without beam; returns 1 if any has one. */
FN int point_heights(losscone_run run, GLOBAL const real *s, real potential, real amplitude,
                     PRIVATE real *height)
{
    int any = 0;
    const pack width = PACK_OF(run.width), reach = PACK_OF(run.reach), zero = PK(0.0);
    for (u32 row = 0; row < SWEEP_SLOTS; row += PACK) {
        const pack fall = LOADP(s + POINT_SPACECRAFT, row) - PACK_OF(potential),
                   away = LOADP(s + POINT_ENERGY, row) - PSELECT(fall > width, fall, width);
        const pmask counts =
            AND(AND(fall > zero, LOADP(s + POINT_REACHED, row) > zero), AND(away<reach, away> - reach));
        pack h = zero;
        if (PANY(counts)) {
            const pack z = pflush(PDIVIDE(PSELECT(counts, away, zero), width));
            h = PSELECT(counts, pflush(PACK_OF(amplitude) * losscone_gaussian(z)), zero);
            any = 1;
        }
        STOREP(height, row, h);
    }
    return any;
}

/* The beam's change of a row's misfit. */
FN real point_beam(losscone_run run, GLOBAL const real *s, u32 row, real edge, real height)
{
    const u32 at = row * SWEEP_CELLS, n = U32_OF((s + POINT_REACHED)[row]);
    const real least = R(LOSSCONE_LITTLE_BEAM) * run.background;
    const pack one = PACK_OF(run.level[0]), background = PACK_OF(run.background),
               datum_one = PACK_OF(run.datum[0]), datum_background = PACK_OF(run.datum[LOSSCONE_ENERGIES]);
    acc8 sum = acc8_zero();
    for (u32 i = at; i < at + n && height * (s + POINT_PROFILE)[i] > least; i += 8)
        for (u32 j = 0; j < 8; j += PACK) {
            const pack profile = LOADP(s + POINT_PROFILE, i + j), datum = LOADP(s + POINT_DATUM, i + j);
            const pmask inside = LOADP(s + POINT_SINE, i + j) < PACK_OF(edge);
            const pack model = PSELECT(inside, background, one) + pflush(PACK_OF(height) * profile);
            const pack before = datum - PSELECT(inside, datum_background, datum_one),
                       behind = datum - losscone_datum(run, model);
            const pack change = pflush((before - behind) * (before + behind));
            sum.part[j / PACK] = sum.part[j / PACK] - PSELECT(profile > PK(0.0), change, PK(0.0));
        }
    return acc8_total(sum);
}

/* Sum of squares at a point. */
FN real point_misfit(losscone_run run, GLOBAL const real *s, real potential, real ratio, real amplitude)
{
    real sum = s[CELLS_BASE], edge[SWEEP_SLOTS], height[SWEEP_SLOTS];
    if (run.energies == 1) {
        point_edges(s, 0, potential, ratio, edge);
        for (u32 row = 0; row < run.rows; row++) sum = sum + point_look_up(s, row, edge[row])[1];
        if (amplitude > R(0.0) && run.reach > R(0.0) && point_heights(run, s, potential, amplitude, height))
            for (u32 row = 0; row < run.rows; row++)
                if (height[row] > R(0.0)) sum = sum + point_beam(run, s, row, edge[row], height[row]);
    } else
        for (u32 n = 0; n < LOSSCONE_ENERGIES; n++) {
            point_edges(s, potential > R(0.0) ? LOSSCONE_ENERGIES - 1 - n : n, potential, ratio, edge);
            for (u32 row = 0; row < run.rows; row++) sum = sum + point_look_up(s, row, edge[row])[1 + n];
        }
    sum = flush(sum);
    return sum > R(0.0) ? sum : R(0.0);
}
