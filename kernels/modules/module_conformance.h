/* module_conformance.h: every word of the kernel language and every numeric function, to compare a
 * device with the CPU (src/device/device_self_test.c). A dialect stands in front.
 *
 * One entry: drivers charge per program. args: rows, 8, CONFORM_SHARED; compilers treat loops of constant
 * length differently. in: a, b, c of 8 numbers each. out: CONFORM_GROUP_LIST; 0 where a precision lacks a
 * group. tests/kernels/wrong_words.h lists wrong implementations; each group finds one. */
#include "entry/conformance_sizes.h"
#include "numeric/math.h"
#include "numeric/philox.h"
#include "numeric/rng.h"
#include "numeric/sum.h"

#define CONFORM_A (s)
#define CONFORM_B (s + 8)
#define CONFORM_C (s + 16)
#define CONFORM_Y (s + CONFORM_IN)
#define CONFORM_V (CONFORM_Y + CONFORM_OUT)
#define CONFORM_W (CONFORM_V + CONFORM_SHARED)
#define CONFORM_SUMS (CONFORM_W + CONFORM_SHARED)
#define CONFORM_AT(group) (CONFORM_Y + 8 * CONFORM_##group)
#define CONFORM(group, i, pack) STOREP(CONFORM_AT(group), i, pack)
#define CONFORM_ONE(group, i) ((CONFORM_Y)[8 * CONFORM_##group + (i)])

#define CONFORM_PARAMETERS CONSTANT u32 *RESTRICT mi UNUSED, CONSTANT elem *RESTRICT mr UNUSED, GLOBAL real *s

TABLE(elem, conform_table, 8) = {ELEM(0.5), ELEM(-1.25), ELEM(3.0), ELEM(0.1),
                                 ELEM(7.5), ELEM(-0.3),  ELEM(1e6), ELEM(-1e-6)};

FN void conform_begin(CONFORM_PARAMETERS, GLOBAL const elem *in, lane_rows rows)
{
    TEAM_FOR(i, CONFORM_IN) s[i] = LOAD_ROWS(in, rows, CONFORM_IN, i);
    TEAM_FOR_PACK(i, CONFORM_OUT) STOREP(CONFORM_Y, i, PK(0.0));
    TEAM_BARRIER();
}

FN void conform_end(CONFORM_PARAMETERS, GLOBAL elem *out, lane_rows rows)
{
    TEAM_BARRIER();
    GLOBAL const real *y = CONFORM_Y;
    TEAM_FOR(i, CONFORM_OUT) STORE_ROWS(out, rows, CONFORM_OUT, i, y[i]);
    TEAM_BARRIER();
    rows_store(out, rows_are_not(rows_modulo(rows, 3), 1), rows, CONFORM_OUT, 8 * CONFORM_ROWS + 4,
               CONFORM_AT(ROWS), 2);
}

/* A number in [1, 2) with the last bits of i. */
FN pack conform_number(plint i)
{
    return PFROM_BITS((i & PLI(((elem_int)1 << M_MANTISSA) - 1)) | PLI(M_ONE_BITS));
}

/* 1 with the sign of a number. */
FN pack conform_sign(pack x)
{
    return PFROM_BITS((PBITS(x) & PLI(~M_MAGNITUDE_BITS)) | PLI(M_ONE_BITS));
}

