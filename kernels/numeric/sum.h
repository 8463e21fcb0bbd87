/* sum.h: sums and dot products in one order for any PACK.
 *
 * Term i joins partial sum i mod 8; the total is ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7)). Arrays
 * are padded to multiples of 8, and every i and n is one. */
#pragma once

#include "numeric/flush.h"

/* Partial sum j is element j % PACK of part[j / PACK]. Kernels with own terms step i by 8, j by PACK and add
 * terms i + j .. to part[j / PACK]. */
typedef struct {
    pack part[8 / PACK];
} acc8;

FN acc8 acc8_zero(void)
{
    acc8 s;
    for (u32 j = 0; j < 8; j += PACK) s.part[j / PACK] = PK(0.0);
    return s;
}

FN acc8 acc8_add(acc8 s, GLOBAL const real *a, u32 i)
{
    for (u32 j = 0; j < 8; j += PACK) s.part[j / PACK] = s.part[j / PACK] + LOADP(a, i + j);
    return s;
}

FN acc8 acc8_fma(acc8 s, GLOBAL const real *a, GLOBAL const real *b, u32 i)
{
    for (u32 j = 0; j < 8; j += PACK)
        s.part[j / PACK] = PFMA(LOADP(a, i + j), LOADP(b, i + j), s.part[j / PACK]);
    return s;
}

FN real tree8_of(real p0, real p1, real p2, real p3, real p4, real p5, real p6, real p7)
{
    return ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7));
}

FN real acc8_total(acc8 s)
{
#if PACK == 8
    pack v = s.part[0];
    v = v + TURN_PACK(v, 4);
    v = v + TURN_PACK(v, 2);
    return flush(FIRST(v) + ELEMENT(v, 1));
#else
    real p[8];
    for (u32 j = 0; j < 8; j += PACK) STOREP(p, j, s.part[j / PACK]);
    return flush(tree8_of(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]));
#endif
}

/* The product in the same order. */
FN real acc8_product(acc8 s)
{
#if PACK == 8
    pack v = s.part[0];
    v = pflush(v * TURN_PACK(v, 4));
    v = pflush(v * TURN_PACK(v, 2));
    return flush(FIRST(v) * ELEMENT(v, 1));
#else
    real p[8];
    for (u32 j = 0; j < 8; j += PACK) STOREP(p, j, s.part[j / PACK]);
    return flush(flush(flush(p[0] * p[4]) * flush(p[2] * p[6])) *
                 flush(flush(p[1] * p[5]) * flush(p[3] * p[7])));
#endif
}

/* Element k: the total of acc[k]. */
FN pack acc8_totals(PRIVATE pack acc[PACK][8 / PACK])
{
#if PACK == 8
    pack v[8];
    UNROLL for (u32 i = 0; i < 8; i++) v[i] = acc[i][0];
    TRANSPOSE_PACKS(v);
    return pflush(((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])));
#elif PACK == 1
    return flush(
        tree8_of(acc[0][0], acc[0][1], acc[0][2], acc[0][3], acc[0][4], acc[0][5], acc[0][6], acc[0][7]));
#else
    pack total = PK(0.0);
    for (u32 k = 0; k < PACK; k++) {
        acc8 one;
        for (u32 j = 0; j < 8 / PACK; j++) one.part[j] = acc[k][j];
        ELEMENT(total, k) = acc8_total(one);
    }
    return total;
#endif
}

/* to[8 i + j] = from[8 j + i], j < 8, i < rows. */
FN void transpose8(GLOBAL real *to, GLOBAL const real *from, u32 rows)
{
#if PACK == 8
    pack v[8];
    UNROLL for (u32 i = 0; i < 8; i++) v[i] = LOADP(from, 8 * i);
    TRANSPOSE_PACKS(v);
    UNROLL for (u32 i = 0; i < 8; i++) if (i < rows) STOREP(to, 8 * i, v[i]);
#else
    for (u32 i = 0; i < rows; i++)
        for (u32 j = 0; j < 8; j++) to[8 * i + j] = from[8 * j + i];
#endif
}

FN real sum8(GLOBAL const real *a, u32 n)
{
    acc8 s = acc8_zero();
    for (u32 i = 0; i < n; i += 8) s = acc8_add(s, a, i);
    return acc8_total(s);
}

FN real dot8(GLOBAL const real *a, GLOBAL const real *b, u32 n)
{
    acc8 s = acc8_zero();
    for (u32 i = 0; i < n; i += 8) s = acc8_fma(s, a, b, i);
    return acc8_total(s);
}
