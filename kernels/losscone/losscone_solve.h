/* losscone_solve.h: the best beam of one cell of the arrangement.
 *
 * Which cells are in the cone is given; the misfit is a smooth function of A and, through the rows' heights
 * b(U), of U, which may go from end to end of the plateau. A scan over both (logarithms good to 1e-5) finds
 * where to start; from its local minima Levenberg's and Marquardt's steps (J. SIAM 11 (1963) 431) go down on
 * the sum of squares, within bounds. Not proven, other than all else of the search, to find the least of
 * several minima inside one cell. All by one worker.
 */
#ifndef PARITAS_LOSSCONE_SOLVE_H
#define PARITAS_LOSSCONE_SOLVE_H

#include "losscone/losscone_beam.h"

#if F64
#define SOLVE_INSET R(1e-8)  /* of a plateau's extent in U: how far inside its ends */
#define SOLVE_ENOUGH R(1e-9) /* of the misfit: a smaller gain is none */
#define SOLVE_ROUNDING R(1e-20)
#else
#define SOLVE_INSET R(1e-3)
#define SOLVE_ENOUGH R(1e-6)
#define SOLVE_ROUNDING R(1e-6)
#endif
#define SOLVE_STEPS 40
#define SOLVE_SPACING R(0.27) /* of the width, between samples of U */
#define SOLVE_EVEN 48u        /* so many at most; wider plateaus are sampled where the beam passes a row, */
#define SOLVE_PASSING 5u      /* so often */
#define SOLVE_SAMPLES (SLOTS * SOLVE_PASSING + 2)
#define SOLVE_STARTS 3u /* at most, besides no beam; */
/* but the first only where the scan says no more than this times the least found */
#define SOLVE_HOPE R(1.1)

/* Rows that notice, in a list: which, cells, heights and their derivatives with U, energies, spacecraft
 * potentials, sums. */
#define SOLVE_ROW (s + SOLVE_AT)
#define SOLVE_CELLS (SOLVE_ROW + SLOTS)
#define SOLVE_HEIGHT (SOLVE_CELLS + SLOTS)
#define SOLVE_TURN (SOLVE_HEIGHT + SLOTS)
#define SOLVE_EXACT (SOLVE_TURN + SLOTS)
#define SOLVE_REST (SOLVE_EXACT + SLOTS)[0]  /* misfit of all other cells */
#define SOLVE_COUNT (SOLVE_EXACT + SLOTS)[1] /* rows in the list */
#define SOLVE_U (SOLVE_EXACT + SLOTS)[2]     /* the answer: point, misfit */
#define SOLVE_A (SOLVE_EXACT + SLOTS)[3]
#define SOLVE_VALUE (SOLVE_EXACT + SLOTS)[4]
/* Lillis: sums of profile times (datum - model without beam), */
#define SOLVE_PULL (SOLVE_EXACT + 2 * SLOTS)
#define SOLVE_SQUARE (SOLVE_PULL + SLOTS)   /* and of the profile's squares */
#define SOLVE_SAMPLE (SOLVE_SQUARE + SLOTS) /* samples of U, of each the best value and its amplitude */
#define SOLVE_SCANNED (SOLVE_SAMPLE + SOLVE_SAMPLES)
#define SOLVE_NODE (SOLVE_SCANNED + SOLVE_SAMPLES)
/* model of a row's cells without beam */
#define SOLVE_BASE(i) (SOLVE_NODE + SOLVE_SAMPLES + BEAM_STRIDE * (size_t)(i))

TABLE(elem, solve_nodes, 8) = {ELEM(0.003), ELEM(0.012), ELEM(0.04), ELEM(0.1),
                               ELEM(0.2),   ELEM(0.38),  ELEM(0.65), ELEM(1.0)};

