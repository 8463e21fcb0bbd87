/* losscone_outcome.h: the plateau of the minimum, its centre and misfit, for the host. */
#pragma once

#include "losscone/losscone_search.h"

/* part of 1 + misfit: a centre above the minimum by less counts as minimum */
#define SEARCH_CENTRAL LIMIT(1e-7, 1e-5)

#define BEAM_NOTHING 1e-20 /* changes no bit of a model */

/* Cells with smaller cosine get more than BEAM_NOTHING: -cos(phi) <= phi^2 / 2 - 1, phi from the field. */
FN real beam_noticed(losscone_run run, real amplitude)
{
    const real sigma = run.sigma * R(0.017453292519943295),
               depth = FIRST(m_log(PACK_OF(flush(DIVIDE(amplitude, R(BEAM_NOTHING))))));
    return run.sigma > R(0.0) ? (depth > R(0.0) ? FMA(sigma * sigma, depth, R(-1.0)) : R(-2.0)) : R(2.0);
}

FN real misfit_of_row(losscone_run run, GLOBAL const elem *sweep, GLOBAL const real *s, u32 i,
                      losscone_row row)
{
    const pack noticing = PACK_OF(row.beam > R(0.0) ? beam_noticed(run, row.beam) : R(-2.0));
    acc8 sum = acc8_zero();
    for (u32 cell = i * SWEEP_CELLS; cell < i * SWEEP_CELLS + run.cells; cell += 8)
        for (u32 l = 0; l < 8; l += PACK) {
            const pack cosine = LOADP(sweep + SWEEP_COSINE, cell + l), sine = cone_sine_square(cosine);
            const pmask notices = cosine < noticing;
            pack model = losscone_of_cells(run, row, sine, run.datum);
            /* by cell: its neighbours in the pack must not matter */
            if (PANY(notices)) {
                const pack with = losscone_with_beam(run, row, sine, losscone_beam_profile(run, cosine));
                model = PSELECT(notices, losscone_datum(run, with), model);
            }
            const pack rest = PSELECT(LOADP(sweep + SWEEP_FLUX, cell + l) > PK(0.0),
                                      pflush(LOADP(s + CELLS_ALL, cell + l) - model), PK(0.0));
            sum.part[l / PACK] = PFMA(rest, rest, sum.part[l / PACK]);
        }
    return acc8_total(sum);
}

/* Misfit by the formula (losscone_direct.h), in f64 with the bits of losscone_misfit. The whole team calls
 * it, up to a barrier. */
FN void search_misfit(LOSSCONE_PARAMETERS, GLOBAL const real *point, GLOBAL real *to)
{
    const losscone_run run = losscone_run_of(mi, mr);
    TEAM_FOR(i, run.rows) {
        const losscone_row row =
            losscone_row_of(run, sweep, i, point[LOSSCONE_U], point[LOSSCONE_R], point[LOSSCONE_A]);
        (s + SEARCH_VALUES)[i] =
            (s + CELLS_VALID)[i] > R(0.0) ? misfit_of_row(run, sweep, s, i, row) : R(0.0);
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        real sum = R(0.0);
        for (u32 i = 0; i < run.rows; i++) sum = sum + (s + SEARCH_VALUES)[i];
        *to = sum;
    }
    TEAM_BARRIER();
}

/* The domain, or the side of U = 0 that the plateau was found on if its folded families depend on it. */
FN search_box plateau_domain(LOSSCONE_PARAMETERS)
{
    GLOBAL const real *chosen = s + SEARCH_CHOSEN;
    search_box domain = box_of_options(mr);
    u32 sided = 0;
    for (u32 f = SWEEP_SLOTS; f < losscone_families(mi); f++) sided |= chosen[f] != chosen[f % SWEEP_SLOTS];
    if (sided && s[SEARCH_SIDE] > R(0.0) && domain.u0 < R(0.0)) domain.u0 = R(0.0);
    if (sided && s[SEARCH_SIDE] == R(0.0) && domain.u1 > R(0.0)) domain.u1 = R(0.0);
    return domain;
}

/* The middle in r at potential u, which is the line b = u a. */
FN real plateau_ratio(GLOBAL const real *polygon, u32 n, search_box extent, real u)
{
    if (!(extent.u0 < extent.u1)) return box_middle_r(extent);
    real least = UNBOUNDED, most = -UNBOUNDED;
    for (u32 i = 0; i < n; i++) {
        const u32 last = i ? i - 1 : n - 1;
        const real a = VERTEX_A(polygon, i), a0 = VERTEX_A(polygon, last),
                   here = FMA(-u, a, VERTEX_B(polygon, i)), before = FMA(-u, a0, VERTEX_B(polygon, last));
        const u32 crosses = (here < R(0.0) && before > R(0.0)) || (here > R(0.0) && before < R(0.0));
        if (!crosses && here != R(0.0)) continue;
        const real crossing = crosses ? flush(FMA(DIVIDE(before, before - here), a - a0, a0)) : a;
        least = crossing < least ? crossing : least;
        most = crossing > most ? crossing : most;
    }
    return limited(R(0.5) * (least + most), extent.r0, extent.r1);
}

