/* histfactory_normsys.h: factors v of normsys entries, u = v'/v and v''/v - u^2.
 *
 * Code 1: exponential. Code 4: for |a| < 1 the polynomial of degree 6 with two matching derivatives.
 * HF_OWN_CODES: as each entry's numbers say (enum hf_normsys_number); what is linear outside stays at 0 where
 * it would be negative. */
#pragma once

#include "numeric/math.h"
#include "numeric/sum.h"
#include "histfactory/histfactory_records.h"

/* u = slope / divisor. Exponential v leaves 1 and its logarithm in an exponent: one exponential serves a
 * unit. */
typedef struct {
    pack v, slope, divisor;
} hf_entry_factor;

/* An entry of its own code. */
typedef struct {
    pack rate; /* r */
    pmask outer, linear, inner_exponent;
} hf_factor_shape;

/* The k-th number of a block's entries j .. */
FN pack hf_factor_number(hf_numbers block, u32 k, u32 j)
{
    return hf_number(block, 8 * k + j);
}

FN hf_factor_shape hf_normsys_shape(hf_numbers block, pack a, u32 j)
{
    const pack bound = hf_factor_number(block, HF_NORMSYS_BOUND, j);
    hf_factor_shape shape;
    shape.outer = OR(a >= bound, a <= -bound);
    const pack kind = hf_factor_number(block, HF_NORMSYS_LINEAR, j);
    const pmask other = OR(AND(kind == PK(2.0), a < PK(0.0)), AND(kind == PK(3.0), a >= PK(0.0)));
    shape.linear = AND(kind > PK(0.0), PNOT(other));
    shape.inner_exponent = AND(kind < PK(0.0), PNOT(shape.outer));
    shape.rate = PSELECT(a >= PK(0.0), hf_factor_number(block, HF_NORMSYS_UP, j),
                         -hf_factor_number(block, HF_NORMSYS_DOWN, j));
    return shape;
}

/* p = c1 + .. + c6 a^5 into v, p' into slope. */
FN hf_entry_factor hf_normsys_quotient(hf_numbers block, pack a, u32 j)
{
    hf_entry_factor f;
    pack d = hf_factor_number(block, 5, j), v = PFMA(d, a, hf_factor_number(block, 4, j));
    UNROLL for (u32 k = 0; k < 4; k++)
    {
        d = PFMA(d, a, v);
        v = PFMA(v, a, hf_factor_number(block, 3 - k, j));
    }
    f.v = f.divisor = v;
    f.slope = d;
    return f;
}

/* 1 + c1 a + .. + c6 a^6 and its derivative. */
FN hf_entry_factor hf_normsys_polynomial(hf_numbers block, pack a, u32 j)
{
    const hf_entry_factor p = hf_normsys_quotient(block, a, j);
    hf_entry_factor f;
    f.slope = PFMA(p.slope, a, p.v);
    f.v = f.divisor = PFMA(p.v, a, PK(1.0));
    return f;
}

FN_LARGE hf_entry_factor hf_normsys_of_own_code(hf_numbers block, pack a, u32 j, PRIVATE pack *exponent)
{
    const pack zero = PK(0.0), one = PK(1.0);
    const hf_factor_shape shape = hf_normsys_shape(block, a, j);
    const pmask exponential = AND(shape.outer, PNOT(shape.linear));
    hf_entry_factor f = hf_normsys_polynomial(block, a, j);
    const pack line = PFMA(shape.rate, a, hf_factor_number(block, HF_NORMSYS_OFFSET, j));
    f.v = PSELECT(shape.outer, PSELECT(shape.linear, line, one), f.v);
    f.slope = PSELECT(shape.outer, shape.rate, f.slope);
    const pmask clipped = AND(shape.linear, f.v <= zero);
    f.v = PSELECT(clipped, zero, f.v);
    f.slope = PSELECT(clipped, zero, f.slope);
    f.divisor = PSELECT(clipped, one, f.v);
    pack power = PSELECT(exponential, pflush(a * shape.rate), zero);
    if (PANY(shape.inner_exponent)) {
        const pack inner = pflush(hf_normsys_quotient(block, a, j).v * a);
        power = PSELECT(shape.inner_exponent, inner, power);
        f.v = PSELECT(shape.inner_exponent, one, f.v);
        f.divisor = PSELECT(shape.inner_exponent, one, f.divisor);
    }
    *exponent = *exponent + power;
    return f;
}

