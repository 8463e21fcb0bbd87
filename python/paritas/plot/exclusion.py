"""Which signal points of a patch set are excluded, in the plane of two of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ..keywords import default
from ..results import LimitResult
from .style import BLUE, GREY, RED, Axes, Figure, finite_range, legend, panels, plain

if TYPE_CHECKING:
    from ..dask import Outcome

# -1 sigma, median, +1 sigma, observed
_CURVES = (
    (2, GREY, ":", r"expected $\pm 1\sigma$"),
    (4, GREY, ":", None),
    (3, BLUE, "--", "expected"),
    (0, RED, "-", "observed"),
)


def _distances(result: Any, level: float) -> list[float]:
    """Observed, then expected; below 0 the point is excluded: the logarithm of CLs over its level, or of the
    limit on mu."""
    limit = isinstance(result, LimitResult)
    found = [result.limit_obs, *result.limit_exp] if limit else [result.CLs_obs, *result.CLs_exp]
    with np.errstate(divide="ignore"):
        return [float(one) for one in np.log(np.maximum(found, 1e-300)) - (0.0 if limit else np.log(level))]


def _triangles(x: Any, y: Any) -> Any:
    """None if all points are on a line."""
    from matplotlib.tri import Triangulation

    try:
        return Triangulation(x, y)
    except (RuntimeError, ValueError):
        return None


def _padded(values: Any) -> tuple[float, float]:
    low, high = finite_range(values)
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


def _check_apart(points: Mapping[str, tuple[float, float]]) -> None:
    names: dict[tuple[float, float], str] = {}
    for name, at in points.items():
        if at in names:
            raise ValueError(
                f"{names[at]!r} and {name!r} are both at {at}: give the points of one plane, or other x and y"
            )
        names[at] = name


def exclusion(
    points: Mapping[str, Outcome],
    *,
    x: int = 0,
    y: int = 1,
    level: float | None = None,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Signal points of a patch set, as filled circles if they are excluded, with the observed and expected
    contours. Points without a converged result are left out.

    points: answer of `paritas.dask.scan_patchset` with "hypotest" or "upper_limit". CLs below the level
        excludes a point, and so does a limit below mu = 1. x, y: which of the values of a patch are the axes.
        level: of CLs (default: 0.05).

    On a contour CLs equals the level, or the limit 1. Its logarithm is interpolated linearly on Delaunay
    triangles."""
    if level is None:
        level = default("paritas_limit_request", "level")
    good = {name: point for name, point in points.items() if point.error is None and point.converged}
    if not good:
        raise ValueError(f"of {len(points)} points none converged")
    places = {name: (float(point.labels[x]), float(point.labels[y])) for name, point in good.items()}
    _check_apart(places)
    at = np.array(list(places.values()))
    distances = np.array([_distances(point.value, level) for point in good.values()])
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        from matplotlib.lines import Line2D

        entries: list[tuple[Any, str]] = []
        triangles = _triangles(at[:, 0], at[:, 1])
        for column, colour, line, text in _CURVES:
            values = distances[:, column]
            if triangles is None or not np.min(values) < 0.0 < np.max(values):
                continue
            axes.tricontour(triangles, values, levels=[0.0], colors=[colour], linestyles=[line])
            if text:
                entries.append((Line2D([], [], color=colour, linestyle=line), text))
        excluded = distances[:, 0] < 0.0
        for which, fill, text in ((excluded, "black", "excluded"), (~excluded, "white", "not excluded")):
            if np.any(which):
                (marks,) = axes.plot(*at[which].T, "o", color="black", markerfacecolor=fill, zorder=4)
                entries.append((marks, text))
        legend(axes, entries[::-1], loc="best")
        axes.set(xlim=_padded(at[:, 0]), ylim=_padded(at[:, 1]))
        axes.set(xlabel=plain(xlabel) if xlabel else "", ylabel=plain(ylabel) if ylabel else "")
    return drawn
