/* point.h: the misfit of a point (U, r, A) from the tables of cells.h: a look-up a row, and the cells that the beam reaches one by one.
 *
 * A bucket of x says where the search among a row's thresholds starts: with 64 of them it has one step to go on average. The beam changes the models of few cells: those near
 * 180 degrees of rows whose energy is near what the electrons gain. Their data stand apart, those of a row by rising sine.
 */
#ifndef PARITAS_LOSSCONE_POINT_H
#define PARITAS_LOSSCONE_POINT_H

#include "losscone/cells.h"
#include "losscone/direct.h"

#define POINT_BUCKETS 64
#define POINT_STRIDE 72 /* buckets of a row, and one for x above 1 */
/* In the slab, from `s` on, behind what cells.h has. */
#define POINT_START (s + CELLS_SIZE)                            /* of row i from i POINT_STRIDE on */
#define POINT_REACHED (POINT_START + SLOTS * POINT_STRIDE)      /* how many cells of each row the beam may reach, up to a multiple of 8 */
#define POINT_PROFILE (POINT_REACHED + SLOTS)                   /* of row i from i SWEEP_CELLS on: the beam's profile, 0 in the padding */
#define POINT_SINE (POINT_PROFILE + SLOTS * SWEEP_CELLS)        /* sin^2, 2 for cells that are never in the cone */
#define POINT_DATUM (POINT_SINE + SLOTS * SWEEP_CELLS)
#define POINT_ENERGY (POINT_DATUM + SLOTS * SWEEP_CELLS)        /* of each row, eV */
#define POINT_SPACECRAFT (POINT_ENERGY + SLOTS)                 /* its potential, V */
#define POINT_END (CELLS_SIZE + SLOTS * POINT_STRIDE + 3 * SLOTS * SWEEP_CELLS + 3 * SLOTS)

/* The cells of a row that the beam may reach. */
FN void point_reach(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, u32 row, real most)
{
    GLOBAL real *profile = POINT_PROFILE + row * SWEEP_CELLS, *sine = POINT_SINE + row * SWEEP_CELLS, *datum = POINT_DATUM + row * SWEEP_CELLS;
    const u32 reflected = row < SWEEP_ROWS ? U32_OF(CELLS_COUNT[row]) : 0;
    u32 n = 0;
    int more = most > R(0.0);
    for (u32 j = 0; j < reflected && more; j += PACK) { /* by rising sine, so by falling profile */
        const pack square = LOADP(CELLS_SINE + row * SWEEP_CELLS, j);
        const pack angle = run.sigma > R(0.0) ? pflush(PDIVIDE(m_asin_root_degrees(PSELECT(square < PK(1.0), square, PK(1.0))), PACK_OF(run.sigma))) : PK(0.0);
        const pack height = pflush(m_exp(PK(-0.5) * angle * angle));
        for (u32 l = 0; l < PACK && j + l < reflected; l++) {
            if (!(most * ELEMENT(height, l) > R(LOSSCONE_LITTLE_BEAM) * run.background)) {
                more = 0;
                break;
            }
            profile[n] = ELEMENT(height, l);
            sine[n] = ELEMENT(square, l);
            datum[n++] = CELLS_DATA[row * SWEEP_CELLS + j + l];
        }
    }
    /* incident cells, where the profile is wide enough */
    if (row < SWEEP_ROWS && more)
        for (u32 j = 0; j < SWEEP_CELLS; j++) {
            const u32 cell = row * SWEEP_CELLS + j;
            if (!(sweep[SWEEP_FLUX + cell] > R(0.0) && sweep[SWEEP_COSINE + cell] >= R(0.0))) continue;
            const real height = FIRST(losscone_profile(run, PACK_OF(REAL_OF(sweep[SWEEP_COSINE + cell]))));
            if (!(most * height > R(LOSSCONE_LITTLE_BEAM) * run.background)) continue;
            profile[n] = height;
            sine[n] = R(2.0);
            datum[n++] = CELLS_ALL[cell];
        }
    for (; n % 8 != 0; n++) {
        profile[n] = R(0.0);
        sine[n] = R(2.0);
        datum[n] = R(0.0);
    }
    POINT_REACHED[row] = REAL_OF(n);
}