/* The list for numbers k of all rows and potentials u0 .. u1. */
FN void solve_gather(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                     GLOBAL const real *k, real u0, real u1)
{
    const real floor = mi[LOSSCONE_METHOD] ? R(0.0) : R(LOSSCONE_FLOOR), outer = R(1.0) + floor,
               inner = LOADM1(mr, LOSSCONE_BACKGROUND) + floor;
    u32 count = 0;
    real rest = CELLS_BASE;
    for (u32 row = 0; row < SWEEP_ROWS; row++) {
        const u32 at = U32_OF(k[row]);
        rest = rest + CELLS_STEP(0)[at * SLOTS + row];
        if (CELLS_PART[SLOTS + row] == R(0.0)) continue;
        if (!(beam_depth(sweep[SWEEP_ENERGY + row], sweep[SWEEP_POTENTIAL + row], beam_width(mr), u0, u1) <
              BEAM_REACH))
            continue;
        if (BEAM_KNOWN[row] == R(0.0)) beam_learn(mi, mr, sweep, s, row);
        const real below = CELLS_BELOW[at * SLOTS + row], cells = BEAM_CELLS[row],
                   inside = below < cells ? below : cells;
        if (cells == R(0.0)) continue;
        SOLVE_ROW[count] = REAL_OF(row);
        SOLVE_CELLS[count] = cells;
        SOLVE_EXACT[count] = BEAM_EXACT(row)[U32_OF(inside)];
        rest = rest - SOLVE_EXACT[count];
        real pull = R(0.0), square = R(0.0);
        for (u32 j = 0; j < ((U32_OF(cells) + 7) & ~7u); j++) {
            const real base = REAL_OF(j) < inside ? inner : outer, height = BEAM_PROFILE(row)[j];
            SOLVE_BASE(count)[j] = base;
            pull = FMA(height, CELLS_DATA[row * SWEEP_CELLS + j] - base, pull);
            square = FMA(height, height, square);
        }
        SOLVE_PULL[count] = flush(pull);
        SOLVE_SQUARE[count] = flush(square);
        count++;
    }
    SOLVE_COUNT = REAL_OF(count);
    SOLVE_REST = rest;
}

/* Heights at a potential and their derivatives. */
FN void solve_heights(CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u)
{
    const u32 count = U32_OF(SOLVE_COUNT);
    const real width = beam_width(mr);
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF(SOLVE_ROW[i]);
        const real fall = sweep[SWEEP_POTENTIAL + row] - u,
                   z = flush(DIVIDE(sweep[SWEEP_ENERGY + row] - (fall > width ? fall : width), width));
        SOLVE_HEIGHT[i] = fall > R(0.0) ? R(-0.5) * z * z : R(-1e4);
        SOLVE_TURN[i] = fall > width ? flush(DIVIDE(-z, width)) : R(0.0);
    }
    for (u32 i = count; i < ((count + 7) & ~7u); i++) SOLVE_HEIGHT[i] = SOLVE_TURN[i] = R(0.0);
    for (u32 i = 0; i < count; i += PACK) {
        const pack height = pflush(m_exp(LOADP(SOLVE_HEIGHT, i)));
        STOREP(SOLVE_HEIGHT, i, height);
        STOREP(SOLVE_TURN, i, pflush(height * LOADP(SOLVE_TURN, i)));
    }
}

/* The misfit at a point with its gradient and the Gauss-Newton matrix of half the sum of squares. */
typedef struct {
    real u, a, value, down_a, down_u, aa, au, uu;
} solve_point;

FN_LARGE solve_point solve_at(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                              real u, real a)
{
    const u32 lillis = mi[LOSSCONE_METHOD], count = U32_OF(SOLVE_COUNT);
    solve_point at;
    at.u = u;
    at.a = a;
    at.value = SOLVE_REST;
    at.down_a = at.down_u = at.aa = at.au = at.uu = R(0.0);
    solve_heights(mr, sweep, s, u);
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF(SOLVE_ROW[i]), cells = U32_OF(SOLVE_CELLS[i]);
        const real amplitude = flush(a * SOLVE_HEIGHT[i]);
        if (!(SOLVE_HEIGHT[i] > R(0.0))) {
            at.value = at.value + SOLVE_EXACT[i];
            continue;
        }
        GLOBAL const real *profile = BEAM_PROFILE(row), *data = CELLS_DATA + row * SWEEP_CELLS,
                          *base = SOLVE_BASE(i);
        acc8 square = acc8_zero(), slope = acc8_zero(), steep = acc8_zero();
        for (u32 j = 0; j < cells; j += 8)
            for (u32 l = 0; l < 8; l += PACK) {
                const pack p = LOADP(profile, j + l), model = PFMA(PACK_OF(amplitude), p, LOADP(base, j + l));
                const pack rest =
                    PSELECT(p > PK(0.0), LOADP(data, j + l) - (lillis ? model : m_log(model)), PK(0.0));
                const pack turn = lillis ? p : pflush(PDIVIDE(p, model));
                square.part[l / PACK] = PFMA(rest, rest, square.part[l / PACK]);
                slope.part[l / PACK] = PFMA(rest, turn, slope.part[l / PACK]);
                steep.part[l / PACK] = PFMA(turn, turn, steep.part[l / PACK]);
            }
        const real by_a = SOLVE_HEIGHT[i], by_u = flush(a * SOLVE_TURN[i]), down = acc8_total(slope),
                   curve = acc8_total(steep);
        at.value = at.value + acc8_total(square);
        at.down_a = flush(FMA(down, by_a, at.down_a));
        at.down_u = flush(FMA(down, by_u, at.down_u));
        at.aa = flush(FMA(flush(curve * by_a), by_a, at.aa));
        at.au = flush(FMA(flush(curve * by_a), by_u, at.au));
        at.uu = flush(FMA(flush(curve * by_u), by_u, at.uu));
    }
    return at;
}

