/* tiles.h: one fit's symmetric matrices in 8 x 8 tiles: rank updates, Cholesky factor, solves.
 *
 * Rows of lower tiles: tile (I, J) at 64 (I (I + 1) / 2 + J), element (i, j) at 8 j + i. Block row I left of
 * column J is one stream of 8 J columns, all that the left-looking factorisation reads.
 *
 * Every element is one ascending fma chain for any register tile: TILE_I packs by TILE_J columns, up to
 * TILE_GROUP tiles with a common right factor. At PACK 8, 24 accumulators cover the latency of two fma units
 * (8: half the speed). */
#pragma once

#include "numeric/sum.h"

#if PACK == 8
#define TILE_I 1
#define TILE_J 8
#define TILE_GROUP 3
#elif PACK == 4
#define TILE_I 2
#define TILE_J 4
#define TILE_GROUP 1
#elif PACK == 2
#define TILE_I 4
#define TILE_J 4
#define TILE_GROUP 1
#elif LANES > 1
#define TILE_I 4
#define TILE_J 4
#define TILE_GROUP 1
#else
#define TILE_I 4
#define TILE_J 2
#define TILE_GROUP 1
#endif
#define TILE_GROUPS(tiles) (((tiles) + TILE_GROUP - 1) / TILE_GROUP)

#define TILE_OFFSET(I, J) (64 * ((I) * ((I) + 1) / 2 + (J)))

/* Row i, column j of the lower tiles, whichever is larger. */
FN real tiles_element(GLOBAL const real *tiles, u32 i, u32 j)
{
    const u32 p = i > j ? i : j, q = i > j ? j : i;
    return tiles[TILE_OFFSET(p / 8, q / 8) + 8 * (q % 8) + p % 8];
}
/* Adds to it; a diagonal tile is kept symmetric. */
FN void tiles_add_element(GLOBAL real *tiles, u32 i, u32 j, real v)
{
    const u32 p = i > j ? i : j, q = i > j ? j : i;
    GLOBAL real *tile = tiles + TILE_OFFSET(p / 8, q / 8);
    const u32 at = 8 * (q % 8) + p % 8, mirrored = 8 * (p % 8) + q % 8;
    tile[at] = tile[at] + v;
    if (p / 8 == q / 8 && at != mirrored) tile[mirrored] = tile[at];
}

/* Offsets of tiles and of their rows of the left factor. */
typedef struct {
    u32 count, tile[TILE_GROUP], left[TILE_GROUP];
} tile_group;

/* tiles += (-= if `subtract`) sum over k < n of a_k b_k^T, a_k = left[8k..8k+7]. `count`, `subtract`:
 * constants. */
FN void tile_group_rank(GLOBAL real *tiles, tile_group g, GLOBAL const real *left, GLOBAL const real *right,
                        u32 n, u32 count, u32 subtract)
{
    for (u32 i0 = 0; i0 < 8; i0 += TILE_I * PACK)
        for (u32 j0 = 0; j0 < 8; j0 += TILE_J) {
            pack acc[TILE_GROUP][TILE_J][TILE_I];
            UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 j = 0; j < TILE_J; j++)
                UNROLL for (u32 i = 0; i < TILE_I; i++) acc[t][j][i] =
                    LOADP(tiles + g.tile[t], 8 * (j0 + j) + i0 + i * PACK);
            for (u32 k = 0; k < n; k++) {
                pack a[TILE_GROUP][TILE_I];
                UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 i = 0; i < TILE_I; i++)
                {
                    a[t][i] = LOADP(left + g.left[t], 8 * k + i0 + i * PACK);
                    if (subtract) a[t][i] = -a[t][i];
                }
                UNROLL for (u32 j = 0; j < TILE_J; j++)
                {
                    const pack b = PACK_OF(right[8 * k + j0 + j]);
                    UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 i = 0; i < TILE_I; i++)
                        acc[t][j][i] = PFMA(a[t][i], b, acc[t][j][i]);
                }
            }
            UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 j = 0; j < TILE_J; j++)
                UNROLL for (u32 i = 0; i < TILE_I; i++)
                    STOREP(tiles + g.tile[t], 8 * (j0 + j) + i0 + i * PACK, acc[t][j][i]);
        }
}
FN void tiles_rank(GLOBAL real *tiles, tile_group g, GLOBAL const real *left, GLOBAL const real *right, u32 n,
                   u32 subtract)
{
    if (g.count == 1) tile_group_rank(tiles, g, left, right, n, 1, subtract);
#if TILE_GROUP == 3
    else if (g.count == 2)
        tile_group_rank(tiles, g, left, right, n, 2, subtract);
    else
        tile_group_rank(tiles, g, left, right, n, 3, subtract);
#endif
}
FN_LARGE void tiles_add(GLOBAL real *tiles, tile_group g, GLOBAL const real *left, GLOBAL const real *right,
                        u32 n)
{
    tiles_rank(tiles, g, left, right, n, 0);
}
FN_LARGE void tiles_subtract(GLOBAL real *tiles, tile_group g, GLOBAL const real *left,
                             GLOBAL const real *right, u32 n)
{
    tiles_rank(tiles, g, left, right, n, 1);
}

