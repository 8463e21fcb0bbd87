"""Data, models and templates in bins."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..model import Model
from ..results import ChannelPrediction
from .style import BLUE, RED, Axes, Figure, finite_range, legend, panels, plain, points

#: by sample; merged ones are grey
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
#: nominal, up, down
_VARIATION_COLOURS = ("black", RED, BLUE)


def poisson_errors(counts: ArrayLike) -> tuple[Any, Any]:
    """Errors (down, up) of counts: 68.3 % central intervals of a Poisson mean, by Wilson and Hilferty's
    chi-squared quantile (exact within 0.02)."""
    n = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
    some = np.maximum(n, 1e-300)
    low = np.where(n > 0, n * np.maximum(1 - 1 / (9 * some) - 1 / (3 * np.sqrt(some)), 0.0) ** 3, 0.0)
    high = (n + 1) * (1 - 1 / (9 * (n + 1)) + 1 / (3 * np.sqrt(n + 1))) ** 3
    return n - low, high - n


def _edges(edges: ArrayLike | None, bins: int) -> Any:
    if edges is None:
        return np.arange(bins + 1) - 0.5
    found = np.asarray(edges, dtype=np.float64)
    if found.shape != (bins + 1,):
        raise ValueError(f"edges: {bins} bins have {bins + 1}, not {found.size}")
    return found


def _bin_axis(axes: Axes, edges: Any, given: bool, xlabel: str | None) -> None:
    from matplotlib.ticker import MaxNLocator, NullLocator

    axes.set_xlim(edges[0], edges[-1])
    if not given:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(xlabel if xlabel is not None else "" if given else "bin")


def _hatched(axes: Axes, centres: Any, widths: Any, middle: Any, error: Any, zorder: int) -> Any:
    options: dict[str, Any] = {"fill": False, "hatch": "//////", "edgecolor": "0.4", "linewidth": 0}
    return axes.bar(centres, 2 * error, widths, bottom=middle - error, zorder=zorder, **options)


def _stack(
    channel: ChannelPrediction, after: bool, on_top: Sequence[str], most: int, colours: Mapping[str, str]
) -> list[tuple[str, Any, str]]:
    """Names, yields and colours, bottom up: merged ones beyond `most`, then by ascending prefit yields (also
    postfit), then those on top."""
    samples = channel.samples if after else channel.prefit_samples
    own = [name for name in channel.prefit_samples if name not in on_top]
    coloured = {name: SIGNAL_COLOURS[i % len(SIGNAL_COLOURS)] for i, name in enumerate(on_top)}
    coloured.update({name: COLOURS[i % len(COLOURS)] for i, name in enumerate(own)}, **colours)
    lower = sorted(own, key=lambda name: float(np.sum(channel.prefit_samples[name])))
    upper = [name for name in on_top if name in samples]
    surplus = len(lower) + len(upper) - most
    small = lower[: surplus + 1] if surplus > 0 else []
    stack = [(name, samples[name], coloured[name]) for name in (*lower[len(small) :], *upper)]
    if small:
        merged = np.sum([samples[name] for name in small], axis=0)
        stack.insert(0, (f"{len(small)} other samples", merged, "0.8"))
    return stack


def data_model(
    channel: ChannelPrediction,
    when: str = "postfit",
    *,
    signal: Sequence[str] = (),
    colours: Mapping[str, str] = {},
    edges: ArrayLike | None = None,
    xlabel: str | None = None,
    ylabel: str = "events",
    log: bool | None = None,
    most_samples: int = 12,
    ratio: tuple[float, float] = (0.5, 1.5),
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Data and stacked model of a channel with error band; below, data over model (triangles: off the panel).

    when: "prefit" or "postfit". signal: samples on top. colours: by sample name. edges: of bins, (bins + 1).
        log: logarithmic axis (None: if yields span more than a factor of 100). most_samples: draw so many,
        and merge the smallest others. ratio: limits of the lower panel. ax: a pair of axes; or one, which
        leaves out the ratio."""
    if when not in ("prefit", "postfit"):
        raise ValueError(f"when: must be 'prefit' or 'postfit', not {when!r}")
    after = when == "postfit"
    total = np.asarray(channel.postfit if after else channel.prefit)
    band = np.nan_to_num(np.asarray(channel.error if after else channel.prefit_error))
    data, at = np.asarray(channel.data), _edges(edges, len(channel.data))
    centres, widths = 0.5 * (at[1:] + at[:-1]), np.diff(at)
    down, up = poisson_errors(data)
    with panels(ax, figure, (6.4, 4.6), style, (3.0, 1.0)) as (drawn, given):
        axes, bottom = given[0], np.zeros(len(total))
        entries: list[tuple[Any, str]] = []
        for name, values, colour in _stack(channel, after, signal, most_samples, colours):
            bars = axes.bar(centres, values, widths, bottom=bottom, facecolor=colour, linewidth=0, zorder=1)
            entries.insert(0, (bars, plain(name, 28)))
            bottom = bottom + values
        axes.stairs(total, at, color="black", linewidth=0.8, zorder=2)
        entries.append((_hatched(axes, centres, widths, total, band, 3), "uncertainty"))
        if not np.isnan(data).all():
            entries.insert(0, (points(axes, centres, data, yerr=[down, up], zorder=4), "data"))
        # hides nothing there
        legend(
            axes, entries, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4, handlelength=1.6
        )
        high = finite_range(data + up, total + band)[1]
        positive = np.concatenate([total[total > 0], data[data > 0]])
        if log is None:
            log = bool(len(positive)) and high > 100 * float(positive.min())
        if log and len(positive):
            axes.set(yscale="log", ylim=(0.3 * float(positive.min()), 5 * high))
        else:
            axes.set_ylim(min(0.0, float(np.min(bottom, initial=0.0))), 1.15 * high or 1.0)
        axes.set_ylabel(ylabel)
        if len(given) > 1:
            some = total > 0
            _ratio(
                given[1], ratio, *(array[some] for array in (centres, widths, total, band, data, down, up))
            )
            drawn.align_ylabels(given[:2])
        _bin_axis(given[:2][-1], at, edges is not None, xlabel)
    return drawn


