/* histfactory_curvature.h: exact Hessian of the NLL without local parameters; factor, solutions.
 *
 *   H = sum over bins of (n/lambda^2) J J^T + (1 - n/lambda) d2 lambda  +  constraints
 *
 * Per unit, u = v'/v of normsys, g the derivative of the base (times factors), T its weighted rate:
 *   sum w d2E = u x^T + x u^T + diagonal,    x = Phi g + T u / 2,     diagonal: T (v''/v - u^2), Phi A t''
 * Scalars: s r^T + r s^T, s_i = product of the others, r = g + T u. tiles.h adds the row pairs by the host's
 * lists. mcstat adds M (Phi u + s) (Phi u + s)^T, M its MCSTAT_SUM: Phi M to T in x and r, and pairs of s.
 *
 * `kap`, per lane: 1 exact Hessian, 0 Fisher matrix (positive definite), else between. */
#pragma once

#include "histfactory/histfactory_elimination.h"

#define HF_ROWS_AT_ONCE 128

FN void hf_unit_rows(HF_PARAMETERS, hf_channel ch, real kap)
{
    TEAM_FOR(k, ch->units) {
        const u32 unit = ch->first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        CONSTANT u32 *place = HF_I(NORMSYS_PLACE) + un->normsys;
        const u32 size = un->row_size, scalars = un->scalar_count;
        GLOBAL real *u = HF_S(UNIT_ROWS) + un->row, *x = u + size, *r = x + size, *sr = r + size;
        GLOBAL const real *nu = HF_S(NU) + un->normsys, *h = HF_S(HSUM) + un->sums;
        const real phi = s[mi[HF_S_PHI] + unit];
        real t = s[mi[HF_S_T] + unit];
        if (ch->mcstat > 0) t = flush(FMA(phi, s[mi[HF_S_MCSTAT_SUM] + unit], t));
        for (u32 i = 0; i < 2 * size; i += PACK) STOREP(u, i, PK(0.0));
        const u32 n_normsys = un->normsys_count, n_histosys = un->histosys_count;
        for (u32 i = 0; i < n_normsys; i++) u[place[i]] = u[place[i]] + nu[i]; /* one slot, two entries */
        place = HF_I(HISTOSYS_PLACE) + un->histosys;
        for (u32 e = 0; e < n_histosys; e++) x[place[e]] = h[e];
        if (hf_has_shapes(mi)) hf_shape_row(HF, unit, place, u, x);
        if (scalars > 0) {
            for (u32 i = 0; i < size; i += PACK)
                STOREP(r, i, pflush(PFMA(PACK_OF(t), LOADP(u, i), LOADP(x, i))));
            for (u32 i = 0; i < un->scalar_row_size; i += PACK) STOREP(sr, i, PK(0.0));
            place = HF_I(SCALAR_PLACE) + un->scalars;
            for (u32 i = 0; i < scalars; i++) sr[place[i]] = kap * s[mi[HF_S_PHI_OTHERS] + un->scalars + i];
        }
        const pack bend = PACK_OF(R(0.5) * t), scale = PACK_OF(kap * phi);
        for (u32 i = 0; i < size; i += PACK)
            STOREP(x, i, pflush(scale * pflush(PFMA(bend, LOADP(u, i), LOADP(x, i)))));
    }
}

/* M s s^T of mcstat, its diagonal. */
FN void hf_mcstat_diagonal(HF_PARAMETERS, u32 unit, real kap)
{
    hf_unit un = hf_unit_of(mi, unit);
    CONSTANT u32 *slot = HF_I(SCALAR_SLOT) + un->scalars;
    GLOBAL real *diagonal = HF_S(DIAGONAL);
    GLOBAL const real *others = HF_S(PHI_OTHERS) + un->scalars;
    const real m = kap * s[mi[HF_S_MCSTAT_SUM] + unit];
    TEAM_FOR(e, un->scalar_count) diagonal[slot[e]] = FMA(flush(m * others[e]), others[e], diagonal[slot[e]]);
}