/* Fills what this file has, behind cells_prepare. `most`: the largest amplitude that will be asked for. By the whole team; the slab may be read behind it. */
FN void point_prepare(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s, real most)
{
    TEAM_FOR(row, SLOTS)
    {
        const u32 thresholds = U32_OF(CELLS_MOST[row]);
        GLOBAL real *start = POINT_START + row * POINT_STRIDE;
        u32 k = 0;
        for (u32 b = 0; b < POINT_BUCKETS; b++) {
            const real x = REAL_OF(b) * R(0.015625); /* 1 / POINT_BUCKETS */
            while (CELLS_THRESHOLD[k * SLOTS + row] < x) k++;
            start[b] = REAL_OF(k);
        }
        start[POINT_BUCKETS] = REAL_OF(thresholds);
        POINT_ENERGY[row] = row < SWEEP_ROWS ? REAL_OF(sweep[SWEEP_ENERGY + row]) : R(1.0);
        POINT_SPACECRAFT[row] = row < SWEEP_ROWS ? REAL_OF(sweep[SWEEP_POTENTIAL + row]) : R(0.0);
        point_reach(run, sweep, s, row, most);
    }
    TEAM_BARRIER();
}

/* Thresholds of a row below x. */
FN u32 point_below(GLOBAL const real *s, u32 row, real x)
{
    if (!(x > R(0.0))) return 0;
    u32 k = U32_OF(POINT_START[row * POINT_STRIDE + (x > R(1.0) ? POINT_BUCKETS : x < R(1.0) ? U32_OF(x * REAL_OF(POINT_BUCKETS)) : POINT_BUCKETS - 1)]);
    while (CELLS_THRESHOLD[k * SLOTS + row] < x) k++;
    return k;
}

/* What a beam of this height changes of a row's misfit. */
FN real point_beam(losscone_run run, GLOBAL const real *s, u32 row, real edge, real height)
{
    const u32 n = U32_OF(POINT_REACHED[row]);
    const pack one = PACK_OF(run.level[0]), background = PACK_OF(run.background), datum_one = PACK_OF(run.datum[0]), datum_background = PACK_OF(run.datum[LOSSCONE_ENERGIES]);
    acc8 sum = acc8_zero();
    for (u32 i = row * SWEEP_CELLS; i < row * SWEEP_CELLS + n; i += 8)
        for (u32 j = 0; j < 8; j += PACK) {
            const pack profile = LOADP(POINT_PROFILE, i + j), datum = LOADP(POINT_DATUM, i + j);
            const pmask inside = LOADP(POINT_SINE, i + j) < PACK_OF(edge);
            pack model = PSELECT(inside, background, one) + pflush(PACK_OF(height) * profile);
            if (!run.lillis) model = m_log(model + PK(LOSSCONE_FLOOR));
            const pack before = datum - PSELECT(inside, datum_background, datum_one), behind = datum - model;
            const pack change = pflush((before - behind) * (before + behind));
            sum.part[j / PACK] = sum.part[j / PACK] - PSELECT(profile > PK(0.0), change, PK(0.0));
        }
    return acc8_total(sum);
}

/* The sum of squared differences at a point. */
FN real point_misfit(losscone_run run, GLOBAL const real *s, real potential, real ratio, real amplitude)
{
    real sum = R(0.0), beams = R(0.0);
    if (run.energies == 1) {
        for (u32 row = 0; row < SWEEP_ROWS; row++) {
            const real edge = cone_edge(potential, ratio, CELLS_INVERSE[row]);
            sum = sum + CELLS_STEP(0)[point_below(s, row, edge) * SLOTS + row];
        }
        if (amplitude > R(0.0))
            for (u32 row = 0; row < SWEEP_ROWS; row++) {
                const real fall = POINT_SPACECRAFT[row] - potential, away = POINT_ENERGY[row] - (fall > run.width ? fall : run.width);
                if (!(POINT_REACHED[row] > R(0.0)) || away > run.reach || away < -run.reach) continue;
                const real height = losscone_beam(run, POINT_ENERGY[row], POINT_SPACECRAFT[row], potential, amplitude);
                if (height > R(0.0)) beams = beams + point_beam(run, s, row, cone_edge(potential, ratio, CELLS_INVERSE[row]), height);
            }
    } else
        for (u32 row = 0; row < SWEEP_ROWS; row++)
            for (u32 n = 0; n < SUB_ENERGIES; n++) {
                const u32 energy = potential > R(0.0) ? SUB_ENERGIES - 1 - n : n;
                const real edge = cone_edge(potential, ratio, CELLS_INVERSE[energy * SLOTS + row]);
                sum = sum + CELLS_STEP(n)[point_below(s, row, edge) * SLOTS + row];
            }
    sum = flush(CELLS_BASE + sum + beams);
    return sum > R(0.0) ? sum : R(0.0);
}

#endif
