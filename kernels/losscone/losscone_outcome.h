/* losscone_outcome.h: what the search found, as numbers for the host: the plateau of the minimum, its centre, the
 * misfit there. */
#ifndef PARITAS_LOSSCONE_OUTCOME_H
#define PARITAS_LOSSCONE_OUTCOME_H

#include "losscone/losscone_direct.h"
#include "losscone/losscone_search.h"

#if F64
/* of 1 + misfit: the plateau's centre may be above its minimum by this and still be called the minimum */
#define SEARCH_CENTRAL R(1e-7)
#else
#define SEARCH_CENTRAL R(1e-5)
#endif

#define BEAM_NOTHING 1e-20 /* that changes no bit of a model */

/* The cosine below which a beam of this amplitude is above BEAM_NOTHING: -cos(phi) <= phi^2 / 2 - 1, phi from
 * the field. */
FN real beam_noticed(losscone_run run, real amplitude)
{
    const real sigma = run.sigma * R(0.017453292519943295),
               depth = FIRST(m_log(PACK_OF(flush(DIVIDE(amplitude, R(BEAM_NOTHING))))));
    return run.sigma > R(0.0) ? (depth > R(0.0) ? FMA(sigma * sigma, depth, R(-1.0)) : R(-2.0)) : R(2.0);
}

/* The misfit of each row at a point by the formula (direct.h), cell by cell, in f64 with the bits of the
 * entry losscone_misfit. By the whole team. */
FN void misfit_of_rows(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                       real potential, real ratio, real amplitude, GLOBAL real *to)
{
    const losscone_run run = losscone_run_of(mi, mr);
    TEAM_FOR(i, SLOTS) {
        acc8 sum = acc8_zero();
        if (i < SWEEP_ROWS && CELLS_PART[SLOTS + i] > R(0.0)) {
            const losscone_row row = losscone_row_of(run, sweep[SWEEP_ENERGY + i], sweep[SWEEP_POTENTIAL + i],
                                                     potential, ratio, amplitude);
            const pack noticing = PACK_OF(row.beam > R(0.0) ? beam_noticed(run, row.beam) : R(-2.0));
            for (u32 j = 0; j < SWEEP_CELLS; j += 8)
                for (u32 l = 0; l < 8; l += PACK) {
                    const u32 cell = i * SWEEP_CELLS + j + l;
                    const pack cosine = LOADP(sweep, SWEEP_COSINE + cell), sine = cone_sine_square(cosine);
                    const pmask notices = cosine < noticing;
                    pack model = losscone_of_cells(run, row, sine, run.datum);
                    /* each cell by itself: what its neighbours in a pack are must not matter */
                    if (PANY(notices)) {
                        const pack with = losscone_of_cells(run, row, sine, run.level) +
                                          pflush(PACK_OF(row.beam) * losscone_beam_profile(run, cosine));
                        model = PSELECT(notices, run.lillis ? with : m_log(with + PK(LOSSCONE_FLOOR)), model);
                    }
                    const pack rest = PSELECT(LOADP(sweep, SWEEP_FLUX + cell) > PK(0.0),
                                              pflush(LOADP(CELLS_ALL, cell) - model), PK(0.0));
                    sum.part[l / PACK] = PFMA(rest, rest, sum.part[l / PACK]);
                }
        }
        to[i] = acc8_total(sum);
    }
}

/* Where the plateau lies: the whole domain, or, if its folded families depend on it, the side of 0 that it
 * was found on. */
FN search_box plateau_domain(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const real *s)
{
    search_box domain = box_of_options(mr);
    u32 sided = 0;
    for (u32 f = SLOTS; f < losscone_families(mi); f++) sided |= SEARCH_CHOSEN[f] != SEARCH_CHOSEN[f % SLOTS];
    if (sided && SEARCH_SIDE > R(0.0) && domain.u0 < R(0.0)) domain.u0 = R(0.0);
    if (sided && SEARCH_SIDE == R(0.0) && domain.u1 > R(0.0)) domain.u1 = R(0.0);
    return domain;
}

/* The middle of a plateau's extent in r at a potential that it has: U = u is the line b = u a. */
FN real plateau_ratio(GLOBAL const real *polygon, u32 n, search_box extent, real u)
{
    if (!(extent.u0 < extent.u1)) return R(0.5) * (extent.r0 + extent.r1);
    real least = UNBOUNDED, most = -UNBOUNDED;
    for (u32 i = 0; i < n; i++) {
        const u32 last = i ? i - 1 : n - 1;
        const real a = polygon[2 * i], a0 = polygon[2 * last], here = FMA(-u, a, polygon[2 * i + 1]),
                   before = FMA(-u, a0, polygon[2 * last + 1]);
        const u32 crosses = (here < R(0.0) && before > R(0.0)) || (here > R(0.0) && before < R(0.0));
        if (!crosses && here != R(0.0)) continue;
        const real crossing = crosses ? flush(FMA(DIVIDE(before, before - here), a - a0, a0)) : a;
        least = crossing < least ? crossing : least;
        most = crossing > most ? crossing : most;
    }
    return limited(R(0.5) * (least + most), extent.r0, extent.r1);
}

