/* losscone_cells.h: a sweep as the searches see it: for each row the cells that may be in the loss cone, in the order
 * in which they enter it, and the misfit as a step function of their number.
 *
 * A cell at pitch angle theta > 90 degrees is in the cone where sin^2(theta) < x = r (1 + U / E'), E' =
 * energy less spacecraft potential. With a = r, b = r U and c = 1 / E' each threshold is a straight line a +
 * c b = sin^2 in the plane of a, b. Rows have up to SWEEP_CELLS thresholds, ascending; cells at the same
 * angle are one threshold. k(x) = number of thresholds below x.
 *
 * The misfit is BASE + the sum over families of STEP(family, k(x_family)). With a hard edge a family is a
 * row. With the energy response a row is five families, of the energies E (1 + w {1, 1/2, 0, -1/2, -1}):
 * where n of the five see a cell in the cone the model is level n, and the row's misfit telescopes,
 *   sum over n = 1 .. 5 of G_n(k of the n-th largest x),  G_n(k) = sum over the first k cells of (d - level
 *       n)^2 - (d - level n-1)^2.
 * For U <= 0 the n-th largest x is that of the n-th highest energy, for U > 0 that of the n-th lowest; so
 * searches cut their boxes at U = 0.
 *
 * Numbers lie by rows of SLOTS: row i of what belongs to threshold k at k SLOTS + i, so that packs hold
 * neighbouring energies.
 */
#ifndef PARITAS_LOSSCONE_CELLS_H
#define PARITAS_LOSSCONE_CELLS_H

#include "losscone/losscone_cone.h"
#include "losscone/losscone_sizes.h"
#include "numeric/sum.h"

#define NO_THRESHOLD R(1e30) /* that no x reaches */
#if F64
#define SAME_THRESHOLD R(4e-12) /* what rounding of cosines may set apart */
#else
#define SAME_THRESHOLD R(1e-6)
#endif

/* In the slab, from `s` on. */
#define CELLS_SCALAR(i) (s)[i]
#define CELLS_BASE CELLS_SCALAR(0)   /* misfit where no cell is in the cone */
#define CELLS_NUMBER CELLS_SCALAR(1) /* valid cells, of both hemispheres */
#define CELLS_LEVELS CELLS_SCALAR(2) /* most thresholds of a row */
#define CELLS_INVERSE (s + 16)       /* c of each family, FAMILIES_MOST; those of a row by falling energy */
#define CELLS_COUNT (s + 96)         /* reflected valid cells of each row, SLOTS */
#define CELLS_MOST (s + 112)         /* thresholds of each row, SLOTS */
#define CELLS_PART (s + 128)         /* sums of each row, 2 SLOTS */
#define CELLS_THRESHOLD (s + 160)    /* ascending; NO_THRESHOLD behind the last */
#define CELLS_STEP(n) (CELLS_THRESHOLD + (size_t)(1 + (n)) * CELLS_TABLE) /* STEP or G_(n+1) of each k */
#define CELLS_BELOW CELLS_STEP(SUB_ENERGIES) /* how many cells the first k thresholds hold */
/* ln(flux + 1e-6), for Lillis the flux, of the reflected cells of row i from i SWEEP_CELLS on, in the order
 * of the thresholds */
#define CELLS_DATA (CELLS_BELOW + CELLS_TABLE)
#define CELLS_SINE (CELLS_DATA + SLOTS * SWEEP_CELLS) /* sin^2 of their pitch angles */
#define CELLS_ALL (CELLS_SINE + SLOTS * SWEEP_CELLS)  /* data of all cells, in the sweep's order */

FN u32 losscone_families(CONSTANT u32 *mi)
{
    return mi[LOSSCONE_FOLDED] ? FAMILIES_MOST : SLOTS;
}

/* What the misfit compares with the model. */
FN pack datum_of(u32 method, pack flux)
{
    return method ? flux : m_log(flux + PK(LOSSCONE_FLOOR));
}

