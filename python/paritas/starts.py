"""Fits from several starts."""

from __future__ import annotations

from statistics import NormalDist
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from . import _engine
from .calls import fixed_of, start_of
from .model import Floats, Model
from .results import FitBatch, Starts

SAME_MINIMUM = 1e-6  # of twice the NLL


def _uniform(start: int, parameter: int) -> float:
    """In (0, 1), by (start, parameter): SplitMix64's output function on a counter, as in the program."""
    mask = (1 << 64) - 1
    z = ((start << 32 | parameter) * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    return ((z >> 11) + 0.5) * 2.0**-53


def draw_starts(
    model: Model, n: int, first: Floats, lower: Floats, upper: Floats, fixed: NDArray[np.bool_]
) -> Floats:
    """n starts (n, parameters): the first, and n - 1 around it. Constrained parameters vary by their widths,
    free ones uniformly between bounds, at most three times their size away."""
    quantile = NormalDist().inv_cdf
    starts = np.tile(first, (n, 1))
    for i in np.flatnonzero(~fixed):
        at, width = float(first[i]), float(model.constraint_widths[i])
        reach = 3.0 * max(abs(at), 1.0)
        low, high = max(float(lower[i]), at - reach), min(float(upper[i]), at + reach)
        for k in range(1, n):
            u = _uniform(k, int(i))
            value = low + u * (high - low) if np.isnan(width) else at + quantile(u) * width
            starts[k, i] = min(max(value, float(lower[i])), float(upper[i]))
    return starts


def best_start(
    model: Model, n: int, job: _engine.Job | None, fits: Callable[[Floats], FitBatch]
) -> tuple[Floats, Starts]:
    """The start of the lowest converged fit (first of equals), and all outcomes."""
    lower = model.lower_bounds if job is None or job.lower is None else job.lower
    upper = model.upper_bounds if job is None or job.upper is None else job.upper
    rows = draw_starts(model, n, start_of(model, job), lower, upper, fixed_of(model, job))
    found = fits(rows)
    best, lowest = 0, float("inf")
    minima: dict[float, int] = {}
    for k in np.flatnonzero(found.converged):
        value = float(found.twice_nll[k])
        if value < lowest - SAME_MINIMUM:
            best = int(k)
        lowest = min(lowest, value)
        same = next((minimum for minimum in minima if abs(minimum - value) <= SAME_MINIMUM), value)
        minima[same] = minima.get(same, 0) + 1
    values = found.twice_nll[found.converged]
    spread = float(values.max() - values.min()) if len(values) else float("nan")
    return rows[best], Starts(n, len(values), best, spread, sorted(minima.items()))