/* By unit: there entries of a kind have different slots. */
FN_LARGE void hf_unit_diagonal(HF_PARAMETERS, hf_channel ch, real kap)
{
    GLOBAL real *diagonal = HF_S(DIAGONAL);
    GLOBAL const real *curve = HF_S(HT2);
    const u32 units = ch->units;
    for (u32 k = 0; k < units; k++) {
        const u32 unit = ch->first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        CONSTANT u32 *slot = HF_I(NORMSYS_SLOT) + un->normsys;
        const real phi = kap * s[mi[HF_S_PHI] + unit], t = flush(phi * s[mi[HF_S_T] + unit]);
        GLOBAL const real *q = HF_S(NQ) + un->normsys, *even = HF_S(EVEN) + un->sums;
        const u32 n_normsys = un->normsys_count, n_histosys = un->histosys_count;
        TEAM_FOR(e, n_normsys) diagonal[slot[e]] = FMA(t, q[e], diagonal[slot[e]]);
        TEAM_BARRIER();
        slot = HF_I(HISTOSYS_SLOT) + un->histosys;
        CONSTANT u32 *place = hf_shift_places(mi) + un->histosys;
        TEAM_FOR(e, n_histosys)
            diagonal[slot[e]] = FMA(flush(phi * even[e]), curve[place[e]], diagonal[slot[e]]);
        TEAM_BARRIER();
        TEAM_IF(ch->mcstat > 0) {
            hf_mcstat_diagonal(HF, unit, kap);
            TEAM_BARRIER();
        }
    }
}

/* All rows of the run that ends with this channel, as many at a time as the cache holds. */
FN void hf_add_rows(HF_PARAMETERS, hf_channel ch)
{
    const u32 blocks = ch->blocks, stride = ch->row_stride, groups = TILE_GROUPS(blocks);
    CONSTANT u32 *list = mi + ch->block_list;
    for (u32 row = 0; row < stride; row += 8 * HF_ROWS_AT_ONCE) {
        const u32 n = (stride - row < 8 * HF_ROWS_AT_ONCE ? stride - row : 8 * HF_ROWS_AT_ONCE) / 8;
        TEAM_FOR(k, blocks * groups) {
            const u32 J = k / groups, I = J + k % groups * TILE_GROUP;
            if (I < blocks) {
                tile_group g;
                g.count = blocks - I < TILE_GROUP ? blocks - I : TILE_GROUP;
                UNROLL for (u32 t = 0; t < TILE_GROUP; t++)
                {
                    const u32 place = I + t < blocks ? I + t : I;
                    g.tile[t] = TILE_OFFSET(list[place], list[J]);
                    g.left[t] = place * stride;
                }
                GLOBAL const real *scaled = HF_S(SCALED) + ch->run_rows + row,
                                  *kept = HF_S(ROWS) + ch->run_rows + row;
                tiles_add(HF_S(TILES), g, scaled, kept + J * stride, n);
            }
        }
        TEAM_BARRIER();
    }
}

/* Starts DIAGONAL and SCALE with the constraints. */
FN void hf_curvature_begin(HF_PARAMETERS, real kap)
{
    ONE_WORKER
    {
        s[mi[HF_S_SCALARS_OF_FIT] + HF_FIT_BAD_LOCAL] = R(0.0);
    }
    TEAM_FOR_PACK(i, TILE_OFFSET(mi[HF_BLOCKS], 0)) STOREP(HF_S(TILES), i, PK(0.0));
    TEAM_FOR_PACK(i, mi[HF_DENSE]) {
        STOREP(HF_S(DIAGONAL), i, LOADM(HF_R(PRECISION), i));
        STOREP(HF_S(SCALE), i, LOADM(HF_R(PRECISION), i));
    }
    if (mi[HF_HAS_AFFINE])
        TEAM_FOR_PACK(i, mi[HF_DENSE]) {
            STOREP(HF_S(DIAGONAL), i, LOADP(HF_S(DIAGONAL), i) + hf_curvature_of_y(HF, i, kap));
            STOREP(HF_S(SCALE), i, LOADP(HF_S(SCALE), i) + hf_curvature_of_y(HF, i, R(0.0)));
        }
    TEAM_IF(hf_is_correlated(mi)) hf_begin_ties(HF);
}

