"""What figures share: style, axes, legends, names as plain text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    Axes = Figure = Any

GREEN, YELLOW, RED, BLUE, LIGHT_BLUE, GREY = "limegreen", "yellow", "crimson", "C0", "C9", "0.45"
#: points
FONT_SIZE = 9.0
#: longer names are cut in the middle
LONGEST_NAME = 64
#: legends over other artists
OPAQUE = {"frameon": True, "facecolor": "white", "edgecolor": "none"}

_HOUSE = {
    "font.size": FONT_SIZE,
    "axes.titlesize": "medium",
    "legend.fontsize": "small",
    "legend.frameon": False,
    "legend.title_fontsize": "small",
    "axes.linewidth": 0.8,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "xtick.minor.visible": True,
    "ytick.minor.visible": True,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "errorbar.capsize": 0.0,
    "hatch.linewidth": 0.6,
    "axes.grid": False,
    "axes.facecolor": "white",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.spines.top": True,
    "axes.spines.right": True,
}


def matplotlib_found() -> Any:
    """The module matplotlib. Without it ImportError says what to install; functions that import its parts
    call this first."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'paritas[plot]'") from None
    return matplotlib


def _settings(style: str | None) -> dict[str, Any]:
    if style == "user":
        return {}
    if style is None:
        return _HOUSE
    try:
        import mplhep
    except ImportError:
        raise ImportError(f"the style {style!r} needs mplhep: pip install mplhep") from None
    found = getattr(mplhep.style, style, None)
    if not isinstance(found, dict):
        raise ValueError(f"mplhep has no style {style!r}")
    # mplhep's sizes are for slides
    own = {
        key: value
        for key, value in found.items()
        if not key.startswith("figure.") and not key.endswith("size")
    }
    return {**_HOUSE, **own}


@contextmanager
def panels(
    ax: Any,
    figure: Any,
    size: tuple[float, float],
    style: str | None,
    rows: Sequence[float] = (1.0,),
    share: bool = True,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """The figure and its axes, top first with heights `rows`, while the style holds.

    ax: axes to use; fewer leave out lower panels. figure: an empty figure or subfigure. Default: a new figure
        of `size` inches. share: the x axis."""
    with matplotlib_found().rc_context(_settings(style)):
        if ax is not None:
            given = list(ax) if isinstance(ax, (list, tuple)) or hasattr(ax, "shape") else [ax]
            figure = given[0].figure
        else:
            if figure is None:
                from matplotlib.figure import Figure as Figure

                figure = Figure(figsize=size, layout="constrained")
            heights = {"height_ratios": list(rows)}
            found = figure.subplots(len(rows), 1, squeeze=False, sharex=share, gridspec_kw=heights)
            given = list(found[:, 0])
        for axes in given:
            _pin_ticks(axes)
        yield figure.figure, given


def _pin_ticks(axes: Axes) -> None:
    """Ticks are made at drawing, when the style has ended."""
    rc = matplotlib_found().rcParams
    for axis, sides in (("x", ("top", "bottom")), ("y", ("left", "right"))):
        tick = f"{axis}tick"
        for which in ("major", "minor"):
            axes.tick_params(
                axis=axis,  # type: ignore[arg-type]
                which=which,
                direction=rc[f"{tick}.direction"],
                length=rc[f"{tick}.{which}.size"],
                width=rc[f"{tick}.{which}.width"],
                **{side: rc[f"{tick}.{side}"] for side in sides},
            )


def plain(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as plain text for matplotlib: without mathematics and line breaks, not too long, and shown in
    legends even if it begins with _."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    if len(shown) > longest:
        kept = longest // 2 - 1
        shown = f"{shown[:kept]}\N{HORIZONTAL ELLIPSIS}{shown[-kept:]}"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def width_of(names: Sequence[str], size: float = FONT_SIZE) -> float:
    return max((len(plain(name)) for name in names), default=0) * 0.62 * size / 72.0


def rows_of_names(axes: Axes, names: Sequence[str]) -> Any:
    """First on top; returns heights 0, -1, -2, ..."""
    heights = -np.arange(len(names), dtype=np.float64)
    axes.set_yticks(heights, [plain(name) for name in names])
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.tick_params(axis="y", which="both", length=0)
    axes.minorticks_off()
    return heights


def columns_of_names(axes: Axes, names: Sequence[str]) -> None:
    texts = [plain(name) for name in names]
    axes.set_xticks(range(len(names)), texts, rotation=45, ha="right", rotation_mode="anchor")


def legend(axes: Axes, entries: Sequence[tuple[Any, str]], **where: Any) -> None:
    axes.legend([handle for handle, _ in entries], [label for _, label in entries], **where)


def legend_above(axes: Axes, entries: Sequence[tuple[Any, str]], columns: int, gap: float = 0.5) -> None:
    """gap: in font sizes."""
    at = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": gap}
    legend(axes, entries, **at, ncol=columns, columnspacing=1.2, handlelength=1.6)


def points(axes: Axes, x: Any, y: Any, **options: Any) -> Any:
    """Black, with error bars; returns the legend handle."""
    return axes.errorbar(x, y, fmt="o", color="black", **options)


def finite_range(*arrays: Any) -> tuple[float, float]:
    """Smallest and largest finite number; (0, 1) if none."""
    numbers = np.concatenate([np.empty(0), *(np.ravel(np.asarray(a, dtype=np.float64)) for a in arrays)])
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)


def robust_limits(values: Any, part: float = 0.02) -> tuple[float, float]:
    """The range without the lowest and highest `part` of the finite values; (0, 1) if there are none."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return 0.0, 1.0
    low, high = np.quantile(known, (part, 1.0 - part)).tolist()
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def label(ax: Axes, experiment: str, status: str = "", text: str = "") -> None:
    """Writes above the axes: experiment (bold italic) and status ("Internal", "Preliminary") left, `text`
    (energy, luminosity) right. Text may hold mathematics."""

    def write(what: str, at: float, shift: float, size: float, **options: Any) -> None:
        ax.annotate(
            what,
            (at, 1),
            xytext=(shift, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            size=size,
            **options,
        )

    write(experiment, 0, 0, FONT_SIZE + 2, weight="bold", style="italic")
    if status:  # after the bold text
        write(status, 0, 0.76 * (FONT_SIZE + 2) * len(experiment), FONT_SIZE + 1)
    if text:
        write(text, 1, 0, FONT_SIZE, ha="right")
