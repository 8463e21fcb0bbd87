"""Figures of fits and statistics, in the field's conventions, drawn with matplotlib.

    from paritas import plot

    plot.pulls(model.fit(), model).savefig("pulls.pdf")
    plot.brazil_band(model.upper_limit()).savefig("limit.png")

Functions take a result and return a new matplotlib Figure. They do not use pyplot, so there is nothing to
close. `ax`: axes to draw into. `figure`: an empty figure or subfigure to use. `style`: None (ours), "user"
(matplotlib's settings), or a style of mplhep ("ATLAS", "CMS", ...), if it is installed. matplotlib is
imported at the first figure; its global settings stay. Loss cones have paritas.plot.losscone,
paritas.plot.moon and paritas.plot.spherical."""

from .distributions import goodness_of_fit, toys
from .exclusion import exclusion
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
    "exclusion",
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
