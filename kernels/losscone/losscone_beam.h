/* losscone_beam.h: bounds on a row's gain from a beam along the field.
 *
 * The beam adds a p_j to cell j: p_j its profile in pitch angle, a = A b(U), b = exp(-((E - c) / w)^2 / 2), c
 * = max(V - U, w); 0 where V <= U. Only rows with E near c and cells near the field notice it.
 *
 * A row has its own amplitude, from 0 to the most in a box. Its gain with nc cells in the cone limits how far
 * the misfit falls. Halekas: between amplitude nodes a cell keeps at least its squared distance to the
 * interval of ln(model); below them ln(1 + y) <= y gives amplitude times slope. Lillis: closed form. */
#pragma once

#include "losscone/losscone_direct.h"
#include "losscone/losscone_plateau.h"

#define BEAM_LEAST_PROFILE LIMIT(1e-12, 1e-7)
#define BEAM_REACH LIMIT(28.0, 16.0) /* amplitudes below e^-28 of the largest are ignored */
#define BEAM_FAR LIMIT(7.5, 5.7)     /* BEAM_REACH in widths */

enum beam_knowledge { BEAM_UNKNOWN, BEAM_LEARNT, BEAM_TABULATED };
/* Modes of a row. BEAM_FREE: the whole row's misfit. BEAM_BY_TABLE + t: table t. */
enum beam_mode { BEAM_NONE, BEAM_BY_SLOPE, BEAM_FREE, BEAM_BY_TABLE };

#define BEAM_PROFILE(row) (s + BEAM_PROFILES + SWEEP_CELLS * (size_t)(row))
#define BEAM_EXACT(row) (s + BEAM_EXACTS + BEAM_STRIDE * (size_t)(row))
#define BEAM_SLOPE(row) (s + BEAM_SLOPES + BEAM_STRIDE * (size_t)(row))
#define BEAM_GAIN(row, t) (s + BEAM_GAINS + BEAM_STRIDE * (size_t)((row) * BEAM_NODES + (t)))
#define BEAM_SPARE(row, i) (s + BEAM_SPARE_CELLS + SWEEP_CELLS * (size_t)(BEAM_SPARES * (row) + (i)))

/* Nodes relative to the largest amplitude, and minus their logarithms, rounded up. */
TABLE(elem, beam_nodes, BEAM_NODES) = {ELEM(0.0002), ELEM(0.001), ELEM(0.004), ELEM(0.01), ELEM(0.02),
                                       ELEM(0.06),   ELEM(0.12),  ELEM(0.24),  ELEM(0.5),  ELEM(1.0)};
TABLE(elem, beam_depths, BEAM_NODES) = {ELEM(8.518), ELEM(6.908), ELEM(5.522), ELEM(4.606), ELEM(3.913),
                                        ELEM(2.814), ELEM(2.121), ELEM(1.428), ELEM(0.694), ELEM(0.0)};
/* Amplitudes below the nodes, and the exponents beyond which they are not reached. */
TABLE(elem, beam_tails, 6) = {ELEM(2.01e-4), ELEM(2e-5), ELEM(2e-6), ELEM(1e-7), ELEM(1e-9), ELEM(1e-11)};
TABLE(elem, beam_tail_depths, 6) = {ELEM(8.518), ELEM(10.82), ELEM(13.13),
                                    ELEM(16.12), ELEM(20.73), ELEM(25.33)};

FN u32 has_beam(CONSTANT elem *mr)
{
    return LOADM1(mr, LOSSCONE_A_UPPER) > R(0.0);
}

FN real beam_width(CONSTANT elem *mr)
{
    return LOADM1(mr, LOSSCONE_BEAM_WIDTH);
}

/* Forgets what new data change. The whole team calls it, up to a barrier. */
FN void beam_forget(GLOBAL real *s)
{
    TEAM_FOR(i, SWEEP_SLOTS) {
        (s + BEAM_KNOWN)[i] = REAL_OF(BEAM_UNKNOWN);
        (s + BEAM_MODE)[i] = REAL_OF(BEAM_NONE);
    }
    TEAM_BARRIER();
}

/* Least (E - c)^2 / 2 w^2 for u0 .. u1; BEAM_REACH: too far. */
FN real beam_depth(LOSSCONE_PARAMETERS, u32 row, real u0, real u1)
{
    const real energy = sweep[SWEEP_ENERGY + row], spacecraft = sweep[SWEEP_POTENTIAL + row],
               width = beam_width(mr);
    const real high = spacecraft - u0, low = spacecraft - u1;
    const real c0 = low > width ? low : width, c1 = high > width ? high : width;
    const real away = energy > c1 ? energy - c1 : energy < c0 ? c0 - energy : R(0.0);
    if (!(high > R(0.0)) || !(away < BEAM_FAR * width)) return BEAM_REACH;
    const real z = flush(DIVIDE(away, width));
    return R(0.5) * z * z;
}

