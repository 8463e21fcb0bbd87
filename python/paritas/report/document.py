"""The page itself: what a reader wants first stands first."""

from __future__ import annotations

import os
import platform
import shlex
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Iterable, Optional

import numpy as np

from .._engine import VERSION
from ..files import PathLike, write_text
from ..plot.tables import rounded, yields
from ..workspace import DocumentLike
from . import figures
from .analysis import Analysis, Source, analyse
from .html import Markup, beside, missing, page, section, table, text, wide

#: pulls beyond this are named among the warnings, a goodness of fit below this too
LARGE_PULL, SMALL_P = 2.0, 0.01
#: rows of the table of correlations
STRONGEST = 20

HEADINGS = (
    ("verdict", "Verdict"),
    ("fitted", "What was fitted"),
    ("limit", "Upper limit"),
    ("scan", "Profile likelihood"),
    ("pulls", "Pulls"),
    ("ranking", "Ranking"),
    ("correlations", "Correlations"),
    ("channels", "Data and model"),
    ("yields", "Yields"),
    ("parameters", "Parameters"),
    ("quality", "Quality of the fits"),
    ("again", "How to make this page again"),
)


@dataclass
class Page:
    """A report: its HTML, and the results in it."""

    html: str
    analysis: Analysis

    @property
    def converged(self) -> bool:
        """Did every fit converge?"""
        return self.analysis.converged

    def write(self, path: PathLike) -> None:
        """Into a file, whole or not at all. Raises OSError."""
        write_text(self.html, path)

    def _repr_html_(self) -> str:
        return self.html


def report(
    workspace: DocumentLike,
    patches: Iterable[DocumentLike] = (),
    *,
    patchset: Optional[DocumentLike] = None,
    patch_name: Optional[str] = None,
    measurement: Optional[str] = None,
    poi: Optional[str] = None,
    command: Optional[list[str]] = None,
    **options: Any,
) -> Page:
    """The report of a workspace (path, dict or Workspace) with patches applied.

    options: device, precision, threads, as of `paritas.fit`. command: the words of the command line, where
        there is one, for the reader to type again. Raises where the input is wrong or the device not
        available; a fit that does not converge is told in the page."""
    found = analyse(Source.of(workspace, patches, patchset, patch_name), poi, measurement, **options)
    return Page(page_of(found, command), found)


def page_of(found: Analysis, command: Optional[list[str]] = None) -> str:
    """The page of results that are there."""
    title = f"Fit report: {os.path.basename(found.source.name)}"
    if found.source.patches:
        title += f" with {', '.join(name if ' of ' in name else os.path.basename(name) for name in found.source.patches)}"
    parts = (
        _verdict(found),
        _fitted(found),
        _limit(found),
        figures.scan(found),
        figures.pulls(found),
        _ranking(found),
        _correlations(found),
        figures.channels(found),
        _yields(found),
        _parameters(found),
        _quality(found),
        _again(command),
    )
    return page(
        title, HEADINGS, *(section(name, heading, part) for (name, heading), part in zip(HEADINGS, parts))
    )


def _measured(found: Analysis) -> str:
    """The parameter of interest in words: best fit and errors."""
    name = found.poi or ""
    value, error = found.fit[name]
    if found.minos is not None and name in found.minos:
        down, up = found.minos[name]
        shown, _ = rounded(value, min((abs(e) for e in (down, up) if np.isfinite(e)), default=float("nan")))
        said = [
            f"{sign}{rounded(abs(e), abs(e))[0]}" if np.isfinite(e) else f"{sign}(beyond the bound)"
            for sign, e in (("+", up), ("\N{MINUS SIGN}", down))
        ]
        return f"{shown}  {said[0]} {said[1]} (MINOS), \N{PLUS-MINUS SIGN} {error:.2g} (from the covariance)"
    state = found.poi_state.replace("_", " ")
    return (
        f"{value:.5g}, {state}: no symmetric error"
        if state != "free"
        else f"{value:.5g} \N{PLUS-MINUS SIGN} {error:.2g}"
    )


