/* histfactory_curvature.h: exact Hessian of the NLL, local parameters eliminated, its factor, and what is solved with it.
 *
 *   H = sum over bins of (n/lambda^2) J J^T + (1 - n/lambda) d2 lambda  +  constraints
 *
 * Local parameters couple to one bin each, so they are eliminated bin by bin before H of the dense slots is
 * formed (their Schur complement): each adds one row to the bin's rank updates. Where one set multiplies all
 * units of a channel ("common") it only changes the weight of the bin's row.
 *
 * d2 lambda goes by unit: with u = v'/v of its normsys, g the derivative of the base rate (times factors), T
 * its weighted rate,
 *   sum w d2E = u x^T + x u^T + diagonal,    x = Phi g + T u / 2,     diagonal: T (v''/v - u^2), Phi A t''
 * and scalar factors meet the rest by s r^T + r s^T, s_i = product of the other scalars, r = g + T u.
 * So H is a sum of row pairs, and tiles.h adds them tile by tile; the host lists which tiles a pair touches.
 *
 * `kap` (a lane's own): 1 gives the exact Hessian, 0 the Fisher matrix (positive definite, no second
 * derivatives).
 */
#ifndef PARITAS_HISTFACTORY_CURVATURE_H
#define PARITAS_HISTFACTORY_CURVATURE_H

/* A pivot is taken for zero up to this part of the sums that it is made of. A larger limit stalls fits in
 * flat valleys, whose true curvature can be 1e-11 of the diagonal. */
#if F64
#define HF_PIVOT_LEAST R(1e-13)
#else
#define HF_PIVOT_LEAST R(1e-5)
#endif

#define HF_ROWS_AT_ONCE 128

/* v''/v - u^2 of the normsys entries; hf_units has left u. */
FN_LARGE void hf_normsys_curvature(HF_PARAMETERS)
{
    const u32 n = mi[HF_NORMSYS_ENTRIES], code = mi[HF_NORMSYS_CODE];
    CONSTANT elem *c = mr + mi[HF_R_NORMSYS];
    CONSTANT u32 *slot = mi + mi[HF_I_NORMSYS_SLOT];
    TEAM_FOR_PACK(i, n) {
        pack q = PK(0.0);
        if (code == 4) {
            const pack a = GATHERP(s + mi[HF_S_X], slot, i), u = LOADP(s + mi[HF_S_NU], i);
            const pmask outer = OR(a >= PK(1.0), a <= PK(-1.0));
            pack d2 = PK(30.0) * LOADM(c + 5 * n, i);
            d2 = PFMA(d2, a, PK(20.0) * LOADM(c + 4 * n, i));
            d2 = PFMA(d2, a, PK(12.0) * LOADM(c + 3 * n, i));
            d2 = PFMA(d2, a, PK(6.0) * LOADM(c + 2 * n, i));
            d2 = PFMA(d2, a, PK(2.0) * LOADM(c + n, i));
            q = PSELECT(outer, q, PFMA(-u, u, PDIVIDE(d2, hf_normsys(mi, mr, code, a, i, 0).v)));
        }
        STOREP(s + mi[HF_S_NQ], i, pflush(q));
    }
}