/* Lists the cells in the beam: reflected ones and, if it covers all of them, incident ones. */
FN_LARGE u32 beam_notice(LOSSCONE_PARAMETERS, u32 row)
{
    const real sigma = LOADM1(mr, LOSSCONE_BEAM_SIGMA);
    const u32 reflected = U32_OF((s + CELLS_COUNT)[row]), at = row * SWEEP_CELLS;
    GLOBAL real *profile = BEAM_PROFILE(row), *data = CELLS_DATA_OF(row);
    u32 n = 0, m = reflected;
    for (u32 j = 0; j < reflected && n == j; j += 8) {
        for (u32 l = 0; l < 8; l += PACK)
            STOREP(profile, j + l, losscone_beam_of_sine(sigma, LOADP(s + CELLS_SINE, at + j + l)));
        for (u32 l = 0; l < 8; l++) n += j + l < reflected && profile[j + l] > BEAM_LEAST_PROFILE;
    }
    for (u32 cell = at; n == m && cell < at + sweep_cells(mi); cell++) {
        const pack cosine = PACK_OF((sweep + SWEEP_COSINE)[cell]);
        if (PANY(cone_may_hold(cosine)) || !((sweep + SWEEP_FLUX)[cell] > R(0.0))) continue;
        const pack angle = PK(180.0) - m_acos_degrees(cosine),
                   z = sigma > R(0.0) ? pflush(PDIVIDE(angle, PACK_OF(sigma))) : PK(0.0);
        const real height = FIRST(losscone_gaussian(z));
        if (!(height > BEAM_LEAST_PROFILE)) continue;
        data[m] = (s + CELLS_ALL)[cell];
        profile[m] = height;
        n = ++m;
    }
    for (u32 j = n; j < ((n + 7) & ~7u); j++) {
        profile[j] = R(0.0);
        if (j >= reflected) data[j] = LOADM1(mr, LOSSCONE_LEVEL);
    }
    return n;
}

/* A cell adds only where the datum exceeds the model. */
FN real beam_steepness(real away, real profile, real base)
{
    return away > R(0.0) ? flush(DIVIDE(away * profile, base)) : R(0.0);
}

FN_LARGE void beam_learn(LOSSCONE_PARAMETERS, u32 row)
{
    const u32 n = beam_notice(LOSSCONE, row), reflected = U32_OF((s + CELLS_COUNT)[row]),
              inside = n < reflected ? n : reflected, lillis = mi[LOSSCONE_METHOD];
    const real one = LOADM1(mr, LOSSCONE_LEVEL), low = LOADM1(mr, LOSSCONE_LEVEL + 1),
               floor = lillis ? R(0.0) : R(LOSSCONE_FLOOR), base_one = R(1.0) + floor,
               base_low = LOADM1(mr, LOSSCONE_BACKGROUND) + floor;
    GLOBAL const real *profile = BEAM_PROFILE(row), *data = CELLS_DATA_OF(row);
    GLOBAL real *exact = BEAM_EXACT(row), *slope = BEAM_SLOPE(row);
    real sum = R(0.0), steepness = R(0.0);
    for (u32 j = 0; j < n; j++) {
        const real away = data[j] - one;
        sum = flush(FMA(away, away, sum));
        steepness =
            flush(steepness + (lillis ? away * profile[j] : beam_steepness(away, profile[j], base_one)));
    }
    exact[0] = sum;
    slope[0] = steepness;
    for (u32 j = 0; j < inside; j++) {
        const real away = data[j] - one, other = data[j] - low;
        sum = flush(sum + (other * other - away * away));
        steepness = lillis ? flush(steepness + (one - low) * profile[j])
                           : flush(steepness + beam_steepness(other, profile[j], base_low) -
                                   beam_steepness(away, profile[j], base_one));
        exact[j + 1] = sum;
        slope[j + 1] = steepness;
    }
    (s + BEAM_CELLS)[row] = REAL_OF(n);
    (s + BEAM_KNOWN)[row] = REAL_OF(BEAM_LEARNT);
}

