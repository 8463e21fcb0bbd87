"""Fits from several starts."""

from __future__ import annotations

import warnings
from statistics import NormalDist
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from . import _engine
from .calls import fixed_of, start_of
from .model import Floats, Model
from .results import FitBatch, Starts

SAME_MINIMUM = 1e-6  # of twice the NLL
#: methods of fits from where others failed
_FURTHER_ROUNDS: list[dict[str, Any]] = [
    {},
    {"minimizer": "lbfgsb", "max_iterations": 0},
    {},
    {"minimizer": "lbfgsb", "max_iterations": 0},
]


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


class SeveralStarts:
    """Fits from n starts, and again from points below the minima found, as the program makes them.
    fits(rows, **options) fits a batch."""

    def __init__(self, model: Model, n: int, job: _engine.Job | None, fits: Callable[..., FitBatch]) -> None:
        lower = model.lower_bounds if job is None or job.lower is None else job.lower
        upper = model.upper_bounds if job is None or job.upper is None else job.upper
        self._model, self._job, self._fits = model, job, fits
        self._starts = draw_starts(model, n, start_of(model, job), lower, upper, fixed_of(model, job))
        found = fits(self._starts)
        self._ends, self._values = np.array(found.values), np.array(found.twice_nll)
        self._status: list[str] = list(found.status)
        self._answers = 0
        self._go_on()

    @property
    def _converged(self) -> list[int]:
        return [k for k, status in enumerate(self._status) if status == "converged"]

    def _lowest(self) -> float:
        return min((float(self._values[k]) for k in self._converged), default=float("inf"))

    def _failed_below(self, value: float) -> list[int]:
        """Starts whose fits failed below this value."""
        return [
            k
            for k, status in enumerate(self._status)
            if status != "converged" and self._values[k] < value - SAME_MINIMUM
        ]

    def _go_on(self) -> None:
        """With errors: their checks are stricter. Another method may leave the place where one is stuck."""
        for options in _FURTHER_ROUNDS:
            failed = self._failed_below(self._lowest())
            if not failed:
                return
            starts = self._ends[failed]
            found = self._fits(starts, errors=True, **options)
            for i, k in enumerate(failed):
                value, converged = float(found.twice_nll[i]), found.status[i] == "converged"
                if not (value <= self._values[k] + SAME_MINIMUM) or not (
                    converged or value < self._values[k]
                ):
                    continue
                if converged or not options:  # the answer's fit must end there too
                    self._starts[k] = found.values[i] if options else starts[i]
                self._values[k], self._ends[k], self._status[k] = value, found.values[i], str(found.status[i])

    def _best(self) -> int:
        """The lowest converged fit, the first of equals; else the lowest."""
        best, lowest = 0, float("inf")
        for k in self._converged or range(len(self._values)):
            if self._values[k] < lowest - SAME_MINIMUM:
                best = k
            lowest = float(np.fmin(lowest, self._values[k]))
        return best

    @property
    def winner(self) -> _engine.Job:
        """The answer's fit."""
        job, start = self._job, np.array(self._starts[self._best()])
        given = (None,) * 4 if job is None else (job.data, job.lower, job.upper, job.fixed)
        return _engine.Job(self._model, given[0], start, *given[1:])

    def fails(self, status: str) -> bool:
        """The answer failed under stricter checks, but another start is better now: fit again."""
        self._answers += 1
        if status == "converged" or not self._converged or self._answers > len(_FURTHER_ROUNDS):
            return False
        lowest = self._lowest()
        for k in self._converged:
            if self._values[k] <= lowest + SAME_MINIMUM:
                self._status[k] = status
        self._go_on()
        return True

    def outcome(self, answer: float) -> Starts:
        """answer: twice the NLL."""
        minima: dict[float, int] = {}
        for k in self._converged:
            value = float(self._values[k])
            same = next((minimum for minimum in minima if abs(minimum - value) <= SAME_MINIMUM), value)
            minima[same] = minima.get(same, 0) + 1
        values = self._values[self._converged]
        spread = float(values.max() - values.min()) if len(values) else float("nan")
        below = self._failed_below(float("inf") if np.isnan(answer) else answer)
        lowest = min(below, key=lambda k: float(self._values[k]), default=None)
        if lowest is not None:
            warnings.warn(
                f"fit: not the lowest point known; a fit that ended as {self._status[lowest]} reached "
                f"{self._values[lowest]:.10g}, {answer - self._values[lowest]:.3g} lower",
                RuntimeWarning,
                stacklevel=3,
            )
        return Starts(
            len(self._values),
            len(values),
            self._best() if len(values) else 0,
            spread,
            sorted(minima.items()),
            None if lowest is None else (float(self._values[lowest]), self._status[lowest]),
        )