/* Down from a point. */
FN_LARGE solve_point solve_descend(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep,
                                   GLOBAL real *s, real u, real a, real u0, real u1)
{
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    solve_point at = solve_at(mi, mr, sweep, s, u, a);
    real damping = R(1e-3);
    for (u32 step = 0; step < SOLVE_STEPS; step++) {
        const u32 free_a = at.aa > R(0.0) && (at.down_a > R(0.0) ? at.a < a1 : at.a > a0),
                  free_u = at.uu > R(0.0) && (at.down_u > R(0.0) ? at.u < u1 : at.u > u0);
        const real aa = at.aa * (R(1.0) + damping), uu = at.uu * (R(1.0) + damping),
                   det = FMA(aa, uu, -at.au * at.au);
        real by_a = R(0.0), by_u = R(0.0);
        if (free_a && free_u && det > R(0.0)) {
            by_a = flush(DIVIDE(FMA(uu, at.down_a, -at.au * at.down_u), det));
            by_u = flush(DIVIDE(FMA(aa, at.down_u, -at.au * at.down_a), det));
        } else {
            if (free_a) by_a = flush(DIVIDE(at.down_a, aa));
            if (free_u) by_u = flush(DIVIDE(at.down_u, uu));
        }
        const real next_a = limited(at.a + by_a, a0, a1), next_u = limited(at.u + by_u, u0, u1);
        const real hoped = FMA(at.down_a, next_a - at.a, at.down_u * (next_u - at.u));
        if (!(hoped > FMA(SOLVE_ENOUGH, at.value, SOLVE_ROUNDING))) {
            if (damping > R(1.0) || !(free_a || free_u) || !(next_a != at.a || next_u != at.u)) return at;
            if (hoped >= R(0.0)) return at;
            damping = damping * R(10.0);
            continue;
        }
        const solve_point next = solve_at(mi, mr, sweep, s, next_u, next_a);
        if (next.value < at.value) {
            at = next;
            damping = damping > R(1e-6) ? R(0.1) * damping : damping;
        } else {
            damping = R(10.0) * damping;
            if (damping > R(1e8)) return at;
        }
    }
    return at;
}

/* Lillis: at a potential the best amplitude, which has a closed form, and its value. */
FN void solve_closed(CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u, u32 sample)
{
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    real pull = R(0.0), square = R(0.0), value = SOLVE_REST;
    solve_heights(mr, sweep, s, u);
    for (u32 i = 0; i < U32_OF(SOLVE_COUNT); i++) {
        pull = FMA(SOLVE_HEIGHT[i], SOLVE_PULL[i], pull);
        square = FMA(flush(SOLVE_HEIGHT[i] * SOLVE_HEIGHT[i]), SOLVE_SQUARE[i], square);
        value = value + SOLVE_EXACT[i];
    }
    const real a = flush(square) > R(0.0) ? limited(flush(DIVIDE(flush(pull), flush(square))), a0, a1) : a0;
    SOLVE_SCANNED[sample] = flush(FMA(a, FMA(a, square, R(-2.0) * pull), value));
    SOLVE_NODE[sample] = a;
}

/* Halekas: at a potential the best of the nodes in A, and its value, roughly. */
FN_LARGE void solve_scan(CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real u, u32 sample)
{
    const u32 count = U32_OF(SOLVE_COUNT);
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), side = LOADM1(mr, LOSSCONE_A_UPPER) - a0;
    real values[8], amplitudes[8];
    for (u32 t = 0; t < 8; t++) {
        values[t] = SOLVE_REST;
        amplitudes[t] = FMA(side, REAL_OF(solve_nodes[t]), a0);
    }
    solve_heights(mr, sweep, s, u);
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF(SOLVE_ROW[i]), cells = U32_OF(SOLVE_CELLS[i]);
        const real height = SOLVE_HEIGHT[i];
        GLOBAL const real *profile = BEAM_PROFILE(row), *data = CELLS_DATA + row * SWEEP_CELLS,
                          *base = SOLVE_BASE(i);
        if (!(height > R(1e-7))) {
            for (u32 t = 0; t < 8; t++) values[t] = values[t] + SOLVE_EXACT[i];
            continue;
        }
        for (u32 t = 0; t < 8; t += PACK) {
            pack sum = LOADP(values, t);
            const pack amplitude = pflush(LOADP(amplitudes, t) * PACK_OF(height));
            for (u32 j = 0; j < cells; j++) {
                const pack model = PFMA(amplitude, PACK_OF(profile[j]), PACK_OF(base[j])),
                           rest = PACK_OF(data[j]) - rough_log(model);
                sum = PFMA(rest, rest, sum);
            }
            STOREP(values, t, sum);
        }
    }
    u32 best = 0;
    for (u32 t = 1; t < 8; t++) best = values[t] < values[best] ? t : best;
    SOLVE_SCANNED[sample] = values[best];
    SOLVE_NODE[sample] = amplitudes[best];
}