/* Rows u, x, r, s of every unit of a channel. */
FN void hf_unit_rows(HF_PARAMETERS, CONSTANT u32 *ch, real kap)
{
    TEAM_FOR(k, ch[HF_CH_UNITS]) {
        const u32 unit = ch[HF_CH_FIRST_UNIT] + k;
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        CONSTANT u32 *place = mi + mi[HF_I_NORMSYS_PLACE] + un[HF_UN_NORMSYS];
        const u32 size = un[HF_UN_ROW_SIZE], scalars = un[HF_UN_SCALAR_COUNT];
        GLOBAL real *u = s + mi[HF_S_UNIT_ROWS] + un[HF_UN_ROW], *x = u + size, *r = x + size, *sr = r + size;
        GLOBAL const real *nu = s + mi[HF_S_NU] + un[HF_UN_NORMSYS];
        GLOBAL const real *h = s + mi[HF_S_HSUM] + un[HF_UN_SUMS];
        const real phi = s[mi[HF_S_PHI] + unit], t = s[mi[HF_S_T] + unit];
        for (u32 i = 0; i < 2 * size; i += PACK) STOREP(u, i, PK(0.0));
        const u32 n_normsys = un[HF_UN_NORMSYS_COUNT], n_histosys = un[HF_UN_HISTOSYS_COUNT];
        for (u32 i = 0; i < n_normsys; i++) u[place[i]] = nu[i];
        place = mi + mi[HF_I_HISTOSYS_PLACE] + un[HF_UN_HISTOSYS];
        for (u32 e = 0; e < n_histosys; e++) x[place[e]] = h[e];
        if (scalars > 0) {
            for (u32 i = 0; i < size; i += PACK)
                STOREP(r, i, pflush(PFMA(PACK_OF(t), LOADP(u, i), LOADP(x, i))));
            for (u32 i = 0; i < un[HF_UN_SCALAR_ROW_SIZE]; i += PACK) STOREP(sr, i, PK(0.0));
            place = mi + mi[HF_I_SCALAR_PLACE] + un[HF_UN_SCALARS];
            for (u32 i = 0; i < scalars; i++)
                sr[place[i]] = kap * s[mi[HF_S_PHI_OTHERS] + un[HF_UN_SCALARS] + i];
        }
        const pack bend = PACK_OF(R(0.5) * t), scale = PACK_OF(kap * phi);
        for (u32 i = 0; i < size; i += PACK)
            STOREP(x, i, pflush(scale * pflush(PFMA(bend, LOADP(u, i), LOADP(x, i)))));
    }
}

/* Diagonal second derivatives of the channel's units, unit by unit: within one, entries of a kind have
 * different slots. */
FN_LARGE void hf_unit_diagonal(HF_PARAMETERS, CONSTANT u32 *ch, real kap)
{
    GLOBAL real *diagonal = s + mi[HF_S_DIAGONAL];
    GLOBAL const real *curve = s + mi[HF_S_HT2];
    const u32 units = ch[HF_CH_UNITS];
    for (u32 k = 0; k < units; k++) {
        const u32 unit = ch[HF_CH_FIRST_UNIT] + k;
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        CONSTANT u32 *slot = mi + mi[HF_I_NORMSYS_SLOT] + un[HF_UN_NORMSYS];
        const real phi = kap * s[mi[HF_S_PHI] + unit], t = flush(phi * s[mi[HF_S_T] + unit]);
        GLOBAL const real *q = s + mi[HF_S_NQ] + un[HF_UN_NORMSYS],
                          *bent = s + mi[HF_S_BENT] + un[HF_UN_SUMS];
        const u32 n_normsys = un[HF_UN_NORMSYS_COUNT], n_histosys = un[HF_UN_HISTOSYS_COUNT];
        TEAM_FOR(e, n_normsys) diagonal[slot[e]] = FMA(t, q[e], diagonal[slot[e]]);
        TEAM_BARRIER();
        slot = mi + mi[HF_I_HISTOSYS_SLOT] + un[HF_UN_HISTOSYS];
        TEAM_FOR(e, n_histosys)
            diagonal[slot[e]] = FMA(flush(phi * bent[e]), curve[slot[e]], diagonal[slot[e]]);
        TEAM_BARRIER();
    }
}

/* Cell arrays of a panel for the derivative by local set `set`: rates without it, zero where a unit does not
 * carry it. */