def warnings_of(found: Analysis) -> list[str]:
    """What a reader should not overlook."""
    fit, model, told = found.fit, found.model, []
    if not fit.converged:
        told.append(
            f"The fit did not converge ({fit.status}): best-fit values, errors and all that is made of them are not to be used."
        )
    told += [
        f"{step.name}: {step.outcome}." for step in found.steps if not step.good and step.name != "best fit"
    ]
    bound = [
        f"{name} ({state.replace('_', ' ')})"
        for name, state in zip(fit.names, fit.states or [])
        if state.startswith("at_")
    ]
    if bound:
        told.append(
            f"Parameters on a bound, which have no error and take no part in the covariance: {', '.join(bound)}."
        )
    if found.limit is not None:
        if found.limit.bound_widened:
            told.append(
                f"The upper bound of {found.poi} was widened to {found.limit.upper_bound:g} to find the limits."
            )
        if not np.all(np.isfinite([found.limit.limit_obs, *found.limit.limit_exp])):
            told.append("Not every limit exists: some CLs curve does not cross the level.")
    pulls = np.nan_to_num((fit.values - model.constraint_centres) / model.constraint_widths)
    far = [
        f"{fit.names[i]} ({pulls[i]:+.1f})" for i in np.argsort(-np.abs(pulls)) if abs(pulls[i]) > LARGE_PULL
    ]
    if far:
        told.append(f"Pulled by more than {LARGE_PULL:g} prefit errors: {', '.join(far)}.")
    if found.goodness_of_fit is not None and found.goodness_of_fit.p < SMALL_P:
        told.append(f"The model describes the data badly: goodness of fit p = {found.goodness_of_fit.p:.2g}.")
    return told


def _verdict(found: Analysis) -> Markup:
    fit, gof = found.fit, found.goodness_of_fit
    bad = not found.converged
    words = "The fit converged." if fit.converged else f"The fit did NOT converge: {fit.status}."
    if fit.converged and bad:
        words = "The fit converged, but not every fit behind this page did: see the warnings."
    rows: list[list[object]] = [
        ["Fit", f"{fit.status}, twice the NLL {fit.twice_nll:.10g}, EDM {fit.edm:.2g}"]
    ]
    if found.poi is None:
        rows.append(["Parameter of interest", found.missing["limit"]])
    else:
        rows.append([f"Best fit of {found.poi}", _measured(found)])
    if found.limit is not None:
        exp = [f"{value:.4g}" if np.isfinite(value) else "none" for value in found.limit.limit_exp]
        confidence = f"{100 * (1 - found.limit.level):g} % CL"
        rows.append(
            [
                f"Upper limit, {confidence}, observed",
                f"{found.limit.limit_obs:.4g}" if np.isfinite(found.limit.limit_obs) else "none",
            ]
        )
        rows.append(
            [
                f"Upper limit, {confidence}, expected",
                f"{exp[2]} (68 %: {exp[1]} to {exp[3]}; 95 %: {exp[0]} to {exp[4]})",
            ]
        )
    elif found.poi is not None:
        rows.append(["Upper limit", found.missing["limit"]])
    if found.significance is not None:
        s = found.significance
        rows.append(["Significance, observed", f"Z = {s.Z:.3g} (p0 = {s.p0:.3g})"])
        rows.append(
            [f"Significance, expected for {found.poi} = 1", f"Z = {s.Z_exp:.3g} (p0 = {s.p0_exp:.3g})"]
        )
    elif found.poi is not None:
        rows.append(["Significance", found.missing["significance"]])
    if gof is not None:
        rows.append(
            [
                "Goodness of fit",
                f"p = {gof.p:.3g} ({gof.statistic:.4g} for {gof.ndof} degrees of freedom, against the saturated model)",
            ]
        )
    else:
        rows.append(["Goodness of fit", found.missing["goodness_of_fit"]])
    told = warnings_of(found)
    lines = "".join(f"<li>{text(line)}</li>" for line in told)
    listed = f'<div class="warnings" role="note"><h3>Warnings</h3>\n<ul>{lines}</ul></div>\n' if told else ""
    return Markup(
        f'<div class="verdict{" bad" if bad else ""}"><p>{text(words)}</p></div>\n{listed}{table("Results", ("quantity", "answer"), rows)}'
    )


def _failed(words: str) -> Markup:
    return Markup(f'<span class="failed">{text(words)}</span>')