/* tile += sum of p q^T over row pairs. `list`: numbers of first-order and of all pairs, then their offsets in
 * `rows`. */
FN_LARGE void tile_add_pairs(GLOBAL real *tile, GLOBAL const real *rows, CONSTANT u32 *list, u32 second_order)
{
    const u32 n = 2 * list[second_order ? 1 : 0];
    CONSTANT u32 *at = list + 2;
    for (u32 i0 = 0; i0 < 8; i0 += TILE_I * PACK)
        for (u32 j0 = 0; j0 < 8; j0 += TILE_J) {
            pack acc[TILE_J][TILE_I];
            UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j][i] =
                LOADP(tile, 8 * (j0 + j) + i0 + i * PACK);
            for (u32 m = 0; m < n; m += 2) {
                GLOBAL const real *p = rows + at[m] + i0, *q = rows + at[m + 1] + j0;
                pack pm[TILE_I];
                UNROLL for (u32 i = 0; i < TILE_I; i++) pm[i] = LOADP(p, i * PACK);
                UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j][i] =
                    PFMA(pm[i], PACK_OF(q[j]), acc[j][i]);
            }
            UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++)
                STOREP(tile, 8 * (j0 + j) + i0 + i * PACK, acc[j][i]);
        }
}

/* tile := tile L^-T; L: diagonal tile, rdiag: 1 / its diagonal. Side by side: alone, each tile waits for its
 * last step. */
FN void tile_group_solve_right(GLOBAL real *tiles, tile_group g, GLOBAL const real *diagonal,
                               GLOBAL const real *rdiag, u32 count)
{
    for (u32 i0 = 0; i0 < 8; i0 += PACK) {
        pack column[TILE_GROUP][8];
        UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 j = 0; j < 8; j++) column[t][j] =
            LOADP(tiles + g.tile[t], 8 * j + i0);
        UNROLL for (u32 k = 0; k < 8; k++)
        {
            UNROLL for (u32 t = 0; t < count; t++) column[t][k] = pflush(column[t][k] * PACK_OF(rdiag[k]));
            UNROLL for (u32 j = k + 1; j < 8; j++)
            {
                const pack d = PACK_OF(diagonal[8 * k + j]);
                UNROLL for (u32 t = 0; t < count; t++) column[t][j] = PFMA(-column[t][k], d, column[t][j]);
            }
        }
        UNROLL for (u32 t = 0; t < count; t++) UNROLL for (u32 j = 0; j < 8; j++)
            STOREP(tiles + g.tile[t], 8 * j + i0, column[t][j]);
    }
}
FN_LARGE void tiles_solve_right(GLOBAL real *tiles, tile_group g, GLOBAL const real *diagonal,
                                GLOBAL const real *rdiag)
{
    if (g.count == 1) tile_group_solve_right(tiles, g, diagonal, rdiag, 1);
#if TILE_GROUP == 3
    else if (g.count == 2)
        tile_group_solve_right(tiles, g, diagonal, rdiag, 2);
    else
        tile_group_solve_right(tiles, g, diagonal, rdiag, 3);
#endif
}

