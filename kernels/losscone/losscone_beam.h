/* losscone_beam.h: what a beam along the field can do for a row, and the best beam of a cell of the arrangement.
 *
 * The beam adds a p_j to the model of cell j of a row: p_j its profile in pitch angle, a = A b(U) with b =
 * exp(-((E - c) / w)^2 / 2), c = max(V - U, w), 0 where V <= U. Only rows whose energy is near c, and their
 * cells near the field, notice.
 *
 * Bounds: each row gets an amplitude of its own, from 0 to the largest that a box allows. Over cells with nc
 * of them in the cone, the misfit is lower than without beam by at most the row's gain: for Halekas, on each
 * interval of amplitudes between two nodes a cell contributes at least the square of its distance to the
 * interval of ln(model); below the first node, by ln(1 + y) <= y, at most amplitude times a slope. For Lillis
 * the best amplitude has a closed form.
 *
 * Rows are prepared when a box first needs them.
 */
#ifndef PARITAS_LOSSCONE_BEAM_H
#define PARITAS_LOSSCONE_BEAM_H

#include "losscone/losscone_plateau.h"

#if F64
#define BEAM_LEAST_PROFILE R(1e-12) /* less is no beam */
#define BEAM_REACH R(28.0)          /* as exponent: an amplitude of e^-28 of the largest; */
#define BEAM_FAR R(7.5)             /* in widths: beyond it that is passed */
#else
#define BEAM_LEAST_PROFILE R(1e-7)
#define BEAM_REACH R(16.0)
#define BEAM_FAR R(5.7)
#endif

/* What is known of a row: nothing; profile and slope; all gains. */
#define BEAM_KNOWN (s + BEAM_AT)
#define BEAM_CELLS (BEAM_KNOWN + SLOTS) /* how many cells notice */
#define BEAM_MODE (BEAM_CELLS + SLOTS)  /* of the box last bounded: what bounds the gain */
#define BEAM_FACTOR (BEAM_MODE + SLOTS) /* mode 1: amplitude */
#define BEAM_PROFILE(row) (BEAM_FACTOR + SLOTS + SWEEP_CELLS * (size_t)(row))
/* misfit of these cells without beam, nc of them in the cone */
#define BEAM_EXACT(row) (BEAM_PROFILE(SLOTS) + BEAM_STRIDE * (size_t)(row))
#define BEAM_SLOPE(row) (BEAM_EXACT(SLOTS) + BEAM_STRIDE * (size_t)(row))
#define BEAM_GAIN(row, t) (BEAM_SLOPE(SLOTS) + BEAM_STRIDE * (size_t)((row) * BEAM_NODES + (t)))
#define BEAM_SPARE(row, i) (BEAM_GAIN(SLOTS, 0) + SWEEP_CELLS * (size_t)(6 * (row) + (i)))

/* Modes: none; the slope; the whole row for free; 3 + t: table t. */
#define MODE_NONE R(0.0)
#define MODE_SLOPE R(1.0)
#define MODE_FREE R(2.0)
#define MODE_TABLE 3u

/* Amplitudes of the tables, of the largest, and minus their logarithms, rounded up. */
TABLE(elem, beam_nodes, BEAM_NODES) = {ELEM(0.0002), ELEM(0.001), ELEM(0.004), ELEM(0.01), ELEM(0.02),
                                       ELEM(0.06),   ELEM(0.12),  ELEM(0.24),  ELEM(0.5),  ELEM(1.0)};
TABLE(elem, beam_depths, BEAM_NODES) = {ELEM(8.518), ELEM(6.908), ELEM(5.522), ELEM(4.606), ELEM(3.913),
                                        ELEM(2.814), ELEM(2.121), ELEM(1.428), ELEM(0.694), ELEM(0.0)};
/* Below them, for the slope: amplitudes and the exponents from which on they are not reached. */
TABLE(elem, beam_tails, 6) = {ELEM(2.01e-4), ELEM(2e-5), ELEM(2e-6), ELEM(1e-7), ELEM(1e-9), ELEM(1e-11)};
TABLE(elem, beam_tail_depths, 6) = {ELEM(8.518), ELEM(10.82), ELEM(13.13),
                                    ELEM(16.12), ELEM(20.73), ELEM(25.33)};