/* a = inner + above - below, inner within the edges, the others not negative. */
typedef struct {
    pack inner, above, below;
} hf_normsys_point;

FN hf_normsys_point hf_normsys_split(pack a, pack edge)
{
    const pack zero = PK(0.0);
    const pmask high = a > edge, low = a < -edge;
    hf_normsys_point at;
    at.inner = PSELECT(high, edge, PSELECT(low, -edge, a));
    at.above = PSELECT(high, a - edge, zero);
    at.below = PSELECT(low, -edge - a, zero);
    return at;
}

/* Parts of X for code 4: with lanes, many entries share them. */
FN void hf_normsys_regions(HF_PARAMETERS)
{
    TEAM_IF(LANES > 1) {
        TEAM_FOR_PACK(i, mi[HF_DENSE]) {
            const hf_normsys_point at = hf_normsys_split(LOADP(HF_S(X), i), PK(1.0));
            STOREP(HF_S(INNER), i, at.inner);
            STOREP(HF_S(ABOVE), i, at.above);
            STOREP(HF_S(BELOW), i, at.below);
        }
        TEAM_BARRIER();
    }
}

/* Entries j .. of a block with slots `slot`; adds to their exponents. At the edges code 4's polynomial has
 * the value and slope of the exponential beyond. */
FN hf_entry_factor hf_normsys(HF_PARAMETERS, hf_numbers block, u32 code, CONSTANT u32 *slot, u32 j,
                              PRIVATE pack *exponent)
{
    if (code == HF_OWN_CODES) return hf_normsys_of_own_code(block, GATHERP(HF_S(X), slot, j), j, exponent);
    hf_normsys_point at;
    if (LANES > 1 && code == 4) {
        at.inner = GATHERP(HF_S(INNER), slot, j);
        at.above = GATHERP(HF_S(ABOVE), slot, j);
        at.below = GATHERP(HF_S(BELOW), slot, j);
    } else {
        at = hf_normsys_split(GATHERP(HF_S(X), slot, j), code == 4 ? PK(1.0) : PK(0.0));
    }
    const pack size = at.above + at.below;
    if (LANES > 1 || PANY(size > PK(0.0))) { /* of many lanes one is outside */
        *exponent = PFMA(at.above, hf_factor_number(block, HF_NORMSYS_UP, j), *exponent);
        *exponent = PFMA(at.below, hf_factor_number(block, HF_NORMSYS_DOWN, j), *exponent);
    }
    if (code == 4) return hf_normsys_polynomial(block, at.inner, j);
    hf_entry_factor f;
    f.v = f.divisor = PK(1.0);
    f.slope = PSELECT(at.below > PK(0.0), -hf_factor_number(block, HF_NORMSYS_DOWN, j),
                      hf_factor_number(block, HF_NORMSYS_UP, j));
    return f;
}

/* F per unit, 8 interleaved products, then a tree; logarithms go to `exponents`, u to NU (0 in padding). A
 * division costs as much as thirty products, so entries i and i + 8 share one. */