/* Where to look in potentials low .. high: SOLVE_SAMPLE. How many; *even: at equal distances. */
FN u32 solve_samples(CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, real low, real high,
                     PRIVATE u32 *even)
{
    const real width = beam_width(mr), steps = flush(DIVIDE(high - low, SOLVE_SPACING * width));
    u32 n = 0;
    *even = steps <= REAL_OF(SOLVE_EVEN - 2);
    if (!(low < high)) {
        SOLVE_SAMPLE[0] = low;
        return 1;
    }
    if (*even) {
        n = U32_OF(steps) + 2;
        n = n < 3 ? 3 : n;
        for (u32 i = 0; i < n; i++)
            SOLVE_SAMPLE[i] = limited(FMA(DIVIDE(high - low, REAL_OF(n - 1)), REAL_OF(i), low), low, high);
        return n;
    }
    SOLVE_SAMPLE[n++] = low;
    SOLVE_SAMPLE[n++] = high;
    for (u32 i = 0; i < U32_OF(SOLVE_COUNT); i++) {
        const u32 row = U32_OF(SOLVE_ROW[i]);
        for (u32 l = 0; l < SOLVE_PASSING; l++) {
            const real u =
                sweep[SWEEP_POTENTIAL + row] -
                FMA(REAL_OF(l) - R(0.5) * REAL_OF(SOLVE_PASSING - 1), width, sweep[SWEEP_ENERGY + row]);
            if (u > low && u < high) SOLVE_SAMPLE[n++] = u;
        }
    }
    return n;
}

/* The least misfit with numbers k of all rows, at potentials u0 .. u1: SOLVE_U, SOLVE_A, SOLVE_VALUE. */
FN_LARGE void solve_cell(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                         GLOBAL const real *k, real u0, real u1)
{
    const real inset = SOLVE_INSET * (u1 - u0), low = u0 + inset, high = u1 - inset;
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    solve_gather(mi, mr, sweep, s, k, u0, u1);
    SOLVE_U = R(0.5) * (u0 + u1);
    SOLVE_A = a0;
    SOLVE_VALUE = UNBOUNDED;
    const u32 noticed = SOLVE_COUNT > R(0.0) && a1 > R(0.0);
    if (!noticed || a0 == R(0.0)) {
        SOLVE_VALUE = SOLVE_REST;
        for (u32 i = 0; i < U32_OF(SOLVE_COUNT); i++) SOLVE_VALUE = SOLVE_VALUE + SOLVE_EXACT[i];
        if (!noticed) return;
    }
    u32 even;
    const u32 samples = solve_samples(mr, sweep, s, low, high, &even);
    for (u32 i = 0; i < samples; i++) {
        if (mi[LOSSCONE_METHOD])
            solve_closed(mr, sweep, s, SOLVE_SAMPLE[i], i);
        else
            solve_scan(mr, sweep, s, SOLVE_SAMPLE[i], i);
    }
    for (u32 starts = 0; starts < SOLVE_STARTS; starts++) {
        u32 best = samples;
        /* the least that is not beside a lesser one; what was tried counts as lesser than all */
        for (u32 i = 0; i < samples; i++) {
            const real value = SOLVE_SCANNED[i];
            const u32 lowest = !even || ((i == 0 || value <= SOLVE_SCANNED[i - 1]) &&
                                         (i + 1 == samples || value <= SOLVE_SCANNED[i + 1]));
            if (lowest && value > -UNBOUNDED && (best == samples || value < SOLVE_SCANNED[best])) best = i;
        }
        if (best == samples || (starts > 0 && SOLVE_SCANNED[best] > SOLVE_HOPE * SOLVE_VALUE)) return;
        const solve_point found =
            solve_descend(mi, mr, sweep, s, SOLVE_SAMPLE[best], SOLVE_NODE[best], low, high);
        SOLVE_SCANNED[best] = -UNBOUNDED;
        if (found.value < SOLVE_VALUE) {
            SOLVE_VALUE = found.value;
            SOLVE_U = found.u;
            SOLVE_A = found.a;
        }
    }
}

#endif