/* Accurate to 2e-5; bounds are widened by that. */
FN pack rough_log(pack x)
{
    plint i = PBITS(PK(M_FOUR_THIRDS) * x);
    const pack k =
        PFROM_BITS(((i >> M_MANTISSA) & PLI(M_EXPONENTS)) | PLI(M_INTEGER_BITS)) - PK(M_LOG_OFFSET);
    const pack f = PFROM_BITS(PBITS(x) - (i & PLI(M_INFINITY_BITS)) + PLI(M_ONE_BITS)) - PK(1.0);
    pack y = PK(0.130912);
    y = PFMA(y, f, PK(-0.257149));
    y = PFMA(y, f, PK(0.340453));
    y = PFMA(y, f, PK(-0.500118));
    y = PFMA(y, f, PK(0.999854));
    return PFMA(k, PK(0.69314718), f * y);
}
#define ROUGH_LOG 2e-5

/* Distance to an interval. */
FN pack outside_squared(pack x, pack low, pack high)
{
    const pack below = low - x, above = x - high, d = PSELECT(below > above, below, above);
    return PSELECT(d > PK(0.0), d * d, PK(0.0));
}

/* Lillis: the best amplitude up to each node. */
FN void beam_tabulate_closed(LOSSCONE_PARAMETERS, u32 row, u32 n, u32 inside)
{
    GLOBAL const real *profile = BEAM_PROFILE(row), *slope = BEAM_SLOPE(row);
    real square = R(0.0);
    for (u32 j = 0; j < n; j++) square = flush(FMA(profile[j], profile[j], square));
    const real inverse = square > R(0.0) ? DIVIDE(R(1.0), square) : R(0.0);
    for (u32 t = 0; t < BEAM_NODES; t++) {
        const real limit = LOADM1(mr, LOSSCONE_A_UPPER) * REAL_OF(beam_nodes[t]);
        GLOBAL real *gain = BEAM_GAIN(row, t);
        for (u32 k = 0; k <= inside; k++) {
            const real best = flush(slope[k] * inverse), a = best < limit ? best : limit;
            gain[k] = a > R(0.0) ? flush(a * flush(FMA(-a, square, R(2.0) * slope[k]))) : R(0.0);
        }
    }
}

/* Halekas: each cell's least contribution on each interval, in the cone and outside. */
FN void beam_tabulate_nodes(LOSSCONE_PARAMETERS, u32 row, u32 n, u32 inside)
{
    GLOBAL const real *exact = BEAM_EXACT(row), *profile = BEAM_PROFILE(row), *data = CELLS_DATA_OF(row);
    GLOBAL real *low_one = BEAM_SPARE(row, 0), *low_cone = BEAM_SPARE(row, 1), *cost = BEAM_SPARE(row, 2),
                *change = BEAM_SPARE(row, 3);
    const pack wider = PK(ROUGH_LOG), one = PK(1.0) + PK(LOSSCONE_FLOOR),
               cone = PACK_OF(LOADM1(mr, LOSSCONE_BACKGROUND) + R(LOSSCONE_FLOOR));
    for (u32 j = 0; j < n; j += PACK) {
        STOREP(low_one, j, PACK_OF(LOADM1(mr, LOSSCONE_LEVEL)));
        STOREP(low_cone, j, PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + 1)));
    }
    for (u32 t = 0; t < BEAM_NODES; t++) {
        const pack a = PACK_OF(LOADM1(mr, LOSSCONE_A_UPPER) * REAL_OF(beam_nodes[t]));
        for (u32 j = 0; j < n; j += PACK) {
            const pack p = LOADP(profile, j), d = LOADP(data, j);
            const pack high_one = rough_log(PFMA(a, p, one)) + wider,
                       high_cone = rough_log(PFMA(a, p, cone)) + wider;
            const pack outer = outside_squared(d, LOADP(low_one, j), high_one),
                       inner = outside_squared(d, LOADP(low_cone, j), high_cone);
            STOREP(cost, j, outer);
            STOREP(change, j, inner - outer);
            STOREP(low_one, j, high_one - (wider + wider));
            STOREP(low_cone, j, high_cone - (wider + wider));
        }
        real sum = R(0.0);
        for (u32 j = 0; j < n; j++) sum = sum + cost[j];
        for (u32 k = 0; k <= inside; k++) {
            const real gain = flush(exact[k] - sum), before = t ? BEAM_GAIN(row, t - 1)[k] : R(0.0);
            BEAM_GAIN(row, t)[k] = gain > before ? gain : before;
            if (k < inside) sum = sum + change[k];
        }
    }
}

FN_LARGE void beam_tabulate(LOSSCONE_PARAMETERS, u32 row)
{
    const u32 n = U32_OF((s + BEAM_CELLS)[row]), reflected = U32_OF((s + CELLS_COUNT)[row]),
              inside = n < reflected ? n : reflected;
    if (mi[LOSSCONE_METHOD])
        beam_tabulate_closed(LOSSCONE, row, n, inside);
    else
        beam_tabulate_nodes(LOSSCONE, row, n, inside);
    (s + BEAM_KNOWN)[row] = REAL_OF(BEAM_TABULATED);
}