/* Product of the other scalars, times T; with mcstat M s s^T. */
FN void hf_add_scalar_pairs(HF_PARAMETERS, real kap)
{
    GLOBAL real *tiles = HF_S(TILES);
    hf_pair pairs = (hf_pair)(HF_I(PAIRS));
    for (u32 k = 0; k < mi[HF_PAIRS]; k++) {
        hf_pair pair = pairs + k;
        hf_unit un = hf_unit_of(mi, pair->unit);
        CONSTANT u32 *slot = HF_I(SCALAR_SLOT) + un->scalars;
        real others = kap * s[mi[HF_S_T] + pair->unit];
        for (u32 j = 0; j < un->scalar_count; j++)
            if (j != pair->first && j != pair->second) others = flush(others * s[mi[HF_S_X] + slot[j]]);
        if (mi[HF_SWITCHES] & HF_HAS_MCSTAT) {
            GLOBAL const real *without = HF_S(PHI_OTHERS) + un->scalars;
            const real m = flush(flush(kap * s[mi[HF_S_MCSTAT_SUM] + pair->unit]) * without[pair->first]);
            others = FMA(m, without[pair->second], others);
        }
        tiles[pair->element] = tiles[pair->element] + others;
    }
}

/* Damped by parts of SCALE, which are positive also where the Hessian is not; 1 in inactive slots. */
FN void hf_damp_diagonal(HF_PARAMETERS, real damping)
{
    GLOBAL real *diagonal = HF_S(DIAGONAL);
    GLOBAL const real *active = HF_S(ACTIVE), *scale = HF_S(SCALE);
    TEAM_FOR(I, mi[HF_BLOCKS]) {
        GLOBAL const real *tile = HF_S(TILES) + TILE_OFFSET(I, I);
        UNROLL for (u32 i = 0; i < 8; i += PACK)
        {
            pack own = PACK_OF(tile[9 * i]);
            UNROLL for (u32 j = 1; j < PACK; j++) ELEMENT(own, j) = tile[9 * (i + j)];
            const pack whole =
                pflush(PFMA(PACK_OF(damping), LOADP(scale, 8 * I + i), own + LOADP(diagonal, 8 * I + i)));
            STOREP(diagonal, 8 * I + i, PSELECT(LOADP(active, 8 * I + i) > PK(0.0), whole, PK(1.0)));
        }
    }
    TEAM_BARRIER();
}

/* Clears inactive rows and columns; puts DIAGONAL into the tiles. */
FN void hf_hold_inactive(HF_PARAMETERS)
{
    const u32 blocks = mi[HF_BLOCKS];
    GLOBAL real *tiles = HF_S(TILES);
    GLOBAL const real *active = HF_S(ACTIVE);
    TEAM_FOR(pair, blocks * blocks) {
        const u32 I = pair / blocks, J = pair % blocks;
        if (J > I) continue;
        u32 touched = 0;
        for (u32 i = 0; i < 8; i += PACK)
            touched |=
                PANY(OR(LOADP(active, 8 * I + i) <= PK(0.0), LOADP(active, 8 * J + i) <= PK(0.0))) != 0;
        if (!touched) continue;
        for (u32 j = 0; j < 8; j++)
            for (u32 i = 0; i < 8; i += PACK) {
                const pmask in =
                    AND(LOADP(active, 8 * I + i) > PK(0.0), PACK_OF(active[8 * J + j]) > PK(0.0));
                GLOBAL real *column = tiles + TILE_OFFSET(I, J) + 8 * j;
                STOREP(column, i, PSELECT(in, LOADP(column, i), PK(0.0)));
            }
    }
    TEAM_BARRIER();
    TEAM_FOR(I, blocks) {
        GLOBAL real *tile = tiles + TILE_OFFSET(I, I);
        GLOBAL const real *diagonal = HF_S(DIAGONAL) + 8 * I;
        UNROLL for (u32 i = 0; i < 8; i++) tile[9 * i] = diagonal[i];
    }
    TEAM_BARRIER();
}

/* TILES: H of dense slots, damped; inactive ones get 1. `eliminate`: without local slots, whose ties stay in
 * ROWS. Bad local pivots set BAD_LOCAL. The rates must be HF_S_X's. */