FN void hf_normsys_products(HF_PARAMETERS, hf_part_key key, GLOBAL real *exponents, u32 code, u32 derivatives,
                            u32 varied)
{
    const hf_numbers all = hf_coefficients(HF, varied);
    const hf_part part = hf_part_of(mi, key);
    TEAM_FOR(k, part.units) {
        const u32 unit = part.first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        const u32 first = un->normsys, end = first + un->normsys_count, padded = first + un->normsys_padded;
        acc8 product, exponent = acc8_zero();
        UNROLL for (u32 j = 0; j < 8; j += PACK) product.part[j / PACK] = PK(1.0);
        for (u32 i = first; i < end; i += 16) {
            const hf_numbers block = hf_factor_block(all, code, i), next = hf_factor_block(all, code, i + 8);
            CONSTANT u32 *slot = HF_I(NORMSYS_SLOT) + i;
            GLOBAL real *nu = HF_S(NU) + (i - part.normsys_shift);
            UNROLL for (u32 j = 0; j < 8; j += PACK) if (i + j < end)
            {
                PRIVATE pack *sum = &exponent.part[j / PACK], *to = &product.part[j / PACK];
                const hf_entry_factor f = hf_normsys(HF, block, code, slot, j, sum);
                if (i + 8 + j < end) {
                    const hf_entry_factor g = hf_normsys(HF, next, code, slot + 8, j, sum);
                    *to = pflush(*to * pflush(f.v * g.v));
                    if (derivatives) {
                        const pack inverse = PDIVIDE(PK(1.0), f.divisor * g.divisor);
                        STOREP(nu, j, pflush(f.slope * g.divisor * inverse));
                        STOREP(nu + 8, j, pflush(g.slope * f.divisor * inverse));
                    }
                } else {
                    *to = pflush(*to * f.v);
                    /* as beside a factor of 1: packs meet padding there */
                    if (derivatives) STOREP(nu, j, pflush(f.slope * PDIVIDE(PK(1.0), f.divisor)));
                }
            }
        }
        if (derivatives) /* packs of padding; in others it has factors of 1 */
            for (u32 i = (end + PACK - 1) / PACK * PACK; i < padded; i += PACK)
                STOREP(HF_S(NU), i - part.normsys_shift, PK(0.0));
        s[mi[HF_S_F] + unit] = acc8_product(product);
        exponents[unit] = acc8_total(exponent);
    }
}

/* Products by one polynomial code, the usual case; then by the others. */
FN_LARGE void hf_polynomial_products(HF_PARAMETERS, hf_part_key key, GLOBAL real *exponents)
{
    hf_normsys_products(HF, key, exponents, 4, 0, 0);
}
FN_LARGE void hf_polynomial_slopes(HF_PARAMETERS, hf_part_key key, GLOBAL real *exponents)
{
    hf_normsys_products(HF, key, exponents, 4, 1, 0);
}
FN_LARGE void hf_other_products(HF_PARAMETERS, hf_part_key key, GLOBAL real *exponents, u32 derivatives)
{
    if (mi[HF_SWITCHES] & HF_VARIED_FACTORS)
        hf_normsys_products(HF, key, exponents, mi[HF_NORMSYS_CODE], derivatives, 1);
    else
        hf_normsys_products(HF, key, exponents, mi[HF_NORMSYS_CODE], derivatives, 0);
}

/* v''/v - u^2. */
FN pack hf_normsys_bend(hf_numbers block, u32 code, pack a, pack v, pack u, u32 j)
{
    pmask outer = OR(a >= PK(1.0), a <= PK(-1.0)), line = PK(1.0) < PK(0.0), power = line;
    if (code == HF_OWN_CODES) {
        const hf_factor_shape shape = hf_normsys_shape(block, a, j);
        line = AND(shape.linear, OR(shape.outer, v <= PK(0.0)));
        outer = OR(shape.outer, line);
        power = shape.inner_exponent;
    }
    pack d2 = PK(30.0) * hf_factor_number(block, 5, j);
    d2 = PFMA(d2, a, PK(20.0) * hf_factor_number(block, 4, j));
    d2 = PFMA(d2, a, PK(12.0) * hf_factor_number(block, 3, j));
    d2 = PFMA(d2, a, PK(6.0) * hf_factor_number(block, 2, j));
    d2 = PFMA(d2, a, PK(2.0) * hf_factor_number(block, 1, j));
    const pack q = PSELECT(outer, PK(0.0), PFMA(-u, u, PDIVIDE(d2, PSELECT(line, PK(1.0), v))));
    return PSELECT(line, -u * u, PSELECT(power, d2, q));
}

/* NQ from NU. */
FN void hf_normsys_curvature_of(HF_PARAMETERS, u32 varied)
{
    const u32 code = mi[HF_NORMSYS_CODE];
    const hf_numbers all = hf_coefficients(HF, varied);
    TEAM_FOR(k, mi[HF_NORMSYS_ENTRIES] / PACK) {
        const u32 i = k * PACK, j = i % 8;
        const hf_numbers block = hf_factor_block(all, code, i);
        CONSTANT u32 *slot = HF_I(NORMSYS_SLOT) + (i - j);
        pack ignored = PK(0.0), q = PK(0.0);
        if (code != 1) {
            const hf_entry_factor f = hf_normsys(HF, block, code, slot, j, &ignored);
            q = hf_normsys_bend(block, code, GATHERP(HF_S(X), slot, j), f.v, LOADP(HF_S(NU), i), j);
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
