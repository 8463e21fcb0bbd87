/* losscone_bootstrap.h: replaces a sweep's data by the model at a point plus new noise.
 *
 * Draws reflected cells, and all if the beam reaches the others: the rest cancels in differences. Noise is
 * normal on what the misfit compares: logarithms (Lillis: fluxes). Each cell has its size. */
#pragma once

#include "losscone/losscone_direct.h"
#include "losscone/losscone_profile.h"
#include "numeric/philox.h"
#include "numeric/rng.h"

#define BOOTSTRAP_STREAM 0x80000000u /* with the draw: a word of no other random number */

FN pack bootstrap_truth(losscone_run run, losscone_row row, pack sine, pack cosine)
{
    if (!(row.beam > R(0.0))) return losscone_of_cells(run, row, sine, run.datum);
    return losscone_datum(run, losscone_with_beam(run, row, sine, losscone_beam_profile(run, cosine)));
}

/* The noise of each reflected cell, which cells_sort has moved: its sine and datum find it. */
FN void bootstrap_sizes(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, u32 row)
{
    const u32 at = row * SWEEP_CELLS, reflected = U32_OF((s + CELLS_COUNT)[row]);
    for (u32 j = 0; j < reflected; j++) {
        const real sine = (s + CELLS_SINE)[at + j], datum = (s + CELLS_DATA)[at + j];
        u32 from = 0;
        while (from + 1 < run.cells &&
               !((s + CELLS_ALL)[at + from] == datum &&
                 FIRST(cone_sine_square(PACK_OF(REAL_OF((sweep + SWEEP_COSINE)[at + from])))) == sine))
            from++;
        (s + BOOTSTRAP_SIZE_REFLECTED)[at + j] = (s + BOOTSTRAP_SIZE_ALL)[at + from];
    }
}

/* Begins after cells_prepare. The whole team calls it, up to a barrier. */
FN void bootstrap_begin(losscone_run run, LOSSCONE_PARAMETERS, real potential, real ratio, real amplitude)
{
    TEAM_FOR(i, run.rows) {
        const losscone_row row = losscone_row_of(run, sweep, i, potential, ratio, amplitude);
        const u32 reflected = U32_OF((s + CELLS_COUNT)[i]);
        for (u32 j = 0; j < run.cells; j += PACK) {
            const u32 at = i * SWEEP_CELLS + j;
            const pack cosine = LOADP(sweep + SWEEP_COSINE, at);
            STOREP(s + BOOTSTRAP_SIZE_ALL, at, LOADP(sweep + SWEEP_SIZE + BOOTSTRAP_NOISE, at));
            STOREP(s + BOOTSTRAP_ALL, at, bootstrap_truth(run, row, cone_sine_square(cosine), cosine));
            if (j >= reflected) continue;
            const pack sine = LOADP(s + CELLS_SINE, at),
                       square = PSELECT(sine < PK(1.0), PK(1.0) - sine, PK(0.0));
            STOREP(s + BOOTSTRAP_REFLECTED, at, bootstrap_truth(run, row, sine, -PSQRT(square)));
        }
        bootstrap_sizes(run, sweep, s, i);
    }
    ONE_WORKER
    {
        s[BOOTSTRAP_WIDE] =
            has_beam(mr) && FIRST(losscone_beam_profile(run, PK(0.0))) > BEAM_LEAST_PROFILE ? R(1.0) : R(0.0);
    }
    TEAM_BARRIER();
}

/* Keys of the random numbers. */
typedef struct {
    u32 number, sweep_low, sweep_high, key0, key1;
} bootstrap_draw;

typedef struct {
    pack first, second;
} bootstrap_pair;

FN pack bootstrap_count(u32 first)
{
    real number[8];
    for (u32 j = 0; j < PACK; j++) number[j] = REAL_OF(first + j);
    return LOADP(number, 0);
}

/* Standard normal numbers from `block` on. f64 takes two words each, f32 one. */
FN bootstrap_pair bootstrap_normal(bootstrap_draw draw, u32 block)
{
    const u32 stream = BOOTSTRAP_STREAM | draw.number;
    bootstrap_pair z;
#if F64
    const plint blocks = PBITS(bootstrap_count(block) + PK(4503599627370496.0)) & PLI(0xffffffff);
    const rng_block b =
        rng_philox(blocks, PLI(stream), PLI(draw.sweep_low), PLI(draw.sweep_high), draw.key0, draw.key1);
    z.first = rng_normal_of(rng_uniform(b.word[0], b.word[1]));
    z.second = rng_normal_of(rng_uniform(b.word[2], b.word[3]));
#else
    real u[8], v[8];
    for (u32 j = 0; j < PACK; j++) {
        const philox_block b =
            philox(block + j, stream, draw.sweep_low, draw.sweep_high, draw.key0, draw.key1);
        u[j] = philox_uniform(b.word[0]);
        v[j] = philox_uniform(b.word[2]);
    }
    z.first = m_normal_quantile(LOADP(u, 0));
    z.second = m_normal_quantile(LOADP(v, 0));
#endif
    return z;
}

