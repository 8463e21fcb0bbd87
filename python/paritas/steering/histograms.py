"""Template histograms: bin contents, variances, edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..convert.root_bins import bins_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """Bin contents, without under- and overflow. Several axes are flattened row by row.

    values: (bins,). variances: (bins,), None if unknown. edges: (bins + 1,), None if unknown or if there are
    several axes."""

    values: Floats
    variances: Optional[Floats] = None
    edges: Optional[Floats] = None

    @property
    def stdev(self) -> Floats:
        """Statistical uncertainty of each bin. NaN where the variance is negative."""
        if self.variances is None:
            raise ValueError("the histogram has no variances")
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.variances)

    def with_values(self, values: Floats) -> "Histogram":
        return Histogram(values, self.variances, self.edges)


def _edges(axes: Any) -> Optional[Floats]:
    if len(axes) != 1 or not hasattr(axes[0], "edges"):
        return None
    edges = axes[0].edges
    return np.asarray(edges() if callable(edges) else edges, dtype=float)


def floats(given: ArrayLike) -> Floats:
    """A copy. NumPy would drop the imaginary part of complex numbers with no more than a warning."""
    made = np.array(given)
    if np.iscomplexobj(made):
        raise ValueError("must be real numbers, not complex ones")
    return made.astype(float)


def histogram(given: Any, variances: Optional[ArrayLike] = None) -> Histogram:
    """A copy of an array, or of an object with values() and variances(): a histogram of boost-histogram, hist
    or uproot. variances: of an array. Raises ValueError."""
    if isinstance(given, Histogram):
        return given
    if callable(getattr(given, "values", None)) and hasattr(given, "axes"):
        if variances is not None:
            raise ValueError("a histogram has its own variances")
        kind = getattr(given, "kind", "COUNT")
        if str(getattr(kind, "value", kind)) != "COUNT":
            raise ValueError("the histogram has means, not counts")
        if hasattr(given, "member"):  # uproot's
            contents, squares = bins_of(given)
            spread = np.maximum(contents, 0) if squares is None else squares
            return _checked(np.array(contents, dtype=float).ravel(), spread, _edges(given.axes))
        return _checked(floats(given.values()).ravel(), given.variances(), _edges(given.axes))
    values = floats(given)
    if values.ndim != 1:
        raise ValueError(f"must have one dimension, not shape {values.shape}")
    return _checked(values, variances, None)


def _checked(values: Floats, variances: Optional[ArrayLike], edges: Optional[Floats]) -> Histogram:
    if not values.size:
        raise ValueError("has no bins")
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"bin {bad} is {values[bad]}")
    if variances is None:
        return Histogram(values, None, edges)
    spread = floats(variances).ravel()
    if spread.shape != values.shape:
        raise ValueError(f"there are {spread.size} variances for {values.size} bins")
    return Histogram(values, spread, edges)


def total(values: Floats) -> float:
    """The sum from the first bin to the last, in this order."""
    return float(np.cumsum(values)[-1])


def normalised(varied: Floats, nominal: Floats) -> tuple[Floats, float]:
    """A variation scaled to the nominal sum, and its own sum over the nominal. Raises ValueError for a sum of
    0."""
    for name, values in (("nominal template", nominal), ("variation", varied)):
        if total(values) == 0.0:
            raise ValueError(f"the {name} sums to 0, so its normalisation and its shape cannot be separated")
    ratio = total(varied) / total(nominal)
    return varied / ratio, ratio


def mirrored(varied: Floats, nominal: Floats) -> Floats:
    """The variation in the other direction, bin by bin."""
    return 2 * nominal - varied
