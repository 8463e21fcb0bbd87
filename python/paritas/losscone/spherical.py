"""Spherical harmonics of U over the Moon, with their covariance.

Functions are real and 4 pi-normalised, without the Condon-Shortley phase, as geodesy has them (IERS
Conventions 2010, ch. 6): the mean of Y_lm^2 over the sphere is 1. A coefficient is in V, and the sum of
the squares of a degree is its part of the mean square of U. Coefficient number l^2 + l + m belongs to
degree l and order m: above 0 to cos(m longitude), below 0 to sin(|m| longitude). A coefficient of
orthonormal functions is larger by sqrt(4 pi), one with the Condon-Shortley phase has the factor (-1)^m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine
from ..arrays import Floats, Summarised, Table, numbers, structured, whole
from .averages import ORBIT, blocks_of
from .geography import EqualAreaGrid, latitudes
from .products import TERMINATOR, SurfaceMap, lit, places_of
from .selection import Source, select

#: a larger degree has too large a covariance
LARGEST = 40
#: without a ridge, the largest condition number of the normal equations
CONDITION = 1000.0
#: blocks of time for each coefficient that the data determine
BLOCKS = 2
FRAMES, WEIGHTS = ("moon", "sun"), ("equal", "area")
#: sweeps whose functions are in memory at a time, unless one block has more
_CHUNK = 8192
#: a block that alone decides a coefficient leaves no residual there
_ALONE = 1e-9
#: points along a side of a cell, whose mean is the cell's
_SIDE = 4

Design = Callable[[NDArray[np.int64]], Floats]


def degrees_of(lmax: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Degree and order of each coefficient; ((lmax + 1)^2,) each."""
    degree = np.repeat(np.arange(lmax + 1), 2 * np.arange(lmax + 1) + 1)
    return degree, np.arange(len(degree)) - degree**2 - degree


def spherical_functions(longitude: ArrayLike, latitude: ArrayLike, lmax: int) -> Floats:
    """Y_lm at n places; (n, (lmax + 1)^2), without a unit.

    longitude, latitude: (n,), degrees. lmax: largest degree, 0 to 40.

    Source: recursions of Holmes and Featherstone, J. Geodesy 76 (2002) 279, eqs. 11 to 13."""
    top = _degree(lmax)
    east, north = np.radians(numbers(longitude)), np.radians(latitudes(latitude))
    sine, cosine = np.sin(north), np.cos(north)
    found = np.empty((len(east), (top + 1) ** 2))
    sectoral = np.ones(len(east))
    for m in range(top + 1):
        if m:
            sectoral = sectoral * cosine * (np.sqrt(3.0) if m == 1 else np.sqrt((2 * m + 1) / (2 * m)))
        before, now = np.zeros(len(east)), sectoral
        for degree in range(m, top + 1):
            if degree > m:
                odd, both = 2 * degree + 1, (degree - m) * (degree + m)
                a = np.sqrt(odd * (2 * degree - 1) / both)
                b = (
                    np.sqrt(odd * (degree + m - 1) * (degree - m - 1) / ((2 * degree - 3) * both))
                    if degree > 1
                    else 0
                )
                before, now = now, a * sine * now - b * before
            at = degree * degree + degree
            found[:, at + m] = now * np.cos(m * east)
            if m:
                found[:, at - m] = now * np.sin(m * east)
    return found


def _degree(lmax: int) -> int:
    if whole(lmax, "lmax") > LARGEST:
        raise _engine.InvalidArgument(f"lmax {lmax}: a degree from 0 to {LARGEST} is wanted")
    return int(lmax)


