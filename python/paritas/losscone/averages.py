"""Means of groups of sweeps, with errors that know about passes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine
from ..arrays import Floats, Table, numbers, structured

#: hours; an orbit of Lunar Prospector takes 1.97 h
ORBIT = 2.0


def blocks_of(time: ArrayLike, hours: float) -> NDArray[np.int64]:
    """The block of time of each sweep, numbered from 0. hours 0: each sweep is a block. A sweep of unknown
    time is a block."""
    at = numbers(time)
    if not 0.0 <= hours < np.inf:
        raise _engine.InvalidArgument(f"block {hours!r}: hours from 0 are wanted")
    alone = np.isnan(at) | (hours == 0.0)
    if alone.all():
        return np.arange(len(at), dtype=np.int64)
    number = np.floor(np.where(alone, 0.0, at) / (3600.0 * (hours or 1.0)))
    number = np.where(alone, number.max() + 1.0 + np.arange(len(at)), number)
    found: NDArray[np.int64] = np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def averages(group: ArrayLike, values: ArrayLike, n: int, block: NDArray[np.int64] | None = None) -> Table:
    """Statistics of the values of groups 0 to n - 1; other groups are left out.

    Columns: count; blocks (of time that contribute); mean; error (of the mean); deviation (standard, of one
        value); lower, median, upper (16, 50 and 84 %). NaN if there are too few values.
    block: of each value. Values of one block may depend on each other: with m the mean of N values in B
        blocks, error^2 = B / (B - 1) * sum over blocks of (sum of (value - m))^2 / N^2 (cluster-robust
        variance; Liang and Zeger, Biometrika 73 (1986) 13). None: all are independent, and the error is
        deviation / sqrt(N)."""
    label, x = np.asarray(group), numbers(values)
    kept = np.flatnonzero((label >= 0) & (label < n) & np.isfinite(x))
    kept = kept[np.lexsort((x[kept], label[kept]))]
    label, x = label[kept].astype(np.int64), x[kept]
    of = np.arange(len(x)) if block is None else np.asarray(block)[kept]
    count = np.bincount(label, minlength=n)
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(label, x, n) / count
        residual = x - mean[label]
        deviation = np.sqrt(np.bincount(label, residual**2, n) / np.where(count > 1, count - 1, np.nan))
        pairs, at = np.unique(label * (of.max(initial=0) + 1) + of, return_inverse=True)
        owner = pairs // (of.max(initial=0) + 1)
        sums = np.bincount(at.reshape(-1), residual, len(pairs))
        blocks = np.bincount(owner, minlength=n)
        spread = np.bincount(owner, sums**2, n) * blocks / np.where(blocks > 1, blocks - 1, np.nan)
        error = np.sqrt(spread) / count
    columns = {"count": count, "blocks": blocks, "mean": mean, "error": error, "deviation": deviation}
    for name, part in (("lower", 0.16), ("median", 0.5), ("upper", 0.84)):
        columns[name] = _quantile(x, first, count, part)
    return structured(columns)


def _quantile(ordered: Floats, first: NDArray[np.int64], count: NDArray[np.int64], part: float) -> Floats:
    """Linear between values, as numpy.quantile; `ordered` within each group."""
    if not len(ordered):
        return np.full(len(count), np.nan)
    place = part * np.maximum(count - 1, 0)
    below = np.floor(place).astype(np.int64)
    low = ordered[np.minimum(first + below, len(ordered) - 1)]
    high = ordered[np.minimum(first + np.minimum(below + 1, np.maximum(count - 1, 0)), len(ordered) - 1)]
    return np.where(count > 0, low + (place - below) * (high - low), np.nan)
