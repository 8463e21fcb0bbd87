#!/usr/bin/env python3
"""Prints the coefficients of kernels/numeric/math_f64.h and rng.h (argument 64) and math_f32.h (argument 32).
Needs mpmath.

Each is the best one of its degree in the weighted maximum norm (Remez exchange on a fine grid). Coefficients
are rounded lowest first, and the higher ones are fitted again to what the rounding left where that is
possible.
"""

import sys
from mpmath import (
    mp,
    mpf,
    matrix,
    lu_solve,
    exp,
    log,
    sqrt,
    pi,
    sin,
    cos,
    asin,
    erf,
    erfc,
    loggamma,
    erfinv,
    findroot,
    frexp,
    ldexp,
    nint,
)

mp.dps = 45


def rounded(x, bits):
    if x == 0:
        return x
    m, e = frexp(x)
    return ldexp(nint(ldexp(m, bits)), e - bits)


def remez(f, weight, a, b, n, first=0):
    """Coefficients c[0..n] of x**first * sum c[i] x**i nearest to f on [a, b], and the largest weighted
    error."""
    grid = [(a + b) / 2 - (b - a) / 2 * cos(pi * i / 600) for i in range(601)]
    grid = [x for x in grid if weight(x) > mpf("1e-12")]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    powers = [[x ** (first + i) for i in range(n + 1)] for x in grid]
    chosen = [round(i * (len(grid) - 1) / (n + 1)) for i in range(n + 2)]
    for _ in range(30):
        system, right = matrix(n + 2, n + 2), matrix(n + 2, 1)
        for row, i in enumerate(chosen):
            for column in range(n + 1):
                system[row, column] = powers[i][column]
            system[row, n + 1] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = lu_solve(system, right)
        errors = [
            w * (sum(solution[j] * p[j] for j in range(n + 1)) - v)
            for w, p, v in zip(weights, powers, values)
        ]
        # one extremum from every run of equal sign
        extrema, start = [], 0
        for i in range(1, len(grid) + 1):
            if i == len(grid) or (errors[i] > 0) != (errors[start] > 0):
                extrema.append(max(range(start, i), key=lambda j: abs(errors[j])))
                start = i
        while len(extrema) > n + 2:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n + 2 or extrema == chosen:
            break
        chosen = extrema
    return [solution[i] for i in range(n + 1)], max(abs(e) for e in errors)


def fit(name, f, weight, a, b, n, bits, split=False):
    a, b = mpf(a), mpf(b)
    c, error = remez(f, weight, a, b, n)
    done = [rounded(c[0], bits)]
    # not where 0 lies inside: there the higher powers alone have no best fit of alternating errors
    while len(done) <= n and a * b >= 0:
        c, _ = remez(
            lambda x: f(x) - sum(d * x**j for j, d in enumerate(done)), weight, a, b, n - len(done), len(done)
        )
        done.append(rounded(c[0], bits))
        if len(done) == (4 if bits < 53 else 2):
            c = done[:-1] + c
            break
    done += [rounded(x, bits) for x in c[len(done) :]]
    grid = [a + (b - a) * i / 997 for i in range(998)]
    grid = [x for x in grid if weight(x) > mpf("1e-12")]
    worst = max(abs(weight(x) * (f(x) - sum(d * x**j for j, d in enumerate(done)))) for x in grid)
    print(
        f"/* {name}: degree {n} on [{mp.nstr(a, 6)}, {mp.nstr(b, 6)}], "
        f"largest weighted error {mp.nstr(error, 3)}, rounded {mp.nstr(worst, 3)} */"
    )
    text = [mp.nstr(d, 17 if bits == 53 else 9) for d in done[::-1]]
    halves = (
        {"_EVEN": text[len(text) % 2 == 0 :: 2], "_ODD": text[len(text) % 2 :: 2]} if split else {"": text}
    )
    for half, coefficients in halves.items():
        lines = [f"FIRST({coefficients[0]});", *(f"NEXT({c});" for c in coefficients[1:])]
        print(f"#define M_{name.upper()}{half}(FIRST, NEXT)", *lines, sep=" \\\n    ")
    print(flush=True)


def one(_):
    return mpf(1)


def log_tail(z):
    """(log((1+s)/(1-s)) - 2s) / (s z), z = s*s."""
    if z < mpf("1e-9"):
        return sum(2 * z**i / (2 * i + 3) for i in range(6))
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) - 2 * s) / (s * z)


def exp_tail(r):
    if abs(r) < mpf("1e-9"):
        return sum(r**i / mp.factorial(i + 2) for i in range(6))
    return (exp(r) - 1 - r) / r**2


def erf_ratio(z):
    if z < mpf("1e-9"):
        return 2 / sqrt(pi) * (1 - z / 3 + z * z / 10 - z**3 / 42 + z**4 / 216) - 1
    return erf(sqrt(z)) / sqrt(z) - 1