@dataclass(repr=False)
class SphericalHarmonics(Summarised):
    """U as a sum of spherical harmonics.

    table: a row for each coefficient: degree, order, coefficient (V), error (V), resolution (1 if the
        data alone decide, 0 if the ridge does). covariance: V^2, (K, K) with K = (lmax + 1)^2. condition:
        of the normal equations without ridge. ridge: its strength, 0 if there is none. covered: which
        cells of `cells_of(lmax)`, half a wavelength wide, have a used sweep. sweeps, blocks: how many are
        behind it. explained: part of the weighted variance. deviation: of one sweep from the sum, V.
        illumination, frame, at, response, good: as asked ("" of `spherical_fit`)."""

    lmax: int
    table: Table
    covariance: Floats
    condition: float
    ridge: float
    covered: NDArray[np.bool_]
    sweeps: int
    blocks: int
    explained: float
    deviation: float
    illumination: str = ""
    frame: str = "moon"
    at: str = ""
    response: str = ""
    good: bool = True

    @property
    def coverage(self) -> float:
        """Part of the sphere in cells with a used sweep."""
        return float(self.covered.mean())

    def field(self, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Floats, Floats]:
        """U and its standard error at n places; V, (n,) each. longitude, latitude: (n,), degrees; in the
        frame of the Sun longitude is the hour angle after noon."""
        functions = spherical_functions(longitude, latitude, self.lmax)
        variance = np.einsum("ij,jk,ik->i", functions, self.covariance, functions, optimize=True)
        return functions @ self.table["coefficient"], np.sqrt(np.maximum(variance, 0.0))

    def power(self) -> Table:
        """The power spectrum, a row for each degree: degree, power (sum of squares, V^2), noise (what the
        errors alone add to it on average, V^2), error (standard, of the power, V^2), resolution (mean).

        The error is that of a quadratic form of normal variables with this covariance."""
        degree, rows = self.table["degree"], []
        for k in range(self.lmax + 1):
            there = np.flatnonzero(degree == k)
            a, c = self.table["coefficient"][there], self.covariance[np.ix_(there, there)]
            own = 2.0 * float(np.sum(c * c))
            error = np.sqrt(own + max(4.0 * float(a @ c @ a) - 2.0 * own, 0.0))
            rows.append((a @ a, np.trace(c), error, self.table["resolution"][there].mean()))
        columns = np.array(rows).T
        names = ("power", "noise", "error", "resolution")
        return structured({"degree": np.arange(self.lmax + 1), **dict(zip(names, columns))})


def degree_correlation(one: SphericalHarmonics, other: SphericalHarmonics) -> Table:
    """What two expansions have in common, a row for each degree: degree, cross_power (sum over the orders of
    the products of their coefficients, V^2), correlation (-1 to 1), spread (standard deviation of the
    correlation of independent fields, 1 / sqrt(2 l + 1)).

    Expansions of different times share the Moon, not the noise: errors do not add to the cross power."""
    if one.lmax != other.lmax:
        raise _engine.InvalidArgument(f"lmax {one.lmax} and {other.lmax}: they must be equal")
    degree = np.arange(one.lmax + 1)
    first, a, b = degree**2, one.table["coefficient"], other.table["coefficient"]
    cross, left, right = (np.add.reduceat(x * y, first) for x, y in ((a, b), (a, a), (b, b)))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = cross / np.sqrt(left * right)
    spread = 1.0 / np.sqrt(2.0 * degree + 1.0)
    columns = {"degree": degree, "cross_power": cross, "correlation": correlation, "spread": spread}
    return structured(columns)