/* Tiles (I .. I + TILE_GROUP - 1, J) of `blocks` block rows. */
FN tile_group tile_group_of(u32 I, u32 J, u32 blocks)
{
    tile_group g;
    g.count = blocks - I < TILE_GROUP ? blocks - I : TILE_GROUP;
    UNROLL for (u32 t = 0; t < TILE_GROUP; t++)
    {
        g.tile[t] = TILE_OFFSET(I + t, J);
        g.left[t] = TILE_OFFSET(I + t, 0);
    }
    return g;
}

/* Cholesky factor in place; rdiag := 1 / diagonal. `scale`: sums of squares behind the diagonal. A pivot
 * within -doubt to +least times scale is flat and becomes flat * scale. A lower one is bad; a positive
 * stand-in lets other lanes go on. `found`: number (from 1; the tile begins at `first`) and value of the
 * first bad pivot, or 0, 0; then 1 if one was flat. Above the diagonal is anything. */
FN void tile_factor(GLOBAL real *tile, GLOBAL real *rdiag, GLOBAL const real *scale, real least, real doubt,
                    real flat, u32 first, GLOBAL real *found)
{
    real place = found[0], value = found[1], was_flat = found[2];
    pack column[8][8 / PACK];
    UNROLL for (u32 j = 0; j < 8; j++) UNROLL for (u32 i = 0; i < 8 / PACK; i++) column[j][i] =
        LOADP(tile, 8 * j + i * PACK);
    UNROLL for (u32 k = 0; k < 8; k++)
    {
        const real own = SELECT(scale[k] > R(0.0), scale[k], R(1.0));
        real pivot = ELEMENT(column[k][k / PACK], k % PACK);
        const mask positive = pivot > least * own, negative = NOT(pivot >= -doubt * own);
        const mask bad = AND(negative, place <= R(0.0));
        place = SELECT(bad, REAL_OF(first + k), place);
        value = SELECT(bad, pivot, value);
        was_flat = SELECT(OR(positive, OR(negative, scale[k] <= R(0.0))), was_flat, R(1.0));
        pivot = SELECT(positive, pivot, SELECT(negative, own, flat * own));
        /* the next pivot waits for the division alone, not for the root */
        const real root = SQRT(pivot), inverse = DIVIDE(R(1.0), pivot), r = root * inverse;
        rdiag[k] = r;
        pack part[8 / PACK];
        UNROLL for (u32 i = k / PACK; i < 8 / PACK; i++) part[i] = pflush(column[k][i] * PACK_OF(-inverse));
        UNROLL for (u32 j = k + 1; j < 8; j++)
        {
            const pack other = PACK_OF(ELEMENT(column[k][j / PACK], j % PACK));
            UNROLL for (u32 i = j / PACK; i < 8 / PACK; i++) column[j][i] =
                PFMA(part[i], other, column[j][i]);
        }
        UNROLL for (u32 i = k / PACK; i < 8 / PACK; i++)
            STOREP(tile, 8 * k + i * PACK, pflush(column[k][i] * PACK_OF(r)));
        tile[8 * k + k] = root;
    }
    found[0] = place;
    found[1] = value;
    found[2] = was_flat;
}

/* Factors in place; `found`: as in tile_factor. */
FN void tiles_factor(GLOBAL real *tiles, GLOBAL real *rdiag, GLOBAL const real *scale, u32 blocks, real least,
                     real doubt, real flat, GLOBAL real *found)
{
    ONE_WORKER
    {
        found[0] = R(0.0);
        found[1] = R(0.0);
        found[2] = R(0.0);
    }
    for (u32 J = 0; J < blocks; J++) {
        TEAM_FOR(step, TILE_GROUPS(blocks - J)) {
            tiles_subtract(tiles, tile_group_of(J + TILE_GROUP * step, J, blocks), tiles,
                           tiles + TILE_OFFSET(J, 0), 8 * J);
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            tile_factor(tiles + TILE_OFFSET(J, J), rdiag + 8 * J, scale + 8 * J, least, doubt, flat,
                        8 * J + 1, found);
        }
        TEAM_BARRIER();
        TEAM_FOR(step, TILE_GROUPS(blocks - J - 1)) {
            tiles_solve_right(tiles, tile_group_of(J + 1 + TILE_GROUP * step, J, blocks),
                              tiles + TILE_OFFSET(J, J), rdiag + 8 * J);
        }
        TEAM_BARRIER();
    }
}

