/* rng.h: uniform, normal and Poisson numbers from (seed, purpose, item, toy) alone, in f64.
 *
 *   counter: toy (64 bits) | purpose (8), item (24) | draw (32)      key: seed (64 bits)
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11) makes four words. `draw` counts rejected draws, so no
 * number depends on its pack. */
#pragma once

#if F64

/* 0 .. 2^32 - 1 each. */
typedef struct {
    plint word[4];
} rng_block;

/* item < 2^24, purpose < 2^8; key0, key1: low and high half of the seed. */
typedef struct {
    plint toy, item;
    u32 purpose, key0, key1;
} rng_stream;

/* Low 32 bits of c0 .. c3, the lowest word first. */
FN rng_block rng_philox(plint c0, plint c1, plint c2, plint c3, u32 key0, u32 key1)
{
    const plint low = PLI(0xffffffff);
    UNROLL for (u32 round = 0; round < 10; round++)
    {
        /* high halves do not matter in factors */
        const plint p0 = MULTIPLY32(c0, PLI(0xd2511f53)), p1 = MULTIPLY32(c2, PLI(0xcd9e8d57));
        c0 = SHIFT_RIGHT(p1, 32) ^ c1 ^ PLI(key0);
        c1 = p1;
        c2 = SHIFT_RIGHT(p0, 32) ^ c3 ^ PLI(key1);
        c3 = p0;
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
    rng_block b;
    b.word[0] = c0 & low;
    b.word[1] = c1 & low;
    b.word[2] = c2 & low;
    b.word[3] = c3 & low;
    return b;
}

FN rng_block rng_draw(rng_stream s, u32 draw)
{
    return rng_philox(s.toy, SHIFT_RIGHT(s.toy, 32), s.item | PLI(s.purpose << 24), PLI(draw), s.key0,
                      s.key1);
}

/* (k + 1/2) 2^-52 from 52 bits: in (0, 1), symmetric, exact. */
FN pack rng_uniform(plint hi, plint lo)
{
    const plint k = (hi << 20) | SHIFT_RIGHT(lo, 12);
    return PFROM_BITS(k | PLI(M_ONE_BITS)) - PK(0.99999999999999988898); /* 1 - 2^-53 */
}

/* normal quantile of (1 + v) / 2 over v, x = -log(1 - v^2), on [0, 6.25]: 1.23e-15 */
#define RNG_NORMAL_EVEN(FIRST, NEXT) \
    FIRST(1.694795980894286e-17);    \
    NEXT(1.1284223702582292e-14);    \
    NEXT(1.4110459998554187e-12);    \
    NEXT(4.073102694562714e-11);     \
    NEXT(3.7047024011073865e-10);    \
    NEXT(2.5351471719323368e-9);     \
    NEXT(-5.0712333477930566e-8);    \
    NEXT(2.8576107218265578e-6);     \
    NEXT(-0.00018108046142652643);   \
    NEXT(0.0163332361485223);        \
    NEXT(1.2533141373155006);
#define RNG_NORMAL_ODD(FIRST, NEXT) \
    FIRST(-2.3472117446906233e-19); \
    NEXT(-5.62289494858702e-16);    \
    NEXT(-1.513718061676746e-13);   \
    NEXT(-9.1723548400802398e-12);  \
    NEXT(-1.2485556106112726e-10);  \
    NEXT(-1.5983443674628006e-9);   \
    NEXT(3.0269087340584585e-8);    \
    NEXT(-1.43355675730771e-6);     \
    NEXT(6.5918157866322568e-5);    \
    NEXT(-0.0033023324281400927);   \
    NEXT(0.32811687386916366);
M_SPLIT_POLYNOMIAL(rng_normal_ratio, RNG_NORMAL_EVEN, RNG_NORMAL_ODD)

/* Odd about 1/2. All but 2 in 1000 need one logarithm, one polynomial: three times faster than
 * m_normal_quantile, which serves the tails. */
FN pack rng_normal_of(pack u)
{
    const pack above = PK(1.0) - u;
    const pack w = -m_log_sum(m_log_split(PK(4.0) * (u * above)));
    const pmask far = w > PK(6.25);
    pack x = (u - above) * rng_normal_ratio(w);
    if (PANY(far)) x = PSELECT(far, m_normal_quantile(u), x);
    return x;
}

/* A normal number, from -8.2 to 8.2. */
FN pack rng_normal(rng_stream s)
{
    const rng_block b = rng_draw(s, 0);
    return rng_normal_of(rng_uniform(b.word[0], b.word[1]));
}

/* A number whose sides are normal with the widths 1 above and `ratio` below, each as often as it is wide.
 * `normal`: the stream's; other bits of the same draw choose the side. A ratio of 1 leaves it. */
FN pack rng_bifurcated(rng_stream s, pack normal, pack ratio)
{
    const rng_block b = rng_draw(s, 0);
    const pack size = m_abs(normal), side = rng_uniform(b.word[2], b.word[3]);
    const pmask below = PFMA(side, ratio, side) < ratio;
    return PSELECT(ratio == PK(1.0), normal, PSELECT(below, -(ratio * size), size));
}

#define RNG_POISSON_SEARCHED 10.0 /* below: search from 0 */
#define RNG_POISSON_LARGEST 1e15  /* not exact beyond */

/* Inversion: first n with P(N > n) <= u. Probabilities are good to 1e-16, as u; terms below 1e-18 end it. */
FN pack rng_poisson_searched(pack u, pack rate, pmask wanted)
{
    pack n = PK(0.0), term = m_exp(-rate), tail = PK(1.0) - term;
    pmask on = AND(wanted, tail > u);
    for (u32 i = 1; PANY(on); i++) {
        n = PSELECT(on, n + PK(1.0), n);
        term = term * (rate * PACK_OF_ELEM(ELEM(1.0) / (elem)i));
        tail = tail - term;
        on = AND(on, AND(tail > u, term > PK(1e-18)));
    }
    return n;
}

/* Proposes floor((2 a / (1/2 - |u|) + b) u + rate + 0.43), u in (-1/2, 1/2). */
typedef struct {
    pack a, b, inverse_alpha, squeeze;
} rng_hat;

/* PTRS (W. Hoermann, Insurance: Mathematics and Economics 12 (1993) 39). Its hat is up to 0.6 % low below
 * rate 2000, its squeeze up to 0.004 high near 28; here a hat 0.65 % higher and a lower squeeze hold
 * everywhere. */
FN rng_hat rng_hat_of(pack rate)
{
    rng_hat h;
    h.b = PFMA(PK(2.53), PSQRT(rate), PK(0.931));
    h.a = PFMA(PK(0.02483), h.b, PK(-0.059));
    h.inverse_alpha = PK(1.1312) + PDIVIDE(PK(1.1402), h.b - PK(3.4));
    h.squeeze = PK(0.919) - PDIVIDE(PK(3.6224), h.b - PK(2.0));
    return h;
}

/* log n! - log(sqrt(2 pi n) (n / e)^n), whole n >= 1, w = 1 / n. */
FN pack rng_stirling_rest(pack n, pack w)
{
    pack rest = w * m_stirling(w * w);
    const pmask few = n < PK(8.0);
    if (PANY(few)) {
        pack y = PK(0.08106146679532725822);
        y = PSELECT(n >= PK(2.0), PK(0.041340695955409294094), y);
        y = PSELECT(n >= PK(3.0), PK(0.027677925684998339149), y);
        y = PSELECT(n >= PK(4.0), PK(0.020790672103765093112), y);
        y = PSELECT(n >= PK(5.0), PK(0.016644691189821192163), y);
        y = PSELECT(n >= PK(6.0), PK(0.013876128823070747999), y);
        y = PSELECT(n >= PK(7.0), PK(0.011896709945891770095), y);
        rest = PSELECT(few, y, rest);
    }
    return rest;
}

/* Accepts n at s = 1/2 - |u| if
 *   v inverse_alpha / (a / s^2 + b) <= P(n) = e^-deviance / sqrt(2 pi n),
 *   deviance = n D((rate - n) / n) + Stirling's rest,  D(x) = x - log(1 + x): no cancellation */
FN pmask rng_poisson_accepts(rng_hat h, pack rate, pack n, pack s, pack v)
{
    const pmask none = n < PK(0.5);
    const pack some = PSELECT(none, PK(1.0), n), w = PDIVIDE(PK(1.0), some);
    const pack deviance =
        PSELECT(none, rate, PFMA(some, m_deviance((rate - some) * w), rng_stirling_rest(some, w)));
    const pack circle = PSELECT(none, PK(1.0), PK(6.2831853071795864769) * some);
    const pack s2 = s * s;
    return m_log(PDIVIDE(v * h.inverse_alpha * s2 * PSQRT(circle), PFMA(h.b, s2, h.a))) <= -deviance;
}

/* PTRS; `first`: draw 0. Proposals per number: 1.34 at rate 10, 1.13 at large rates. The split rate keeps all
 * digits. */
FN pack rng_poisson_rejected(rng_stream stream, rng_block first, pack rate, pmask wanted)
{
    const rng_hat h = rng_hat_of(rate);
    /* 3 2^51, 2^51 */
    const pack twice_a = PK(2.0) * h.a, magic = PK(6755399441055744.0), most = PK(2251799813685248.0);
    const pack whole = (rate + magic) - magic, part = (rate - whole) + PK(0.43);
    rng_block b = first;
    pack n = PK(0.0);
    pmask on = wanted;
    for (u32 draw = 1; PANY(on); draw++) {
        const pack u = rng_uniform(b.word[0], b.word[1]) - PK(0.5), v = rng_uniform(b.word[2], b.word[3]);
        const pack s = PK(0.5) - m_abs(u);
        const pack y = PFMA(PDIVIDE(twice_a, s) + h.b, u, part);
        pack down = (y + magic) - magic;
        down = PSELECT(down > y, down - PK(1.0), down);
        const pack k = whole + PSELECT(m_abs(y) < most, down, y);
        const pmask inside = k >= PK(0.0);
        pmask accepted = AND(s >= PK(0.07), v <= h.squeeze);
        const pmask open = AND(AND(on, inside), AND(PNOT(accepted), OR(s >= PK(0.013), v <= s)));
        if (PANY(open))
            accepted =
                OR(accepted, AND(open, rng_poisson_accepts(h, rate, PSELECT(inside, k, PK(0.0)), s, v)));
        accepted = AND(AND(on, inside), accepted);
        n = PSELECT(accepted, k, n);
        on = AND(on, PNOT(accepted));
        if (PANY(on)) b = rng_draw(stream, draw);
    }
    return n;
}

/* NaN for rates outside 0 .. RNG_POISSON_LARGEST; 0 if not wanted. */
FN_LARGE pack rng_poisson(rng_stream stream, pack rate, pmask wanted)
{
    const pmask known = AND(rate >= PK(0.0), rate <= PK(RNG_POISSON_LARGEST)),
                low = rate < PK(RNG_POISSON_SEARCHED);
    const pmask few = AND(wanted, AND(known, low)), many = AND(wanted, AND(known, PNOT(low)));
    const rng_block first = rng_draw(stream, 0);
    pack n = PSELECT(AND(wanted, PNOT(known)), M_NAN, PK(0.0));
    if (PANY(few))
        n = PSELECT(
            few,
            rng_poisson_searched(rng_uniform(first.word[0], first.word[1]), PSELECT(few, rate, PK(0.0)), few),
            n);
    if (PANY(many))
        n = PSELECT(many,
                    rng_poisson_rejected(stream, first, PSELECT(many, rate, PK(RNG_POISSON_SEARCHED)), many),
                    n);
    return n;
}

#endif