def spherical_fit(
    longitude: ArrayLike,
    latitude: ArrayLike,
    values: ArrayLike,
    *,
    lmax: int = 10,
    weights: ArrayLike | None = None,
    block: ArrayLike | None = None,
    ridge: float = 0.0,
) -> SphericalHarmonics:
    """Weighted least squares of values = sum over l, m of coefficient_lm Y_lm.

    longitude, latitude: (n,), degrees. values: (n,), V. weights: (n,), above 0; None: equal. block: (n,),
        whole numbers; values of one block may depend on each other. None: all are independent. ridge: 0, or
        the strength of a ridge: ridge (sum of weights) l (l + 1) / (lmax (lmax + 1)) is added to the
        diagonal of the normal equations. It pulls degree lmax to 1 / (1 + ridge) where places are even, and
        leaves the mean.
    The covariance is cluster-robust, from the residuals of whole blocks. Each block's residuals are first
        freed of what the block itself pulled out of them (the correction CR2: Bell and McCaffrey, Survey
        Methodology 28 (2002) 169). It has no part for what the ridge takes away.
    Raises InvalidInput without a ridge if the condition number is above 1000, and always if there are
        fewer than two blocks for each coefficient that the data determine (the sum of `resolution`)."""
    lon, lat, y = numbers(longitude), latitudes(latitude), numbers(values)
    w = np.ones(len(y)) if weights is None else numbers(weights)
    of = np.arange(len(y)) if block is None else np.asarray(block, dtype=np.int64)
    if not len(lon) == len(lat) == len(y) == len(w) == len(of):
        raise _engine.InvalidArgument("longitude, latitude, values, weights and block: lengths must be equal")
    known = np.isfinite(lon) & np.isfinite(lat) & np.isfinite(y)
    if not (np.isfinite(w[known]) & (w[known] > 0.0)).all():
        raise _engine.InvalidArgument("weights: all must be finite and above 0")
    top = _degree(lmax)
    lon, lat, y, w = (one[known] for one in (lon, lat, y, w))

    def design(rows: NDArray[np.int64]) -> Floats:
        return spherical_functions(lon[rows], lat[rows], top)

    return _solve(design, y, w, of[known], top, ridge, _covered(lon, lat, top))


def cells_of(lmax: int) -> EqualAreaGrid:
    """Cells of half a wavelength of the largest degree."""
    return EqualAreaGrid.of(min(90.0, 180.0 / max(lmax, 1)))


def _covered(longitude: Floats, latitude: Floats, lmax: int) -> NDArray[np.bool_]:
    grid = cells_of(lmax)
    return np.asarray(np.bincount(grid.cell(longitude, latitude), minlength=len(grid)) > 0)


