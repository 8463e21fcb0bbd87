"""Figures of what fits and statistics answer, in the field's conventions; drawn with matplotlib, which is
imported at the first figure.

    from paritas import plot

    plot.pulls(model.fit(), model).savefig("pulls.pdf")
    plot.brazil_band(model.upper_limit()).savefig("limit.png")

Every function takes a result and answers a matplotlib Figure of its own (no pyplot, nothing to close). `ax`:
draw into these axes instead, `figure`: into this empty figure or subfigure; then the Figure they belong to is
answered. `style`: None for the house style, "user" for the settings as they are, or the name of a style of
mplhep ("ATLAS", "CMS", ...), which must be installed. No global setting of matplotlib is changed. Figures of
loss cones are in paritas.plot.losscone.
"""

from __future__ import annotations

from .distributions import goodness_of_fit, toys
from .grid import modifier_grid
from .histograms import data_model, templates
from .likelihood import contours, scan
from .limits import brazil_band, mass_limits
from .parameters import correlation, pulls, ranking
from .style import label
from .tables import yields

__all__ = [
    "brazil_band",
    "contours",
    "correlation",
    "data_model",
    "goodness_of_fit",
    "label",
    "mass_limits",
    "modifier_grid",
    "pulls",
    "ranking",
    "scan",
    "templates",
    "toys",
    "yields",
]