/* What stands for a plateau, U and r: its centre of gravity in the plane of a and b, where it is convex; of a
 * thin one the middle of its extent in U, and there in r. */
FN void plateau_centre(GLOBAL const real *polygon, u32 n, search_box extent, GLOBAL real *to)
{
    const real a0 = polygon[0], b0 = polygon[1],
               room = (extent.r1 - extent.r0) * flush(extent.r1 * (extent.u1 - extent.u0));
    real area = R(0.0), a = R(0.0), b = R(0.0);
    for (u32 i = 2; i < n; i++) {
        const real p = polygon[2 * i - 2] - a0, q = polygon[2 * i - 1] - b0, x = polygon[2 * i] - a0,
                   y = polygon[2 * i + 1] - b0, part = FMA(p, y, -q * x);
        area = area + part;
        a = FMA(part, p + x, a);
        b = FMA(part, q + y, b);
    }
    to[0] = R(0.5) * (extent.u0 + extent.u1);
    if ((area < R(0.0) ? -area : area) > R(1e-4) * room) {
        a = FMA(flush(DIVIDE(flush(a), area)), R(0.3333333333333333), a0);
        b = FMA(flush(DIVIDE(flush(b), area)), R(0.3333333333333333), b0);
        to[0] = limited(DIVIDE(b, a), extent.u0, extent.u1);
        to[1] = limited(a, extent.r0, extent.r1);
    } else
        to[1] = plateau_ratio(polygon, n, extent, to[0]);
}

/* The answer. Where there may be a beam the misfit changes with U inside the plateau, so the point of the
 * answer is the centre with its best amplitude only if that is the minimum too, as near as it counts, and
 * else where the minimum was found. By one worker; all but the misfit. */
FN_LARGE void search_answer(CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL const elem *sweep, GLOBAL real *s,
                            GLOBAL real *to)
{
    const search_box domain = plateau_domain(mi, mr, s);
    u32 n = plateau_clip(mi, s, SEARCH_CHOSEN, domain, SEARCH_SIDE > R(0.0), SEARCH_POLYGON);
    if (n == 0) { /* a sliver: nothing else was in the domain */
        search_box middle;
        middle.u0 = middle.u1 = R(0.5) * (domain.u0 + domain.u1);
        middle.r0 = middle.r1 = R(0.5) * (domain.r0 + domain.r1);
        n = polygon_of_box(middle, SEARCH_POLYGON);
    }
    const search_box extent = polygon_extent(SEARCH_POLYGON, n, domain);
    plateau_centre(SEARCH_POLYGON, n, extent, to + OUTCOME_CENTRE);
    const real u = to[OUTCOME_CENTRE];
    to[OUTCOME_EXTENT] = extent.u0;
    to[OUTCOME_EXTENT + 1] = extent.u1;
    to[OUTCOME_EXTENT + 2] = extent.r0;
    to[OUTCOME_EXTENT + 3] = extent.r1;
    to[OUTCOME_POINT] = u;
    to[OUTCOME_POINT + 1] = to[OUTCOME_CENTRE + 1];
    to[OUTCOME_POINT + 2] = LOADM1(mr, LOSSCONE_A_LOWER);
    if (has_beam(mr)) {
        solve_cell(mi, mr, sweep, s, SEARCH_CHOSEN, u, u);
        const real value = SOLVE_VALUE, a = SOLVE_A;
        const u32 central = value <= FMA(SEARCH_CENTRAL, R(1.0) + SEARCH_BEST, SEARCH_BEST);
        if (!central) {
            to[OUTCOME_POINT] = SEARCH_BEST_U;
            to[OUTCOME_POINT + 1] = plateau_ratio(SEARCH_POLYGON, n, extent, SEARCH_BEST_U);
        }
        to[OUTCOME_POINT + 2] = central ? a : SEARCH_BEST_A;
    }
    to[OUTCOME_VERTICES] = REAL_OF(n);
    for (u32 i = 0; i < OUTCOME_VERTICES_MOST; i++) {
        to[OUTCOME_VERTEX + 2 * i] =
            i < n ? limited(flush(DIVIDE(SEARCH_POLYGON[2 * i + 1], SEARCH_POLYGON[2 * i])), extent.u0,
                            extent.u1)
                  : R(0.0);
        to[OUTCOME_VERTEX + 2 * i + 1] = i < n ? SEARCH_POLYGON[2 * i] : R(0.0);
    }
    to[OUTCOME_PROVEN] = SEARCH_BEST < UNBOUNDED ? SEARCH_BEST - SEARCH_GAP : R(0.0);
    to[OUTCOME_BOXES] = SEARCH_BOXES;
    to[OUTCOME_SOLVED] = SEARCH_SOLVED;
    to[OUTCOME_CELLS] = CELLS_NUMBER;
}

#endif