def _groups(block: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Whole blocks together, up to a chunk: their rows, and where blocks begin among these (and the end).
    `block` is numbered from 0 without gaps."""
    order, ends = np.argsort(block, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(block))])
    first = 0
    while first < len(ends) - 1:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _CHUNK, side="right")) - 1)
        yield order[ends[first] : ends[last]], ends[first : last + 1] - ends[first]
        first = last


def _solve(
    design: Design, y: Floats, w: Floats, block: NDArray[np.int64], lmax: int, ridge: float, covered: Any
) -> SphericalHarmonics:
    if not 0.0 <= ridge < np.inf:
        raise _engine.InvalidArgument(f"ridge {ridge!r}: a strength from 0 is wanted")
    degree, order = degrees_of(lmax)
    normal, right = _normal_equations(design, y, w, len(degree))
    values, condition = np.linalg.eigvalsh(normal), np.inf
    if values[0] > 0.0:
        condition = float(values[-1] / values[0])
    _refuse(condition > CONDITION and ridge == 0.0, lmax, condition, covered)
    damped = normal + np.diag(ridge * w.sum() * degree * (degree + 1) / max(1, lmax * (lmax + 1)))
    values, vectors = np.linalg.eigh(damped)
    _refuse(not values[0] > 1e-12 * values[-1], lmax, condition, covered)
    white = vectors / np.sqrt(values)
    found = white @ (white.T @ right)
    resolution = np.einsum("ij,jk,ki->i", white, white.T, normal, optimize=True)
    names, of = np.unique(block, return_inverse=True)
    _need_blocks(len(names), float(resolution.sum()), lmax)
    spread, squares = _spread(design, y, w, of.reshape(-1), found, white)
    covariance = white @ spread @ white.T
    whole_variance = float(w @ (y - np.average(y, weights=w)) ** 2)
    columns = {"degree": degree, "order": order, "coefficient": found}
    columns.update(error=np.sqrt(np.diag(covariance)), resolution=resolution)
    return SphericalHarmonics(
        lmax=lmax,
        table=structured(columns),
        covariance=covariance,
        condition=condition,
        ridge=float(ridge),
        covered=covered,
        sweeps=len(y),
        blocks=len(names),
        explained=1.0 - squares / whole_variance if whole_variance > 0.0 else 1.0,
        deviation=float(np.sqrt(squares / w.sum())),
    )


def _normal_equations(design: Design, y: Floats, w: Floats, n: int) -> tuple[Floats, Floats]:
    """A^T W A and A^T W y of n functions."""
    root, normal, right = np.sqrt(w), np.zeros((n, n)), np.zeros(n)
    for first in range(0, len(y), _CHUNK):
        rows = np.arange(first, min(first + _CHUNK, len(y)))
        some = design(rows) * root[rows, None]
        normal += some.T @ some
        right += some.T @ (root[rows] * y[rows])
    return normal, right


def _spread(
    design: Design, y: Floats, w: Floats, block: NDArray[np.int64], found: Floats, white: Floats
) -> tuple[Floats, float]:
    """Sum over blocks of their score times itself, in white coordinates; the weighted sum of squares."""
    root, spread, squares = np.sqrt(w), np.zeros((len(found), len(found))), 0.0
    for rows, starts in _groups(block):
        some = design(rows) * root[rows, None]
        residual = root[rows] * y[rows] - some @ found
        squares += float(residual @ residual)
        scores = _scores(some @ white, residual, starts)
        spread += scores.T @ scores
    return spread, squares


def _need_blocks(blocks: int, determined: float, lmax: int) -> None:
    needed = int(np.ceil(BLOCKS * determined - 1e-6))
    if blocks < needed:
        raise _engine.InvalidInput(
            f"the data determine {determined:.0f} of {(lmax + 1) ** 2} coefficients up to degree {lmax}, "
            f"which needs {needed} blocks of time, not {blocks}: take a smaller "
            "lmax, or a ridge"
        )


def _refuse(bad: bool, lmax: int, condition: float, covered: Any) -> None:
    if bad:
        raise _engine.InvalidInput(
            f"the condition number up to degree {lmax} is {condition:.2g} (at most {CONDITION:g} without a "
            f"ridge), with sweeps in {100.0 * covered.mean():.0f} % of its cells: take a smaller lmax, or a "
            "ridge"
        )


def _scores(white: Floats, residual: Floats, starts: NDArray[np.int64]) -> Floats:
    """What each block adds to the normal equations, freed of its own pull; (blocks, K)."""
    if len(starts) == len(white) + 1:  # each sweep is a block
        left = np.maximum(1.0 - np.einsum("ij,ij->i", white, white), _ALONE)
        return white * np.where(left > _ALONE, residual / np.sqrt(left), 0.0)[:, None]
    return np.array([_score(white[a:b], residual[a:b]) for a, b in zip(starts, starts[1:])])


def _score(white: Floats, residual: Floats) -> Floats:
    """white^T (1 - white white^T)^(-1/2) residual, by the smaller of the two matrices."""
    tall = len(white) > white.shape[1]
    values, vectors = np.linalg.eigh(white.T @ white if tall else white @ white.T)
    left = np.maximum(1.0 - values, _ALONE)
    factor = np.where(left > _ALONE, 1.0 / np.sqrt(left), 0.0)
    if tall:
        return np.asarray(vectors @ (factor * (vectors.T @ (white.T @ residual))))
    return np.asarray(white.T @ (vectors @ (factor * (vectors.T @ residual))))


def spherical_harmonics(
    source: Union[Source, SurfaceMap],
    *,
    lmax: int = 10,
    illumination: str = "all",
    frame: str = "moon",
    weights: str = "equal",
    ridge: float = 0.0,
    at: str = "projection",
    terminator: float = TERMINATOR,
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> SphericalHarmonics:
    """Spherical harmonics of U up to degree lmax, of sweeps or of the cells of a map.

    source: as in `select`, or a `SurfaceMap`. lmax: 0 to 40; K = (lmax + 1)^2 coefficients. illumination:
        "all", or "day", "terminator" or "night" alone. frame: "moon" (selenographic longitude) or "sun"
        (longitude is the hour angle after noon, 0 below the Sun). weights: "equal", or "area": cells of
        half a wavelength count alike, although a polar orbit sees the poles more often. ridge: as in
        `spherical_fit`. block: hours whose sweeps count as one measurement. at, terminator, response, good:
        as in `surface_map`.
    Cells of a map have their mean as value, their blocks as weight, and the mean of Y_lm over the cell.
        They count as independent, although an orbit sees many: their errors are too small. The map decides
        frame, weights, at, terminator, response, good and block.
    Raises InvalidInput if there are no positions, or if the sweeps do not determine the coefficients."""
    if frame not in FRAMES or weights not in WEIGHTS:
        raise _engine.InvalidArgument(
            f"frame {frame!r}, weights {weights!r}: there are {', '.join(FRAMES)} and {', '.join(WEIGHTS)}"
        )
    if isinstance(source, SurfaceMap):
        found = _of_cells(source, lmax, illumination, ridge)
        at, response, good, frame = source.at, source.response, source.good, "moon"
    else:
        chosen = select(source, response=response, good=good)
        places, response = places_of(chosen, at), chosen.response
        parts = lit(places.angle, terminator)
        _check(illumination, parts)
        longitude = places.longitude if frame == "moon" else places.hour
        used = chosen.used & parts[illumination] & np.isfinite(longitude) & np.isfinite(places.latitude)
        place = longitude[used], places.latitude[used]
        found = spherical_fit(
            *place,
            chosen.potential[used],
            lmax=lmax,
            weights=_by_area(*place, lmax) if weights == "area" else None,
            block=blocks_of(chosen.time[used], block),
            ridge=ridge,
        )
    found.illumination, found.frame, found.at = illumination, frame, at
    found.response, found.good = str(response), good
    return found


def _check(illumination: str, parts: dict[str, NDArray[np.bool_]] | dict[str, Table]) -> None:
    if illumination not in parts:
        raise _engine.InvalidArgument(f"illumination {illumination!r}: there are {', '.join(parts)}")


def _by_area(longitude: Floats, latitude: Floats, lmax: int) -> Floats:
    """One over the sweeps of the cell."""
    grid = cells_of(_degree(lmax))
    cell = grid.cell(longitude, latitude)
    return np.asarray(1.0 / np.bincount(cell, minlength=len(grid))[cell])


def _of_cells(source: SurfaceMap, lmax: int, illumination: str, ridge: float) -> SphericalHarmonics:
    _check(illumination, source.parts)
    top, table = _degree(lmax), source[illumination]
    table = table[table["count"] > 0]
    step = (np.arange(_SIDE) + 0.5) / _SIDE
    east = table["west"][:, None] + (table["east"] - table["west"])[:, None] * step
    low, high = (np.sin(np.radians(table[side])) for side in ("south", "north"))
    north = np.degrees(np.arcsin(low[:, None] + (high - low)[:, None] * step))

    def design(rows: NDArray[np.int64]) -> Floats:
        lon, lat = np.repeat(east[rows], _SIDE, axis=1), np.tile(north[rows], (1, _SIDE))
        each = spherical_functions(lon.ravel(), lat.ravel(), top)
        return np.asarray(each.reshape(len(rows), _SIDE * _SIDE, -1).mean(axis=1))

    places = table["longitude"], table["latitude"]
    weights = table["blocks"].astype(np.float64)
    return _solve(design, table["mean"], weights, np.arange(len(table)), top, ridge, _covered(*places, top))
