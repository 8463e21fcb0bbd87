/* losscone_direct.h: the loss-cone model by its formula, cell by cell.
 *
 * At energy E and spacecraft potential V, E' = E - V, the cone's edge has sin^2 = x = r (1 + U / E'), clipped
 * to 0 .. 1 (Halekas et al. 2008, par. 37). Cells with theta > 90 degrees and sin^2(theta) < x have the
 * background, others 1; with the energy response the mean over five energies. A beam of amplitude A adds,
 * where V > U,
 *   A exp(-((E - c) / w)^2 / 2) exp(-((theta - 180) / sigma)^2 / 2),   c = max(V - U, w).
 *
 * A sweep is prepared once for all points (losscone_slab.h). */
#pragma once

#include "losscone/losscone_cone.h"
#include "losscone/losscone_slab.h"
#include "numeric/sum.h"

#define DIRECT_NONE 1e30           /* no datum */
#define LOSSCONE_LEAST_BEAM 1e-20  /* of the background: less changes no model */
#define LOSSCONE_LITTLE_BEAM 1e-10 /* of the background: less changes no misfit from tables */

typedef struct {
    u32 lillis, energies;
    u32 rows, cells; /* of the sweeps; cells to a multiple of 8 */
    real background, width, sigma;
    real reach;                        /* eV from a row's energy: beyond, the largest beam is little */
    real level[LOSSCONE_ENERGIES + 1]; /* the model with n of five energies in the cone */
    real datum[LOSSCONE_ENERGIES + 1]; /* the same as compared with data */
} losscone_run;

FN pack losscone_gaussian(pack z)
{
    return pflush(m_exp(PK(-0.5) * z * z));
}

FN losscone_run losscone_run_of(CONSTANT u32 *mi, CONSTANT elem *mr)
{
    losscone_run run;
    run.lillis = mi[LOSSCONE_METHOD];
    run.energies = mi[LOSSCONE_FOLDED] ? LOSSCONE_ENERGIES : 1;
    run.rows = sweep_rows(mi);
    run.cells = sweep_cells(mi);
    run.background = LOADM1(mr, LOSSCONE_BACKGROUND);
    run.width = LOADM1(mr, LOSSCONE_BEAM_WIDTH);
    run.sigma = LOADM1(mr, LOSSCONE_BEAM_SIGMA);
    const real most = LOADM1(mr, LOSSCONE_A_UPPER), least = R(LOSSCONE_LITTLE_BEAM) * run.background;
    run.reach = most > least ? run.width * SQRT(R(2.0) * FIRST(m_log(PACK_OF(DIVIDE(most, least))))) : R(0.0);
    for (u32 n = 0; n <= LOSSCONE_ENERGIES; n++) {
        const real inside = REAL_OF(n), level = DIVIDE(FMA(inside, run.background, R(5.0) - inside), R(5.0));
        run.level[n] = n == 0 ? R(1.0) : n == LOSSCONE_ENERGIES ? run.background : level;
        run.datum[n] = LOADM1(mr, LOSSCONE_LEVEL + n);
    }
    if (run.energies == 1) run.datum[LOSSCONE_ENERGIES] = LOADM1(mr, LOSSCONE_LEVEL + 1);
    return run;
}

/* sin^2 at the cone's edge, for energy k. */
FN real losscone_edge(real energy, real spacecraft, real potential, real ratio)
{
    const real x = cone_edge(potential, ratio, cone_inverse(energy, spacecraft));
    return x > R(0.0) ? (x < R(1.0) ? x : R(1.0)) : R(0.0);
}

/* 0 where it does not count. */
FN real losscone_beam(losscone_run run, real energy, real spacecraft, real potential, real amplitude)
{
    const real fall = spacecraft - potential;
    if (!(run.energies == 1 && run.width > R(0.0) && amplitude > R(0.0) && fall > R(0.0))) return R(0.0);
    const real z = flush(DIVIDE(energy - (fall > run.width ? fall : run.width), run.width));
    const real height = flush(amplitude * FIRST(losscone_gaussian(PACK_OF(z))));
    return height > R(LOSSCONE_LEAST_BEAM) * run.background ? height : R(0.0);
}

FN pack losscone_beam_profile(losscone_run run, pack cosine)
{
    if (!(run.sigma > R(0.0))) return PK(1.0);
    return losscone_gaussian(pflush(PDIVIDE(m_acos_degrees(cosine) - PK(180.0), PACK_OF(run.sigma))));
}

/* The same for reflected cells. */
FN pack losscone_beam_of_sine(real sigma, pack sine)
{
    const pack angle = m_asin_root_degrees(PSELECT(sine < PK(1.0), sine, PK(1.0)));
    return losscone_gaussian(sigma > R(0.0) ? pflush(PDIVIDE(angle, PACK_OF(sigma))) : PK(0.0));
}

/* With one energy the other edges are 0. */
typedef struct {
    real edge[LOSSCONE_ENERGIES], beam;
} losscone_row;

