"""Tables of yields as text, LaTeX and HTML."""

from __future__ import annotations

from html import escape
from math import floor, isfinite, log10
from typing import Sequence

import numpy as np

from ..results import ChannelPrediction, Prediction

_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def _latex(name: str) -> str:
    return "".join(_LATEX.get(c, c) for c in name)


def rounded(value: float, error: float = float("nan")) -> tuple[str, str]:
    """A value and its error as text: the error with two digits, the value to the same place; without an
    error, the value with four digits and no error."""
    if not isfinite(value):
        return "-", ""
    if not (isfinite(error) and error > 0):
        places = 3 - floor(log10(abs(value))) if value else 2
        return f"{value:.{min(max(places, 0), 6)}f}" if abs(
            value
        ) >= 1e-4 or value == 0 else f"{value:.2e}", ""
    places = min(max(1 - floor(log10(error)), 0), 12)
    return f"{value:.{places}f}", f"{error:.{places}f}"


def _rows(
    prediction: Prediction, after: bool, by_bin: bool
) -> tuple[list[str], list[tuple[str, list[float], tuple[float, float], float]]]:
    """Names of samples, and rows: what, yields by sample, (total, error), data."""
    samples: list[str] = []
    for channel in prediction.channels:
        samples += [name for name in channel.samples if name not in samples]
    rows = []
    for channel in prediction.channels:
        parts = channel.samples if after else channel.prefit_samples
        total, error = (channel.postfit, channel.error) if after else (channel.prefit, channel.prefit_error)
        if by_bin:
            for b in range(len(channel.data)):
                rows.append(
                    (
                        f"{channel.name} bin {b}",
                        [float(parts[name][b]) if name in parts else float("nan") for name in samples],
                        (float(total[b]), float(error[b])),
                        float(channel.data[b]),
                    )
                )
        else:
            rows.append(
                (
                    channel.name,
                    [float(np.sum(parts[name])) if name in parts else float("nan") for name in samples],
                    (float(np.sum(total)), _total_error(channel, after)),
                    float(np.sum(channel.data)),
                )
            )
    return samples, rows


def _total_error(channel: ChannelPrediction, after: bool) -> float:
    return channel.total_error if after else channel.prefit_total_error


def yields(prediction: Prediction, when: str = "postfit", *, form: str = "text", by: str = "channel") -> str:
    """A table of yields: a row for each channel (`by` "channel", sums with the errors of the sums) or each
    bin ("bin"), a column for each sample, then model +- error and data.

    when: "prefit" or "postfit". form: "text", "latex" (a tabular for booktabs) or "html" (a table with its
        caption). Names from the workspace are escaped.
    """
    for value, choices, name in (
        (when, ("prefit", "postfit"), "when"),
        (form, ("text", "latex", "html"), "form"),
        (by, ("channel", "bin"), "by"),
    ):
        if value not in choices:
            raise ValueError(f"{name}: {' or '.join(map(repr, choices))}, not {value!r}")
    samples, rows = _rows(prediction, when == "postfit", by == "bin")
    pm = {"text": "+-", "latex": r"$\pm$", "html": "&plusmn;"}[form]
    cells = []
    for name, parts, (total, error), data in rows:
        value, spread = rounded(total, error)
        cells.append(
            [
                name,
                *(rounded(part)[0] for part in parts),
                f"{value} {pm} {spread}" if spread else value,
                f"{data:g}",
            ]
        )
    head = [by, *samples, "model", "data"]
    return {"text": _text, "latex": _latex_table, "html": _html}[form](f"{when} yields by {by}", head, cells)


def _text(_: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in (head, *rows)
    ]
    return "\n".join(lines) + "\n"


def _latex_table(_: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(map(_latex, head)) + r" \\",
        r"\midrule",
    ]
    lines += [" & ".join([_latex(row[0]), *row[1:]]) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _html(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
