"""What all figures share: settings for as long as one is drawn, its axes, names from files as harmless
text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREEN, YELLOW, RED, BLUE, LIGHT_BLUE, GREY = "limegreen", "yellow", "crimson", "C0", "C9", "0.45"
#: points of the text of figures
FONT_SIZE = 9.0
#: names longer than this are shortened in the middle
LONGEST_NAME = 64

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


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'paritas[plot]'") from None
    return matplotlib


def _settings(style: Optional[str]) -> dict[str, Any]:
    if style is None:
        return dict(_HOUSE)
    if style == "user":
        return {}
    try:
        import mplhep
    except ImportError:
        raise ImportError(
            f"the style {style!r} is one of mplhep, which is not installed: pip install mplhep"
        ) from None
    found = getattr(mplhep.style, style, None)
    if not isinstance(found, dict):
        raise ValueError(f"mplhep has no style {style!r}")
    # sizes, of figures and so of text, are the functions' affair: mplhep's are made for slides
    return {
        **_HOUSE,
        **{
            key: value
            for key, value in found.items()
            if not key.startswith("figure.") and not key.endswith("size")
        },
    }


@contextmanager
def panels(
    ax: Any,
    figure: Any,
    size: tuple[float, float],
    style: Optional[str],
    rows: Sequence[float] = (1.0,),
    share: bool = True,
) -> Iterator[tuple["Figure", list["Axes"]]]:
    """The axes to draw into, top first, heights as `rows`, while the style holds: `ax` (axes, or as many as
    there are panels; fewer leave out the lower ones), else those of `figure`, else those of a new figure of
    `size` inches. share: their x axis."""
    with _matplotlib().rc_context(_settings(style)):
        if ax is not None:
            given = list(ax) if isinstance(ax, (list, tuple)) or hasattr(ax, "shape") else [ax]
            figure = given[0].figure
        else:
            if figure is None:
                from matplotlib.figure import Figure

                figure = Figure(figsize=size, layout="constrained")
            found = figure.subplots(
                len(rows), 1, squeeze=False, sharex=share, gridspec_kw={"height_ratios": list(rows)}
            )
            given = list(found[:, 0])
        for axes in given:
            _pin_ticks(axes)
        yield figure.figure, given


def _pin_ticks(axes: "Axes") -> None:
    """Ticks are made when a figure is drawn, after the style has ended: they are told of it here."""
    rc = _matplotlib().rcParams
    for which in ("major", "minor"):
        for axis in ("x", "y"):
            of = f"{axis}tick"
            sides = (
                {"top": rc["xtick.top"], "bottom": rc["xtick.bottom"]}
                if axis == "x"
                else {"left": rc["ytick.left"], "right": rc["ytick.right"]}
            )
            axes.tick_params(
                axis=axis,
                which=which,
                direction=rc[f"{of}.direction"],
                length=rc[f"{of}.{which}.size"],
                width=rc[f"{of}.{which}.width"],
                **sides,
            )


def plain(name: str, longest: int = LONGEST_NAME) -> str:
    """A name from a file as text that matplotlib shows as it is: no mathematics, no entry that a legend
    leaves out, no line breaks, not too long."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    if len(shown) > longest:
        kept = longest // 2 - 1
        shown = f"{shown[:kept]}\N{HORIZONTAL ELLIPSIS}{shown[-kept:]}"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def width_of(names: Sequence[str], size: float = FONT_SIZE) -> float:
    """About how many inches the longest of these names takes."""
    return max((len(plain(name)) for name in names), default=0) * 0.62 * size / 72.0


def rows_of_names(axes: "Axes", names: Sequence[str]) -> None:
    """Names down the y axis, the first on top, at -0, -1, -2, ..."""
    axes.set_yticks([-float(i) for i in range(len(names))])
    axes.set_yticklabels([plain(name) for name in names])
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.tick_params(axis="y", which="both", length=0)
    axes.minorticks_off()


def legend_above(
    axes: "Axes", handles: Sequence[Any], labels: Sequence[str], columns: int, gap: float = 0.5
) -> None:
    """A legend over the axes; gap: in sizes of its font."""
    axes.legend(
        handles,
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=gap,
        ncol=columns,
        columnspacing=1.2,
        handlelength=1.6,
    )


def legend_beside(axes: "Axes", handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend at the right of the axes, where it hides nothing."""
    axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4, handlelength=1.6
    )


def finite_range(*arrays: Any) -> tuple[float, float]:
    """Smallest and largest finite number; (0, 1) where there is none."""
    import numpy as np

    numbers = (
        np.concatenate([np.ravel(np.asarray(array, dtype=np.float64)) for array in arrays])
        if arrays
        else np.empty(0)
    )
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)


def label(ax: "Axes", experiment: str, status: str = "", text: str = "") -> None:
    """Writes over the axes: experiment (bold italic) and status ("Internal", "Preliminary") at the left,
    `text` (energy, luminosity) at the right. Text may hold mathematics."""
    ax.annotate(
        experiment,
        (0, 1),
        xytext=(0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        weight="bold",
        style="italic",
        va="bottom",
        size=FONT_SIZE + 2,
    )
    if status:  # behind the bold one, wherever that ends
        shift = 0.76 * (FONT_SIZE + 2) * len(experiment)
        ax.annotate(
            status,
            (0, 1),
            xytext=(shift, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            size=FONT_SIZE + 1,
        )
    if text:
        ax.annotate(
            text,
            (1, 1),
            xytext=(0, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            ha="right",
            size=FONT_SIZE,
        )