FN void hf_cells_without(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 set)
{
    const u32 units = ch[HF_CH_UNITS], first_cell = ch[HF_CH_FIRST_CELL] + panel * units;
    GLOBAL real *xe = s + mi[HF_S_CELL_TEMP], *xs = xe + 8 * units, *xg = xs + 8 * units;
    TEAM_FOR(u, units) {
        const u32 unit = ch[HF_CH_FIRST_UNIT] + u;
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        u32 carries = 0;
        for (u32 k = 0; k < un[HF_UN_SET_COUNT]; k++) carries |= mi[un[HF_UN_SETS] + k] == set;
        const pack phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
        for (u32 b = 0; b < 8; b += PACK) {
            pack g = PK(0.0);
            if (carries)
                g = pflush(PACK_OF(s[mi[HF_S_F] + unit]) * hf_gamma(HF, ch, un, panel, b, set, HF_NO_SET));
            if (mi[HF_CLIPS] & 1)
                g = PSELECT(LOADP(s + mi[HF_S_XG], (first_cell + u) * 8 + b) == PK(0.0), PK(0.0), g);
            const pack rate = pflush(LOADP(s + mi[HF_S_BASE], (first_cell + u) * 8 + b) * g);
            STOREP(xs, 8 * u + b, rate);
            STOREP(xe, 8 * u + b, pflush(rate * phi));
            STOREP(xg, 8 * u + b, pflush(g * phi));
        }
    }
}

/* Second derivative of a constraint by its local parameter; for the Fisher matrix the expected one. */
FN pack hf_constraint_curvature(HF_PARAMETERS, CONSTANT u32 *se, u32 slot, real kap)
{
    pack c = PK(0.0);
    if (se[HF_SE_CONSTRAINT] == 1) c = hf_precision(HF, slot);
    if (se[HF_SE_CONSTRAINT] == 2) {
        const pack tau = hf_tau(HF, slot), point = LOADP(s + mi[HF_S_X], slot);
        const pack expected = PDIVIDE(tau, point),
                   exact = PDIVIDE(LOADP(s + mi[HF_S_AUX], slot), pflush(point * point));
        c = PSELECT(tau > PK(0.0), PFMA(PACK_OF(kap), exact - expected, expected), c);
    }
    return c;
}

/* Local elimination in one panel: pivots LOCAL_D, factors LOCAL_L; the kept rows' origin: in a channel with a
 * common set SCALED's weight and LOCAL_C; else the coupling rows in `jacobian` behind the bins' own. With
 * eliminate = 0 the local blocks and couplings are left as they are. `flag`: nonzero where a pivot was bad.
 * Returns the bins' weights in panel arrays: `weight`, and `whole` as they were before the elimination. */
