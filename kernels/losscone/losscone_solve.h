/* losscone_solve.h: the best beam of one cell of the arrangement.
 *
 * With the cone's cells fixed the misfit is smooth in A and, through the heights b(U), in U. A scan
 * (logarithms good to 1e-5) finds starts; Levenberg-Marquardt (J. SIAM 11 (1963) 431) descends within bounds.
 * The least of several minima in a cell is not proven, unlike the rest. All by one worker. */
#pragma once

#include "losscone/losscone_beam.h"

#define SOLVE_INSET LIMIT(1e-8, 1e-3)  /* from the plateau's ends, of its extent in U */
#define SOLVE_ENOUGH LIMIT(1e-9, 1e-6) /* relative to the misfit */
#define SOLVE_ROUNDING LIMIT(1e-20, 1e-6)
#define SOLVE_STEPS 40
#define SOLVE_SPACING R(0.27) /* in beam widths */
#define SOLVE_EVEN 48u        /* samples; wider plateaus are sampled where the beam passes a row */
#define SOLVE_STARTS 3u       /* besides no beam */
/* later starts: most scanned value over the least found */
#define SOLVE_HOPE R(1.1)

#define SOLVE_BASE(i) (s + SOLVE_BASES + BEAM_STRIDE * (size_t)(i))

#define SOLVE_AMPLITUDES 8
TABLE(elem, solve_nodes, SOLVE_AMPLITUDES) = {ELEM(0.003), ELEM(0.012), ELEM(0.04), ELEM(0.1),
                                              ELEM(0.2),   ELEM(0.38),  ELEM(0.65), ELEM(1.0)};

/* Lists the rows that the beam reaches. */
FN void solve_gather(LOSSCONE_PARAMETERS, GLOBAL const real *k, real u0, real u1)
{
    const real floor = mi[LOSSCONE_METHOD] ? R(0.0) : R(LOSSCONE_FLOOR), outer = R(1.0) + floor,
               inner = LOADM1(mr, LOSSCONE_BACKGROUND) + floor;
    u32 count = 0;
    real rest = s[CELLS_BASE];
    for (u32 row = 0; row < sweep_rows(mi); row++) {
        const u32 at = U32_OF(k[row]);
        rest = rest + CELLS_STEP(0)[at * SWEEP_SLOTS + row];
        if ((s + CELLS_VALID)[row] == R(0.0)) continue;
        if (!(beam_depth(LOSSCONE, row, u0, u1) < BEAM_REACH)) continue;
        if ((s + BEAM_KNOWN)[row] == REAL_OF(BEAM_UNKNOWN)) beam_learn(LOSSCONE, row);
        const real below = (s + CELLS_BELOW)[at * SWEEP_SLOTS + row], cells = (s + BEAM_CELLS)[row],
                   inside = below < cells ? below : cells;
        if (cells == R(0.0)) continue;
        (s + SOLVE_ROW)[count] = REAL_OF(row);
        (s + SOLVE_CELLS)[count] = cells;
        (s + SOLVE_EXACT)[count] = BEAM_EXACT(row)[U32_OF(inside)];
        rest = rest - (s + SOLVE_EXACT)[count];
        real pull = R(0.0), square = R(0.0);
        for (u32 j = 0; j < ((U32_OF(cells) + 7) & ~7u); j++) {
            const real base = REAL_OF(j) < inside ? inner : outer, height = BEAM_PROFILE(row)[j];
            SOLVE_BASE(count)[j] = base;
            pull = FMA(height, CELLS_DATA_OF(row)[j] - base, pull);
            square = FMA(height, height, square);
        }
        (s + SOLVE_PULL)[count] = flush(pull);
        (s + SOLVE_SQUARE)[count] = flush(square);
        count++;
    }
    s[SOLVE_COUNT] = REAL_OF(count);
    s[SOLVE_REST] = rest;
}

FN void solve_heights(LOSSCONE_PARAMETERS, real u)
{
    const u32 count = U32_OF(s[SOLVE_COUNT]);
    const real width = beam_width(mr);
    GLOBAL real *height = s + SOLVE_HEIGHT, *turn = s + SOLVE_TURN;
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF((s + SOLVE_ROW)[i]);
        const real fall = sweep[SWEEP_POTENTIAL + row] - u,
                   z = flush(DIVIDE(sweep[SWEEP_ENERGY + row] - (fall > width ? fall : width), width));
        height[i] = fall > R(0.0) ? R(-0.5) * z * z : R(-1e4);
        turn[i] = fall > width ? flush(DIVIDE(-z, width)) : R(0.0);
    }
    for (u32 i = count; i < ((count + 7) & ~7u); i++) height[i] = turn[i] = R(0.0);
    for (u32 i = 0; i < count; i += PACK) {
        const pack h = pflush(m_exp(LOADP(height, i)));
        STOREP(height, i, h);
        STOREP(turn, i, pflush(h * LOADP(turn, i)));
    }
}

