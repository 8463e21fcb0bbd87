/* losscone_bootstrap.h: data as the model at a point would have given them, with new noise, in the place of a sweep's.
 *
 * Only cells whose model depends on the parameters are drawn: the reflected ones, and all where the beam is
 * so wide that it reaches the others. What the rest adds is the same for all parameters and cancels in
 * differences. Noise is normal, of one size, on what the misfit compares: logarithms, of Lillis fluxes.
 */
#ifndef PARITAS_LOSSCONE_BOOTSTRAP_H
#define PARITAS_LOSSCONE_BOOTSTRAP_H

#include "losscone/losscone_direct.h"
#include "losscone/losscone_profile.h"
#include "numeric/philox.h"
#include "numeric/rng.h"

/* What the misfit would compare with without noise: of the reflected cells of row i in the order of the
 * thresholds from i SWEEP_CELLS on, of all cells in the sweep's order. */
#define BOOTSTRAP_REFLECTED (s + BOOTSTRAP_AT)
#define BOOTSTRAP_ALL (BOOTSTRAP_REFLECTED + SLOTS * SWEEP_CELLS)
#define BOOTSTRAP_WIDE (BOOTSTRAP_ALL + SLOTS * SWEEP_CELLS)[0] /* 1: all cells are drawn */
#define BOOTSTRAP_STREAM 0x80000000u /* with the draw: no other random number of a sweep has that word */

typedef struct {
    pack first, second;
} bootstrap_pair;

/* 0, 1, .. from `first` on. */
FN pack bootstrap_count(u32 first)
{
    real number[8];
    for (u32 j = 0; j < PACK; j++) number[j] = REAL_OF(first + j);
    return LOADP(number, 0);
}

/* Two packs of standard normal numbers, of the blocks from `number` on of the draw's stream. In f64 from two
 * words each, in f32 from one. */
FN bootstrap_pair bootstrap_normal(u32 number, u32 draw, u32 sweep_low, u32 sweep_high, u32 key0, u32 key1)
{
    bootstrap_pair z;
#if F64
    const plint numbers = PBITS(bootstrap_count(number) + PK(4503599627370496.0)) & PLI(0xffffffff);
    const rng_block b =
        rng_philox(numbers, PLI(BOOTSTRAP_STREAM | draw), PLI(sweep_low), PLI(sweep_high), key0, key1);
    z.first = rng_normal_of(rng_uniform(b.word[0], b.word[1]));
    z.second = rng_normal_of(rng_uniform(b.word[2], b.word[3]));
#else
    real u[8], v[8];
    for (u32 j = 0; j < PACK; j++) {
        const philox_block b = philox(number + j, BOOTSTRAP_STREAM | draw, sweep_low, sweep_high, key0, key1);
        u[j] = philox_uniform(b.word[0]);
        v[j] = philox_uniform(b.word[2]);
    }
    z.first = m_normal_quantile(LOADP(u, 0));
    z.second = m_normal_quantile(LOADP(v, 0));
#endif
    return z;
}

/* What cells with these squared sines and cosines are compared with at the point, whose row this is. */
FN pack bootstrap_truth(losscone_run run, losscone_row row, pack sine, pack cosine)
{
    if (!(row.beam > R(0.0))) return losscone_of_cells(run, row, sine, run.datum);
    const pack model = losscone_of_cells(run, row, sine, run.level) +
                       pflush(PACK_OF(row.beam) * losscone_beam_profile(run, cosine));
    return run.lillis ? model : m_log(model + PK(LOSSCONE_FLOOR));
}

/* The truth of all cells, behind cells_prepare. By the whole team, up to a barrier. */
FN void bootstrap_begin(losscone_run run, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                        real potential, real ratio, real amplitude)
{
    TEAM_FOR(i, SWEEP_ROWS) {
        const losscone_row row = losscone_row_of(run, sweep[SWEEP_ENERGY + i], sweep[SWEEP_POTENTIAL + i],
                                                 potential, ratio, amplitude);
        const u32 reflected = U32_OF(CELLS_COUNT[i]);
        for (u32 j = 0; j < SWEEP_CELLS; j += PACK) {
            const u32 at = i * SWEEP_CELLS + j;
            const pack cosine = LOADP(sweep, SWEEP_COSINE + at);
            STOREP(BOOTSTRAP_ALL, at, bootstrap_truth(run, row, cone_sine_square(cosine), cosine));
            if (j >= reflected) continue;
            const pack sine = LOADP(CELLS_SINE, at),
                       square = PSELECT(sine < PK(1.0), PK(1.0) - sine, PK(0.0));
            STOREP(BOOTSTRAP_REFLECTED, at, bootstrap_truth(run, row, sine, -PSQRT(square)));
        }
    }
    ONE_WORKER
    {
        BOOTSTRAP_WIDE =
            has_beam(mr) && FIRST(losscone_beam_profile(run, PK(0.0))) > BEAM_LEAST_PROFILE ? R(1.0) : R(0.0);
    }
    TEAM_BARRIER();
}