def _ratio(
    axes: Axes,
    limits: tuple[float, float],
    centres: Any,
    widths: Any,
    total: Any,
    band: Any,
    data: Any,
    down: Any,
    up: Any,
) -> None:
    axes.axhline(1.0, color="black", linewidth=0.8, zorder=1)
    _hatched(axes, centres, widths, 1, band / total, 2)
    values, (low, high) = data / total, limits
    points(axes, centres, values, yerr=[down / total, up / total], zorder=3)
    inset = 0.05 * (high - low)
    for outside, edge, marker in ((values > high, high - inset, "^"), (values < low, low + inset, "v")):
        heights = np.full(int(outside.sum()), edge)
        axes.plot(centres[outside], heights, linestyle="none", marker=marker, color=RED, zorder=4)
    axes.set(ylim=(low, high), ylabel="data / model")


def templates(
    model: Model,
    channel: str,
    sample: str,
    parameter: str,
    *,
    shift: float | None = None,
    edges: ArrayLike | None = None,
    xlabel: str | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """A sample's yields at the suggested start and with a parameter moved by +-`shift` (None: prefit error);
    below, ratios to nominal.

    ax: a pair of axes; or one, which leaves out the ratio."""
    i = model.index(parameter)
    by = float(model.constraint_widths[i]) if shift is None else shift
    if not by > 0:
        raise ValueError(f"{parameter} is not constrained: say with a positive shift how far it moves")
    start = float(model.suggested_init[i])
    try:
        found = [
            np.asarray(model.expected_by_sample({parameter: value})[channel][sample])
            for value in (start, start + by, start - by)
        ]
    except KeyError as missing:
        raise ValueError(f"the model has no {missing.args[0]!r} ({sample!r} in {channel!r})") from None
    nominal, at = found[0], _edges(edges, len(found[0]))
    with panels(ax, figure, (6.0, 4.4), style, (3.0, 1.4)) as (drawn, given):
        axes, lower = given[0], given[-1]
        curves = list(zip(found, _VARIATION_COLOURS))
        handles = [axes.stairs(values, at, color=colour, linewidth=1.4) for values, colour in curves]
        low, high = finite_range(*found)
        axes.set_ylim(min(0.0, 1.1 * low), 1.4 * high if high > 0 else 1.0)  # room for the legend
        title = f"{plain(sample, 48)}\n{plain(parameter, 48)}"
        names = ("nominal", rf"$+${by:g}", rf"$-${by:g}")
        legend(axes, list(zip(handles, names)), title=title, loc="upper right", ncol=3)
        axes.set_ylabel("events")
        if len(given) > 1:
            known = np.where(nominal != 0, nominal, np.nan)
            for values, colour in curves:
                lower.stairs(values / known, at, baseline=None, color=colour, linewidth=1.4)
            least, most = finite_range(*(values / known for values in found[1:]), [1.0])
            far = 1.15 * max(most - 1, 1 - least, 0.005)
            lower.set(ylim=(1 - far, 1 + far), ylabel="over nominal")
            drawn.align_ylabels(given)
        _bin_axis(lower, at, edges is not None, xlabel)
    return drawn