FN_LARGE void hf_curvature(HF_PARAMETERS, real kap, real damping, u32 eliminate)
{
    const u32 blocks = mi[HF_BLOCKS], exact = ANY(kap > R(0.0));
    GLOBAL real *tiles = HF_S(TILES);
    hf_curvature_begin(HF, kap);
    if (exact) hf_normsys_curvature(HF);
    TEAM_IF(exact && hf_has_functions(mi)) hf_evaluate_functions(HF, 2);
    TEAM_BARRIER();
    TEAM_IF(exact && hf_has_shapes(mi)) hf_shape_curvature(HF, kap);
    HF_FOR_CHANNELS(ch) {
        TEAM_IF(exact) {
            hf_histosys_sums(HF, hf_whole(mi), ch, HF_S(EVEN), 1);
            TEAM_BARRIER();
            hf_unit_rows(HF, ch, kap);
            hf_unit_diagonal(HF, ch, kap);
        }
        hf_channel_rows(HF, ch, kap, damping, eliminate);
        TEAM_IF(ch->run) hf_add_rows(HF, ch);
    }
    TEAM_FOR(t, blocks * (blocks + 1) / 2)
        tile_add_pairs(tiles + 64 * t, HF_S(UNIT_ROWS), mi + mi[mi[HF_I_TILE_WORK] + t], exact);
    TEAM_BARRIER();
    TEAM_IF(hf_is_correlated(mi)) hf_add_ties(HF);
    TEAM_IF(exact) {
        ONE_WORKER
        {
            hf_add_scalar_pairs(HF, kap);
        }
        TEAM_BARRIER();
        TEAM_IF(hf_has_functions(mi)) {
            hf_fold_tiles(HF, kap);
            hf_leave_functions(HF);
        }
    }
    hf_damp_diagonal(HF, damping);
    hf_hold_inactive(HF);
    flush_array(tiles, TILE_OFFSET(blocks, 0));
}

/* `doubt`, `flat`: see tile_factor. Returns the lanes with a negative pivot. */
FN_LARGE mask hf_factor(HF_PARAMETERS, real doubt, real flat)
{
    GLOBAL real *scalars = HF_S(SCALARS_OF_FIT);
    tiles_factor(HF_S(TILES), HF_S(RDIAG), HF_S(SCALE), mi[HF_BLOCKS], HF_PIVOT_LEAST,
                 SELECT(doubt > HF_PIVOT_LEAST, doubt, HF_PIVOT_LEAST), flat, scalars + HF_FIT_BAD_DENSE);
    TEAM_BARRIER();
    const mask bad = OR(scalars[HF_FIT_BAD_LOCAL] > R(0.0), scalars[HF_FIT_BAD_DENSE] > R(0.0));
    TEAM_BARRIER(); /* the next curvature clears the flags */
    return bad;
}

/* v := H^-1 v over all slots */
FN_LARGE void model_solve(HF_PARAMETERS, GLOBAL real *v)
{
    HF_FOR_CHANNELS(ch) {
        const u32 panels = ch->sets > 0 ? ch->panels : 0;
        for (u32 panel = 0; panel < panels; panel++) hf_solve_panel(HF, ch, panel, v);
    }
    /* the kept rows also reach inactive slots */
    TEAM_FOR_PACK(i, mi[HF_DENSE]) STOREP(v, i, LOADP(v, i) * LOADP(HF_S(ACTIVE), i));
    TEAM_BARRIER();
    tiles_solve_lower(HF_S(TILES), HF_S(RDIAG), mi[HF_BLOCKS], v);
    tiles_solve_upper(HF_S(TILES), HF_S(RDIAG), mi[HF_BLOCKS], v);
    hf_solve_locals(HF, v);
}

/* Finds a direction as tiles_negative_direction does. Returns its curvature; 0: v is 0. */
FN_LARGE real model_negative_direction(HF_PARAMETERS, GLOBAL real *v)
{
    GLOBAL const real *scalars = HF_S(SCALARS_OF_FIT);
    tiles_negative_direction(HF_S(TILES), HF_S(RDIAG), mi[HF_BLOCKS], scalars + HF_FIT_BAD_DENSE, v,
                             mi[HF_SLOTS]);
    hf_solve_locals(HF, v);
    return scalars[HF_FIT_NEGATIVE];
}
