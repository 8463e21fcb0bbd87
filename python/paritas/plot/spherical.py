"""Figures of spherical harmonics of U: the power spectrum, and the field with its standard error.

from paritas import losscone
from paritas.plot import spherical

found = losscone.spherical_harmonics(losscone.read_tables("tables/"), illumination="night")
spherical.power(found).savefig("power.png")
spherical.field(found, value="error").savefig("error.png")"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Table
from ..losscone.geography import EqualAreaGrid
from ..losscone.spherical import SphericalHarmonics, cells_of
from .moon import draw_cells
from .projections import chosen, draw_basemap
from .style import BLUE, GREY, OPAQUE, RED, Figure, matplotlib_found, panels, robust_limits

_VALUES = {"mean": ("plasma", "U (V)"), "error": ("viridis", "standard error (V)")}
_COLOURS = (BLUE, RED, "black", "C2")
#: degrees, of a cell of a map: cells of half a wavelength of degree 10 have 18
_STEP = 3.0


def name_of(found: SphericalHarmonics) -> str:
    """Illumination and frame, for a legend."""
    what = "day and night" if found.illumination == "all" else found.illumination
    where = "over local time" if found.frame == "sun" else "over the Moon"
    return f"{what}, {where}" if found.illumination else where


def _facts(found: SphericalHarmonics) -> str:
    """How it was fitted, for a title."""
    good = "good " if found.good and found.illumination else ""
    ridge = f"ridge {found.ridge:g}" if found.ridge else "no ridge"
    return f"{found.sweeps} {good}sweeps, {found.blocks} measurements; degree {found.lmax}, {ridge}"


def power(
    *found: SphericalHarmonics,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """The power of each degree from 1 on, with its error, on a logarithmic axis; dotted: what the errors of
    the coefficients alone add on average. Points at or below the dotted line are noise."""
    if not found or max(one.lmax for one in found) < 1:
        raise ValueError("a power spectrum needs harmonics of degree 1 or more")
    with panels(ax, figure, (6.6, 3.9), style) as (drawn, (axes, *_)):
        for i, one in enumerate(found):
            rows, colour = one.power()[1:], _COLOURS[i % len(_COLOURS)]
            at = rows["degree"] + 0.12 * (i - 0.5 * (len(found) - 1))
            look: dict[str, Any] = {"color": colour, "markersize": 4, "label": name_of(one)}
            axes.errorbar(at, rows["power"], rows["error"], fmt="o", zorder=3, **look)
            axes.plot(rows["degree"], rows["noise"], color=colour, linestyle=":", linewidth=1.0, zorder=2)
        axes.plot([], [], color=GREY, linestyle=":", linewidth=1.0, label="errors alone")
        low = min(float(np.min(one.power()[name][1:])) for one in found for name in ("power", "noise"))
        high = max(float(np.max((one.power()["power"] + one.power()["error"])[1:])) for one in found)
        axes.set_yscale("log", nonpositive="clip")
        if low > 0.0:
            axes.set_ylim(0.5 * low, 2.0 * high)
        axes.set(xlabel="degree l", ylabel=f"power (V$^2$), {found[0].response}".rstrip(", "))
        axes.set_xticks(range(1, 1 + max(one.lmax for one in found)))
        axes.tick_params(axis="x", which="minor", bottom=False, top=False)
        axes.set_title("sum of the squares of a degree's coefficients", loc="left")
        axes.legend(loc="best")
    return drawn


def correlation(
    found: dict[str, Table],
    *,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """The correlation of two expansions over the degree from 1 on; grey: standard deviation of independent
    fields.

    found: tables of `paritas.losscone.degree_correlation`, by a name for the legend."""
    with panels(ax, figure, (6.6, 3.0), style) as (drawn, (axes, *_)):
        for i, (name, table) in enumerate(found.items()):
            rows, colour = table[1:], _COLOURS[i % len(_COLOURS)]
            at = rows["degree"] + 0.12 * (i - 0.5 * (len(found) - 1))
            axes.plot(at, rows["correlation"], "o", color=colour, markersize=4, label=name, zorder=3)
        rows = max(found.values(), key=len)[1:]
        axes.fill_between(
            rows["degree"], -rows["spread"], rows["spread"], color="0.88", linewidth=0, zorder=0
        )
        axes.axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
        axes.set(xlabel="degree l", ylabel="correlation", ylim=(-1.05, 1.05))
        axes.set_xticks(rows["degree"])
        axes.tick_params(axis="x", which="minor", bottom=False, top=False)
        axes.legend(loc="lower left", **OPAQUE)
    return drawn


def field(
    found: SphericalHarmonics,
    *,
    value: str = "mean",
    projection: Any = "mollweide",
    limits: tuple[float, float] | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """A map of the sum of the harmonics, or of its standard error; grey where no sweep is within half a
    wavelength of the largest degree. In the frame of the Sun noon is in the middle and dusk on the right.

    value: "mean" or "error". projection, limits: as in `paritas.plot.moon.surface_map`."""
    matplotlib_found()
    from matplotlib.colors import Normalize

    if value not in _VALUES:
        raise ValueError(f"value {value!r}: there are {', '.join(_VALUES)}")
    grid, onto = EqualAreaGrid.of(_STEP), chosen(projection)
    centres = grid.centres()
    shown = np.flatnonzero(found.covered[cells_of(found.lmax).cell(*centres.T)])
    values = found.field(*centres[shown].T)[0 if value == "mean" else 1]
    colours, label = _VALUES[value]
    look = {"cmap": colours, "norm": Normalize(*(robust_limits(values) if limits is None else limits))}
    with panels(ax, figure, (7.4, 3.9), style) as (drawn, (axes, *_)):
        coloured = draw_cells(axes, grid, onto, shown, values, rasterized=True, linewidths=0.8, **look)
        draw_basemap(axes, onto, maria=found.frame == "moon")
        bar = drawn.colorbar(coloured, ax=axes, shrink=0.75, pad=0.02, extend="both")
        bar.set_label(f"{label}, {found.response}".rstrip(", "))
        axes.set_title(f"{name_of(found)}: {_facts(found)}", loc="left", pad=14)
        text = "grey: no sweep near; dashed: round maria and basins"
        if found.frame == "sun":
            text = "grey: no sweep near; longitude: local time after noon, 15 degrees an hour, E: afternoon"
        axes.annotate(text, (0.0, -0.02), xycoords="axes fraction", fontsize=7.5, va="top", color="0.3")
    return drawn