def _fitted(found: Analysis) -> Markup:
    source, model = found.source, found.model
    import matplotlib

    rows: list[list[object]] = [["Workspace", source.name], ["Digest", source.digest]]
    rows += [["Patch", name] for name in source.patches]
    if source.patched_digest is not None:
        rows.append(["Digest when patched", source.patched_digest])
    rows += [
        ["Measurement", found.measurement],
        ["Parameter of interest", found.poi if found.poi is not None else found.missing["limit"]],
        [
            "Model",
            f"{len(model.channels)} channels, {len({name for c in model.channels for name in c.samples})} samples, {model.main_count} bins, "
            f"{model.parameter_count} parameters, {model.aux_count} auxiliary data",
        ],
        ["Device, precision", f"{found.fit.device}, {found.fit.precision}"],
        [
            "Versions",
            f"paritas {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}, matplotlib {matplotlib.__version__}",
        ],
        ["System", platform.platform()],
        ["Made", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")],
    ]
    channels = [[c.name, c.bins, len(c.samples), ", ".join(c.samples)] for c in model.channels]
    return Markup(
        table("The model and where it comes from", ("what", "which"), rows)
        + table("Channels", ("channel", "bins", "samples", "names of samples"), channels)
    )


def _limit(found: Analysis) -> Markup:
    if found.limit is None:
        return missing(found.missing["limit"])
    limit = found.limit
    curves = (
        "expected \N{MINUS SIGN}2\u03c3",
        "expected \N{MINUS SIGN}1\u03c3",
        "expected",
        "expected +1\u03c3",
        "expected +2\u03c3",
    )
    rows = [
        ["observed", limit.limit_obs],
        *([name, float(value)] for name, value in zip(curves, limit.limit_exp)),
    ]
    return beside(
        figures.band(found),
        table(f"Upper limits on {found.poi} where CLs = {limit.level:g}", ("curve", "limit"), rows),
    )


def _ranking(found: Analysis) -> Markup:
    content = figures.ranking(found)
    r, top = found.ranking, figures.RANKED
    if r is None or not figures.has_impacts(r):
        return content
    rows = [
        [name, *(float(column[i]) for column in (r.impact_up, r.impact_down, r.prefit_up, r.prefit_down))]
        for i, name in enumerate(r.names[:top])
    ]
    head = ("parameter", "impact up", "impact down", "prefit impact up", "prefit impact down")
    return beside(content, table(f"Impacts on {found.poi}, the largest {len(rows)} of {len(r)}", head, rows))


def _correlations(found: Analysis) -> Markup:
    content, matrix = figures.correlation(found), found.fit.correlation
    if matrix is None:
        return content
    first, second = np.triu_indices(len(matrix), 1)
    values = matrix[first, second]
    order = np.argsort(-np.abs(values), kind="stable")[:STRONGEST]
    rows = [
        [found.fit.names[first[k]], found.fit.names[second[k]], float(values[k])]
        for k in order
        if values[k] != 0
    ]
    return beside(content, table("The strongest correlations", ("parameter", "with", "correlation"), rows))


def _yields(found: Analysis) -> Markup:
    if found.prediction is None:
        return missing(found.missing["prediction"])
    return Markup(
        "".join(
            wide(Markup(yields(found.prediction, when, form="html")), f"{when} yields")
            for when in ("prefit", "postfit")
        )
    )


def _parameters(found: Analysis) -> Markup:
    fit, model = found.fit, found.model
    centre, width = model.constraint_centres, np.asarray(model.constraint_widths)
    errors = np.full(len(fit.names), np.nan) if fit.errors is None else fit.errors
    ranked = found.ranking
    impact = (
        {}
        if ranked is None
        else {
            name: (float(ranked.impact_up[i]), float(ranked.impact_down[i]))
            for i, name in enumerate(ranked.names)
        }
    )
    states = fit.states or [""] * len(fit.names)
    rows = []
    for i, name in enumerate(fit.names):
        known = width[i] > 0
        nominal = centre[i] if known else model.suggested_init[i]
        pull, constraint = (
            ((fit.values[i] - nominal) / width[i], errors[i] / width[i])
            if known
            else (float("nan"), float("nan"))
        )
        rows.append(
            [
                name,
                states[i].replace("_", " "),
                *map(float, (nominal, width[i], fit.values[i], errors[i], pull, constraint)),
                *impact.get(name, (float("nan"), float("nan"))),
            ]
        )
    head = (
        "parameter",
        "state",
        "nominal",
        "prefit error",
        "fitted",
        "error",
        "pull",
        "error / prefit error",
        "impact up",
        "impact down",
    )
    return table(f"All {len(rows)} parameters, in the model's order", head, rows)


def _quality(found: Analysis) -> Markup:
    rows = [
        [
            step.name,
            step.outcome if step.good else _failed(step.outcome),
            step.detail,
            f"{1000 * step.seconds:.1f} ms",
        ]
        for step in found.steps
    ]
    total = sum(step.seconds for step in found.steps)
    rows.append(
        [
            "all",
            "converged" if found.converged else _failed("not all converged"),
            "",
            f"{1000 * total:.1f} ms",
        ]
    )
    fit = found.fit
    said = (
        f"Best fit: {fit.status}; EDM {fit.edm:.3g} in units of twice the NLL, largest projected gradient times error {fit.projected_gradient:.3g}, "
        f"{fit.iterations} iterations."
    )
    steps = table(
        "Every step with the outcome of its fits and its wall time",
        ("step", "outcome", "fits", "wall time"),
        rows,
    )
    return Markup(f"<p>{text(said)}</p>\n{steps}")


def _again(command: Optional[list[str]]) -> Markup:
    if command is None:
        return Markup("<p>Made from Python by <code>paritas.report.report</code>.</p>\n")
    return Markup(f"<pre>{text(shlex.join(command))}</pre>\n")
