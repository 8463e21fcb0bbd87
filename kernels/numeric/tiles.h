/* tiles.h: symmetric matrices of one fit in 8 x 8 tiles: rank updates, Cholesky factor, solves.
 *
 * The lower block triangle is stored by rows of tiles, tile (I, J) at 64 (I (I + 1) / 2 + J); inside a tile
 * column j lies contiguous: element (i, j) at 8 j + i. So the part of block row I left of column J
 * is one contiguous stream of 8 J columns, which is all that the left-looking factorisation reads.
 *
 * Every element is one ascending chain of fma, whatever the shape of the register tile, so the shape is free:
 * TILE_I packs by TILE_J columns are kept in registers (PACK 8: 8 accumulators, which cover the latency of two
 * fma units; measured 1.6 times the speed of 4).
 */
#ifndef PARITAS_NUMERIC_TILES_H
#define PARITAS_NUMERIC_TILES_H

#if PACK == 8
#define TILE_I 1
#define TILE_J 8
#elif PACK == 4
#define TILE_I 2
#define TILE_J 4
#elif PACK == 2
#define TILE_I 4
#define TILE_J 4
#elif LANES > 1
#define TILE_I 4
#define TILE_J 4
#else
#define TILE_I 4
#define TILE_J 2
#endif

#define TILE_OFFSET(I, J) (64 * ((I) * ((I) + 1) / 2 + (J)))

/* tile := sum of p q^T over pairs of rows p = rows + .., q = rows + .. of 8. `list`: the numbers of runs, of first-order and of all single pairs; per
 * run the offsets of its first p and q and how many follow each other; per single pair two offsets. Without `second_order` the
 * other single pairs are left out. */
FN_LARGE void tile_sum(GLOBAL real *tile, GLOBAL const real *rows, CONSTANT u32 *list, u32 second_order)
{
    const u32 runs = list[0], singles = 2 * list[second_order ? 2 : 1];
    for (u32 i0 = 0; i0 < 8; i0 += TILE_I * PACK)
        for (u32 j0 = 0; j0 < 8; j0 += TILE_J) {
            CONSTANT u32 *at = list + 3;
            pack acc[TILE_I * TILE_J];
            UNROLL for (u32 k = 0; k < TILE_I * TILE_J; k++) acc[k] = PK(0.0);
            for (u32 r = 0; r < runs; r++, at += 3) {
                GLOBAL const real *p = rows + at[0] + i0, *q = rows + at[1] + j0;
                const u32 n = 8 * at[2];
                for (u32 k = 0; k < n; k += 8) {
                    pack pk[TILE_I];
                    UNROLL for (u32 i = 0; i < TILE_I; i++) pk[i] = LOADP(p, k + i * PACK);
                    UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j * TILE_I + i] =
                        PFMA(pk[i], PACK_OF(q[k + j]), acc[j * TILE_I + i]);
                }
            }
            for (u32 m = 0; m < singles; m += 2) {
                GLOBAL const real *p = rows + at[m] + i0, *q = rows + at[m + 1] + j0;
                pack pm[TILE_I];
                UNROLL for (u32 i = 0; i < TILE_I; i++) pm[i] = LOADP(p, i * PACK);
                UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j * TILE_I + i] =
                    PFMA(pm[i], PACK_OF(q[j]), acc[j * TILE_I + i]);
            }
            UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++)
                STOREP(tile, 8 * (j0 + j) + i0 + i * PACK, acc[j * TILE_I + i]);
        }
}

/* tile -= sum over k < n of a_k b_k^T. */
FN_LARGE void tile_downdate(GLOBAL real *tile, GLOBAL const real *a, GLOBAL const real *b, u32 n)
{
    for (u32 i0 = 0; i0 < 8; i0 += TILE_I * PACK)
        for (u32 j0 = 0; j0 < 8; j0 += TILE_J) {
            pack acc[TILE_I * TILE_J];
            UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j * TILE_I + i] =
                LOADP(tile, 8 * (j0 + j) + i0 + i * PACK);
            for (u32 k = 0; k < n; k++) {
                GLOBAL const real *ak = a + 8 * k + i0, *bk = b + 8 * k + j0;
                pack left[TILE_I];
                UNROLL for (u32 i = 0; i < TILE_I; i++) left[i] = -LOADP(ak, i * PACK);
                UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++) acc[j * TILE_I + i] =
                    PFMA(left[i], PACK_OF(bk[j]), acc[j * TILE_I + i]);
            }
            UNROLL for (u32 j = 0; j < TILE_J; j++) UNROLL for (u32 i = 0; i < TILE_I; i++)
                STOREP(tile, 8 * (j0 + j) + i0 + i * PACK, acc[j * TILE_I + i]);
        }
}

/* tile := tile L^-T, L the factored diagonal tile with reciprocal diagonal `rdiag` (8 elements). */
FN void tile_solve_right(GLOBAL real *tile, GLOBAL const real *diagonal, GLOBAL const real *rdiag)
{
    for (u32 i0 = 0; i0 < 8; i0 += PACK) {
        pack column[8];
        UNROLL for (u32 j = 0; j < 8; j++) column[j] = LOADP(tile, 8 * j + i0);
        UNROLL for (u32 k = 0; k < 8; k++)
        {
            column[k] = column[k] * PACK_OF(rdiag[k]);
            UNROLL for (u32 j = k + 1; j < 8; j++) column[j] = PFMA(-column[k], PACK_OF(diagonal[8 * k + j]), column[j]);
        }
        UNROLL for (u32 j = 0; j < 8; j++) STOREP(tile, 8 * j + i0, column[j]);
    }
}