/* SUM to TWO_ROUNDINGS, SELECT to SHIFTS, LITERAL */
FN void conform_words(CONFORM_PARAMETERS, u32 eight)
{
    TEAM_FOR_PACK(i, eight) {
        const pack a = LOADP(CONFORM_A, i), b = LOADP(CONFORM_B, i), c = LOADP(CONFORM_C, i);
        const plint ia = PBITS(a), ib = PBITS(b), low = PLI(0xfffff);
        CONFORM(SUM, i, a + b);
        CONFORM(DIFFERENCE, i, a - b);
        CONFORM(PRODUCT, i, a * b);
        CONFORM(QUOTIENT, i, PDIVIDE(a, b));
        CONFORM(ROOT, i, PSQRT(m_abs(a)));
        CONFORM(FMA, i, PFMA(a, b, c));
        CONFORM(TWO_ROUNDINGS, i, a * b + c);
        const pmask less = a<b, positive = c> PK(0.0);
        pack chosen =
            PSELECT(AND(less, PNOT(positive)), PK(1.0), PSELECT(OR(less, positive), PK(2.0), PK(3.0)));
        if (PANY(a >= c)) chosen = PSELECT(a >= c, -chosen, chosen);
        CONFORM(SELECT, i, chosen);
        CONFORM(INTEGERS, i,
                conform_number(((ia ^ (ib >> 3)) & low) + ((ia & low) << 2) - ((ib | PLI(5)) & low)));
        CONFORM(LSELECT, i, conform_number(PLSELECT(less, ia, ib) & PLI(0xffff)));
#if F64
        CONFORM(
            SHIFTS, i,
            conform_number(SHIFT_RIGHT(ia, 32) ^ MULTIPLY32(ia, ib) ^ SHIFT_RIGHT(MULTIPLY32(ib, ia), 12)));
#endif
        /* nearest number in this precision */
        CONFORM(LITERAL, i, a * PK(0.1) + PK(1.0000001192092896) * b);
    }
}

/* COMPARISONS to TABLE. The zero comes from an argument: compilers fold products with a literal one, which no
 * kernel has. */
FN void conform_edges(CONFORM_PARAMETERS, u32 eight)
{
    TEAM_FOR_PACK(i, eight) {
        const pack a = LOADP(CONFORM_A, i), b = LOADP(CONFORM_B, i), c = LOADP(CONFORM_C, i), none = PK(0.0),
                   zero = PACK_OF(REAL_OF(eight - 8));
        /* NaN and infinity by operations, and by the literals of numeric/math.h */
        const pack infinity = PDIVIDE(PK(1.0), zero * c), nan = infinity - infinity,
                   literal = PSELECT(a < b, M_NAN, a);
        pack found = PSELECT(nan == nan, PK(1.0), none) + PSELECT(nan != nan, PK(2.0), none) +
                     PSELECT(nan < a, PK(4.0), none) + PSELECT(PNOT(nan < a), PK(8.0), none) +
                     PSELECT(PNOT(nan >= a), PK(16.0), none) + PSELECT(infinity > a, PK(32.0), none) +
                     PSELECT(a < M_INFINITY, PK(64.0), none) +
                     PSELECT(m_abs(infinity) < M_INFINITY, PK(128.0), none) +
                     PSELECT(literal == literal, PK(256.0), none) + PSELECT(-zero < zero, PK(512.0), none);
        if (PANY(nan >= a)) found = found + PK(1024.0);
        if (PANY(PNOT(nan >= a))) found = found + PK(2048.0);
        CONFORM(COMPARISONS, i, found);
        pack sum = PK(0.0); /* what sums begin with */
        for (u32 k = 0; k < eight; k++) sum = sum + -zero;
        CONFORM(ZEROS, i,
                conform_sign(sum) + PK(2.0) * conform_sign(-zero) + PK(4.0) * conform_sign(m_flush(-zero)) +
                    PK(8.0) * conform_sign(zero * -m_abs(a)));
        /* what devices flush on the way must not show */
        const pack tiny = a * PK(1e-30);
#if F64
        const pack subnormal = tiny * PK(1e-280); /* f64 uses them in full */
        CONFORM(SUBNORMAL, i, subnormal);
        CONFORM(SUBNORMAL_SUM, i,
                PFMA(subnormal, b * PK(1e293), (subnormal + tiny * PK(1e-277)) * PK(1e290)));
#else
        CONFORM(SUBNORMAL, i, pflush(tiny * PK(1e-7)));
        CONFORM(SUBNORMAL_SUM, i, PFMA(tiny, b * PK(1e-10), c) + pflush(PFMA(tiny, b * PK(1e-10), tiny)));
#endif
    }
    TEAM_FOR(i, eight) CONFORM_ONE(TABLE, i) = REAL_OF(conform_table[i]) * REAL_OF(i + 1);
}

