"""A report's page, verdict first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np

from ..plot.tables import rounded, yields
from ..results import FitResult, LimitResult, Prediction, RankingResult
from ..documents import DocumentLike, names_of
from ..workspace import Workspace
from . import figures
from .analysis import FREE, Analysis, Source, analyse, in_words
from .html import HtmlPage, Markup, again, beside, circumstances, missing, page, table, text, verdict, wide

#: warn of larger pulls, smaller goodness-of-fit p
LARGE_PULL, SMALL_P = 2.0, 0.01
#: rows of correlations
STRONGEST = 20


@dataclass
class Page(HtmlPage):
    """A report: its HTML and results. converged: all fits did."""

    html: str
    analysis: Analysis

    @property
    def converged(self) -> bool:
        return self.analysis.converged


def report(
    workspace: DocumentLike,
    patches: Iterable[DocumentLike] = (),
    *,
    patchset: DocumentLike | None = None,
    patch_name: str | None = None,
    measurement: str | None = None,
    poi: str | None = None,
    mass: float | str | None = None,
    masks: Iterable[str] = (),
    maps: Iterable[str] = (),
    exact: bool = False,
    command: list[str] | None = None,
    blind: Iterable[str] = (),
    **options: Any,
) -> Page:
    """The report of a workspace (path, dict or Workspace) with patches applied. The page tells which fits did
    not converge. Raises for wrong input or a missing device.

    mass, maps, exact: as of Workspace.read. masks: channels left out of the likelihood. blind: the same, and
    their data are not shown. options: device, precision, threads, as of `paritas.fit`. command: command line
    to show."""
    given, hidden = workspace, names_of(blind)
    if mass is not None or maps or exact:
        if not isinstance(workspace, (str, os.PathLike)):
            raise TypeError(f"mass, maps and exact go with a path, not with {type(workspace).__name__}")
        given = Workspace.read(workspace, mass=mass, maps=maps, exact=exact)
    source = Source.of(given, patches, patchset, patch_name, named=workspace)
    found = analyse(source, poi, measurement, names_of(masks), hidden, **options)
    return Page(page_of(found, command), found)


def page_of(found: Analysis, command: list[str] | None = None) -> str:
    """The page of an analysis."""
    title = f"Fit report: {os.path.basename(found.source.name)}"
    if found.source.patches:
        short = (name if " of " in name else os.path.basename(name) for name in found.source.patches)
        title += f" with {', '.join(short)}"
    parts = []
    for anchor, heading, result, make in _SECTIONS:
        reason = found.missing.get(result)
        part = make(found, getattr(found, result)) if reason is None else missing(reason)
        parts.append((anchor, heading, part))
    return page(title, [*parts, again(command, "paritas.report.report")])


_BEYOND = {"at_bound": "(beyond the bound)", "at_edge": "(beyond the edge of the domain)"}


def _measured(found: Analysis, name: str) -> str:
    value, error = found.fit[name]
    if found.minos is not None and name in found.minos:
        down, up = found.minos[name]
        shown, _ = rounded(value, min((abs(e) for e in (down, up) if np.isfinite(e)), default=float("nan")))
        below, above = (
            f"{sign}{rounded(abs(e), abs(e))[0] if np.isfinite(e) else _BEYOND[end]}"
            for sign, e, end in zip("\N{MINUS SIGN}+", (down, up), found.minos.ends[name])
        )
        symmetric = f", \N{PLUS-MINUS SIGN} {error:.2g} (from the covariance)" if np.isfinite(error) else ""
        return f"{shown}  {above} {below} (MINOS){symmetric}"
    if found.poi_state in FREE and np.isfinite(error):
        return f"{value:.5g} \N{PLUS-MINUS SIGN} {error:.2g}"
    return f"{value:.5g}, {found.poi_state}: no symmetric error"


def warnings_of(found: Analysis) -> list[str]:
    fit, model, limit, gof = found.fit, found.model, found.limit, found.goodness_of_fit
    told = []
    if not fit.converged:
        told.append(
            f"The fit did not converge ({fit.status}): best-fit values, errors and all that is made of them "
            "are not to be used."
        )
    told += [
        f"{step.name}: {step.outcome}." for step in found.steps if not step.good and step.name != "best fit"
    ]
    states = zip(fit.names, fit.states or [])
    bound = [f"{name} ({in_words(state)})" for name, state in states if state.endswith("_bound")]
    if bound:
        told.append(
            "Parameters on a bound, which have no error and take no part in the covariance: "
            f"{', '.join(bound)}."
        )
    if limit is not None:
        if limit.bound_widened:
            told.append(
                f"The upper bound of {found.poi} was widened to {limit.upper_bound:g} to find the limits."
            )
        if not np.all(np.isfinite([limit.limit_obs, *limit.limit_exp])):
            told.append("Not every limit exists: some CLs curve does not cross the level.")
    pulls = np.nan_to_num((fit.values - model.constraint_centres) / model.constraint_widths)
    order = np.argsort(-np.abs(pulls))
    far = [f"{fit.names[i]} ({pulls[i]:+.1f})" for i in order if abs(pulls[i]) > LARGE_PULL]
    if far:
        told.append(f"Pulled by more than {LARGE_PULL:g} prefit errors: {', '.join(far)}.")
    if gof is not None and gof.p < SMALL_P:
        told.append(f"The model describes the data badly: goodness of fit p = {gof.p:.2g}.")
    return told


def _verdict(found: Analysis, fit: FitResult) -> Markup:
    poi, limit, discovery, gof = found.poi, found.limit, found.significance, found.goodness_of_fit
    words = "The fit converged." if fit.converged else f"The fit did NOT converge: {fit.status}."
    if fit.converged and not found.converged:
        words = "The fit converged, but not every fit behind this page did: see the warnings."
    rows = [["Fit", f"{fit.status}, twice the NLL {fit.twice_nll:.10g}, EDM {fit.edm:.2g}"]]
    if poi is None:
        rows.append(["Parameter of interest", found.missing["limit"]])
    else:
        rows.append([f"Best fit of {poi}", _measured(found, poi)])
    if limit is not None:
        observed, *expected = (
            f"{value:.4g}" if np.isfinite(value) else "none" for value in (limit.limit_obs, *limit.limit_exp)
        )
        name = f"Upper limit, {100 * (1 - limit.level):g} % CL"
        bands = "{2} (68 %: {1} to {3}; 95 %: {0} to {4})".format(*expected)
        rows += [[f"{name}, observed", observed], [f"{name}, expected", bands]]
    elif poi is not None:
        rows.append(["Upper limit", found.missing["limit"]])
    if discovery is not None:
        rows += [
            ["Significance, observed", f"Z = {discovery.Z:.3g} (p0 = {discovery.p0:.3g})"],
            [
                f"Significance, expected for {poi} = 1",
                f"Z = {discovery.Z_exp:.3g} (p0 = {discovery.p0_exp:.3g})",
            ],
        ]
    elif poi is not None:
        rows.append(["Significance", found.missing["significance"]])
    if gof is None:
        quality = found.missing["goodness_of_fit"]
    else:
        measure = f"{gof.statistic:.4g} for {gof.ndof} degrees of freedom, against the saturated model"
        quality = f"p = {gof.p:.3g} ({measure})"
    rows.append(["Goodness of fit", quality])
    answers = table("Results", ("quantity", "answer"), rows)
    return Markup(verdict(found.converged, words, warnings_of(found)) + answers)


def _fitted(found: Analysis, fit: FitResult) -> Markup:
    source, model = found.source, found.model
    samples = {name for channel in model.channels for name in channel.samples}
    rows = [["Workspace", source.name], ["Digest", source.digest]]
    rows += [["Patch", name] for name in source.patches]
    if source.patched_digest is not None:
        rows.append(["Digest when patched", source.patched_digest])
    rows += [
        ["Measurement", found.measurement],
        ["Parameter of interest", found.missing["limit"] if found.poi is None else found.poi],
        [
            "Model",
            f"{len(model.channels)} channels, {len(samples)} samples, {model.main_count} bins, "
            f"{model.parameter_count} parameters, {model.aux_count} auxiliary data",
        ],
        ["Device, precision", f"{fit.device}, {fit.precision}"],
        *circumstances(),
    ]
    channels = [
        [c.name + figures.masked(c), c.bins, len(c.samples), ", ".join(c.samples)] for c in model.channels
    ]
    return Markup(
        table("The model and where it comes from", ("what", "which"), rows)
        + table("Channels", ("channel", "bins", "samples", "names of samples"), channels)
    )


def _limit(found: Analysis, limit: LimitResult) -> Markup:
    curves = (f"expected{shift}" for shift in (" \N{MINUS SIGN}2σ", " \N{MINUS SIGN}1σ", "", " +1σ", " +2σ"))
    rows = list(zip(("observed", *curves), map(float, (limit.limit_obs, *limit.limit_exp))))
    caption = f"Upper limits on {found.poi} where CLs = {limit.level:g}"
    return beside(figures.band(found, limit), table(caption, ("curve", "limit"), rows))


def _ranking(found: Analysis, ranking: RankingResult) -> Markup:
    content = figures.ranking(found, ranking)
    if not figures.has_impacts(ranking):
        return content
    impacts = (ranking.impact_up, ranking.impact_down, ranking.prefit_up, ranking.prefit_down)
    rows = list(zip(ranking.names, *(column.tolist() for column in impacts)))[: figures.RANKED]
    head = ("parameter", "impact up", "impact down", "prefit impact up", "prefit impact down")
    caption = f"Impacts on {found.poi}, the largest {len(rows)} of {len(ranking)}"
    return beside(content, table(caption, head, rows))


def _correlations(found: Analysis, fit: FitResult) -> Markup:
    content, matrix = figures.correlation(fit), fit.correlation
    if matrix is None:
        return content
    first, second = np.triu_indices(len(matrix), 1)
    values = matrix[first, second]
    strongest = np.argsort(-np.abs(values), kind="stable")[:STRONGEST]
    rows = [(fit.names[first[k]], fit.names[second[k]], values[k]) for k in strongest if values[k] != 0]
    return beside(content, table("The strongest correlations", ("parameter", "with", "correlation"), rows))


def _yields(found: Analysis, prediction: Prediction) -> Markup:
    tables = (
        wide(Markup(yields(prediction, when, form="html")), f"{when} yields")
        for when in ("prefit", "postfit")
    )
    return Markup("".join(tables))


def _parameters(found: Analysis, fit: FitResult) -> Markup:
    model, ranking = found.model, found.ranking
    width = np.asarray(model.constraint_widths)
    known = np.where(width > 0, width, np.nan)
    nominal = np.where(width > 0, model.constraint_centres, model.suggested_init)
    errors = np.full(len(fit.names), np.nan) if fit.errors is None else fit.errors
    columns = (nominal, width, fit.values, errors, (fit.values - nominal) / known, errors / known)
    impacts = {}
    if ranking is not None:
        impacts = dict(zip(ranking.names, zip(ranking.impact_up.tolist(), ranking.impact_down.tolist())))
    unknown = (float("nan"), float("nan"))
    rows = [
        (name, in_words(state), *numbers, *impacts.get(name, unknown))
        for name, state, *numbers in zip(
            fit.names, fit.states or [""] * len(fit.names), *(column.tolist() for column in columns)
        )
    ]
    head = "parameter|state|nominal|prefit error|fitted|error|pull|error / prefit error|impact up|impact down"
    return table(f"All {len(rows)} parameters, in the model's order", head.split("|"), rows)


def _quality(found: Analysis, fit: FitResult) -> Markup:
    whole = "converged" if found.converged else "not all converged"
    steps = [(step.name, step.outcome, step.good, step.detail, step.seconds) for step in found.steps]
    steps.append(("all", whole, found.converged, "", sum(step.seconds for step in found.steps)))
    rows = []
    for name, outcome, good, detail, seconds in steps:
        shown = outcome if good else Markup(f'<span class="failed">{text(outcome)}</span>')
        rows.append((name, shown, detail, f"{1000 * seconds:.1f} ms"))
    said = (
        f"Best fit: {fit.status}; EDM {fit.edm:.3g} in units of twice the NLL, largest projected gradient "
        f"times error {fit.projected_gradient:.3g}, {fit.iterations} iterations."
    )
    caption = "Every step with the outcome of its fits and its wall time"
    return Markup(f"<p>{text(said)}</p>\n{table(caption, ('step', 'outcome', 'fits', 'wall time'), rows)}")


#: anchor, heading, result (or its reason), function
_SECTIONS: tuple[tuple[str, str, str, Callable[[Analysis, Any], Markup]], ...] = (
    ("verdict", "Verdict", "fit", _verdict),
    ("fitted", "What was fitted", "fit", _fitted),
    ("limit", "Upper limit", "limit", _limit),
    ("scan", "Profile likelihood", "scan", figures.scan),
    ("pulls", "Pulls", "fit", figures.pulls),
    ("ranking", "Ranking", "ranking", _ranking),
    ("correlations", "Correlations", "fit", _correlations),
    ("channels", "Data and model", "prediction", figures.channels),
    ("yields", "Yields", "prediction", _yields),
    ("parameters", "Parameters", "fit", _parameters),
    ("quality", "Quality of the fits", "fit", _quality),
)