/* New data: nothing is known of any row. By the whole team, up to a barrier. */
FN void beam_forget(GLOBAL real *s)
{
    TEAM_FOR(i, SLOTS) BEAM_KNOWN[i] = BEAM_MODE[i] = R(0.0);
    TEAM_BARRIER();
}

FN real beam_width(CONSTANT elem *mr)
{
    return LOADM1(mr, LOSSCONE_BEAM_WIDTH);
}

/* (E - c)^2 / 2 w^2 at its least over potentials u0 .. u1; BEAM_REACH if there is no beam or it is out of
 * reach. */
FN real beam_depth(real energy, real spacecraft, real width, real u0, real u1)
{
    const real high = spacecraft - u0, low = spacecraft - u1;
    const real c0 = low > width ? low : width, c1 = high > width ? high : width;
    const real away = energy > c1 ? energy - c1 : energy < c0 ? c0 - energy : R(0.0);
    if (!(high > R(0.0)) || !(away < BEAM_FAR * width)) return BEAM_REACH;
    const real z = flush(DIVIDE(away, width));
    return R(0.5) * z * z;
}

/* ---- what a row can gain ---- */

/* Profile and slope of a row. Reflected cells by their thresholds; where the beam is so wide that all of them
 * notice, behind them the incident ones. */
FN_LARGE void beam_learn(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                         u32 row)
{
    const real sigma = LOADM1(mr, LOSSCONE_BEAM_SIGMA), one = LOADM1(mr, LOSSCONE_LEVEL),
               low = LOADM1(mr, LOSSCONE_LEVEL + 1);
    const u32 reflected = U32_OF(CELLS_COUNT[row]), lillis = mi[LOSSCONE_METHOD];
    GLOBAL real *profile = BEAM_PROFILE(row), *data = CELLS_DATA + row * SWEEP_CELLS;
    u32 n = 0, m = reflected;
    for (u32 j = 0; j < reflected && n == j; j += 8) {
        for (u32 l = 0; l < 8; l += PACK) {
            const pack sine = LOADP(CELLS_SINE, row * SWEEP_CELLS + j + l),
                       angle = m_asin_root_degrees(PSELECT(sine < PK(1.0), sine, PK(1.0)));
            const pack z = sigma > R(0.0) ? pflush(PDIVIDE(angle, PACK_OF(sigma))) : PK(0.0);
            STOREP(profile, j + l, pflush(m_exp(PK(-0.5) * z * z)));
        }
        for (u32 l = 0; l < 8; l++) n += j + l < reflected && profile[j + l] > BEAM_LEAST_PROFILE;
    }
    if (n == reflected)
        for (u32 j = 0; j < SWEEP_CELLS; j++) {
            const real cosine = sweep[SWEEP_COSINE + row * SWEEP_CELLS + j];
            if (PANY(cone_may_hold(PACK_OF(cosine))) || !(sweep[SWEEP_FLUX + row * SWEEP_CELLS + j] > R(0.0)))
                continue;
            const real z = sigma > R(0.0)
                               ? flush(DIVIDE(R(180.0) - FIRST(m_acos_degrees(PACK_OF(cosine))), sigma))
                               : R(0.0);
            const real height = flush(FIRST(m_exp(PACK_OF(R(-0.5) * z * z))));
            if (!(height > BEAM_LEAST_PROFILE)) continue;
            data[m] = CELLS_ALL[row * SWEEP_CELLS + j];
            profile[m] = height;
            m++;
            n = m;
        }
    const u32 padded = (n + 7) & ~7u;
    for (u32 j = n; j < padded; j++) {
        profile[j] = R(0.0);
        if (j >= reflected) data[j] = one;
    }
    BEAM_CELLS[row] = REAL_OF(n);
    const real floor = lillis ? R(0.0) : R(LOSSCONE_FLOOR), base_one = R(1.0) + floor,
               base_low = LOADM1(mr, LOSSCONE_BACKGROUND) + floor;
    GLOBAL real *exact = BEAM_EXACT(row), *slope = BEAM_SLOPE(row);
    real sum = R(0.0), steepness = R(0.0);
    for (u32 j = 0; j < n; j++) {
        const real away = data[j] - one;
        sum = flush(FMA(away, away, sum));
        steepness = flush(steepness + (lillis          ? away * profile[j]
                                       : away > R(0.0) ? flush(DIVIDE(away * profile[j], base_one))
                                                       : R(0.0)));
    }
    exact[0] = sum;
    slope[0] = steepness;
    const u32 inside = n < reflected ? n : reflected;
    for (u32 j = 0; j < inside; j++) {
        const real away = data[j] - one, other = data[j] - low;
        sum = flush(sum + (other * other - away * away));
        if (lillis)
            steepness = flush(steepness + (one - low) * profile[j]);
        else
            steepness =
                flush(steepness + (other > R(0.0) ? flush(DIVIDE(other * profile[j], base_low)) : R(0.0)) -
                      (away > R(0.0) ? flush(DIVIDE(away * profile[j], base_one)) : R(0.0)));
        exact[j + 1] = sum;
        slope[j + 1] = steepness;
    }
    BEAM_KNOWN[row] = R(1.0);
}

