"""Modifiers by sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..documents import DocumentLike
from ..workspace import Workspace
from .style import Axes, Figure, columns_of_names, legend_above, panels, rows_of_names, width_of

#: in legend order
TYPES = {
    "normfactor": "#e15759",
    "normsys": "#4e79a7",
    "histosys": "#f28e2b",
    "lumi": "#76b7b2",
    "staterror": "#bab0ac",
    "shapesys": "#59a14f",
    "shapefactor": "#b07aa1",
}
SEVERAL = "#7f4f24"


def modifier_grid(
    workspace: DocumentLike,
    *,
    channel: str | None = None,
    top: int | None = None,
    first: int = 0,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Modifiers (rows, by name) and samples (columns), coloured by type.

    channel: show only this one (None: all). top: how many modifiers to show, sorted by name (None: all).
        first: number of the first one, from 0."""
    content = Workspace(workspace).to_dict()
    channels = [one for one in content["channels"] if channel is None or one["name"] == channel]
    if not channels:
        raise ValueError(f"the workspace has no channel {channel!r}")
    cells: dict[tuple[str, str], set[str]] = {}
    every = [sample for one in channels for sample in one["samples"]]
    samples = list(dict.fromkeys(sample["name"] for sample in every))
    for sample in every:
        for modifier in sample["modifiers"]:
            cells.setdefault((modifier["name"], sample["name"]), set()).add(modifier["type"])
    names = sorted({name for name, _ in cells})[first : None if top is None else first + top]
    if not names:
        raise ValueError("there is no modifier to show")
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    picture = np.ones((len(names), len(samples), 3))
    shown = {cell: types for cell, types in cells.items() if cell[0] in set(names)}
    for (name, sample), types in shown.items():
        colour = SEVERAL if len(types) > 1 else TYPES[next(iter(types))]
        picture[names.index(name), samples.index(sample)] = to_rgb(colour)
    used = set().union(*shown.values())
    entries = [(Patch(facecolor=colour), name) for name, colour in TYPES.items() if name in used]
    several = {" + ".join(sorted(types)) for types in shown.values() if len(types) > 1}
    if several:
        text = several.pop() if len(several) == 1 else "several types"
        entries.append((Patch(facecolor=SEVERAL), text))
    width, height = len(samples), len(names)
    size = (1.2 + width_of(names) + max(0.3 * width, 2.4), 1.1 + 0.8 * width_of(samples) + 0.2 * height)
    with panels(ax, figure, size, style) as (drawn, (axes, *_)):
        rows_of_names(axes, names)
        left, right, bottom, over = -0.5, width - 0.5, 0.5 - height, 0.5
        axes.imshow(picture, aspect="auto", interpolation="nearest", extent=(left, right, bottom, over))
        axes.set_ylim(bottom, over)
        columns_of_names(axes, samples)
        axes.hlines(np.arange(1, height) * -1 + 0.5, left, right, color="white", linewidth=1.0)
        axes.vlines(np.arange(1, width) - 0.5, bottom, over, color="0.85", linewidth=0.6)
        legend_above(axes, entries, min(len(entries), 4))
    axes.tick_params(which="both", length=0)
    return drawn
