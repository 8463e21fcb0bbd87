/* counted_cells.h: a sweep's reflected cells by sin^2, with sums of cells that are surely on one side. */
#pragma once

#include "losscone/counted_model.h"

#define COUNTED_SPARE(n) (s + COUNTED_SPARES + (size_t)(n) * SWEEP_SLOT_CELLS)

/* Reflected cells with a scale first, then NO_THRESHOLD to a multiple of 8. */
FN u32 counted_gather(LOSSCONE_PARAMETERS, u32 i)
{
    const u32 at = i * SWEEP_CELLS;
    GLOBAL real *sine = COUNTED_SPARE(0) + at, *count = COUNTED_SPARE(1) + at, *scale = COUNTED_SPARE(2) + at;
    u32 n = 0;
    for (u32 j = 0; j < sweep_cells(mi); j++) {
        const pack cosine = PACK_OF(REAL_OF((sweep + COUNTED_COSINE)[at + j]));
        if (!((sweep + COUNTED_SCALE)[at + j] > R(0.0)) || !PANY(cone_may_hold(cosine))) continue;
        sine[n] = FIRST(cone_sine_square(cosine));
        count[n] = REAL_OF((sweep + COUNTED_COUNT)[at + j]);
        scale[n++] = REAL_OF((sweep + COUNTED_SCALE)[at + j]);
    }
    for (u32 j = n; j < ((n + 7) & ~7u); j++) sine[j] = NO_THRESHOLD;
    return n;
}

/* A cell's place is the number of those below it; equal cells take the next free place. */
FN void counted_sort(LOSSCONE_PARAMETERS, u32 i, u32 n)
{
    const u32 at = i * SWEEP_CELLS, end = (n + 7) & ~7u;
    const real base = REAL_OF((sweep + COUNTED_BASE)[i]);
    GLOBAL real *sine = s + COUNTED_SINE + at, *place = COUNTED_SPARE(3) + at;
    GLOBAL const real *from = COUNTED_SPARE(0) + at;
    for (u32 j = 0; j < end; j += PACK) {
        const pack own = LOADP(from, j);
        pack below = PK(0.0);
        for (u32 l = 0; l < n; l++) below = below + PSELECT(PACK_OF(from[l]) < own, PK(1.0), PK(0.0));
        STOREP(place, j, below);
    }
    for (u32 j = 0; j < end; j++) {
        sine[j] = NO_THRESHOLD;
        (s + COUNTED_COUNTS)[at + j] = R(0.0);
        (s + COUNTED_SCALES)[at + j] = (s + COUNTED_BASES)[at + j] = R(1.0);
        (s + COUNTED_PER_COUNT)[at + j] = (s + COUNTED_PER_WIDE)[at + j] = R(0.0);
    }
    for (u32 j = 0; j < n; j++) {
        u32 to = U32_OF(place[j]);
        while (sine[to] < NO_THRESHOLD) to++;
        sine[to] = from[j];
        (s + COUNTED_COUNTS)[at + to] = (COUNTED_SPARE(1) + at)[j];
        (s + COUNTED_SCALES)[at + to] = (COUNTED_SPARE(2) + at)[j];
        (s + COUNTED_BASES)[at + to] = flush(base * (COUNTED_SPARE(2) + at)[j]);
    }
}

/* Deviances of the first k cells in the cone, and of the cells from k on outside. */
FN void counted_sums(counted_row row, GLOBAL real *s, u32 i, u32 n)
{
    const u32 at = i * SWEEP_CELLS, to = i * COUNTED_STRIDE;
    GLOBAL real *in_cone = COUNTED_SPARE(0) + at, *outside = COUNTED_SPARE(1) + at;
    for (u32 j = 0; j < n; j += PACK) {
        const pack count = LOADP(s + COUNTED_COUNTS, at + j);
        const pmask some = count > PK(0.0);
        STOREP(s + COUNTED_PER_COUNT, at + j,
               PSELECT(some, pflush(PDIVIDE(PK(1.0), PSELECT(some, count, PK(1.0)))), PK(0.0)));
        STOREP(s + COUNTED_PER_WIDE, at + j, pflush(PDIVIDE(PK(1.0), count + PACK_OF(row.k))));
        const counted_cells c = counted_cells_at(s, at + j);
        STOREP(in_cone, j, counted_cost(row.k, c, counted_mean_of(c, PACK_OF(row.inside))));
        STOREP(outside, j, counted_cost(row.k, c, counted_mean_of(c, PK(1.0))));
    }
    real sum = R(0.0);
    for (u32 k = 0; k <= n; k++) {
        (s + COUNTED_BELOW)[to + k] = sum;
        if (k < n) sum = sum + in_cone[k];
    }
    sum = R(0.0);
    for (u32 k = n + 1; k > 0; k--) {
        (s + COUNTED_ABOVE)[to + k - 1] = sum;
        if (k > 1) sum = sum + outside[k - 2];
    }
}