/* A logarithm that is good to 2e-5, for bounds (which are widened by as much) and first guesses. */
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

/* Squared distance to an interval. */
FN pack outside_squared(pack x, pack low, pack high)
{
    const pack below = low - x, above = x - high, d = PSELECT(below > above, below, above);
    return PSELECT(d > PK(0.0), d * d, PK(0.0));
}

/* All gains of a row. */
FN_LARGE void beam_tabulate(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL real *s, u32 row)
{
    const u32 n = U32_OF(BEAM_CELLS[row]), reflected = U32_OF(CELLS_COUNT[row]),
              inside = n < reflected ? n : reflected;
    const real most = LOADM1(mr, LOSSCONE_A_UPPER);
    GLOBAL const real *exact = BEAM_EXACT(row), *profile = BEAM_PROFILE(row),
                      *data = CELLS_DATA + row * SWEEP_CELLS;
    BEAM_KNOWN[row] = R(2.0);
    if (mi[LOSSCONE_METHOD]) {
        real square = R(0.0);
        for (u32 j = 0; j < n; j++) square = flush(FMA(profile[j], profile[j], square));
        const real inverse = square > R(0.0) ? DIVIDE(R(1.0), square) : R(0.0);
        for (u32 t = 0; t < BEAM_NODES; t++)
            for (u32 k = 0; k <= inside; k++) {
                const real limit = most * REAL_OF(beam_nodes[t]), best = flush(BEAM_SLOPE(row)[k] * inverse),
                           a = best < limit ? best : limit;
                BEAM_GAIN(row, t)
                [k] = a > R(0.0) ? flush(a * flush(FMA(-a, square, R(2.0) * BEAM_SLOPE(row)[k]))) : R(0.0);
            }
        return;
    }
    GLOBAL real *low_one = BEAM_SPARE(row, 0), *low_cone = BEAM_SPARE(row, 1), *cost = BEAM_SPARE(row, 2),
                *change = BEAM_SPARE(row, 3);
    const pack wider = PK(ROUGH_LOG), one = PK(1.0) + PK(LOSSCONE_FLOOR),
               cone = PACK_OF(LOADM1(mr, LOSSCONE_BACKGROUND) + R(LOSSCONE_FLOOR));
    const pack level_one = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL)),
               level_cone = PACK_OF(LOADM1(mr, LOSSCONE_LEVEL + 1));
    for (u32 j = 0; j < n; j += PACK) {
        STOREP(low_one, j, level_one);
        STOREP(low_cone, j, level_cone);
    }
    for (u32 t = 0; t < BEAM_NODES; t++) {
        const pack a = PACK_OF(most * REAL_OF(beam_nodes[t]));
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

/* How the gain of a row is bounded at potentials u0 .. u1; `roughly`: what needs tables is free. */
FN void beam_choose(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s, u32 row,
                    real u0, real u1, u32 roughly)
{
    const real depth =
        beam_depth(sweep[SWEEP_ENERGY + row], sweep[SWEEP_POTENTIAL + row], beam_width(mr), u0, u1);
    BEAM_MODE[row] = MODE_NONE;
    if (!(depth < BEAM_REACH)) return;
    if (BEAM_KNOWN[row] == R(0.0)) beam_learn(mi, mr, sweep, s, row);
    if (depth >= REAL_OF(beam_depths[0])) {
        u32 i = 0;
        while (i < 5 && depth >= REAL_OF(beam_tail_depths[i + 1])) i++;
        BEAM_MODE[row] = MODE_SLOPE;
        BEAM_FACTOR[row] = flush(R(2.0) * LOADM1(mr, LOSSCONE_A_UPPER) * REAL_OF(beam_tails[i]));
        return;
    }
    if (roughly && BEAM_KNOWN[row] < R(2.0)) {
        BEAM_MODE[row] = MODE_FREE;
        return;
    }
    if (BEAM_KNOWN[row] < R(2.0)) beam_tabulate(mi, mr, s, row);
    u32 t = 0;
    while (depth < REAL_OF(beam_depths[t])) t++;
    BEAM_MODE[row] = REAL_OF(MODE_TABLE + t);
}

/* A row's bound on what the beam gains, by how many of its noticing cells are in the cone: factor times the
 * table, where that is positive. */
typedef struct {
    GLOBAL const real *table;
    real factor, cells;
} beam_limit;

FN beam_limit beam_limit_of(GLOBAL const real *s, u32 row)
{
    const real mode = BEAM_MODE[row];
    beam_limit limit;
    limit.table = mode == MODE_FREE || mode == MODE_NONE ? BEAM_EXACT(row)
                  : mode == MODE_SLOPE                   ? BEAM_SLOPE(row)
                                                         : BEAM_GAIN(row, U32_OF(mode) - MODE_TABLE);
    limit.factor = mode == MODE_NONE ? R(0.0) : mode == MODE_SLOPE ? BEAM_FACTOR[row] : R(1.0);
    limit.cells = BEAM_CELLS[row];
    return limit;
}

/* `below`: cells of the row in the cone. */
FN real beam_gain(beam_limit limit, real below)
{
    const real gain = limit.table[U32_OF(below < limit.cells ? below : limit.cells)];
    return gain > R(0.0) ? flush(limit.factor * gain) : R(0.0);
}

/* STEP of a row, less what the beam gains at most. */
FN real beam_step(GLOBAL const real *s, u32 row, u32 k)
{
    const real step = CELLS_STEP(0)[k * SLOTS + row];
    return BEAM_MODE[row] == MODE_NONE
               ? step
               : step - beam_gain(beam_limit_of(s, row), CELLS_BELOW[k * SLOTS + row]);
}

/* Takes the gains of the rows that notice off the bounds of a box, by the whole team, between barriers of the
 * caller's. */
FN void beam_relax(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                   search_box box, u32 roughly, GLOBAL real *to)
{
    TEAM_FOR(row, SWEEP_ROWS) {
        if (CELLS_MOST[row] > R(0.0) || CELLS_PART[SLOTS + row] > R(0.0)) {
            beam_choose(mi, mr, sweep, s, row, box.u0, box.u1, roughly);
            if (BEAM_MODE[row] > MODE_NONE) {
                const u32 first = U32_OF(BOUND_FIRST(to)[row]), last = first + U32_OF(BOUND_LINES(to)[row]);
                const beam_limit limit = beam_limit_of(s, row);
                real least = UNBOUNDED;
                for (u32 k = first; k <= last; k++) {
                    const real step =
                        CELLS_STEP(0)[k * SLOTS + row] - beam_gain(limit, CELLS_BELOW[k * SLOTS + row]);
                    least = step < least ? step : least;
                }
                BOUND_LEAST(to)[row] = least;
            }
        } else
            BEAM_MODE[row] = MODE_NONE;
    }
}

#endif