def erfcx(x):
    with mp.workdps(70):
        if x < 40:
            return exp(x * x) * erfc(x)
        return sum((-1) ** i * mp.fac2(2 * i - 1) / (2 * x * x) ** i for i in range(1, 16)) / (
            x * sqrt(pi)
        ) + 1 / (x * sqrt(pi))


def erfcx_mapped(pole):
    def f(t):
        if t > 1 - mpf("1e-20"):
            return 2 / sqrt(pi)
        x = pole * (1 + t) / (1 - t)
        return (1 + 2 * x) * erfcx(x)

    return f


def lgamma_ratio(e):
    if abs(e) < mpf("1e-9"):
        return (1 - mp.euler) + (mp.zeta(2) - 1) / 2 * e - (mp.zeta(3) - 1) / 3 * e**2
    return loggamma(2 + e) / e


def stirling(v):
    """(lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) x, v = 1/x**2."""
    if v < mpf("1e-5"):
        return sum(mp.bernoulli(2 * i) / (2 * i * (2 * i - 1)) * v ** (i - 1) for i in range(1, 10))
    x = 1 / sqrt(v)
    return (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) * x


def quantile_centre(v):
    """Phi^-1(1/2 + q) / q, v = q*q."""
    if v < mpf("1e-9"):
        return sqrt(2 * pi) * (1 + pi / 3 * v)
    return sqrt(2) * erfinv(2 * sqrt(v)) / sqrt(v)


def quantile_tail(w):
    """-Phi^-1(p) - s, s = sqrt(-2 log p), w = 1/s."""
    s = 1 / w

    def g(x):
        return log(erfcx(x / sqrt(2)) / 2) - x * x / 2 + s * s / 2

    return findroot(g, max(s - log(2 * pi * s * s) / (2 * s), mpf("0.3"))) - s


def normal_ratio(w):
    """Phi^-1((1 + x) / 2) / x, w = -log(1 - x*x)."""
    if w < mpf("1e-20"):
        return sqrt(pi / 2) * (1 + pi / 12 * w)
    x = sqrt(-mp.expm1(-w))
    return sqrt(2) * erfinv(x) / x


def sin_tail(z):
    """(sin t - t) / t**3, z = t*t."""
    if z < mpf("1e-3"):
        return sum((-1) ** (i + 1) * z**i / mp.factorial(2 * i + 3) for i in range(8))
    t = sqrt(z)
    return (sin(t) - t) / (t * z)


def cos_tail(z):
    """(cos t - 1 + z/2) / z**2, z = t*t."""
    if z < mpf("1e-3"):
        return sum((-1) ** i * z**i / mp.factorial(2 * i + 4) for i in range(8))
    return (cos(sqrt(z)) - 1 + z / 2) / z**2


def asin_tail(z):
    """(asin s - s) / s**3, z = s*s."""
    if z < mpf("1e-3"):
        return sum(mp.fac2(2 * i + 1) / (mp.fac2(2 * i + 2) * (2 * i + 3)) * z**i for i in range(12))
    s = sqrt(z)
    return (asin(s) - s) / (s * z)


WIDE = sys.argv[1] == "64"
BITS, DEGREES = (
    (53, (7, 9, 12, 23, 19, 6, 4, 9, 21, 5, 5, 11)) if WIDE else (24, (3, 4, 5, 10, 8, 2, 4, 9, 0, 2, 2, 4))
)
if len(sys.argv) > 2:
    DEGREES = [int(x) for x in sys.argv[2].split(",")]
POLE = mpf(4) if WIDE else mpf(2)
d = DEGREES
half = log(mpf(2)) / 2
if d[0]:
    fit("log_tail", log_tail, sqrt, 0, "0.0401", d[0], BITS, True)
if d[1]:
    fit("exp_tail", exp_tail, lambda r: r * r, -half * mpf("1.002"), half * mpf("1.002"), d[1], BITS, True)
if d[2]:
    fit("erf_ratio", erf_ratio, one, 0, 1, d[2], BITS)
if d[3]:
    fit("erfcx_mapped", erfcx_mapped(POLE), one, -1, 1, d[3], BITS)
if d[4]:
    fit("lgamma_ratio", lgamma_ratio, one, -0.5, 0.5, d[4], BITS)
if d[5]:
    fit("stirling", stirling, one, 0, mpf(1) / 64, d[5], BITS)
if d[6]:
    fit("quantile_centre", quantile_centre, one, 0, mpf(1) / 16, d[6], BITS)
if d[7]:
    fit("quantile_tail", quantile_tail, one, 1 / mpf(39), 1 / sqrt(-2 * log(mpf(1) / 4)), d[7], BITS)
if d[8]:
    fit("normal_ratio", normal_ratio, one, 0, "6.25", d[8], BITS, True)
if d[9]:
    fit("sin_tail", sin_tail, lambda z: z, 0, "0.62", d[9], BITS)
if d[10]:
    fit("cos_tail", cos_tail, lambda z: z * z, 0, "0.62", d[10], BITS)
if d[11]:
    fit("asin_tail", asin_tail, lambda z: z, 0, "0.2501", d[11], BITS)
