"""Bins of uproot's histograms, as ROOT shows them."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

_GROWS = 1 << 1  # of an axis' own bits: ROOT widens the bins until all entries are inside
_NOT_WEIGHTED = 1 << 19  # of TObject's bits: weights make no squares
_UNCHOSEN = "ROOT has not chosen its bins yet: call BufferEmpty(1) before you write it"


class Bins(NamedTuple):
    """Contents without under- and overflow. squares: sums of squared weights; None: there are none."""

    contents: NDArray[Any]
    squares: Optional[NDArray[np.float64]]


def bins_of(found: Any) -> Bins:
    """The bins of one of uproot's histograms, with entries that ROOT has not yet put into them: TH1.SetBuffer
    keeps these in a buffer, from which uproot does not take them. Raises ValueError."""
    contents = np.array(found.values(flow=True))
    squares = None
    if found.weighted:
        squares = np.array(found.member("fSumw2"), dtype=np.float64)
        squares = squares.reshape(contents.shape[::-1]).T  # the first axis runs fastest
    entries = _entries(found, contents.ndim)
    if len(entries):
        contents, squares = _filled(found, contents, squares, entries)
    inside = (slice(1, -1),) * contents.ndim
    return Bins(contents[inside], squares if squares is None else squares[inside])


def _entries(found: Any, axes: int) -> NDArray[np.float64]:
    """Weight and places of each entry. A negative count: the bins have them already."""
    buffer = np.asarray(found.member("fBuffer", none_if_missing=True), dtype=np.float64)
    none = np.empty((0, axes + 1))
    if buffer.ndim != 1 or not buffer.size:
        return none
    count = buffer[0]
    if not (abs(count) <= (buffer.size - 1) // (axes + 1)) or count != int(count):
        raise ValueError(f"its buffer is damaged: it has room for {buffer.size} numbers, and says {count:g}")
    if count <= 0:
        return none
    if str(found.kind) != "COUNT":
        raise ValueError("it has entries in a buffer: call BufferEmpty(1) before you write it")
    return buffer[1 : 1 + int(count) * (axes + 1)].reshape(int(count), axes + 1)


def _filled(
    found: Any, contents: NDArray[Any], squares: Optional[NDArray[np.float64]], entries: NDArray[np.float64]
) -> Bins:
    """What TH1::BufferEmpty does. As in ROOT from 6.38 on, the edges decide where an entry belongs."""
    cells = np.empty((len(entries), contents.ndim), dtype=int)
    for which, axis in enumerate(found.axes):
        if not axis.member("fXmin") < axis.member("fXmax"):
            raise ValueError(_UNCHOSEN)
        places = entries[:, which + 1]
        found_in = np.searchsorted(axis.edges(), places, side="right")  # NaN: overflow
        cells[:, which] = found_in
        outside = (found_in == 0) | (found_in == contents.shape[which] - 1)
        if (axis.member("fBits2", none_if_missing=True) or 0) & _GROWS and (
            outside & np.isfinite(places)
        ).any():
            raise ValueError(_UNCHOSEN)
    weights = entries[:, 0]
    if not np.isfinite(weights).all():
        raise ValueError("an entry in its buffer has a weight that is no finite number")
    if squares is None and (weights != 1).any() and not found.member("@fBits") & _NOT_WEIGHTED:
        squares = np.abs(contents.astype(np.float64))
    kind = contents.dtype.type
    most = np.iinfo(kind).max if issubclass(kind, np.integer) else None
    for at, weight in zip(cells, weights):
        cell = tuple(at)
        if most is None:
            contents[cell] += kind(weight)
        else:
            part = max(-most, min(int(weight), most))
            contents[cell] = max(-most, min(int(contents[cell]) + part, most))
        if squares is not None:
            squares[cell] += weight * weight
    return Bins(contents, squares)
