/* histfactory_elimination.h: local parameters, eliminated bin by bin (Schur complement), and their solutions.
 *
 * A local parameter adds a row to its bin's rank updates. A "common" set, of all units of a channel, only
 * changes the weight of the bin's row. */
#pragma once

#include "numeric/tiles.h"
#include "histfactory/histfactory_rates.h"

/* Below this part of its sums a pivot is zero. A larger limit stalls fits in flat valleys: there the
 * curvature can be 1e-11 of the diagonal. */
#if F64
#define HF_PIVOT_LEAST R(1e-13)
#else
#define HF_PIVOT_LEAST R(1e-5)
#endif

/* Puts rates without `set` into CELL_TEMP; 0 in units without it. */
FN void hf_cells_without(HF_PARAMETERS, hf_channel ch, u32 panel, u32 set)
{
    const u32 units = ch->units;
    GLOBAL real *xe = HF_S(CELL_TEMP), *xs = xe + 8 * units, *xg = xs + 8 * units;
    TEAM_FOR(u, units) {
        const u32 unit = ch->first_unit + u, cell = hf_cell_at(ch, panel, u);
        hf_unit un = hf_unit_of(mi, unit);
        const u32 carries = hf_carries(mi, un, set);
        const pack phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
        for (u32 b = 0; b < 8; b += PACK) {
            pack g = PK(0.0);
            if (carries)
                g = pflush(PACK_OF(s[mi[HF_S_F] + unit]) *
                           hf_gamma_without(HF, ch, un, panel, b, set, HF_NO_SET));
            if (mi[HF_SWITCHES] & HF_CLIP_SAMPLES)
                g = PSELECT(LOADP(HF_S(XG), cell + b) == PK(0.0), PK(0.0), g);
            const pack rate = pflush(LOADP(HF_S(BASE), cell + b) * g);
            STOREP(xs, 8 * u + b, rate);
            STOREP(xe, 8 * u + b, pflush(rate * phi));
            STOREP(xg, 8 * u + b, pflush(hf_by_shifts(mr, un, LOADP(HF_S(BASE), cell + b), g) * phi));
        }
    }
}

/* Jacobians of rates, then of rates without each coupled set; R' in mcstat's place and behind all. */
FN void hf_panel_jacobians(HF_PARAMETERS, hf_channel ch, u32 panel)
{
    const u32 cell = hf_cell_at(ch, panel, 0), size = 8 * ch->units, coupled = hf_coupled(ch);
    GLOBAL const real *temp = HF_S(CELL_TEMP);
    for (u32 l = 0; l <= coupled; l++) {
        TEAM_IF(l == 0 || l != ch->mcstat) {
            if (l > 0) hf_cells_without(HF, ch, panel, l - 1);
            TEAM_BARRIER();
            GLOBAL const real *xe = l > 0 ? temp : HF_S(XE) + cell,
                              *xs = l > 0 ? temp + size : HF_S(XS) + cell,
                              *xg = l > 0 ? temp + 2 * size : HF_S(XG) + cell;
            hf_panel_jacobian(HF, ch, panel, xe, xs, xg, HF_S(JACOBIAN) + l * 64 * ch->blocks);
            TEAM_BARRIER();
        }
    }
    TEAM_IF(ch->mcstat > 0) {
        GLOBAL real *jacobian = HF_S(JACOBIAN), *own = jacobian + ch->mcstat * 64 * ch->blocks,
                    *behind = jacobian + (1 + coupled) * 64 * ch->blocks;
        hf_mcstat_jacobian(HF, ch, panel, jacobian, behind);
        TEAM_FOR_PACK(i, 64 * ch->blocks) STOREP(own, i, LOADP(behind, i));
        TEAM_BARRIER();
    }
}

/* n/lambda^2, or its expectation (kap 0). */
FN pack hf_bin_curvature(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, pack kap)
{
    const u32 bin = hf_first_bin(ch, panel) + b;
    const pack zero = PK(0.0), one = PK(1.0);
    const pack lambda = LOADP(HF_S(LAMBDA), bin), kept = LOADP(HF_S(MAIN), bin),
               n = PSELECT(kept > zero, kept, zero); /* below 0: an empty bin with a multiplier */
    const pmask positive = lambda > zero;
    pmask own = zero < one; /* bins that the edge does not continue */
    const pack inverse = PDIVIDE(one, PSELECT(positive, lambda, one));
    pack curve = PSELECT(positive, pflush(PFMA(kap, PFMA(n, inverse, -one), one) * inverse), zero);
    if (ANY(HF_REACH > R(0.0))) {
        const hf_continued c = hf_continue(HF, ch, panel, b, lambda, kept);
        curve = PSELECT(c.here, c.curvature, curve);
        if (ch->mcstat > 0) own = PNOT(c.here);
    }
    if (hf_clips_bins(mi, ch)) return PSELECT(AND(own, lambda <= hf_bin_clip(mi, mr, ch)), zero, curve);
    return curve;
}

