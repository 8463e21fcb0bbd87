/* histfactory_normsys.h: factors v of normsys entries, v'/v and v''/v - (v'/v)^2.
 *
 * Code 1: exponential. Code 4: for |a| < 1 the polynomial of degree 6 with two matching derivatives.
 * HF_OWN_CODES: as each entry's numbers say (enum hf_normsys_number); what is linear outside stays at 0 where
 * it would be negative. */
#ifndef PARITAS_HISTFACTORY_NORMSYS_H
#define PARITAS_HISTFACTORY_NORMSYS_H

#include "numeric/math.h"
#include "numeric/sum.h"
#include "histfactory/histfactory_records.h"

/* u = v'/v. Exponential v leaves 1 and its logarithm in `exponent`: one exponential serves a unit. */
typedef struct {
    pack v, u, exponent;
} hf_factor_of_entry;

/* An entry of its own code. */
typedef struct {
    pack rate; /* r */
    pmask outer, linear;
} hf_factor_shape;

FN hf_factor_shape hf_normsys_shape(hf_numbers c, u32 n, pack a, u32 i)
{
    const pack bound = hf_number(c, HF_NORMSYS_BOUND * n + i);
    hf_factor_shape shape;
    shape.outer = OR(a >= bound, a <= -bound);
    shape.linear = hf_number(c, HF_NORMSYS_LINEAR * n + i) > PK(0.0);
    shape.rate =
        PSELECT(a >= PK(0.0), hf_number(c, HF_NORMSYS_UP * n + i), -hf_number(c, HF_NORMSYS_DOWN * n + i));
    return shape;
}

FN_LARGE hf_factor_of_entry hf_normsys_of_own_code(hf_numbers c, u32 n, pack a, u32 i)
{
    const pack zero = PK(0.0), one = PK(1.0);
    const hf_factor_shape shape = hf_normsys_shape(c, n, a, i);
    const pmask exponential = AND(shape.outer, PNOT(shape.linear));
    pack v = hf_number(c, 5 * n + i), d = v;
    v = PFMA(v, a, hf_number(c, 4 * n + i));
    UNROLL for (u32 k = 0; k < 4; k++)
    {
        d = PFMA(d, a, v);
        v = PFMA(v, a, hf_number(c, (3 - k) * n + i));
    }
    d = PFMA(d, a, v);
    v = PFMA(v, a, one);
    const pack line = PFMA(shape.rate, a, hf_number(c, HF_NORMSYS_OFFSET * n + i));
    v = PSELECT(shape.outer, PSELECT(shape.linear, line, one), v);
    d = PSELECT(shape.outer, shape.rate, d);
    const pmask held = AND(shape.linear, v <= zero);
    hf_factor_of_entry f;
    f.v = PSELECT(held, zero, v);
    f.u = PSELECT(held, zero, PSELECT(exponential, shape.rate, pflush(PDIVIDE(d, PSELECT(held, one, v)))));
    f.exponent = PSELECT(exponential, pflush(a * shape.rate), zero);
    return f;
}

FN hf_factor_of_entry hf_normsys(hf_numbers c, u32 n, u32 code, pack a, u32 i, u32 derivatives)
{
    if (code == HF_OWN_CODES) return hf_normsys_of_own_code(c, n, a, i);
    hf_factor_of_entry f;
    f.v = f.u = PK(1.0);
    f.exponent = PK(0.0);
    pmask outer = PK(0.0) < PK(1.0);
    if (code == 4) {
        pack v = hf_number(c, 5 * n + i), d = v;
        outer = OR(a >= PK(1.0), a <= PK(-1.0));
        v = PFMA(v, a, hf_number(c, 4 * n + i));
        UNROLL for (u32 k = 0; k < 4; k++)
        {
            if (derivatives) d = PFMA(d, a, v);
            v = PFMA(v, a, hf_number(c, (3 - k) * n + i));
        }
        if (derivatives) d = PFMA(d, a, v);
        f.v = PFMA(v, a, PK(1.0));
        if (derivatives) f.u = pflush(PDIVIDE(d, f.v));
    }
    if (PANY(outer)) {
        const pack rate = PSELECT(a >= PK(0.0), hf_number(c, 6 * n + i), -hf_number(c, 7 * n + i));
        f.v = PSELECT(outer, PK(1.0), f.v);
        f.u = PSELECT(outer, rate, f.u);
        f.exponent = PSELECT(outer, pflush(a * rate), PK(0.0));
    }
    return f;
}