FN_LARGE void hf_eliminate_locals(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, real kap, real damping,
                                  u32 eliminate, GLOBAL real *weight, GLOBAL real *whole,
                                  GLOBAL real *jacobian, GLOBAL real *flag)
{
    const u32 sets = ch[HF_CH_SETS], dense = mi[HF_DENSE], block = 64 * ch[HF_CH_BLOCKS];
    const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
    const pack zero = PK(0.0), one = PK(1.0);
    GLOBAL real *locald = s + mi[HF_S_LOCAL_D] - dense, *localc = s + mi[HF_S_LOCAL_C] - dense;
    /* L and the block's elements below the diagonal: (l, m) at 8 (l (l - 1) / 2 + m) of the panel */
    GLOBAL real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * sets * (sets - 1);
    for (u32 b = 0; b < bins; b += PACK) {
        const u32 bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8 + b;
        const pack lambda = LOADP(s + mi[HF_S_LAMBDA], bin), n = LOADP(s + mi[HF_S_MAIN], bin),
                   w = LOADP(s + mi[HF_S_W], bin);
        const pmask positive = lambda > zero;
        const pack inverse = PDIVIDE(one, PSELECT(positive, lambda, one));
        const pack k = PACK_OF(kap);
        pack curve = PSELECT(positive, pflush(PFMA(k, PFMA(n, inverse, -one), one) * inverse), zero);
        if (mi[HF_CLIPS] & 2) curve = PSELECT(lambda <= PACK_OF_ELEM(mr[mi[HF_R_CLIPS] + 1]), zero, curve);
        for (u32 l = 0; l < sets; l++) {
            CONSTANT u32 *se = mi + mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE;
            const u32 slot = se[HF_SE_SLOT] + 8 * panel + b;
            const pmask active = LOADP(s + mi[HF_S_ACTIVE], slot) > zero;
            const pack first = hf_local_derivative(HF, ch, panel, b, l, HF_NO_SET);
            const pack weighted = pflush(curve * first);
            pack own = pflush(PFMA(weighted, first, hf_constraint_curvature(HF, se, slot, kap)));
            const pack least = PACK_OF(HF_PIVOT_LEAST) * PSELECT(own < zero, -own, own);
            own = PSELECT(active, own * PACK_OF(R(1.0) + damping), one);
            if (ch[HF_CH_COMMON]) {
                const pack gamma = LOADP(s + mi[HF_S_X], slot);
                const pack c = PSELECT(active, pflush(PFMA(weighted, gamma, k * w)), zero);
                const pmask bad = PNOT(own >= -least);
                own = PSELECT(own > least, own, one);
                STOREP(locald, slot, own);
                STOREP(localc, slot, c);
                curve = pflush(pflush(curve * gamma) * gamma);
                STOREP(whole, b, curve);
                if (eliminate) curve = pflush(PFMA(-c, PDIVIDE(c, own), curve));
                if (PANY(bad)) {
                    STOREP(s + mi[HF_S_CELL_TEMP], b, PSELECT(bad, one, zero));
                    for (u32 j = 0; j < PACK; j++)
                        flag[0] = SELECT(s[mi[HF_S_CELL_TEMP] + b + j] > R(0.0), R(1.0), flag[0]);
                }
                continue;
            }
            GLOBAL real *row = jacobian + (1 + l) * block;
            for (u32 i = b; i < block; i += 8)
                STOREP(
                    row, i,
                    PSELECT(active, pflush(PFMA(weighted, LOADP(jacobian, i), k * w * LOADP(row, i))), zero));
            for (u32 m = 0; m < l; m++) {
                CONSTANT u32 *sm = mi + mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE;
                const u32 slot2 = sm[HF_SE_SLOT] + 8 * panel + b;
                pack cross = PFMA(weighted, hf_local_derivative(HF, ch, panel, b, m, HF_NO_SET),
                                  k * w * hf_local_derivative(HF, ch, panel, b, l, m));
                cross = PSELECT(AND(active, LOADP(s + mi[HF_S_ACTIVE], slot2) > zero), pflush(cross), zero);
                if (eliminate) {
                    for (u32 j = 0; j < m; j++)
                        cross = PFMA(
                            pflush(
                                -LOADP(lower, 8 * (l * (l - 1) / 2 + j) + b) *
                                LOADP(
                                    locald,
                                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + j) * HF_SE_SIZE + HF_SE_SLOT] +
                                        8 * panel + b)),
                            LOADP(lower, 8 * (m * (m - 1) / 2 + j) + b), cross);
                    cross = pflush(PDIVIDE(cross, LOADP(locald, slot2)));
                    own = pflush(PFMA(pflush(-cross * LOADP(locald, slot2)), cross, own));
                    GLOBAL const real *other = jacobian + (1 + m) * block;
                    for (u32 i = b; i < block; i += 8)
                        STOREP(row, i, pflush(PFMA(-cross, LOADP(other, i), LOADP(row, i))));
                }
                STOREP(lower, 8 * (l * (l - 1) / 2 + m) + b, cross);
            }
            const pmask bad = PNOT(own >= -least);
            if (eliminate) {
                own = PSELECT(own > least, own, one);
                if (PANY(bad)) {
                    STOREP(s + mi[HF_S_CELL_TEMP], b, PSELECT(bad, one, zero));
                    for (u32 j = 0; j < PACK; j++)
                        flag[0] = SELECT(s[mi[HF_S_CELL_TEMP] + b + j] > R(0.0), R(1.0), flag[0]);
                }
            }
            STOREP(locald, slot, own);
            STOREP(localc, slot, one);
        }
        if (!ch[HF_CH_COMMON]) STOREP(whole, b, curve);
        STOREP(weight, b, curve);
    }
}