/* Local parameter in bins b.. */
typedef struct {
    u32 panel, b, set, slot;
    pmask active;
    pack weighted;   /* curvature times lambda's derivative */
    pack own, least; /* the pivot; below `least` it is zero */
    pack mixed;      /* kap (1 - n/lambda) */
} hf_local_pivot;

FN hf_local_pivot hf_pivot_of(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, u32 set, pack curve, pack mixed,
                              real kap, real damping)
{
    hf_set record = hf_set_of(mi, ch, set);
    hf_local_pivot p;
    p.panel = panel;
    p.b = b;
    p.set = set;
    p.slot = record->slot + 8 * panel + b;
    p.active = LOADP(HF_S(ACTIVE), p.slot) > PK(0.0);
    const pack first = hf_local_derivative(HF, ch, panel, b, set, HF_NO_SET);
    p.weighted = pflush(curve * first);
    const pack own = pflush(PFMA(p.weighted, first, hf_constraint_curvature(HF, record, p.slot, kap)));
    p.least = PACK_OF(HF_PIVOT_LEAST) * PSELECT(own < PK(0.0), -own, own);
    p.own = PSELECT(p.active, own * PACK_OF(R(1.0) + damping), PK(1.0));
    p.mixed = mixed;
    return p;
}

/* 1 if too small; bad ones set BAD_LOCAL. */
FN pack hf_judge_pivot(HF_PARAMETERS, hf_local_pivot p)
{
    const pmask bad = PNOT(p.own >= -p.least);
    if (PANY(bad)) {
        GLOBAL real *flag = HF_S(SCALARS_OF_FIT) + HF_FIT_BAD_LOCAL, *temp = HF_S(CELL_TEMP);
        STOREP(temp, p.b, PSELECT(bad, PK(1.0), PK(0.0)));
        for (u32 j = 0; j < PACK; j++) flag[0] = SELECT(temp[p.b + j] > R(0.0), R(1.0), flag[0]);
    }
    return PSELECT(p.own > p.least, p.own, PK(1.0));
}

/* Returns the bins' weights; `whole`: before elimination. */
FN pack hf_eliminate_common(HF_PARAMETERS, hf_local_pivot p, pack curve, u32 eliminate, GLOBAL real *whole)
{
    const pack gamma = LOADP(HF_S(X), p.slot);
    const pack c = PSELECT(p.active, pflush(PFMA(p.weighted, gamma, p.mixed)), PK(0.0));
    const pack own = hf_judge_pivot(HF, p);
    STOREP(hf_local_pivots(HF), p.slot, own);
    STOREP(hf_local_couplings(HF), p.slot, c);
    curve = pflush(pflush(curve * gamma) * gamma);
    STOREP(whole, p.b, curve);
    return eliminate ? pflush(PFMA(-c, PDIVIDE(c, own), curve)) : curve;
}

/* Element of the local block, or with `eliminate` of its factor. */
FN pack hf_local_cross(HF_PARAMETERS, hf_channel ch, hf_local_pivot p, u32 m, u32 eliminate)
{
    const u32 slot = hf_local_slot(mi, ch, m, p.panel) + p.b;
    GLOBAL const real *factors = hf_local_factors(ch, s, p.panel), *pivots = hf_local_pivots(HF);
    pack cross = PFMA(p.weighted, hf_local_derivative(HF, ch, p.panel, p.b, m, HF_NO_SET),
                      p.mixed * hf_local_derivative(HF, ch, p.panel, p.b, p.set, m));
    cross = PSELECT(AND(p.active, LOADP(HF_S(ACTIVE), slot) > PK(0.0)), pflush(cross), PK(0.0));
    if (!eliminate) return cross;
    for (u32 j = 0; j < m; j++)
        cross = PFMA(pflush(-LOADP(factors, hf_below(p.set, j) + p.b) *
                            LOADP(pivots, hf_local_slot(mi, ch, j, p.panel) + p.b)),
                     LOADP(factors, hf_below(m, j) + p.b), cross);
    return pflush(PDIVIDE(cross, LOADP(pivots, slot)));
}

