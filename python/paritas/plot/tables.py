"""Tables of yields as text, LaTeX and HTML."""

from html import escape
from math import floor, isfinite, isnan, log10
from typing import Iterable, Sequence

import numpy as np

from ..results import ChannelPrediction, Prediction

_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)


def rounded(value: float, error: float = float("nan")) -> tuple[str, str]:
    """Value and error as text: two digits of the error, and the value to the same place; without an error
    four digits."""
    if not isfinite(value):
        return "-", ""
    if isfinite(error) and error > 0:
        places = min(max(1 - floor(log10(error)), 0), 12)
        return f"{value:.{places}f}", f"{error:.{places}f}"
    if 0 < abs(value) < 1e-4:
        return f"{value:.2e}", ""
    places = 3 - floor(log10(abs(value))) if value else 2
    return f"{value:.{min(max(places, 0), 6)}f}", ""


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[bool] = ()
) -> str:
    """Cells are HTML; `words`: columns of class "text"."""
    kinds = [' class="text"' if wordy else "" for wordy in words] or [""] * len(head)
    top = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(head, kinds))
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(cells, kinds[1:]))
        + "</tr>"
        for first, *cells in rows
    )
    return (
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def _rows(
    channel: ChannelPrediction, samples: Sequence[str], after: bool, by_bin: bool
) -> Iterable[tuple[str, list[float], float, float, float]]:
    """What, yields, total, error, data."""
    parts = channel.samples if after else channel.prefit_samples
    total, error = (channel.postfit, channel.error) if after else (channel.prefit, channel.prefit_error)
    total_error = channel.total_error if after else channel.prefit_total_error
    missing = np.full(len(total), np.nan)
    yields = [parts.get(name, missing) for name in samples]
    if not by_bin:
        sums = [float(np.sum(part)) for part in yields]
        yield channel.name, sums, float(np.sum(total)), total_error, float(np.sum(channel.data))
        return
    for b in range(len(total)):
        cells = [float(part[b]) for part in yields]
        yield f"{channel.name} bin {b}", cells, float(total[b]), float(error[b]), float(channel.data[b])


def yields(prediction: Prediction, when: str = "postfit", *, form: str = "text", by: str = "channel") -> str:
    """A table of yields: a row for each channel (`by` "channel", with errors of sums) or bin ("bin"), a
    column for each sample, then model +- error and data.

    when: "prefit" or "postfit". form: "text", "latex" (booktabs tabular) or "html". Names are escaped."""
    for value, choices, name in (
        (when, ("prefit", "postfit"), "when"),
        (form, ("text", "latex", "html"), "form"),
        (by, ("channel", "bin"), "by"),
    ):
        if value not in choices:
            raise ValueError(f"{name}: must be {' or '.join(map(repr, choices))}, not {value!r}")
    samples = list(dict.fromkeys(name for channel in prediction.channels for name in channel.samples))
    pm = {"text": "+-", "latex": r"$\pm$", "html": "&plusmn;"}[form]
    cells = []
    for channel in prediction.channels:
        for name, parts, total, error, data in _rows(channel, samples, when == "postfit", by == "bin"):
            value, spread = rounded(total, error)
            model = f"{value} {pm} {spread}" if spread else value
            cells.append(
                [name, *(rounded(part)[0] for part in parts), model, "-" if isnan(data) else f"{data:g}"]
            )
    head = [by, *samples, "model", "data"]
    if form == "html":
        return (
            html_table(f"{when} yields by {by}", head, ([escape(row[0]), *row[1:]] for row in cells)) + "\n"
        )
    return _latex_table(head, cells) if form == "latex" else _text(head, cells)


def _text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = []
    for first, *cells in (head, *rows):
        aligned = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:]))]
        lines.append("  ".join(aligned).rstrip() + "\n")
    return "".join(lines)


def _latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule"]
    lines += [" & ".join(name.translate(_LATEX) for name in head) + r" \\", r"\midrule"]
    lines += [" & ".join([row[0].translate(_LATEX), *row[1:]]) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
