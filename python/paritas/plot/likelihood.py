"""Profile likelihoods."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ..results import ContourResult, FitResult, ScanResult
from .style import GREY, RED, Axes, Figure, finite_range, legend, panels, plain

#: rise of twice the NLL at 68.3 % and 95.4 %, one parameter and two
ONE_SIGMA, TWO_SIGMA = 1.0, 4.0
TWO_PARAMETERS = (2.30, 5.99)
_BLUE = (0.1, 0.3, 0.6)
_RISE = r"$-2\,\Delta\ln L$"


def _rise(result: ScanResult) -> Any:
    """Twice the NLL above its minimum; NaN if not converged."""
    good = result.status == "converged"
    if not np.any(good):
        raise ValueError(f"of {len(good)} points none converged")
    return np.where(good, result.twice_nll - result.best_twice_nll, np.nan)


def scan(
    result: ScanResult,
    *,
    best: FitResult | None = None,
    minos: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Twice the NLL above its minimum over one parameter. Points that did not converge leave a gap. Crossings
    of levels are points; between them the parts of the intervals are filled.

    best: the fit, for the dashed Gaussian approximation. minos: errors (down, up) by parameter, as lines."""
    if len(result.parameters) != 1:
        raise ValueError(f"a scan over one parameter, not over {len(result.parameters)}: see contours")
    name = result.parameters[0]
    order = np.argsort(result.values[:, 0], kind="stable")
    x, y = result.values[order, 0], _rise(result)[order]
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        (line,) = axes.plot(x, y, color="black", marker="x", zorder=3)
        entries = [(line, "profile likelihood")]
        error = best[name][1] if best is not None else float("nan")
        if np.isfinite(error) and error > 0:
            fine = np.linspace(*finite_range(x), 201)
            rise = ((fine - result.best[0]) / error) ** 2
            (line,) = axes.plot(fine, rise, color=GREY, linestyle="--", zorder=2)
            entries.append((line, "Gaussian approximation"))
        entries += _parts(result, axes, finite_range(x))
        for height, share in ((ONE_SIGMA, "68.3 %"), (TWO_SIGMA, "95.4 %")):
            axes.axhline(height, color=GREY, linestyle=":", zorder=1)
            axes.annotate(
                share,
                (1, height),
                xytext=(-3, 2),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="bottom",
                color=GREY,
                size="small",
            )
        ends = [result.best[0] + offset for offset in (minos or {}).get(name, ()) if np.isfinite(offset)]
        for i, end in enumerate(ends):
            (line,) = axes.plot([end, end], [0, ONE_SIGMA], color=RED, linewidth=1.0, zorder=2)
            entries += [(line, "MINOS errors")] if i == 0 else []
        legend(axes, entries, loc="upper center")
        axes.set_xlim(*finite_range(x))
        axes.set_ylim(0, 1.25 * (1.08 * max(finite_range(y)[1], TWO_SIGMA + 0.5)))  # room for the legend
        axes.set_xlabel(plain(name))
        axes.set_ylabel(_RISE)
    return drawn


def _parts(result: ScanResult, axes: Axes, ends: tuple[float, float]) -> list[tuple[Any, str]]:
    """Fills what is below each level, from one crossing to the next; the ends of the scan count as edges."""
    found, entries = result.crossings, []
    for q in sorted(set(found.q), reverse=True):
        own = found.q == q
        order = np.argsort(found.value[own])
        values, rises = found.value[own][order], found.rises[own][order]
        lower, upper = values[~rises].tolist(), values[rises].tolist()
        if rises[0]:
            lower.insert(0, ends[0])
        if not rises[-1]:
            upper.append(ends[1])
        for left, right in zip(lower, upper):
            axes.fill_between([left, right], 0.0, q, color=(*_BLUE, 0.12), linewidth=0, zorder=0)
        (points,) = axes.plot(values, np.full(len(values), q), "o", color=_BLUE, markersize=4, zorder=4)
        entries = [(points, "crossings")]
    return entries


