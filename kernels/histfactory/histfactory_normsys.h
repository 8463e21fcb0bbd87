/* histfactory_normsys.h: factors v of normsys entries, u = v'/v and v''/v - u^2.
 *
 * Code 1: exponential. Code 4: for |a| < 1 the polynomial of degree 6 with two matching derivatives.
 * HF_OWN_CODES: as each entry's numbers say (enum hf_normsys_number); what is linear outside stays at 0 where
 * it would be negative. */
#ifndef PARITAS_HISTFACTORY_NORMSYS_H
#define PARITAS_HISTFACTORY_NORMSYS_H

#include "numeric/math.h"
#include "numeric/sum.h"
#include "histfactory/histfactory_records.h"

/* u = slope / divisor. Exponential v leaves 1 and its logarithm in `exponent`: one exponential serves a
 * unit. */
typedef struct {
    pack v, slope, divisor, exponent;
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
    f.slope = PSELECT(held, zero, d);
    f.divisor = PSELECT(held, one, v);
    f.exponent = PSELECT(exponential, pflush(a * shape.rate), zero);
    return f;
}

/* Packs of entries at once: independent chains cover the latency of fma. */
#define HF_FACTORS (LANES > 1 ? 4 : 1)

/* Of neighbouring entries. */
typedef struct {
    pack v[HF_FACTORS], slope[HF_FACTORS], divisor[HF_FACTORS], exponent[HF_FACTORS];
} hf_factors;

FN hf_factors hf_normsys_none(void)
{
    hf_factors f;
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
    {
        f.v[w] = f.divisor[w] = PK(1.0);
        f.slope[w] = f.exponent[w] = PK(0.0);
    }
    return f;
}

/* 1 + c1 a + .. + c6 a^6 and, if asked, its derivative. */
FN void hf_normsys_polynomial(hf_numbers c, u32 n, PRIVATE const pack *a, u32 i, u32 derivatives,
                              PRIVATE hf_factors *f)
{
    pack d[HF_FACTORS], v[HF_FACTORS];
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
    {
        d[w] = hf_number_of_row(c, 5 * n, i + w * PACK);
        v[w] = PFMA(d[w], a[w], hf_number_of_row(c, 4 * n, i + w * PACK));
    }
    UNROLL for (u32 k = 0; k < 4; k++)
    {
        UNROLL for (u32 w = 0; w < HF_FACTORS; w++) if (derivatives) d[w] = PFMA(d[w], a[w], v[w]);
        UNROLL for (u32 w = 0; w < HF_FACTORS; w++) v[w] =
            PFMA(v[w], a[w], hf_number_of_row(c, (3 - k) * n, i + w * PACK));
    }
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
    {
        f->slope[w] = PFMA(d[w], a[w], v[w]);
        f->v[w] = PFMA(v[w], a[w], PK(1.0));
    }
}

/* Points of neighbouring entries: a, for own codes. Code 4: `inner` + `outer`, one of which is 0; code 1:
 * `outer` alone. */
typedef struct {
    pack a[HF_FACTORS], inner[HF_FACTORS], outer[HF_FACTORS];
} hf_normsys_point;

/* Entries i .. */
FN hf_factors hf_normsys(hf_numbers c, u32 n, u32 code, hf_normsys_point at, u32 i, u32 derivatives)
{
    const pack zero = PK(0.0);
    hf_factors f = hf_normsys_none();
    if (code == HF_OWN_CODES) {
        UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
        {
            const hf_factor_of_entry own = hf_normsys_of_own_code(c, n, at.a[w], i + w * PACK);
            f.v[w] = own.v;
            f.slope[w] = own.slope;
            f.divisor[w] = own.divisor;
            f.exponent[w] = own.exponent;
        }
        return f;
    }
    pmask any = zero < zero;
    if (code == 4) hf_normsys_polynomial(c, n, at.inner, i, derivatives, &f);
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++) any = OR(any, PNOT(at.outer[w] == zero));
    if (code == 1 || PANY(any)) {
        UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
        {
            const pack rate =
                PSELECT(at.outer[w] >= zero, hf_number_of_row(c, HF_NORMSYS_UP * n, i + w * PACK),
                        -hf_number_of_row(c, HF_NORMSYS_DOWN * n, i + w * PACK));
            const pmask inside = at.outer[w] == zero;
            f.slope[w] = code == 1 ? rate : PSELECT(inside, f.slope[w], rate);
            f.exponent[w] = PSELECT(inside, zero, pflush(at.outer[w] * rate));
        }
    }
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++) f.divisor[w] = f.v[w];
    return f;
}

FN hf_normsys_point hf_normsys_point_of(HF_PARAMETERS, u32 code, u32 i)
{
    CONSTANT u32 *slot = HF_I(NORMSYS_SLOT);
    hf_normsys_point at;
    UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
    {
        at.a[w] = code != 4 ? GATHERP(HF_S(X), slot, i + w * PACK) : PK(0.0);
        at.inner[w] = code == 4 ? GATHERP(HF_S(INNER), slot, i + w * PACK) : PK(0.0);
        at.outer[w] = code == 4 ? GATHERP(HF_S(OUTER), slot, i + w * PACK) : at.a[w];
    }
    return at;
}