/* Gradients point downhill; aa, au, uu: Gauss-Newton matrix of half the sum of squares. */
typedef struct {
    real u, a, value, down_a, down_u, aa, au, uu;
} solve_point;

FN_LARGE solve_point solve_at(LOSSCONE_PARAMETERS, real u, real a)
{
    const u32 lillis = mi[LOSSCONE_METHOD], count = U32_OF(s[SOLVE_COUNT]);
    solve_point at;
    at.u = u;
    at.a = a;
    at.value = s[SOLVE_REST];
    at.down_a = at.down_u = at.aa = at.au = at.uu = R(0.0);
    solve_heights(LOSSCONE, u);
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF((s + SOLVE_ROW)[i]), cells = U32_OF((s + SOLVE_CELLS)[i]);
        const real height = (s + SOLVE_HEIGHT)[i], amplitude = flush(a * height);
        if (!(height > R(0.0))) {
            at.value = at.value + (s + SOLVE_EXACT)[i];
            continue;
        }
        GLOBAL const real *profile = BEAM_PROFILE(row), *data = CELLS_DATA_OF(row), *base = SOLVE_BASE(i);
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
        const real by_u = flush(a * (s + SOLVE_TURN)[i]), down = acc8_total(slope), curve = acc8_total(steep);
        at.value = at.value + acc8_total(square);
        at.down_a = flush(FMA(down, height, at.down_a));
        at.down_u = flush(FMA(down, by_u, at.down_u));
        at.aa = flush(FMA(flush(curve * height), height, at.aa));
        at.au = flush(FMA(flush(curve * height), by_u, at.au));
        at.uu = flush(FMA(flush(curve * by_u), by_u, at.uu));
    }
    return at;
}

