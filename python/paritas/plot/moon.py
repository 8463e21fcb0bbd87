"""Figures of products of loss cones: maps of the Moon, profiles over the terminator, periods, regions.

from paritas import losscone
from paritas.plot import moon

tables = losscone.read_tables("tables/")
moon.surface_map(losscone.surface_map(tables), "night").savefig("night.png")"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Table
from ..losscone.averages import ORBIT
from ..losscone.geography import EqualAreaGrid
from ..losscone.harmonics import PERIODS, Periodogram
from ..losscone.products import ILLUMINATIONS, TERMINATOR, SurfaceMap, TerminatorProfile
from .projections import chosen, draw_basemap, outline_of_cell
from .style import BLUE, GREY, OPAQUE, RED, Figure, finite_range, matplotlib_found, panels, robust_limits

#: values of a map: colours, and the label of their bar
_VALUES = {
    "mean": ("plasma", "mean of U (V)"),
    "median": ("plasma", "median of U (V)"),
    "error": ("viridis", "error of the mean (V)"),
    "deviation": ("viridis", "standard deviation of U (V)"),
    "count": ("viridis", "sweeps"),
    "blocks": ("viridis", "measurements"),
}
#: values whose colours are logarithmic
_COUNTED = ("count", "blocks")
_WORDS = {
    "all": "day and night",
    "day": "day",
    "terminator": "terminator",
    "night": "night",
}


def _sweeps(good: bool, count: int) -> str:
    return f"{count} {'good ' if good else ''}sweep{'' if count == 1 else 's'}"


def surface_map(
    found: SurfaceMap,
    illumination: str = "all",
    *,
    value: str = "mean",
    projection: Any = "mollweide",
    limits: tuple[float, float] | None = None,
    least: int = 1,
    maria: bool = True,
    words: bool = True,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """A map of the cells' values, over meridians, parallels and outlines of large maria.

    illumination: "all", "day", "terminator" or "night". value: "mean", "median", "error", "deviation",
        "count" (sweeps) or "blocks" (of time, the measurements of the error); the last two have logarithmic
        colours. projection: "mollweide", "sphere" (near and far side), or a Mollweide or Sphere with another
        centre. limits: of colours (None: 2 % to 98 % of the cells). least: sweeps that a cell needs; other
        cells stay grey. maria: draw their outlines. words: write title and notes. False, for small maps with
        a caption: the label of the bar becomes the title."""
    matplotlib_found()
    from matplotlib.colors import LogNorm, Normalize

    if illumination not in ILLUMINATIONS or value not in _VALUES:
        raise ValueError(
            f"illumination {illumination!r}, value {value!r}: there are {', '.join(ILLUMINATIONS)} and "
            f"{', '.join(_VALUES)}"
        )
    table, onto = found[illumination], chosen(projection)
    shown = np.flatnonzero((table["count"] >= least) & np.isfinite(table[value].astype(float)))
    values = np.asarray(table[value][shown], dtype=np.float64)
    colours, label = _VALUES[value]
    low, high = robust_limits(values) if limits is None else limits
    norm = LogNorm(max(low, 1.0), max(high, 2.0)) if value in _COUNTED else Normalize(low, high)
    with panels(ax, figure, (7.4, 3.9), style) as (drawn, (axes, *_)):
        coloured = draw_cells(axes, found.grid, onto, shown, values, cmap=colours, norm=norm)
        draw_basemap(axes, onto, maria=maria)
        bar = drawn.colorbar(coloured, ax=axes, shrink=0.75, pad=0.02, extend="both")
        label = label if value in _COUNTED else f"{label}, {found.response}"
        if value in _COUNTED:
            _label_decades(bar.ax.yaxis)
        if not words:
            axes.set_title(label, loc="left", pad=8)
            return drawn
        bar.set_label(label)
        sweeps = _sweeps(found.good, int(table["count"].sum()))
        text = f"{_WORDS[illumination]}: {sweeps} in {len(shown)} of {len(found.grid)} cells"
        axes.set_title(f"{text} of {found.grid.area:.0f} deg\N{SUPERSCRIPT TWO}", loc="left", pad=14)
        foot = "foot of the field line" if found.at == "projection" else "spacecraft"
        text = f"place: {foot}; grey: too few sweeps" + ("; dashed: round maria and basins" if maria else "")
        axes.annotate(text, (0.0, -0.02), xycoords="axes fraction", fontsize=7.5, va="top", color="0.3")
    return drawn


def draw_cells(
    axes: Any, grid: EqualAreaGrid, projection: Any, shown: Any, values: Floats, **look: Any
) -> Any:
    """Draws cells in colours, those that are not `shown` in grey; returns the last collection, for a bar.

    shown: numbers of cells, (n,). values: (n,). look: of a PolyCollection, for example cmap and norm."""
    from matplotlib.collections import PolyCollection

    cells = [outline_of_cell(*row) for row in grid.bounds().tolist()]
    for view, shift, _ in projection.views():
        for some, options in (
            (np.setdiff1d(np.arange(len(cells)), shown), {"facecolors": "0.88", "edgecolors": "0.88"}),
            (shown, {"array": values, "edgecolors": "face", **look}),
        ):
            polygons, kept = _polygons(view, shift, [cells[k] for k in some])
            if "array" in options:
                options["array"] = values[kept]
            drawn = PolyCollection(polygons, **{"linewidths": 0.3, "zorder": 1, **options})
            axes.add_collection(drawn, autolim=False)
    return axes.collections[-1]


def _polygons(view: Any, shift: float, cells: list[Floats]) -> tuple[list[Floats], Any]:
    """Outlines in the plane, and which of the cells the view shows."""
    if not cells:
        return [], np.array([], dtype=np.int64)
    ends = np.cumsum([len(cell) for cell in cells])
    x, y, inside = view.project(*np.concatenate(cells).T)
    kept = np.flatnonzero(np.logical_or.reduceat(inside, np.concatenate([[0], ends[:-1]])))
    outlines = np.split(np.stack([x + shift, y], axis=1), ends[:-1])
    return [outlines[k] for k in kept], kept


def _label_decades(axis: Any) -> None:
    """Plain numbers at 1, 2, 5 of each decade of a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def terminator_profile(
    found: TerminatorProfile,
    *,
    sides: tuple[str, ...] = ("dawn", "dusk"),
    terminator: float = TERMINATOR,
    least: int = 3,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U over the terminator angle: means with their errors, medians as lines, 16 to 84 % as bands; below,
    counts.

    sides: some of "both", "dawn", "dusk". terminator: half width of the marked zone, degrees. least: sweeps
        that a bin needs to be shown."""
    with panels(ax, figure, (6.6, 5.0), style, (3.0, 1.0)) as (drawn, given):
        axes = given[0]
        axes.axvspan(-terminator, terminator, facecolor="0.92", linewidth=0, zorder=0)
        for i, side in enumerate(sides):
            colour, table = (BLUE, RED, "black")[i % 3], found[side]
            rows = table[table["count"] >= least]
            middle = 0.5 * (rows["angle_lower"] + rows["angle_upper"])
            at = middle + (i - 0.5 * (len(sides) - 1)) * 0.12 * float(np.mean(np.diff(table["angle_lower"])))
            look: dict[str, Any] = {"color": colour, "zorder": 4}
            axes.fill_between(
                middle, rows["lower"], rows["upper"], color=colour, alpha=0.15, linewidth=0, label=None
            )
            axes.plot(middle, rows["median"], linewidth=0.9, linestyle="--", color=colour, zorder=3)
            name = f"{side}: {_sweeps(found.good, int(table['count'].sum()))}"
            axes.errorbar(at, rows["mean"], rows["error"], fmt="o", markersize=3.5, label=name, **look)
            if len(given) > 1:
                edges = np.append(table["angle_lower"], table["angle_upper"][-1])
                given[1].stairs(table["count"], edges, color=colour)
        shown = [found[side][found[side]["count"] >= least] for side in sides]
        ends = [rows[name] for rows in shown for name in ("lower", "upper", "mean")]
        low, high = finite_range(*ends)
        room = 0.08 * (high - low)
        axes.set(ylim=(low - room, high + 2.2 * room), xlim=(-90.0, 90.0), ylabel=f"U (V), {found.response}")
        for edge, text, side_of in (
            (-90.0, "day", "left"),
            (0.0, "terminator", "center"),
            (90.0, "night", "right"),
        ):
            inside = {"left": 2.0, "center": 0.0, "right": -2.0}[side_of]
            axes.annotate(
                text,
                (edge + inside, 0.97),
                xycoords=("data", "axes fraction"),
                ha=side_of,
                va="top",
                color="0.3",
            )
        axes.axvline(0.0, color="0.5", linewidth=0.8, zorder=1)
        axes.set_title("points: mean and its error; dashed: median; band: 16 to 84 % of sweeps", loc="left")
        axes.legend(loc="lower left", **OPAQUE)
        last = given[-1]
        if len(given) > 1:
            last.set(ylabel="sweeps", yscale="log")
            _label_decades(last.yaxis)
            last.axvline(0.0, color="0.5", linewidth=0.8, zorder=1)
        last.set_xlabel("angle from the terminator (deg), night above 0")
        last.set_xticks(range(-90, 91, 30))
    return drawn


def periodogram(
    found: Periodogram,
    *,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Power over the period, with the level that noise exceeds in 1 % of cases, and the lunar day, month and
    year where the data reach them."""
    with panels(ax, figure, (6.6, 3.6), style) as (drawn, (axes, *_)):
        period = 1.0 / found.frequency
        axes.plot(period, found.power, color=BLUE, linewidth=1.0, zorder=3)
        level = f"1 % chance of noise: {found.level:.2g}"
        axes.axhline(found.level, color=RED, linewidth=0.9, linestyle=":", zorder=2, label=level)
        high = 1.25 * max(float(np.nanmax(found.power)), found.level)
        for name, days, height, side in (
            ("lunar day", PERIODS["lunar day"], 0.97, "left"),
            ("half a lunar day", 0.5 * PERIODS["lunar day"], 0.97, "right"),
            ("lunar month", PERIODS["lunar month"], 0.90, "right"),
            ("year", PERIODS["year"], 0.97, "right"),
        ):
            if period.min() <= days <= period.max():
                axes.axvline(days, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
                axes.annotate(
                    f" {name} ",
                    (days, height),
                    xycoords=("data", "axes fraction"),
                    ha=side,
                    va="top",
                    fontsize=7.5,
                    color="0.3",
                )
        if found.span < period.max():
            text = "longer than the data"
            axes.axvspan(found.span, period.max(), facecolor="0.92", linewidth=0, zorder=0, label=text)
        axes.set(xscale="log", xlim=(period.min(), period.max()), ylim=(0.0, high))
        axes.set(xlabel="period (days)", ylabel="power: part of the variance")
        _label_decades(axes.xaxis)
        what = (
            f"U, {found.response}, {_WORDS[found.illumination]}: {found.blocks} means of {ORBIT:g} h or less"
        )
        axes.set_title(what, loc="left")
        axes.legend(loc="center left", **OPAQUE)
    return drawn


def time_averages(
    found: dict[str, Table],
    *,
    response: str = "",
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U over time: means with their errors, medians as lines, 16 to 84 % of sweeps as bands, which end at
    gaps.

    found: tables of `paritas.losscone.time_averages`, by a name for the legend, for example "day" and
        "night". response: name for the label."""
    matplotlib_found()
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    with panels(ax, figure, (9.0, 3.9), style) as (drawn, (axes, *_)):
        for i, (name, rows) in enumerate(found.items()):
            colour = (RED, BLUE, "black")[i % 3]
            at = 0.5 * (rows["time_start"] + rows["time_end"]) / 86400.0
            gaps = 1 + np.flatnonzero(rows["time_start"][1:] > rows["time_end"][:-1])
            whole = (
                np.insert(one, gaps, np.nan) for one in (at, rows["lower"], rows["upper"], rows["median"])
            )
            when, lower, upper, median = whole
            axes.fill_between(when, lower, upper, color=colour, alpha=0.15, linewidth=0)
            axes.plot(when, median, linewidth=0.9, linestyle="--", color=colour)
            text = f"{name}: {int(rows['count'].sum())} sweeps in {len(rows)} means"
            axes.errorbar(at, rows["mean"], rows["error"], fmt="o", markersize=3.0, color=colour, label=text)
        locator = AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        axes.set(xlabel="time (UTC)", ylabel=f"U (V), {response}".rstrip(", "))
        axes.set_title("points: mean and its error; dashed: median; band: 16 to 84 % of sweeps", loc="left")
        axes.legend(loc="lower left", **OPAQUE)
    return drawn


def regions(
    table: Table,
    *,
    response: str = "",
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U by plasma region: the mean with its error, the median, 16 to 84 % of sweeps, and counts. table:
    answer of `paritas.losscone.region_statistics`. response: name for the label."""
    from matplotlib.ticker import NullLocator

    rows = table[table["count"] > 0]
    if not len(rows):
        raise ValueError("no region has a used sweep")
    with panels(ax, figure, (6.6, 3.2), style) as (drawn, (axes, *_)):
        at = np.arange(len(rows))
        axes.bar(
            at,
            rows["upper"] - rows["lower"],
            0.5,
            rows["lower"],
            color=BLUE,
            alpha=0.2,
            label="16 to 84 % of sweeps",
        )
        axes.hlines(rows["median"], at - 0.25, at + 0.25, color=BLUE, linewidth=1.5, label="median")
        axes.errorbar(at, rows["mean"], rows["error"], fmt="o", color="black", label="mean and its error")
        names = [f"{row['region']}\n{row['count']} sweeps" for row in rows]
        axes.set_xticks(at, names)
        axes.tick_params(axis="x", which="both", length=0)
        axes.set(xlim=(-0.6, len(rows) - 0.4), ylabel=f"U (V), {response}" if response else "U (V)")
        axes.use_sticky_edges = False
        axes.margins(y=0.1)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
        axes.xaxis.set_minor_locator(NullLocator())
    return drawn
