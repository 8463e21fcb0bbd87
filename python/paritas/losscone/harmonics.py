"""Periods in U: amplitudes and phases with the lunar day, month and year, and a periodogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

import numpy as np
from numpy.typing import ArrayLike

from .. import _engine
from ..arrays import Floats, Summarised, Table, numbers, structured
from .averages import ORBIT, averages, blocks_of
from .geography import J2000
from .products import TERMINATOR, timed
from .selection import Selection, Source, select

DAY = 86400.0
#: days: from noon to noon (the synodic month), one turn (the sidereal month), the Earth's way around the Sun
PERIODS = {"lunar day": 29.530589, "lunar month": 27.321662, "year": 365.256363}
#: frequencies times weights of a chunk of the periodogram, which bounds its memory
_CHUNK = 1 << 20


def _selected(
    source: Source, response: str | None, good: bool, illumination: str, at: str
) -> tuple[Selection, Floats, Floats]:
    """Times (s) and potentials of used sweeps."""
    chosen = select(source, response=response, good=good)
    used = timed(chosen, illumination, at, TERMINATOR)
    return chosen, chosen.time[used], chosen.potential[used]


def harmonic_fit(
    time: ArrayLike, values: ArrayLike, period: float, *, orders: int = 1, block: float = 24.0
) -> Table:
    """Least squares of values = mean + sum over k of amplitude_k cos(360 deg k (t - J2000) / period -
    phase_k).

    time: Unix seconds. period: days. orders: harmonics, k = 1 to `orders`. A row each: order, period (days),
        amplitude, amplitude_error, phase (degrees), phase_error, chance. Values of one block of time (`block`
        hours; 0: each value) may depend on each other: errors are cluster-robust, as in `averages`. chance:
        probability of this amplitude or a larger one without any harmonic, by Wald's statistic W of its
        cosine and sine: (1 + W / f)^(-f / 2), f = blocks - coefficients. NaN if the time is shorter than the
        period, or if there are fewer blocks than two for each coefficient."""
    t, y = numbers(time), numbers(values)
    if not period > 0.0 or orders < 1:
        raise _engine.InvalidArgument(f"period {period!r}, orders {orders!r}: both must be above 0")
    k = np.arange(1, orders + 1)
    names = ("amplitude", "amplitude_error", "phase", "phase_error", "chance")
    columns = {"order": k, "period": period / k, **{name: np.full(orders, np.nan) for name in names}}
    n, blocks = 1 + 2 * orders, blocks_of(t, block)
    clusters = int(blocks.max(initial=-1)) + 1
    if clusters < 2 * n or np.ptp(t) < period * DAY:
        return structured(columns)
    angle = 2.0 * np.pi * np.multiply.outer((t - J2000) / (DAY * period), k)
    design = np.concatenate([np.ones((len(t), 1)), np.cos(angle), np.sin(angle)], axis=1)
    inverse = np.linalg.pinv(design.T @ design)
    found = inverse @ (design.T @ y)
    scores = design * (y - design @ found)[:, None]
    sums = np.stack([np.bincount(blocks, scores[:, i], clusters) for i in range(n)], axis=1)
    factor = clusters / (clusters - 1) * (len(t) - 1) / (len(t) - n)
    covariance = factor * inverse @ (sums.T @ sums) @ inverse
    for i in range(orders):
        at = np.array([1 + i, 1 + orders + i])
        pair, cov = found[at], covariance[np.ix_(at, at)]
        size = float(np.hypot(*pair))
        along, across = pair / size, np.array([-pair[1], pair[0]]) / size
        columns["amplitude"][i] = size
        columns["amplitude_error"][i] = np.sqrt(along @ cov @ along)
        columns["phase"][i] = np.degrees(np.arctan2(pair[1], pair[0]))
        columns["phase_error"][i] = np.degrees(np.sqrt(across @ cov @ across) / size)
        wald = float(pair @ np.linalg.solve(cov, pair))
        columns["chance"][i] = (1.0 + wald / (clusters - n)) ** (-0.5 * (clusters - n))
    return structured(columns)


def harmonics(
    source: Source,
    *,
    periods: Mapping[str, float] = PERIODS,
    orders: int = 2,
    illumination: str = "all",
    at: str = "projection",
    response: str | None = None,
    good: bool = True,
    block: float = 24.0,
) -> Table:
    """Harmonics of U with each period: rows of name, and the columns of `harmonic_fit`.

    periods: days by name; each is fitted alone, with `orders` harmonics. Lunar day and lunar month separate
        only in a year of data. illumination: "all", or sweeps of "day", "terminator" or "night" alone, by
        their place `at`. response, good: as in `select`."""
    _, time, potential = _selected(source, response, good, illumination, at)
    fits = [harmonic_fit(time, potential, days, orders=orders, block=block) for days in periods.values()]
    joined = np.concatenate(fits)
    names = np.repeat(np.array(list(periods)), orders)
    return structured({"name": names, **{name: joined[name] for name in joined.dtype.names or ()}})


def lomb_scargle(time: ArrayLike, values: ArrayLike, weights: ArrayLike, frequencies: ArrayLike) -> Floats:
    """The generalised Lomb-Scargle periodogram: the part of the weighted variance that a sine and a mean
    explain, 0 to 1, at each frequency (1/day). time: Unix seconds.

    Source: Zechmeister and Kuerster, Astron. Astrophys. 496 (2009) 577, eqs. 4 to 15."""
    t, y, w = (numbers(day) for day in (time, values, weights))
    f = numbers(frequencies)
    w = w / w.sum()
    y = y - w @ y
    whole = float(w @ y**2)
    power = np.full(len(f), np.nan)
    if not whole > 0.0:
        return power
    step = max(1, _CHUNK // max(len(t), 1))
    for first in range(0, len(f), step):
        part = slice(first, first + step)
        angle = 2.0 * np.pi * np.multiply.outer(f[part], (t - t.min()) / DAY)
        cosine, sine = np.cos(angle), np.sin(angle)
        c, s = cosine @ w, sine @ w
        yc, ys = cosine @ (w * y), sine @ (w * y)
        cc, cs = (cosine**2) @ w - c * c, (cosine * sine) @ w - c * s
        ss = 1.0 - (cosine**2) @ w - s * s
        with np.errstate(invalid="ignore", divide="ignore"):
            power[part] = (ss * yc**2 + cc * ys**2 - 2.0 * cs * yc * ys) / (whole * (cc * ss - cs * cs))
    return power


@dataclass(repr=False)
class Periodogram(Summarised):
    """frequency: 1/day; power: 0 to 1; level: power that noise alone exceeds somewhere with a chance of 1 %;
    span: days of data; blocks: means of blocks of time behind it."""

    frequency: Floats
    power: Floats
    level: float
    span: float
    blocks: int
    response: str
    illumination: str


def periodogram(
    source: Source,
    frequencies: ArrayLike | None = None,
    *,
    illumination: str = "all",
    at: str = "projection",
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> Periodogram:
    """The periodogram of U from means of blocks of time, weighted by their sweeps.

    frequencies: 1/day; None: from half a turn in the data up to 1, ten in each independent step
        1 / span. The level assumes independent blocks: (1 - p)^((B - 3) / 2) is the chance of a power p at
        one frequency. The number of trials is the span times the range of frequencies (Zechmeister and
        Kuerster, sect. 2). Other
        arguments: as in `harmonics`."""
    chosen, time, potential = _selected(source, response, good, illumination, at)
    blocks = blocks_of(time, block)
    n = int(blocks.max(initial=-1)) + 1
    if n < 6:
        raise _engine.InvalidInput(f"a periodogram needs 6 blocks of {block:g} h with used sweeps, not {n}")
    means, centre = averages(blocks, potential, n), averages(blocks, time - time.min(), n)["mean"]
    span = float(np.ptp(centre)) / DAY
    f = np.arange(5.0, 10.0 * span + 1.0) / (10.0 * span) if frequencies is None else numbers(frequencies)
    power = lomb_scargle(time.min() + centre, means["mean"], means["count"], f)
    trials = max(1.0, span * float(np.ptp(f)))
    level = 1.0 - (1.0 - 0.99 ** (1.0 / trials)) ** (2.0 / (n - 3))
    return Periodogram(f, power, float(level), span, n, chosen.response, illumination)
