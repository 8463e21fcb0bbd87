"""Maps and series of a page of the Moon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..losscone import SurfaceMap
from ..losscone.selection import has
from ..plot import losscone as plot_losscone
from ..plot import moon as plot_moon
from .figures import shown
from .html import Markup, beside, missing

if TYPE_CHECKING:
    from .moon import Products

#: sweeps of a series above which it shows days
_MANY = 3000
#: inches; three maps stand side by side
_SMALL = (4.8, 2.8)
_WHAT = {"mean": "Mean of U", "error": "Error of the mean", "blocks": "Measurements"}
_WHERE = {"night": "night", "day": "day", "terminator": "terminator", "all": "day and night"}

_NOTE = (
    "<p>A cell is {area:.0f} square degrees. Colours span 2 to 98 % of the cells; a few lie outside. Grey "
    "cells have no sweep, in maps of the error fewer than two measurements. The poles are always near the "
    "terminator. Sweeps of {block:g} h in a cell are one measurement.</p>\n"
    "<p>Place and plasma go together: the Moon is in the Earth's tail when it is full, and then 180 degrees "
    "of longitude are at midnight. A map of all plasmas shows both. <code>--region</code> makes the page of "
    "one plasma.</p>\n"
)


def words_of(made: Products) -> str:
    """Which sweeps and which model, for captions."""
    kind = "good sweeps" if made.selection.good else "sweeps with a potential"
    region = f", {made.region}" if made.region else ""
    return f"{kind}{region}; model {made.selection.response}"


def maps(made: Products) -> Markup:
    found = made.surface_map
    assert found is not None
    pieces = []
    counts = {name: int(part["count"].sum()) for name, part in found.parts.items()}
    reason = (
        f"all used sweeps are within {found.terminator:g} degrees of the terminator."
        if counts["terminator"] == counts["all"]
        else "no used sweep of known place and time is there."
    )
    for illumination in ("night", "day", "all", "terminator"):
        if not counts[illumination]:
            pieces.append(missing(f"{illumination}: {reason}"))
            continue
        pieces.append(beside(*(_map(made, found, illumination, value) for value in _WHAT)))
    sides = [
        _map(made, found, illumination, "mean", projection="sphere")
        for illumination in ("night", "day")
        if counts[illumination]
    ]
    note = Markup(_NOTE.format(area=found.grid.area, block=made.block))
    return Markup("".join([note, *pieces, beside(*sides)]))


def _map(
    made: Products, found: SurfaceMap, illumination: str, value: str, projection: str = "mollweide"
) -> Markup:
    part = found[illumination]
    values = part[value][part["count"] > 0].astype(float)
    kind = ", near and far side" if projection == "sphere" else ""
    words = f"{words_of(made)}: {int(part['count'].sum())} in {len(values)} of {len(part)} cells"
    caption = f"{_WHAT[value]}, {_WHERE[illumination]}{kind}; {words}"
    known = values[np.isfinite(values)]
    alt = f"{caption}; {known.min():.4g} to {known.max():.4g}." if len(known) else caption
    options: dict[str, Any] = {"value": value, "projection": projection}
    if projection == "mollweide":
        from matplotlib.figure import Figure

        options.update(figure=Figure(figsize=_SMALL, layout="constrained"), words=False)
    return shown(caption, alt, plot_moon.surface_map, found, illumination, **options)


def series(made: Products) -> Markup:
    """Every sweep of a few days, days of more."""
    chosen = made.selection
    used = int(chosen.used.sum())
    if used > _MANY and made.series:
        return shown(
            f"U over time, means of days with their errors; {words_of(made)}",
            f"U by day and by night over {made.days} days, {used} used sweeps.",
            plot_moon.time_averages,
            made.series,
            response=chosen.response,
        )
    shade = "projection_in_sun" if has(chosen.table, "projection_in_sun") else "spacecraft_in_sun"
    return shown(
        "U of every sweep with its confidence set; grey: the foot of the field line is dark",
        f"U over time, {used} used sweeps of {len(chosen.table)}.",
        plot_losscone.time_series,
        chosen.table,
        response=chosen.response,
        shade=shade,
    )