FN losscone_row losscone_row_of(losscone_run run, GLOBAL const elem *sweep, u32 i, real potential, real ratio,
                                real amplitude)
{
    const real energy = sweep[SWEEP_ENERGY + i], spacecraft = sweep[SWEEP_POTENTIAL + i];
    losscone_row row;
    for (u32 k = 0; k < LOSSCONE_ENERGIES; k++) {
        const real part = run.energies == 1 ? R(1.0) : REAL_OF((sweep + SWEEP_CHANNEL)[k * SWEEP_ROWS + i]);
        row.edge[k] = k < run.energies ? losscone_edge(energy * part, spacecraft, potential, ratio) : R(0.0);
    }
    row.beam = losscone_beam(run, energy, spacecraft, potential, amplitude);
    return row;
}

/* table[n]: n of five energies in the cone. */
FN pack losscone_of_cells(losscone_run run, losscone_row row, pack sine, PRIVATE const real *table)
{
    if (run.energies == 1)
        return PSELECT(PACK_OF(row.edge[0]) <= sine, PACK_OF(table[0]), PACK_OF(table[LOSSCONE_ENERGIES]));
    pack inside = PK(0.0), answer = PACK_OF(table[0]);
    for (u32 k = 0; k < LOSSCONE_ENERGIES; k++)
        inside = inside + PSELECT(PACK_OF(row.edge[k]) <= sine, PK(0.0), PK(1.0));
    for (u32 n = 1; n <= LOSSCONE_ENERGIES; n++)
        answer = PSELECT(inside == PACK_OF_ELEM(n), PACK_OF(table[n]), answer);
    return answer;
}

FN pack losscone_with_beam(losscone_run run, losscone_row row, pack sine, pack profile)
{
    return losscone_of_cells(run, row, sine, run.level) + pflush(PACK_OF(row.beam) * profile);
}

/* The model as compared with data. */
FN pack losscone_datum(losscone_run run, pack model)
{
    return run.lillis ? model : m_log(model + PK(LOSSCONE_FLOOR));
}

/* Prepares the sweep. The whole team calls it, up to a barrier. */
FN void direct_prepare(losscone_run run, GLOBAL const elem *sweep, GLOBAL real *s)
{
    TEAM_FOR_PACK(cell, run.rows * run.cells) {
        const u32 i = cell / run.cells * SWEEP_CELLS + cell % run.cells;
        const pack cosine = LOADP(sweep + SWEEP_COSINE, i), flux = LOADP(sweep + SWEEP_FLUX, i);
        const pmask known = flux > PK(0.0);
        const pack datum = losscone_datum(run, run.lillis ? flux : PSELECT(known, flux, PK(1.0)));
        STOREP(s + DIRECT_SINE, i, cone_sine_square(cosine));
        STOREP(s + DIRECT_PROFILE, i, losscone_beam_profile(run, cosine));
        STOREP(s + DIRECT_DATUM, i, PSELECT(known, datum, PK(DIRECT_NONE)));
    }
    TEAM_BARRIER();
}

/* Cells with data. */
FN real direct_count(losscone_run run, GLOBAL const real *s)
{
    acc8 count = acc8_zero();
    for (u32 row = 0; row < run.rows; row++)
        for (u32 i = row * SWEEP_CELLS; i < row * SWEEP_CELLS + run.cells; i += 8)
            for (u32 j = 0; j < 8; j += PACK)
                count.part[j / PACK] =
                    count.part[j / PACK] +
                    PSELECT(LOADP(s + DIRECT_DATUM, i + j) < PK(DIRECT_NONE), PK(1.0), PK(0.0));
    return acc8_total(count);
}

FN real direct_row(losscone_run run, GLOBAL const real *s, u32 i, losscone_row row)
{
    acc8 sum = acc8_zero();
    for (u32 cell = i * SWEEP_CELLS; cell < i * SWEEP_CELLS + run.cells; cell += 8)
        for (u32 j = 0; j < 8; j += PACK) {
            const pack sine = LOADP(s + DIRECT_SINE, cell + j), datum = LOADP(s + DIRECT_DATUM, cell + j);
            pack model;
            if (row.beam > R(0.0))
                model = losscone_datum(
                    run, losscone_with_beam(run, row, sine, LOADP(s + DIRECT_PROFILE, cell + j)));
            else
                model = losscone_of_cells(run, row, sine, run.datum);
            const pack rest = PSELECT(datum < PK(DIRECT_NONE), pflush(datum - model), PK(0.0));
            sum.part[j / PACK] = PFMA(rest, rest, sum.part[j / PACK]);
        }
    return acc8_total(sum);
}

/* Degrees of freedom for Lillis, else 1. */
FN real losscone_divisor(losscone_run run, real cells)
{
    return run.lillis && cells > R(4.0) ? cells - R(3.0) : R(1.0);
}