/* F per unit, 8 interleaved products, then a tree; logarithms go to `exponents`, u to NU. */
FN void hf_normsys_products(HF_PARAMETERS, GLOBAL real *exponents, u32 derivatives, u32 varied)
{
    const u32 code = mi[HF_NORMSYS_CODE], entries = mi[HF_NORMSYS_ENTRIES];
    const hf_numbers c = hf_coefficients(HF, varied);
    CONSTANT u32 *slot = HF_I(NORMSYS_SLOT);
    GLOBAL const real *x = HF_S(X);
    GLOBAL real *nu = HF_S(NU);
    TEAM_FOR(unit, mi[HF_UNITS]) {
        hf_unit un = hf_unit_of(mi, unit);
        const u32 first = un->normsys, n = un->normsys_padded, end = first + un->normsys_count;
        pack product[8 / PACK];
        acc8 exponent = acc8_zero();
        UNROLL for (u32 j = 0; j < 8; j += PACK) product[j / PACK] = PK(1.0);
        for (u32 i = first; i < first + n; i += 8) UNROLL for (u32 j = 0; j < 8; j += PACK)
            {
                if (i + j >= end) { /* factors of 1 */
                    if (derivatives) STOREP(nu, i + j, PK(0.0));
                    continue;
                }
                const hf_factor_of_entry f =
                    hf_normsys(c, entries, code, GATHERP(x, slot, i + j), i + j, derivatives);
                product[j / PACK] = pflush(product[j / PACK] * f.v);
                exponent.part[j / PACK] = exponent.part[j / PACK] + f.exponent;
                if (derivatives) STOREP(nu, i + j, f.u);
            }
        real p[8];
        UNROLL for (u32 j = 0; j < 8; j++) p[j] = ELEMENT(product[j / PACK], j % PACK);
        s[mi[HF_S_F] + unit] = flush(flush(flush(p[0] * p[4]) * flush(p[2] * p[6])) *
                                     flush(flush(p[1] * p[5]) * flush(p[3] * p[7])));
        exponents[unit] = acc8_total(exponent);
    }
}

/* With coefficients of the job's own. */
FN_LARGE void hf_varied_products(HF_PARAMETERS, GLOBAL real *exponents, u32 derivatives)
{
    hf_normsys_products(HF, exponents, derivatives, 1);
}

/* NQ from NU. */
FN void hf_normsys_curvature_of(HF_PARAMETERS, u32 varied)
{
    const u32 n = mi[HF_NORMSYS_ENTRIES], code = mi[HF_NORMSYS_CODE];
    const hf_numbers c = hf_coefficients(HF, varied);
    CONSTANT u32 *slot = HF_I(NORMSYS_SLOT);
    TEAM_FOR_PACK(i, n) {
        pack q = PK(0.0);
        if (code != 1) {
            const pack a = GATHERP(HF_S(X), slot, i), u = LOADP(HF_S(NU), i),
                       v = hf_normsys(c, n, code, a, i, 0).v;
            pmask outer = OR(a >= PK(1.0), a <= PK(-1.0)), line = PK(1.0) < PK(0.0);
            if (code == HF_OWN_CODES) {
                const hf_factor_shape shape = hf_normsys_shape(c, n, a, i);
                line = AND(shape.linear, OR(shape.outer, v <= PK(0.0)));
                outer = OR(shape.outer, line);
            }
            pack d2 = PK(30.0) * hf_number(c, 5 * n + i);
            d2 = PFMA(d2, a, PK(20.0) * hf_number(c, 4 * n + i));
            d2 = PFMA(d2, a, PK(12.0) * hf_number(c, 3 * n + i));
            d2 = PFMA(d2, a, PK(6.0) * hf_number(c, 2 * n + i));
            d2 = PFMA(d2, a, PK(2.0) * hf_number(c, n + i));
            q = PSELECT(outer, q, PFMA(-u, u, PDIVIDE(d2, PSELECT(line, PK(1.0), v))));
            q = PSELECT(line, -u * u, q);
        }
        STOREP(HF_S(NQ), i, pflush(q));
    }
}
FN_LARGE void hf_normsys_curvature(HF_PARAMETERS)
{
    if (mi[HF_SWITCHES] & HF_VARIED_FACTORS)
        hf_normsys_curvature_of(HF, 1);
    else
        hf_normsys_curvature_of(HF, 0);
}

#endif
