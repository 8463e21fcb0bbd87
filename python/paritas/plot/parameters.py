"""Parameters after a fit: pulls, impacts, correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from ..model import Model
from ..results import FitResult, RankingResult
from .style import (
    BLUE,
    FONT_SIZE,
    GREEN,
    LIGHT_BLUE,
    YELLOW,
    finite_range,
    legend_above,
    panels,
    plain,
    rows_of_names,
    width_of,
)
from .tables import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def pulled(fit: FitResult, model: Model) -> tuple[list[str], list[str]]:
    """Parameters that are not fixed, in the model's order: those with a pull (constrained scalars), and those
    shown by value (without constraint, or one of a set of bins)."""
    states = fit.states or ["free"] * len(fit.names)
    pulls: list[str] = []
    values: list[str] = []
    for i, name in enumerate(fit.names):
        if states[i] != "fixed":
            (pulls if model.constraint_widths[i] > 0 and not name.endswith("]") else values).append(name)
    return pulls, values


def pulls(
    fit: FitResult,
    model: Model,
    *,
    parameters: Optional[Sequence[str]] = None,
    top: Optional[int] = None,
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Pulls (fitted - nominal) / prefit error of constrained parameters with their postfit errors; below, on
    an axis of their own, values of parameters without constraint and of bins' factors (prefit errors in
    grey). Nominal is where the model's auxiliary data pull a parameter, else its start. Fixed parameters are
    left out.

    parameters: these only, in this order. top: those farthest from their nominal values, in units of the
        prefit error. ax: one pair of axes, or one where there is one kind.
    """
    constrained, others = pulled(fit, model)
    if parameters is not None:
        shown = list(parameters)
        for name in shown:
            model.index(name)
        constrained, others = (
            [name for name in shown if name in set(constrained)],
            [name for name in shown if name in set(others)],
        )
    at = {name: model.index(name) for name in (*constrained, *others)}
    nominal, width = (
        np.where(np.isnan(model.constraint_centres), model.suggested_init, model.constraint_centres),
        np.asarray(model.constraint_widths),
    )
    errors = np.full(len(fit.values), np.nan) if fit.errors is None else np.asarray(fit.errors)
    if top is not None:
        constrained = sorted(
            constrained, key=lambda name: -abs(fit.values[at[name]] - nominal[at[name]]) / width[at[name]]
        )[:top]
        others = sorted(others, key=lambda name: -abs(fit.values[at[name]] - nominal[at[name]]))[:top]
    kinds = [names for names in (constrained, others) if names]
    if not kinds:
        raise ValueError("there is no parameter to show: all are fixed, or none was named")
    count = sum(map(len, kinds))
    size = (
        3.6 + width_of([name for names in kinds for name in names]),
        (1.0 if len(kinds) == 1 else 1.6) + count / 4,
    )
    with panels(ax, figure, size, style, [len(names) + 1 for names in kinds], share=False) as (drawn, given):
        if constrained:
            _pulls(
                given[0], constrained, [at[name] for name in constrained], fit.values, errors, nominal, width
            )
        if others and len(given) > len(kinds) - 1:
            _values(
                given[len(kinds) - 1],
                others,
                [at[name] for name in others],
                fit.values,
                errors,
                nominal,
                width,
            )
    return drawn


def _pulls(
    axes: "Axes", names: Sequence[str], at: list[int], values: Any, errors: Any, nominal: Any, width: Any
) -> None:
    y = -np.arange(len(names), dtype=np.float64)
    x, spread = (values[at] - nominal[at]) / width[at], errors[at] / width[at]
    axes.axvspan(-2, 2, facecolor=YELLOW, zorder=0)
    axes.axvspan(-1, 1, facecolor=GREEN, zorder=0)
    axes.axvline(0, color="black", linestyle=":", linewidth=0.9, zorder=1)
    axes.errorbar(x, y, xerr=np.nan_to_num(spread), fmt="o", color="black", zorder=3)
    rows_of_names(axes, names)
    low, high = finite_range(x - np.nan_to_num(spread), x + np.nan_to_num(spread))
    axes.set_xlim(min(-3.0, low - 0.2), max(3.0, high + 0.2))
    axes.set_xlabel(r"$(\hat{\theta} - \theta_0) / \Delta\theta$")


def _values(
    axes: "Axes", names: Sequence[str], at: list[int], values: Any, errors: Any, nominal: Any, width: Any
) -> None:
    y = -np.arange(len(names), dtype=np.float64)
    x, spread, prefit = values[at], np.nan_to_num(errors[at]), np.nan_to_num(width[at])
    axes.barh(y, 2 * prefit, left=nominal[at] - prefit, height=0.7, facecolor="0.85", zorder=0)
    axes.axvline(1, color="black", linestyle=":", linewidth=0.9, zorder=1)
    axes.errorbar(x, y, xerr=spread, fmt="o", color="black", zorder=3)
    rows_of_names(axes, names)
    low, high = finite_range(x - spread, x + spread, nominal[at] - prefit, nominal[at] + prefit, [1.0])
    room = 0.06 * (high - low) or 0.1
    axes.set_xlim(low - room, high + room)
    axes.set_xlabel(r"$\hat{\theta}$ (grey: before the fit)")