def contours(
    result: ScanResult | ContourResult,
    *,
    expected: tuple[float, float] | None = None,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Confidence regions of two parameters, with the best fit as a cross. A result of `contour` has its
    regions. A scan shows twice the NLL above its minimum in colours, with contours at 2.30 (68.3 %) and 5.99
    (95 %). It must be a full grid; its points that did not converge are white.

    expected: a point to mark with a star, for example the Standard Model's."""
    if len(result.parameters) != 2:
        raise ValueError(f"a scan over two parameters, not over {len(result.parameters)}")
    draw = _regions if isinstance(result, ContourResult) else _grid
    with panels(ax, figure, (6.0, 4.6), style) as (drawn, (axes, *_)):
        entries = draw(result, drawn, axes)
        for at, text, colour, marker, size in (
            (result.best, "best fit", "black", "P", 9),
            (expected, "expected", RED, "*", 11),
        ):
            if at is not None:
                look: dict[str, Any] = {"color": colour, "markersize": size, "markeredgecolor": "white"}
                entries.append((axes.plot(*at, marker=marker, linestyle="none", **look)[0], text))
        legend(axes, entries, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, borderaxespad=0.4)
        axes.set(xlabel=plain(result.parameters[0]), ylabel=plain(result.parameters[1]))
    return drawn


def _regions(result: Any, drawn: Figure, axes: Axes) -> list[tuple[Any, str]]:
    """All parts, filled, the largest region first. Holes stay empty: their curves turn the other way."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    entries: list[tuple[Any, str]] = []
    curves = {c: parts for c, parts in result.curves().items() if parts}
    if not curves:
        raise ValueError(f"of {len(result.values)} points none converged")
    for confidence in sorted(curves, reverse=True):
        shade = 0.15 + 0.35 * (1 - confidence)
        closed = [Path(np.append(part, part[:1], axis=0), closed=True) for part in curves[confidence]]
        look: dict[str, Any] = {"facecolor": (*_BLUE, shade), "edgecolor": "black"}
        patch = axes.add_patch(PathPatch(Path.make_compound_path(*closed), **look))
        entries.insert(0, (patch, f"{100 * confidence:.3g} %"))
    axes.autoscale_view()
    return entries


def _grid(result: Any, drawn: Figure, axes: Axes) -> list[tuple[Any, str]]:
    x, y = np.unique(result.values[:, 0]), np.unique(result.values[:, 1])
    if len(x) * len(y) != len(result.values) or min(len(x), len(y)) < 2:
        first, second = result.parameters
        counts = f"{len(result.values)} points, {len(x)} values of {first}, {len(y)} of {second}"
        raise ValueError(f"contours need a full grid: {counts}")
    z = np.full((len(y), len(x)), np.nan)
    z[np.searchsorted(y, result.values[:, 1]), np.searchsorted(x, result.values[:, 0])] = _rise(result)
    known = np.ma.masked_invalid(z)
    from matplotlib.lines import Line2D

    most = max(10.0, min(finite_range(z)[1], 25.0))
    colours: dict[str, Any] = {"cmap": "Blues_r", "vmin": 0, "vmax": most}
    image = axes.pcolormesh(x, y, known, **colours, shading="nearest", rasterized=True)
    levels = list(zip(TWO_PARAMETERS, ("-", "--"), ("68.3 %", "95 %")))
    shown = [level for level in levels if np.nanmin(z) < level[0] < np.nanmax(z)]
    if shown:
        heights, kinds, _ = zip(*shown)
        axes.contour(x, y, known, levels=heights, colors="black", linestyles=kinds)
    drawn.colorbar(image, ax=axes, label=_RISE, pad=0.02)
    return [(Line2D([], [], color="black", linestyle=kind), text) for _, kind, text in levels]