/* Data and squared sines of row i; the valid reflected ones first, in the sweep's order, behind them
 * NO_THRESHOLD up to a multiple of 8. */
FN void cells_of_row(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, u32 row)
{
    const pack one = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL)), zero = PK(0.0);
    GLOBAL const elem *cosines = sweep + SWEEP_COSINE + row * SWEEP_CELLS,
                      *fluxes = sweep + SWEEP_FLUX + row * SWEEP_CELLS;
    GLOBAL real *all = CELLS_ALL + row * SWEEP_CELLS, *sines = CELLS_STEP(1) + row * SWEEP_CELLS;
    GLOBAL real *data = CELLS_STEP(3) + row * SWEEP_CELLS, *sine = CELLS_STEP(2) + row * SWEEP_CELLS;
    acc8 base = acc8_zero(), valid = acc8_zero();
    for (u32 j = 0; j < SWEEP_CELLS; j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const pack flux = LOADP(fluxes, j + l), cosine = LOADP(cosines, j + l),
                       datum = datum_of(mi[LOSSCONE_METHOD], flux);
            const pmask there = flux > zero;
            const pack away = PSELECT(there, datum - one, zero);
            base.part[l / PACK] = PFMA(away, away, base.part[l / PACK]);
            valid.part[l / PACK] = valid.part[l / PACK] + PSELECT(there, PK(1.0), zero);
            STOREP(all, j + l, datum);
            STOREP(
                sines, j + l,
                PSELECT(AND(there, cone_may_hold(cosine)), cone_sine_square(cosine), PACK_OF(NO_THRESHOLD)));
        }
    u32 n = 0;
    for (u32 j = 0; j < SWEEP_CELLS; j++) {
        const real x = sines[j];
        sine[n] = x;
        data[n] = all[j];
        n += x < NO_THRESHOLD;
    }
    for (u32 j = n; j < ((n + 7) & ~7u); j++) sine[j] = NO_THRESHOLD;
    CELLS_COUNT[row] = REAL_OF(n);
    CELLS_PART[row] = acc8_total(base);
    CELLS_PART[SLOTS + row] = acc8_total(valid);
}

/* The reflected cells of row i by ascending sin^2; then thresholds, and how many cells and what sum of data
 * each leaves below (the latter in the place of step table 0). Each cell's place is the number of those below
 * it, a pack of cells at a time; equal ones take the next place that is free. */
FN void cells_sort(GLOBAL real *s, u32 row)
{
    GLOBAL real *data = CELLS_DATA + row * SWEEP_CELLS, *sine = CELLS_SINE + row * SWEEP_CELLS;
    GLOBAL const real *from_data = CELLS_STEP(3) + row * SWEEP_CELLS,
                      *from_sine = CELLS_STEP(2) + row * SWEEP_CELLS;
    GLOBAL real *place = CELLS_STEP(1) + row * SWEEP_CELLS;
    const u32 n = U32_OF(CELLS_COUNT[row]);
    for (u32 i = 0; i < n; i += PACK) {
        const pack own = LOADP(from_sine, i);
        pack below = PK(0.0);
        for (u32 j = 0; j < n; j++) below = below + PSELECT(PACK_OF(from_sine[j]) < own, PK(1.0), PK(0.0));
        STOREP(place, i, below);
    }
    for (u32 j = 0; j < n; j++) sine[j] = NO_THRESHOLD;
    for (u32 j = 0; j < n; j++) {
        u32 at = U32_OF(place[j]);
        while (sine[at] < NO_THRESHOLD) at++;
        sine[at] = from_sine[j];
        data[at] = from_data[j];
    }
    u32 k = 0;
    real sum = R(0.0), first = R(0.0);
    CELLS_BELOW[row] = sum;
    CELLS_STEP(0)[row] = sum;
    for (u32 j = 0; j < n; j++) {
        if (j == 0 || sine[j] - first > SAME_THRESHOLD) {
            first = sine[j];
            CELLS_THRESHOLD[k * SLOTS + row] = first;
            k++;
        }
        sum = flush(sum + data[j]);
        CELLS_BELOW[k * SLOTS + row] = REAL_OF(j + 1);
        CELLS_STEP(0)[k * SLOTS + row] = sum;
    }
    CELLS_MOST[row] = REAL_OF(k);
}