/* EXP to NORMAL_CDF */
FN void conform_functions(CONFORM_PARAMETERS, u32 eight)
{
    TEAM_FOR_PACK(i, eight) {
        const pack a = LOADP(CONFORM_A, i), size = m_abs(a);
        const pack part = PDIVIDE(size, PK(1.0) + size); /* in (0, 1) */
        CONFORM(EXP, i, m_exp(a));
        CONFORM(LOG, i, m_log(size));
        CONFORM(LOG1P, i, m_log1p(a));
        CONFORM(DEVIANCE, i, m_deviance(part - PK(0.5)));
        CONFORM(ERF, i, m_erf(a));
        CONFORM(ERFC, i, m_erfc(a));
        CONFORM(LGAMMA, i, m_lgamma(size));
        CONFORM(NORMAL_CDF, i, m_normal_cdf(a));
    }
    /* log1p below -1 gives NaN, whose bits differ */
    TEAM_FOR_PACK(i, eight)
        CONFORM(LOG1P, i, PSELECT(LOADP(CONFORM_A, i) > PK(-1.0), LOADP(CONFORM_AT(LOG1P), i), PK(0.0)));
}

/* PACKS to REALS */
FN void conform_memory(CONFORM_PARAMETERS, u32 eight)
{
    GLOBAL const real *a = CONFORM_A, *b = CONFORM_B, *c = CONFORM_C;
    CONSTANT u32 *whole = mi + CONFORM_SHARED;
    /* packs, tables, tables by index, lane numbers */
    TEAM_FOR_PACK(i, eight) {
        CONFORM(PACKS, i, LOADP(a, i) * LOADM(mr, i) + PACK_OF(LOADM1(mr, 3)) + PACK_OF(FIRST(LOADP(b, 0))));
        CONFORM(LOADI, i, conform_number(LOADI(whole, i)));
        CONFORM(GATHERP, i, GATHERP(a, whole, i) - GATHERP(c, whole, i));
    }
    TEAM_FOR(i, eight) {
        const lint at = LINT_OF(REAL_OF(i)) & LI(7), other = LSELECT(a[i] < b[i], at, LI(7) - at);
        CONFORM_ONE(GATHERS, i) = GATHER_REAL(b, other) + GATHER_ELEM(mr, other);
        CONFORM_ONE(REALS, i) = SELECT(AND(a[i] < b[i], NOT(c[i] > R(0.0))), FMA(a[i], b[i], c[i]),
                                       DIVIDE(SQRT(a[i] * a[i]), R(1.0) + b[i] * b[i]));
        CONFORM_ONE(REALS, i) = FROM_BITS(BITS(CONFORM_ONE(REALS, i)) ^ LI(1));
        const mask positive = OR(a[i] > R(0.0), b[i] > R(0.0));
        if (ANY(positive))
            CONFORM_ONE(REALS, i) = SELECT(positive, -CONFORM_ONE(REALS, i), CONFORM_ONE(REALS, i));
    }
}

/* ROWS: other lanes' numbers, those that differ, from a queue; n: rows */
FN void conform_rows(CONFORM_PARAMETERS, u32 eight, GLOBAL const elem *in, lane_rows rows, u32 n, u32 first)
{
    GLOBAL real *v = CONFORM_V;
    const mask all = R(0.0) < R(1.0);
    u32 next = first;
    const lane_rows paired = rows_divide(rows, 2), rest = rows_modulo(rows, 3),
                    looked = rows_look_up(rest, mi);
    const lane_rows kept = rows_where(rows, rows_are_not(rest, 1), 0),
                    taken = rows_take(rows_take(paired, all, &next, n, n - 1), NOT(all), &next, n, 0),
                    last = rows_take(paired, all, &next, 0, n - 1);
    TEAM_FOR(i, eight) v[i] = LOAD_ROWS(in, kept, CONFORM_IN, i);
    rows_load(v, AND(NOT(rows_are_not(rest, 1)), rows_are_not(rows, 1)), in, paired, CONFORM_IN, 8, eight);
    TEAM_FOR(i, eight) {
        const real sum = LOAD_ROWS(in, paired, CONFORM_IN, i) +
                         v[i] * LOAD_ROWS(in, taken, CONFORM_IN, 8 + i) + LOAD_ROWS(in, last, CONFORM_IN, i);
        CONFORM_ONE(ROWS, i) = sum + SELECT(rows_are_not(looked, mi[1]), R(1.0), R(2.0)) +
                               FROM_BITS((LINT_OF_ROWS(rest) << M_MANTISSA) + LI(M_ONE_BITS));
    }
}