/* y := L^-1 y, four interleaved chains (k mod 4): one would wait for each fma. */
FN void tiles_solve_lower(GLOBAL const real *tiles, GLOBAL const real *rdiag, u32 blocks, GLOBAL real *y)
{
    for (u32 I = 0; I < blocks; I++) {
        GLOBAL const real *row = tiles + TILE_OFFSET(I, 0);
        TEAM_FOR_PACK(i, 8) {
            pack acc[4];
            acc[0] = LOADP(y, 8 * I + i);
            acc[1] = PK(0.0);
            acc[2] = PK(0.0);
            acc[3] = PK(0.0);
            for (u32 k = 0; k < 8 * I; k += 4)
                UNROLL for (u32 c = 0; c < 4; c++) acc[c] =
                    PFMA(-LOADP(row, 8 * (k + c) + i), PACK_OF(y[k + c]), acc[c]);
            STOREP(y, 8 * I + i, pflush((acc[0] + acc[2]) + (acc[1] + acc[3])));
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            GLOBAL const real *d = tiles + TILE_OFFSET(I, I);
            real v[8];
            UNROLL for (u32 i = 0; i < 8; i++) v[i] = y[8 * I + i];
            UNROLL for (u32 k = 0; k < 8; k++)
            {
                v[k] = flush(v[k] * rdiag[8 * I + k]);
                UNROLL for (u32 i = k + 1; i < 8; i++) v[i] = FMA(-d[8 * k + i], v[k], v[i]);
            }
            UNROLL for (u32 i = 0; i < 8; i++) y[8 * I + i] = v[i];
        }
        TEAM_BARRIER();
    }
}

/* y := L^-T y; columns: 8 partial sums by row mod 8, then the fixed tree. */
FN void tiles_solve_upper(GLOBAL const real *tiles, GLOBAL const real *rdiag, u32 blocks, GLOBAL real *y)
{
    for (u32 J = blocks; J-- > 0;) {
        TEAM_FOR_PACK(j, 8) {
            pack acc[PACK][8 / PACK];
            UNROLL for (u32 c = 0; c < PACK; c++) UNROLL for (u32 m = 0; m < 8 / PACK; m++) acc[c][m] =
                PK(0.0);
            for (u32 I = J + 1; I < blocks; I++) {
                GLOBAL const real *tile = tiles + TILE_OFFSET(I, J) + 8 * j;
                UNROLL for (u32 m = 0; m < 8 / PACK; m++)
                {
                    const pack v = LOADP(y, 8 * I + m * PACK);
                    UNROLL for (u32 c = 0; c < PACK; c++) acc[c][m] =
                        PFMA(LOADP(tile, 8 * c + m * PACK), v, acc[c][m]);
                }
            }
            STOREP(y, 8 * J + j, pflush(LOADP(y, 8 * J + j) - acc8_totals(acc)));
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            GLOBAL const real *d = tiles + TILE_OFFSET(J, J);
            real v[8];
            UNROLL for (u32 i = 0; i < 8; i++) v[i] = y[8 * J + i];
            UNROLL for (u32 m = 0; m < 8; m++)
            {
                const u32 k = 7 - m;
                UNROLL for (u32 i = 7; i > k; i--) /* the last that is known comes last */
                    v[k] = FMA(-d[8 * k + i], v[i], v[k]);
                v[k] = flush(v[k] * rdiag[8 * J + k]);
            }
            UNROLL for (u32 i = 0; i < 8; i++) y[8 * J + i] = v[i];
        }
        TEAM_BARRIER();
    }
}

/* v (n elements) := a direction of negative curvature found[1] after a bad pivot (Gill, Murray, Wright,
 * Practical Optimization, 4.4.2.2); 0 in other lanes. */
FN void tiles_negative_direction(GLOBAL const real *tiles, GLOBAL const real *rdiag, u32 blocks,
                                 GLOBAL const real *found, GLOBAL real *v, u32 n)
{
    TEAM_FOR(i, n) {
        v[i] = R(0.0);
        if (i < 8 * blocks) v[i] = SELECT(found[0] == REAL_OF(i + 1), DIVIDE(R(1.0), rdiag[i]), R(0.0));
    }
    TEAM_BARRIER();
    tiles_solve_upper(tiles, rdiag, blocks, v);
}