/* Rows of all bins of a channel, kept and scaled; local parameters eliminated on the way. */
FN_LARGE void hf_channel_rows(HF_PARAMETERS, CONSTANT u32 *ch, real kap, real damping, u32 eliminate)
{
    const u32 units = ch[HF_CH_UNITS], nblocks = ch[HF_CH_BLOCKS], block = 64 * nblocks, dense = mi[HF_DENSE],
              stride = ch[HF_CH_ROW_STRIDE];
    const u32 coupled = ch[HF_CH_COMMON] ? 0 : ch[HF_CH_SETS]; /* sets with rows of their own */
    GLOBAL real *scale = s + mi[HF_S_SCALE], *jacobian = s + mi[HF_S_JACOBIAN],
                *temp = s + mi[HF_S_CELL_TEMP], *weight = temp + 24 * units;
    for (u32 panel = 0; panel < ch[HF_CH_PANELS]; panel++) {
        const u32 cell = (ch[HF_CH_FIRST_CELL] + panel * units) * 8,
                  first = ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
        const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
        /* derivatives of the bins' rates, then of those without each set */
        for (u32 l = 0; l <= coupled; l++) {
            if (l > 0) hf_cells_without(HF, ch, panel, l - 1);
            TEAM_BARRIER();
            GLOBAL const real *xe = l > 0 ? temp : s + mi[HF_S_XE] + cell,
                              *xs = l > 0 ? temp + 8 * units : s + mi[HF_S_XS] + cell;
            hf_panel_jacobian(HF, ch, panel, xe, xs, l > 0 ? temp + 16 * units : s + mi[HF_S_XG] + cell,
                              jacobian + l * block);
            TEAM_BARRIER();
        }
        ONE_WORKER
        {
            hf_eliminate_locals(HF, ch, panel, kap, damping, eliminate, weight, weight + 8, jacobian,
                                s + mi[HF_S_SCALARS_OF_FIT] + 1);
        }
        TEAM_BARRIER();
        for (u32 l = 0; l <= coupled; l++) {
            const u32 slot =
                l == 0 ? 0
                       : mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l - 1) * HF_SE_SIZE + HF_SE_SLOT] +
                             8 * panel - dense;
            TEAM_FOR(place, nblocks) {
                GLOBAL real *rows = s + mi[HF_S_ROWS] + first + place * stride + l * bins * 8,
                            *times = s + mi[HF_S_SCALED] + first + place * stride + l * bins * 8;
                transpose8(rows, jacobian + l * block + 64 * place, bins);
                if (l == 0) { /* the sums of squares that pivots are judged against */
                    GLOBAL real *squares = scale + 8 * mi[ch[HF_CH_BLOCK_LIST] + place];
                    for (u32 i = 0; i < 8; i += PACK) {
                        pack sum = LOADP(squares, i);
                        for (u32 b = 0; b < bins; b++)
                            sum = PFMA(pflush(LOADP(rows, 8 * b + i) * PACK_OF(weight[8 + b])),
                                       LOADP(rows, 8 * b + i), sum);
                        STOREP(squares, i, pflush(sum));
                    }
                }
                for (u32 b = 0; b < bins; b++) {
                    const real factor = l == 0      ? weight[b]
                                        : eliminate ? DIVIDE(R(-1.0), s[mi[HF_S_LOCAL_D] + slot + b])
                                                    : R(0.0);
                    for (u32 i = 0; i < 8; i += PACK)
                        STOREP(times, 8 * b + i, pflush(LOADP(rows, 8 * b + i) * PACK_OF(factor)));
                }
            }
        }
        TEAM_BARRIER();
    }
}

/* Adds the rows of a channel with many of them to its tiles, so many at a time that they stay in the
 * cache. */