/* Prepares the sweep. The whole team calls it, up to a barrier. */
FN void counted_prepare(LOSSCONE_PARAMETERS)
{
    TEAM_FOR(i, sweep_rows(mi)) {
        const counted_row row = counted_row_of(mr, sweep, i);
        const real width = DIVIDE(R(1.0), row.narrow);
        const u32 n = counted_gather(LOSSCONE, i);
        counted_sort(LOSSCONE, i, n);
        counted_sums(row, s, i, n);
        (s + COUNTED_CELLS)[i] = REAL_OF(n);
        (s + COUNTED_LOW)[i] = FIRST(m_exp(PACK_OF(FMA(-COUNTED_SURE, width, row.centre)))) - row.spacecraft;
        (s + COUNTED_HIGH)[i] = FIRST(m_exp(PACK_OF(FMA(COUNTED_SURE, width, row.centre)))) - row.spacecraft;
    }
    TEAM_BARRIER();
}

/* A row's partial sums of eight, `number` of them, at `to`. */
FN void counted_put_sums(PRIVATE const acc8 *sums, u32 number, u32 i, GLOBAL real *to)
{
    for (u32 n = 0; n < number; n++)
        for (u32 l = 0; l < 8; l += PACK) STOREP(to, 8 * (n * SWEEP_SLOTS + i) + l, sums[n].part[l / PACK]);
}

/* Sum n of all rows. */
FN real counted_total(u32 rows, GLOBAL const real *from, u32 n)
{
    acc8 sum = acc8_zero();
    for (u32 i = 0; i < rows; i++) sum = acc8_add(sum, from, 8 * (n * SWEEP_SLOTS + i));
    return acc8_total(sum);
}

/* All of the channel is in the cone for sines below `in`, none for sines from `out` on. */
typedef struct {
    real in, out;
    u32 first, last; /* the cells between */
    u32 from;        /* eights of cells from here hold them */
} counted_between;

FN counted_between counted_undecided(GLOBAL const real *s, u32 i, real u0, real u1, real r0, real r1)
{
    const real low = (s + COUNTED_LOW)[i], high = (s + COUNTED_HIGH)[i];
    const u32 n = U32_OF((s + COUNTED_CELLS)[i]);
    GLOBAL const real *sine = s + COUNTED_SINE + i * SWEEP_CELLS;
    counted_between b;
    const real nearest = u0 < R(0.0) ? low : high, farthest = u1 < R(0.0) ? high : low;
    b.in = nearest > R(0.0) ? flush(r0 * (R(1.0) + DIVIDE(u0, nearest))) : u0 < R(0.0) ? R(-1.0) : r0;
    b.out = farthest > R(0.0) ? flush(r1 * (R(1.0) + DIVIDE(u1, farthest))) : u1 < R(0.0) ? r1 : NO_THRESHOLD;
    b.out = b.out > b.in ? b.out : b.in;
    b.first = cone_sines_below(sine, n, b.in);
    b.last = cone_sines_below(sine, n, b.out);
    const u32 eights = (b.last - b.first + 7) & ~7u, end = (n + 7) & ~7u; /* no cells of the next row */
    b.from = b.first + eights > end ? end - eights : b.first;
    return b;
}

/* Deviance of the row's other cells. Joins a row's first partial sum. */
FN real counted_decided(GLOBAL const real *s, u32 i, counted_between b)
{
    return (s + COUNTED_BELOW)[i * COUNTED_STRIDE + b.first] +
           (s + COUNTED_ABOVE)[i * COUNTED_STRIDE + b.last];
}
