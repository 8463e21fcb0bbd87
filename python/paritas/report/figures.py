"""A report's figures: SVG in HTML."""

import io
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .. import plot
from ..model import Channel, Model
from ..plot.histograms import COLOURS
from ..plot.parameters import pulled
from ..results import ChannelPrediction, FitResult, LimitResult, Prediction, RankingResult, ScanResult
from .analysis import Analysis
from .html import Markup, beside, missing, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: rows of a figure of pulls; parameters in ranking, in correlations
PULLS_A_FIGURE, RANKED, CORRELATED = 40, 20, 24
THRESHOLD = 0.2


def svg(figure: "Figure") -> str:
    """Reproducible; letters are outlines, not fonts."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "paritas", "svg.image_inline": True}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue().replace("\n", " ")


def shown(caption: str, alt: str, draw: Callable[..., "Figure"], *what: Any, **options: Any) -> Markup:
    """The figure, or why there is none."""
    try:
        figure = draw(*what, **options)
    except ValueError as reason:
        return missing(f"{caption}: {reason}.")
    return picture(svg(figure), alt, caption, float(figure.get_size_inches()[0]))


def band(found: Analysis, limit: LimitResult) -> Markup:
    if found.tests is None:
        return missing(found.missing["tests"])
    observed, low, median, high = (
        f"{value:.4g}" if np.isfinite(value) else "nowhere"
        for value in (limit.limit_obs, *limit.limit_exp[1:4])
    )
    return shown(
        f"CLs over {found.poi}, observed and expected",
        f"CLs falls as {found.poi} grows: the observed curve reaches {limit.level:g} at {observed}, "
        f"the expected one at {median}, between {low} and {high} within one standard deviation.",
        plot.brazil_band,
        found.tests,
        level=limit.level,
        xlabel=plot.style.plain(found.poi or ""),
    )


def scan(found: Analysis, result: ScanResult) -> Markup:
    return shown(
        f"Profile likelihood of {found.poi}",
        f"Minus twice the log of the profile likelihood over {found.poi}, 0 at the best fit "
        f"{result.best[0]:.4g}, up to {np.nanmax(result.q):.3g}.",
        plot.scan,
        result,
        best=found.fit,
        minos=found.minos,
    )


def pulls(found: Analysis, fit: FitResult) -> Markup:
    constrained, values = pulled(fit, found.model)
    pieces = []
    for kind, names in (
        ("Pulls", constrained),
        ("Parameters without constraint", [name for name in values if not name.endswith("]")]),
        ("Factors of bins", [name for name in values if name.endswith("]")]),
    ):
        for first in range(0, len(names), PULLS_A_FIGURE):
            part = names[first : first + PULLS_A_FIGURE]
            range_ = f"{first + 1} to {first + len(part)} of {len(names)}"
            caption = f"{kind}: {part[0]} to {part[-1]} ({range_})"
            alt = (
                f"{caption}, each with its error after the fit; the numbers stand in the table of parameters."
            )
            pieces.append(shown(caption, alt, plot.pulls, fit, found.model, parameters=part))
    return beside(*pieces) if pieces else missing("The model has no parameter that is free.")


def ranking(found: Analysis, result: RankingResult) -> Markup:
    if not len(result):
        return missing("No parameter but the one of interest is free.")
    if not has_impacts(result):
        return missing(
            f"All impacts are 0: {found.poi} stays {found.poi_state} whatever the other parameters."
        )
    first = (
        f"{result.names[0]} moves {found.poi} by {result.impact_up[0]:.3g} and {result.impact_down[0]:.3g}"
    )
    count = min(RANKED, len(result))
    return shown(
        f"Impacts on {found.poi}: the {count} largest of {len(result)}",
        f"Impacts of the {count} largest, with pulls: {first}.",
        plot.ranking,
        result,
        top=RANKED,
        best=found.fit,
    )


def has_impacts(result: RankingResult) -> bool:
    return bool(np.any(np.nan_to_num([result.impact_up, result.impact_down])))


def correlation(fit: FitResult) -> Markup:
    if fit.covariance is None:
        return missing("The fit has no covariance.")
    return shown(
        f"Correlations of parameters that have any of {THRESHOLD:g} or more, at most {CORRELATED} of them",
        "Matrix of the correlations of free parameters; names and numbers of the strongest stand in the "
        "table below.",
        plot.correlation,
        fit,
        threshold=THRESHOLD,
        top=CORRELATED,
    )


def masked(channel: "Channel | ChannelPrediction") -> str:
    """What stands behind its name."""
    return " (masked: not fitted)" if channel.masked else ""


def channels(found: Analysis, prediction: Prediction) -> Markup:
    signal = signal_samples(found.model)
    names = dict.fromkeys(name for channel in found.model.channels for name in channel.samples)
    background = [name for name in names if name not in signal]
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(background)}
    pieces = []
    for channel in prediction.channels:
        for when, model in (("prefit", channel.prefit), ("postfit", channel.postfit)):
            caption = f"{channel.name}, {when}{masked(channel)}"
            data = float(np.sum(channel.data))
            events = "events not shown" if np.isnan(data) else f"{data:g} events"
            alt = f"{caption}: {events} in {len(channel.data)} bins, {float(np.sum(model)):.4g} in the model."
            options = {"signal": signal, "colours": colours}
            pieces.append(shown(caption, alt, plot.data_model, channel, when, **options))
    return beside(*pieces)


def signal_samples(model: Model) -> list[str]:
    """Samples scaled by the parameter of interest."""
    if model.poi_name is None or model.poi_index is None:
        return []
    value = float(model.suggested_init[model.poi_index])
    one, other = (model.expected_by_sample({model.poi_name: at}) for at in (value, value + 1.0))
    scaled = {
        sample
        for channel, samples in one.items()
        for sample in samples
        if not np.array_equal(samples[sample], other[channel][sample])
    }
    return sorted(scaled)
