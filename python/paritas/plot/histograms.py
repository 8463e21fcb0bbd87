"""Yields in bins: data and model, templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..model import Model
from ..results import ChannelPrediction
from .style import BLUE, RED, finite_range, legend_beside, panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: of samples, in the model's order; the merged small ones are grey
COLOURS = (
    "#4e79a7",
    "#a0cbe8",
    "#59a14f",
    "#8cd17d",
    "#f1ce63",
    "#b6992d",
    "#79706e",
    "#bab0ac",
    "#d4a6c8",
    "#b07aa1",
    "#9d7660",
    "#d7b5a6",
    "#86bcb6",
    "#499894",
)
#: of samples on top
SIGNAL_COLOURS = ("#e15759", "#ff9d9a", "#a3001e")


def poisson_errors(counts: ArrayLike) -> tuple[Any, Any]:
    """Errors (down, up) of observed counts: 68.3 % central intervals of a Poisson mean, by Wilson and
    Hilferty's approximation of the chi-squared quantile, which is within 0.02 of the exact one everywhere."""
    n = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
    some = np.maximum(n, 1e-300)
    low = np.where(n > 0, n * np.maximum(1 - 1 / (9 * some) - 1 / (3 * np.sqrt(some)), 0.0) ** 3, 0.0)
    high = (n + 1) * (1 - 1 / (9 * (n + 1)) + 1 / (3 * np.sqrt(n + 1))) ** 3
    return n - low, high - n


def _edges(edges: Optional[ArrayLike], bins: int) -> Any:
    if edges is None:
        return np.arange(bins + 1) - 0.5
    found = np.asarray(edges, dtype=np.float64)
    if found.shape != (bins + 1,):
        raise ValueError(f"edges: {bins} bins have {bins + 1}, not {found.size}")
    return found


def _bin_axis(axes: "Axes", edges: Any, given: bool, xlabel: Optional[str]) -> None:
    from matplotlib.ticker import MaxNLocator, NullLocator

    axes.set_xlim(edges[0], edges[-1])
    if not given:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(xlabel if xlabel is not None else "" if given else "bin")


def _stack(
    channel: ChannelPrediction, after: bool, on_top: Sequence[str], most: int, colours: Mapping[str, str]
) -> list[tuple[str, Any, str]]:
    """Names, yields and colours from the bottom of the stack up: small ones summed where there are more than
    `most`, then ascending by the yields before the fit (so that the order is the same before and after), then
    those on top."""
    samples = channel.samples if after else channel.prefit_samples
    own = [name for name in channel.prefit_samples if name not in on_top]
    signal = {name: SIGNAL_COLOURS[i % len(SIGNAL_COLOURS)] for i, name in enumerate(on_top)}
    coloured = {**signal, **{name: COLOURS[i % len(COLOURS)] for i, name in enumerate(own)}, **colours}
    lower = sorted(own, key=lambda name: float(np.sum(channel.prefit_samples[name])))
    upper = [name for name in on_top if name in samples]
    surplus = len(lower) + len(upper) - most
    small = lower[: surplus + 1] if surplus > 0 else []
    merged = (
        [(f"{len(small)} other samples", np.sum([samples[name] for name in small], axis=0), "0.8")]
        if small
        else []
    )
    return [*merged, *((name, samples[name], coloured[name]) for name in (*lower[len(small) :], *upper))]