/* Writes data of the first `count` cells; returns data - one. */
FN pack bootstrap_put(GLOBAL const real *truth, GLOBAL const real *noise, GLOBAL real *data, u32 j, u32 count,
                      pack z, pack one)
{
    const pmask there = bootstrap_count(j) < PACK_OF_ELEM(count);
    const pack datum = PFMA(LOADP(noise, j), z, LOADP(truth, j));
    STOREP(data, j, PSELECT(there, datum, one));
    return PSELECT(there, datum - one, PK(0.0));
}

/* Draws `count` reflected cells of a row, or with `incident` all in the sweep's order. Adds
 * squares of datum - level 0; with `incident` only those of incident cells. */
FN acc8 bootstrap_cells(LOSSCONE_PARAMETERS, bootstrap_draw draw, u32 row, u32 count, u32 incident, acc8 sum)
{
    const u32 at = row * SWEEP_CELLS, cells = sweep_cells(mi),
              block = ((incident ? sweep_rows(mi) : 0) + row) * cells; /* of random numbers: on any grid */
    const pack one = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL));
    GLOBAL const real *truth = s + (incident ? BOOTSTRAP_ALL : BOOTSTRAP_REFLECTED) + at;
    GLOBAL const real *noise = s + (incident ? BOOTSTRAP_SIZE_ALL : BOOTSTRAP_SIZE_REFLECTED) + at;
    GLOBAL real *data = s + (incident ? CELLS_ALL : CELLS_DATA) + at;
    for (u32 j = 0; j < count; j += 16)
        for (u32 l = 0; l < 8; l += PACK) {
            const bootstrap_pair z = bootstrap_normal(draw, block + j + l);
            for (u32 cell = j + l; cell < j + 16 && cell < cells + l; cell += 8) {
                pack away =
                    bootstrap_put(truth, noise, data, cell, count, cell < j + 8 ? z.first : z.second, one);
                if (incident) {
                    const pmask known = LOADP(sweep + SWEEP_FLUX, at + cell) > PK(0.0),
                                reflected = cone_may_hold(LOADP(sweep + SWEEP_COSINE, at + cell));
                    away = PSELECT(AND(known, PNOT(reflected)), away, PK(0.0));
                }
                sum.part[l / PACK] = PFMA(away, away, sum.part[l / PACK]);
            }
        }
    return sum;
}

/* Data below each threshold, into step table 0. */
FN void bootstrap_sums(GLOBAL real *s, u32 row)
{
    const u32 levels = U32_OF(s[CELLS_LEVELS]), most = U32_OF((s + CELLS_MOST)[row]);
    GLOBAL const real *data = CELLS_DATA_OF(row);
    real sum = R(0.0);
    u32 j = 0;
    CELLS_STEP(0)[row] = sum;
    for (u32 k = 1; k <= levels; k++) {
        if (k > most)
            sum = R(0.0);
        else
            for (; j < U32_OF((s + CELLS_BELOW)[k * SWEEP_SLOTS + row]); j++) sum = flush(sum + data[j]);
        CELLS_STEP(0)[k * SWEEP_SLOTS + row] = sum;
    }
}

/* Draws new data. The whole team calls it. */
FN void bootstrap_renew(LOSSCONE_PARAMETERS, bootstrap_draw draw)
{
    TEAM_FOR(row, sweep_rows(mi)) {
        acc8 base = bootstrap_cells(LOSSCONE, draw, row, U32_OF((s + CELLS_COUNT)[row]), 0, acc8_zero());
        if (s[BOOTSTRAP_WIDE] > R(0.0)) base = bootstrap_cells(LOSSCONE, draw, row, sweep_cells(mi), 1, base);
        (s + CELLS_PART)[row] = acc8_total(base);
        bootstrap_sums(s, row);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        s[CELLS_BASE] = sum8(s + CELLS_PART, SWEEP_SLOTS);
    }
    cells_steps(LOSSCONE);
    beam_forget(s);
}
