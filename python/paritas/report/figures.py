"""The figures of a report, as SVG inside HTML."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .. import plot
from ..model import Model
from ..plot.histograms import COLOURS
from ..plot.parameters import pulled
from ..results import RankingResult
from .analysis import Analysis
from .html import Markup, beside, missing, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: rows of one figure of pulls; parameters of the ranking and, at most, of the correlations
PULLS_A_FIGURE, RANKED, CORRELATED = 40, 20, 24
#: correlations that are shown
THRESHOLD = 0.2


def svg(figure: "Figure") -> str:
    """The same for the same figure, text as outlines: no font of the reader's is asked for."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "paritas", "svg.image_inline": True}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return " ".join(text.getvalue().split("\n"))


def shown(make: Callable[[], "Figure"], alt: str, caption: str) -> Markup:
    """A figure, or the reason why it cannot be drawn."""
    try:
        figure = make()
    except ValueError as reason:
        return missing(f"{caption}: {reason}.")
    return picture(svg(figure), alt, caption, float(figure.get_size_inches()[0]))


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "nowhere"


def band(found: Analysis) -> Markup:
    if found.tests is None or found.limit is None:
        return missing(found.missing["tests"])
    limit, name = found.limit, plot.style.plain(found.poi or "")
    alt = (
        f"CLs falls as {found.poi} grows: the observed curve reaches {limit.level:g} at {_number(limit.limit_obs)}, "
        f"the expected one at {_number(float(limit.limit_exp[2]))}, between {_number(float(limit.limit_exp[1]))} and {_number(float(limit.limit_exp[3]))} "
        "within one standard deviation."
    )
    tests = found.tests
    return shown(
        lambda: plot.brazil_band(tests, level=limit.level, xlabel=name),
        alt,
        f"CLs over {found.poi}, observed and expected",
    )


def scan(found: Analysis) -> Markup:
    if found.scan is None:
        return missing(found.missing["scan"])
    result = found.scan
    alt = f"Minus twice the log of the profile likelihood over {found.poi}, 0 at the best fit {result.best[0]:.4g}, up to {np.nanmax(result.q):.3g}."
    return shown(
        lambda: plot.scan(result, best=found.fit, minos=found.minos),
        alt,
        f"Profile likelihood of {found.poi}",
    )


def pulls(found: Analysis) -> Markup:
    """Pages of pulls, then of values."""
    constrained, values = pulled(found.fit, found.model)
    free = [name for name in values if not name.endswith("]")]
    pieces = []
    for kind, names in (
        ("Pulls", constrained),
        ("Parameters without constraint", free),
        ("Factors of bins", [name for name in values if name.endswith("]")]),
    ):
        for first in range(0, len(names), PULLS_A_FIGURE):
            part = names[first : first + PULLS_A_FIGURE]
            caption = f"{kind}: {part[0]} to {part[-1]} ({first + 1} to {first + len(part)} of {len(names)})"
            pieces.append(
                shown(
                    lambda part=part: plot.pulls(found.fit, found.model, parameters=part),  # type: ignore[misc]
                    f"{caption}, each with its error after the fit; the numbers stand in the table of parameters.",
                    caption,
                )
            )
    return beside(*pieces) if pieces else missing("The model has no parameter that is free.")


def ranking(found: Analysis) -> Markup:
    result = found.ranking
    if result is None:
        return missing(found.missing["ranking"])
    if not len(result):
        return missing("No parameter but the one of interest is free.")
    if not has_impacts(result):
        return missing(
            f"All impacts are 0: {found.poi} stays {found.poi_state.replace('_', ' ')} whatever the other parameters."
        )
    first = (
        f"{result.names[0]} moves {found.poi} by {result.impact_up[0]:.3g} and {result.impact_down[0]:.3g}"
    )
    count = min(RANKED, len(result))
    return shown(
        lambda: plot.ranking(result, top=RANKED, best=found.fit),
        f"Impacts of the {count} largest, with pulls: {first}.",
        f"Impacts on {found.poi}: the {count} largest of {len(result)}",
    )


def has_impacts(result: RankingResult) -> bool:
    """Is any impact other than 0?"""
    return bool(np.any(np.nan_to_num(result.impact_up)) or np.any(np.nan_to_num(result.impact_down)))


def correlation(found: Analysis) -> Markup:
    if found.fit.covariance is None:
        return missing("The fit has no covariance.")
    return shown(
        lambda: plot.correlation(found.fit, threshold=THRESHOLD, top=CORRELATED),
        "Matrix of the correlations of free parameters; names and numbers of the strongest stand in the table below.",
        f"Correlations of parameters that have any of {THRESHOLD:g} or more, at most {CORRELATED} of them",
    )


def channels(found: Analysis) -> Markup:
    """Data and model of every channel, before and after the fit."""
    if found.prediction is None:
        return missing(found.missing["prediction"])
    signal = signal_samples(found.model)
    names = list(dict.fromkeys(name for channel in found.model.channels for name in channel.samples))
    colours = {
        name: COLOURS[i % len(COLOURS)] for i, name in enumerate(name for name in names if name not in signal)
    }
    pieces = []
    for channel in found.prediction.channels:
        total = float(np.sum(channel.data))
        for when, model_total in (("prefit", np.sum(channel.prefit)), ("postfit", np.sum(channel.postfit))):

            def make(channel: Any = channel, when: str = when) -> "Figure":
                return plot.data_model(channel, when, signal=signal, colours=colours)

            pieces.append(
                shown(
                    make,
                    f"{channel.name}, {when}: {total:g} events in {len(channel.data)} bins, {float(model_total):.4g} in the model.",
                    f"{channel.name}, {when}",
                )
            )
    return beside(*pieces)


def signal_samples(model: Model) -> list[str]:
    """Samples whose yields the parameter of interest scales."""
    if model.poi_name is None or model.poi_index is None:
        return []
    value = float(model.suggested_init[model.poi_index])
    one, other = (model.expected_by_sample({model.poi_name: at}) for at in (value, value + 1.0))
    return sorted(
        {
            sample
            for channel, samples in one.items()
            for sample in samples
            if not np.array_equal(samples[sample], other[channel][sample])
        }
    )