def data_model(
    channel: ChannelPrediction,
    when: str = "postfit",
    *,
    signal: Sequence[str] = (),
    colours: Mapping[str, str] = {},
    edges: Optional[ArrayLike] = None,
    xlabel: Optional[str] = None,
    ylabel: str = "events",
    log: Optional[bool] = None,
    most_samples: int = 12,
    ratio: tuple[float, float] = (0.5, 1.5),
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Data and the stacked model of a channel, with the hatched band of the model's error; below, data over
    model (triangles: beyond the panel).

    when: "prefit" or "postfit". signal: samples drawn on top of the stack. colours: of samples, by name;
        others have the house's. edges: (bins + 1), of the bins. log: the axis of events, None: where yields
        span more than a factor of 100. most_samples: beyond so many the smallest are drawn as one. ax: a pair
        of axes, or one, without the ratio.
    """
    if when not in ("prefit", "postfit"):
        raise ValueError(f"when: 'prefit' or 'postfit', not {when!r}")
    after = when == "postfit"
    total, error = (
        np.asarray(channel.postfit if after else channel.prefit),
        np.asarray(channel.error if after else channel.prefit_error),
    )
    stack = _stack(channel, after, signal, most_samples, colours)
    data, at = np.asarray(channel.data), _edges(edges, len(channel.data))
    centres, widths = 0.5 * (at[1:] + at[:-1]), np.diff(at)
    down, up = poisson_errors(data)
    band = np.nan_to_num(error)
    with panels(ax, figure, (6.4, 4.6), style, (3.0, 1.0)) as (drawn, given):
        axes, below = given[0], given[1] if len(given) > 1 else None
        handles: list[Any] = []
        bottom = np.zeros(len(total))
        for _, values, colour in stack:
            handles.append(
                axes.bar(centres, values, widths, bottom=bottom, facecolor=colour, linewidth=0, zorder=1)
            )
            bottom = bottom + values
        axes.stairs(total, at, color="black", linewidth=0.8, zorder=2)
        hatched = axes.bar(
            centres,
            2 * band,
            widths,
            bottom=total - band,
            fill=False,
            hatch="//////",
            edgecolor="0.4",
            linewidth=0,
            zorder=3,
        )
        points = axes.errorbar(centres, data, yerr=[down, up], fmt="o", color="black", zorder=4)
        labels = [plain(name, 28) for name, _, _ in stack]
        legend_beside(axes, [points, *handles[::-1], hatched], ["data", *labels[::-1], "uncertainty"])
        high = finite_range(data + up, total + band)[1]
        positive = np.concatenate([total[total > 0], data[data > 0]])
        if log is None:
            log = bool(len(positive)) and high > 100 * float(positive.min())
        if log and len(positive):
            axes.set_yscale("log")
            axes.set_ylim(0.3 * float(positive.min()), 5 * high)
        else:
            axes.set_ylim(min(0.0, float(np.min(bottom, initial=0.0))), 1.15 * high or 1.0)
        axes.set_ylabel(ylabel)
        if below is None:
            _bin_axis(axes, at, edges is not None, xlabel)
        else:
            _ratio(below, centres, widths, total, band, data, down, up, ratio)
            _bin_axis(below, at, edges is not None, xlabel)
            drawn.align_ylabels([axes, below])
    return drawn


def _ratio(
    axes: "Axes",
    centres: Any,
    widths: Any,
    total: Any,
    band: Any,
    data: Any,
    down: Any,
    up: Any,
    limits: tuple[float, float],
) -> None:
    axes.axhline(1.0, color="black", linewidth=0.8, zorder=1)
    some = total > 0
    centres, widths, known, band, data, down, up = (
        array[some] for array in (centres, widths, total, band, data, down, up)
    )
    relative = band / known
    axes.bar(
        centres,
        2 * relative,
        widths,
        bottom=1 - relative,
        fill=False,
        hatch="//////",
        edgecolor="0.4",
        linewidth=0,
        zorder=2,
    )
    values, (low, high) = data / known, limits
    axes.errorbar(centres, values, yerr=[down / known, up / known], fmt="o", color="black", zorder=3)
    for outside, edge, marker in ((values > high, high, "^"), (values < low, low, "v")):
        inset = 0.05 * (high - low) * (-1 if marker == "^" else 1)
        axes.plot(
            centres[outside],
            np.full(int(outside.sum()), edge + inset),
            linestyle="none",
            marker=marker,
            color=RED,
            zorder=4,
        )
    axes.set_ylim(low, high)
    axes.set_ylabel("data / model")


def templates(
    model: Model,
    channel: str,
    sample: str,
    parameter: str,
    *,
    shift: Optional[float] = None,
    edges: Optional[ArrayLike] = None,
    xlabel: Optional[str] = None,
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """A sample's yields at the suggested start, and with one parameter moved up and down by `shift` (None:
    its prefit error; it must then be constrained); below, over nominal.

    ax: a pair of axes, or one, without the ratio.
    """
    i = model.index(parameter)
    by = float(model.constraint_widths[i]) if shift is None else shift
    if not by > 0:
        raise ValueError(
            f"{parameter} is not constrained: shift says how far it is moved, and must be positive"
        )
    start = float(model.suggested_init[i])
    found = []
    for value in (start, start + by, start - by):
        try:
            found.append(np.asarray(model.expected_by_sample({parameter: value})[channel][sample]))
        except KeyError as missing:
            raise ValueError(
                f"the model has no {missing.args[0]!r} ({sample!r} in {channel!r} was asked for)"
            ) from None
    nominal, at = found[0], _edges(edges, len(found[0]))
    names = ["nominal", rf"$+${by:g}", rf"$-${by:g}"]
    with panels(ax, figure, (6.0, 4.4), style, (3.0, 1.4)) as (drawn, given):
        axes = given[0]
        handles = [
            axes.stairs(values, at, color=colour, linewidth=1.4)
            for values, colour in zip(found, ("black", RED, BLUE))
        ]
        low, high = finite_range(*found)
        axes.set_ylim(min(0.0, 1.1 * low), 1.4 * high if high > 0 else 1.0)  # room for the legend
        axes.legend(
            handles, names, title=f"{plain(sample, 48)}\n{plain(parameter, 48)}", loc="upper right", ncol=3
        )
        axes.set_ylabel("events")
        bottom = given[-1]
        if len(given) > 1:
            known = np.where(nominal != 0, nominal, np.nan)
            for values, colour in zip(found, ("black", RED, BLUE)):
                bottom.stairs(values / known, at, baseline=None, color=colour, linewidth=1.4)
            least, most = finite_range(*(values / known for values in found[1:]), [1.0])
            far = 1.15 * max(most - 1, 1 - least, 0.005)
            bottom.set_ylim(1 - far, 1 + far)
            bottom.set_ylabel("over nominal")
            drawn.align_ylabels(given)
        _bin_axis(bottom, at, edges is not None, xlabel)
    return drawn
