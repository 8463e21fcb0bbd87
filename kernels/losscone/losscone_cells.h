/* losscone_cells.h: a sweep for the searches: each row's misfit as a step function of its cells in the cone.
 *
 * A cell at pitch angle theta > 90 degrees is in the cone where sin^2(theta) < x = r (1 + U / E'), E' =
 * energy less spacecraft potential. With a = r, b = r U, c = 1 / E' a threshold is the straight line a + c b
 * = sin^2. A row has up to SWEEP_CELLS ascending thresholds, one per angle. k(x) = number of thresholds below
 * x.
 *
 * Misfit = BASE + sum over families of STEP(family, k(x_family)). With a hard edge a family is a row. With
 * the energy response a row is five families, of the energies of its channel (SWEEP_CHANNEL). With n of the
 * five in the cone the model is level n, and the row's misfit telescopes:
 *   sum over n = 1 .. 5 of G_n(k of the n-th largest x),
 *   G_n(k) = sum over the first k cells of (d - level n)^2 - (d - level n-1)^2.
 * The n-th largest x has the n-th highest energy for U <= 0, the n-th lowest ("reversed") for U > 0. So
 * searches cut boxes at U = 0. */
#pragma once

#include "losscone/losscone_cone.h"
#include "losscone/losscone_slab.h"
#include "numeric/sum.h"

#define LOSSCONE_PARAMETERS CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s
#define LOSSCONE mi, mr, sweep, s

#define NO_THRESHOLD R(1e30)              /* no x reaches it */
#define SAME_THRESHOLD LIMIT(4e-12, 1e-6) /* rounding of cosines */

#define CELLS_STEP(n) (s + CELLS_STEPS + (n) * CELLS_TABLE)
#define CELLS_DATA_OF(row) (s + CELLS_DATA + (row) * SWEEP_CELLS)

FN u32 losscone_families(CONSTANT u32 *mi)
{
    return mi[LOSSCONE_FOLDED] ? SWEEP_FAMILIES : SWEEP_SLOTS;
}

FN u32 families_reversed(CONSTANT u32 *mi, real potential)
{
    return mi[LOSSCONE_FOLDED] && potential > R(0.0);
}

FN real family_inverse(GLOBAL const real *s, u32 family, u32 reversed)
{
    const u32 n = family / SWEEP_SLOTS, row = family % SWEEP_SLOTS;
    return (s + CELLS_INVERSE)[(reversed ? LOSSCONE_ENERGIES - 1 - n : n) * SWEEP_SLOTS + row];
}

FN real family_step(GLOBAL const real *s, u32 family, u32 k)
{
    return CELLS_STEP(family / SWEEP_SLOTS)[k * SWEEP_SLOTS + family % SWEEP_SLOTS];
}

FN real row_threshold(GLOBAL const real *s, u32 row, u32 k)
{
    return (s + CELLS_THRESHOLD)[k * SWEEP_SLOTS + row];
}

FN u32 thresholds_below(GLOBAL const real *s, u32 row, real x)
{
    u32 k = 0;
    while (row_threshold(s, row, k) < x) k++;
    return k;
}

FN pack datum_of(u32 method, pack flux)
{
    return method ? flux : m_log(flux + PK(LOSSCONE_FLOOR));
}

/* The valid reflected cells first, then NO_THRESHOLD to a multiple of 8, in the place of step tables. */
FN void cells_of_row(LOSSCONE_PARAMETERS, u32 row)
{
    const pack one = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL)), zero = PK(0.0);
    const u32 first = row * SWEEP_CELLS;
    GLOBAL real *all = s + CELLS_ALL + first, *sines = CELLS_STEP(1) + first, *data = CELLS_STEP(3) + first,
                *sine = CELLS_STEP(2) + first;
    acc8 base = acc8_zero(), valid = acc8_zero();
    for (u32 j = 0; j < sweep_cells(mi); j += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const pack flux = LOADP(sweep + SWEEP_FLUX, first + j + l),
                       cosine = LOADP(sweep + SWEEP_COSINE, first + j + l),
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
    for (u32 j = 0; j < sweep_cells(mi); j++) {
        const real x = sines[j];
        sine[n] = x;
        data[n] = all[j];
        n += x < NO_THRESHOLD;
    }
    for (u32 j = n; j < ((n + 7) & ~7u); j++) sine[j] = NO_THRESHOLD;
    (s + CELLS_COUNT)[row] = REAL_OF(n);
    (s + CELLS_PART)[row] = acc8_total(base);
    (s + CELLS_VALID)[row] = acc8_total(valid);
}

/* Inverses of a row, or of its five energies. */
FN void cells_inverses(LOSSCONE_PARAMETERS, u32 row)
{
    const real energy = row < sweep_rows(mi) ? REAL_OF(sweep[SWEEP_ENERGY + row]) : R(1.0),
               potential = row < sweep_rows(mi) ? REAL_OF(sweep[SWEEP_POTENTIAL + row]) : R(0.0);
    if (mi[LOSSCONE_FOLDED])
        for (u32 n = 0; n < LOSSCONE_ENERGIES; n++) {
            const real part =
                row < sweep_rows(mi) ? REAL_OF((sweep + SWEEP_CHANNEL)[n * SWEEP_ROWS + row]) : R(1.0);
            (s + CELLS_INVERSE)[n * SWEEP_SLOTS + row] = cone_inverse(energy * part, potential);
        }
    else
        (s + CELLS_INVERSE)[row] = cone_inverse(energy, potential);
}