/* Steps of the misfit from sums of data, which are in the place of step table 0: differences of squares, of d
 * - l' and d - l, (l - l') (2 d - l - l'). By the whole team; the slab may be read behind it. */
FN void cells_steps(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL real *s)
{
    const u32 levels = U32_OF(CELLS_LEVELS), tables = mi[LOSSCONE_FOLDED] ? SUB_ENERGIES : 1u;
    TEAM_FOR_PACK(i, (levels + 1) * SLOTS) {
        const pack sum = LOADP(CELLS_STEP(0), i), below = LOADP(CELLS_BELOW, i);
        for (u32 n = 0; n < tables; n++) {
            const pack before = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + n)),
                       behind = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + 1 + n));
            STOREP(CELLS_STEP(n), i,
                   pflush((before - behind) * PFMA(-below, before + behind, PK(2.0) * sum)));
        }
    }
    TEAM_BARRIER();
}

/* Fills the slab from the row of a sweep. By the whole team; the slab may be read behind it. */
FN void cells_prepare(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s)
{
    const u32 folded = mi[LOSSCONE_FOLDED];
    TEAM_FOR(row, SLOTS) {
        if (row < SWEEP_ROWS)
            cells_of_row(mi, mr, sweep, s, row);
        else
            CELLS_COUNT[row] = CELLS_PART[row] = CELLS_PART[SLOTS + row] = R(0.0);
        const real energy = row < SWEEP_ROWS ? REAL_OF(sweep[SWEEP_ENERGY + row]) : R(1.0),
                   potential = row < SWEEP_ROWS ? REAL_OF(sweep[SWEEP_POTENTIAL + row]) : R(0.0);
        if (folded) {
            const real width = LOADM1(mr, LOSSCONE_RESPONSE);
            for (u32 n = 0; n < SUB_ENERGIES; n++)
                CELLS_INVERSE[n * SLOTS + row] = cone_inverse(energy * cone_part(width, n), potential);
        } else
            CELLS_INVERSE[row] = cone_inverse(energy, potential);
    }
    TEAM_BARRIER();
    TEAM_FOR(row, SLOTS) cells_sort(s, row);
    TEAM_BARRIER();
    ONE_WORKER
    {
        real most = R(0.0);
        for (u32 row = 0; row < SLOTS; row++) most = CELLS_MOST[row] > most ? CELLS_MOST[row] : most;
        CELLS_LEVELS = most;
        CELLS_BASE = sum8(CELLS_PART, SLOTS);
        CELLS_NUMBER = sum8(CELLS_PART + SLOTS, SLOTS);
    }
    TEAM_BARRIER();
    const u32 levels = U32_OF(CELLS_LEVELS);
    /* the ends of shorter rows */
    TEAM_FOR(row, SLOTS) {
        for (u32 k = U32_OF(CELLS_MOST[row]); k <= levels; k++) {
            CELLS_THRESHOLD[k * SLOTS + row] = NO_THRESHOLD;
            if (k < levels) {
                CELLS_BELOW[(k + 1) * SLOTS + row] = CELLS_COUNT[row];
                CELLS_STEP(0)[(k + 1) * SLOTS + row] = R(0.0);
            }
        }
    }
    TEAM_BARRIER();
    cells_steps(mi, mr, s);
}

/* How many thresholds of row i are below x. */
FN u32 thresholds_below(GLOBAL const real *s, u32 row, real x)
{
    u32 k = 0;
    while (CELLS_THRESHOLD[k * SLOTS + row] < x) k++;
    return k;
}

#endif