FN void hf_add_rows(HF_PARAMETERS, CONSTANT u32 *ch)
{
    const u32 nblocks = ch[HF_CH_BLOCKS], stride = ch[HF_CH_ROW_STRIDE], groups = TILE_GROUPS(nblocks);
    CONSTANT u32 *list = mi + ch[HF_CH_BLOCK_LIST];
    for (u32 row = 0; row < stride; row += 8 * HF_ROWS_AT_ONCE) {
        const u32 n = (stride - row < 8 * HF_ROWS_AT_ONCE ? stride - row : 8 * HF_ROWS_AT_ONCE) / 8;
        TEAM_FOR(k, nblocks * groups) {
            const u32 J = k / groups, I = J + k % groups * TILE_GROUP;
            if (I < nblocks) {
                tile_group g;
                g.count = nblocks - I < TILE_GROUP ? nblocks - I : TILE_GROUP;
                UNROLL for (u32 t = 0; t < TILE_GROUP; t++)
                {
                    const u32 place = I + t < nblocks ? I + t : I;
                    g.tile[t] = TILE_OFFSET(list[place], list[J]);
                    g.left[t] = place * stride;
                }
                GLOBAL const real *scaled = s + mi[HF_S_SCALED] + ch[HF_CH_ROWS] + row,
                                  *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + row;
                tiles_add(s + mi[HF_S_TILES], g, scaled, kept + J * stride, n);
            }
        }
        TEAM_BARRIER();
    }
}

/* H of the dense slots into HF_S_TILES, local parameters eliminated (or not), slots that are not active left
 * out (their diagonal is 1), the whole diagonal times 1 + damping. The rows that tie local to dense slots
 * stay in HF_S_ROWS. Bad local pivots set the slab's flag (SCALARS_OF_FIT + 1). The rates must be those of
 * HF_S_X. */
FN_LARGE void hf_curvature(HF_PARAMETERS, real kap, real damping, u32 eliminate)
{
    const u32 dense = mi[HF_DENSE], blocks = mi[HF_BLOCKS], exact = ANY(kap > R(0.0));
    GLOBAL real *tiles = s + mi[HF_S_TILES], *diagonal = s + mi[HF_S_DIAGONAL], *scale = s + mi[HF_S_SCALE],
                *flag = s + mi[HF_S_SCALARS_OF_FIT] + 1;
    GLOBAL const real *active = s + mi[HF_S_ACTIVE];
    ONE_WORKER
    {
        flag[0] = R(0.0);
    }
    TEAM_FOR_PACK(i, TILE_OFFSET(blocks, 0)) STOREP(tiles, i, PK(0.0));
    TEAM_FOR_PACK(i, dense) {
        STOREP(diagonal, i, LOADM(mr + mi[HF_R_PRECISION], i));
        STOREP(scale, i, LOADM(mr + mi[HF_R_PRECISION], i));
    }
    if (exact) hf_normsys_curvature(HF);
    TEAM_BARRIER();
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        TEAM_IF(exact) {
            hf_histosys_sums(HF, ch, s + mi[HF_S_BENT], 1);
            TEAM_BARRIER();
            hf_unit_rows(HF, ch, kap);
            hf_unit_diagonal(HF, ch, kap);
        }
        hf_channel_rows(HF, ch, kap, damping, eliminate);
        TEAM_IF(ch[HF_CH_RUN]) hf_add_rows(HF, ch);
    }
    TEAM_FOR(t, blocks * (blocks + 1) / 2)
        tile_add_pairs(tiles + 64 * t, s + mi[HF_S_UNIT_ROWS], mi + mi[mi[HF_I_TILE_WORK] + t], exact);
    TEAM_BARRIER();
    TEAM_IF(exact) {
        ONE_WORKER
        {
            for (u32 k = 0; k < mi[HF_PAIRS]; k++) {
                /* unit, product of the scalars left: first, count-free; see freeze */
                CONSTANT u32 *pair = mi + mi[HF_I_PAIRS] + 4 * k;
                CONSTANT u32 *un = mi + mi[HF_I_UNITS] + pair[0] * HF_UN_SIZE;
                CONSTANT u32 *slot = mi + mi[HF_I_SCALAR_SLOT] + un[HF_UN_SCALARS];
                real others = kap * s[mi[HF_S_T] + pair[0]];
                for (u32 j = 0; j < un[HF_UN_SCALAR_COUNT]; j++)
                    if (j != pair[1] && j != pair[2]) others = flush(others * s[mi[HF_S_X] + slot[j]]);
                tiles[pair[3]] = tiles[pair[3]] + others;
            }
        }
        TEAM_BARRIER();
    }
    TEAM_FOR(i, dense) {
        GLOBAL real *d = tiles + TILE_OFFSET(i / 8, i / 8) + 9 * (i % 8);
        const real whole = flush((d[0] + diagonal[i]) * (R(1.0) + damping));
        diagonal[i] = SELECT(active[i] > R(0.0), whole, R(1.0));
    }
    TEAM_BARRIER();
    /* rows and columns of slots that are not active: zero */
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
    TEAM_FOR(i, dense) {
        GLOBAL real *d = tiles + TILE_OFFSET(i / 8, i / 8) + 9 * (i % 8);
        d[0] = diagonal[i];
    }
    TEAM_BARRIER();
    flush_array(tiles, TILE_OFFSET(blocks, 0));
}