/* Sorts reflected cells by sin^2 and finds the thresholds, with cells and sums of data below (sums in step
 * table 0). A cell's place is the number of those below it, a pack at a time; equal cells take the next free
 * place. */
FN void cells_sort(GLOBAL real *s, u32 row)
{
    const u32 at = row * SWEEP_CELLS, n = U32_OF((s + CELLS_COUNT)[row]);
    GLOBAL real *data = CELLS_DATA_OF(row), *sine = s + CELLS_SINE + at, *place = CELLS_STEP(1) + at;
    GLOBAL const real *from_data = CELLS_STEP(3) + at, *from_sine = CELLS_STEP(2) + at;
    for (u32 i = 0; i < n; i += PACK) {
        const pack own = LOADP(from_sine, i);
        pack below = PK(0.0), others = PK(0.0); /* counts: in any order, and two at once are faster */
        for (u32 j = 0; j < n; j += 2) {
            below = below + PSELECT(PACK_OF(from_sine[j]) < own, PK(1.0), PK(0.0));
            others = others + PSELECT(PACK_OF(from_sine[j + 1]) < own, PK(1.0), PK(0.0));
        }
        STOREP(place, i, below + others);
    }
    for (u32 j = 0; j < n; j++) sine[j] = NO_THRESHOLD;
    for (u32 j = 0; j < n; j++) {
        u32 to = U32_OF(place[j]);
        while (sine[to] < NO_THRESHOLD) to++;
        sine[to] = from_sine[j];
        data[to] = from_data[j];
    }
    u32 k = 0;
    real sum = R(0.0), first = R(0.0);
    (s + CELLS_BELOW)[row] = sum;
    CELLS_STEP(0)[row] = sum;
    for (u32 j = 0; j < n; j++) {
        if (j == 0 || sine[j] - first > SAME_THRESHOLD) {
            first = sine[j];
            (s + CELLS_THRESHOLD)[k * SWEEP_SLOTS + row] = first;
            k++;
        }
        sum = flush(sum + data[j]);
        (s + CELLS_BELOW)[k * SWEEP_SLOTS + row] = REAL_OF(j + 1);
        CELLS_STEP(0)[k * SWEEP_SLOTS + row] = sum;
    }
    (s + CELLS_MOST)[row] = REAL_OF(k);
}

/* Turns sums of data in step table 0 into steps: (d - l')^2 - (d - l)^2 = (l - l') (2 d - l - l'). By the
 * whole team, up to a barrier. */
FN void cells_steps(LOSSCONE_PARAMETERS)
{
    const u32 levels = U32_OF(s[CELLS_LEVELS]), tables = mi[LOSSCONE_FOLDED] ? LOSSCONE_ENERGIES : 1u;
    TEAM_FOR_PACK(i, (levels + 1) * SWEEP_SLOTS) {
        const pack sum = LOADP(CELLS_STEP(0), i), below = LOADP(s + CELLS_BELOW, i);
        for (u32 n = 0; n < tables; n++) {
            const pack before = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + n)),
                       behind = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + 1 + n));
            STOREP(CELLS_STEP(n), i,
                   pflush((before - behind) * PFMA(-below, before + behind, PK(2.0) * sum)));
        }
    }
    TEAM_BARRIER();
}

/* Pads the tables to the longest row. */
FN void cells_end_row(GLOBAL real *s, u32 row)
{
    const u32 levels = U32_OF(s[CELLS_LEVELS]);
    for (u32 k = U32_OF((s + CELLS_MOST)[row]); k <= levels; k++) {
        (s + CELLS_THRESHOLD)[k * SWEEP_SLOTS + row] = NO_THRESHOLD;
        if (k < levels) {
            (s + CELLS_BELOW)[(k + 1) * SWEEP_SLOTS + row] = (s + CELLS_COUNT)[row];
            CELLS_STEP(0)[(k + 1) * SWEEP_SLOTS + row] = R(0.0);
        }
    }
}

/* Prepares the cells. The whole team calls it, up to a barrier. */
FN void cells_prepare(LOSSCONE_PARAMETERS)
{
    TEAM_FOR(row, SWEEP_SLOTS) {
        if (row < sweep_rows(mi))
            cells_of_row(LOSSCONE, row);
        else
            (s + CELLS_COUNT)[row] = (s + CELLS_PART)[row] = (s + CELLS_VALID)[row] = R(0.0);
        cells_inverses(LOSSCONE, row);
    }
    TEAM_BARRIER();
    TEAM_FOR(row, SWEEP_SLOTS) cells_sort(s, row);
    TEAM_BARRIER();
    ONE_WORKER
    {
        real most = R(0.0);
        for (u32 row = 0; row < SWEEP_SLOTS; row++)
            most = (s + CELLS_MOST)[row] > most ? (s + CELLS_MOST)[row] : most;
        s[CELLS_LEVELS] = most;
        s[CELLS_BASE] = sum8(s + CELLS_PART, SWEEP_SLOTS);
        s[CELLS_NUMBER] = sum8(s + CELLS_VALID, SWEEP_SLOTS);
    }
    TEAM_BARRIER();
    TEAM_FOR(row, SWEEP_SLOTS) cells_end_row(s, row);
    TEAM_BARRIER();
    cells_steps(LOSSCONE);
}