/* Cholesky factor of a diagonal tile in place; rdiag receives 1 / diagonal. `scale` holds the sums of squares that the diagonal
 * was made from, against which a pivot is judged: from -doubt to +least times it is flat (nothing depends on that direction: it
 * counts with the curvature flat * scale), below it is bad: replaced by a positive stand-in, so that other lanes go on
 * undisturbed. `found`: three elements, the number of the lane's first bad pivot (counted from 1, this tile's first being `first`) and
 * its value, 0 as long as there is none; 1 where a pivot was flat, else 0. */
FN void tile_factor(GLOBAL real *tile, GLOBAL real *rdiag, GLOBAL const real *scale, real least, real doubt, real flat, u32 first,
                    GLOBAL real *found)
{
    for (u32 k = 0; k < 8; k++) {
        const real own = SELECT(scale[k] > R(0.0), scale[k], R(1.0));
        real pivot = tile[8 * k + k];
        const mask positive = pivot > least * own, negative = NOT(pivot >= -doubt * own);
        const mask bad = AND(negative, found[0] <= R(0.0));
        found[0] = SELECT(bad, REAL_OF(first + k), found[0]);
        found[1] = SELECT(bad, pivot, found[1]);
        found[2] = SELECT(OR(positive, OR(negative, scale[k] <= R(0.0))), found[2], R(1.0));
        pivot = SELECT(positive, pivot, SELECT(negative, own, flat * own));
        const real root = SQRT(pivot);
        const real r = R(1.0) / root;
        rdiag[k] = r;
        tile[8 * k + k] = root;
        for (u32 i = k + 1; i < 8; i++) tile[8 * k + i] = tile[8 * k + i] * r;
        for (u32 j = k + 1; j < 8; j++)
            for (u32 i = j; i < 8; i++) tile[8 * j + i] = FMA(-tile[8 * k + i], tile[8 * k + j], tile[8 * j + i]);
    }
}

/* Factors the whole matrix of `blocks` block rows in place. `found`: three slab elements, as in tile_factor. */
FN void tiles_factor(GLOBAL real *tiles, GLOBAL real *rdiag, GLOBAL const real *scale, u32 blocks, real least, real doubt, real flat,
                     GLOBAL real *found)
{
    ONE_WORKER
    {
        found[0] = R(0.0);
        found[1] = R(0.0);
        found[2] = R(0.0);
    }
    for (u32 J = 0; J < blocks; J++) {
        TEAM_FOR(step, blocks - J)
        {
            const u32 I = J + step;
            tile_downdate(tiles + TILE_OFFSET(I, J), tiles + TILE_OFFSET(I, 0), tiles + TILE_OFFSET(J, 0), 8 * J);
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            tile_factor(tiles + TILE_OFFSET(J, J), rdiag + 8 * J, scale + 8 * J, least, doubt, flat, 8 * J + 1, found);
        }
        TEAM_BARRIER();
        TEAM_FOR(step, blocks - J - 1)
        {
            const u32 I = J + 1 + step;
            tile_solve_right(tiles + TILE_OFFSET(I, J), tiles + TILE_OFFSET(J, J), rdiag + 8 * J);
        }
        TEAM_BARRIER();
    }
}

/* y := L^-1 y. The update of a block runs in four interleaved chains (k mod 4), since one would wait for each fma. */
FN void tiles_solve_lower(GLOBAL const real *tiles, GLOBAL const real *rdiag, u32 blocks, GLOBAL real *y)
{
    for (u32 I = 0; I < blocks; I++) {
        GLOBAL const real *row = tiles + TILE_OFFSET(I, 0);
        TEAM_FOR_PACK(i, 8)
        {
            pack acc[4];
            acc[0] = LOADP(y, 8 * I + i);
            acc[1] = PK(0.0);
            acc[2] = PK(0.0);
            acc[3] = PK(0.0);
            for (u32 k = 0; k < 8 * I; k += 4)
                UNROLL for (u32 c = 0; c < 4; c++) acc[c] = PFMA(-LOADP(row, 8 * (k + c) + i), PACK_OF(y[k + c]), acc[c]);
            STOREP(y, 8 * I + i, (acc[0] + acc[2]) + (acc[1] + acc[3]));
        }
        TEAM_BARRIER();
        ONE_WORKER
        {
            GLOBAL const real *d = tiles + TILE_OFFSET(I, I);
            real v[8];
            UNROLL for (u32 i = 0; i < 8; i++) v[i] = y[8 * I + i];
            UNROLL for (u32 k = 0; k < 8; k++)
            {
                v[k] = v[k] * rdiag[8 * I + k];
                UNROLL for (u32 i = k + 1; i < 8; i++) v[i] = FMA(-d[8 * k + i], v[k], v[i]);
            }
            UNROLL for (u32 i = 0; i < 8; i++) y[8 * I + i] = v[i];
        }
        TEAM_BARRIER();
    }
}

/* y := L^-T y. Column sums are 8 partial sums by row modulo 8, then the fixed tree. */
FN void tiles_solve_upper(GLOBAL const real *tiles, GLOBAL const real *rdiag, u32 blocks, GLOBAL real *y)
{
    for (u32 J = blocks; J-- > 0;) {
        TEAM_FOR(j, 8)
        {
            acc8 sum = acc8_zero();
            for (u32 I = J + 1; I < blocks; I++) sum = acc8_fma(sum, tiles + TILE_OFFSET(I, J) + 8 * j, y + 8 * I, 0);
            y[8 * J + j] = y[8 * J + j] - acc8_total(sum);
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
                UNROLL for (u32 i = 0; i < 8; i++) if (i > k) v[k] = FMA(-d[8 * k + i], v[i], v[k]);
                v[k] = v[k] * rdiag[8 * J + k];
            }
            UNROLL for (u32 i = 0; i < 8; i++) y[8 * J + i] = v[i];
        }
        TEAM_BARRIER();
    }
}

#endif