/* Factors what hf_curvature left; `doubt`: how negative a pivot, in units of the slot's own sums of squares,
 * may be and still count as zero; `flat`: curvature of directions on which nothing depends, in units of the
 * slot's own sums of squares. Returns the mask of lanes with a negative pivot, dense or local. */
FN_LARGE mask hf_factor(HF_PARAMETERS, real doubt, real flat)
{
    GLOBAL real *flag = s + mi[HF_S_SCALARS_OF_FIT] + 1;
    tiles_factor(s + mi[HF_S_TILES], s + mi[HF_S_RDIAG], s + mi[HF_S_SCALE], mi[HF_BLOCKS], HF_PIVOT_LEAST,
                 SELECT(doubt > HF_PIVOT_LEAST, doubt, HF_PIVOT_LEAST), flat, flag + 1);
    TEAM_BARRIER();
    const mask bad = OR(flag[0] > R(0.0), flag[1] > R(0.0));
    TEAM_BARRIER(); /* the next curvature clears the flags */
    return bad;
}

/* Local elements of a vector whose dense ones are known: v_l := v_l - H_ll^-1 H_la v_a (v_l already H_ll^-1
 * of the right side). */
FN_LARGE void hf_solve_locals(HF_PARAMETERS, GLOBAL real *v)
{
    const u32 dense = mi[HF_DENSE];
    GLOBAL const real *locald = s + mi[HF_S_LOCAL_D] - dense, *localc = s + mi[HF_S_LOCAL_C] - dense;
    TEAM_FOR(panel, mi[HF_PANELS]) {
        CONSTANT u32 *pn = mi + mi[HF_I_PANELS] + panel * HF_PN_SIZE;
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + pn[HF_PN_CHANNEL] * HF_CH_SIZE;
        const u32 sets = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS], coupled = ch[HF_CH_COMMON] ? 0 : sets,
                  index = pn[HF_PN_INDEX], bins = pn[HF_PN_BINS];
        GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + index * 4 * sets * (sets - 1);
        const u32 stride = ch[HF_CH_ROW_STRIDE];
        GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + index * (1 + coupled) * 64;
        for (u32 l = sets; l-- > 0;) {
            const u32 slot =
                mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * index;
            for (u32 b = 0; b < bins; b++) {
                GLOBAL const real *row = kept + (coupled ? (l + 1) * bins * 8 : 0) + 8 * b;
                acc8 sum = acc8_zero();
                for (u32 p = 0; p < nblocks; p++)
                    sum = acc8_fma(sum, row + p * stride, v + 8 * mi[ch[HF_CH_BLOCK_LIST] + p], 0);
                real y =
                    FMA(-acc8_total(sum), flush(DIVIDE(localc[slot + b], locald[slot + b])), v[slot + b]);
                for (u32 m = l + 1; m < sets; m++) {
                    const u32 slot2 =
                        mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] + 8 * index;
                    y = FMA(-lower[8 * (m * (m - 1) / 2 + l) + b], v[slot2 + b], y);
                }
                v[slot + b] = flush(y);
            }
        }
    }
    TEAM_BARRIER();
}