FN_LARGE solve_point solve_descend(LOSSCONE_PARAMETERS, real u, real a, real u0, real u1)
{
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    solve_point at = solve_at(LOSSCONE, u, a);
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
        const solve_point next = solve_at(LOSSCONE, next_u, next_a);
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

/* Lillis: the best amplitude has a closed form. */
FN void solve_closed(LOSSCONE_PARAMETERS, real u, u32 sample)
{
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    real pull = R(0.0), square = R(0.0), value = s[SOLVE_REST];
    solve_heights(LOSSCONE, u);
    for (u32 i = 0; i < U32_OF(s[SOLVE_COUNT]); i++) {
        const real height = (s + SOLVE_HEIGHT)[i];
        pull = FMA(height, (s + SOLVE_PULL)[i], pull);
        square = FMA(flush(height * height), (s + SOLVE_SQUARE)[i], square);
        value = value + (s + SOLVE_EXACT)[i];
    }
    const real a = flush(square) > R(0.0) ? limited(flush(DIVIDE(flush(pull), flush(square))), a0, a1) : a0;
    (s + SOLVE_SCANNED)[sample] = flush(FMA(a, FMA(a, square, R(-2.0) * pull), value));
    (s + SOLVE_NODE)[sample] = a;
}

/* Halekas: the best amplitude node, roughly. */
FN_LARGE void solve_scan(LOSSCONE_PARAMETERS, real u, u32 sample)
{
    const u32 count = U32_OF(s[SOLVE_COUNT]);
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), side = LOADM1(mr, LOSSCONE_A_UPPER) - a0;
    real values[SOLVE_AMPLITUDES], amplitudes[SOLVE_AMPLITUDES];
    for (u32 t = 0; t < SOLVE_AMPLITUDES; t++) {
        values[t] = s[SOLVE_REST];
        amplitudes[t] = FMA(side, REAL_OF(solve_nodes[t]), a0);
    }
    solve_heights(LOSSCONE, u);
    for (u32 i = 0; i < count; i++) {
        const u32 row = U32_OF((s + SOLVE_ROW)[i]), cells = U32_OF((s + SOLVE_CELLS)[i]);
        const real height = (s + SOLVE_HEIGHT)[i];
        GLOBAL const real *profile = BEAM_PROFILE(row), *data = CELLS_DATA_OF(row), *base = SOLVE_BASE(i);
        if (!(height > R(1e-7))) {
            for (u32 t = 0; t < SOLVE_AMPLITUDES; t++) values[t] = values[t] + (s + SOLVE_EXACT)[i];
            continue;
        }
        for (u32 t = 0; t < SOLVE_AMPLITUDES; t += PACK) {
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
    for (u32 t = 1; t < SOLVE_AMPLITUDES; t++) best = values[t] < values[best] ? t : best;
    (s + SOLVE_SCANNED)[sample] = values[best];
    (s + SOLVE_NODE)[sample] = amplitudes[best];
}

/* Fills SOLVE_SAMPLE and returns its length; *even: equal distances. */
FN u32 solve_samples(LOSSCONE_PARAMETERS, real low, real high, PRIVATE u32 *even)
{
    const real width = beam_width(mr), steps = flush(DIVIDE(high - low, SOLVE_SPACING * width));
    GLOBAL real *sample = s + SOLVE_SAMPLE;
    u32 n = 0;
    *even = steps <= REAL_OF(SOLVE_EVEN - 2);
    if (!(low < high)) {
        sample[0] = low;
        return 1;
    }
    if (*even) {
        n = U32_OF(steps) + 2;
        n = n < 3 ? 3 : n;
        for (u32 i = 0; i < n; i++)
            sample[i] = limited(FMA(DIVIDE(high - low, REAL_OF(n - 1)), REAL_OF(i), low), low, high);
        return n;
    }
    sample[n++] = low;
    sample[n++] = high;
    for (u32 i = 0; i < U32_OF(s[SOLVE_COUNT]); i++) {
        const u32 row = U32_OF((s + SOLVE_ROW)[i]);
        for (u32 l = 0; l < SOLVE_PASSING; l++) {
            const real u =
                sweep[SWEEP_POTENTIAL + row] -
                FMA(REAL_OF(l) - R(0.5) * REAL_OF(SOLVE_PASSING - 1), width, sweep[SWEEP_ENERGY + row]);
            if (u > low && u < high) sample[n++] = u;
        }
    }
    return n;
}

/* The best untried sample (-UNBOUNDED: tried); even ones must be local minima. `samples`: none. */
FN u32 solve_best_sample(GLOBAL const real *s, u32 samples, u32 even)
{
    GLOBAL const real *scanned = s + SOLVE_SCANNED;
    u32 best = samples;
    for (u32 i = 0; i < samples; i++) {
        const real value = scanned[i];
        const u32 lowest =
            !even || ((i == 0 || value <= scanned[i - 1]) && (i + 1 == samples || value <= scanned[i + 1]));
        if (lowest && value > -UNBOUNDED && (best == samples || value < scanned[best])) best = i;
    }
    return best;
}

/* Answers in SOLVE_U, SOLVE_A, SOLVE_VALUE. */
FN_LARGE void solve_cell(LOSSCONE_PARAMETERS, GLOBAL const real *k, real u0, real u1)
{
    const real inset = SOLVE_INSET * (u1 - u0), low = u0 + inset, high = u1 - inset;
    const real a0 = LOADM1(mr, LOSSCONE_A_LOWER), a1 = LOADM1(mr, LOSSCONE_A_UPPER);
    solve_gather(LOSSCONE, k, u0, u1);
    s[SOLVE_U] = R(0.5) * (u0 + u1);
    s[SOLVE_A] = a0;
    s[SOLVE_VALUE] = UNBOUNDED;
    const u32 noticed = s[SOLVE_COUNT] > R(0.0) && a1 > R(0.0);
    if (!noticed || a0 == R(0.0)) {
        s[SOLVE_VALUE] = s[SOLVE_REST];
        for (u32 i = 0; i < U32_OF(s[SOLVE_COUNT]); i++)
            s[SOLVE_VALUE] = s[SOLVE_VALUE] + (s + SOLVE_EXACT)[i];
        if (!noticed) return;
    }
    u32 even;
    const u32 samples = solve_samples(LOSSCONE, low, high, &even);
    for (u32 i = 0; i < samples; i++) {
        if (mi[LOSSCONE_METHOD])
            solve_closed(LOSSCONE, (s + SOLVE_SAMPLE)[i], i);
        else
            solve_scan(LOSSCONE, (s + SOLVE_SAMPLE)[i], i);
    }
    for (u32 starts = 0; starts < SOLVE_STARTS; starts++) {
        const u32 best = solve_best_sample(s, samples, even);
        if (best == samples || (starts > 0 && (s + SOLVE_SCANNED)[best] > SOLVE_HOPE * s[SOLVE_VALUE]))
            return;
        const solve_point found =
            solve_descend(LOSSCONE, (s + SOLVE_SAMPLE)[best], (s + SOLVE_NODE)[best], low, high);
        (s + SOLVE_SCANNED)[best] = -UNBOUNDED;
        if (found.value < s[SOLVE_VALUE]) {
            s[SOLVE_VALUE] = found.value;
            s[SOLVE_U] = found.u;
            s[SOLVE_A] = found.a;
        }
    }
}