def ranking(
    result: RankingResult,
    *,
    top: Optional[int] = 20,
    first: int = 0,
    best: Optional[FitResult] = None,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Impacts on the parameter of interest (bars, upper axis; open: of the prefit errors) and pulls (points,
    lower axis), largest impact on top.

    top, first: so many parameters, from this rank on (0: the largest). best: the fit, whose value and error
        of the parameter of interest are then written below.
    """
    part = slice(first, None if top is None else first + top)
    names = result.names[part]
    if not names:
        raise ValueError(f"ranks from {first} on: there are {len(result)}")
    y = -np.arange(len(names), dtype=np.float64)
    impacts = [
        np.asarray(array)[part]
        for array in (result.impact_up, result.impact_down, result.prefit_up, result.prefit_down)
    ]
    up, down, prefit_up, prefit_down = impacts
    with panels(ax, figure, (5.0 + width_of(names), 2.5 + 0.45 * len(names)), style) as (drawn, (axes, *_)):
        over = axes.twiny()
        axes.set_zorder(over.get_zorder() + 1)
        axes.patch.set_visible(False)
        bars = [
            over.barh(y, values, height=0.75, facecolor=colour, zorder=1)
            for values, colour in ((up, BLUE), (down, LIGHT_BLUE))
        ]
        bars += [
            over.barh(y, values, height=0.75, fill=False, edgecolor=colour, linewidth=1.0, zorder=2)
            for values, colour in ((prefit_up, "navy"), (prefit_down, "teal"))
        ]
        low, high = finite_range(np.abs(impacts[0]), *map(np.abs, impacts[1:]))
        reach = 1.1 * high if high > 0 else 1.0
        over.set_xlim(-reach, reach)
        over.set_xlabel(rf"$\Delta$ {plain(result.poi)}")
        over.tick_params(axis="x", which="both", direction="in")
        over.tick_params(axis="y", which="both", length=0)
        pull, constraint = np.asarray(result.pull)[part], np.asarray(result.constraint)[part]
        for at in (-1, 1):
            axes.axvline(at, color="black", linestyle="--", linewidth=0.8)
        points = axes.errorbar(pull, y, xerr=np.nan_to_num(constraint), fmt="o", color="black", zorder=4)
        rows_of_names(axes, names)
        low, high = finite_range(
            pull - np.nan_to_num(constraint), pull + np.nan_to_num(constraint), [-2.0, 2.0]
        )
        far = max(-low, high)
        axes.set_xlim(-far if far == 2.0 else -far - 0.1, far if far == 2.0 else far + 0.1)
        below = r"$(\hat{\theta} - \theta_0) / \Delta\theta$"
        if best is not None:
            value, error = rounded(*best[result.poi])
            below += f"\n{plain(result.poi)} = {value}" + (rf" $\pm$ {error}" if error else "")
        axes.set_xlabel(below)
        labels = [
            r"impact, $\hat{\theta} + \Delta\hat{\theta}$",
            r"impact, $\hat{\theta} - \Delta\hat{\theta}$",
            r"before the fit, $\theta_0 + \Delta\theta$",
            r"before the fit, $\theta_0 - \Delta\theta$",
            "pull",
        ]
        legend_above(axes, [*bars, points], labels, 3, gap=4.0)
    return drawn


def correlation(
    fit: FitResult,
    *,
    threshold: float = 0.0,
    top: Optional[int] = None,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Correlations of the free parameters that are correlated with any other by `threshold` or more; top:
    those most correlated."""
    matrix = fit.correlation
    if matrix is None:
        raise ValueError("the fit has no covariance")
    free = [i for i in range(len(fit.names)) if matrix[i, i] > 0]
    matrix = np.array(matrix[np.ix_(free, free)])
    largest = np.abs(matrix - np.diag(np.diagonal(matrix))).max(axis=1, initial=0.0)
    kept = np.flatnonzero(largest >= threshold)
    if top is not None:
        kept = np.sort(kept[np.argsort(-largest[kept], kind="stable")[:top]])
    if len(kept) < 2:
        raise ValueError(f"no two free parameters are correlated by {threshold:g} or more")
    names, matrix = [fit.names[free[i]] for i in kept], matrix[np.ix_(kept, kept)]
    n, margin = len(names), width_of(names)
    with panels(ax, figure, (2.0 + margin + n / 2.4, 1.0 + 0.75 * margin + n / 2.4), style) as (
        drawn,
        (axes, *_),
    ):
        axes.minorticks_off()
        # else the layout clips long names
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu", aspect="auto")
        axes.set_xticks(range(n))
        axes.set_xticklabels([plain(name) for name in names], rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(n))
        axes.set_yticklabels([plain(name) for name in names])
        for i in range(n):
            for j in range(n):
                value = matrix[i, j] + 0.0 if abs(matrix[i, j]) >= 0.005 else 0.0
                axes.text(
                    j,
                    i,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    size=0.72 * FONT_SIZE,
                    color="white" if abs(value) > 0.75 else "black",
                )
        bar = drawn.colorbar(image, ax=axes, fraction=0.046, pad=0.02)
        bar.ax.minorticks_off()
    axes.tick_params(which="both", length=0)
    return drawn