/* Centre of gravity in a and b; of a thin plateau the middle in U, and there in r. */
FN void plateau_centre(GLOBAL const real *polygon, u32 n, search_box extent, GLOBAL real *to)
{
    const real a0 = VERTEX_A(polygon, 0), b0 = VERTEX_B(polygon, 0),
               room = (extent.r1 - extent.r0) * flush(extent.r1 * (extent.u1 - extent.u0));
    real area = R(0.0), a = R(0.0), b = R(0.0), u = box_middle_u(extent);
    for (u32 i = 2; i < n; i++) {
        const real p = VERTEX_A(polygon, i - 1) - a0, q = VERTEX_B(polygon, i - 1) - b0,
                   x = VERTEX_A(polygon, i) - a0, y = VERTEX_B(polygon, i) - b0, part = FMA(p, y, -q * x);
        area = area + part;
        a = FMA(part, p + x, a);
        b = FMA(part, q + y, b);
    }
    const u32 thin = !((area < R(0.0) ? -area : area) > R(1e-4) * room);
    if (!thin) {
        a = FMA(flush(DIVIDE(flush(a), area)), R(0.3333333333333333), a0);
        b = FMA(flush(DIVIDE(flush(b), area)), R(0.3333333333333333), b0);
        u = limited(DIVIDE(b, a), extent.u0, extent.u1);
    }
    to[OUTCOME_CENTRE_U] = u;
    to[OUTCOME_CENTRE_R] = thin ? plateau_ratio(polygon, n, extent, u) : limited(a, extent.r0, extent.r1);
}

/* Returns the number of vertices. */
FN u32 search_plateau(LOSSCONE_PARAMETERS, GLOBAL real *to, PRIVATE search_box *extent)
{
    const search_box domain = plateau_domain(LOSSCONE);
    GLOBAL real *polygon = s + SEARCH_POLYGON;
    u32 n = plateau_clip(mi, s, s + SEARCH_CHOSEN, domain, s[SEARCH_SIDE] > R(0.0), polygon);
    if (n == 0) { /* a sliver was all of the domain */
        const real u = box_middle_u(domain), r = box_middle_r(domain);
        const search_box middle = {u, u, r, r};
        n = polygon_of_box(middle, polygon);
    }
    *extent = polygon_extent(polygon, n, domain);
    to[OUTCOME_U_LOWER] = extent->u0;
    to[OUTCOME_U_UPPER] = extent->u1;
    to[OUTCOME_R_LOWER] = extent->r0;
    to[OUTCOME_R_UPPER] = extent->r1;
    to[OUTCOME_VERTICES] = REAL_OF(n);
    for (u32 i = 0; i < OUTCOME_VERTICES_MOST; i++) {
        to[OUTCOME_VERTEX + 2 * i] = i < n ? limited(VERTEX_U(polygon, i), extent->u0, extent->u1) : R(0.0);
        to[OUTCOME_VERTEX + 2 * i + 1] = i < n ? VERTEX_A(polygon, i) : R(0.0);
    }
    plateau_centre(polygon, n, *extent, to);
    return n;
}

/* All but the misfit. With a beam the misfit changes inside the plateau: the point is the centre if that is
 * minimal within SEARCH_CENTRAL, else where the minimum was found. By one worker. */
FN_LARGE void search_answer(LOSSCONE_PARAMETERS, GLOBAL real *to)
{
    search_box extent;
    const u32 n = search_plateau(LOSSCONE, to, &extent);
    const real u = to[OUTCOME_CENTRE_U];
    GLOBAL real *point = to + OUTCOME_POINT;
    point[LOSSCONE_U] = u;
    point[LOSSCONE_R] = to[OUTCOME_CENTRE_R];
    point[LOSSCONE_A] = LOADM1(mr, LOSSCONE_A_LOWER);
    if (has_beam(mr)) {
        solve_cell(LOSSCONE, s + SEARCH_CHOSEN, u, u);
        const u32 central = s[SOLVE_VALUE] <= FMA(SEARCH_CENTRAL, R(1.0) + s[SEARCH_BEST], s[SEARCH_BEST]);
        point[LOSSCONE_A] = central ? s[SOLVE_A] : s[SEARCH_BEST_A];
        if (!central) {
            point[LOSSCONE_U] = s[SEARCH_BEST_U];
            point[LOSSCONE_R] = plateau_ratio(s + SEARCH_POLYGON, n, extent, s[SEARCH_BEST_U]);
        }
    }
    to[OUTCOME_PROVEN] = s[SEARCH_BEST] < UNBOUNDED ? s[SEARCH_BEST] - s[SEARCH_GAP] : R(0.0);
    to[OUTCOME_BOXES] = s[SEARCH_BOXES];
    to[OUTCOME_SOLVED] = s[SEARCH_SOLVED];
    to[OUTCOME_CELLS] = s[CELLS_NUMBER];
}