/* New data of cells row SWEEP_CELLS + j .. of an array, those below `count` of the row; answers what they
 * differ from `one`. */
FN pack bootstrap_put(GLOBAL const real *truth, GLOBAL real *data, u32 row, u32 j, u32 count, pack z,
                      real noise, pack one)
{
    const pmask there = bootstrap_count(j) < PACK_OF_ELEM(count);
    const pack datum = PFMA(PACK_OF(noise), z, LOADP(truth, row * SWEEP_CELLS + j));
    STOREP(data, row * SWEEP_CELLS + j, PSELECT(there, datum, one));
    return PSELECT(there, datum - one, PK(0.0));
}

/* Draws the data of a row and sums them for its steps. */
FN void bootstrap_row(CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, u32 row, real noise,
                      u32 draw, u32 sweep_low, u32 sweep_high, u32 key0, u32 key1)
{
    const u32 reflected = U32_OF(CELLS_COUNT[row]), levels = U32_OF(CELLS_LEVELS),
              most = U32_OF(CELLS_MOST[row]);
    const pack one = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL));
    GLOBAL const real *data = CELLS_DATA + row * SWEEP_CELLS;
    acc8 base = acc8_zero();
    for (u32 j = 0; j < reflected; j += 16)
        for (u32 l = 0; l < 8; l += PACK) {
            const bootstrap_pair z =
                bootstrap_normal(row * SWEEP_CELLS + j + l, draw, sweep_low, sweep_high, key0, key1);
            for (u32 upper = 0; upper < 16 && j + upper < SWEEP_CELLS; upper += 8) {
                const pack away = bootstrap_put(BOOTSTRAP_REFLECTED, CELLS_DATA, row, j + upper + l,
                                                reflected, upper ? z.second : z.first, noise, one);
                base.part[l / PACK] = PFMA(away, away, base.part[l / PACK]);
            }
        }
    if (BOOTSTRAP_WIDE > R(0.0)) /* incident ones too */
        for (u32 j = 0; j < SWEEP_CELLS; j += 16)
            for (u32 l = 0; l < 8; l += PACK) {
                const bootstrap_pair z = bootstrap_normal(SWEEP_ALL + row * SWEEP_CELLS + j + l, draw,
                                                          sweep_low, sweep_high, key0, key1);
                for (u32 upper = 0; upper < 16 && j + upper < SWEEP_CELLS; upper += 8) {
                    const u32 at = row * SWEEP_CELLS + j + upper + l;
                    const pack away = bootstrap_put(BOOTSTRAP_ALL, CELLS_ALL, row, j + upper + l, SWEEP_CELLS,
                                                    upper ? z.second : z.first, noise, one);
                    const pack counted = PSELECT(AND(LOADP(sweep, SWEEP_FLUX + at) > PK(0.0),
                                                     PNOT(cone_may_hold(LOADP(sweep, SWEEP_COSINE + at)))),
                                                 away, PK(0.0));
                    base.part[l / PACK] = PFMA(counted, counted, base.part[l / PACK]);
                }
            }
    CELLS_PART[row] = acc8_total(base);
    real sum = R(0.0);
    u32 j = 0;
    CELLS_STEP(0)[row] = sum;
    for (u32 k = 1; k <= levels; k++) {
        if (k > most)
            sum = R(0.0);
        else
            for (; j < U32_OF(CELLS_BELOW[k * SLOTS + row]); j++) sum = flush(sum + data[j]);
        CELLS_STEP(0)[k * SLOTS + row] = sum;
    }
}

/* New data, ready to be searched. By the whole team. */
FN void bootstrap_draw(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                       real noise, u32 draw, u32 sweep_low, u32 sweep_high)
{
    TEAM_FOR(row, SWEEP_ROWS)
        bootstrap_row(mr, sweep, s, row, noise, draw, sweep_low, sweep_high, mi[LOSSCONE_SEED],
                      mi[LOSSCONE_SEED + 1]);
    TEAM_BARRIER();
    ONE_WORKER
    {
        CELLS_BASE = sum8(CELLS_PART, SLOTS);
    }
    cells_steps(mi, mr, s);
    beam_forget(s);
}

#endif