/* v := H^-1 v over all slots, with the factor. */
FN_LARGE void hf_solve(HF_PARAMETERS, GLOBAL real *v)
{
    const u32 dense = mi[HF_DENSE];
    GLOBAL const real *locald = s + mi[HF_S_LOCAL_D] - dense, *localc = s + mi[HF_S_LOCAL_C] - dense;
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 sets = ch[HF_CH_SETS], nblocks = ch[HF_CH_BLOCKS], coupled = ch[HF_CH_COMMON] ? 0 : sets;
        for (u32 panel = 0; panel < (sets > 0 ? ch[HF_CH_PANELS] : 0); panel++) {
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            GLOBAL const real *lower = s + ch[HF_CH_LOCAL_L] + panel * 4 * sets * (sets - 1);
            GLOBAL const real *kept = s + mi[HF_S_ROWS] + ch[HF_CH_ROWS] + panel * (1 + coupled) * 64;
            for (u32 l = 0; l < sets; l++) { /* L^-1, then D^-1 */
                const u32 slot =
                    mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + l) * HF_SE_SIZE + HF_SE_SLOT] + 8 * panel;
                TEAM_FOR_PACK(b, bins) {
                    pack y = LOADP(v, slot + b);
                    for (u32 m = 0; m < l; m++) {
                        const u32 slot2 =
                            mi[mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + m) * HF_SE_SIZE + HF_SE_SLOT] +
                            8 * panel;
                        y = PFMA(
                            pflush(-LOADP(lower, 8 * (l * (l - 1) / 2 + m) + b) * LOADP(locald, slot2 + b)),
                            LOADP(v, slot2 + b), y);
                    }
                    STOREP(v, slot + b, pflush(PDIVIDE(y, LOADP(locald, slot + b))));
                }
                TEAM_BARRIER();
                TEAM_FOR_PACK(i, 8 * nblocks) {
                    const u32 to = mi[ch[HF_CH_BLOCK_LIST] + i / 8] * 8 + i % 8;
                    GLOBAL const real *row =
                        kept + i / 8 * ch[HF_CH_ROW_STRIDE] + (coupled ? (l + 1) * bins * 8 : 0) + i % 8;
                    pack y = LOADP(v, to);
                    for (u32 b = 0; b < bins; b++)
                        y = PFMA(LOADP(row, 8 * b), PACK_OF(flush(-v[slot + b] * localc[slot + b])), y);
                    STOREP(v, to, pflush(y));
                }
                TEAM_BARRIER();
            }
        }
    }
    /* the kept rows reach slots that are not active: nothing may come through them */
    TEAM_FOR_PACK(i, dense) STOREP(v, i, LOADP(v, i) * LOADP(s + mi[HF_S_ACTIVE], i));
    TEAM_BARRIER();
    tiles_solve_lower(s + mi[HF_S_TILES], s + mi[HF_S_RDIAG], mi[HF_BLOCKS], v);
    tiles_solve_upper(s + mi[HF_S_TILES], s + mi[HF_S_RDIAG], mi[HF_BLOCKS], v);
    hf_solve_locals(HF, v);
}

/* After a factor with a bad dense pivot: v := a direction of negative curvature, from the rows above that
 * pivot (Gill, Murray, Wright, Practical Optimization, 4.4.2.2). Returns its curvature, negative; 0 in lanes
 * without one, whose v is 0. */
FN_LARGE real hf_negative_direction(HF_PARAMETERS, GLOBAL real *v)
{
    GLOBAL const real *found = s + mi[HF_S_SCALARS_OF_FIT] + 2, *rdiag = s + mi[HF_S_RDIAG];
    TEAM_FOR(i, mi[HF_SLOTS]) {
        v[i] = R(0.0);
        if (i < mi[HF_DENSE]) v[i] = SELECT(found[0] == REAL_OF(i + 1), DIVIDE(R(1.0), rdiag[i]), R(0.0));
    }
    TEAM_BARRIER();
    tiles_solve_upper(s + mi[HF_S_TILES], rdiag, mi[HF_BLOCKS], v);
    hf_solve_locals(HF, v);
    return found[1];
}

#endif
