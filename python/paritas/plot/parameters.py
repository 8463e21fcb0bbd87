"""Pulls, impacts and correlations after a fit."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..model import Model
from ..results import FitResult, RankingResult
from .style import (
    BLUE,
    FONT_SIZE,
    GREEN,
    LIGHT_BLUE,
    YELLOW,
    Axes,
    Figure,
    columns_of_names,
    finite_range,
    legend_above,
    panels,
    plain,
    points,
    rows_of_names,
    width_of,
)
from .tables import rounded

_PULL = r"$(\hat{\theta} - \theta_0) / \Delta\theta$"
_AFTER: dict[str, Any] = {"zorder": 1}
_BEFORE: dict[str, Any] = {"zorder": 2, "fill": False, "linewidth": 1.0}
#: field, look, legend
_BARS = (
    ("impact_up", {**_AFTER, "facecolor": BLUE}, r"impact, $\hat{\theta} + \Delta\hat{\theta}$"),
    ("impact_down", {**_AFTER, "facecolor": LIGHT_BLUE}, r"impact, $\hat{\theta} - \Delta\hat{\theta}$"),
    ("prefit_up", {**_BEFORE, "edgecolor": "navy"}, r"before the fit, $\theta_0 + \Delta\theta$"),
    ("prefit_down", {**_BEFORE, "edgecolor": "teal"}, r"before the fit, $\theta_0 - \Delta\theta$"),
)


def pulled(fit: FitResult, model: Model) -> tuple[list[str], list[str]]:
    """Free parameters in the model's order: with a pull (constrained scalars), and by value (unconstrained,
    or of a set of bins)."""
    states = fit.states or ["free"] * len(fit.names)
    pulls: list[str] = []
    values: list[str] = []
    for name, state, width in zip(fit.names, states, model.constraint_widths):
        if state != "fixed":
            (pulls if width > 0 and not name.endswith("]") else values).append(name)
    return pulls, values


def pulls(
    fit: FitResult,
    model: Model,
    *,
    parameters: Sequence[str] | None = None,
    top: int | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Pulls (fitted - nominal) / prefit error of constrained parameters with postfit errors; below, values of
    unconstrained parameters and bin factors (prefit errors in grey). Nominal is the auxiliary measurement, or
    the start of a parameter without one. Fixed parameters are omitted.

    parameters: only these, in order. top: this many of each kind, the farthest from nominal: pulls in prefit
        errors, values as they are. ax: a pair of axes, or one if there is one kind."""
    constrained, others = pulled(fit, model)
    if parameters is not None:
        for name in parameters:
            model.index(name)
        constrained, others = (
            [name for name in parameters if name in kind] for kind in (constrained, others)
        )
    nominal, width = model.constraint_centres, np.asarray(model.constraint_widths)
    nominal = np.where(np.isnan(nominal), model.suggested_init, nominal)
    errors = np.full(len(fit.values), np.nan) if fit.errors is None else np.asarray(fit.errors)
    if top is not None:
        moved = np.abs(fit.values - nominal)
        far = dict(zip(fit.names, moved / width))
        constrained = sorted(constrained, key=lambda name: -far[name])[:top]
        far = dict(zip(fit.names, moved))
        others = sorted(others, key=lambda name: -far[name])[:top]
    kinds = [(names, draw) for names, draw in ((constrained, _pulls), (others, _values)) if names]
    if not kinds:
        raise ValueError("there is no parameter to show: all are fixed, or none was named")
    shown = [*constrained, *others]
    size = (3.6 + width_of(shown), (1.0 if len(kinds) == 1 else 1.6) + len(shown) / 4)
    heights = [len(names) + 1 for names, _ in kinds]
    with panels(ax, figure, size, style, heights, share=False) as (drawn, given):
        for axes, (names, draw) in zip(given, kinds):
            at = [model.index(name) for name in names]
            draw(axes, rows_of_names(axes, names), fit.values[at], errors[at], nominal[at], width[at])
    return drawn


def _pulls(axes: Axes, y: Any, values: Any, errors: Any, nominal: Any, width: Any) -> None:
    x, spread = (values - nominal) / width, np.nan_to_num(errors / width)
    axes.axvspan(-2, 2, facecolor=YELLOW, zorder=0)
    axes.axvspan(-1, 1, facecolor=GREEN, zorder=0)
    axes.axvline(0, color="black", linestyle=":", linewidth=0.9, zorder=1)
    points(axes, x, y, xerr=spread, zorder=3)
    low, high = finite_range(x - spread, x + spread)
    axes.set(xlim=(min(-3.0, low - 0.2), max(3.0, high + 0.2)), xlabel=_PULL)