/* TEAM, TEAM_SUM, SERIAL_SUM; length: CONFORM_SHARED */
FN void conform_team(CONFORM_PARAMETERS, u32 eight, u32 length)
{
    GLOBAL real *v = CONFORM_V, *w = CONFORM_W, *sums = CONFORM_SUMS;
    GLOBAL const real *a = CONFORM_A, *b = CONFORM_B;
    /* read what others wrote before a barrier */
    TEAM_FOR(i, CONFORM_SHARED) v[i] = FMA(a[i % 8], REAL_OF(i), b[i / 8 % 8]);
    TEAM_BARRIER();
    TEAM_FOR(i, eight) {
        real sum = R(0.0);
        for (u32 k = i; k < length; k++) sum = sum + v[k];
        CONFORM_ONE(SERIAL_SUM, i) = sum;
    }
    for (u32 round = 0; round < 3; round++) {
        TEAM_FOR(i, CONFORM_SHARED) w[i] = v[mi[i]] * R(0.5) + v[(i + 1) % CONFORM_SHARED] * R(0.25);
        TEAM_BARRIER();
        TEAM_IF(round < 2) {
            TEAM_FOR(i, CONFORM_SHARED) v[i] = w[mi[i]] - R(0.125) * w[i];
            TEAM_BARRIER();
        }
    }
    ONE_WORKER
    {
        sums[0] = sum8(w, CONFORM_SHARED);
        sums[1] = dot8(v, w, length);
    }
    TEAM_BARRIER();
    TEAM_FOR(i, eight) {
        CONFORM_ONE(TEAM, i) = w[32 * i + 5];
        CONFORM_ONE(TEAM_SUM, i) = i % 2 ? sums[0] : sums[1];
    }
}

/* PHILOX to U32_OF; without U32_OF lanes agree */
FN void conform_random(CONFORM_PARAMETERS, u32 eight, lane_rows rows)
{
    TEAM_FOR(i, eight) {
        const philox_block b = philox(i, 1, mi[i], 3, 0x12345678, mi[i + 8]);
        CONFORM_ONE(PHILOX, i) = philox_uniform(b.word[i % 4]);
        u32 whole = mi[i] * (F64 ? 16838897u : 65521u); /* exact in a real */
#if LANES == 1
        whole = U32_OF(REAL_OF(whole));
#endif
        CONFORM_ONE(U32_OF, i) = REAL_OF(whole % 4093);
    }
#if F64
    rng_stream stream;
    stream.toy = PLINT_OF(LINT_OF_ROWS(rows) + LI(((elem_int)7 << 32) | 5));
    stream.purpose = 9;
    stream.key0 = 0x9abcdef0;
    stream.key1 = mi[3];
    TEAM_FOR_PACK(i, eight) {
        stream.item = LOADI(mi, i);
        const pack rate = m_abs(LOADP(CONFORM_B, i)) * PK(9.0);
        CONFORM(NORMAL, i, rng_normal(stream));
        CONFORM(POISSON, i, rng_poisson(stream, rate, rate >= PK(0.0)));
    }
#endif
}

/* SIN to ASIN_ROOT */
FN void conform_angles(CONFORM_PARAMETERS, u32 eight)
{
    TEAM_FOR_PACK(i, eight) {
        /* in (-1, 1) */
        const pack a = LOADP(CONFORM_A, i), size = m_abs(a), part = PDIVIDE(a, PK(1.0) + size);
        CONFORM(SIN, i, m_sin_degrees(a * PK(5.0)));
        CONFORM(COS, i, m_cos_degrees(a * PK(5.0)));
        CONFORM(ACOS, i, m_acos_degrees(part));
        CONFORM(ASIN_ROOT, i, m_asin_root_degrees(m_abs(part)));
    }
}

KERNEL(conform)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    conform_begin(mi, mr, s, in, rows);
    conform_words(mi, mr, s, args[1]);
    conform_edges(mi, mr, s, args[1]);
    conform_functions(mi, mr, s, args[1]);
    conform_memory(mi, mr, s, args[1]);
    conform_rows(mi, mr, s, args[1], in, rows, args[0], TEAM_INDEX * LANES);
    conform_team(mi, mr, s, args[1], args[2]);
    conform_random(mi, mr, s, args[1], rows);
    conform_angles(mi, mr, s, args[1]);
    conform_end(mi, mr, s, out, rows);
}