/* Parts of X for polynomial codes: the other is 0. */
FN void hf_normsys_regions(HF_PARAMETERS)
{
    const pack zero = PK(0.0), one = PK(1.0);
    TEAM_FOR_PACK(i, mi[HF_DENSE]) {
        const pack a = LOADP(HF_S(X), i);
        const pmask inside = AND(a<one, a> - one);
        STOREP(HF_S(INNER), i, PSELECT(inside, a, zero));
        STOREP(HF_S(OUTER), i, PSELECT(inside, zero, a));
    }
    TEAM_BARRIER();
}

/* F per unit, 8 interleaved products, then a tree; logarithms go to `exponents`, u to NU (0 in padding). */
FN void hf_normsys_products(HF_PARAMETERS, hf_part part, GLOBAL real *exponents, u32 code, u32 derivatives,
                            u32 varied)
{
    const hf_numbers c = hf_coefficients(HF, varied);
    GLOBAL real *nu = HF_S(NU);
    TEAM_FOR(k, part.units) {
        const u32 unit = part.first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        const u32 first = un->normsys, end = first + un->normsys_count, padded = first + un->normsys_padded;
        pack product[8 / PACK];
        acc8 exponent = acc8_zero();
        UNROLL for (u32 j = 0; j < 8; j += PACK) product[j / PACK] = PK(1.0);
        for (u32 i = first; i < end; i += 8)
            UNROLL for (u32 j = 0; j < 8; j += HF_FACTORS * PACK) if (i + j < end)
            {
                const hf_factors f = hf_normsys(c, mi[HF_NORMSYS_ENTRIES], code,
                                                hf_normsys_point_of(HF, code, i + j), i + j, derivatives);
                UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
                {
                    const u32 at = j / PACK + w;
                    product[at] = pflush(product[at] * f.v[w]);
                    exponent.part[at] = exponent.part[at] + f.exponent[w];
                    if (derivatives)
                        STOREP(nu, i - part.normsys_shift + j + w * PACK,
                               pflush(PDIVIDE(f.slope[w], f.divisor[w])));
                }
            }
        if (derivatives)
            for (u32 i = end; i < padded; i++) nu[i - part.normsys_shift] = R(0.0); /* factors of 1 */
        real p[8];
        UNROLL for (u32 j = 0; j < 8; j++) p[j] = ELEMENT(product[j / PACK], j % PACK);
        s[mi[HF_S_F] + unit] = flush(flush(flush(p[0] * p[4]) * flush(p[2] * p[6])) *
                                     flush(flush(p[1] * p[5]) * flush(p[3] * p[7])));
        exponents[unit] = acc8_total(exponent);
    }
}

/* By one polynomial code, the usual case; the others. */
FN_LARGE void hf_polynomial_products(HF_PARAMETERS, hf_part part, GLOBAL real *exponents)
{
    hf_normsys_products(HF, part, exponents, 4, 0, 0);
}
FN_LARGE void hf_polynomial_slopes(HF_PARAMETERS, hf_part part, GLOBAL real *exponents)
{
    hf_normsys_products(HF, part, exponents, 4, 1, 0);
}
FN_LARGE void hf_other_products(HF_PARAMETERS, hf_part part, GLOBAL real *exponents, u32 derivatives)
{
    if (mi[HF_SWITCHES] & HF_VARIED_FACTORS)
        hf_normsys_products(HF, part, exponents, mi[HF_NORMSYS_CODE], derivatives, 1);
    else
        hf_normsys_products(HF, part, exponents, mi[HF_NORMSYS_CODE], derivatives, 0);
}

/* v''/v - u^2. */
FN pack hf_normsys_bend(hf_numbers c, u32 n, u32 code, pack a, pack v, pack u, u32 i)
{
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
    const pack q = PSELECT(outer, PK(0.0), PFMA(-u, u, PDIVIDE(d2, PSELECT(line, PK(1.0), v))));
    return PSELECT(line, -u * u, q);
}

/* NQ from NU. */
FN void hf_normsys_curvature_of(HF_PARAMETERS, u32 varied)
{
    const u32 n = mi[HF_NORMSYS_ENTRIES], code = mi[HF_NORMSYS_CODE], width = HF_FACTORS * PACK;
    const hf_numbers c = hf_coefficients(HF, varied);
    CONSTANT u32 *slot = HF_I(NORMSYS_SLOT);
    TEAM_FOR(k, n / width) {
        const u32 i = k * width;
        const hf_factors f = hf_normsys(c, n, code, hf_normsys_point_of(HF, code, i), i, 0);
        UNROLL for (u32 w = 0; w < HF_FACTORS; w++)
        {
            const u32 at = i + w * PACK;
            const pack q = code == 1 ? PK(0.0)
                                     : hf_normsys_bend(c, n, code, GATHERP(HF_S(X), slot, at), f.v[w],
                                                       LOADP(HF_S(NU), at), at);
            STOREP(HF_S(NQ), at, pflush(q));
        }
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
