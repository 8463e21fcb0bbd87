/* dialect_division.h: IEEE 754 quotients and roots of floats from approximate ones and fma.
 *
 * The dialect defines FN, elem (float), elem_int (32 bits), FMA, BITS, FROM_BITS and
 *   BUILT_RECIPROCAL(x)   1 / x to 2.5 units in the last place, x in [1, 4)
 *   BUILT_ROOT(x)         square root of x to 3 units, x in [1, 4)
 * Exponents come off first: all steps are normal numbers. Newton's last step takes the exact remainder (P.
 * Markstein, IBM J. Res. Dev. 34 (1990) 111). Some results stay a unit off, such as 1 / (2 - 2^-23); an exact
 * comparison with the middles to both neighbours corrects them. Subnormals are zero (numeric/flush.h). */
#pragma once

#define BUILT_MAGNITUDE 0x7fffffff
#define BUILT_INFINITY 0x7f800000
#define BUILT_NAN 0x7fc00000
#define BUILT_ONE 0x3f800000
#define BUILT_FRACTION 0x007fffff
/* The exponent's bits; 0: zero, subnormal; 255: infinity, NaN */
#define BUILT_EXPONENT(bits) ((bits) >> 23)
/* half the distance to the next number */
#define BUILT_HALF_UNIT(bits) FROM_BITS(((bits) & BUILT_INFINITY) - (24 << 23))

FN elem built_divide(elem a, elem b)
{
    const elem_int ia = BITS(a) & BUILT_MAGNITUDE, ib = BITS(b) & BUILT_MAGNITUDE, ea = BUILT_EXPONENT(ia),
                   eb = BUILT_EXPONENT(ib);
    const elem_int sign = (BITS(a) ^ BITS(b)) & ~BUILT_MAGNITUDE;
    const elem x = FROM_BITS((ia & BUILT_FRACTION) | BUILT_ONE),
               y = FROM_BITS((ib & BUILT_FRACTION) | BUILT_ONE), one = FROM_BITS(BUILT_ONE);
    elem r = BUILT_RECIPROCAL(y);
    r = FMA(r, FMA(-y, r, one), r);
    r = FMA(r, FMA(-y, r, one), r);
    elem q = x * r;
    q = FMA(FMA(-y, q, x), r, q);
    const elem rest = FMA(-y, q, x), zero = FROM_BITS(0);
    const elem_int own = BITS(q);
    const elem_int rounded = FMA(-y, BUILT_HALF_UNIT(own), rest) > zero      ? own + 1
                             : FMA(y, BUILT_HALF_UNIT(own - 1), rest) < zero ? own - 1
                                                                             : own;
    const elem_int exponent = BUILT_EXPONENT(rounded) + ea - eb;
    elem_int i = (rounded & BUILT_FRACTION) | (exponent < 1 || exponent > 254 ? 0 : exponent << 23);
    i = exponent < 1 ? 0 : exponent > 254 ? BUILT_INFINITY : i;
    i = ea == 0 || ib == BUILT_INFINITY ? 0 : i;
    i = ia == BUILT_INFINITY || eb == 0 ? BUILT_INFINITY : i;
    const int none = ia > BUILT_INFINITY || ib > BUILT_INFINITY || (ea == 0 && eb == 0) ||
                     (ia == BUILT_INFINITY && ib == BUILT_INFINITY);
    return FROM_BITS(none ? BUILT_NAN : i | sign);
}

FN elem built_root(elem a)
{
    /* 4^(k / 2 - 64) times a number in [1, 4) */
    const elem_int ia = BITS(a) & BUILT_MAGNITUDE, k = BUILT_EXPONENT(ia) + 1;
    const elem x = FROM_BITS((ia & BUILT_FRACTION) | (BUILT_ONE + ((k & 1) << 23))),
               a_half = FROM_BITS(BUILT_ONE - (1 << 23));
    elem g = BUILT_ROOT(x), h = a_half * BUILT_RECIPROCAL(g);
    h = FMA(h, FMA(-g, h, a_half), h);
    g = FMA(FMA(-g, g, x), h, g);
    const elem rest = FMA(-g, g, x), zero = FROM_BITS(0);
    const elem_int own = BITS(g);
    /* squares of middles end in a quarter unit: no remainder equals them */
    const elem_int rounded = FMA(-(g + g), BUILT_HALF_UNIT(own), rest) > zero     ? own + 1
                             : FMA(g + g, BUILT_HALF_UNIT(own - 1), rest) <= zero ? own - 1
                                                                                  : own;
    elem_int i = rounded + ((k >> 1) - 64) * (1 << 23);
    i = ia == BUILT_INFINITY ? ia : i;
    i = BUILT_EXPONENT(ia) == 0 ? BITS(a) & ~BUILT_MAGNITUDE : i; /* keeps the sign of zero */
    const int none = ia > BUILT_INFINITY || (BITS(a) != ia && BUILT_EXPONENT(ia) > 0);
    return FROM_BITS(none ? BUILT_NAN : i);
}