/* Pivot, factors to earlier sets, coupling rows in JACOBIAN. */
FN void hf_eliminate_set(HF_PARAMETERS, hf_channel ch, hf_local_pivot p, u32 eliminate)
{
    const u32 block = 64 * ch->blocks;
    GLOBAL real *jacobian = HF_S(JACOBIAN), *row = jacobian + (1 + p.set) * block,
                *factors = hf_local_factors(ch, s, p.panel), *pivots = hf_local_pivots(HF);
    for (u32 i = p.b; i < block; i += 8)
        STOREP(row, i,
               PSELECT(p.active, pflush(PFMA(p.weighted, LOADP(jacobian, i), p.mixed * LOADP(row, i))),
                       PK(0.0)));
    for (u32 m = 0; m < p.set; m++) {
        const pack cross = hf_local_cross(HF, ch, p, m, eliminate);
        if (eliminate) {
            const pack pivot = LOADP(pivots, hf_local_slot(mi, ch, m, p.panel) + p.b);
            p.own = pflush(PFMA(pflush(-cross * pivot), cross, p.own));
            GLOBAL const real *other = jacobian + (1 + m) * block;
            for (u32 i = p.b; i < block; i += 8)
                STOREP(row, i, pflush(PFMA(-cross, LOADP(other, i), LOADP(row, i))));
        }
        STOREP(factors, hf_below(p.set, m) + p.b, cross);
    }
    if (eliminate) p.own = hf_judge_pivot(HF, p);
    STOREP(pivots, p.slot, p.own);
    STOREP(hf_local_couplings(HF), p.slot, PK(1.0));
}

/* LOCAL_D, LOCAL_L, and LOCAL_C (common set) or coupling rows in JACOBIAN; eliminate = 0: not eliminated.
 * `weight`, `whole`: the bins' after and before elimination; behind `whole` that of R'. Bad pivots set
 * BAD_LOCAL. */
FN_LARGE void hf_eliminate_locals(HF_PARAMETERS, hf_channel ch, u32 panel, real kap, real damping,
                                  u32 eliminate, GLOBAL real *weight, GLOBAL real *whole)
{
    const u32 bins = hf_bins(ch, panel);
    for (u32 b = 0; b < bins; b += PACK) {
        const u32 bin = hf_first_bin(ch, panel) + b;
        const pack mixed = PACK_OF(kap) * LOADP(HF_S(W), bin);
        pack curve = hf_bin_curvature(HF, ch, panel, b, PACK_OF(kap));
        if (!ch->common) STOREP(whole, b, curve);
        for (u32 l = 0; l < ch->sets; l++) {
            const hf_local_pivot p = hf_pivot_of(HF, ch, panel, b, l, curve, mixed, kap, damping);
            if (ch->common)
                curve = hf_eliminate_common(HF, p, curve, eliminate, whole);
            else
                hf_eliminate_set(HF, ch, p, eliminate);
        }
        STOREP(weight, b, curve);
        if (ch->mcstat > 0) /* of R' R'^T */
            STOREP(whole + 8, b,
                   pflush(-pflush(mixed * hf_mcstat_gamma(HF, ch, panel, b)) *
                          LOADP(HF_S(MCSTAT_INVERSE), bin)));
    }
}

/* Squares against which pivots are judged. */
FN void hf_add_squares(GLOBAL real *squares, GLOBAL const real *rows, u32 bins, GLOBAL const real *whole)
{
    for (u32 i = 0; i < 8; i += PACK) {
        pack sum = LOADP(squares, i);
        for (u32 b = 0; b < bins; b++)
            sum = PFMA(pflush(LOADP(rows, 8 * b + i) * PACK_OF(whole[b])), LOADP(rows, 8 * b + i), sum);
        STOREP(squares, i, pflush(sum));
    }
}

/* ROWS, SCALED (weighted) and SCALE of a channel. */
FN_LARGE void hf_channel_rows(HF_PARAMETERS, hf_channel ch, real kap, real damping, u32 eliminate)
{
    const u32 blocks = ch->blocks, stride = ch->row_stride, coupled = hf_coupled(ch),
              kinds = hf_rows_of_bin(ch);
    GLOBAL real *weight = HF_S(CELL_TEMP) + 24 * ch->units, *whole = weight + 8;
    for (u32 panel = 0; panel < ch->panels; panel++) {
        const u32 bins = hf_bins(ch, panel), first = hf_panel_rows(ch, panel);
        hf_panel_jacobians(HF, ch, panel);
        ONE_WORKER
        {
            hf_eliminate_locals(HF, ch, panel, kap, damping, eliminate, weight, whole);
        }
        TEAM_BARRIER();
        for (u32 l = 0; l < kinds; l++) {
            GLOBAL const real *jacobian = HF_S(JACOBIAN) + l * 64 * blocks, *pivots = hf_local_pivots(HF);
            const u32 slot = l == 0 || l > coupled ? 0 : hf_local_slot(mi, ch, l - 1, panel);
            TEAM_FOR(place, blocks) {
                const u32 at = first + place * stride + l * bins * 8;
                GLOBAL real *rows = HF_S(ROWS) + at, *times = HF_S(SCALED) + at;
                transpose8(rows, jacobian + 64 * place, bins);
                if (l == 0) hf_add_squares(HF_S(SCALE) + 8 * mi[ch->block_list + place], rows, bins, whole);
                for (u32 b = 0; b < bins; b++) {
                    const real factor = l == 0        ? weight[b]
                                        : l > coupled ? whole[8 + b]
                                        : eliminate   ? DIVIDE(R(-1.0), pivots[slot + b])
                                                      : R(0.0);
                    for (u32 i = 0; i < 8; i += PACK)
                        STOREP(times, 8 * b + i, pflush(LOADP(rows, 8 * b + i) * PACK_OF(factor)));
                }
            }
        }
        TEAM_BARRIER();
    }
}

