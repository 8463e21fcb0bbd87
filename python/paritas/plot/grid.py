"""Which modifier acts on which sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ..workspace import DocumentLike, Workspace
from .style import legend_above, panels, plain, rows_of_names, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: by type of modifier, in the order of the legend
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
    channel: Optional[str] = None,
    top: Optional[int] = None,
    first: int = 0,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Modifiers (rows, by name) and samples (columns), coloured by type.

    channel: of this channel only, else of all. top, first: so many modifiers, in order of their names, from
        this one on.
    """
    content = Workspace(workspace).to_dict()
    channels = [one for one in content["channels"] if channel is None or one["name"] == channel]
    if not channels:
        raise ValueError(f"the workspace has no channel {channel!r}")
    cells: dict[tuple[str, str], set[str]] = {}
    samples: list[str] = []
    for one in channels:
        for sample in one["samples"]:
            if sample["name"] not in samples:
                samples.append(sample["name"])
            for modifier in sample["modifiers"]:
                cells.setdefault((modifier["name"], sample["name"]), set()).add(modifier["type"])
    names = sorted({name for name, _ in cells})[first : None if top is None else first + top]
    if not names:
        raise ValueError("there is no modifier to show")
    picture = np.ones((len(names), len(samples), 3))
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    for i, name in enumerate(names):
        for j, sample in enumerate(samples):
            types = cells.get((name, sample))
            if types:
                picture[i, j] = to_rgb(SEVERAL if len(types) > 1 else TYPES[next(iter(types))])
    used = set().union(*(types for (name, _), types in cells.items() if name in set(names)))
    legend = [(name, colour) for name, colour in TYPES.items() if name in used]
    several = {
        " + ".join(sorted(types))
        for (name, _), types in cells.items()
        if name in set(names) and len(types) > 1
    }
    if several:
        legend.append((several.pop() if len(several) == 1 else "several types", SEVERAL))
    size = (
        1.2 + width_of(names) + max(0.3 * len(samples), 2.4),
        1.1 + 0.8 * width_of(samples) + 0.2 * len(names),
    )
    with panels(ax, figure, size, style) as (drawn, (axes, *_)):
        rows_of_names(axes, names)
        axes.imshow(
            picture,
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, len(samples) - 0.5, 0.5 - len(names), 0.5),
        )
        axes.set_ylim(0.5 - len(names), 0.5)
        axes.set_xticks(range(len(samples)))
        axes.set_xticklabels(
            [plain(name) for name in samples], rotation=45, ha="right", rotation_mode="anchor"
        )
        axes.hlines(
            np.arange(1, len(names)) * -1 + 0.5, -0.5, len(samples) - 0.5, color="white", linewidth=1.0
        )
        axes.vlines(np.arange(1, len(samples)) - 0.5, 0.5 - len(names), 0.5, color="0.85", linewidth=0.6)
        legend_above(
            axes,
            [Patch(facecolor=colour) for _, colour in legend],
            [name for name, _ in legend],
            min(len(legend), 4),
        )
    axes.tick_params(which="both", length=0)
    return drawn