def _values(axes: Axes, y: Any, values: Any, errors: Any, nominal: Any, width: Any) -> None:
    spread, prefit = np.nan_to_num(errors), np.nan_to_num(width)
    axes.barh(y, 2 * prefit, left=nominal - prefit, height=0.7, facecolor="0.85", zorder=0)
    axes.axvline(1, color="black", linestyle=":", linewidth=0.9, zorder=1)
    points(axes, values, y, xerr=spread, zorder=3)
    low, high = finite_range(values - spread, values + spread, nominal - prefit, nominal + prefit, [1.0])
    room = 0.06 * (high - low) or 0.1
    axes.set(xlim=(low - room, high + room), xlabel=r"$\hat{\theta}$ (grey: before the fit)")


def ranking(
    result: RankingResult,
    *,
    top: int | None = 20,
    first: int = 0,
    best: FitResult | None = None,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Impacts on the parameter of interest (bars, upper axis; open bars: from prefit errors) and pulls
    (points, lower axis), the largest impact on top.

    top, first: this many parameters, from this rank (0: the largest). best: a fit, to write its parameter of
        interest below."""
    part = slice(first, None if top is None else first + top)
    names = result.names[part]
    if not names:
        raise ValueError(f"ranks from {first} on: there are {len(result)}")
    bars = [(np.asarray(getattr(result, field))[part], look, text) for field, look, text in _BARS]
    with panels(ax, figure, (5.0 + width_of(names), 2.5 + 0.45 * len(names)), style) as (drawn, (axes, *_)):
        over = axes.twiny()
        axes.set_zorder(over.get_zorder() + 1)
        axes.patch.set_visible(False)
        y = rows_of_names(axes, names)
        entries: list[tuple[Any, str]] = [
            (over.barh(y, values, height=0.75, **look), text) for values, look, text in bars
        ]
        _, high = finite_range(*(np.abs(values) for values, _, _ in bars))
        reach = 1.1 * high if high > 0 else 1.0
        over.set(xlim=(-reach, reach), xlabel=rf"$\Delta$ {plain(result.poi)}")
        over.tick_params(axis="x", which="both", direction="in")
        over.tick_params(axis="y", which="both", length=0)
        for at in (-1, 1):
            axes.axvline(at, color="black", linestyle="--", linewidth=0.8)
        pull, spread = np.asarray(result.pull)[part], np.nan_to_num(np.asarray(result.constraint)[part])
        entries.append((points(axes, pull, y, xerr=spread, zorder=4), "pull"))
        low, high = finite_range(pull - spread, pull + spread, [-2.0, 2.0])
        far = max(-low, high)
        far += 0.1 if far > 2.0 else 0.0
        axes.set_xlim(-far, far)
        below = _PULL
        if best is not None:
            value, error = rounded(*best[result.poi])
            below += f"\n{plain(result.poi)} = {value}" + (rf" $\pm$ {error}" if error else "")
        axes.set_xlabel(below)
        legend_above(axes, entries, 3, gap=4.0)
    return drawn


def correlation(
    fit: FitResult,
    *,
    threshold: float = 0.0,
    top: int | None = None,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Correlations of free parameters. threshold: show those with a correlation of this size or more. top:
    show this many, the most correlated."""
    matrix = fit.correlation
    if matrix is None:
        raise ValueError("the fit has no covariance")
    free = np.flatnonzero(np.diagonal(matrix) > 0)
    largest = np.abs(matrix - np.diag(np.diagonal(matrix)))[np.ix_(free, free)].max(axis=1, initial=0.0)
    kept = np.flatnonzero(largest >= threshold)
    if top is not None:
        kept = np.sort(kept[np.argsort(-largest[kept], kind="stable")[:top]])
    if len(kept) < 2:
        raise ValueError(f"no two free parameters are correlated by {threshold:g} or more")
    kept = free[kept]
    names, matrix = [fit.names[i] for i in kept], matrix[np.ix_(kept, kept)]
    side, margin = len(names) / 2.4, width_of(names)
    size = (2.0 + margin + side, 1.0 + 0.75 * margin + side)
    with panels(ax, figure, size, style) as (drawn, (axes, *_)):
        axes.minorticks_off()
        # else the layout clips long names
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu", aspect="auto")
        columns_of_names(axes, names)
        axes.set_yticks(range(len(names)), [plain(name) for name in names])
        for (i, j), value in np.ndenumerate(matrix):
            text = f"{value if abs(value) >= 0.005 else 0.0:.2f}"
            colour = "white" if abs(value) > 0.75 else "black"
            axes.text(j, i, text, ha="center", va="center", size=0.72 * FONT_SIZE, color=colour)
        bar = drawn.colorbar(image, ax=axes, fraction=0.046, pad=0.02)
        bar.ax.minorticks_off()
    axes.tick_params(which="both", length=0)
    return drawn