/* First half: local v through L^-1, D^-1; updates dense v. */
FN void hf_solve_panel(HF_PARAMETERS, hf_channel ch, u32 panel, GLOBAL real *v)
{
    const u32 bins = hf_bins(ch, panel), sets = ch->sets, blocks = ch->blocks, stride = ch->row_stride;
    GLOBAL const real *pivots = hf_local_pivots(HF), *couplings = hf_local_couplings(HF),
                      *factors = hf_local_factors(ch, s, panel),
                      *kept = HF_S(ROWS) + hf_panel_rows(ch, panel);
    for (u32 l = 0; l < sets; l++) {
        const u32 slot = hf_local_slot(mi, ch, l, panel), coupling = hf_coupling_rows(ch, bins, l);
        TEAM_FOR_PACK(b, bins) {
            pack y = LOADP(v, slot + b);
            for (u32 m = 0; m < l; m++) {
                const u32 other = hf_local_slot(mi, ch, m, panel) + b;
                y = PFMA(pflush(-LOADP(factors, hf_below(l, m) + b) * LOADP(pivots, other)), LOADP(v, other),
                         y);
            }
            STOREP(v, slot + b, pflush(PDIVIDE(y, LOADP(pivots, slot + b))));
        }
        TEAM_BARRIER();
        TEAM_FOR_PACK(i, 8 * blocks) {
            const u32 to = hf_dense_slot(mi, ch, i);
            GLOBAL const real *row = kept + i / 8 * stride + coupling + i % 8;
            pack y = LOADP(v, to);
            for (u32 b = 0; b < bins; b++)
                y = PFMA(LOADP(row, 8 * b), PACK_OF(flush(-v[slot + b] * couplings[slot + b])), y);
            STOREP(v, to, pflush(y));
        }
        TEAM_BARRIER();
    }
}

/* Second half: v_l := v_l - H_ll^-1 H_la v_a; v_l is H_ll^-1 of the right side. */
FN_LARGE void hf_solve_locals(HF_PARAMETERS, GLOBAL real *v)
{
    GLOBAL const real *pivots = hf_local_pivots(HF), *couplings = hf_local_couplings(HF);
    TEAM_FOR(p, mi[HF_PANELS]) {
        hf_panel pn = hf_panel_of(mi, p);
        hf_channel ch = hf_channel_of(mi, pn->channel);
        const u32 panel = pn->index, bins = pn->bins, sets = ch->sets, blocks = ch->blocks,
                  stride = ch->row_stride;
        GLOBAL const real *factors = hf_local_factors(ch, s, panel),
                          *kept = HF_S(ROWS) + hf_panel_rows(ch, panel);
        for (u32 l = sets; l-- > 0;) {
            const u32 slot = hf_local_slot(mi, ch, l, panel);
            GLOBAL const real *rows = kept + hf_coupling_rows(ch, bins, l);
            for (u32 b = 0; b < bins; b++) {
                acc8 sum = acc8_zero();
                for (u32 k = 0; k < blocks; k++)
                    sum = acc8_fma(sum, rows + 8 * b + k * stride, v + hf_dense_slot(mi, ch, 8 * k), 0);
                real y =
                    FMA(-acc8_total(sum), flush(DIVIDE(couplings[slot + b], pivots[slot + b])), v[slot + b]);
                for (u32 m = l + 1; m < sets; m++)
                    y = FMA(-factors[hf_below(m, l) + b], v[hf_local_slot(mi, ch, m, panel) + b], y);
                v[slot + b] = flush(y);
            }
        }
    }
    TEAM_BARRIER();
}