/* `roughly`: without new tables. */
FN void beam_choose(LOSSCONE_PARAMETERS, u32 row, real u0, real u1, u32 roughly)
{
    GLOBAL real *mode = s + BEAM_MODE + row, *known = s + BEAM_KNOWN + row;
    const real depth = beam_depth(LOSSCONE, row, u0, u1);
    *mode = REAL_OF(BEAM_NONE);
    if (!(depth < BEAM_REACH)) return;
    if (*known == REAL_OF(BEAM_UNKNOWN)) beam_learn(LOSSCONE, row);
    if (depth >= REAL_OF(beam_depths[0])) {
        u32 i = 0;
        while (i < 5 && depth >= REAL_OF(beam_tail_depths[i + 1])) i++;
        *mode = REAL_OF(BEAM_BY_SLOPE);
        (s + BEAM_FACTOR)[row] = flush(R(2.0) * LOADM1(mr, LOSSCONE_A_UPPER) * REAL_OF(beam_tails[i]));
        return;
    }
    if (roughly && *known < REAL_OF(BEAM_TABULATED)) {
        *mode = REAL_OF(BEAM_FREE);
        return;
    }
    if (*known < REAL_OF(BEAM_TABULATED)) beam_tabulate(LOSSCONE, row);
    u32 t = 0;
    while (depth < REAL_OF(beam_depths[t])) t++;
    *mode = REAL_OF(BEAM_BY_TABLE + t);
}

/* factor times table[cells in the cone], if positive */
typedef struct {
    GLOBAL const real *table;
    real factor, cells;
} beam_limit;

FN beam_limit beam_limit_of(GLOBAL const real *s, u32 row)
{
    const u32 mode = U32_OF((s + BEAM_MODE)[row]);
    beam_limit limit;
    limit.table = mode == BEAM_FREE || mode == BEAM_NONE ? BEAM_EXACT(row)
                  : mode == BEAM_BY_SLOPE                ? BEAM_SLOPE(row)
                                                         : BEAM_GAIN(row, mode - BEAM_BY_TABLE);
    limit.factor = mode == BEAM_NONE ? R(0.0) : mode == BEAM_BY_SLOPE ? (s + BEAM_FACTOR)[row] : R(1.0);
    limit.cells = (s + BEAM_CELLS)[row];
    return limit;
}

FN real beam_gain(beam_limit limit, real below)
{
    const real gain = limit.table[U32_OF(below < limit.cells ? below : limit.cells)];
    return gain > R(0.0) ? flush(limit.factor * gain) : R(0.0);
}

/* STEP of a row less its gain. */
FN real beam_step(GLOBAL const real *s, u32 row, u32 k)
{
    const real step = CELLS_STEP(0)[k * SWEEP_SLOTS + row];
    return (s + BEAM_MODE)[row] == REAL_OF(BEAM_NONE)
               ? step
               : step - beam_gain(beam_limit_of(s, row), (s + CELLS_BELOW)[k * SWEEP_SLOTS + row]);
}

FN real family_step_least(GLOBAL const real *s, u32 family, u32 k, u32 beam)
{
    return beam ? beam_step(s, family % SWEEP_SLOTS, k) : family_step(s, family, k);
}

/* Lowers a box's bounds by the gains. By the whole team; barriers are the caller's. */
FN void beam_relax(LOSSCONE_PARAMETERS, search_box box, u32 roughly, GLOBAL real *to)
{
    TEAM_FOR(row, sweep_rows(mi)) {
        if ((s + CELLS_MOST)[row] > R(0.0) || (s + CELLS_VALID)[row] > R(0.0)) {
            beam_choose(LOSSCONE, row, box.u0, box.u1, roughly);
            if ((s + BEAM_MODE)[row] > REAL_OF(BEAM_NONE)) {
                const u32 first = U32_OF((to + BOUND_FIRST)[row]),
                          last = first + U32_OF((to + BOUND_LINES)[row]);
                const beam_limit limit = beam_limit_of(s, row);
                real least = UNBOUNDED;
                for (u32 k = first; k <= last; k++) {
                    const real step = CELLS_STEP(0)[k * SWEEP_SLOTS + row] -
                                      beam_gain(limit, (s + CELLS_BELOW)[k * SWEEP_SLOTS + row]);
                    least = step < least ? step : least;
                }
                (to + BOUND_LEAST)[row] = least;
            }
        } else
            (s + BEAM_MODE)[row] = REAL_OF(BEAM_NONE);
    }
}
