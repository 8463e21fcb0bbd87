"""The data of toys, drawn anew from seed and number, as docs/numerics.md says: Philox4x32-10, counts by
inversion or Hoermann's PTRS, measurements by the normal quantile. Last digits may differ."""

import math
from statistics import NormalDist

MASK = 0xFFFFFFFF


def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & MASK, p0 >> 32 ^ c3 ^ k1, p0 & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return c0, c1, c2, c3


def uniform(high, low):
    return ((high << 20 | low >> 12) + 0.5) * 2.0**-52


class Stream:
    """Numbers of one datum of one toy."""

    def __init__(self, seed, purpose, toy, item):
        self.counter = (toy & MASK, toy >> 32, item | purpose << 24)
        self.key = (seed & MASK, seed >> 32)

    def words(self, draw=0):
        return philox((*self.counter, draw), self.key)

    def normal(self):
        return NormalDist().inv_cdf(uniform(*self.words()[:2]))

    def poisson(self, rate):
        return self.searched(rate) if rate < 10.0 else self.rejected(rate)

    def searched(self, rate):
        u, n, term = uniform(*self.words()[:2]), 0, math.exp(-rate)
        tail = 1.0 - term
        while tail > u and (n == 0 or term > 1e-18):
            n += 1
            term *= rate / n
            tail -= term
        return float(n)

    def rejected(self, rate):
        b = 2.53 * math.sqrt(rate) + 0.931
        a = 0.02483 * b - 0.059
        alpha, squeeze = 1.1312 + 1.1402 / (b - 3.4), 0.919 - 3.6224 / (b - 2.0)
        draw = 0
        while True:
            words = self.words(draw)
            draw += 1
            u, v = uniform(*words[:2]) - 0.5, uniform(*words[2:])
            s = 0.5 - abs(u)
            n = math.floor((2.0 * a / s + b) * u + rate + 0.43)
            if n < 0 or (s < 0.013 and v > s):
                continue
            if s >= 0.07 and v <= squeeze:
                return float(n)
            if math.log(v * alpha / (a / (s * s) + b)) <= log_probability(n, rate):
                return float(n)


def log_probability(n, rate):
    """Of n counts; by the deviance, which keeps its digits at large rates."""
    if n == 0:
        return -rate
    x = (rate - n) / n
    stirling = (
        math.lgamma(n + 1) - (n * math.log(n) - n)
        if n < 100
        else 0.5 * math.log(2 * math.pi * n) + 1 / (12 * n)
    )
    return -n * (x - math.log1p(x)) - stirling


def widths(model, workspace):
    """For each datum None where it is a count, else the width of its measurement. Of auxiliary data, those of
    shapesys are counts."""
    counted = {
        modifier["name"]
        for channel in workspace["channels"]
        for sample in channel["samples"]
        for modifier in sample["modifiers"]
        if modifier["type"] == "shapesys"
    }
    constrained = [
        (name, width) for name, width in zip(model.parameter_names, model.constraint_widths) if width == width
    ]
    aux = [None if name.rpartition("[")[0] in counted else float(width) for name, width in constrained]
    return [None] * model.main_count + aux


def draw(expected, widths, seed, purpose, toy):
    """Data of a toy, main then auxiliary. purpose: 0 for toys at the tested value, 1 for those at the other
    one, 2 for plain toys."""
    data = []
    for item, (mean, width) in enumerate(zip(expected, widths)):
        stream = Stream(seed, purpose, toy, item)
        data.append(stream.poisson(mean) if width is None else mean + width * stream.normal())
    return data
